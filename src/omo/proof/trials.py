"""Runs of one command on the changed files as they are but for one hunk or mutant: in the project, or in worktrees.

A result is kept under all that it depends on, so a run that was made on the same files is not made again.
"""

from __future__ import annotations

import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TypeVar

from omo import progress
from omo.digest import sha256
from omo.errors import BadInput, NotEvaluable, NotMade
from omo.proof import base, bytecode, contents, gate_runs, worktrees
from omo.proof.arrangements import Arrangements, arrange
from omo.proof.gate_runs import AS_IT_IS, WITHOUT, CommandRun, GateCommand, Subject
from omo.proof.hunks import Hunk, hunks_of
from omo.proof.kept_runs import KeptRuns
from omo.proof.swap import Swap
from omo.proof.swap_files import Arrangement, File
from omo.proof.typed_commands import typed
from omo.state import store
from omo.text import listed

Item = TypeVar("Item")

NO_LANGUAGE = b")(\n"  # no compiler and no interpreter takes it
ALL_BROKEN = "with every changed file broken"
STOPPED = "you stopped it"
TIME_IS_UP = "the time was up"


def no_shard(index: int, count: int, fix: str) -> BadInput:
    return BadInput(f"shard {index}/{count}: I/N needs I from 1 to N", fix=fix)


@dataclass(frozen=True)
class Options:
    """How long to look, with how many runs at once, at which part, and what was just run.

    `shard` is (i, n): the i-th of n parts, counted from 1. `cache` is a directory for results instead of the project's
    state; it lies outside the checkout. `seen` and `without` are runs of the command that were just made: on the files
    as they are, and without the work.
    """

    seconds: float = 600.0
    jobs: int = 1
    shard: tuple[int, int] = (1, 1)
    cache: str | None = None
    seen: CommandRun | None = None
    without: CommandRun | None = None

    def part_of(self, items: Sequence[Item], name_of: Callable[[Item], str]) -> list[Item]:
        """Return the items of this shard, in their order. Every shard deals the same items out in the same way."""
        index, count = self.shard
        if not 1 <= index <= count:
            raise no_shard(index, count, "omo proof --shard 1/2")
        dealt = sorted(items, key=lambda item: sha256(store.encode(name_of(item))))
        names = {name_of(item) for item in dealt[index - 1 :: count]}
        return [item for item in items if name_of(item) in names]


@dataclass(frozen=True)
class ChangedWork:
    """The changed files that the tests are to show: as they are, without the work, and each hunk of the difference."""

    arranged: Arrangements
    after: Mapping[str, File]
    without: Arrangement
    hunks: Sequence[Hunk]

    @property
    def broken(self) -> Arrangement:
        """Every changed file that is there, as nothing that a language takes."""
        return {path: File(NO_LANGUAGE, file.mode) for path, file in self.after.items() if file.content is not None}


def changed_work(subject: Subject, command: GateCommand) -> ChangedWork:
    arranged = arrange(subject, command)
    without = {} if arranged.data else dict(arranged.files[WITHOUT])
    after = {path: contents.now(subject.root, path) for path in without}
    hunks: list[Hunk] = []
    for path, file in after.items():
        hunks += hunks_of(path, without[path], file)
    return ChangedWork(arranged, after, without, hunks)


class Trials:
    """`with Trials(…) as trials:` runs what is not known yet. At the end every file is as it was."""

    def __init__(
        self,
        subject: Subject,
        command: GateCommand,
        options: Options,
        work: ChangedWork,
        arrangements: Mapping[str, Arrangement],
        shortest_limit: float = gate_runs.SHORTEST_LIMIT,
    ) -> None:
        self.made: list[CommandRun] = []
        self.why_alone: str | None = None  # why not as many runs at once as were asked for
        self.progress = progress.doing("running the tests")
        self._subject = subject
        self._command = command
        self._options = options
        self._shortest_limit = shortest_limit  # seconds that a run may take on other files, however fast the tests are
        self._work = work
        self._arrangements = {AS_IT_IS: {}, WITHOUT: work.without, ALL_BROKEN: work.broken, **arrangements}
        self._kept = KeptRuns(subject, command, work.arranged.at_base, options.cache)
        self._known: dict[str, CommandRun] = {}
        for name, run in ((AS_IT_IS, options.seen), (WITHOUT, options.without)):
            if run is not None:
                self._known[name] = run
        self._at_places = ExitStack()
        self._place: _InProject | None = None  # in the project itself
        self._beside: list[worktrees.Worktree] = []
        self._idle: list[worktrees.Worktree] = []
        self._threads: list[threading.Thread] = []
        self._busy = 0
        self._ended: SimpleQueue[tuple[str, worktrees.Worktree, CommandRun | BaseException]] = SimpleQueue()
        self._around = ExitStack()
        self._began = time.monotonic()

    def __enter__(self) -> Trials:
        self._around.enter_context(_EndingSignals())
        self._around.enter_context(self.progress)
        self._around.callback(self._leave)
        return self

    def __exit__(self, *raised: object) -> None:
        self._around.close()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    @property
    def mean(self) -> float:
        """Return how long a run takes."""
        runs = self.made or list(self._known.values())
        return sum(run.seconds for run in runs) / max(1, len(runs))

    @property
    def is_time_up(self) -> bool:
        """Return whether one more run and the last would go over it."""
        return self.seconds + 2 * self._longest > self._options.seconds

    @property
    def room(self) -> int:
        """Return how many runs fit into the time that is left, as far as anybody can tell."""
        left = self._options.seconds - self.seconds
        return max(1, int(left / max(self.mean, 0.001)) * self._options.jobs)

    def time_left(self, runs: int) -> str:
        """Return how long so many runs will take, for a person."""
        at_once = max(1, len(self._beside))
        seconds = min(runs * self.mean / at_once, max(0.0, self._options.seconds - self.seconds))
        return f"{seconds:.0f} s left" if seconds < 100 else f"{seconds / 60:.0f} min left"

    @property
    def seen(self) -> CommandRun | None:
        """Return the run on the files as they are, if there is one."""
        return self._known.get(AS_IT_IS)

    def as_it_is(self) -> CommandRun:
        """Return a run on the files as they are."""
        run = self._find(AS_IT_IS)
        if run is None:
            run = self._run_here()
            self._known[AS_IT_IS] = run
        return run

    def run(self, name: str) -> CommandRun:
        [(_, run)] = self.each(deque([name]))
        return run

    def each(self, waiting: deque[str]) -> Iterator[tuple[str, CommandRun]]:
        """Yield what each of these shows as it becomes known. The caller may add some meanwhile, or take some out."""
        while waiting or self._busy:
            if waiting and (known := self._find(waiting[0])) is not None:
                yield waiting.popleft(), known
                continue
            if waiting and self._place is None and not self._beside:
                self._open()
            if waiting and self._idle:
                self._begin(waiting.popleft(), self._idle.pop())
                continue
            if self._place is not None:
                name = waiting.popleft()
                run = self._place.run(name, self.limit)
                self._require_same()
            else:
                name, run = self._next_to_end()
            self._note(name, run)
            yield name, run

    def require_pass(self, run: CommandRun, otherwise: str = "it does not pass as it is") -> None:
        if run.result != "pass":
            fix = (
                "name a command that passes, and does so every time: omo proof -- COMMAND; "
                "without one omo tries those that the project's files name"
            )
            raise NotEvaluable(f"{typed(self._command.argv)}: {otherwise}: it {run.failure}", fix=fix)

    def finish(self) -> None:
        """Put everything back, and see that the command still passes if anything was run."""
        self._leave()
        if self.made:
            self.require_pass(self._run_here(), "it passed first, and does not now, on the same files")
        self._require_same()

    def _run_here(self) -> CommandRun:
        self.progress.text = "running the tests"
        run = gate_runs.run_gate(self._subject, self._command, limit=self.limit)
        self._note(AS_IT_IS, run)
        return run

    @property
    def limit(self) -> float:
        """Return after how many seconds a run is ended."""
        if not self._longest:
            return self._command.timeout
        return min(self._command.timeout, max(self._shortest_limit, 10 * self._longest))

    @property
    def _longest(self) -> float:
        """Return how long a run took that came to its end."""
        runs = [*self.made, *self._known.values()]
        return max([run.seconds for run in runs if not run.timed_out], default=0.0)

    def _find(self, name: str) -> CommandRun | None:
        if name not in self._known and (kept := self._kept.find(self._arrangements[name])) is not None:
            self._known[name] = kept
        return self._known.get(name)

    def _note(self, name: str, run: CommandRun) -> None:
        self.made.append(run)
        self._kept.keep(self._arrangements[name], run)

    def _require_same(self) -> None:
        for path, file in self._work.after.items():
            if contents.now(self._subject.root, path) != file:
                raise NotEvaluable(f"{path} was changed meanwhile", fix="try again when nobody writes to it")

    # Where runs are made

    def _open(self) -> None:
        unknown = [name for name in self._arrangements if self._find(name) is None]
        jobs = min(self._options.jobs, len(unknown))
        if jobs > 1 and self.why_alone is None:
            self.why_alone = self._open_worktrees(jobs)
        if not self._beside:
            subject = self._subject
            swapped = Swap(subject.root, subject.state, self._arrangements, base.Untracked(subject.root))
            self._at_places.enter_context(swapped)
            self._place = _InProject(subject, self._command, swapped)

    def _open_worktrees(self, jobs: int) -> str | None:
        """Return why the project does not allow it, or None if it does."""
        here = self.as_it_is()
        if not self._work.broken:
            return "every changed file is gone, so nobody can tell which copy a worktree tests"
        self.progress.text = "looking whether worktrees test the same"
        self._at_places.enter_context(bytecode.writing_none())
        try:
            made = self._at_places.enter_context(worktrees.Worktrees(self._subject, self._command, self._arrangements))
            first = made.add()
            why = worktrees.why_not(first, here, ALL_BROKEN, self.limit)
            if why is None:
                self._beside = [first, *(made.add() for _ in range(jobs - 1))]
                self._idle = list(self._beside)
        except NotMade as error:
            why = error.message
        if why is not None:
            self._at_places.close()
        return why

    def _begin(self, name: str, place: worktrees.Worktree) -> None:
        limit = self.limit

        def run() -> None:
            ended: CommandRun | BaseException
            try:
                ended = place.run(name, limit)
            except BaseException as error:
                ended = error
            self._ended.put((name, place, ended))

        thread = threading.Thread(target=run, daemon=True)
        self._threads.append(thread)
        self._busy += 1
        thread.start()

    def _next_to_end(self) -> tuple[str, CommandRun]:
        name, place, ended = self._ended.get()
        self._busy -= 1
        self._idle.append(place)
        if isinstance(ended, BaseException):
            raise ended
        return name, ended

    def _leave(self) -> None:
        """End what still runs, and put everything back."""
        try:
            for place in self._beside:
                place.stop()
            for thread in self._threads:
                thread.join()
        finally:
            self._place, self._beside, self._idle, self._threads, self._busy = None, [], [], [], 0
            self._at_places.close()


class _InProject:
    """The project itself, with files that are swapped for each run and put back after it."""

    def __init__(self, subject: Subject, command: GateCommand, swapped: Swap) -> None:
        self._subject = subject
        self._command = command
        self._swapped = swapped

    def run(self, name: str, limit: float) -> CommandRun:
        swapped = self._swapped
        swapped.put(name)
        run = gate_runs.run_gate(self._subject, self._command, limit=limit, swapped=swapped)
        swapped.put_back()
        if swapped.moved or swapped.kept or swapped.deleted or swapped.unmoved:
            names = [*(kept.path for kept in swapped.kept), *swapped.deleted]
            changed = swapped.moved or swapped.unmoved or f"{listed(names)} changed while files were swapped"
            kept = [f"{kept.path} is kept as {kept.kept_as}" for kept in swapped.kept]
            raise NotEvaluable("; ".join([changed, *kept]), fix="try again")
        return run


class _EndingSignals:
    """Makes an exception of a signal that would end omo at once, so that it can say what it knows."""

    def __init__(self) -> None:
        self._taken: list[int] = []

    def __enter__(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, _end)
                self._taken.append(number)

    def __exit__(self, *raised: object) -> None:
        for number in self._taken:
            signal.signal(number, signal.SIG_DFL)


def _end(number: int, frame: object) -> None:
    raise SystemExit(128 + number)


def exit_code_of(stop: KeyboardInterrupt | SystemExit) -> int:
    """Return what omo ends with when it was stopped: 130 after Ctrl-C, 143 after SIGTERM."""
    if isinstance(stop, SystemExit) and isinstance(stop.code, int):
        return stop.code
    return 128 + signal.SIGINT
