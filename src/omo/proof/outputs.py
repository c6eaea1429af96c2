"""What a command printed, read once when it has ended: what was run, what failed, and the line to quote."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from omo.proof import error_messages, runners
from omo.proof.reading import IN_PLACE_OF_RUNNER
from omo.proof.run import Outcome
from omo.proof.runners import Counts, Page, Summary
from omo.text import clip

__all__ = [
    "ASKED_OUTPUT_LIMIT",
    "Counts",
    "Output",
    "asking",
    "asking_environment",
    "quoted",
    "ran_nothing",
    "read",
    "result_of",
]

# `go test -json` prints some 600 bytes for each test, and what is counted line by line must not have a gap.
ASKED_OUTPUT_LIMIT = 8_000_000
_GO_PRINTS_OTHERWISE = {"json", "v", "test.v", "c", "n", "list", "bench", "h", "help"}
_LONGEST_LINE = 1000
_LONGEST_QUOTE = 160

_COLOURS = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?")
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
    r"\bRan (?P<unittest>\d+) tests? in .*(?:\n(?:OK|FAILED|NO TESTS RAN).*)?|\bTests run: (?P<junit>\d+).*"
    r"|\b(?P<spec>\d+) (?:runs|examples?|tests?), \d+ (?:assertions|failures?)\b.*"
    r"|\bTests: (?P<phpunit>\d+), Assertions: .*"
)
_NOT_RUN = re.compile(
    r"(?:skipped|expected failures|incomplete)[=:] ?(\d+)|(\d+) (?:skips|skipped|pending|excluded)\b", re.IGNORECASE
)

# A runner began. One of which no summary is found then did not come to its end.
_BEGAN = re.compile(
    r"^=+ test session starts =+$|^running \d+ tests?$|^=== RUN |^TAP version \d+$|^ *RUN +v\d|^# Running:$"
    r"|^\[INFO\] +T E S T S$|^PHPUnit \d",
    re.MULTILINE,
)
# Where one run follows another, each has to come to its end.
_BEGINNINGS_AND_ENDS = (
    (re.compile(r"^=+ test session starts =+$", re.MULTILINE), re.compile(r"^=+ .* in [\d.]+s.* =+$", re.MULTILINE)),
    (re.compile(r"^running \d+ tests?$", re.MULTILINE), re.compile(r"^test result: ", re.MULTILINE)),
)


@dataclass(frozen=True)
class Output:
    """What is known of a run from what it printed.

    `counts` is None where the runner prints none, or did not come to its end. `failing` are tests, files that could
    not be loaded, or a checker's findings, in the runner's spelling, without lines and times. `names_are_whole` says
    that nothing else failed: not so where a name is missing, or the runner stopped before its last test.
    `broke_before_tests`: it failed by a build, an import, a collection or a configuration, and by no test. `missing`
    is what its messages say is not there.
    """

    counts: Counts | None
    failing: frozenset[str]
    names_are_whole: bool
    is_whole: bool
    broke_before_tests: bool
    missing: frozenset[str]
    ran_nothing: bool


def read(text: str, exit_code: int | None) -> Output:
    page = _page(text)
    summaries = runners.summaries(page)
    counted = [summary for summary in summaries if summary.counts is not None]
    counts = None
    if counted:
        passed = sum(summary.counts.passed for summary in counted if summary.counts)
        failed = sum(summary.counts.failed for summary in counted if summary.counts)
        skipped = sum(summary.counts.skipped for summary in counted if summary.counts)
        counts = Counts(passed, failed, skipped)
    failing: frozenset[str] = frozenset()
    for summary in summaries:
        failing |= summary.failing
    nothing = _ran_nothing(page)
    is_whole = exit_code is not None and not _ended_early(page)
    if not summaries and not nothing and _BEGAN.search(page.text):
        is_whole = False
    return Output(
        counts=counts,
        failing=failing,
        names_are_whole=is_whole and bool(summaries) and all(summary.is_named for summary in summaries),
        is_whole=is_whole,
        broke_before_tests=exit_code != 0 and _broke(page, summaries, exit_code),
        missing=_missing(page),
        ran_nothing=nothing,
    )


def ran_nothing(output: str) -> bool:
    """A test runner says so itself, and nothing beside it says otherwise: neither a pass nor a red."""
    return _ran_nothing(_page(output))


def result_of(outcome: Outcome, shadows: Sequence[str] = ()) -> tuple[str, str]:
    """What a command that was run for the work says of it: pass, fail or unknown, and why it is unknown.

    Every workflow asks this of every gate or pinned command that it ran. A program that is missing, one that did not
    end, one that ran no test, and one in whose place another may have run (`shadows`) have shown
    nothing.
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


def quoted(text: str) -> str:
    """The one line that says what failed and how many, or that all passed; without a time."""
    page = _page(text)
    summaries = runners.summaries(page)
    failed = [summary for summary in summaries if _tests_failed(summary)]
    unloaded = [summary for summary in summaries if summary.unreached]
    if failed:
        line = failed[-1].line
    elif unloaded:
        line = _missing_line(page) or _broken_line(page) or unloaded[-1].line
    elif summaries:
        line = _broken_line(page) or summaries[-1].line
    else:
        line = _missing_line(page) or _broken_line(page) or _nothing_line(page) or _telling_line(page)
    return clip(error_messages.TIMES.sub("", line).strip(" ="), _LONGEST_QUOTE)


def asking(argv: list[str]) -> list[str]:
    """The same command, asked to print counts and names where it would not, and to go on after the first failure.

    Only where it is called by its name, and nothing of what it does is changed: a script that calls it stays as it is.
    """
    if not argv:
        return argv
    program = os.path.basename(argv[0]).removesuffix(".exe")
    options = set()
    for argument in _before(argv, ("-args", "--args", "--")):
        if argument.startswith("-"):
            options.add(argument.lstrip("-").partition("=")[0])
    if program == "go" and argv[1:2] == ["test"] and not options & _GO_PRINTS_OTHERWISE:
        return [*argv[:2], "-json", *argv[2:]]
    if program == "cargo" and not options & {"no-fail-fast", "no-run", "help"}:
        start = 1 + argv[1].startswith("+") if len(argv) > 1 else 1  # +nightly
        for command in (["test"], ["t"], ["nextest", "run"]):
            end = start + len(command)
            if argv[start:end] == command:
                return [*argv[:end], "--no-fail-fast", *argv[end:]]
    return argv


def asking_environment(argv: list[str]) -> dict[str, str]:
    """What to add to a variable of the same name, by a space. pytest then names what failed, as it does by default.

    `addopts = -rs` in the settings takes the names away: this goes over it, and the command's own `-r` over this.
    """
    return {"PYTEST_ADDOPTS": "-rfE"} if argv else {}


def _before(argv: list[str], ends: tuple[str, ...]) -> list[str]:
    for position, argument in enumerate(argv):
        if argument in ends:
            return argv[:position]
    return argv


def _page(text: str) -> Page:
    """Lines without colours, the blank ones left out. What is longer than any summary is cut, to be read in time."""
    plain = _COLOURS.sub("", text)
    if '"Action":' in plain:
        plain = _without_json(plain)
    lines = []
    for line in re.split(r"[\r\n]+", plain):
        line = line[:_LONGEST_LINE].rstrip()
        if line:
            lines.append(line)
    page = "\n".join(lines)
    return Page(lines, page, runners.LEFT_OUT.search(page) is not None)


def _without_json(text: str) -> str:
    """`go test -json` as `go test -v` would have printed it: packages one after the other, not as they ran."""
    others = []
    packages: dict[str, list[str]] = {}
    for line in text.split("\n"):
        event = _event(line)
        if event is None:
            others.append(line)
            continue
        output = event.get("Output")
        if isinstance(output, str):
            package = str(event.get("Package") or event.get("ImportPath") or "")
            packages.setdefault(package, []).append(output)
    printed = ["".join(outputs) for outputs in packages.values()]
    return "\n".join([*printed, *others])


def _event(line: str) -> dict[str, object] | None:
    if not line.startswith('{"') or '"Action":' not in line:
        return None
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None


def _ended_early(page: Page) -> bool:
    if page.has_gap:
        return False
    for beginning, end in _BEGINNINGS_AND_ENDS:
        if len(beginning.findall(page.text)) > len(end.findall(page.text)):
            return True
    return False


def _tests_failed(summary: Summary) -> bool:
    """Tests, or findings of a checker, and not only files that could not be loaded."""
    failed = len(summary.failing)
    if summary.counts is not None:
        failed = summary.counts.failed
    return failed > summary.unreached


def _broke(page: Page, summaries: Sequence[Summary], exit_code: int | None) -> bool:
    for summary in summaries:
        if _tests_failed(summary):
            return False
    if any(summary.unreached for summary in summaries):
        return True
    # pytest refuses a configuration in words of the plugin's own, and exits with 4.
    refused = exit_code == 4 and any(line.startswith("ERROR: ") for line in page.lines)
    return refused or error_messages.BROKE.search(page.text) is not None


def _missing(page: Page) -> frozenset[str]:
    names = set()
    for message in error_messages.MISSING.finditer(page.text):
        for name in message.groups():
            if name:
                names.add(name.rstrip("."))
    return frozenset(names)


def _ran_nothing(page: Page) -> bool:
    if _RAN_SOMETHING.search(page.text):
        return False
    totals = list(_TOTAL.finditer(page.text))
    for total in totals:
        left_out = sum(int(first or second) for first, second in _NOT_RUN.findall(total[0]))
        if int(total[total.lastgroup or 0]) > left_out:
            return False
    built_nothing = bool(page.lines) and all(_NOTHING_TO_BUILD.match(line) for line in page.lines)
    return bool(totals) or built_nothing or bool(_RAN_NOTHING.search(page.text))


def _missing_line(page: Page) -> str:
    for line in page.lines:
        if error_messages.MISSING.search(line) and not error_messages.SAYS_LITTLE.match(line):
            line = line.removeprefix("E ").strip()
            return f"cannot find {line}" if line.startswith("symbol:") else line  # javac has it in two lines
    return ""


def _broken_line(page: Page) -> str:
    lines = [line for line in page.lines if error_messages.BROKE.search(line)]
    for line in lines:
        if not error_messages.SAYS_LITTLE.match(line):
            return line
    if not lines:
        return ""
    for line in page.lines:
        if error_messages.NAMES_PLACE.match(line):
            return line
    return lines[0]


def _nothing_line(page: Page) -> str:
    for line in page.lines:
        if _RAN_NOTHING.search(line):
            return line
    return ""


def _telling_line(page: Page) -> str:
    for line in reversed(page.lines):
        if error_messages.SAYS_WRONG.search(line) and not error_messages.SAYS_LITTLE.match(line):
            return line
    for line in reversed(page.lines):
        if not error_messages.SAYS_LITTLE.match(line):
            return line
    return page.lines[-1] if page.lines else ""
