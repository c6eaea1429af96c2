"""Times and durations as a person reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omo.clock import seconds
from omo.shown import clip

if TYPE_CHECKING:
    from omo.report.document.whole import Report

MOST_BARS = 100
STEPS = 20  # widths a bar can have


@dataclass(frozen=True)
class Duration:
    """`share` is a twentieth of the longest one; None where it has not ended, or nobody can tell."""

    name: str
    title: str
    text: str
    share: int | None = None


def day(at: str) -> str:
    return at[:10] if number(at) is not None else "time unknown"


def clock(at: str) -> str:
    return at[11:19] if number(at) is not None else clip(at, 20) or "–"


def moment(at: str) -> str:
    return f"{at[:10]} {at[11:19]} UTC" if number(at) is not None else clip(at, 30) or "–"


def number(at: str) -> float | None:
    try:
        return seconds(at)
    except (ValueError, AttributeError, OverflowError):
        return None


def between(began: str, ended: str) -> str:
    """How long, in the two largest units; empty where one of them is not known."""
    first, last = number(began), number(ended)
    return short(last - first) if first is not None and last is not None else ""


def short(span: float) -> str:
    whole = max(0, round(span))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60:02} min"
    return f"{whole // 86400} d {whole % 86400 // 3600:02} h"


def since(began: str, at: float) -> str:
    """`+1:02:33`, from the first event."""
    first = number(began)
    if first is None or at <= 0:
        return ""
    whole = max(0, int(at - first))
    return f"+{whole // 3600}:{whole % 3600 // 60:02}:{whole % 60:02}"


def durations(report: Report) -> list[Duration]:
    """What took how long: each run, and each item that says when it began."""
    found: list[tuple[str, str, str, float | None]] = []
    for part in report.parts:
        whole = part.proof.whole
        found += _one(part.view.run or part.view.kind, "the whole run", whole.began, whole.ended)
        for item in part.view.items:
            dossier = part.proof.dossier(item.id)
            if item.counts or dossier.ended:
                found += _one(item.id, item.title, dossier.began, dossier.ended)
    longest = max((span for *_, span in found if span), default=0.0)
    return [
        Duration(name, title, text, None if span is None else max(1, round(STEPS * span / (longest or 1))))
        for name, title, text, span in found[:MOST_BARS]
    ]


def _one(name: str, title: str, began: str, ended: str) -> list[tuple[str, str, str, float | None]]:
    first, last = number(began), number(ended)
    if first is None:
        return []
    if last is None:
        return [(name, title, f"since {moment(began)}, not ended", None)]
    return [(name, title, short(last - first), max(0.0, last - first))]
