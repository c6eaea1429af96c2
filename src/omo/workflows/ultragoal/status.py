"""How a plan stands: each goal with its receipt, and whether that still covers it."""

from __future__ import annotations

from omo.errors import OmoError
from omo.proof import artifacts
from omo.state.runtime import part
from omo.text import clip, counted
from omo.work.agents import FULL
from omo.work.files import Files
from omo.work.status import Command, Item, NextStep, Status, command
from omo.work.viewer import Viewer
from omo.workflows.ultragoal import receipts
from omo.workflows.ultragoal.next_step import next_step
from omo.workflows.ultragoal.plan import Goal, Plan
from omo.workflows.ultragoal.reviewers import NOT_REVIEWED
from omo.workflows.ultragoal.run import PlanRun, load_plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.workflows.ultragoal.plan import Receipt

# What begins it, by what the user typed, and the ends of a file that it is begun with as it is.
NAMED_FILES = {"ultragoal": ("",)}
BEGINNINGS = {
    "ultragoal": (command("omo ultragoal create-goals --start --brief-file FILE", lead="write the goals down, then"),)
}
MARKS = {
    "complete": "done",
    "active": "active",
    "failed": "failed",
    "blocked": "waiting",
    "review_blocked": "waiting",
    "superseded": "cut",
}


def status(viewer: Viewer) -> Status | None:
    """Return how the session's plan stands, if it ever had one."""
    run = load_plan(viewer.caller, viewer.run)
    if run.plan is None and not run.problems and not run.caller.summary("ultragoal"):
        return None
    step = next_step(run)
    if run.plan is None:
        return Status("ultragoal", "goal", headline="no plan", next=step, problems=run.damage_lines)
    if viewer.for_next and step.action in ("execute-goal", "verify-again"):
        step = step._replace(commands=(*_missing(run, run.plan, step.item), *step.commands))
    return plan_status(run, run.plan, step, viewer.files)


def _missing(run: PlanRun, plan: Plan, name: str) -> list[Command]:
    """Return what else the gate of the goal asks for. That loads pydantic, so only whoever asks for the step pays."""
    from omo.workflows.ultragoal.checkpoint import missing_parts

    try:
        return [Command(lead=part) for part in missing_parts(run, plan.goal(name))]
    except OmoError:
        return []  # the checkpoint says what is wrong


def plan_status(run: PlanRun, plan: Plan, step: NextStep, files: Files) -> Status:
    items = tuple(_item(run, plan, goal) for goal in plan.goals)
    drift = receipts.drift(plan, files)
    final = receipts.final(plan)
    facts = [clip(plan.objective, 300)]
    if final is not None:
        facts.append(f"final receipt: fresh, issued with {final.id}")
    if drift:
        facts.append(drift)
    headline = plan.steered
    stale = sum(item.mark == "stale" for item in items)
    if stale:
        headline.append(f"{counted(stale, 'receipt')} stale")
    return Status(
        "ultragoal",
        "goal",
        run=plan.run,
        headline=", ".join(headline),
        items=items,
        next=step,
        facts=tuple(facts),
        changed=(drift,) if drift else (),
        problems=run.damage_lines,
        outcome=plan.outcome if step.action == "done" else None,
    )


def _item(run: PlanRun, plan: Plan, goal: Goal) -> Item:
    receipt, is_complete = goal.receipt, goal.status == "complete"
    blockers = [blocker.id for blocker in plan.open_blockers_of(goal.id)]
    overrides = []
    if receipt and receipt.get("independence") != FULL:
        overrides.append(NOT_REVIEWED)
    if receipt.get("exemptions"):
        overrides.append(f"{counted(len(receipt['exemptions']), 'replay')} exempted")
    item = Item(
        goal.id,
        clip(goal.title, 200),
        goal.status,
        MARKS.get(goal.status, "open"),
        notes=tuple(_notes(goal, blockers)),
        receipt="fresh" if is_complete else "",
        overrides=tuple(overrides),
        text=plan.text_of(goal),
    )
    if not is_complete:
        return item
    stale = _changed_evidence(run, receipt)
    return item.no_longer(clip(stale, 200)) if stale else item


def _notes(goal: Goal, blockers: list[str]) -> list[str]:
    notes = [clip(str(note), 200) for note in goal.receipt.get("notes", [])]
    if goal.human_blocked:
        notes.append(f"waits for a person: {clip(goal.human_blocked, 160)}")
    elif goal.status in ("failed", "blocked", "review_blocked") and goal.evidence:
        notes.append(clip(goal.evidence, 160))
    if goal.status == "superseded":
        replacements = goal.steering.get("replacementGoalIds")
        notes.append(f"replaced by {', '.join(replacements)}" if replacements else "nothing took its place")
    if blockers:
        notes.append(f"blocked by {', '.join(blockers)}")
    return notes


def _changed_evidence(run: PlanRun, receipt: Receipt) -> str:
    """Name the evidence that a receipt cites and that is not there any more as it was recorded."""
    for name, digest in part(receipt, "artifacts").items():
        if not artifacts.is_unchanged(run.caller.root, str(name), str(digest)):
            return f"its evidence {clip(str(name), 120)} was changed or is gone"
    return ""
