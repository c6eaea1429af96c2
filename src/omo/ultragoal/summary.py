"""What hooks read of a plan: how much is open, what is next, and what is denied while it is."""

from __future__ import annotations

import shlex
from typing import Any

from omo.errors import Unreadable
from omo.hooks import session
from omo.shown import clip
from omo.state import runtime
from omo.state.runtime import part
from omo.ultragoal import committed, goal_tool, phases, receipts
from omo.ultragoal.next_step import Standing, Step, next_step
from omo.ultragoal.outcomes import outcome_of, unfinished
from omo.ultragoal.plan import Goal, Plan
from omo.ultragoal.run import Run, moved

Row = dict[str, Any]

KIND = "ultragoal"


def standing(run: Run) -> Standing:
    """How things stand, for `next_step`. Unreadable state is a problem to be named, not an error."""
    seen = run.look()
    tool = goal_tool.current(run.state, run.session)
    mark = phases.handoff_mark(_row(run), seen.plan)
    return Standing(
        plan=seen.plan,
        directory=run.directory,
        tool_status=tool.status if tool else "",
        tool_objective=tool.objective if tool else "",
        tool_why=tool.why if tool else "",
        problems=seen.problems,
        moved=moved(run, seen.plan) if seen.plan else "",
        mending=run.mending(seen.damage),
        tool_mending=goal_tool.mending(run.state, run.session),
        handed_off=phases.why(mark) if mark else "",
    )


def _row(run: Run) -> Row:
    try:
        return runtime.session(run.state, run.session) or {}
    except Unreadable:
        return {}


def tell(run: Run, *, progressed: bool = False) -> Step:
    """Bring the session's summary up to the ledger; a receipt gives the budget of blocks back."""
    at = standing(run)
    step = next_step(at)
    if at.plan is None:
        return step
    fresh = summarize(run, at.plan, at, step)

    def decide(row: Row | None) -> runtime.Change:
        old = part(part(row or {}, "work"), KIND)
        summary = session.kept_state(row or {}, old, fresh)
        if summary == old and not progressed:
            return runtime.Change(None)
        after = session.put_work(row, KIND, summary, limits=run.limits, now=run.now)
        if progressed:
            after = session.progress(after)
        event = {"kind": KIND, "state": summary["state"], "open": summary["open"], "next": summary["next"]}
        return runtime.Change(None, after, [event])

    runtime.change_session(run.state, run.session, decide, actor=run.by, now=run.now, wait=run.wait)
    return step


def summarize(run: Run, plan: Plan, at: Standing, step: Step) -> Row:
    left = plan.open_goals
    summary: Row = {
        "run": plan.run,
        "open": len(left),
        "total": len(plan.required),
        "next": clip(_next(plan, step), 300),
        "deny": denials(plan, at, step),
        **({"attended": True} if committed.settings(run.root, plan.repository.get("base")).attended else {}),
        **_state(plan, at, step),
    }
    return summary


def _next(plan: Plan, step: Step) -> str:
    """For Stop, which is short: the goal under way by its name, anything else with its command."""
    if step.action == "execute-goal" and step.goal:
        return f"{step.goal} {plan.goal(step.goal).title}"
    return step.text


def _state(plan: Plan, at: Standing, step: Step) -> Row:
    if not plan.open_goals and not at.problems:  # what a damaged ledger calls complete ends nothing
        return {"state": "done", "outcome": outcome_of(plan) if step.action == "done" else unfinished(plan, step)}
    if at.handed_off:
        return {"state": "paused", "why": at.handed_off, "question": "Go on with planning?", "told": False, "own": True}
    if at.tool_status == "paused":
        why = at.tool_why or "the session's goal is paused"
        return {"state": "paused", "why": why, "question": "omo goal resume goes on", "told": False, "own": True}
    if step.action == "wait":
        question = "Tell the agent when that is done."
        return {"state": "blocked", "why": step.why, "question": question, "told": False}
    return {"state": "active"}


def denials(plan: Plan, at: Standing, step: Step) -> Row:
    """What the gates in the client say, in whole sentences; a gate that is not named here is open."""
    found: Row = {}
    goal = plan.active or next(iter(plan.open_goals), None)
    name = goal.id if goal else ""
    if goal and not at.handed_off:
        found["ask"] = ask_denial(goal)
    if name and not plan.is_human_blocked:
        found["pause"] = pause_denial(name)
    if reason := complete_denial(plan, at, step):
        found["complete"] = reason
    return found


def ask_denial(goal: Goal) -> str:
    keep = (
        f'omo ultragoal record-review-blockers --goal-id {goal.id} --objective "…" --evidence "…", or '
        if goal.status in ("active", "failed", "review_blocked")
        else ""
    )
    return (
        f"Ultragoal {goal.id} is open, so no question is put to the user now. Decide what you can and note it: "
        'omo ultragoal steer --kind annotate_ledger --evidence "what you found" --rationale "what you decided". '
        f"What only a person can decide is recorded, and the next goal goes on: {keep}{_classify(goal.id)}."
    )


def pause_denial(name: str) -> str:
    return (
        f"Ultragoal {name} is open, and a pause needs a blocker that only a person can remove, recorded just before: "
        f"{_classify(name)}. What you can resolve yourself is resolved: investigate, "
        "omo ultragoal steer --kind add_subgoal, or omo ultragoal checkpoint --status blocked and go on with the next."
    )


def _classify(name: str) -> str:
    said = shlex.quote("what only they can do")
    return f"omo ultragoal classify-blocker --classification human_blocked --goal-id {name} --evidence {said}"


def complete_denial(plan: Plan, at: Standing, step: Step) -> str:
    """Why the session's goal cannot be called complete; empty where it can, or where it is not this plan's."""
    if plan.goal_mode == "per-story":
        story = next((goal for goal in plan.goals if goal.objective == at.tool_objective), None)
        if story is None:
            return ""
        why = receipts.problem(plan, story, at.directory)
        return f"The goal is not proven complete: {why}. {step.text}" if why else ""
    if at.tool_objective not in plan.objectives_of(None):
        return ""
    if receipts.final(plan, at.directory) is not None and not at.problems:
        return ""
    left = ", ".join(f"{goal.id} {goal.status}" for goal in plan.open_goals[:5])
    why = f"open: {left}" if left else "no fresh final receipt covers the plan"
    return f"The goal is not proven complete ({why}). {step.text}"
