"""Run the tests on mutants of the changed lines: files with one small mistake, which a test should notice.

A mutant that lives is a mistake that no test would notice. This is advice: some mutants mean the same as the original.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from omo.digest import sha256
from omo.json_text import Json
from omo.mutants import Mutant, NoMutants, Tools, mutants_of, sample
from omo.proof import run as runner
from omo.proof.gate_runs import WITHOUT, CommandRun, GateCommand, Subject
from omo.proof.swap_files import Arrangement, File
from omo.proof.trials import STOPPED, TIME_IS_UP, ChangedWork, Options, Trials, changed_work, exit_code_of
from omo.proof.unchecked_lines import HELD, NOT_HELD
from omo.state import store
from omo.text import clip, counted

KILLED, LIVED, CANNOT_TELL, NOT_RUN = WORDS = ("killed", "lived", "cannot tell", "not run")
ORDER = (LIVED, CANNOT_TELL, NOT_RUN, KILLED)  # as they are told
COMPILED = (".go", ".rs", ".ts", ".tsx", ".mts", ".cts")  # one that breaks the build there was never run
MOST = 1000  # that are tried
PARSER_SECONDS = 60.0
PARSER_OUTPUT = 8_000_000
FAR_BELOW = 5  # times that the run as it is goes into the limit of one that took too long
SHORTEST_LIMIT = 10.0  # seconds that a mutant may take: many a mistake in a loop makes it run for ever
LONGEST = 200


@dataclass(frozen=True)
class MutantResult:
    """What the tests say of one mutant. `why` is what they printed, or why there is no more to say."""

    mutant: Mutant
    word: str
    why: str = ""

    @property
    def data(self) -> Json:
        mutant = self.mutant
        row: Json = {"path": mutant.path, "line": mutant.line, "kind": mutant.kind, "word": self.word, "why": self.why}
        return row | {"before": clip(mutant.before, LONGEST), "after": clip(mutant.after, LONGEST)}


@dataclass(frozen=True)
class MutantRuns:
    """Of every mutant of a shard what the tests say. `why` says why there are none, or none of some files.

    `stopped_by` is the exit code for the signal that ended the runs, after Ctrl-C 130.
    """

    answers: Sequence[MutantResult]
    why: str
    runs: int
    seconds: float
    total: int = 0  # mutants of all shards
    stopped_by: int | None = None
    why_alone: str | None = None  # why not as many runs at once as were asked for

    def count(self, word: str) -> int:
        return len([answer for answer in self.answers if answer.word == word])

    @property
    def is_sampled(self) -> bool:
        return bool(self.count(NOT_RUN))

    @property
    def sentence(self) -> str:
        return sentence_of({word: self.count(word) for word in WORDS}, self.why)

    @property
    def data(self) -> Json:
        return {
            "text": self.sentence,
            "why": self.why,
            "is_sampled": self.is_sampled,
            "is_whole": self.stopped_by is None,
            "made": len(self.answers),
            "of": self.total,
            "runs": self.runs,
            "seconds": round(self.seconds, 1),
            "notes": [f"one run at a time: {self.why_alone}"] if self.why_alone else [],
            "counts": {word: self.count(word) for word in WORDS},
            "mutants": [answer.data for answer in self.answers],
        }


def sentence_of(counts: Mapping[str, int], why: str) -> str:
    made = sum(counts.values())
    if not made:
        return why or "no mutants here"
    parts = ", ".join(f"{counts[word]} {word}" for word in WORDS if counts[word] and word != NOT_RUN)
    sentence = f"{counted(made, 'mutant')}: {parts}."
    if counts[NOT_RUN]:
        tried = made - counts[NOT_RUN]
        sentence = f"A sample of {tried} of {counted(made, 'mutant')}: {parts}." if tried else "No mutant was run."
    return f"{sentence} {why[:1].upper()}{why[1:]}." if why else sentence


def find(subject: Subject, command: GateCommand, options: Options) -> MutantRuns:
    """Raises NotEvaluable if the tests cannot say anything of these files, which are as they were then too."""
    return _Look(subject, command, options).found()


class _Look:
    """The mutants of a shard, and what is known of them so far."""

    def __init__(self, subject: Subject, command: GateCommand, options: Options) -> None:
        self.subject = subject
        self.command = command
        self.options = options
        self.work = changed_work(subject, command)
        every, self.why = _made(subject, self.work)
        self.total = len(every)
        mutants = options.part_of(every, _name)
        seed = sha256(store.encode("\0".join(map(_name, every))))
        self.mutants = {_name(mutant): mutant for mutant in sample(mutants, len(mutants), seed)}
        self.answers: dict[str, MutantResult] = {}
        self.why_not = STOPPED  # of a mutant without an answer
        tried = list(self.mutants.values())[:MOST]
        self.trials = Trials(subject, command, options, self.work, _arrangements(self.work, tried), SHORTEST_LIMIT)

    def found(self) -> MutantRuns:
        stopped_by = None
        ran_before = len(self.subject.ran)
        if self.mutants:
            try:
                with self.trials:
                    self._look()
            except (KeyboardInterrupt, SystemExit) as stop:
                stopped_by = exit_code_of(stop)
        answers = [
            self.answers.get(name, MutantResult(mutant, NOT_RUN, self.why_not)) for name, mutant in self.mutants.items()
        ]
        answers.sort(key=lambda answer: (ORDER.index(answer.word), answer.mutant.path, answer.mutant.line))
        trials, runs = self.trials, len(self.subject.ran) - ran_before
        return MutantRuns(
            answers, self.why, runs, trials.seconds, self.total, stopped_by=stopped_by, why_alone=trials.why_alone
        )

    def _look(self) -> None:
        trials = self.trials
        here = trials.as_it_is()
        trials.require_pass(here)
        trials.progress.text = f"running the tests {WITHOUT}"
        whole = trials.run(WITHOUT)
        if whole.result == "pass":
            self._give_up("no mutants here: the tests pass without the change, so that every mutant would live")
        elif whole.why_nothing:
            self._give_up(f"no mutants here: without the work {whole.why_nothing}")
        else:
            self._try_each(here)
        trials.finish()

    def _give_up(self, why: str) -> None:
        self.mutants = {}
        self.why = why

    def _try_each(self, here: CommandRun) -> None:
        trials = self.trials
        waiting = deque(list(self.mutants)[: min(MOST, trials.room)])
        chosen = len(waiting)
        if trials.is_time_up:
            waiting.clear()
        self._tell(waiting, chosen)
        for name, run in trials.each(waiting):
            mutant = self.mutants[name]
            self.answers[name] = _judged(mutant, run, here, trials.limit)
            if trials.is_time_up:
                waiting.clear()
            self._tell(waiting, chosen)
        self.why_not = TIME_IS_UP

    def _tell(self, waiting: Sequence[str], chosen: int) -> None:
        if waiting:
            lived = len([answer for answer in self.answers.values() if answer.word == LIVED])
            parts = [f"mutant {len(self.answers) + 1} of {chosen}"]
            if lived:
                parts.append(f"{lived} lived")
            self.trials.progress.text = ", ".join([*parts, self.trials.time_left(len(waiting))])


def _made(subject: Subject, work: ChangedWork) -> tuple[list[Mutant], str]:
    """Return the mutants of all changed lines of code, and why there are none of some files, or none at all."""

    def start(argv: Sequence[str], *, cwd: Path, stdin: bytes, variables: Mapping[str, str]) -> runner.CommandOutcome:
        return runner.run(
            argv,
            cwd=cwd,
            timeout=PARSER_SECONDS,
            output_limit=PARSER_OUTPUT,
            env={**subject.environ, **variables},
            stdin=stdin,
        )

    lines: dict[str, set[int]] = {}
    for hunk in work.hunks:
        if hunk.is_code and work.after[hunk.path].content is not None and hunk.last >= hunk.first:
            lines.setdefault(hunk.path, set()).update(range(hunk.first, hunk.last + 1))
    mutants: list[Mutant] = []
    reasons = []
    for path in sorted(lines):
        made = mutants_of(path, work.after[path].content or b"", lines[path], Tools(Path(subject.root), start))
        if isinstance(made, NoMutants):
            reasons.append(made.why)
        else:
            mutants += made
    if not lines:
        reasons = ["no mutants here: no line of code was added or changed"]
    elif not mutants and not reasons:
        reasons = ["no mutants here: the changed lines offer none"]
    return mutants, "; ".join(reasons)


def _name(mutant: Mutant) -> str:
    edit = mutant.edit
    return f"mutant {mutant.path}:{mutant.line} {edit.start}-{edit.end} {edit.text.decode('utf-8', 'replace')}"


def _arrangements(work: ChangedWork, mutants: Sequence[Mutant]) -> dict[str, Arrangement]:
    return {_name(mutant): {mutant.path: File(mutant.content, work.after[mutant.path].mode)} for mutant in mutants}


def _judged(mutant: Mutant, run: CommandRun, here: CommandRun, limit: float) -> MutantResult:
    if run.result == "pass":
        return MutantResult(mutant, LIVED, run.summary)
    if run.timed_out:
        # A mistake in a loop may run for ever; tests that take nearly so long by themselves say nothing.
        if here.seconds * FAR_BELOW <= limit:
            return MutantResult(mutant, KILLED, f"it was still running after {run.seconds:.0f} s")
        return MutantResult(mutant, CANNOT_TELL, "it took too long")
    if run.why_nothing:
        return MutantResult(mutant, CANNOT_TELL, run.why_nothing)
    if run.broke_before_tests and mutant.path.endswith(COMPILED):
        return MutantResult(mutant, CANNOT_TELL, f"it does not compile: {run.quoted}")
    return MutantResult(mutant, KILLED, run.summary)


def disagreements(lines: Json | None, mutants: Json | None) -> list[str]:
    """Say where reverting a hunk and mutants of its lines show different things: either alone is wrong at times.

    The arguments are the data of both halves, as `--json` prints them.
    """
    sentences = []
    for hunk in (lines or {}).get("hunks", ()):
        words = [
            row["word"]
            for row in (mutants or {}).get("mutants", ())
            if row["path"] == hunk["path"] and hunk["first"] <= row["line"] <= hunk["last"]
        ]
        killed, lived = words.count(KILLED), words.count(LIVED)
        if hunk["word"] == NOT_HELD and killed:
            dies = "mutant of it dies" if killed == 1 else "mutants of it die"
            sentences.append(f"{hunk['place']}: the tests pass without it, but {killed} {dies}")
        elif hunk["word"] == HELD and lived:
            lives = "mutant of it lives" if lived == 1 else "mutants of it live"
            sentences.append(f"{hunk['place']}: the tests fail without it, but {lived} {lives}")
    return sentences
