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
from omo.errors import BadInput, Refused
from omo.state import paths
from omo.text import clip
from omo.work.run import caller_of
from omo.workflows.ralph.rules import DEFAULT_ITERATIONS, MOST_ITERATIONS, SMALL_CHANGE

if TYPE_CHECKING:
    from omo.workflows.ralph.iteration import Files
    from omo.workflows.ralph.run import RalphRun

Handler = Callable[[argparse.Namespace, Context], Result]

LARGEST_MESSAGE = 256 * 1024


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "ralph", "rounds of work with an independent judge: start, judge, status")
    starts = options.command(verbs, "start", "pin the criteria and begin a run with its first iteration", start)
    about = "criteria with their checks, JSON or YAML; without it the project's own checks, as its files name them"
    starts.add_argument("--criteria", metavar="FILE", help=about)
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
    about = "did the phases of this iteration really happen: 0 all of them, 3 not all; writes nothing"
    looks = _verb(verbs, "artifacts", about, artifacts)
    looks.add_argument("--newer-than", metavar="ISO", help="leave out what was seen before that moment")
    about = "run the gates, have the judge asked, evaluate every criterion: 0 pass, 3 fail or partial, 4 not to be told"
    judges = _verb(verbs, "judge", about, judge)
    judges.add_argument(
        "--no-refine", default="", metavar="REASON", help=f"REFINE was left out, of changes under {SMALL_CHANGE} lines"
    )
    judges.add_argument(
        "--result",
        metavar="FILE",
        help="the judge's message where no hook could report it (- reads stdin): reduced independence",
    )
    _verb(verbs, "brief", "what the judge is asked, for omo:judge to read; writes nothing", brief)
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
    context.note_missing_agents()
    from omo.cli import ralph_views
    from omo.work.agents import session_events
    from omo.workflows.ralph import phases
    from omo.workflows.ralph import start as starting
    from omo.workflows.ralph.iteration import Files

    run, step = starting.start(
        caller_of(context, context.session(arguments.session)),
        Path(context.cwd, arguments.criteria) if arguments.criteria else None,
        cwd=paths.session_directory(context.environ, context.cwd),
        max_iterations=arguments.max_iterations,
        reduced_scope=arguments.reduced_scope,
        request=arguments.request,
    )
    result = ralph_views.begun(run.require_whole(), step)
    report = phases.check(run, Files(context.root), session_events(run))
    if "SHIP" in report.missing and not report.gates:
        result.notes.append(f"no gate is pinned in this session, and SHIP needs one: {phases.PIN}")
    return result


def artifacts(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.cli import ralph_views
    from omo.work.agents import session_events
    from omo.workflows.ralph import phases
    from omo.workflows.ralph.iteration import Files
    from omo.workflows.ralph.run import require_open

    run = _run(arguments, context, looks=True)
    state = require_open(run)
    report = phases.check(run, Files(context.root), session_events(run), newer_than=arguments.newer_than)
    return ralph_views.phases(report, state)


def brief(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.workflows.ralph import brief as briefs

    text, nonce = briefs.show(_run(arguments, context, looks=True))
    return Result({"nonce": nonce, "brief": text}, text)


def judge(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.cli import ralph_views
    from omo.workflows.ralph import judge as judging
    from omo.workflows.ralph.iteration import Files, groups
    from omo.workflows.ralph.phases import leave_out_refine

    given = None if arguments.result is None else _message(arguments.result, context)
    run = _run(arguments, context)
    if arguments.no_refine:
        leave_out_refine(run, arguments.no_refine)
    judgement = judging.judge(run, ship(run, context), result_text=given)
    state = run.require_whole()
    return ralph_views.judgement(judgement, state, groups(Files(context.root), state))


def ship(run: RalphRun, context: Context) -> Files:
    """The files to be judged. Where nothing else of the iteration is missing the gates are run on them, and what they
    print is told where one fails.
    """
    from omo.cli.gate import report_of, run_gates
    from omo.work.agents import session_events
    from omo.workflows.ralph import phases
    from omo.workflows.ralph.iteration import Files

    events, files = session_events(run), Files(context.root)
    report = phases.check(run, files, events)
    is_shipped = report.proofs["SHIP"].status == phases.PRESENT
    if is_shipped or report.missing not in ([], ["SHIP"]) or not report.gates:
        return files
    shown = report_of(*run_gates(context, events.session))
    run.caller.forget()
    files = Files(context.root)
    if not phases.check(run, files, session_events(run)).ok:
        what = f"iteration {report.iteration} is not judged yet: its gates do not pass; that is not counted against it"
        raise Refused(what, fix="mend that, then omo ralph judge", defects=shown.text.splitlines())
    return files


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
