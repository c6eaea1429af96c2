"""Ultragoal as data: how a goal can stand, and how its source names the rows of a plan's ledger."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from omo.engine.case import CaseItem
from omo.engine.flow import Flow, ItemMark, ItemStatus
from omo.workflows.ultragoal.brief import Brief, parse
from omo.workflows.ultragoal.plan import CREATED, ENDED, Plan


def turn(mark: ItemMark, result: str, iteration: int) -> ItemMark:
    """Take the status that a checkpoint or a steering gives a goal. One that was complete was so once."""
    if result == "complete":
        return replace(mark, status=result, last_pass_iteration=iteration)
    return replace(mark, status=result)


def items_of(brief: Brief) -> list[CaseItem]:
    items = []
    for number, story in enumerate(brief.stories, start=1):
        items.append(CaseItem(f"G{number:03}", story.title, [], text=story.objective))
    return items


def read(path: Path) -> list[CaseItem]:
    """Read the goals of a brief."""
    return items_of(parse(path.read_text(encoding="utf-8")))


FLOW = Flow(
    name="ultragoal",
    start_verb="create-goals",
    given="--start --brief-file FILE",
    run_name="ultragoal plan",
    unit="goal",
    prefix="g",
    read=read,
    turn=turn,
    statuses=(
        ItemStatus("pending", "open", "To do"),
        ItemStatus("active", "active", "Under way"),
        ItemStatus("complete", "done", "Complete"),
        ItemStatus("failed", "failed", "Failed"),
        ItemStatus("blocked", "waiting", "Blocked"),
        ItemStatus("review_blocked", "waiting", "What its review found is open"),
        ItemStatus("superseded", "cut", "Superseded"),
    ),
    begins_as="pending",
    has_rounds=False,
    file_ends=("",),
    started_row=CREATED,
    ended_row=ENDED,
    case=Plan,
)
STATUSES = [status.name for status in FLOW.statuses]
