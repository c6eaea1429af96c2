"""`omo ralph`: rounds of work against criteria that were pinned before it, each judged by facts."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from omo import safe_open
from omo.cli import options
from omo.cli.result import Result
from omo.context import Context
from omo.errors import BadInput
from omo.text import clip
from omo.work.run import caller_of
from omo.workflows.ralph.rules import DEFAULT_ITERATIONS, MOST_ITERATIONS, PHASES, SMALL_CHANGE

if TYPE_CHECKING:
    from omo.workflows.ralph.run import RalphRun

Handler = Callable[[argparse.Namespace, Context], Result]

LARGEST_MESSAGE = 256 * 1024


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
    starts.add_argument(
        "--request", default="", metavar="TEXT", help="what the user asked for, where they did not type /omo:ralph TEXT"
    )
    _verb(verbs, "exec", "open an iteration: what to work on, in which phases", execute)
    about = "what no hook can see of an iteration: IMPL was your own work, or REFINE is left out"
    phases = _verb(verbs, "phase", about, phase)
    phases.add_argument("name", choices=("IMPL", "REFINE"), metavar="NAME", help="IMPL, or REFINE with --skip")
    phases.add_argument("--skip", default="", metavar="REASON", help=f"for changes under {SMALL_CHANGE} lines")
    about = "did the phases of this iteration really happen: 0 all of them, 3 not all; writes nothing"
    looks = _verb(verbs, "artifacts", about, artifacts)
    looks.add_argument("--newer-than", metavar="ISO", help="leave out what was seen before that moment")
    about = "what to ask the agent omo:judge, with the nonce its answer is known by; 3 answers in an iteration at most"
    _verb(verbs, "brief", about, brief)
    about = "evaluate every criterion and conclude: 0 pass, 3 fail or partial, 4 not to be told"
    judges = _verb(verbs, "judge", about, judge)
    judges.add_argument(
        "--result",
        metavar="FILE",
        help="the judge's message where no hook could report it (- reads stdin): reduced independence",
    )
    _verb(verbs, "replan", "what is complete, blocked, regressed and to fix", replan)
    _verb(verbs, "status", "where the run stands, and what comes next", status)
    gives_up = _verb(verbs, "abandon", "give the run up; the user is told if it was the agent", abandon)
    gives_up.add_argument("reason", metavar="REASON")


def _verb(verbs: options.Commands, name: str, about: str, handler: Handler) -> argparse.ArgumentParser:
    parser = options.command(verbs, name, about, handler)
    parser.add_argument("--run", dest="named", default="", metavar="ID", help="another run than the session's own")
    return parser


def _run(arguments: argparse.Namespace, context: Context, *, looks: bool = False) -> RalphRun:
    """The run that is meant, loaded once. To act on it, it has to be the agent's own, whatever --run says."""
    from omo.work.lifecycle import require
    from omo.work.run import require_own
    from omo.workflows.ralph.run import RALPH

    caller = caller_of(context, context.session(arguments.session, looks=looks))
    run = require(RALPH, caller, arguments.named)
    if not looks:
        require_own(run)
    return run


def start(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.cli import ralph_views
    from omo.work.agents import session_events
    from omo.workflows.ralph import start as starting
    from omo.workflows.ralph.phases import NO_GATE

    run, step = starting.start(
        caller_of(context, context.session(arguments.session)),
        Path(context.cwd, arguments.criteria),
        max_iterations=arguments.max_iterations,
        reduced_scope=arguments.reduced_scope,
        request=arguments.request,
    )
    result = ralph_views.begun(run.require_whole(), step)
    if not arguments.reduced_scope and not session_events(run).has_gates:
        result.notes.append(NO_GATE)
    return result


def execute(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.cli import ralph_views
    from omo.workflows.ralph import iteration
    from omo.workflows.ralph.end import publish

    run = _run(arguments, context)
    files = iteration.Files(context.root)
    is_new = iteration.execute(run, files)
    step = publish(run)
    state = run.require_whole()
    groups = iteration.groups(files, state)
    data = {
        "run": run.id,
        "iteration": state.iteration,
        "max_iterations": state.max_iterations,
        "opened": is_new,
        "scope": state.exec_row["scope"],
        "groups": groups,
        "phases": list(PHASES),
        "reduced_scope": state.reduced_scope or None,
        "next": step.data,
    }
    notes = [] if is_new else ["this iteration was open already; it is shown again"]
    return Result(data, "\n".join([*ralph_views.order(groups, state), f"Next: {step.text}"]), notes=notes)


def phase(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.work.agents import session_events
    from omo.workflows.ralph import phases
    from omo.workflows.ralph.iteration import Files

    run = _run(arguments, context)
    phases.note(run, arguments.name, arguments.skip)
    report = phases.check(run, Files(context.root), session_events(run))
    proof = report.proofs[arguments.name]
    data = {
        "run": run.id,
        "iteration": report.iteration,
        "phase": arguments.name,
        "skipped": arguments.skip or None,
        "status": proof.status,
        "proof": proof.text,
        "missing": report.missing,
    }
    lines = [f"{arguments.name} of iteration {report.iteration}, {proof.status}: {proof.text}"]
    if report.missing:
        lines.append(f"To do: {report.remediation}")
    return Result(data, "\n".join(lines))


def artifacts(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.cli import ralph_views
    from omo.work.agents import session_events
    from omo.workflows.ralph import phases
    from omo.workflows.ralph.iteration import Files
    from omo.workflows.ralph.run import require_open

    run = _run(arguments, context, looks=True)
    state = require_open(run)
    events = session_events(run)
    report = phases.check(run, Files(context.root), events, newer_than=arguments.newer_than)
    result = ralph_views.phases(report, state)
    if "SHIP" in report.missing and not events.has_gates:
        result.notes.append(phases.NO_GATE)
    return result


def brief(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.workflows.ralph import brief as briefs
    from omo.workflows.ralph.end import publish

    run = _run(arguments, context)
    asked = briefs.ask(run)
    publish(run)  # what is due now is the judgement, not another brief
    data = {
        "nonce": asked.nonce or None,
        "call": asked.call,
        "criteria": list(asked.criteria),
        "brief": asked.text if asked.nonce else None,
    }
    return Result(data, asked.text)


def judge(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.cli import ralph_views
    from omo.workflows.ralph import judge as judging

    given = None if arguments.result is None else _message(arguments.result, context)
    run = _run(arguments, context)
    judgement = judging.judge(run, result_text=given)
    return ralph_views.judgement(judgement, run.require_whole())


def _message(named: str, context: Context) -> str:
    """The judge's message from stdin or a file. One that is part of the tree changes what is judged, and is told."""
    option = f"--result {clip(named, 200)}"
    try:
        if named == "-":
            raw = sys.stdin.buffer.read(LARGEST_MESSAGE + 1)
        else:
            raw, _ = safe_open.read_start(os.path.join(context.cwd, named), LARGEST_MESSAGE + 1, follow_link=True)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise BadInput(f"{option}: {why}", fix="name the file with the judge's message") from None
    if len(raw) > LARGEST_MESSAGE:
        raise BadInput(f"{option} has more than {LARGEST_MESSAGE} bytes", fix="only the message")
    return raw.decode("utf-8-sig", "replace")


def replan(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.cli import ralph_views
    from omo.workflows.ralph.end import publish
    from omo.workflows.ralph.iteration import Files, groups

    run = _run(arguments, context, looks=True)
    state = run.require_whole()
    step = publish(run)
    when = "before any judgement"
    if state.judged:
        when = f"after iteration {state.last_judged['iteration']} of {state.max_iterations}"
    grouped = groups(Files(context.root), state)
    data = {**ralph_views.facts(state), **grouped, "next": step.data}
    head = f"Ralph run {run.id} {when}, verdict {state.verdict}"
    return Result(data, "\n".join([head, *ralph_views.to_do(grouped, state), f"Next: {step.text}"]))


def status(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.cli import ralph_views
    from omo.work.run import load
    from omo.workflows.ralph.end import next_step, publish
    from omo.workflows.ralph.run import RALPH

    caller = caller_of(context, context.session(arguments.session, looks=True))
    run = load(RALPH, caller, arguments.named)
    if run is None:
        step = next_step(None)
        return ralph_views.nothing(f"No ralph run. Next: {step.text}", step)
    step = publish(run)
    if run.state is None or run.problems:
        text = f"Ralph run {run.id}: its ledger is damaged\nNext: {step.text}"
        return ralph_views.nothing(text, step, run=run.id, state="damaged", problems=run.problems)
    return ralph_views.status(run.state, step)


def abandon(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.cli import ralph_views
    from omo.workflows.ralph import end

    run = _run(arguments, context)
    step = end.abandon(run, arguments.reason)
    notes = ["the user is shown this at the next Stop"] if context.is_agent else []
    data = {**ralph_views.facts(run.require_whole()), "next": step.data}
    return Result(data, f"Ralph run {run.id} is given up.", notes=notes)
