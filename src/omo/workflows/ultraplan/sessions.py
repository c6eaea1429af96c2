"""A plan cut into sessions that one executor can carry out: steps, fence, needs, and what has to come before."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from omo.errors import Refused
from omo.text import counted
from omo.workflows.ultraplan.document import fence_of_session
from omo.workflows.ultraplan.models import Defect, Document, Fence, Step
from omo.workflows.ultraplan.propose import synthesise


@dataclass(frozen=True)
class Session:
    """`document` is the plan with this session's steps, fence, needs and context alone. `apart` are sessions that may
    come before or after this one, but not run beside it."""

    number: int
    total: int
    plan_title: str
    document: Document
    depends_on: tuple[int, ...] = ()
    blocks: tuple[int, ...] = ()
    apart: tuple[int, ...] = ()


def cut(plan: Document, *, has_remote: bool = False) -> list[Session]:
    """The sessions of a plan, as they can be carried out. Refused, with every defect, where it cannot be cut."""
    document = synthesise(plan)
    wrong = [str(defect) for defect in structure(document)]
    if wrong:
        raise Refused(
            f"{document.path} cannot be cut into sessions: {counted(len(wrong), 'defect')}",
            fix=f"mend the plan, then omo plan validate {document.path}",
            defects=wrong,
        )
    groups = {group.number: group for group in document.groups}
    steps: dict[int, list[Step]] = {}
    fences: dict[int, Fence] = {}
    for number, group in groups.items():
        steps[number] = [step for step in document.steps if step.number in group.steps]
        fences[number] = fence_of_session(document, steps[number])
    needed = dependencies(document)
    needs = document.needs
    if has_remote and (needs or not document.says_needs):  # a plan that declares none has none
        needs = tuple(dict.fromkeys(["git_push", *needs]))
    sessions = []
    for number in order(document):
        group, fence = groups[number], fences[number]
        foreign: list[str] = []
        apart, blocks = [], []
        for other, its in fences.items():
            if other == number:
                continue
            if overlap(fence.touch, its.touch):
                apart.append(other)
            if number in needed[other]:
                blocks.append(other)
            foreign += [glob for glob in its.touch if not overlap(fence.touch, [glob])]
        part = replace(
            document,
            title=group.title or document.title,
            steps=tuple(steps[number]),
            groups=(replace(group, fence=None),),
            # What other sessions may change, this one may not, unless it may be the same file.
            fence=Fence(fence.touch, tuple(dict.fromkeys([*fence.never, *foreign]))),
            needs=needs,
            context="\n\n".join(filter(None, (group.context, document.context))),
        )
        waits_for = tuple(sorted(needed[number]))
        sessions.append(Session(number, len(groups), document.title, part, waits_for, tuple(blocks), tuple(apart)))
    return sessions


# what keeps a plan from being cut


def structure(document: Document) -> Iterator[Defect]:
    """What no sessions can be made of: nothing to do, steps without a session, dependencies that lead nowhere."""
    if not document.steps:
        yield Defect(1, "no-steps", "invalid plan: no step is headed `### Step 1: Title`, so there is nothing to do")
    numbers = {step.number for step in document.steps}
    for step in document.steps:
        for other in step.depends_on:
            depends = f"step {step.number} depends on step {other}"
            if other not in numbers:
                yield Defect(step.line, "depends-on", f"{depends}, which is not in the plan")
            elif other >= step.number:
                yield Defect(step.line, "depends-on", f"{depends}, which does not come before it")
        if not any(step.number in group.steps for group in document.groups):
            message = f"step {step.number} stands in no session; move it below a `## Session N: …` heading"
            yield Defect(step.line, "session", message)
    known: set[int] = set()
    sessions = {group.number for group in document.groups}
    for group in document.groups:
        if group.number in known:
            yield Defect(group.line, "session", f"session {group.number} is there twice")
        known.add(group.number)
        if not group.steps:
            yield Defect(group.line, "session", f"session {group.number} has no step")
        for other in sorted(set(group.depends_on) - sessions):
            message = f"session {group.number} depends on session {other}, which is not in the plan"
            yield Defect(group.line, "session", message)
    stuck = sorted(sessions.difference(order(document)))
    if stuck:
        line = min(group.line for group in document.groups if group.number in stuck)
        waiting = ", ".join(map(str, stuck))
        yield Defect(line, "session", f"no session can be first: of {waiting} each waits for another")


# which sessions come first


def dependencies(document: Document) -> dict[int, set[int]]:
    """Which sessions each one waits for: as it says itself, and as its steps do."""
    home: dict[int, int] = {}
    for group in document.groups:
        home |= dict.fromkeys(group.steps, group.number)
    known = set(home.values())
    needed = {group.number: known.intersection(group.depends_on) for group in document.groups}
    for step in document.steps:
        for other in step.depends_on:
            if step.number in home and other in home and home[other] != home[step.number]:
                needed[home[step.number]].add(home[other])
    return needed


def order(document: Document) -> list[int]:
    """The sessions as they can be carried out: what each waits for before it, else as the plan has them. Those that
    wait for each other are left out."""
    needed = dependencies(document)
    numbers: list[int] = []
    while True:
        ready = [number for number in needed if number not in numbers and needed[number] <= set(numbers)]
        if not ready:
            return numbers
        numbers.append(ready[0])


def overlap(some: Sequence[str], others: Sequence[str]) -> bool:
    """Whether a path may be covered by both; in doubt it may. A fence without a touch list keeps nothing out."""
    if not some or not others:
        return True
    return any(may_meet(glob, other) for glob in some for other in others)


def may_meet(glob: str, other: str) -> bool:
    """By what stands before the first wildcard of each; a glob also covers what lies below what it names.

    Upper and lower case are the same here: on some file systems they are the same file.
    """
    shorter, longer = sorted((glob.casefold(), other.casefold()), key=lambda text: len(_stem(text)))
    if _stem(shorter) == shorter:
        return f"{_stem(longer)}/".startswith(f"{shorter}/") or _stem(longer) == shorter
    return _stem(longer).startswith(_stem(shorter))


def _stem(glob: str) -> str:
    return re.split(r"[*?\[]", glob, maxsplit=1)[0]
