"""`omo goal`: what the session is after, and what its plan says when that is created, paused, completed or dropped."""

from __future__ import annotations

import argparse

from omo import options
from omo.clock import stamp
from omo.context import Context
from omo.errors import Refused, Unreadable
from omo.json_text import Json
from omo.result import Result
from omo.text import clip, counted
from omo.work.publish import reopen_if_changed
from omo.work.run import caller_of
from omo.workflows.ultragoal import receipts
from omo.workflows.ultragoal.end import end_of
from omo.workflows.ultragoal.next_step import next_step, tool_step
from omo.workflows.ultragoal.plan import Plan
from omo.workflows.ultragoal.rows import PlanRow
from omo.workflows.ultragoal.run import ULTRAGOAL, PlanRun, run_of, writes
from omo.workflows.ultragoal.session_goal import MOVES, NO_GOAL, REFUSALS, ToolGoal, after

OPERATIONS = {
    "create": "make a goal; none may be active or paused",
    "complete": "call the goal complete; a plan's goal needs the plan's fresh receipts",
    "pause": "let the goal rest; with goals open, only for what a person has to do",
    "resume": "go on with a paused goal",
    "drop": "give the goal up; the plan stays as it is",
}
OBJECTIVE = "what is to be reached, as the plan says it; without it, what the plan needs"


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "goal")
    options.command(verbs, "get", "show the session's goal; writes nothing", get)
    for name, about in OPERATIONS.items():
        parser = options.command(verbs, name, about, _operate)
        parser.set_defaults(objective=None)
        if name == "create":
            parser.add_argument("--objective", metavar="TEXT", help=OBJECTIVE)


def get(arguments: argparse.Namespace, context: Context) -> Result:
    run = run_of(arguments, context, looks=True)
    if run.problems and run.plan is None:
        raise Unreadable(run.problems[0], fix="omo state clear --mode ultragoal --force keeps it aside")
    goal = run.plan.tool if run.plan is not None else NO_GOAL
    data: Json = {"goal": goal.render()}
    notes = []
    if run.damage_lines:
        data["problems"] = notes = list(run.damage_lines)
    text = _line(goal) if goal.id else f"There is no goal in session {run.caller.session}."
    return Result(data, text, notes=notes)


def _operate(arguments: argparse.Namespace, context: Context) -> Result:
    if arguments.verb == "complete":
        reopen_if_changed(caller_of(context, context.session(arguments.session)), ULTRAGOAL.name)
    return writes(_changed)(arguments, context)


def _changed(run: PlanRun, arguments: argparse.Namespace, context: Context) -> Result:
    goal, is_changed = operate(arguments.verb, run, arguments.objective)
    step = run.publish()
    plan, notes = run.require_plan(), list(run.notes)
    if arguments.verb == "complete":
        notes.append(plan.tally)
    if arguments.verb == "drop" and plan.is_open:
        left = counted(len(plan.open_goals), "goal")
        notes.append(f"dropping the goal does not end the plan: {left} open, and Stop holds on")
    data = {"goal": goal.render(), "changed": is_changed, "by": run.caller.by, "next": step.data}
    stood = "" if is_changed else "Nothing to change. "
    return Result(data, f"{stood}{_line(goal)}\nNext: {step.text}", notes=notes)


def _line(goal: ToolGoal) -> str:
    return f"Goal {goal.id} is {goal.status}: {clip(goal.objective, 400)}"


def operate(operation: str, run: PlanRun, objective: str | None = None) -> tuple[ToolGoal, bool]:
    """Carry out one of MOVES, by the table first and then as far as the plan agrees. Return the goal, and whether it
    changed. If that brings the plan to its end, both are written down together. A new goal without an objective takes
    the one that the plan needs now."""

    def decide(plan: Plan) -> tuple[tuple[ToolGoal, bool], list[PlanRow]]:
        goal = plan.tool
        kind, starts, status = MOVES[operation]
        if goal.status not in starts:
            stands, instead = REFUSALS[goal.status]
            if goal.objective:
                stands += f": {clip(goal.objective, 160)}"
            raise Refused(f"omo goal {operation} is not possible: {stands}", fix=instead, status=goal.status)
        if status == goal.status:
            return (goal, False), []
        row: PlanRow = {"kind": kind, "goal": goal.id}
        end: list[PlanRow] = []
        if operation == "create":
            row["goal"], row["objective"] = f"t{int(run.caller.now * 1000)}", _objective_for(plan, objective)
        elif operation == "pause":
            row["why"] = run.why_it_may_rest("omo goal pause")
        elif operation == "complete":
            row["receipts"], end = _proof(run, plan), end_of(run, plan)
        return (after(goal, {**row, "ts": stamp(run.caller.now)}), True), [row, *end]

    return run.change_plan(decide)


def _objective_for(plan: Plan, given: str | None) -> str:
    wanted = plan.objectives_of(plan.active or plan.first("pending", "failed"))
    if given is None:
        return wanted[0]
    for objective in wanted:
        if objective.strip() == given.strip():
            return objective
    raise Refused(
        f"--objective {clip(given, 80)!r} is not the plan's: no checkpoint would be accepted under it",
        fix="omo goal create (without --objective: it takes the plan's own)",
    )


def _proof(run: PlanRun, plan: Plan) -> list[str | None]:
    """Return the receipts that prove the goal. Refused with what is missing."""
    proof, missing = receipts.of_session_goal(plan)
    if missing:
        step = tool_step(run, plan, plan.active or plan.first("pending", "failed")) or next_step(run)
        raise Refused("no fresh receipt proves the goal", fix=step.text, defects=missing)
    return proof
