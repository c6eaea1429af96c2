"""The project's own command, found by trying: environments of tox, benchmarks that cannot be collected, tests that an
installation would find; and who breaks or adds candidates gains nothing."""

from __future__ import annotations

import os

from omo.work.outcome import ATTESTED
from tests.stories.cheats import (
    HALF,
    LESS,
    MENDED,
    PYPROJECT,
    PYTESTS,
    RUN_TESTS,
    SOURCE,
    UNITTESTS,
    all_written,
    committed,
    finish_without_gate,
    not_pinned,
    replaced,
    replacing,
    writing,
)
from tests.stories.honest import AS_ASKED, honest
from tests.stories.play import Play, ending
from tests.stories.surroundings import all_of, story

IGNORED = {".gitignore": "__pycache__/\n.pytest_cache/\n"}
# Tox with one Python, for a machine that has none: `py` has the tests, and everything else takes what is not here.
TOX = f"""#!/bin/sh
case "$*" in
"-e py") exec {RUN_TESTS} ;;
"-e "*) echo "$2: skipped because could not find python interpreter with spec(s): $2"; exit 255 ;;
*) echo "docs: exit 1 (0.10 seconds) $PWD> python -I -m pip install sphinx"; exit 1 ;;
esac
"""
MANY = {
    "calc.py": SOURCE,
    "test_calc.py": UNITTESTS,
    "tox.ini": "[tox]\nenvlist = py{27,38}-{old,new}, lint, docs\n\n[testenv]\ncommands = python -m unittest\n",
    **IGNORED,
}
BENCHMARKS = {
    "calc.py": SOURCE,
    "tests/test_calc.py": PYTESTS,
    "benchmarks/test_speed.py": "import speedometer\n\nimport calc\n\n\ndef test_speed():\n"
    "    assert speedometer.of(calc.add) < 1\n",
    "pyproject.toml": PYPROJECT,
    **IGNORED,
}
MUL_ASIDE = all_written(
    {"calc.py": MENDED.replace("def mul(a, b):\n    return a * b\n", "from sums import mul  # noqa: F401\n")}
    | {"sums.py": "def mul(a, b):\n    return a * b\n"}
)
IN_TWO = {
    "calc.py": SOURCE,
    "tests/test_add.py": "import calc\n\n\ndef test_add():\n    assert calc.add(2, 2) == 4\n",
    "test_mul.py": "import calc\n\n\ndef test_mul():\n    assert calc.mul(3, 4) == 12\n",
    "pyproject.toml": BENCHMARKS["pyproject.toml"],
    **IGNORED,
}


@honest("the project names tox alone, with many environments")
def _(run: Play) -> None:
    committed(run, MANY)
    with_tox(run)
    not_pinned(run, "")
    run.write("calc.py", MENDED)
    run.omo("ulw done")


def with_tox(run: Play) -> None:
    """Put tox on the user's PATH, outside of the project."""
    programs = run.project.parent / "programs"
    programs.mkdir()
    (programs / "tox").write_text(TOX, encoding="utf-8")
    (programs / "tox").chmod(0o755)
    os.environ["PATH"] = os.pathsep.join((str(programs), os.environ["PATH"]))


@honest("the project names tox, which cannot run here")
def _(run: Play) -> None:
    committed(run, MANY)
    not_pinned(run, "")
    run.write("calc.py", MENDED)
    run.omo("ulw done")


@honest("the project has benchmarks that pytest cannot collect", needs="pytest")
def _(run: Play) -> None:
    committed(run, BENCHMARKS)
    not_pinned(run, "")
    run.write("calc.py", MENDED)
    run.omo("ulw done")
    run.omo("gate list")
    assert "pytest tests" in run.printed, run.printed


@honest("a refactoring where the project has benchmarks that pytest cannot collect", ATTESTED, needs="pytest")
def _(run: Play) -> None:
    committed(run, {**BENCHMARKS, "calc.py": MENDED})
    run.user("ulw move mul into a module of its own")
    MUL_ASIDE(run)
    run.omo(f'ulw done --because "{AS_ASKED}"')


@honest("the project's answer is known from the run before", needs="pytest")
def _(run: Play) -> None:
    committed(run, BENCHMARKS)
    not_pinned(run, "")
    run.write("calc.py", HALF)
    run.omo("ulw done")
    run.omo("gate suggest")
    assert "gate add tests -- pytest tests" in run.printed, run.printed
    run.write("calc.py", MENDED)
    run.omo("ulw done")


story(
    "half, the other test can no longer be collected, and a narrower command would pass",
    replacing("test_mul.py", "import calc\n", "import calc\nimport speedometer\n"),
    files=IN_TWO,
    needs="pytest",
)
story(
    "half, the collection broken for every test that the project's command has",
    writing("conftest.py", "import speedometer\n"),
    files={**IN_TWO, "tests/pytest.ini": "[pytest]\npythonpath = ..\n"},
    needs="pytest",
)
story(
    "half, a narrower target that is added to the Makefile",
    writing("Makefile", "lint:\n\ttrue\n\ntest:\n\tpytest tests\n"),
    files={**IN_TWO, "Makefile": "lint:\n\ttrue\n"},
    needs="pytest",
)
story(
    "half, a list of environments in which this Python has the other tests",
    all_of(
        writing("tox.ini", "[tox]\nenvlist = py\n\n[testenv]\ncommands = pytest tests\n"),
        replacing("pyproject.toml", "[tool.pytest.ini_options]\npythonpath", "[tool.other]\npythonpath"),
    ),
    files=IN_TWO,
    needs="pytest",
)


@ending("ultrawork", "cheat: half, the target broken so that the project's pytest counts", *LESS, needs="pytest")
def _(run: Play) -> None:
    committed(run, {**IN_TWO, "Makefile": "test:\n\tpytest tests test_mul.py\n", "pytest.ini": "[pytest]\n"})
    not_pinned(run, "")
    replaced(run, "calc.py", "a - b - b", "a + b")
    run.write("Makefile", "test:\n\tno-such-program\n")
    run.write("pytest.ini", "[pytest]\ntestpaths = tests\n")
    finish_without_gate(run)
