"""The items of a task that is a list, each with the tests that failed without the work and share a word with it.

It guesses nothing and changes no verdict: whoever reads the end sees which item no test names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from omo.proof import kinds
from omo.text import clip
from omo.work import requests
from omo.work.outcome import PROVEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.ledger_rows import SessionEvent
    from omo.state.rows import Outcome, TaskItem


def _words_in(text: str) -> frozenset[str]:
    return frozenset(text.split())


MOST_ITEMS = 20
MOST_TESTS = 3
LONGEST = 80
SHORTEST_WORD = 3
LINE_OF_A_LIST = re.compile(r"\s*(?:[-*+•]|\d+[.)])\s+(?:\[(.?)\]\s+)?(\S.*)")
NUMBER = re.compile(r"(?:^|(?<=\s))\(?(\d+)[.)]\s+")
CAPITAL_INSIDE = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])")
AS_CODE = re.compile(r"`([^`]+)`|(\w+)\(")
STOP_WORDS = _words_in(
    """test tests the and for with that this from into when then than are not all any must should can will has have its
    new but out per via too each only also does was one two"""
)
# What an item begins with says what is to be done, not to what.
FIRST_WORDS = _words_in(
    """add fix make implement write create remove delete drop update change support allow handle use let improve rename
    mend repair build do"""
)


def told_with(ended: Outcome, asked: Sequence[SessionEvent], failing: Iterable[str]) -> Outcome:
    """Return a proven end with the items of the task, any other as it is."""
    if ended["verdict"] != PROVEN:
        return ended
    items = items_of(asked)
    return {**ended, "items": with_tests(items, failing)} if items else ended


def items_of(asked: Sequence[SessionEvent]) -> list[str]:
    """Return the items of the task: of the documents that the user handed over, else of what they typed."""
    texts = []
    for row in asked:
        documents = [document["text"] for document in requests.documents_of(row)]
        texts += documents or [str(row.get("text") or "")]
    found: dict[str, None] = {}
    for text in texts:
        found.update(dict.fromkeys(_list_in(text)))
    return list(found) if len(found) > 1 else []


def _list_in(text: str) -> list[str]:
    """The lines of a list, without those that are ticked; or the parts of a line "1) … 2) …"."""
    found = []
    is_code = False
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        match = LINE_OF_A_LIST.fullmatch(line)
        if is_code or match is None:
            continue
        box, item = match.groups()
        if box is None or not box.strip():
            found.append(item.strip())
    if len(found) > 1:
        return found
    for line in text.split("\n"):
        parts = NUMBER.split(line)
        numbers = parts[1::2]
        if len(numbers) > 1 and numbers == [str(number) for number in range(1, len(numbers) + 1)]:
            return [part.strip(" ,;") for part in parts[2::2]]
    return []


def with_tests(items: Sequence[str], failing: Iterable[str]) -> list[TaskItem]:
    """Return the items with the names of tests; `failing` is what failed without the work. Where a file of tests could
    not be loaded without it, nobody knows what its tests are called."""
    tests: list[str] = []
    unloaded: list[str] = []
    for name in failing:
        is_file = "::" not in name and " " not in name and name.endswith(kinds.CODE)
        (unloaded if is_file else tests).append(name)
    named = []
    for item in items[:MOST_ITEMS]:
        words = _words_of_item(item)
        found = [name for name in tests if not words.isdisjoint(_words(_own_name(name)))]
        row: TaskItem = {"text": clip(item, LONGEST), "tests": [clip(name, LONGEST) for name in found[:MOST_TESTS]]}
        if len(found) > MOST_TESTS:
            row["more"] = len(found) - MOST_TESTS
        if unloaded and not found:
            row["unloaded"] = clip(unloaded[0], LONGEST)
        named.append(row)
    return named


def _own_name(test: str) -> str:
    """A test's name without its file and class: `test_add` of `tests/test_calc.py::Calc::test_add`."""
    name = test.partition(" (")[0].rpartition("::")[2]
    return name if " " in name else name.rpartition(".")[2]


def _words_of_item(item: str) -> set[str]:
    words = _words(item)
    first = re.match(r"\w+", item)
    if first and first[0].casefold() in FIRST_WORDS and len(words) > 1:
        words.discard(_folded(first[0]))
    for code in AS_CODE.findall(item):  # `add`, or add()
        words |= _words(" ".join(code))
    return words


def _words(text: str) -> set[str]:
    """The words of a text, and the parts of the identifiers in it."""
    parted = CAPITAL_INSIDE.sub(" ", text.replace("_", " "))
    found = {_folded(word) for word in re.findall(r"\w+", parted)}
    return {word for word in found if len(word) >= SHORTEST_WORD and word not in STOP_WORDS and not word.isdecimal()}


def _folded(word: str) -> str:
    """One form for a word and its plural."""
    small = word.casefold()
    return small[:-1] if len(small) > SHORTEST_WORD and small.endswith("s") and not small.endswith("ss") else small
