"""Which changed lines does no gate hold? The experiment hunk by hunk, for a person who reads the change.

The whole work is taken away first: where the gate passes without all of it, it holds none of it. Then one hunk at a
time is as it was before, the largest first. A gate that fails then notices the hunk; it need not check all that the
hunk does, so `held` is the most that can be said for it, and `not held` is sure.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from omo import masking, progress
from omo.errors import NotEvaluable
from omo.json_text import Json
from omo.proof import base, contents, gate_runs, swap
from omo.proof.arrangements import arrange
from omo.proof.gate_runs import WITHOUT, CommandRun, GateCommand, Subject
from omo.proof.hunks import Hunk, hunks_of
from omo.proof.swap_files import File
from omo.proof.typed_commands import typed
from omo.text import counted, listed

HELD, NOT_HELD, BUILD, NOT_LOOKED_AT = WORDS = ("held", "not held", "only breaks the build", "not looked at")
NO_CODE = "comments or blanks"
TIME_IS_UP = "the time was up"
HALF = "half a change: what fails so passes without the work too"
WHATEVER = "the gate passes whatever stands in this file"
NO_LANGUAGE = b")(\n"  # no compiler and no interpreter takes it
ALL_BROKEN = "with every changed file broken"
KIND = "lines"
MOST_KEPT = 300  # hunks that a ledger row names
MOST_LINES = 40  # of one of them


@dataclass(frozen=True)
class HunkResult:
    """What the gate says of one hunk. `why` is what it printed, or why there is no more to say."""

    hunk: Hunk
    word: str
    why: str = ""

    @property
    def data(self) -> Json:
        hunk = self.hunk
        row: Json = {"path": hunk.path, "first": hunk.first, "last": hunk.last, "place": hunk.place, "word": self.word}
        return row | {"why": self.why, "before": hunk.before[:MOST_LINES], "after": hunk.after[:MOST_LINES]}


@dataclass(frozen=True)
class HeldLines:
    """Of every hunk, the lines that nothing holds first. `whole` is the run without the work."""

    since: str
    command: str
    answers: Sequence[HunkResult]
    whole: CommandRun | None
    runs: int
    seconds: float
    in_runs: float  # of these seconds, while the gate was at work
    files: Mapping[str, str] = field(default_factory=dict)  # what was looked at, by digests

    def count(self, word: str) -> int:
        return len([answer for answer in self.answers if answer.word == word])

    @property
    def sentence(self) -> str:
        if not self.answers:
            return "Nothing that the gate runs on was changed."
        counts = [f"{self.count(word)} {word}" for word in WORDS if self.count(word)]
        sentence = f"{counted(len(self.answers), 'hunk')}: {', '.join(counts)}."
        if self.whole is not None and self.whole.result == "pass":
            return f"The gate passes without all of it: it holds nothing of this change. {sentence}"
        return sentence

    @property
    def data(self) -> Json:
        return {
            "since": self.since,
            "command": self.command,
            "holds_nothing": self.whole is not None and self.whole.result == "pass",
            "counts": {word: self.count(word) for word in WORDS},
            "hunks": [answer.data for answer in self.answers],
            "runs": self.runs,
            "seconds": round(self.seconds, 1),
            "seconds_of_the_gate": round(self.in_runs, 1),
            "text": self.sentence,
        }


def find(subject: Subject, command: GateCommand, seconds: float) -> HeldLines:
    """Raises NotEvaluable where the gate cannot say anything of these files; they are as they were then too."""
    return _Look(subject, command, seconds).answers()


class _Look:
    """One look: the arrangements that are needed, the runs, and what they say."""

    def __init__(self, subject: Subject, command: GateCommand, seconds: float) -> None:
        arranged = arrange(subject, command)
        without = {} if arranged.data else arranged.files[WITHOUT]
        self.subject = subject
        self.command = command
        self.after = {path: contents.now(subject.root, path) for path in without}
        self.hunks: list[Hunk] = []
        for path, file in self.after.items():
            self.hunks += hunks_of(path, without[path], file)
        self.hunks.sort(key=lambda hunk: hunk.size, reverse=True)
        self.began = time.monotonic()
        self.seconds = seconds
        self.runs: list[CommandRun] = []
        self.unread: dict[str, bool] = {}  # by file: the gate passes whatever stands in it
        broken = {path: File(NO_LANGUAGE, file.mode) for path, file in self.after.items() if file.content is not None}
        self.arrangements: dict[str, Mapping[str, File]] = {WITHOUT: without, ALL_BROKEN: broken}
        for hunk in self.hunks:
            self.arrangements[hunk.place] = {hunk.path: hunk.reverted}
        for path, file in broken.items():
            self.arrangements[_broken(path)] = {path: file}

    def answers(self) -> HeldLines:
        found = [HunkResult(hunk, NOT_LOOKED_AT, NO_CODE) for hunk in self.hunks if not hunk.is_code]
        coded = [hunk for hunk in self.hunks if hunk.is_code]
        whole = None
        if coded:
            self._require_pass(self._as_it_is(), "it does not pass as it is")
            whole, looked_at = self._with_swapped_files(coded)
            found = [*looked_at, *found]
            self._require_pass(self._as_it_is(), "it passed first, and does not now, on the same files")
            self._require_same()
        order = (NOT_HELD, BUILD, HELD, NOT_LOOKED_AT)
        found.sort(key=lambda answer: (order.index(answer.word), answer.hunk.path, answer.hunk.first))
        head = str(self.subject.began.get("head"))
        digests = {path: base.digest_of(self.subject.root, path) for path in self.after}
        took = time.monotonic() - self.began
        in_runs = sum(run.seconds for run in self.runs)
        return HeldLines(head, typed(self.command.argv), found, whole, len(self.runs), took, in_runs, digests)

    def _with_swapped_files(self, hunks: Sequence[Hunk]) -> tuple[CommandRun, list[HunkResult]]:
        subject = self.subject
        with swap.Swap(subject.root, subject.state, self.arrangements, base.Untracked(subject.root)) as swapped:
            whole = self._swapped(swapped, WITHOUT)
            if whole.result == "pass":
                if self.arrangements[ALL_BROKEN]:
                    self._require_read(self._swapped(swapped, ALL_BROKEN))
                return whole, [HunkResult(hunk, NOT_HELD, "it passes without all of the work") for hunk in hunks]
            if whole.why_nothing:
                raise NotEvaluable(f"without the work {whole.why_nothing}")
            found: list[HunkResult] = []
            for number, hunk in enumerate(hunks, start=1):
                not_held = len([answer for answer in found if answer.word == NOT_HELD])
                which = f"without hunk {number} of {len(hunks)}" + (f", {not_held} not held" if not_held else "")
                found.append(self._answer(swapped, hunk, whole, which))
            return whole, found

    def _answer(self, swapped: swap.Swap, hunk: Hunk, whole: CommandRun, which: str) -> HunkResult:
        if self.unread.get(hunk.path):
            return HunkResult(hunk, NOT_HELD, WHATEVER)
        if self._is_time_up():
            return HunkResult(hunk, NOT_LOOKED_AT, TIME_IS_UP)
        answer = _judged(hunk, self._swapped(swapped, hunk.place, f"{which} ({hunk.place})"), whole)
        if answer.word != NOT_HELD or hunk.path in self.unread or self._is_time_up():
            return answer
        name = _broken(hunk.path)
        self.unread[hunk.path] = name in self.arrangements and self._swapped(swapped, name).result == "pass"
        return HunkResult(hunk, NOT_HELD, WHATEVER) if self.unread[hunk.path] else answer

    def _swapped(self, swapped: swap.Swap, name: str, doing: str = "") -> CommandRun:
        """One run on other files, which are put back and compared with what they were."""
        swapped.put(name)
        run = self._run(doing or name, swapped)
        swapped.put_back()
        if swapped.moved or swapped.kept or swapped.deleted or swapped.unmoved:
            names = [*(kept.path for kept in swapped.kept), *swapped.deleted]
            changed = swapped.moved or swapped.unmoved or f"{listed(names)} changed while files were swapped"
            kept = [f"{kept.path} is kept as {kept.kept_as}" for kept in swapped.kept]
            raise NotEvaluable("; ".join([changed, *kept]), fix="try again")
        self._require_same()
        return run

    def _as_it_is(self) -> CommandRun:
        return self._run("")

    def _run(self, doing: str, swapped: swap.Swap | None = None) -> CommandRun:
        limit = gate_runs.limit_of(self.command, self.runs)
        with progress.doing(f"running the tests {doing}".strip()):
            self.runs.append(gate_runs.run_gate(self.subject, self.command, limit=limit, swapped=swapped))
        return self.runs[-1]

    def _is_time_up(self) -> bool:
        """One more run and the last would go over it."""
        longest = max(run.seconds for run in self.runs)
        return time.monotonic() - self.began + 2 * longest > self.seconds

    def _require_pass(self, run: CommandRun, otherwise: str) -> None:
        if run.result != "pass":
            fix = "a command that passes, and does so every time: omo proof -- COMMAND"
            if argv := gate_runs.started_otherwise(self.command, run, self.subject.root):
                fix = f"omo proof -- {typed(argv)}"
            raise NotEvaluable(f"{typed(self.command.argv)}: {otherwise}: it {run.failure}", fix=fix)

    def _require_read(self, broken: CommandRun) -> None:
        if broken.result == "pass":
            names = listed(sorted(path for path, file in self.after.items() if file.content is not None), 4)
            raise NotEvaluable(
                f"{typed(self.command.argv)} passes whatever stands in {names}: it runs another copy, or none of it",
                fix="install this copy (pip install -e .), or name a command that runs it: omo proof -- COMMAND",
            )

    def _require_same(self) -> None:
        for path, file in self.after.items():
            if contents.now(self.subject.root, path) != file:
                raise NotEvaluable(f"{path} was changed meanwhile", fix="try again when nobody writes to it")


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


def keep(subject: Subject, found: HeldLines) -> None:
    data = found.data
    row: Json = {
        "kind": KIND,
        **data,
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
