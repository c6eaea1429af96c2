"""`omo proof` as it is typed: what it looks at, with which command, what it says, and what a report has of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import texts
from tests.project import SESSION, Project
from tests.stories.play import path_of_tools

# Of another size in each arrangement: files of one size are swapped a second apart.
CALC = "LIMIT = 9\n\n\ndef add(a, b):\n    return a - b - b\n"
FIXED = "LIMIT = 11\n\n\ndef add(a, b):\n    return a + b\n"
TEST = "import sys\n\nimport calc\n\nassert calc.add(2, 3) == 5\nprint('1 passed')\n"
GATE = ("--", "python3", "-B", "test_calc.py")


@pytest.fixture
def changed(project: Project) -> Project:
    """One line that the test holds, and one that it does not, in no commit yet."""
    project.write("calc.py", CALC)
    project.write("test_calc.py", TEST)
    project.commit("base")
    project.write("calc.py", FIXED)
    return project


def places(project: Project, *arguments: str) -> dict[str, str]:
    told = project.check("proof", "--json", *arguments, by="user").json
    return {hunk["place"]: hunk["word"] for hunk in told["lines"]["hunks"]}


def test_below_the_verdict_it_says_where_no_test_would_notice(changed: Project) -> None:
    changed.write("calc.py", FIXED.replace("\n\n\n", "\n\n\n\n# adds\n").replace("LIMIT", "# eleven\nLIMIT"))
    told = changed.check("proof", *GATE, by="user").out
    assert "proven." in told
    assert texts.says(told, "proof-it-fails-without-change-and")
    assert re.search(r"NOT CHECKED +calc\.py:1-2", told), told
    assert re.search(r"checked +calc\.py:8", told), told
    assert "+ LIMIT = 11" in told
    assert texts.says(told, "proof-it-need-not-check-all")
    assert changed.git("status", "--porcelain", "--", ":!.sisyphus") == "M calc.py"


def test_only_the_verdict_where_no_more_is_asked_for(changed: Project) -> None:
    told = changed.check("proof", "--verdict", "--json", *GATE, by="user").json
    assert (told["verdict"], told["lines"], told["mutants"], told["files"]) == ("proven", None, None, ["calc.py"])


def test_by_default_it_is_what_changed_since_the_branch_left(changed: Project) -> None:
    changed.git("checkout", "-q", "-b", "feature")
    changed.commit("the fix")
    changed.write("calc.py", FIXED + "\n\ndef more():\n    return 1\n")
    changed.commit("more")
    assert places(changed, *GATE) == {"calc.py:1": "not held", "calc.py:5": "held", "calc.py:8-9": "not held"}
    told = changed.user("proof", "--since", "HEAD~1", *GATE)
    assert (told.code, told.says("proof-passes-without-the-change")) == (3, True)
    told = changed.check("proof", "--json", "--verdict", *GATE, by="user")
    assert told.json["since"] == "main"


def test_nothing_changed_is_told_with_a_way_on(changed: Project) -> None:
    changed.commit("the fix")
    assert changed.check("proof", *GATE, by="user", code=2).says("proof-which-change-is-meant-this-is")
    assert places(changed, "--since", "HEAD~1", *GATE) == {"calc.py:1": "not held", "calc.py:5": "held"}
    assert changed.check("proof", "--since", "nowhere", by="user", code=2).says(
        "proof-since-is-no-commit-of-this", named="nowhere"
    )
    told = changed.check("proof", "--since", "HEAD", *GATE, by="user", code=2)
    assert told.says("proof-nothing-differs-from", since="HEAD")
    assert "omo proof --since HEAD~1" in told.err


def test_the_command_is_what_was_typed_else_pinned_else_the_projects_own(changed: Project) -> None:
    def command(*arguments: str) -> str:
        told = changed.check("proof", "--verdict", "--json", *arguments, by="user").json
        return " ".join(each["command"] for each in told["commands"])

    changed.write("Makefile", "test:\n\tpython3 -B test_calc.py\n")
    changed.git("add", "Makefile")
    changed.git("commit", "-q", "-m", "a target")
    assert command() == "make test"
    changed.prompt("/omo:pin lint -- ruff check")
    changed.prompt("/omo:pin python3 -B test_calc.py")
    assert command() == "python3 -B test_calc.py"
    assert command(*GATE[:2], "test_calc.py") == "python3 test_calc.py"


def test_it_is_refused_while_a_session_works_in_the_tree(changed: Project) -> None:
    changed.prompt("ulw mend add")
    for by in ("user", "agent"):
        told = changed.check("proof", *GATE, by=by, code=3)
        assert told.says("proof-session-works-in-this-tree-and", working=SESSION)
    changed.prompt("stop ulw")
    changed.has_screen = True
    shown = changed.check("proof", *GATE, by="user", env={"TERM": "xterm", "LANG": "C.UTF-8", "COLUMNS": "80"}).out
    assert "\x1b[1;31mNOT CHECKED\x1b[0m" in shown, "a terminal gets columns"


def test_where_there_is_no_commit_or_no_command_it_cannot_tell(project: Project) -> None:
    assert project.check("proof", by="user", code=4).says("proof-no-commit-here")
    project.commit("base")
    project.write("value", "new\n")
    assert project.check("proof", by="user", code=4).says("proof-no-test-command-is-known")


def test_a_number_that_is_none_is_refused_in_plain_words(project: Project) -> None:
    assert project.agent("proof", "--minutes", "abc").says("proof-argument-minutes-is-not-number", word="abc")
    assert project.agent("proof", "--minutes", "-1").says(
        "proof-argument-minutes-must-be-more-than", number=1, number2=0
    )


def test_a_command_that_does_not_get_to_its_tests_is_red(changed: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", path_of_tools())
    changed.write("tests/test_add.py", "import calc\n\n\ndef test_add():\n    assert calc.add(2, 3) == 5\n")
    (changed.root / "test_calc.py").unlink()
    told = changed.check("proof", "--", "pytest", by="user", code=3)
    assert "not proven." in told.out
    assert told.says("proof-fails-as-it-is", tests="tests/test_add.py")


def test_two_shards_are_one_verdict_and_a_missing_one_is_none(changed: Project) -> None:
    files = []
    for index in (1, 2):
        told = changed.check("proof", "--shard", f"{index}/2", "--json", *GATE, by="user")
        files.append(str(changed.root.parent / f"shard-{index}.json"))
        Path(files[-1]).write_text(told.out, encoding="utf-8")
    merged = changed.check("proof", "merge", *files, "--json", by="user").json
    assert {hunk["place"]: hunk["word"] for hunk in merged["lines"]["hunks"]} == {
        "calc.py:1": "not held",
        "calc.py:5": "held",
    }
    assert "shard" in changed.check("proof", "merge", files[0], by="user", code=4).err
    assert "2/1" in changed.check("proof", "--shard", "2/1", *GATE, by="user", code=2).err


def test_what_was_printed_is_shown_again(changed: Project) -> None:
    changed.write("proof.json", changed.check("proof", "--verdict", "--json", *GATE, by="user").out)
    assert changed.check("proof", "show", "proof.json", by="user").says("proof-fails-without-and-passes-with")
    assert "**✅ proven.**" in changed.check("proof", "show", "proof.json", "--md", by="user").out.splitlines()[0]
    assert '"version": "2.1.0"' in changed.check("proof", "show", "proof.json", "--sarif", by="user").out
    changed.write("proof.json", "{}")
    assert "proof.json" in changed.check("proof", "show", "proof.json", by="user", code=2).err
    assert changed.check("proof", "show", "nothing.json", by="user", code=2).says(
        "doctor-cannot-be-read", path="nothing.json"
    )


def test_results_are_not_kept_in_the_checkout(changed: Project) -> None:
    told = changed.check("proof", "--cache", "results", *GATE, by="user", code=2)
    assert told.says("proof-cache-lies-in-checkout", cache="results")


def test_the_report_has_the_lines_while_the_files_are_the_same(changed: Project) -> None:
    changed.git("stash", "-q")
    changed.prompt("ulw mend add")
    changed.git("stash", "pop", "-q")
    changed.check("ulw", "done", "--because", "it adds now")
    changed.check("proof", *GATE, by="user")
    told = changed.check("report", "--md", by="user").out
    assert texts.says(told, "proof-lines-heading-in-markdown")
    assert "- calc.py:1: \\+ LIMIT = 11" in told.replace("\N{WORD JOINER}", "")
    path = changed.check("report", "--json", by="user").json
    assert path["verdict"]["level"] == "attested"
    page = changed.check("report", by="user").out.splitlines()[-1]
    with open(page, encoding="utf-8") as file:
        html = file.read()
    assert texts.says(html, "proof-lines-heading-in-page")
    assert "- LIMIT = 9\n+ LIMIT = 11" in html
    changed.write("calc.py", FIXED + "\n")
    assert "Lines that no test holds" not in changed.check("report", "--md", by="user").out
