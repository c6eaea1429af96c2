"""Receipts: what closed a goal, what it covers, and whether it still holds.

A receipt is issued into the ledger by a checkpoint whose gate passed. It is fresh while what it covers is as it was:
for one goal, that goal's wording, blockers and supersession; for the final one, the set of required goals and the
receipt of each. Rows that change no goal change no receipt.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Sequence
from typing import Any

from omo import masking
from omo.digest import sha256
from omo.errors import NotEvaluable, Unreadable
from omo.state import store
from omo.text import clip
from omo.work.files import Files
from omo.workflows.ultragoal.plan import Goal, Plan, PlanRow, Receipt

SCHEMA = 1
FINAL, PER_GOAL = "final-aggregate", "per-goal"


def canonical_digest(value: object) -> str:
    """Of the JSON with sorted keys: order and spacing say nothing."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return sha256(text.encode("utf-8", "replace"))


def kind_for(plan: Plan, goal: Goal) -> str:
    """Final where every other required goal is complete already; a per-story plan has no final one."""
    return FINAL if is_last(plan, goal) and plan.goal_mode != "per-story" else PER_GOAL


def is_last(plan: Plan, goal: Goal) -> bool:
    """Every other required goal is complete: with this one the whole is reviewed."""
    return all(other.status == "complete" for other in plan.required if other.id != goal.id)


def mint(plan: Plan, goal: Goal, *, gate: str, now: str, facts: Receipt) -> Receipt:
    """The receipt of a checkpoint that is about to be appended as the ledger's next row."""
    kind = kind_for(plan, goal)
    receipt_id = canonical_digest([plan.run, goal.id, plan.seq + 1, now, gate])[:32]
    receipt: Receipt = {
        "schemaVersion": SCHEMA,
        "receiptId": receipt_id,
        "receiptKind": kind,
        "goalId": goal.id,
        "verifiedAt": now,
        "qualityGateHash": gate,
        "planGeneration": canonical_digest(basis_of(plan, goal)),
        **facts,
    }
    if kind == FINAL:
        covered = {other.id: other.receipt_id for other in plan.required}
        receipt["covers"] = {**covered, goal.id: receipt_id}
    return receipt


def basis_of(plan: Plan, goal: Goal) -> dict[str, object]:
    """What the receipt of one goal covers."""
    return {
        "run": plan.run,
        "brief": sha256(plan.brief.encode("utf-8", "replace")),
        "goal": {"id": goal.id, "title": goal.title, "objective": goal.objective, "steering": goal.steering or None},
        "blockers": [other.id for other in plan.goals if other.blocks == goal.id],
    }


def problem(plan: Plan, goal: Goal, directory: str) -> str:
    """Why the goal's receipt proves nothing now; empty while it is fresh."""
    receipt = goal.receipt
    if goal.status != "complete":
        return f"{goal.id} is {goal.status}"
    if receipt.get("goalId") != goal.id or receipt.get("schemaVersion") != SCHEMA:
        return f"{goal.id} has no receipt of omo"
    if receipt.get("planGeneration") != canonical_digest(basis_of(plan, goal)):
        return f"{goal.id} or its blockers changed after the receipt"
    return kept_gate(goal, directory)[1]


def kept_gate(goal: Goal, directory: str) -> tuple[dict[str, Any], str]:
    """The gate behind the goal's receipt, and why it is not the one that passed; empty where it is."""
    digest = str(goal.receipt.get("qualityGateHash"))
    with contextlib.suppress(Unreadable):
        kept = store.read(gate_file(directory, digest))
        if kept is not None and canonical_digest(kept) == digest:
            return kept, ""
    return {}, f"the quality gate behind the receipt of {goal.id} was edited or is gone"


def forged(plan: Plan, directory: str) -> list[str]:
    """Gates behind receipts that are gone or were edited."""
    closed = [goal for goal in plan.goals if goal.status == "complete" and goal.receipt]
    return list(filter(None, [kept_gate(goal, directory)[1] for goal in closed]))


def unproven(plan: Plan, directory: str) -> list[tuple[Goal, str]]:
    """Each required goal that no fresh receipt covers, with why; where each has one, the last, if none is final."""
    missing = []
    for goal in plan.required:
        if why := problem(plan, goal, directory):
            missing.append((goal, why))
    if not missing and plan.required and plan.goal_mode != "per-story" and final(plan, directory) is None:
        missing.append((plan.required[-1], "every goal is complete, and no fresh final receipt covers them"))
    return missing


def of_session_goal(plan: Plan, directory: str) -> tuple[list[str | None], list[str]]:
    """The receipts that prove the session's goal, and why they do not; none of the latter where they do."""
    if not plan.knows(plan.tool.objective):
        return [], [f"this goal was made for the plan, whose wording changed since: {clip(plan.tool.objective, 160)}"]
    story = plan.story_with(plan.tool.objective)
    if story is not None:
        why = problem(plan, story, directory)
        return [story.receipt_id], [why] if why else []
    if plan.is_open:
        return [], [problem(plan, goal, directory) for goal in plan.open_goals]
    carrier = final(plan, directory)
    covering = plan.required if carrier is None else [carrier]
    return [goal.receipt_id for goal in covering], [why for _, why in unproven(plan, directory)]


def final(plan: Plan, directory: str) -> Goal | None:
    """The goal whose final receipt covers the plan as it is now, while each receipt that it covers is fresh."""
    receipts = {goal.id: goal.receipt_id for goal in plan.required}
    for goal in reversed(plan.goals):
        if goal.receipt.get("receiptKind") == FINAL and goal.receipt.get("covers") == receipts:
            is_fresh = not any(problem(plan, other, directory) for other in plan.required)
            return goal if is_fresh else None
    return None


def gate_file(directory: str, digest: str) -> str:
    return os.path.join(directory, "gates", f"{digest if digest.isalnum() else 'none'}.json")


def as_kept(gate: object) -> object:
    """Return the gate without the secrets in what it says."""
    return masking.masked_row(gate) if isinstance(gate, dict) else gate


def keep_gate(directory: str, state: str, gate: object) -> str:
    """Keep the gate, without secrets, under its own digest; a receipt names it by that."""
    gate = as_kept(gate)
    digest = canonical_digest(gate)
    store.make_dir(os.path.join(directory, "gates"), state)
    store.replace(gate_file(directory, digest), json.dumps(gate, ensure_ascii=False, indent=2) + "\n")
    return digest


def issued(rows: Sequence[PlanRow]) -> Iterator[Receipt]:
    for row in rows:
        receipt = row.get("completionVerification")
        if row.get("kind") == "goal_checkpointed" and isinstance(receipt, dict):
            yield receipt


def drift(plan: Plan, files: Files) -> str:
    """Whether the tree moved on since the newest receipt. Shown, never held against it; empty without a receipt."""
    closed = [goal for goal in plan.goals if goal.status == "complete" and goal.receipt]
    if not closed:
        return ""
    newest = max(closed, key=lambda goal: str(goal.receipt.get("verifiedAt")))
    try:
        now = files.tree
    except NotEvaluable as error:
        return clip(f"the tree cannot be read: {error.message}", 200)
    if now == newest.receipt.get("tree"):
        return ""
    return f"the tree has changed since the receipt of {newest.id}"
