"""The word that a user reads of a plan of goals: never better than what its ledger and the hooks know."""

from __future__ import annotations

import json

import pytest

from omo.state import runtime
from omo.stop import sentences
from omo.work import times
from omo.workflows.ultragoal import goal_tool, goals, lifecycle, steering
from tests.ultragoal.project import ONE, TWO, Project, commit


def told(project: Project) -> str:
    """At Stop."""
    project.tell()
    row = project.row()
    return sentences.release("done", row, row, {})


def ended_at(project: Project) -> str:
    return times.clock(project.told()["at"])


def exceptions(project: Project) -> list[tuple[str, str]]:
    told(project)
    return [(one["what"], one["by"]) for one in project.told()["outcome"]["exceptions"]]


def test_goals_that_both_reviewers_were_seen_to_find_clean_are_judged(project: Project) -> None:
    project.judged(TWO)
    assert told(project) == (
        "omo: done, judged: ultragoal: 2 of 2 goals complete (G001 'Parse', "
        "G002 'Check'); omo:architect and omo:qa were seen to find each clean; omo:architect found all of it there "
        f"that the user asked for with /omo:ultragoal, as they typed it; on the files as they were at "
        f"{ended_at(project)}. "
        "/omo:report shows the evidence."
    )
    ended = project.rows()[-1]
    assert ended["kind"] == "plan_ended"
    assert ended["outcome"] == project.told()["outcome"] == project.plan().outcome
    (project.root / "later.py").write_text("other work\n", encoding="utf-8")
    assert project.tell()["outcome"] == ended["outcome"], "what is changed after the end is other work"


def test_goals_that_nobody_reviewed_say_so(project: Project) -> None:
    project.create(TWO)
    project.finish()
    goal_tool.operate("complete", project.run())
    assert told(project) == (
        "omo: finished on the agent's word: ultragoal: 2 of 2 goals complete (G001 'Parse', "
        "G002 'Check'); no hook heard the user say what they want, so the goals are the agent's word for it; not "
        "reviewed independently, no clean verdict of omo:architect or omo:qa on its files was seen for G001, G002; "
        f"on the files as they were at {ended_at(project)}. /omo:report shows what was seen."
    )


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


@pytest.mark.parametrize("by", ["agent", "user"])
def test_a_plan_that_the_agent_handed_off_with_goals_open_ends_with_that_exception(project: Project, by: str) -> None:
    project.begin(ONE)
    goals.classify(project.run(), "human_blocked", evidence="the user has to choose")
    lifecycle.write_phase(project.run(by), "handoff")
    lifecycle.write_phase(project.run(), "active")
    project.reviewed()
    project.complete("G001")
    goal_tool.operate("complete", project.run())
    assert exceptions(project) == [("the plan was handed off with 1 open goal", "agent")][: by == "agent"]


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


def test_a_goal_reworded_by_the_agent_is_an_exception(project: Project) -> None:
    reworded(project, "agent")
    (what, by), *_ = exceptions(project)
    assert what == "G002 was reworded: 'Check' (Check each row.) became 'Write a note' (A note is there.)"
    assert by == "agent"


def test_what_the_user_reworded_lowers_nothing(project: Project) -> None:
    reworded(project, "user")
    assert told(project).startswith("omo: done, judged: ")


def test_a_final_receipt_that_is_missing_is_not_the_end(project: Project) -> None:
    project.begin(TWO)
    project.set_back("G001", "blocked")
    project.hand_out()
    project.complete("G002")
    project.supersede("G001")
    assert project.tell()["state"] == "active"
    assert "no fresh final receipt covers them: omo ultragoal checkpoint --goal-id G002" in project.told()["next"]
    project.complete("G002")
    goal_tool.operate("complete", project.run())
    assert exceptions(project) == [("G001 was dropped: Parse", "agent")]
