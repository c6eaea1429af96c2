"""What a gate's results show about the work. Nothing is run for it: only what this run saw counts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from omo.proof.seals import is_test
from omo.text import clip

Row = Mapping[str, Any]

RED_TO_GREEN, GREEN_TO_GREEN, UNSEEN, FLAKY = "red→green", "green→green", "unseen", "flaky"
# What runners say when there was nothing to run, and what shows that something was.
_RAN_NOTHING = re.compile(
    r"\bno tests ran\b|\bran 0 tests\b|\bno tests? (?:were |was )?(?:found|executed|collected|to run)\b"
    r"|\bno test files\b|\b0 passing\b|\brunning 0 tests\b|\bTests run: 0\b|\b0 tests? (?:completed|collected)\b"
    r"|\b0 examples\b|\bno specs found\b|\bcollected 0 items\b|^# tests 0$|\b0 runs, 0 assertions\b|^1\.\.0\b"
    r"|\bTests:\s+0 total\b|\b\d+ (?:skipped|deselected)\b|\bis up to date\b|\bNothing to be done for\b",
    re.IGNORECASE | re.MULTILINE,
)
_RAN_SOMETHING = re.compile(
    r"\b[1-9]\d* (?:passed|passing|failed|failing|errors?|examples|specs)\b|\bran [1-9]\d* tests?\b"
    r"|\brunning [1-9]\d* tests?\b|\bTests run: [1-9]|^ok\s+\S+\s+[\d.(](?!.*no tests to run)|^(?:---|FAIL)\b"
    r"|\b[1-9]\d* tests? completed\b|^ok [1-9]|^# pass [1-9]",
    re.IGNORECASE | re.MULTILINE,
)
_ALL_SKIPPED = re.compile(r"\bRan (\d+) tests?\b.*\bOK \(skipped=(\d+)\)", re.DOTALL)
_NOT_THERE = re.compile(
    r"No module named '?([\w.]+)|Cannot find module '([^'./][^']*)'|command not found|: not found$"
    r"|is not recognized as",
    re.MULTILINE,
)
_COULD_NOT_START = (126, 127, None)  # no exit of its own: killed, or never begun


@dataclass(frozen=True)
class Strength:
    """`red` is the last line of the failure that a pass is held against."""

    kind: str
    red: str = ""


def ran_nothing(output: str) -> bool:
    """A test runner says so itself, and nothing beside it says otherwise."""
    skipped = _ALL_SKIPPED.search(output)
    if skipped is not None and skipped[1] == skipped[2]:
        return True
    return bool(_RAN_NOTHING.search(output)) and not _RAN_SOMETHING.search(output)


def of_gate(results: Sequence[Row], green: Row, changed: Mapping[str, str], allowed: Sequence[str] = ()) -> Strength:
    """How strong the pass `green` is. `results` are all of this gate in this run, `changed` the files at the pass.

    `allowed` are tests that the user let be changed.
    """
    alike = [row for row in results if row.get("env") == green.get("env")]
    if any(is_flaky_with(row, alike, changed) for row in alike):
        return Strength(FLAKY)
    for row in reversed(alike):
        if is_red(row, changed) and _is_on_the_base(row) and _was_mended(row, alike, changed, allowed):
            return Strength(RED_TO_GREEN, last_line(str(row.get("tail") or "")))
    if any(row.get("result") == "pass" and _is_on_the_base(row) for row in alike):
        return Strength(GREEN_TO_GREEN)
    return Strength(UNSEEN)


def _is_on_the_base(row: Row) -> bool:
    """It ran on the files as the run began with them, or on those with other tests."""
    then = row.get("changed")
    return isinstance(then, dict) and all(is_test(path) for path in then)


def _was_mended(red: Row, others: Sequence[Row], changed: Mapping[str, str], allowed: Sequence[str]) -> bool:
    """With the very tests that failed the work passes: now, or before more tests were added to the same work.

    Otherwise a test that was made harmless after it had failed would prove what it no longer tests.
    """
    failed_tests = _tests(red["changed"], allowed)
    if _tests(changed, allowed) == failed_tests:
        return True
    for row in others:
        then = row.get("changed")
        if row.get("result") != "pass" or not isinstance(then, dict):
            continue
        if _tests(then, allowed) == failed_tests and _work(then) == _work(changed):
            return True
    return False


def _tests(changed: Mapping[str, str], allowed: Sequence[str]) -> dict[str, str]:
    return {path: digest for path, digest in changed.items() if is_test(path) and path not in allowed}


def _work(changed: Mapping[str, str]) -> dict[str, str]:
    return {path: digest for path, digest in changed.items() if not is_test(path)}


def is_red(row: Row, changed: Mapping[str, str]) -> bool:
    """A failure of what was tested; a program that is missing, or that ran no test, has tested nothing."""
    if row.get("result") != "fail" or row.get("moved"):
        return False
    tail = str(row.get("tail") or "")
    return row.get("exit") not in _COULD_NOT_START and not ran_nothing(tail) and not _is_missing(tail, changed)


def _is_missing(tail: str, changed: Mapping[str, str]) -> bool:
    """`python3 -m pytest` where there is no pytest, or a dependency is missing: nothing of the work was tested.

    A module that the work then adds is another matter: that is how a test fails that was written first.
    """
    missing = _NOT_THERE.search(tail)
    if missing is None:
        return False
    name = (missing[1] or missing[2] or "").split(".")[0].split("/")[0]
    if not name:
        return True
    return not any(name in path.replace(".", "/").split("/") for path in changed)


def is_flaky_with(row: Row, others: Sequence[Row], changed: Mapping[str, str]) -> bool:
    """The same files gave a failure and a pass."""
    if row.get("result") != "pass":
        return False
    same_files = [other for other in others if other.get("tree") == row.get("tree")]
    return any(is_red(other, changed) for other in same_files)


def last_line(output: str) -> str:
    lines = [line for line in output.splitlines() if line.strip()]
    return clip(lines[-1], 120) if lines else ""
