"""Numbers and order: steps, sessions and what depends on what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from omo.ultraplan.document import Defect, Document, Group
from omo.ultraplan.manifest import is_manifest
from omo.ultraplan.markdown import Page


def check(document: Document) -> Iterator[Defect]:
    if not document.work_steps:
        yield Defect(1, "no-steps", "invalid plan: no step is headed `### Step 1: Title`, so there is nothing to do")
    yield from _repeats(document)
    yield from _numbering(document)
    yield from _counts(document)
    yield from _dependencies(document)
    yield from _sessions(document)


def _repeats(document: Document) -> Iterator[Defect]:
    seen: dict[int, int] = {}
    for step in document.steps:
        if step.number in seen:
            message = (
                f"step {step.number} is there twice (line {seen[step.number]} is the first); number them 1, 2, 3, …"
            )
            yield Defect(step.line, "step-repeated", message)
        seen.setdefault(step.number, step.line)


def _numbering(document: Document) -> Iterator[Defect]:
    """A plan counts 1, 2, 3; a spec has some of the plan's steps, in their order, after its preflight."""
    numbers = [step.number for step in document.steps]
    if document.kind == "spec":
        for before, step in zip(document.steps, document.steps[1:], strict=False):
            if step.number < before.number:
                yield Defect(step.line, "numbering", f"step {step.number} comes after step {before.number}")
        return
    for wanted, step in enumerate(document.steps, start=1):
        if step.number != wanted and numbers != list(range(1, len(numbers) + 1)):
            yield Defect(step.line, "numbering", f"step {step.number} stands where step {wanted} belongs")
            return


def _counts(document: Document) -> Iterator[Defect]:
    page = Page(document.text)
    blocks = [block.line for block in page.fences(0, len(page.lines)) if is_manifest(block)]
    if len(blocks) != len(document.steps):
        message = f"{len(document.steps)} steps and {len(blocks)} manifests; every step has exactly one"
        yield Defect(_odd_one(document, blocks), "manifest-count", message)
    for step in document.steps:
        if step.manifest is None:
            message = f"step {step.number} has no usable manifest; add a fenced yaml block that begins with `manifest:`"
            yield Defect(step.line, "manifest-count", message)


def _odd_one(document: Document, blocks: list[int]) -> int:
    """The line of the first step without a manifest, or of the first manifest without a step to itself."""
    taken = set()
    for step in document.steps:
        own = [line for line in blocks if step.line < line <= step.line + step.text.count("\n")]
        if not own and len(blocks) < len(document.steps):
            return step.line
        taken.update(own[:1])
    return next((line for line in blocks if line not in taken), 0)


def _dependencies(document: Document) -> Iterator[Defect]:
    numbers = {step.number for step in document.steps}
    for step in document.steps:
        for other in step.depends_on:
            if other >= step.number:
                message = f"step {step.number} depends on step {other}, which does not come before it"
                yield Defect(step.line, "depends-on", message)
            elif other not in numbers and document.kind == "plan":
                yield Defect(step.line, "depends-on", f"step {step.number} depends on step {other}, which is not there")


def _sessions(document: Document) -> Iterator[Defect]:
    if document.kind == "spec":
        return
    counted = Counter(group.number for group in document.groups)
    for group in document.groups:
        if counted[group.number] > 1:
            yield Defect(group.line, "session", f"session {group.number} is there {counted[group.number]} times")
        if not group.steps:
            yield Defect(group.line, "session", f"session {group.number} has no step")
        for other in group.depends_on:
            if other not in counted:
                yield Defect(group.line, "session", f"session {group.number} depends on session {other}: there is none")
    yield from _circles(document.groups)
    yield from _against_order(document)


def _circles(groups: tuple[Group, ...]) -> Iterator[Defect]:
    left = {group.number: set(group.depends_on) for group in groups}
    while ready := [number for number, others in left.items() if not others & left.keys()]:
        for number in ready:
            del left[number]
    for group in groups:
        if group.number in left:
            message = f"session {group.number} waits for itself through {_listed(left[group.number] & left.keys())}"
            yield Defect(group.line, "session", message)


def _against_order(document: Document) -> Iterator[Defect]:
    """A step that depends on a step of another session makes its session depend on that one; say so."""
    home = {number: group for group in document.groups for number in group.steps}
    for step in document.steps:
        own = home.get(step.number)
        for other in step.depends_on:
            there = home.get(other)
            if own and there and own.number != there.number and there.number not in _before(document.groups, own):
                message = (
                    f"step {step.number} depends on step {other} of session {there.number}; "
                    f"write `- Depends on: Session {there.number}` below `## Session {own.number}`"
                )
                yield Defect(step.line, "session", message)


def _before(groups: tuple[Group, ...], group: Group) -> set[int]:
    """Every session that has to be over before this one."""
    found: set[int] = set()
    waiting = list(group.depends_on)
    while waiting:
        number = waiting.pop()
        if number not in found:
            found.add(number)
            waiting += [other for one in groups if one.number == number for other in one.depends_on]
    return found


def _listed(numbers: set[int]) -> str:
    return ", ".join(f"session {number}" for number in sorted(numbers))
