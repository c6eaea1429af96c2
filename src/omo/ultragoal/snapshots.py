"""The goal tool's goal, held against the plan: a checkpoint counts only while it is the plan's, and active."""

from __future__ import annotations

from typing import Any

from omo.errors import BadInput, Refused
from omo.ultragoal import goal_tool
from omo.ultragoal.next_step import Standing, tool_step
from omo.ultragoal.plan import Goal, Plan
from omo.ultragoal.run import Run

Row = dict[str, Any]


def check(run: Run, plan: Plan, goal: Goal, passed: object, *, status: str) -> Row:
    """The live goal as it stands. One that was passed in has to say the same; it never replaces the live one."""
    live = goal_tool.current(run.state, run.session)
    if status == "complete":
        at = Standing(plan, run.directory, live.status if live else "", live.objective if live else "")
        if step := tool_step(at, goal):
            raise Refused(f"{goal.id} cannot be completed: {step.why}", fix=step.command)
    shown = live.render() if live else {}
    if passed is not None:
        _compare(_goal_in(passed), shown)
    return shown


def _goal_in(passed: object) -> Row:
    """`omo goal get --json` as it was printed, the goal alone, or a whole tool result."""
    for keys in ((), ("goal",), ("details", "goal")):
        found = passed
        for key in keys:
            found = found.get(key) if isinstance(found, dict) else None
        if isinstance(found, dict) and "objective" in found:
            return found
    raise BadInput(
        "--goal-json holds no goal", fix="omo goal get --json > FILE, then --goal-json FILE; or leave it out"
    )


def _compare(passed: Row, live: Row) -> None:
    differing = [
        f"{key}: {passed[key]!r} was passed, the goal says {live.get(key)!r}"
        for key in ("id", "objective", "status")
        if key in passed and passed[key] != live.get(key)
    ]
    if differing:
        raise Refused(
            "--goal-json does not show the session's goal as it is",
            fix="take a fresh one: omo goal get --json; or leave --goal-json out",
            defects=differing,
        )
