"""What the runs of an experiment show: the first of `RULES`, at the end, that has something to say decides.

A rule is asked about all the runs, and answers with the reason for its verdict, or with nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from omo import masking
from omo.proof import base, calls, contents, form, kinds, test_names
from omo.proof.calls import Call
from omo.proof.gate_runs import (
    ALL_OLD_TESTS,
    ALLOWED_BEFORE,
    AS_IT_IS,
    MOST_NAMED,
    NEW_DATA,
    OLD_TESTS,
    WITHOUT,
    CommandRun,
    GateCommand,
    Subject,
)
from omo.proof.swap_files import File
from omo.proof.test_names import Lost
from omo.text import clip, counted, listed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.proof.arrangements import Arrangements

# What came of an experiment. Only the first is a proof.
HOLDS = "holds"
PASSES_WITHOUT = "passes without the work"
OLD_TESTS_FAIL = "old tests fail"
FEWER_TESTS = "fewer tests"
FAILS = "fails"
ENDED_EARLY = "ended early"  # it exits with 0 and has counted no test, though it counted some on other files
FLAKY = "flaky"
LOOKS_AT_TESTS = "looks at its tests"
NOT_BUILT = "not built"  # it passes without the work, which nothing has built again
NOTHING_SHOWN = "nothing shown"  # the run without the work did not show anything
NO_WORK = "no work"  # nothing that could be taken away was changed
NOT_MADE = "not made"
SHOWS_NO_RED = (PASSES_WITHOUT, NOT_BUILT, NOTHING_SHOWN)
TESTS_CHANGED = (OLD_TESTS_FAIL, FEWER_TESTS)
MAY_BE_ALLOWED = (*TESTS_CHANGED, LOOKS_AT_TESTS)
# Runners that load source, and what they cannot load: somebody has to build it first.
LOADS_SOURCE = (
    *("pytest", "unittest", "./manage.py test", "node --test", "jest", "vitest", "mocha", "ava", "rspec", "rake test"),
    *("phpunit", "prove"),
)
IS_BUILT = (".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".pyx", ".pxd", ".pxi", ".rs", ".f90", ".zig")


@dataclass(frozen=True)
class Experiment:
    """What came of a command. `reason` is one true sentence about it, whatever the `verdict`; `notes` say what was put
    back, kept, and not compared. It fails by nothing but `still_failing`, tests that omo saw fail without the work;
    where the user allowed all of these they are `known_failures`, and it is judged without them. `changed_rest` are
    the files that the user may allow: changed tests and what they rest on, or code that looks at them; `to_allow` what
    holds it up, as far as that is known, as they type it. `was_tried` is False where the old tests could not be run, so
    that the verdict assumes the worst of them."""

    verdict: str
    reason: str
    runs: Mapping[str, CommandRun] = field(default_factory=dict)
    notes: Sequence[str] = ()
    changed_rest: Sequence[str] = ()
    still_failing: Sequence[str] = ()
    known_failures: Sequence[str] = ()
    to_allow: Sequence[str] = ()
    was_tried: bool = True

    @property
    def holds(self) -> bool:
        return self.verdict == HOLDS


@dataclass
class Shown:
    """The runs of one command, as far as they were made, and what can be read off them. Where only the old tests are
    asked about, there is none without the work."""

    subject: Subject
    command: GateCommand
    arranged: Arrangements
    runs: dict[str, CommandRun] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    known: Sequence[CommandRun] = ()  # earlier runs of this command, on whichever files

    def add(self, name: str, run: CommandRun) -> CommandRun:
        """Note a run. One that ends with 0 and counts no test is unknown if the command counted some on other files."""
        self.runs[name] = run
        if any(each.counts is not None and each.counts.total for each in self.runs.values()):
            for other, each in self.runs.items():
                if each.result == "pass" and each.counts is None and self._runs_same_program(other):
                    last = clip(each.last_line, 80)
                    why = f"the test program ended early, before it counted its tests (last line: {last or 'none'})"
                    self.runs[other] = replace(each, result="unknown", why=why, ended_early=True)
        return self.runs[name]

    def _runs_same_program(self, name: str) -> bool:
        """Return whether no setting or script of the gate stands otherwise in a run than now."""
        return name != OLD_TESTS or all(map(kinds.is_test, self.put_back))

    @property
    def without(self) -> CommandRun:
        return self.runs[WITHOUT]

    @property
    def old(self) -> CommandRun | None:
        return self.runs.get(OLD_TESTS)

    @property
    def now(self) -> CommandRun:
        return self.runs[AS_IT_IS]

    @property
    def with_old_tests(self) -> str:
        """Which run says how many of the tests before the work are left: with all old ones, where what the user allowed
        cannot be loaded without the work ("a plugin deleted that fails, behind an allowed rename")."""
        before = self.run_on(ALLOWED_BEFORE)
        if before and before.unreached:
            return ALL_OLD_TESTS
        return OLD_TESTS if self.old else AS_IT_IS

    @property
    def to_be_made(self) -> str:
        """Which run still has something to say of the tests before the work; empty where none has."""
        missing = [name for name in (ALLOWED_BEFORE, self.with_old_tests) if self.run_on(name) is None]
        return missing[0] if missing and self.may_be_fewer else ""

    def run_on(self, name: str) -> CommandRun | None:
        """That on the files of this run, whichever it was made for."""
        keys = self.arranged.keys
        return next((run for other, run in self.runs.items() if keys[other] == keys.get(name)), None)

    @property
    def put_back(self) -> Mapping[str, File]:
        """What stands otherwise in the run with the old tests."""
        return self.arranged.files.get(OLD_TESTS, {})

    def verdict(self, wanted: Collection[str] = ()) -> Experiment | None:
        """What the first rule says, of those `wanted`, that has something to say; None: it holds."""
        for verdict, rule in RULES:
            if not wanted or verdict in wanted:
                if reason := rule(self):
                    return self.result(verdict, reason)
        return None

    def proof(self) -> Experiment:
        """Where no rule had anything to say."""
        if data := self.arranged.data:
            note = f"the work is data alone: {listed(data, 6)}"
            if others := listed([path for path in self.arranged.work if path not in data], 6):
                note = f"of the work {listed(data, 6)} is shown alone: it passes without the change of {others}"
            self.notes.append(note)
        if self.now.counts is None:
            if not form.is_form(self.command.argv):  # a linter runs none
                self.notes.append("how many tests ran is unknown")
        elif self.old is None and (self.without.counts is None or self.without.broke_before_tests):
            self.notes.append("how many tests ran without the work is unknown")
        if rewritten := self._rewritten_tests():
            self.notes.append(f"old tests have other lines: {listed(rewritten, MOST_NAMED)}")
        return self.result(HOLDS, _proof(self))

    def result(self, verdict: str, reason: str) -> Experiment:
        changed_rest = list(self.arranged.peeks if verdict == LOOKS_AT_TESTS else self.put_back or self.arranged.rest)
        runs = {name: run for name, run in self.runs.items() if name in (WITHOUT, OLD_TESTS, AS_IT_IS)}
        still_failing = self.still_failing if AS_IT_IS in self.runs else ()
        to_allow: list[str] = []
        if verdict != FAILS or (still_failing and _with_old_tests(self)):
            to_allow += self._to_allow(changed_rest)
        if verdict == FAILS:  # behind the files, since the name of a test may have blanks
            to_allow += map(test_names.as_typed, still_failing)
        if verdict == FEWER_TESTS and (gone := self.lost_tests):
            to_allow = sorted({self._named_to_allow(test) for test in gone})
        known_failures = self.known_failures if still_failing else ()
        return Experiment(verdict, reason, runs, self.notes, changed_rest, still_failing, known_failures, to_allow)

    def _rewritten_tests(self) -> list[str]:
        """Old tests that lost lines: they hold as they were, now, and a later run begins with them as they are ("a test
        emptied in a run that is proven: the end names it")."""
        rewritten = []
        for path in self.put_back:
            before, now = self.arranged.at_base[path].content, contents.now(self.subject.root, path).content or b""
            if kinds.is_test(path) and before is not None and not set(before.split(b"\n")) <= set(now.split(b"\n")):
                rewritten.append(path)
        return rewritten

    def _to_allow(self, rest: Sequence[str]) -> list[str]:
        """The changed tests that fail as they were, and what else of the tests has other lines ("a test, and the class
        above it"); where others fail, or nothing is built, all that these may rest on ("golden files, and a version
        that a test holds in step"); where no file is named, the data. What only adds makes no other fail."""
        failing = set(self.old.failing).difference(self.now.failing) if self.old else ()
        rewritten = set(rest).intersection(self._rewritten_tests())
        cases = {path for path in rest if kinds.CASES.match(os.path.basename(path))}
        adding = {path for path in rest if self.arranged.at_base[path].content is None and kinds.is_test(path)}
        adding |= cases - rewritten
        to_allow = {path for path in rest if path not in adding and _names_file(failing, path)} | rewritten - cases
        others = [path for path in self.subject.present - to_allow if kinds.is_test(path)]
        is_built = self.old is None or not self.old.could_not_be_built
        if not is_built or any(_names_file(failing, path) for path in others):
            to_allow.update(path for path in rest if path not in adding | cases)
        elif not to_allow and cases <= adding:
            to_allow = {path for path in rest if path not in adding and not kinds.is_configuration(path)}
        return sorted(to_allow) or sorted(rest, key=lambda path: (path in adding, not kinds.is_test(path), path))[:1]

    # Tests that no longer run

    @property
    def lost_tests(self) -> list[str]:
        """The names of those that the user did not allow."""
        names: set[str] = set()
        for first, second in self.pairs:
            names.update(test.name for test in self.lost_between(first, second) or ())
        return sorted(name for name in names if not self.may_be_gone(name))

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Which runs are compared: of the second no test may be missing that ran in the first."""
        return [(WITHOUT, AS_IT_IS), (OLD_TESTS, AS_IT_IS), (ALLOWED_BEFORE, self.with_old_tests)]

    def lost_between(self, first: str, second: str) -> list[Lost] | None:
        """The tests of the first run that ran less often in the second; None where only numbers can be compared."""
        then, now = self.run_on(first), self.run_on(second)
        if then is None or now is None or not then.ran or not now.ran:
            return None
        lost = test_names.lost(then.ran, now.ran)
        varying = self._varying_places(then) | self._varying_places(now)
        if any(test_names.place_of(test.name) in varying for test in lost):
            return None
        new = test_names.gained(then.ran, now.ran)
        return [test for test in lost if not self._is_renamed(test, new, then.ran, now.ran)]

    def _varying_places(self, run: CommandRun) -> set[str]:
        """Where names differ between runs on the same files."""
        others = [other.ran for other in self.known if other.on_files == run.on_files and other.ran]
        return test_names.varying_places([run.ran, *others])

    def _is_renamed(self, test: Lost, new: Sequence[str], then: Mapping[str, int], now: Mapping[str, int]) -> bool:
        """Whether a test of now has the body that this one had, and as many cases. If in doubt it is lost."""
        body: set[str] = set()
        for held in self.arranged.at_base.values():
            body |= test_names.bodies(_text(held), test.name)
        if not body:
            return False
        for name in new:
            if now[name] - then.get(name, 0) < test.before - test.now:
                continue
            for path in self.arranged.at_base:
                if body & test_names.bodies(_text(contents.now(self.subject.root, path)), name):
                    return True
        return False

    def may_be_gone(self, name: str) -> bool:
        """Whether the user allowed it, by its name or its file."""
        path = self.file_of(name)
        is_in_allowed_file = path is not None and self.subject.is_allowed(path)
        return is_in_allowed_file or test_names.is_meant(self.subject.allowed_tests, name)

    def file_of(self, name: str) -> str | None:
        """The changed file that a lost test was in, by its name or by the lines that are gone."""
        for path in self.arranged.at_base:
            if test_names.is_meant([path], name):
                return path
        for path, held in self.arranged.at_base.items():
            now = _text(contents.now(self.subject.root, path))
            if test_names.bodies(_text(held), name) and not test_names.bodies(now, name):
                return path
        return None

    def _named_to_allow(self, name: str) -> str:
        """What the user types for a lost test: its file, but if that is also of the work, the test alone."""
        path = self.file_of(name)
        return path if path is not None and kinds.is_test(path) else test_names.function_of(name)

    # What is asked by more than one rule, and by whoever makes the runs

    @cached_property
    def programs(self) -> list[Call]:
        return self.subject.programs(self.command)

    def names_all(self, run: CommandRun) -> bool:
        """Nothing else failed: "a second test broken, where the runner stops at the first"."""
        return run.names_are_whole and not any(call.stops_early for call in self.programs)

    @property
    def still_failing(self) -> Sequence[str]:
        """The tests by which it fails, if omo saw each of them fail without the work, and by their old text as well."""
        without, old = self.runs.get(WITHOUT), self.old
        if self.now.result != "fail" or without is None or self.now.ran_none or not self.names_all(self.now):
            return ()
        failing = _failed_before(without, self.now)
        if OLD_TESTS in self.arranged.files and (old is None or not set(failing) <= set(old.failing)):
            return ()
        return failing

    @property
    def known_failures(self) -> Sequence[str]:
        """The same, if the user allowed all of them by name, and nothing stands behind them that was not run."""
        are_allowed = all(test_names.is_meant(self.subject.allowed_tests, name) for name in self.still_failing)
        return self.still_failing if are_allowed and not calls.left_undone(self.programs) else ()

    def is_red(self, run: CommandRun) -> bool:
        """Return whether it failed by more than the known failures."""
        if run.result != "fail" or run.broke_before_tests or not self.names_all(run):
            return run.result == "fail"
        return not set(run.failing) <= set(self.known_failures) or not run.failing

    @property
    def may_be_fewer(self) -> bool:
        """Old tests may no longer run, and new ones make up for their number: by those that could not be loaded without
        the work ("an old test that is not found any more, and as many new ones"), or where the work took a file away
        ("old tests not found any more, new ones only there with the work")."""
        without, old = self.runs.get(WITHOUT), self.old or self.now  # which are those of now, where the user allowed it
        if old.result not in ("pass", self.now.result) or old.counts is None:
            return False
        changed = self.subject.look.changed or {}
        has_removed = any(changed.get(path) == base.GONE for path in self.arranged.work)
        return has_removed or (without is not None and without.unreached > 0 and old.reached < without.reached)

    @property
    def why_nothing(self) -> str:
        """Why the run without the work tested nothing, so that its failure shows nothing; empty where it did."""
        without = self.without
        if without.why_nothing or not without.broke_before_tests:
            return without.why_nothing
        settings = self.arranged.old_settings
        if without.missing:  # of what a test could not find
            if not any(self._provides(name) for name in without.missing):
                what = listed([clip(name, 60) for name in without.missing], MOST_NAMED)
                return f"it stops before its tests for want of {what}, which no changed file provides"
            if not settings:  # "a plugin that pytest's settings load, and nothing else"
                return ""
        # "a test that does not compile without the work, and misses no name". What only settings name is no test.
        named = [path for path in self.arranged.rest if path not in settings]
        if settings:
            named += filter(kinds.is_test, self.subject.present)
            # Of which the tests inside were left: "cargo: a new crate, its tests inside of it".
            at_base = self.arranged.at_base
            named += [path for path, held in self.arranged.files[WITHOUT].items() if held != at_base[path]]
        else:
            named += self.arranged.work
        if any(os.path.basename(path) in without.tail for path in named):
            return ""
        return f"it stops before its tests ({without.quoted})"

    def _provides(self, name: str) -> bool:
        """Whether the work brought what was missing: a module by its path, or a name that its files have now."""
        last = name.replace("::", ".").replace("/", ".").rstrip(".").split(".")[-1]
        for path in self.arranged.files[WITHOUT]:
            if last in path.replace(".", "/").split("/"):
                return True
            if not path.endswith(kinds.CODE):  # "red by a package that was never there, and its name in a page"
                continue
            # Of Rust the code alone: "cargo: a new function, and its test inside of the source".
            after = self.put_back.get(path) or contents.now(self.subject.root, path)
            if os.fsencode(last) in (after.content or b""):
                return True
        return False

    def may_fail(self, old: CommandRun) -> bool:
        """Return whether nothing fails with the old tests but known failures, what was to fail and passes ("a fix, and
        the strict xfail taken from its test"), and what the user allowed; or no test at all, but a threshold."""
        if self._is_threshold(old):
            self.notes.append(f"with the old tests no test fails, but the command does: {clip(old.quoted, 80)}")
            return True
        if not old.failing or not self.names_all(old):
            return False
        allowed = [name for name in old.failing if self._is_allowed(name)]
        if allowed:
            self.notes.append(f"no longer as before, as the user allowed: {listed(allowed, MOST_NAMED)}")
        if old.unexpected:
            self.notes.append(f"expected to fail by the old tests, and passing: {listed(old.unexpected, MOST_NAMED)}")
        return set(old.failing) <= {*self.still_failing, *allowed, *old.unexpected}

    def _is_threshold(self, old: CommandRun) -> bool:
        """Return whether the command fails with the old tests, and none of them does: for coverage, obsolete snapshots,
        warnings. The changed tests only grew; what is gone from others may be what the threshold was for."""
        if old.counts is None or not old.counts.passed or old.counts.failed or old.failing or old.broke_before_tests:
            return False
        are_tests = all(kinds.CASES.match(os.path.basename(path)) for path in self.put_back)
        return are_tests and not self._rewritten_tests()

    def _is_allowed(self, name: str) -> bool:
        """By FILE::TEST of a file that is still as the user saw it; unittest has the two the other way round."""
        changed = self.subject.look.changed or {}
        for allowed, digest in self.subject.allowed.items():
            path, separator, test = allowed.partition("::")
            if not separator or changed.get(path) != digest:
                continue
            is_of_unittest = name.split(" ")[0] == test.split("::")[-1] and _is_of_module(name, path)
            is_of_node = name == test  # which prints no file
            if name == allowed or is_of_unittest or is_of_node:
                return True
        return False


# The rules, in their order


def _with_counts(shown: Shown) -> str:
    """A test program that counted its tests on other files, and now ends with 0 before it does, has shown nothing."""
    return shown.now.why if shown.now.ended_early else ""


def _as_it_is(shown: Shown) -> str:
    """Before anything is said of the other runs: a build that was broken and still is was told as "without the work it
    stops before its tests", and a regression would be as "passes without the work too"."""
    now = shown.now
    if now.result == "unknown":
        return f"it cannot be judged: {now.why}"
    if now.result == "pass" or shown.known_failures:
        return ""
    reason = f"it {now.failure}"
    if not shown.still_failing:
        return reason
    reason += "; without the work that failed too"
    if undone := calls.left_undone(shown.programs):
        reason += f", and {clip(undone, 60)} was not run"
    # "a failing test deleted, beside one that failed before: the end names it"
    return "; ".join(filter(None, [reason, _with_old_tests(shown)]))


def _unless_built(shown: Shown) -> str:
    """A built module is ignored by git, so it stays as the work made it ("a C extension, rebuilt in place")."""
    work = [path for path in shown.arranged.work if path not in shown.arranged.data]
    is_loaded = not all(path.endswith(IS_BUILT) for path in work)
    is_built = not all(call.program in LOADS_SOURCE for call in shown.programs)
    if shown.without.result != "pass" or is_loaded or is_built:
        return ""
    return (
        f"it passes without the work too, since nothing was built again: it does not build {listed(work, MOST_NAMED)}"
    )


def _without_the_work(shown: Shown) -> str:
    """Another machine may show what this one cannot: an operating system, a newer interpreter."""
    without = shown.without
    if without.result == "unknown" or shown.is_red(without):
        return ""
    reason = f"it passes without the work too ({without.summary or 'exit 0'} here)"
    if shown.known_failures:
        reason = f"without the work nothing fails but what the user allowed ({without.summary})"
    counts, with_it = without.counts, shown.now.counts
    if counts is not None and with_it is not None and with_it.total > counts.total:
        more = with_it.total - counts.total
        verb = "runs" if more == 1 else "run"
        reason += f"; {counted(more, 'test')} {verb} only with it: what stands in a file of the work shows nothing"
    at_base = shown.arranged.at_base
    if unheld := [path for path in shown.put_back if shown.old is None and at_base[path].content is not None]:
        # "a test removed beside a refactoring": the end is all that the user reads of it.
        reason += f"; changed, and not held against what they were: {listed(unheld, 6)}"
    return reason


def _by_no_test(shown: Shown) -> str:
    reason = shown.why_nothing
    return f"without the work {reason}" if reason else ""


def _with_old_tests(shown: Shown) -> str:
    if shown.old is None or shown.old.result == "pass" or shown.may_fail(shown.old):
        return ""
    return no_longer_holding(shown, shown.old)


def _with_fewer_tests(shown: Shown) -> str:
    for first, second in shown.pairs:
        then, now = shown.run_on(first), shown.run_on(second)
        if then is None or now is None or then.counts is None or now.counts is None or then.ran_none:
            continue
        later = "now" if second == AS_IT_IS else second
        lost = shown.lost_between(first, second)
        allowed = [test for test in lost or () if shown.may_be_gone(test.name)]
        if lost and len(allowed) < len(lost):
            return _no_longer_run([test for test in lost if test not in allowed], first)
        if lost is None and now.reached < then.reached:
            return f"{first} {counted(then.reached, 'test')} ran, and {later} {now.reached}"
        skipped = now.counts.skipped - sum(test.before - test.now for test in allowed)
        if skipped > then.counts.skipped:
            return f"{first} {counted(then.counts.skipped, 'test')} skipped, and {later} {now.counts.skipped}"
        note = f"no longer run, as the user allowed: {listed(_functions(allowed), MOST_NAMED)}"
        if allowed and note not in shown.notes:
            shown.notes.append(note)
    return ""


def _no_longer_run(lost: Sequence[Lost], first: str) -> str:
    gone = _functions([test for test in lost if not test.now])
    fewer = [f"{test_names.function_of(test.name)} ({test.now} of {test.before})" for test in lost if test.now]
    parts = []
    if gone:
        parts.append(f"{listed(gone, MOST_NAMED)} no longer {'runs' if len(gone) == 1 else 'run'}")
    if fewer:
        verb = "runs" if len(fewer) == 1 else "run"
        parts.append(f"{listed(fewer, MOST_NAMED)} {verb} with fewer cases")
    return f"{', and '.join(parts)}, compared with the run {first}"


def _functions(lost: Sequence[Lost]) -> list[str]:
    return [clip(test_names.function_of(test.name), 80) for test in lost]


def _with_words_of_tests(shown: Shown) -> str:
    lines = listed([f"{path}: + {line}" for path, line in shown.arranged.peeks.items()], 3, "; ")
    return f"the work has words by which code looks at its tests ({lines})" if lines else ""


RULES: Sequence[tuple[str, Callable[[Shown], str]]] = (
    (ENDED_EARLY, _with_counts),
    (FAILS, _as_it_is),
    (NOT_BUILT, _unless_built),
    (PASSES_WITHOUT, _without_the_work),
    (NOTHING_SHOWN, _by_no_test),
    (OLD_TESTS_FAIL, _with_old_tests),
    (FEWER_TESTS, _with_fewer_tests),
    (LOOKS_AT_TESTS, _with_words_of_tests),
)


# Sentences


def no_longer_holding(shown: Shown, old: CommandRun) -> str:
    """That the old tests fail, and which of them."""
    changed = listed([path for path in shown.arranged.rest if path in shown.put_back], 6)
    if old.could_not_be_built:
        return f"with {changed} as before it does not get to its tests ({old.why or old.quoted})"
    them = "it" if len(shown.put_back) == 1 else "them"
    reason, failed = f"it passes only with the changed {changed}", f"with {them} as before "
    if (with_new_data := shown.arranged.swapped_for.get(NEW_DATA)) is not None:
        tests = listed([path for path in shown.put_back if path in with_new_data], 6)
        data = listed([path for path in shown.put_back if path not in with_new_data], 6)
        reason, failed = f"with {tests} as before it does not pass on both the old and the new {data}", ""
    failing = sorted(set(old.failing) - set(shown.now.failing))
    if failing and old.counts is not None and len(failing) <= old.counts.failed:  # else not all are tests
        # Nobody knows here which of them failed before the work too.
        verb = "fails" if len(failing) == 1 else "fail"
        reason += f": {failed}{len(failing)} of {old.counts.total} tests {verb} ({listed(failing, MOST_NAMED)})"
        without = shown.runs.get(WITHOUT, shown.now)
        new = set(without.failing) - set(old.failing) - set(shown.now.failing)
        if without.broke_before_tests:  # what it names then are files that could not be loaded
            reason += "; without the work it stops before its tests"
        elif new:
            reason += f"; without the work {counted(len(new), 'other')} {'fails' if len(new) == 1 else 'fail'}"
    elif old.summary:
        reason += f" ({old.summary})"
    return reason


def _proof(shown: Shown) -> str:
    without, old, now = shown.without, shown.old, shown.now
    text = f"fails without the work ({without.said}) and passes with it"
    if now.result == "fail":
        text = f"fails without the work ({without.said}), and passes with it but for what the user allowed"
    if old is not None:
        only = ", but for what the user allowed" if set(old.failing) - {*now.failing, *old.unexpected} else ""
        text += f", also with the tests as they were{only}" + (f" ({old.summary})" if old.counts else "")
    elif now.counts is not None and now.result == "pass":
        text += f" ({now.summary})"
    return text


# What one run says, or two, or a file


def _text(held: File) -> str:
    return (held.content or b"").decode("utf-8", "replace")


def has_test(names: Collection[str], path: str) -> bool:
    """Whether one of the tests is of that file and of no other, and no example, which is in the source that it is
    about."""
    path = masking.mask(path)  # as the names are
    inside, module = (f"{path}::test", f"{path}::Test"), f"({_module(path)}."
    return any(name.startswith(inside) or (name.startswith("test") and module in name) for name in names)


def _names_file(names: Collection[str], path: str) -> bool:
    """Whether one of the tests is of that file, or it cannot be loaded, as pytest and unittest spell them."""
    module = _module(path)
    return any(path in name or f"({module}." in name or f"_FailedTest.{module})" in name for name in names)


def _is_of_module(name: str, path: str) -> bool:
    """As unittest spells a test of that file, from wherever it was started: "another test of the allowed one's name, in
    a file of the same name"."""
    _, _, inside = name.partition("(")
    while path and not inside.startswith(f"{_module(path)}."):
        _, _, path = path.partition("/")
    return bool(path)


def _module(path: str) -> str:
    return os.path.splitext(path)[0].replace("/", ".")


def _failed_before(then: CommandRun, now: CommandRun) -> list[str]:
    """The tests that fail now, if each of them failed then too."""
    if not then.names_are_whole or not set(now.subtests) <= set(then.subtests):
        return []  # "a subtest broken inside of a test that failed before"
    if now.repeated > then.repeated:
        return []  # "broken where another part has a failing test of the same name"
    return sorted(now.failing) if set(now.failing) <= set(then.failing) else []
