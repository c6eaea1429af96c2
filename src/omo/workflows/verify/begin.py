"""How a goal is opened: filed with its checks pinned, filed again, begun; and how a damaged journal is sealed."""

from __future__ import annotations

import os
from dataclasses import asdict, replace
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from omo.clock import stamp
from omo.errors import Refused
from omo.proof import artifacts, base, pins
from omo.proof.checks import Check as AnyCheck
from omo.proof.checks import CommandCheck, MetricCheck, parse_checks
from omo.work import proving, requests
from omo.work.gates import fold
from omo.work.lifecycle import require_reason
from omo.work.run import Caller
from omo.workflows.verify.goals import OVER, Goal, Goals, GoalStore, Row, Spec, closed, known

if TYPE_CHECKING:
    from omo.state.rows import Base


def checks_of(spec: Spec) -> list[AnyCheck | str]:
    return parse_checks(spec.checks, f"checks of {spec.id}")


def commands_of(spec: Spec) -> list[CommandCheck | MetricCheck]:
    return [check for check in checks_of(spec) if isinstance(check, (CommandCheck, MetricCheck))]


def add(store: GoalStore, spec: Spec, *, source: str, digest: str = "") -> tuple[Goal, pins.PinReport | None]:
    """Pin the checks, then file the goal. One whose every check passes already could not show any work.

    A file that the user typed behind `/omo:verify`, as its `digest` tells, is theirs. The report is None where exactly
    this goal is filed already.
    """
    caller, old = store.caller, store.goals.get(spec.id)
    typed = requests.typed(caller.events, "verify", stamp(old.filed_at) if old else "")
    is_confirmed = (old is None or old.spec != spec) and requests.is_named(typed, digest)
    by = "user" if is_confirmed else caller.by
    if not _check_filing(store.goals, spec, by):
        return store.goal(spec.id), None
    is_under_way = old is not None and old.begun and old.state not in OVER  # its checks were seen before the work
    asked_on = _files_when_asked(caller, source)
    is_worked_on = asked_on is not None and bool(base.look(caller.root, asked_on).changed)
    report = pins.pin(
        replace(caller, by=by),
        checks_of(spec),
        source=source,
        goal=spec.id,
        refuse_vacuous=not (spec.guard or is_under_way or is_worked_on),
    )
    artifacts.remember(caller)
    event: Row = {"kind": "goal-added", "goal": spec.id, "source": source, "spec": asdict(spec)}
    event["base"] = asked_on or base.take(caller.root, os.environ, caller.state)
    event["programs"] = proving.programs_of(caller.root, commands_of(spec))
    if is_confirmed:
        event["confirmed"] = True
        if old is not None and is_under_way:  # they ask for something else, and what was done for it stays work
            event |= {"base": old.base, "programs": {**event["programs"], **old.programs}}

    def decide(goals: Goals) -> tuple[None, list[Row]]:
        return None, [event] if _check_filing(goals, spec, by) else []

    store.change_whole(decide)
    return store.goal(spec.id), report


def _files_when_asked(caller: Caller, source: str) -> Base | None:
    """Those of the user's request, and the goal's own file as it is ("its test weakened between the request and the
    goal"). What changed since then is work, and its checks may pass already ("honest: the work before its goal")."""
    left = fold(caller.events, None).left
    if not left or caller.by == "user":
        return None
    if left not in [row.get("base") for row in requests.typed(caller.events, "verify")]:
        return None
    now = base.take(caller.root, os.environ, caller.state)["files"]
    return {**left, "files": {**left["files"], **{path: now[path] for path in now if path == source}}}


def _check_filing(goals: Goals, spec: Spec, by: str) -> bool:
    """Whether there is anything to file. Once a goal is begun, or the user's, its bar is the user's to move."""
    waits = {name: goal.spec.predecessors for name, goal in goals.items() if goal.state not in OVER}
    waits.pop(spec.id, None)
    try:
        TopologicalSorter({spec.id: spec.predecessors} | waits).prepare()
    except CycleError as error:
        raise Refused(
            f"these goals would wait for each other: {' → '.join(reversed(error.args[1]))}",
            fix=f"take one of them out of blocked_by or depends_on of {spec.id}",
        ) from None
    old = goals.get(spec.id)
    if old is None or by == "user" or (old.by != "user" and not old.begun):
        return True
    if old.spec == spec:
        return False
    why = "was filed by the user" if old.by == "user" else "has been begun"
    raise Refused(
        f"goal {spec.id} {why}; only the user can change it now",
        fix="file what is missing under another id; or the user types /omo:verify FILE, and then the same again",
    )


def begin(store: GoalStore, name: str, *, again: str = "") -> bool:
    """Mark a goal in progress. False if it already was: what is answered and still holds stays."""
    caller = store.caller

    def decide(goals: Goals) -> tuple[bool, list[Row]]:
        goal = known(goals, name)
        if goal.state == "in-progress" and not again:
            return False, []
        _check_beginning(goal, by=caller.by, now=caller.now, again=again)
        event: Row = {"kind": "begun", "goal": name, "session": caller.session, "attempt": goal.failures + 1}
        if again:
            event["again"] = again
        return True, [event]

    is_new = store.change_whole(decide)
    if is_new:
        artifacts.remember(caller)
    return is_new


def _check_beginning(goal: Goal, *, by: str, now: float, again: str) -> None:
    if again and by != "user":
        raise Refused("--again is the user's to say", fix=f"ask the user to run omo verify begin {goal.id} --again WHY")
    if goal.blocked_by:
        raise Refused(
            f"goal {goal.id} is blocked by {', '.join(goal.blocked_by)}",
            fix=f"finish {goal.blocked_by[0]} first: omo verify status {goal.blocked_by[0]}",
        )
    if again:
        require_reason(again, "--again", "say why it is opened again")
        if goal.state == "in-progress":
            raise Refused(f"goal {goal.id} is in progress: it is open", fix=f"omo verify begin {goal.id}")
        return
    if goal.state in (*OVER, "exhausted"):
        raise closed(goal)
    if goal.spec.recurring and not goal.streak.is_due(goal.spec.interval, now):
        raise Refused(
            f"goal {goal.id} is not due before {stamp(goal.streak.due_at(goal.spec.interval) or 0)}",
            fix=f"come back then; omo verify status {goal.id} shows where it stands",
        )
