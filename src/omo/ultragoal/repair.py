"""Bringing a plan back: views that were edited, a project that was moved, a ledger that was damaged."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from omo.errors import Refused
from omo.ultragoal.run import Run, repository

Row = dict[str, Any]

CLEAR = "omo state clear --mode ultragoal --force keeps the bytes and lets you begin anew"


@dataclass(frozen=True)
class Repaired:
    what: list[str]
    lost: int = 0


def repair(run: Run) -> Repaired:
    """What is believed is what the rest of the ledger vouches for; receipts in such rows survive."""
    if run.journal.problems():
        return _rebuild(run)
    done = []
    seen = run.look()
    if seen.damage == "gone":
        raise Refused("nothing is left to repair the plan from", fix=CLEAR, defects=seen.problems)
    plan = run.require_plan()
    if seen.problems:
        done.append("goals.json was written anew from the ledger; the edited one is kept aside")
    rows: list[Row] = [{"kind": "repaired", "views": True}] if done else []
    if plan.repository.get("root") != os.path.realpath(run.root):
        here = repository(run.root)
        rows.append({"kind": "repaired", "repository": {**here, "base": plan.repository.get("base")}})
        done.append(f"the plan belongs to {here['root']} now")
    if not done:
        raise Refused("the plan needs no repair", fix="omo ultragoal status")
    run.create(lambda plan: (None, rows))
    return Repaired(done)


def _rebuild(run: Run) -> Repaired:
    if not run.vouched_rows():
        raise Refused("too little of the ledger is left to tell the plan", fix=CLEAR, defects=run.journal.problems())
    if run.by != "user":
        raise Refused(
            "the plan's ledger was changed by hand; what of it counts is for the user to say",
            fix=f"ask the user to run omo ultragoal repair --session {run.session} in a terminal of their own; "
            f"or {CLEAR}",
            defects=run.journal.problems(),
        )

    def decide(rows: list[Row]) -> tuple[int, list[Row]]:
        kept = run.vouched_rows()
        sealed = run.journal.seal(run.now)
        return len(rows) - len(kept), [*kept, *sealed]

    lost: int = run.journal.change(decide, actor=run.by, now=run.now, wait=run.wait)
    run.create(lambda plan: (None, []))  # writes the views anew
    return Repaired([f"the damaged ledger is kept aside; {lost} of its rows could not be believed"], lost)
