"""`omo ledger`: show a session's ledger, check its chain, seal a damaged one."""

from __future__ import annotations

import argparse
import json
import os
from typing import Any

from omo.cli import options
from omo.cli.result import Result
from omo.cli.runs import run_of
from omo.context import Context
from omo.errors import OmoError, Refused
from omo.state import ledger, paths, runtime, store
from omo.state.journal import Journal
from omo.ultragoal import goal_tool, receipts
from omo.ultrawork import session


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "ledger", "a session's ledger: show, verify, repair")
    options.command(verbs, "show", "the rows, oldest first", show)
    options.command(
        verbs, "verify", "is every row of every ledger there and unchanged, the session's and the project's", verify
    )
    options.command(verbs, "repair", "keep a damaged ledger aside and start a new one", repair)


def show(arguments: argparse.Namespace, context: Context) -> Result:
    name = context.session(arguments.session)
    rows = ledger.rows(paths.events_file(context.state, name))
    return Result({"session": name, "rows": rows}, "\n".join(_line(row) for row in rows) or "No rows.")


def _line(row: dict[str, Any]) -> str:
    hidden = ("seq", "ts", "kind", "actor", "prev", "after", "tail", "message")
    rest = {key: value for key, value in row.items() if key not in hidden}
    said = json.dumps(rest, ensure_ascii=False)
    return f"{row.get('seq')!s:>4} {row.get('ts')} {row.get('actor')!s:6} {row.get('kind')!s:15} {said}"


def verify(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.ralph.run import problems_of as ralph_problems
    from omo.ultraplan.run import problems_of

    name = context.session(arguments.session)
    found = {
        "session": runtime.ledger_problems(context.state, name),
        "goal": goal_tool.problems(context.state, name),
        "ultragoal": _plan_problems(arguments, context),
        "ultraplan": problems_of(context.state, name),
        "ralph": ralph_problems(context.state, name),
    }
    found |= _project_problems(arguments, context, told=found["ultraplan"])
    problems = [f"{which}: {one}" for which, ones in found.items() for one in ones]
    text = "\n".join(problems) or "Every row is there and unchanged."
    return Result({"session": name, "ledgers": found, "problems": problems}, text, 3 if problems else 0)


def _plan_problems(arguments: argparse.Namespace, context: Context) -> list[str]:
    """The plan's own ledger, what is shown of it, and the gates its receipts name."""
    run = run_of(arguments, context)
    if found := run.problems():
        return found
    try:
        plan = run.plan()
    except OmoError as error:
        return [error.message]
    return [] if plan is None else receipts.forged(plan, run.directory)


def _project_problems(arguments: argparse.Namespace, context: Context, *, told: list[str]) -> dict[str, list[str]]:
    """The journals that all sessions of the project share, as far as there are any, by where they are."""
    from omo.ultragoal import spent

    names = [name for name in _shared(context.state) if not any(one.startswith(f"{name[6:]}:") for one in told)]
    found = {name: Journal(os.path.join(context.state, name), context.state).problems() for name in names}
    rows = run_of(arguments, context).journal.read()[0]
    if not found.get("evidence") and (gone := spent.evidence_problem(context.state, rows)):
        found["evidence"] = [gone]
    return found


SHARED = ("evidence", "verify/pins", "verify/goals", "verify/claims", "commands")


def _shared(state: str) -> list[str]:
    plans = paths.plans_dir(state)
    runs = sorted(os.listdir(plans)) if os.path.isdir(plans) else []
    return [name for name in (*SHARED, *(f"plans/{run}" for run in runs)) if os.path.isdir(os.path.join(state, name))]


def repair(arguments: argparse.Namespace, context: Context) -> Result:
    """Nothing is deleted: the old file is kept, and the new one names its digest."""
    name = context.session(arguments.session)
    path = paths.events_file(context.state, name)
    if context.is_agent:
        raise Refused(
            "sealing a damaged ledger is for the user: it also ends what they pinned",
            fix=f"ask the user to run omo ledger repair --session {name}; meanwhile omo ulw blocked --evidence …",
        )

    def decide(row: dict[str, Any] | None) -> runtime.Change:
        if row is None or not runtime.ledger_problems(context.state, name):
            raise Refused(f"the ledger of session {name} needs no repair", fix="omo ledger verify")
        kept, digest = ledger.set_aside(path, context.now)
        event = {"kind": "repaired", "kept": os.path.basename(kept), "digest": digest}
        emptied = session.with_gates(row, open_gates=[], total=0)
        return runtime.Change(kept, {key: value for key, value in emptied.items() if key != "ledger"}, [event])

    kept = runtime.change_session(
        context.state, name, decide, actor=context.actor, now=context.now, wait=store.CLI_WAIT
    )
    return Result({"session": name, "kept": kept}, f"Sealed. The damaged ledger is kept as {kept}.")
