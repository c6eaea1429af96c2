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


TASKS = ("dodo.py", "other.py", "tasks.py", "app/tasks.py", "tasks/ci.py", "rakelib/ci.rake", "lib/tasks/a.rake")
BUILT = (*TASKS, "BUILD", "lib/BUILD", "WORKSPACE", "src/build.zig", "build.zig", "project/Build.scala")


@pytest.mark.parametrize(
    ("command", "started"),
    [
        ("doit test", ["dodo.py"]),
        (".venv/bin/doit test", ["dodo.py"]),
        ("python3 -m doit -f other.py test", ["dodo.py", "other.py"]),
        ("uv run inv test", ["tasks.py", "tasks/ci.py"]),
        ("sh -c 'cd src && invoke test'", ["tasks.py", "tasks/ci.py"]),
        ("sh -c 'cd app && invoke test'", ["app/tasks.py", "tasks.py", "tasks/ci.py"]),
        ("make invoked", ["tasks.py", "tasks/ci.py"]),
        ("bundle exec rake test", ["rakelib/ci.rake"]),
        ("bazel test //...", ["BUILD", "WORKSPACE", "lib/BUILD"]),
        ("sbt test", ["project/Build.scala"]),
        ("zig build test", ["build.zig"]),
        ("just --justfile=other.py test", ["other.py"]),
        ("pytest -q", []),
    ],
)
def test_the_task_files_of_the_runner_that_a_command_comes_down_to(
    tmp_path: Path, command: str, started: list[str]
) -> None:
    assert (
        started_by(tmp_path, command, {**dict.fromkeys(BUILT, ""), "Makefile": "invoked:\n\tinvoke test\n"}) == started
    )


HELPERS = ("checks/a.py", "testing/unit/a.js", "app/checks/a.php", "src/a.py", "qa/a.js", "calc.py")


@pytest.mark.parametrize(
    ("command", "settings", "started"),
    [
        ("pytest", {"pyproject.toml": 'testpaths = [\n    "checks",\n    "src",\n]\n'}, ["checks/a.py"]),
        ("pytest", {"setup.cfg": "[tool:pytest]\ntestpaths =\n    ./app/checks/\n"}, ["app/checks/a.php"]),
        ("pytest", {"pyproject.toml": 'testpaths = ["."]\n'}, []),
        ("pytest", {"other.ini": "[pytest]\ntestpaths = checks\n"}, []),
        ("pytest -c other.ini", {"other.ini": "[pytest]\ntestpaths = checks\n"}, ["checks/a.py", "other.ini"]),
        ("pytest testing/unit", {}, ["testing/unit/a.js"]),
        ("pytest -k checks", {}, []),
        ("python3 -m unittest discover -s checks", {}, ["checks/a.py"]),
        (
            "npm test",
            {"package.json": '{"scripts": {"test": "jest"}, "jest": {"roots": ["<rootDir>/qa"]}}'},
            ["qa/a.js"],
        ),
        ("npx jest", {"jest.config.js": "module.exports = { testMatch: ['**/qa/x.js', 'qa/**/*.js'] }"}, ["qa/a.js"]),
        ("npx mocha", {".mocharc.yml": "recursive: true\nspec:\n  - qa/**/*.js\n"}, ["qa/a.js"]),
        ("npx mocha", {".mocharc.json": '{"spec": "qa/*.js"}'}, ["qa/a.js"]),
        ("npx vitest run", {"vitest.config.ts": "export default { test: { dir: './qa' } }"}, ["qa/a.js"]),
        (
            "phpunit",
            {"phpunit.xml": "<directory>src</directory><directory>app/checks</directory>"},
            ["app/checks/a.php"],
        ),
        ("go test ./checks/...", {}, []),
        ("cargo test checks", {}, []),
    ],
)
def test_the_directories_that_a_runner_takes_and_that_are_called_tests(
    tmp_path: Path, command: str, settings: dict[str, str], started: list[str]
) -> None:
    assert started_by(tmp_path, command, {**dict.fromkeys(HELPERS, ""), **settings}) == started


@pytest.mark.parametrize(
    ("makefile", "started"),
    [
        ("run_checks: checks.c calc.c\n\t$(CC) -o $@ $^\n", ["checks.c"]),
        ("run_checks: checks.c calc.c | checks.o\n\t$(CC) -o $@ $+\n", ["checks.c"]),
        ("OBJECTS = calc.o checks.o\nrun_checks: $(OBJECTS)\n\t$(CC) -o $@ $^\n", ["checks.c", "src/checks.h"]),
        ("run_checks: calc.c\n\t$(CC) -o $@ $<\n", []),
        ("run_checks: checks.c\n\t$(CC) -c $<\n", []),
        ("run_checks: checks.c\n\techo $$@ checks.c\n", []),
        ("run_checks: checks.c calc.c\n\t$(CC) -o other $^\n", []),
    ],
)
def test_the_sources_of_a_program_of_tests_that_a_target_needs_and_starts(
    tmp_path: Path, makefile: str, started: list[str]
) -> None:
    files = {"Makefile": f"check: run_checks\n\t./run_checks\n{makefile}", "src/checks.h": ""}
    assert started_by(tmp_path, "make check", {**files, "checks.c": "", "calc.c": ""}) == started


def started_by(root: Path, command: str, texts: dict[str, str]) -> list[str]:
    files = commit_at(str(root), lay_out(root, texts))
    return started_files.of_gate(files, calls.unfold(files, calls.call_of(shlex.split(command), ".")))


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
