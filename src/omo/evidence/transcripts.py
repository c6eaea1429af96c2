"""Automation transcripts: what a driver did to the running product, when, and what it found."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, TypeGuard

from omo.clock import stamp
from omo.errors import BadInput
from omo.evidence import documents
from omo.evidence.visible import is_blank
from omo.shown import clip

Json = dict[str, Any]

# Surfaces by the family whose evidence they need; a transcript may name its surface.
FAMILIES = {
    "gui": "web",
    "web": "web",
    "native": "native",
    "desktop": "native",
    "tui": "native",
    "cli": "cli",
    "api": "api-package",
    "package": "api-package",
    "algorithm": "algorithm-math",
    "math": "algorithm-math",
}
# What an action must name, one of each; an action of any other type names what it likes.
MUST_NAME = {
    "goto": ("url",),
    "custom": ("selector", "target"),
    **dict.fromkeys(("click", "fill", "press", "assert", "screenshot", "observe"), ("selector",)),
}
MOST_ROWS = 10_000
MOST_DEFECTS = 50
HOUR = 3600
FIRST_EPOCH = 1e9  # a smaller number counts from any start
MILLISECONDS = 1e11  # an epoch in seconds does not get there; one in milliseconds is far beyond


def defects(path: Path, family: str, since: float = 0.0) -> list[str]:
    """Why the file is no transcript of a run on a surface of that family, after `since`: everything at once."""
    try:
        document = documents.load(path)
    except BadInput as error:
        return [error.message]
    if not isinstance(document, dict):
        return [f"{clip(path.name, 100)}: {_shown(document)} is not an object"]
    found = [f"{clip(path.name, 100)}: {problem}" for problem in (*_head(document, family), *_rows(document, since))]
    return found[:MOST_DEFECTS] + [f"and {len(found) - MOST_DEFECTS} more"] * (len(found) > MOST_DEFECTS)


def _head(document: Json, family: str) -> Iterator[str]:
    version, surface = document.get("schemaVersion"), document.get("surface")
    if version != 1 or isinstance(version, bool):
        yield f"schemaVersion: {_shown(version)} is not 1"
    if not _is_text(document.get("tool")):
        yield f"tool: {_shown(document.get('tool'))} names no tool; write what drove the product"
    if surface is None:
        return
    if not isinstance(surface, str) or surface not in FAMILIES:
        yield f"surface: {_shown(surface)} is none of {', '.join(FAMILIES)}"
    elif FAMILIES[surface] != family:
        yield f"surface: {surface!r} is a {FAMILIES[surface]} surface; here {family} is to be shown"


def _rows(document: Json, since: float) -> Iterator[str]:
    actions, assertions = document.get("actions"), document.get("assertions")
    if not _is_list(actions):
        yield f"actions: {_shown(actions)} is not a list of 1 to {MOST_ROWS} actions"
    if "assertions" in document and not _is_list(assertions):
        yield f"assertions: {_shown(assertions)} is not a list of 1 to {MOST_ROWS}; leave it out where there is none"
    rows = [
        *((f"actions[{at}]", row) for at, row in enumerate(actions if _is_list(actions) else [])),
        *((f"assertions[{at}]", row) for at, row in enumerate(assertions if _is_list(assertions) else [])),
    ]
    for name, row in rows:
        yield from _row(name, row)
    yield from _order(rows)
    yield from _stale(rows, since)
    if rows and not any(isinstance(row, dict) and _is_text(row.get("selector")) for _, row in rows):
        yield "actions: none names a selector, so nothing of the product was touched or looked at"


def _row(name: str, row: object) -> Iterator[str]:
    if not isinstance(row, dict):
        yield f"{name}: {_shown(row)} is not an object"
        return
    if moment(row.get("timestamp")) is None:
        yield f"{name}.timestamp: {_shown(row.get('timestamp'))} is no time; write an ISO date or a number"
    if name.startswith("assertions"):
        if row.get("status") != "passed":
            yield f"{name}.status: {_shown(row.get('status'))} is not 'passed'"
        return
    kind = row.get("type")
    if not _is_text(kind):
        yield f"{name}.type: {_shown(kind)} names no action"
        return
    wanted = MUST_NAME.get(kind, ())
    if wanted and not any(_is_text(row.get(key)) for key in wanted):
        yield f"{name}.{wanted[0]}: {kind} must say {' or '.join(wanted)}, got {_shown(row.get(wanted[0]))}"


def _order(rows: list[tuple[str, object]]) -> Iterator[str]:
    """Assertions come after actions: one list in time."""
    before: tuple[str, float] | None = None
    for name, row in rows:
        at = moment(row.get("timestamp")) if isinstance(row, dict) else None
        if at is None:
            continue
        if before and at < before[1]:
            yield f"{name}.timestamp: is earlier than that of {before[0]}; a transcript goes forward in time"
        before = (name, at)


def _stale(rows: list[tuple[str, object]], since: float) -> Iterator[str]:
    """Told of the first one: a run that began before the work it is to show does not show that work."""
    for name, row in rows:
        value = row.get("timestamp") if isinstance(row, dict) else None
        at = _at_the_latest(value)
        if at is not None and at < since:
            yield f"{name}.timestamp: {_shown(value)} is before the goal began, {stamp(since)}; run it again, now"
            return


def _at_the_latest(value: object) -> float | None:
    """The last moment a real date can mean; None for a count. A date without a zone may be of any, and to the day."""
    at = moment(value)
    if at is None or not isinstance(value, str) or _is_number(value):
        return None if at is None or at < FIRST_EPOCH else at + 1
    text = value.strip()
    is_zoned = datetime.fromisoformat(text.replace("Z", "+00:00")).tzinfo is not None
    slack = 1 if is_zoned else 12 * HOUR
    return at + slack + (24 * HOUR if len(text) <= len("2000-01-01") else 0)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def moment(value: object) -> float | None:
    """A time as a number: an ISO date, an epoch in seconds or milliseconds, or a count from any start."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return _date(str(value))
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e15:
        return None  # NaN is in no range
    return float(value) / 1000 if value >= MILLISECONDS else float(value)


def _date(text: str) -> float | None:
    try:
        found = datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
        seconds = (found if found.tzinfo else found.replace(tzinfo=timezone.utc)).timestamp()
    except (ValueError, OverflowError):
        return None
    return seconds if math.isfinite(seconds) else None


def _is_list(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list) and 0 < len(value) <= MOST_ROWS


def _is_text(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and not is_blank(value)


def _shown(value: object) -> str:
    return clip(repr(value), 60)
