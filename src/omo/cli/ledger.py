"""`omo ledger`: show a session's ledger, check its chain, seal a damaged one."""

from __future__ import annotations

import argparse
import math
import os
import select
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from omo.cli import ledger_files, ledger_lines, ledger_verify, options
from omo.cli.ledger_files import LedgerFile
from omo.cli.ledger_lines import Wanted
from omo.cli.ledger_tail import Seen, batches
from omo.cli.result import Result
from omo.context import Context, Meant
from omo.errors import Refused
from omo.shown import clip
from omo.state import ledger, paths, runtime, store
from omo.ultrawork import session

POLL_SECONDS = 0.5
FOLLOWED_FROM = 10  # rows shown before the new ones, as tail does

Lines = Callable[[Seen], list[str]]


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "ledger", "a session's ledger: show, verify, repair")
    _register_show(verbs)
    about = "is every row of every ledger there and unchanged, the session's and the project's"
    verify_parser = options.command(verbs, "verify", about, verify)
    verify_parser.add_argument("--all", action="store_true", help="of every session of the project")
    options.command(verbs, "repair", "keep a damaged ledger aside and start a new one", repair)


def _register_show(verbs: options.Commands) -> None:
    parser = options.command(verbs, "show", "the rows, oldest first; times are UTC", show)
    which = parser.add_mutually_exclusive_group()
    of = "session (default), goal, ultragoal, ultraplan, ralph, evidence, or another that omo ledger verify lists"
    which.add_argument("--of", default="session", metavar="LEDGER", help=of)
    which.add_argument("--all", action="store_true", help="every ledger, merged by time")
    parser.add_argument("--last", type=ledger_lines.row_count, metavar="N", help="the last N rows only")
    parser.add_argument("--since", metavar="TIME", help="10m, 2h, 1d, or a time such as 2026-02-22T17:20:01Z")
    parser.add_argument("--kind", metavar="KIND[,KIND]", help="rows of these kinds only")
    follow_help = f"go on with new rows as they come, after the last {FOLLOWED_FROM}; with --json one object a line"
    parser.add_argument("--follow", "-f", action="store_true", help=follow_help)


def show(arguments: argparse.Namespace, context: Context) -> Result:
    meant = _looked_at(arguments, context)
    find = _finder(arguments, context.state, meant.name)
    wanted = ledger_lines.wanted_by(arguments, context.now)
    lines = _drawer(arguments, [file.name for file in find()])
    if arguments.follow:
        _say(meant)
        return _follow(batches(find, _pause), wanted, lines)
    files = find()
    found = wanted.of(next(batches(lambda: files, _pause)))
    found += [seen for file in files for seen in ledger_verify.cut_off(context, meant.name, file)]
    text = "\n".join(line for seen in found for line in lines(seen)) or "No rows."
    data = {"session": meant.name or None, "rows": [ledger_lines.as_data(seen) for seen in found]}
    return Result(data, text, 3 if any(seen.problem for seen in found) else 0, meant.notes)


def _looked_at(arguments: argparse.Namespace, context: Context) -> Meant:
    """No session where none is known: what the project shares can be looked at without one."""
    is_none = not arguments.session and not context.named_session and not context.known_sessions()
    return Meant("") if is_none else context.looked_at(arguments.session)


def _say(meant: Meant) -> None:
    for note in meant.notes:
        print(f"omo: {note}", file=sys.stderr)


def _finder(arguments: argparse.Namespace, state: str, name: str) -> Callable[[], list[LedgerFile]]:
    if arguments.all:
        return lambda: ledger_files.everything(state, name)
    return lambda: ledger_files.chosen(state, name, arguments.of)


def _drawer(arguments: argparse.Namespace, names: list[str]) -> Lines:
    """How a row becomes lines: several ledgers are told apart by name, and a terminal has an edge."""
    if arguments.json:
        return lambda seen: [ledger_lines.as_json_line(seen)]
    is_one = not arguments.all and arguments.of not in ledger_files.BY_KIND
    width = 0 if is_one else min(max(map(len, names), default=0), ledger_lines.LONGEST_NAME)
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    return lambda seen: ledger_lines.as_lines(seen, named=not is_one, width=width, columns=columns)


def _follow(coming: Iterator[list[Seen]], wanted: Wanted, lines: Lines) -> Result:
    """Until somebody interrupts it, or nobody reads it any more."""
    is_bounded = wanted.last is not None or wanted.since > -math.inf
    now = wanted if is_bounded else replace(wanted, last=FOLLOWED_FROM)
    for found in coming:
        for seen in now.of(found):
            print("\n".join(lines(seen)), flush=True)
        now = replace(wanted, last=None)
    return Result({}, "")


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

    def decide(row: dict[str, Any] | None) -> runtime.Change:
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
