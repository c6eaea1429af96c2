"""Whose a command is, which command is the project's test gate, and which other does as much."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from omo.proof import calls, own_commands
from omo.proof.project_checks import Check
from tests.kept import shared
from tests.project import git, head
from tests.tables import read

NOBODY = "nobody"

FILES = {
    "pyproject.toml": "[project]\nname = 'x'\n",
    "package.json": '{"scripts": {"test": "jest", "lint": "eslint ."}}',
    "Makefile": "VAR := 1\ncheck: deps\n\tpytest\nslow:\n\tpytest -m slow\ndeps:\n",
    "justfile": "test:\n  cargo test\n",
    "crate/Cargo.toml": "[package]\n",
    ".github/workflows/ci.yml": "steps:\n  - run: ./ci/check.sh --all\n  - run: |\n      tox -e py312\n",
    "lib/test_x.py": "",
    "noxfile.py": "",
    "manage.py": "import django\n",
    "test.sh": "pytest\n",
    "deploy.sh": "",
    "go/go.mod": "module x\n",
    "web/package.json": '{"scripts": {"test": "vitest"}}',
}


def lay_out(root: Path, files: dict[str, str]) -> str:
    """Its commit."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "base")
    return head(root)


def make(root: Path) -> None:
    lay_out(root, FILES)
    (root / "tox.ini").write_text("new since the base")


def named() -> list[tuple[str, str, str]]:
    """Each command, the directory it is run in, and the file that names it."""
    rows = []
    for file, parts in read(__file__, "named_commands.txt").items():
        for cwd, commands in parts.items():
            rows += [(command, cwd, "" if file.startswith(NOBODY) else file) for command in commands]
    return rows


@pytest.mark.parametrize(("command", "cwd", "file"), named())
def test_where_a_command_is_named(command: str, cwd: str, file: str) -> None:
    root = shared(make)
    found = own_commands.where(str(root), head(root), shlex.split(command), cwd)
    assert found.endswith(file) if file else found == ""


MAKE = {"Makefile": "test:\n\tpytest -q\nsmoke:\n\tpytest -q -k add\nall: lint test\nlint:\n\truff check\n"}
PYTEST = {"pytest.ini": "[pytest]\n"}
JEST = {"package.json": '{"scripts": {"test": "jest", "all": "eslint . && jest"}}'}

# The files, the test gate that they name, and commands that do as much or do not.
COVERED: list[tuple[dict[str, str], str, list[str], list[str]]] = [
    (
        PYTEST,
        "pytest",
        ["pytest -q", "python3 -m pytest -x", "uv run pytest", "pytest .", "sh -c 'pytest -q && true'", "pytest --cov"],
        ["pytest tests/", "pytest tests/test_a.py::test_b", "pytest -k add", "pytest --lf", "sh -c 'pytest || true'"],
    ),
    (
        MAKE,
        "make test",
        ["make test", "make -s test", "pytest", "make all", "make lint test", "sh -c 'ruff check && pytest'"],
        # A target that the project has for a part of its tests is its own, and still a part.
        ["make smoke", "make lint", "pytest -k add", "pytest tests", "make -n test", "make test smoke=1", "sh -c true"],
    ),
    (
        {"Makefile": "test: types\n\tpytest -m 'not slow' tests unit/a\ntypes:\n\tmypy src\n"},
        "make test",
        ["sh -c 'mypy && pytest'", "sh -c \"mypy src && pytest -m 'not slow' tests unit/a\""],
        ["pytest", "sh -c 'mypy src && pytest tests'", "sh -c \"mypy src && pytest -m 'not slow' tests\"", "mypy src"],
    ),
    (
        {"Makefile": "test:\n\tpytest tests unit/a\n"},
        "make test",
        ["pytest unit/a tests", "pytest tests/ unit/a", "pytest tests unit/a more", "pytest"],
        ["pytest tests", "pytest unit/a/b tests", "sh -c 'cd tests && pytest'"],
    ),
    (
        JEST,
        "npm test",
        ["npx jest", "yarn test", "npm run all", "npm test -- --silent", "npm test --silent"],
        ["npx jest src", "npx jest -t add", "npm test src/a", "npm test --ignore-scripts", "npx eslint ."],
    ),
    (
        {"package.json": '{"scripts": {"pretest": "tsc", "test": "node run.js"}}'},
        "npm test",
        ["npm test", "yarn test", "sh -c 'npx tsc && node run.js'"],
        ["node run.js", "npx tsc"],
    ),
    (
        {"go.mod": "module x\n"},
        "go test ./...",
        ["go test -v ./...", "go test -race -count=1 ./..."],
        [
            "go test",
            "go test .",
            "go test ./pkg/...",
            "go test -run Add ./...",
            "go test -count=0 ./...",
            "go vet ./...",
        ],
    ),
    (
        {"Cargo.toml": "[package]\n"},
        "cargo test",
        ["cargo test --all", "cargo test -- --nocapture"],
        ["cargo test --lib", "cargo test -p a", "cargo test add", "cargo build"],
    ),
    (
        {"tox.ini": "[testenv]\n"},
        "tox -e py",
        ["tox -e py", "tox", "tox -q", "python3 -m tox", "tox -p auto"],
        ["tox -e lint", "tox -l", "pytest"],
    ),
    ({"noxfile.py": ""}, "nox", ["nox -R"], ["nox -s tests", "nox -l"]),
    ({"justfile": "test:\n  cargo test\n"}, "just test", ["cargo test", "just"], ["cargo test a", "just -s test"]),
    (
        {"manage.py": "import django\n"},
        "python3 manage.py test",
        ["./manage.py test", "python manage.py test --parallel"],
        ["python3 manage.py test app", "python3 manage.py check", "pytest"],
    ),
    # In a makefile a minus says that a failure is of no account.
    ({**PYTEST, "Makefile": "soft:\n\t-pytest\nhard:\n\t@pytest\n"}, "pytest", ["make hard"], ["make soft"]),
    (
        {".sisyphus/omo.json": '{"gates": {"lint": "ruff check", "unit": "pytest -q tests"}}', **MAKE},
        "pytest -q tests",
        ["pytest tests", "pytest", "make test"],
        ["ruff check", "make smoke", "pytest unit"],
    ),
    (
        {".sisyphus/omo.json": '{"gates": {"a": "./a.sh", "b": "./b.sh"}}'},
        "./a.sh",
        ["./a.sh", "sh a.sh"],
        ["./b.sh", "./a.sh --fast"],
    ),
]


@pytest.mark.parametrize(("files", "gate", "enough", "too_little"), COVERED)
def test_the_test_gate_and_what_covers_it(
    tmp_path: Path, files: dict[str, str], gate: str, enough: list[str], too_little: list[str]
) -> None:
    base = lay_out(tmp_path, files)
    (tmp_path / "Makefile").write_text("test:\n\ttrue\n")  # new since the base
    found = own_commands.test_gate(str(tmp_path), base, ".")
    assert found is not None
    assert found.argv == gate.split()
    for command in (gate, *enough):
        assert own_commands.covers(str(tmp_path), base, shlex.split(command), ".", found), command
    for command in too_little:
        assert not own_commands.covers(str(tmp_path), base, shlex.split(command), ".", found), command


def test_a_target_covers_the_runner_that_it_is_called_for(tmp_path: Path) -> None:
    base = lay_out(tmp_path, {**MAKE, "api/a.py": ""})
    gate = Check(["pytest", "-q"], "pytest.ini", "python")
    assert own_commands.covers(str(tmp_path), base, ["make", "test"], ".", gate)
    assert not own_commands.covers(str(tmp_path), base, ["make", "smoke"], ".", gate)
    gate.cwd = "api"
    assert not own_commands.covers(str(tmp_path), base, ["make", "test"], ".", gate)


@pytest.mark.parametrize(
    ("files", "cwd", "gate"),
    [
        ({"README.md": ""}, ".", ""),
        ({"pytest.ini": "", "package.json": '{"scripts": {"test": "jest"}}'}, ".", "npm test"),
        # The nearest directory that names tests; one that only names types is passed by.
        ({"Makefile": "test:\n\tx\n", "web/tsconfig.json": "{}"}, "web", "make test"),
        ({"Makefile": "test:\n\tx\n", "web/package.json": '{"scripts": {"test": "x"}}'}, "web", "npm test"),
        ({".sisyphus/omo.json": '{"gates": {"a": "./a.sh", "b": "./b.sh"}}'}, ".", "./a.sh"),
        ({".sisyphus/omo.json": '{"gates": {"a": "./a.sh", "test": "./b.sh"}}'}, "src", "./b.sh"),
        ({"Makefile": "lint:\n\tx\n"}, ".", ""),
    ],
)
def test_the_gate_of_tests(tmp_path: Path, files: dict[str, str], cwd: str, gate: str) -> None:
    base = lay_out(tmp_path, files)
    found = own_commands.test_gate(str(tmp_path), base, cwd)
    assert (" ".join(found.argv) if found else "") == gate


def test_a_script_that_calls_itself_without_end_is_nobody_s(tmp_path: Path) -> None:
    base = lay_out(
        tmp_path, {"package.json": '{"scripts": {"test": "jest", "round": "jest && npm run round -- more"}}'}
    )
    assert own_commands.where(str(tmp_path), base, ["npm", "run", "round", "x"], ".") == ""


@pytest.mark.parametrize(
    ("command", "stops"),
    [
        ("python3 -m unittest -f", True),
        ("python3 -m unittest discover -vf", True),
        ("python3 -m unittest --failfast", True),
        ("python3 -m unittest -vb", False),
        ("npx jest --bail", True),
        ("npx jest -b", True),
        ("npx jest --bail=0", False),
        ("vitest run --bail=1", True),
        ("go test -failfast ./...", True),
        ("phpunit --stop-on-failure", True),
        ("rspec --fail-fast", True),
        ("rspec -f doc", False),
        ("cargo test --no-fail-fast", False),
        ("make test", False),
    ],
)
def test_a_runner_that_ends_with_its_first_failure(command: str, stops: bool) -> None:
    assert calls.call_of(shlex.split(command), ".").stops_early is stops
