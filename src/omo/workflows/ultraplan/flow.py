"""Ultraplan as data: how a step can stand, and what a look at git makes of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from omo.engine.case import CaseItem
from omo.engine.flow import Flow, ItemMark, ItemStatus, RoundStep
from omo.work.status import Command, command
from omo.workflows.ultraplan.models import Document
from omo.workflows.ultraplan.session import PlanState

MOST_RECOVERIES = 2


def turn(mark: ItemMark, result: str, iteration: int) -> ItemMark:
    """Take the status that git shows. What was once seen to pass stays seen, whatever a later look says."""
    if result == "pass" and mark.last_pass_iteration is None:
        return replace(mark, status=result, last_pass_iteration=iteration)
    return replace(mark, status=result)


def items_of(document: Document) -> list[CaseItem]:
    """Return the steps, each with what the plan says of it, but for what only the audit reads."""
    items = []
    for step in document.steps:
        said = [f"{name}: {value}" for name, value in step.fields.items() if value]
        items.append(CaseItem(str(step.number), step.title, [], text="\n".join(said)))
    return items


def read(path: Path) -> list[CaseItem]:
    """Read the steps of a plan."""
    from omo.workflows.ultraplan import document as documents  # which loads the reader of Markdown

    return items_of(documents.load(path, path.parent))


# What a critic looks at. The last one is the hard gate: a weak manifest lets undone work pass.
DIMENSIONS = {
    "goal": "the steps together bring about what was asked, and nothing beside it",
    "grounding": "files, functions and commands it names are really there, or an earlier step makes them",
    "order": "no step needs what a later one brings; dependencies are stated",
    "size": "each step is one change that one commit can hold and one person can review",
    "tests": "behaviour that changes has a test, written first where that is possible",
    "verify": "each Verify would fail if the work of its step were missing",
    "failure": "On failure fits: nothing that others build on is skipped, nothing risky is retried blindly",
    "scope": "the fence holds what the steps need, and closes what they must not touch",
    "safety": "no step destroys data, leaks secrets or weakens a guard; what cannot be undone is said to be so",
    "manifest-quality": "no manifest would hold for undone, half-done or unrelated work",
}
GATE = "manifest-quality"
MARKS = ("pass", "concern", "fail")
CRITIC = RoundStep(
    "CRITIC",
    agent="omo:critic",
    asked_by="omo plan critique PLAN",
    task="Read the plan {item} and hold it against the code base.",
    form={
        "verdict": "clean | findings",
        "plan_digest": "",  # of the text that it is asked about
        "dimensions": dict.fromkeys(DIMENSIONS, " | ".join(MARKS)),
        "findings": [
            {"line": 12, "dimension": GATE, "severity": "blocking | advisory", "text": "what is wrong"},
        ],
    },
)
FLOW = Flow(
    name="ultraplan",
    command="plan",
    given="PLAN",
    run_name="plan session",
    unit="step",
    prefix="p",
    read=read,
    turn=turn,
    statuses=(
        ItemStatus("drift", "failed", "to mend"),
        ItemStatus("missing", "open", "to do"),
        ItemStatus("unknown", "waiting", "not known"),
        ItemStatus("skipped", "cut", "skipped, as its plan allows"),
        ItemStatus("pass", "done", "done"),
    ),
    begins_as="missing",
    steps=(CRITIC,),
    judge_verb="finish",
    abandon_verb="finish --abandon",
    goes_on=True,
    file_ends=("",),
    begun_by={
        "ultraplan": (
            command("omo plan critique PLAN", lead="write the plan, then"),
            Command(lead="when omo:critic found it sound, tell the user: /omo:ultraexecute carries it out"),
        ),
        "ultraexecute": (command("omo plan start PLAN", lead="once it is committed, and omo:critic found it sound"),),
    },
    case=PlanState,
)
