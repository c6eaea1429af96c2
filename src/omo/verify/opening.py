"""How a goal is opened: filed with its checks pinned, and begun; and how a damaged journal of goals is sealed."""

from __future__ import annotations

import os
from pathlib import Path

from omo.clock import stamp
from omo.errors import BadInput, Refused
from omo.evidence import artifacts, base, pins
from omo.verify import refiling, streaks
from omo.verify.goal_checks import checks_of, programs_of
from omo.verify.goal_file import GoalFile
from omo.verify.goals import OVER, Goal, Goals, Place, Row, known
from omo.verify.statements import SHORTEST_REASON


def add(place: Place, spec: GoalFile, *, source: str, reason: str = "") -> tuple[Goal, pins.PinReport]:
    """Pin the checks, then file the goal. One whose every check passes already could not show any work."""
    refiling.check_reason(reason)
    goals = place.goals()
    _check_filing(goals, spec, place.by, reason)
    report = pins.pin(
        place.state,
        Path(place.root),
        checks_of(Goal(spec, place.by)),
        source=source,
        goal=spec.id,
        by=place.by,
        now=place.now,
        wait=place.wait,
        refuse_vacuous=not (spec.guard or _is_more(goals.get(spec.id), spec)),
    )
    artifacts.remember(place.state, Path(place.root), by=place.by, now=place.now, wait=place.wait)
    return _file(place, spec, source=source, reason=reason.strip()), report


def _is_more(old: Goal | None, spec: GoalFile) -> bool:
    """Adds to a goal under way: its checks may pass by now, they were looked at before the work."""
    return old is not None and old.begun and old.state not in OVER and not refiling.weakened(old.spec, spec)


def _check_filing(goals: Goals, spec: GoalFile, by: str, reason: str) -> None:
    """The agent may not lower a bar once it is set, nor file itself more tries."""
    refiling.check_circle(goals, spec)
    old = goals.get(spec.id)
    if old is None or by == "user":
        return
    if old.by == "user" and old.spec != spec:
        raise Refused(
            f"goal {spec.id} was filed by the user; only they can change it",
            fix=f"ask the user to run omo verify add --file for {spec.id} in a terminal of their own",
        )
    if old.state == "exhausted":
        raise _spent(old)
    if old.failures and spec.max_retries > old.spec.max_retries:
        raise Refused(
            f"max_retries {spec.max_retries}: goal {spec.id} has failed {old.failures} of {old.spec.max_retries} times",
            fix="leave max_retries as it is; the user can raise it",
        )
    refiling.check_begun(old, spec, reason)


def _file(place: Place, spec: GoalFile, *, source: str, reason: str) -> Goal:
    began = {
        "base": base.take(place.root, os.environ),
        "programs": programs_of(place, checks_of(Goal(spec, place.by))),
    }

    def decide(goals: Goals) -> tuple[None, list[Row]]:
        _check_filing(goals, spec, place.by, reason)
        event = {"kind": "goal-added", "goal": spec.id, "source": source, "spec": spec.model_dump(), **began}
        if old := goals.get(spec.id):
            event |= {"reason": reason, "was": old.spec.contract, "contract": spec.contract}
        return None, [event]

    place.change(decide)
    return place.goal(spec.id)


def begin(place: Place, name: str, *, session: str, again: str = "") -> bool:
    """Mark a goal in progress. False if it already was: what is answered and still holds stays."""

    def decide(goals: Goals) -> tuple[bool, list[Row]]:
        goal = known(goals, name)
        if goal.state == "in-progress":
            return False, []
        check_beginning(goal, by=place.by, now=place.now, again=again)
        event = {"kind": "begun", "goal": name, "session": session, "attempt": goal.failures + 1}
        return True, [{**event, "again": again} if again else event]

    fresh: bool = place.change(decide)
    return fresh


def check_beginning(goal: Goal, *, by: str, now: float, again: str) -> None:
    if again and by != "user":
        raise Refused("--again is the user's to say", fix=f"ask the user to run omo verify begin {goal.id} --again WHY")
    if again and len(again.strip()) < SHORTEST_REASON:
        raise BadInput(f"--again {again!r} explains nothing", fix="give a reason of 10 characters or more")
    if goal.blocked_by:
        raise Refused(
            f"goal {goal.id} is blocked by {', '.join(goal.blocked_by)}",
            fix=f"finish {goal.blocked_by[0]} first: omo verify status {goal.blocked_by[0]}",
        )
    if goal.state in OVER and not again:
        raise Refused(
            f"goal {goal.id} is {goal.state} since {goal.completed_at}",
            fix=f"nothing is left to do; the user can reopen it: omo verify begin {goal.id} --again WHY",
        )
    if goal.state == "exhausted" and not again:
        raise _spent(goal)
    if goal.spec.recurring and not again:
        check_due(goal, now)


def check_due(goal: Goal, now: float) -> None:
    if not streaks.is_due(goal.streak, every=goal.spec.every, now=now):
        due = streaks.due_at(goal.streak, every=goal.spec.every)
        raise Refused(
            f"goal {goal.id} is not due before {stamp(due or 0)}",
            fix=f"come back then; omo verify streak {goal.id} shows where it stands",
        )


def _spent(goal: Goal) -> Refused:
    return Refused(
        f"goal {goal.id} failed verification {goal.failures} of {goal.spec.max_retries} times, last: {goal.reason}",
        fix=f"only the user can open it again: omo verify begin {goal.id} --again WHY",
    )


def repair(place: Place) -> str | None:
    """Keep a damaged journal aside and begin an empty one: the name it is kept under, None where it was gone."""
    if place.by != "user":
        raise Refused(
            "what a damaged journal says of the goals cannot be trusted; only the user can seal it",
            fix="ask the user to run omo verify repair in a terminal of their own",
        )

    def decide(rows: list[Row]) -> tuple[str | None, list[Row]]:
        sealed = place.journal.seal(place.now)
        if not sealed:
            raise Refused("the goals' journal needs no repair", fix="omo verify status")
        return sealed[0]["kept"], sealed

    kept: str | None = place.journal.change(decide, actor=place.by, now=place.now, wait=place.wait)
    return kept
