"""What `omo ultragoal` shows: a plan, a goal to work on, and what a checkpoint, a steering or a review did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from omo.json_text import Json
from omo.result import Result
from omo.text import block, clip, counted
from omo.work import gates
from omo.work.status import LONGEST_TEXT, NextStep, Status
from omo.workflows.ultragoal import receipts
from omo.workflows.ultragoal.flow import STATUSES
from omo.workflows.ultragoal.next_step import ALL_COMPLETE
from omo.workflows.ultragoal.plan import STEERING, Plan, render_goal
from omo.workflows.ultragoal.reviewers import independence_of
from omo.workflows.ultragoal.run import PlanRun

if TYPE_CHECKING:
    from omo.workflows.ultragoal.checkpoint import Done
    from omo.workflows.ultragoal.review import QaReview
    from omo.workflows.ultragoal.rows import PlanRow


MOST_FINDINGS = 50
GATE_ORDER = (
    "Before it is complete: verify; run the cleaner (omo:critic, with what omo ultragoal brief critic prints); verify "
    "again; let omo:architect and omo:qa review it, each with its line as the whole prompt: omo ultragoal brief "
    "architect, omo ultragoal brief qa. "
    "The checkpoint runs the gates and the command that shows it, which nobody has to pin. "
)
NO_GATE = "No gate is pinned: only the user can make a check theirs, with /omo:pin NAME -- COMMAND."


def answer(run: PlanRun, data: Json, text: str, notes: Sequence[str] = (), step: NextStep | None = None) -> Result:
    """Say what a verb did, and what comes next."""
    step = step or run.publish()
    return Result({**data, "next": step.command}, f"{text}\nNext: {step.text}", notes=[*notes, *run.notes])


def status(run: PlanRun, plan: Plan, shown: Status) -> Result:
    word, step = plan.phase, shown.next
    if not plan.is_open and step.action not in ("done", "complete-goal"):
        word = "active"  # without its last receipt it is not complete
    counts = Counter(goal.status for goal in plan.goals)
    notes = list(run.damage_lines)
    if edited := run.edited_view():
        notes.append(edited)
    goals = []
    for goal, item in zip(plan.goals, shown.items, strict=True):
        independence = goal.receipt.get("independence")
        goals.append({**render_goal(goal), **item.data, "independence": independence})
    final = receipts.final(plan)
    data = {
        "exists": True,
        "status": word,
        "run": plan.run,
        "goal_mode": plan.goal_mode,
        "objective": plan.objective,
        "paths": {"dir": run.directory, "brief": run.brief, "goals": run.snapshot, "ledger": run.journal.path},
        "current_goal": plan.active.id if plan.active else None,
        "counts": {name: counts[name] for name in STATUSES},
        "goals": goals,
        "final_receipt": final.id if final else None,
        "problems": notes,
        "next": step.data,
    }
    numbers = [counted(len(plan.goals), "goal")]
    numbers += [f"{counts[name]} {name}" for name in STATUSES if counts[name] and name != "superseded"]
    if shown.headline:
        numbers.append(shown.headline)
    lines = [f"Ultragoal {word}: {', '.join(numbers)}"]
    lines += [f"  {fact}" for fact in shown.facts]
    for item in shown.items:
        receipt = [f"receipt {item.receipt}"] if item.receipt else []
        beside = [clip(note, 120) for note in (*receipt, *item.overrides, *item.notes, item.receipt_why) if note]
        around = f" ({'; '.join(beside)})" if beside else ""
        lines.append(f"  {item.id} {item.status:15}{clip(item.title, 80)}{around}")
    return Result(data, "\n".join([*lines, f"Next: {step.text}"]), notes=notes)


def handout(run: PlanRun, started: bool, notes: Sequence[str]) -> Result:
    step, plan = run.publish(), run.require_plan()
    goal = plan.active
    data: Json = {
        "all_complete": not plan.is_open,
        "next_action": step.action,
        "objective": plan.objective,
        "goals_path": run.snapshot,
    }
    if goal is None:
        what = "No goal can be handed out" if plan.is_open else ALL_COMPLETE
        return answer(run, {**data, "goal_id": step.item or None}, f"{what}.", notes, step)
    objective = plan.objectives_of(goal)[0]
    data |= {
        "objective": objective,
        "goal_id": goal.id,
        "goal_status": goal.status,
        "started": started,
        "title": goal.title,
        "goal_objective": goal.objective,
        "constraints": plan.constraints,
        "background": plan.background(goal),
    }
    lines = [f"{'Start' if started else 'Go on with'} {goal.id}: {clip(goal.title, 100)}", ""]
    lines.append(block(plan.text_of(goal.item), LONGEST_TEXT))
    lines.append("")
    known = [f"{gate.name} ({gates.in_words(gate)})" for gate in gates.of_caller(run.caller)]
    lines.append(GATE_ORDER + (f"Gates: {', '.join(known)}." if known else NO_GATE))
    return answer(run, data, "\n".join(lines), notes, step)


def checkpointed(run: PlanRun, done: Done) -> Result:
    step, plan, goal = run.publish(), run.require_plan(), done.goal
    following = plan.goal(done.started) if done.started else plan.active
    receipt = goal.receipt
    data = {
        "goal_id": goal.id,
        "status": goal.status,
        "changed": done.changed,
        "goals_path": run.snapshot,
        "completion_receipt_kind": receipt.get("receiptKind"),
        "receipt_id": receipt.get("receiptId"),
        "quality_gate_hash": receipt.get("qualityGateHash"),
        "independence": receipt.get("independence"),
        "all_complete": not plan.is_open,
        "next_goal_id": following.id if following else None,
        "next_goal_status": following.status if following else None,
        "started_next": done.started is not None,
        "incomplete_goal_ids": [other.id for other in plan.open_goals],
        "next_action": step.action,
    }
    stood = "" if done.changed else " (it stood already)"
    lines = [f"{goal.id} {goal.status}{stood}"]
    if receipt:
        lines.append(f"  {receipt.get('receiptKind')} receipt {receipt.get('receiptId')}, {independence_of(receipt)}")
    if done.started:
        lines.append(f"Next ultragoal goal: {done.started} {clip(plan.goal(done.started).title, 100)}")
        lines.append(block(plan.goal(done.started).objective, LONGEST_TEXT))
    elif not plan.is_open:
        lines.append(f"{ALL_COMPLETE}: {plan.tally}")
    return answer(run, data, "\n".join(lines), done.notes, step)


def steered(run: PlanRun, row: PlanRow) -> Result:
    new = [goal["id"] for goal in row.get("goals", [])]
    named = [row.get("goalId"), *new]
    data = {"kind": row["mutation"], "goal_id": next(filter(None, named), None), "row": row}
    shown = STEERING[row["mutation"]].format(
        goalId=row.get("goalId"),
        goals=", ".join(new),
        order=", ".join(row.get("pendingGoalIds", [])),
        fields=", ".join(row.get("changedFields", [])),
    )
    return answer(run, data, shown)


def reviewed(done: QaReview, mode: str, ids: list[str], following: str) -> Result:
    source, contract = done.source, done.contract
    data = {
        "verdict": done.verdict,
        "contractStrength": contract.strength,
        "contract": contract.why,
        "mode": mode,
        "source": {"kind": source.kind, "name": source.name, "head": source.tip},
        "base": source.base,
        "baseCommit": source.base_commit,
        "blockers": done.blockers,
        "defects": [{"path": defect.path, "message": defect.message} for defect in done.defects],
        "blockerGoalIds": ids,
        "notes": done.notes,
        "next": following or None,
    }
    base = f" against {source.base}" if source.base else ""
    thin = "" if contract.strength == "strong" else f" ({contract.why})"
    lines = [f"{done.verdict}: {source.kind} {clip(source.name, 80)}{base}, contract {contract.strength}{thin}"]
    lines += [f"  - {clip(finding, 300)}" for finding in done.findings[:MOST_FINDINGS]]
    if len(done.findings) > MOST_FINDINGS:
        lines.append(f"  and {len(done.findings) - MOST_FINDINGS} more (--json shows them)")
    if ids:
        lines.append(f"Goals for them: {', '.join(ids)}")
    if following:
        lines.append(f"Next: {following}")
    return Result(data, "\n".join(lines), done.exit_code, done.notes)
