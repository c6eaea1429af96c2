"""The report as one HTML page that needs nothing else: no network, no script, every value escaped."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Undefined
from markupsafe import Markup

from omo import __version__
from omo.report.document import spans
from omo.report.document.story import Event
from omo.report.document.verdict import plural
from omo.report.document.whole import MOST_ITEMS, Part, Report
from omo.shown import block, clip

HERE = Path(__file__).resolve().parent
MARKER = "<!doctype html>\n<!-- made by omo report -->\n"
LONGEST_VALUE = 200_000
# How each mark is drawn: a sign that also prints without colour, and one of five tones.
SIGNS = {
    "done": ("✓", "good"),
    "active": ("▶", "info"),
    "open": ("○", "plain"),
    "failed": ("✗", "bad"),
    "stale": ("!", "warn"),
    "waiting": ("…", "warn"),
    "cut": ("–", "plain"),
    "block": ("↩", "info"),
    "allow": ("→", "plain"),
    "gate": ("◆", "plain"),
    "judge": ("§", "info"),
    "regression": ("↓", "bad"),
    "steer": ("✎", "info"),
    "agent": ("•", "plain"),
    "": ("·", "plain"),
}
LEVELS = {
    "proven": ("✓", "good"),
    "judged": ("✓", "good"),
    "attested": ("✎", "info"),
    "waived": ("!", "warn"),
    "ended": ("■", "bad"),
    "gone": ("!", "warn"),
    "unproven": ("✗", "bad"),
}
TITLES = {
    "ulw": "Ultrawork",
    "ultragoal": "Goals",
    "ultraplan": "Plan",
    "ralph": "Rounds until the criteria hold",
    "verify": "Verified goals",
}
SOURCES = {"session": "session", "goal": "goal tool", "ultraplan": "plan", "ultragoal": "goals"}


def render(report: Report) -> str:
    css = (HERE / "page.css").read_text(encoding="utf-8")
    template = _environment().get_template("page.html.j2")
    return MARKER + template.render(
        report=report,
        css=Markup(css),  # ours, and the only thing on the page that is not escaped
        css_digest=base64.b64encode(hashlib.sha256(css.encode("utf-8")).digest()).decode("ascii"),
        version=__version__,
        days=list(_days(report.story.events)),
        durations=spans.durations(report),
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
    made.filters |= {"clock": spans.clock, "moment": spans.moment, "brief": lambda value: clip(str(value), 60)}
    made.globals |= {
        "sign": lambda mark: SIGNS.get(mark, SIGNS[""])[0],
        "tone": lambda mark: SIGNS.get(mark, SIGNS[""])[1],
        "level": lambda level: LEVELS[level],
        "title_of": lambda kind: TITLES.get(kind, kind),
        "source_of": lambda name: SOURCES.get(name, name),
        "counted": lambda part: _counted(part),
        "span": spans.between,
        "since": spans.since,
        "few": lambda values: list(values)[:MOST_ITEMS],
    }
    return made


def _shown(value: Any) -> Any:
    """Whatever is put on the page: without control characters, bounded. What is missing in a template is an error."""
    if isinstance(value, (Markup, Undefined)):
        return value
    return block(str(value), LONGEST_VALUE)


def _counted(part: Part) -> str:
    return f"{part.view.done} of {plural(part.view, part.view.total)}"


def _days(events: Iterable[Event]) -> Iterable[tuple[str, list[Event]]]:
    for day, found in groupby(events, key=lambda one: spans.day(one.at)):
        yield day, list(found)
