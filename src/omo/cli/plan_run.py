"""`omo plan start|skip|status|recover|finish`: carrying a session out, and ending it."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omo.cli import options
from omo.cli.result import Result
from omo.context import Context
from omo.errors import BadInput
from omo.text import clip, counted
from omo.work.run import caller_of

if TYPE_CHECKING:
    from omo.work.run import Caller
    from omo.work.status import NextStep
    from omo.workflows.ultraplan.run import PlanState
    from omo.workflows.ultraplan.start import Started


def register(verbs: options.Commands) -> None:
    starts = options.command(verbs, "start", "record the base commit and open a session's fence", start)
    starts.add_argument("plan", metavar="PLAN")
    starts.add_argument("number", nargs="?", type=int, default=0, metavar="N", help="which session (default: the next)")
    starts.add_argument("--unreviewed", default="", metavar="REASON", help="without a clean critique; it is reported")
    skips = options.command(verbs, "skip", "leave out a step whose plan says On failure: skip", skip)
    skips.add_argument("step", type=int, metavar="N")
    skips.add_argument("--reason", required=True, metavar="TEXT")
    shows = options.command(verbs, "status", "the session as git shows it, and what comes next", status)
    mends = options.command(verbs, "recover", "begin a session of just the steps that are missing", recover)
    mends.add_argument("plan", nargs="?", metavar="PLAN", help="whose run to go on with; without it the current one")
    ends = options.command(verbs, "finish", "audit the session, write its report and close it", finish)
    ways = ends.add_mutually_exclusive_group()
    ways.add_argument("--failed", type=int, metavar="STEP", help="stop here: this step failed after its retry")
    ways.add_argument("--abandon", metavar="REASON", help="give the session up, whatever state it is in")
    ways.add_argument("--unverified", default="", metavar="REASON", help="without running Verify; it is reported")
    ends.add_argument("--handoff", default="", metavar="TEXT", help="what the next session should know")
    ends.add_argument("--error", default="", metavar="TEXT", help="with --failed: the error as it was printed")
    ends.add_argument("--tried", default="", metavar="TEXT", help="with --failed: what was tried")
    for parser in (starts, skips, mends):
        parser.add_argument("--yes", action="store_true", help="the cost that the plain call names is known")
    for parser in (skips, shows, mends, ends):
        parser.add_argument("--run", dest="named", default="", metavar="ID", help="another run than the current one")


def _caller(arguments: argparse.Namespace, context: Context, *, looks: bool = False) -> Caller:
    return caller_of(context, context.session(arguments.session, looks=looks))


def _path(plan: str, context: Context) -> Path:
    """From where the command was typed, else from the project's top, as omo shows paths."""
    typed = Path(context.cwd, plan)
    return typed if typed.exists() or not Path(context.root, plan).exists() else Path(context.root, plan)


def _next_data(step: NextStep) -> dict[str, Any]:
    return {**step.data, "step": int(step.item) if step.item else None}


def _facts(state: PlanState) -> dict[str, Any]:
    return {
        "run": state.run,
        "plan": state.path,
        "base": state.base,
        "depth": state.depth,
        "legacy": state.is_legacy,
        "fence": state.fence,
        "overrides": state.overrides,
        "session": {"number": state.number, "of": state.sessions},
        "handoffs": list(state.handoffs),
    }


def start(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.workflows.ultraplan import start as starting

    begun = starting.start(
        _caller(arguments, context),
        _path(arguments.plan, context),
        arguments.number,
        environ=context.environ,
        unreviewed=arguments.unreviewed,
        is_agreed=arguments.yes,
    )
    return _begun(begun, context)


def _begun(begun: Started, context: Context) -> Result:
    from omo.workflows.ultraplan.preflight import MISSING
    from omo.workflows.ultraplan.run import MOST_RECOVERIES
    from omo.workflows.ultraplan.verify import by_steps

    state = begun.state
    if begun.missing:
        data = {"run": state.run, "state": "blocked", "missing": begun.missing, "next": _next_data(begun.next)}
        lines = ["Blocked: nothing was begun.", *(f"  {need}" for need in begun.missing), f"Next: {begun.next.text}"]
        return Result(data, "\n".join(lines), MISSING, notes=begun.notes)
    of = f" (session {state.number} of {state.sessions})" if state.sessions > 1 else ""
    if state.recovering:
        of += f", recovery {state.depth} of {MOST_RECOVERIES}"
    spec = os.path.relpath(begun.spec, context.root)
    steps = state.recovering or state.steps
    runnable = [command for command in state.verify if command.argv]
    lines = [
        f"Plan session {state.run}{of}: {counted(len(steps), 'step')} from {state.base[:12]}",
        f"  spec         {spec}",
        f"  may change   {', '.join(state.fence['touch']) or 'anything'}",
        f"  never        {', '.join(state.fence['never']) or 'nothing named'}",
        *(f"  will run     {line}" for line in by_steps([(each.step, each.words) for each in runnable])),
        *(f"  will not run {command}" for command in state.verify if not command.argv),
        *(f"  let through  {override}" for override in state.overrides),
        *(f"  handed over  {note}" for note in state.handoffs),
        f"Next: {begun.next.text}",
    ]
    shown = {
        **_facts(state),
        "state": "active",
        "spec": spec,
        "verify": [command.row for command in state.verify],
        "next": _next_data(begun.next),
    }
    return Result(shown, "\n".join(lines), notes=begun.notes)


def skip(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.work.lifecycle import require
    from omo.work.run import require_own
    from omo.workflows.ultraplan import finish as finishing
    from omo.workflows.ultraplan.run import PLAN

    run = require(PLAN, _caller(arguments, context), arguments.named)
    require_own(run)
    step = finishing.skip(run, arguments.step, arguments.reason, is_agreed=arguments.yes)
    text = f"Step {arguments.step} is skipped, and the report says so.\nNext: {step.text}"
    return Result({"skipped": arguments.step, "next": _next_data(step)}, text)


def status(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.work.lifecycle import left_by_others
    from omo.work.status import NextStep, command
    from omo.workflows.ultraplan.run import KIND, MOST_RECOVERIES, load_status
    from omo.workflows.ultraplan.status import publish_status

    caller = _caller(arguments, context, looks=True)
    loaded = load_status(caller, arguments.named)
    step = publish_status(loaded)
    others = left_by_others(KIND, caller)
    if loaded.run is None and others:
        why = f"session {others[0]} has one that is open; to take it up"
        step = NextStep("resume", why, (command("omo resume", others[0]),))
    if loaded.run is None:
        return Result({"run": None, "state": "none", "next": _next_data(step)}, f"No plan session. Next: {step.text}")
    state = loaded.state
    steps = loaded.audit.steps
    seen = sorted({*state.seen, *loaded.audit.passed})
    violations = [str(violation) for violation in loaded.audit.violations]
    data = {
        **_facts(state),
        "state": state.word,
        "verdict": loaded.audit.verdict if state.is_open else None,
        "steps": loaded.audit.to_json()["steps"],
        "skipped": {str(number): why for number, why in state.skipped.items()},
        "seen": seen,
        "violations": violations,
        "dirty": loaded.audit.dirty,
        "edited": loaded.edited,
        "problems": loaded.problems,
        "next": _next_data(step),
    }
    audit = f", audit {loaded.audit.words}" if state.is_open else ""
    lines = [
        f"Plan session {state.run}: {state.word}{audit}",
        f"  plan    {state.path}, recovery {state.depth} of {MOST_RECOVERIES}",
        f"  base    {state.base or 'none: nothing was begun'}",
        *(f"  {each}" for each in steps),
        f"  seen    {len(seen)} of {len(steps) or len(state.steps)} steps have passed at some time",
        *(f"  outside {clip(violation, 200)}" for violation in violations),
        *(f"  dirty   {clip(path, 200)}" for path in loaded.audit.dirty),
        *(f"  let through: {clip(override, 200)}" for override in state.overrides),
    ]
    lines += [f"  handed over: {note}" for note in state.handoffs]
    if loaded.edited:
        lines.append(f"  note    {loaded.edited}")
    lines.append(f"Next: {step.text}")
    return Result(data, "\n".join(lines), notes=loaded.problems)


def recover(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.work.lifecycle import require
    from omo.workflows.ultraplan import start as starting
    from omo.workflows.ultraplan.run import PLAN

    caller = _caller(arguments, context)
    if arguments.plan is None or arguments.named:
        run = require(PLAN, caller, arguments.named)
    else:
        run = starting.chosen(caller, _path(arguments.plan, context))
    return _begun(starting.recover(run, environ=context.environ, is_agreed=arguments.yes), context)


def finish(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.work.lifecycle import require
    from omo.work.run import require_own
    from omo.workflows.ultraplan import finish as finishing
    from omo.workflows.ultraplan.run import PLAN

    if arguments.failed is None and (arguments.error or arguments.tried):
        raise BadInput("--error and --tried belong to --failed STEP", fix="omo plan finish --help")
    run = require(PLAN, _caller(arguments, context), arguments.named)
    require_own(run)
    if arguments.abandon is not None:
        done = finishing.abandon(run, arguments.abandon)
    else:
        failure = None
        if arguments.failed is not None:
            failure = finishing.Failure(arguments.failed, arguments.error, arguments.tried)
        done = finishing.finish(run, failure, unverified=arguments.unverified, handoff=arguments.handoff)
    ended = done.status
    data = {
        **_facts(ended.state),
        "verdict": done.verdict,
        "closed": done.closed,
        "report": done.path,
        "audit": ended.audit.to_json() if ended.audit.steps else None,
        "verify": [result.row for result in done.results],
        "edited": ended.edited,
        "next": _next_data(done.next),
    }
    end = f"Closed as {done.verdict}." if done.closed else "Not closed: the session is still under way."
    shown = os.path.relpath(done.path, context.root)
    return Result(data, f"{done.report}\n{end} Report: {shown}", done.exit_code)
