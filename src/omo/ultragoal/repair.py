"""Bringing a plan back: views that were edited, a project that was moved; a damaged ledger is kept aside."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from omo.errors import Refused
from omo.ultragoal import clearing
from omo.ultragoal.run import CLEAR, Look, Run, repository

Row = dict[str, Any]


@dataclass(frozen=True)
class Repaired:
    """What was done, in words; `kept` is where a damaged plan lies now, and then there is none any more."""

    what: list[str]
    kept: list[str] = field(default_factory=list)


def repair(run: Run) -> Repaired:
    """Views are written anew from the ledger. Nothing of a damaged ledger is believed: the plan begins anew."""
    seen = run.look()
    if seen.damage == "ledger":
        return _seal(run, seen)
    if seen.damage == "gone":
        fix = f"{CLEAR} keeps the bytes and lets you begin anew"
        raise Refused("nothing is left to repair the plan from", fix=fix, defects=seen.problems)
    plan = run.require_plan()
    done = []
    rows: list[Row] = []
    if seen.problems:
        done.append("goals.json was written anew from the ledger; the edited one is kept aside")
        rows.append({"kind": "repaired", "views": True})
    if plan.repository.get("root") != os.path.realpath(run.root):
        here = repository(run.root)
        rows.append({"kind": "repaired", "repository": {**here, "base": plan.repository.get("base")}})
        done.append(f"the plan belongs to {here['root']} now")
    if not done:
        raise Refused("the plan needs no repair", fix="omo ultragoal status")
    run.create(lambda plan: (None, rows))
    return Repaired(done)


def _seal(run: Run, seen: Look) -> Repaired:
    if run.by != "user":
        raise Refused(
            "the plan's ledger was changed by hand; to seal it and start anew is for the user",
            fix=run.mending(seen.damage),
            defects=seen.problems,
        )
    cleared = clearing.clear(run, force=True)
    kept = cleared.kept if cleared else []
    where = ", ".join(kept)
    return Repaired([f"the plan with its damaged ledger is kept as {where}; nothing of it is carried over"], kept)
