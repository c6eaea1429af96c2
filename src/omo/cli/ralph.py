"""`omo ralph`: rounds of work against criteria that were pinned before it, each judged by facts."""

from __future__ import annotations

import argparse
from pathlib import Path

from omo.cli import options, ralph_artifacts, ralph_judge
from omo.cli.ralph_run import named, naming, own_run_of, run_of
from omo.cli.result import Result
from omo.context import Context
from omo.ralph.phase_proof import PHASES, SMALL_CHANGE
from omo.ralph.transitions import DEFAULT_ITERATIONS, MOST_ITERATIONS
from omo.shown import clip


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "ralph", "rounds of work with an independent judge: start, exec, judge, replan")
    starts = options.command(verbs, "start", "pin the criteria and begin a run", start)
    starts.add_argument("--criteria", required=True, metavar="FILE", help="criteria with their checks, JSON or YAML")
    starts.add_argument(
        "--max-iterations",
        type=int,
        default=DEFAULT_ITERATIONS,
        metavar="N",
        help=f"1 to {MOST_ITERATIONS}, {DEFAULT_ITERATIONS} without it",
    )
    starts.add_argument(
        "--reduced-scope", default="", metavar="REASON", help="phases may be left out; the user's only, always shown"
    )
    named(options.command(verbs, "exec", "open an iteration: what to work on, in which phases", naming(execute)))
    phases = named(options.command(verbs, "phase", "record that a phase of the iteration is over", naming(phase)))
    phases.add_argument("name", choices=PHASES, metavar="NAME", help=", ".join(PHASES))
    phases.add_argument(
        "--skip", default="", metavar="REASON", help=f"REFINE only, for changes under {SMALL_CHANGE} lines"
    )
    ralph_artifacts.register(verbs)
    ralph_judge.register(verbs)
    named(options.command(verbs, "replan", "what is complete, blocked, regressed and to fix", naming(replan)))
    named(options.command(verbs, "status", "where the run stands, and what comes next", naming(status)))
    gives_up = named(
        options.command(verbs, "abandon", "give the run up; the user is told if it was the agent", naming(abandon))
    )
    gives_up.add_argument("reason", metavar="REASON")


def start(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.cli import ralph_views as views
    from omo.ralph import earlier, starting

    run = run_of(arguments, context)
    begun = starting.start(
        run,
        Path(context.cwd, arguments.criteria),
        max_iterations=arguments.max_iterations,
        reduced_scope=arguments.reduced_scope,
    )
    at = begun.standing
    data = {
        "run": at.run,
        "base": at.base,
        "max_iterations": at.max_iterations,
        "reduced_scope": at.reduced_scope or None,
        "criteria": [one.data for one in at.criteria],
        "before": at.started["before"],
        "lessons": at.lessons,
        "after": at.after or None,
        "next": begun.next.data,
    }
    text = "\n".join([*views.begun(at), f"Next: show this to the user; then {begun.next.command}"])
    return Result(data, text, notes=[] if earlier.has_gates(run) else [earlier.NO_GATE])


def execute(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.ralph import execution, summary
    from omo.ralph import replan as replanning

    run = own_run_of(arguments, context)
    done = execution.execute(run)
    at = done.standing
    step = summary.tell(run)
    data = {
        "run": at.run,
        "iteration": at.iteration,
        "max_iterations": at.max_iterations,
        "opened": done.is_new,
        "scope": at.exec_row["scope"],
        "groups": replanning.groups(run, at),
        "phases": list(PHASES),
        "reduced_scope": at.reduced_scope or None,
        "next": step.data,
    }
    again = [] if done.is_new else ["this iteration was open already; it is shown again"]
    return Result(data, "\n".join([*replanning.order(run, at), f"Next: {step.text}"]), notes=again)


def phase(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.ralph import execution, summary

    run = own_run_of(arguments, context)
    at, is_new = execution.phase(run, arguments.name, arguments.skip)
    step = summary.tell(run)
    row = at.phase(arguments.name) or {}
    how = f"left out: {clip(str(row['skipped']), 120)}" if row.get("skipped") else "over"
    data = {
        "run": at.run,
        "iteration": at.iteration,
        "phase": arguments.name,
        "skipped": row.get("skipped") or None,
        "recorded": is_new,
        "next": step.data,
    }
    said = "" if is_new else ", as recorded before"
    lost = [f"the reason was not recorded: {arguments.name} was noted before"] if arguments.skip and not is_new else []
    return Result(data, f"{arguments.name} of iteration {at.iteration} is {how}{said}.\nNext: {step.text}", notes=lost)


def replan(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.cli import ralph_views as views
    from omo.ralph import replan as replanning
    from omo.ralph import summary

    run = run_of(arguments, context, looks=True)
    at = run.require()
    step = summary.tell(run)
    rounds = f"after iteration {at.last_judged['iteration']} of {at.max_iterations}" if at.last_judged else ""
    head = f"Ralph run {at.run} {rounds or 'before any judgement'}, verdict {at.verdict}"
    data = {**views.facts(at), **replanning.groups(run, at), "next": step.data}
    return Result(data, "\n".join([head, *replanning.lines(run, at), f"Next: {step.text}"]))


def status(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.cli import ralph_views as views
    from omo.ralph import summary

    run = run_of(arguments, context, looks=True)
    at, problems = run.look()
    step = summary.tell(run)
    if at is None:
        return Result({**views.NO_RUN, "next": step.data}, f"No ralph run. Next: {step.text}")
    return views.view(at, problems, step)


def abandon(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.cli import ralph_views as views
    from omo.ralph import ending

    run = own_run_of(arguments, context)
    at, step = ending.abandon(run, arguments.reason)
    notes = ["the user is shown this at the next Stop"] if run.by != "user" else []
    return Result({**views.facts(at), "next": step.data}, f"Ralph run {at.run} is given up.", notes=notes)
