"""What the templates of the page and of Markdown share: where they are, and what they can call."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from omo.text import clip, counted, file_name
from omo.views.works import MARKS, VERDICTS
from omo.work import times
from omo.work.status import units

HERE = Path(__file__).resolve().parent / "templates"
MOST_ITEMS = 200
PLAIN = ("·", "plain")
# How an item, or a cell of a table, is drawn: a sign that also prints without colour, and one of five tones.
SIGNS = {
    **{mark: (sign.letter, sign.tone) for mark, sign in MARKS.items()},
    "regression": ("↓", "bad"),
}


@cache
def template(name: str, finalize: Callable[[Any], Any], *, is_html: bool) -> Template:
    """Every value goes through `finalize`; what is missing is an error."""
    made = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=is_html,
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"moment": times.moment, "brief": _brief, "file_name": file_name}
    made.globals |= {
        "sign": lambda mark: SIGNS.get(mark, PLAIN)[0],
        "tone": lambda mark: SIGNS.get(mark, PLAIN)[1],
        "emoji": lambda mark: MARKS.get(mark, MARKS["open"]).emoji,
        "level": VERDICTS.__getitem__,
        "closed": lambda part: f"{part.view.done} of {units(part.view.total, part.view.unit)}",
        "counted": counted,
        "few": lambda values: list(values)[:MOST_ITEMS],
    }
    return made.get_template(name)


def _brief(value: object, longest: int = 60) -> str:
    return clip(str(value), longest)
