"""Whose a command is: the project's own where its files named it before the work."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from omo.proof import own_commands
from tests.kept import copied
from tests.proof.test_base import git

FILES = {
    "pyproject.toml": "[project]\nname = 'x'\n",
    "package.json": '{"scripts": {"test": "jest", "lint": "eslint ."}}',
    "Makefile": "VAR := 1\ncheck: deps\n\tpytest\ndeps:\n",
    "justfile": "test:\n  cargo test\n",
    "crate/Cargo.toml": "[package]\n",
    ".github/workflows/ci.yml": "steps:\n  - run: ./ci/check.sh --all\n  - run: |\n      tox -e py312\n",
    "lib/test_x.py": "",
}


def make(root: Path) -> None:
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "base")


@pytest.mark.parametrize(
    ("command", "cwd", "file"),
    [
        ("pytest", ".", "pyproject.toml"),
        ("python3 -m pytest -q --tb=short", ".", "pyproject.toml"),
        (".venv/bin/python -B -m unittest discover", ".", "pyproject.toml"),
        ("uv run pytest -x", ".", "pyproject.toml"),
        ("ruff check .", ".", "pyproject.toml"),
        ("npm test", ".", "package.json, script test"),
        ("npm run lint", ".", "package.json, script lint"),
        ("yarn lint", ".", "package.json, script lint"),
        ("make check", ".", "Makefile"),
        ("make", ".", "Makefile"),
        ("just test", ".", "justfile"),
        ("cargo test", "crate", "Cargo.toml"),
        ("./ci/check.sh --all", ".", ".github/workflows/ci.yml"),
        ("tox -e py312", ".", ".github/workflows/ci.yml"),
        ("python3 -m unittest", "lib", "lib/test_x.py"),
        ("pytest tests/test_one.py", ".", ""),
        ("pytest -k something", ".", ""),
        ("pytest --co", ".", ""),
        ("python3 -m pytest -c other.ini", ".", ""),
        ("npm run build", ".", ""),
        ("make -n check", ".", ""),
        ("make -f other.mk check", ".", ""),
        ("make check VAR=2", ".", ""),
        ("make VAR", ".", ""),
        ("cargo test", ".", ""),
        ("cargo test one", "crate", ""),
        ("./ci/check.sh", ".", ""),
        ("sh -c 'pytest || true'", ".", ""),
        ("true", ".", ""),
        ("tox", ".", ""),
        ("/tmp/b/pytest -q", ".", ""),
        ("tools/make check", ".", ""),
        ("/usr/bin/make check", ".", "Makefile"),
        ("make -f check", ".", ""),
        ("make -q check", ".", ""),
    ],
)
def test_where_a_command_is_named(tmp_path: Path, command: str, cwd: str, file: str) -> None:
    copied(tmp_path, make)
    head = git(tmp_path, "rev-parse", "HEAD").strip()
    (tmp_path / "tox.ini").write_text("new since the base")
    found = own_commands.where(str(tmp_path), head, shlex.split(command), cwd)
    assert found.endswith(file) if file else found == ""


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
        ("env A=1 timeout 60 python3 -m check", ["check.py"]),
        ("uv run python check.py", ["check.py"]),
        ("make built", []),
    ],
)
def test_the_scripts_that_a_command_executes(tmp_path: Path, command: str, scripts: list[str]) -> None:
    copied(tmp_path, make_scripts)
    head = git(tmp_path, "rev-parse", "HEAD").strip()
    assert own_commands.scripts(str(tmp_path), head, shlex.split(command), ".") == scripts


def make_scripts(root: Path) -> None:
    files = {
        "Makefile": "check:\n\t@python3 -B check.py\nother:\n\techo value\nall: check\n\tcd tools && $(MAKE)\n"
        "built:\n\t$(CC) -c value\n",
        "tools/Makefile": "run: ..\n\t$(NODE) run.js; cd .. && make all\n",
        "package.json": '{"scripts": {"test": "FOO=1 node tools/run.js"}}',
        **dict.fromkeys(("check.py", "verify.sh", "value", "tools/run.js"), ""),
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "base")
