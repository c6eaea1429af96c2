"""How test runners and checkers say what they ran, and how compilers, loaders and shells say that they could not.

Readers get what was printed, without colours and blank lines, and answer with what they recognised as their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple


def lines(*patterns: str, flags: int = 0) -> re.Pattern[str]:
    """What one of them matches. Neighbours with the same start share it: where a line or a word does not begin, none of
    them is tried. In all of its alternatives a pattern has to begin alike."""
    parts = []
    for start, group in groupby(patterns, start_of):
        either = "|".join(pattern.removeprefix(start) for pattern in group)
        parts.append(f"{start}(?:{either})" if start else either)
    return re.compile("|".join(parts), re.MULTILINE | flags)


def start_of(pattern: str) -> str:
    return next((start for start in ("^", r"\b") if pattern.startswith(start)), "")


# What stands where the middle of a long output was left out.
GAP = lines(r"^\[… \d+ bytes left out …\]$")


class Counts(NamedTuple):
    """Of a whole run. A file that could not be loaded is one that failed; what was expected to fail is skipped."""

    passed: int
    failed: int
    skipped: int

    @property
    def total(self) -> int:
        return self.passed + self.failed + self.skipped


@dataclass(frozen=True)
class RunnerSummary:
    """What one runner printed at the end of one run, or of all its runs where it cannot be told which is which.

    `unreached` of the failed are no tests, but files that could not be loaded. `line` is worth quoting. `subtests` are
    those of tests among the failing, where it tells them apart; `unexpected` passed, and were expected to fail. `ran`
    are the tests that ran, as often as it names them; of pytest only those that failed.
    """

    counts: Counts | None
    failing: frozenset[str]
    unreached: int
    is_named: bool
    line: str
    subtests: frozenset[str] = frozenset()
    unexpected: frozenset[str] = frozenset()
    ran: Sequence[str] = ()

    @property
    def tests_failed(self) -> bool:
        """Or a checker found something; not only files that could not be loaded."""
        failed = len(self.failing) if self.counts is None else self.counts.failed
        return failed > self.unreached


# How they count: `2 failed, 1 passed`, `failures=2, skipped=1`, `Tests run: 3, Failures: 2`.
_NUMBER_FIRST = re.compile(r"(?P<number>\d+) (?P<word>[a-z]+)")
_WORD_FIRST = re.compile(r"(?P<word>(?:un)?expected \w+|[a-z]+)[=: ]+(?P<number>\d+)", re.IGNORECASE)
_KINDS = {
    "passed": re.compile(r"x?passed|pass|passing"),
    "failed": re.compile(r"failed|failures?|fail|failing|errors?|cancelled|invalid|unexpected successes"),
    "skipped": re.compile(r"skipped|skips|xfailed|ignored|todo|pending|excluded|incomplete|expected failures"),
    "total": re.compile(r"ran|runs?|tests?|examples?"),
}


def _count(text: str, failing: Sequence[str] = ()) -> Counts:
    """`failing` are the names of those that failed, as often as each was named, where a test may fail several times."""
    number = dict.fromkeys(_KINDS, 0)
    pairs = _NUMBER_FIRST if text[:1].isdigit() else _WORD_FIRST
    for pair in pairs.finditer(text):
        for kind, words in _KINDS.items():
            if words.fullmatch(pair["word"].lower()):
                number[kind] += int(pair["number"])
    failed = number["failed"]
    if failed == len(failing):
        failed = len(set(failing))
    passed = number["passed"] or max(0, number["total"] - failed - number["skipped"])
    return Counts(passed, failed, number["skipped"])


Said = dict[str, list[str]]  # in one run, by the groups of a pattern


class Runner:
    """One that says on a line of its own what it has to say. The patterns of these lines have one group each:

    `end` has the numbers of a run, and `start` is to be followed by it. `test` is one that failed, in the file `above`;
    `unexpected` one that was to fail and passed; `file` one that could not be loaded, which is among the numbers if
    `counts_files`. `part` and `labelled` are tests
    of which a subtest failed. `passed` is a test that passed; `ran` one that passed or failed, where the runner names
    both in one list. After `stopped` there may be more tests than were run, unless it `went_on`. One that
    `counts_parts` counts a test once more for each of its subtests, and where it fails again while it is torn down.
    """

    def __init__(self, *patterns: str, counts_files: bool = True, counts_parts: bool = False) -> None:
        self.pattern = lines(*patterns)
        self.counts_files = counts_files
        self.counts_parts = counts_parts

    def summaries(self, matches: Iterable[re.Match[str]]) -> list[RunnerSummary]:
        """One for each run, as tox, nox and cargo make several."""
        runs: list[Said] = []
        said: Said = {}
        above = ""
        for match in matches:
            kind = match.lastgroup or ""
            if kind == "above":
                above = f"{match[kind]} › "
                continue
            name = match[kind]
            if kind in ("test", "unexpected"):
                name = above + " ".join(name.split())
            if kind == "ran":
                name = above + name
            said.setdefault(kind, []).append(name)
            if kind in ("part", "labelled"):
                said.setdefault("subtest", []).append(match[0].lstrip("=\n").partition(" - ")[0])
            if kind == "end":
                said["line"] = [match[0]]
                runs.append(said)
                said = {}
        if runs and "start" not in said and "failures" not in said:
            for kind, names in said.items():  # below the last end, where stderr follows stdout
                runs[-1].setdefault(kind, []).extend(names)
        elif runs or "start" in said or "test" in said or "file" in said:
            runs = [said]  # it was killed, or does not count: nobody knows how many there were in all
        return [self._summary(run) for run in runs]

    def _summary(self, said: Said) -> RunnerSummary:
        labelled, files, parts = said.get("labelled", []), said.get("file", []), said.get("part", [])
        unexpected = said.get("unexpected", [])
        tests = [*said.get("test", []), *unexpected, *labelled]
        passed_beside = set(parts) - set(tests)  # pytest counts a test as passed whose subtests fail
        tests = [*tests, *parts]
        named = [*tests, *files]
        failing = frozenset(named)
        if "end" not in said:
            return RunnerSummary(None, failing, len(files), "summary" in said and "start" not in said, "")
        counts = _count(said["end"][0], named if self.counts_parts else ())
        if not self.counts_files:
            counts = counts._replace(failed=counts.failed + len(set(files)))
        # pytest counts a test twice that passed, and failed while it was torn down.
        twice = len(said.get("teardown", ())) - (len(tests) - len(set(tests)))
        counts = counts._replace(passed=max(0, counts.passed - max(0, twice) - len(passed_beside)))
        line = said["line"][0]
        if counts.failed == len(failing) == 1 and "error" in said:
            line = f"{min(failing).partition(' ')[0]}: {said['error'][-1]}"
        ran_all = "stopped" not in said or "went_on" in said
        is_named = ran_all and (counts.failed <= len(failing) or counts.failed == len(named))
        subtests = frozenset(said.get("subtest", []))
        ran = said.get("ran") or [*said.get("passed", []), *sorted(set(tests))]
        return RunnerSummary(counts, failing, len(set(files)), is_named, line, subtests, frozenset(unexpected), ran)


_PYTEST = Runner(
    r"^=+ (?P<start>test session starts) =+$",
    r"^=+ (?P<failures>FAILURES|ERRORS) =+$",
    r"^=+ (?P<summary>short test summary info) =+$",
    r"^_+ (?P<teardown>ERROR at teardown of) ",
    r"^!+ .*(?P<stopped>stopping after) ",
    r"^FAILED (?P<unexpected>[^:\n]+::[^\[\n]+?(?:\[.*?\])?) - \[XPASS\(strict\)\].*$",
    r"^(?:FAILED|ERROR) (?P<test>[^:\n]+::[^\[\n]+?(?:\[.*?\])?)(?: - .*)?$",
    r"^SUBFAILED(?:\[.*?\]|\(.*?\))* (?P<part>[^:\n]+::[^\[\n]+?(?:\[.*?\])?)(?: - .*)?$",
    r"^ERROR (?P<file>[^:\n]+?)(?: - .*)?$",
    r"^=* ?(?P<end>(?=.*(?:passed|failed|skipped|selected|errors?)\b)(?:\d+ (?!tests? collected)[a-z ]+(?:, )?)+"
    r"|no tests ran) in [\d.]+s(?: \([\d:, day]+\))? ?=*$",
    counts_parts=True,
)
_UNITTEST = Runner(
    # With `-v`. What a test prints itself, or its docstring, may stand between its name and its result.
    r"^(?P<passed>\S+ \([\w.<>]+\))(?:\n.*)? \.\.\. (?:.*\n(?!\S+ \([\w.<>]+\)|={5}|-{5}))*?ok$",
    r"^=+\n(?:ERROR|FAIL): (?P<file>\S+ \(unittest\.loader\._FailedTest\S*\))$",
    r"^=+\n(?:ERROR|FAIL): (?P<labelled>\S+ \([\w.<>]+\)) [(\[].*",
    r"^=+\nUNEXPECTED SUCCESS: (?P<unexpected>\S+ \([\w.<>]+\)|.+)",
    r"^=+\n(?:ERROR|FAIL): (?P<test>\S+ \([\w.<>]+\)|.+)",
    r"^(?P<error>[A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Failure|Warning)\b.*)",
    r"^(?P<end>Ran \d+ tests? in .*\n(?:OK|FAILED|NO TESTS RAN)\b.*)$",
    counts_parts=True,
)
_JEST = Runner(
    r"^FAIL (?P<file>\S.*?)(?: \([\d.]+ m?s\))?\n  ● Test suite failed to run$",
    r"^(?:FAIL|PASS) (?P<above>\S.*?)(?: \([\d.]+ m?s\))?$",
    r"^ +[✓✕] (?P<ran>.+?)(?: \([\d.]+ m?s\))?$",
    r"^  ● (?P<test>(?!Console$|Test suite failed to run$).+)$",
    r"^Tests: +(?P<end>(?:\d+ \w+, )*\d+ total)$",
    counts_files=False,
)
# "Test Files 1 failed" and the heading "Failed Tests 8" count no tests.
_VITEST = Runner(
    r"^ FAIL  (?P<file>\S.*) \[ \S+ \]$",
    r"^ FAIL  (?P<test>\S.*)$",
    r"^ [✓×] (?P<ran>\S+ > .+?)(?: \d+ ?m?s)?$",
    r"^ +Tests  (?P<end>\d.*|no tests)$",
    counts_files=False,
)
# Without --no-fail-fast it ends at the first program with a failing test: there may be more.
_CARGO = Runner(
    r"^(?P<start>running \d+ tests?)$",
    r"^test (?P<test>.+?)(?: \(line \d+\).*?)? \.\.\. FAILED$",
    r"^test (?P<passed>.+?)(?: \(line \d+\).*?)? \.\.\. ok$",
    r"^test result: \w+\. (?P<end>\d.*)$",
    r"^error: test failed, to rerun (?P<stopped>.*)",
    r"^error: (?P<went_on>\d+ targets?) failed",
)
# As TAP and as it is printed for people. Suites fail with their tests and are named, not counted.
_NODE = Runner(
    r"^ *(?:not ok \d+ - |✖ )(?P<file>\S+\.[cm]?[jt]s)(?: \([\d.]+m?s\))?$",
    r"^ *(?:not ok \d+ - |✖ (?=.* \([\d.]+m?s\)$))(?P<test>(?!.* # (?:SKIP|TODO)\b).+?)(?: \([\d.]+m?s\))?$",
    r"^[#ℹ] (?P<end>tests \d+(?:\n[#ℹ] (?!duration)\w+ +\d+)+)",
)
# JUnit by Maven. A module that needs one which failed is not tried.
_MAVEN = Runner(
    r"^\[ERROR\] (?P<test>(?!Tests run: ).+?) +(?:-- )?Time elapsed: .* <<< (?:FAILURE|ERROR)!$",
    r"^(?:\[\w+\] )?(?P<end>Tests run: \d+, (?!.*Time elapsed).*\d)$",
    r"^\[INFO\] .* \.+ (?P<stopped>SKIPPED)$",
)
# What failed stands below the numbers: the suites of a test, line by line, and at last its own title.
_MOCHA = Runner(
    r"^  \d+\) (?P<test>.+(?:\n {7,}.+)*?):$",
    r"^ +(?:[✓✔]|\d+\)) (?P<ran>.+?)(?: \(\d+ms\))?$",
    r"^ *(?P<end>\d+ passing\b.*(?:\n +\d+ pending)?(?:\n +\d+ failing)?)$",
)
_RSPEC = Runner(
    r"^rspec \S+ # (?P<test>.+)$",
    r"^(?P<end>\d+ examples?, \d+ failures?(?:, \d+ (?!errors? occ)\w+)*)$",
)
# All others that count on a line of their own: PHPUnit, minitest, ExUnit.
_OTHERS = Runner(
    r"^ *(?P<end>Tests: \d+, .*\d\.?"
    r"|(?:\d+ \w+, )*\d+ (?:runs|tests?), (?:\d+ assertions, )?\d+ failures?(?:, \d+ \w+)*)$"
)


def pytest(text: str) -> list[RunnerSummary]:
    """A failing test that runs pytest itself prints a whole session below FAILURES. What it names is not ours."""
    matches = []
    nested = 0
    in_failures = in_summary = False
    for match in _PYTEST.pattern.finditer(text):
        kind = match.lastgroup
        if kind == "start" and in_failures:
            nested += 1
        elif nested:
            if kind == "end":
                nested -= 1
        elif kind not in ("test", "part", "file") or in_summary:
            in_failures = kind == "failures" or (in_failures and kind != "end")
            in_summary = kind == "summary" or (in_summary and kind != "end")
            matches.append(match)
    return _PYTEST.summaries(matches)


_GO_PACKAGE = lines(r"^(ok|FAIL)\s+(?P<name>\S+)\s+(?:[\d.]+s\b|\(cached\)|(?P<unbuilt>\[(?:build|setup) failed\]))")
_GO_TEST = lines(r"^ *--- (?P<result>PASS|FAIL|SKIP): (?P<name>\S+) \([\d.]+s\)$")


def go(text: str) -> list[RunnerSummary]:
    """Tests stand above their package: plainly only those that failed, with `-v` all, so that they can be counted."""
    packages = []
    has_gap = bool(GAP.search(text))
    is_counted = "=== RUN " in text and not has_gap
    start = 0
    for package in _GO_PACKAGE.finditer(text):
        above = text[start : package.start()]
        start = package.end()
        results = {"PASS": 0, "FAIL": 0, "SKIP": 0}
        failing = [package["name"]] if package["unbuilt"] else []
        ran = []
        for test in _GO_TEST.finditer(above):
            name = f"{package['name']}: {test['name']}"
            results[test["result"]] += 1
            if test["result"] == "FAIL":
                failing.append(name)
            if test["result"] != "SKIP":
                ran.append(name)
        counts = None
        if is_counted:
            counts = Counts(results["PASS"], len(failing), results["SKIP"])
        # Behind a panic tests were not run, and a package may fail outside of its tests.
        is_named = bool(failing) == (package[1] == "FAIL") and "\npanic: " not in above and not has_gap
        line = f"{package[1]} {package['name']}" if not failing else f"FAIL: {failing[0]}"
        unbuilt = int(bool(package["unbuilt"]))
        packages.append(RunnerSummary(counts, frozenset(failing), unbuilt, is_named, line, ran=ran))
    return packages


_CTEST_END = lines(r"^\d+% tests passed, (?P<failed>\d+) tests? failed out of (?P<total>\d+)$")
_CTEST_RAN = lines(r"^ *\d+/\d+ Test +#\d+: (?P<name>.+?) \.*(?: +Passed|\*+(?!Skipped|Not Run))\b.*$")
_CTEST_TEST = lines(r"^\s+\d+ - (?P<name>.+) \((?P<result>[\w ]+)\)$")


def ctest(text: str) -> list[RunnerSummary]:
    """Below its numbers it names what failed, what was skipped, which is among them, and what is disabled, which is
    not; above them each test that ran."""
    found = []
    start = 0
    ends = list(_CTEST_END.finditer(text))
    for end, until in zip(ends, [*(each.start() for each in ends[1:]), len(text)], strict=False):
        named: dict[str, set[str]] = {}
        for test in _CTEST_TEST.finditer(text, end.end(), until):
            named.setdefault(test["result"], set()).add(test["name"])
        skipped, disabled = len(named.pop("Skipped", ())), len(named.pop("Disabled", ()))
        failing = frozenset().union(*named.values())
        failed = int(end["failed"])
        counts = Counts(int(end["total"]) - failed - skipped, failed, skipped + disabled)
        ran = [test["name"] for test in _CTEST_RAN.finditer(text, start, end.start())]
        start = end.end()
        found.append(RunnerSummary(counts, failing, 0, failed <= len(failing), end[0], ran=ran))
    return found


# A suite is named as its tests are. TAP says so below it; for people it is printed once more at its end.
_NODE_RESULT = lines(
    r"^ *(?:not )?ok \d+ - (?P<tap>.+?)(?P<suite>\n +---\n(?: +duration_ms: .*\n)? +type: 'suite'$)?$",
    r"^(?P<indent> *)(?P<mark>[✔✖▶]) (?P<name>.+?)(?P<time> \([\d.]+m?s\))?(?P<why> # (?:SKIP|TODO).*)?$",
)
_NODE_NOT_RUN = re.compile(r" # (?:SKIP|TODO)\b")
_NODE_FAILING = lines(r"^✖ failing tests:$")
_NODE_SUITES = lines(r"^[#ℹ] suites (?P<number>\d+)$")


def node(text: str) -> list[RunnerSummary]:
    summaries = _NODE.summaries(_NODE.pattern.finditer(text))
    if len(summaries) != 1 or summaries[0].counts is None:
        return summaries
    return [replace(summaries[0], ran=_ran_in_node(text))]


def _ran_in_node(text: str) -> list[str]:
    """The tests that passed or failed; none where it cannot be told which are suites."""
    if failing := _NODE_FAILING.search(text):
        text = text[: failing.start()]
    opened: list[tuple[str, str]] = []
    ran, parents = [], []
    for result in _NODE_RESULT.finditer(text):
        place = (result["indent"], result["name"])
        if result["tap"]:
            if not result["suite"] and not _NODE_NOT_RUN.search(result["tap"]):
                ran.append(result["tap"])
        elif result["time"] is None:
            opened.append(place)
        elif place in opened:
            opened.remove(place)
            parents.append(result["name"])
        elif not result["why"]:
            ran.append(result["name"])
    suites = _NODE_SUITES.search(text)
    number = int(suites["number"]) if suites else 0
    if not number:
        return [*ran, *parents]
    return ran if number == len(parents) or not parents else []


# Checkers have no tests, but findings: a path and a message, in one of two orders.
_FINDINGS = (
    lines(r"^(?P<path>\S+\.pyi?):\d+(?::\d+)?: error: (?P<message>.+)$"),  # mypy
    lines(r"^(?P<path>\S+?):\d+:\d+: (?P<message>[A-Z]+\d+ .+)$"),  # ruff and flake8 in one line
    lines(r"^(?P<message>[A-Z]{1,7}\d{3,4} .+|unformatted: .+)\n *--> (?P<path>\S+?):\d+:\d+$"),  # ruff
    lines(r"^(?P<message>[Ww]ould reformat):? (?P<path>\S+)$"),  # ruff and black
    lines(r"^(?P<path>\S+?)(?:\(\d+,\d+\):|:\d+:\d+ -) error (?P<message>TS\d+: .+)$"),  # tsc, plain and pretty
)
_CHECKERS_END = lines(r"^Found \d+ errors?\b.*$", r"^\d+ files? would be reformatted.*$")


def checkers(text: str) -> list[RunnerSummary]:
    failing = set()
    line = ""
    for pattern in _FINDINGS:
        for finding in pattern.finditer(text):
            failing.add(f"{finding['path']}: {' '.join(finding['message'].split())}")
            line = line or finding[0].partition("\n")[0]
    if not failing:
        return []
    for end in _CHECKERS_END.finditer(text):
        line = end[0]
    return [RunnerSummary(None, frozenset(failing), 0, not GAP.search(text), line)]


def summaries(text: str) -> list[RunnerSummary]:
    found = pytest(text)
    for runner in (_UNITTEST, _JEST, _VITEST, _CARGO, _MAVEN, _MOCHA, _RSPEC, _OTHERS):
        found.extend(runner.summaries(runner.pattern.finditer(text)))
    return [*found, *node(text), *go(text), *ctest(text), *checkers(text)]


# By `-rp` and `-rX` pytest names below all else what passed, and also what was expected to fail.
_PASSED_IN_PYTEST = lines(r"^(?:\x1b\[[\d;]*m)*(?:PASSED|XPASS)(?:\x1b\[[\d;]*m)* (?=[^\n]*::)(?P<name>[^\n]*)\n?")
# What unittest prints of a test that passed, where it is asked for names.
_PASSED_IN_UNITTEST = lines(r"^\w+ \([\w.<>]+\)(?:\n(?!\w+ \([\w.<>]+\)).*)? \.\.\. ok\n")


def parted(output: str) -> tuple[list[str], str]:
    """Part what was printed into the names of tests that passed, by pytest's summary, and all else."""
    if "PASS" not in output:
        return [], output
    names = [passed["name"] for passed in _PASSED_IN_PYTEST.finditer(output)]
    return names, _PASSED_IN_PYTEST.sub("", output)


def without_passed(output: str) -> str:
    """Return an output to be shown, which names of tests that passed would fill."""
    return _PASSED_IN_UNITTEST.sub("", parted(output)[1])


def ran(summaries: Sequence[RunnerSummary], passed: Sequence[str]) -> list[str]:
    """Return the names of all tests that ran, or none where the numbers say that there were others."""
    counts = counts_of(summaries)
    if counts is None:
        return []
    failing: set[str] = set()
    names: list[str] = []
    for summary in summaries:
        failing |= summary.failing
        if summary.counts is not None:
            names += summary.ran
    names += [name for name in passed if name not in failing]  # pytest names one twice that fails in its teardown
    unreached = sum(summary.unreached for summary in summaries)
    return names if len(names) == counts.passed + counts.failed - unreached else []


def counts_of(summaries: Iterable[RunnerSummary]) -> Counts | None:
    """Of all that count; checkers do not."""
    counted = [summary.counts for summary in summaries if summary.counts is not None]
    if not counted:
        return None
    passed, failed, skipped = zip(*counted, strict=True)
    return Counts(sum(passed), sum(failed), sum(skipped))


# A build, an import, a collection, a configuration or a resolution that failed: tests were not reached.
BROKE = lines(
    # Python
    r"^ERROR: (?:usage: |(?:file or directory )?not found: |\S+\.(?:toml|ini|cfg): )",
    # of tox 3
    r"^ERROR: +(?:(?:No pyproject\.toml or setup\.py|pyproject\.toml) file found|unknown environment )",
    r"^ERROR: +\S+: (?:InterpreterNotFound|could not install)",
    r"^INTERNALERROR>|^ImportError while loading conftest |^(?:\w+\.)*UsageError: ",
    r"^[\w.]+: error: (?:unrecognized arguments|argument |the following arguments)",
    r"^(?:# )?(?:ModuleNotFoundError|ImportError|SyntaxError|IndentationError|TabError): ",
    # What tox, nox and uv say where there is no such environment or Python, or what it needs cannot be installed.
    r"^ROOT: (?:.* )?HandledError\| ",
    r"^\S+: (?:skipped because could not find python interpreter|exit \d+ \([\d.]+ seconds\) .*\bpip install\b)",
    r"^nox > (?:Sessions not found: |Command .*\b(?:pip install|virtualenv) .* failed)",
    # JavaScript and TypeScript
    r"^ +● Test suite failed to run$|^● Validation Error|^[^\w\n]*Failed Suites \d+\b|^failed to load config from ",
    r"^ ?(?:Uncaught |Exception during run: )?Error(?:: Cannot find (?:module|package)| \[ERR_MODULE_NOT_FOUND\])",
    r"^npm (?:ERR!|error) (?:[Mm]issing script|code E[A-KM-Z]|could not )",  # not ELIFECYCLE
    # Go and Rust
    r"^go: |^\S+\.go:\d+:\d+: (?:no required module provides |cannot find (?:module providing )?|)package ",
    r"^error(?:\[E\d+\])?: could not (?:compile|find|parse|load)",
    r"^error: (?:no matching package|[Ff]ailed to )",
    r"^Can't locate \S+ in @INC",  # Perl
    # C, and whatever has a compiler that names the line
    r"^\S+\.(?:c|cc|cpp|cxx|h|hpp|m|mm|swift|kt|java|cs|zig|hs)[:(]\d+[:,)][^\n]*\berror\b",
    # shells and make
    r"^\S*sh: (?:.*: )?\S+: not found$|^\S+: \d+: \S+: not found$",
    r"^g?make\S*: \*\*\* No (?:rule to make target|targets) ",
    # In the middle of a line: Python and RSpec, Go, C and other compilers, shells
    r"errors? (?:during collection|occurred outside of examples)\b",
    r": No module named \S+$",
    r"\[(?:build|setup) failed\]",
    r"undefined reference to |(?:COMPILATION ERROR|Compilation error|could not be resolved|Could not resolve)\b",
    r": command not found$",
)
# Groups are what is missing. Where a thing is missing from another, both are meant.
MISSING = lines(
    # Python, and mypy
    r"module named ['\"]?([\w.]+)",
    r"cannot import name '(\w+)' from (?:partially initialized module )?'([\w.]+)'",
    r"(?:[Mm]odule|type object) ['\"]([\w.]+)['\"] has no attribute ['\"](\w+)['\"]",
    r"object has no attribute '(\w+)'",
    r"(?:[Nn]ame|fixture) ['\"](\w+)['\"] (?:is not defined|not found)",
    r"No such file or directory: '([^'\n]+)'|file or directory not found: (\S+)",
    # JavaScript and TypeScript
    r"(?:Cannot find (?:module|package|name)|Failed to resolve import) ['\"]([^'\"\n]+)['\"]",
    r"requested module '([^'\n]+)' does not provide an export named '(\w+)'",
    r"ReferenceError: (\w+) is not defined",
    r"TypeError: (?:\(0 , )?(?:\w+\.)*(\w+)\)? is not a (?:function|constructor)",
    r"Module '\"([^\"\n]+)\"' has no exported member (?:named )?'(\w+)'",
    r"Property '(\w+)' does not exist on type",
    r"[Mm]issing script: \"([^\"\n]+)\"",
    # Go
    r": undefined: ([\w.]+)|: (?:\w+\.)*(\w+) undefined \(",
    r"(?:no required module provides|cannot find(?: module providing)?) package \"?([^\s\";]+)",
    r"package (\S+) is not in ",
    # Rust
    r"(?:unresolved|unlinked|undeclared) [\w ]+`([\w:]+)`",
    r"[Cc]ould not find `(\w+)` in `([\w:]+)`",
    r"\b(?:cannot find|can't find|file not found for|no) (?:[\w, ]+ )?`([\w-]+)`(?: in `([\w:]+)`)?",
    # Java, Perl, C, shells and make
    r"symbol: +(?:class|method|variable) (\w+)",
    r"Can't locate ([\w/]+)(?:\.pm)? in @INC",
    r"fatal error: (\S+): No such file",
    r"(?:undefined reference to|undeclared identifier) [`']([^'\n]+)'|'(\w+)' was not declared",
    r"sh: (?:line \d+: |\d+: )?([\w./@-]+): (?:command )?not found$",
    r"No rule to make target '([^'\n]+)'",
)
