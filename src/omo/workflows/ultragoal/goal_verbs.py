"""`omo goal`: what this session is after."""

from __future__ import annotations

import argparse

from omo import options
from omo.context import Context
from omo.errors import Unreadable
from omo.json_text import Json
from omo.result import Result
from omo.text import clip, counted
from omo.work.publish import reopen_if_changed
from omo.work.run import caller_of
from omo.workflows.ultragoal import goal_tool
from omo.workflows.ultragoal.run import ULTRAGOAL, run_of
from omo.workflows.ultragoal.session_goal import NO_GOAL, ToolGoal
from omo.workflows.ultragoal.status import changing, publish_status
from omo.workflows.ultragoal.views import step_data

OPERATIONS = {
    "create": "make a goal; none may be active or paused",
    "complete": "call the goal complete; a plan's goal needs the plan's fresh receipts",
    "pause": "let the goal rest; with goals open, only for what a person has to do",
    "resume": "go on with a paused goal",
    "drop": "give the goal up; the plan stays as it is",
}
OBJECTIVE = "what is to be reached, as the plan says it; without it, what the plan needs"


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "goal", "what this session is after: get, create, complete, …")
    options.command(verbs, "get", "show the session's goal; writes nothing", get)
    for name, about in OPERATIONS.items():
        parser = options.command(verbs, name, about, operate)
        parser.set_defaults(objective=None)
        if name == "create":
            parser.add_argument("--objective", metavar="TEXT", help=OBJECTIVE)


def get(arguments: argparse.Namespace, context: Context) -> Result:
    run = run_of(arguments, context, looks=True)
    if run.problems and run.plan is None:
        raise Unreadable(run.problems[0], fix=run.repair.text)
    goal = run.plan.tool if run.plan is not None else NO_GOAL
    data: Json = {"goal": goal.render()}
    notes = []
    if run.problems:
        data["problems"] = run.problems
        notes = [f"the plan's ledger is damaged: {problem}" for problem in run.problems] + [run.repair.text]
    text = _line(goal) if goal.id else f"There is no goal in session {run.caller.session}."
    return Result(data, text, notes=notes)


def operate(arguments: argparse.Namespace, context: Context) -> Result:
    if arguments.verb == "complete":
        reopen_if_changed(caller_of(context, context.session(arguments.session)), ULTRAGOAL.name)
    run = run_of(arguments, context)
    with changing(run):
        outcome = goal_tool.operate(arguments.verb, run, arguments.objective)
    step = publish_status(run)
    plan, notes = run.require_plan(), list(run.notes)
    if arguments.verb == "complete":
        notes.append(plan.tally)
    if arguments.verb == "drop" and plan.is_open:
        left = counted(len(plan.open_goals), "goal")
        notes.append(f"dropping the goal does not end the plan: {left} open, and Stop holds on")
    data = {"goal": outcome.goal.render(), "changed": outcome.changed, "by": run.caller.by, "next": step_data(step)}
    stood = "" if outcome.changed else "Nothing to change. "
    return Result(data, f"{stood}{_line(outcome.goal)}\nNext: {step.text}", notes=notes)


def _line(goal: ToolGoal) -> str:
    return f"Goal {goal.id} is {goal.status}: {clip(goal.objective, 400)}"
