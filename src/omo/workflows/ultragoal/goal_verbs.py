"""`omo goal`: what this session is after."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from omo import options
from omo.context import Context
from omo.errors import Unreadable
from omo.result import Result
from omo.text import clip, counted
from omo.work.publish import reopen_if_changed
from omo.work.run import caller_of
from omo.workflows.ultragoal import goal_tool
from omo.workflows.ultragoal.run import ULTRAGOAL, PlanRun, run_of
from omo.workflows.ultragoal.session_goal import NO_GOAL, SessionGoalOutcome, ToolGoal
from omo.workflows.ultragoal.status import changing, publish_status


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "goal", "what this session is after: get, create, complete, …")
    options.command(verbs, "get", "show the session's goal; writes nothing", get)
    parser = options.command(verbs, "create", "make a goal; none may be active or paused", create)
    parser.add_argument(
        "--objective",
        metavar="TEXT",
        help="what is to be reached, as the plan says it; without it, what the plan needs",
    )
    options.command(
        verbs, "complete", "call the goal complete; a plan's goal needs the plan's fresh receipts", complete
    )
    options.command(verbs, "pause", "let the goal rest; with goals open, only for what a person has to do", pause)
    options.command(verbs, "resume", "go on with a paused goal", resume)
    options.command(verbs, "drop", "give the goal up; the plan stays as it is", drop)


def get(arguments: argparse.Namespace, context: Context) -> Result:
    run = run_of(arguments, context, looks=True)
    if run.problems and run.plan is None:
        raise Unreadable(run.problems[0], fix=run.repair.text)
    goal = run.plan.tool if run.plan is not None else NO_GOAL
    data: dict[str, Any] = {"goal": goal.render()}
    notes = []
    if run.problems:
        data["problems"] = run.problems
        notes = [f"the plan's ledger is damaged: {problem}" for problem in run.problems] + [run.repair.text]
    text = _line(goal) if goal.id else f"There is no goal in session {run.caller.session}."
    return Result(data, text, notes=notes)


def create(arguments: argparse.Namespace, context: Context) -> Result:
    return _operate(run_of(arguments, context), lambda run: goal_tool.create(run, arguments.objective))


def complete(arguments: argparse.Namespace, context: Context) -> Result:
    reopen_if_changed(caller_of(context, context.session(arguments.session)), ULTRAGOAL.name)
    run = run_of(arguments, context)
    result = _operate(run, goal_tool.complete)
    result.notes.append(run.require_plan().tally)
    return result


def pause(arguments: argparse.Namespace, context: Context) -> Result:
    return _operate(run_of(arguments, context), goal_tool.pause)


def resume(arguments: argparse.Namespace, context: Context) -> Result:
    return _operate(run_of(arguments, context), goal_tool.resume)


def drop(arguments: argparse.Namespace, context: Context) -> Result:
    run = run_of(arguments, context)
    result = _operate(run, goal_tool.drop)
    if run.require_plan().is_open:
        left = counted(len(run.require_plan().open_goals), "goal")
        result.notes.append(f"dropping the goal does not end the plan: {left} open, and Stop holds on")
    return result


def _operate(run: PlanRun, operation: Callable[[PlanRun], SessionGoalOutcome]) -> Result:
    with changing(run):
        outcome = operation(run)
    goal = outcome.goal
    data: dict[str, Any] = {"goal": goal.render(), "changed": outcome.changed, "by": run.caller.by}
    text = _line(goal)
    if not outcome.changed:
        text = f"Nothing to change. {text}"
    step = publish_status(run)
    data["next"] = {"action": step.action, "goal": step.item or None, "why": step.why, "command": step.command}
    return Result(data, f"{text}\nNext: {step.text}", notes=list(run.notes))


def _line(goal: ToolGoal) -> str:
    return f"Goal {goal.id} is {goal.status}: {clip(goal.objective, 400)}"
