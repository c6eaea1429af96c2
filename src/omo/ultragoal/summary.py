"""What hooks read of a plan: how much is open, what is next, and what is denied while it is."""

from __future__ import annotations

import shlex
from typing import Any

from omo.shown import clip
from omo.ultragoal import receipts
from omo.ultragoal.next_step import next_step
from omo.ultragoal.plan import Goal, Plan
from omo.ultragoal.reviewers import outcome_of, unfinished
from omo.ultragoal.run import PlanRun
from omo.work.publish import LONGEST_NEXT, publish, publish_damage
from omo.work.status import NextStep

Row = dict[str, Any]


def publish_status(run: PlanRun, *, progressed: bool = False) -> NextStep:
    """Bring the session's row up to the ledger; a receipt gives the budget of blocks back."""
    step = next_step(run)
    if run.problems:
        publish_damage(run)
    elif run.plan is not None:
        fresh = summarize(run, run.plan, step)
        publish(run, fresh, session=run.caller.session, progressed=lambda old: progressed)
    return step


def summarize(run: PlanRun, plan: Plan, step: NextStep) -> Row:
    following = step.text
    if step.action == "execute-goal":  # for Stop, which is short: the goal under way by its name
        following = f"{step.item} {plan.goal(step.item).title}"
    summary: Row = {
        "run": plan.run,
        "open": len(plan.open_goals),
        "total": len(plan.required),
        "next": clip(following, LONGEST_NEXT),
        "deny": denials(run, plan, step),
    }
    if run.base_settings.attended:
        summary["attended"] = True
    return {**summary, **_state(run, plan, step)}


def _state(run: PlanRun, plan: Plan, step: NextStep) -> Row:
    if not plan.is_open:
        return {"state": "done", "outcome": outcome_of(plan) if step.action == "done" else unfinished(plan, step)}
    if run.handed_off:
        why, question = run.handed_off, "Go on with planning?"
        return {"state": "paused", "why": why, "question": question, "told": False, "own": True}
    if step.who == "user":  # damage that only they can mend
        question = f"{step.command}."
        return {"state": "blocked", "why": step.why, "question": question, "told": False, "own": True}
    if run.tool.status == "paused":
        why = (run.tool.current.why if run.tool.current else "") or "the session's goal is paused"
        return {"state": "paused", "why": why, "question": "omo goal resume goes on", "told": False, "own": True}
    if step.action == "wait":
        question = "Tell the agent when that is done."
        return {"state": "blocked", "why": step.why, "question": question, "told": False}
    return {"state": "active"}


def denials(run: PlanRun, plan: Plan, step: NextStep) -> Row:
    """What the gates in the client say, in whole sentences; a gate that is not named here is open."""
    denied: Row = {}
    goal = plan.active or next(iter(plan.open_goals), None)
    if goal is not None and not run.handed_off and step.who != "user":
        denied["ask"] = _ask_denial(goal)
    if goal is not None and not plan.is_human_blocked:
        denied["pause"] = _pause_denial(goal.id)
    if reason := complete_denial(run, plan, step):
        denied["complete"] = reason
    return denied


def _ask_denial(goal: Goal) -> str:
    keep = ""
    if goal.status in ("active", "failed", "review_blocked"):
        keep = f'omo ultragoal record-review-blockers --goal-id {goal.id} --objective "…" --evidence "…", or '
    return (
        f"Ultragoal {goal.id} is open, so no question is put to the user now. Decide what you can and note it: "
        'omo ultragoal steer --kind annotate_ledger --evidence "what you found" --rationale "what you decided". '
        f"What only a person can decide is recorded, and the next goal goes on: {keep}{_classify(goal.id)}."
    )


def _pause_denial(name: str) -> str:
    return (
        f"Ultragoal {name} is open, and a pause needs a blocker that only a person can remove, recorded just before: "
        f"{_classify(name)}. What you can resolve yourself is resolved: investigate, "
        "omo ultragoal steer --kind add_subgoal, or omo ultragoal checkpoint --status blocked and go on with the next."
    )


def _classify(name: str) -> str:
    evidence = shlex.quote("what only they can do")
    return f"omo ultragoal classify-blocker --classification human_blocked --goal-id {name} --evidence {evidence}"


def complete_denial(run: PlanRun, plan: Plan, step: NextStep) -> str:
    """Why the session's goal cannot be called complete; empty where it can, or where it is not this plan's."""
    if stories := plan.stories_with(run.tool.objective):
        why = receipts.problem(plan, stories[0], run.directory)
        return f"The goal is not proven complete: {why}. {step.text}" if why else ""
    if plan.goal_mode == "per-story" or run.tool.objective not in plan.objectives_of(None):
        return ""
    if receipts.final(plan, run.directory) is not None and not run.problems:
        return ""
    left = ", ".join(f"{goal.id} {goal.status}" for goal in plan.open_goals[:5])
    why = f"open: {left}" if left else "no fresh final receipt covers the plan"
    return f"The goal is not proven complete ({why}). {step.text}"
