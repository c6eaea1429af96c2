"""`omo goal`'s operations: what the session's plan says to a goal that is created, paused, completed or dropped."""

from __future__ import annotations

from collections.abc import Callable

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


def create(run: PlanRun, objective: str | None = None) -> SessionGoalOutcome:
    """A new goal; without an objective, the one the plan needs now."""
    given = objective
    if objective is not None:
        fix = "omo goal create: without --objective it takes the plan's"
        given = require_text("--objective", objective, fix, longest=LONGEST_OBJECTIVE)

    def fields(plan: Plan) -> PlanRow:
        return {"goal": f"t{int(run.caller.now * 1000)}", "objective": _objective_for(plan, given)}

    return _change(run, "create", fields)


def pause(run: PlanRun) -> SessionGoalOutcome:
    return _change(run, "pause", lambda plan: {"why": run.why_it_may_rest("omo goal pause")})


def resume(run: PlanRun) -> SessionGoalOutcome:
    return _change(run, "resume", lambda plan: {})


def complete(run: PlanRun) -> SessionGoalOutcome:
    return _change(run, "complete", lambda plan: {"receipts": _proof(run, plan)}, lambda plan: _end(run, plan))


def drop(run: PlanRun) -> SessionGoalOutcome:
    """For a goal that is active or paused, by anyone."""
    return _change(run, "drop", lambda plan: {})


def _change(
    run: PlanRun,
    operation: str,
    fields: Callable[[Plan], PlanRow],
    following: Callable[[Plan], list[PlanRow]] = lambda plan: [],
) -> SessionGoalOutcome:
    """The table first, then `fields`, by which the plan has its say; both under its lock. `following` are rows that
    come with this one: both happened, or neither did."""

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
        row: PlanRow = {"kind": kind, "goal": goal.id, **fields(plan)}
        left = after(goal, {**row, "ts": stamp(run.caller.now)})
        return SessionGoalOutcome(left, goal.status), [row, *following(plan)]

    outcome: SessionGoalOutcome = run.change_plan(decide)
    return outcome


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
        return _receipts_of_all(run, plan)
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


def _receipts_of_all(run: PlanRun, plan: Plan) -> list[str | None]:
    missing = [why for _, why in receipts.unproven(plan, run.directory)]
    if missing:
        raise Refused("no fresh receipt covers the whole plan", fix=next_step(run).text, defects=missing)
    carrier = receipts.final(plan, run.directory)
    return [carrier.receipt_id] if carrier is not None else [goal.receipt_id for goal in plan.required]
