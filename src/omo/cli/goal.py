"""`omo goal`: what this session is after."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from omo.cli import options
from omo.cli.result import Result
from omo.cli.runs import run_of
from omo.context import Context
from omo.errors import OmoError
from omo.shown import clip, counted
from omo.ultragoal import goal_guards, goal_tool, summary
from omo.ultragoal.goal_tool import Outcome, ToolGoal
from omo.ultragoal.next_step import Step
from omo.ultragoal.run import Run
from omo.ultragoal.tally import tally


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "goal", "what this session is after: get, create, complete, pause, resume, drop")
    options.command(verbs, "get", "show the session's goal; writes nothing", get)
    create_parser = options.command(verbs, "create", "make a goal; none may be active or paused", create)
    create_parser.add_argument(
        "--objective", metavar="TEXT", help="what is to be reached; without it, what the session's plan needs"
    )
    options.command(
        verbs, "complete", "call the goal complete; a plan's goal needs the plan's fresh receipts", complete
    )
    options.command(verbs, "pause", "let the goal rest; with goals open, only for what a person has to do", pause)
    options.command(verbs, "resume", "go on with a paused goal", resume)
    options.command(verbs, "drop", "give the goal up; the plan stays as it is", drop)


def get(arguments: argparse.Namespace, context: Context) -> Result:
    name = context.session(arguments.session, looks=True)
    goal = goal_tool.current(context.state, name)
    problems = goal_tool.problems(context.state, name)
    data: dict[str, Any] = {"goal": goal.render() if goal else None}
    if problems:
        data["problems"] = problems
    notes = [f"the goal's journal is damaged: {one}" for one in problems] + (
        [goal_tool.recovery(name)] if problems else []
    )
    text = _line(goal) if goal else f"There is no goal in session {name}."
    return Result(data, text, notes=notes)


def create(arguments: argparse.Namespace, context: Context) -> Result:
    return _done(arguments, context, lambda run: goal_tool.create(run, arguments.objective))


def complete(arguments: argparse.Namespace, context: Context) -> Result:
    result = _done(arguments, context, goal_tool.complete)
    plan = run_of(arguments, context).plan()
    if plan is not None:
        result.notes.append(tally(plan))
    return result


def pause(arguments: argparse.Namespace, context: Context) -> Result:
    return _done(arguments, context, goal_tool.pause)


def resume(arguments: argparse.Namespace, context: Context) -> Result:
    return _done(arguments, context, goal_tool.resume)


def drop(arguments: argparse.Namespace, context: Context) -> Result:
    result = _done(arguments, context, goal_tool.drop)
    left = _open_goals(run_of(arguments, context))
    if left:
        result.notes.append(f"dropping the goal does not end the plan: {counted(left, 'goal')} open, and Stop holds on")
    return result


def _done(arguments: argparse.Namespace, context: Context, operate: Callable[[Run], Outcome]) -> Result:
    run = run_of(arguments, context)
    outcome = operate(run)
    step, notes = _tell(run)
    goal = outcome.goal
    data = {"goal": goal.render() if goal else None, "changed": outcome.changed, "by": run.by}
    lines = [_line(goal)] if goal else [f"The damaged journal is kept as {outcome.kept}; there is no goal now."]
    if not outcome.changed:
        lines = [f"Nothing to change. {lines[0]}"]
    if outcome.kept:
        data["kept"] = outcome.kept
    if step is not None:
        data["next"] = {"action": step.action, "goal": step.goal, "why": step.why, "command": step.command}
        lines.append(f"Next: {step.text}")
    return Result(data, "\n".join(lines), notes=notes)


def _tell(run: Run) -> tuple[Step | None, list[str]]:
    """The goal is recorded by now: a plan that cannot be read is worth a note, not a failure."""
    try:
        if run.plan() is None:
            return None, []
        return summary.tell(run), []
    except OmoError as error:
        return None, [f"the plan could not be read, so hooks were told nothing: {error}"]


def _open_goals(run: Run) -> int:
    try:
        plan = goal_guards.readable_plan(run)
    except OmoError:
        return 0
    return len(plan.open_goals) if plan else 0


def _line(goal: ToolGoal) -> str:
    return f"Goal {goal.id} is {goal.status}: {clip(goal.objective, 400)}"
