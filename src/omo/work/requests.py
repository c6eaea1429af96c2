"""What the user asked for, as a hook kept it when they typed it: the word that every judged end is held against."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from omo.text import block

Row = dict[str, Any]

ASKED = "asked"  # after /omo:ultragoal, /omo:ultraplan, /omo:ultraexecute or /omo:verify
RALPH_ASKED = "ralph-asked"
ARMED = ("activated", "rearmed")
LONGEST = 8000


def typed(events: Iterable[Row], workflow: str, since: str = "") -> list[Row]:
    """What a person typed after the workflow's own command, oldest first."""
    rows = []
    for row in events:
        kind = RALPH_ASKED if workflow == "ralph" else ASKED
        is_of_it = row.get("kind") == kind and (kind == RALPH_ASKED or row.get("workflow") == workflow)
        if is_of_it and row.get("actor") == "user" and str(row.get("ts")) > since:
            rows.append(row)
    return rows


def armed(events: Iterable[Row], since: str = "") -> list[Row]:
    """The prompts with which a person armed the session, oldest first."""
    rows = []
    for row in events:
        if row.get("kind") in ARMED and row.get("actor") == "user" and str(row.get("ts")) > since:
            rows.append(row)
    return rows


def text_of(row: Row) -> str:
    """Their words."""
    return block(str(row.get("text") or ""), LONGEST)
