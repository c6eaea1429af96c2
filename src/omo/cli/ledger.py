"""`omo ledger`: show one ledger, check the chains of all, seal a damaged one."""

from __future__ import annotations

import argparse
import json
import os
import select
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NoReturn

from omo.cli import ledger_files, ledger_verify, options
from omo.cli.ledger_tail import Line, Tail
from omo.cli.result import Result
from omo.context import Context, Meant
from omo.errors import Refused
from omo.hooks import session
from omo.shown import clip
from omo.state import ledger, paths, runtime, store

Row = dict[str, Any]

POLL_SECONDS = 0.5
LONGEST_LINE = 200
# Part of the chain, or said first, or too long to read on a line: --json has them.
NOT_AMONG_THE_REST = ("seq", "ts", "kind", "actor", "prev", "after", "tail", "message")


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


def show(arguments: argparse.Namespace, context: Context) -> Result:
    meant = _looked_at(arguments, context)
    file = ledger_files.chosen(context.state, meant.name, arguments.of)
    tail = Tail(file.path)
    if arguments.follow:
        for note in meant.notes:
            print(f"omo: {note}", file=sys.stderr)
        _follow(tail, _as_json if arguments.json else _as_text, _pause)
    lines = tail.look()
    problems = ledger_verify.problems_of(context, meant.name, file)
    text = [_as_text(line) for line in lines] + [f"! {clip(problem, 300)}" for problem in problems]
    data = {
        "session": meant.name or None,
        "ledger": file.name,
        "rows": [_as_row(line) for line in lines],
        "problems": problems,
    }
    return Result(data, "\n".join(text) or "No rows.", 3 if problems else 0, meant.notes)


def _looked_at(arguments: argparse.Namespace, context: Context) -> Meant:
    """No session where none is known: what the project shares can be looked at without one."""
    is_none = not arguments.session and not context.named_session and not context.known_sessions()
    return Meant("") if is_none else context.looked_at(arguments.session)


def _follow(tail: Tail, shown: Callable[[Line], str], pause: Callable[[], None]) -> NoReturn:
    """Until somebody interrupts it, or nobody reads it any more."""
    while True:
        for line in tail.look():
            print(shown(line), flush=True)
        pause()


def _as_row(line: Line) -> Row:
    """The row as it was written, and what is wrong with it where something is; our key wins over the row's."""
    row = line.row or {}
    if line.problem:
        return {**row, "problem": _problem(line)}
    return row


def _as_json(line: Line) -> str:
    return json.dumps(_as_row(line))


def _as_text(line: Line) -> str:
    """Time, kind, actor and the rest on one line; a row that does not chain begins with what is wrong."""
    words = []
    if line.problem:
        words.append(f"! {_problem(line)}")
    if line.row is not None:
        words += [str(line.row.get(key, "-")) for key in ("ts", "kind", "actor")]
        for key, value in line.row.items():
            if key not in NOT_AMONG_THE_REST:
                words.append(f"{key}={_compact(value)}")
    return clip(" ".join(words), LONGEST_LINE)


def _problem(line: Line) -> str:
    return f"line {line.number} {line.problem}" if line.number else line.problem


def _compact(value: object) -> str:
    if isinstance(value, str) and " " not in value:
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


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


def verify(arguments: argparse.Namespace, context: Context) -> Result:
    if arguments.all:
        return ledger_verify.all_sessions(context)
    meant = _looked_at(arguments, context)
    if not meant.name:
        return ledger_verify.all_sessions(context)
    found = ledger_verify.one_session(context, meant.name)
    return replace(found, notes=[*found.notes, *meant.notes])


def repair(arguments: argparse.Namespace, context: Context) -> Result:
    """Nothing is deleted: the old file is kept, and the new one names its digest."""
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
        return runtime.Change(kept, {key: value for key, value in emptied.items() if key != "ledger"}, [event])

    kept = runtime.change_session(
        context.state, name, decide, actor=context.actor, now=context.now, wait=store.CLI_WAIT
    )
    told = f"The damaged ledger is kept as {kept}." if kept else "There was no ledger to keep."
    return Result({"session": name, "kept": kept or None}, f"Sealed. {told}")
