"""A plan and its session: taken over from another one, cleared away, handed to another workflow. No byte is deleted."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

from omo.errors import BadInput, Refused
from omo.state import paths, store
from omo.state.runtime import OPEN_STATES
from omo.text import clip, counted
from omo.work import lifecycle
from omo.work.lifecycle import Cleared
from omo.work.run import Caller
from omo.workflows.ultragoal.next_step import publish_status
from omo.workflows.ultragoal.plan import HANDED_OFF, MARKED, TAKEN_UP, Plan
from omo.workflows.ultragoal.run import PlanRun

Row = dict[str, Any]

KIND = "ultragoal"
FORCE = "omo state clear --mode ultragoal --force"
PLANNING = "ultraplan"
CALLEES = (PLANNING, "ralph", "verify")
MISSING, HANDOFF = "missing", "handoff"
PHASES = (HANDOFF, "active")


def take_over(caller: Caller, source: str) -> None:
    """The plan and the goal of a session move with their directories: no two sessions own one. The plan's ledger says
    so. After a crash in the middle of it, what was moved already is found here."""
    theirs = PlanRun(replace(caller, session=source))
    own = PlanRun(caller)
    was_moved = own.plan is not None and own.plan.session == source and not os.path.lexists(theirs.directory)
    if not was_moved:
        theirs.require_plan()
        if own.problems:
            raise own.damage()
        if own.plan is not None and own.plan.is_open:
            raise Refused(
                f"this session has a plan of its own with {counted(len(own.plan.open_goals), 'open goal')}",
                fix=f"finish it, or clear it first: {FORCE}",
            )
        goal = own.tool.current
        if goal is not None and goal.status in ("active", "paused") and not goal.belongs_to_a_plan:
            what = f"this session has a goal of its own, which is {goal.status}"
            raise Refused(what, fix="omo goal drop ends it")
        with store.Lock(os.path.join(theirs.directory, "ledger.lock"), store.Deadline(caller.wait)):
            _move(theirs.directory, own.directory, caller)
    if os.path.lexists(theirs.tool.directory):
        _move(theirs.tool.directory, own.tool.directory, caller)
    PlanRun(caller).change_plan(lambda plan: (None, []))


def _move(source: str, target: str, caller: Caller) -> None:
    """What lies there already is kept under another name."""
    if os.path.lexists(target):
        store.keep_as(target, "archived", caller.now)
    store.make_dir(os.path.dirname(target), caller.state)
    store.move(source, target)


@dataclass(frozen=True)
class Sealed(Cleared):
    """`receipts` are those in the bytes that were kept: of which goals, so that somebody can look for them."""

    receipts: list[str]


def clear(caller: Caller, *, force: bool) -> Sealed | None:
    """Start from nothing: plan and goal are kept under other names. None where there is nothing to clear.

    This is also how damage is sealed, which is the user's to do. What was open is shown to the user where it was the
    agent who cleared.
    """
    run = PlanRun(caller)
    summary = caller.summary(KIND)
    problems = [*run.problems, *run.tool.problems]
    unfinished = _unfinished(run, summary)
    if run.plan is None and not run.tool.newest and not problems and not summary:
        return None
    is_unseen = bool(summary.get("cleared")) and summary.get("told") is False
    if caller.by != "user" and is_unseen and not unfinished:
        return None  # an earlier clear is still to be shown
    if run.problems and caller.by != "user":
        raise run.damage()
    if (problems or unfinished) and not force:
        raise Refused(
            f"the ultragoal run of session {caller.session} is not finished, or damaged",
            fix=f"omo ultragoal status says what is next; {FORCE} gives it up and keeps its files aside",
            defects=[*problems, *unfinished],
        )
    receipts = []
    for goal in run.plan.goals if run.plan is not None else []:
        if goal.receipt_id:
            receipts.append(f"{goal.id} {goal.receipt_id[:12]}")
    store.make_state_dir(caller.state)
    store.make_dir(paths.session_dir(caller.state, caller.session), caller.state)
    # The directories first: were the row first, a crash would leave a plan that no hook knows of.
    kept = []
    for directory in (run.directory, run.tool.directory):
        if os.path.lexists(directory):
            kept.append(store.keep_as(directory, "cleared", caller.now))
    what, left = "session's goal", None
    if run.id:
        what = f"ultragoal plan {run.id}"
    if run.plan is not None:
        left = len(run.plan.open_goals)
    is_open = bool(unfinished or problems)
    noted = {"receipts": receipts} if receipts else {}
    cleared = lifecycle.forget_summary(caller, KIND, what, kept, force=force, is_open=is_open, left=left, **noted)
    return Sealed(cleared.kept, cleared.open, cleared.is_shown, receipts)


def _unfinished(run: PlanRun, summary: Row) -> list[str]:
    left = []
    for goal in run.plan.open_goals if run.plan is not None else []:
        left.append(f"{goal.id} {goal.status}: {clip(goal.title, 80)}")
    tool = run.tool.newest
    if tool is not None and tool.status in ("active", "paused"):
        left.append(f"the session's goal is {tool.status}: {clip(tool.objective, 80)}")
    if run.plan is None and summary.get("state") in OPEN_STATES and not summary.get("cleared"):
        left.append(f"hooks were told of {counted(int(summary.get('open') or 0), 'goal')} open, and the plan is gone")
    return left


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

    def decide(plan: Plan) -> tuple[None, list[Row]]:
        is_so = (plan.handoff is not None) == (wanted == HANDOFF)
        return None, [] if is_so else [{"kind": event}]

    run.change_plan(decide)
    publish_status(run)
    return before, phase_of(run.plan)


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
    run.change_plan(lambda plan: (None, [{"kind": HANDED_OFF, "to": to}]))
    publish_status(run)
    return phase_of(run.plan)
