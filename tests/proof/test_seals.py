"""What was done to the files that gates rest on, from the diff alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from omo.proof import base, seals
from omo.proof.checks import CommandCheck, digest_of_check
from omo.proof.evaluate import Tree, evaluate
from tests.proof.test_base import git

FILES = {
    "calc.py": "def add(a, b):\n    return a - b\n",
    "tests/test_calc.py": "def test_add():\n    assert add(1, 2) == 3\n\n\ndef test_more():\n    pass\n",
    "Makefile": "test:\n\tpytest\n",
    "package.json": '{\n "scripts": {\n  "test": "jest"\n },\n "dependencies": {\n  "a": "1"\n }\n}\n',
    "pyproject.toml": '[project]\nname = "calc"\ndependencies = [\n  "a",\n]\n',
    "scripts/check.sh": "pytest \\\n--cov-fail-under=90\n",
    "run_checks.py": "check()\n",
}


NEW_TEST = "def test_new():\n    x = add(2, 2)\n    assert x == 4\n"
ONE_MORE = "    # nothing\n    assert add(0, 0) == 0\n    assert"


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


GATE = seals.Plain(["python3", "run_checks.py"])


def broken(
    root: Path, began: dict[str, object], allowed: tuple[str, ...] = (), sealed: tuple[str, ...] = ()
) -> list[str]:
    digests = {path: base.digest_of(str(root), path) for path in allowed}
    terms = seals.Terms([seals.Plain(["true"], sealed=sealed)], digests)
    return list(seals.examine(str(root), began, [GATE], terms=terms).broken)


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
        (
            "tests/test_calc.py",
            FILES["tests/test_calc.py"].replace("    assert", "    return\n    assert"),
            "+ return, in front of what was there",
        ),
        (
            "tests/test_calc.py",
            FILES["tests/test_calc.py"].replace("    assert", "    add = lambda a, b: 3\n    assert"),
            "+ add = lambda",
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
        ("scripts/check.sh", "pytest \\\n", "- --cov-fail-under=90"),
        ("run_checks.py", "pass\n", "- check()"),
        ("unittest.py", "", "stands in the place of the runner"),
        ("signal.py", "", "stands in the place of the runner"),
        ("calc.py", "import sys\nsys.exit(0)\n", "+ sys.exit(0)"),
        ("tests/test_calc.py", FILES["tests/test_calc.py"] + "\n\ndef test_more():\n    pass\n", "a second time"),
        ("tests/test_calc.py", FILES["tests/test_calc.py"] + "\n\ndel calc.add\n", "+ del calc.add"),
        ("psalm-baseline.xml", "<files/>\n", "was changed"),
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
        ("tests/test_new.py", "class A:\n    def test_a(self): ...\n\n\nclass B:\n    def test_a(self): ...\n"),
        (
            "tests/test_calc.py",
            FILES["tests/test_calc.py"].replace(
                "def test_more", "def test_new():\n    x = add(2, 2)\n    assert x\n\n\ndef test_more"
            ),
        ),
        (
            "tests/test_calc.py",
            "import calc\n"
            + FILES["tests/test_calc.py"].replace("    assert", "    # two\n    assert add(0, 0) == 0\n    assert"),
        ),
        ("package.json", FILES["package.json"].replace('"a": "1"', '"a": "1",\n  "b": "2"')),
        ("pyproject.toml", FILES["pyproject.toml"].replace('"a",', '"a",\n  "b",')),
        ("skipper.py", "def skip(only):\n    return only.skip(10)\n"),
        (".gitignore", "out\n"),
        ("tests/data.bin", "\0binary"),
        ("tests/more/__init__.py", ""),
        ("README.md", "We skip nothing, and only test.\n"),
        ("pkg/types.py", ""),
        ("data/baseline.json", "{}"),
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


def test_what_an_example_is_to_print_is_a_test_too(project: Path) -> None:
    write(project, "sums.py", '"""Sums.\n\n>>> add(1, 2)\n3\n\nNothing more.\n"""\n')
    git(project, "add", ".")
    git(project, "commit", "-qm", "doctest")
    began = base.take(str(project), os.environ)
    write(project, "sums.py", '"""Sums.\n\n>>> add(1, 2)\n-1\n\nNothing else.\n"""\n')
    assert broken(project, began) == ["sums.py: - 3"]


@pytest.mark.parametrize(
    ("before", "after", "is_named"),
    [
        ("from calc import add", "from calc import add, more", False),
        ("import { add } from './calc';", "import { add, type More } from './calc';", False),
        ("from calc import add", "from calc import more", True),
        ("from calc import add", "from calc import add, more as add", True),
        ("from calc import add", "from other import add, more", True),
        ("import { add } from './calc';", "import { add, more } from './other';", True),
    ],
)
def test_an_import_that_names_more_is_no_change_of_a_test(
    project: Path, before: str, after: str, is_named: bool
) -> None:
    write(project, "tests/imports", before + "\n")
    git(project, "add", ".")
    git(project, "commit", "-qm", "import")
    began = base.take(str(project), os.environ)
    write(project, "tests/imports", after + "\n")
    assert broken(project, began) == [f"tests/imports: - {before}"][: int(is_named)]


@pytest.mark.parametrize(
    ("line", "is_named"),
    [
        ("calc.add = lambda a, b: 5", True),
        ("setattr(calc, 'add', len)", True),
        ("mock.patch('calc.add', return_value=5).start()", True),
        ("CASES = [(2, 3, 5)]", False),
        ("import calc", False),
        ("module.exports = {}", False),
    ],
)
def test_what_stands_in_for_the_code_in_every_test_of_a_file_is_named(project: Path, line: str, is_named: bool) -> None:
    began = base.take(str(project), os.environ)
    text = (project / "tests/test_calc.py").read_text()
    write(project, "tests/test_calc.py", f"{text}\n\n{line}\n")
    assert broken(project, began) == [f"tests/test_calc.py: + {line}"][: int(is_named)]


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


def test_a_sealed_file_is_as_good_as_a_test(project: Path) -> None:
    write(project, "data/prices.csv", "a,1\nb,2\n")
    git(project, "add", ".")
    git(project, "commit", "-qm", "prices")
    began = base.take(str(project), os.environ)
    write(project, "data/prices.csv", "a,1\nb,3\n")
    assert broken(project, began) == []
    for glob in ("data/*.csv", "data", "**/*.csv"):
        assert broken(project, began, sealed=(glob,)) == ["data/prices.csv: - b,2"]
    of_the_command = seals.Plain(["true"], sealed=["data/**"])
    assert seals.examine(str(project), began, [of_the_command]).broken == ["data/prices.csv: - b,2"]
    write(project, "data/prices.csv", "a,1\nb,2\nc,3\n")
    assert broken(project, began, sealed=("data",)) == []


def test_what_the_user_allowed_is_named_as_long_as_it_is_what_they_saw(project: Path) -> None:
    began = base.take(str(project), os.environ)
    write(project, "tests/test_calc.py", "")
    terms = seals.Terms(allowed={"tests/test_calc.py": base.digest_of(str(project), "tests/test_calc.py")})
    examined = seals.examine(str(project), began, [GATE], terms=terms)
    assert (examined.doubts, examined.notes) == ([], ["changed as the user allowed: tests/test_calc.py"])
    write(project, "tests/test_calc.py", "pass\n")
    examined = seals.examine(str(project), began, [GATE], terms=terms)
    assert examined.doubts
    assert not examined.notes


def test_a_file_in_the_place_of_the_runner_is_found_where_the_command_runs_and_where_git_ignores_it(
    project: Path,
) -> None:
    began = base.take(str(project), os.environ)
    write(project, ".git/info/exclude", "unittest.py\n")
    write(project, "pkg/unittest.py", "")
    write(project, "pkg/code.py", "")
    found = ["pkg/unittest.py stands in the place of the runner's own module"]
    assert broken(project, began) == []
    in_pkg = seals.Plain(["python3", "-m", "unittest"], "pkg")
    assert seals.examine(str(project), began, [in_pkg]).broken == found
    by_script = seals.Plain(["python3", "-B", "pkg/code.py"])
    assert seals.shadows(str(project), began, [by_script]) == ["pkg/unittest.py"]
    by_shell = seals.Plain(["sh", "-c", "cd ..; cd pkg; python3 -m unittest && true"])
    assert seals.shadows(str(project), began, [by_shell]) == ["pkg/unittest.py"]
    git(project, "add", "-f", ".")
    git(project, "commit", "-qm", "it is the project's own")
    assert seals.shadows(str(project), base.take(str(project), os.environ), [in_pkg]) == []
    assert seals.examine(str(project), base.take(str(project), os.environ), [in_pkg]).doubts == ["no file was changed"]


def test_without_commands_or_a_base_there_is_nothing_to_seal(project: Path) -> None:
    began = base.take(str(project), os.environ)
    write(project, "Makefile", "test:\n")
    assert seals.examine(str(project), began, []).doubts == []
    assert seals.examine(str(project), None, [GATE]).doubts == [
        "what was changed is not known (no base was recorded for this run)"
    ]


@pytest.mark.parametrize(
    ("said", "exit_code", "result"),
    [("3 passed in 0.1s", 0, "pass"), ("no tests ran in 0.01s", 0, "unknown"), ("no tests ran in 0.01s", 5, "fail")],
)
def test_a_check_whose_runner_ran_no_test_does_not_pass(project: Path, said: str, exit_code: int, result: str) -> None:
    check = CommandCheck(argv=["sh", "-c", f"echo {said}; exit {exit_code}"])
    tree = Tree(project, {digest_of_check(check): None})
    assert evaluate([check], tree).verdict == result


def test_a_check_whose_runner_may_be_another_does_not_pass(project: Path) -> None:
    check = CommandCheck(argv=["python3", "-m", "unittest"], exit=0)
    tree = Tree(project, {digest_of_check(check): "HEAD"})
    write(project, "unittest.py", "")
    verdict = evaluate([check], tree)
    assert verdict.verdict == "unknown"
    assert "unittest.py stands in the place of the runner" in verdict.checks[0].reason
