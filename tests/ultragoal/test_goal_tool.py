"""The goal tool: every pair of status and operation, and what a plan adds to them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from omo.errors import Refused
from omo.workflows.ultragoal import create, goal_tool
from omo.workflows.ultragoal.brief import parse
from omo.workflows.ultragoal.plan import POINTER
from omo.workflows.ultragoal.run import PlanRun, begin
from omo.workflows.ultragoal.session_goal import LEADS_TO, MOVES, ToolGoal
from tests.ultragoal.project import THREE, WHY, Project

OPERATIONS: dict[str, Callable[[PlanRun], tuple[ToolGoal, bool]]] = {
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
    goal, is_changed = OPERATIONS[operation](project.run())
    assert goal.status == expected
    assert is_changed is (status != expected)
    assert [row["kind"] for row in tool_rows(project)[len(rows) :]] == ([MOVES[operation][0]] if is_changed else [])


def test_a_plan_of_before_its_ledger_had_the_goal_asks_for_one(project: Project) -> None:
    run = begin(project.caller())
    run.append(create.plan_row(run, parse(THREE), "aggregate"), {"kind": "goal_resumed", "goal": "t1"})
    assert project.tool() is None
    project.start("G001")
    assert project.step().command == "omo goal create"
    goal_tool.operate("create", project.run())
    assert live(project).objective == POINTER


# A goal and the plan of its session


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


# Completing


def refused_completion(project: Project) -> Refused:
    with pytest.raises(Refused) as refused:
        goal_tool.operate("complete", project.run())
    assert live(project).status == "active"
    assert "omo " in refused.value.fix
    return refused.value


def test_a_story_that_others_replaced_is_dropped_not_completed(project: Project) -> None:
    row = {"kind": "steering_accepted", "mutation": "mark_blocked_superseded", "goalId": "G001", **WHY}
    planned(project, "per-story").append(row)
    assert "omo goal drop" in refused_completion(project).fix


def test_rewording_a_story_does_not_set_its_goal_free(project: Project) -> None:
    planned(project, "per-story")
    project.steer("revise_pending_wording", goal_id="G001", objective="Read all.")
    fix = refused_completion(project).fix
    assert fix.index("omo goal drop") < fix.index("omo goal create")
    goal_tool.operate("drop", project.run())
    goal_tool.operate("create", project.run())
    assert live(project).objective == "Read all."
