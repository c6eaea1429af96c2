"""The transition table, against a model that never steps: it reads the whole history at once."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omo.engine.case import Case, CaseItem
from omo.engine.flow import ItemMark
from omo.engine.judging import apply
from omo.engine.show import line_of
from omo.work.judge import RESULTS
from omo.workflows.ralph.flow import FLOW, turn

LETTERS = {"p": "pass", "f": "fail", "u": "unknown"}


def walk(history: str) -> ItemMark:
    state = ItemMark(FLOW.begins_as)
    for iteration, letter in enumerate(history, start=1):
        state = turn(state, LETTERS[letter], iteration)
    return state


def statuses(history: str) -> str:
    """The status after each letter, by its first letter."""
    short = {"PENDING": "-", "PASS": "P", "FAIL": "F", "REGRESSED": "R", "BLOCKED": "B"}
    return "".join(short[walk(history[:length]).status] for length in range(1, len(history) + 1))


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        ("p", "P"),
        ("f", "F"),
        ("u", "-"),
        ("ff", "FF"),
        ("fff", "FFB"),
        ("fffff", "FFBBB"),
        ("ffp", "FFP"),
        ("fffp", "FFBP"),
        ("ffpff", "FFPRF"),
        ("pf", "PR"),
        ("pff", "PRF"),
        ("pfff", "PRFF"),
        ("pffff", "PRFFB"),
        ("pfp", "PRP"),
        ("pfpf", "PRPR"),
        ("pfpfpf", "PRPRPB"),
        ("pfpfpff", "PRPRPBB"),
        ("pfpfpfp", "PRPRPBP"),
        ("pfpfpfpf", "PRPRPBPB"),
        ("fuf", "FFF"),
        ("fufuf", "FFFFB"),
        ("pu", "PP"),
        ("puf", "PPR"),
        ("pfu", "PRR"),
        ("fffu", "FFBB"),
    ],
)
def test_the_table(history: str, expected: str) -> None:
    assert statuses(history) == expected


def test_a_regression_is_remembered_until_the_next_pass() -> None:
    broken = walk("fpf")
    assert (broken.regressed_at_iteration, broken.last_pass_iteration, broken.fail_count) == (3, 2, 0)
    assert walk("fpff").regressed_at_iteration == 3
    assert walk("fpfp") == ItemMark("PASS", 0, "REGRESSED", None, 4, 1)


def test_what_blocks_by_coming_and_going_is_told_from_what_never_passed() -> None:
    item = CaseItem("C1", "part 1", [])
    lines = []
    for history in ("pfpfpf", "fff"):
        lines.append(line_of(Case(FLOW, marks={"C1": walk(history)}), item, {}))
    assert lines == [
        "C1 BLOCKED (regressed 3 times): part 1",
        "C1 BLOCKED (failed 3 in a row): part 1",
    ]


def model(history: str) -> ItemMark:
    """Written from the rules in words: runs of letters, no state carried along."""
    known = [(at, letter) for at, letter in enumerate(history, start=1) if letter != "u"]
    letters = "".join(letter for _, letter in known)
    tail = re.search(r"f*$", letters)
    assert tail
    failing, has_passed = len(tail[0]), "p" in letters
    breaks = letters.count("pf")
    counted = failing - 1 if has_passed and failing else failing
    first_failure = len(letters) - failing
    if breaks >= 3 and failing:
        status, counted = "BLOCKED", 0
    elif not letters:
        status = "PENDING"
    elif not failing:
        status = "PASS"
    elif counted == 0:
        status = "REGRESSED"
    else:
        status = "FAIL" if counted < 3 else "BLOCKED"
    passes = [at for at, letter in known if letter == "p"]
    return ItemMark(
        status=status,
        fail_count=min(counted, 3),
        previous_status=model(history[: known[-1][0] - 1]).status if known else None,
        regressed_at_iteration=known[first_failure][0] if has_passed and failing else None,
        last_pass_iteration=passes[-1] if passes else None,
        regressions=breaks,
    )


@given(st.text(alphabet="pfu", max_size=40))
def test_stepping_gives_what_the_history_says(history: str) -> None:
    assert walk(history) == model(history)


@given(st.text(alphabet="pf", min_size=1, max_size=60))
def test_no_criterion_is_worked_on_for_ever_without_passing(history: str) -> None:
    """Between two passes at most four failures are worth another round, and at most three breaks in a run are."""
    shown = statuses(history)
    assert not re.search(r"[FR]{4}", shown)
    assert shown.count("R") <= 2


CASES = list(itertools.product([status.name for status in FLOW.statuses], RESULTS))


def of_two(first: tuple[str, str], second: tuple[str, str]) -> str:
    """The verdict on what two criteria were, and what was seen of them."""
    settled, results = [], []
    for status, result in (first, second):
        if turn(ItemMark(status), result, 1).status != "BLOCKED":
            results.append(result)
        else:
            settled.append(status)
    if set(results) <= {"pass"}:
        return "partial" if settled else "pass"
    return "fail" if "fail" in results else "unknown"


@pytest.mark.parametrize("first", CASES, ids="-".join)
def test_the_verdict_and_the_decision_on_two(first: tuple[str, str]) -> None:
    for second in CASES:
        marks = {"C1": ItemMark(first[0]), "C2": ItemMark(second[0])}
        for iteration, most in itertools.product(range(1, 4), range(1, 4)):
            case = Case(FLOW, marks=marks, started={"max_iterations": most}, opened={"iteration": iteration})
            applied = apply(case, {"C1": first[1], "C2": second[1]})
            assert applied.verdict == of_two(first, second)
            going_on = "safeguard" if iteration >= most else "replan"
            assert applied.decision == ("done" if applied.verdict in ("pass", "partial") else going_on)


def test_nothing_judged_is_no_pass() -> None:
    assert apply(Case(FLOW), {}).verdict == "unknown"
