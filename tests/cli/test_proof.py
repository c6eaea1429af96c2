"""`omo proof` as it is typed: what it looks at, with which command, what it says, and what a report has of it."""

from __future__ import annotations

import re

import pytest

from bench.truth import path_of_tools
from tests.project import SESSION, Project

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
    return {hunk["place"]: hunk["word"] for hunk in told["hunks"]}


def test_it_needs_no_run_and_says_where_no_test_would_notice(changed: Project) -> None:
    changed.write("calc.py", FIXED.replace("\n\n\n", "\n\n\n\n# adds\n").replace("LIMIT", "# eleven\nLIMIT"))
    told = changed.check("proof", *GATE, by="user")
    first, *rows = told.out.splitlines()
    assert first == f"python3 -B test_calc.py, changes since {changed.git('rev-parse', 'HEAD')[:12]}"
    assert rows[0] == "  not held   calc.py:1-2 LIMIT = 11"
    assert rows[1].startswith("  held       calc.py:8 AssertionError")
    assert rows[2] == "1 hunk of comments or blanks not looked at"
    assert re.fullmatch(r"3 hunks: 1 held, 1 not held, 1 not looked at\. \(6 runs in \d+ s\)", rows[3])
    assert "not that they check all it does" in rows[4]
    assert changed.git("status", "--porcelain", "--", ":!.sisyphus") == "M calc.py"


def test_by_default_it_is_what_changed_since_the_branch_left(changed: Project) -> None:
    changed.git("checkout", "-q", "-b", "feature")
    changed.commit("the fix")
    changed.write("calc.py", FIXED + "\n\ndef more():\n    return 1\n")
    changed.commit("more")
    assert places(changed, *GATE) == {"calc.py:1": "not held", "calc.py:5": "held", "calc.py:8-9": "not held"}
    assert places(changed, "--since", "HEAD~1", *GATE) == {"calc.py:8-9": "not held"}
    told = changed.check("proof", *GATE, by="user").out.splitlines()[0]
    assert told.endswith(", where this branch left main")


def test_nothing_changed_is_told_with_a_way_on(changed: Project) -> None:
    changed.commit("the fix")
    told = changed.check("proof", *GATE, by="user", code=2)
    assert "nothing differs from" in told.err
    assert "omo proof --since HEAD~1" in told.err
    assert places(changed, "--since", "HEAD~1", *GATE) == {"calc.py:1": "not held", "calc.py:5": "held"}
    assert "--since nowhere is no commit" in changed.check("proof", "--since", "nowhere", by="user", code=2).err
    changed.git("checkout", "-q", "-f", "HEAD~1")
    told = changed.check("proof", *GATE, by="user", code=2)
    assert "the commit before the change, if there is one: " in told.err


def test_the_command_is_what_was_typed_else_pinned_else_the_projects_own(changed: Project) -> None:
    changed.write("Makefile", "test:\n\tpython3 -B test_calc.py\n")
    changed.git("add", "Makefile")
    changed.git("commit", "-q", "-m", "a target")
    assert changed.check("proof", "--json", by="user").json["command"] == "make test"
    changed.prompt("/omo:pin lint -- ruff check")
    changed.prompt("/omo:pin python3 -B test_calc.py")
    assert changed.check("proof", "--json", by="user").json["command"] == "python3 -B test_calc.py"
    assert (
        changed.check("proof", "--json", *GATE[:2], "test_calc.py", by="user").json["command"] == "python3 test_calc.py"
    )


def test_it_is_refused_while_a_session_works_in_the_tree(changed: Project) -> None:
    changed.prompt("ulw mend add")
    for by in ("user", "agent"):
        told = changed.check("proof", *GATE, by=by, code=3)
        assert f"session {SESSION} works in this tree" in told.err
    changed.prompt("stop ulw")
    changed.has_screen = True
    shown = changed.check("proof", *GATE, by="user", env={"TERM": "xterm", "LANG": "C.UTF-8", "COLUMNS": "80"}).out
    assert "\x1b[31mnot held\x1b[0m" in shown, "a terminal gets columns"


def test_where_there_is_no_commit_or_no_command_it_says_what_is_missing(project: Project) -> None:
    assert "there is none here" in project.check("proof", by="user", code=77).err
    project.commit("base")
    project.write("value", "new\n")
    assert "no test command is known here" in project.check("proof", by="user", code=77).err


def test_a_number_that_is_none_is_refused_in_plain_words(project: Project) -> None:
    assert "--minutes: 'abc' is not a number" in project.agent("proof", "--minutes", "abc").err
    assert "--minutes: '-1' must be more than 0" in project.agent("proof", "--minutes", "-1").err


def test_a_gate_that_holds_nothing_says_so(changed: Project) -> None:
    changed.write("test_calc.py", TEST.replace("== 5", "in (5, -4)"))
    told = changed.check("proof", *GATE, by="user")
    assert "The gate passes without all of it: it holds nothing of this change. 2 hunks: 2 not held." in told.out


def test_a_gate_that_fails_is_no_answer(changed: Project) -> None:
    changed.write("calc.py", CALC + "x = 1\n")
    assert "it does not pass as it is" in changed.check("proof", *GATE, by="user", code=4).err


def test_a_module_that_pytest_does_not_find_is_told_with_the_command_that_does(
    changed: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", path_of_tools())
    changed.write("tests/test_add.py", "import calc\n\n\ndef test_add():\n    assert calc.add(2, 3) == 5\n")
    (changed.root / "test_calc.py").unlink()
    told = changed.check("proof", "--", "pytest", by="user", code=4)
    assert "pytest: it does not pass as it is: it fails (1 failed: tests/test_add.py" in told.err
    assert "fix: omo proof -- python3 -m pytest\n" in told.err


def test_the_report_has_the_lines_while_the_files_are_the_same(changed: Project) -> None:
    changed.git("stash", "-q")
    changed.prompt("ulw mend add")
    changed.git("stash", "pop", "-q")
    changed.check("ulw", "done", "--because", "it adds now")
    changed.check("proof", *GATE, by="user")
    told = changed.check("report", "--md", by="user").out
    assert "### Lines that no test holds" in told
    assert "- calc.py:1: \\+ LIMIT = 11" in told.replace("\N{WORD JOINER}", "")
    path = changed.check("report", "--json", by="user").json
    assert path["verdict"]["level"] == "attested"
    page = changed.check("report", by="user").out.splitlines()[-1]
    with open(page, encoding="utf-8") as file:
        html = file.read()
    assert '<h2 id="lines">Lines that no test holds</h2>' in html
    assert "- LIMIT = 9\n+ LIMIT = 11" in html
    changed.write("calc.py", FIXED + "\n")
    assert "Lines that no test holds" not in changed.check("report", "--md", by="user").out
