"""Where each workflow of a session stands, and the handing of work from one to another.

Ultragoal's phase follows from its plan, the other workflows' from their summaries. What a command can write is kept in
the session's row: that a workflow is ready to hand off, and that another one was handed the work. Each write is one
change of the row: both sides of it, or neither.
"""

from __future__ import annotations

from typing import Any

from omo.clock import stamp
from omo.errors import BadInput, Refused
from omo.hooks import session
from omo.state import runtime
from omo.state.runtime import part
from omo.ultragoal import summary
from omo.ultragoal.next_step import next_step
from omo.ultragoal.plan import Plan
from omo.ultragoal.run import CREATE, PlanRun
from omo.work.publish import change_row
from omo.work.run import Caller

Row = dict[str, Any]

ULTRAGOAL = "ultragoal"
PIPELINE = ("ultraplan", ULTRAGOAL, "ralph", "verify")
HANDOFF, MISSING, PLANNING = "handoff", "missing", "planning"
PHASES = (MISSING, PLANNING, "pending", "active", "blocked", "failed", "complete", HANDOFF)
# What may be written from each phase. The others cannot be written: they follow from the work itself.
EDGES: dict[str, tuple[str, ...]] = {
    MISSING: (),
    PLANNING: (HANDOFF,),
    "pending": (HANDOFF,),
    "active": (HANDOFF,),
    "blocked": (HANDOFF,),
    "failed": (HANDOFF,),
    "complete": (HANDOFF,),
    HANDOFF: ("active",),
}
MAY_GO_BACK = (HANDOFF, "complete")
START = {
    "ultraplan": "hand it some work: omo state ultragoal handoff --to ultraplan",
    ULTRAGOAL: CREATE,
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


def derived(plan: Plan | None) -> str:
    """What the plan alone says; the first that fits."""
    if plan is None:
        return MISSING
    if not plan.open_goals:
        return "complete"
    statuses = {goal.status for goal in plan.open_goals}
    for phase in ("active", "failed", "blocked"):
        if phase in statuses:
            return phase
    return "blocked" if "review_blocked" in statuses else "pending"


def handoff_mark(row: Row | None, plan: Plan | None) -> Row | None:
    """The mark that this very plan is handed off, or ready to be. One that an earlier plan left says nothing."""
    mark = part(part(row or {}, "phases"), ULTRAGOAL)
    is_its_own = plan is not None and mark.get("run") == plan.run
    return mark if is_its_own and mark.get("phase") == HANDOFF else None


def phase_of(mode: str, row: Row | None, plan: Plan | None) -> str:
    mark = part(part(row or {}, "phases"), mode)
    if mode == ULTRAGOAL:
        if plan is None:
            return PLANNING if mark.get("phase") == PLANNING else MISSING
        return HANDOFF if handoff_mark(row, plan) else derived(plan)
    if mark.get("phase") == HANDOFF:
        return HANDOFF
    summary = part(part(row or {}, "work"), mode)
    return OF_SUMMARY.get(str(summary.get("state")), PLANNING if mark.get("phase") == PLANNING else MISSING)


def handed_off(row: Row | None, plan: Plan | None) -> str:
    """What the user is told while a plan with open goals is handed off; empty while it is not."""
    mark = handoff_mark(row, plan)
    if mark is None:
        return ""
    by = mark.get("by", "agent")
    return f"handed off to {mark['to']} by the {by}" if mark.get("to") else f"marked ready for handoff by the {by}"


def check_write(mode: str, before: str, wanted: str) -> None:
    """Without a plan ultragoal has nothing to hand off, handed to it or not."""
    ways = () if mode == ULTRAGOAL and before == PLANNING else EDGES[before]
    can = f"from {before} can be written: {', '.join(ways) or 'none'}"
    if wanted not in PHASES:
        raise BadInput(
            f"current_phase {wanted!r} is no phase; {can}", fix=f"the phases are {', '.join(PHASES)}; omo state show"
        )
    if wanted in ways or wanted == before == HANDOFF:
        return
    if not ways:
        raise Refused(f"{mode} is {before}: it has no work whose phase could be written ({can})", fix=START[mode])
    follows = "" if wanted in (HANDOFF, "active") else ", because that follows from the work"
    raise Refused(
        f"current_phase {wanted!r} cannot be written{follows}: {mode} is {before}, and {can}",
        fix=_write_command(mode, ways[0]),
    )


def check_handoff(mode: str, before: str, to: str, *, has_work: bool) -> None:
    """Forward from any phase there is work in; back only when the work is complete or was marked ready."""
    if to not in PIPELINE or to == mode:
        others = ", ".join(other for other in PIPELINE if other != mode)
        raise BadInput(f"--to {to!r} is no workflow that {mode} can hand off to", fix=f"one of {others}")
    if not has_work:
        raise Refused(f"{mode} has nothing under way in this session to hand off", fix=START[mode])
    if PIPELINE.index(to) < PIPELINE.index(mode) and before not in MAY_GO_BACK:
        raise Refused(
            f"{mode} is {before}: back to {to} it goes only when it is {' or '.join(MAY_GO_BACK)}",
            fix=_write_command(mode, HANDOFF),
        )


def _write_command(mode: str, phase: str) -> str:
    return f'omo state {mode} write --input \'{{"current_phase":"{phase}"}}\''


def marked(row: Row | None, mode: str, mark: Row | None) -> Row:
    """The session's row with one workflow's mark put or taken away."""
    marks = {name: other for name, other in part(row or {}, "phases").items() if name != mode}
    if mark:
        marks[mode] = mark
    return {**(row or {}), "phases": marks}


def write(run: PlanRun, mode: str, wanted: str) -> tuple[str, str]:
    """Mark a workflow ready for handoff, or take the mark back: its phase before and after."""
    _require_readable(run)
    plan = run.plan

    def decide(row: Row | None) -> runtime.Change:
        before = phase_of(mode, row, plan)
        check_write(mode, before, wanted)
        if wanted == before:
            return runtime.Change((before, before))
        mark: Row | None = None  # ultragoal's phase follows from its plan again
        if wanted == HANDOFF:
            mark = _mark(run.caller, mode, plan)
        elif mode != ULTRAGOAL:
            mark = {"phase": PLANNING, "at": stamp(run.caller.now)}
        after = marked(row, mode, mark)
        event = {"kind": "phase-written", "mode": mode, "from": before, "phase": wanted}
        return runtime.Change((before, phase_of(mode, after, plan)), _renewed(run, after), [event])

    result: tuple[str, str] = change_row(run.caller, run.caller.session, decide)
    return result


def hand_off(run: PlanRun, mode: str, to: str) -> tuple[str, str]:
    """Caller and callee in one change: the phase each is in afterwards."""
    _require_readable(run)
    plan = run.plan

    def decide(row: Row | None) -> runtime.Change:
        before = phase_of(mode, row, plan)
        has_work = plan is not None if mode == ULTRAGOAL else before != MISSING
        check_handoff(mode, before, to, has_work=has_work)
        given = marked(row, mode, {**_mark(run.caller, mode, plan), "to": to})
        callee: Row | None = {"phase": PLANNING, "from": mode, "at": stamp(run.caller.now)}
        if to == ULTRAGOAL and plan is not None:  # it comes back to the plan there is
            callee = None
        after = marked(given, to, callee)
        event = {"kind": "handed-off", "from": mode, "to": to, "phase": before}
        if ULTRAGOAL in (mode, to):
            after = _renewed(run, after)
        return runtime.Change((phase_of(mode, after, plan), phase_of(to, after, plan)), after, [event])

    result: tuple[str, str] = change_row(run.caller, run.caller.session, decide)
    return result


def _require_readable(run: PlanRun) -> None:
    """What only reads the plan wants it readable; and all it needs is read before the session's lock is taken."""
    if run.problems:
        raise run.damage()
    next_step(run)


def _mark(caller: Caller, mode: str, plan: Plan | None) -> Row:
    """A plan that takes this one's place later is not handed off by it."""
    mark = {"phase": HANDOFF, "at": stamp(caller.now), "by": caller.by}
    if mode == ULTRAGOAL and plan is not None:
        mark["run"] = plan.run
    return mark


def _renewed(run: PlanRun, row: Row) -> Row:
    """The row with ultragoal's summary in step with its marks."""
    if run.plan is None:
        return row
    run.handed_off = handed_off(row, run.plan)
    fresh = summary.summarize(run, run.plan, next_step(run))
    kept = session.kept_state(row, part(part(row, "work"), ULTRAGOAL), fresh)
    return session.put_work(row, ULTRAGOAL, kept, limits=run.caller.limits, now=run.caller.now)
