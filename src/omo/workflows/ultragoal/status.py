"""A plan of goals for its readers: each with its receipt, and whether that still covers it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from omo.state import paths
from omo.state.runtime import part
from omo.text import clip, counted
from omo.work.status import Fact, Item, Status
from omo.work.viewer import Viewer
from omo.workflows.ultragoal import receipts
from omo.workflows.ultragoal.next_step import next_step
from omo.workflows.ultragoal.plan import Goal, Plan
from omo.workflows.ultragoal.run import PlanRun

Row = dict[str, Any]

LEDGER = "ultragoal/ledger.jsonl"
MARKS = {
    "complete": "done",
    "active": "active",
    "failed": "failed",
    "blocked": "waiting",
    "review_blocked": "waiting",
    "superseded": "cut",
}


def run_at(viewer: Viewer) -> PlanRun:
    return PlanRun(viewer.caller, kept=viewer.kept)


def status(viewer: Viewer) -> Status | None:
    """None where the session never had a plan."""
    run = run_at(viewer)
    plan = run.plan
    if plan is None and not run.problems and not run.caller.summary("ultragoal"):
        return None
    step = next_step(run)
    if plan is None:
        return Status("ultragoal", "goal", headline="no plan", next=step, problems=tuple(run.problems))
    items = tuple(item_of(run, plan, goal, goal_proof(run, plan, goal)) for goal in plan.goals)
    cache = None if viewer.reads_all else Path(paths.tree_cache(run.caller.state))
    drift = receipts.drift(plan, run.caller.root, cache)
    final = receipts.final(plan, run.directory)
    facts = [clip(plan.objective, 300)]
    if final is not None:
        facts.append(f"final receipt: fresh, issued with {final.id}")
    if drift:
        facts.append(drift)
    overrides = []
    for item in items:
        overrides += [f"{item.id}: {override}" for override in item.overrides]
    headline = plan.tally
    stale = sum(item.mark == "stale" for item in items)
    if run.problems:
        headline += ", by the word of a damaged ledger"
    elif stale:
        headline += f", {counted(stale, 'receipt')} stale"
    return Status(
        "ultragoal",
        "goal",
        run=plan.run,
        headline=headline,
        items=items,
        next=step,
        facts=tuple(facts),
        changed=(drift,) if drift else (),
        overrides=tuple(overrides),
        problems=tuple(run.problems),
        outcome=plan.outcome if step.action == "done" else None,
    )


def item_of(run: PlanRun, plan: Plan, goal: Goal, proof: Row) -> Item:
    notes = [clip(str(note), 200) for note in proof["notes"]]
    if goal.human_blocked:
        notes.append(f"waits for a person: {clip(goal.human_blocked, 160)}")
    elif goal.status in ("failed", "blocked", "review_blocked") and goal.evidence:
        notes.append(clip(goal.evidence, 160))
    if goal.status == "superseded":
        replacements = (goal.steering or {}).get("replacementGoalIds")
        notes.append(f"replaced by {', '.join(replacements)}" if replacements else "nothing took its place")
    if proof["open_blockers"]:
        notes.append(f"blocked by {', '.join(proof['open_blockers'])}")
    overrides = []
    if proof["independence"] == "reduced":
        overrides.append("independence: reduced")
    if proof["exemptions"]:
        overrides.append(f"{counted(len(proof['exemptions']), 'replay')} exempted")
    return Item(
        goal.id,
        clip(goal.title, 200),
        goal.status,
        "stale" if proof["receipt"] == "stale" else MARKS.get(goal.status, "open"),
        tuple(notes),
        proof["receipt"] or "",
        clip(proof["stale_because"] or "", 200),
        tuple(overrides),
        _why(goal, proof),
        _facts(run, plan, goal, proof),
        plan.text_of(goal),
    )


def _why(goal: Goal, proof: Row) -> str:
    if proof["stale_because"]:
        return f"its receipt does not hold: {clip(proof['stale_because'], 200)}"
    if proof["receipt"]:
        return "its receipt covers it as it is now"
    if proof["open_blockers"]:
        return f"its review is open: {', '.join(proof['open_blockers'])}"
    if goal.human_blocked:
        return f"it waits for a person: {goal.human_blocked}"
    return clip(goal.evidence, 200) or f"it is {goal.status}, and no checkpoint has closed it"


def _facts(run: PlanRun, plan: Plan, goal: Goal, proof: Row) -> tuple[Fact, ...]:
    facts = [Fact("blockers open", LEDGER, proof["open_blockers"])]
    receipt = goal.receipt
    if not isinstance(receipt, dict):
        return (*facts, Fact("receipt", LEDGER, "none"))
    issued = f"{receipt.get('receiptKind')} {receipt.get('receiptId')} of {receipt.get('verifiedAt')}"
    path = receipts.gate_file(run.directory, str(receipt.get("qualityGateHash")))
    facts.append(Fact("receipt", LEDGER, issued))
    facts.append(Fact("quality gate behind it", "ultragoal/gates", "kept" if os.path.exists(path) else "gone"))
    facts.append(Fact("independence", LEDGER, receipt.get("independence")))
    if receipts.is_final(goal):
        covers = receipts.final_problem(plan, goal, run.directory) or "yes"
        facts.append(Fact("covers the plan", LEDGER, covers))
    return tuple(facts)


def goal_proof(run: PlanRun, plan: Plan, goal: Goal) -> Row:
    """What a goal's receipt is worth now; every view of a plan shows this."""
    receipt = goal.receipt or {}
    state, stale = None, ""
    if goal.status == "complete":
        stale = receipts.problem(plan, goal, run.directory) or _changed_evidence(run, receipt)
        state = "stale" if stale else "fresh"
    return {
        "receipt": state,
        "stale_because": stale or None,
        "independence": receipt.get("independence"),
        "exemptions": receipt.get("exemptions", []),
        "notes": receipt.get("notes", []),
        "open_blockers": [blocker.id for blocker in plan.open_blockers_of(goal.id)],
    }


def _changed_evidence(run: PlanRun, receipt: Row) -> str:
    """The evidence that a receipt cites and that is not there any more as it was recorded."""
    from omo.proof import artifacts

    for name, digest in part(receipt, "artifacts").items():
        if not artifacts.is_unchanged(run.caller.root, str(name), str(digest)):
            return f"its evidence {clip(str(name), 120)} was changed or is gone"
    return ""
