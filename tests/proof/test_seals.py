"""What was done to the files that gates rest on, from the diff alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from omo.proof import base, seals
from tests.proof.test_base import git

FILES = {
    "calc.py": "def add(a, b):\n    return a - b\n",
    "tests/test_calc.py": "def test_add():\n    assert add(1, 2) == 3\n\n\ndef test_more():\n    pass\n",
    "Makefile": "test:\n\tpytest\n",
    "package.json": '{\n "scripts": {\n  "test": "jest"\n },\n "dependencies": {\n  "a": "1"\n }\n}\n',
    "pyproject.toml": '[project]\nname = "calc"\ndependencies = [\n  "a",\n]\n',
    "scripts/check.sh": "pytest\n",
    "run_checks.py": "check()\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        write(tmp_path, name, text)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "base")
    return tmp_path


def write(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)


def broken(root: Path, began: dict[str, object], allowed: tuple[str, ...] = ()) -> list[str]:
    look = base.look(str(root), began)
    assert look.changed is not None
    return seals.broken(root, began, look.changed, named=["run_checks.py"], allowed=allowed)


@pytest.mark.parametrize(
    ("name", "text", "finding"),
    [
        ("tests/test_calc.py", FILES["tests/test_calc.py"].replace("== 3", "== -1"), "- assert add(1, 2) == 3"),
        (
            "tests/test_calc.py",
            "import pytest\n" + FILES["tests/test_calc.py"] + "\n@pytest.mark.skip\ndef x(): ...\n",
            "skip",
        ),
        ("tests/test_calc.py", "", "- def test_add():"),
        (
            "tests/test_calc.py",
            FILES["tests/test_calc.py"].replace("    assert", "    if 0:\n        assert"),
            "- assert",
        ),
        ("tests/test_more.js", "it.only('x', () => {})\n", "+ it.only"),
        ("calc.py", FILES["calc.py"] + "import os  # noqa\n", "noqa"),
        ("calc.ts", "// @ts-ignore\nlet a = 1\n", "@ts-ignore"),
        ("Makefile", "test:\n\ttrue\n", "Makefile was changed: - pytest"),
        ("Makefile", FILES["Makefile"] + "docs:\n\tmkdocs\n", "Makefile was changed: + docs:"),
        ("GNUmakefile", "test:\n", "GNUmakefile was changed"),
        ("conftest.py", "x = 1\n", "conftest.py was changed"),
        ("package.json", FILES["package.json"].replace("jest", "true"), '- "test": "jest"'),
        ("pyproject.toml", FILES["pyproject.toml"] + '[tool.pytest.ini_options]\naddopts = "--co"\n', "addopts"),
        ("pyproject.toml", FILES["pyproject.toml"] + '[tool.pytest.ini_options]\ntestpaths = ["x"]\n', "testpaths"),
        ("tests/test_calc.py", FILES["tests/test_calc.py"] + "\n@pytest.mark.skipif(True)\ndef x(): ...\n", "skipif"),
        ("lib.rs", "#[should_panic]\nfn f() {}\n", "should_panic"),
        ("lib.rs", "#[allow(dead_code)]\nfn f() {}\n", "allow"),
        ("x.rb", "# rubocop:disable all\n", "rubocop"),
        (".eslintignore", "src\n", "was changed"),
        ("scripts/check.sh", "true\n", "- pytest"),
        ("run_checks.py", "pass\n", "- check()"),
        ("unittest.py", "", "stands in the place of the runner"),
    ],
)
def test_what_can_make_a_gate_green_without_the_work_is_named(
    project: Path, name: str, text: str, finding: str
) -> None:
    began = base.take(str(project), os.environ)
    write(project, name, text)
    findings = broken(project, began)
    assert any(finding in line and line.startswith(name) for line in findings), findings
    assert broken(project, began, allowed=(name,)) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("calc.py", FILES["calc.py"].replace("a - b", "a + b")),
        ("tests/test_calc.py", FILES["tests/test_calc.py"] + "\n\ndef test_new():\n    assert add(2, 2) == 4\n"),
        ("tests/test_new.py", "def test_new():\n    assert True\n"),
        ("package.json", FILES["package.json"].replace('"a": "1"', '"a": "1",\n  "b": "2"')),
        ("pyproject.toml", FILES["pyproject.toml"].replace('"a",', '"a",\n  "b",')),
        ("skipper.py", "def skip(only):\n    return only.skip(10)\n"),
        (".gitignore", "out\n"),
        ("tests/data.bin", "\0binary"),
        ("README.md", "We skip nothing, and only test.\n"),
    ],
)
def test_honest_work_breaks_nothing(project: Path, name: str, text: str) -> None:
    began = base.take(str(project), os.environ)
    write(project, name, text)
    assert broken(project, began) == []


def test_an_assertion_beside_the_code_it_tests_is_a_test_too(project: Path) -> None:
    write(project, "lib.rs", "fn add() {}\n#[test]\nfn t() { assert_eq!(add(1, 2), 3); }\n")
    git(project, "add", ".")
    git(project, "commit", "-qm", "inline")
    began = base.take(str(project), os.environ)
    write(project, "lib.rs", "fn add() {}\n#[test]\nfn t() { assert_eq!(add(1, 2), -1); }\n")
    assert broken(project, began) == ["lib.rs: - fn t() { assert_eq!(add(1, 2), 3); }"]


def test_a_deleted_test_is_named(project: Path) -> None:
    began = base.take(str(project), os.environ)
    (project / "tests/test_calc.py").unlink()
    assert broken(project, began) == ["tests/test_calc.py was deleted"]


def test_what_was_not_committed_at_the_base_cannot_be_compared(project: Path) -> None:
    write(project, "tests/test_calc.py", "def test_mine(): ...\n")
    began = base.take(str(project), os.environ)
    assert broken(project, began) == []
    write(project, "tests/test_calc.py", "")
    assert broken(project, began) == ["tests/test_calc.py was changed, and had not been committed when the run began"]
