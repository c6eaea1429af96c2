"""`omo ledger verify`: is every row of every ledger there and unchanged."""

from __future__ import annotations

import argparse
import os
from typing import Any

from omo import options, table
from omo.context import Context
from omo.errors import Unreadable
from omo.result import Result
from omo.state import ledger, paths, runtime
from omo.state.journal import Journal
from omo.text import clip, counted, listed
from omo.work.run import Kind, caller_of


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "ledger")
    about = "is every row of every ledger there and unchanged; with --session of that one's and the project's"
    options.command(verbs, "verify", about, verify)


def verify(arguments: argparse.Namespace, context: Context) -> Result:
    """Check the ledgers of every session, or of one, and those that they share: 3 if one is damaged, 4 if one cannot be
    read."""
    sessions = [context.looked_at(arguments.session)] if arguments.session else context.known_sessions()
    problems_by_path: dict[str, list[str]] = {}
    unreadable: list[str] = []
    for name in sessions:
        path = paths.events_file(context.state, name)
        try:
            problems_by_path[path] = _session_problems(context, name)
        except Unreadable as error:
            unreadable.append(path)
            problems_by_path[path] = [error.message]
    edited = _edited_views(context, sessions)
    for journal, problems in _of_all(context.state):
        problems_by_path[journal.path] = problems or edited.get(journal.path, [])
        if journal.unreadable is not None:
            unreadable.append(journal.path)
    ledgers = {path: found for path, found in problems_by_path.items() if found or os.path.lexists(path)}
    lines = []
    for path, found in ledgers.items():
        lines += [f"{clip(path, 1000)}: {clip(problem, 400)}" for problem in found]
    without_end = [name for name in sessions if context.row(name) is None]
    text = "\n".join(lines) or f"{counted(len(ledgers), 'ledger')}: every row is there and unchanged."
    if without_end and not lines:
        text += f" Where {listed(without_end, 3)} ended is not known any more, unused for two weeks."
    data = {"problems": lines, "ledgers": ledgers, "end_unknown": without_end}
    is_damaged = any(found for path, found in ledgers.items() if path not in unreadable)
    return Result(data, text, 3 if is_damaged else 4 if unreadable else 0)


def _session_problems(context: Context, name: str) -> list[str]:
    if context.row(name) is None:  # forgotten after two weeks, and with it where the ledger ends
        return ledger.read_checked(paths.events_file(context.state, name)).problems
    return runtime.ledger_problems(context.state, name)


def _of_all(state: str) -> list[tuple[Journal, list[str]]]:
    """Return the ledgers that all sessions share, and that of every run, each with what is wrong with it."""
    checked = []
    for name in paths.SHARED_LEDGERS:
        journal = Journal(os.path.join(state, name), state)
        checked.append((journal, journal.problems()))
    for workflow in table.with_runs():
        home = os.path.join(state, workflow.home)
        for run in sorted(os.listdir(home)) if os.path.isdir(home) else ():
            if "." not in run:  # not what was kept aside
                journal = Journal(os.path.join(home, run), state)
                checked.append((journal, journal.problems() or _unreadable_rows(workflow.runs, journal, run)))
    return checked


def _unreadable_rows(kind: Kind[Any], journal: Journal, run: str) -> list[str]:
    """Return why nobody can read rows that follow the chain: anybody can write one of another shape than ours."""
    try:
        kind.fold(journal.rows(), run)
    except Unreadable as error:
        return [error.message]
    return []


def _edited_views(context: Context, sessions: list[str]) -> dict[str, list[str]]:
    """Return by path what is wrong with what omo shows of a ledger."""
    found: dict[str, list[str]] = {}
    for workflow in table.with_runs():
        if workflow.has_states:
            for session in sessions:
                found.update(workflow.module("lifecycle").problems(caller_of(context, session)))
    return found
