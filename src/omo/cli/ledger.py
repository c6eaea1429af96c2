"""`omo ledger`: check the chains of all ledgers, repair those that are damaged."""

from __future__ import annotations

import argparse
import os
import shlex

from omo import options, table
from omo.context import Context
from omo.errors import Refused
from omo.json_text import Json
from omo.result import Result
from omo.state import ledger, paths, runtime, store
from omo.state.journal import Journal
from omo.state.rows import EMPTY
from omo.text import clip, counted, listed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.ledger_rows import Repaired, SessionEvent
    from omo.state.rows import SessionRow


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "ledger")
    about = "is every row of every ledger there and unchanged; with --session of that one's and the project's"
    options.command(verbs, "verify", about, verify)
    options.command(verbs, "repair", "keep damaged ledgers aside and go on from their whole rows; the user's", repair)


def _shared_journals(state: str) -> dict[str, Journal]:
    """By name, the ledgers that all sessions share, and that of every run."""
    names = [*paths.SHARED_LEDGERS]
    for workflow in table.with_runs():
        try:
            runs = sorted(os.listdir(os.path.join(state, workflow.home)))
        except (FileNotFoundError, NotADirectoryError):
            continue
        names += [f"{workflow.home}/{run}" for run in runs if "." not in run]  # not what was kept aside
    return {name: _shared_journal(state, name) for name in names if os.path.isdir(os.path.join(state, name))}


def _shared_journal(state: str, name: str) -> Journal:
    return Journal(os.path.join(state, name), state)


# verify


def verify(arguments: argparse.Namespace, context: Context) -> Result:
    """Checks the ledgers of every session, or of one, and those that they share."""
    sessions = [context.looked_at(arguments.session)] if arguments.session else context.known_sessions()
    problems_by_path: dict[str, list[str]] = {}
    for name in sessions:
        problems_by_path[paths.events_file(context.state, name)] = _session_problems(context, name)
    problems_by_path |= _shared_problems(context, sessions)
    ledgers = {path: found for path, found in problems_by_path.items() if found or os.path.lexists(path)}
    problems = []
    for path, found in ledgers.items():
        problems += [f"{clip(path, 1000)}: {clip(problem, 400)}" for problem in found]
    without_end = [name for name in sessions if context.row(name) is None]
    text = "\n".join(problems) or f"{counted(len(ledgers), 'ledger')}: every row is there and unchanged."
    if without_end and not problems:
        text += f" Where {listed(without_end, 3)} ended is not known any more, unused for two weeks."
    data = {"problems": problems, "ledgers": ledgers, "end_unknown": without_end}
    return Result(data, text, 3 if problems else 0)


def _session_problems(context: Context, name: str) -> list[str]:
    if context.row(name) is None:  # forgotten after two weeks, and with it where the ledger ends
        return ledger.read_checked(paths.events_file(context.state, name)).problems
    return runtime.ledger_problems(context.state, name)


def _shared_problems(context: Context, sessions: list[str]) -> dict[str, list[str]]:
    """By path, what is wrong with each ledger of the project or of a run, also what the sessions' work finds there."""
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
                run = status.run or viewer.row["work"].get(workflow.kind, {}).get("run")  # whose first row is lost
                found[f"{workflow.home}/{run}"] = list(status.problems)
    for name, journal in _shared_journals(context.state).items():
        found[name] = journal.problems() or found.get(name, [])
    return {_shared_journal(context.state, name).path: problems for name, problems in found.items()}


# repair


def repair(arguments: argparse.Namespace, context: Context) -> Result:
    """Repairs every damaged ledger of the session, or of all sessions, and of what they share. Nothing is deleted: the
    old file is kept, the rows at its beginning that are whole stay, and the row after them names its digest."""
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
        if _session_problems(context, name):
            repaired.append({"ledger": "session", "session": name, **_repair_session(context, name)})
    for name, journal in _shared_journals(context.state).items():
        if journal.problems() and (kind := _kind_if_lost(name, journal)):
            command = f"omo state clear --mode {kind} --force{_option_of_owner(context, kind, name)}"
            beyond.append(f"{name}: not even its beginning is whole; {command} gives it up")
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
        name = f"{done['ledger']} of {clip(done['session'], 80)}" if done["session"] else done["ledger"]
        kept = f"the damaged one is kept as {done['kept']}" if done["kept"] else "there was nothing to keep"
        lines.append(f"{name}: goes on from row {done['row']}; {kept}")
    return Result({"repaired": repaired, "beyond": beyond}, "\n".join([*lines, *beyond]), 3 if beyond else 0)


def _repair_session(context: Context, name: str) -> SessionEvent:
    """Work that the session's row calls done, and no whole row of the ledger, is over but not proven."""
    from omo.work import session

    path = paths.events_file(context.state, name)

    def decide(row: SessionRow | None) -> runtime.Change:
        before = row or EMPTY
        chain = runtime.read_chain(context.state, name, before)
        repaired, head = ledger.keep_whole(path, chain.whole, before.get("ledger", {}), context.now)
        event: SessionEvent = {"kind": "repaired", "kept": repaired["kept"], "digest": repaired["digest"]}
        event["row"], event["run"] = repaired["row"], session.run_of(before)
        after: SessionRow = {**session.disowned(before), "ledger": head.mark}
        return runtime.Change(event, after, [event], head)

    event: SessionEvent = context.change(name, decide)
    return event


def _repair_journal(context: Context, journal: Journal) -> list[Repaired]:
    if not journal.problems():
        return []

    def decide(_: object) -> tuple[list[Repaired], list[Repaired]]:
        events = journal.repair(context.now)
        return events, events

    return journal.change(decide, actor=context.actor, now=context.now, wait=store.CLI_WAIT)


def _kind_if_lost(name: str, journal: Journal) -> str:
    """The kind of a run that cannot go on because its first rows are lost; else empty. A ledger of the project always
    goes on: it may be empty."""
    from omo.work.run import can_go_on

    home, _, run = name.rpartition("/")
    for workflow in table.with_runs():
        if workflow.home == home and not can_go_on(workflow.runs, journal.whole(), run):
            return workflow.kind
    return ""


def _option_of_owner(context: Context, kind: str, name: str) -> str:
    for session, row in runtime.sessions(context.state).items():
        if name.endswith(f"/{row['work'].get(kind, {}).get('run')}"):
            return f" --session {shlex.quote(clip(session, 200))}"
    return ""


def _go_on(context: Context, name: str) -> None:
    """Makes the work active again that waited for the repair."""
    from omo.work import session

    def decide(row: SessionRow | None) -> runtime.Change:
        after = session.mended(row or EMPTY)
        return runtime.Change(None, after if after != row else None, [{"kind": "resumed"}])

    if context.row(name):
        context.change(name, decide)
