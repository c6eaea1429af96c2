"""What `omo ultragoal` shows: a plan, a goal to work on, and what a checkpoint did."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Any

from omo.cli.result import Result
from omo.shown import block, clip, counted
from omo.ultragoal import loop, receipts
from omo.ultragoal.drift import drift
from omo.ultragoal.next_step import Standing, Step
from omo.ultragoal.plan import STATUSES, Goal, Plan, render_goal
from omo.ultragoal.run import Run
from omo.ultragoal.status import proof
from omo.ultragoal.tally import tally

if TYPE_CHECKING:
    from omo.ultragoal.checkpoint import Done

Row = dict[str, Any]

MOST_TEXT = 4000
GATE_ORDER = (
    "Before it is complete: verify; run the cleaner fragment; verify again; architect review; QA and red team; final "
    "review. omo ultragoal gate init --goal-id {id} writes the gate's template."
)


def run_status(plan: Plan) -> str:
    """One word for the whole plan; the first that fits."""
    statuses = {goal.status for goal in plan.goals}
    if not plan.open_goals:
        return "complete"
    return next(
        (word for word in ("active", "pending", "failed") if word in statuses),
        "blocked" if statuses & {"blocked", "review_blocked"} else "active",
    )


def status(run: Run, at: Standing, step: Step) -> Result:
    plan = at.plan
    assert plan is not None
    counts = Counter(goal.status for goal in plan.goals)
    shown = [_goal_data(run, plan, goal) for goal in plan.goals]
    final = receipts.final(plan, run.directory)
    data = {
        "exists": True,
        "status": run_status(plan),
        "run": plan.run,
        "goal_mode": plan.goal_mode,
        "objective": plan.objective,
        "paths": {
            "dir": run.directory,
            "brief": os.path.join(run.directory, "brief.md"),
            "goals": run.snapshot,
            "ledger": run.journal.path,
        },
        "current_goal": plan.active.id if plan.active else None,
        "counts": {name: counts.get(name, 0) for name in STATUSES},
        "goals": shown,
        "final_receipt": final.id if final else None,
        "tally": tally(plan),
        "goal_tool": at.tool_status or None,
        "drift": (moved := drift(run, plan)) or None,
        "problems": at.problems,
        "next": step.data,
    }
    told = ", ".join(f"{counts[name]} {name}" for name in STATUSES if counts.get(name))
    cut = f" ({tally(plan)})" if counts.get("superseded") else ""
    lines = [
        f"Ultragoal {run_status(plan)}: {counted(len(plan.goals), 'goal')}, {told}{cut}",
        f"  objective: {clip(plan.objective, 200)}",
    ]
    lines += [_goal_line(one) for one in shown]
    if final:
        lines.append(f"  final receipt: fresh, issued with {final.id}")
    if moved:
        lines.append(f"  {moved}")
    return Result(data, "\n".join([*lines, f"Next: {step.text}"]), notes=at.problems)


def _goal_data(run: Run, plan: Plan, goal: Goal) -> Row:
    return {**render_goal(goal), **proof(run, plan, goal)}


def _goal_line(one: Row) -> str:
    notes = []
    if one["receipt"]:
        notes.append(f"receipt {one['receipt']}")
    if one["independence"] == "reduced":
        notes.append("independence: reduced")
    if one["exemptions"]:
        notes.append(f"{counted(len(one['exemptions']), 'replay')} exempted")
    if one["notes"]:
        notes.append(f"{counted(len(one['notes']), 'note')} in its receipt: {clip(one['notes'][0], 80)}")
    if one.get("humanBlocked"):
        notes.append(f"waits for a person: {clip(one['humanBlocked'], 80)}")
    elif one["status"] in ("failed", "blocked", "review_blocked") and one.get("evidence"):
        notes.append(clip(one["evidence"], 80))
    if one["stale_because"]:
        notes.append(clip(one["stale_because"], 120))
    told = f" ({'; '.join(notes)})" if notes else ""
    return f"  {one['id']} {one['status']:15}{clip(one['title'], 80)}{told}"


def handout(run: Run, given: loop.Handout, step: Step, notes: list[str]) -> Result:
    plan, goal = given.plan, given.goal
    data: Row = {
        "all_complete": not plan.open_goals,
        "next_action": step.action,
        "objective": plan.objective,
        "goals_path": run.snapshot,
        "next": step.command,
    }
    if goal is None:
        return Result({**data, "goal_id": step.goal}, _nothing(plan, step), notes=notes)
    behind = loop.behind(plan, goal)
    data |= {
        "objective": plan.objectives_of(goal)[0],
        "goal_id": goal.id,
        "goal_status": goal.status,
        "started": given.started,
        "title": goal.title,
        "goal_objective": goal.objective,
        "constraints": plan.constraints,
        "background": behind,
    }
    lines = [
        f"{'Start' if given.started else 'Go on with'} {goal.id}: {clip(goal.title, 100)}",
        "",
        block(goal.objective, MOST_TEXT),
    ]
    lines += ["", "Constraints of the whole plan:", block(plan.constraints, MOST_TEXT)] if plan.constraints else []
    lines += ["", *(f"Background: {clip(one, 400)}" for one in behind)] if behind else []
    lines += [
        "",
        f"The session's goal: {clip(plan.objectives_of(goal)[0], 300)}",
        GATE_ORDER.format(id=goal.id),
        f"Next: {step.text}",
    ]
    return Result(data, "\n".join(lines), notes=notes)


def _nothing(plan: Plan, step: Step) -> str:
    if not plan.open_goals:
        return f"All ultragoal goals are complete.\nNext: {step.text}"
    return f"No goal can be handed out.\nNext: {step.text}"


def checkpointed(run: Run, done: Done, step: Step) -> Result:
    goal, plan = done.goal, done.plan
    following = plan.goal(done.started) if done.started else plan.active
    receipt = goal.receipt or {}
    data = {
        "goal_id": goal.id,
        "status": goal.status,
        "changed": done.changed,
        "goals_path": run.snapshot,
        "completion_receipt_kind": receipt.get("receiptKind"),
        "receipt_id": receipt.get("receiptId"),
        "quality_gate_hash": receipt.get("qualityGateHash"),
        "independence": receipt.get("independence"),
        "all_complete": not plan.open_goals,
        "next_goal_id": following.id if following else None,
        "next_goal_status": following.status if following else None,
        "started_next": done.started is not None,
        "incomplete_goal_ids": [one.id for one in plan.open_goals],
        "next_action": step.action,
        "next": step.command,
    }
    stands = "" if done.changed else " (it stood already)"
    lines = [f"{goal.id} {goal.status}{stands}"]
    if receipt:
        lines.append(f"  {receipt.get('receiptKind')} receipt {receipt.get('receiptId')}, {_independence(receipt)}")
    if done.started:
        lines.append(f"Next ultragoal goal: {done.started} {clip(plan.goal(done.started).title, 100)}")
    elif not plan.open_goals:
        lines.append(f"All ultragoal goals are complete: {tally(plan)}")
    return Result(data, "\n".join([*lines, f"Next: {step.text}"]), notes=done.notes)


def _independence(receipt: Row) -> str:
    if receipt.get("independence") == "full":
        return "independence: full (architect and qa were seen to finish)"
    seen = ", ".join(sorted({one["role"] for one in receipt.get("agents", [])})) or "no reviewer"
    return f"independence: reduced ({seen} seen to finish as an agent of its own)"
