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
from omo.workflows.ultragoal.session_goal import SessionGoalOutcome, ToolGoal
from omo.workflows.ultragoal.status import changing, publish_status


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "goal", "what this session is after: get, create, complete, …")
    options.command(verbs, "get", "show the session's goal; writes nothing", get)
    parser = options.command(verbs, "create", "make a goal; none may be active or paused", create)
    parser.add_argument(
        "--objective", metavar="TEXT", help="what is to be reached; without it, what the session's plan needs"
    )
    options.command(
        verbs, "complete", "call the goal complete; a plan's goal needs the plan's fresh receipts", complete
    )
    options.command(verbs, "pause", "let the goal rest; with goals open, only for what a person has to do", pause)
    options.command(verbs, "resume", "go on with a paused goal", resume)
    options.command(verbs, "drop", "give the goal up; the plan stays as it is", drop)


def get(arguments: argparse.Namespace, context: Context) -> Result:
    tool = run_of(arguments, context, looks=True).tool
    if tool.problems and tool.newest is None:
        raise Unreadable(tool.problems[0], fix=tool.recovery)
    goal = tool.current
    data: dict[str, Any] = {"goal": goal.render() if goal else None}
    notes = []
    if tool.problems:
        data["problems"] = tool.problems
        notes = [f"the goal's journal is damaged: {problem}" for problem in tool.problems] + [tool.recovery]
    text = _line(goal) if goal else f"There is no goal in session {tool.caller.session}."
    return Result(data, text, notes=notes)


def create(arguments: argparse.Namespace, context: Context) -> Result:
    return _operate(run_of(arguments, context), lambda run: goal_tool.create(run, arguments.objective))


def complete(arguments: argparse.Namespace, context: Context) -> Result:
    reopen_if_changed(caller_of(context, context.session(arguments.session)), ULTRAGOAL.name)
    run = run_of(arguments, context)
    result = _operate(run, goal_tool.complete)
    if run.plan is not None:
        result.notes.append(run.plan.tally)
    return result


def pause(arguments: argparse.Namespace, context: Context) -> Result:
    return _operate(run_of(arguments, context), goal_tool.pause)


def resume(arguments: argparse.Namespace, context: Context) -> Result:
    return _operate(run_of(arguments, context), goal_tool.resume)


def drop(arguments: argparse.Namespace, context: Context) -> Result:
    run = run_of(arguments, context)
    result = _operate(run, goal_tool.drop)
    if run.plan is not None and run.plan.is_open:
        left = counted(len(run.plan.open_goals), "goal")
        result.notes.append(f"dropping the goal does not end the plan: {left} open, and Stop holds on")
    return result


def _operate(run: PlanRun, operation: Callable[[PlanRun], SessionGoalOutcome]) -> Result:
    with changing(run):
        outcome = operation(run)
    goal = outcome.goal
    data: dict[str, Any] = {"goal": goal.render() if goal else None, "changed": outcome.changed, "by": run.caller.by}
    text = _line(goal) if goal else f"The damaged journal is kept as {outcome.kept}; there is no goal now."
    if not outcome.changed:
        text = f"Nothing to change. {text}"
    if outcome.kept:
        data["kept"] = outcome.kept
    if run.plan is not None or run.problems:
        step = publish_status(run)
        data["next"] = {"action": step.action, "goal": step.item or None, "why": step.why, "command": step.command}
        text += f"\nNext: {step.text}"
    return Result(data, text, notes=list(run.notes))


def _line(goal: ToolGoal) -> str:
    return f"Goal {goal.id} is {goal.status}: {clip(goal.objective, 400)}"
