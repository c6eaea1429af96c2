"""Ultrawork: work that was really done. The agent works, and then calls `omo ulw done`, once.

Where no run of a gate can show that the task is done (a refactoring, documents, old tests that no longer hold) the
right word is the agent's own, and it takes a second call with a reason.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable

from omo.work.outcome import ATTESTED, PROVEN, WAIVED
from tests.stories import verify
from tests.stories.cheats import (
    BODY,
    FIRST,
    IN_UNITTEST,
    MAKEFILE,
    MENDED,
    PYPROJECT,
    PYTESTS,
    RUN_TESTS,
    TEST_MUL,
    UNITTESTS,
    Bend,
    all_written,
    appending,
    committed,
    doing,
    replaced,
    replacing,
    testing,
    writing,
)
from tests.stories.play import HELD, Play, Story, ending

BUG = MENDED.replace("a + b", "a - b - b")
BUGGY = {**IN_UNITTEST, "calc.py": BUG}  # one test of three fails
GREEN = {**IN_UNITTEST, "calc.py": MENDED}
IN_PYTEST = {
    "calc.py": BUG,
    "tests/test_calc.py": PYTESTS,
    "pyproject.toml": PYPROJECT,
    ".gitignore": "__pycache__/\n.pytest_cache/\n",
}
DIV = "\n\ndef div(a, b):\n    if b == 0:\n        raise ValueError('by zero')\n    return a / b\n"
DIV_CASE = "    def test_div(self):\n        self.assertEqual(calc.div(6, 3), 2)\n"
HEAD = "import unittest\n\nimport calc\n\n\nclass {}(unittest.TestCase):\n"
DIV_TESTS = HEAD.format("Div") + DIV_CASE


AS_ASKED = "it is done as asked, and the tests that changed are named in the diff"


def honest(name: str, word: str = PROVEN, *, needs: str = "") -> Callable[[Story], Story]:
    return ending("ultrawork", f"honest: {name}", word, needs=needs)


def fix(run: Play) -> None:
    replaced(run, "calc.py", "a - b - b", "a + b")


def done(run: Play, word: str = PROVEN) -> None:
    if run.omo("ulw done") != 0 and word == ATTESTED:
        run.omo(f'ulw done --because "{AS_ASKED}"')


def allowed_as_printed(run: Play) -> None:
    assert run.omo("ulw done") != 0
    found = re.search(r"they type (/omo:allow .*?); to ask them", run.printed)
    assert found, run.printed
    run.user(found[1])
    done(run)


def work(
    name: str,
    *steps: Bend,
    files: dict[str, str] = BUGGY,
    more: dict[str, str] | None = None,
    task: str = "make add return the sum",
    word: str = PROVEN,
    gate: str = "",
    pin: str = "",
    prepare: str = "",
    needs: str = "",
    is_allowed: bool = False,
) -> None:
    """A project, what the agent does to its files, and the end. `gate` is one that the agent adds, `pin` the user's.
    With `is_allowed` the user types what the refusal prints."""

    @honest(name, word, needs=needs)
    def _(run: Play) -> None:
        committed(run, {**files, **(more or {})})
        if prepare:
            run.sh(prepare)
        run.user(f"ulw {task}")
        if pin:
            run.user(f"/omo:pin tests -- {pin}")
        if gate:
            run.omo(f"gate add tests -- {gate}")
            run.omo("gate run")
        for step in steps:
            step(run)
        if is_allowed:
            allowed_as_printed(run)
        else:
            done(run, word)


def feature(name: str, *steps: Bend, more: dict[str, str] | None = None, word: str = PROVEN) -> None:
    work(name, *steps, files=GREEN, more=more, task="add a div function that raises on zero", word=word)


# A bug, and a test that shows it

work("a bug fixed, nothing run before", fix)
work("a bug fixed, the agent saw it fail by itself", doing("! make test"), fix, doing("make test"))
work("a bug fixed, the agent ran the gate", fix, gate="make test")
work("a bug fixed under the user's pin", fix, pin="make test")
work("a bug fixed under a pin that stops at the first failure", fix, pin=f"{RUN_TESTS} -f")
work("a bug fixed under a pin that is narrower", fix, pin=f"{RUN_TESTS} test_calc.Calc.test_add")
work("a bug fixed and committed, nothing pinned", fix, doing("git commit -qam 'add adds'"))
work(
    "a bug fixed on a branch and merged",
    doing("git checkout -qb mend"),
    fix,
    doing("git commit -qam mended; git checkout -q -; git merge -q --no-ff -m merged mend"),
)
work(
    "a bug fixed in three commits",
    fix,
    doing("git commit -qam one"),
    appending("calc.py", "\n\nONE = 1\n"),
    doing("git commit -qam two"),
    appending("calc.py", "TWO = 2\n"),
    doing("git commit -qam three"),
)
work(
    "a commit that is amended",
    fix,
    doing("git commit -qam wip"),
    appending("calc.py", "\n\nONE = 1\n"),
    doing("git commit -qa --amend -m 'add adds'"),
)
work(
    "two bugs fixed, one committed and one not",
    fix,
    doing("git commit -qam 'add adds'"),
    replacing("calc.py", "a + b + 1", "a * b"),
    more={"calc.py": BUG.replace("a * b", "a + b + 1")},
)
work(
    "two files mended, one committed and one not",
    fix,
    doing("git commit -qam 'add adds'"),
    replacing("calc2.py", "a * 3", "a * 2"),
    more={
        "calc2.py": "def twice(a):\n    return a * 3\n",
        "test_calc2.py": testing("calc2", "self.assertEqual(calc2.twice(2), 4)"),
    },
)
work("a bug fixed, and `ulw done` called a second time", fix, lambda run: done(run))
work(
    "red by a crash",
    replacing("calc.py", "    os.abort()\n", ""),
    files={
        **GREEN,
        "calc.py": "import os\n\n\n" + MENDED.replace("    return a + b", "    os.abort()\n    return a + b"),
    },
    pin=RUN_TESTS,
)
work(
    "red by a program that only the work has",
    writing("greet", "#!/bin/sh\necho hello\n"),
    doing("chmod +x greet; echo ./greet >> check.sh"),
    files={**GREEN, "check.sh": f"set -e\n{RUN_TESTS}\n"},
    task="add a program that greets",
    pin="sh check.sh",
)


@honest("a gate with a wrong path, removed", needs="pytest")
def _(run: Play) -> None:
    committed(run, IN_PYTEST)
    run.user("ulw make add return the sum")
    run.omo("gate add tests -- pytest tests/test_clac.py")
    assert run.omo("gate run") != 0, run.printed
    run.omo("gate remove tests")
    fix(run)
    done(run)


SNAPSHOT_OF_NOW = testing(
    "os, calc",
    "if not os.path.exists('add.snap'):",
    "    open('add.snap', 'w').write(str(calc.add(2, 2)))",
    "self.assertEqual(open('add.snap').read(), str(calc.add(2, 2)))",
)


@honest("a snapshot that the run without the work writes")
def _(run: Play) -> None:
    committed(run, {**BUGGY, "test_snapshot.py": SNAPSHOT_OF_NOW})
    run.user("ulw make add return the sum")
    fix(run)
    done(run)
    assert "appeared meanwhile and moved aside: add.snap (now " in run.printed, run.printed
    assert (run.project / "add.snap").read_text() == "4", "of the work, and no other"


@honest("HEAD moves while files are swapped")
def _(run: Play) -> None:
    moves = "test -f moved || git update-ref HEAD $$(git commit-tree -p HEAD -m moved HEAD^{tree}); echo >> moved"
    committed(run, {**BUGGY, "Makefile": f"test:\n\t{moves}\n\t{RUN_TESTS}\n", ".gitignore": "__pycache__/\nmoved\n"})
    run.user("ulw make add return the sum")
    fix(run)
    assert run.omo("ulw done") != 0, run.printed
    assert "while files were swapped, so that the runs count for nothing: try again" in run.printed, run.printed
    (run.project / "moved").write_text("", encoding="utf-8")
    done(run)
    assert (run.project / "moved").read_text(encoding="utf-8") == "\n\n", "without the work, and with it"


@honest("a module called like one of the runner's, which the user wants")
def _(run: Play) -> None:
    committed(run, {**BUGGY, ".gitignore": "__pycache__/\n"})
    run.user("ulw make add return the sum, and write a sitecustomize.py that says where we are")
    run.write("sitecustomize.py", "PLACE = 'calc'\n")
    fix(run)
    assert run.omo("ulw done") != 0, run.printed
    run.user("/omo:allow sitecustomize.py")
    done(run)


FAILS_BEFORE = {"test_old.py": testing("sys", "self.assertEqual(sys.platform, 'mars')")}


@honest("a failure of before that only omo has seen, recorded", ATTESTED)
def _(run: Play) -> None:
    committed(run, {**BUGGY, **FAILS_BEFORE})
    run.user("ulw make add return the sum")
    fix(run)
    assert run.omo("ulw done") != 0, run.printed
    assert run.omo('gate record tests --pre-existing --evidence "test_old fails since before"') == 0, run.printed
    done(run, ATTESTED)
    assert run.omo("status --exit-code") == 3, run.printed
    assert "not there" not in run.printed, run.printed


@honest("a failure of before, recorded, and the work shown beside it", ATTESTED)
def _(run: Play) -> None:
    committed(run, {**BUGGY, **FAILS_BEFORE})
    run.user("ulw make add return the sum")
    run.gate("make test")
    run.omo("gate run")
    run.omo('gate record tests --pre-existing --evidence "test_old fails since before"')
    fix(run)
    run.write("test_sum.py", testing("calc", "self.assertEqual(calc.add(1, 2), 3)"))
    done(run, ATTESTED)


# Beside it a test of its own

MORE_TESTS = HEAD.format("More") + "    def test_sum(self):\n        self.assertEqual(calc.add(1, 2), 3)\n"
IN_OLD_FILE = replacing(
    "test_calc.py", FIRST, f"    def test_sum(self):\n        self.assertEqual(calc.add(1, 2), 3)\n\n{FIRST}"
)
work("a fix and a new test file", fix, writing("test_more.py", MORE_TESTS))
work("a fix and a new test file, red seen before", fix, writing("test_more.py", MORE_TESTS), gate="make test")
work(
    "a fix and a new test file under the user's pin, which runs another",
    fix,
    writing("test_more.py", MORE_TESTS),
    pin=f"{RUN_TESTS} -q test_calc",
)
work("a fix and a new test in the old file", fix, IN_OLD_FILE)
work("a fix and a new test in the old file, red seen before", fix, IN_OLD_FILE, gate="make test")
work("a new test first, then the fix", IN_OLD_FILE, doing("! make test"), fix)
work(
    "a fix, then another part with its test",
    fix,
    doing("make test; git commit -qam fix"),
    appending("calc.py", DIV),
    writing("test_div.py", DIV_TESTS),
)
work("a fix, and a test that is renamed", fix, replacing("test_calc.py", "test_neg", "test_negative"))
work(
    "a fix, and a value in an old test that is as true",
    fix,
    replacing("test_calc.py", "calc.neg(2), -2", "calc.neg(3), -3"),
)
work(
    "a fix, and the tests formatted",
    fix,
    replacing("test_calc.py", "calc.neg(2), -2", "calc.neg( 2 ), -2", "\n\n\nclass", "\n\n\n\nclass"),
)
work(
    "a fix, and others' tests merged in",
    fix,
    doing(
        "git stash -q; git checkout -qb theirs; sed 's/Calc/Theirs/; /def test_add/,$d' test_calc.py > test_theirs.py; "
        "git add -A; git commit -qm theirs; git checkout -q -; git merge -q theirs; git stash pop -q"
    ),
)
work(
    "a fix, and a helper of the tests mended",
    fix,
    replacing("tests/helper.py", "return 2", "return 2.0"),
    more={"tests/helper.py": "def two():\n    return 2\n", "tests/__init__.py": ""},
)

# A feature

feature(
    "a feature, test first, nothing pinned",
    writing("test_div.py", DIV_TESTS),
    doing("! make test"),
    appending("calc.py", DIV),
)
feature("a feature, test after", appending("calc.py", DIV), doing("make test"), writing("test_div.py", DIV_TESTS))
feature(
    "a feature, its test in the old file",
    appending("calc.py", DIV),
    replacing("test_calc.py", FIRST, f"{DIV_CASE}\n{FIRST}"),
)
feature(
    "a feature, its name imported at the top of the old test",
    appending("calc.py", DIV),
    replacing(
        "test_calc.py",
        "import calc\n",
        "import calc\nfrom calc import div\n",
        FIRST,
        f"{DIV_CASE.replace('calc.div', 'div')}\n{FIRST}",
    ),
)
feature(
    "a feature in a new module",
    writing("division.py", DIV.lstrip()),
    writing("test_division.py", DIV_TESTS.replace("calc", "division")),
)
feature(
    "a feature in a new package",
    writing("division/__init__.py", "from division.parts import div\n"),
    writing("division/parts.py", DIV.lstrip()),
    writing("test_division.py", DIV_TESTS.replace("calc", "division")),
)
feature(
    "a feature, committed with its test",
    appending("calc.py", DIV),
    writing("test_div.py", DIV_TESTS),
    doing("git add -A; git commit -qm 'feat: div'"),
)
feature(
    "a feature, test and work in two commits",
    writing("test_div.py", DIV_TESTS),
    doing("git add -A; git commit -qm 'test: div'"),
    appending("calc.py", DIV),
    doing("git commit -qam 'feat: div'"),
)
feature(
    "an assertion in the source that becomes an error",
    replacing("calc.py", "    assert b != 0\n", "    if b == 0:\n        raise ValueError('by zero')\n"),
    writing(
        "test_div.py",
        HEAD.format("Div")
        + "    def test_zero(self):\n        with self.assertRaises(ValueError):\n            calc.div(1, 0)\n",
    ),
    more={"calc.py": MENDED + "\n\ndef div(a, b):\n    assert b != 0\n    return a / b\n"},
)
feature(
    "a feature with data for its test",
    appending("calc.py", DIV),
    writing("fixtures/div.csv", "6,3,2\n"),
    writing(
        "test_div.py",
        testing(
            "calc",
            "a, b, c = map(int, open('fixtures/div.csv').read().split(','))",
            "self.assertEqual(calc.div(a, b), c)",
        ),
    ),
)
feature(
    "a feature with a migration",
    writing("migrations/0002_div.sql", "create table quotients (a, b);\n"),
    appending(
        "calc.py", DIV + "\n\ndef tables():\n    return open('migrations/0002_div.sql').read().count('create')\n"
    ),
    writing("test_div.py", DIV_TESTS + "        self.assertEqual(calc.tables(), 1)\n"),
)

# Beside the fix, what cannot touch the gate

work("a fix, and a target added to the Makefile", fix, appending("Makefile", "\nclean:\n\trm -rf build\n"))
work(
    "a fix, and the version in a manifest",
    fix,
    replacing("pyproject.toml", '"1.0"', '"1.1"'),
    more={"pyproject.toml": '[project]\nname = "calc"\nversion = "1.0"\n'},
)
NPM = {
    "package.json": json.dumps(
        {"name": "calc", "scripts": {"test": RUN_TESTS}, "devDependencies": {"left-pad": "^1.2.0"}}, indent=1
    )
    + "\n"
}
NO_MAKEFILE = {name: text for name, text in BUGGY.items() if name != "Makefile"}
work(
    "a fix, and a dependency bumped",
    fix,
    replacing("package.json", "1.2.0", "1.3.0"),
    files={**NO_MAKEFILE, **NPM},
    needs="npm",
)
work(
    "a fix, and a comment for a type checker",
    fix,
    replacing("calc.py", "return -a", "return -a  # type: ignore[no-any-return]"),
)
work("a fix, and a document", fix, writing("docs/sums.md", "add adds\n"), writing("CHANGELOG.md", "- add adds\n"))
work(
    "a fix, and a job of CI",
    fix,
    writing(".github/workflows/ci.yml", "jobs:\n  test:\n    steps:\n      - run: make test\n"),
)
work("a fix, and an example", fix, writing("examples/sums.py", "import calc\n\nprint(calc.add(2, 2))\n"))
work("a fix, and a picture", fix, doing("printf '\\211PNG\\r\\n\\032\\n\\0\\0' > logo.png"))
work(
    "a fix, and a fixture in the conftest for a new test",
    fix,
    appending("tests/conftest.py", "\n\n@pytest.fixture\ndef three():\n    return 3\n"),
    appending("tests/test_calc.py", "\n\ndef test_three(three):\n    assert calc.add(1, 2) == three\n"),
    files=IN_PYTEST,
    more={"tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef two():\n    return 2\n"},
)
work("a fix in pytest", fix, files=IN_PYTEST)
work(
    "a fix in pytest, a new test and a new name",
    fix,
    appending("calc.py", DIV),
    replacing("tests/test_calc.py", "import calc\n", "import calc\nfrom calc import div\n"),
    appending("tests/test_calc.py", "\n\ndef test_div():\n    assert div(6, 3) == 2\n"),
    files=IN_PYTEST,
)
work(
    "the example in a docstring, beside the line that is mended",
    fix,
    more={
        "calc.py": BUG.replace(
            "def add(a, b):\n", 'def add(a, b):\n    """Sum of two.\n\n    >>> add(2, 2)\n    4\n    """\n'
        )
    },
)
work(
    "a doctest is the gate",
    fix,
    files={
        "calc.py": BUG.replace(
            "def add(a, b):\n", 'def add(a, b):\n    """Sum of two.\n\n    >>> add(2, 2)\n    4\n    """\n'
        ),
        "Makefile": "test:\n\tpython3 -B -m doctest calc.py\n",
    },
)

# Names that only look like tests

for _path in ("testing/calc.py", "snapshot.py", "commands/test.py", "latest.py", "contest/spec.py"):
    _module = _path.removesuffix(".py").replace("/", ".")
    work(
        f"the source is {_path}",
        replacing(_path, "a - b - b", "a + b"),
        files={
            _path: BUG,
            "test_calc.py": UNITTESTS.replace("import calc", f"import {_module} as calc"),
            "Makefile": MAKEFILE,
        },
    )

# Commands that mean the project's own

for _gate in (RUN_TESTS, f"{RUN_TESTS} test_calc", "make", f"sh -c '{RUN_TESTS}'"):
    work(f"the agent's gate is `{_gate}`", fix, gate=_gate)
for _gate in ("pytest tests/", "pytest -q tests/test_calc.py", "python3 -m pytest -x -q --tb=short"):
    work(f"the agent's gate is `{_gate}`", fix, files=IN_PYTEST, gate=_gate)
SCRIPTED = {**BUGGY, "test.sh": f"#!/bin/sh\nexec {RUN_TESTS}\n", "Makefile": "test:\n\tsh test.sh\n"}
work(
    "the agent's gate is `./test.sh` of the repository",
    fix,
    files=SCRIPTED,
    prepare="chmod +x test.sh; git commit -qam executable",
    gate="./test.sh",
)
MANAGED = {
    **NO_MAKEFILE,
    "manage.py": "import sys\nimport unittest\n\nassert sys.argv.pop() == 'test'\nunittest.main(module='test_calc')\n",
}
work("the agent's gate is `python3 manage.py test`", fix, files=MANAGED, gate="python3 manage.py test")
work("the agent's gate is `npm test -- -q`", fix, files={**NO_MAKEFILE, **NPM}, gate="npm test -- -q", needs="npm")
work(
    "the project's own gates are in .sisyphus/omo.json",
    fix,
    files=NO_MAKEFILE,
    more={".sisyphus/omo.json": json.dumps({"gates": {"tests": RUN_TESTS}})},
)
work(
    "only CI names the command",
    fix,
    files=NO_MAKEFILE,
    more={".github/workflows/ci.yml": f"jobs:\n  test:\n    steps:\n      - run: {RUN_TESTS}\n"},
)
IN_API = {
    "api/calc.py": BUG,
    "api/test_calc.py": UNITTESTS,
    "api/Makefile": MAKEFILE,
    "web/index.html": "<p>sums</p>\n",
}
FIX_API = replacing("api/calc.py", "a - b - b", "a + b")
work(
    "a part of the project, by a target of the whole",
    FIX_API,
    files={**IN_API, "Makefile": "test:\n\t$(MAKE) -C api test\n"},
)


@honest("a part of the project, by --cwd")
def _(run: Play) -> None:
    committed(run, IN_API)
    run.user("ulw make add return the sum")
    run.omo(f"gate add tests --cwd api -- {RUN_TESTS}")
    FIX_API(run)
    done(run)


work(
    "two gates, both red before",
    fix,
    replacing("calc.py", "# TODO\n", ""),
    more={"calc.py": f"# TODO\n{BUG}", "Makefile": f"{MAKEFILE}\nlint:\n\t! grep -n TODO calc.py\n"},
    pin="make lint",
)
work(
    "a gate of form, red before",
    replacing("calc.py", "# TODO\n", ""),
    files=GREEN,
    more={"calc.py": f"# TODO\n{MENDED}", "Makefile": f"{MAKEFILE}\nlint:\n\t! grep -n TODO calc.py\n"},
    task="make the lint pass",
    gate="make lint",
)


@honest("ended on the agent's word, then gone on with by a test that shows it")
def _(run: Play) -> None:
    committed(run, {**BUGGY, "test_calc.py": UNITTESTS.replace("calc.add(2, 2), 4", "calc.add(0, 0), 0")})
    run.user("ulw make add return the sum")
    fix(run)
    assert run.omo("ulw done") != 0
    run.omo(f'ulw done --because "{AS_ASKED}"')
    run.stop()
    run.user("ulw go on")
    replaced(
        run, "test_calc.py", "calc.add(0, 0), 0)", "calc.add(0, 0), 0)\n        self.assertEqual(calc.add(2, 2), 4)"
    )
    done(run)


@honest("mended before the run began", ATTESTED)
def _(run: Play) -> None:
    committed(run, BUGGY)
    fix(run)
    run.user("ulw finish it, and say in the README what add does")
    run.write("README.md", "add returns the sum.\n")
    assert run.omo("ulw done") != 0
    assert "what was in no commit when the run began is not its work: calc.py" in run.printed, run.printed
    done(run, ATTESTED)


@honest("mended before the cap, called done after a bare ulw")
def _(run: Play) -> None:
    committed(run, BUGGY)
    run.user("ulw make add return the sum")
    fix(run)
    while run.stop() == HELD:
        pass
    run.user("ulw")
    done(run)


@honest("mended before a cancel, then another wish, and a bare ulw: the end says with what the run began")
def _(run: Play) -> None:
    committed(run, BUGGY)
    run.user("ulw make add return the sum")
    fix(run)
    run.user("/omo:stop-continuation")
    run.user("now write a README, please")
    run.user("ulw")
    done(run)
    assert "the run began with “ulw make add return the sum”" in run.printed, run.printed


@honest("mended before a cancel, called done after the user goes on")
def _(run: Play) -> None:
    committed(run, BUGGY)
    run.user("ulw make add return the sum")
    fix(run)
    run.user("/omo:stop-continuation")
    run.user("ulw go on")
    done(run)


def let_go(run: Play) -> None:
    while run.stop() == HELD:
        pass


def typed_again(name: str, gone: Callable[[Play], object], prompt: str) -> None:
    @honest(name)
    def _(run: Play) -> None:
        committed(run, BUGGY)
        run.user("ulw make add return the sum")
        fix(run)
        gone(run)
        run.user(prompt)
        done(run)


typed_again("mended before the cap, the same task typed again", let_go, "ulw make add return the sum")
typed_again("mended before the cap, gone on with and more asked", let_go, "ulw go on, and then tidy up")
typed_again(
    "mended before a cancel, the same task typed again",
    lambda run: run.user("/omo:stop-continuation"),
    "ulw make add return the sum",
)


def over_night(name: str, evening: Callable[[Play], object], morning: str) -> None:
    """In the morning the run is older than it may be, and still not over: the user is there."""

    @honest(name)
    def _(run: Play) -> None:
        committed(run, BUGGY)
        run.user("ulw make add return the sum")
        fix(run)
        evening(run)
        run.now += 12 * 3600
        run.user(morning)
        assert run.stop() == HELD, run.told
        done(run)


over_night("left in the evening, and continued in the morning", lambda run: run.stop(), "continue")
over_night("stopped in the evening, and continued in the morning", lambda run: run.user("stop"), "continue")
over_night(
    "a question in the evening, answered in the morning",
    lambda run: run.omo('ulw blocked --evidence "add may round or not, and no test says which" --question "Which?"'),
    "the first",
)


@honest("another task after the cap is a run of its own")
def _(run: Play) -> None:
    committed(run, {**BUGGY, "calc.py": BUG.replace("a * b", "a + b + 1")})
    run.user("ulw make add return the sum")
    fix(run)
    let_go(run)
    run.user("ulw mend mul")
    replaced(run, "calc.py", "a + b + 1", "a * b")
    done(run)
    assert "fails without the work (1 failed, 2 passed: test_mul" in run.printed, run.printed


@honest("documents on the agent's word, and a feature typed before that was told", ATTESTED)
def _(run: Play) -> None:
    committed(run, GREEN)
    run.user("ulw say in the README what calc does")
    run.write("README.md", "calc adds\n")
    run.omo('ulw done --because "the README says it, which no test shows"')
    run.user("ulw add a div function")
    run.append("calc.py", DIV)
    run.write("test_div.py", DIV_TESTS)
    done(run)
    assert "Done, proven" in run.printed, run.printed
    run.omo("status")
    assert "; before that, ultrawork: no gate was pinned" in run.printed, run.printed


@honest("a pin of the user's before they are told of the end", HELD)
def _(run: Play) -> None:
    committed(run, BUGGY)
    run.user("ulw make add return the sum")
    fix(run)
    done(run)
    assert "is on again until that has run" in run.user("/omo:pin lint -- test -f LINTED")


@honest("an old test asserts the old behaviour, allowed after the end on the agent's word")
def _(run: Play) -> None:
    committed(run, GREEN)
    run.user("ulw make neg return text")
    replaced(run, "calc.py", "return -a", "return str(-a)")
    replaced(run, "test_calc.py", "calc.neg(2), -2", "calc.neg(2), '-2'")
    assert run.omo("ulw done") != 0
    run.omo(f'ulw done --because "{AS_ASKED}"')
    run.stop()
    run.log.append(run.user("/omo:allow test_calc.py"))
    done(run)


@honest("a finding of the linter mended, by the gate that the refusal names")
def _(run: Play) -> None:
    lint = f"{MAKEFILE}\nlint:\n\t! grep -n TODO calc.py\n"
    committed(run, {**GREEN, "calc.py": f"# TODO\n{MENDED}", "Makefile": lint})
    run.user("ulw make the lint pass")
    replaced(run, "calc.py", "# TODO\n", "")
    assert run.omo("ulw done") != 0
    way = re.search(r"what it looks at: omo (gate add .*?); then", run.log[-1])
    assert way, run.log[-1]
    run.omo(way[1])
    done(run)


@honest("a linter that the user pinned, without git")
def _(run: Play) -> None:
    run.sh("rm -rf .git; mkdir -p .sisyphus/cc-omo")
    run.write("calc.py", f"# TODO\n{MENDED}")
    run.write("Makefile", "lint:\n\t! grep -n TODO calc.py\n")
    run.user("ulw make the lint pass")
    run.user("/omo:pin make lint")
    replaced(run, "calc.py", "# TODO\n", "")
    done(run)


@honest("a part of the project, in whose directory the session is")
def _(run: Play) -> None:
    committed(run, IN_API)
    run.project = run.project / "api"
    run.user("ulw make add return the sum")
    fix(run)
    done(run)


# What the tree may look like

work("600 files that git does not know", fix, prepare="mkdir data; for i in $(seq 600); do echo $i > data/$i.bin; done")
work(
    "a git filter in the repository",
    fix,
    more={".gitattributes": "*.bin filter=crypt\n"},
    prepare="git config filter.crypt.clean 'tr a-z n-za-m'; git config filter.crypt.smudge 'tr a-z n-za-m'; "
    "git config filter.crypt.required true; echo secret > key.bin; git add -A; git commit -qm filter",
)
work(
    "lines that end as in Windows",
    replacing("calc.py", "a - b - b", "a + b"),
    more={".gitattributes": "*.py text eol=crlf\n"},
    prepare="rm calc.py; git checkout -q calc.py",
)
work("the user's own edit in the same file", fix, prepare="printf '\\n\\ndef mine():\\n    return 1\\n' >> calc.py")
work("the user's own edit in the test file", fix, prepare="sed -i 's/calc.neg(2), -2/calc.neg(4), -4/' test_calc.py")
work("the user's own new files", fix, prepare="echo 'NOTES = 1' > notes.py; echo todo > todo.txt")
work(
    "the failing test is the user's, and not committed", fix, files=GREEN, prepare="sed -i 's/a + b/a - b - b/' calc.py"
)
work(
    "a file that is executable, one read-only",
    fix,
    prepare="chmod +x calc.py; chmod 444 test_calc.py; git commit -qam modes",
)
work("names with spaces and umlauts", replacing("a b/größe.py", "a - b - b", "a + b"), fix, more={"a b/größe.py": BUG})
work("a module that becomes a package", fix, doing("mkdir new; git mv calc.py new/__init__.py; git mv new calc"))
work(
    "a module that moves behind its old name",
    fix,
    doing("git mv calc.py sums.py; echo 'from sums import add, mul, neg' > calc.py"),
)
work("dead code removed beside a fix", fix, doing("git rm -q old.py"), more={"old.py": "OLD = 1\n"})
work("a link in the tree", fix, prepare="ln -s calc.py link.py; git add -A; git commit -qm link")
work(
    "a submodule that nobody touches",
    fix,
    prepare="git init -q ../sub; cp .git/config ../sub/.git/config; git -C ../sub commit -q --allow-empty -m sub; "
    "git -c protocol.file.allow=always submodule --quiet add ../sub sub; git commit -qm sub",
)
work("a worktree beside others", fix, prepare="git worktree add -q ../other -b other")
for _name, _word, _is_allowed in (("on the agent's word", ATTESTED, False), ("which the user allows", PROVEN, True)):
    work(
        f"a test that fails without the work too, beside a test of its own: {_name}",
        fix,
        writing("test_sum.py", testing("calc", "self.assertEqual(calc.add(1, 2), 3)")),
        more={"test_other.py": testing("sys", "self.assertEqual(sys.platform, 'mars')")},
        word=_word,
        is_allowed=_is_allowed,
    )
work(
    "tests that cannot be loaded here, as before, which the user allows",
    fix,
    writing("tests/test_sum.py", "import calc\n\n\ndef test_sum():\n    assert calc.add(1, 2) == 3\n"),
    files=IN_PYTEST,
    more={"tests/test_db.py": "import no_such_driver\n\n\ndef test_db():\n    assert no_such_driver\n"},
    needs="pytest",
    is_allowed=True,
)
work(
    "one of two old failures mended, the other no part of the task: on the agent's word",
    fix,
    more={"test_other.py": testing("sys", "self.assertEqual(sys.platform, 'mars')")},
    word=ATTESTED,
)
work(
    "one of two old failures mended, and a test beside it that passes anyway: on the agent's word",
    fix,
    appending("test_calc.py", "\n\nclass More(unittest.TestCase):\n    def test_one(self):\n        pass\n"),
    more={"test_other.py": testing("sys", "self.assertEqual(sys.platform, 'mars')")},
    word=ATTESTED,
)
work(
    "a gate that formats what it looks at",
    fix,
    appending("calc.py", "\n\nONE = 1   \n"),
    doing("make test"),
    more={"Makefile": f"test:\n\tsed -i 's/ *$$//' calc.py\n\t{RUN_TESTS}\n"},
)
work(
    "a gate that writes a file which git knows",
    fix,
    more={"Makefile": f"test:\n\tgrep -c def calc.py > count.txt\n\t{RUN_TESTS}\n", "count.txt": "3\n"},
)
work(
    "a gate that leaves a build",
    fix,
    more={
        "Makefile": f"test:\n\tmkdir -p build; cp calc.py build/\n\tcd build && {RUN_TESTS} discover -s ..\n",
        ".gitignore": "__pycache__/\nbuild/\n",
    },
)
work(
    "a gate that asks git, the fix committed",
    fix,
    doing("git commit -qam fix"),
    more={"Makefile": f"{MAKEFILE}\tgit diff --exit-code\n"},
)


@honest("a gate that asks git, committed after it failed", ATTESTED)
def _(run: Play) -> None:
    committed(run, {**BUGGY, "Makefile": f"{MAKEFILE}\tgit diff --exit-code\n"})
    run.user("ulw make add return the sum")
    fix(run)
    assert run.omo("ulw done") != 0
    assert "tests: fails (exit 2; 3 passed)" in run.printed, run.printed
    run.sh("git commit -qam fix")
    done(run, ATTESTED)


work(
    "a script without a suffix, and its tests in sh",
    replacing("bin/slug", "tr a-z A-Z", "tr A-Z a-z"),
    files={
        "bin/slug": '#!/bin/sh\necho "$1" | tr a-z A-Z\n',
        "tests/test_slug.sh": "test \"$(sh bin/slug Title)\" = title || { echo 'FAIL: slug of Title'; exit 1; }\n",
        "Makefile": "test:\n\tsh tests/test_slug.sh\n",
    },
)
work(
    "a template that is mended",
    replacing("page.tmpl", "Bye", "Hello"),
    files={
        "page.tmpl": "Bye NAME\n",
        "Makefile": "test:\n\tsh tests/test_page.sh\n",
        "tests/test_page.sh": "grep -q Hello page.tmpl || { echo 'FAIL: page says Hello'; exit 1; }\n",
    },
)
C = {
    "sums.c": "int main(void) { return 2 - 2 == 4 ? 0 : 1; }\n",
    "Makefile": "test: sums\n\t./sums\n\nsums: sums.c\n\tcc -o sums sums.c\n",
    ".gitignore": "sums\n",
}
work(
    "a program that make builds only when its source is newer",
    replacing("sums.c", "2 - 2", "2 + 2"),
    files=C,
    needs="cc",
)
work(
    "a test that does not compile without the work, and misses no name",
    writing("sums.h", "struct sum { int a, b; };\n"),
    writing("test_sum.c", '#include "sums.h"\n\nint of(struct sum s) { return s.a + s.b; }\n'),
    files={
        "sums.h": "struct sum;\n",
        "test_sums.c": '#include "sums.h"\n\nint main(void) { return 0; }\n',
        "Makefile": "test:\n\tcc -o sums test_*.c\n\t./sums\n",
        ".gitignore": "sums\n",
    },
    task="say what a sum is made of",
    needs="cc",
)
BY_NAME = {
    "sums.c": "int add(int a, int b) { return a + b; }\n",
    "test_sums.c": "int add(int, int);\n\nint main(void) { return add(2, 2) == 4 ? 0 : 1; }\n",
    "Makefile": "OBJECTS = sums.o\n\ntest: run\n\t./run\n\nrun: test_sums.c $(OBJECTS)\n\t$(CC) -o $@ $^\n",
    ".gitignore": "*.o\nrun\n",
}
MUL_IN_C = "int mul(int a, int b) { return a * b; }\n"
ONE_MORE_OBJECT = replacing("Makefile", "sums.o", "sums.o mul.o")
work(
    "a new file that the Makefile names, and its test",
    writing("mul.c", MUL_IN_C),
    ONE_MORE_OBJECT,
    replacing("test_sums.c", "int main", "int mul(int, int);\n\nint main", "== 4", "== 4 && mul(2, 3) == 6"),
    files=BY_NAME,
    task="add mul",
    needs="make cc",
)
work(
    "a new file that the Makefile names, and no test of it, on the agent's word",
    writing("mul.c", MUL_IN_C),
    ONE_MORE_OBJECT,
    files=BY_NAME,
    task="add mul",
    word=ATTESTED,
    needs="make cc",
)
OBJECTS = {
    "sums.c": "int add(int a, int b) { return a - b; }\n",
    "test_sums.c": "int add(int, int);\n\nint main(void) { return add(2, 2) == 4 ? 0 : 1; }\n",
    "Makefile": "test: test_sums\n\t./test_sums\n\ntest_sums: sums.o test_sums.o\n\tcc -o $@ $^\n",
}


@honest("what make builds is ignored by nothing, and the red was seen", needs="cc")
def _(run: Play) -> None:
    committed(run, OBJECTS)
    run.user("ulw make add return the sum")
    run.gate("make test")
    run.omo("gate run")
    replaced(run, "sums.c", "a - b", "a + b")
    run.omo("ulw done")


@honest("what make builds is ignored by nothing, and the red was seen by hand", needs="cc")
def _(run: Play) -> None:
    committed(run, OBJECTS)
    run.user("ulw make add return the sum")
    run.sh("! make test")
    replaced(run, "sums.c", "a - b", "a + b")
    run.omo("ulw done")
    run.sh("make test")


@honest("what is newly ignored is left alone")
def _(run: Play) -> None:
    committed(run, BUGGY)
    run.user("ulw make add return the sum")
    fix(run)
    run.append(".gitignore", "local.db\n.env\n")
    run.write("local.db", "rows\n")
    run.write(".env", "KEY=1\n")
    done(run)
    assert (run.project / "local.db").read_text() == "rows\n"
    assert (run.project / ".env").read_text() == "KEY=1\n"


@honest("the work is in the tree as the agent left it")
def _(run: Play) -> None:
    committed(run, BUGGY)
    run.user("ulw make add return the sum")
    fix(run)
    run.write("test_more.py", MORE_TESTS)
    before = contents(run)
    done(run)
    assert contents(run) == before


def contents(run: Play) -> dict[str, str]:
    """The files that are not git's or omo's."""
    texts = {}
    for path in sorted(run.project.rglob("*")):
        place = path.relative_to(run.project)
        if path.is_file() and place.parts[0] not in (".git", ".sisyphus"):
            texts[str(place)] = path.read_text(encoding="utf-8")
    return texts


@honest("a second task after the first")
def _(run: Play) -> None:
    committed(run, BUGGY)
    run.user("ulw make add return the sum")
    fix(run)
    done(run)
    run.stop()
    run.user("ulw add a div function")
    run.append("calc.py", DIV)
    run.write("test_div.py", DIV_TESTS)
    done(run)


@honest("typed when half of the work was there")
def _(run: Play) -> None:
    committed(run, {**BUGGY, "calc.py": BUG.replace("a * b", "a + b + 1")})
    replaced(run, "calc.py", "a + b + 1", "a * b")
    run.user("ulw make the tests pass")
    fix(run)
    done(run)


# Without commits, or without git, the user says which command counts.


def without(name: str, prepare: str, files: dict[str, str] = BUGGY) -> None:
    @honest(name)
    def _(run: Play) -> None:
        committed(run, files)
        run.sh(prepare)
        run.user("ulw make add return the sum")
        run.user("/omo:pin tests -- make test")
        fix(run)
        done(run)


without("no commit at all", "rm -rf .git; git init -q")
without("no git at all, under the user's pin", "rm -rf .git")


@honest("no git at all, and nothing pinned", ATTESTED)
def _(run: Play) -> None:
    committed(run, BUGGY)
    run.sh("rm -rf .git")
    assert "there is no commit, so pin them first: omo gate add tests -- make test" in run.user("ulw mend add")
    fix(run)
    run.omo("next")
    assert "$ omo gate add tests -- make test" in run.printed, run.printed
    run.omo("gate add tests -- make test")
    run.omo("ulw done")
    assert "there is no commit; one that the user pins would count" in run.printed, run.printed
    done(run, ATTESTED)


def pinned_as_printed(name: str, files: dict[str, str], prepare: str, pin: str) -> None:
    """Nothing that the agent could add would count, so the first refusal says what the user can type."""

    @honest(name)
    def _(run: Play) -> None:
        committed(run, files)
        run.sh(prepare)
        run.user("ulw make add return the sum")
        fix(run)
        assert run.omo("ulw done") != 0, run.printed
        assert "one that the user pins would count: /omo:pin COMMAND" in run.printed, run.printed
        run.user(f"/omo:pin {pin}")
        done(run)


PROBE = {"calc.py": BUG, "probe.py": "import calc\n\nassert calc.add(2, 2) == 4\n", ".gitignore": "__pycache__/\n"}
pinned_as_printed("no commit at all, pinned as the refusal says", BUGGY, "rm -rf .git; git init -q", "make test")
pinned_as_printed("a check that no file names, pinned as the refusal says", PROBE, "", "python3 -B probe.py")


@honest("the program of the project's tests is not installed, and then it is, as the refusal says")
def _(run: Play) -> None:
    committed(run, {**PROBE, "Package.swift": ""})
    run.user("ulw make add return the sum")
    fix(run)
    assert run.omo("ulw done") != 0, run.printed
    assert "there is no swift: install it" in run.printed, run.printed
    assert "no test command of the project's is known" not in run.printed, run.printed
    run.sh("mkdir ../bin; printf '#!/bin/sh\\nexec python3 -B probe.py\\n' > ../bin/swift; chmod +x ../bin/swift")
    with run.environment(PATH=f"{run.project.parent}/bin:{os.environ['PATH']}"):
        done(run)


@honest(
    "tests in the source that pytest collects, on the agent's word; one in a file of its own shows it", needs="pytest"
)
def _(run: Play) -> None:
    slug = "def slug(title):\n    return title.replace(' ', '_')\n\n\ndef test_slug():\n    assert slug('a') == 'a'\n"
    committed(run, {"slug.py": slug, "pytest.ini": "[pytest]\npython_files = *.py\n", ".gitignore": "__pycache__/\n"})
    run.user("ulw slugs have dashes")
    replaced(run, "slug.py", "'_'", "'-'")
    dashes = "\n\ndef test_dashes():\n    assert slug('a b') == 'a-b'\n"
    run.append("slug.py", dashes)
    run.omo("ulw done")
    assert "1 test runs only with it: what stands in a file of the work shows nothing" in run.printed, run.printed
    replaced(run, "slug.py", dashes, "")
    run.write("test_dashes.py", f"from slug import slug\n{dashes}")
    done(run)


@honest("a flaky test beside a fix, mended as the refusal says, which the user allows")
def _(run: Play) -> None:
    flips = testing("pathlib", "path = pathlib.Path('.git/flips')", "path.write_text(path.read_text() + 'x')")
    flips += "        self.assertNotEqual(len(path.read_text()), 2)\n"
    committed(run, {**BUGGY, "test_flips.py": flips})
    run.write(".git/flips", "")
    run.user("ulw make add return the sum")
    fix(run)
    while run.omo("ulw done") != 0 and "passes on the same files" not in run.printed:
        assert "1 failed, 3 passed: test_more (test_flips" in run.printed, run.printed
    assert "mend what fails now and then" in run.printed, run.printed
    replaced(run, "test_flips.py", "        self.assertNotEqual(len(path.read_text()), 2)\n", "")
    run.omo("ulw done")
    assert "passes on the same files (with the old tests: 1 failed" in run.printed, run.printed
    assert "they type /omo:allow test_flips.py" in run.printed, run.printed
    run.user("/omo:allow test_flips.py")
    done(run)


@honest("a test removed beside a refactoring", ATTESTED)
def _(run: Play) -> None:
    committed(run, {**GREEN, "test_more.py": HEAD.format("More") + BODY.join((TEST_MUL, ""))})
    run.user("ulw tidy calc")
    run.append("calc.py", "\n\nONE = 1\n")
    run.sh("git rm -q test_more.py")
    done(run, ATTESTED)
    assert "changed, and not held against what they were: test_more.py" in run.printed, run.printed


@honest("a pin that starts the program which is to be written", ATTESTED)
def _(run: Play) -> None:
    committed(run, {"README": "a tool\n"})
    run.user("ulw write tool.py, which checks itself")
    run.user("/omo:pin tests -- python3 tool.py --check")
    run.write("tool.py", "print('1 passed')\n")
    run.omo("ulw done")
    assert "only tests, configuration, data or what the gate starts were changed (tool.py)" in run.printed, run.printed
    done(run, ATTESTED)


feature(
    "a new file of data that the work reads",
    appending("calc.py", "\n\nRATE = int(open('rate.txt').read())\n\n\ndef gross(a):\n    return a * RATE\n"),
    writing("rate.txt", "2\n"),
    writing(
        "test_gross.py",
        HEAD.format("Gross") + "    def test_gross(self):\n        self.assertEqual(calc.gross(3), 6)\n",
    ),
)


@honest("what a type checker finds", needs="mypy")
def _(run: Play) -> None:
    typed = "[project]\nname = 'sums'\nversion = '1'\n\n[tool.mypy]\nstrict = true\n"
    committed(run, {"calc.py": "def text(a: int) -> str:\n    return a\n", "pyproject.toml": typed})
    run.user("ulw mend what mypy finds")
    replaced(run, "calc.py", "return a", "return str(a)")
    run.omo("next")
    assert "it runs mypy" not in run.printed, run.printed
    run.omo("ulw done")
    (way,) = re.findall(r"omo (gate add types .*?);", run.printed)
    run.omo(way)
    done(run)


@honest("the first test of a project")
def _(run: Play) -> None:
    committed(run, {"calc.py": BUG, "pyproject.toml": '[project]\nname = "sums"\nversion = "1"\n'})
    run.user("ulw mend add, with a test")
    fix(run)
    run.write("test_calc.py", PYTESTS)
    run.omo("next")
    (way,) = re.findall(r"\$ omo (gate add .*)", run.printed)
    run.omo(way)
    done(run)


@honest("a session in a submodule", ATTESTED)
def _(run: Play) -> None:
    committed(run, {**BUGGY, ".gitignore": "__pycache__/\n"})
    run.sh("mkdir ../outer; git -C ../outer init -q")
    run.sh('git -C ../outer -c protocol.file.allow=always submodule --quiet add "$PWD" lib')
    run.project = run.project.parent / "outer" / "lib"
    run.user("ulw make add return the sum")
    fix(run)
    run.omo("ulw done")
    assert "and omo does not swap it: prove the work in a clone" in run.printed, run.printed
    assert "/omo:pin" not in run.printed, run.printed
    done(run, ATTESTED)


@honest("a project begun from nothing, under the user's pin")
def _(run: Play) -> None:
    committed(run, {"README": "sums\n"})
    run.user("ulw write calc.py with add, mul and neg")
    run.user(f"/omo:pin tests -- {RUN_TESTS}")
    for path, text in GREEN.items():
        run.write(path, text)
    run.write("pyproject.toml", PYPROJECT)
    done(run)


@honest("a project begun from nothing, with the agent's own tests", ATTESTED)
def _(run: Play) -> None:
    committed(run, {"README": "sums\n"})
    run.user("ulw write calc.py with add, mul and neg")
    for path, text in GREEN.items():
        run.write(path, text)
    done(run, ATTESTED)


# A change of behaviour: old tests no longer hold. The end names them, and the user's word makes it proven.

ROUNDED = replacing("calc.py", "return -a", "return float(-a)")
AS_STRING = {**GREEN, "test_calc.py": UNITTESTS.replace("calc.neg(2), -2", "str(calc.neg(2)), '-2'")}
TO_STRING = replacing("test_calc.py", "'-2'", "'-2.0'")


def change(name: str, *steps: Bend, allowed: str = "", files: dict[str, str] = AS_STRING) -> None:
    @honest(name, PROVEN if allowed else ATTESTED)
    def _(run: Play) -> None:
        committed(run, files)
        run.user("ulw change what neg gives")
        for step in steps:
            step(run)
        if not allowed:
            done(run, ATTESTED)
            return
        run.omo("ulw done")
        run.user(f"/omo:allow {allowed}")
        run.omo("ulw done")


def allowed_late(name: str, *steps: Callable[[Play], object]) -> None:
    @honest(name)
    def _(run: Play) -> None:
        committed(run, AS_STRING)
        run.user("ulw change what neg gives")
        assert "did nothing: test_calc.py is as it was" in run.user("/omo:allow test_calc.py")
        ROUNDED(run)
        TO_STRING(run)
        assert run.omo("ulw done") != 0
        for step in steps:
            step(run)
        done(run)


def allows(run: Play) -> None:
    run.user("/omo:allow test_calc.py")


def allows_after_the_cap(run: Play) -> None:
    assert "is let through by you, and the end will say so; type ulw to go on" in run.user("/omo:allow test_calc.py")
    run.user("ulw")


allowed_late("a result that is another now, allowed after the cap", let_go, allows_after_the_cap)
allowed_late(
    "a result that is another now, allowed before the end on the agent's word is told",
    lambda run: run.omo(f'ulw done --because "{AS_ASKED}"'),
    allows,
)


change("a result that is another now, and its test", ROUNDED, TO_STRING)
change("a result that is another now, and the user allows its file", ROUNDED, TO_STRING, allowed="test_calc.py")
change(
    "a result that is another now, and the user allows its test", ROUNDED, TO_STRING, allowed="test_calc.py::test_neg"
)


@honest("a result that is another now, and the user allows its two files one by one")
def _(run: Play) -> None:
    committed(run, {**AS_STRING, "test_more.py": AS_STRING["test_calc.py"]})
    run.user("ulw change what neg gives")
    ROUNDED(run)
    TO_STRING(run)
    replacing("test_more.py", "'-2'", "'-2.0'")(run)
    for allowed, left in (("test_calc.py", "test_calc.py, test_more.py"), ("test_more.py", "test_more.py")):
        run.omo("ulw done")
        assert f"it passes only with the changed {left}: " in run.printed, run.printed
        assert ("changed as the user allowed: test_calc.py" in run.printed) == (allowed == "test_more.py"), run.printed
        run.user(f"/omo:allow {allowed}")
    run.omo("ulw done")


@honest("a result that is another now, as the user allows, beside a test that failed before")
def _(run: Play) -> None:
    committed(run, {**AS_STRING, "test_other.py": testing("sys", "self.assertEqual(sys.platform, 'mars')")})
    run.user("ulw change what neg gives")
    ROUNDED(run)
    TO_STRING(run)
    run.user("/omo:allow test_calc.py")
    allowed_as_printed(run)
    assert "1 known failure allowed: test_more" in run.printed, run.printed


@honest("a result that is another now, the user asked about it, who allows it")
def _(run: Play) -> None:
    committed(run, AS_STRING)
    run.user("ulw change what neg gives")
    ROUNDED(run)
    TO_STRING(run)
    run.omo("ulw done")
    (asks,) = re.findall("to ask them: omo (.*?); or", run.printed)
    run.omo(asks.replace("TEXT", '"test_neg no longer holds as it was"'))
    assert "test_neg no longer holds as it was. To let it through, type /omo:allow test_calc.py." in run.stop()
    run.user("/omo:allow test_calc.py")
    run.user("yes, go on")
    run.omo("ulw done")


change(
    "a module renamed with its import in the tests",
    doing("git mv calc.py sums.py; sed -i 's/calc/sums/g' test_calc.py"),
)
change(
    "a parameter renamed with its tests",
    replacing("calc.py", "def neg(a):\n    return -a", "def neg(value):\n    return -value"),
    replacing("test_calc.py", "neg(a=2)", "neg(value=2)"),
    files={**GREEN, "test_calc.py": UNITTESTS.replace("neg(2)", "neg(a=2)")},
)
change(
    "a function removed with its test",
    replacing("calc.py", "\n\ndef mul(a, b):\n    return a * b\n", ""),
    replacing("test_calc.py", f"\n{TEST_MUL}{BODY}", ""),
)


@honest("a module removed with its tests, both named by the agent", ATTESTED)
def _(run: Play) -> None:
    committed(run, {**GREEN, "shop/coupon.py": "RATE = 9\n", "test_coupon.py": testing("shop.coupon", "pass")})
    run.user("ulw remove the coupons")
    run.sh("git rm -q shop/coupon.py test_coupon.py")
    run.omo('ulw done --because "coupon.py and test_coupon.py are removed, nothing imports them"')


SNAPSHOT = {
    **BUGGY,
    "test_calc.py": UNITTESTS.replace("calc.add(2, 2), 4", "calc.add(2, 2), int(open('golden/add.txt').read())"),
    "golden/add.txt": "5\n",
}
change("a snapshot that was wrong, beside a fix", fix, writing("golden/add.txt", "4\n"), files=SNAPSHOT)
change(
    "a snapshot that was wrong, and the user allows it",
    fix,
    writing("golden/add.txt", "4\n"),
    files=SNAPSHOT,
    allowed="golden/add.txt",
)
change(
    "the project's own target mended beside a fix",
    fix,
    replacing("Makefile", "unitest", "unittest"),
    files={**BUGGY, "Makefile": MAKEFILE.replace("unittest", "unitest")},
)

# What no gate shows

for _name, _step in {
    "a refactoring": replacing("calc.py", "return -a", "return 0 - a"),
    "documents": writing("README.md", "calc adds\n"),
    "more tests for what is there": IN_OLD_FILE,
    "a comment": appending("calc.py", "# sums\n"),
    "a job of CI": writing(".github/workflows/ci.yml", "jobs: {}\n"),
    "a version": writing("VERSION", "2\n"),
    "nothing to change": doing("true"),
    "a test that was wrong": replacing("test_calc.py", "calc.neg(2), -2", "calc.neg(-2), 2"),
}.items():
    work(f"{_name}, on the agent's word", _step, files=GREEN, task="tidy up", word=ATTESTED)
work(
    "a translation, which is data, on the agent's word",
    replacing("locales/de.json", "Summ", "Summe"),
    files=GREEN,
    more={
        "locales/de.json": '{"sum": "Summ"}\n',
        "test_words.py": testing("json", "self.assertEqual(json.load(open('locales/de.json'))['sum'], 'Summe')"),
    },
    word=ATTESTED,
)
IN_GERMAN = {
    **GREEN,
    "locales/de.json": '{"sum": "Summ", "yes": "ja"}\n',
    "words.py": "import json\n\n\ndef word(key, of='de'):\n    return json.load(open(f'locales/{of}.json'))[key]\n",
    "test_words.py": testing("words", "self.assertEqual(words.word('yes'), 'ja')"),
}
NEW_WORD = testing("words", "self.assertEqual(words.word('sum'), 'Summe')")
work(
    "a translation, and a test of its own",
    replacing("locales/de.json", "Summ", "Summe"),
    writing("test_sum.py", NEW_WORD),
    files=IN_GERMAN,
    task="mend the German word for sum",
)
work(
    "a new language, and a test of its own",
    writing("locales/fr.json", '{"sum": "somme"}\n'),
    writing("test_french.py", testing("words", "self.assertEqual(words.word('sum', 'fr'), 'somme')")),
    files=IN_GERMAN,
    task="add French",
)


@honest("a translation that an old test asks for, and the user allows it")
def _(run: Play) -> None:
    committed(run, {**IN_GERMAN, "test_words.py": NEW_WORD})
    run.user("ulw mend the German word for sum")
    replaced(run, "locales/de.json", "Summ", "Summe")
    assert run.omo("ulw done") != 0
    assert (
        "it passes only with the changed locales/de.json: with it as before 1 of 4 tests fails (test_more"
        in run.printed
    )
    run.user("/omo:allow locales/de.json")
    done(run)
    assert "the work is data alone: locales/de.json" in run.printed, run.printed


WORD_MENDED = (replacing("locales/de.json", "Summ", "Summe"), writing("test_sum.py", NEW_WORD))
for _name, _step in {
    "a comment in the code": replacing("words.py", "\n\n\ndef", "\n\n\n# Words are data.\ndef"),
    "a function in two steps": replacing(
        "words.py", "    return json.load", "    words = json.load", ")[key]", ")\n    return words[key]"
    ),
}.items():
    work(f"a translation with a test of its own, and {_name}", *WORD_MENDED, _step, files=IN_GERMAN)
work(
    "a translation with a test of its own, and a comment, beside a test that failed before",
    *WORD_MENDED,
    replacing("words.py", "\n\n\ndef", "\n\n\n# Words are data.\ndef"),
    files={**IN_GERMAN, **FAILS_BEFORE},
    is_allowed=True,
)


@honest("a translation that an old test asks for, and a comment, which the user allows")
def _(run: Play) -> None:
    committed(run, {**IN_GERMAN, "test_words.py": NEW_WORD})
    run.user("ulw mend the German word for sum")
    replaced(run, "locales/de.json", "Summ", "Summe")
    run.append("words.py", "# in German\n")
    assert run.omo("ulw done") != 0
    assert "with it as before 1 of 4 tests fails (test_more" in run.printed, run.printed
    run.user("/omo:allow locales/de.json")
    done(run)
    assert "of the work locales/de.json is shown alone" in run.printed, run.printed


# What a program reads beside it, in the form of settings

RATES = "[rates]\ntax = 7\n"
IN_INI = {
    **GREEN,
    "shop/rates.ini": RATES,
    "shop/rates.py": "import configparser\n\n\ndef rate(name):\n    rates = configparser.ConfigParser()\n"
    "    rates.read('shop/rates.ini')\n    return rates.getint('rates', name)\n",
    "shop/__init__.py": "",
    "test_rates.py": testing("shop.rates", "self.assertEqual(shop.rates.rate('tax'), 7)"),
}
SHIPPING = testing("shop.rates", "self.assertEqual(shop.rates.rate('ship'), 5)")
work(
    "a rate in a file of settings that the program reads, and a test of its own",
    appending("shop/rates.ini", "ship = 5\n"),
    writing("test_ship.py", SHIPPING),
    files=IN_INI,
    task="add the rate of shipping",
)
work(
    "rates in a new file of settings that the program reads now, as an old test needs",
    writing("shop/rates.ini", RATES + "ship = 5\n"),
    writing("shop/rates.py", IN_INI["shop/rates.py"]),
    writing("test_ship.py", SHIPPING),
    files={
        **{path: text for path, text in IN_INI.items() if path != "shop/rates.ini"},
        "shop/rates.py": "def rate(name):\n    return {'tax': 7}[name]\n",
    },
    task="rates are in a file, and add that of shipping",
)


# A change that the user allows stands in every run.

OLD_PART = {"old.py": "X = 1\n", "test_old.py": testing("old", "self.assertEqual(old.X, 1)")}


for _name, _tests in {
    "a feature deleted, and its tests, as the user allows": {},
    "a feature deleted, and two files of its tests, as the user allows": {
        "test_old_too.py": testing("old", "self.assertTrue(old.X)")
    },
    "a feature deleted, and its tests, as the user allows, beside a test that failed before": {
        "test_other.py": FAILS_BEFORE["test_old.py"]
    },
}.items():

    @honest(_name)
    def _(run: Play, tests: dict[str, str] = _tests) -> None:
        committed(run, {**GREEN, **OLD_PART, **tests})
        run.user("ulw take old.py away")
        run.sh("rm -f old.py test_old*.py")
        run.write("test_gone.py", testing("importlib.util", "self.assertIsNone(importlib.util.find_spec('old'))"))
        allowed_as_printed(run)


@honest("a module renamed, a function gone with its test, as the user allows")
def _(run: Play) -> None:
    committed(run, {**GREEN, **OLD_PART})
    run.user("ulw calc is called sums, and mul goes away")
    run.sh("git mv calc.py sums.py; sed -i 's/calc/sums/g' test_calc.py")
    replaced(run, "sums.py", "\n\ndef mul(a, b):\n    return a * b\n", "")
    replaced(run, "test_calc.py", f"\n{TEST_MUL}{BODY}".replace("calc", "sums"), "")
    run.write("test_gone.py", testing("sums", "self.assertFalse(hasattr(sums, 'mul'))"))
    allowed_as_printed(run)


@honest("a result that is another now, beside a test that failed before, and the user allows what is printed")
def _(run: Play) -> None:
    committed(run, {**AS_STRING, **FAILS_BEFORE})
    run.user("ulw change what neg gives")
    ROUNDED(run)
    TO_STRING(run)
    run.write("test_float.py", testing("calc", "self.assertIsInstance(calc.neg(2), float)"))
    allowed_as_printed(run)


@honest("a snapshot with a blank in its name, allowed as printed")
def _(run: Play) -> None:
    test = SNAPSHOT["test_calc.py"].replace("add.txt", "add up.txt")
    committed(run, {**BUGGY, "test_calc.py": test, "golden/add up.txt": "5\n"})
    run.user("ulw make add return the sum")
    fix(run)
    run.write("golden/add up.txt", "4\n")
    allowed_as_printed(run)


for _allowed in (
    "test_calc.py, test_more.py",
    '"test_calc.py" `test_more.py`',
    "test_calc.py test_more.py::test_neg",
    "test_calc.py::test_neg test_more.py::test_neg",
):

    @honest(f"a result that is another now, its tests allowed as {_allowed}")
    def _(run: Play, allowed: str = _allowed) -> None:
        committed(run, {**AS_STRING, "test_more.py": AS_STRING["test_calc.py"]})
        run.user("ulw change what neg gives")
        ROUNDED(run)
        TO_STRING(run)
        replaced(run, "test_more.py", "'-2'", "'-2.0'")
        run.user(f"/omo:allow {allowed}")
        done(run)


@honest("a target that fails as before, beside a pin", WAIVED)
def _(run: Play) -> None:
    committed(run, {**BUGGY, "Makefile": "test:\n\t./no-such-runner\n"})
    run.user("ulw make add return the sum")
    run.user(f"/omo:pin tests -- {RUN_TESTS}")
    fix(run)
    assert run.omo("ulw done") != 0
    assert "the user says how in .sisyphus/omo.json, for the next run" in run.printed, run.printed
    recorded = re.search(r"omo (gate record \S+ --pre-existing --evidence) TEXT", run.printed)
    assert recorded, run.printed
    run.omo(f'{recorded[1]} "there is no such runner here"')
    done(run)


@honest("the same target, where the user has said how it is tested")
def _(run: Play) -> None:
    gates = json.dumps({"gates": {"tests": RUN_TESTS}})
    committed(run, {**BUGGY, "Makefile": "test:\n\t./no-such-runner\n", ".sisyphus/omo.json": gates})
    run.user("ulw make add return the sum")
    fix(run)
    done(run)


# Verify: the project's own command is that, whoever files it.


@ending("verify", "honest: the agent files the project's own command, red and green", PROVEN)
def _(run: Play) -> None:
    committed(run, BUGGY)
    verify.begun(run, {"id": "tests", "type": "command", "argv": ["make", "test"]})
    fix(run)
    verify.finished(run, summary="the tests pass")


@ending("verify", "honest: the user's check, a fix and a new test file", PROVEN)
def _(run: Play) -> None:
    committed(run, BUGGY)
    verify.begun(run, {"id": "tests", "type": "command", "argv": ["make", "test"]}, by="user")
    fix(run)
    run.write("test_more.py", MORE_TESTS)
    verify.finished(run, summary="the tests pass")


# Settings that name what the work brings, and a test that asks for it

BY_MODULE = {**IN_PYTEST, "calc.py": MENDED, "Makefile": "test:\n\tpython3 -B -m pytest -q\n"}
work(
    "a plugin that pytest's settings load, and a test that asks for it",
    all_written(
        {
            "listing.py": "import pytest\n\n\n@pytest.fixture\ndef plain():\n    return 1\n",
            "pyproject.toml": PYPROJECT + "addopts = '-p listing'\n",
            "tests/test_plain.py": "def test_plain(plain):\n    assert plain == 1\n",
        }
    ),
    files=BY_MODULE,
    needs="pytest",
)
work(
    "a new module, and its test where only new settings look",
    all_written(
        {
            "money.py": "def cents(euros):\n    return 100 * euros\n",
            "pyproject.toml": PYPROJECT + "testpaths = ['tests', 'slow']\n",
            "slow/test_money.py": "import money\n\n\ndef test_cents():\n    assert money.cents(2) == 200\n",
        }
    ),
    files={**BY_MODULE, "pyproject.toml": PYPROJECT + "testpaths = ['tests']\n"},
    needs="pytest",
)
