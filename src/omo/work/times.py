"""Times and durations as a person reads them: where they are. What is kept, and what machines read, is UTC."""

from __future__ import annotations

import time

from omo.clock import seconds
from omo.text import clip


def number(stamp: str) -> float | None:
    try:
        return seconds(stamp)
    except (ValueError, AttributeError, OverflowError):
        return None


def clock(stamp: str) -> str:
    return _local(stamp, "%H:%M:%S") or clip(stamp, 20) or "–"


def hour(stamp: str) -> str:
    return _local(stamp, "%H:%M") or "–"


def moment(stamp: str) -> str:
    """With its zone: a report may be read elsewhere."""
    return _local(stamp, "%Y-%m-%d %H:%M:%S %Z") or clip(stamp, 30) or "–"


def _local(stamp: str, form: str) -> str:
    """Empty where the text is no time."""
    since_1970 = number(stamp)
    if since_1970 is None:
        return ""
    return time.strftime(form, time.localtime(since_1970))


def between(began: str, ended: str) -> str:
    """How long, in the two largest units; empty where one of them is not known."""
    first, last = number(began), number(ended)
    if first is None or last is None:
        return ""
    return short(last - first)


def ago(span: float) -> str:
    """An age that does not change with every second; empty where nobody knows."""
    if span == float("inf"):
        return ""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if span >= size:
            return f"{span // size:.0f} {unit} ago"
    return "just now"


def short(span: float) -> str:
    whole = max(0, round(span))
    if 0 < span < 10:
        return f"{span:.2g} s"
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60:02} min"
    return f"{whole // 86400} d {whole % 86400 // 3600:02} h"
