"""The report as one HTML page that needs nothing else: no network, no script, every value escaped."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Undefined
from markupsafe import Markup

from omo import __version__
from omo.shown import block, clip
from omo.views.report.gather import MOST_ITEMS, Report
from omo.views.report.timeline import Event
from omo.views.vocabulary import MARKS, TITLES, VERDICTS
from omo.work import times
from omo.work.status import units

HERE = Path(__file__).resolve().parent
MARKER = "<!doctype html>\n<!-- made by omo report -->\n"
LONGEST_VALUE = 200_000
MOST_BARS = 100
STEPS = 20  # widths a bar can have
# What happened, beside how an item stands: a sign that also prints without colour, and one of five tones.
EVENTS = {
    "block": ("↩", "info"),
    "allow": ("→", "plain"),
    "gate": ("◆", "plain"),
    "judge": ("§", "info"),
    "regression": ("↓", "bad"),
    "steer": ("✎", "info"),
    "agent": ("•", "plain"),
    "": ("·", "plain"),
}
SIGNS = {**EVENTS, **{mark: (sign.letter, sign.tone) for mark, sign in MARKS.items()}}
SOURCES = {"session": "session", "goal": "goal tool", "ultraplan": "plan", "ultragoal": "goals"}


def render(report: Report) -> str:
    css = (HERE / "page.css").read_text(encoding="utf-8")
    template = _environment().get_template("page.html.j2")
    return MARKER + template.render(
        report=report,
        css=Markup(css),  # ours, and the only thing on the page that is not escaped
        css_digest=base64.b64encode(hashlib.sha256(css.encode("utf-8")).digest()).decode("ascii"),
        version=__version__,
        days=_days(report.timeline.events),
        durations=durations(report),
        most_items=MOST_ITEMS,
    )


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"clock": times.clock, "moment": times.moment, "brief": lambda value: clip(str(value), 60)}
    made.globals |= {
        "sign": lambda mark: SIGNS.get(mark, SIGNS[""])[0],
        "tone": lambda mark: SIGNS.get(mark, SIGNS[""])[1],
        "level": VERDICTS.__getitem__,
        "title_of": lambda kind: TITLES.get(kind, kind),
        "source_of": lambda name: SOURCES.get(name, name),
        "counted": lambda part: f"{part.view.done} of {units(part.view.total, part.view.unit)}",
        "span": times.between,
        "since": times.since,
        "few": lambda values: list(values)[:MOST_ITEMS],
    }
    return made


def _shown(value: Any) -> Any:
    """Whatever is put on the page: without control characters, bounded. What is missing in a template is an error."""
    if isinstance(value, (Markup, Undefined)):
        return value
    return block(str(value), LONGEST_VALUE)


@dataclass(frozen=True)
class Duration:
    """`share` is a twentieth of the longest one; None where it has not ended, or nobody can tell."""

    name: str
    title: str
    text: str
    share: int | None = None


def durations(report: Report) -> list[Duration]:
    """What took how long: each run, and each item that says when it began."""
    spans: list[tuple[str, str, str, str]] = []
    for part in report.parts:
        whole = part.whole.section
        spans.append((part.view.run or part.view.kind, "the whole run", whole.began, whole.ended))
        for item in part.view.items:
            section = part.evidence(item.id).section
            if item.counts or section.ended:
                spans.append((item.id, item.title, section.began, section.ended))
    longest = 0.0
    known = []
    for name, title, began, ended in spans:
        first, last = times.number(began), times.number(ended)
        if first is not None:
            took = None if last is None else max(0.0, last - first)
            longest = max(longest, took or 0.0)
            known.append((name, title, began, took))
    shown = []
    for name, title, began, took in known:
        if took is None:
            shown.append(Duration(name, title, f"since {times.moment(began)}, not ended"))
        else:
            share = max(1, round(STEPS * took / (longest or 1)))
            shown.append(Duration(name, title, times.short(took), share))
    return shown[:MOST_BARS]


def _days(events: Iterable[Event]) -> list[tuple[str, list[Event]]]:
    days: list[tuple[str, list[Event]]] = []
    for event in events:
        day = times.day(event.ts)
        if not days or days[-1][0] != day:
            days.append((day, []))
        days[-1][1].append(event)
    return days
