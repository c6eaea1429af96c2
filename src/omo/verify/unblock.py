"""What a goal hands to those that wait for it: one factual line, and their freedom."""

from __future__ import annotations

from omo.errors import BadInput, Refused
from omo.shown import clip
from omo.verify import claims
from omo.verify.goals import Goal, Goals, Place, Row, dependents, known
from omo.verify.statements import hedges

_LONGEST_SUMMARY = 200
_SHORTEST_SUMMARY = 10


def check_summary(text: str) -> str:
    """One factual line: it is what the dependents get to see."""
    line = text.strip()
    defects = [] if "\n" not in line and "\r" not in line else ["it has more than one line"]
    if not _SHORTEST_SUMMARY <= len(line) <= _LONGEST_SUMMARY:
        defects.append(f"it has {len(line)} characters, not {_SHORTEST_SUMMARY} to {_LONGEST_SUMMARY}")
    defects += hedges(line)
    if defects:
        raise BadInput(
            f"--summary {clip(line, 60)!r} is not one factual line",
            fix="say in one line what was produced, found or changed, as you saw it",
            defects=[f"--summary: {one}" for one in defects],
        )
    return line


def check_claims(place: Place, goal: Goal, line: str) -> None:
    """What is handed on was looked at; what the user says is theirs to say."""
    if place.by == "user":
        return
    if still_open := claims.unsettled(place.state, place.root, line, goal=goal.id, since=goal.begun_at):
        raise claims.refused(f"--summary of goal {goal.id}", goal.id, line, still_open)


def freed_by(goals: Goals, name: str) -> list[str]:
    """Those that waited for this goal alone."""
    waiting = [one for one in dependents(goals, name) if one.blocked_by == [name] and one.state == "pending"]
    return [one.id for one in waiting]


def unblock(place: Place, name: str, *, summary: str) -> list[str]:
    """Hand a goal's output to its dependents. It must have passed: a recurring one at least once."""
    place.require_whole_journal()
    line = check_summary(summary)

    def record(goals: Goals) -> tuple[list[str], list[Row]]:
        goal = known(goals, name)
        if goal.receipt is None and goal.streak.last is None:
            raise Refused(
                f"goal {name} has not passed verification, so it frees nobody", fix=f"omo verify begin {name}"
            )
        check_claims(place, goal, line)
        freed = freed_by(goals, name)
        return freed, [{"kind": "unblocked", "goal": name, "summary": line, "freed": freed}]

    freed: list[str] = place.change(record)
    return freed
