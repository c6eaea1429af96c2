"""A plan cut into sessions that one executor can carry out: steps, fence, needs, and what has to come before."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from itertools import chain

from omo.errors import Refused
from omo.text import counted
from omo.workflows.ultraplan.document import fence_of_session
from omo.workflows.ultraplan.models import Defect, Document, Fence, Group, Step
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
    """The sessions of a plan, in the order it has them. Refused, with every defect, where it cannot be cut."""
    document = synthesise(plan)
    wrong = [str(defect) for defect in structure(document)]
    if wrong:
        raise Refused(
            f"{document.path} cannot be cut into sessions: {counted(len(wrong), 'defect')}",
            fix=f"mend the plan, then omo plan validate {document.path}",
            defects=wrong,
        )
    groups = _groups(document)
    fences = {group.number: fence_of_session(document, _steps(document, group)) for group in groups}
    needed = dependencies(document)
    needs = document.needs
    if has_remote and (needs or not document.says_needs):  # a plan that declares none has none
        needs = _union([["git_push"], needs])
    sessions = []
    for group in groups:
        fence = fences[group.number]
        foreign: list[str] = []
        apart, blocks = [], []
        for other, its in fences.items():
            if other == group.number:
                continue
            if overlap(fence.touch, its.touch):
                apart.append(other)
            if group.number in needed[other]:
                blocks.append(other)
            foreign += [glob for glob in its.touch if not overlap(fence.touch, [glob])]
        part = replace(
            document,
            title=group.title or document.title,
            steps=tuple(_steps(document, group)),
            groups=(replace(group, fence=None),),
            # What other sessions may change, this one may not, unless it may be the same file.
            fence=Fence(fence.touch, _union([fence.never, foreign])),
            needs=needs,
            context="\n\n".join(filter(None, (group.context, document.context))),
        )
        depends_on = tuple(sorted(needed[group.number]))
        session = Session(
            group.number, len(groups), document.title, part, depends_on, tuple(sorted(blocks)), tuple(apart)
        )
        sessions.append(session)
    return sessions


def _groups(document: Document) -> tuple[Group, ...]:
    numbers = tuple(step.number for step in document.steps)
    return document.groups or (Group(number=1, title=document.title, line=0, steps=numbers),)


def _steps(document: Document, group: Group) -> list[Step]:
    return [step for step in document.steps if step.number in group.steps]


def _union(lists: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """What is in the lists, in their order, each once."""
    return tuple(dict.fromkeys(chain.from_iterable(lists)))


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
    yield from _wrong_sessions(document)


def _wrong_sessions(document: Document) -> Iterator[Defect]:
    groups = _groups(document)
    numbers: Counter[int] = Counter()
    homes: Counter[int] = Counter()
    for group in groups:
        numbers[group.number] += 1
        homes.update(group.steps)
    for step in document.steps:
        if homes[step.number] != 1:
            message = f"step {step.number} stands in {homes[step.number]} sessions, not in one"
            yield Defect(step.line, "session", message)
    for group in groups:
        if numbers[group.number] > 1:
            yield Defect(group.line, "session", f"session {group.number} is there {numbers[group.number]} times")
        if not group.steps and document.steps:
            yield Defect(group.line, "session", f"session {group.number} has no step")
        for other in group.depends_on:
            if other not in numbers:
                message = f"session {group.number} depends on session {other}, which is not in the plan"
                yield Defect(group.line, "session", message)
    try:
        TopologicalSorter(dependencies(document)).prepare()
    except CycleError as error:
        circle = list(reversed(error.args[1]))
        line = min(group.line for group in groups if group.number in circle)
        waiting = " → ".join(f"session {number}" for number in circle)
        yield Defect(line, "session", f"no session can be first: {waiting}, each waits for the next")


# which sessions come first


def dependencies(document: Document) -> dict[int, set[int]]:
    """Which sessions each one waits for: as it says itself, and as its steps do."""
    home: dict[int, int] = {}
    needed: dict[int, set[int]] = {}
    for group in _groups(document):
        home |= dict.fromkeys(group.steps, group.number)
        needed[group.number] = set(group.depends_on)
    for step in document.steps:
        own = home.get(step.number)
        for other in step.depends_on:
            session = home.get(other)
            if own is not None and session is not None and session != own:
                needed[own].add(session)
    return needed


def order(sessions: Sequence[Session]) -> list[int]:
    """What each waits for before it; else as the plan has them."""
    numbers: list[int] = []
    left = list(sessions)
    while left:
        ready = next(session for session in left if set(session.depends_on) <= set(numbers))
        numbers.append(ready.number)
        left.remove(ready)
    return numbers


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
