"""Find changed lines that no test checks, by reverting each hunk and running the tests.

The whole work is reverted first: if the tests pass without it, they check none of it. Then one hunk at a time is as it
was before, the largest first. Tests that fail then notice the hunk; they need not check all that it does, so `held` is
the most that can be said for it, and `not held` is sure.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from omo import masking
from omo.errors import NotEvaluable
from omo.json_text import Json
from omo.proof import base, gate_runs
from omo.proof.gate_runs import WITHOUT, CommandRun, GateCommand, Subject
from omo.proof.hunks import Hunk
from omo.proof.swap_files import Arrangement
from omo.proof.trials import (
    ALL_BROKEN,
    STOPPED,
    TIME_IS_UP,
    ChangedWork,
    Options,
    Trials,
    changed_work,
    exit_code_of,
)
from omo.proof.typed_commands import typed
from omo.text import counted, listed

HELD, NOT_HELD, BUILD, NOT_LOOKED_AT = WORDS = ("held", "not held", "only breaks the build", "not looked at")
ORDER = (NOT_HELD, BUILD, HELD, NOT_LOOKED_AT)  # as they are told
NO_CODE = "comments or blanks"
HALF = "half a change: what fails so passes without the work too"
WHATEVER = "the gate passes whatever stands in this file"
ALL_PASS = "it passes without all of the work"
KIND = "lines"
MOST_KEPT = 300  # hunks that a ledger row names
MOST_LINES = 40  # of one of them


@dataclass(frozen=True)
class HunkResult:
    """What the tests say of one hunk. `why` is what they printed, or why there is no more to say."""

    hunk: Hunk
    word: str
    why: str = ""

    @property
    def data(self) -> Json:
        hunk = self.hunk
        row: Json = {"path": hunk.path, "first": hunk.first, "last": hunk.last, "place": hunk.place, "word": self.word}
        return row | {"why": self.why, "before": hunk.before[:MOST_LINES], "after": hunk.after[:MOST_LINES]}


@dataclass(frozen=True)
class UncheckedLines:
    """Of every hunk of a shard what the tests say, the lines that nothing checks first.

    `as_it_is` and `whole` are the runs with all of the work and without any of it. `stopped_by` is the exit code for
    the signal that ended the look, after Ctrl-C 130.
    """

    since: str
    command: str
    answers: Sequence[HunkResult]
    runs: int
    seconds: float
    in_runs: float  # of these seconds, while the tests were at work
    as_it_is: CommandRun | None = None
    whole: CommandRun | None = None
    total: int = 0  # hunks of all shards
    stopped_by: int | None = None
    why_alone: str | None = None  # why not as many runs at once as were asked for
    files: Mapping[str, str] = field(default_factory=dict)  # what was looked at, by digests

    def count(self, word: str) -> int:
        return len([answer for answer in self.answers if answer.word == word])

    @property
    def is_whole(self) -> bool:
        """Return whether every hunk got its answer, as far as the tests can give one."""
        return self.stopped_by is None and not any(answer.why in (STOPPED, TIME_IS_UP) for answer in self.answers)

    @property
    def sentence(self) -> str:
        counts = {word: self.count(word) for word in WORDS}
        checks_nothing = self.whole is not None and self.whole.result == "pass"
        return sentence_of(counts, is_whole=self.is_whole, checks_nothing=checks_nothing)

    @property
    def data(self) -> Json:
        return {
            "command": self.command,
            "counts": {word: self.count(word) for word in WORDS},
            "of": self.total,
            "text": self.sentence,
            "checks_nothing": self.whole is not None and self.whole.result == "pass",
            "is_whole": self.is_whole,
            "runs": self.runs,
            "seconds": round(self.seconds, 1),
            "notes": [f"one run at a time: {self.why_alone}"] if self.why_alone else [],
            "hunks": [answer.data for answer in self.answers],
        }


def sentence_of(counts: Mapping[str, int], *, is_whole: bool, checks_nothing: bool) -> str:
    total = sum(counts.values())
    if not total:
        return "Nothing that the gate runs on was changed."
    sentence = f"{counted(total, 'hunk')}: {', '.join(f'{counts[word]} {word}' for word in WORDS if counts[word])}."
    if checks_nothing:
        return f"The gate passes without all of it: it holds nothing of this change. {sentence}"
    return sentence if is_whole else f"Not all was looked at. {sentence}"


def find(subject: Subject, command: GateCommand, options: Options) -> UncheckedLines:
    """Raises NotEvaluable if the tests cannot say anything of these files, which are as they were then too."""
    return _Look(subject, command, options).found()


class _Look:
    """One look at the hunks of a shard, and what is known of them so far."""

    def __init__(self, subject: Subject, command: GateCommand, options: Options) -> None:
        self.subject = subject
        self.command = command
        self.work = changed_work(subject, command)
        hunks = sorted(self.work.hunks, key=lambda hunk: hunk.size, reverse=True)
        self.hunks = options.part_of(hunks, lambda hunk: hunk.place)
        self.coded = {hunk.place: hunk for hunk in self.hunks if hunk.is_code}
        self.answers: dict[str, HunkResult] = {}
        self.whole: CommandRun | None = None
        self.why_not = STOPPED  # of a hunk without an answer
        self.trials = Trials(subject, command, options, self.work, _arrangements(self.work))

    def found(self) -> UncheckedLines:
        stopped_by = None
        ran_before = len(self.subject.ran)
        if self.coded:
            try:
                with self.trials:
                    self._look()
            except (KeyboardInterrupt, SystemExit) as stop:
                stopped_by = exit_code_of(stop)
        answers = []
        for hunk in self.hunks:
            otherwise = HunkResult(hunk, NOT_LOOKED_AT, self.why_not if hunk.is_code else NO_CODE)
            answers.append(self.answers.get(hunk.place, otherwise))
        answers.sort(key=lambda answer: (ORDER.index(answer.word), answer.hunk.path, answer.hunk.first))
        trials, root = self.trials, self.subject.root
        return UncheckedLines(
            since=str(self.subject.began.get("head")),
            command=typed(self.command.argv),
            answers=answers,
            runs=len(self.subject.ran) - ran_before,
            seconds=trials.seconds,
            in_runs=sum(run.seconds for run in trials.made),
            as_it_is=trials.seen,
            whole=self.whole,
            total=len(self.work.hunks),
            stopped_by=stopped_by,
            why_alone=trials.why_alone,
            files={path: base.digest_of(root, path) for path in self.work.after},
        )

    def _look(self) -> None:
        trials = self.trials
        trials.require_pass(trials.as_it_is())
        trials.progress.text = f"running the tests {WITHOUT}"
        self.whole = trials.run(WITHOUT)
        if self.whole.result == "pass":
            self._require_read()
            for hunk in self.coded.values():
                self.answers[hunk.place] = HunkResult(hunk, NOT_HELD, ALL_PASS)
        elif self.whole.why_nothing:
            raise NotEvaluable(f"without the work {self.whole.why_nothing}")
        else:
            self._try_each(self.whole)
        trials.finish()

    def _try_each(self, whole: CommandRun) -> None:
        """Revert one hunk after another. If the tests pass without one, see whether they read its file at all."""
        trials = self.trials
        broken = {_broken(path): path for path in self.work.broken}
        asked: set[str] = set()
        waiting = deque(self.coded)
        self._tell(waiting)
        if trials.is_time_up:
            waiting.clear()
        for name, run in trials.each(waiting):
            if name in broken:
                if run.result == "pass":
                    self._note_unread(broken[name], waiting)
            else:
                answer = _judged(self.coded[name], run, whole)
                self.answers[name] = answer
                path = answer.hunk.path
                if answer.word == NOT_HELD and path not in asked and path in self.work.broken:
                    asked.add(path)
                    waiting.appendleft(_broken(path))
            if trials.is_time_up:
                waiting.clear()
            self._tell(waiting)
        self.why_not = TIME_IS_UP

    def _note_unread(self, path: str, waiting: deque[str]) -> None:
        """Answer for every hunk of a file of which the tests take no notice."""
        for hunk in self.coded.values():
            is_answered = hunk.place in self.answers and self.answers[hunk.place].word != NOT_HELD
            if hunk.path == path and not is_answered:
                self.answers[hunk.place] = HunkResult(hunk, NOT_HELD, WHATEVER)
                if hunk.place in waiting:
                    waiting.remove(hunk.place)

    def _tell(self, waiting: Sequence[str]) -> None:
        if not waiting:
            return
        unchecked = len([answer for answer in self.answers.values() if answer.word == NOT_HELD])
        parts = [f"hunk {min(len(self.answers) + 1, len(self.coded))} of {len(self.coded)}"]
        if unchecked:
            parts.append(f"{unchecked} not held")
        self.trials.progress.text = ", ".join([*parts, self.trials.time_left(len(waiting))]) + f" ({waiting[0]})"

    def _require_read(self) -> None:
        if self.work.broken and self.trials.run(ALL_BROKEN).result == "pass":
            names = listed(sorted(self.work.broken), 4)
            raise NotEvaluable(
                f"{typed(self.command.argv)} passes whatever stands in {names}: it runs another copy, or none of it",
                fix="install this copy (pip install -e .), or name a command that runs it: omo proof -- COMMAND",
            )


def _arrangements(work: ChangedWork) -> dict[str, Arrangement]:
    arrangements: dict[str, Arrangement] = {hunk.place: {hunk.path: hunk.reverted} for hunk in work.hunks}
    for path, file in work.broken.items():
        arrangements[_broken(path)] = {path: file}
    return arrangements


def _broken(path: str) -> str:
    return f"with {path} broken"


def _judged(hunk: Hunk, run: CommandRun, whole: CommandRun) -> HunkResult:
    if run.result == "pass":
        return HunkResult(hunk, NOT_HELD, run.summary)
    if run.why_nothing:
        return HunkResult(hunk, NOT_LOOKED_AT, run.why_nothing)
    if run.broke_before_tests:
        return HunkResult(hunk, BUILD, run.quoted)
    # Where half a change does not fit together, tests fail that nothing of this change is needed for.
    are_named = run.names_are_whole and whole.names_are_whole and not whole.broke_before_tests
    if are_named and not any(name.startswith(tuple(whole.failing)) for name in run.failing):
        return HunkResult(hunk, BUILD, HALF)
    return HunkResult(hunk, HELD, run.summary)


# What was found is kept for the report, and counts while the files are the same.


def keep(subject: Subject, found: UncheckedLines) -> None:
    data = found.data
    row: Json = {
        "kind": KIND,
        **data,
        "since": found.since,
        "command": masking.mask(found.command),
        "hunks": data["hunks"][:MOST_KEPT],
        "files": dict(found.files),
    }
    gate_runs.append(subject, row)


@dataclass(frozen=True)
class Told:
    """One hunk of an earlier look: its place, the word, why, and its lines, each with a sign in front."""

    place: str
    word: str
    why: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class EarlierLook:
    """An earlier look at the files as they still are."""

    command: str
    since: str
    text: str
    paths: frozenset[str]
    hunks: tuple[Told, ...]

    @property
    def not_held(self) -> list[Told]:
        return [told for told in self.hunks if told.word == NOT_HELD]


def earlier(state: str, root: str) -> EarlierLook | None:
    """The last look, if the files are the same; none too where the ledger is not as omo wrote it."""
    rows, problems = gate_runs.journal_of(state).read()
    looks = [] if problems else [row for row in rows if row.get("kind") == KIND]
    if not looks:
        return None
    row = looks[-1]
    try:
        for path, digest in row["files"].items():
            if base.digest_of(root, path) != digest:
                return None
        hunks = []
        for hunk in row["hunks"]:
            lines = [*(f"- {line}" for line in hunk["before"]), *(f"+ {line}" for line in hunk["after"])]
            hunks.append(Told(str(hunk["place"]), str(hunk["word"]), str(hunk["why"]), tuple(lines)))
        told = str(row["text"])
        return EarlierLook(str(row["command"]), str(row["since"]), told, frozenset(row["files"]), tuple(hunks))
    except (KeyError, TypeError, AttributeError):
        return None
