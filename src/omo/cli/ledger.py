"""`omo ledger`: check the chains of all ledgers, repair those that are damaged."""

from __future__ import annotations

import argparse
import json
import os
from typing import NamedTuple

from omo import options, table
from omo.context import Context
from omo.errors import Refused, Unreadable
from omo.json_text import Json
from omo.result import Result
from omo.state import ledger, paths, runtime, store
from omo.state.journal import Journal
from omo.state.rows import EMPTY
from omo.text import clip, counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.ledger_rows import Repaired, SessionEvent
    from omo.state.rows import SessionRow


WHOLE = "Every row is there and unchanged."
END_UNKNOWN = "whole, end unknown"  # no row of the session says any more where it ends


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "ledger", "the ledgers of a session and the project: verify, repair")
    about = "is every row of every ledger there and unchanged, the session's and the project's"
    verify_parser = options.command(verbs, "verify", about, verify)
    verify_parser.add_argument("--all", action="store_true", help="of every session of the project")
    options.command(verbs, "repair", "keep damaged ledgers aside and go on from their whole rows; the user's", repair)


def _shared_paths(state: str) -> dict[str, str]:
    """Those that all sessions share, and those of every run, as far as there are any."""
    names = [*paths.SHARED_LEDGERS]
    for workflow in table.with_runs():
        try:
            runs = sorted(os.listdir(os.path.join(state, workflow.home)))
        except (FileNotFoundError, NotADirectoryError):
            continue
        names += [f"{workflow.home}/{run}" for run in runs if "." not in run]  # not what was kept aside
    return {name: _shared_path(state, name) for name in names if os.path.isdir(os.path.join(state, name))}


def _shared_path(state: str, name: str) -> str:
    return os.path.join(state, name, "ledger.jsonl")


def _looked_at(arguments: argparse.Namespace, context: Context) -> str:
    """No session where none is known: what the project shares can be looked at without one."""
    if not arguments.session and not context.named_session and not context.known_sessions():
        return ""
    return context.looked_at(arguments.session)


def _session_problems(context: Context, name: str) -> list[str]:
    """Rows of the runtime file are forgotten after two weeks, and with them where the ledger ends."""
    if context.row(name) is None:
        return ledger.read_checked(paths.events_file(context.state, name)).problems
    return runtime.ledger_problems(context.state, name)


class Checked(NamedTuple):
    """One ledger and what is wrong with it."""

    name: str
    path: str
    problems: list[str]
    session: str = ""
    note: str = ""

    @property
    def rows(self) -> int:
        try:
            return len(ledger.rows(self.path))
        except Unreadable:
            return 0

    @property
    def data(self) -> Json:
        return {
            "ledger": self.name,
            "session": self.session or None,
            "path": self.path,
            "rows": self.rows,
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
        return f"{clip(name, 80):48} {counted(self.rows, 'row'):>10}  {state:18}  {path}"


def verify(arguments: argparse.Namespace, context: Context) -> Result:
    """Of one session, or of all, and once of what they share."""
    session = "" if arguments.all else _looked_at(arguments, context)
    sessions = [session] if session else context.known_sessions()
    ledgers: list[Checked] = []
    for name in sessions:
        path = paths.events_file(context.state, name)
        note = "" if context.row(name) else END_UNKNOWN
        ledgers.append(Checked("session", path, _session_problems(context, name), name, note))
    ledgers += _check_shared(context, sessions)
    files = [checked for checked in ledgers if os.path.lexists(checked.path) or checked.problems]
    problems = []
    for checked in files:
        lead = f"{checked.session}: " if checked.session and not session else ""
        problems += [f"{lead}{checked.name}: {problem}" for problem in checked.problems]
    lines = [checked.line for checked in files]
    lines += [clip(problem, 400) for problem in problems] or [WHOLE]
    data: Json = {"session": session or None, "problems": problems, "files": [checked.data for checked in files]}
    return Result(data, "\n".join(lines), 3 if problems else 0)


def _check_shared(context: Context, sessions: list[str]) -> list[Checked]:
    """The ledgers that belong to the project, and those of every run; with what the sessions' work finds in them."""
    from omo.views import works
    from omo.work.viewer import Viewer

    found: dict[str, list[str]] = {}
    for session in sessions:
        viewer = Viewer(context, session, context.row(session))
        for workflow in table.with_runs():
            if not works.may_have(workflow.kind, viewer):
                continue
            if workflow.has_states:
                found.update(workflow.module("lifecycle").problems(viewer.caller))
            status = works.look_at(workflow.kind, viewer)
            if status and status.problems:
                found[f"{workflow.home}/{status.run}"] = list(status.problems)
    there = _shared_paths(context.state)
    checked = []
    for name in [*there, *(name for name in found if name not in there)]:
        path = _shared_path(context.state, name)
        problems = []
        if name in there:
            problems = Journal(os.path.dirname(path), context.state).problems()
        checked.append(Checked(name, path, problems or found.get(name, [])))
    return checked


# repair


def repair(arguments: argparse.Namespace, context: Context) -> Result:
    """Every damaged ledger of the session, or of all sessions, and of what they share. Nothing is deleted: the old file
    is kept, the rows at its beginning that are whole stay, and the row after them names its digest."""
    if context.is_agent:
        raise Refused(
            "repairing a damaged ledger is for the user, who alone can judge what is lost with it",
            fix="ask the user to run omo ledger repair; meanwhile omo ulw blocked --evidence …",
        )
    sessions = context.known_sessions()
    if arguments.session:
        sessions = [name for name in sessions if name == context.session(arguments.session)]
    repaired: list[Json] = []
    beyond: list[str] = []
    for name in sessions:
        if context.row(name) is not None and runtime.ledger_problems(context.state, name):
            repaired.append({"ledger": "session", "session": name, **_repair_session(context, name)})
    for name, path in _shared_paths(context.state).items():
        journal = Journal(os.path.dirname(path), context.state)
        if journal.problems() and (kind := _lost(name, journal)):
            beyond.append(f"{name}: not even its beginning is whole; omo state clear --mode {kind} --force gives it up")
            continue
        repaired += [{"ledger": name, "session": None, **event} for event in _repair_journal(context, journal)]
    if not repaired and beyond:
        raise Refused("nothing that is damaged can go on", fix="give it up, and begin anew", defects=beyond)
    if not repaired:
        raise Refused("no ledger of this project needs repair", fix="omo ledger verify")
    for name in sessions:
        _go_on(context, name)
    lines = []
    for done in repaired:
        of = f"{done['ledger']} of {clip(done['session'], 80)}" if done["session"] else done["ledger"]
        kept = f"the damaged one is kept as {done['kept']}" if done["kept"] else "there was nothing to keep"
        lines.append(f"{of}: goes on from row {done['row']}; {kept}")
    return Result({"repaired": repaired, "beyond": beyond}, "\n".join([*lines, *beyond]))


def _repair_session(context: Context, name: str) -> SessionEvent:
    """What its row calls done and no whole row of the ledger does is over, not proven."""
    from omo.work import session
    from omo.workflows.ultrawork import gates

    path = paths.events_file(context.state, name)

    def decide(row: SessionRow | None) -> runtime.Change:
        before = row or EMPTY
        chain = runtime.read_chain(context.state, name, before)
        repaired, head = ledger.keep_whole(path, chain.whole, before.get("ledger", {}), context.now)
        event: SessionEvent = {"kind": "repaired", "kept": repaired["kept"], "digest": repaired["digest"]}
        event["row"], event["run"] = repaired["row"], gates.run_of(before)
        after: SessionRow = {**session.disowned(before), "ledger": head.mark}
        return runtime.Change(event, after, [event], head)

    event: SessionEvent = runtime.change_session(
        context.state, name, decide, actor=context.actor, now=context.now, wait=store.CLI_WAIT
    )
    return event


def _repair_journal(context: Context, journal: Journal) -> list[Repaired]:
    if not journal.problems():
        return []

    def decide(_: object) -> tuple[list[Repaired], list[Repaired]]:
        events = journal.repair(context.now)
        return events, events

    events: list[Repaired] = journal.change(decide, actor=context.actor, now=context.now, wait=store.CLI_WAIT)
    return events


def _lost(name: str, journal: Journal) -> str:
    """Of which kind a run is whose first rows are lost, so that it is none any more. What the project shares can be
    empty."""
    from omo.work.run import can_go_on

    home, _, run = name.rpartition("/")
    for workflow in table.with_runs():
        if workflow.home == home and not can_go_on(workflow.runs, journal.whole(), run):
            return workflow.kind
    return ""


def _go_on(context: Context, name: str) -> None:
    """What waited for the repair is active again."""
    from omo.work import session

    def decide(row: SessionRow | None) -> runtime.Change:
        after = session.mended(row or EMPTY)
        return runtime.Change(None, after if after != row else None, [{"kind": "resumed"}])

    if context.row(name):
        runtime.change_session(context.state, name, decide, actor=context.actor, now=context.now, wait=store.CLI_WAIT)
