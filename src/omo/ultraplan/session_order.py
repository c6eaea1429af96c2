"""Which sessions come first, and which may run beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from graphlib import CycleError, TopologicalSorter

from omo.ultraplan.document import Defect, Document, Group

Needed = dict[int, set[int]]


def dependencies(document: Document, groups: Sequence[Group]) -> Needed:
    """Which sessions each one waits for: as it says itself, and as its steps do."""
    home = {number: group.number for group in groups for number in group.steps}
    needed: Needed = {group.number: set(group.depends_on) for group in groups}
    for step in document.work_steps:
        mine = home.get(step.number)
        if mine is not None:
            needed[mine] |= {home[other] for other in step.depends_on if other in home and home[other] != mine}
    return needed


def defects(document: Document, groups: Sequence[Group]) -> list[Defect]:
    """Every reason why there is no order: what is unknown, comes too late, or waits for itself."""
    return [
        *_homeless(document, groups),
        *_unknown(document, groups),
        *_too_late(document, groups),
        *_cycles(document, groups),
    ]


def _homeless(document: Document, groups: Sequence[Group]) -> list[Defect]:
    homes = [number for group in groups for number in group.steps]
    stray = [step for step in document.work_steps if homes.count(step.number) != 1]
    return [
        Defect(step.line, "session", f"step {step.number} stands in {homes.count(step.number)} sessions, not in one")
        for step in stray
    ]


def _unknown(document: Document, groups: Sequence[Group]) -> list[Defect]:
    sessions, steps = {group.number for group in groups}, {step.number for step in document.steps}
    of_groups = [(group.line, "session", group.number, set(group.depends_on) - sessions) for group in groups]
    of_steps = [(step.line, "step", step.number, set(step.depends_on) - steps) for step in document.work_steps]
    return [
        Defect(line, "depends-on", f"{what} {number} depends on {what} {other}, which is not in the plan")
        for line, what, number, unknown in of_groups + of_steps
        for other in sorted(unknown)
    ]


def _too_late(document: Document, groups: Sequence[Group]) -> list[Defect]:
    """Steps of a session are carried out in the order they stand in."""
    place = {number: (group.number, at) for group in groups for at, number in enumerate(group.steps)}
    return [
        Defect(step.line, "depends-on", f"step {step.number} depends on step {other}, which comes later in its session")
        for step in document.work_steps
        for other in step.depends_on
        if step.number in place and other in place and place[other][0] == place[step.number][0]
        if place[other][1] >= place[step.number][1]
    ]


def _cycles(document: Document, groups: Sequence[Group]) -> list[Defect]:
    circle = cycle(dependencies(document, groups))
    if not circle:
        return []
    lines = {group.number: group.line for group in groups}
    said = " → ".join(f"session {number}" for number in circle)
    return [Defect(lines.get(circle[0], 0), "cycle", f"no session can be first: {said}, each waits for the next")]


def cycle(needed: Mapping[int, set[int]]) -> list[int]:
    """Numbers that wait for each other in a circle, the first one again at the end; empty where none do."""
    try:
        TopologicalSorter(needed).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []


def waves(needed: Mapping[int, set[int]], touch: Mapping[int, Sequence[str]]) -> list[list[int]]:
    """The sessions of a wave wait for none of each other, and no two of them may change the same file.

    `needed` has no circle; what it names beyond its own keys counts as done.
    """
    left, order = sorted(needed), []
    while left:
        wave: list[int] = []
        for number in left:
            is_ready = not needed[number] & set(left)
            if is_ready and not any(overlap(touch[number], touch[other]) for other in wave):
                wave.append(number)
        order.append(wave)
        left = [number for number in left if number not in wave]
    return order


def overlap(some: Sequence[str], others: Sequence[str]) -> bool:
    """Whether a path may be covered by both; in doubt it may. A fence without a touch list keeps nothing out."""
    if not some or not others:
        return True
    return any(may_meet(one, other) for one in some for other in others)


def may_meet(one: str, other: str) -> bool:
    """A glob also covers what lies below what it names, so where one ends or says `**`, the other goes on inside it.

    Upper and lower case are the same here: on some file systems they are the same file.
    """
    for mine, its in zip(one.casefold().split("/"), other.casefold().split("/"), strict=False):
        if "**" in (mine, its):
            return True
        if not _names_meet(mine, its):
            return False
    return True


def _names_meet(one: str, other: str) -> bool:
    if not _is_pattern(one) or not _is_pattern(other):
        return one == other or fnmatchcase(one, other) or fnmatchcase(other, one)
    starts = [_before_pattern(one), _before_pattern(other)]
    ends = [_after_pattern(one), _after_pattern(other)]
    return _one_begins_the_other(*starts) and _one_begins_the_other(*(end[::-1] for end in ends))


def _is_pattern(name: str) -> bool:
    return any(letter in name for letter in "*?[")


def _before_pattern(name: str) -> str:
    return name[: min(name.index(letter) for letter in "*?[" if letter in name)]


def _after_pattern(name: str) -> str:
    return name[max(name.rfind(letter) for letter in "*?]") + 1 :]


def _one_begins_the_other(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)
