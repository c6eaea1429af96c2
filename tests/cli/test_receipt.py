"""`omo receipt`: written for a commit, and run again in a fresh clone, where every line that is not so is told."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from omo.work import receipts
from tests import texts
from tests.kept import copied
from tests.project import SESSION, Project, begin_repository, git
from tests.stories import play as stories
from tests.stories import verify
from tests.stories.bound import ultraplan_ended, verify_ended
from tests.stories.play import SESSION as PLAYED
from tests.stories.play import Play, make_project

Row = dict[str, Any]

CALC = "def add(a, b):\n    return a - b - b\n"
FIXED = "def add(a, b):\n    return a + b\n"
TEST = """import unittest

import calc


class Adding(unittest.TestCase):
    def test_add(self):
        self.assertEqual(calc.add(2, 3), 5)

    def test_nothing(self):
        self.assertEqual(calc.add(2, 0), 2)
"""
SOURCE = Path(__file__).resolve().parents[2] / "src"
VERIFY = ("receipt", "verify", "--yes")
MAKEFILE = "test:\n\tpython3 -B -m unittest -q\n"


def work(project: Project, *, commits: bool = True) -> None:
    """Tests that fail, mended in a run that is proven by the project's own command."""
    project.git("rm", "-q", "--cached", "-r", "--ignore-unmatch", ".")
    (project.root / "value").unlink(missing_ok=True)
    project.write("calc.py", CALC)
    project.write("test_calc.py", TEST)
    project.write("Makefile", MAKEFILE)
    project.commit("base")
    project.prompt("ulw mend add")
    project.write("calc.py", FIXED)
    assert "Done, proven" in project.check("ulw", "done").out
    if commits:
        project.commit("the work")


def written(project: Project, out: Path) -> Row:
    """As a job of the user's, which has no terminal."""
    project.check("receipt", "write", "--out", str(out), by="job", has_terminal=False, is_under_agent=False)
    value: Row = json.loads(out.read_text(encoding="utf-8"))
    return value


def cloned(project: Project, place: Path) -> Project:
    git(project.root.parent, "clone", "-q", str(project.root), str(place))
    return Project(place)


def clone_with_receipt(place: Path) -> None:
    project = Project(place / "a b")
    project.root.mkdir()
    begin_repository(project.root)
    work(project)
    written(project, place / "receipt.json")
    cloned(project, place / "a clone")


@pytest.fixture
def receipt(tmp_path: Path) -> tuple[Project, Path]:
    """A fresh clone on the same commit, and a receipt of the work in it."""
    copied(tmp_path, clone_with_receipt)
    return Project(tmp_path / "a clone"), tmp_path / "receipt.json"


def test_a_receipt_is_a_statement_about_commit_and_tree_and_holds_in_a_fresh_clone(
    receipt: tuple[Project, Path],
) -> None:
    clone, out = receipt
    statement = json.loads(out.read_text(encoding="utf-8"))
    commit, tree = clone.git("rev-parse", "HEAD"), clone.git("rev-parse", "HEAD^{tree}")
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert [about["digest"] for about in statement["subject"]] == [{"gitCommit": commit}, {"gitTree": tree}]
    predicate = statement["predicate"]
    assert predicate["base"] == {"gitCommit": clone.git("rev-parse", "HEAD~1")}
    assert (predicate["verdict"], len(predicate["task"])) == ("proven", 64)
    (gate,) = predicate["gates"]
    assert (gate["argv"], gate["by"], gate["source"]) == (["make", "test"], "project", "Makefile")
    runs = {name: (run["exit"], run["counts"]) for name, run in gate["runs"].items()}
    assert runs == {"without the work": (2, [1, 1, 0]), "as it is": (0, [2, 0, 0])}
    ran = clone.check("receipt", "verify", "--yes", str(out), by="user")
    assert "It holds." in ran.out
    assert ran.says("receipt-gate-holds", gate="tests", command="make test")
    assert clone.git("status", "--porcelain", "--", ":!.sisyphus") == ""


def sealed_anew(out: Path, change: Callable[[Row], object]) -> None:
    """Changed by somebody who knows how it is written."""
    statement = json.loads(out.read_text(encoding="utf-8"))
    change(statement)
    statement["predicate"]["digest"] = receipts.digest_of(statement)
    out.write_text(json.dumps(statement), encoding="utf-8")


def _gate(statement: Row) -> Row:
    gate: Row = statement["predicate"]["gates"][0]
    return gate


def _flip(text: str) -> str:
    """One letter, to another that a digest may have."""
    return ("1" if text[0] == "0" else "0") + text[1:]


FLIPS: dict[str, tuple[Callable[[Row], None], str]] = {
    "commit": (
        lambda s: s["subject"][0]["digest"].update(gitCommit=_flip(s["subject"][0]["digest"]["gitCommit"])),
        "commit",
    ),
    "tree": (lambda s: s["subject"][1]["digest"].update(gitTree=_flip(s["subject"][1]["digest"]["gitTree"])), "tree"),
    "base": (lambda s: s["predicate"]["base"].update(gitCommit=_flip(s["predicate"]["base"]["gitCommit"])), "base"),
    "base is the commit": (
        lambda s: s["predicate"]["base"].update(gitCommit=s["subject"][0]["digest"]["gitCommit"]),
        "base before commit",
    ),
    "argv": (lambda s: _gate(s).update(argv=["make", "tess"]), "the project's own"),
    "another gate": (lambda s: _gate(s).update(argv=["sh", "-c", "grep -q + calc.py"]), "the project's own"),
    "directory": (lambda s: _gate(s).update(cwd="elsewhere"), "the project's own"),
    "exit": (lambda s: _gate(s)["runs"]["as it is"].update(exit=1), "as it is"),
    "counts": (lambda s: _gate(s)["runs"]["without the work"].update(counts=[0, 2, 0]), "without the work"),
    "a run left out": (lambda s: _gate(s)["runs"].pop("without the work"), "without the work"),
    "verdict": (lambda s: s["predicate"].update(verdict="judged"), "verdict"),
    "kind": (lambda s: s.update(predicateType="urn:x-omo:receipt:v2"), "predicateType"),
    "no gates": (lambda s: s["predicate"].update(gates=[]), "predicate.gates"),
}


def wrong_lines(clone: Project, out: Path) -> list[str]:
    rows = clone.check("receipt", "verify", "--yes", "--json", str(out), by="user", code=3).json["lines"]
    return [row["line"] for row in rows if row["holds"] is False]


@pytest.mark.parametrize("name", list(FLIPS))
def test_a_flipped_line_does_not_hold_though_it_is_sealed_anew(receipt: tuple[Project, Path], name: str) -> None:
    clone, out = receipt
    change, line = FLIPS[name]
    sealed_anew(out, change)
    wrong = wrong_lines(clone, out)
    assert [named for named in wrong if line in named], wrong


def test_any_byte_that_fell_over_is_noticed(receipt: tuple[Project, Path]) -> None:
    clone, out = receipt
    whole = out.read_bytes()
    statement = json.loads(whole)
    statement["predicate"]["task"] = _flip(statement["predicate"]["task"])
    out.write_text(json.dumps(statement), encoding="utf-8")
    assert wrong_lines(clone, out) == ["digest"], "nothing else could tell"
    for place in range(0, len(whole), len(whole) // 12):
        out.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert clone.user("receipt", "verify", "--yes", str(out)).code == 3, whole[place - 10 : place + 10]


def test_a_base_from_which_on_nothing_was_done_does_not_hold(project: Project, tmp_path: Path) -> None:
    work(project)
    project.write("notes.md", "done\n")
    project.commit("notes")
    project.check("ulw", "done")
    out = tmp_path / "receipt.json"
    written(project, out)
    before = {"gitCommit": project.git("rev-parse", "HEAD~1")}
    sealed_anew(out, lambda statement: statement["predicate"].update(base=before))
    clone = cloned(project, tmp_path / "a clone")
    wrong = clone.check("receipt", "verify", "--yes", "--json", str(out), by="user", code=3).json["lines"]
    (why,) = {row["why"] for row in wrong if row["holds"] is False and "runs on" in row["why"]}
    assert texts.says(why, "receipt-nothing-it-runs-on-was-changed")


def test_what_was_in_no_commit_when_the_run_began_is_named(project: Project, tmp_path: Path) -> None:
    for name, text in {"calc.py": CALC, "test_calc.py": TEST, "Makefile": MAKEFILE}.items():
        project.write(name, text)
    project.commit("base")
    project.write("extra.py", "")
    project.prompt("ulw mend add")
    project.write("calc.py", FIXED)
    project.check("ulw", "done")
    project.commit("the work")
    out = tmp_path / "receipt.json"
    written(project, out)
    clone = cloned(project, tmp_path / "a clone")
    assert clone.check("receipt", "verify", "--yes", str(out), by="user").says(
        "receipt-note-by-its-word-was", file="extra.py"
    )


TEXT = "def add(a, b):\n    return str(a + b)\n"
TEST_OF_TEXT = TEST.replace("5)", "'5')").replace(" 2)", " '2')")


@pytest.mark.parametrize(
    ("before", "typed", "after", "why"),
    [
        ({"calc.py": CALC}, "ulw mend add", FIXED, "it passes without the work too (2 passed here)"),
        (
            {"calc.py": TEXT, "test_calc.py": TEST_OF_TEXT},
            "/omo:pin one -- grep -q ONE calc.py",
            TEXT,
            "with it as before 2 of 2 tests fail",
        ),
    ],
    ids=["the bug", "weaker tests"],
)
def test_what_only_lay_in_the_writers_tree_is_not_proven_from_the_commit_on(
    project: Project, before: dict[str, str], typed: str, after: str, why: str
) -> None:
    for name, content in {"calc.py": FIXED, "test_calc.py": TEST, "Makefile": MAKEFILE}.items():
        project.write(name, content)
    project.commit("base")
    for name, content in before.items():
        project.write(name, content)
    project.prompt("ulw name one")
    project.prompt(typed)
    project.write("calc.py", f"{after}\n\nONE = 1\n")
    assert "Done, proven" in project.check("ulw", "done").out
    project.commit("the work")
    refused = project.check("receipt", "write", by="user", code=3).err
    assert texts.says(refused, "receipt-commit-on-which-it-is-not-proven")
    assert why in refused


WEAK = TEST.replace("5)", "calc.add(2, 3))").replace(" 2)", " calc.add(2, 0))")


def on_a_branch(project: Project, out: Path, before: dict[str, str]) -> None:
    """Work on a branch that had a commit before it, from which on the receipt speaks."""
    for name, text in {"calc.py": CALC, "test_calc.py": TEST, "Makefile": MAKEFILE}.items():
        project.write(name, text)
    project.commit("base")
    project.git("switch", "-q", "-c", "feature")
    for name, text in before.items():
        project.write(name, text)
    project.commit("before the run")
    project.prompt("ulw mend add")
    project.write("calc.py", FIXED if before.get("test_calc.py") != WEAK_AND_NEW else FIXED + "\n\nONE = 1\n")
    assert "Done, proven" in project.check("ulw", "done").out
    project.commit("the work")
    written(project, out)


def of_the_branch(project: Project, place: Path) -> Project:
    """A clone of a repository whose default branch is main, with the other branch checked out."""
    project.git("switch", "-q", "main")
    clone = cloned(project, place)
    clone.git("switch", "-q", "feature")
    return clone


WEAK_AND_NEW = f"{WEAK}\n    def test_one(self):\n        self.assertEqual(calc.ONE, 1)\n"


def test_the_base_is_where_the_branch_left_the_default_one(project: Project, tmp_path: Path) -> None:
    out = tmp_path / "receipt.json"
    on_a_branch(project, out, {"notes.md": "to be done\n"})
    clone = of_the_branch(project, tmp_path / "a clone")
    main, first = clone.git("rev-parse", "origin/main"), clone.git("rev-parse", "HEAD~1")
    shown = clone.check(*VERIFY, str(out), by="user").out
    assert texts.says(shown, "receipt-base-where-it-left", id=main[:12], branch="origin/main")
    assert texts.says(shown, "receipt-has-another-base", id=first[:12])
    shown = clone.check(*VERIFY, "--base", first, str(out), by="user").out
    assert texts.says(shown, "receipt-base-where-it-left", id=first[:12], branch=first)
    assert "  note" not in shown
    clone.git("update-ref", "refs/remotes/origin/main", first)
    shown = clone.check(*VERIFY, str(out), by="user").out
    assert texts.says(shown, "receipt-base-where-it-left", id=first[:12], branch="origin/main")
    assert "  note" not in shown
    assert clone.check(*VERIFY, "--base", "none", str(out), by="user", code=2).says(
        "receipt-base-is-no-commit-of-this", branch="none"
    )


def test_a_strangers_own_commit_is_no_base(project: Project, tmp_path: Path) -> None:
    """It weakened the tests, and the receipt began with it."""
    out = tmp_path / "receipt.json"
    on_a_branch(project, out, {"test_calc.py": WEAK_AND_NEW, "calc.py": f"{CALC}\n\nONE = 2\n"})
    project.write("calc.py", f"{CALC}\n\nONE = 1\n")
    project.git("commit", "-q", "-a", "--amend", "-m", "the work")
    commit, tree = project.git("rev-parse", "HEAD"), project.git("rev-parse", "HEAD^{tree}")

    def of_this_commit(statement: Row) -> None:
        statement["subject"][0]["digest"]["gitCommit"], statement["subject"][1]["digest"]["gitTree"] = commit, tree

    sealed_anew(out, of_this_commit)
    clone = of_the_branch(project, tmp_path / "a clone")
    told = clone.check(*VERIFY, str(out), by="user", code=3).out
    assert "the changed test_calc.py" in told
    own = clone.git("rev-parse", "HEAD~1")
    assert "It holds." in clone.check(*VERIFY, "--base", own, str(out), by="user").out, "by the stranger's own word"


def test_on_the_default_branch_the_receipt_chooses_and_that_is_said(receipt: tuple[Project, Path]) -> None:
    clone, out = receipt
    base = clone.git("rev-parse", "HEAD~1")
    said = f"the receipt chose the base {base[:12]}, since the commit is on origin/main already"
    assert said in clone.check(*VERIFY, str(out), by="user").out
    clone.git("switch", "-q", "-c", "another", base)
    other = clone.commit("beside it")
    clone.git("switch", "-q", "main")
    sealed_anew(out, lambda statement: statement["predicate"]["base"].update(gitCommit=other))
    assert texts.says("\n".join(wrong_lines(clone, out)), "receipt-base-before-commit")


@pytest.mark.parametrize("name", ["main", "origin/main", "origin/HEAD"])
def test_a_tag_is_no_default_branch(receipt: tuple[Project, Path], name: str) -> None:
    clone, out = receipt
    clone.git("tag", name, "HEAD~1")
    assert clone.check(*VERIFY, str(out), by="user").says("receipt-chose-the-base")


def test_where_no_branch_is_the_default_one_somebody_has_to_name_it(receipt: tuple[Project, Path]) -> None:
    clone, out = receipt
    clone.git("remote", "remove", "origin")
    clone.git("branch", "-q", "-m", "main", "work")
    assert clone.check(*VERIFY, str(out), by="user", code=4).says("receipt-base-is-not-clear")
    assert "It holds." in clone.check(*VERIFY, "--base", "HEAD~1", str(out), by="user").out


# Who says yes


def everything_in(place: Path) -> dict[str, bytes]:
    """The index of git apart: what it has noted of the times of files may be written anew."""
    files = [path for path in sorted(place.rglob("*")) if path.is_file() and path.name != "index"]
    return {str(path.relative_to(place)): path.read_bytes() for path in files}


def with_programs(clone: Project, mark: Path) -> None:
    """Whatever git or make could be made to start leaves a mark."""
    program = clone.root.parent / "program"
    program.write_text(f"#!/bin/sh\ntouch '{mark}'\n")
    program.chmod(0o755)
    for key in (
        "core.fsmonitor",
        "diff.external",
        "diff.x.textconv",
        "filter.x.clean",
        "filter.x.smudge",
        "core.pager",
    ):
        clone.git("config", key, str(program))
    hooks = clone.root / ".git" / "hooks"
    for hook in ("post-index-change", "reference-transaction", "post-checkout"):
        (hooks / hook).write_text(program.read_text())
        (hooks / hook).chmod(0o755)
    (clone.root / ".git" / "info").mkdir(exist_ok=True)
    (clone.root / ".git" / "info" / "attributes").write_text("* diff=x filter=x\n")


@pytest.mark.parametrize("by", ["user", "agent"])
def test_without_a_yes_nothing_is_run_and_nothing_written(
    receipt: tuple[Project, Path], tmp_path: Path, by: str
) -> None:
    clone, out = receipt
    with_programs(clone, tmp_path / "mark")
    before = everything_in(tmp_path)
    for file in (str(out), str(tmp_path / "none")):
        ran = clone.check("receipt", "verify", file, by=by, code=77, has_terminal=by == "user", is_heard=False)
        assert (ran.out, len(ran.err.splitlines())) == ("", 1)
        assert ran.says("receipt-nothing-was-run-this-runs-code")
        assert "--yes" in ran.err
    assert everything_in(tmp_path) == before


def answered(clone: Project, out: Path, answer: str, *options: str) -> subprocess.CompletedProcess[str]:
    """`omo receipt verify` in a terminal in which a person has typed this."""
    keyboard, screen = os.openpty()
    try:
        os.write(keyboard, f"{answer}\n".encode())
        return subprocess.run(
            [sys.executable, "-c", "from omo.cli import console; console()", "receipt", "verify", *options, str(out)],
            cwd=clone.root,
            env={**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONUTF8": "1"},
            stdin=screen,
            capture_output=True,
            text=True,
            start_new_session=True,
        )
    finally:
        os.close(screen)
        os.close(keyboard)


def test_a_person_is_shown_the_commands_and_asked(receipt: tuple[Project, Path], tmp_path: Path) -> None:
    clone, out = receipt
    with_programs(clone, tmp_path / "mark")
    before = everything_in(tmp_path)
    done = answered(clone, out, "n")
    assert (done.returncode, done.stdout) == (77, "")
    assert "  $ make test" in done.stderr
    assert "  $ python3 -m unittest" in done.stderr
    assert "Run them?" in done.stderr
    assert texts.says(done.stderr, "receipt-yes-or-no")
    assert texts.says(done.stderr, "receipt-yes-or-no")
    assert everything_in(tmp_path) == before


def test_a_person_who_says_yes_reads_what_ran(receipt: tuple[Project, Path]) -> None:
    clone, out = receipt
    done = answered(clone, out, "y")
    assert (done.returncode, "It holds." in done.stdout) == (0, True), done.stdout + done.stderr
    assert texts.says(done.stdout, "receipt-ran-command", command="make test")


def test_what_a_stranger_wrote_cannot_hide_in_the_question(receipt: tuple[Project, Path]) -> None:
    clone, out = receipt
    argv = ["sh", "-c", "true \x1b[2K\r\u202e # " + "x" * 3000 + "; end"]
    sealed_anew(out, lambda statement: _gate(statement).update(by="user", source="", argv=argv))
    assert "sh -c" not in answered(clone, out, "n").stderr, "it would not be run"
    asked = answered(clone, out, "n", "--trust-user").stderr
    (line,) = [line for line in asked.split("\n") if "sh -c" in line]
    assert line == rf"  $ sh -c 'true \x1b[2K\r\u202e # {'x' * 3000}; end'"


def test_where_the_checkout_is_another_nobody_is_asked(receipt: tuple[Project, Path]) -> None:
    clone, out = receipt
    clone.write("new.py", "x = 1\n")
    done = answered(clone, out, "y")
    assert (done.returncode, "Run them?" in done.stderr) == (3, False)
    assert "  ran      nothing\n" in done.stdout


# What the code gets


SPIES = """test:
\tenv > "$$TMPDIR/told"
\tpython3 -B -m unittest -q
"""


def test_the_code_gets_no_variables_but_those_of_tools_and_a_home_of_its_own(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("calc.py", CALC)
    project.write("test_calc.py", TEST)
    project.write("Makefile", SPIES)
    project.commit("base")
    project.prompt("ulw mend add")
    project.write("calc.py", FIXED)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    assert "Done, proven" in project.check("ulw", "done").out
    project.commit("the work")
    out = tmp_path / "receipt.json"
    written(project, out)
    clone = cloned(project, tmp_path / "a clone")
    home = tmp_path / "my home"
    (home / ".cargo").mkdir(parents=True)
    own = {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "DATABASE_URL": "sqlite://",
        "GH_PAT": "abc-123",
    }
    own |= {"API_TOKEN": "def-456", "PYTHONSTARTUP": "/x", "SSH_AUTH_SOCK": "/run/x", "GOPATH": str(home / "own go")}
    own |= {"LC_ALL": "C.UTF-8", "CARGO_HTTP_PROXY": "http://u:p@h", "NODE_OPTIONS": "--require x", "CI": "true"}
    for name, value in own.items():
        monkeypatch.setenv(name, value)
    assert "It holds." in clone.check(*VERIFY, str(out), by="user", env=own).out
    told = dict(line.split("=", 1) for line in (temporary / "told").read_text().splitlines() if "=" in line)
    assert told["GOPATH"] == str(home / "own go")
    assert told["CARGO_HOME"] == str(home / ".cargo")
    assert (told["LC_ALL"], "CI" in told, told["TMPDIR"]) == ("C.UTF-8", True, str(temporary))
    hidden = (
        "DATABASE_URL",
        "GH_PAT",
        "API_TOKEN",
        "PYTHONSTARTUP",
        "SSH_AUTH_SOCK",
        "CARGO_HTTP_PROXY",
        "NODE_OPTIONS",
    )
    assert [name for name in hidden if name in told] == []
    assert Path(told["HOME"]).name.startswith("omo-home-")
    assert told["XDG_CONFIG_HOME"] == f"{told['HOME']}/.config"
    assert not Path(told["HOME"]).exists()


def test_a_secret_in_a_command_is_in_no_receipt(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", "unittest")
    for name, text in {"calc.py": CALC, "test_calc.py": TEST, "Makefile": MAKEFILE}.items():
        project.write(name, text)
    project.commit("base")
    project.prompt("ulw mend add")
    project.prompt("/omo:pin tests -- env API_TOKEN=hunter-22 python3 -B -m unittest -q")
    project.write("calc.py", FIXED)
    assert "Done, proven" in project.check("ulw", "done").out
    project.commit("the work")
    out = tmp_path / "receipt.json"
    written(project, out)
    assert "hunter-22" not in out.read_text()
    (gate,) = [gate for gate in json.loads(out.read_text())["predicate"]["gates"] if gate["by"] == "user"]
    assert gate["argv"] == ["env", "API_TOKEN=***", "python3", "-B", "-m", "unittest", "-q"]


def test_a_run_that_only_the_writers_own_files_asked_for_is_noted(project: Project, tmp_path: Path) -> None:
    """What is ignored since is in no clone: nothing of the tests differs there."""
    for name, text in {"calc.py": CALC, "test_calc.py": TEST, "Makefile": MAKEFILE}.items():
        project.write(name, text)
    project.commit("base")
    project.prompt("ulw mend add")
    project.write("calc.py", FIXED)
    project.write(".gitignore", "local.db\n")
    project.write("local.db", "rows\n")
    project.check("ulw", "done")
    project.commit("the work")
    out = tmp_path / "receipt.json"
    gates = written(project, out)["predicate"]["gates"]
    assert [sorted(gate["runs"]) for gate in gates] == [["as it is", "with the old tests", "without the work"]]
    clone = cloned(project, tmp_path / "a clone")
    assert (
        "  note     gate tests (make test), with the old"
        in clone.check("receipt", "verify", "--yes", str(out), by="user").out
    )


def test_tests_that_do_not_hold_are_in_no_line_that_does(receipt: tuple[Project, Path]) -> None:
    clone, out = receipt
    weakened(clone)
    head = clone.commit("weaker")
    tree = clone.git("rev-parse", "HEAD^{tree}")
    about = [{"name": "commit", "digest": {"gitCommit": head}}, {"name": "tree", "digest": {"gitTree": tree}}]
    sealed_anew(out, lambda statement: statement.update(subject=about))
    assert texts.says("\n".join(wrong_lines(clone, out)), "receipt-project-own-tests-are-not")


def test_a_file_in_the_runners_place_is_no_matter_of_the_machine(receipt: tuple[Project, Path]) -> None:
    clone, out = receipt
    clone.write("unittest.py", "print('Ran 2 tests')\n")
    head = clone.commit("a runner")
    tree = clone.git("rev-parse", "HEAD^{tree}")
    about = [{"name": "commit", "digest": {"gitCommit": head}}, {"name": "tree", "digest": {"gitTree": tree}}]
    sealed_anew(out, lambda statement: statement.update(subject=about))
    told = clone.check("receipt", "verify", "--yes", str(out), by="user", code=3)
    assert told.says("receipt-not-so-gate-tests-make", file="unittest.py")


def test_where_there_is_no_repository_nobody_can_tell(receipt: tuple[Project, Path], tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    told = Project(tmp_path / "elsewhere").check("receipt", "verify", "--yes", str(receipt[1]), by="user", code=4)
    assert told.says("receipt-unknown-commit-there-is-no")


def test_where_the_runner_is_missing_nobody_can_tell(
    receipt: tuple[Project, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    clone, out = receipt
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("git", "sh"):
        (tools / name).symlink_to(f"/usr/bin/{name}" if Path(f"/usr/bin/{name}").exists() else f"/bin/{name}")
    monkeypatch.setenv("PATH", str(tools))
    ran = clone.check("receipt", "verify", "--yes", str(out), by="user", code=4)
    assert ran.says("receipt-gate-cannot-tell")
    assert ran.says("receipt-it-cannot-be-verified-here")


def test_a_shallow_clone_is_told_to_fetch(receipt: tuple[Project, Path], tmp_path: Path) -> None:
    clone, out = receipt
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{clone.root}", str(tmp_path / "shallow"))
    ran = Project(tmp_path / "shallow").check("receipt", "verify", "--yes", str(out), by="user", code=4)
    assert "git fetch --unshallow" in ran.out


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda clone: clone.write("calc.py", CALC), "a clean checkout"),
        (lambda clone: clone.write("new.py", "x = 1\n"), "a clean checkout"),
        (lambda clone: (clone.write("calc.py", CALC), clone.commit("back")), "this checkout"),
    ],
    ids=["an edit", "a new file", "another commit"],
)
def test_a_receipt_speaks_of_no_other_checkout(
    receipt: tuple[Project, Path], change: Callable[[Project], object], line: str
) -> None:
    clone, out = receipt
    change(clone)
    assert wrong_lines(clone, out) == [line]


def test_a_command_that_only_the_receipt_names_is_not_run_unasked(
    receipt: tuple[Project, Path], tmp_path: Path
) -> None:
    clone, out = receipt
    ran = tmp_path / "ran"
    argv = ["sh", "-c", f"touch '{ran}'; grep -q '+' calc.py"]
    sealed_anew(out, lambda statement: _gate(statement).update(by="user", source="", argv=argv))
    told = clone.check("receipt", "verify", "--yes", str(out), by="user", code=4)
    assert told.says("receipt-only-the-receipt-says-so")
    assert not ran.exists()
    told = clone.check("receipt", "verify", "--yes", "--trust-user", str(out), by="user", code=3)
    assert ran.exists()
    assert "as it is: exit 0, 2 passed" in told.out


def test_what_a_receipt_seals_for_the_projects_own_gate_is_nobodys_word(receipt: tuple[Project, Path]) -> None:
    """A refactoring held, once a stranger had sealed the file that calls it."""
    clone, out = receipt
    sealed_anew(out, lambda statement: _gate(statement).update(sealed=["calc.py"]))
    assert "It holds." in clone.check("receipt", "verify", "--yes", str(out), by="user").out


def weakened(project: Project) -> str:
    """A test that accepts both, and work that needs it."""
    text = TEST.replace("calc.add(2, 3), 5)", "calc.add(2, 3), 5 + 1)")
    project.write("test_calc.py", text)
    project.write("calc.py", FIXED.replace("a + b", "a + b + (b == 3)"))
    return text


def test_a_change_that_the_user_allowed_is_named_and_not_taken_on_the_receipts_word(
    project: Project, tmp_path: Path
) -> None:
    project.git("rm", "-q", "--cached", "-r", "--ignore-unmatch", ".")
    for name, text in {"calc.py": FIXED, "test_calc.py": TEST, "Makefile": MAKEFILE}.items():
        project.write(name, text)
    project.commit("base")
    project.prompt("ulw five is six")
    weakened(project)
    assert "it passes only with the changed test_calc.py" in project.check("ulw", "done", code=3).err
    project.prompt("/omo:allow test_calc.py")
    assert "Done, proven" in project.check("ulw", "done").out
    project.commit("the work")
    out = tmp_path / "receipt.json"
    assert list(written(project, out)["predicate"]["exceptions"]["allowed"]) == ["test_calc.py"]
    clone = cloned(project, tmp_path / "a clone")
    told = clone.check("receipt", "verify", "--yes", str(out), by="user", code=4)
    assert told.says("receipt-unknown-changed-as-user-allowed-only", path="test_calc.py")
    clone.check("receipt", "verify", "--yes", "--trust-user", str(out), by="user")
    sealed_anew(out, lambda statement: statement["predicate"]["exceptions"].update(allowed={}))
    told = clone.check("receipt", "verify", "--yes", "--trust-user", str(out), by="user", code=3)
    assert told.says("receipt-gate-only-with-changed-tests", files="test_calc.py")


def test_tests_that_omo_found_are_the_projects_own_wherever_they_are_named(project: Project) -> None:
    work(project)
    for shown in (project.check("report", "--md", by="user").out, project.check("status", "--json", by="user").out):
        assert "the project's own (Makefile)" in shown
        assert not texts.says(shown, "ulw-gate-pinned-by")


def in_a_part(place: Path) -> Project:
    """The work in a directory of the repository that has a state of its own."""
    part = Project(place / "packages" / "a")
    Path(part.state).mkdir(parents=True)
    begin_repository(place)
    work(part)
    return part


def test_a_receipt_of_a_part_of_the_repository_holds_wherever_it_is_verified(tmp_path: Path) -> None:
    part = in_a_part(tmp_path / "top")
    assert written(part, tmp_path / "receipt.json")["predicate"]["directory"] == "packages/a"
    git(tmp_path, "clone", "-q", str(tmp_path / "top"), str(tmp_path / "clone"))
    for checkout in (tmp_path / "top", tmp_path / "clone"):
        for directory in (checkout, checkout / "packages" / "a", checkout / "packages"):
            ran = Project(checkout).check(
                "receipt", "verify", "--yes", str(tmp_path / "receipt.json"), by="user", cwd=directory
            )
            assert ran.says("receipt-holds-only-differs-from-base", path="packages/a")
    assert not (tmp_path / "clone" / "packages" / "a" / ".sisyphus").exists(), "its state is that of the checkout"


def test_a_receipt_of_a_part_says_nothing_of_the_rest(tmp_path: Path) -> None:
    part = in_a_part(tmp_path / "top")
    written(part, tmp_path / "receipt.json")
    (tmp_path / "top" / "other.py").write_text("new = True\n")
    git(tmp_path / "top", "add", "other.py")
    git(tmp_path / "top", "commit", "-q", "--amend", "--no-edit")
    refused = part.check("receipt", "write", code=3).err
    assert texts.says(refused, "receipt-receipt-of-speaks-of-that-alone", directory="packages/a")
    assert "change other.py too" in refused
    commit, tree = part.git("rev-parse", "HEAD"), part.git("rev-parse", "HEAD^{tree}")

    def of_the_new_commit(statement: Row) -> None:
        statement["subject"][0]["digest"]["gitCommit"], statement["subject"][1]["digest"]["gitTree"] = commit, tree

    sealed_anew(tmp_path / "receipt.json", of_the_new_commit)
    assert wrong_lines(part, tmp_path / "receipt.json") == ["only packages/a differs from the base"]
    statement = json.loads((tmp_path / "receipt.json").read_text(encoding="utf-8"))
    for elsewhere in ("packages/b", "..", "/"):
        moved = {**statement, "predicate": {**statement["predicate"], "directory": elsewhere}}
        (tmp_path / "moved.json").write_text(json.dumps(moved), encoding="utf-8")
        assert f"directory {elsewhere}" in wrong_lines(part, tmp_path / "moved.json")


def test_a_receipt_needs_a_proof_and_a_commit(project: Project) -> None:
    assert project.check("receipt", "write", by="user", code=4).says("command-no-such-run-is-known-in")
    work(project, commits=False)
    told = project.check("receipt", "write", by="user", code=3)
    assert "calc.py" in told.err
    assert told.says("receipt-commit-them")
    project.commit("the work")
    path = project.check("receipt", "write", "--json", by="user").json["path"]
    assert Path(path).name == f"{project.git('rev-parse', 'HEAD')}.json"
    project.write("calc.py", FIXED + "# later\n")
    assert project.check("receipt", "write", by="user", code=3).says("receipt-only-proven-not-any-more")


def test_where_the_base_was_amended_it_begins_at_the_commit_before(project: Project, tmp_path: Path) -> None:
    for name, text in {"calc.py": CALC, "test_calc.py": TEST, "Makefile": MAKEFILE}.items():
        project.write(name, text)
    first = project.commit("base")
    project.write("notes.md", "mend add\n")
    project.commit("notes")
    project.prompt("ulw mend add")
    project.write("calc.py", FIXED)
    project.check("ulw", "done")
    project.git("commit", "-q", "--amend", "-a", "-m", "notes, and the work")
    out = tmp_path / "receipt.json"
    assert written(project, out)["predicate"]["base"] == {"gitCommit": first}
    cloned(project, tmp_path / "a clone").check("receipt", "verify", "--yes", str(out), by="user")


def test_where_nothing_is_left_of_the_base_there_is_no_receipt(project: Project) -> None:
    work(project, commits=False)
    project.git("commit", "-q", "--amend", "-a", "-m", "all of it")
    told = project.check("receipt", "write", by="user", code=3)
    assert told.says("receipt-on-which-run-began-has-no")


def users_check_ended(run: Play) -> None:
    verify.begun(run, verify.ADD_WORKS, by="user")
    run.append("test_calc.py", stories.ADD_TEST)
    run.write("calc.py", stories.FIXED)
    verify.finished(run)


@pytest.mark.parametrize(
    ("end", "gates"),
    [(verify_ended, ["tests"]), (users_check_ended, ["add", "tests"]), (ultraplan_ended, ["Verify of step 1"])],
)
def test_what_another_workflow_has_proven_has_a_receipt_too(
    end: Callable[[Play], None], gates: list[str], tmp_path: Path
) -> None:
    """By the user's checks, or the Verify commands of a plan, which the project's whole tests need not show."""
    run = Play(make_project(tmp_path))
    end(run)
    assert "done, proven" in run.stop()
    run.sh("git add -A; git commit -q --allow-empty -m 'the work'")
    out = tmp_path / "receipt.json"
    assert run.terminal(f"receipt write --session {PLAYED} --out {shlex.quote(str(out))}") == 0, run.printed
    assert [gate["name"] for gate in json.loads(out.read_bytes())["predicate"]["gates"]] == gates
    clone = cloned(Project(run.project), tmp_path / "a clone")
    shown = clone.check("receipt", "verify", "--yes", "--trust-user", str(out), by="user").out
    assert texts.says(shown, "fence-holds-project-own-tests-are")
    assert run.terminal(f"report --session {PLAYED} --md") == 0
    assert "Files changed, " in run.printed


def test_an_agents_word_is_no_receipt(project: Project) -> None:
    project.commit("base")
    project.prompt("ulw mend it")
    project.write("value", "new\n")
    project.check("ulw", "done", "--because", "the value is the new one")
    project.commit("the work")
    told = project.check("receipt", "write", code=3, session=SESSION)
    assert told.says("receipt-only-proven-not-agents-word")


@pytest.mark.parametrize("content", ["", "{", "[]", '"x"', '{"_type": 1}'])
def test_what_is_no_receipt_holds_nothing(project: Project, tmp_path: Path, content: str) -> None:
    project.commit("base")
    file = tmp_path / "no receipt.json"
    file.write_text(content, encoding="utf-8")
    assert project.check("receipt", "verify", "--yes", str(file), by="user", code=3).says("receipt-it-does-not-hold")
    assert project.check("receipt", "verify", "--yes", str(tmp_path / "none"), by="user", code=2).says(
        "receipt-file-cannot-be-read-no-such"
    )


def test_a_runner_in_an_environment_of_the_writers_is_found_where_the_reader_has_it(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Written with .venv/bin/pytest; whoever verifies has it on the PATH."""
    script = "#!/bin/sh\ngrep -q '+' calc.py && echo '1 passed in 0.1s' && exit 0\n"
    script += "echo 'FAILED test_calc.py::test_add'; echo '1 failed in 0.1s'; exit 1\n"
    elsewhere = tmp_path / "bin"
    elsewhere.mkdir()
    for place in (project.root / ".venv" / "bin", elsewhere):
        place.mkdir(parents=True, exist_ok=True)
        (place / "pytest").write_text(script, encoding="utf-8")
        (place / "pytest").chmod(0o755)
    project.write(".gitignore", ".venv\n")
    project.write("pyproject.toml", "[tool.pytest.ini_options]\n")
    project.write("calc.py", CALC)
    project.write("test_calc.py", TEST)
    project.commit("base")
    project.prompt("ulw mend add")
    project.write("calc.py", FIXED)
    assert "Done, proven" in project.check("ulw", "done").out
    project.commit("the work")
    statement = written(project, tmp_path / "receipt.json")
    assert _gate(statement)["argv"][0] == ".venv/bin/pytest"
    clone = cloned(project, tmp_path / "a clone")
    monkeypatch.setenv("PATH", f"{elsewhere}:/usr/bin:/bin")
    clone.check("receipt", "verify", "--yes", str(tmp_path / "receipt.json"), by="user")
