"""What a gate's results show about the work. Nothing is run for it: only what this run saw counts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from omo.evidence.seals import is_test
from omo.shown import clip

Row = Mapping[str, Any]

RED_TO_GREEN, GREEN_TO_GREEN, UNSEEN, FLAKY = "red→green", "green→green", "unseen", "flaky"
# What runners say when there was nothing to run, and what shows that something was.
_RAN_NOTHING = re.compile(
    r"\bno tests ran\b|\bran 0 tests\b|\bno tests? (?:were |was )?(?:found|executed|collected|to run)\b"
    r"|\bno test files\b"
    r"|\b0 passing\b|\brunning 0 tests\b|\bTests run: 0\b|\b0 tests? (?:completed|collected)\b|\b0 examples\b"
    r"|\bno specs found\b|\bcollected 0 items\b",
    re.IGNORECASE,
)
_RAN_SOMETHING = re.compile(
    r"\b[1-9]\d* (?:passed|passing|failed|failing|errors?|examples|specs)\b|\bran [1-9]\d* tests?\b"
    r"|\brunning [1-9]\d* tests?\b|\bTests run: [1-9]|^ok\s+\S+\s+[\d.(]|^(?:---|FAIL)\b|\b[1-9]\d* tests? completed\b",
    re.IGNORECASE | re.MULTILINE,
)
_NOT_THERE = re.compile(r"No module named '?([\w.]+)|command not found|: not found$|is not recognized as", re.MULTILINE)
_COULD_NOT_START = (126, 127)


@dataclass(frozen=True)
class Strength:
    """`red` is the last line of the failure that a pass is held against."""

    kind: str
    red: str = ""


def ran_nothing(output: str) -> bool:
    """A test runner says so itself, and nothing beside it says otherwise."""
    return bool(_RAN_NOTHING.search(output)) and not _RAN_SOMETHING.search(output)


def of_gate(results: Sequence[Row], green: Row, changed: Mapping[str, str]) -> Strength:
    """How strong the pass `green` is. `results` are all of this gate in this run, `changed` the files at the pass."""
    alike = [row for row in results if row.get("env") == green.get("env")]
    if any(is_flaky_with(row, alike) for row in alike):
        return Strength(FLAKY)
    before = [row for row in alike if _differs_in_tests_alone(row, changed)]
    for row in reversed(before):
        if is_red(row):
            return Strength(RED_TO_GREEN, last_line(str(row.get("tail") or "")))
    if any(row.get("result") == "pass" for row in before):
        return Strength(GREEN_TO_GREEN)
    return Strength(UNSEEN)


def is_red(row: Row) -> bool:
    """A failure of what was tested; a program that is missing, or that ran no test, has tested nothing."""
    if row.get("result") != "fail" or row.get("moved"):
        return False
    tail = str(row.get("tail") or "")
    return row.get("exit") not in _COULD_NOT_START and not ran_nothing(tail) and not _is_missing(row, tail)


def _is_missing(row: Row, tail: str) -> bool:
    """`python3 -m pytest` where there is no pytest fails before anything was tested."""
    missing = _NOT_THERE.search(tail)
    if missing is None:
        return False
    return missing[1] is None or missing[1] in (row.get("argv") or ())


def is_flaky_with(row: Row, others: Sequence[Row]) -> bool:
    """The same files gave a failure and a pass."""
    if row.get("result") != "pass":
        return False
    return any(is_red(other) and other.get("tree") == row.get("tree") for other in others)


def _differs_in_tests_alone(row: Row, changed: Mapping[str, str]) -> bool:
    """It ran on the base, or on the base with tests that are the same at the pass."""
    then = row.get("changed")
    if not isinstance(then, dict):
        return False
    return all(is_test(path) and changed.get(path) == digest for path, digest in then.items())


def last_line(output: str) -> str:
    lines = [line for line in output.splitlines() if line.strip()]
    return clip(lines[-1], 120) if lines else ""
