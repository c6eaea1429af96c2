"""Proof is an experiment: one gate, run on three arrangements of the files.

| run                | tests, configuration, data | the work       | must                                             |
|--------------------|----------------------------|----------------|--------------------------------------------------|
| without the work   | as they are now            | as at the base | fail                                             |
| with the old tests | as at the base             | as it is now   | pass; only if any was changed, and there are any |
| as it is, last     | now                        | now            | pass, with no test fewer and none more skipped   |

A run that was seen on exactly these files is not made again, but for failures that may have been the machine's. What
was not seen is made here, in the user's own tree (`swap.py`), and kept by the files it ran on. Where tests still fail,
a run with all files as at the base says which of them failed before; where old ones may no longer run, how many there
were.
"""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from omo import progress
from omo.errors import NotMade
from omo.proof import base, contents, form, gate_runs, kinds, outputs, own_commands, reading, swap
from omo.proof.arrangements import Arrangements, arrange, files_key, kinds_of
from omo.proof.gate_runs import (
    ALLOWED_BEFORE,
    AS_IT_IS,
    BEFORE,
    MOST_NAMED,
    OLD_TESTS,
    WITHOUT,
    CommandRun,
    GateCommand,
    Judge,
    Subject,
)
from omo.proof.swap_files import File
from omo.text import clip, counted, listed

NEW_MANIFESTS = "with the old tests, manifests as they are"
NEW_DATA = "with the old tests, data as it is"
OLD_SETTINGS = "without the work, settings as they were"
RECORDED_AS = {NEW_MANIFESTS: OLD_TESTS, NEW_DATA: OLD_TESTS, OLD_SETTINGS: WITHOUT}
# What came of an experiment. Only the first is a proof.
HOLDS = "holds"
PASSES_WITHOUT = "passes without the work"
OLD_TESTS_FAIL = "old tests fail"
FEWER_TESTS = "fewer tests"
FAILS = "fails"
FLAKY = "flaky"
LOOKS_AT_TESTS = "looks at its tests"
NOTHING_SHOWN = "nothing shown"  # the run without the work did not show anything
NO_WORK = "no work"  # nothing that could be taken away was changed
NOT_MADE = "not made"
SHOWS_NO_RED = (PASSES_WITHOUT, NOTHING_SHOWN)
TESTS_CHANGED = (OLD_TESTS_FAIL, FEWER_TESTS)
MAY_BE_ALLOWED = (*TESTS_CHANGED, LOOKS_AT_TESTS)

WORTH_TELLING = 20.0  # seconds


@dataclass(frozen=True)
class Experiment:
    """What came of a command. `reason` is one true sentence about it, whatever the `verdict`; `notes` say what was put
    back, kept, and not compared; `still_failing` are tests that failed before the work and still do, `changed_rest`
    the files that the user may allow: changed tests and what they rest on, or code that looks at them. `to_allow` are
    those that hold it up, as far as that is known."""

    verdict: str
    reason: str
    runs: Mapping[str, CommandRun] = field(default_factory=dict)
    notes: Sequence[str] = ()
    changed_rest: Sequence[str] = ()
    still_failing: Sequence[str] = ()
    to_allow: Sequence[str] = ()

    @property
    def holds(self) -> bool:
        return self.verdict == HOLDS


def prove(
    subject: Subject,
    command: GateCommand,
    seen: Sequence[CommandRun],
    run_as_it_is: Callable[[], CommandRun],
    judge: Judge | None = None,
) -> Experiment:
    """Make the runs that were not seen, and say what all of them show. `seen` are runs of this command that the
    caller knows of, the newest last; `judge` says whether one passed where its exit code alone does not."""
    changed_rest: Sequence[str] = ()

    def tried(arranged: Arrangements) -> Experiment:
        known = [*seen, *gate_runs.recorded(subject, command)]
        return _Trial(subject, command, arranged, known, run_as_it_is, judge=judge).experiment()

    try:
        arranged = arrange(subject, command)
        changed_rest = arranged.rest
        if arranged.why_no_work:
            return Experiment(NO_WORK, arranged.why_no_work, changed_rest=arranged.rest)
        made = tried(arranged)
        if made.verdict == PASSES_WITHOUT and not arranged.data:
            # What else was changed shows nothing: "a translation with a test of its own, and a comment in the code".
            with_data = arrange(subject, command, takes_data=True)
            with contextlib.suppress(NotMade):  # then what was seen stands
                if with_data.data:
                    arranged, made = with_data, tried(with_data)
        # "tests that a script of the gate names": what its name says little of, the runner says.
        failing = made.runs[WITHOUT].failing if made.holds else ()
        have_tests = {*subject.have_tests, *(path for path in arranged.work if _has_test(failing, path))}
        if len(have_tests) == len(subject.have_tests):
            return made
        return prove(replace(subject, have_tests=frozenset(have_tests)), command, seen, run_as_it_is, judge)
    except NotMade as error:
        return Experiment(NOT_MADE, error.message, changed_rest=changed_rest)


def weakened(subject: Subject, command: GateCommand, *, by_name: bool = False) -> Experiment | None:
    """Why a pass of this command need not mean what it did before, for an end that others have judged. None where no
    test, configuration or data was changed, or where it passes with them as they were too. `by_name`: also where it
    does not say what fails with the old ones, as a threshold, or a look for a page or a test that was to be written
    ("a new function with its test, and a threshold in a second pin"); and where that could not be tried."""
    if shadows := reading.shadows(subject.root, subject.began, command, subject.allowed):
        return Experiment(OLD_TESTS_FAIL, outputs.IN_PLACE_OF_RUNNER.format(shadows[0]), changed_rest=shadows)
    changed_rest: Sequence[str] = ()
    try:
        is_of_tests = own_commands.runs_tests(subject.root, subject.began.get("head"), command.argv, command.cwd)
        arranged = arrange(subject, command, keeps_products=not is_of_tests)
        if arranged.is_data:  # a new file that tests ask for may be all that was to be made
            arranged = arrange(subject, command, keeps_products=True)
        changed_rest = arranged.rest
        if OLD_TESTS not in arranged.files:
            return None
        known = gate_runs.recorded(subject, command)
        made = _Trial(subject, command, arranged, known, lambda: run_now(subject, command)).with_old_tests()
    except NotMade as error:
        return None if by_name else Experiment(OLD_TESTS_FAIL, error.message, changed_rest=changed_rest)
    if made.holds or (by_name and not names_what_fails(made, command)):
        return None
    return replace(made, verdict=OLD_TESTS_FAIL, runs={})  # of these none was without the work


def names_what_fails(made: Experiment, command: GateCommand) -> bool:
    """Whether it is said which old tests or findings no longer hold. Of checkers any failure is one."""
    old = made.runs.get(OLD_TESTS)
    if made.verdict != OLD_TESTS_FAIL or old is None or form.is_form(command.argv):
        return made.verdict in TESTS_CHANGED
    return bool(old.failing) and not old.broke_before_tests


def run_now(subject: Subject, command: GateCommand, judge: Judge | None = None) -> CommandRun:
    """Run the command on the files as they are."""
    environ = gate_runs.environment(subject.root, subject.began, command, subject.environ)
    outcome = gate_runs.run_asking(command, subject.root, environ, command.timeout)
    shadows = reading.shadows(subject.root, subject.began, command, subject.allowed)
    return gate_runs.read_run(
        outcome, files_key(subject.look.changed or {}, kinds_of(subject, command)), shadows, judge
    )


@dataclass
class _Trial:
    subject: Subject
    command: GateCommand
    arranged: Arrangements
    seen: Sequence[CommandRun]
    run_as_it_is: Callable[[], CommandRun]
    notes: list[str] = field(default_factory=list)
    judge: Judge | None = None

    def experiment(self) -> Experiment:
        for name in (*self.arranged.files, AS_IT_IS):
            if failed := self._failed_now_and_then(name):
                # What the old tests say has no end: "a flaky test beside a fix, mended as the refusal
                # says, which the user allows".
                verdict = OLD_TESTS_FAIL if name == OLD_TESTS else FLAKY
                return self._result(verdict, f"it both fails and passes on the same files ({name}: {failed.said})", {})
        runs = {}
        for name in (*self.arranged.files, AS_IT_IS):
            if (run := self._seen(name)) is not None:
                runs[name] = run
        now = runs.get(AS_IT_IS)
        if now is not None and now.result == "fail" and not self._names_all(now):
            return self._result(FAILS, f"it {now.failure}", runs)
        missing = [name for name in self.arranged.files if name not in runs]
        if WITHOUT in runs and runs[WITHOUT].result == "pass":
            missing = []  # it has shown enough
        if missing and not self.subject.makes and now is not None:
            old = self._newest(OLD_TESTS)
            if old is not None and old.result == "fail":  # the user is told, even if the old tests could not be loaded
                return self._old_tests_fail({WITHOUT: now, OLD_TESTS: old, AS_IT_IS: now, **runs})
        if missing:
            self._require_time(len(missing) + 1)
            runs.update(self._make(missing))
        if missing or now is None:
            runs[AS_IT_IS] = self.run_as_it_is()
        # Where nothing fails now, it only says how many tests there were: "a feature deleted, and its tests, as the
        # user allows".
        start = BEFORE if runs[AS_IT_IS].result == "fail" else ALLOWED_BEFORE
        before = self._seen(start)
        if before is None and self.subject.makes and (self._may_have_failed_before(runs) or self._may_be_fewer(runs)):
            self._require_time(2)
            before = self._make([start])[start]
            runs[AS_IT_IS] = self.run_as_it_is()
        return self._judged(runs, before)

    def with_old_tests(self) -> Experiment:
        """Only the second run and the last, where it does not matter whether it fails without the work."""
        seen = self._seen(OLD_TESTS)
        if seen is None:
            self._require_time(2)
            seen = self._make([OLD_TESTS])[OLD_TESTS]
        now = self.run_as_it_is()
        runs = {WITHOUT: now, OLD_TESTS: seen, AS_IT_IS: now}
        before = self._seen(BEFORE)
        still_failing: Sequence[str] = ()
        if before is not None and now.result == "fail" and self._names_all(now):
            still_failing = _failed_before(before, now)
        if seen.result != "pass" and not self._may_fail(seen, still_failing):
            return self._old_tests_fail(runs)
        if reason := _fewer(seen, now, OLD_TESTS):
            return self._result(FEWER_TESTS, reason, runs)
        return self._result(HOLDS, "", runs)

    def _newest(self, arrangement: str) -> CommandRun | None:
        for run in reversed(self.seen):
            if run.on_files == self.arranged.keys.get(arrangement):
                return run
        return None

    def _seen(self, arrangement: str) -> CommandRun | None:
        """The newest run, unless it is to be made again: its result is unknown, or it is a failure that may have been
        the machine's, say before a package was installed."""
        run = self._newest(arrangement)
        if run is None or run.result not in ("pass", "fail") or run.exit in gate_runs.COULD_NOT_START:
            return None
        return None if run.result == "fail" and run.broke_before_tests else run

    def _names_all(self, run: CommandRun) -> bool:
        """Nothing else failed: "a second test broken, where the runner stops at the first"."""
        command, head = self.command, self.subject.began.get("head")
        stops_early = own_commands.stops_early(self.subject.root, head, command.argv, command.cwd)
        return run.names_are_whole and not stops_early

    def _failed_now_and_then(self, arrangement: str) -> CommandRun | None:
        """A run that failed on files on which another passed."""
        key = self.arranged.keys[arrangement]
        runs = {run.result: run for run in self.seen if run.on_files == key and not run.broke_before_tests}
        return runs["fail"] if "pass" in runs and "fail" in runs else None

    def _require_time(self, count: int) -> None:
        if not self.subject.makes:
            raise NotMade("it was not tried without the work")
        if not self.subject.minutes:
            raise NotMade("the experiment is switched off (setting experiment)")
        estimate = count * max((run.seconds for run in self.seen), default=0.0)
        if estimate > self.subject.minutes * 60:
            allowed = f"the setting proof_minutes allows {self.subject.minutes:g}"
            raise NotMade(f"{counted(count, 'run')} of it would take about {estimate / 60:.0f} min; {allowed}")
        if estimate > WORTH_TELLING:
            takes = f"about {estimate / 60:.0f} min" if estimate > 90 else f"about {estimate:.0f} s"
            progress.say(
                f"{counted(count, 'run')} of {clip(shlex.join(self.command.argv), 60)}, {takes}: give this command a "
                f"time-out of {2 * estimate / 60 + 1:.0f} min; called again it goes on where it was"
            )

    def _make(self, names: Sequence[str]) -> dict[str, CommandRun]:
        """Make runs on swapped files. The second is not needed where the first has shown enough."""
        subject = self.subject
        runs: dict[str, CommandRun] = {}
        with_new_manifests = self._old_tests_with_new_manifests()
        settings = self._changed_settings()
        with_new_data = self._old_tests_with_new_data()
        arrangements = {**self.arranged.files, **with_new_manifests, **with_new_data}
        if settings:
            arrangements[OLD_SETTINGS] = {**self.arranged.files[WITHOUT], **settings}
        at_base = self.arranged.at_base
        if BEFORE in names:
            arrangements = {BEFORE: at_base}
        if ALLOWED_BEFORE in names:
            put = {path: held for path, held in at_base.items() if not subject.is_allowed(path)}
            arrangements = {ALLOWED_BEFORE: put}
        with swap.Swap(subject.root, subject.state, arrangements, lambda: base.untracked(subject.root)) as swapped:
            for name in names:
                runs[name] = self._run(swapped, name)
                if name == WITHOUT and settings and runs[name].broke_before_tests and self._shows_nothing(runs[name]):
                    runs[name] = self._run(swapped, OLD_SETTINGS)
                    self.notes.append(f"in the run without the work as before too: {listed(list(settings), 6)}")
                if name == OLD_TESTS and _could_not_be_built(runs[name]) and with_new_manifests:
                    runs[name] = self._run(swapped, NEW_MANIFESTS)
                if name == OLD_TESTS and runs[name].result == "pass" and with_new_data:
                    runs[name] = self._run(swapped, NEW_DATA)
                gate_runs.record(subject, self.command, name, runs[name])
                if name == WITHOUT and runs[name].result == "pass":
                    break
        if swapped.moved:
            for name, run in runs.items():
                gate_runs.record(subject, self.command, name, replace(run, result="unknown", why=swapped.moved))
            raise NotMade(f"{swapped.moved}, so that the runs count for nothing: try again")
        if swapped.kept:
            kept = [f"{clip(kept.path, 80)} (kept as {kept.kept_as})" for kept in swapped.kept]
            self.notes.append(f"put back over what stood there instead: {listed(kept, 6)}")
        if swapped.appeared:
            moved = [f"{clip(kept.path, 80)} (now {kept.kept_as})" for kept in swapped.appeared]
            self.notes.append(f"appeared meanwhile and moved aside: {listed(moved, 6)}")
        return runs

    def _old_tests_with_new_manifests(self) -> dict[str, Mapping[str, File]]:
        """Manifests that only add packages may stand as they are now: a base whose packages cannot be installed here
        any more says nothing of its tests. Empty where there is none."""
        old_tests = self.arranged.files.get(OLD_TESTS, {})
        kept = {path: held for path, held in old_tests.items() if path not in self.arranged.manifests}
        return {NEW_MANIFESTS: kept} if kept != old_tests else {}

    def _old_tests_with_new_data(self) -> dict[str, Mapping[str, File]]:
        """Data may be of the product as well as of its tests, so where old ones of both were changed, the old tests
        have to pass with either: "what data grants, and the test that forbids it". Empty where there is none."""
        old_tests = self.arranged.files.get(OLD_TESTS, {})
        old = {path for path in old_tests if self.arranged.at_base[path].content is not None}
        data = set(filter(kinds.is_plain_data, old))
        if not data or not any(map(kinds.is_test, old - data)):
            return {}
        return {NEW_DATA: {path: held for path, held in old_tests.items() if path not in data}}

    def _changed_settings(self) -> dict[str, File]:
        """As they were: what they name may be the work, so that nothing is built without it, and no test asked for it
        ("a new crate that no test asks for", "a new file that the Makefile names, and its test")."""
        return {path: self.arranged.at_base[path] for path in self.arranged.rest if kinds.is_configuration(path)}

    def _run(self, swapped: swap.Swap, arrangement: str) -> CommandRun:
        swapped.put(arrangement)
        subject = self.subject
        told = gate_runs.environment(subject.root, subject.began, self.command, subject.environ)
        environ = swapped.environment(told)
        limit = gate_runs.limit_of(self.command, self.seen)
        with progress.doing(f"{shlex.join(self.command.argv)}, {arrangement}"):
            outcome = gate_runs.run_asking(self.command, self.subject.root, environ, limit, swapped.group_started)
        name = RECORDED_AS.get(arrangement, arrangement)
        return gate_runs.read_run(outcome, self.arranged.keys[name], judge=self.judge)

    # What they show

    def _may_have_failed_before(self, runs: Mapping[str, CommandRun]) -> bool:
        """What fails now, beside new tests that do not: as far as the other runs say."""
        without, now = runs[WITHOUT], runs[AS_IT_IS]
        if now.result != "fail" or not self._names_all(now) or without.result != "fail" or not self.arranged.rest:
            return False
        return _mends_something(without, now)

    def _may_be_fewer(self, runs: Mapping[str, CommandRun]) -> bool:
        """Old tests may no longer run, and new ones make up for their number: by those that could not be loaded without
        the work ("an old test that is not found any more, and as many new ones"), or where the work took a file away
        ("old tests not found any more, new ones only there with the work")."""
        without, old = runs[WITHOUT], runs.get(OLD_TESTS)
        if old is None or old.result != "pass" or old.counts is None or without.counts is None:
            return False
        changed = self.subject.look.changed or {}
        has_removed = any(changed.get(path) == base.GONE for path in self.arranged.work)
        return has_removed or 0 < without.unreached < without.counts.total - old.counts.total

    def _judged(self, runs: Mapping[str, CommandRun], before: CommandRun | None) -> Experiment:
        without, old, now = runs[WITHOUT], runs.get(OLD_TESTS), runs[AS_IT_IS]
        still_failing: Sequence[str] = ()
        if now.result == "unknown":
            return self._result(FAILS, f"it cannot be judged: {now.why}", runs)
        # Before anything is said of the other runs: a build that was broken and still is was told as "without the work
        # it stops before its tests", and a regression would be as "passes without the work too".
        if now.result == "fail" and (_ran_none(now) or not self._names_all(now) or without.result == "pass"):
            return self._result(FAILS, f"it {now.failure}", runs)
        if without.result == "pass":
            # Another machine may show what this one cannot: an operating system, a newer interpreter.
            reason = f"it passes without the work too ({without.summary or 'exit 0'} here)"
            if more := _more_tests(without, now):
                verb = "runs" if more == 1 else "run"
                reason += (
                    f"; {counted(more, 'test')} {verb} only with it: what stands in a file of the work shows nothing"
                )
            at_base, old_tests = self.arranged.at_base, self.arranged.files.get(OLD_TESTS, {})
            if unheld := [path for path in old_tests if old is None and at_base[path].content is not None]:
                # "a test removed beside a refactoring": the end is all that the user reads of it.
                reason += f"; changed, and not held against what they were: {listed(unheld, 6)}"
            return self._result(PASSES_WITHOUT, reason, runs)
        if reason := self._shows_nothing(without):
            return self._result(NOTHING_SHOWN, f"without the work {reason}", runs)
        if now.result == "fail":
            still_failing = _failed_before(before or without, now)
            if not still_failing or not _mends_something(without, now):
                return self._result(FAILS, f"it {now.failure}", runs)
            # "the suite behind one that fails as before": what it has broken does not run without the work either.
            head, command = self.subject.began.get("head"), self.command
            undone = own_commands.left_undone(self.subject.root, head, command.argv, command.cwd)
            if undone or not _mends_a_new_test(without, old, now, before):
                reason = _still_failing(still_failing, undone)
                return self._result(FAILS, reason, runs, still_failing=still_failing)
        if old is not None and old.result != "pass" and not self._may_fail(old, still_failing):
            return self._old_tests_fail(runs)
        for other, run, name in ((without, now, WITHOUT), (old, now, OLD_TESTS), (before, old, BEFORE)):
            if reason := _fewer(other, run, name):
                return self._result(FEWER_TESTS, reason, runs)
        if peeks := self.arranged.peeks:
            lines = listed([f"{path}: + {line}" for path, line in peeks.items()], 3, "; ")
            reason = f"the work has words by which code looks at its tests ({lines})"
            return replace(self._result(LOOKS_AT_TESTS, reason, runs), changed_rest=list(peeks), to_allow=list(peeks))
        if data := self.arranged.data:
            note = "the work is data alone: " + listed(data, 6)
            if others := listed([path for path in self.arranged.work if path not in data], 6):
                note = f"of the work {listed(data, 6)} is shown alone: it passes without the change of {others}"
            self.notes.append(note)
        if now.counts is None:
            if not form.is_form(self.command.argv):  # a linter runs none
                self.notes.append("how many tests ran is unknown")
        elif old is None and (without.counts is None or without.broke_before_tests):
            self.notes.append("how many tests ran without the work is unknown")
        if rewritten := self._rewritten_tests():
            self.notes.append(f"old tests have other lines: {listed(rewritten, MOST_NAMED)}")
        return self._result(HOLDS, self._proof(runs), runs, still_failing=still_failing)

    def _rewritten_tests(self) -> list[str]:
        """Old tests that lost lines: they hold as they were, now, and a later run begins with them as they are ("a test
        emptied in a run that is proven: the end names it")."""
        rewritten = []
        for path in self.arranged.files.get(OLD_TESTS, ()):
            before, now = self.arranged.at_base[path].content, contents.now(self.subject.root, path).content or b""
            if kinds.is_test(path) and before is not None and not set(before.split(b"\n")) <= set(now.split(b"\n")):
                rewritten.append(path)
        return rewritten

    def _result(
        self, verdict: str, reason: str, runs: Mapping[str, CommandRun], *, still_failing: Sequence[str] = ()
    ) -> Experiment:
        """The changed tests, configuration and data go with it: first a file whose tests fail as they were, last a new
        one."""
        put_back = self.arranged.files.get(OLD_TESTS, {})
        failing = runs[OLD_TESTS].failing if OLD_TESTS in runs else ()
        named = {path for path in put_back if _names_file(failing, path)}

        def weight(path: str) -> tuple[bool, bool, bool, str]:
            is_new = path in put_back and put_back[path].content is None
            # A new test that is away makes no other fail, as new data may.
            return path not in named, is_new, kinds.is_test(path) == is_new, path

        changed_rest = sorted(put_back or self.arranged.rest, key=weight)
        to_allow = changed_rest[: len(named) or 1]
        return Experiment(verdict, reason, runs, self.notes, changed_rest, still_failing, to_allow)

    def _shows_nothing(self, without: CommandRun) -> str:
        """Why the run without the work tested nothing, so that its failure shows nothing; empty where it did."""
        if without.why_nothing or not without.broke_before_tests:
            return without.why_nothing
        if without.missing:  # of what a test could not find
            if not any(self._provides(name) for name in without.missing):
                what = listed([clip(name, 60) for name in without.missing], MOST_NAMED)
                return f"it stops before its tests for want of {what}, which no changed file provides"
            if not self._changed_settings():  # "a plugin that pytest's settings load, and nothing else"
                return ""
        # "a test that does not compile without the work, and misses no name". What only settings name is no test.
        named = [path for path in self.arranged.rest if not kinds.is_configuration(path)]
        if self._changed_settings():
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
        with_old_tests = self.arranged.files.get(OLD_TESTS, {})
        for path in self.arranged.files[WITHOUT]:
            if last in path.replace(".", "/").split("/"):
                return True
            if not path.endswith(kinds.CODE):  # "red by a package that was never there, and its name in a page"
                continue
            # Of Rust the code alone: "cargo: a new function, and its test inside of the source".
            after = with_old_tests.get(path) or contents.now(self.subject.root, path)
            before = self.arranged.at_base[path]
            if last.encode() in (after.content or b"") and last.encode() not in (before.content or b""):
                return True
        return False

    def _may_fail(self, old: CommandRun, still_failing: Sequence[str]) -> bool:
        """With the old tests nothing fails but what failed before, what was to fail and passes ("a fix, and the strict
        xfail taken from its test"), and what the user allowed. A run without names says nothing; but no test is a
        threshold that new tests alone reach ("a new function and its tests under a threshold of coverage")."""
        all_pass = old.counts is not None and old.counts.passed > 0 and not (old.counts.failed or old.failing)
        if all_pass and not self._changes_old():
            self.notes.append(f"with the new tests away no test fails, but the command does ({clip(old.quoted, 80)})")
            return True
        if not old.failing or not self._names_all(old):
            return False
        allowed = [name for name in old.failing if self._is_allowed(name)]
        if allowed:
            self.notes.append(f"no longer as before, as the user allowed: {listed(allowed, MOST_NAMED)}")
        if old.unexpected:
            self.notes.append(f"expected to fail by the old tests, and passing: {listed(old.unexpected, MOST_NAMED)}")
        return set(old.failing) <= {*still_failing, *allowed, *old.unexpected}

    def _changes_old(self) -> bool:
        """Whether anything but new tests was changed of what the work is held against."""
        at_base = self.arranged.at_base
        names = {path: os.path.basename(path) for path in self.arranged.files[OLD_TESTS]}
        return any(at_base[path].content is not None or not kinds.CASES.match(name) for path, name in names.items())

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

    def _old_tests_fail(self, runs: Mapping[str, CommandRun]) -> Experiment:
        without, old, now = runs[WITHOUT], runs[OLD_TESTS], runs[AS_IT_IS]
        changed = listed([path for path in self.arranged.rest if path in self.arranged.files[OLD_TESTS]], 6)
        if _could_not_be_built(old):
            reason = f"with {changed} as before it does not get to its tests ({old.why or old.quoted})"
            return self._result(OLD_TESTS_FAIL, reason, runs)
        them = "it" if len(self.arranged.files[OLD_TESTS]) == 1 else "them"
        reason, failed = f"it passes only with the changed {changed}", f"with {them} as before "
        if with_new_data := self._old_tests_with_new_data():
            tests = [path for path in self.arranged.files[OLD_TESTS] if path in with_new_data[NEW_DATA]]
            data = [path for path in self.arranged.files[OLD_TESTS] if path not in tests]
            reason = f"with {listed(tests, 6)} as before it does not pass on both the old and the new {listed(data, 6)}"
            failed = ""
        failing = sorted(set(old.failing) - set(now.failing))
        if failing and old.counts is not None and len(failing) <= old.counts.failed:  # else not all are tests
            # Nobody knows here which of them failed before the work too.
            verb = "fails" if len(failing) == 1 else "fail"
            reason += f": {failed}{len(failing)} of {old.counts.total} tests {verb} ({listed(failing, 6)})"
            new = set(without.failing) - set(old.failing) - set(now.failing)
            if without.broke_before_tests:  # what it names then are files that could not be loaded
                reason += "; without the work it stops before its tests"
            elif new:
                reason += f"; without the work {counted(len(new), 'other')} {'fails' if len(new) == 1 else 'fail'}"
        elif old.summary:
            reason += f" ({old.summary})"
        return self._result(OLD_TESTS_FAIL, reason, runs)

    def _proof(self, runs: Mapping[str, CommandRun]) -> str:
        without, old, now = runs[WITHOUT], runs.get(OLD_TESTS), runs[AS_IT_IS]
        text = f"fails without the work ({without.said}) and passes with it"
        if now.result == "fail":
            text = f"fails without the work ({without.said}), and with it only by what failed before"
        if old is not None:
            only = ", but for what the user allowed" if set(old.failing) - {*now.failing, *old.unexpected} else ""
            text += f", also with the tests as they were{only}" + (f" ({old.summary})" if old.counts else "")
        elif now.counts is not None and now.result == "pass":
            text += f" ({now.summary})"
        return text


def _still_failing(tests: Sequence[str], undone: str) -> str:
    failed = f"failed before the work and still: {listed(tests, MOST_NAMED)}"
    return f"{failed}; so {clip(undone, 60)} was not run" if undone else failed


def _module(path: str) -> str:
    return os.path.splitext(path)[0].replace("/", ".")


def _is_of_module(name: str, path: str) -> bool:
    """As unittest spells a test of that file, from wherever it was started: "another test of the allowed one's name, in
    a file of the same name"."""
    _, _, inside = name.partition("(")
    while path and not inside.startswith(f"{_module(path)}."):
        _, _, path = path.partition("/")
    return bool(path)


def _names_file(names: Collection[str], path: str) -> bool:
    """Whether one of the tests is of that file, as pytest and unittest spell them."""
    return any(path in name or f"({_module(path)}." in name for name in names)


def _has_test(names: Collection[str], path: str) -> bool:
    """The same of no other file, and of no example, which is in the source that it is about."""
    inside, module = (f"{path}::test", f"{path}::Test"), f"({_module(path)}."
    return any(name.startswith(inside) or (name.startswith("test") and module in name) for name in names)


def _could_not_be_built(run: CommandRun) -> bool:
    return run.result != "pass" and (run.broke_before_tests or run.result == "unknown")


def _ran_none(run: CommandRun) -> bool:
    """It broke before its tests. A file that cannot be loaded is one that failed, where the runner goes on with the
    others: "tests that cannot be loaded here, as before"."""
    return run.broke_before_tests and not (run.names_are_whole and run.counts is not None and run.counts.passed)


def _failed_before(then: CommandRun, now: CommandRun) -> list[str]:
    """The tests that fail now, if each of them failed then too."""
    if not (then.names_are_whole and now.names_are_whole) or not set(now.subtests) <= set(then.subtests):
        return []  # "a subtest broken inside of a test that failed before"
    if _repeated(now) > _repeated(then):
        return []  # "broken where another part has a failing test of the same name"
    return sorted(now.failing) if set(now.failing) <= set(then.failing) else []


def _mends_something(without: CommandRun, now: CommandRun) -> bool:
    """Of what fails without the work, or of what cannot be built without it, something does not fail with it."""
    return without.broke_before_tests or set(now.failing) < set(without.failing)


def _mends_a_new_test(without: CommandRun, old: CommandRun | None, now: CommandRun, before: CommandRun | None) -> bool:
    """A test that was written for this work fails without it. If only old tests were mended, nobody can tell whether
    the others that failed beside them were asked for too. A renamed one is not new."""
    if old is not None and not (old.counts and now.counts and old.counts.total < now.counts.total):
        return False
    return before is not None and bool(set(without.failing) - set(now.failing) - set(before.failing))


def _repeated(run: CommandRun) -> int:
    """How many failures have the name of another, as in two parts, or in two environments of tox."""
    return max(0, run.counts.failed - len(run.failing)) if run.counts else 0


def _fewer(other: CommandRun | None, now: CommandRun | None, name: str) -> str:
    if other is None or now is None or other.counts is None or now.counts is None or _ran_none(other):
        return ""
    then = "with the old tests" if name == BEFORE else "now"
    if now.counts.total < other.counts.total:
        return f"{name} {counted(other.counts.total, 'test')} ran, and {then} {now.counts.total}"
    if now.counts.skipped > other.counts.skipped:
        return f"{name} {counted(other.counts.skipped, 'test')} skipped, and {then} {now.counts.skipped}"
    return ""


def _more_tests(without: CommandRun, now: CommandRun) -> int:
    if without.counts is None or now.counts is None:
        return 0
    return max(0, now.counts.total - without.counts.total)
