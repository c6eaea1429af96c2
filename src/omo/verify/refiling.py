"""Filing a goal again: what the agent may still change, the reason it gives, and who would wait for whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from omo.errors import BadInput, Refused
from omo.evidence.checks import digest_of_check, ids_of, parse_checks
from omo.verify.goal_checks import escalates
from omo.verify.goal_file import GoalFile
from omo.verify.goals import OVER, Goal, Goals
from omo.verify.statements import SHORTEST_REASON


def check_reason(reason: str) -> None:
    if reason and len(reason.strip()) < SHORTEST_REASON:
        raise BadInput(f"--reason {reason!r} explains nothing", fix=f"give {SHORTEST_REASON} characters or more")


def check_begun(old: Goal, spec: GoalFile, reason: str) -> None:
    """The agent may add to what a begun goal has to show, with a reason; it may take nothing away."""
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


def weakened(old: GoalFile, new: GoalFile) -> list[str]:
    """What the goal asked for and no longer would; another id for the same check is no change."""
    was, now = (parse_checks(spec.verification.checks, f"checks of {spec.id}") for spec in (old, new))
    kept = Counter(map(digest_of_check, now))
    lost = []
    for name, digest in zip(ids_of(was), map(digest_of_check, was), strict=True):
        kept[digest] -= 1
        lost += [f"check {name} is gone or changed"] if kept[digest] < 0 else []
    lost += _missing("outcome", old.verification.outcomes, new.verification.outcomes)
    lost += _missing("agent-leg outcome", old.verification.outcomes_agent_leg, new.verification.outcomes_agent_leg)
    lost += _missing("participant", old.participants, new.participants)
    lost += ["routine asks for fewer checklist items"] if new.routine and not old.routine else []
    if escalates(was) and not escalates(now):
        lost.append("its questions would no longer be asked; a check in words beside the new ones keeps them")
    return lost


def _missing(what: str, old: Sequence[str], new: Sequence[str]) -> list[str]:
    return [f"{what} {one!r} is gone or changed" for one in old if one not in new]


def predecessors(spec: GoalFile) -> list[str]:
    return list(dict.fromkeys([*spec.blocked_by, *spec.needed]))


def check_circle(goals: Goals, spec: GoalFile) -> None:
    """Goals that wait for each other would all wait for ever."""
    waits = {name: predecessors(goal.spec) for name, goal in goals.items() if goal.state not in OVER}
    waits[spec.id] = predecessors(spec)
    if circle := _way_back(spec.id, waits):
        raise Refused(
            f"these goals would wait for each other: {' → '.join(circle)}",
            fix=f"take one of them out of blocked_by or depends_on of {spec.id}",
        )


def _way_back(start: str, waits: dict[str, list[str]]) -> list[str]:
    """The names from a goal back to itself; empty if none leads there."""
    seen: set[str] = set()
    ways = [[start]]
    while ways:
        way = ways.pop()
        for name in waits.get(way[-1], []):
            if name == start:
                return [*way, name]
            if name not in seen:
                seen.add(name)
                ways.append([*way, name])
    return []
