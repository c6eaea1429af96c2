"""Times and durations as a person reads them."""

from __future__ import annotations

from omo.clock import seconds
from omo.text import clip


def number(stamp: str) -> float | None:
    try:
        return seconds(stamp)
    except (ValueError, AttributeError, OverflowError):
        return None


def day(stamp: str) -> str:
    return stamp[:10] if number(stamp) is not None else "time unknown"


def clock(stamp: str) -> str:
    return stamp[11:19] if number(stamp) is not None else clip(stamp, 20) or "–"


def moment(stamp: str) -> str:
    if number(stamp) is None:
        return clip(stamp, 30) or "–"
    return f"{stamp[:10]} {stamp[11:19]} UTC"


def between(began: str, ended: str) -> str:
    """How long, in the two largest units; empty where one of them is not known."""
    first, last = number(began), number(ended)
    if first is None or last is None:
        return ""
    return short(last - first)


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
