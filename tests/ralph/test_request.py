"""What the user typed after /omo:ralph: kept as they typed it, a criterion of every round, or their yes to a file."""

from __future__ import annotations

import json

from tests import texts
from tests.ralph.project import Project, criterion, judged_criterion

TASK = "list\ncommands"


def test_it_is_kept_as_typed_shown_in_every_round_and_put_to_the_judge(project: Project) -> None:
    project.types(f"/omo:ralph {TASK}")
    project.types("yes, go on")
    state = project.start(judged_criterion(1))
    assert state.request == TASK
    assert texts.says(state.whose_request, "run-as-they-typed-it")
    words = "list commands"
    assert words in project.check("ralph", "status").out
    assert words in " ".join(project.check("next").out.split())  # to which a session is sent after a compaction
    project.work("x.txt")
    brief = project.ask()
    assert ":\n  > list\n  > commands" in brief
    assert project.rows("brief")[-1]["items"] == ["C0", "C1"]


def test_what_is_asked_for_under_way_is_where_a_session_is_sent_after_a_compaction(project: Project) -> None:
    project.types(f"/omo:ralph {TASK}")
    project.start(judged_criterion(1))
    project.now += 1
    project.types("/omo:ralph translate it")
    assert project.check("next").says("run-and-later-typed", typed="translate it")
    assert project.check("status").says("status-later-typed", typed="translate it")


def test_a_request_that_was_not_met_is_no_lesson_for_another_one(project: Project) -> None:
    project.types(f"/omo:ralph {TASK}")
    project.start(criterion(1))
    for _ in range(3):
        project.judged(C1="fail")
    project.types("/omo:ralph something else")
    state = project.start(criterion(1))
    assert [(lesson["id"], lesson["again"]) for lesson in state.lessons] == [("C1", ["C1"])]


def test_a_request_of_another_session_or_of_a_forged_row_is_none(project: Project) -> None:
    project.types(f"/omo:ralph {TASK}", session="s2")
    assert project.start().request == ""
    project.judged(C1="pass", C2="pass")
    project.types(f"/omo:ralph {TASK}")
    with project.session_ledger.open("a") as file:
        forged = {"kind": "asked", "workflow": "ralph", "text": "less", "actor": "user", "seq": 99, "ts": "3000"}
        file.write(json.dumps(forged) + "\n")
    assert project.start(criterion(3)).request == TASK


def test_a_very_long_request_is_cut_and_fits(project: Project) -> None:
    project.types("/omo:ralph " + "界" * 50_000)
    state = project.start(judged_criterion(1))
    assert len(state.request) == 8000
    project.work("x.txt")
    assert state.request in project.ask()


# Whose the criteria are


def test_a_file_of_wishes_is_what_they_ask_for(project: Project) -> None:
    project.write("TODO.md", "- sums add up\n")
    project.types("/omo:ralph TODO.md")
    project.check("ralph", "start")
    assert "sums add" in project.check("ralph", "status").out


def test_who_ended_a_run_and_begins_it_anew_need_not_say_again_what_they_want(project: Project) -> None:
    project.types(f"/omo:ralph {TASK}")
    project.check("ralph", "start")
    project.check("ralph", "abandon", "it takes too long", by="user", session=project.session)
    less = ("--reduced-scope", "one line in a script")
    ran = project.check("ralph", "start", *less, by="user", session=project.session)
    assert ran.says("ralph-user-asked-for-as-they-typed")
