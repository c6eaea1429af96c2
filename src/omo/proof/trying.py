"""Which of the commands that a project's files name gets to the project's tests: found by running them.

A candidate that passes as the files are, or gets to all of its tests, is the one, and costs no run more. Otherwise the
candidates are run on the files as they were at the base, in order, and the first that passes there is taken, else the
first that gets to its tests. So who breaks the collection of the tests gains no other command. Only where none got to
any test at the base does it count what they do on the files as they are.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from omo import progress
from omo.errors import NotMade
from omo.proof import base, contents, experiment, gate_runs, outputs, swap
from omo.proof.gate_runs import COULD_NOT_START, CommandRun, Plain, Subject
from omo.proof.project_checks import Check
from omo.proof.typed_commands import resolve, typed
from omo.state import own_commands
from omo.text import clip

Run = Callable[[Check, float], CommandRun | None]  # at most so many seconds; None where its program is not here
MOST_SHOWN = 8
BEFORE = "before the work"


@dataclass(frozen=True)
class Try:
    """One candidate and its run; None where its program is not here."""

    command: Check
    run: CommandRun | None

    @property
    def passes(self) -> bool:
        return self.run is not None and self.run.result == "pass"

    @property
    def gets_to_tests(self) -> bool:
        run = self.run
        if run is None or run.result == "unknown" or run.not_here or run.exit in COULD_NOT_START:
            return False
        if run.result == "pass" or run.counts is None:
            return not run.broke_before_tests
        return run.reached > 0

    @property
    def gets_to_all(self) -> bool:
        """Whether there is also no file that it could not load."""
        return (
            self.gets_to_tests and self.run is not None and not self.run.broke_before_tests and not self.run.unreached
        )

    @property
    def line(self) -> str:
        """The command, and why it does not get to the tests."""
        why = f"there is no {clip(self.command.argv[0], 60)}"
        if self.run is not None:
            why = self.run.failure if self.run.result != "pass" else "passes"
        return f"{clip(typed(self.command.argv), 80)}: {why}"


@dataclass(frozen=True)
class Settled:
    """The command that is taken, and what was tried to find it."""

    check: Check
    tries: Sequence[Try] = ()

    @property
    def gets_nowhere(self) -> bool:
        """Whether several were tried and none gets to the tests."""
        return bool(self.tries) and not any(each.gets_to_tests for each in self.tries)

    @property
    def lines(self) -> list[str]:
        return [each.line for each in self.tries[:MOST_SHOWN]]


def find(subject: Subject, check: Check) -> tuple[Settled, CommandRun]:
    """Run a check, and settle which command it is. The run is of that command, on the files as they are."""
    now = _run(subject, check, Plain(check.argv).timeout) or _not_here(check)
    settled = settle(subject, check, now)
    if settled.check.argv != check.argv:
        now = experiment.run_now(subject, Plain(settled.check.argv, check.cwd))
    return settled, now


def settle(subject: Subject, check: Check, now: CommandRun) -> Settled:
    """Return the command that gets to the tests, and keep it. `now` is a run of the check on the files as they are."""
    if not check.instead:
        return Settled(check)
    first = Try(check, now)
    if first.passes or (first.gets_to_all and all(other.stands_in for other in check.instead)):
        keep(subject, check, check.argv)
        return Settled(check)
    if not (subject.makes and subject.minutes):
        return Settled(check)
    try:
        tries = _at_base(subject, first)
    except NotMade:
        return Settled(check)
    chosen = _best(tries)
    if chosen is None and subject.look.changed:
        tries = _tried(subject, first, _as_it_is(subject, first))
        chosen = _best(tries)
    if chosen is None:
        return Settled(check, tries)
    keep(subject, check, chosen.argv)
    return Settled(chosen, tries)


def _best(tries: Sequence[Try]) -> Check | None:
    """The first that passes, else the first that gets to all of its tests, else to some."""
    passing = [each for each in tries if each.passes]
    whole = [each for each in tries if each.gets_to_all]
    partial = [each for each in tries if each.gets_to_tests]
    for each in (*passing, *whole, *partial):
        return each.command
    return None


def keep(subject: Subject, check: Check, argv: Sequence[str]) -> None:
    """Keep the answer, if it is one of the candidates."""
    is_candidate = any(list(argv) == each.argv for each in (check, *check.instead))
    if subject.remembers and check.candidates_id and is_candidate:
        own_commands.keep(subject.state, check.candidates_id, argv)


def _at_base(subject: Subject, first: Try) -> list[Try]:
    """Try the candidates on the files as they were. Raises NotMade where these cannot be had."""
    changed = subject.look.changed
    if changed is None:
        raise NotMade(subject.look.unknown_in_words)
    if not changed:
        return _tried(subject, first, _as_it_is(subject, first))
    before = contents.at_base(subject.root, subject.state, subject.began, list(changed))
    with swap.Swap(subject.root, subject.state, {BEFORE: before}, base.Untracked(subject.root)) as swapped:

        def run(command: Check, seconds: float) -> CommandRun | None:
            swapped.put(BEFORE)
            return _run(subject, command, seconds, swapped)

        tries = _tried(subject, first, run)
    if swapped.moved:
        raise NotMade(swapped.moved)
    return tries


def _as_it_is(subject: Subject, first: Try) -> Run:
    def run(command: Check, seconds: float) -> CommandRun | None:
        return first.run if command is first.command else _run(subject, command, seconds)

    return run


def _tried(subject: Subject, first: Try, run: Run) -> list[Try]:
    """Try no more than is needed to know, and within the user's minutes: one that passes is the best there is."""
    ends = time.monotonic() + subject.minutes * 60
    tries: list[Try] = []
    for command in (first.command, *first.command.instead):
        seconds = ends - time.monotonic()
        if seconds <= 0 or any(each.passes for each in tries):
            break
        if _is_worth_a_run(subject, command, [*tries, first]):
            tries.append(Try(command, run(command, seconds)))
    return tries


def _is_worth_a_run(subject: Subject, command: Check, tries: Sequence[Try]) -> bool:
    """One that stands in for others is not needed beside one that gets to all of its tests; and one that looks for
    modules in a directory only helps where one that is missing lies there."""
    if command.stands_in and any(each.gets_to_all for each in tries):
        return False
    if not command.looks_in:
        return True
    directory = Path(subject.root, command.cwd, command.looks_in)
    missing: set[str] = set()
    for each in tries:
        if each.run is None and command.looks_in == ".":
            return True  # a package may be here whose program is not
        missing.update(each.run.missing if each.run is not None else ())
    return _lies_in(directory, missing)


def _lies_in(directory: Path, modules: Iterable[str]) -> bool:
    paths = [directory / module.partition(".")[0] for module in modules]
    return any(path.is_dir() or path.with_suffix(".py").is_file() for path in paths)


def _run(subject: Subject, command: Check, seconds: float, swapped: swap.Swap | None = None) -> CommandRun | None:
    """Run one candidate, if its program is here. A run on swapped files is kept for the experiment."""
    directory = os.path.join(subject.root, command.cwd)
    if resolve(command.argv[0], directory, subject.environ.get("PATH", "")) is None:
        return None
    plain = Plain(command.argv, command.cwd)
    plain = replace(plain, timeout=min(plain.timeout, seconds))
    where = " as it was before the work" if swapped is not None else ""
    with progress.doing(f"looking for the project's tests: {typed(command.argv)}{where}"):
        if swapped is None:
            return experiment.run_now(subject, plain)
        ran = gate_runs.run_gate(subject, plain, base.tree_of({}), swapped=swapped)
    gate_runs.record(subject, plain, BEFORE, ran)
    return ran


def _not_here(check: Check) -> CommandRun:
    return CommandRun("", "unknown", f"program not found: {clip(check.argv[0], 60)}; {outputs.INSTALL}")
