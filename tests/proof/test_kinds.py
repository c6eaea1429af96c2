"""Which file is the work, which the rest, for gates that test and gates of form."""

from __future__ import annotations

import shlex

import pytest

from omo.proof import calls, form, kinds
from omo.proof.kinds import NEVER, REST, WORK, Kinds
from tests.tables import read

PRESENT = ("pyproject.toml", "calc.py", "packages/a/package.json", "packages/a/index.js", "perl/cpanfile")

BY_GATE = read(__file__, "kinds.txt")
GATES = read(__file__, "gates_of_form.txt")["gates"]


def rows(gate: str) -> list[tuple[str, str]]:
    return [(path, kind) for kind, lines in BY_GATE[gate].items() for line in lines for path in line.split()]


@pytest.mark.parametrize(("path", "kind"), rows("tests"))
def test_kinds_for_a_gate_that_tests(path: str, kind: str) -> None:
    assert Kinds(present=PRESENT).of(path) == kind


@pytest.mark.parametrize(("path", "kind"), rows("form"))
def test_kinds_for_a_gate_of_form(path: str, kind: str) -> None:
    assert Kinds(present=PRESENT, is_form=True).of(path) == kind


@pytest.mark.parametrize("is_form", [False, True])
def test_what_a_gate_starts_and_what_is_sealed_is_the_rest(is_form: bool) -> None:
    sealed = Kinds(started=["scripts/check.sh"], sealed=["src/prices/**", "rates.py"], is_form=is_form)
    paths = ["scripts/check.sh", "scripts/deploy.sh", "src/prices/a.py", "rates.py", "src/rates.py"]
    assert [sealed.of(path) for path in paths] == [REST, WORK, REST, REST, WORK]


def test_a_task_file_in_a_name_of_source_is_configuration_to_a_gate_that_starts_its_runner() -> None:
    which = Kinds(started=["tasks.py", "dodo.py", "check.py"])
    paths = ["tasks.py", "dodo.py", "src/tasks.py", "check.py", "SConstruct"]
    assert [path for path in paths if which.is_configuration(path)] == ["tasks.py", "dodo.py", "SConstruct"]


def test_data_is_what_no_runner_reads_no_gate_starts_and_nobody_sealed() -> None:
    which = Kinds(started=["cases.txt"], sealed=["prices/**"])
    paths = [
        "locales/de.json",
        "cases.txt",
        "prices/a.csv",
        "tests/a.json",
        "golden/a.json",
        "tsconfig.json",
        "calc.py",
    ]
    assert [path for path in paths if which.is_data(path)] == ["locales/de.json"]


@pytest.mark.parametrize("path", ["src/.gitignore", "a\nb/.git/config", "a\n/.gitignore"])
def test_a_seal_swaps_nothing_of_git(path: str) -> None:
    assert Kinds(sealed=["**"]).of(path) == NEVER


@pytest.mark.parametrize(
    ("configuration", "command", "read"),
    [
        ('[tool.pytest.ini_options]\naddopts = "--doctest-glob=*.md"', "", "README.md docs/index.md"),
        ("[pytest]\ntestpaths =\n    docs\n    tests\n", "", "docs/index.md docs/conf.py"),
        ('testpaths = ["tests", "docs/guide"]\nreadme = "README.md"', "", "docs/guide/a.md"),
        ("", "python3 -m doctest README.md", "README.md"),
        ("", "./check-links ./examples/", "examples/hello.py"),
        ('[project]\nreadme = "README.md"\n[tool.pytest.ini_options]\ntestpaths = ["tests"]', "", ""),
        ("", "pytest -q src", ""),
    ],
)
def test_a_document_that_a_runner_reads_is_the_rest(configuration: str, command: str, read: str) -> None:
    gate = Kinds(documents=kinds.documents_named(configuration, command.split()))
    documents = ["README.md", "docs/index.md", "docs/conf.py", "docs/guide/a.md", "examples/hello.py", "a.png"]
    of_runner = [path for path in documents if gate.of(path) == REST]
    assert set(read.split()) <= set(of_runner)
    assert bool(read) == bool(of_runner)
    assert gate.of("calc.py") == WORK


def test_without_the_paths_of_the_project_a_word_in_the_path_makes_no_test() -> None:
    paths = ["testing/calc.py", "packages/a/test/helper.js", "test/helper.js", "packages/a/a.test.js"]
    assert [kinds.is_test(path) for path in paths] == [False, False, True, True]


@pytest.mark.parametrize("command", GATES["form"])
def test_gates_of_form(command: str) -> None:
    argv = shlex.split(command)
    assert form.is_form(argv)
    assert not form.runs_tests(calls.unfold(None, calls.call_of(argv, ""))), "of which no more is known"


@pytest.mark.parametrize("command", GATES["something else"])
def test_gates_of_something_else(command: str) -> None:
    assert not form.is_form(shlex.split(command))


def test_no_command_is_no_gate_of_form() -> None:
    assert not form.is_form([])
