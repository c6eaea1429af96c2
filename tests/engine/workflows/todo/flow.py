"""A to-do list as data: a task is done once its file is there."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from omo.engine.case import CaseItem
from omo.engine.flow import Flow, ItemMark, ItemStatus
from omo.proof.checks import dump, parse_checks


def read(path: Path) -> list[CaseItem]:
    """Read `{"tasks": {"T1": "notes.txt"}}`."""
    items = []
    for name, file in json.loads(path.read_text(encoding="utf-8"))["tasks"].items():
        checks: list[Any] = [dump(each) for each in parse_checks([{"id": "there", "type": "path", "path": file}])]
        items.append(CaseItem(name, f"write {file}", checks))
    return items


def turn(mark: ItemMark, result: str, iteration: int) -> ItemMark:
    """Tick a task off, or open it again. What nobody could tell changes nothing."""
    if result == "pass":
        return replace(mark, status="DONE", last_pass_iteration=iteration)
    return mark if result == "unknown" else replace(mark, status="OPEN")


FLOW = Flow(
    name="todo",
    unit="task",
    prefix="t",
    read=read,
    turn=turn,
    statuses=(ItemStatus("OPEN", "open", "To do"), ItemStatus("DONE", "done", "Done")),
    begins_as="OPEN",
)
register = FLOW.register
