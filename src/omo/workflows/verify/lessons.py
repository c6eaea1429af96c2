"""What verifications left open or missed: kept, and shown to the next goal of the category."""

from __future__ import annotations

import os

from omo.errors import OmoError
from omo.state import ledger, ownership
from omo.state import store as files
from omo.text import clip
from omo.workflows.verify.goals import VERIFY, Goal, GoalStore, Row

MOST_GUARDRAILS = 10


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


def log_missing(store: GoalStore, goal: Goal, items: list[str]) -> str:
    """Properties the goal never asked for. Telemetry for better goals: a failure to write it stops nothing."""
    if not items:
        return ""
    caller = store.caller
    path = _missing_file(caller.state)
    event = {"kind": "missing-criteria", "goal": goal.id, "category": goal.spec.category, "items": items}
    event["artifact"] = ", ".join(goal.answers["q1"].artifacts) if "q1" in goal.answers else ""
    try:
        ownership.make_state_dir(caller.state)
        files.make_dir(VERIFY.home(caller.state), caller.state)
        with files.Lock(path + ".lock", files.deadline(caller.wait)):
            ledger.append(path, [event], actor=caller.by, now=caller.now)
    except (OmoError, OSError) as error:
        return f"{path} could not be written: {error}"
    return ""


def guardrails(store: GoalStore, goal: Goal) -> list[str]:
    """What verifications of this category missed or failed before, newest first. Nothing here can stop a goal."""
    try:
        rows = [*store.rows, *ledger.rows(_missing_file(store.caller.state))]
    except (OmoError, OSError) as error:
        return [f"(earlier verifications could not be read: {error})"]
    rows = [row for row in rows if row.get("category") == goal.spec.category]
    lines: list[str] = []
    for row in sorted(rows, key=lambda row: str(row.get("ts")), reverse=True):
        kind, name = row.get("kind"), row.get("goal")
        if kind == "gap":
            lines.append(f"{name} left a gap in {row.get('question')}: {clip(str(row.get('why')), 200)}")
        elif kind == "finished" and row.get("verdict") == "fail":
            learned = f" (learned: {row['learned']})" if row.get("learned") else ""
            lines.append(f"{name} failed: {clip(str(row.get('reason')) + learned, 240)}")
        elif kind == "missing-criteria" and isinstance(row.get("items"), list):
            lines += [f"{name} never asked: {clip(str(item), 200)}" for item in row["items"]]
    return list(dict.fromkeys(lines))[:MOST_GUARDRAILS]


def _missing_file(state: str) -> str:
    return os.path.join(VERIFY.home(state), "missing-verification-criteria.jsonl")
