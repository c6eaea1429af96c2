"""How each test runner and checker says what it ran: one reader for each, and a table of those that need only a line.

Readers get a page: the lines that were printed, without colours, without blank ones. They answer with what they
recognised as their own, and with nothing otherwise, so every reader may look at every page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

# What stands where the middle of a long output was left out.
LEFT_OUT = re.compile(r"^\[… \d+ bytes left out …\]$", re.MULTILINE)


class Counts(NamedTuple):
    """Of a whole run. A file that could not be loaded is one that failed; what was expected to fail is skipped."""

    passed: int
    failed: int
    skipped: int

    @property
    def total(self) -> int:
        return self.passed + self.failed + self.skipped


@dataclass(frozen=True)
class Summary:
    """What one runner printed at the end of one run, or of all its runs where it cannot be told which is which.

    `unreached` of the failed are no tests, but files that could not be loaded. `line` is worth quoting.
    """

    counts: Counts | None
    failing: frozenset[str] = frozenset()
    unreached: int = 0
    is_named: bool = True
    line: str = ""


@dataclass(frozen=True)
class Page:
    lines: Sequence[str]
    text: str
    has_gap: bool


@dataclass(frozen=True)
class OneLine:
    """A runner that counts in one line. `name` finds failing tests, `unloaded` files that could not be loaded.

    `stopped` is said where there may be more tests than were run, unless `went_on` is said as well.
    """

    line: re.Pattern[str]
    name: re.Pattern[str] | None = None
    unloaded: re.Pattern[str] | None = None
    stopped: re.Pattern[str] | None = None
    went_on: re.Pattern[str] | None = None

    def read(self, page: Page) -> list[Summary]:
        lines = list(self.line.finditer(page.text))
        if not lines:
            return []
        counts = Counts(0, 0, 0)
        for line in lines:
            counts = _sum(counts, _counts(line.groupdict()))
        failing: set[str] = set()
        unloaded: set[str] = set()
        if self.name:
            for name in self.name.finditer(page.text):
                failing.add(_without_line_number(" ".join(name.groups(""))))
        if self.unloaded:
            unloaded.update(self.unloaded.findall(page.text))
        counts = counts._replace(failed=counts.failed + len(unloaded))
        stopped = self.stopped is not None and self.stopped.search(page.text) is not None
        if self.went_on is not None and self.went_on.search(page.text):
            stopped = False
        names = frozenset(failing | unloaded)
        quoted = next((line[0] for line in reversed(lines) if _counts(line.groupdict()).failed), lines[-1][0])
        return [Summary(counts, names, len(unloaded), len(names) == counts.failed and not stopped, quoted)]


def _counts(groups: dict[str, str | None]) -> Counts:
    """Groups are numbers by their first word: passed, failed, errors, skipped, more skipped, total."""
    number = {name: int(value or 0) for name, value in groups.items()}
    failed = number.get("failed", 0) + number.get("errors", 0)
    skipped = sum(value for name, value in number.items() if name.startswith("skipped"))
    if "total" in number:
        return Counts(max(0, number["total"] - failed - skipped), failed, skipped)
    return Counts(number.get("passed", 0), failed, skipped)


def _sum(first: Counts, second: Counts) -> Counts:
    return Counts(first.passed + second.passed, first.failed + second.failed, first.skipped + second.skipped)


def _without_line_number(name: str) -> str:
    """`src/lib.rs - add (line 2)` is the same example when a line was added above it."""
    return re.sub(r" \(line \d+\)", "", name).strip()


def _line(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


ONE_LINE = (
    # cargo test. Without --no-fail-fast it ends at the first program with a failing test: there may be more.
    OneLine(
        _line(r"^test result: \w+\. (?P<passed>\d+) passed; (?P<failed>\d+) failed; (?P<skipped>\d+) ignored[^\n]*"),
        name=_line(r"^test (.+?) \.\.\. FAILED$"),
        stopped=_line(r"^error: test failed, to rerun "),
        went_on=_line(r"^error: \d+ targets? failed"),
    ),
    # cargo nextest
    OneLine(
        _line(
            r"^ *Summary \[[^\]\n]*\] +\d+(?:/\d+)? tests? run: (?P<passed>\d+) passed[^,\n]*"
            r"(?:, (?P<failed>\d+) failed)?(?:, (?P<skipped>\d+) skipped)?"
        ),
        name=_line(r"^ +FAIL \[[^\]\n]*\] (?:\([^)\n]*\) )?(.+)$"),
    ),
    # Maven. The line of a single class has its time behind it.
    OneLine(
        _line(
            r"^(?:\[\w+\] )?Tests run: (?P<total>\d+), Failures: (?P<failed>\d+), Errors: (?P<errors>\d+)"
            r"(?:, Skipped: (?P<skipped>\d+))?$"
        ),
        name=_line(r"^\[ERROR\] (?!Tests run)(\S.*?) (?:--)? *Time elapsed: .* <<< \w+!$"),
    ),
    # Gradle, which prints this only if a test failed
    OneLine(
        _line(r"^(?P<total>\d+) tests? completed(?:, (?P<failed>\d+) failed)?(?:, (?P<skipped>\d+) skipped)?$"),
        name=_line(r"^(\S.* > .+) FAILED$"),
    ),
    # RSpec and Jasmine
    OneLine(
        _line(
            r"^(?P<total>\d+) (?:examples?|specs?), (?P<failed>\d+) failures?"
            r"(?:, (?P<skipped>\d+) pending(?: specs?)?)?(?:, \d+ errors? occurred outside of examples)?$"
        ),
        name=_line(r"^rspec (\S+?)(?::\d+)? # (.+)$"),
        unloaded=_line(r"^An error occurred while loading (\S+)\.$"),
    ),
    # minitest and test-unit
    OneLine(
        _line(
            r"^(?P<total>\d+) (?:runs|tests), \d+ assertions, (?P<failed>\d+) failures, (?P<errors>\d+) errors"
            r"(?:, (?P<skipped>\d+) (?:skips|pendings))?(?:, (?P<skipped_omitted>\d+) omissions)?"
        ),
        name=_line(r"^ *(?:\d+\) )?(?:Failure|Error):\n(\S+#\S+?):?(?: \[[^\n]*\]:)?$"),
    ),
    # ExUnit, and bats where it is printed for people
    OneLine(
        _line(
            r"^(?:\d+ (?:doctests?|propert\w+), )*(?P<total>\d+) tests?, (?P<failed>\d+) failures?"
            r"(?:, (?P<skipped_excluded>\d+) excluded)?(?:, (?P<errors>\d+) invalid)?(?:, (?P<skipped>\d+) skipped)?$"
        ),
        name=_line(r"^ +\d+\) ((?:test|doctest|property) .+ \(\S+\))$"),
    ),
    # dotnet test
    OneLine(
        _line(r"^\w+! +- Failed: +(?P<failed>\d+), Passed: +(?P<passed>\d+), Skipped: +(?P<skipped>\d+), Total: +\d+"),
        name=_line(r"^ +Failed (\S.*?) \[[^\]\n]*\]$"),
    ),
    # CTest
    OneLine(
        _line(r"^\d+% tests passed, (?P<failed>\d+) tests? failed out of (?P<total>\d+)$"),
        name=_line(r"^\s+\d+ - (\S+) \(\w[^)\n]*\)"),
    ),
    # Deno
    OneLine(_line(r"^\w+ \| (?P<passed>\d+) passed[^|\n]*\| (?P<failed>\d+) failed(?: \| (?P<skipped>\d+) ignored)?")),
    # Bun
    OneLine(
        _line(
            r"^ (?P<passed>\d+) pass\n(?: (?P<skipped>\d+) skip\n)?(?: (?P<skipped_todo>\d+) todo\n)?"
            r" (?P<failed>\d+) fail$"
        ),
        name=_line(r"^\(fail\) (.+?)(?: \[[\d.]+m?s\])?$"),
    ),
)

_PYTEST_END = re.compile(r"^=* ?((?:\d+ [a-z ]+, )*\d+ [a-z ]+|no tests ran) in [\d.]+s(?: \([\d:, day]+\))? ?=*$")
_PYTEST_NUMBER = re.compile(r"(\d+) (failed|errors?|passed|xpassed|skipped|xfailed)\b")
_PYTEST_SECTION = re.compile(r"^={3,} ([A-Za-z][\w ]*) ={3,}$")


def pytest(page: Page) -> list[Summary]:
    """One for each session, as tox and nox run several.

    A failing test that runs pytest itself prints a whole session of its own below FAILURES: that is not counted.
    """
    sessions: list[Summary] = []
    names: dict[str, set[str]] = {"FAILED": set(), "ERROR": set()}
    teardowns = nested = 0
    is_summary = in_failures = stopped = False
    for line in page.lines:
        section = _PYTEST_SECTION.match(line)
        end = _PYTEST_END.match(line)
        if end and nested:
            nested -= 1
        elif end:
            sessions.append(_pytest_session(end[1], names, teardowns, stopped))
            names = {"FAILED": set(), "ERROR": set()}
            teardowns = 0
            is_summary = in_failures = stopped = False
        elif section and section[1] == "test session starts":
            nested += in_failures
        elif section:
            is_summary = section[1] == "short test summary info" and not nested
            in_failures = in_failures or section[1] in ("FAILURES", "ERRORS")
        elif line.startswith("_") and " ERROR at teardown of " in line:
            teardowns += 1
        elif line.startswith("!!!") and " stopping after " in line:
            stopped = True
        elif is_summary and line.startswith(("FAILED ", "ERROR ")):
            word, _, rest = line.partition(" ")
            names[word].add(_pytest_name(rest))
    failing = frozenset(names["FAILED"] | names["ERROR"])
    if failing and not sessions:  # -q -q leaves out the last line
        sessions.append(Summary(None, failing, _unloaded(failing), not page.has_gap, f"FAILED {sorted(failing)[0]}"))
    return sessions


def _pytest_session(numbers: str, names: dict[str, set[str]], teardowns: int, stopped: bool) -> Summary:
    number = {"failed": 0, "error": 0, "passed": 0, "xpassed": 0, "skipped": 0, "xfailed": 0}
    for amount, word in _PYTEST_NUMBER.findall(numbers):
        number[word.removesuffix("s")] += int(amount)
    failing = frozenset(names["FAILED"] | names["ERROR"])
    failed = number["failed"] + number["error"]
    passed = number["passed"] + number["xpassed"]
    is_named = len(names["FAILED"]) + len(names["ERROR"]) == failed and not stopped
    # A test that fails while it is torn down is counted twice, first as what it was before.
    twice = len(names["FAILED"] & names["ERROR"])
    counts = Counts(max(0, passed - max(0, teardowns - twice)), failed - twice, number["skipped"] + number["xfailed"])
    return Summary(counts, failing, _unloaded(failing), is_named, numbers)


def _unloaded(failing: frozenset[str]) -> int:
    return sum("::" not in name for name in failing)


def _pytest_name(rest: str) -> str:
    """`a.py::test[x - y] - assert 1`: the name ends at the first dash that is in no brackets."""
    name = rest.partition(" - ")[0]
    if "[" in name and not name.endswith("]"):
        end = rest.find("] - ")
        if end >= 0:
            name = rest[: end + 1]
        elif rest.endswith("]"):
            name = rest
    return name.strip()


_UNITTEST_END = re.compile(r"^Ran (\d+) tests? in ")
_UNITTEST_RESULT = re.compile(r"^(?:OK|FAILED|NO TESTS RAN)\b(?: \((.*)\))?$")
_PYTHON_ERROR = re.compile(r"^[A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Failure|Warning)\b")
_UNITTEST_NAME = re.compile(r"^(?:ERROR|FAIL|UNEXPECTED SUCCESS): (\S+ \([\w.<>]+\)|.+)")


def unittest(page: Page) -> list[Summary]:
    sessions = []
    names: list[str] = []
    error = ""
    for position, line in enumerate(page.lines):
        name = _UNITTEST_NAME.match(line)
        if name and position and page.lines[position - 1].startswith("====="):
            names.append(name[1])
        elif names and _PYTHON_ERROR.match(line):
            error = line
        end = _UNITTEST_END.match(line)
        if end and position + 1 < len(page.lines):
            result = _UNITTEST_RESULT.match(page.lines[position + 1])
            if result:
                sessions.append(_unittest_session(int(end[1]), result, names, error))
            names, error = [], ""
    return sessions


def _unittest_session(ran: int, result: re.Match[str], names: list[str], error: str) -> Summary:
    number = {"failures": 0, "errors": 0, "unexpected successes": 0, "skipped": 0, "expected failures": 0}
    for part in (result[1] or "").split(", "):
        word, _, amount = part.partition("=")
        if word in number and amount.isdigit():
            number[word] = int(amount)
    failures = number["failures"] + number["errors"] + number["unexpected successes"]
    failing = frozenset(names)
    is_named = len(names) == failures
    # One test fails several times where it has subtests.
    failed = len(failing) if is_named else failures
    skipped = number["skipped"] + number["expected failures"]
    counts = Counts(max(0, ran - failed - skipped), failed, skipped)
    line = result[0]
    if failed == 1 and is_named and error:
        line = f"{names[0].partition(' ')[0]}: {error}"
    unloaded = sum("_FailedTest" in name for name in failing)
    return Summary(counts, failing, unloaded, is_named, line)


_JEST_END = re.compile(r"^Tests: +((?:\d+ \w+, )*)(\d+) total$")
_JEST_FILE = re.compile(r"^(?:FAIL|PASS) (\S.*?)(?: \([\d.]+ m?s\))?$")
_JEST_NUMBER = re.compile(r"(\d+) (\w+)")


def jest(page: Page) -> list[Summary]:
    sessions = []
    failing: set[str] = set()
    unloaded: set[str] = set()
    file = ""
    for line in page.lines:
        end = _JEST_END.match(line)
        heading = _JEST_FILE.match(line)
        if heading:
            file = heading[1]
        elif line == "  ● Test suite failed to run":
            unloaded.add(file)
        elif line.startswith("  ● ") and line != "  ● Console" and file:
            failing.add(f"{file} › {line[4:].strip()}")
        elif end:
            number = {word: int(amount) for amount, word in _JEST_NUMBER.findall(end[1])}
            failed = number.get("failed", 0) + len(unloaded)
            skipped = number.get("skipped", 0) + number.get("todo", 0) + number.get("pending", 0)
            names = frozenset(failing | unloaded)
            counts = Counts(number.get("passed", 0), failed, skipped)
            sessions.append(Summary(counts, names, len(unloaded), len(names) == failed, line))
            failing, unloaded, file = set(), set(), ""
    return sessions


_VITEST_END = re.compile(r"^ +Tests  (\d.*|no tests)$")
_VITEST_FAIL = re.compile(r"^ FAIL  (\S.*)$")
_VITEST_FILE = re.compile(r" \[ \S+ \]$")


def vitest(page: Page) -> list[Summary]:
    """Its tests stand below its counts. "Test Files 1 failed" and the heading "Failed Tests 8" count no tests."""
    number = {"failed": 0, "passed": 0, "skipped": 0, "todo": 0}
    failing = set()
    unloaded = set()
    to_quote = ""
    for line in page.lines:
        end = _VITEST_END.match(line)
        fail = _VITEST_FAIL.match(line)
        if end:
            to_quote = f"Tests {end[1]}"
            for amount, word in _JEST_NUMBER.findall(end[1]):
                if word in number:
                    number[word] += int(amount)
        elif fail and _VITEST_FILE.search(fail[1]):
            unloaded.add(_VITEST_FILE.sub("", fail[1]))
        elif fail:
            failing.add(fail[1])
    if not to_quote:
        return []
    names = frozenset(failing | unloaded)
    counts = Counts(number["passed"], number["failed"] + len(unloaded), number["skipped"] + number["todo"])
    return [Summary(counts, names, len(unloaded), len(names) == counts.failed, to_quote)]


_MOCHA_COUNT = re.compile(r"^ +(\d+) (passing|pending|failing)\b")
_MOCHA_NAME = re.compile(r"^  \d+\) (.+)$")


def mocha(page: Page) -> list[Summary]:
    """Its failing tests stand below the counts, a suite or a test a line, up to a colon."""
    number = {"passing": 0, "pending": 0, "failing": 0}
    failing = set()
    parts: list[str] = []
    was_counted = False
    for line in page.lines:
        count = _MOCHA_COUNT.match(line)
        name = _MOCHA_NAME.match(line)
        if count:
            number[count[2]] += int(count[1])
            was_counted = was_counted or count[2] == "passing"
            parts = []
            continue
        if name and was_counted:
            parts = [name[1]]
        elif parts:
            parts.append(line.strip())
        if parts and parts[-1].endswith(":"):
            failing.add(" ".join(parts)[:-1])
            parts = []
        elif len(parts) > 10:
            parts = []
    if not was_counted:
        return []
    line = f"{number['passing']} passing"
    if number["failing"]:
        line += f", {number['failing']} failing"
    counts = Counts(number["passing"], number["failing"], number["pending"])
    return [Summary(counts, frozenset(failing), 0, len(failing) == number["failing"], line)]


_NODE_COUNT = re.compile(r"^[#ℹ] (tests|suites|pass|fail|cancelled|skipped|todo) (\d+)$")
_NODE_OPEN = re.compile(r"^( *)(?:# Subtest: |▶ )(.+?)(?: \([\d.]+m?s\))?$")
_NODE_FAIL = re.compile(r"^( *)(?:not ok \d+ - (.+?)|✖ (.+?) \([\d.]+m?s\))( # (?:SKIP|TODO)\b.*)?$")
_JS_FILE = re.compile(r"\.[cm]?[jt]sx?$")


def node(page: Page) -> list[Summary]:
    """`node --test`, as TAP and as it is printed for people. A name is the path of names that leads to it."""
    number = {"tests": 0, "suites": 0, "pass": 0, "fail": 0, "cancelled": 0, "skipped": 0, "todo": 0}
    failing = set()
    unloaded = set()
    above: dict[int, str] = {}
    has_suites = is_repeated = False
    for line in page.lines:
        count = _NODE_COUNT.match(line)
        opened = _NODE_OPEN.match(line)
        failed = _NODE_FAIL.match(line)
        was_repeated, is_repeated = is_repeated, line.startswith("test at ")  # once more, below all counts
        if count:
            number[count[1]] += int(count[2])
            has_suites = has_suites or count[1] == "suites"
        elif opened:
            above[len(opened[1])] = opened[2]
        elif failed and not failed[4] and not was_repeated:
            path = [above[depth] for depth in sorted(above) if depth < len(failed[1])]
            name = " > ".join([*path, failed[2] or failed[3]])
            failing.add(name)
            if _JS_FILE.search(name):
                unloaded.add(name)
            for depth in list(above):
                if depth >= len(failed[1]):
                    del above[depth]
    if not has_suites:
        return []
    counts = Counts(number["pass"], number["fail"] + number["cancelled"], number["skipped"] + number["todo"])
    line = f"tests {number['tests']}, pass {number['pass']}, fail {counts.failed}"
    # Suites fail with their tests and are named, not counted.
    return [
        Summary(counts, frozenset(failing), len(unloaded), len(failing) >= counts.failed and not page.has_gap, line)
    ]


_TAP_TEST = re.compile(r"^(not )?ok (\d+)\b(?: -)? ?(.*?)(?: # (skip|todo)\b.*)?$", re.IGNORECASE)
_TAP_PLAN = re.compile(r"^1\.\.(\d+)(?: |$)")
_PROVE_END = re.compile(r"^Files=\d+, Tests=(\d+),")
_PROVE_FAILED = re.compile(r"\(Wstat: .* Failed: (\d+)\)$")
_PROVE_SKIPPED = re.compile(r"^\s+\(less (\d+) skipped subtests?: ")
_PROVE_NAME = re.compile(r"^#\s+Failed test '(.+)'$")


def prove(page: Page) -> list[Summary]:
    total = None
    failed = skipped = 0
    names = set()
    for line in page.lines:
        end = _PROVE_END.match(line)
        failed_in_file = _PROVE_FAILED.search(line)
        skipped_in_file = _PROVE_SKIPPED.match(line)
        name = _PROVE_NAME.match(line)
        if end:
            total = int(end[1]) + (total or 0)
        elif failed_in_file:
            failed += int(failed_in_file[1])
        elif skipped_in_file:
            skipped += int(skipped_in_file[1])
        elif name:
            names.add(name[1])
    if total is None:
        return []
    counts = Counts(max(0, total - failed - skipped), failed, skipped)
    line = f"Tests={total}, Failed: {failed}"
    return [Summary(counts, frozenset(names), 0, len(names) == failed, line)]


def tap(page: Page) -> list[Summary]:
    """Any other that speaks the Test Anything Protocol, and came to as many tests as it had announced."""
    if prove(page) or node(page):
        return []
    passed = failed = skipped = planned = 0
    failing = set()
    for line in page.lines:
        test = _TAP_TEST.match(line)
        plan = _TAP_PLAN.match(line)
        if plan:
            planned += int(plan[1])
        elif test and test[4]:
            skipped += 1
        elif test and test[1]:
            failed += 1
            failing.add(test[3] or test[2])
        elif test:
            passed += 1
    counts = Counts(passed, failed, skipped)
    if not planned or counts.total != planned:
        return []
    return [Summary(counts, frozenset(failing), 0, len(failing) == failed, f"{passed} ok, {failed} not ok")]


_PHPUNIT_END = re.compile(r"^Tests: (\d+), Assertions: \d+(.*)\.$|^OK \((\d+) tests?, \d+ assertions?\)$")
_PHPUNIT_NUMBER = re.compile(r"(Errors|Failures|Skipped|Incomplete): (\d+)")
_PHPUNIT_SECTION = re.compile(r"^There (?:was|were) \d+ (\w+)")
_PHPUNIT_NAME = re.compile(r"^\d+\) (\S+::.+)$")


def phpunit(page: Page) -> list[Summary]:
    sessions = []
    failing: set[str] = set()
    in_failures = False
    for line in page.lines:
        end = _PHPUNIT_END.match(line)
        section = _PHPUNIT_SECTION.match(line)
        name = _PHPUNIT_NAME.match(line)
        if section:
            in_failures = section[1].rstrip("s") in ("error", "failure")
        elif name and in_failures:
            failing.add(name[1])
        elif end:
            number = {word: int(amount) for word, amount in _PHPUNIT_NUMBER.findall(end[2] or "")}
            failed = number.get("Errors", 0) + number.get("Failures", 0)
            skipped = number.get("Skipped", 0) + number.get("Incomplete", 0)
            counts = Counts(max(0, int(end[1] or end[3]) - failed - skipped), failed, skipped)
            sessions.append(Summary(counts, frozenset(failing), 0, len(failing) == failed, line))
            failing = set()
    return sessions


_GO_TEST = re.compile(r"^ *--- (PASS|FAIL|SKIP): (\S+) \([\d.]+s\)$")
_GO_PACKAGE = re.compile(r"^(ok|FAIL)\s+(\S+)\s+(?:[\d.]+s\b|\(cached\)|\[(?:build|setup) failed\])(.*)")


def go(page: Page) -> list[Summary]:
    """`go test` plain, where only failing tests are named and none is counted, and `-v`, where every test is.

    Tests stand above their package. What is counted line by line cannot be where lines were left out.
    """
    number = {"PASS": 0, "FAIL": 0, "SKIP": 0}
    failing: set[str] = set()
    in_package: list[tuple[str, str]] = []
    packages = unbuilt = 0
    to_quote = ""
    is_named = not page.has_gap
    for line in page.lines:
        test = _GO_TEST.match(line)
        package = _GO_PACKAGE.match(line)
        if test:
            in_package.append((test[1], test[2]))
        elif package:
            packages += 1
            to_quote = f"{package[1]} {package[2]}"
            broke = "[build failed]" in line or "[setup failed]" in line
            if broke:
                unbuilt += 1
                failing.add(package[2])
            for result, name in in_package:
                number[result] += 1
                if result == "FAIL":
                    failing.add(f"{package[2]}: {name}")
            if package[1] == "FAIL" and not broke and not any(result == "FAIL" for result, _ in in_package):
                is_named = False  # it ended outside of its tests
            in_package = []
        elif line.startswith("panic: "):
            is_named = False  # the tests behind it were not run
    if not packages:
        return []
    counts = None
    if "=== RUN " in page.text and not page.has_gap:
        counts = Counts(number["PASS"], number["FAIL"] + unbuilt, number["SKIP"])
    if failing:
        to_quote = f"FAIL: {sorted(failing)[0]}"
        if len(failing) > 1:
            to_quote += f" and {len(failing) - 1} more"
    return [Summary(counts, frozenset(failing), unbuilt, is_named, to_quote)]


@dataclass(frozen=True)
class Checker:
    """Types, lint, form: no tests, but findings. `finding` has a path and a message, in one of two orders."""

    finding: re.Pattern[str]
    last_line: re.Pattern[str] | None = None

    def read(self, page: Page) -> list[Summary]:
        failing = set()
        line = ""
        for finding in self.finding.finditer(page.text):
            failing.add(f"{finding['path']}: {' '.join(finding['message'].split())}")
            line = line or finding[0].partition("\n")[0]
        if not failing:
            return []
        last = self.last_line.search(page.text) if self.last_line else None
        return [Summary(None, frozenset(failing), 0, not page.has_gap, last[0] if last else line)]


CHECKERS = (
    # mypy, and pyright's one-line form
    Checker(_line(r"^(?P<path>\S+\.pyi?):\d+(?::\d+)?: error: (?P<message>.+)$"), _line(r"^Found \d+ errors? in .*$")),
    # ruff and flake8 in one line, and ruff as it prints by default
    Checker(_line(r"^(?P<path>\S+?):\d+:\d+: (?P<message>[A-Z]+\d+ .+)$"), _line(r"^Found \d+ errors?\.?$")),
    Checker(
        _line(r"^(?P<message>[A-Z]{1,7}\d{3,4} .+|unformatted: .+)\n *--> (?P<path>\S+?):\d+:\d+$"),
        _line(r"^Found \d+ errors?\.?$|^\d+ files? would be reformatted.*$"),
    ),
    Checker(
        _line(r"^(?P<message>Would reformat|would reformat): ?(?P<path>\S+)$"),
        _line(r"^\d+ files? would be reformatted.*$"),
    ),
    # tsc, plain and pretty
    Checker(
        _line(r"^(?P<path>\S+?)(?:\(\d+,\d+\):|:\d+:\d+ -) error (?P<message>TS\d+: .+)$"),
        _line(r"^Found \d+ errors? in .*$"),
    ),
)
_ESLINT_FINDING = re.compile(r"^ +\d+:\d+ +error +(\S.*)$")
_ESLINT_END = re.compile(r"^✖ \d+ problems? \(\d+ errors?, \d+ warnings?\)$")


def eslint(page: Page) -> list[Summary]:
    """Findings stand below the file they are in."""
    failing = set()
    file = to_quote = ""
    for line in page.lines:
        finding = _ESLINT_FINDING.match(line)
        if finding and file:
            failing.add(f"{file}: {' '.join(finding[1].split())}")
        elif _ESLINT_END.match(line):
            to_quote = line
        elif not line.startswith(" "):
            file = line
    if not to_quote or not failing:
        return []
    return [Summary(None, frozenset(failing), 0, not page.has_gap, to_quote)]


READERS: tuple[Callable[[Page], list[Summary]], ...] = (
    pytest,
    unittest,
    jest,
    vitest,
    mocha,
    node,
    go,
    phpunit,
    prove,
    tap,
    *(runner.read for runner in ONE_LINE),
    *(checker.read for checker in CHECKERS),
    eslint,
)


def summaries(page: Page) -> list[Summary]:
    found = []
    for reader in READERS:
        found.extend(reader(page))
    return found
