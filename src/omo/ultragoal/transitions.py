"""Which way a goal may go. Whatever is not in the table is refused, with the command that leads there."""

from __future__ import annotations

from omo.errors import Refused
from omo.ultragoal.plan import Goal

# status → what is done to the goal → its new status
TRANSITIONS: dict[str, dict[str, str]] = {
    "pending": {"start": "active", "blocked": "blocked", "split": "superseded", "revise": "pending"},
    "active": {"complete": "complete", "failed": "failed", "blocked": "blocked", "review": "review_blocked"},
    "failed": {
        "retry": "active",
        "complete": "complete",
        "failed": "failed",
        "blocked": "blocked",
        "review": "review_blocked",
    },
    "blocked": {"retry": "active", "blocked": "blocked", "split": "superseded", "supersede": "superseded"},
    "review_blocked": {
        "retry": "active",
        "review": "review_blocked",
        "resolve": "superseded",
        "supersede": "superseded",
    },
    "complete": {"complete": "complete", "review": "review_blocked"},
    "superseded": {},
}

_WAYS_ON = {
    "pending": "start it first: omo ultragoal complete-goals",
    "active": "omo ultragoal checkpoint --goal-id {id} --status complete|failed|blocked --evidence TEXT",
    "failed": "omo ultragoal complete-goals --retry-failed",
    "blocked": "omo ultragoal complete-goals --retry-blocked, or replace it: omo ultragoal steer --kind "
    "mark_blocked_superseded|split_subgoal --goal-id {id} --evidence TEXT --rationale TEXT",
    "review_blocked": "close its blockers first (omo ultragoal status), or omo ultragoal steer --kind "
    "mark_blocked_superseded --goal-id {id} --evidence TEXT --rationale TEXT",
    "complete": "what is complete stays so; findings reopen it: omo ultragoal record-review-blockers --goal-id {id}",
    "superseded": "other goals took its place: omo ultragoal status",
}


_BLOCK_FIRST = "omo ultragoal checkpoint --goal-id {id} --status blocked --evidence TEXT, then the same again"
_FINISH_FIRST = (
    "{active} is under way, and one goal is worked on at a time: omo ultragoal checkpoint --goal-id {active} "
    "--status complete|failed|blocked --evidence TEXT, then start {id}: omo ultragoal complete-goals"
)


def move(goal: Goal, what: str, *, active: Goal | None = None) -> str:
    """The status that follows; Refused where the table has no such way. `active` is the goal under way, if any."""
    ways = TRANSITIONS[goal.status]
    if what in ways:
        return ways[what]
    raise Refused(
        f"goal {goal.id} is {goal.status}: {what} is not possible from there",
        fix=_way_to(goal, what, active).format(id=goal.id, active=active.id if active else ""),
    )


def _way_to(goal: Goal, what: str, active: Goal | None) -> str:
    if what in ("split", "supersede") and "blocked" in TRANSITIONS[goal.status]:
        return _BLOCK_FIRST
    if goal.status == "pending" and active is not None:
        return _FINISH_FIRST
    return _WAYS_ON[goal.status]
