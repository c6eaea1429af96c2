"""`omo goal`'s operations: what the session's plan says to a goal that is created, paused, completed or dropped."""

from __future__ import annotations

import os
from dataclasses import replace

from omo.errors import BadInput, Refused
from omo.state import store
from omo.text import clip, counted
from omo.work.bound import files_of_end
from omo.work.run import Caller
from omo.workflows.ultragoal import receipts
from omo.workflows.ultragoal.brief import text_defects
from omo.workflows.ultragoal.next_step import next_step
from omo.workflows.ultragoal.plan import Plan, PlanRow
from omo.workflows.ultragoal.reviewers import outcome_of
from omo.workflows.ultragoal.run import PlanRun
from omo.workflows.ultragoal.session_goal import GoalTool, SessionGoalOutcome, ToolGoal, ToolRow

LONGEST_OBJECTIVE = 4000
SAY_IT = 'omo goal create --objective "what is to be reached"'


def create(run: PlanRun, objective: str | None = None) -> SessionGoalOutcome:
    """A new goal; without an objective, the one the session's plan needs now."""
    given = None
    if objective is not None:
        given = objective.strip()
        if defects := text_defects("--objective", objective, longest=LONGEST_OBJECTIVE):
            raise BadInput(defects[0], fix=f"{SAY_IT}; a long brief goes into a plan", defects=defects)

    def fields(goal: ToolGoal | None) -> ToolRow:
        wanted, plan_run = _objective_for(run, given)
        return {"goal": f"t{int(run.caller.now * 1000)}", "objective": wanted, "run": plan_run}

    return run.tool.change("create", fields)


def create_for_plan(run: PlanRun) -> list[str]:
    """The goal for a plan, where none is under way; an unrelated one is the caller's to drop."""
    live = run.tool.current
    if live is None or live.status not in ("active", "paused"):
        create(run)
        return []
    if live.objective in run.require_plan().objectives_of(None):
        return []
    return [f"another goal is {live.status}: omo goal drop, then omo goal create"]


def take_over(caller: Caller, source: str) -> None:
    """The goal of another session moves here with its directory; what was here is kept under another name."""
    theirs, own = GoalTool(replace(caller, session=source)), GoalTool(caller)
    if not os.path.lexists(theirs.directory):
        return
    goal = own.current
    if goal is not None and goal.status in ("active", "paused") and not goal.belongs_to_a_plan:
        what = f"this session has a goal of its own, which is {goal.status}"
        raise Refused(what, fix="omo goal drop ends it")
    if os.path.lexists(own.directory):
        store.keep_as(own.directory, "archived", caller.now)
    store.move(theirs.directory, own.directory)


def pause(run: PlanRun) -> SessionGoalOutcome:
    return run.tool.change("pause", lambda goal: {"why": run.why_it_may_rest("omo goal pause")})


def resume(run: PlanRun) -> SessionGoalOutcome:
    """The plan's row comes first: after a crash in between, the old classification allows no second pause."""
    run.tool.require_whole()
    goal = run.tool.newest
    if goal is not None and goal.status == "paused" and run.plan is not None:
        run.change_plan(lambda plan: (None, [{"kind": "goal_resumed", "goal": goal.id}]))
    return run.tool.change("resume", lambda goal: {})


def complete(run: PlanRun) -> SessionGoalOutcome:
    """Where this brings the plan to its end, how it ended is written down then: later changes are other work."""
    completed = run.tool.change("complete", lambda goal: _proof(run, goal) if goal else {})
    plan = run.plan
    if completed.changed and plan is not None and not plan.is_open and next_step(run).action == "done":
        event: PlanRow = {"kind": "plan_ended", "outcome": outcome_of(run, plan)}
        event["files"] = files_of_end(run.caller.root, run.caller.events)
        run.change_plan(lambda plan: (None, [event]))
    return completed


def drop(run: PlanRun) -> SessionGoalOutcome:
    """For a goal that is active or paused, by anyone. The user's word also does away with a damaged journal."""
    tool = run.tool
    if not tool.problems or tool.caller.by != "user":
        return tool.change("drop", lambda goal: {})
    kept = store.keep_as(tool.directory, "damaged", tool.caller.now)
    tool.append(lambda rows: (None, [{"kind": "goal_dropped", "kept": kept}]))
    return SessionGoalOutcome(None, "damaged", kept)


def _objective_for(run: PlanRun, given: str | None) -> tuple[str, str]:
    """The objective of a new goal, and the plan it belongs to (empty: none)."""
    if run.problems:
        raise run.damage()
    plan = run.plan
    if plan is None:
        if given is None:
            raise BadInput("--objective is missing, and this session has no plan that says it", fix=SAY_IT)
        return given, ""
    goal = plan.active or plan.first("pending", "failed")
    wanted = plan.objectives_of(goal)
    if given is None:
        return wanted[0], plan.run
    for objective in wanted:
        if objective.strip() == given:
            return objective, plan.run
    if plan.is_open:
        raise Refused(
            f"the plan has {counted(len(plan.open_goals), 'goal')} open, and --objective {clip(given, 80)!r} is "
            "not its objective: no checkpoint would be accepted under it",
            fix="omo goal create (without --objective: it takes the plan's own)",
        )
    return given, ""


def _proof(run: PlanRun, goal: ToolGoal) -> ToolRow:
    """The receipts that prove the goal, as fields of its row; Refused with what is missing. Other goals pass."""
    plan = run.plan
    if run.problems and goal.belongs_to_a_plan:
        raise run.damage()
    if plan is None and goal.belongs_to_a_plan:
        raise Refused(
            f"this goal stands for the plan of session {run.caller.session}, and there is none",
            fix="omo goal drop gives the goal up; omo ultragoal create-goals makes a plan",
        )
    if plan is None or run.problems:
        return {}
    if goal.objective in plan.objectives_of(None):
        return {"receipts": _receipts_of_all(run, plan)}
    if story := plan.story_with(goal.objective):
        if why := receipts.problem(plan, story, run.directory):
            fix = next_step(run).text if story.is_required else "omo goal drop: other goals took its place"
            raise Refused(f"goal {story.id} has no fresh receipt", fix=fix, defects=[why])
        return {"receipts": [story.receipt_id]}
    if goal.run == plan.run:
        raise Refused(
            f"this goal was made for the plan, whose wording changed since: {clip(goal.objective, 160)}",
            fix="omo goal drop, then omo goal create takes the objective as it is now",
        )
    return {}


def _receipts_of_all(run: PlanRun, plan: Plan) -> list[str | None]:
    missing = [why for _, why in receipts.unproven(plan, run.directory)]
    if missing:
        raise Refused("no fresh receipt covers the whole plan", fix=next_step(run).text, defects=missing)
    carrier = receipts.final(plan, run.directory)
    return [carrier.receipt_id] if carrier is not None else [goal.receipt_id for goal in plan.required]
