"""What verifications missed: gaps, criteria no goal had asked for, and what the next goal is shown of them."""

from __future__ import annotations

import os

from omo.errors import OmoError
from omo.shown import clip
from omo.state import ledger, paths, store
from omo.verify.goals import Goal, Place, Row

_MOST_GUARDRAILS = 10


def gap(goal: Goal, question: str, why: str) -> Row:
    """A soft signal: it never gates, and the next goal of this category is shown it."""
    return {
        "kind": "gap",
        "gap": "verification_gap",
        "goal": goal.id,
        "category": goal.spec.category,
        "question": question,
        "why": clip(why, 400),
    }


def log_missing(place: Place, goal: Goal, items: list[str]) -> str:
    """Properties the goal never asked for. Telemetry for better goals: a failure to write it stops nothing."""
    if not items:
        return ""
    path = _missing_file(place.state)
    event = {"kind": "missing-criteria", "goal": goal.id, "category": goal.spec.category, "items": items}
    try:
        store.make_state_dir(place.state)
        store.make_dir(paths.verify_dir(place.state), place.state)
        with store.Lock(path + ".lock", store.Deadline(place.wait)):
            ledger.append(path, [event], actor=place.by, now=place.now)
    except (OmoError, OSError) as error:
        return f"{path} could not be written: {error}"
    return ""


def _missing_file(state: str) -> str:
    return os.path.join(paths.verify_dir(state), "missing-verification-criteria.jsonl")


def guardrails(place: Place, goal: Goal) -> list[str]:
    """What verifications of this category missed or failed before, newest first. Nothing here can stop a goal."""
    try:
        rows = [*place.journal.rows(), *ledger.rows(_missing_file(place.state))]
    except (OmoError, OSError) as error:
        return [f"(earlier verifications could not be read: {error})"]
    rows = [row for row in rows if row.get("category") == goal.spec.category]
    rows.sort(key=lambda row: str(row.get("ts")), reverse=True)
    told = [line for row in rows for line in _lessons(row)]
    return list(dict.fromkeys(told))[:_MOST_GUARDRAILS]


def _lessons(row: Row) -> list[str]:
    name = row.get("goal")
    if row.get("kind") == "gap":
        return [f"{name} left a gap in {row.get('question')}: {clip(str(row.get('why')), 200)}"]
    if row.get("kind") == "finished" and row.get("verdict") == "fail":
        learned = f" (learned: {row['learned']})" if row.get("learned") else ""
        return [f"{name} failed: {clip(str(row.get('reason')) + learned, 240)}"]
    if row.get("kind") == "missing-criteria" and isinstance(row.get("items"), list):
        return [f"{name} never asked: {clip(str(item), 200)}" for item in row["items"]]
    return []
