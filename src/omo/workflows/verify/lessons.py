"""What verifications left open or missed: kept, and shown to the next goal of the category."""

from __future__ import annotations

import os
from collections.abc import Sequence

from omo.engine.case import Case
from omo.engine.filed import FiledRuns
from omo.errors import OmoError
from omo.state import ledger, ownership
from omo.state import store as files
from omo.text import clip
from omo.work.run import Caller

MOST_LESSONS = 10
LONGEST = 200
FILE = ("verify", "missing-verification-criteria.jsonl")  # below the state directory


def log_missing(caller: Caller, case: Case, items: Sequence[str]) -> str | None:
    """Log properties that the goal never asked for, for better goals. Returns why that failed; it stops nothing."""
    if not items:
        return None
    path = os.path.join(caller.state, *FILE)
    first = case.answers.get("q1")
    row = {"kind": "missing-criteria", "goal": case.item.id, "category": case.item.form["category"], "items": items}
    row["artifact"] = ", ".join(first["artifacts"]) if first else ""
    try:
        ownership.make_state_dir(caller.state)
        files.make_dir(os.path.dirname(path), caller.state)
        with files.Lock(path + ".lock", files.deadline(caller.wait)):
            ledger.append(path, [row], actor=caller.by, now=caller.now)
    except (OmoError, OSError) as error:
        return f"{path} could not be written: {error}"
    return None


def of_category(runs: FiledRuns, category: str) -> list[str]:
    """Return what verifications of a category missed or failed before, newest first. Nothing here stops a goal."""
    told: list[tuple[str, str]] = []
    for name, case in runs.cases.items():
        if case.item.form["category"] == category:
            told += [(str(row["ts"]), line) for row in case.rows for line in _lines(name, row)]
    try:
        for row in ledger.rows(os.path.join(runs.caller.state, *FILE)):
            if row.get("category") == category and isinstance(row.get("items"), list):
                asked = [f"{row['goal']} never asked: {clip(str(item), LONGEST)}" for item in row["items"]]
                told += [(str(row["ts"]), line) for line in asked]
    except (OmoError, OSError) as error:
        return [f"(earlier verifications could not be read: {error})"]
    told.sort(key=lambda moment_and_line: moment_and_line[0], reverse=True)
    return list(dict.fromkeys(line for _, line in told))[:MOST_LESSONS]


def _lines(goal: str, row: object) -> list[str]:
    """Return what one row of a goal's ledger left open."""
    assert isinstance(row, dict)
    if row["kind"] in ("gap", "answered"):
        gaps = [row["why"]] if row["kind"] == "gap" else row["gaps"]
        return [f"{goal} left a gap in {row['question']}: {clip(why, LONGEST)}" for why in gaps]
    if row["kind"] == "judged" and row["verdict"] == "fail":
        learned = row["words"].get("learned")
        why = f"{row['why']} (learned: {learned})" if learned else row["why"]
        return [f"{goal} failed: {clip(why, 240)}"]
    return []
