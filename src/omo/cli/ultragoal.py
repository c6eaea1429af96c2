"""`omo ultragoal`: durable plans of several goals, each closed only by a receipt that its quality gate issued."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from omo.cli import options, ultragoal_gate, ultragoal_review, ultragoal_steer, ultragoal_views
from omo.cli.result import Result
from omo.cli.runs import run_of
from omo.context import Context
from omo.errors import BadInput
from omo.shown import clip, counted
from omo.ultragoal import adoption, creation, goal_tool, loop, receipts, summary
from omo.ultragoal import repair as repairing
from omo.ultragoal.brief import parse
from omo.ultragoal.given import json_of
from omo.ultragoal.next_step import next_step
from omo.ultragoal.plan import MODES, Plan
from omo.ultragoal.run import Run

LARGEST_BRIEF = 1_000_000


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "ultragoal", "durable multi-goal plans: goals, gates, receipts, steering, review")
    for name in ("create-goals", "create"):
        about = "turn a brief into a plan" if name == "create-goals" else "the same as create-goals"
        _create_options(options.command(verbs, name, about, create_goals))
    going = options.command(verbs, "complete-goals", "hand out the goal to work on now", complete_goals)
    going.add_argument("--retry-failed", action="store_true", help="try a failed goal again where nothing else is left")
    going.add_argument("--retry-blocked", action="store_true", help="the same for a blocked one")
    options.command(verbs, "status", "the plan, its goals and receipts, and the next step", status)
    closing = options.command(verbs, "checkpoint", "record how a goal came out: complete needs its gate", checkpoint)
    closing.add_argument("--goal-id", required=True, metavar="G")
    closing.add_argument("--status", required=True, choices=("complete", "failed", "blocked"))
    closing.add_argument("--evidence", required=True, metavar="TEXT", help="what was seen, in a few sentences")
    closing.add_argument(
        "--goal-json", "--gjc-goal-json", metavar="JSON|FILE", help="omo goal get --json; compared with the live goal"
    )
    closing.add_argument("--quality-gate-json", metavar="JSON|FILE", help="the gate; docs/quality-gate.md")
    ultragoal_steer.register(verbs)
    ultragoal_gate.register(verbs)
    ultragoal_review.register(verbs)
    mending = "bring back a plan whose view was edited or that was moved; keep one with a damaged ledger aside"
    options.command(verbs, "repair", mending, repair)
    taking = options.command(verbs, "adopt", "take over the plan of a session that was cleared, forked or died", adopt)
    taking.add_argument(
        "--from",
        dest="source",
        metavar="SESSION",
        help="a session of this project; without it the only other one with open goals",
    )


def _create_options(parser: argparse.ArgumentParser) -> None:
    given = parser.add_mutually_exclusive_group(required=True)
    given.add_argument("--brief", metavar="TEXT", help="goals begin with @goal: TITLE at the start of a line")
    given.add_argument("--brief-file", metavar="FILE")
    given.add_argument("--from-stdin", action="store_true")
    parser.add_argument("--goal-mode", "--gjc-goal-mode", default=MODES[0], choices=MODES, help="default: aggregate")
    parser.add_argument("--force", action="store_true", help="archive an unfinished plan and begin anew")


def create_goals(arguments: argparse.Namespace, context: Context) -> Result:
    run = run_of(arguments, context)
    brief = parse(_brief(arguments, context))
    plan, kept = creation.create_goals(run, brief, mode=arguments.goal_mode, force=arguments.force)
    notes = [f"the earlier plan is kept as {kept}"] if kept else []
    notes += [*brief.near_misses, *brief.cut_titles, *_create_goal(run)]
    step = summary.tell(run)
    ids = [goal.id for goal in plan.goals]
    data = {
        "goals_count": len(ids),
        "goal_ids": ids,
        "goals_path": run.snapshot,
        "objective": plan.objective,
        "goal_mode": plan.goal_mode,
        "archived": kept,
        "next": step.command,
    }
    lines = [f"Plan with {counted(len(ids), 'goal')}: {run.snapshot}"]
    lines += [f"  {goal.id} {clip(goal.title, 100)}" for goal in plan.goals]
    return Result(data, "\n".join([*lines, f"Next: {step.text}"]), notes=notes)


def _create_goal(run: Run) -> list[str]:
    """The goal tool's goal, where none is under way; an unrelated one is the caller's to drop."""
    live = goal_tool.current(run.state, run.session)
    if live is not None and live.status in ("active", "paused"):
        wanted = run.require_plan().objectives_of(None)
        return (
            [] if live.objective in wanted else [f"another goal is {live.status}: omo goal drop, then omo goal create"]
        )
    goal_tool.create(run)
    return []


def _brief(arguments: argparse.Namespace, context: Context) -> str:
    if arguments.brief is not None:
        return str(arguments.brief)
    if arguments.from_stdin:
        return sys.stdin.read(LARGEST_BRIEF + 1)
    path = Path(context.cwd, arguments.brief_file)
    try:
        with path.open("rb") as file:
            return file.read(LARGEST_BRIEF + 1).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise BadInput(f"--brief-file {arguments.brief_file}: {why}", fix="name a readable UTF-8 text file") from None


def complete_goals(arguments: argparse.Namespace, context: Context) -> Result:
    run = run_of(arguments, context)
    plan = run.require_plan()
    notes = _go_on(run, plan)
    handout = loop.hand_out(run, retry_failed=arguments.retry_failed, retry_blocked=arguments.retry_blocked)
    step = summary.tell(run)
    return ultragoal_views.handout(run, handout, step, notes)


def _go_on(run: Run, plan: Plan) -> list[str]:
    """Handing out work means going on: a paused goal is resumed, a missing one is made."""
    live = goal_tool.current(run.state, run.session)
    if not plan.open_goals:
        return []
    if live is None or live.status == "complete":
        goal_tool.create(run)
        return ["the session's goal was created"]
    if live.status == "paused" and live.objective in plan.objectives_of(plan.active):
        goal_tool.resume(run)
        return ["the session's goal was paused and is active again"]
    return []


def status(arguments: argparse.Namespace, context: Context) -> Result:
    run = run_of(arguments, context, looks=True)
    at = summary.standing(run)
    step = next_step(at)
    if at.plan is None:
        others = [] if at.problems else adoption.adoptable(run)
        notes = [f"session {name} has a plan with open goals: omo ultragoal adopt --from {name}" for name in others]
        data = {"exists": False, "status": "missing", "adoptable": others, "problems": at.problems, "next": step.data}
        return Result(data, f"No ultragoal plan in this session. Next: {step.text}", notes=[*at.problems, *notes])
    return ultragoal_views.status(run, at, step)


def checkpoint(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.ultragoal import checkpoint as checkpoints
    from omo.ultragoal.gate import models

    run = run_of(arguments, context)
    goal, gate = arguments.goal_json, arguments.quality_gate_json
    try:
        done = checkpoints.checkpoint(
            run,
            arguments.goal_id,
            status=arguments.status,
            evidence=arguments.evidence,
            goal_json=None if goal is None else json_of(goal, context.cwd, "--goal-json"),
            gate=None if gate is None else models.load(gate, context.cwd),
            gate_file="" if gate is None else os.path.relpath(os.path.join(context.cwd, gate), run.root),
        )
    finally:
        step = summary.tell(run)  # also after a refusal: a crash may have left the session behind the ledger
    before = (done.goal.receipt or {}).get("goalStatusBeforeCheckpoint")
    if done.changed and before not in (None, "complete"):  # a receipt issued again is no progress
        step = summary.tell(run, progressed=True)
    return ultragoal_views.checkpointed(run, done, step)


def repair(arguments: argparse.Namespace, context: Context) -> Result:
    run = run_of(arguments, context)
    done = repairing.repair(run)
    step = summary.tell(run)
    stale = []
    if plan := run.plan():
        for goal in plan.goals:
            problem = receipts.problem(plan, goal, run.directory) if goal.status == "complete" else ""
            if problem:
                stale.append(problem)
    text = "\n".join([*done.what, *(f"  to be verified again: {one}" for one in stale), f"Next: {step.text}"])
    return Result({"repaired": done.what, "kept": done.kept, "stale": stale, "next": step.command}, text)


def adopt(arguments: argparse.Namespace, context: Context) -> Result:
    run = run_of(arguments, context)
    plan = adoption.adopt_from(run, arguments.source)
    source = arguments.source or "the other session"
    notes = _create_goal(run) if plan.open_goals else []
    step = summary.tell(run)
    data: dict[str, Any] = {"run": plan.run, "from": source, "goals_path": run.snapshot, "next": step.command}
    text = (
        f"The plan of {source} is this session's now: {counted(len(plan.open_goals), 'goal')} open.\nNext: {step.text}"
    )
    return Result(data, text, notes=notes)
