"""Receipts: what closed a goal, what it covers, and whether it still holds.

A receipt is issued into the ledger by a checkpoint whose gate passed. It is fresh while what it covers is as it was:
for one goal, that goal's wording, blockers and supersession; for the final one, the set of required goals and the
receipt of each. Rows that change no goal change no receipt.
"""

from __future__ import annotations

import json
import os
from typing import Any

from omo.digest import sha256
from omo.errors import Unreadable
from omo.state import store
from omo.ultragoal.plan import Goal, Plan

Row = dict[str, Any]

SCHEMA = 1
FINAL, PER_GOAL = "final-aggregate", "per-goal"


def canonical_digest(value: object) -> str:
    """Of the JSON with sorted keys: order and spacing say nothing."""
    return sha256(
        json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    )


def kind_for(plan: Plan, goal: Goal, *, superseding: list[str]) -> str:
    """Final where every other required goal is complete already; a per-story plan has no final one."""
    if plan.goal_mode == "per-story":
        return PER_GOAL
    others = [one for one in plan.required if one.id != goal.id and one.id not in superseding]
    return FINAL if all(one.status == "complete" for one in others) else PER_GOAL


def mint(
    plan: Plan, goal: Goal, *, kind: str, gate: str, snapshot: Row, superseding: list[str], now: str, facts: Row
) -> Row:
    """The receipt of a checkpoint that is about to be appended as the ledger's next row."""
    basis = basis_of(plan, goal)
    receipt_id = canonical_digest([plan.run, goal.id, plan.seq + 1, now, gate])[:32]
    receipt: Row = {
        "schemaVersion": SCHEMA,
        "receiptId": receipt_id,
        "receiptKind": kind,
        "goalId": goal.id,
        "verifiedAt": now,
        "goalStatusBeforeCheckpoint": goal.status,
        "goalMode": plan.goal_mode,
        "objective": plan.objective,
        "qualityGateHash": gate,
        "goalSnapshotHash": canonical_digest(snapshot),
        "checkpointLedgerRow": plan.seq + 1,
        "basis": basis,
        "planGeneration": canonical_digest(basis),
        **facts,
    }
    if kind == FINAL:
        covered = {one.id: _id_of(one) for one in plan.required if one.id not in superseding}
        receipt["covers"] = {**covered, goal.id: receipt_id}
    return receipt


def basis_of(plan: Plan, goal: Goal) -> Row:
    """What the receipt of one goal covers."""
    return {
        "run": plan.run,
        "brief": sha256(plan.brief.encode("utf-8", "replace")),
        "goal": {"id": goal.id, "title": goal.title, "objective": goal.objective, "steering": goal.steering},
        "blockers": [one.id for one in plan.goals if one.blocks == goal.id],
    }


def _id_of(goal: Goal) -> str | None:
    return (goal.receipt or {}).get("receiptId")


def problem(plan: Plan, goal: Goal, directory: str) -> str:
    """Why the goal's receipt proves nothing now; empty while it is fresh."""
    receipt = goal.receipt
    if goal.status != "complete":
        return f"{goal.id} is {goal.status}"
    if not isinstance(receipt, dict):
        return f"{goal.id} was completed without a receipt of omo"
    if receipt.get("goalId") != goal.id or receipt.get("schemaVersion") != SCHEMA:
        return f"the receipt of {goal.id} is not one of omo's"
    if receipt.get("planGeneration") != canonical_digest(basis_of(plan, goal)):
        return f"{goal.id} or its blockers changed after the receipt"
    return _gate_problem(goal, directory)


def _gate_problem(goal: Goal, directory: str) -> str:
    digest = str((goal.receipt or {}).get("qualityGateHash"))
    try:
        kept = store.read(gate_file(directory, digest))
    except Unreadable:
        kept = {}
    if kept is None:
        return f"the quality gate behind the receipt of {goal.id} is gone"
    return "" if canonical_digest(kept) == digest else f"the quality gate behind the receipt of {goal.id} was edited"


def forged(plan: Plan, directory: str) -> list[str]:
    """Gates behind receipts that are gone or were edited."""
    closed = [goal for goal in plan.goals if goal.status == "complete" and goal.receipt]
    return [one for one in (_gate_problem(goal, directory) for goal in closed) if one]


def final(plan: Plan, directory: str) -> Goal | None:
    """The goal that carries a fresh final receipt, if one does."""
    for goal in reversed(plan.goals):
        if is_final(goal) and not final_problem(plan, goal, directory):
            return goal
    return None


def is_final(goal: Goal) -> bool:
    return (goal.receipt or {}).get("receiptKind") == FINAL


def final_problem(plan: Plan, goal: Goal, directory: str) -> str:
    """Why this final receipt does not cover the plan as it is now."""
    covered = (goal.receipt or {}).get("covers")
    if covered != {one.id: _id_of(one) for one in plan.required}:
        return "goals were added, reopened or closed again after the final receipt"
    return next(filter(None, (problem(plan, one, directory) for one in plan.required)), "")


def gate_file(directory: str, digest: str) -> str:
    return os.path.join(directory, "gates", f"{digest if digest.isalnum() else 'none'}.json")


def keep_gate(directory: str, state: str, gate: object) -> str:
    """Keep the gate under its own digest; a receipt names it by that."""
    digest = canonical_digest(gate)
    store.make_dir(os.path.join(directory, "gates"), state)
    store.replace(gate_file(directory, digest), json.dumps(gate, ensure_ascii=False, indent=2) + "\n")
    return digest
