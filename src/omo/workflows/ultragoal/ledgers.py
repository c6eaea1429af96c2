"""The plans of ultragoal, for those who go over the ledgers of every workflow."""

from __future__ import annotations

from omo.work.run import Caller, adopt
from omo.workflows.ultragoal import receipts
from omo.workflows.ultragoal.run import ULTRAGOAL, bring_home, load_plan

RUNS = ULTRAGOAL


def take_up(caller: Caller, source: str, run: str) -> None:
    bring_home(caller, source)
    adopt(ULTRAGOAL, caller, source, run)


def problems(caller: Caller) -> dict[str, list[str]]:
    """Evidence that receipts cite and its ledger does not know; a goals.json, or gates, that somebody edited."""
    run = load_plan(caller)
    listed = {}
    if gone := receipts.evidence_problem(caller.state, run.rows):
        listed["evidence"] = [gone]
    if run.plan is not None:
        edited = run.edited_view()
        listed[f"ultragoal/{run.id}"] = [edited] if edited else receipts.forged(run.plan, run.directory)
    return listed
