"""Taking over the plan of a session that was cleared, forked or died."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from omo.clock import seconds
from omo.errors import BadInput, OmoError, Refused, Unreadable
from omo.shown import counted
from omo.state import paths, runtime, store
from omo.state.runtime import part
from omo.ultragoal import goal_tool
from omo.ultragoal.clearing import disarmed
from omo.ultragoal.plan import Plan
from omo.ultragoal.run import MENDING, Run

Row = dict[str, Any]

IDLE_FOR = 15 * 60.0


def adopt_from(run: Run, source: str | None) -> Plan:
    """Without a source, the only other session that has a plan with open goals."""
    source = _only_other(run) if source is None else source
    if not os.path.isdir(paths.ultragoal_dir(run.state, source)):
        raise BadInput(
            f"--from {source!r} is no session with a plan",
            fix=f"sessions with a plan: {', '.join(with_plans(run)) or 'none'}",
        )
    return adopt(run, source)


def _only_other(run: Run) -> str:
    found = adoptable(run)
    if len(found) == 1:
        return found[0]
    there = f"one of {', '.join(found)}" if found else "no other session of this project has a plan with open goals"
    raise BadInput("which plan is meant is not clear", fix=f"omo ultragoal adopt --from SESSION ({there})")


def adoptable(run: Run) -> list[str]:
    """Other sessions whose plan has open goals, as far as it can be read."""
    found = []
    for name in with_plans(run):
        try:
            plan = replace(run, session=name).plan()
        except OmoError:
            continue
        if plan is not None and plan.open_goals:
            found.append(name)
    return found


def with_plans(run: Run) -> list[str]:
    """Sessions of this project, other than this one, that have a plan."""
    try:
        sessions = runtime.read(run.state)["sessions"]
    except Unreadable:
        return []
    return [name for name in sessions if name != run.session and os.path.isdir(paths.ultragoal_dir(run.state, name))]


def adopt(run: Run, other: str) -> Plan:
    """The plan moves: no two sessions own one."""
    if other == run.session:
        raise Refused("this session cannot adopt its own plan", fix="omo ultragoal status")
    theirs = replace(run, session=other)
    theirs.require_plan()
    theirs.require_whole_ledger()
    _require_idle(theirs, run)
    _make_room(run)
    store.make_dir(os.path.dirname(run.directory), run.state)
    with store.Lock(os.path.join(theirs.directory, "ledger.lock"), store.Deadline(run.wait)):
        store.move(theirs.directory, run.directory)
    _forget(theirs, run)
    run.change(lambda plan: (None, []))
    _drop_goal(theirs, run.require_plan())
    return run.require_plan()


def _drop_goal(theirs: Run, plan: Plan) -> None:
    """The goal that the other session followed belongs to the plan, which is gone from there."""
    live = goal_tool.current(theirs.state, theirs.session)
    is_the_plans = live is not None and live.status in ("active", "paused") and live.run in ("", plan.run)
    if is_the_plans and not goal_tool.problems(theirs.state, theirs.session):
        goal_tool.drop(theirs)


def _make_room(run: Run) -> None:
    seen = run.look()
    if seen.damage == "gone":
        raise Refused(seen.problems[0], fix=MENDING["gone"])
    own = run.plan()
    if own is not None and own.open_goals:
        raise Refused(
            f"this session has a plan of its own with {counted(len(own.open_goals), 'open goal')}",
            fix="finish it, or clear it first: omo state clear --mode ultragoal --force",
        )
    if os.path.lexists(run.directory):
        store.keep_as(run.directory, "archived", run.now)


def _require_idle(theirs: Run, run: Run) -> None:
    """The agent may not take a plan away from a session that works on it; the user may."""
    row = runtime.session(theirs.state, theirs.session) or {}
    used = row.get("lastUsedAt")
    is_active = part(part(row, "work"), "ultragoal").get("state") == "active" and runtime.is_live(row)
    if theirs.by == "user" or not is_active or not isinstance(used, str) or _is_idle(used, theirs.now):
        return
    raise Refused(
        f"session {theirs.session} was at work on its plan at {used}",
        fix=f"the user can take it over, in a terminal of their own: omo ultragoal adopt --from {theirs.session} "
        f"--session {run.session}; or wait until it has been idle for {IDLE_FOR / 60:g} minutes",
    )


def _is_idle(used: str, now: float) -> bool:
    return now - seconds(used) >= IDLE_FOR


def _forget(theirs: Run, run: Run) -> None:
    def decide(row: Row | None) -> runtime.Change:
        if row is None:
            return runtime.Change(None)
        work = {kind: one for kind, one in part(row, "work").items() if kind != "ultragoal"}
        return runtime.Change(None, disarmed({**row, "work": work}), [{"kind": "plan-adopted", "by": run.session}])

    runtime.change_session(theirs.state, theirs.session, decide, actor=theirs.by, now=theirs.now, wait=theirs.wait)
