"""What hooks are told of a plan: how much is open, what is next, who it waits for, and what they deny."""

from __future__ import annotations

from omo.text import clip
from omo.work.status import LONGEST_SHORT, NextStep
from omo.workflows.ultragoal import receipts
from omo.workflows.ultragoal.plan import CLASSIFY, Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.rows import Summary

TELL = "Tell the agent when that is done."


def summarize(plan: Plan, step: NextStep, *, is_attended: bool) -> Summary:
    following = step.short
    if step.action == "execute-goal":  # for Stop, which is short: the goal under way by its name
        following = clip(f"{step.item} {plan.goal(step.item).title}", LONGEST_SHORT)
    summary: Summary = {
        "run": plan.run,
        "open": len(plan.open_goals),
        "total": len(plan.required),
        "next": following,
        "deny": denials(plan, step),
        "passed": plan.passed,
    }
    if step.action == "resolve-blockers":  # it is said already that it is blocked
        summary["wayOut"] = f"{CLASSIFY} --goal-id {step.item} --evidence TEXT"
    elif not plan.is_open:
        summary["wayOut"] = ""
    if is_attended:
        summary["attended"] = True
    return {**summary, **_state(plan, step)}


def _state(plan: Plan, step: NextStep) -> Summary:
    if plan.outcome is not None and step.action == "done":
        files = plan.files_at_end or {}
        return {"state": "done", "outcome": plan.outcome, "at": plan.ended_at, "files": files}
    if not plan.is_open:  # a receipt is missing, or the session's goal is not complete
        return {"state": "active"}
    waits: Summary = {"state": "paused", "told": False, "own": True}
    if plan.handoff is not None:
        waits["madeWayFor"] = plan.handoff["to"] or ""
        return {**waits, "why": plan.handoff_in_words, "question": "Go on with planning?"}
    if step.who == "user":  # damage that only they can mend
        question = f"Run in a terminal of your own: {step.commands[0].line}."
        return {**waits, "state": "blocked", "why": step.why, "question": question, "damaged": True}
    if plan.tool.status == "paused":
        return {**waits, "why": plan.tool.why or "the session's goal is paused", "question": TELL}
    if step.action == "wait":
        return {"state": "blocked", "why": step.why, "question": TELL, "told": False}
    return {"state": "active"}


def denials(plan: Plan, step: NextStep) -> dict[str, str]:
    """Return what the gates in the client say, in whole sentences; a gate that is not named here is open."""
    denied = {}
    goal = plan.active or next(iter(plan.open_goals), None)
    if goal is not None:
        classify = f"{CLASSIFY} --goal-id {goal.id} --evidence 'what only they can do'"
        if plan.handoff is None and step.who != "user":
            denied["ask"] = (
                f"Ultragoal {goal.id} is open, so no question is put to the user now. Decide what you can and note it: "
                'omo ultragoal steer --kind annotate_ledger --evidence "what you found" --rationale "what you decided"'
                ". What a review found becomes a goal: omo ultragoal record-review-blockers. What only a person can "
                f"decide is recorded, and the next goal goes on: {classify}."
            )
        if not plan.is_human_blocked:
            denied["pause"] = (
                f"Ultragoal {goal.id} is open, and a pause needs a blocker that only a person can remove, recorded "
                f"just before: {classify}. What you can resolve yourself is resolved: investigate, omo ultragoal steer "
                "--kind add_subgoal, or omo ultragoal checkpoint --status blocked and go on with the next."
            )
    if plan.knows(plan.tool.objective):
        _, missing = receipts.of_session_goal(plan)
        if missing:
            denied["complete"] = f"The goal is not proven complete ({'; '.join(missing[:5])}). {step.text}"
    return denied
