"""A plan and its session: cleared away, handed to another workflow. No byte is deleted."""

from __future__ import annotations

from typing import Any

from omo.errors import BadInput, Refused
from omo.text import clip
from omo.work import lifecycle
from omo.work.lifecycle import Cleared
from omo.work.run import Caller
from omo.workflows.ultragoal import goal_tool
from omo.workflows.ultragoal.next_step import publish_status
from omo.workflows.ultragoal.plan import HANDED_OFF, MARKED, TAKEN_UP, Plan
from omo.workflows.ultragoal.run import ULTRAGOAL, PlanRun, load_plan

Row = dict[str, Any]

KIND = "ultragoal"
PLANNING = "ultraplan"
CALLEES = (PLANNING, "ralph", "verify")
MISSING, HANDOFF = "missing", "handoff"
PHASES = (HANDOFF, "active")


def clear(caller: Caller, *, force: bool) -> Cleared | None:
    """The plan and the session's goal. The ledger notes which receipts are in the bytes that were kept, so that
    somebody can look for them."""
    run = load_plan(caller)
    unfinished = list(run.tool.problems)
    if run.tool.status in ("active", "paused"):
        unfinished.append(f"the session's goal is {run.tool.status}: {clip(run.tool.objective, 80)}")
    left = None
    receipts = []
    if run.plan is not None:
        left = len(run.plan.open_goals)
        for goal in run.plan.goals:
            if not goal.is_closed:
                unfinished.append(f"{goal.id} {goal.status}: {clip(goal.title, 80)}")
            if goal.receipt_id:
                receipts.append(f"{goal.id} {goal.receipt_id[:12]}")
    noted = {"receipts": receipts} if receipts else {}
    return lifecycle.clear(
        ULTRAGOAL, caller, force=force, beside=run.tool.directory, unfinished=unfinished, left=left, **noted
    )


def phase_of(plan: Plan | None) -> str:
    """What the plan alone says; the first that fits."""
    if plan is None:
        return MISSING
    if plan.handoff is not None:
        return HANDOFF
    if not plan.is_open:
        return "complete"
    statuses = {goal.status for goal in plan.open_goals}
    for phase in ("active", "pending", "failed"):
        if phase in statuses:
            return phase
    return "blocked"


def write_phase(run: PlanRun, wanted: str) -> tuple[str, str]:
    """Mark the plan ready for handoff, or take the mark back: its phase before and after.

    The other phases follow from the work itself.
    """
    if wanted not in PHASES:
        raise BadInput(f"current_phase {wanted!r} is no phase that can be written", fix=f"one of {', '.join(PHASES)}")
    before = phase_of(run.require_plan())
    event = MARKED if wanted == HANDOFF else TAKEN_UP
    if wanted == HANDOFF:
        _require_rest(run, "the same again")

    def decide(plan: Plan) -> tuple[None, list[Row]]:
        is_so = (plan.handoff is not None) == (wanted == HANDOFF)
        return None, [] if is_so else [{"kind": event}]

    run.change_plan(decide)
    publish_status(run)
    return before, phase_of(run.plan)


def _require_rest(run: PlanRun, then: str) -> None:
    """While it is handed off Stop lets go, as in a pause, and so an agent needs for it what a pause needs."""
    if run.caller.by != "user" and run.require_plan().handoff is None:
        goal_tool.why_it_may_rest(run, then)


def hand_off(run: PlanRun, to: str) -> str:
    """Give the plan's work to another workflow. Back to planning only when it is complete, or was marked ready."""
    if to not in CALLEES:
        raise BadInput(f"--to {to!r} is no workflow that ultragoal can hand off to", fix=f"one of {', '.join(CALLEES)}")
    phase = phase_of(run.require_plan())
    if to == PLANNING and phase not in (HANDOFF, "complete"):
        raise Refused(
            f"ultragoal is {phase}: back to {to} it goes only when it is {HANDOFF} or complete",
            fix='omo state ultragoal write --input \'{"current_phase":"handoff"}\'',
        )
    _require_rest(run, f"omo state ultragoal handoff --to {to}")
    run.change_plan(lambda plan: (None, [{"kind": HANDED_OFF, "to": to}]))
    publish_status(run)
    return phase_of(run.plan)
