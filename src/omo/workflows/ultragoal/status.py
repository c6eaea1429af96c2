"""A plan of goals for its readers: each with its receipt, and whether that still covers it."""

from __future__ import annotations

from typing import Any

from omo.errors import OmoError
from omo.proof import artifacts
from omo.state.runtime import part
from omo.text import clip, counted
from omo.work.status import Command, Item, NextStep, Status, command
from omo.work.viewer import Viewer
from omo.workflows.ultragoal import receipts
from omo.workflows.ultragoal.next_step import next_step
from omo.workflows.ultragoal.plan import LIGHT, Goal, Plan
from omo.workflows.ultragoal.run import PlanRun, load_plan

Row = dict[str, Any]

LEDGER = "ledger.jsonl of the plan"
# What begins it, by what the user typed.
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
    """None where the session never had a plan."""
    run = load_plan(viewer.caller, viewer.run)
    if run.plan is None and not run.problems and not run.caller.summary("ultragoal"):
        return None
    step = next_step(run)
    if run.plan is None:
        return Status("ultragoal", "goal", headline="no plan", next=step, problems=tuple(run.problems))
    if viewer.for_next and step.action in ("execute-goal", "verify-again"):
        step = step._replace(commands=(*_missing(run, run.plan, step.item), *step.commands))
    return plan_status(run, run.plan, step)


def _missing(run: PlanRun, plan: Plan, name: str) -> list[Command]:
    """What else the gate of the goal asks for. It brings pydantic along, so only whoever asks for the step pays."""
    from omo.workflows.ultragoal.checkpoint import missing_parts

    try:
        return [Command(lead=part) for part in missing_parts(run, plan, plan.goal(name))]
    except OmoError:
        return []  # the checkpoint says what is wrong


def plan_status(run: PlanRun, plan: Plan, step: NextStep) -> Status:
    items = tuple(_item(run, plan, goal) for goal in plan.goals)
    drift = receipts.drift(plan, run.caller.root)
    final = receipts.final(plan, run.directory)
    facts = [clip(plan.objective, 300)]
    if plan.gate == LIGHT:
        facts.append("light gate, as the user chose: reviewers come at the end")
    if final is not None:
        facts.append(f"final receipt: fresh, issued with {final.id}")
    if drift:
        facts.append(drift)
    overrides = []
    for item in items:
        overrides += [f"{item.id}: {override}" for override in item.overrides]
    headline = plan.tally
    stale = sum(item.mark == "stale" for item in items)
    if run.problems:
        headline += ", by the word of a damaged ledger"
    elif stale:
        headline += f", {counted(stale, 'receipt')} stale"
    return Status(
        "ultragoal",
        "goal",
        run=plan.run,
        headline=headline,
        items=items,
        next=step,
        facts=tuple(facts),
        changed=(drift,) if drift else (),
        overrides=tuple(overrides),
        problems=tuple(run.problems),
        outcome=plan.outcome if step.action == "done" else None,
    )


def _item(run: PlanRun, plan: Plan, goal: Goal) -> Item:
    receipt = goal.receipt or {}
    mark, state, stale = MARKS.get(goal.status, "open"), "", ""
    if goal.status == "complete":
        state, stale = "fresh", receipts.problem(plan, goal, run.directory) or _changed_evidence(run, receipt)
    if stale:
        mark, state = "stale", "stale"
    blockers = [blocker.id for blocker in plan.open_blockers_of(goal.id)]
    overrides = []
    if receipt.get("independence") == "reduced":
        overrides.append("not reviewed independently")
    if receipt.get("exemptions"):
        overrides.append(f"{counted(len(receipt['exemptions']), 'replay')} exempted")
    return Item(
        goal.id,
        clip(goal.title, 200),
        goal.status,
        mark,
        notes=tuple(_notes(goal, blockers)),
        receipt=state,
        receipt_why=clip(stale, 200),
        overrides=tuple(overrides),
        text=plan.text_of(goal),
    )


def _notes(goal: Goal, blockers: list[str]) -> list[str]:
    notes = [clip(str(note), 200) for note in (goal.receipt or {}).get("notes", [])]
    if goal.human_blocked:
        notes.append(f"waits for a person: {clip(goal.human_blocked, 160)}")
    elif goal.status in ("failed", "blocked", "review_blocked") and goal.evidence:
        notes.append(clip(goal.evidence, 160))
    if goal.status == "superseded":
        replacements = (goal.steering or {}).get("replacementGoalIds")
        notes.append(f"replaced by {', '.join(replacements)}" if replacements else "nothing took its place")
    if blockers:
        notes.append(f"blocked by {', '.join(blockers)}")
    return notes


def _changed_evidence(run: PlanRun, receipt: Row) -> str:
    """The evidence that a receipt cites and that is not there any more as it was recorded."""
    for name, digest in part(receipt, "artifacts").items():
        if not artifacts.is_unchanged(run.caller.root, str(name), str(digest)):
            return f"its evidence {clip(str(name), 120)} was changed or is gone"
    return ""
