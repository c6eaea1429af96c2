"""`omo plan start|skip|status|recover|finish`: carrying a session out, and ending it."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omo.cli import options
from omo.cli.result import Result
from omo.context import Context
from omo.errors import BadInput, Refused
from omo.shown import clip
from omo.state import store

if TYPE_CHECKING:
    from omo.ultraplan.finishing import Finished
    from omo.ultraplan.next_step import Next
    from omo.ultraplan.record import Record
    from omo.ultraplan.run import PlanRun
    from omo.ultraplan.standing import Standing


def register(verbs: options.Commands) -> None:
    starts = options.command(verbs, "start", "record the base commit and open a session's fence", start)
    starts.add_argument("spec", metavar="SPEC", help="a session spec, or a plan that is one session")
    starts.add_argument("--unreviewed", default="", metavar="REASON", help="without a clean critique; it is reported")
    starts.add_argument(
        "--out-of-order", default="", metavar="REASON", help="before what it depends on is done; it is reported"
    )
    skips = options.command(verbs, "skip", "leave out a step whose plan says On failure: skip", skip)
    skips.add_argument("step", type=int, metavar="N")
    skips.add_argument("--reason", required=True, metavar="TEXT")
    shows = options.command(verbs, "status", "the session as git shows it, and what comes next", status)
    mends = options.command(verbs, "recover", "write a spec of just the steps that are missing", recover)
    mends.add_argument(
        "spec", nargs="?", metavar="PLAN|SPEC", help="whose run to go on with; without it the current one"
    )
    mends.add_argument("--out", metavar="FILE", help="where to write it; without it, with omo's state")
    ends = options.command(verbs, "finish", "audit the session, write its report and close it", finish)
    _end_options(ends)
    for parser in (skips, shows, mends, ends):
        parser.add_argument("--run", dest="named", default="", metavar="ID", help="another run than the current one")


def _end_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", nargs="?", metavar="SPEC", help="the session's spec; without it the current one")
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--failed", type=int, metavar="STEP", help="stop here: this step failed after its retry")
    ways.add_argument("--abandon", metavar="REASON", help="give the session up, whatever state it is in")
    parser.add_argument("--error", default="", metavar="TEXT", help="with --failed: the error as it was printed")
    parser.add_argument("--tried", default="", metavar="TEXT", help="with --failed: what was tried")


def run_of(arguments: argparse.Namespace, context: Context, *, looks: bool = False) -> PlanRun:
    from omo.ultraplan.run import PlanRun

    return PlanRun(
        state=context.state,
        root=context.root,
        session=context.session(arguments.session, looks=looks),
        by=context.actor,
        now=context.now,
        wait=store.CLI_WAIT,
        limits=context.limits,
        named=getattr(arguments, "named", ""),
    )


def start(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.ultraplan import starting
    from omo.ultraplan.preflight import MISSING

    run = run_of(arguments, context)
    path = _path(arguments.spec, context)
    begun = starting.start(
        run,
        path,
        unreviewed=arguments.unreviewed,
        out_of_order=arguments.out_of_order,
        environ=context.environ,
    )
    record = begun.record
    if begun.missing:
        data = {"run": record.run, "state": "blocked", "missing": begun.missing, "next": begun.next.data}
        lines = ["Blocked: nothing was begun.", *(f"  {one}" for one in begun.missing), f"Next: {begun.next.text}"]
        return Result(data, "\n".join(lines), MISSING, notes=begun.notes)
    data = {**_facts(record), "state": "active", "next": begun.next.data}
    lines = [
        f"Plan session {record.run}: {len(record.steps)} steps from {record.base[:12]}",
        f"  may change   {', '.join(record.fence['touch']) or 'anything'}",
        f"  never        {', '.join(record.fence['never']) or 'nothing named'}",
        *(f"  let through  {one}" for one in record.overrides),
        f"Next: {begun.next.text}",
    ]
    return Result(data, "\n".join(lines), notes=begun.notes)


def skip(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.ultraplan import skipping, summary
    from omo.ultraplan.standing import look

    run = run_of(arguments, context)
    skipping.skip(run, arguments.step, arguments.reason)
    step = summary.tell(run, look(run))
    data = {"skipped": arguments.step, "next": step.data}
    return Result(data, f"Step {arguments.step} is skipped, and the report says so.\nNext: {step.text}")


def status(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.ultraplan import summary
    from omo.ultraplan.standing import look

    run = run_of(arguments, context, looks=True)
    at = look(run)
    step = summary.tell(run, at)
    if at.record is None:
        return Result({"run": None, "state": "none", "next": step.data}, f"No plan session. Next: {step.text}")
    return _view(run, at, step)


def _view(run: PlanRun, at: Standing, step: Next) -> Result:
    from omo.ultraplan.record import MOST_RECOVERIES

    record = at.record
    assert record is not None
    seen = sorted({*record.seen, *(at.audit.passed if at.audit else [])})
    state = record.end or ("active" if record.base else "blocked")
    total = len(at.audit.steps) if at.audit else len(record.steps)
    data = {
        **_facts(record),
        "state": state,
        "verdict": at.verdict if record.is_open else None,
        "steps": [one.to_json() for one in at.audit.steps] if at.audit else [],
        "skipped": {str(number): why for number, why in record.skipped.items()},
        "seen": seen,
        "violations": at.violations,
        "dirty": at.dirty,
        "edited": at.edited,
        "problems": list(at.problems),
        "next": step.data,
    }
    lines = [
        f"Plan session {record.run}: {state}" + (f", audit {at.words}" if record.is_open else ""),
        f"  spec    {record.spec}, recovery {record.depth} of {MOST_RECOVERIES}",
        f"  base    {record.base or 'none: nothing was begun'}",
        *(f"  {one}" for one in (at.audit.steps if at.audit else [])),
        f"  seen    {len(seen)} of {total} steps have passed at some time",
        *(f"  outside {clip(one, 200)}" for one in at.violations),
        *(f"  dirty   {clip(one, 200)}" for one in at.dirty),
        *(f"  let through: {clip(one, 200)}" for one in record.overrides),
        *([f"  note    {at.edited}"] if at.edited else []),
        f"Next: {step.text}",
    ]
    return Result(data, "\n".join(lines), notes=list(at.problems))


def recover(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.ultraplan import recovery
    from omo.ultraplan.record import MOST_RECOVERIES

    run = run_of(arguments, context)
    if arguments.spec is not None:
        run = recovery.chosen(run, _path(arguments.spec, context))
        _require_named(run, arguments.spec, context)
    written = recovery.recover(run, Path(context.cwd, arguments.out) if arguments.out else None)
    data = {"spec": written.spec, "depth": written.depth, "missing": written.missing, "next": written.next.data}
    listed = ", ".join(str(step) for step in written.missing)
    text = (
        f"Recovery {written.depth} of {MOST_RECOVERIES} for step {listed}: {written.spec}\nNext: {written.next.command}"
    )
    return Result(data, text)


def finish(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.ultraplan import finishing

    run = run_of(arguments, context)
    if arguments.failed is None and (arguments.error or arguments.tried):
        raise BadInput("--error and --tried belong to --failed STEP", fix="omo plan finish --help")
    _require_own(run, context)
    if arguments.abandon is not None:
        return _ended(finishing.abandon(run, arguments.abandon))
    _require_named(run, arguments.spec, context)
    failure = (
        None if arguments.failed is None else finishing.Failure(arguments.failed, arguments.error, arguments.tried)
    )
    return _ended(finishing.finish(run, failure))


def _ended(done: Finished) -> Result:
    data = {
        **_facts(done.record),
        "verdict": done.verdict,
        "closed": done.closed,
        "report": done.path,
        "audit": done.at.audit.to_json() if done.at.audit else None,
        "recovered_steps": done.at.own.to_json() if done.at.own else None,
        "edited": done.at.edited,
        "next": done.next.data,
    }
    end = f"Closed as {done.verdict}." if done.closed else "Not closed: the session is still under way."
    return Result(data, f"{done.report}\n{end} Report: {done.path}\nNext: {done.next.text}", done.exit_code)


def _facts(record: Record) -> dict[str, Any]:
    return {
        "run": record.run,
        "spec": record.spec,
        "base": record.base,
        "depth": record.depth,
        "recovery_of": record.recovery_of or None,
        "legacy": record.is_legacy,
        "fence": record.fence,
        "overrides": record.overrides,
    }


def _require_own(run: PlanRun, context: Context) -> None:
    """An agent ends its own session's run; another's is the user's to end."""
    whose = run.holder(run.current())
    if context.is_agent and whose != run.session:
        raise Refused(
            f"the plan session is that of {whose}, and an agent ends only its own",
            fix=f'the user runs omo plan finish --session {whose} --abandon "why"',
        )


def _require_named(run: PlanRun, spec: str | None, context: Context) -> None:
    """The spec that was typed is the one the run was started with, by its place; its text is pinned."""
    if spec is None:
        return
    from omo.ultraplan.run import runs_at

    record = run.require()
    known = runs_at(run.state, run.here, str(_path(spec, context)))
    if record.run not in [one.run for one in known] and not _is_at(run, record.spec, _path(spec, context)):
        raise Refused(
            f"{spec} is not what plan session {record.run} was started with, which is {record.spec}",
            fix="leave SPEC away for the current session, or name another with --run ID",
        )


def _is_at(run: PlanRun, spec: str, path: Path) -> bool:
    return os.path.realpath(path) == os.path.realpath(os.path.join(run.root, spec))


def _path(spec: str, context: Context) -> Path:
    """From where the command was typed, else from the project's top, as omo shows paths."""
    typed = Path(context.cwd, spec)
    return typed if typed.exists() or not Path(context.root, spec).exists() else Path(context.root, spec)
