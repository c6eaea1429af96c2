"""A plan and its session: taken over from another one, cleared away, handed to another workflow. No byte is deleted.

Ultragoal's phase follows from its plan, the other workflows' from their summaries. What a command can write is kept in
the session's row: that a workflow is ready to hand off, and that another one was handed the work. Each write is one
change of the row: both sides of it, or neither.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

from omo.clock import stamp
from omo.errors import BadInput, Refused
from omo.state import paths, runtime, store
from omo.state.runtime import OPEN_STATES, part
from omo.text import clip, counted
from omo.work import lifecycle, session
from omo.work.lifecycle import Cleared
from omo.work.publish import change_row
from omo.work.run import Caller
from omo.workflows.ultragoal import goal_tool
from omo.workflows.ultragoal.next_step import next_step, publish_status, summarize
from omo.workflows.ultragoal.plan import Plan
from omo.workflows.ultragoal.run import CREATE, HANDOFF, PlanRun, handed_off, handoff_mark

Row = dict[str, Any]

KIND = "ultragoal"
FORCE = "omo state clear --mode ultragoal --force"
PIPELINE = ("ultraplan", KIND, "ralph", "verify")
MISSING, PLANNING = "missing", "planning"
# Only handoff, and active to take it back, can be written: the others follow from the work itself.
PHASES = (MISSING, PLANNING, "pending", "active", "blocked", "failed", "complete", HANDOFF)
START = {
    "ultraplan": "hand it some work: omo state ultragoal handoff --to ultraplan",
    KIND: CREATE,
    "ralph": "hand it some work: omo state ultragoal handoff --to ralph",
    "verify": "omo verify begin GOAL",
}
OF_SUMMARY = {
    "active": "active",
    "waiting": "blocked",
    "paused": "blocked",
    "blocked": "blocked",
    "done": "complete",
    "exhausted": "failed",
}


def adopt(caller: Caller, source: str) -> PlanRun:
    """The plan moves with its directory: no two sessions own one. Its ledger says so, then both rows."""
    if source == caller.session:
        raise Refused("this session cannot adopt its own plan", fix="omo ultragoal status")
    theirs = PlanRun(replace(caller, session=source))
    if theirs.plan is None and not theirs.problems:
        others = ", ".join(lifecycle.adoptable(KIND, caller)) or "none"
        raise BadInput(f"--from {source!r} is no session with a plan", fix=f"sessions with an open plan: {others}")
    theirs.require_plan()
    own = PlanRun(caller)
    if own.problems:
        raise own.damage()
    if own.plan is not None and own.plan.is_open:
        raise Refused(
            f"this session has a plan of its own with {counted(len(own.plan.open_goals), 'open goal')}",
            fix=f"finish it, or clear it first: {FORCE}",
        )
    if os.path.lexists(own.directory):
        store.keep_as(own.directory, "archived", caller.now)
    store.make_state_dir(caller.state)
    store.make_dir(os.path.dirname(own.directory), caller.state)
    with store.Lock(os.path.join(theirs.directory, "ledger.lock"), store.Deadline(caller.wait)):
        store.move(theirs.directory, own.directory)
    _forget(caller, source)
    run = PlanRun(caller)
    run.change_plan(lambda plan: (None, []))
    _drop_their_goal(theirs, run.id)
    if run.require_plan().is_open:
        run.notes += goal_tool.create_for_plan(run)
    publish_status(run)
    return run


def _forget(caller: Caller, source: str) -> None:
    def decide(row: Row | None) -> runtime.Change:
        if row is None:
            return runtime.Change(None)
        work = {kind: other for kind, other in part(row, "work").items() if kind != KIND}
        after = lifecycle.disarmed({**row, "work": work}, KIND)
        return runtime.Change(None, after, [{"kind": "plan-adopted", "by": caller.session}])

    change_row(caller, source, decide)


def _drop_their_goal(theirs: PlanRun, run_id: str) -> None:
    """The goal that the other session followed belongs to the plan, which is gone from there."""
    goal = theirs.tool.current
    if goal is None or goal.status not in ("active", "paused") or theirs.tool.problems:
        return
    if goal.run in ("", run_id):
        goal_tool.drop(theirs)


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
    mark = part(part(caller.session_rows.get(caller.session, {}), "phases"), KIND)
    problems = [*run.problems, *run.tool.problems]
    unfinished = _unfinished(run, summary)
    if run.plan is None and not run.tool.newest and not problems and not summary and not mark:
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
    if mark:
        event = {"kind": "phase-written", "mode": KIND, "from": mark.get("phase"), "phase": MISSING}
        change_row(
            caller,
            caller.session,
            lambda row: runtime.Change(None, _marked(row, KIND, None), [event]),
        )
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


def derived_phase(plan: Plan) -> str:
    """What the plan alone says; the first that fits."""
    if not plan.is_open:
        return "complete"
    statuses = {goal.status for goal in plan.open_goals}
    for phase in ("active", "failed", "blocked"):
        if phase in statuses:
            return phase
    return "blocked" if "review_blocked" in statuses else "pending"


def phase_of(mode: str, row: Row | None, plan: Plan | None) -> str:
    mark = part(part(row or {}, "phases"), mode)
    if mode == KIND and plan is not None:
        return HANDOFF if handoff_mark(row, plan) else derived_phase(plan)
    if mode != KIND and mark.get("phase") == HANDOFF:
        return HANDOFF
    state = part(part(row or {}, "work"), mode).get("state")
    if mode != KIND and state in OF_SUMMARY:
        return OF_SUMMARY[str(state)]
    return PLANNING if mark.get("phase") == PLANNING else MISSING


def write_phase(run: PlanRun, mode: str, wanted: str) -> tuple[str, str]:
    """Mark a workflow ready for handoff, or take the mark back: its phase before and after."""
    _require_readable(run)
    plan = run.plan

    def decide(row: Row | None) -> runtime.Change:
        before = phase_of(mode, row, plan)
        _check_write(mode, before, wanted)
        if wanted == before:
            return runtime.Change((before, before))
        mark: Row | None = None  # ultragoal's phase follows from its plan again
        if wanted == HANDOFF:
            mark = _mark(run.caller, mode, plan)
        elif mode != KIND:
            mark = {"phase": PLANNING, "at": stamp(run.caller.now)}
        after = _marked(row, mode, mark)
        event = {"kind": "phase-written", "mode": mode, "from": before, "phase": wanted}
        return runtime.Change((before, phase_of(mode, after, plan)), _renewed(run, after), [event])

    result: tuple[str, str] = change_row(run.caller, run.caller.session, decide)
    return result


def _check_write(mode: str, before: str, wanted: str) -> None:
    way = HANDOFF
    if before == HANDOFF:
        way = "active"
    elif before == MISSING or (mode == KIND and before == PLANNING):
        way = ""  # nothing there to hand off
    can = f"from {before} can be written: {way or 'none'}"
    if wanted not in PHASES:
        phases = ", ".join(PHASES)
        raise BadInput(f"current_phase {wanted!r} is no phase; {can}", fix=f"the phases are {phases}; omo state show")
    if wanted == way or wanted == before == HANDOFF:
        return
    if not way:
        raise Refused(f"{mode} is {before}: it has no work whose phase could be written ({can})", fix=START[mode])
    follows = "" if wanted in (HANDOFF, "active") else ", because that follows from the work"
    raise Refused(
        f"current_phase {wanted!r} cannot be written{follows}: {mode} is {before}, and {can}",
        fix=_write_command(mode, way),
    )


def hand_off(run: PlanRun, mode: str, to: str) -> tuple[str, str]:
    """Caller and callee in one change: the phase each is in afterwards.

    Forward from any phase there is work in; back only when the work is complete or was marked ready.
    """
    _require_readable(run)
    plan = run.plan
    if to not in PIPELINE or to == mode:
        others = ", ".join(other for other in PIPELINE if other != mode)
        raise BadInput(f"--to {to!r} is no workflow that {mode} can hand off to", fix=f"one of {others}")

    def decide(row: Row | None) -> runtime.Change:
        before = phase_of(mode, row, plan)
        has_work = plan is not None if mode == KIND else before != MISSING
        if not has_work:
            raise Refused(f"{mode} has nothing under way in this session to hand off", fix=START[mode])
        if PIPELINE.index(to) < PIPELINE.index(mode) and before not in (HANDOFF, "complete"):
            raise Refused(
                f"{mode} is {before}: back to {to} it goes only when it is {HANDOFF} or complete",
                fix=_write_command(mode, HANDOFF),
            )
        given = _marked(row, mode, {**_mark(run.caller, mode, plan), "to": to})
        callee: Row | None = {"phase": PLANNING, "from": mode, "at": stamp(run.caller.now)}
        if to == KIND and plan is not None:  # it comes back to the plan there is
            callee = None
        after = _marked(given, to, callee)
        event = {"kind": "handed-off", "from": mode, "to": to, "phase": before}
        if KIND in (mode, to):
            after = _renewed(run, after)
        return runtime.Change((phase_of(mode, after, plan), phase_of(to, after, plan)), after, [event])

    result: tuple[str, str] = change_row(run.caller, run.caller.session, decide)
    return result


def _write_command(mode: str, phase: str) -> str:
    return f'omo state {mode} write --input \'{{"current_phase":"{phase}"}}\''


def _marked(row: Row | None, mode: str, mark: Row | None) -> Row:
    """The session's row with one workflow's mark put or taken away."""
    marks = {name: other for name, other in part(row or {}, "phases").items() if name != mode}
    if mark:
        marks[mode] = mark
    return {**(row or {}), "phases": marks}


def _require_readable(run: PlanRun) -> None:
    """What only reads the plan wants it readable; and all it needs is read before the session's lock is taken."""
    if run.problems:
        raise run.damage()
    next_step(run)


def _mark(caller: Caller, mode: str, plan: Plan | None) -> Row:
    """A plan that takes this one's place later is not handed off by it."""
    mark = {"phase": HANDOFF, "at": stamp(caller.now), "by": caller.by}
    if mode == KIND and plan is not None:
        mark["run"] = plan.run
    return mark


def _renewed(run: PlanRun, row: Row) -> Row:
    """The row with ultragoal's summary in step with its marks."""
    if run.plan is None:
        return row
    run.handed_off = handed_off(row, run.plan)
    fresh = summarize(run, run.plan, next_step(run))
    kept = session.kept_state(row, part(part(row, "work"), KIND), fresh)
    return session.put_work(row, KIND, kept, limits=run.caller.limits, now=run.caller.now)
