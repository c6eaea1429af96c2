"""Receipts: what closed a goal, what it covers, and whether it still holds.

A checkpoint whose gate passed issues one into the ledger, beside that gate. The receipt of a goal goes with the status
it was issued for: what is reopened, or superseded, has none. The final one covers the required goals and the receipt of
each as they were. Rows that change no goal change no receipt.
"""

from __future__ import annotations

import json

from omo import masking
from omo.digest import sha256
from omo.errors import NotEvaluable
from omo.json_text import Json
from omo.text import clip
from omo.work.files import Files
from omo.workflows.ultragoal.plan import Goal, Plan
from omo.workflows.ultragoal.rows import Receipt

SCHEMA = 1
FINAL, PER_GOAL = "final-aggregate", "per-goal"


def canonical_digest(value: object) -> str:
    """Return the digest of the JSON with sorted keys: order and spacing say nothing."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return sha256(text.encode("utf-8", "replace"))


def kind_for(plan: Plan, goal: Goal) -> str:
    """Return the kind of a receipt: final for the last goal of a plan; a per-story plan has no final one."""
    return FINAL if is_last(plan, goal) and plan.goal_mode != "per-story" else PER_GOAL


def is_last(plan: Plan, goal: Goal) -> bool:
    """Return whether every other required goal is complete: with this one the whole is reviewed."""
    return all(other.status == "complete" for other in plan.required if other.id != goal.id)


def mint(plan: Plan, goal: Goal, *, gate: Json, now: str, facts: Receipt) -> Receipt:
    """Make the receipt of a checkpoint that is about to be appended as the ledger's next row."""
    kind, digest = kind_for(plan, goal), canonical_digest(gate)
    receipt_id = canonical_digest([plan.run, goal.id, plan.rows[-1]["seq"] + 1, now, digest])[:32]
    receipt: Receipt = {
        "schemaVersion": SCHEMA,
        "receiptId": receipt_id,
        "receiptKind": kind,
        "goalId": goal.id,
        "verifiedAt": now,
        "qualityGateHash": digest,
        **facts,
    }
    if kind == FINAL:
        covered = {other.id: other.receipt_id for other in plan.required}
        receipt["covers"] = {**covered, goal.id: receipt_id}
    return receipt


def missing(plan: Plan) -> list[str]:
    """Say what keeps the receipts from proving the plan."""
    if plan.is_open:
        return [f"{goal.id} is {goal.status}" for goal in plan.open_goals]
    if plan.goal_mode == "per-story" or final(plan) is not None:
        return []
    return ["every goal is complete, and no fresh final receipt covers them"]


def of_session_goal(plan: Plan) -> tuple[list[str | None], list[str]]:
    """Return the receipts that prove the session's goal, and why they do not; none of the latter if they do."""
    if not plan.knows(plan.tool.objective):
        return [], [f"this goal was made for the plan, whose wording changed since: {clip(plan.tool.objective, 160)}"]
    story = plan.story_with(plan.tool.objective)
    if story is not None:
        return [story.receipt_id], [] if story.receipt else [f"{story.id} is {story.status}"]
    carrier = final(plan)
    covering = plan.required if carrier is None else [carrier]
    return [goal.receipt_id for goal in covering], missing(plan)


def final(plan: Plan) -> Goal | None:
    """Return the goal whose final receipt covers the plan as it is now, if one does."""
    receipts = {goal.id: goal.receipt_id for goal in plan.required}
    for goal in plan.required:
        if goal.receipt.get("covers") == receipts and not plan.is_open:
            return goal
    return None


def as_kept(gate: object) -> Json:
    """Return the gate without the secrets in what it says. What is no object was refused before."""
    return masking.masked_row(gate) if isinstance(gate, dict) else {}


def drift(plan: Plan, files: Files) -> str:
    """Say that the tree has moved on since the newest receipt, if it has. Shown, never held against it."""
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
