"""What a gate's results show about the work. Nothing is run for it: only what this run saw counts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from omo.proof.run import Outcome
from omo.proof.seals import IN_PLACE_OF_RUNNER, is_test
from omo.text import clip

Row = Mapping[str, Any]

RED_TO_GREEN, GREEN_TO_GREEN, UNSEEN, FLAKY = "red→green", "green→green", "unseen", "flaky"
# What runners say when there was nothing to run, or when they left out all there was.
_RAN_NOTHING = re.compile(
    r"\bno (?:tests?|specs?|test (?:files|suites?|modules|cases))\b[^\n]{0,20}"
    r"\b(?:ran|run|found|executed|collected|match(?:es|ed)?|available)\b"
    r"|\bno test files\b|^\s*Tests\s+no tests\b|\bcouldn't find any files to test\b"
    r"|\b(?:ran|running|executed|starting|found|collected|all|with) 0 (?:of \d+ )?(?:tests?|specs?|items)\b"
    r"|\b0 (?:passing|successes|tests? (?:completed|run))\b|\b\d+(?:/\d+)? tests? collected\b|^\s*0 pass$"
    r"|\b0 passed[;,| ]|^\S{1,2} (?:tests|pass) 0$|\bTests: +(?:\d+ (?:skipped|todo|pending), )*\d+ total"
    r"|\bTotal(?: number of)? tests(?: run)?: 0\b|\btest cases: 0\b|^1\.\.0\b|\bTests=0\b|\bNOTESTS\b"
    r"|\[ +PASSED +\] 0 tests|\bPASS 0 \]|\bPassed: +0\b|\bsucceeded 0\b|\bTests are skipped\b|\ball tests skipped\b"
    r"|^> Task \S*test (?:NO-SOURCE|SKIPPED)"
    r"|\b\d+ (?:skipped|deselected|xfailed)\b.* in \d|^\s*(?:Test Files|Tests) +\d+ (?:skipped|todo)\b|^\s+\d+ skipped$"
    r"|^ok \d+\b.*# (?:skip|todo)\b",
    re.IGNORECASE | re.MULTILINE,
)
# All that is printed where there was nothing to build. Beside other lines it is about a part of the work.
_NOTHING_TO_BUILD = re.compile(
    r"(?:g?make\S*: )?(?:[`'].*' is up to date|Nothing to be done for |(?:Entering|Leaving) directory )"
    r"|ninja: no work to do"
)
# What shows that something was run all the same.
_RAN_SOMETHING = re.compile(
    r"\b[1-9]\d* (?:passed|passing|failed|failing|failures?|errors?|xpassed|successes)\b|^\s*[1-9]\d* (?:pass|fail)$"
    r"|^ok\s+[^\s|]+\s+[\d.(](?!.*no tests to run)|^\s*--- (?:PASS|FAIL)|^FAIL\b"
    r"|^(?:not )?ok [1-9]\d*\b(?!.*# (?:skip|todo)\b)"
    r"|\b[1-9]\d* tests? completed\b|^\S{1,2} (?:pass|fail) [1-9]|\[ +(?:PASSED|FAILED) +\] [1-9]"
    r"|\b(?:PASS|FAIL) [1-9]\d* |\b(?:Passed|Failed): +[1-9]|\b(?:succeeded|failed) [1-9]|\bTests=[1-9]"
    r"|\bExecuted [1-9]\d* (?:tests?|of)\b|\bRan [1-9]\d* of \d+ Specs\b|\b[1-9]\d* tests? (?:passed|failed)\b"
    r"|^> Task \S*test(?: FAILED| UP-TO-DATE| FROM-CACHE)?$",
    re.IGNORECASE | re.MULTILINE,
)
# How many tests there were, and of how many nothing became: unittest, JUnit, minitest, RSpec, ExUnit, PHPUnit.
_TOTAL = re.compile(
    r"\bRan (?P<unittest>\d+) tests? in .*(?:\s+(?:OK|FAILED|NO TESTS RAN).*)?|\bTests run: (?P<junit>\d+).*"
    r"|\b(?P<spec>\d+) (?:runs|examples?|tests?), \d+ (?:assertions|failures?)\b.*"
    r"|\bTests: (?P<phpunit>\d+), Assertions: .*"
)
_LEFT_OUT = re.compile(
    r"(?:skipped|expected failures|incomplete)[=:] ?(\d+)|(\d+) (?:skips|skipped|pending|excluded)\b", re.IGNORECASE
)
_NOT_THERE = re.compile(
    r"No module named '?([\w.]+)|Cannot find module '([^'./][^']*)'|command not found"
    r"|^\S*sh: (?:.*: )?\S+: not found$|^\S+: \d+: \S+: not found$|is not recognized as",
    re.MULTILINE,
)
_COULD_NOT_START = (126, 127, None)  # no exit of its own: killed, or never begun


@dataclass(frozen=True)
class Strength:
    """`red` is the last line of the failure that a pass is held against."""

    kind: str
    red: str = ""


def result_of(outcome: Outcome, shadows: Sequence[str] = ()) -> tuple[str, str]:
    """What a command that was run for the work says of it: pass, fail or unknown, and why it is unknown.

    Every workflow asks this of every gate or pinned command that it ran. A program that is missing, one that did not
    end, one that ran no test, and one in whose place another may have run (`shadows`, from `seals.shadows`) have shown
    nothing. Whether a failure is one of what was tested, `is_red` says.
    """
    if outcome.timed_out:
        return "unknown", f"timed out after {outcome.duration:.3g} s"
    if outcome.not_found:
        return "unknown", "program not found"
    if shadows:
        return "unknown", IN_PLACE_OF_RUNNER.format(shadows[0])
    if not outcome.ok:
        return "fail", ""
    if ran_nothing(outcome.stdout + outcome.stderr):
        return "unknown", "it ran no test"
    return "pass", ""


def ran_nothing(output: str) -> bool:
    """A test runner says so itself, and nothing beside it says otherwise: neither a pass nor a red."""
    if _RAN_SOMETHING.search(output):
        return False
    totals = list(_TOTAL.finditer(output))
    for total in totals:
        left_out = sum(int(first or second) for first, second in _LEFT_OUT.findall(total[0]))
        if int(total[total.lastgroup or 0]) > left_out:
            return False
    lines = [line for line in output.splitlines() if line.strip()]
    built_nothing = bool(lines) and all(_NOTHING_TO_BUILD.match(line) for line in lines)
    return bool(totals) or built_nothing or bool(_RAN_NOTHING.search(output))


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
    parts = (missing[1] or missing[2] or "").split(".")[0].split("/")
    name = parts[0]
    if not name:
        return True
    if name.startswith(("@", "~", "#")):  # short for a directory, as in @/lib/sums
        name = parts[-1]
    return not any(name in path.replace(".", "/").split("/") for path in changed)


def last_line(output: str) -> str:
    lines = [line for line in output.splitlines() if line.strip()]
    return clip(lines[-1], 120) if lines else ""
