"""A plan or a session spec, from Markdown to data. What is wrong with it is data too: every defect with its line."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from omo.errors import BadInput
from omo.evidence import globs
from omo.ultraplan import front, groups, spec, steps
from omo.ultraplan.document import Defect, Document
from omo.ultraplan.markdown import Heading, Page

LARGEST = 500_000
LONGEST_LINE = 4_000
MOST_HEADINGS = 2_000


def load(path: Path, root: Path) -> Document:
    """Raises BadInput for a file that is not there, lies outside the project, is too large or not UTF-8."""
    real = os.path.realpath(path)
    top = os.path.realpath(root)
    if not globs.is_inside(top, real):
        raise BadInput(
            f"{path} lies outside the project {root}", fix="keep plans in the project, so that git knows them"
        )
    return parse(_read(path, real), os.path.relpath(real, top).replace(os.sep, "/"))


def _read(path: Path, real: str) -> str:
    try:
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(real, flags), "rb") as file:
            is_file = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            raw = file.read(LARGEST + 1) if is_file else b""
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise BadInput(f"{path} cannot be read: {why}", fix="name a plan in Markdown") from None
    if not is_file:
        raise BadInput(f"{path} is not a file", fix="name a plan in Markdown")
    if len(raw) > LARGEST:
        raise BadInput(f"{path} is larger than {LARGEST} bytes", fix="split it into several plans")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is not UTF-8: {error.reason} at byte {error.start}", fix="save it as UTF-8") from None


def parse(text: str, path: str) -> Document:
    """Never raises for bad content: `defects` has what is wrong."""
    found: list[Defect] = []
    matter, body = front.split(text, found)
    page = Page(_cut(body, found))
    everywhere = _headings(page, found)
    headings = [heading for heading in everywhere if not heading.is_nested]
    head = front.read(page, matter, _end_of_head(headings, page), found)
    document = Document(
        kind="plan",
        path=path,
        text=text,
        title=next((heading.title for heading in headings if heading.level == 1), ""),
        version=head.version,
        needs=head.needs,
        fence=groups.fence(page, headings),
        steps=steps.read(page, headings, found),
    )
    session = spec.read(page, headings, found)
    document = spec.apply(document, session) if session is not None else document
    document = replace(document, groups=groups.read(page, headings, document, found))
    found += [*steps.heading_defects(everywhere), *steps.stray_manifests(page, headings)]
    return replace(document, defects=tuple(sorted(found, key=lambda defect: defect.line)))


def _cut(body: str, found: list[Defect]) -> str:
    """Nobody reads a line that long; what is behind it must not count as read either."""
    lines = body.split("\n")
    long = [at for at, line in enumerate(lines, start=1) if len(line) > LONGEST_LINE]
    found += [Defect(at, "length", f"longer than {LONGEST_LINE} characters; break the line") for at in long[:10]]
    return "\n".join(line[:LONGEST_LINE] for line in lines)


def _headings(page: Page, found: list[Defect]) -> list[Heading]:
    headings = page.headings()
    if len(headings) > MOST_HEADINGS:
        line = headings[MOST_HEADINGS].start + 1
        found.append(Defect(line, "steps", f"{len(headings)} headings; at most {MOST_HEADINGS} are read"))
    return headings[:MOST_HEADINGS]


def _end_of_head(headings: Sequence[Heading], page: Page) -> int:
    """Where what stands near the title ends."""
    return next((heading.start for heading in headings if heading.level > 1), len(page.lines))
