"""`omo goal`'s operations: what the session's plan says to a goal that is created, paused, completed or dropped."""

from __future__ import annotations

from functools import partial

from omo.clock import stamp
from omo.errors import Refused
from omo.text import clip
from omo.work.bound import files_of_end
from omo.workflows.ultragoal import receipts
from omo.workflows.ultragoal.brief import require_text
from omo.workflows.ultragoal.next_step import next_step
from omo.workflows.ultragoal.plan import Plan, PlanRow
from omo.workflows.ultragoal.reviewers import outcome_of
from omo.workflows.ultragoal.run import PlanRun
from omo.workflows.ultragoal.session_goal import MOVES, REFUSALS, SessionGoalOutcome, after

LONGEST_OBJECTIVE = 4000


def operate(operation: str, run: PlanRun, objective: str | None = None) -> SessionGoalOutcome:
    """One of MOVES, by the table first and then as far as the plan agrees. Where that brings the plan to its end, both
    are written down together. A new goal without an objective takes the one that the plan needs now."""
    if objective is not None:
        fix = "omo goal create: without --objective it takes the plan's"
        objective = require_text("--objective", objective, fix, longest=LONGEST_OBJECTIVE)

    def decide(plan: Plan) -> tuple[SessionGoalOutcome, list[PlanRow]]:
        goal = plan.tool
        kind, starts, status = MOVES[operation]
        if goal.status not in starts:
            stands, instead = REFUSALS[goal.status]
            if goal.objective:
                stands += f": {clip(goal.objective, 160)}"
            raise Refused(f"omo goal {operation} is not possible: {stands}", fix=instead, status=goal.status)
        if status == goal.status:
            return SessionGoalOutcome(goal, status), []
        row: PlanRow = {"kind": kind, "goal": goal.id}
        end: list[PlanRow] = []
        if operation == "create":
            row["goal"], row["objective"] = f"t{int(run.caller.now * 1000)}", _objective_for(plan, objective)
        elif operation == "pause":
            row["why"] = run.why_it_may_rest("omo goal pause")
        elif operation == "complete":
            row["receipts"], end = _proof(run, plan), _end(run, plan)
        left = after(goal, {**row, "ts": stamp(run.caller.now)})
        return SessionGoalOutcome(left, goal.status), [row, *end]

    outcome: SessionGoalOutcome = run.change_plan(decide)
    return outcome


create = partial(operate, "create")
pause = partial(operate, "pause")
resume = partial(operate, "resume")
complete = partial(operate, "complete")
drop = partial(operate, "drop")


def _end(run: PlanRun, plan: Plan) -> list[PlanRow]:
    """Where this brings the plan to its end, how it ended is written down then: later changes are other work."""
    if plan.is_open or receipts.unproven(plan, run.directory):
        return []
    files = files_of_end(run.caller.root, run.caller.events)
    return [{"kind": "plan_ended", "outcome": outcome_of(run, plan), "files": files}]


def _objective_for(plan: Plan, given: str | None) -> str:
    wanted = plan.objectives_of(plan.active or plan.first("pending", "failed"))
    if given is None:
        return wanted[0]
    for objective in wanted:
        if objective.strip() == given:
            return objective
    raise Refused(
        f"--objective {clip(given, 80)!r} is not the plan's: no checkpoint would be accepted under it",
        fix="omo goal create (without --objective: it takes the plan's own)",
    )


def _proof(run: PlanRun, plan: Plan) -> list[str | None]:
    """The receipts that prove the goal; Refused with what is missing."""
    objective = plan.tool.objective
    if objective in plan.objectives_of(None):
        missing = [why for _, why in receipts.unproven(plan, run.directory)]
        if missing:
            raise Refused("no fresh receipt covers the whole plan", fix=next_step(run).text, defects=missing)
        carrier = receipts.final(plan, run.directory)
        return [carrier.receipt_id] if carrier is not None else [goal.receipt_id for goal in plan.required]
    story = plan.story_with(objective)
    if story is None:
        raise Refused(
            f"this goal was made for the plan, whose wording changed since: {clip(objective, 160)}",
            fix="omo goal drop, then omo goal create takes the objective as it is now",
        )
    if why := receipts.problem(plan, story, run.directory):
        fix = next_step(run).text if story.is_required else "omo goal drop: other goals took its place"
        raise Refused(f"goal {story.id} has no fresh receipt", fix=fix, defects=[why])
    return [story.receipt_id]
