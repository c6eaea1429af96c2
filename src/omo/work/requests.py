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
    """Their words, and of each file that they named its text as it was then."""
    parts = [str(row.get("text") or row.get("criteria") or "")]
    for named in files_of(row):
        parts.append(f"{named.get('path')}, as it was when they typed this:\n{named.get('text')}")
    return block("\n\n".join(parts), LONGEST)


def files_of(row: Row) -> list[Row]:
    listed = row.get("files")
    return [named for named in listed if isinstance(named, dict)] if isinstance(listed, list) else []


def changed_since_named(rows: Iterable[Row], path: str, digest: str) -> bool:
    """Whether the user named this file, and it is not as it was when they did so last."""
    known = ""
    for row in rows:
        for named in files_of(row):
            if named.get("path") == path:
                known = str(named.get("digest"))
    return bool(known) and known != digest
