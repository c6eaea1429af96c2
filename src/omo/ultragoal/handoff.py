"""Writing a phase and handing work on. Each is one change of the session's row: both sides of it, or neither."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from omo.clock import stamp
from omo.hooks import session
from omo.state import runtime
from omo.state.runtime import part
from omo.ultragoal import goal_guards, phases, summary
from omo.ultragoal.next_step import next_step
from omo.ultragoal.phases import HANDOFF, PLANNING, ULTRAGOAL
from omo.ultragoal.plan import Plan
from omo.ultragoal.run import Run

Row = dict[str, Any]


def write(run: Run, mode: str, wanted: str) -> tuple[str, str]:
    """Mark a workflow ready for handoff, or take the mark back: its phase before and after."""
    plan = goal_guards.readable_plan(run)
    renew = _summary(run, plan)

    def decide(row: Row | None) -> runtime.Change:
        before = phases.phase_of(mode, row, plan)
        phases.check_write(mode, before, wanted)
        if wanted == before:
            return runtime.Change((before, before))
        after = phases.marked(row, mode, _mark(run, mode, plan) if wanted == HANDOFF else _unmarked(run, mode))
        event = {"kind": "phase-written", "mode": mode, "from": before, "phase": wanted}
        return runtime.Change((before, phases.phase_of(mode, after, plan)), renew(after), [event])

    result: tuple[str, str] = _change(run, decide)
    return result


def handoff(run: Run, mode: str, to: str) -> tuple[str, str]:
    """Caller and callee in one change: the phase each is in afterwards."""
    plan = goal_guards.readable_plan(run)
    renew = _summary(run, plan)

    def decide(row: Row | None) -> runtime.Change:
        before = phases.phase_of(mode, row, plan)
        has_work = plan is not None if mode == ULTRAGOAL else before != phases.MISSING
        phases.check_handoff(mode, before, to, has_work=has_work)
        given = phases.marked(row, mode, {**_mark(run, mode, plan), "to": to})
        is_return = to == ULTRAGOAL and plan is not None
        callee = None if is_return else {"phase": PLANNING, "from": mode, "at": stamp(run.now)}
        after = phases.marked(given, to, callee)
        event = {"kind": "handed-off", "from": mode, "to": to, "phase": before}
        now = (phases.phase_of(mode, after, plan), phases.phase_of(to, after, plan))
        return runtime.Change(now, renew(after) if ULTRAGOAL in (mode, to) else after, [event])

    result: tuple[str, str] = _change(run, decide)
    return result


def _change(run: Run, decide: Callable[[Row | None], runtime.Change]) -> Any:
    return runtime.change_session(run.state, run.session, decide, actor=run.by, now=run.now, wait=run.wait)


def _mark(run: Run, mode: str, plan: Plan | None) -> Row:
    """A plan that takes this one's place later is not handed off by it."""
    own = {"run": plan.run} if mode == ULTRAGOAL and plan is not None else {}
    return {"phase": HANDOFF, "at": stamp(run.now), "by": run.by, **own}


def _unmarked(run: Run, mode: str) -> Row | None:
    """Ultragoal's phase follows from its plan again; the others go on where they were handed the work."""
    return None if mode == ULTRAGOAL else {"phase": PLANNING, "at": stamp(run.now)}


def _summary(run: Run, plan: Plan | None) -> Callable[[Row], Row]:
    """What puts ultragoal's summary in step with the marks of a row. Read before the session's lock is taken."""
    if plan is None:
        return lambda row: row
    at = summary.standing(run)

    def renew(row: Row) -> Row:
        mark = phases.handoff_mark(row, plan)
        now = replace(at, handed_off=phases.why(mark) if mark else "")
        fresh = summary.summarize(run, plan, now, next_step(now))
        kept = session.kept_state(row, part(part(row, "work"), ULTRAGOAL), fresh)
        return session.put_work(row, ULTRAGOAL, kept, limits=run.limits, now=run.now)

    return renew
