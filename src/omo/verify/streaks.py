"""How often in a row a recurring goal was achieved: one pure step, and the journal row that makes it atomic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from omo.clock import stamp

HOUR = 3600.0
DEFAULT_HOURS = 24.0


@dataclass(frozen=True)
class Streak:
    current: int = 0
    longest: int = 0
    count: int = 0
    last: float | None = None


def interval(interval_hours: float | None, remind_days: float | None) -> float:
    """In seconds."""
    hours = interval_hours or (remind_days * 24 if remind_days else DEFAULT_HOURS)
    return hours * HOUR


def achieved(before: Streak, *, every: float, now: float) -> Streak:
    """Exactly twice the interval still continues a streak; one moment more starts it anew."""
    # Milliseconds: a clock read twice does not subtract to the last bit.
    missed = before.last is not None and round(now - before.last, 3) > round(2 * every, 3)
    current = 1 if missed else before.current + 1
    return Streak(current, max(current, before.longest), before.count + 1, now)


def due_at(streak: Streak, *, every: float) -> float | None:
    """When it may be achieved again; None for a goal that never was."""
    return None if streak.last is None else streak.last + every


def is_due(streak: Streak, *, every: float, now: float) -> bool:
    due = due_at(streak, every=every)
    return due is None or round(now - due, 3) >= 0


def row(goal: str, after: Streak) -> dict[str, Any]:
    """The whole step as one row: count, streak and time change together or not at all."""
    return {
        "kind": "achieved",
        "goal": goal,
        "streak": after.current,
        "longest": after.longest,
        "count": after.count,
        "at": after.last,
    }


def of_row(event: dict[str, Any]) -> Streak:
    return Streak(event["streak"], event["longest"], event["count"], event["at"])


def view(streak: Streak, *, every: float, now: float) -> dict[str, Any]:
    due = due_at(streak, every=every)
    return {
        "current": streak.current,
        "longest": streak.longest,
        "count": streak.count,
        "lastAchievedAt": None if streak.last is None else stamp(streak.last),
        "intervalHours": every / HOUR,
        "dueAt": None if due is None else stamp(due),
        "due": is_due(streak, every=every, now=now),
    }
