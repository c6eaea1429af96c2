"""Proof is an experiment: one gate, run on three arrangements of the files.

| run                | tests, configuration, data | the work       | must                                             |
|--------------------|----------------------------|----------------|--------------------------------------------------|
| without the work   | as they are now            | as at the base | fail                                             |
| with the old tests | as at the base             | as it is now   | pass; only if any was changed, and there are any |
| as it is, last     | now                        | now            | pass, with no test lost, fewer or skipped        |

A run that was seen on exactly these files is not made again, but for failures that may have been the machine's. What
was not seen is made here, in the user's own tree (`swap.py`), and kept by the files it ran on. Where one of the first
two says too little, it is made once more with other files (`TRIED_AGAIN`). Where old tests may no longer run, a run
with all files as at the base says how many there were. What all of them show is read off in `verdicts.py`.
"""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from omo import progress
from omo.errors import NotMade
from omo.proof import base, form, gate_runs, outputs, reading, swap, verdicts
from omo.proof.arrangements import Arrangements, arrange, files_key, kinds_of
from omo.proof.gate_runs import (
    ALL_OLD_TESTS,
    ALLOWED_BEFORE,
    AS_IT_IS,
    NEW_DATA,
    NEW_MANIFESTS,
    OLD_SETTINGS,
    OLD_TESTS,
    WITHOUT,
    CommandRun,
    GateCommand,
    Judge,
    Subject,
)
from omo.proof.verdicts import NOT_MADE, OLD_TESTS_FAIL, TESTS_CHANGED, Experiment, Shown
from omo.text import clip, counted, listed

# Which run is made once more, with which files, and where. What comes of the last one counts.
TRIED_AGAIN: Sequence[tuple[str, str, Callable[[Shown, CommandRun], bool]]] = (
    (WITHOUT, OLD_SETTINGS, lambda shown, run: run.broke_before_tests and bool(shown.why_nothing)),
    (OLD_TESTS, NEW_MANIFESTS, lambda shown, run: run.could_not_be_built),
    (OLD_TESTS, NEW_DATA, lambda shown, run: run.result == "pass"),
)
WORTH_TELLING = 20.0  # seconds


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
        return _Trial(Shown(subject, command, arranged, known=known), known, run_as_it_is, judge).experiment()

    try:
        arranged = arrange(subject, command)
        changed_rest = arranged.rest
        if arranged.why_no_work:
            return Experiment(verdicts.NO_WORK, arranged.why_no_work, changed_rest=arranged.rest)
        made = tried(arranged)
        if made.verdict in (verdicts.PASSES_WITHOUT, verdicts.FAILS) and WITHOUT in made.runs and not arranged.data:
            # What else was changed shows nothing: "a translation with a test of its own, and a comment in the code".
            with_data = arrange(subject, command, takes_data=True)
            with contextlib.suppress(NotMade):  # then what was seen stands
                if with_data.data:
                    arranged, made = with_data, tried(with_data)
        # "tests that a script of the gate names": what its name says little of, the runner says.
        failing = made.runs[WITHOUT].failing if made.holds else ()
        have_tests = {*subject.have_tests, *(path for path in arranged.work if verdicts.has_test(failing, path))}
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
        arranged = arrange(subject, command, is_beside=True)
        changed_rest = arranged.rest
        if OLD_TESTS not in arranged.files and base.GONE not in (subject.look.changed or {}).values():
            return None
        known = gate_runs.recorded(subject, command)
        shown = Shown(subject, command, arranged, known=known)
        made = _Trial(shown, known, lambda: run_now(subject, command)).with_old_tests()
    except NotMade as error:
        if by_name:
            return None
        return Experiment(OLD_TESTS_FAIL, error.message, changed_rest=changed_rest, was_tried=False)
    if made is None or (by_name and not names_what_fails(made, command)):
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
    key = files_key(subject.look.changed or {}, kinds_of(subject, command))
    return gate_runs.run_gate(subject, command, key, looks_for_shadows=True, judge=judge)


@dataclass
class _Trial:
    """The runs of one command, those that were seen and those that are made."""

    shown: Shown
    seen: Sequence[CommandRun]
    run_as_it_is: Callable[[], CommandRun]
    judge: Judge | None = None

    def experiment(self) -> Experiment:
        shown, runs = self.shown, self.shown.runs
        arranged, makes = shown.arranged, shown.subject.makes
        for name in (*arranged.files, AS_IT_IS):
            if failed := self._failed_now_and_then(name):
                # What the old tests say has no end: "a flaky test beside a fix, mended as the refusal
                # says, which the user allows".
                verdict = OLD_TESTS_FAIL if name == OLD_TESTS else verdicts.FLAKY
                return shown.result(verdict, f"it both fails and passes on the same files ({name}: {failed.said})")
        self._take_seen(*arranged.files, ALLOWED_BEFORE, ALL_OLD_TESTS, AS_IT_IS)
        now = runs.get(AS_IT_IS)
        if now is not None and now.result == "fail" and not shown.names_all(now):
            return shown.result(verdicts.FAILS, f"it {now.failure}")
        missing = [name for name in arranged.files if name not in runs]
        if WITHOUT in runs and runs[WITHOUT].result == "pass":
            missing = []  # it has shown enough
        old = self._newest(OLD_TESTS)
        if missing and not makes and now and old and old.result == "fail":  # told, also if they could not be loaded
            shown.add(OLD_TESTS, old)
            return shown.result(OLD_TESTS_FAIL, verdicts.no_longer_holding(shown, old))
        if missing:
            self._require_time(len(missing) + 1)
            self._make(missing)
        if missing or now is None:
            shown.add(AS_IT_IS, self.run_as_it_is())
        self._make_those_before()
        return shown.verdict() or shown.proof()

    def with_old_tests(self) -> Experiment | None:
        """Only the second run and the last, where it does not matter whether it fails without the work; None where
        nothing is the matter with the tests."""
        # That without the work says which failures are known, if the user allowed any.
        without = [WITHOUT] if self.shown.subject.allowed_tests else []
        self._take_seen(*without, OLD_TESTS, ALLOWED_BEFORE, ALL_OLD_TESTS)
        if OLD_TESTS in self.shown.arranged.files and OLD_TESTS not in self.shown.runs:
            self._require_time(2)
            self._make([OLD_TESTS])
        self.shown.add(AS_IT_IS, self.run_as_it_is())
        with contextlib.suppress(NotMade):  # "half, and the project's tests pass by a plugin that was deleted"
            self._make_those_before()
        return self.shown.verdict(TESTS_CHANGED)

    def _make_those_before(self) -> None:
        while name := self.shown.to_be_made:
            self._require_time(2)
            self._make([name])
            self.shown.add(AS_IT_IS, self.run_as_it_is())

    def _newest(self, arrangement: str) -> CommandRun | None:
        for run in reversed(self.seen):
            if run.on_files == self.shown.arranged.keys.get(arrangement):
                return run
        return None

    def _take_seen(self, *names: str) -> None:
        """The newest runs, but those that are to be made again: the result is unknown, or it is a failure that may have
        been the machine's, say before a package was installed."""
        for name in names:
            run = self._newest(name)
            if run is not None and run.result in ("pass", "fail") and run.exit not in gate_runs.COULD_NOT_START:
                if run.result == "pass" or not run.broke_before_tests or name == ALL_OLD_TESTS:
                    self.shown.add(name, run)

    def _failed_now_and_then(self, arrangement: str) -> CommandRun | None:
        """A run that failed on files on which another passed."""
        key = self.shown.arranged.keys[arrangement]
        runs = {run.result: run for run in self.seen if run.on_files == key and not run.broke_before_tests}
        return runs["fail"] if "pass" in runs and "fail" in runs else None

    def _require_time(self, count: int) -> None:
        subject = self.shown.subject
        if not subject.makes:
            raise NotMade("it was not tried without the work")
        if not subject.minutes:
            raise NotMade("the experiment is switched off (setting experiment)")
        estimate = count * max((run.seconds for run in self.seen), default=0.0)
        if estimate > subject.minutes * 60:
            allowed = f"the setting proof_minutes allows {subject.minutes:g}"
            raise NotMade(f"{counted(count, 'run')} of it would take about {estimate / 60:.0f} min; {allowed}")
        if estimate > WORTH_TELLING:
            takes = f"about {estimate / 60:.0f} min" if estimate > 90 else f"about {estimate:.0f} s"
            progress.say(
                f"{counted(count, 'run')} of {clip(shlex.join(self.shown.command.argv), 60)}, {takes}: give this "
                f"command a time-out of {2 * estimate / 60 + 1:.0f} min; called again it goes on where it was"
            )

    def _make(self, names: Sequence[str]) -> None:
        """Make runs on swapped files. The second is not needed where the first has shown enough."""
        shown, subject, swapped_for = self.shown, self.shown.subject, self.shown.arranged.swapped_for
        again = [each for each in TRIED_AGAIN if each[0] in names and each[1] in swapped_for]
        arrangements = {name: swapped_for[name] for name in [*names, *(other for _, other, _ in again)]}
        made = {}
        with swap.Swap(subject.root, subject.state, arrangements, base.Untracked(subject.root)) as swapped:
            for name in names:
                run = shown.add(name, self._run(swapped, name, name))
                for first, other, says_too_little in again:
                    if first == name and says_too_little(shown, run):
                        run = shown.add(name, self._run(swapped, other, name))
                        if other == OLD_SETTINGS:
                            settings = listed(shown.arranged.old_settings, 6)
                            shown.notes.append(f"in the run without the work as before too: {settings}")
                gate_runs.record(subject, shown.command, name, run)
                made[name] = run
                if name == WITHOUT and run.result == "pass":
                    break
        if swapped.moved:
            for name, run in made.items():
                gate_runs.record(subject, shown.command, name, replace(run, result="unknown", why=swapped.moved))
            why = "; ".join([swapped.moved, *swapped.notes()])
            raise NotMade(f"{why}, so that the runs count for nothing: try again")
        shown.notes += swapped.notes()

    def _run(self, swapped: swap.Swap, arrangement: str, recorded_as: str) -> CommandRun:
        swapped.put(arrangement)
        subject, command, key = self.shown.subject, self.shown.command, self.shown.arranged.keys[recorded_as]
        limit = gate_runs.limit_of(command, self.seen)
        with progress.doing(f"{shlex.join(command.argv)}, {arrangement}"):
            return gate_runs.run_gate(subject, command, key, limit=limit, swapped=swapped, judge=self.judge)
