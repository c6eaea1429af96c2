"""A plan, from Markdown to data. What is wrong with it is data too: every defect with its line."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from omo.errors import BadInput
from omo.proof import documents, globs
from omo.safe_open import regular_file
from omo.text import clip
from omo.workflows.ultraplan import manifests
from omo.workflows.ultraplan.markdown import (
    FIELDS,
    Fenced,
    Heading,
    Page,
    asked_in_line,
    code_texts,
    expectation,
    items_of,
    key_of,
    numbers_of,
    removed_of,
)
from omo.workflows.ultraplan.models import (
    MOST_ITEMS,
    NO_MANIFEST,
    ON_FAILURE,
    Document,
    FenceGlobs,
    PlanDefect,
    Session,
    Step,
    forbidden_by,
    normal,
)

LARGEST = 500_000
LONGEST_LINE = 4_000
LONGEST_FIELD = 20_000
EXIT_CONDITION = "exit condition"
SESSION_FIELDS = ("context", "entry condition", "depends on", "blocks", "touch", "never touch", EXIT_CONDITION)

_STEP = re.compile(r"Step (\d{1,6}): (\S.*)")
# A heading that means a step and is none; what is put before the word, emphasis or an emoji, is no part of it.
# test_a_step_in_another_form_is_a_defect_that_shows_the_form in tests/ultraplan/test_document.py has every word.
_LIKE_STEP = re.compile(
    r"\W*(?:step|steg|schritt|étape|paso|stage|phase|fase|task)\b[\W_]*(\d{1,6})[\s.:–—-]*(.*?)[*_`]*", re.IGNORECASE
)
# One of them, not the template's "revert | retry": test_on_failure_is_one_of_four in tests/ultraplan/test_document.py.
_ON_FAILURE = re.compile(
    rf"[*_`]*({'|'.join(ON_FAILURE)})\b[*_`]*(?!\s*(?:[|/,]|or\b))\s*[-–—:.,;]*\s*(.*)", re.IGNORECASE | re.DOTALL
)
_SESSION = re.compile(r"Session (\d{1,6})\s*[:—–-]\s*(\S.*)", re.IGNORECASE)
_PAIR = re.compile(
    r"(?:[-+*>]\s+)*[*_`]*(plan_version|needs|verify)[*_`]*\s*[:=]\s*[*_`]*\s*(.*?)[*_`]*", re.IGNORECASE
)
_NEED = re.compile(r"git_push|network|cmd:\w[\w.+-]{0,99}|env:[A-Za-z_]\w{0,99}", re.ASCII)
_VERSION = re.compile(r"[vV]?(\d{1,4}(?:\.\d{1,4}){0,3})")


def load(path: Path | str, root: Path) -> Document:
    """Raises BadInput for a file that is not there, lies outside the project, is too large or not UTF-8."""
    real = os.path.realpath(path)
    top = os.path.realpath(root)
    inside = os.path.relpath(real, top)
    if not globs.is_inside(top, real) or inside.split("/")[0] == ".git" or globs.is_own(inside):
        fix = "keep plans in the project, so that git knows them"
        raise BadInput(f"{path} lies outside the project {root}", fix=fix)
    fix = "name a plan in Markdown; a long one is split into several"
    return parse(documents.read_text(real, LARGEST, fix), inside)


def text_of(path: str) -> str | None:
    """The text of a file that may be gone; None where it cannot be read."""
    try:
        with open(path, encoding="utf-8-sig", errors="replace", newline="", opener=regular_file) as file:
            return file.read(LARGEST + 1)
    except (OSError, ValueError):
        return None


@lru_cache(maxsize=16)  # a command reads a plan and the pinned copy, mostly with the same text
def parse(text: str, path: str) -> Document:
    """Never raises for bad content: `defects` has what is wrong."""
    defects: list[PlanDefect] = []
    page = Page(_readable(text, defects))
    every = page.headings()
    headings = [heading for heading in every if not heading.is_nested]
    title = next((heading.title for heading in headings if heading.level == 1), "")
    document = Document(path=path, text=text, title=title)
    document = _read_head(document, page, headings, defects)
    document = _read_steps(document, page, headings, defects)
    document = replace(document, sessions=_sessions(document, page, headings))
    defects += _heading_defects(every)
    defects += _exit_defects(document, page, headings)
    return replace(document, defects=tuple(sorted(defects, key=lambda defect: defect.line)))


def _readable(text: str, defects: list[PlanDefect]) -> str:
    """Nobody reads a line that long; what is behind it must not count as read either. Front matter reads like lines
    below the title."""
    lines = re.split(r"\r\n?|\n", text.removeprefix("\ufeff"))
    for index, line in enumerate(lines):
        if len(line) > LONGEST_LINE:
            lines[index] = line[:LONGEST_LINE]
            defects.append(PlanDefect(index + 1, "length", f"longer than {LONGEST_LINE} characters; break the line"))
    if lines[0].rstrip() == "---" and "---" in lines[1:]:
        lines[0] = lines[lines.index("---", 1)] = ""
    return "\n".join(lines)


# the head: version, needs, what it is about


def _read_head(document: Document, page: Page, headings: Sequence[Heading], defects: list[PlanDefect]) -> Document:
    """What stands near the title; a `plan_version` further down is an example, not a statement."""
    end = next((heading.start for heading in headings if heading.level > 1), len(page.lines))
    described: list[str] = []
    versions: list[tuple[int, ...]] = []
    needs: list[str] = []
    says_needs = False
    verify = ""
    for index, line in page.paragraphs(0, end):
        pair = _PAIR.fullmatch(line)
        if pair is None:
            described.append(line)
        elif pair[1].lower() == "verify":
            verify = line.partition(":")[2].strip()  # with its backticks
        elif pair[1].lower() == "needs":
            says_needs = True
            needs += _needs(pair[2].strip(), index + 1, defects)
        elif number := _VERSION.fullmatch(pair[2].strip().strip("\"'")):
            versions.append(tuple(map(int, number[1].split("."))))
        else:
            message = f"plan_version {clip(pair[2], 40)!r} is no version; write `plan_version: 1.7`"
            defects.append(PlanDefect(index + 1, "version", message))
    section = _section(headings, "context")
    fence = _section(headings, "scope fence")
    return replace(
        document,
        version=versions[0] if versions else None,
        needs=tuple(dict.fromkeys(needs)),
        says_needs=says_needs,
        verify=verify,
        context=page.text(section.start + 1, section.end).strip() if section else "\n".join(described),
        fence=_fence(page, fence.start, fence.end) if fence else None,
    )


def _needs(value: str, line: int, defects: list[PlanDefect]) -> list[str]:
    needs = []
    for part in value.strip().strip("[]").split(","):
        need = part.strip().strip("`\"'")
        if not need or need.lower() == "none":
            continue
        needs.append(need)
        if not _NEED.fullmatch(need):
            message = f"needs: {clip(need, 80)} is none that can be asked for (git_push, network, cmd:NAME, env:NAME)"
            defects.append(PlanDefect(line, "needs", message))
    return needs


# steps


def _is_step(heading: Heading) -> bool:
    return heading.level == 3 and not heading.is_nested and _STEP.fullmatch(heading.title) is not None


def _heading_defects(headings: Sequence[Heading]) -> list[PlanDefect]:
    defects = []
    for heading in headings:
        name = _LIKE_STEP.fullmatch(heading.title)
        if name is None or _is_step(heading):
            continue
        where = ", at the top level" if heading.is_nested else ""
        wanted = f"`### Step {name[1]}: {clip(name[2], 60) or 'Title'}`{where}"
        message = f"{'#' * heading.level} {clip(heading.title, 60)}: a step is headed {wanted}"
        defects.append(PlanDefect(heading.start + 1, "step-heading", message))
    return defects


def _read_steps(document: Document, page: Page, headings: Sequence[Heading], defects: list[PlanDefect]) -> Document:
    """A step ends at the next heading as high as its own."""
    blocks = page.yaml_blocks("manifest")
    steps = []
    unused = {block.line for block in blocks}
    for index, heading in enumerate(headings):
        if not _is_step(heading):
            continue
        end = next((other.start for other in headings[index + 1 :] if other.level <= 3), len(page.lines))
        own = next((block for block in blocks if heading.start < block.line <= end), None)
        if own is not None:
            unused.remove(own.line)
        step = _step(page, heading, end, own, defects)
        if document.is_legacy and not step.has_manifest:
            step = replace(step, manifest=manifests.made_up(step), manifest_lines={})
        steps.append(step)
    for line in sorted(unused):
        message = "this manifest belongs to no step, or is the second of one; a step has one below its `### Step N:`"
        defects.append(PlanDefect(line, "manifest-count", message))
    return replace(document, steps=tuple(steps))


def _step(page: Page, heading: Heading, end: int, block: Fenced | None, defects: list[PlanDefect]) -> Step:
    name = _STEP.fullmatch(heading.title)
    assert name is not None
    number = int(name[1])
    values: dict[str, str] = {}
    lines: dict[str, int] = {}
    for field in page.fields(heading.start, end):
        if field.key in FIELDS and field.key in lines:
            message = f"step {number}: {field.label} is there twice (line {lines[field.key]} is the first); keep one"
            defects.append(PlanDefect(field.line, "field-repeated", message))
        if field.key in lines:
            continue
        if len(field.value) > LONGEST_FIELD:
            message = f"step {number}: {field.label} has more than {LONGEST_FIELD} characters; put scripts into files"
            defects.append(PlanDefect(field.line, "length", message))
        lines[field.key] = field.line
        values[field.key] = field.value[:LONGEST_FIELD]
    failure = values.get("on failure", "")
    on_failure = _ON_FAILURE.fullmatch(failure)
    return Step(
        number=number,
        title=name[2].strip(),
        line=heading.start + 1,
        text=page.text(heading.start, end),
        files=items_of(values.get("files", "")),
        removed=removed_of(values.get("files", "")),
        changes=values.get("changes", ""),
        reuses=values.get("reuses", ""),
        test_first=values.get("test first", ""),
        verify=values.get("verify", ""),
        on_failure=on_failure[1].lower() if on_failure else "",
        on_failure_text=on_failure[2].strip() if on_failure else failure,
        checkpoint=values.get("checkpoint", ""),
        depends_on=numbers_of(values.get("depends on", "")),
        manifest=manifests.read(block, number, defects) if block else NO_MANIFEST,
        field_lines=lines,
        manifest_lines=manifests.key_lines(block) if block else {},
    )


# sessions and fences


def _section(headings: Sequence[Heading], title: str) -> Heading | None:
    return next((heading for heading in headings if heading.level == 2 and key_of(heading.title) == title), None)


def _fence(page: Page, start: int, end: int) -> FenceGlobs | None:
    lists = page.values(start, end)
    if "touch" not in lists and "never touch" not in lists:
        return None
    return FenceGlobs(_globs(lists.get("touch", "")), _globs(lists.get("never touch", "")))


def _globs(value: str) -> tuple[str, ...]:
    """As they are compared; what is no path is told by the rules, which know the line."""
    return tuple(normal(item) or item for item in items_of(value))


def fence_of_session(document: Document, session: Session) -> FenceGlobs:
    """The fence that is up while a session is carried out: its own lists, else the plan's, else what its steps say
    they change. What the plan never touches, no session touches; what a step forbids, none of its session does."""
    steps = document.steps_of(session)
    own = session.fence or FenceGlobs()
    whole = document.fence or FenceGlobs()
    named: list[str] = []
    for step in steps:
        named += map(normal, step.files)
        named += [path for key, path in step.manifest.named_paths if key != "forbidden_paths"]
    touch = own.touch or whole.touch or tuple(dict.fromkeys(filter(None, named)))
    return FenceGlobs(touch, tuple(dict.fromkeys([*whole.never, *own.never, *forbidden_by(steps)])))


def fence_of_plan(document: Document) -> FenceGlobs:
    """What one of its sessions may change, the plan may; what a step forbids, it forbids to its own session alone."""
    fences = [fence_of_session(document, session) for session in document.sessions]
    if len(fences) == 1:
        return fences[0]
    touch: list[str] = []
    for fence in fences:
        touch += fence.touch
    return replace(document.fence or FenceGlobs(), touch=tuple(dict.fromkeys(touch)))


def _sessions(document: Document, page: Page, headings: Sequence[Heading]) -> tuple[Session, ...]:
    headed = [heading for heading in headings if heading.level == 2 and _SESSION.fullmatch(heading.title)]
    if not headed:
        numbers = tuple(step.number for step in document.steps)
        section = _section(headings, "dependencies")
        fields = page.values(section.start, section.end) if section else {}
        entry = fields.get("entry condition", "")
        return (Session(1, document.title, 1, numbers, entry=entry),) if numbers else ()
    sessions = []
    for heading in headed:
        name = _SESSION.fullmatch(heading.title)
        assert name is not None
        below = [other.start for other in headings if other.level <= 2 and other.start > heading.start]
        end = min(below, default=len(page.lines))
        steps = [step for step in document.steps if heading.start < step.line <= end]
        until = min([step.line - 1 for step in steps], default=end)
        fields = page.values(heading.start, until)
        others = set(range(heading.start + 1, until))
        for field in page.fields(heading.start, until):
            if field.key in SESSION_FIELDS:
                others.difference_update(range(field.line - 1, field.end))
        prose = "\n".join(page.lines[index] for index in sorted(others)).strip()
        session = Session(
            number=int(name[1]),
            title=name[2].strip(),
            line=heading.start + 1,
            steps=tuple(step.number for step in steps),
            depends_on=numbers_of(fields.get("depends on", "")),
            context="\n\n".join(filter(None, (prose, fields.get("context", "")))),
            entry=fields.get("entry condition", ""),
            blocks=numbers_of(fields.get("blocks", "")),
            fence=_fence(page, heading.start, until),
        )
        sessions.append(session)
    return tuple(sessions)


def _exit_defects(document: Document, page: Page, headings: Sequence[Heading]) -> list[PlanDefect]:
    """A command that no step verifies with would be run by nobody; at `git status` and the audit `finish` looks."""
    spans = [(heading.start, heading.end) for heading in headings if key_of(heading.title) == EXIT_CONDITION]
    for field in page.fields(0, len(page.lines)):
        if field.key == EXIT_CONDITION:
            spans.append((field.line - 1, field.end))
    commands: list[tuple[int, str]] = []
    fences = page.fences() if spans else []
    for start, end in spans[:MOST_ITEMS]:
        commands += [(block.line, block.content.strip()) for block in fences if start < block.line <= end]
        for index, line in page.paragraphs(start, end):
            # `calc.py` is there: one word that nothing is expected of is a name.
            commands += [(index + 1, text) for text in asked_in_line(line) if " " in text or expectation(line)]
    verified: list[str] = []
    for verify in (document.verify, *(step.verify for step in document.steps)):
        verified += code_texts(verify) if commands else []
    defects = []
    for number, text in commands:
        if text not in verified and not text.startswith(("git status", "omo plan ")):
            message = f"the exit condition has {clip(text, 80)!r}, which no step runs; it belongs into a step's Verify"
            defects.append(PlanDefect(number, "exit-condition", message))
    return defects
