"""Which files a command starts, itself or by what the project's files say of it."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from omo.proof import calls, started_files
from omo.proof.project_files import commit_at
from tests.kept import shared
from tests.project import head
from tests.proof.test_own_commands import lay_out


@pytest.mark.parametrize(
    ("command", "scripts"),
    [
        ("make check", ["check.py"]),
        ("make other", []),
        ("npm test", ["tools/run.js"]),
        ("python3 -B check.py --all", ["check.py"]),
        ("sh -c 'cd . && ./verify.sh; true'", ["verify.sh"]),
        ("grep -q new value", []),
        ("gcc value", []),
        ("make -j4 all", ["check.py", "tools/run.js"]),
        ("make -C tools", ["check.py", "tools/run.js"]),
        ("make -C tools -C .. check", ["check.py"]),
        ("make -C --dir x", []),
        ("env A=1 timeout 60 python3 -m check", ["check.py"]),
        ("uv run python check.py", ["check.py"]),
        ("make built", []),
        ("python3 manage.py test", ["manage.py"]),
        ("./verify.sh --all", ["verify.sh"]),
        ("node tools/run.js", ["tools/run.js"]),
        ("node --check tools/run.js", []),
        ("bash -n verify.sh", []),
        ("npm run all", ["check.py", "tools/pre.js", "tools/run.js"]),
        ("npm --prefix tools run js", ["tools/run.js"]),
        ("sh -c '. ./verify.sh && pytest | tail -1'", ["verify.sh"]),
        ("python3 -m tools", ["tools/__main__.py"]),
        ("pytest -q", []),
    ],
)
def test_the_scripts_that_a_command_executes(command: str, scripts: list[str]) -> None:
    root = shared(make_scripts)
    files = commit_at(str(root), head(root))
    assert started_files.of_gate(files, calls.unfold(files, calls.call_of(shlex.split(command), "."))) == scripts


def make_scripts(root: Path) -> None:
    recipes = "check:\n\t@python3 -B check.py\nother:\n\techo value\nall: check\n\tcd tools && $(MAKE)\n"
    scripts = '"test": "FOO=1 node tools/run.js", "preall": "node tools/pre.js", "all": "npm test && make check"'
    files = {
        "Makefile": recipes + "built:\n\t$(CC) -c value\n",
        "tools/Makefile": "run: ..\n\t$(NODE) run.js; cd .. && make all\n",
        "tools/package.json": '{"scripts": {"js": "node ./run.js"}}',
        "package.json": f'{{"scripts": {{{scripts}}}}}',
        **dict.fromkeys(("check.py", "verify.sh", "value", "tools/run.js", "tools/pre.js", "manage.py"), ""),
        "tools/__main__.py": "",
    }
    lay_out(root, files)
