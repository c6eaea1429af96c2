"""Fences and sessions: what may be touched, and which steps belong together."""

from __future__ import annotations

import re
from collections.abc import Sequence

from omo.evidence import globs
from omo.ultraplan import steps
from omo.ultraplan.document import Defect, Document, Fence, Group
from omo.ultraplan.markdown import Heading, Page, is_none, items_of, key_of, numbers_of

_SESSION = re.compile(r"Session (\d{1,6})\s*[:—–-]\s*(\S.*)", re.IGNORECASE)


def fence(page: Page, headings: Sequence[Heading]) -> Fence | None:
    """That of the whole document; a session of a plan has its own below its heading."""
    for heading in headings:
        if heading.level == 2 and key_of(heading.title) == "scope fence":
            return _fence_of(page, heading.start, heading.end)
    return None


def _fence_of(page: Page, start: int, end: int) -> Fence | None:
    lists = {field.key: _globs(field.value) for field in page.fields(start, end)}
    if "touch" not in lists and "never touch" not in lists:
        return None
    return Fence(lists.get("touch", ()), lists.get("never touch", ()))


def _globs(value: str) -> tuple[str, ...]:
    return tuple(_normal(item) for item in items_of(value))


def _normal(item: str) -> str:
    try:
        return globs.normal(item) or item
    except ValueError:
        return item  # told by validate, which knows the line


def read(page: Page, headings: Sequence[Heading], document: Document, found: list[Defect]) -> tuple[Group, ...]:
    sessions = [
        (heading, named) for heading in headings if heading.level == 2 and (named := _SESSION.fullmatch(heading.title))
    ]
    if document.kind == "spec" or not sessions:
        numbers = tuple(step.number for step in document.work_steps)
        return (Group(document.session or 1, document.title, 1, numbers),) if numbers else ()
    spans = [(heading, named, _end_of_session(headings, heading)) for heading, named in sessions]
    for step in document.steps:
        if not any(heading.start < step.line <= end for heading, _, end in spans):
            message = f"step {step.number} stands in no session; move it below a `## Session N: …` heading"
            found.append(Defect(step.line, "session", message))
    return tuple(_group(page, heading, named, end, document) for heading, named, end in spans)


def _end_of_session(headings: Sequence[Heading], session: Heading) -> int:
    after = [heading for heading in headings if heading.start > session.start]
    return next(
        (one.start for one in after if one.level <= 2 and not steps.readable(one)),
        after[-1].end if after else session.end,
    )


def _group(page: Page, heading: Heading, named: re.Match[str], end: int, document: Document) -> Group:
    own = [step for step in document.steps if heading.start < step.line <= end]
    until = min([step.line - 1 for step in own], default=end)
    fields = {field.key: field.value for field in page.fields(heading.start, until)}
    depends_on = fields.get("depends on", "")
    return Group(
        number=int(named[1]),
        title=named[2].strip(),
        line=heading.start + 1,
        steps=tuple(step.number for step in own),
        depends_on=() if is_none(depends_on) else numbers_of(depends_on),
        context=fields.get("context", ""),
        fence=_fence_of(page, heading.start, until),
    )
