"""Proof is an experiment: one gate, run on three arrangements of the files.

| run                | tests, configuration, data | the work       | must                                             |
|--------------------|----------------------------|----------------|--------------------------------------------------|
| without the work   | as they are now            | as at the base | fail                                             |
| with the old tests | as at the base             | as it is now   | pass; only if any was changed, and there are any |
| as it is, last     | now                        | now            | pass, with no test fewer and none more skipped   |

A run that was seen on exactly these files is not made again, but for failures that may have been the machine's. What
was not seen is made here, in the user's own tree (`swap.py`), and kept by the files it ran on.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from omo import progress
from omo.digest import sha256
from omo.errors import OmoError
from omo.json_text import dumps
from omo.proof import base, contents, form, inline_tests, kinds, manifests, outputs, own_commands, reading, swap
from omo.proof import run as runner
from omo.proof.outputs import Counts
from omo.proof.swap import File
from omo.proof.typed_commands import command_id
from omo.state import paths, store
from omo.state.journal import Journal
from omo.text import clip, counted, listed

Row = dict[str, Any]
Judge = Callable[[runner.Outcome], tuple[str, str]]  # pass, fail or unknown, and why

WITHOUT, OLD_TESTS, AS_IT_IS = "without the work", "with the old tests", "as it is"
MANIFESTS = "with the old tests, manifests as they are"
# What came of it. Only the first is a proof.
HOLDS = "holds"
PASSES_WITHOUT = "passes without the work"
OLD_TESTS_FAIL = "old tests fail"
FEWER_TESTS = "fewer tests"
FAILS = "fails"
LOOKS_AT_TESTS = "looks at its tests"
NOTHING_SHOWN = "nothing shown"  # the run without the work did not show anything
NOT_MADE = "not made"
SHOWS_NO_RED = (PASSES_WITHOUT, NOTHING_SHOWN)
TESTS_CHANGED = (OLD_TESTS_FAIL, FEWER_TESTS)

MOST_NAMED = 3
TAIL = 4000
SHORTEST_LIMIT = 60.0  # seconds that a run on other files may take, or ten times what it takes as it is
COULD_NOT_START = (126, 127)
KILLED = re.compile(r"\bKilled$|\bError 137$|\bSIGKILL\b", re.MULTILINE)


class Command(Protocol):
    """What is run: a gate, or a check. `sealed` are globs of more files that it rests on."""

    @property
    def argv(self) -> Sequence[str]: ...
    @property
    def cwd(self) -> str: ...
    @property
    def sealed(self) -> Sequence[str]: ...
    @property
    def timeout(self) -> float: ...


@dataclass(frozen=True)
class Plain:
    """A command of which no more is known."""

    argv: Sequence[str]
    cwd: str = "."
    sealed: Sequence[str] = ()
    timeout: float = 600.0


@dataclass(frozen=True)
class Run:
    """One run of a command: the files it ran on, as one id, and what came out."""

    on_files: str
    result: str  # pass, fail or unknown
    why: str = ""  # it is unknown
    exit: int | None = None
    seconds: float = 0.0
    counts: Counts | None = None
    failing: Sequence[str] = ()
    names_are_whole: bool = False
    broke_before_tests: bool = False
    missing: Sequence[str] = ()
    quoted: str = ""
    tail: str = ""

    @property
    def summary(self) -> str:
        """What it printed, for a sentence: numbers where there are any, with the first names."""
        if self.counts is None:
            return self.quoted
        parts = []
        for number, word in zip(self.counts, ("passed", "failed", "skipped"), strict=True):
            if number:
                parts.append(f"{number} {word}")
        text = ", ".join(sorted(parts, key=lambda part: "failed" not in part)) or "no test"
        if self.failing:
            if not self.counts.failed:  # a suite without tests, a file that cannot be loaded
                text += "; failed"
            text += f": {listed([clip(name, 80) for name in self.failing], MOST_NAMED)}"
        return text


@dataclass(frozen=True)
class Experiment:
    """What came of a command. `reason` is one true sentence about it, whatever the `verdict`; `notes` say what was put
    back, kept, and not compared; `no_longer` are old tests that fail with the work."""

    verdict: str
    reason: str
    runs: Mapping[str, Run] = field(default_factory=dict)
    notes: Sequence[str] = ()
    changed_rest: Sequence[str] = ()
    no_longer: Sequence[str] = ()
    still_failing: Sequence[str] = ()

    @property
    def holds(self) -> bool:
        return self.verdict == HOLDS


@dataclass(frozen=True)
class Subject:
    """The files that are asked about: a base, what differs from it now, and what the user allowed to be changed.

    `environ` is the whole environment of the commands; `minutes` what the user lets the runs take, 0 for none at all.
    Without `makes` only what was seen counts.
    """

    root: str
    state: str
    began: Mapping[str, Any]
    look: base.Look
    environ: Mapping[str, str]
    now: float
    minutes: float = 10.0
    makes: bool = True
    allowed: Mapping[str, str] = field(default_factory=dict)
    by: str = "agent"

    @cached_property
    def present(self) -> frozenset[str]:
        """The paths of the base."""
        head = self.began.get("head")
        return frozenset([*self.began["files"], *(own_commands.paths_of(self.root, head) if head else ())])

    @cached_property
    def base_id(self) -> str:
        known = [self.began.get("head"), sorted(self.began["files"].items())]
        return sha256(store.encode(dumps(known)))[:16]


class CannotTell(Exception):
    """Why there is no experiment: a sentence."""


@dataclass(frozen=True)
class Arrangements:
    """The files of each run. `work` and `rest` are the changed paths of each kind; a file of Rust may be both."""

    work: Sequence[str]
    rest: Sequence[str]
    files: Mapping[str, Mapping[str, File]]  # by run, what the paths that are swapped for it hold
    keys: Mapping[str, str]  # by run, the id of the files it is made on
    manifests: Sequence[str] = ()  # changed so that they only add: they may stand as they are
    peeks: Sequence[str] = ()  # lines of the work that look at its tests

    @property
    def has_old_tests(self) -> bool:
        return OLD_TESTS in self.files

    def without_products(self) -> Arrangements:
        """The same, but new data stays: where nothing has to fail without the work, a report is what was asked for."""
        old_tests = self.files.get(OLD_TESTS, {})
        kept = {}
        for path, held in old_tests.items():
            if held.content is not None or not kinds.is_plain_data(path):
                kept[path] = held
        if kept == old_tests:
            return self
        files = {WITHOUT: self.files[WITHOUT]}
        if kept:
            files[OLD_TESTS] = kept
        return replace(self, files=files, keys={**self.keys, OLD_TESTS: f"{self.keys[OLD_TESTS]}:products"})


def prove(
    subject: Subject, command: Command, seen: Sequence[Run], run_as_it_is: Callable[[], Run], judge: Judge | None = None
) -> Experiment:
    """Make what was not seen. `seen` are runs of this command that the caller knows of, the newest last; `judge` says
    whether one passed where that is not only its exit code."""
    try:
        arranged = arrange(subject, command)
        known = [*_recorded(subject, command), *seen]
        return _Trial(subject, command, arranged, known, run_as_it_is, judge=judge).experiment()
    except CannotTell as why:
        return Experiment(NOT_MADE, str(why))
    except swap.NotMade as error:
        return Experiment(NOT_MADE, error.message)


def weakened(subject: Subject, command: Command) -> str:
    """For an end that others have judged: why a pass of this command need not mean what it did before. Empty where no
    test, configuration or data was changed, or where it passes with them as they were too."""
    try:
        arranged = arrange(subject, command).without_products()
        if not arranged.has_old_tests:
            return ""
        trial = _Trial(subject, command, arranged, _recorded(subject, command), lambda: run_now(subject, command))
        made = trial.with_old_tests()
    except CannotTell as why:
        return str(why)
    except swap.NotMade as error:
        return error.message
    return "" if made.holds else made.reason


def run_now(subject: Subject, command: Command, judge: Judge | None = None) -> Run:
    """As it is."""
    outcome = run_asking(command, subject.root, environment(subject.environ), command.timeout)
    shadows = reading.shadows(subject.root, subject.began, [command], subject.allowed)
    return read_run(outcome, files_key(subject.look.changed or {}, kinds_of(subject, command)), shadows, judge)


# Which files stand how


def files_key(changed: Mapping[str, str], which: kinds.Kinds) -> str:
    """One id for all files that a run can depend on: documents and the like are left out."""
    counting = {path: digest for path, digest in changed.items() if which.of(path) in (kinds.WORK, kinds.REST)}
    return base.tree_of(counting)


def kinds_of(subject: Subject, command: Command) -> kinds.Kinds:
    head = subject.began.get("head")
    started = own_commands.scripts(
        subject.root, head, command.argv, command.cwd, uncommitted=subject.began.get("files", ())
    )
    return kinds.Kinds(
        started=started,
        sealed=command.sealed,
        is_form=form.is_form(command.argv),
        documents=own_commands.documents(subject.root, head, command.argv, command.cwd),
        present=subject.present,
    )


def arrange(subject: Subject, command: Command) -> Arrangements:
    changed = subject.look.changed
    if changed is None:
        raise CannotTell(f"what was changed is not known ({subject.look.unknown})")
    if not changed:
        raise CannotTell("no file was changed")
    which = kinds_of(subject, command)
    counting = [path for path in changed if which.of(path) in (kinds.WORK, kinds.REST)]
    if not counting:
        raise CannotTell(f"nothing that it runs on was changed (only {listed(sorted(changed), 6)})")
    try:
        before = contents.at_base(subject.root, subject.state, subject.began, counting)
        after = {path: contents.now(subject.root, path) for path in counting}
    except contents.Unknown as why:
        raise CannotTell(str(why)) from None
    work: list[str] = []
    rest: list[str] = []
    adding: list[str] = []
    without: dict[str, File] = {}
    old_tests: dict[str, File] = {}
    for path in counting:
        is_allowed = subject.allowed.get(path) == changed[path]
        if which.of(path) == kinds.REST:
            rest.append(path)
            if not is_allowed:
                old_tests[path] = before[path]
            if manifests.only_adds(path, before[path].content or b"", after[path].content or b""):
                adding.append(path)
            continue
        parted = _parted(path, before[path], after[path])
        if parted is None:
            work.append(path)
            without[path] = before[path]
            continue
        with_new_tests, with_old_tests = parted
        if with_new_tests != after[path]:
            work.append(path)
            without[path] = with_new_tests
        if with_old_tests != after[path]:
            rest.append(path)
            if not is_allowed:
                old_tests[path] = with_old_tests
    if not work:
        raise CannotTell(f"only tests, configuration or data were changed ({listed(rest, 6)})")
    files = {WITHOUT: without}
    if old_tests and _has_tests_at_base(subject, which, old_tests):
        files[OLD_TESTS] = old_tests
    keys = {name: _key_of(changed, which, put, before) for name, put in files.items()}
    keys[AS_IT_IS] = files_key(changed, which)
    peeks = reading.peeks(without, {path: after[path] for path in without})
    return Arrangements(work, rest, files, keys, adding, peeks)


def _parted(path: str, before: File, after: File) -> tuple[File, File] | None:
    """A file with inline tests: its old code with the tests of now, and its code of now with the old tests."""
    old, new = before.content, after.content
    if old is None or new is None:
        return None
    if not inline_tests.has_inline_tests(path, old) and not inline_tests.has_inline_tests(path, new):
        return None
    with_new_tests, with_old_tests = inline_tests.with_tests_of(old, new), inline_tests.with_tests_of(new, old)
    if with_new_tests is None or with_old_tests is None:
        return None
    return File(with_new_tests, after.mode), File(with_old_tests, after.mode)


def _has_tests_at_base(subject: Subject, which: kinds.Kinds, old_tests: Mapping[str, File]) -> bool:
    """Whether there was anything to run: one of the changed files itself, or any other test."""
    if any(held.content is not None for held in old_tests.values()):
        return True
    present = subject.present
    return any(kinds.is_test(path) or path in which.started for path in present)


def _key_of(changed: Mapping[str, str], which: kinds.Kinds, put: Mapping[str, File], before: Mapping[str, File]) -> str:
    arranged = dict(changed)
    for path, held in put.items():
        if held == before[path]:
            del arranged[path]
        else:
            arranged[path] = base.name_of(held.mode, held.content or b"")
    return files_key(arranged, which)


# The runs


def read_run(outcome: runner.Outcome, on_files: str, shadows: Sequence[str] = (), judge: Judge | None = None) -> Run:
    """What a run that has ended shows; of its output only the end is kept, so it is read now."""
    text = outcome.stdout + outcome.stderr
    result, why = outputs.result_of(outcome, shadows)
    if judge is not None and result != "unknown":
        result, why = judge(outcome)
    printed = outputs.read(text, outcome.exit_code)
    return Run(
        on_files,
        result,
        why,
        outcome.exit_code,
        round(outcome.duration, 3),
        printed.counts,
        sorted(printed.failing),
        printed.names_are_whole,
        printed.broke_before_tests,
        sorted(printed.missing),
        outputs.quoted(text),
        text[-TAIL:],
    )


def run_of(row: Mapping[str, Any]) -> Run:
    """As a ledger has it."""
    values = {name: row[name] for name in Run.__dataclass_fields__ if name in row}
    if values.get("counts") is not None:
        values["counts"] = Counts(*values["counts"])
    return Run(**{"on_files": "", "result": "unknown", **values})


def run_asking(
    command: Command,
    root: str,
    environ: Mapping[str, str],
    limit: float,
    started: Callable[[int], None] | None = None,
) -> runner.Outcome:
    """Run it, and have the runner name what it runs where it would not by itself."""
    argv = list(command.argv)
    asked = outputs.asking(argv)
    told = dict(environ)
    for name, words in outputs.asking_environment(argv).items():
        told[name] = f"{told.get(name, '')} {words}".strip()
    most = runner.OUTPUT_LIMIT if asked == argv else outputs.ASKED_OUTPUT_LIMIT
    return runner.run(asked, cwd=Path(root, command.cwd), timeout=limit, env=told, output_limit=most, started=started)


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """For every run that omo makes: a runner that knows of CI writes no snapshots and asks nobody."""
    return {**environ, "CI": "1", "PYTHONDONTWRITEBYTECODE": "1"}


@dataclass
class _Trial:
    subject: Subject
    command: Command
    arranged: Arrangements
    seen: Sequence[Run]
    run_as_it_is: Callable[[], Run]
    notes: list[str] = field(default_factory=list)
    judge: Judge | None = None

    def experiment(self) -> Experiment:
        flaky = self._flaky()
        if flaky:
            return self._result(NOTHING_SHOWN, f"it both fails and passes on the same files ({flaky})", {})
        runs = {name: run for name in self.arranged.keys if (run := self._seen(name)) is not None}
        now = runs.get(AS_IT_IS)
        if now is not None and now.result == "fail" and not now.names_are_whole:
            return self._result(FAILS, f"it fails ({now.summary})", runs)
        missing = [name for name in self.arranged.files if name not in runs]
        if missing:
            self._require_time(len(missing) + 1, now)
            runs.update(self._make(missing))
        if missing or now is None:
            runs[AS_IT_IS] = self.run_as_it_is()
        return self._judged(runs)

    def with_old_tests(self) -> Experiment:
        """The second run and the last, for who need not know whether it fails without the work."""
        seen = self._seen(OLD_TESTS)
        if seen is None:
            self._require_time(2, None)
            seen = self._make([OLD_TESTS])[OLD_TESTS]
        now = self.run_as_it_is()
        runs = {WITHOUT: now, OLD_TESTS: seen, AS_IT_IS: now}
        if seen.result != "pass":
            return self._old_tests_fail(runs)
        if reason := _fewer(seen, now, OLD_TESTS):
            return self._result(FEWER_TESTS, reason, runs)
        return self._result(HOLDS, "", runs)

    def _seen(self, name: str) -> Run | None:
        """The newest run on these files. A failure that may have been the machine's, before a package was installed,
        is looked at again; so is one that nobody can tell."""
        for run in reversed(self.seen):
            if run.on_files != self.arranged.keys[name]:
                continue
            is_sure = run.result == "pass" or (run.result == "fail" and not run.broke_before_tests)
            return run if is_sure and run.exit not in COULD_NOT_START else None
        return None

    def _flaky(self) -> str:
        for name, key in self.arranged.keys.items():
            results = {run.result for run in self.seen if run.on_files == key and not run.broke_before_tests}
            if {"pass", "fail"} <= results:
                return name
        return ""

    def _require_time(self, count: int, now: Run | None) -> None:
        if not self.subject.makes:
            raise CannotTell("it was not tried without the work")
        if not self.subject.minutes:
            raise CannotTell("the experiment is switched off (setting experiment)")
        lasted = [run.seconds for run in self.seen]
        if now is not None:
            lasted.append(now.seconds)
        estimate = count * max(lasted, default=0.0)
        if estimate > self.subject.minutes * 60:
            allowed = f"the setting proof_minutes allows {self.subject.minutes:g}"
            raise CannotTell(f"{counted(count, 'run')} of it would take about {estimate / 60:.0f} min; {allowed}")

    def _make(self, names: Sequence[str]) -> dict[str, Run]:
        """The runs on swapped files. The second is not needed where the first has shown enough."""
        subject, arranged = self.subject, self.arranged
        runs: dict[str, Run] = {}
        with swap.Swap(subject.root, subject.state, {**arranged.files, **self._lenient()}, self._untracked) as swapped:
            for name in names:
                runs[name] = self._run(swapped, name)
                if name == OLD_TESTS and _could_not_be_built(runs[name]) and MANIFESTS in self._lenient():
                    runs[name] = self._run(swapped, MANIFESTS)
                _record(subject, self.command, name, runs[name])
                if name == WITHOUT and runs[name].result == "pass":
                    break
        if swapped.moved:
            for name, run in runs.items():
                _record(subject, self.command, name, replace(run, result="unknown", why=swapped.moved))
            raise CannotTell(f"{swapped.moved} while files were swapped, so that the runs count for nothing")
        if swapped.kept:
            kept = [f"{clip(kept.path, 80)} (kept as {kept.kept_as})" for kept in swapped.kept]
            self.notes.append(f"put back over what stood there instead: {listed(kept, 6)}")
        if swapped.appeared:
            moved = [f"{clip(kept.path, 80)} (now {kept.kept_as})" for kept in swapped.appeared]
            self.notes.append(f"appeared meanwhile and moved aside: {listed(moved, 6)}")
        return runs

    def _lenient(self) -> dict[str, Mapping[str, File]]:
        """With the old tests, but manifests that only add as they are: a base that cannot be resolved here any more
        says nothing of its tests."""
        old_tests = self.arranged.files.get(OLD_TESTS, {})
        kept = {path: held for path, held in old_tests.items() if path not in self.arranged.manifests}
        return {MANIFESTS: kept} if kept != old_tests else {}

    def _untracked(self) -> frozenset[str]:
        return base.look(self.subject.root, dict(self.subject.began)).untracked

    def _run(self, swapped: swap.Swap, arrangement: str) -> Run:
        swapped.put(arrangement)
        environ = swapped.environment(environment(self.subject.environ))
        lasted = max([run.seconds for run in self.seen], default=0.0)
        limit = min(self.command.timeout, max(SHORTEST_LIMIT, 10 * lasted)) if lasted else self.command.timeout
        with progress.doing(f"{shlex.join(self.command.argv)}, {arrangement}"):
            outcome = run_asking(self.command, self.subject.root, environ, limit, swapped.group_started)
        name = OLD_TESTS if arrangement == MANIFESTS else arrangement
        return read_run(outcome, self.arranged.keys[name], judge=self.judge)

    # What they show

    def _judged(self, runs: dict[str, Run]) -> Experiment:
        without, old, now = runs[WITHOUT], runs.get(OLD_TESTS), runs[AS_IT_IS]
        still_failing: Sequence[str] = ()
        if now.result == "unknown":
            return self._result(FAILS, f"it cannot be judged: {now.why}", runs)
        # Before anything is said of the other runs: a build that was broken and still is was told as "without the work
        # it stops before its tests", and a regression would be as "passes without the work too".
        if now.result == "fail" and (now.broke_before_tests or not now.names_are_whole or without.result == "pass"):
            return self._result(FAILS, f"it fails ({now.summary})", runs)
        if without.result == "pass":
            return self._result(PASSES_WITHOUT, f"it passes without the work too ({without.summary})", runs)
        if reason := self._shows_nothing(without):
            return self._result(NOTHING_SHOWN, f"without the work {reason}", runs)
        if now.result == "fail":
            still_failing = _failed_before(without, now)
            if not still_failing:
                return self._result(FAILS, f"it fails ({now.summary})", runs)
            if not self._mends_a_changed_test(without, now):
                reason = (
                    f"{counted(len(still_failing), 'test')} failed before the work and still "
                    f"{'fails' if len(still_failing) == 1 else 'fail'}: {listed(still_failing, MOST_NAMED)}"
                )
                return self._result(FAILS, reason, runs, still_failing=still_failing)
        if old is not None and old.result != "pass" and not _only_before(old, still_failing):
            return self._old_tests_fail(runs)
        for other, name in ((without, WITHOUT), (old, OLD_TESTS)):
            if reason := _fewer(other, now, name):
                return self._result(FEWER_TESTS, reason, runs)
        if self.arranged.peeks:
            return self._result(
                LOOKS_AT_TESTS, f"the work looks at its tests ({listed(self.arranged.peeks, 3, '; ')})", runs
            )
        if now.counts is None:
            self.notes.append("how many tests ran was not compared, as it does not say")
        elif old is None and (without.counts is None or without.broke_before_tests):
            self.notes.append("how many tests ran was not compared, as without the work it does not say")
        return self._result(HOLDS, self._proof(runs), runs, still_failing=still_failing)

    def _result(
        self, verdict: str, reason: str, runs: Mapping[str, Run], *, still_failing: Sequence[str] = ()
    ) -> Experiment:
        return Experiment(verdict, reason, runs, self.notes, self.arranged.rest, still_failing=still_failing)

    def _shows_nothing(self, without: Run) -> str:
        """Why a failure is none of the work: nothing was tested. Empty where it is one."""
        if without.result == "unknown":
            return f"nothing is shown: {without.why}"
        if without.exit is None or without.exit in COULD_NOT_START:
            return "it could not be started"
        if KILLED.search(without.tail):  # bench/endings: "red by being killed"
            return "it was killed"
        if not without.broke_before_tests:
            return ""
        if without.missing:  # of what a test could not find
            if any(self._provides(name) for name in without.missing):
                return ""
            what = listed([clip(name, 60) for name in without.missing], MOST_NAMED)
            return f"it stops before its tests for want of {what}, which no changed file provides"
        if any(os.path.basename(path) in without.tail for path in [*self.arranged.work, *self.arranged.rest]):
            return ""
        return f"it stops before its tests ({without.quoted})"

    def _provides(self, name: str) -> bool:
        """Whether the work brought what was missing: a module by its path, or a name that its files have now."""
        last = name.replace("::", ".").replace("/", ".").rstrip(".").split(".")[-1]
        for path, before in self.arranged.files[WITHOUT].items():
            if last in path.replace(".", "/").split("/"):
                return True
            after = contents.now(self.subject.root, path).content or b""
            if last.encode() in after and last.encode() not in (before.content or b""):
                return True
        return False

    def _mends_a_changed_test(self, without: Run, now: Run) -> bool:
        """A test that was written or changed for this work fails without it. If only old tests were mended, nobody can
        tell whether the others that failed beside them were asked for too."""
        for name in set(without.failing) - set(now.failing):
            if name.partition("::")[0] in self.arranged.rest:
                return True
        return False

    def _old_tests_fail(self, runs: Mapping[str, Run]) -> Experiment:
        without, old, now = runs[WITHOUT], runs[OLD_TESTS], runs[AS_IT_IS]
        changed = listed(self.arranged.rest, 6)
        if _could_not_be_built(old) or old.result == "unknown":
            reason = f"with {changed} as before it does not get to its tests ({old.why or old.quoted})"
            return self._result(OLD_TESTS_FAIL, reason, runs)
        reason = f"it passes only with the changed {changed}"
        no_longer = sorted(set(old.failing) - set(now.failing))
        if no_longer and old.counts is not None and len(no_longer) <= old.counts.failed:  # else not all are tests
            verb = "holds" if len(no_longer) == 1 else "hold"
            reason += f": {len(no_longer)} of {old.counts.total} old tests no longer {verb} ({listed(no_longer, 6)})"
            new = set(without.failing) - set(old.failing) - set(now.failing)
            if without.broke_before_tests:  # what it names then are files that could not be loaded
                reason += "; without the work it stops before its tests"
            elif new:
                reason += f"; {len(new)} more {'fails' if len(new) == 1 else 'fail'} without the work"
        elif old.summary:
            reason += f" ({old.summary})"
        found = self._result(OLD_TESTS_FAIL, reason, runs)
        return Experiment(found.verdict, reason, runs, self.notes, self.arranged.rest, no_longer)

    def _proof(self, runs: Mapping[str, Run]) -> str:
        without, old, now = runs[WITHOUT], runs.get(OLD_TESTS), runs[AS_IT_IS]
        text = f"fails without the work ({without.summary or f'exit {without.exit}'})"
        text += " and passes with it"
        if now.result == "fail":
            text = f"fails without the work ({without.summary}); of that only what failed before still fails"
        if old is not None:
            text += ", also with the tests as they were" + (f" ({old.summary})" if old.counts else "")
        elif now.counts is not None and now.result == "pass":
            text += f" ({now.summary})"
        return text


def _could_not_be_built(run: Run) -> bool:
    return run.result != "pass" and (run.broke_before_tests or run.result == "unknown")


def _failed_before(without: Run, now: Run) -> list[str]:
    """The tests that fail now, if each of them failed without the work too, and others do not any more."""
    if not (without.names_are_whole and now.names_are_whole):
        return []
    failing, before = set(now.failing), set(without.failing)
    return sorted(failing) if failing and failing < before else []


def _only_before(old: Run, still_failing: Sequence[str]) -> bool:
    """With the old tests nothing fails but what failed before. A run without names says nothing."""
    return bool(old.failing) and old.names_are_whole and set(old.failing) <= set(still_failing)


def _fewer(other: Run | None, now: Run, name: str) -> str:
    if other is None or other.counts is None or now.counts is None or other.broke_before_tests:
        return ""
    if now.counts.total < other.counts.total:
        return f"{name} {counted(other.counts.total, 'test')} ran, and now {now.counts.total}"
    if now.counts.skipped > other.counts.skipped:
        return f"{name} {counted(other.counts.skipped, 'test')} left out, and now {now.counts.skipped}"
    return ""


# What was made before


def _journal(state: str) -> Journal:
    return Journal(paths.proof_dir(state), state)


def environment_id(environ: Mapping[str, str]) -> str:
    """What a command is told of its surroundings; with another PATH, HOME or TZ it is another result."""
    told = sorted(f"{name}={value}" for name, value in environ.items())
    return sha256(store.encode("\0".join(told)))[:16]


def _recorded(subject: Subject, command: Command) -> list[Run]:
    """Runs on swapped files that were made for this base. Of a ledger that is not whole none counts: they are only
    made again."""
    rows, problems = _journal(subject.state).read()
    if problems:
        return []
    wanted = (subject.base_id, command_id(command.argv, command.cwd), environment_id(subject.environ))
    return [run_of(row) for row in rows if (row.get("base"), row.get("command"), row.get("env")) == wanted]


def _record(subject: Subject, command: Command, arrangement: str, run: Run) -> None:
    journal = _journal(subject.state)
    row = {
        "kind": "tried",
        "arrangement": arrangement,
        "base": subject.base_id,
        "command": command_id(command.argv, command.cwd),
        "env": environment_id(subject.environ),
        **asdict(run),
    }

    def decide(rows: list[Row]) -> tuple[None, list[Row]]:
        return None, [*journal.seal(subject.now), row]

    try:
        journal.change(decide, actor=subject.by, now=subject.now, wait=store.CLI_WAIT)
    except OmoError:
        pass  # it is made again
