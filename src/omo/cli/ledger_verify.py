"""What is wrong with the ledgers of a session, of all sessions, and of the project they share."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from omo.cli import ledger_files
from omo.cli.adopt import caller_of
from omo.cli.ledger_files import LedgerFile
from omo.cli.result import Result
from omo.context import Context
from omo.errors import Unreadable
from omo.shown import clip, counted
from omo.state import ledger, paths, runtime, store
from omo.state.journal import Journal
from omo.ultragoal import receipts
from omo.ultragoal.run import PlanRun

Problems = dict[str, list[str]]
Entry = dict[str, Any]

RUN_DIRECTORIES = {"ultraplan": "plans", "ralph": "ralph"}
WHOLE = "Every row is there and unchanged."
UNMARKED = "whole, end unknown"  # no row of the session says any more where it ends


def one_session(context: Context, name: str) -> Result:
    found = _of_session(context, name)
    shared = _of_project(context, [name], told=_told([found]))
    ledgers = {**found, **shared}
    problems = [f"{which}: {one}" for which, ones in ledgers.items() for one in ones]
    files = [*_own_files(context, name, found), *_shared_files(context, shared, told=_told([found]))]
    return _result({"session": name, "ledgers": ledgers, "problems": problems, "files": files})


def all_sessions(context: Context) -> Result:
    """Every session, and once what they share."""
    found = {name: _of_session(context, name, is_listed=True) for name in context.known_sessions()}
    told = _told(list(found.values()))
    shared = _of_project(context, list(found), told=told)
    each = [(f"{name}: {which}", ones) for name, ledgers in found.items() for which, ones in ledgers.items()]
    problems = [f"{where}: {one}" for where, ones in [*each, *shared.items()] for one in ones]
    files = [file for name, ledgers in found.items() for file in _own_files(context, name, ledgers)]
    files += _shared_files(context, shared, told=told)
    return _result({"session": None, "sessions": found, "ledgers": shared, "problems": problems, "files": files})


def _of_session(context: Context, name: str, *, is_listed: bool = False) -> Problems:
    from omo.ralph.run import problems_of as ralph_problems
    from omo.ultraplan.run import problems_of as plan_problems

    plan = PlanRun(caller_of(context, name))
    is_forgotten = is_listed and context.row(name) is None
    return {
        "session": _chain_only(context, name) if is_forgotten else runtime.ledger_problems(context.state, name),
        "goal": plan.tool.problems,
        "ultragoal": _goals_problems(plan),
        "ultraplan": plan_problems(context.state, name),
        "ralph": ralph_problems(caller_of(context, name)),
    }


def _chain_only(context: Context, name: str) -> list[str]:
    """Rows of the runtime file are forgotten after two weeks, and with them where the ledger ends."""
    return ledger.verify(paths.events_file(context.state, name))


def _goals_problems(run: PlanRun) -> list[str]:
    """The plan's own ledger, what is shown of it, and the gates its receipts name."""
    if run.problems:
        return run.problems
    if run.plan is None:
        return []
    edited = run.edited_view()
    return [edited] if edited else receipts.forged(run.plan, run.directory)


def _told(found: Sequence[Problems]) -> Problems:
    """What was already said of the runs of sessions, by the directory they are in."""
    return {kind: [one for each in found for one in each[name]] for name, kind in RUN_DIRECTORIES.items()}


def _said_of(name: str, told: Problems) -> list[str]:
    kind, _, run = name.partition("/")
    return [one.removeprefix(f"{run}: ") for one in told.get(kind, []) if one.startswith(f"{run}: ")]


def _of_project(context: Context, names: Sequence[str], *, told: Problems) -> Problems:
    """The journals that all sessions of the project share, as far as there are any, by where they are."""
    shared = [name for name in ledger_files.shared_names(context.state) if not _said_of(name, told)]
    found = {name: Journal(os.path.join(context.state, name), context.state).problems() for name in shared}
    for name in names:
        rows = PlanRun(caller_of(context, name)).rows
        if not found.get("evidence") and (gone := receipts.evidence_problem(context.state, rows)):
            found["evidence"] = [gone]
    return found


def _own_files(context: Context, name: str, found: Problems) -> list[Entry]:
    has_mark = context.row(name) is not None
    files = []
    for file in ledger_files.own(context.state, name):
        note = UNMARKED if file.name == "session" and not has_mark else ""
        files += _listed(file, found[file.name], session=name, note=note)
    return files


def _shared_files(context: Context, found: Problems, *, told: Problems) -> list[Entry]:
    names = [*ledger_files.shared_names(context.state), *(["evidence"] if found.get("evidence") else [])]
    files = []
    for name in dict.fromkeys(names):
        files += _listed(ledger_files.shared(context.state, name), found.get(name) or _said_of(name, told))
    return files


def _listed(file: LedgerFile, problems: list[str], *, session: str | None = None, note: str = "") -> list[Entry]:
    """One entry, or none where there is no such ledger and nothing says that there should be."""
    rows = _row_count(file.path)
    if rows is None and not problems:
        return []
    entry = {"ledger": file.name, "session": session, "path": file.path, "rows": rows or 0}
    return [{**entry, "whole": not problems, "problems": problems, "note": "" if problems else note}]


def problems_of(context: Context, session: str, file: LedgerFile) -> list[str]:
    """What is wrong with one ledger: its chain, and its end against the mark that is kept apart from it."""
    if file.name != "session":
        return Journal(os.path.dirname(file.path), context.state).problems()
    try:
        if context.row(session) is None:
            return _chain_only(context, session)
        return runtime.ledger_problems(context.state, session)
    except Unreadable as error:
        return [error.message]


def _row_count(path: str) -> int | None:
    try:
        with open(path, "rb", opener=store.file_only) as file:
            return sum(piece.count(b"\n") for piece in iter(lambda: file.read(1 << 20), b""))
    except OSError:
        return None


def _result(data: Entry) -> Result:
    shown = [clip(line, 400) for line in data["problems"]]
    return Result(data, "\n".join([*_table(data["files"]), *(shown or [WHOLE])]), 3 if shown else 0)


def _table(files: list[Entry]) -> list[str]:
    """Each ledger on a line: its name, how many rows, whether whole, where."""
    cells = [(_name(one), counted(one["rows"], "row"), _state(one), _escaped(one["path"])) for one in files]
    widths = [max((len(row[at]) for row in cells), default=0) for at in range(3)]
    return [
        f"{name:{widths[0]}}  {rows:>{widths[1]}}  {state:{widths[2]}}  {path}" for name, rows, state, path in cells
    ]


def _name(entry: Entry) -> str:
    return clip(entry["ledger"] if entry["session"] is None else f"{entry['ledger']} of {entry['session']}", 80)


def _state(entry: Entry) -> str:
    return (entry["note"] or "whole") if entry["whole"] else "damaged"


def _escaped(path: str) -> str:
    """Control characters, those that reorder text, and halves of characters, as JSON writes them."""
    return "".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in path)
