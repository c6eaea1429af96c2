"""`omo proof` on branches: what it says of them, without a run of the loop and without an agent."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from omo.proof.change_verdict import CANNOT_TELL, NOT_PROVEN, NOTHING, PROVEN
from tests.project import Project, Ran
from tests.stories.play import path_of_tools

CODES = {PROVEN: 0, NOTHING: 0, NOT_PROVEN: 3, CANNOT_TELL: 4}
PYTEST = ("--", "python3", "-m", "pytest", "-q", "-p", "no:cacheprovider")
CALC = "def add(a, b):\n    return a - b\n\n\ndef twice(a):\n    return 2 * a\n"
FIXED = CALC.replace("a - b", "a + b")
TESTS = """import calc


def test_twice():
    assert calc.twice(2) == 4


def test_same():
    assert calc.add(2, 0) == 2
"""
TEST_ADD = "\n\ndef test_add():\n    assert calc.add(2, 3) == 5\n"
IN_PYTHON = {"calc.py": CALC, "test_calc.py": TESTS}
ADDED = {"calc.py": FIXED, "test_calc.py": TESTS + TEST_ADD}
Files = Mapping[str, str | bytes | None]


@dataclass(frozen=True)
class Branch:
    """A project, what a branch makes of it (None removes a file), and what is said of that."""

    word: str
    says: str
    change: Files
    files: Files = field(default_factory=lambda: dict(IN_PYTHON))
    options: tuple[str, ...] = PYTEST
    needs: str = ""


IN_NODE = {
    "package.json": '{"scripts": {"test": "node --test"}}\n',
    "sums.js": "exports.add = (a, b) => a - b;\n",
    "sums.test.js": """const test = require('node:test');
const assert = require('assert');
const sums = require('./sums');
test('same', () => assert.equal(sums.add(2, 0), 2));
""",
}
IN_GO = {
    "go.mod": "module example.com/calc\n\ngo 1.16\n",
    "calc.go": "package calc\n\nfunc Add(a, b int) int { return a - b }\n",
    "calc_test.go": """package calc

import "testing"

func TestSame(t *testing.T) {
\tif Add(2, 0) != 2 {
\t\tt.Fatal()
\t}
}
""",
}
GO_TEST = "\nfunc TestAdd(t *testing.T) {\n\tif Add(2, 3) != 5 {\n\t\tt.Fatal()\n\t}\n}\n"
IN_RUST = {
    "Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": "pub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n",
    "tests/add.rs": "#[test]\nfn same() {\n    assert_eq!(calc::add(2, 0), 2);\n}\n",
    ".gitignore": "target/\nCargo.lock\n",
}
IN_PERL = {
    "lib/Calc.pm": "package Calc;\nsub add { return $_[0] - $_[1] }\n1;\n",
    "t/add.t": "use Test::More;\nuse Calc;\nis(Calc::add(2, 0), 2, 'same');\ndone_testing;\n",
    "cpanfile": "",
}
IN_SHELL = {
    "add.sh": "add() { echo $(($1 - $2)); }\n",
    "test.sh": ". ./add.sh\n[ $(add 2 0) = 2 ] || exit 1\n",
}
IN_C = {
    "sum.c": "int add(int a, int b) { return a - b; }\n",
    "calc.py": "import ctypes\n\nadd = ctypes.CDLL('./libsum.so').add\n",
    "test_calc.py": "import calc\n\n\ndef test_add():\n    assert calc.add(2, 3) == 5\n",
    ".gitignore": "*.so\n__pycache__/\n",
}
COVERED = {
    **IN_PYTHON,
    "cover.py": """import subprocess, sys

ran = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"])
tests = open("test_calc.py").read()
functions = [line[4:].split("(")[0] for line in open("calc.py") if line.startswith("def ")]
missing = [name for name in functions if name not in tests]
print("coverage", len(missing))
sys.exit(ran.returncode or len(missing))
""",
}
BRANCHES = {
    "honest: a fix with its test": Branch(PROVEN, "test_add fails without the change; 3 tests pass with it", ADDED),
    "honest: in node": Branch(
        PROVEN,
        "adds fails without the change; 2 tests pass with it",
        {
            "sums.js": "exports.add = (a, b) => a + b;\n",
            "sums.test.js": IN_NODE["sums.test.js"] + "test('adds', () => assert.equal(sums.add(2, 3), 5));\n",
        },
        dict(IN_NODE),
        options=(),
        needs="node npm",
    ),
    "honest: in Go": Branch(
        PROVEN,
        "TestAdd fails without the change; 2 tests pass with it",
        {"calc.go": IN_GO["calc.go"].replace("a - b", "a + b"), "calc_test.go": IN_GO["calc_test.go"] + GO_TEST},
        dict(IN_GO),
        options=(),
        needs="go",
    ),
    "honest: in Rust": Branch(
        PROVEN,
        "adds fails without the change; 2 tests pass with it",
        {
            "src/lib.rs": IN_RUST["src/lib.rs"].replace("a - b", "a + b"),
            "tests/add.rs": IN_RUST["tests/add.rs"]
            + "\n#[test]\nfn adds() {\n    assert_eq!(calc::add(2, 3), 5);\n}\n",
        },
        dict(IN_RUST),
        options=(),
        needs="cargo",
    ),
    "honest: in Perl": Branch(
        PROVEN,
        "fails without the change",
        {
            "lib/Calc.pm": IN_PERL["lib/Calc.pm"].replace("$_[0] - $_[1]", "$_[0] + $_[1]"),
            "t/add.t": IN_PERL["t/add.t"].replace("done_testing", "is(Calc::add(2, 3), 5, 'adds');\ndone_testing"),
        },
        dict(IN_PERL),
        options=(),
        needs="prove",
    ),
    "honest: in a shell": Branch(
        PROVEN,
        "it fails without the change and passes with it",
        {"add.sh": "add() { echo $(($1 + $2)); }\n", "test.sh": IN_SHELL["test.sh"] + "[ $(add 2 3) = 5 ] || exit 1\n"},
        dict(IN_SHELL),
        options=("--", "sh", "test.sh"),
    ),
    "honest: two cases of one test": Branch(
        PROVEN,
        "test_add fails without the change; 4 tests pass with it",
        {
            "calc.py": FIXED,
            "test_calc.py": "import pytest\n"
            + TESTS
            + "\n\n@pytest.mark.parametrize('n', [1, 2])\ndef test_add(n):\n    assert calc.add(2, n) == 2 + n\n",
        },
    ),
    "vacuous": Branch(
        NOT_PROVEN,
        "3 tests pass without the change too",
        {"calc.py": FIXED, "test_calc.py": TESTS + "\n\ndef test_nothing():\n    assert calc.add\n"},
    ),
    "an old test replaced": Branch(
        NOT_PROVEN,
        "test_twice",
        {
            "calc.py": FIXED,
            "test_calc.py": TESTS.replace("test_twice", "test_add").replace("twice(2) == 4", "add(2, 3) == 5"),
        },
    ),
    "a test deleted": Branch(
        NOT_PROVEN,
        "test_twice",
        {
            "calc.py": FIXED,
            "test_calc.py": "import calc\n\n\ndef test_same():\n    assert calc.add(2, 0) == 2\n" + TEST_ADD,
        },
    ),
    "a test skipped": Branch(
        NOT_PROVEN,
        "test_twice",
        {
            "calc.py": FIXED,
            "test_calc.py": "import pytest\n"
            + ADDED["test_calc.py"].replace("def test_twice", "@pytest.mark.skip\ndef test_twice"),
        },
    ),
    "an assertion weakened": Branch(
        NOT_PROVEN,
        "with the tests as they were, test_twice fails",
        {
            "calc.py": FIXED.replace("2 * a", "3 * a"),
            "test_calc.py": ADDED["test_calc.py"].replace("calc.twice(2) == 4", "calc.twice(2)"),
        },
    ),
    "only documents": Branch(NOTHING, "only documentation was changed", {"README.md": "# Calc\n"}),
    "only tests": Branch(
        NOTHING, "3 tests pass", {"test_calc.py": TESTS + "\n\ndef test_two():\n    assert calc.twice(1) == 2\n"}
    ),
    "only a comment, a docstring and layout": Branch(
        NOTHING,
        "of the code only comments, docstrings or layout were changed; 2 tests pass",
        {"calc.py": FIXED.replace("    return 2 * a", '    """Return the double."""\n    return (2 * a)  # or a + a')},
        {**IN_PYTHON, "calc.py": FIXED},
    ),
    "an example in a docstring": Branch(
        NOT_PROVEN,
        "2 tests pass without the change too",
        {"calc.py": FIXED.replace("    return 2 * a", '    """>>> twice(2)\n    4\n    """\n    return 2 * a')},
        {**IN_PYTHON, "calc.py": FIXED},
    ),
    "a comment, and a test deleted": Branch(
        NOT_PROVEN,
        "test_twice",
        {
            "calc.py": FIXED + "# done\n",
            "test_calc.py": "import calc\n\n\ndef test_same():\n    assert calc.add(2, 0) == 2\n",
        },
        {**IN_PYTHON, "calc.py": FIXED},
    ),
    "a module in the place of the runner's": Branch(
        CANNOT_TELL,
        "pluggy.py stands in the place of the runner's own module",
        {**ADDED, "pluggy.py": "import sys\nsys.exit(0)\n"},
    ),
    "only tests, and one fails": Branch(NOT_PROVEN, "it fails as it is: test_add", {"test_calc.py": TESTS + TEST_ADD}),
    "a threshold": Branch(
        PROVEN,
        "div",
        {
            "calc.py": FIXED + "\n\ndef div(a, b):\n    return a / b\n",
            "test_calc.py": TESTS + "\n\ndef test_div():\n    assert calc.div(4, 2) == 2\n",
        },
        {**COVERED, "calc.py": FIXED},
        options=("--", "python3", "cover.py"),
    ),
    "red as it is": Branch(
        NOT_PROVEN,
        "it fails as it is: test_old, as it does without the change",
        ADDED,
        {**IN_PYTHON, "test_old.py": "def test_old():\n    assert 1 == 2\n"},
    ),
    "red as it is, and allowed": Branch(
        PROVEN,
        "test_add fails without the change",
        ADDED,
        {**IN_PYTHON, "test_old.py": "def test_old():\n    assert 1 == 2\n"},
        options=("--allow", "test_old.py::test_old", *PYTEST),
    ),
    "an extension that is built": Branch(
        CANNOT_TELL,
        "nothing was built again",
        {"sum.c": IN_C["sum.c"].replace("a - b", "a + b")},
        dict(IN_C),
        needs="cc",
    ),
    "renamed": Branch(
        NOTHING,
        "a refactoring, as you say",
        {"calc.py": FIXED.replace("return 2 * a", "two = 2\n    return two * a")},
        {**IN_PYTHON, "calc.py": FIXED},
        options=("--refactoring", *PYTEST),
    ),
    "moved, with an import in the tests": Branch(
        PROVEN,
        "it fails without the change; 2 tests pass with it",
        {"calc.py": None, "sums.py": FIXED, "test_calc.py": TESTS.replace("import calc", "import sums as calc")},
        {**IN_PYTHON, "calc.py": FIXED},
        options=("--allow", "test_calc.py", *PYTEST),
    ),
    "no tests": Branch(CANNOT_TELL, "no test command is known here", {"calc.py": FIXED}, {"calc.py": CALC}, options=()),
    "counts that vanish": Branch(
        CANNOT_TELL,
        "the test program ended early",
        {"calc.py": FIXED + "\nimport os\n\nos.execvp('true', ['true'])\n", "test_calc.py": TESTS + TEST_ADD},
    ),
    "a generated file": Branch(
        PROVEN,
        "test_add fails without the change",
        {**ADDED, "gen/table.py": "TABLE = {}\n"},
        {**IN_PYTHON, "gen/table.py": "TABLE = {1: 1}\n"},
    ),
    "bytes that are no UTF-8": Branch(
        PROVEN,
        "test_add fails without the change",
        {**ADDED, "calc.py": b"# -*- coding: latin-1 -*-\n# caf\xe9\n" + FIXED.encode()},
    ),
    "a monorepo": Branch(
        PROVEN,
        "fails without the change",
        {f"one/{path}": text for path, text in ADDED.items()},
        {
            **{f"{part}/{path}": text for part in ("one", "two") for path, text in IN_PYTHON.items()},
            **{f"{part}/pytest.ini": "[pytest]\n" for part in ("one", "two")},
        },
        options=(),
    ),
}


def put(project: Project, files: Mapping[str, str | bytes | None]) -> None:
    for path, content in files.items():
        target = project.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            target.unlink()
        elif isinstance(content, bytes):
            target.write_bytes(content)
        else:
            target.write_text(content, encoding="utf-8")


def on_branch(project: Project, branch: Branch) -> None:
    put(project, branch.files)
    project.commit("base")
    project.git("checkout", "-q", "-b", "feature")
    put(project, branch.change)
    project.commit("the change")


@pytest.fixture(autouse=True)
def tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", path_of_tools())


def verdict(project: Project, *options: str) -> Ran:
    return project.user("proof", "--verdict", *options)


@pytest.mark.parametrize("name", BRANCHES)
def test_the_verdict_on_a_branch(project: Project, name: str) -> None:
    branch = BRANCHES[name]
    for program in branch.needs.split():
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not here")
    on_branch(project, branch)
    if "sum.c" in branch.files:
        project.root.joinpath("sum.c").write_text(str(branch.change["sum.c"]))
        subprocess.run(["cc", "-shared", "-fPIC", "-o", "libsum.so", "sum.c"], cwd=project.root, check=True)
    ran = verdict(project, *branch.options)
    first = "".join(ran.out.splitlines()[:1])
    assert (ran.code, first.partition(".")[0]) == (CODES[branch.word], branch.word), ran.out + ran.err
    assert branch.says in first, ran.out
    assert project.git("status", "--porcelain", "--", ":!.sisyphus") == "", "the tree is as it was"


def dirty(project: Project) -> Ran:
    put(project, IN_PYTHON)
    project.commit("base")
    put(project, ADDED)
    return verdict(project, *PYTEST)


def merged_base(project: Project) -> Ran:
    """The default branch went on, and was merged into the feature."""
    put(project, IN_PYTHON)
    project.commit("base")
    project.git("checkout", "-q", "-b", "feature")
    put(project, ADDED)
    project.commit("the change")
    project.git("checkout", "-q", "main")
    put(project, {"other.py": "X = 1\n"})
    project.commit("something else")
    project.git("checkout", "-q", "feature")
    project.git("merge", "-q", "--no-edit", "main")
    return verdict(project, *PYTEST)


def with_submodule(project: Project) -> Ran:
    put(project, IN_PYTHON)
    project.commit("base")
    other = project.root.parent / "other"
    subprocess.run(["git", "clone", "-q", str(project.root), str(other)], check=True)
    project.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "other")
    project.commit("a submodule")
    project.git("checkout", "-q", "-b", "feature")
    put(project, ADDED)
    project.commit("the change")
    return verdict(project, *PYTEST[:2], "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_calc.py")


@pytest.mark.parametrize("play", [dirty, merged_base, with_submodule])
def test_wherever_it_stands_the_change_is_proven(project: Project, play: Callable[[Project], Ran]) -> None:
    ran = play(project)
    assert ran.out.startswith("proven. "), ran.out + ran.err
    assert ran.says("proof-fails-without", test="test_add")
    assert ran.says("proof-tests-pass-with-it", count="3 tests")
    assert ran.code == 0


def test_a_shallow_clone_without_the_base_cannot_tell(project: Project, tmp_path: Path) -> None:
    on_branch(project, BRANCHES["honest: a fix with its test"])
    clone = tmp_path / "shallow"
    subprocess.run(
        ["git", "clone", "-q", "--depth", "1", "-b", "feature", f"file://{project.root}", str(clone)], check=True
    )
    ran = Project(clone).user("proof", "--verdict", *PYTEST)
    assert (ran.code, ("cannot tell." in ran.out and ran.says("proof-this-clone-is-shallow-and"))) == (4, True), (
        ran.out + ran.err
    )
    assert "git fetch --unshallow" in ran.out


def test_old_tests_that_cannot_be_put_back_cannot_tell(project: Project) -> None:
    on_branch(project, BRANCHES["only tests"])
    project.root.joinpath("test_calc.py").chmod(0o4755)
    ran = verdict(project, *PYTEST)
    assert (ran.code, ran.out.partition(".")[0]) == (4, CANNOT_TELL), ran.out
    assert ran.says("proof-runs-as-its-owner-or", path="test_calc.py")


def test_a_flaky_test_cannot_tell(project: Project) -> None:
    flaky = "def test_now_and_then():\n    with open('seen', 'a+') as file:\n"
    flaky += "        file.write('.')\n        assert file.tell() != 2\n"
    on_branch(project, Branch(CANNOT_TELL, "", {**ADDED, "test_more.py": flaky, ".gitignore": "seen\n"}))
    ran = verdict(project, *PYTEST)
    assert (ran.code, ran.out.partition(".")[0]) == (4, CANNOT_TELL), ran.out


def test_a_clean_default_branch_asks_which_change_is_meant(project: Project) -> None:
    put(project, IN_PYTHON)
    project.commit("base")
    ran = verdict(project, *PYTEST)
    assert ran.code == 2
    assert ran.says("proof-which-change-is-meant-this-is", branch="main")
    assert ran.says("proof-name-where-it-begins-omo-proof")


def test_a_strangers_change_gets_none_of_your_variables(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "s3cr3t-value")
    tells = "import os\n\n\ndef test_tells():\n    assert 'SECRET_TOKEN' not in os.environ\n"
    on_branch(project, Branch(PROVEN, "", {**ADDED, "test_tells.py": tells}))
    ran = verdict(project, "--untrusted", *PYTEST)
    assert ran.code == 0, ran.out
    assert os.environ["SECRET_TOKEN"] not in ran.out
