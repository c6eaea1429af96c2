"""One run of a command: what it is run with, what came out, and where that is kept, by the files it ran on.

Every run that omo makes of a gate or a check is read and kept the same way, so that one that was seen need not be made
again.
"""

from __future__ import annotations

import base64
import os
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from omo import masking, variables
from omo.digest import sha256
from omo.errors import OmoError
from omo.json_text import dumps, loads
from omo.proof import base, calls, git, installed, kinds, outputs, reading, runners, surefire
from omo.proof import run as runner
from omo.proof.outputs import Counts
from omo.proof.project_files import BaseFiles, commit_at
from omo.proof.swap_files import File
from omo.proof.typed_commands import command_id, typed
from omo.state import paths, store
from omo.state.journal import Journal
from omo.state.ledger_rows import GateResult
from omo.text import clip, listed

if TYPE_CHECKING:
    from omo.state.rows import Base


class Tried(GateResult):
    arrangement: str
    base: str  # by its id


Judge = Callable[[runner.CommandOutcome], tuple[str, str]]  # pass, fail or unknown, and why

WITHOUT, OLD_TESTS, AS_IT_IS = "without the work", "with the old tests", "as it is"
ALLOWED_BEFORE = "before the work, with what the user allowed"
ALL_OLD_TESTS = "with all old tests"  # also those that the user allowed to be changed
# With which files a run is made once more, where it says too little.
NEW_MANIFESTS = "with the old tests, manifests as they are"
NEW_DATA = "with the old tests, data as it is"
OLD_SETTINGS = "without the work, settings as they were"
SEARCHED = {"PYTHONPATH", "NODE_PATH"}
MOST_NAMED = 3
TAIL = 4000
LARGEST_NAMES = 8_000_000  # bytes of a row that is unpacked
SHORTEST_LIMIT = 60.0  # seconds that a run on other files may take, or ten times what it takes as it is
COULD_NOT_START = (126, 127)
ENDED_BY_OTHERS = (129, 130, 137, 143)  # hung up, interrupted, killed, told to end
KILLED = re.compile(r"\bKilled$|\bError 137$|\bSIGKILL\b", re.MULTILINE)


class GateCommand(Protocol):
    """What is run: a gate, or a check. `sealed` are globs of more files that it rests on."""

    @property
    def argv(self) -> Sequence[str]: ...
    @property
    def cwd(self) -> str: ...
    @property
    def sealed(self) -> Sequence[str]: ...
    @property
    def timeout(self) -> float: ...


class OtherFiles(Protocol):
    """Where other files stand than in the project as it is: swapped, or in a worktree."""

    def environment(self, environ: Mapping[str, str]) -> dict[str, str]: ...
    def group_started(self, pgid: int) -> None: ...


@dataclass(frozen=True)
class Plain:
    """A command of which no more is known."""

    argv: Sequence[str]
    cwd: str = "."
    sealed: Sequence[str] = ()
    timeout: float = 600.0


@dataclass(frozen=True)
class CommandRun(outputs.Printed):
    """One run of a command: the files it ran on, as one id, and what came out."""

    on_files: str
    result: str  # pass, fail or unknown
    why: str = ""  # it is unknown
    exit: int | None = None
    seconds: float = 0.0
    timed_out: bool = False
    tail: str = ""
    lacked: Sequence[str] = ()  # variables that it calls for, and that only whoever started omo has
    installed: Mapping[str, str] = field(default_factory=dict)  # programs that it has brought, by their digests
    ended_early: bool = False  # exit 0 before it counted its tests, as it does on other files

    @property
    def failure(self) -> str:
        """Why it does not pass, in words: one that could not be judged has not failed."""
        if self.result != "fail":
            return f"could not be judged: {clip(self.why, 120)}"
        said = self.not_here or self.said
        return f"fails ({'; '.join(filter(None, [said, self.not_handed_on]))})"

    @property
    def said(self) -> str:
        """What it printed where it failed; with its exit code where what failed was no test."""
        if self.counts is not None and not self.counts.failed and not self.failing:
            # Of a runner that broke before its tests the error says more than that there was none.
            return f"exit {self.exit}; {self.summary if self.counts.total else self.quoted}"
        return self.summary or f"exit {self.exit}"

    @property
    def not_handed_on(self) -> str:
        if not self.lacked:
            return ""
        said = f"not handed on to it: {listed(self.lacked, MOST_NAMED)}"
        plain = [name for name in self.lacked if not variables.is_secret(name)]  # what a gate says is kept
        return f"{said}; a gate that begins with env {plain[0]}=… gets it" if plain else said

    @property
    def why_nothing(self) -> str:
        """Why it shows nothing of the files, in words; empty where it does."""
        if self.result == "unknown":
            return f"nothing is shown: {self.why}"
        # tests/stories: "red by being killed". Not a crash, nor a program that only the work has: "red by a crash".
        is_ended = self.exit in ENDED_BY_OTHERS and self.counts is None  # else as many tests failed: mocha
        if is_ended or KILLED.search(self.tail):
            return "it was killed"
        return ""

    @property
    def could_not_be_built(self) -> bool:
        return self.result != "pass" and (self.broke_before_tests or self.result == "unknown")

    @property
    def ran_none(self) -> bool:
        """It broke before its tests. A file that cannot be loaded is one that failed, where the runner goes on with the
        others: "tests that cannot be loaded here, as before"."""
        has_passed = self.names_are_whole and self.counts is not None and self.counts.passed
        return self.broke_before_tests and not has_passed

    @property
    def last_line(self) -> str:
        return "".join(self.tail.rstrip().splitlines()[-1:])

    @property
    def reached(self) -> int:
        """How many tests there were, without the files that could not be loaded."""
        return self.counts.total - self.unreached if self.counts else 0

    @property
    def repeated(self) -> int:
        """How many failures have the name of another, as in two parts, or in two environments of tox."""
        return max(0, self.counts.failed - len(self.failing)) if self.counts else 0

    @property
    def summary(self) -> str:
        """What it printed, for a sentence: numbers where there are any, with the first names."""
        if self.counts is None:
            return self.quoted
        passed, failed, skipped = self.counts
        numbers = {"failed": failed, "passed": passed, "skipped": skipped}
        text = ", ".join(f"{number} {word}" for word, number in numbers.items() if number) or "no test"
        if self.failing:
            if not failed:  # a suite without tests, a file that cannot be loaded
                text += "; failed"
            text += f": {listed([clip(name, 80) for name in self.failing], MOST_NAMED)}"
        return text


@dataclass(frozen=True)
class Subject:
    """The files that are asked about: a base, what differs from it now, and what the user allowed to be changed.

    `environ` is the whole environment of the commands; `minutes` what the user lets the runs take, 0 for none at all.
    Without `makes` only what was seen counts.
    """

    root: str
    state: str
    began: Base
    look: base.Look
    environ: Mapping[str, str]
    now: float
    minutes: float = 10.0
    makes: bool = True
    remembers: bool = True  # not where somebody else's word is put to the test: no earlier run counts, none is kept
    allowed: Mapping[str, str] = field(default_factory=dict)
    allowed_tests: frozenset[str] = frozenset()  # as the user typed them: they may be gone, or fail as without the work
    by: str = "agent"
    have_tests: frozenset[str] = frozenset()  # of the changed files: a runner has named tests in them that fail
    left: Base | None = None  # with which work began before it that nobody called done
    before: dict[str, File] = field(default_factory=dict)  # what files held at the base, as far as somebody has asked
    ran: list[str] = field(default_factory=list)  # the commands that were run, as one types them
    _programs: dict[tuple[tuple[str, ...], str], list[calls.Call]] = field(default_factory=dict)

    def is_allowed(self, path: str) -> bool:
        """The user wants it changed, and it is as they saw it."""
        return path in self.allowed and (self.look.changed or {}).get(path) == self.allowed[path]

    @cached_property
    def files(self) -> BaseFiles:
        """As they were at the base."""
        return BaseFiles(self.root, self.state, self.began)

    def programs(self, command: GateCommand) -> list[calls.Call]:
        """What a command comes down to, by these files."""
        key = (tuple(command.argv), command.cwd)
        if key not in self._programs:
            self._programs[key] = calls.programs(self.files, command.argv, command.cwd)
        return self._programs[key]

    @cached_property
    def kinds(self) -> dict[object, kinds.Kinds]:
        """Of the changed files, by command."""
        return {}

    @cached_property
    def present(self) -> frozenset[str]:
        """The paths of the base."""
        head = self.began.get("head")
        return frozenset([*self.began["files"], *(commit_at(self.root, head).names if head else ())])

    @cached_property
    def read_by_tests(self) -> frozenset[str]:
        """The changed documents, data and examples that tests of the base name, programs by their module and directory:
        "the wrong result in a document that a test reads", "an example program that a test runs"."""
        head, plain = self.began.get("head"), kinds.Kinds(present=self.present)
        words = {}
        for path in self.look.changed or ():
            if plain.of(path) == kinds.NEITHER or kinds.is_plain_data(path):
                words[path] = _words_for(path)
        if not head or not words:
            return frozenset()
        asked = []
        for word in sorted(set().union(*words.values())):
            asked += ["-e", word]
        printed = git.run(self.root, "grep", "-z", "-o", "-w", "-F", "-I", *asked, head, "--").output
        named = set()
        for line in os.fsdecode(printed).split("\n"):
            place, _, word = line.partition("\0")
            if plain.is_test(place.partition(":")[2]):
                named.add(word)
        return frozenset(path for path, wanted in words.items() if wanted & named)

    @property
    def changed_documents_alone(self) -> bool:
        """And none that a test reads: then the project's tests have nothing to say."""
        changed, plain = self.look.changed, kinds.Kinds()
        if changed is None or any(plain.of(path) != kinds.NEITHER for path in changed):
            return False
        return not self.read_by_tests

    @cached_property
    def base_id(self) -> str:
        return _base_id(self.began)


def _words_for(path: str) -> set[str]:
    directory, _, name = path.rpartition("/")
    stem, ending = os.path.splitext(name)
    words = {name, f"*{ending}"}
    is_program = name.endswith(kinds.CODE) and not kinds.is_plain_data(path)
    if is_program and directory and not directory.startswith("."):
        words |= {stem, directory.partition("/")[0]}
    return words


def read_run(
    outcome: runner.CommandOutcome,
    on_files: str,
    shadows: Sequence[str] = (),
    judge: Judge | None = None,
    passed: Sequence[str] = (),
) -> CommandRun:
    """What a run that has ended shows; of its output only the end is kept, so it is read now, and then masked."""
    text = outcome.stdout + outcome.stderr
    # A file is told from a test by its name, where the project has a blank in its path: "node: an export renamed".
    relative = text.replace(f"{os.path.realpath(outcome.cwd)}/", "").replace(f"{outcome.cwd}/", "")
    printed = outputs.read_printed(relative, outcome.exit_code, passed)
    result, why = outputs.result_of(outcome, printed, shadows)
    if judge is not None and result != "unknown":
        result, why = judge(outcome)
    lacked = _lacked(text, printed, outcome.argv) if result == "fail" else []
    seconds = round(outcome.duration, 3)
    argv = outcome.argv
    shown = runners.without_passed(text)
    tail = masking.mask(outputs.COLOURS.sub("", shown[-8 * TAIL :])[-4 * TAIL :], argv)[-TAIL:]
    code = outcome.exit_code if outcome.signal is None else 128 + outcome.signal  # as a shell has it
    kept = vars(outputs.masked(printed, argv))
    return CommandRun(on_files, result, masking.mask(why, argv), code, seconds, outcome.timed_out, tail, lacked, **kept)


def _lacked(text: str, printed: outputs.Printed, argv: Sequence[str]) -> list[str]:
    """What was not handed on and its output names, or where a module would have been looked for that it misses; not
    what the command sets itself."""
    named = set(re.findall(r"[A-Z][A-Z0-9_]{3,}", text))
    if printed.missing:
        named |= SEARCHED
    known = {name: os.environ[name] for name in named if name in os.environ}
    has = {"CI", *runner.child_environment(known), *(word.partition("=")[0] for word in argv)}
    return sorted(name for name in known if name not in has)


def as_row(run: CommandRun) -> Any:
    """For a ledger, which knows the type of its rows. Names of tests are packed: unpacked, those of a thousand tests
    take ten times as much as all else."""
    return {**asdict(replace(run, ran={})), "ran": _packed(run.ran)}


def _packed(ran: Mapping[str, int]) -> str:
    return base64.b64encode(zlib.compress(dumps(dict(ran)).encode())).decode() if ran else ""


def _unpacked(packed: object) -> dict[str, int]:
    """Nothing, where it is not as it was packed: then numbers are compared."""
    if not packed or not isinstance(packed, str):
        return {}
    try:
        text = zlib.decompressobj().decompress(base64.b64decode(packed), LARGEST_NAMES).decode()
        ran: Any = loads(text)
    except (ValueError, zlib.error):
        return {}
    return ran if isinstance(ran, dict) else {}


def run_of(row: Mapping[str, Any]) -> CommandRun:
    """As a ledger has it."""
    values = {name: row[name] for name in CommandRun.__dataclass_fields__ if name in row}
    if values.get("counts") is not None:
        values["counts"] = Counts(*values["counts"])
    values["ran"] = _unpacked(values.get("ran"))
    return CommandRun(**{"on_files": "", "result": "unknown", **values})


def run_gate(
    subject: Subject,
    command: GateCommand,
    on_files: str = "",
    *,
    limit: float = 0.0,
    looks_for_shadows: bool = False,
    swapped: OtherFiles | None = None,
    judge: Judge | None = None,
) -> CommandRun:
    """Run it on the files as they are, or as they are swapped, and have the runner name what it runs where it would not
    by itself. `looks_for_shadows`: it counts for nothing where a file stands in the runner's
    place."""
    environ = dict(subject.environ)
    # With CI a runner writes no snapshots and asks nobody. Those that write none are not told of it: "half, the other
    # test is skipped where CI is set".
    if any(call.runner.writes_snapshots for call in subject.programs(command)):
        environ["CI"] = "1"
    if swapped is not None:
        environ = swapped.environment(environ)
    environ["PYTEST_ADDOPTS"] = f"{environ.get('PYTEST_ADDOPTS', '')} {outputs.PYTEST_ADDOPTS}".strip()
    argv = list(command.argv)
    asked = outputs.asking(argv)
    subject.ran.append(typed_in(argv, command.cwd))
    programs = installed.programs(subject.root)
    reports = None
    if any(call.program.startswith("mvn ") for call in subject.programs(command)):
        reports = surefire.Reports(os.path.join(subject.root, command.cwd))
    outcome = runner.run(
        asked,
        cwd=Path(subject.root, command.cwd),
        timeout=limit or command.timeout,
        env=environ,
        output_limit=outputs.ASKED_OUTPUT_LIMIT,
        started=swapped.group_started if swapped else None,
    )
    # What it was asked to print beside takes no room from what it prints by itself.
    passed, outcome = outputs.without_passed_names(outcome)
    if reports is not None:
        passed += reports.names_since()
    if asked == argv:
        outcome = runner.shortened(outcome)
    shadows: Sequence[str] = ()
    if looks_for_shadows:
        shadows = reading.shadows(subject.root, subject.began, command, subject.allowed)
    ran = read_run(outcome, on_files, shadows, judge, passed)
    return replace(ran, installed=installed.new_since(programs, subject.root))


def replaced_programs(subject: Subject, command: GateCommand) -> list[str]:
    """Return the programs that the command may start in the project's environment, and that were others when the run
    began: those that it comes down to, and what runs any other."""
    words = {command.argv[0], *(call.program.split()[0] for call in subject.programs(command))}
    names = {os.path.basename(word) for word in words}
    replaced = []
    for path in base.replaced_programs(subject.root, subject.state, subject.began):
        name = os.path.basename(path)
        if name in names or calls.INTERPRETER.fullmatch(name):
            replaced.append(path)
    return replaced


def has_installed(subject: Subject, command: GateCommand, program: str, seen: Sequence[Mapping[str, Any]] = ()) -> bool:
    """Return whether a run of the command itself has brought the program, as it is now: `uv run` does that, and the
    next run starts it. `seen` are rows of runs beside those of the experiment."""
    for row in (*seen, *_rows(subject, command)):
        if installed.is_one_of(program, subject.root, row.get("installed") or {}):
            return True
    return False


def typed_in(argv: Sequence[str], cwd: str) -> str:
    """Return the command as one types it, with the directory that it runs in where that is not the project's."""
    return typed(argv) if os.path.normpath(cwd) == "." else f"{typed(argv)} (in {cwd})"


def limit_of(command: GateCommand, runs: Sequence[CommandRun]) -> float:
    """How long it may run on other files than those of the runs that were seen."""
    longest = max((run.seconds for run in runs), default=0.0)
    return min(command.timeout, max(SHORTEST_LIMIT, 10 * longest)) if longest else command.timeout


# What was made before


def journal_of(state: str) -> Journal:
    return Journal(paths.proof_dir(state), state)


def environment_id(environ: Mapping[str, str]) -> str:
    """What a command is told of its surroundings; with another PATH, HOME or TZ it is another result."""
    told = sorted(f"{name}={value}" for name, value in environ.items())
    return sha256(store.encode("\0".join(told)))[:16]


def recorded(subject: Subject, command: GateCommand) -> list[CommandRun]:
    return [run_of(row) for row in _rows(subject, command)]


def tried(state: str, began: Base, argv: Sequence[str], cwd: str) -> dict[str, Tried]:
    """The last run of a command on each arrangement of the files of a base, for whoever looks at it afterwards."""
    wanted = (_base_id(began), command_id(argv, cwd))
    rows = journal_of(state).rows()
    return {str(row.get("arrangement")): row for row in rows if (row.get("base"), row.get("command")) == wanted}


def _base_id(began: Base) -> str:
    known = [began.get("head"), sorted(began["files"].items())]
    return sha256(store.encode(dumps(known)))[:16]


def runs_on_swapped_files(state: str) -> list[tuple[str, CommandRun]]:
    """Return all that were made in a project, each with the id of its command."""
    rows = journal_of(state).rows()
    return [(str(row.get("command")), run_of(row)) for row in rows if row.get("kind") == "tried"]


def failed_without(subject: Subject, command: GateCommand) -> bool:
    rows = _rows(subject, command)
    return any(row.get("arrangement") == WITHOUT and row.get("result") == "fail" for row in rows)


def _rows(subject: Subject, command: GateCommand) -> list[Tried]:
    """Return the runs on swapped files that were made for this base."""
    if not subject.remembers:
        return []
    rows = journal_of(subject.state).rows()
    wanted = (subject.base_id, command_id(command.argv, command.cwd), environment_id(subject.environ))
    return [row for row in rows if (row.get("base"), row.get("command"), row.get("env")) == wanted]


def record(subject: Subject, command: GateCommand, arrangement: str, run: CommandRun) -> None:
    if not subject.remembers:
        return
    row: Tried = as_row(run)
    row |= {"kind": "tried", "arrangement": arrangement, "base": subject.base_id}
    row |= {"command": command_id(command.argv, command.cwd), "env": environment_id(subject.environ)}
    append(subject, row)


def append(subject: Subject, row: Mapping[str, Any]) -> None:
    """Keep what was found. Where that cannot be, it is only made again."""
    journal = journal_of(subject.state)
    try:
        journal.change(lambda _: (None, [row]), actor=subject.by, now=subject.now, wait=store.CLI_WAIT)
    except OmoError:
        pass
