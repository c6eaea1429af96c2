"""The word that a user reads of a plan of goals: never better than what its ledger and the hooks know."""

from __future__ import annotations

import json

from omo.state import runtime
from omo.stop import sentences
from omo.workflows.ultragoal import goal_tool, steering
from tests.ultragoal.project import ONE, TWO, Project, commit


def told(project: Project) -> str:
    """At Stop."""
    project.tell()
    row = project.row()
    return sentences.release("done", row, row, {})


def exceptions(project: Project) -> list[tuple[str, str]]:
    told(project)
    return [(one["what"], one["by"]) for one in project.told()["outcome"]["exceptions"]]


def session_exceptions(project: Project) -> list[tuple[str, str]]:
    """Also what was given up before."""
    told(project)
    row = project.row()
    ended = sentences.whole_outcome(runtime.work_in(row, "done"), row)
    return [(exception["what"], exception["by"]) for exception in ended["exceptions"]]


def finish_again(project: Project) -> None:
    project.create("@goal: Note\nWrite a note.", force=True)
    project.hand_out()
    project.reviewed()
    project.complete("G001")
    goal_tool.operate("complete", project.run())


def test_a_plan_thrown_away_twice_is_still_known(project: Project) -> None:
    first = project.create(TWO).run
    second = project.create("@goal: Between\nDo a little.", force=True).run
    finish_again(project)
    assert [what for what, _ in session_exceptions(project)] == [
        f"plan {first} was given up with 2 open goals",
        f"plan {second} was given up with 1 open goal",
    ]


def test_what_nobody_can_compare_with_the_files_of_a_review_is_no_clean_word_on_them(project: Project) -> None:
    commit(project.root, "a.py")
    project.prompt("/omo:ultragoal read the file")
    project.create(ONE)
    project.hand_out()
    project.reviewed()
    project.git("config", "core.fileMode", "false")
    assert "Which files were changed cannot be told here" in project.agent("ultragoal", "brief", "critic").out
    project.complete("G001")
    goal_tool.operate("complete", project.run())
    assert "no clean verdict of omo:architect or omo:qa on its files was seen for G001" in told(project)


def reworded(project: Project, by: str) -> None:
    project.prompt("/omo:ultragoal read the file")
    project.create(TWO)
    wording = {"goal_id": "G002", "title": "Write a note", "objective": "A note is there."}
    why = {"evidence": "seen", "rationale": "it is less"}
    steering.steer(project.run(by), "revise_pending_wording", {**wording, **why})
    parts = json.dumps([{"title": name, "objective": f"{name} is read."} for name in ("One", "Two")])
    steering.steer(project.run(by), "split_subgoal", {"goal_id": "G001", "replacements": parts, **why})
    while (goal := project.hand_out()) is not None:
        project.reviewed()
        project.complete(goal.id)
    goal_tool.operate("complete", project.run())


def test_what_the_user_reworded_lowers_nothing(project: Project) -> None:
    reworded(project, "user")
    assert told(project).startswith("omo: done, judged: ")
