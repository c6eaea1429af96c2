"""What a command printed, read once when it has ended: what was run, what failed, and the line to quote."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from omo import masking
from omo.proof import runners, test_names
from omo.proof.run import CommandOutcome
from omo.proof.runners import Counts as Counts
from omo.proof.runners import RunnerSummary
from omo.text import clip

INSTALL = "install it, or have another command named"
IN_PLACE_OF_RUNNER = "{} stands in the place of the runner's own module"
# `go test -v` prints what each test logs, and what is counted line by line must not have a gap.
ASKED_OUTPUT_LIMIT = 8_000_000
# By this pytest names what passed, what was expected to fail and passed, and last what failed, which is what people
# look for. It does not stop at the first, nor at a file that it cannot load. `addopts = -rs` in the settings takes the
# names away: this goes over it, and the command's own `-r` over this.
PYTEST_ADDOPTS = "-rpXfE --maxfail=0 --continue-on-collection-errors"
_UNITTEST_PRINTS_OTHERWISE = {"v", "verbose", "h", "help"}
_GO_PRINTS_OTHERWISE = {"json", "v", "test.v", "c", "n", "list", "bench", "h", "help"}
MOST_NAMES = 5_000  # of tests; of more only the numbers are compared
_LONGEST_LINE = 1000
_LONGEST_QUOTE = 160
COLOURS = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?")
_TIMES = re.compile(r"[;,]? ?(?:finished )?(?:in|after) [\d.]+ ?(?:m?s|seconds?)\b(?: \([\d:]+\))?| \([\d.]+ ?m?s\)")
# What runners say when there was nothing to run, or when they left out all there was, without counting it.
_RAN_NOTHING = runners.lines(
    r"\bno (?:tests?|specs?|test (?:files|suites?|modules|cases))\b[^\n]{0,20}"
    r"\b(?:ran|run|found|executed|collected|match(?:es|ed)?|available)\b",
    r"\bno test files\b|\bcouldn't find any files to test\b|\bTests are skipped\b|\ball tests skipped\b|\bNOTESTS\b",
    r"\b(?:ran|running|executed|starting|found|collected|all|with) 0 (?:of \d+ )?(?:tests?|specs?|items)\b",
    r"\b0 (?:pass(?:ed|ing)?|successes|tests? (?:completed|run))\b|\b\d+(?:/\d+)? tests? collected\b",
    r"\b(?:tests|tests run|cases|passed|succeeded|pass)[:=]? *0\b(?!\.\d)",
    r"\] 0 tests\b",
    r"^1\.\.0\b|^ok \d+\b.*# (?:skip|todo)\b",  # TAP
    r"^\s+\d+ skipped$",  # Playwright
    r"^nox > Session \S+ skipped: ",
    flags=re.IGNORECASE,
)
# What shows that something was run all the same.
_RAN_SOMETHING = runners.lines(
    r"\b[1-9]\d* (?:tests? )?(?:x?pass(?:ed|ing)?|fail(?:ed|ing|ures?)?|errors?|successes|completed)\b",
    r"\b(?:passed|failed|succeeded|pass|fail)[:=]? *[1-9]|\bTests=[1-9]|\bExecuted [1-9]",
    r"\] [1-9]\d* tests\b",
    r"^ok\s+[^\s|]+\s+[\d.(](?!.*no tests to run)|^\s*--- (?:PASS|FAIL)|^FAIL\b",  # go
    r"^(?:not )?ok [1-9]\d*\b(?!.*# (?:skip|todo)\b)",
    flags=re.IGNORECASE,
)
# All that is printed where there was nothing to build. Beside other lines it is about a part of the work.
_NOTHING_TO_BUILD = re.compile(
    r"(?:g?make\S*: )?(?:[`'].*' is up to date|Nothing to be done for |(?:Entering|Leaving) directory )"
    r"|ninja: no work to do"
)
# As a shell, make, env and Python say it of a program or of what `-m` is to run.
_NOT_HERE = runners.lines(
    r"^(?:\S*sh|\S+: line \d+|\S+: \d+): (?:line \d+: |\d+: )?([\w.+-]+): (?:command )?not found$",
    r"^(?:g?make\S*|\S*env): \W?([\w.+-]+)\W?: No such file or directory$",
    r"^\S*python[\d.]*: No module named (\w+)$",
)
_SAYS_WRONG = re.compile(
    r"error|exception|fail|\bnot ok\b|fatal|panic|assert|cannot|not found|missing|expected", re.IGNORECASE
)
# What turbo and pnpm write at the start of each line of a package, and by which line it is known. At the first package
# that fails they stop the others.
_PACKAGE = runners.lines(r"^(?P<turbo>\S+:\S+): cache (?:miss|hit|bypass)", r"^(?P<pnpm>\S+ \S+)\$ ")
_PACKAGES_STOPPED = runners.lines(r"ERR_PNPM_RECURSIVE_RUN_FIRST_FAIL", r"^ ERROR  run failed: ")
_GO_PLACE = runners.lines(r"^\S+\.go:\d+:\d+: ")  # of its compiler and of vet, which do not say that it is an error
# Frames, farewells, the echo of a command, `make: *** Error 1`: they only pass on that something is wrong.
_SAYS_LITTLE = re.compile(
    r"\s*(?:at \S|File \"|in \S+:\d|#\d+ |\d+: 0x|goroutine \d|created by |from \S+:\d|[\^~]+$|\d* *\||= note)"
    r"|[-=*_ .]+$|INTERNALERROR>(?: Traceback|\s{2,})|(?:FAIL|PASS|OK|ok)$|\[… "
    r"|(?:npm|pnpm|yarn) (?:ERR!|error|warn)(?!.*(?:[Mm]issing|E[A-KM-Z]|could not))| ?ELIFECYCLE\b"
    r"|error Command failed with exit code|info Visit |Node\.js v"
    r"|note: |warning: |For more information about|Some errors have detailed"
    r"|.*\[(?:build|setup) failed\]"  # Go has said above which line it is
    r"|  (?:generatedMessage|code|actual|expected|operator|diff): "  # the fields of an error that node prints whole
    r"|BUILD FAILED|FAILURE: Build|Execution failed for task|> There were failing tests"  # gradle
    r"|g?make\S*: |ERROR: usage: |nox > | +evaluation failed| +\w+: (?:OK|FAIL)"
)


@dataclass(frozen=True, kw_only=True)
class Printed:
    """What is known of a run from what it printed.

    `counts` is None where the runner prints none that are known, or did not come to its end. `failing` are tests, files
    that could not be loaded, or a checker's findings, in the runner's spelling, without lines and times.
    `names_are_whole` says that nothing else failed: not so where a name is missing, or the runner stopped before its
    last test. `broke_before_tests`: it failed by a build, an import, a collection or a configuration, and by no test;
    `unreached` files could not be loaded, and count as one test each. `unexpected` of the failing were to fail, and
    passed.
    `missing` is what its messages say is not there, where it did not succeed; `not_here`: a program is, and what would
    help. `ran_nothing`: its runner says so itself, and nothing beside it says otherwise: neither a pass nor a red.
    `quoted` is the line that says what failed and how many, or that all passed; without a time. `ran` are the tests
    that ran, by function, with the number of their cases: empty where the runner does not name each of them.
    """

    counts: Counts | None = None
    failing: Sequence[str] = ()
    names_are_whole: bool = False
    broke_before_tests: bool = False
    unreached: int = 0
    missing: Sequence[str] = ()
    subtests: Sequence[str] = ()
    unexpected: Sequence[str] = ()
    ran_nothing: bool = False
    not_here: str = ""
    quoted: str = ""
    ran: Mapping[str, int] = field(default_factory=dict)


def read_printed(text: str, exit_code: int | None, passed: Sequence[str] = ()) -> Printed:
    """`passed` are names of tests that pytest printed beside it."""
    text = _page(text)
    summaries = runners.summaries(text)
    failing: set[str] = set()
    subtests: set[str] = set()
    unexpected: set[str] = set()
    for summary in summaries:
        failing |= summary.failing
        subtests |= summary.subtests
        unexpected |= summary.unexpected
    are_whole = bool(summaries) and all(summary.is_named for summary in summaries)
    missing: set[str] = set()
    broke = False
    if exit_code != 0:
        for message in runners.MISSING.finditer(text):
            missing.update(name.rstrip(".") for name in message.groups() if name)
        if not any(summary.tests_failed for summary in summaries):
            broke = any(summary.unreached for summary in summaries) or bool(runners.BROKE.search(text))
    return Printed(
        counts=runners.counts_of(summaries) if exit_code is not None else None,
        failing=sorted(failing),
        names_are_whole=exit_code is not None and are_whole and not _PACKAGES_STOPPED.search(text),
        broke_before_tests=broke,
        unreached=sum(summary.unreached for summary in summaries),
        missing=sorted(missing),
        subtests=sorted(subtests),
        unexpected=sorted(unexpected),
        ran_nothing=_ran_nothing(text, summaries),
        not_here=_not_here(text, summaries),
        quoted=_quoted(text, summaries),
        ran=_ran(summaries, passed) if exit_code is not None else {},
    )


def _ran(summaries: Sequence[RunnerSummary], passed: Sequence[str]) -> dict[str, int]:
    names = test_names.counted_by_function(runners.ran(summaries, passed))
    return names if len(names) <= MOST_NAMES else {}


def _ran_nothing(text: str, summaries: Sequence[RunnerSummary]) -> bool:
    counts = runners.counts_of(summaries)
    if (counts is not None and (counts.passed or counts.failed)) or _RAN_SOMETHING.search(text):
        return False
    if counts is not None:
        return True
    built_nothing = all(_NOTHING_TO_BUILD.match(line) for line in text.split("\n"))
    return built_nothing or bool(_RAN_NOTHING.search(text))


def _not_here(text: str, summaries: Sequence[RunnerSummary]) -> str:
    """Empty where a test failed."""
    missing = _NOT_HERE.search(text)
    if missing is None or any(summary.tests_failed for summary in summaries):
        return ""
    return f"{missing[missing.lastindex or 0]} is not here: if the work is not to bring it, {INSTALL}"


def without_passed_names(outcome: CommandOutcome) -> tuple[list[str], CommandOutcome]:
    """Take the names of tests that passed out of what pytest printed; without colours."""
    names, stdout = runners.parted(outcome.stdout)
    plain = [COLOURS.sub("", name).rstrip() for name in names]
    return plain, replace(outcome, stdout=stdout)


def printed_by(outcome: CommandOutcome) -> Printed:
    """The same of a command that has ended, to be kept or shown."""
    return masked(read_printed(outcome.stdout + outcome.stderr, outcome.exit_code), outcome.argv)


def masked(printed: Printed, argv: Sequence[str]) -> Printed:
    """What was read, without secrets."""
    return replace(
        printed,
        failing=masking.mask_all(printed.failing, argv),
        missing=masking.mask_all(printed.missing, argv),
        subtests=masking.mask_all(printed.subtests, argv),
        unexpected=masking.mask_all(printed.unexpected, argv),
        not_here=masking.mask(printed.not_here, argv),
        quoted=masking.mask(printed.quoted, argv),
        ran=_masked_names(printed.ran, argv),
    )


def _masked_names(ran: Mapping[str, int], argv: Sequence[str]) -> dict[str, int]:
    """All at once: one by one it takes as long as a short run."""
    names = list(ran)
    masked_names = masking.mask("\n".join(names), argv).split("\n")
    if len(masked_names) != len(names):  # a secret of several lines
        return {}
    kept: Counter[str] = Counter()
    for name, number in zip(masked_names, ran.values(), strict=True):
        kept[name] += number
    return dict(kept)


def result_of(outcome: CommandOutcome, printed: Printed, shadows: Sequence[str] = ()) -> tuple[str, str]:
    """What a command that was run for the work says of it: pass, fail or unknown, and why it is unknown.

    Every workflow asks this of every gate or pinned command that it ran. A program that is missing, one that did not
    end, one that ran no test, and one in whose place another may have run (`shadows`) have shown nothing.
    """
    if outcome.timed_out:
        return "unknown", f"timed out after {outcome.duration:.3g} s"
    if outcome.not_found:
        return "unknown", f"program not found: {clip(outcome.argv[0], 60)}; {INSTALL}"
    if shadows:
        return "unknown", IN_PLACE_OF_RUNNER.format(shadows[0])
    if not outcome.ok:
        return "fail", ""
    if printed.ran_nothing:
        return "unknown", "it ran no test"
    return "pass", ""


def _quoted(text: str, read: Sequence[RunnerSummary]) -> str:
    summaries = [summary for summary in read if summary.line]
    failed = [summary for summary in summaries if summary.tests_failed]
    unloaded = [summary for summary in summaries if summary.unreached]
    if failed:
        line = failed[-1].line
    elif unloaded:
        line = _first(text, runners.MISSING, runners.BROKE, _GO_PLACE) or unloaded[-1].line
    elif summaries:
        line = _first(text, runners.BROKE) or summaries[-1].line
    else:
        line = _first(text, runners.MISSING, runners.BROKE, _RAN_NOTHING) or _telling_line(text)
    return clip(_TIMES.sub("", line.removeprefix("E ")).strip(" ="), _LONGEST_QUOTE)


def asking(argv: list[str]) -> list[str]:
    """The same command, asked to print counts and names where it would not, and to go on after the first failure.

    Only where it is called by its name, and nothing of what it does is changed: a script that calls it stays as it is.
    """
    program = os.path.basename(argv[0]).removesuffix(".exe") if argv else ""
    options = set()
    for argument in argv:
        if argument in ("-args", "--args", "--"):
            break
        if argument.startswith("-"):
            options.add(argument.lstrip("-").partition("=")[0])
    if program == "go" and argv[1:2] == ["test"] and not options & _GO_PRINTS_OTHERWISE:
        return [*argv[:2], "-v", *argv[2:]]
    if program == "cargo" and not options & {"no-fail-fast", "no-run", "help"}:
        end = 3 if "".join(argv[1:2]).startswith("+") else 2  # +nightly
        if argv[end - 1 : end] in (["test"], ["t"]):
            return [*argv[:end], "--no-fail-fast", *argv[end:]]
    if re.fullmatch(r"python[\d.]*", program) and not options & _UNITTEST_PRINTS_OTHERWISE:
        if "unittest" in argv[1:] and argv[argv.index("unittest") - 1] == "-m":
            return [*argv, "-v"]  # at the end, where it counts more than -q
    if program in ("mvn", "mvnw") and not options & {"ff", "fail-fast", "fn", "fail-never"}:
        return [argv[0], "--fail-at-end", *argv[1:]]
    return argv


def _page(output: str) -> str:
    """Lines without colours, the blank ones left out. What is longer than any summary is cut, to be read in time."""
    kept = []
    for line in re.split(r"[\r\n]+", COLOURS.sub("", output)):
        line = line[:_LONGEST_LINE].rstrip()
        if line:
            kept.append(line)
    text = "\n".join(kept)
    packages = tuple(f"{found[found.lastgroup or 0]}: " for found in _PACKAGE.finditer(text))
    return _package_by_package(kept, packages) if packages else text


def _package_by_package(lines: Sequence[str], packages: Sequence[str]) -> str:
    """What several packages print at the same time, one after another and as each of them prints it."""
    by_package: dict[str, list[str]] = {}
    for line in lines:
        package = next((name for name in packages if line.startswith(name)), "")
        by_package.setdefault(package, []).append(line.removeprefix(package))
    return "\n".join(line for printed in by_package.values() for line in printed)


def _first(text: str, *patterns: re.Pattern[str]) -> str:
    for pattern in patterns:
        if not pattern.search(text):  # in all lines at once it takes a tenth of the time
            continue
        for line in text.split("\n"):
            if pattern.search(line) and not _SAYS_LITTLE.match(line):
                return line
    return ""


def _telling_line(text: str) -> str:
    telling = [line for line in text.split("\n") if not _SAYS_LITTLE.match(line)]
    for line in reversed(telling):
        if _SAYS_WRONG.search(line):
            return line
    return (telling or text.split("\n"))[-1]
