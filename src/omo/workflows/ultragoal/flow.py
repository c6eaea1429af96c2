"""Ultragoal as data: how a goal can stand, who looks at it before it is closed, and how its source names the rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from omo.engine.case import CaseItem
from omo.engine.flow import Flow, ItemMark, ItemStatus, RoundStep
from omo.workflows.ultragoal.brief import Brief, parse
from omo.workflows.ultragoal.plan import Plan
from omo.workflows.ultragoal.rows import CREATED, ENDED


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
        ItemStatus(
            "pending",
            "open",
            "To do",
            may=("blocked", "split", "revise"),
            way="omo ultragoal complete-goals starts it, once no other goal is under way",
        ),
        ItemStatus(
            "active",
            "active",
            "Under way",
            may=("complete", "failed", "blocked", "review"),
            way="omo ultragoal checkpoint --goal-id {id} --status complete|failed|blocked --evidence TEXT; one that is "
            "blocked can be replaced",
        ),
        ItemStatus(
            "complete",
            "done",
            "Complete",
            may=("complete", "review"),
            way="what is complete stays so; findings reopen it: omo ultragoal record-review-blockers --goal-id {id} "
            "--objective TEXT --evidence TEXT",
        ),
        ItemStatus(
            "failed",
            "failed",
            "Failed",
            may=("complete", "failed", "blocked", "review"),
            way="omo ultragoal complete-goals --retry-failed; or omo ultragoal checkpoint --goal-id {id} "
            "--status blocked --evidence TEXT: one that is blocked can be replaced",
        ),
        ItemStatus(
            "blocked",
            "waiting",
            "Blocked",
            may=("blocked", "split", "supersede"),
            way="omo ultragoal complete-goals --retry-blocked, or replace it: omo ultragoal steer --kind "
            "mark_blocked_superseded|split_subgoal --goal-id {id} --evidence TEXT --rationale TEXT",
        ),
        ItemStatus(
            "review_blocked",
            "waiting",
            "What its review found is open",
            may=("review", "supersede"),
            way="close its blockers first (omo ultragoal status), or omo ultragoal steer --kind "
            "mark_blocked_superseded --goal-id {id} --evidence TEXT --rationale TEXT",
        ),
        ItemStatus("superseded", "cut", "Superseded", way="other goals took its place: omo ultragoal status"),
    ),
    begins_as="pending",
    steps=(
        RoundStep(
            "CLEAN",
            agent="omo:critic",
            task="Follow {plugin}/skill-fragments/ultragoal/ai-slop-cleaner.md to the letter on the files that were "
            "changed for {item} of this project's plan.",
        ),
        RoundStep(
            "REVIEW",
            agent="omo:architect",
            task="Review the work for {item} of this project's plan: is it there as its words say, in architecture, "
            "product and code? Change nothing.",
            form={
                "architectureStatus": "CLEAR | WATCH | BLOCK",
                "productStatus": "CLEAR | WATCH | BLOCK",
                "codeStatus": "CLEAR | WATCH | BLOCK",
                "recommendation": "APPROVE | COMMENT | REQUEST CHANGES",
                "evidence": "what you read and ran, and what came out",
                "commands": ["what you ran"],
                "blockers": ["what has to change first"],
            },
            lanes=("architectureStatus", "productStatus", "codeStatus"),
        ),
        RoundStep(
            "QA",
            agent="omo:qa",
            task="Try to break the work for {item} of this project's plan: from its words first, the code last, on the "
            "surface that people use. Keep what you see as evidence of {item}.",
            form={
                "e2eStatus": "passed | failed",
                "redTeamStatus": "passed | failed",
                "evidence": "what you ran, and what came out",
                "blockers": ["what does not hold"],
            },
            lanes=("e2eStatus", "redTeamStatus"),
        ),
    ),
    has_rounds=False,
    file_ends=("",),
    started_row=CREATED,
    ended_row=ENDED,
    case=Plan,
)
STATUSES = [status.name for status in FLOW.statuses]
