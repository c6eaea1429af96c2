"""Which checks are found in a project's files, layout by layout, and that each of them is the project's own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from omo.proof import own_commands, project_checks, typed_commands
from omo.proof.project_files import CommitFiles, DiskFiles
from tests.proof.test_base import git

SCRIPTS = (
    '{"scripts": {"test": "vitest", "lint": "eslint .", "typecheck": "tsc", "build": "vite build", "dev": "vite"}}'
)
CI = "steps:\n  - run: |\n      uv sync --group test\n      ruff check .\n  - name: Tests\n    run: pytest -q --cov\n"
PYTHON = '[project]\nname = "x"\n\n[tool.pytest.ini_options]\n\n[tool.ruff]\n\n[tool.mypy]\nstrict = true\n'
GO = ["tests: go test ./... (go.mod)", "lint: go vet ./... (go.mod)", "build: go build ./... (go.mod)"]
HOSTILE = (
    '{"scripts": {"test; rm -rf ~": "x", "-rf": "x", "$(id)": "x", "test\\u001b[2J": "x", "": "x", "lint": 7,'
    ' "__proto__": "x", "build": "tsc --watch"}}'
)

# A layout, the directory the session is in, and what is offered: name, command, where it was found.
LAYOUTS: dict[str, tuple[dict[str, str], str, list[str]]] = {
    "npm": (
        {"package.json": SCRIPTS, "package-lock.json": "{}"},
        ".",
        [
            "tests: npm test (package.json, script test)",
            "types: npm run typecheck (package.json, script typecheck)",
            "lint: npm run lint (package.json, script lint)",
            "build: npm run build (package.json, script build)",
        ],
    ),
    "yarn": (
        {"package.json": '{"scripts": {"test": "jest", "lint": "eslint ."}}', "yarn.lock": ""},
        ".",
        ["tests: yarn test (package.json, script test)", "lint: yarn run lint (package.json, script lint)"],
    ),
    "pnpm": (
        {"package.json": '{"scripts": {"test:unit": "vitest run"}}', "pnpm-lock.yaml": ""},
        ".",
        ["tests: pnpm run test:unit (package.json, script test:unit)"],
    ),
    "bun": (
        {"package.json": '{"scripts": {"test": "bun test"}}', "bun.lock": ""},
        ".",
        ["tests: bun run test (package.json, script test)"],
    ),
    "the package manager that package.json names": (
        {"package.json": '{"packageManager": "yarn@4.1.0", "scripts": {"check": "jest"}}'},
        ".",
        ["tests: yarn run check (package.json, script check)"],
    ),
    "a test that watches, and one for CI": (
        {"package.json": '{"scripts": {"test": "jest --watch", "test:ci": "jest --ci", "build": "x --watch"}}'},
        ".",
        ["tests: npm run test:ci (package.json, script test:ci)"],
    ),
    "a test that does not watch": (
        {"package.json": '{"scripts": {"test": "react-scripts test --watchAll=false"}}'},
        ".",
        ["tests: npm test (package.json, script test)"],
    ),
    "jest without a script": (
        {"package.json": '{"scripts": {"test": "echo no test specified; exit 1"}}', "jest.config.ts": ""},
        ".",
        ["tests: npx jest (jest.config.ts)"],
    ),
    "vitest without a script": (
        {"package.json": "{}", "vitest.config.mts": ""},
        ".",
        ["tests: npx vitest run (vitest.config.mts)"],
    ),
    "TypeScript without scripts": (
        {"package.json": "{}", "tsconfig.json": "{}"},
        ".",
        ["types: npx tsc --noEmit (tsconfig.json)"],
    ),
    "npm init's own test, a formatter, a watcher": (
        {"package.json": '{"scripts": {"test": "echo no test specified; exit 1", "lint": "eslint --fix ."}}'},
        ".",
        [],
    ),
    "uv": (
        {"pyproject.toml": PYTHON, "uv.lock": ""},
        ".",
        [
            "tests: uv run --no-sync pytest (pyproject.toml)",
            "types: uv run --no-sync mypy . (pyproject.toml)",
            "lint: uv run --no-sync ruff check . (pyproject.toml)",
        ],
    ),
    "poetry, and mypy that knows its files": (
        {"pyproject.toml": '[tool.mypy]\nfiles = ["src"]\n\n[tool.poetry]\n', "poetry.lock": "", "tests/test_a.py": ""},
        ".",
        ["tests: poetry run pytest (tests/test_a.py)", "types: poetry run mypy (pyproject.toml)"],
    ),
    "tox": (
        {"setup.py": "", "tox.ini": "[tox]\n\n[testenv]\ncommands = x\n"},
        ".",
        ["tests: tox -e py (tox.ini)"],
    ),
    "nox": ({"noxfile.py": "", "uv.lock": ""}, ".", ["tests: nox (noxfile.py)"]),
    "pytest.ini and ruff.toml": (
        {"pytest.ini": "", "ruff.toml": "", "setup.cfg": "[mypy]\n"},
        ".",
        ["tests: pytest (pytest.ini)", "types: mypy . (setup.cfg)", "lint: ruff check . (ruff.toml)"],
    ),
    "Python files with a test, nothing else": (
        {"add.py": "", "test_add.py": "import unittest\n"},
        ".",
        ["tests: python3 -m unittest (test_add.py)"],
    ),
    "Makefile in front of pytest": (
        {
            "Makefile": ".PHONY: test lint\nSRC := src\n\ntest: deps\n\tpytest\n\nlint:\n\truff check\n",
            "pyproject.toml": PYTHON,
        },
        ".",
        [
            "tests: make test (Makefile)",
            "types: mypy . (pyproject.toml)",
            "lint: make lint (Makefile)",
        ],
    ),
    "justfile": (
        {"justfile": "set shell := ['sh']\n\n@check *args:\n  cargo test {{args}}\n", "Cargo.toml": "[package]\n"},
        ".",
        ["tests: just check (justfile)", "build: cargo build (Cargo.toml)"],
    ),
    "justfile whose target has a default": (
        {"justfile": "lint: test\n  ruff check\n\ntest filter='' lines=\"3\":\n  cargo test {{filter}}\n"},
        ".",
        ["tests: just test (justfile)", "lint: just lint (justfile)"],
    ),
    "Makefile with two targets in a line": (
        {"Makefile": "all test: deps\n\tpytest\n"},
        ".",
        ["tests: make test (Makefile)"],
    ),
    "Cargo workspace": (
        {"Cargo.toml": '[workspace]\nmembers = ["a"]\n\n[workspace.lints.clippy]\n', "a/Cargo.toml": "[package]\n"},
        ".",
        [
            "tests: cargo test (Cargo.toml)",
            "lint: cargo clippy (Cargo.toml)",
            "build: cargo build (Cargo.toml)",
        ],
    ),
    "Go": (
        {"go.mod": "module x\n"},
        ".",
        GO,
    ),
    "Maven wrapper": ({"pom.xml": "", "mvnw": ""}, ".", ["tests: ./mvnw test (pom.xml)"]),
    "Maven": ({"pom.xml": ""}, ".", ["tests: mvn test (pom.xml)"]),
    "Gradle in Kotlin": ({"build.gradle.kts": "", "gradlew": ""}, ".", ["tests: ./gradlew test (build.gradle.kts)"]),
    "Gradle as it is begun today, with its parts below": (
        {"settings.gradle.kts": "", "gradlew": "", "app/build.gradle.kts": ""},
        ".",
        ["tests: ./gradlew test (settings.gradle.kts)"],
    ),
    "Scala": ({"build.sbt": ""}, ".", ["tests: sbt test (build.sbt)"]),
    ".NET": ({"Calc.sln": "", "Calc/Calc.csproj": ""}, ".", ["tests: dotnet test (Calc.sln)"]),
    "Swift": ({"Package.swift": ""}, ".", ["tests: swift test (Package.swift)"]),
    "Dart": ({"pubspec.yaml": "name: x\n"}, ".", ["tests: dart test (pubspec.yaml)"]),
    "Flutter": (
        {"pubspec.yaml": "dependencies:\n  flutter:\n    sdk: flutter\n"},
        ".",
        ["tests: flutter test (pubspec.yaml)"],
    ),
    "a script for the tests": ({"scripts/test": "#!/bin/sh\n"}, ".", ["tests: ./scripts/test (scripts/test)"]),
    "Perl": ({"Makefile.PL": "", "t/slug.t": ""}, ".", ["tests: prove -l (Makefile.PL)"]),
    "a script that runs all tests": ({"tests/run": "#!/bin/sh\n"}, ".", ["tests: ./tests/run (tests/run)"]),
    "a package with tests inside and a manifest of its own": (
        {"shop/__init__.py": "", "shop/setup.py": "", "shop/test_cart.py": "import unittest\n"},
        "shop",
        ["tests: python3 -m unittest (shop/test_cart.py) in shop"],
    ),
    "a script that is no program": ({"test.sh": ""}, ".", []),
    "a script beside other tests": ({"test.sh": "#!/bin/sh\n", "go.mod": ""}, ".", GO),
    "Ruby": (
        {"Gemfile": 'gem "rspec"\n', "Gemfile.lock": ""},
        ".",
        ["tests: bundle exec rspec (Gemfile)"],
    ),
    "two languages": (
        {"package.json": '{"scripts": {"test": "jest"}}', "pytest.ini": ""},
        ".",
        ["tests: npm test (package.json, script test)", "tests-python: pytest (pytest.ini)"],
    ),
    "a package of a monorepo": (
        {"pkgs/app/package.json": SCRIPTS, "package.json": "{}", "pnpm-lock.yaml": "", "Makefile": "test:\n\tx\n"},
        "pkgs/app",
        [
            "tests: pnpm test (pkgs/app/package.json, script test) in pkgs/app",
            "types: pnpm run typecheck (pkgs/app/package.json, script typecheck) in pkgs/app",
            "lint: pnpm run lint (pkgs/app/package.json, script lint) in pkgs/app",
            "build: pnpm run build (pkgs/app/package.json, script build) in pkgs/app",
        ],
    ),
    "a directory that names nothing itself": (
        {"src/deep/a.c": "", "Makefile": "check:\n\tx\n"},
        "src/deep",
        ["tests: make check (Makefile)"],
    ),
    "CI alone": (
        {".github/workflows/ci.yml": CI},
        ".",
        [
            "tests: pytest -q --cov (.github/workflows/ci.yml)",
            "lint: ruff check . (.github/workflows/ci.yml)",
        ],
    ),
    "CI of another kind, in another directory, with a shell": (
        {
            ".gitlab-ci.yml": "test:\n  script:\n    - ./ci/check.sh --all\n    - npm test && npm run lint\n",
            ".github/workflows/a.yml": "- run: make test\n  working-directory: web\n- run: go test ${{ x }}\n",
        },
        ".",
        ["tests: ./ci/check.sh --all (.gitlab-ci.yml)"],
    ),
    "the project's own gates": (
        {
            ".sisyphus/omo.json": '{"gates": {"unit": "pytest -q", "all": "make a && make b"}}',
            "Makefile": "test:\n\tx\n",
        },
        "below",
        [
            "unit: pytest -q (.sisyphus/omo.json, gate unit)",
            "all: sh -c 'make a && make b' (.sisyphus/omo.json, gate all)",
        ],
    ),
    "nothing at all": ({"README.md": "make test\n"}, ".", []),
    "broken files of each kind": (
        {
            "package.json": '{"scripts": {"test": ',
            "pyproject.toml": "[tool.pytest",
            "Makefile": "\t:\n:\n::=\n= test:\n",
            "justfile": "test\n  :",
            ".sisyphus/omo.json": '{"gates": ["pytest"]}',
            ".github/workflows/ci.yml": "\x00- run: 'pytest\n- run: \"\n-\n",
            "Cargo.toml": "\x00\xff",
            "tsconfig.json": "[",
        },
        ".",
        [
            "tests: pytest (pyproject.toml)",
            "tests-rust: cargo test (Cargo.toml)",
            "types: npx tsc --noEmit (tsconfig.json)",
            "build: cargo build (Cargo.toml)",
        ],
    ),
    "scripts that are not values, objects that are lists": (
        {"package.json": '{"scripts": ["test"], "packageManager": 7}', ".sisyphus/omo.json": "[]"},
        ".",
        [],
    ),
    "hostile names": (
        {"package.json": HOSTILE, "Makefile": "test;id:\n\tx\n-n:\n\tx\n$(shell id):\n\tx\n"},
        ".",
        [],
    ),
}


def lay_out(root: Path, layout: str) -> tuple[str, str]:
    return committed(root, LAYOUTS[layout][0]), LAYOUTS[layout][1]


def committed(root: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
        (root / name).chmod(0o755 if text.startswith("#!") else 0o644)
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "base")
    return git(root, "rev-parse", "HEAD").strip()


def in_words(check: project_checks.Check) -> str:
    below = "" if check.cwd == "." else f" in {check.cwd}"
    return f"{check.name}: {typed_commands.typed(check.argv)} ({check.found_in}){below}"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_a_layout_offers_is_its_own(tmp_path: Path, layout: str, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = tmp_path / "bin"
    installed.mkdir()
    for manager in (*project_checks.SCRIPT_RUNNERS.values(), *project_checks.PYTHON_RUNNERS.values()):
        program = installed / manager.split()[0]
        program.touch(0o755)
    monkeypatch.setenv("PATH", str(installed), prepend=os.pathsep)
    root = tmp_path / "project"
    head, cwd = lay_out(root, layout)
    for files in (CommitFiles(str(root), head), DiskFiles(str(root), ())):
        checks = project_checks.suggest(files, cwd)
        assert [in_words(check) for check in checks] == LAYOUTS[layout][2]
        for check in checks:
            file = own_commands.where(str(root), head, check.argv, check.cwd)
            assert file.split(", ")[0] == check.file, check.argv


def test_tests_inside_of_a_package_are_run_where_it_lies(tmp_path: Path) -> None:
    names = ("shop/__init__.py", "shop/tests/__init__.py", "shop/tests/test_cart.py", "web/test_page.py")
    head = committed(tmp_path, dict.fromkeys(names, "import unittest\n"))
    found = {".": "shop/tests/test_cart.py)", "shop": "shop/tests/test_cart.py)", "web": "web/test_page.py) in web"}
    for cwd, where in found.items():
        checks = project_checks.suggest(CommitFiles(str(tmp_path), head), cwd)
        assert [in_words(check) for check in checks] == [f"tests: python3 -m unittest ({where}"]


def test_what_differs_from_the_commit_names_nothing(tmp_path: Path) -> None:
    lay_out(tmp_path, "npm")
    assert project_checks.suggest(DiskFiles(str(tmp_path), {"package.json": "other"})) == []


def test_where_nothing_is_committed_the_files_name_checks_and_no_gates(tmp_path: Path) -> None:
    lay_out(tmp_path, "the project's own gates")
    assert [check.argv for check in project_checks.suggest(DiskFiles(str(tmp_path)))] == [["make", "test"]]


@pytest.mark.parametrize(
    ("files", "programs", "tests"),
    [
        ({"pyproject.toml": PYTHON, "uv.lock": ""}, ["bin/pytest"], "pytest"),
        ({"pyproject.toml": PYTHON, "uv.lock": ""}, ["bin/pytest", "bin/uv"], "uv run --no-sync pytest"),
        ({"pyproject.toml": PYTHON, "uv.lock": ""}, ["bin/pytest", ".venv/bin/pytest"], "pytest"),
        ({"pyproject.toml": PYTHON, "uv.lock": ""}, [".venv/bin/pytest"], ".venv/bin/pytest"),
        ({"pyproject.toml": PYTHON, "uv.lock": ""}, [], "uv run --no-sync pytest"),
        ({"package.json": '{"scripts": {"test": "jest"}}', "yarn.lock": ""}, ["bin/npm"], "npm test"),
    ],
)
def test_a_package_manager_that_is_not_installed_runs_nothing(
    tmp_path: Path, files: dict[str, str], programs: list[str], tests: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (*files, *programs):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(files.get(name, ""))
        path.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    first = project_checks.suggest(DiskFiles(str(tmp_path)))[0]
    assert typed_commands.typed(first.argv) == tests


@pytest.mark.parametrize(
    ("files", "programs", "candidates"),
    [
        (
            {"pyproject.toml": PYTHON, "tests/test_a.py": "", "src/a/__init__.py": ""},
            [],
            "pytest; python3 -m pytest; pytest tests; python3 -m pytest tests; env PYTHONPATH=src pytest",
        ),
        (
            {"pyproject.toml": PYTHON, "uv.lock": ""},
            ["uv"],
            "uv run --no-sync pytest; uv run pytest; uv run --no-sync python3 -m pytest",
        ),
        (
            {
                "tox.ini": "[testenv]\n",
                "noxfile.py": "@nox.session\ndef tests(session):\n",
                "test_a.py": "import unittest",
            },
            [],
            "tox -e py; nox -s tests; python3 -m unittest",
        ),
        (
            {"Makefile": "test:\n\tpytest\n", "pytest.ini": "", ".github/workflows/a.yml": "- run: pytest -q a\n"},
            [],
            "make test; pytest; python3 -m pytest; pytest -q a",
        ),
        # For tests of two languages one command stands, or none does.
        ({"Makefile": "test:\n\tpytest\n", "pytest.ini": "", "go.mod": ""}, [], "make test"),
        ({"package.json": '{"scripts": {"test": "jest"}}', "jest.config.js": ""}, [], "npm test"),
        ({"go.mod": ""}, [], "go test ./..."),
    ],
)
def test_what_the_command_for_the_tests_gives_way_to(
    tmp_path: Path, files: dict[str, str], programs: list[str], candidates: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "bin"
    installed.mkdir()
    for program in programs:
        (installed / program).touch(0o755)
    monkeypatch.setenv("PATH", str(installed))
    root = tmp_path / "project"
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    first = project_checks.suggest(DiskFiles(str(root)))[0]
    named = [typed_commands.typed(check.argv) for check in (first, *first.instead)]
    assert "; ".join(named) == candidates
    assert bool(first.candidates_id) == bool(first.instead)


def test_what_cannot_be_read_holds_nothing_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "package.json")
    (tmp_path / "Makefile").mkdir()
    (tmp_path / "pyproject.toml").symlink_to("nowhere")
    (tmp_path / ".github").write_text("no directory")
    assert project_checks.suggest(DiskFiles(str(tmp_path))) == []


@pytest.mark.parametrize(
    ("command", "argv"),
    [
        ("pytest -q", ["pytest", "-q"]),
        ("grep -q 'a|b && $c' value", ["grep", "-q", "a|b && $c", "value"]),
        ('echo "a b" c\\ d \\$e', ["echo", "a b", "c d", "$e"]),
        ("sh -c 'a; b'", ["sh", "-c", "a; b"]),
        ("env A=1 x", ["env", "A=1", "x"]),
        *[
            (text, ["sh", "-c", text])
            for text in ("a && b", "a | b", "a; b", "a > b", "a $B", 'a "$B"', "A=1 a", "a *.py")
        ],
    ],
)
def test_a_shell_runs_only_what_has_its_syntax(command: str, argv: list[str]) -> None:
    assert typed_commands.argv_of(command) == argv


@pytest.mark.parametrize(
    ("argv", "name"),
    [
        (["pytest", "-q"], "pytest"),
        (["npm", "run", "lint"], "npm-run-lint"),
        (["./tools/check.sh", "--all", "src/a b"], "check.sh-a-b"),
        (["sh", "-c", "test -f a && test -f b"], "test-a"),
        (["make", "check"], "make-check-2"),
        (["$(id)"], "id"),
        (["--"], "gate"),
    ],
)
def test_a_command_without_a_name_is_given_one(argv: list[str], name: str) -> None:
    assert typed_commands.name_for(argv, {"make-check": ["make", "-k", "check"], "pytest": ["pytest", "-q"]}) == name
