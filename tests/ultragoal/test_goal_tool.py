"""The goal tool: every pair of status and operation, and what a plan adds to them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from omo.errors import Refused
from omo.workflows.ultragoal import create, goal_tool
from omo.workflows.ultragoal.brief import parse
from omo.workflows.ultragoal.plan import POINTER
from omo.workflows.ultragoal.run import PlanRun, begin
from omo.workflows.ultragoal.session_goal import LEADS_TO, MOVES, SessionGoalOutcome, ToolGoal
from tests.ultragoal.project import THREE, WHY, Project, words_of

OPERATIONS: dict[str, Callable[[PlanRun], SessionGoalOutcome]] = {
    name: partial(goal_tool.operate, name) for name in MOVES
}
# From that of a plan, which is active from its beginning.
WAY_TO = {"none": ("drop",), "active": (), "paused": ("pause",), "complete": ("complete",)}
# What each operation makes of a status. What is not here is refused.
EXPECTED = {
    "none": {"create": "active"},
    "active": {"pause": "paused", "resume": "active", "complete": "complete", "drop": "dropped"},
    "paused": {"pause": "paused", "resume": "active", "drop": "dropped"},
    "complete": {"create": "active"},
}
NAMES = ("G001", "G002", "G003")


def planned(project: Project, mode: str = "aggregate") -> Project:
    """A plan of three goals, and the session's goal for it."""
    create.create_goals(project.run(), parse(THREE), mode=mode, force=False)
    return project


def steered(mutation: str, **more: object) -> dict[str, object]:
    return {"kind": "steering_accepted", "mutation": mutation, **WHY, **more}


def live(project: Project) -> ToolGoal:
    goal = project.tool()
    assert goal is not None
    return goal


def tool_rows(project: Project) -> list[dict[str, object]]:
    return [row for row in project.rows() if row["kind"] in LEADS_TO]


@pytest.mark.parametrize("status", WAY_TO)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_pair_of_status_and_operation(project: Project, status: str, operation: str) -> None:
    planned(project).close(*NAMES)
    for earlier in WAY_TO[status]:
        OPERATIONS[earlier](project.run())
    rows = tool_rows(project)
    expected = EXPECTED[status].get(operation)
    if expected is None:
        with pytest.raises(Refused) as refused:
            OPERATIONS[operation](project.run())
        assert "omo goal " in refused.value.fix
        assert status == "none" or POINTER[:100] in refused.value.message
        assert tool_rows(project) == rows
        return
    outcome = OPERATIONS[operation](project.run())
    assert (outcome.before, outcome.goal.status) == (status, expected)
    assert outcome.changed is (status != expected)
    assert [row["kind"] for row in tool_rows(project)[len(rows) :]] == (
        [MOVES[operation][0]] if outcome.changed else []
    )


@pytest.mark.parametrize("operation", OPERATIONS)
def test_without_a_plan_there_is_no_goal_and_what_makes_one_is_named(project: Project, operation: str) -> None:
    with project.refused("has no ultragoal plan", "omo ultragoal create-goals"):
        OPERATIONS[operation](project.run())
    assert project.state_files() == {}


def test_a_goal_is_what_its_ledger_says(project: Project) -> None:
    goal_tool.operate("drop", planned(project).run())
    created = goal_tool.operate("create", project.run(), f"  {POINTER}\n").goal
    assert created == project.tool()
    assert created.objective == POINTER
    project.close(*NAMES)
    paused = goal_tool.operate("pause", project.run()).goal
    assert paused == project.tool()
    assert (paused.id, paused.created_at) == (created.id, created.created_at)
    assert paused.updated_at > created.updated_at
    goal_tool.operate("drop", project.run("user"))
    assert project.tool() is None
    assert [row["actor"] for row in tool_rows(project)] == ["agent", "agent", "agent", "agent", "user"]
    goal_tool.operate("create", project.run())
    assert live(project).id != created.id


def test_a_plan_of_before_its_ledger_had_the_goal_asks_for_one(project: Project) -> None:
    run = begin(project.caller())
    run.append(create.plan_row(run, parse(THREE), "aggregate"), {"kind": "goal_resumed", "goal": "t1"})
    assert project.tool() is None
    project.start("G001")
    assert project.step().command == "omo goal create"
    goal_tool.operate("create", project.run())
    assert live(project).objective == POINTER


# A goal and the plan of its session


def test_without_an_objective_the_plan_says_it(project: Project) -> None:
    planned(project)
    assert live(project).objective == POINTER


def test_in_a_per_story_plan_it_is_the_current_goals_objective(project: Project) -> None:
    planned(project, "per-story")
    assert live(project).objective == "Read the file."
    goal_tool.operate("drop", project.run())
    project.start("G001")
    project.close("G001")
    project.start("G002")
    goal_tool.operate("create", project.run())
    assert live(project).objective == "Check each row."


@pytest.mark.parametrize(
    ("mode", "objective"),
    [("aggregate", "Something else"), ("per-story", " "), ("per-story", "Write the report.")],
)
def test_a_goal_that_would_block_every_checkpoint_is_refused(project: Project, mode: str, objective: str) -> None:
    goal_tool.operate("drop", planned(project, mode).run())
    with pytest.raises(Refused, match=objective) as refused:
        goal_tool.operate("create", project.run(), objective)
    assert "omo goal create" in refused.value.fix
    assert project.tool() is None


# Pausing


def paused(project: Project) -> Project:
    planned(project).start()
    project.classify()
    goal_tool.operate("pause", project.run())
    return project


def refused_pause(project: Project) -> str:
    with pytest.raises(Refused) as refused:
        goal_tool.operate("pause", project.run())
    return words_of(refused.value)


def test_a_pause_needs_the_latest_row_to_say_that_a_person_is_needed(project: Project) -> None:
    planned(project).start()
    words = refused_pause(project)
    assert [text for text in ("goal_started", "classify-blocker", "steer") if text not in words] == []
    project.classify("resolvable")
    assert "blocker_classified" in refused_pause(project)
    project.classify()
    project.append(steered("annotate_ledger"))
    assert "steering_accepted" in refused_pause(project)
    project.classify()
    goal_tool.operate("pause", project.run())
    assert (live(project).status, live(project).why) == ("paused", "the key is with the user")


def test_what_stands_already_writes_no_row_anywhere(project: Project) -> None:
    paused(project)
    before = project.state_files()
    assert not goal_tool.operate("pause", project.run()).changed
    assert project.state_files() == before
    goal_tool.operate("resume", project.run())
    before = project.state_files()
    assert not goal_tool.operate("resume", project.run()).changed
    assert project.state_files() == before


def test_a_forged_classification_allows_no_pause(project: Project) -> None:
    planned(project)
    forged = '{"seq":2,"ts":"2026-02-22T17:20:01.000Z","kind":"blocker_classified","actor":"user","prev":"x",'
    with project.ledger.open("a") as file:
        file.write(forged + '"classification":"human_blocked","evidence":"let me go"}\n')
    assert "not as omo wrote it" in refused_pause(project)


# Completing


def refused_completion(project: Project) -> Refused:
    with pytest.raises(Refused) as refused:
        goal_tool.operate("complete", project.run())
    assert live(project).status == "active"
    assert "omo " in refused.value.fix
    return refused.value


def test_the_plans_goal_is_complete_with_a_fresh_final_receipt(project: Project) -> None:
    planned(project).close(*NAMES)
    project.append(steered("add_subgoal", goals=[{"id": "G004", "title": "More", "objective": "Do more"}]))
    assert refused_completion(project).details["defects"] == ["G004 is pending"], "which came later"
    project.close("G004")
    assert goal_tool.operate("complete", project.run()).changed
    assert tool_rows(project)[-1]["receipts"] == [project.receipt("G004")["receiptId"]]


def test_complete_by_word_alone_is_not_complete(project: Project) -> None:
    planned(project)
    for name in NAMES:
        row = {"kind": "goal_checkpointed", "goalId": name, "status": "complete", "evidence": "trust me"}
        project.append({"kind": "goal_started", "goalId": name}, row)
    refused = refused_completion(project)
    assert "checkpoint --goal-id G001" in refused.fix
    assert "G001 was completed without a receipt of omo" in str(refused.details["defects"])


def test_a_storys_goal_is_complete_with_that_storys_receipt(project: Project) -> None:
    planned(project, "per-story").start("G001")
    error = refused_completion(project)
    assert (error.details["defects"], "G001" in error.fix) == (["G001 is active"], True)
    project.close("G001")
    assert goal_tool.operate("complete", project.run()).changed
    project.start("G003")
    goal_tool.operate("create", project.run())
    project.close("G002", "G003")
    project.gate_file("G002").unlink()
    assert goal_tool.operate("complete", project.run()).changed
    assert project.plan().outcome is None, "G002 is not proven any more"


def test_a_story_that_others_replaced_is_dropped_not_completed(project: Project) -> None:
    planned(project, "per-story").append(steered("mark_blocked_superseded", goalId="G001"))
    assert "omo goal drop" in refused_completion(project).fix


def test_rewording_a_story_does_not_set_its_goal_free(project: Project) -> None:
    planned(project, "per-story")
    project.steer("revise_pending_wording", goal_id="G001", objective="Read all files.")
    assert "omo goal drop, then omo goal create" in refused_completion(project).fix
    goal_tool.operate("drop", project.run())
    goal_tool.operate("create", project.run())
    assert live(project).objective == "Read all files."


# Damage


def edit_a_row(directory: Path) -> None:
    path = directory / "ledger.jsonl"
    path.write_text(path.read_text().replace("with the user", "with the cat"))


def test_after_the_users_repair_the_goal_is_what_the_whole_rows_say(project: Project) -> None:
    paused(project)
    edit_a_row(project.directory)
    assert project.user("ledger", "repair", "--session", project.session).code == 0
    assert (live(project).status, project.run().problems) == ("active", [])
