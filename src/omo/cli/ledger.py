"""`omo ledger`: show one ledger, check the chains of all, seal a damaged one."""

from __future__ import annotations

import argparse
import json
import os
import select
import sys
import time
from dataclasses import dataclass
from typing import Any

from omo.cli import options
from omo.cli.result import Result
from omo.context import Context, Meant
from omo.errors import BadInput, Refused, Unreadable
from omo.json_text import loads
from omo.safe_open import regular_file
from omo.state import ledger, paths, runtime, store
from omo.state.journal import Journal
from omo.text import clip, counted

Row = dict[str, Any]
Problems = dict[str, list[str]]

SHARED = ("evidence", "verify/pins", "verify/goals", "verify/claims", "commands")
RUNS = {"ultraplan": "plans", "ralph": "ralph"}  # each run below these directories keeps a ledger of its own
POLL_SECONDS = 0.5
LONGEST_LINE = 200
# Part of the chain, or said first, or too long to read on a line: --json has them.
NOT_AMONG_THE_REST = ("seq", "ts", "kind", "actor", "prev", "after", "tail", "message")
ANEW = "the rows above are no longer there: the ledger begins anew"
NO_ROW = "is not a row"
UNCHAINED = "does not follow the row before it"
WHOLE = "Every row is there and unchanged."
END_UNKNOWN = "whole, end unknown"  # no row of the session says any more where it ends


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "ledger", "a session's ledger: show, verify, repair")
    show_parser = options.command(verbs, "show", "the rows of one ledger, oldest first; times are UTC", show)
    of = "session (default), goal, ultragoal, evidence, or another that omo ledger verify lists"
    show_parser.add_argument("--of", default="session", metavar="LEDGER", help=of)
    follow_help = "go on with new rows as they come; with --json one object a line"
    show_parser.add_argument("--follow", "-f", action="store_true", help=follow_help)
    about = "is every row of every ledger there and unchanged, the session's and the project's"
    verify_parser = options.command(verbs, "verify", about, verify)
    verify_parser.add_argument("--all", action="store_true", help="of every session of the project")
    options.command(verbs, "repair", "keep a damaged ledger aside and start a new one", repair)


def _own_paths(state: str, session: str) -> dict[str, str]:
    """The ledgers of one session by name, whether they are there or not."""
    return {
        "session": paths.events_file(state, session),
        "goal": os.path.join(paths.goal_dir(state, session), "ledger.jsonl"),
        "ultragoal": os.path.join(paths.ultragoal_dir(state, session), "ledger.jsonl"),
    }


def _shared_paths(state: str) -> dict[str, str]:
    """Those that all sessions share, and those of every run, as far as there are any."""
    names = [*SHARED]
    for directory in RUNS.values():
        try:
            runs = sorted(os.listdir(os.path.join(state, directory)))
        except (FileNotFoundError, NotADirectoryError):
            continue
        names += [f"{directory}/{run}" for run in runs]
    return {name: _shared_path(state, name) for name in names if os.path.isdir(os.path.join(state, name))}


def _shared_path(state: str, name: str) -> str:
    return os.path.join(state, name, "ledger.jsonl")


def _looked_at(arguments: argparse.Namespace, context: Context) -> Meant:
    """No session where none is known: what the project shares can be looked at without one."""
    if not arguments.session and not context.named_session and not context.known_sessions():
        return Meant("")
    return context.looked_at(arguments.session)


def show(arguments: argparse.Namespace, context: Context) -> Result:
    meant = _looked_at(arguments, context)
    path = _chosen_path(context.state, meant.name, arguments.of)
    tail = Tail(path)
    if arguments.follow:
        for note in meant.notes:
            print(f"omo: {note}", file=sys.stderr)
        while True:  # until somebody interrupts it, or nobody reads it any more
            for line in tail.look():
                print(json.dumps(line.data) if arguments.json else line.text, flush=True)
            _pause()
    lines = tail.look()
    try:
        if arguments.of == "session":
            problems = _session_problems(context, meant.name)
        else:
            problems = Journal(os.path.dirname(path), context.state).problems()
    except Unreadable as error:
        problems = [error.message]
    text = [line.text for line in lines] + [f"! {clip(problem, 300)}" for problem in problems]
    rows = [line.data for line in lines]
    data = {"session": meant.name or None, "ledger": arguments.of, "rows": rows, "problems": problems}
    return Result(data, "\n".join(text) or "No rows.", 3 if problems else 0, meant.notes)


def _chosen_path(state: str, session: str, of: str) -> str:
    """What `--of` names. A name that is none of these is refused: it would be a path of the caller's making."""
    own = _own_paths(state, session)
    if of in own:
        return own[of]
    if of in SHARED or of in _shared_paths(state):
        return _shared_path(state, of)
    known = ", ".join([*own, *SHARED])
    raise BadInput(f"--of {clip(of, 60)!r}: there is no such ledger", fix=f"one of {known}; or plans/RUN, ralph/RUN")


@dataclass(frozen=True)
class Line:
    """One line of a ledger. `row` is None where it is no row; number 0 is none of them and speaks of the whole."""

    number: int
    row: Row | None
    problem: str = ""

    @property
    def marked(self) -> str:
        return f"line {self.number} {self.problem}" if self.number else self.problem

    @property
    def data(self) -> Row:
        """The row as it was written, and what is wrong with it where something is; our key wins over the row's."""
        if not self.problem:
            return self.row or {}
        return {**(self.row or {}), "problem": self.marked}

    @property
    def text(self) -> str:
        """Time, kind, actor and the rest on one line; a row that does not chain begins with what is wrong."""
        words = [f"! {self.marked}"] if self.problem else []
        row = self.row
        if row is not None:
            words += [str(row.get(key, "-")) for key in ("ts", "kind", "actor")]
            for key, value in row.items():
                if key in NOT_AMONG_THE_REST:
                    continue
                if not isinstance(value, str) or " " in value:
                    value = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
                words.append(f"{key}={value}")
        return clip(" ".join(words), LONGEST_LINE)


class Tail:
    """A ledger as it grows. Reads whole lines only: one without its end is still being written."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._file: tuple[int, int] | None = None
        self._begin()

    def _begin(self) -> None:
        self._offset = self._number = self._seq = 0
        self._digest = ledger.START

    def look(self) -> list[Line]:
        """The lines that came since the last look, from the first again where the file is another one."""
        lines = []
        appended = b""
        try:
            with open(self._path, "rb", opener=regular_file) as file:
                status = os.fstat(file.fileno())
                is_another = (status.st_dev, status.st_ino) != self._file or status.st_size < self._offset
                self._file = (status.st_dev, status.st_ino)
                file.seek(0 if is_another else self._offset)
                appended = file.read()
        except (FileNotFoundError, NotADirectoryError):
            is_another = True
        except OSError as error:
            why = f"{self._path} cannot be read: {error.strerror}"
            raise Unreadable(why, fix="omo ledger verify", path=self._path) from None
        if is_another and self._number:
            self._begin()
            lines.append(Line(0, None, ANEW))
        for line in appended.split(b"\n")[:-1]:
            lines.append(self._next(line))
        return lines

    def _next(self, line: bytes) -> Line:
        problem = ""
        seq = self._seq + 1
        try:
            row = loads(line.decode("utf-8"))
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            row, problem = None, NO_ROW
        else:
            if row.get("seq") != seq or row.get("prev") != self._digest:
                problem = UNCHAINED
            if isinstance(row.get("seq"), int):
                seq = row["seq"]
        self._seq, self._digest = seq, ledger.digest_of(line)
        self._number += 1
        self._offset += len(line) + 1
        return Line(self._number, row, problem)


def _pause() -> None:
    """Ends early, and for good, when whoever reads our output has gone: else we would notice at the next row only."""
    try:
        poller = select.poll()
        poller.register(sys.stdout.fileno(), 0)
    except (AttributeError, OSError, ValueError):
        time.sleep(POLL_SECONDS)
        return
    if poller.poll(POLL_SECONDS * 1000):
        raise BrokenPipeError


@dataclass(frozen=True)
class Checked:
    """One ledger and what is wrong with it. Without a path it is what a workflow finds in the run of a session."""

    name: str
    problems: list[str]
    path: str = ""
    session: str | None = None
    note: str = ""

    @property
    def rows(self) -> int | None:
        """None where there is no such file."""
        try:
            with open(self.path, "rb", opener=regular_file) as file:
                return sum(line.endswith(b"\n") for line in file)
        except OSError:
            return None

    @property
    def data(self) -> Row:
        return {
            "ledger": self.name,
            "session": self.session,
            "path": self.path,
            "rows": self.rows or 0,
            "whole": not self.problems,
            "problems": self.problems,
            "note": "" if self.problems else self.note,
        }

    @property
    def line(self) -> str:
        """Its name, how many rows, whether whole, where."""
        name = f"{self.name} of {self.session}" if self.session else self.name
        state = "damaged" if self.problems else self.note or "whole"
        # Control characters, those that reorder text, and halves of characters, as JSON writes them.
        path = "".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in self.path)
        return f"{clip(name, 80):48} {counted(self.rows or 0, 'row'):>10}  {state:18}  {path}"


def verify(arguments: argparse.Namespace, context: Context) -> Result:
    """Of one session, or of all, and once of what they share."""
    meant = Meant("") if arguments.all else _looked_at(arguments, context)
    sessions = [meant.name] if meant.name else context.known_sessions()
    own = {name: _check_session(context, name, is_listed=not meant.name) for name in sessions}
    shared = _check_shared(context, sessions)
    problems, ledgers = [], []
    named: set[str] = set()  # runs of which the workflow has said the same already
    for name, checked_of_session in own.items():
        lead = "" if meant.name else f"{name}: "
        for checked in checked_of_session:
            ledgers.append(checked)
            problems += [f"{lead}{checked.name}: {problem}" for problem in checked.problems]
            if checked.name in RUNS:
                named.update(f"{RUNS[checked.name]}/{problem.partition(':')[0]}" for problem in checked.problems)
    for checked in shared:
        ledgers.append(checked)
        if checked.name not in named:
            problems += [f"{checked.name}: {problem}" for problem in checked.problems]
    there = [checked for checked in ledgers if checked.path and (checked.rows is not None or checked.problems)]
    data: Row = {"session": meant.name or None, "problems": problems, "files": [checked.data for checked in there]}
    if meant.name:
        data["ledgers"] = {checked.name: checked.problems for checked in ledgers}
    else:
        data["ledgers"] = {checked.name: checked.problems for checked in shared}
        data["sessions"] = {}
        for name, checked_of_session in own.items():
            data["sessions"][name] = {checked.name: checked.problems for checked in checked_of_session}
    lines = [checked.line for checked in there]
    lines += [clip(problem, 400) for problem in problems] or [WHOLE]
    return Result(data, "\n".join(lines), 3 if problems else 0, meant.notes)


def _check_session(context: Context, name: str, *, is_listed: bool) -> list[Checked]:
    """The chains of a session's ledgers, and what each workflow finds in its own."""
    from omo.views import works
    from omo.work.viewer import Viewer
    from omo.workflows.ultragoal import receipts
    from omo.workflows.ultragoal.run import PlanRun

    if is_listed:
        of_session = _session_problems(context, name)
    else:
        of_session = runtime.ledger_problems(context.state, name)
    viewer = Viewer(context, name, context.row(name) or {})
    goals = PlanRun(viewer.caller)
    of_goals = list(goals.problems)
    if goals.plan is not None and not of_goals:
        edited = goals.edited_view()
        of_goals = [edited] if edited else receipts.forged(goals.plan, goals.directory)
    own = _own_paths(context.state, name)
    note = END_UNKNOWN if context.row(name) is None else ""
    checked = [
        Checked("session", of_session, own["session"], name, note),
        Checked("goal", goals.tool.problems, own["goal"], name),
        Checked("ultragoal", of_goals, own["ultragoal"], name),
    ]
    for kind in RUNS:
        problems = []
        if works.may_have(kind, viewer) and (status := works.look_at(kind, viewer)):
            problems = [f"{status.run}: {problem}" for problem in status.problems]
        checked.append(Checked(kind, problems))
    return checked


def _session_problems(context: Context, name: str) -> list[str]:
    """Rows of the runtime file are forgotten after two weeks, and with them where the ledger ends."""
    if context.row(name) is None:
        return ledger.read_checked(paths.events_file(context.state, name)).problems
    return runtime.ledger_problems(context.state, name)


def _check_shared(context: Context, sessions: list[str]) -> list[Checked]:
    """The ledgers that belong to the project, and those of every run."""
    from omo.workflows.ultragoal import receipts

    problems: Problems = {}
    for name, path in _shared_paths(context.state).items():
        problems[name] = Journal(os.path.dirname(path), context.state).problems()
    for session in sessions:
        rows = ledger.rows(_own_paths(context.state, session)["ultragoal"])
        gone = receipts.evidence_problem(context.state, rows)
        if gone and not problems.get("evidence"):
            problems["evidence"] = [gone]
    return [Checked(name, found, _shared_path(context.state, name)) for name, found in problems.items()]


def repair(arguments: argparse.Namespace, context: Context) -> Result:
    """Nothing is deleted: the old file is kept, and the new one names its digest."""
    from omo.work import session

    name = context.session(arguments.session)
    path = paths.events_file(context.state, name)
    if context.is_agent:
        raise Refused(
            "sealing a damaged ledger is for the user: it also ends what they pinned",
            fix=f"ask the user to run omo ledger repair --session {name}; meanwhile omo ulw blocked --evidence …",
        )
    unneeded = Refused(f"the ledger of session {clip(name, 80)} needs no repair", fix="omo ledger verify")
    if context.row(name) is None:
        raise unneeded  # before anything is made for a session that is none

    def decide(row: Row | None) -> runtime.Change:
        if row is None or not runtime.ledger_problems(context.state, name):
            raise unneeded
        kept, digest = ledger.set_aside(path, context.now) if os.path.lexists(path) else ("", "")
        event = {"kind": "repaired", "kept": os.path.basename(kept), "digest": digest}
        emptied = session.with_gates(session.disowned(row), open_gates=[], total=0)
        emptied.pop("ledger", None)
        return runtime.Change(kept, emptied, [event])

    kept = runtime.change_session(
        context.state, name, decide, actor=context.actor, now=context.now, wait=store.CLI_WAIT
    )
    what = f"The damaged ledger is kept as {kept}." if kept else "There was no ledger to keep."
    return Result({"session": name, "kept": kept or None}, f"Sealed. {what}")
