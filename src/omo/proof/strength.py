"""What a gate's results show about the work. Nothing is run for it: only what this run saw counts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from omo.proof.outputs import quoted, ran_nothing
from omo.proof.seals import is_test

Row = Mapping[str, Any]

RED_TO_GREEN, GREEN_TO_GREEN, UNSEEN, FLAKY = "red→green", "green→green", "unseen", "flaky"
_NOT_THERE = re.compile(
    r"No module named '?([\w.]+)|Cannot find module '([^'./][^']*)'|command not found"
    r"|^\S*sh: (?:.*: )?\S+: not found$|^\S+: \d+: \S+: not found$|is not recognized as",
    re.MULTILINE,
)
_COULD_NOT_START = (126, 127, None)  # no exit of its own: killed, or never begun


@dataclass(frozen=True)
class Strength:
    """`red` is the line that says what failed, of the failure that a pass is held against."""

    kind: str
    red: str = ""


def of_gate(results: Sequence[Row], green: Row, changed: Mapping[str, str], allowed: Sequence[str] = ()) -> Strength:
    """How strong the pass `green` is. `results` are all of this gate in this run, `changed` the files at the pass.

    `allowed` are tests that the user let be changed.
    """
    alike = [row for row in results if row.get("env") == green.get("env")]
    red_on = {row.get("tree") for row in alike if is_red(row, changed)}
    if any(row.get("result") == "pass" and row.get("tree") in red_on for row in alike):
        return Strength(FLAKY)
    for row in reversed(alike):
        if is_red(row, changed) and _is_on_the_base(row) and _was_mended(row, alike, changed, allowed):
            return Strength(RED_TO_GREEN, quoted(str(row.get("tail") or "")))
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
    parts = (missing[1] or missing[2] or "").split(".")[0].split("/")
    name = parts[0]
    if not name:
        return True
    if name.startswith(("@", "~", "#")):  # short for a directory, as in @/lib/sums
        name = parts[-1]
    return not any(name in path.replace(".", "/").split("/") for path in changed)
