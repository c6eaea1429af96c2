"""The steps of a plan: headings in one exact form, fields as bullets, one manifest each."""

from __future__ import annotations

import re
from collections.abc import Sequence

from omo.shown import clip
from omo.ultraplan import manifest
from omo.ultraplan.document import ON_FAILURE, Defect, Manifest, Step
from omo.ultraplan.markdown import FIELDS, Field, Heading, Page, is_none, items_of, numbers_of

MOST_STEPS = 200
LONGEST_FIELD = 20_000

_STEP = re.compile(r"Step (\d{1,6}): (\S.*)")
# What people put before the word: emphasis, a box to tick, an emoji or its :name:, a number.
_ORNAMENT = re.compile(r"(?:[\W_]|(?<=\[)[xX](?=\])|(?<=:)\w{1,40}(?=:)|\d{1,3}(?=[.)\ufe0f\u20e3]))*")
_LIKE_STEP = re.compile(r"(?:step|steg|schritt|étape|paso|stage|phase|fase|task)\b[\s#.:*_`-]*\d", re.IGNORECASE)
_READABLE_STEP = re.compile(r"step\s*#?(\d{1,6})\b[\s.:*_`–—-]*(.*?)[*_`]*", re.IGNORECASE)
_ON_FAILURE = re.compile(
    rf"[*_`]*({'|'.join(ON_FAILURE)})\b[*_`]*(?!\s*(?:[|/,]|or\b))\s*[-–—:.,;]*\s*(.*)", re.IGNORECASE | re.DOTALL
)


def is_step(heading: Heading) -> bool:
    return heading.level == 3 and _STEP.fullmatch(heading.title) is not None


def readable(heading: Heading) -> re.Match[str] | None:
    """A step in another form is read too, so that everything else about it can be told at once."""
    return _STEP.fullmatch(heading.title) or _READABLE_STEP.fullmatch(_plain(heading))


def _plain(heading: Heading) -> str:
    return _ORNAMENT.sub("", heading.title, count=1)


def heading_defects(headings: Sequence[Heading]) -> list[Defect]:
    wrong = [
        heading
        for heading in headings
        if _LIKE_STEP.match(_plain(heading)) and (heading.is_nested or not is_step(heading))
    ]
    return [Defect(heading.start + 1, "step-heading", _wanted_heading(heading)) for heading in wrong]


def _wanted_heading(heading: Heading) -> str:
    number = re.search(r"\d{1,6}", _plain(heading))
    title = re.sub(r"^\D*\d+[\s.:–—-]*", "", _plain(heading)).strip(" *_`") or "Title"
    wanted = f"### Step {number[0] if number else 'N'}: {clip(title, 60)}"
    where = ", at the top level" if heading.is_nested else ""
    return f"{'#' * heading.level} {clip(heading.title, 60)}: a step is headed `{wanted}`{where}"


def read(page: Page, headings: Sequence[Heading], found: list[Defect]) -> tuple[Step, ...]:
    found_at = spans(headings)
    if len(found_at) > MOST_STEPS:
        line = found_at[MOST_STEPS][0].start + 1
        found.append(Defect(line, "steps", f"{len(found_at)} steps; at most {MOST_STEPS} are read, so split the plan"))
    return tuple(_step(page, heading, end, found) for heading, end in found_at[:MOST_STEPS])


def spans(headings: Sequence[Heading]) -> list[tuple[Heading, int]]:
    """Each step with the line index where it ends: at the next step, or at the next heading as high as its own."""
    last = headings[-1].end if headings else 0
    return [
        (heading, next((one.start for one in headings[at + 1 :] if _ends(heading, one)), last))
        for at, heading in enumerate(headings)
        if heading.level > 1 and readable(heading)
    ]


def _ends(step: Heading, other: Heading) -> bool:
    return other.level <= max(step.level, 3) or readable(other) is not None


def _step(page: Page, heading: Heading, end: int, found: list[Defect]) -> Step:
    named = readable(heading)
    assert named is not None
    number = int(named[1])
    fields = _fields(page, heading, end, number, found)
    value = {key: _bounded(field, number, found) for key, field in fields.items()}
    on_failure = _ON_FAILURE.fullmatch(value.get("on failure", ""))
    depends_on = value.get("depends on", "")
    return Step(
        number=number,
        title=named[2].strip(),
        line=heading.start + 1,
        text=page.text(heading.start, end),
        files=items_of(value.get("files", "")),
        changes=value.get("changes", ""),
        reuses=value.get("reuses", ""),
        test_first=value.get("test first", ""),
        verify=value.get("verify", ""),
        on_failure=on_failure[1].lower() if on_failure else "",
        on_failure_text=on_failure[2].strip() if on_failure else value.get("on failure", ""),
        checkpoint=value.get("checkpoint", ""),
        depends_on=() if is_none(depends_on) else numbers_of(depends_on),
        manifest=_manifest(page, heading, end, number, found),
    )


def _fields(page: Page, heading: Heading, end: int, number: int, found: list[Defect]) -> dict[str, Field]:
    fields: dict[str, Field] = {}
    for field in page.fields(heading.start, end):
        if field.key in FIELDS and field.key in fields:
            first = fields[field.key].line
            message = f"step {number}: {field.label} is there twice (line {first} is the first); keep one"
            found.append(Defect(field.line, "field-repeated", message))
        fields.setdefault(field.key, field)
    return fields


def _bounded(field: Field, number: int, found: list[Defect]) -> str:
    if len(field.value) > LONGEST_FIELD:
        message = f"step {number}: {field.label} has more than {LONGEST_FIELD} characters; put scripts into files"
        found.append(Defect(field.line, "length", message))
    return field.value[:LONGEST_FIELD]


def field_lines(step: Step) -> dict[str, int]:
    """The line in the plan of every field of a step."""
    page = Page(step.text)
    fields = page.fields(0, len(page.lines))
    return {field.key: step.line + field.line - 1 for field in reversed(fields)}


def _manifest(page: Page, heading: Heading, end: int, number: int, found: list[Defect]) -> Manifest | None:
    blocks = [block for block in page.fences(heading.start, end) if manifest.is_manifest(block)]
    for block in blocks[1:]:
        message = f"step {number}: a second manifest (line {blocks[0].line} is the first); a step has one"
        found.append(Defect(block.line, "manifest-count", message))
    if not blocks:
        return None
    read, defects = manifest.read(blocks[0], number)
    found += defects
    return read


def stray_manifests(page: Page, headings: Sequence[Heading]) -> list[Defect]:
    taken = [(heading.start, end) for heading, end in spans(headings)]
    blocks = [block for block in page.fences(0, len(page.lines)) if manifest.is_manifest(block)]
    strays = [block for block in blocks if not any(start < block.line <= end for start, end in taken)]
    return [
        Defect(
            block.line, "manifest-count", "this manifest belongs to no step; move it below its `### Step N:` heading"
        )
        for block in strays
    ]
