"""How a goal is opened: filed with its checks pinned, filed again, begun; and how a damaged journal is sealed."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from omo.clock import stamp
from omo.errors import Refused
from omo.proof import artifacts, base, pins
from omo.proof.checks import digest_of_check, ids_of
from omo.work.lifecycle import require_reason
from omo.workflows.verify.goal_checks import checks_of, programs_of
from omo.workflows.verify.goals import OVER, Goal, Goals, GoalStore, Row, Spec, known, spent


def add(store: GoalStore, spec: Spec, *, source: str, reason: str = "") -> tuple[Goal, pins.PinReport]:
    """Pin the checks, then file the goal. One whose every check passes already could not show any work."""
    if reason:
        reason = require_reason(reason, "--reason", "say why it is filed again")
    caller = store.caller
    _check_filing(store.goals, spec, caller.by, reason)
    old = store.goals.get(spec.id)
    # What adds to a goal under way may pass by now: its checks were looked at before the work.
    adds_to_it = old is not None and old.begun and old.state not in OVER and not weakened(old.spec, spec)
    report = pins.pin(
        caller.state,
        Path(caller.root),
        checks_of(spec),
        source=source,
        goal=spec.id,
        by=caller.by,
        now=caller.now,
        wait=caller.wait,
        refuse_vacuous=not (spec.guard or adds_to_it),
    )
    artifacts.remember(caller.state, Path(caller.root), by=caller.by, now=caller.now, wait=caller.wait)
    event: Row = {"kind": "goal-added", "goal": spec.id, "source": source, "spec": spec.data}
    event["base"] = base.take(caller.root, os.environ)
    event["programs"] = programs_of(caller.root, spec)

    def decide(goals: Goals) -> tuple[None, list[Row]]:
        _check_filing(goals, spec, caller.by, reason)
        if before := goals.get(spec.id):
            event.update(reason=reason, was=before.spec.contract, contract=spec.contract)
        return None, [event]

    store.change(decide)
    return store.goal(spec.id), report


def _check_filing(goals: Goals, spec: Spec, by: str, reason: str) -> None:
    """The agent may not lower a bar once it is set, nor file itself more tries."""
    if circle := _circle(goals, spec):
        raise Refused(
            f"these goals would wait for each other: {' → '.join(circle)}",
            fix=f"take one of them out of blocked_by or depends_on of {spec.id}",
        )
    old = goals.get(spec.id)
    if old is None or by == "user":
        return
    if old.by == "user" and old.spec != spec:
        raise Refused(
            f"goal {spec.id} was filed by the user; only they can change it",
            fix=f"ask the user to run omo verify add --file for {spec.id} in a terminal of their own",
        )
    if old.state == "exhausted":
        raise spent(old)
    if old.failures and spec.max_retries > old.spec.max_retries:
        raise Refused(
            f"max_retries {spec.max_retries}: goal {spec.id} has failed {old.failures} of {old.spec.max_retries} times",
            fix="leave max_retries as it is; the user can raise it",
        )
    if not old.begun or old.spec.contract == spec.contract:
        return
    lost = [] if old.state in OVER else weakened(old.spec, spec)
    if lost:
        raise Refused(
            f"goal {spec.id} has been begun, and this would weaken it: {lost[0]}",
            fix="keep what it asks for and add to it; for anything else ask the user to file it (omo verify add)",
            defects=lost,
        )
    if not reason:
        raise Refused(
            f"goal {spec.id} has been begun, and this changes what it has to show",
            fix="say why: omo verify add --file GOAL --reason TEXT (recorded, and shown in every report of the goal)",
        )


def weakened(old: Spec, new: Spec) -> list[str]:
    """What the goal asked for and no longer would; another id for the same check is no change."""
    was, kept = checks_of(old), Counter(digest_of_check(check) for check in checks_of(new))
    lost = []
    for name, check in zip(ids_of(was), was, strict=True):
        digest = digest_of_check(check)
        kept[digest] -= 1
        if kept[digest] < 0:
            lost.append(f"check {name} is gone or changed")
    for what, before, now in (
        ("outcome", old.outcomes, new.outcomes),
        ("agent-leg outcome", old.outcomes_agent_leg, new.outcomes_agent_leg),
        ("participant", old.participants, new.participants),
    ):
        lost += [f"{what} {entry!r} is gone or changed" for entry in before if entry not in now]
    if new.routine and not old.routine:
        lost.append("routine asks for fewer checklist items")
    if old.asks_questions and not new.asks_questions:
        lost.append("its questions would no longer be asked; a check in words beside the new ones keeps them")
    return lost


def _circle(goals: Goals, spec: Spec) -> list[str]:
    """The names from a goal back to itself, if goals would wait for each other for ever; empty otherwise."""
    waits = {name: goal.spec.predecessors for name, goal in goals.items() if goal.state not in OVER}
    waits[spec.id] = spec.predecessors
    visited: set[str] = set()
    ways = [[spec.id]]
    while ways:
        way = ways.pop()
        for name in waits.get(way[-1], []):
            if name == spec.id:
                return [*way, name]
            if name not in visited:
                visited.add(name)
                ways.append([*way, name])
    return []


def begin(store: GoalStore, name: str, *, again: str = "") -> bool:
    """Mark a goal in progress. False if it already was: what is answered and still holds stays."""
    caller = store.caller

    def decide(goals: Goals) -> tuple[bool, list[Row]]:
        goal = known(goals, name)
        if goal.state == "in-progress":
            return False, []
        check_beginning(goal, by=caller.by, now=caller.now, again=again)
        event: Row = {"kind": "begun", "goal": name, "session": caller.session, "attempt": goal.failures + 1}
        if again:
            event["again"] = again
        return True, [event]

    is_new: bool = store.change(decide)
    if is_new:
        artifacts.remember(caller.state, Path(caller.root), by=caller.by, now=caller.now, wait=caller.wait)
    return is_new


def check_beginning(goal: Goal, *, by: str, now: float, again: str = "") -> None:
    if again and by != "user":
        raise Refused("--again is the user's to say", fix=f"ask the user to run omo verify begin {goal.id} --again WHY")
    if goal.blocked_by:
        raise Refused(
            f"goal {goal.id} is blocked by {', '.join(goal.blocked_by)}",
            fix=f"finish {goal.blocked_by[0]} first: omo verify status {goal.blocked_by[0]}",
        )
    if again:
        require_reason(again, "--again", "say why it is opened again")
        return
    if goal.state in OVER:
        raise Refused(
            f"goal {goal.id} is {goal.state} since {goal.completed_at}",
            fix=f"nothing is left to do; the user can reopen it: omo verify begin {goal.id} --again WHY",
        )
    if goal.state == "exhausted":
        raise spent(goal)
    if goal.spec.recurring:
        check_due(goal, now)


def check_due(goal: Goal, now: float) -> None:
    if not goal.streak.is_due(goal.spec.interval, now):
        due = goal.streak.due_at(goal.spec.interval)
        raise Refused(
            f"goal {goal.id} is not due before {stamp(due or 0)}",
            fix=f"come back then; omo verify streak {goal.id} shows where it stands",
        )


def repair(store: GoalStore) -> str | None:
    """Keep a damaged journal aside and begin an empty one: the name it is kept under, None where it was gone."""
    caller = store.caller
    if caller.by != "user":
        raise Refused(
            "what a damaged journal says of the goals cannot be trusted; only the user can seal it",
            fix="ask the user to run omo verify repair in a terminal of their own",
        )

    def decide(_: list[Row]) -> tuple[str | None, list[Row]]:
        sealed = store.journal.seal(caller.now)
        if not sealed:
            raise Refused("the goals' journal needs no repair", fix="omo verify status")
        return sealed[0]["kept"], sealed

    kept: str | None = store.journal.change(decide, actor=caller.by, now=caller.now, wait=caller.wait)
    return kept
