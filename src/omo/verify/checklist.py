"""The checklist of q1.5: does it look at the goal from every side, and say what was seen?"""

from __future__ import annotations

import re

from omo.shown import clip
from omo.verify.goals import Goal
from omo.verify.replies import DIMENSIONS, MOST_ITEMS, Item
from omo.verify.statements import SHORTEST_REASON, hedges

_FEWEST, _ROUTINE_FEWEST = 5, 3
_FILLER = frozenset(
    """
    a an the is are was were be been has have had do does did it its this that of to in on for and or with by
    as at goal done complete completed finished succeed succeeds succeeded really now all
    """.split()  # noqa: SIM905  # a list of words reads better as words
)


def defects_in(goal: Goal, items: list[Item]) -> list[str]:
    fewest = _ROUTINE_FEWEST if goal.spec.routine else _FEWEST
    defects = [] if fewest <= len(items) <= MOST_ITEMS else [f"items: {len(items)}, not {fewest} to {MOST_ITEMS}"]
    asked = [item.dimension for item in items]
    if not goal.spec.routine:
        defects += [f"items: none about {name}" for name in DIMENSIONS if name not in asked]
    if items and all(item.result == "na" for item in items):
        defects.append("items: every result is na, so nothing was looked at")
    for at, item in enumerate(items):
        defects += [f"items[{at}]: {said}" for said in _item_defects(goal, item)]
        if words_of(item.question) in [words_of(other.question) for other in items[:at]]:
            defects.append(f"items[{at}].question: {clip(item.question, 60)!r} is asked twice")
    return defects


def _item_defects(goal: Goal, item: Item) -> list[str]:
    defects = [f"evidence: {said}" for said in hedges(item.evidence)]
    if item.result != "na" and len(item.evidence.strip()) < SHORTEST_REASON:
        defects.append(f"evidence: {item.evidence!r} says nothing of what was seen")
    if _is_restatement(item.question, goal.spec.title):
        defects.append(f"question: {clip(item.question, 60)!r} only restates the title; ask for one property")
    return defects


def _is_restatement(question: str, title: str) -> bool:
    asked, named = ({word[:5] for word in words_of(text)} for text in (question, title))  # handle, handles, handled
    return bool(asked) and len(asked & named) >= 0.8 * len(asked | named)


def is_declared(goal: Goal, question: str) -> bool:
    """An outcome whose every word is in the question covers it, whatever the answer says."""
    declared = [words_of(one) for one in goal.spec.verification.outcomes]
    return any(len(words) > 1 and words <= words_of(question) for words in declared)


def words_of(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower())) - _FILLER
