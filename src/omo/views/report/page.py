"""The report as one HTML page that needs nothing else: no network, no script, every value escaped."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template, Undefined
from markupsafe import Markup

from omo import __version__, table
from omo.text import block, clip, counted
from omo.views.report.gather import MOST_ITEMS, Report
from omo.views.works import MARKS, VERDICTS
from omo.work import times
from omo.work.status import units

HERE = Path(__file__).resolve().parent / "templates"
MARKER = "<!doctype html>\n<!-- made by omo report -->\n"
LONGEST_VALUE = 200_000
PLAIN = ("·", "plain")
# How an item, or a cell of a table, is drawn: a sign that also prints without colour, and one of five tones.
SIGNS = {
    **{mark: (sign.letter, sign.tone) for mark, sign in MARKS.items()},
    "regression": ("↓", "bad"),
}


def render(report: Report) -> str:
    css = (HERE / "page.css").read_text(encoding="utf-8")
    return MARKER + template("page.html.j2", _shown, is_html=True).render(
        report=report,
        css=Markup(css),  # ours, and the only thing on the page that is not escaped
        css_digest=base64.b64encode(hashlib.sha256(css.encode("utf-8")).digest()).decode("ascii"),
        version=__version__,
        most_items=MOST_ITEMS,
    )


@cache
def template(name: str, finalize: Callable[[Any], Any], *, is_html: bool) -> Template:
    """What the templates of the page and of Markdown share. Every value goes through `finalize`."""
    made = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=is_html,
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"moment": times.moment, "brief": _brief}
    made.globals |= {
        "sign": lambda mark: SIGNS.get(mark, PLAIN)[0],
        "tone": lambda mark: SIGNS.get(mark, PLAIN)[1],
        "emoji": lambda mark: MARKS.get(mark, MARKS["open"]).emoji,
        "level": VERDICTS.__getitem__,
        "title_of": lambda kind: table.BY_KIND[kind].title if kind in table.BY_KIND else kind,
        "closed": lambda part: f"{part.view.done} of {units(part.view.total, part.view.unit)}",
        "counted": counted,
        "few": lambda values: list(values)[:MOST_ITEMS],
    }
    return made.get_template(name)


def _brief(value: object, longest: int = 60) -> str:
    return clip(str(value), longest)


def _shown(value: Any) -> Any:
    """Whatever is put on the page: without control characters, bounded. What is missing in a template is an error."""
    if isinstance(value, (Markup, Undefined)):
        return value
    return block(str(value), LONGEST_VALUE)
