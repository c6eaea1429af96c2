"""Handing out goals: which is next, and everything somebody needs to do it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omo.ultragoal.plan import Goal, Plan
from omo.ultragoal.run import Run
from omo.ultragoal.transitions import move

Row = dict[str, Any]


@dataclass(frozen=True)
class Handout:
    """`goal` is None where nothing can be handed out; `started` says whether this call began it."""

    plan: Plan
    goal: Goal | None
    started: bool


def hand_out(run: Run, *, retry_failed: bool = False, retry_blocked: bool = False) -> Handout:
    """The goal under way, else the next pending one, else what the caller asks to be tried again."""

    def decide(plan: Plan) -> tuple[bool, list[Row]]:
        if plan.active is not None:
            return False, []
        events = start(plan, retry_failed=retry_failed, retry_blocked=retry_blocked)
        if events:
            require_evidence(run)
        return bool(events), events

    started: bool = run.change(decide)
    if started:
        remember(run)
    plan = run.require_plan()
    return Handout(plan, plan.active, started)


def start(plan: Plan, *, retry_failed: bool = False, retry_blocked: bool = False) -> list[Row]:
    """The row that starts the next goal; none where nothing can be started."""
    ways = [("start", plan.first("pending"))]
    ways += [("retry", plan.first("failed"))] if retry_failed else []
    ways += [("retry", next(iter(plan.stuck), None))] if retry_blocked else []
    what, goal = next(((what, goal) for what, goal in ways if goal), ("", None))
    if goal is None:
        return []
    move(goal, what)
    return [{"kind": "goal_started", "goalId": goal.id}]


def require_evidence(run: Run) -> None:
    """Refused, with its own remedy, where the ledger of evidence is damaged: no goal could begin and no gate pass."""
    from omo.evidence import artifacts

    artifacts.list_artifacts(run.state)


def remember(run: Run) -> None:
    """What lies in the tree when a goal begins cannot become evidence for it by a touch."""
    from omo.evidence import artifacts  # pydantic is behind it, which a status does not need

    artifacts.remember(run.state, Path(run.root), by=run.by, now=run.now, wait=run.wait)


def behind(plan: Plan, goal: Goal) -> list[str]:
    """What is known of the goal before it is worked on: why it came to be, and what went wrong before."""
    found = []
    steering = goal.steering or {}
    if goal.blocks:
        found.append(f"it resolves the review of {goal.blocks}: {plan.goal(goal.blocks).evidence}")
    if steering.get("sourceGoalId"):
        found.append(f"it is a part of {steering['sourceGoalId']}")
    if goal.evidence:
        found.append(f"last time: {goal.evidence}")
    return found
