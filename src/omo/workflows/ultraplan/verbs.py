"""`omo plan`: plans as contracts. Whether they are sound, carrying a session out, and whether they were kept."""

from __future__ import annotations

import argparse
import os
import shlex
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from omo import options
from omo.context import Context
from omo.engine import ends
from omo.engine.runs import require_run
from omo.errors import BadInput
from omo.result import Result
from omo.text import clip, counted
from omo.work import agents, briefs, requests, session
from omo.work.publish import reopen_if_changed
from omo.work.run import Caller, caller_of
from omo.work.status import NextStep
from omo.workflows.ultraplan import critique as critiques
from omo.workflows.ultraplan import document as documents
from omo.workflows.ultraplan import progress, propose, rules
from omo.workflows.ultraplan import start as starting
from omo.workflows.ultraplan.critique import CriticVerdict
from omo.workflows.ultraplan.flow import CRITIC, FLOW, MOST_RECOVERIES
from omo.workflows.ultraplan.models import Document, PlanDefect, refusal
from omo.workflows.ultraplan.next_step import cancelled
from omo.workflows.ultraplan.preflight import MISSING
from omo.workflows.ultraplan.progress import Progress
from omo.workflows.ultraplan.propose import Proposals
from omo.workflows.ultraplan.run import states_of_text
from omo.workflows.ultraplan.run_audit import audit_file, load_status
from omo.workflows.ultraplan.session import PlanState
from omo.workflows.ultraplan.start import Started
from omo.workflows.ultraplan.status import in_lines, next_step, publish_status
from omo.workflows.ultraplan.verify import by_steps


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "plan")
    checks = options.command(verbs, "validate", "every defect of a plan, with its line", validate, session=False)
    about = "fill in what omo can know, then what the critic is to be asked, or what it said"
    reviews = options.command(verbs, "critique", about, critique)
    starts = options.command(verbs, "start", "record the base commit and open a session's fence", start)
    skips = options.command(verbs, "skip", "leave out a step whose plan says On failure: skip", skip)
    skips.add_argument("step", type=int, metavar="N")
    skips.add_argument("--reason", required=True, metavar="TEXT")
    shows = options.command(verbs, "status", "the session as git shows it, and what comes next", status)
    mends = options.command(verbs, "recover", "go on with just the steps that are missing", recover)
    mends.add_argument("plan", nargs="?", metavar="PLAN", help="whose run to go on with; without it the current one")
    ends = options.command(verbs, "finish", "audit the session, write its report and close it", finish)
    ways = ends.add_mutually_exclusive_group()
    ways.add_argument("--failed", type=int, metavar="STEP", help="stop here: this step failed after its retry")
    ways.add_argument("--abandon", metavar="REASON", help="give the session up, whatever state it is in")
    ways.add_argument("--unverified", default="", metavar="REASON", help="without running Verify; it is reported")
    ends.add_argument("--handoff", default="", metavar="TEXT", help="what the next session should know")
    ends.add_argument("--error", default="", metavar="TEXT", help="with --failed: the error as it was printed")
    ends.add_argument("--tried", default="", metavar="TEXT", help="with --failed: what was tried")
    about = "what git and the files show of each step: exit 0 pass, 3 drift, 4 cannot be evaluated"
    audits = options.command(verbs, "audit", about, audit, session=False)
    for parser in (checks, reviews, starts, audits):
        parser.add_argument("plan", metavar="PLAN")
    starts.add_argument("number", nargs="?", type=int, default=0, metavar="N", help="which session (default: the next)")
    about = "without a clean critique; the user's only, always shown"
    starts.add_argument("--unreviewed", default="", metavar="REASON", help=about)
    for parser in (skips, shows, mends, ends):
        parser.add_argument("--run", dest="named", default="", metavar="ID", help="another run than the current one")


def _caller(arguments: argparse.Namespace, context: Context, *, looks: bool = False) -> Caller:
    return caller_of(context, context.session(arguments.session, looks=looks))


def _path(arguments: argparse.Namespace, context: Context) -> Path:
    """From where the command was typed, else from the project's top, as omo shows paths."""
    typed, shown = Path(context.cwd, arguments.plan), Path(context.root, arguments.plan)
    return shown if shown.exists() and not typed.exists() else typed


def _document(arguments: argparse.Namespace, context: Context) -> Document:
    return documents.load(_path(arguments, context), Path(context.root))


# whether a plan is sound


def validate(arguments: argparse.Namespace, context: Context) -> Result:
    document = _document(arguments, context)
    filled, every = _filled_in(document, progress.progress_of(caller_of(context, ""), document), Path(context.root))
    defects = rules.refusing(every)
    advice = [defect for defect in every if defect.is_advisory]
    data = {
        "plan": document.path,
        "digest": document.digest,
        "version": ".".join(map(str, document.version)) if document.version else None,
        "legacy_plan": document.is_legacy,
        "legacy_synthesis": document.is_legacy_synthesis,
        "steps": len(document.steps),
        "is_complete": filled.text == document.text,
        "defects": [defect.data for defect in defects],
        "advisories": [defect.data for defect in advice],
    }
    if not defects:
        text = f"{clip(document.path, 200)}: {counted(len(document.steps), 'step')}, no defect"
        if not data["is_complete"]:
            text += f"; omo plan critique {shlex.quote(arguments.plan)} fills in what the steps leave to omo"
        return Result(data, text, notes=list(map(str, advice)))
    refused = refusal(document, defects)
    if not arguments.json:
        raise refused
    error = {"code": refused.code, "message": refused.message, "fix": refused.fix, "details": data["defects"]}
    return Result({**data, "error": error}, "", refused.exit_code)


def _filled_in(document: Document, known: Progress, root: Path) -> tuple[Proposals, list[PlanDefect]]:
    """The plan with what omo fills in, and its defects then, on the lines of the file that is there."""
    filled = propose.fill_in(document, root, known.done)
    defects = []
    for defect in rules.validate(documents.parse(filled.text, document.path), root, known.done):
        defects.append(replace(defect, line=filled.lines[defect.line - 1]) if defect.line else defect)
    return filled, defects


def critique(arguments: argparse.Namespace, context: Context) -> Result:
    """One command from the first draft to the verdict: it fills in, tells every defect, then asks, then answers."""
    context.note_missing_agents()
    caller = _caller(arguments, context)
    document = _document(arguments, context)
    notes: list[str] = []
    known = progress.progress_of(caller, document)
    if not states_of_text(known.runs, document.digest):  # what has begun is not changed any more
        filled, every = _filled_in(document, known, Path(context.root))
        if defects := rules.refusing(every):  # then the plan stays as its author wrote it
            raise refusal(document, defects)
        if filled.text != document.text:
            before, document = document.digest, documents.parse(filled.text, document.path)
            critiques.note_filled_in(caller, document, before)  # else it were not the text that the user named
            Path(context.root, document.path).write_bytes(document.text.encode())
            notes.append(f"{document.path} was filled in: what is (proposed) is what the steps will be held to")
        notes += map(str, every)
    verdict = critiques.record(caller, document)
    data = {"plan": document.path, "digest": document.digest}
    following = _after_critique(caller, arguments.plan)
    if verdict is not None:
        return _verdict(document, verdict, data, notes, following)
    agents.expect(caller, CRITIC.agent, begins=critiques.TYPED)
    asked = requests.typed(caller.events, "ultraplan")
    brief = critiques.brief(document, requests.text_of(asked[-1]) if asked else "", sorted(known.done))
    briefs.issue(caller, CRITIC.agent, brief)
    text = f"Send this to {CRITIC.agent}, then: {following}\n\n{brief}"
    return Result({**data, "brief": brief}, text, notes=notes)


def _after_critique(caller: Caller, plan: str) -> str:
    """Whoever was asked for a plan alone does not begin it: then it would not be one that the user named, either."""
    asked = ""
    for row in caller.events:
        if row.get("kind") in requests.ARMED or requests.asked_of(row) in ("ultraplan", "ultraexecute"):
            asked = requests.asked_of(row)
    if asked == "ultraplan":
        return f"commit it, and tell the user that /omo:ultraexecute {shlex.quote(plan)} carries it out"
    return f"omo plan start {shlex.quote(plan)}"


def _verdict(
    document: Document, verdict: CriticVerdict, data: dict[str, Any], notes: list[str], following: str
) -> Result:
    word = "clean" if verdict.is_clean else "not clean"
    lines = [f"{word}: {clip(document.path, 200)} at {document.digest[:12]}"]
    if verdict.reasons:
        lines.append(f"  because: {clip('; '.join(verdict.reasons), 300)}")
    if verdict.concerns:
        lines.append(f"  concerns: {clip(', '.join(verdict.concerns), 300)}")
    for finding in verdict.findings:
        where = f"line {finding.line}: " if finding.line else ""
        lines.append(f"  - {where}{finding.severity}, {finding.dimension}: {clip(finding.text, 300)}")
    if verdict.is_clean:
        lines.append(f"Next: {following}")
    return Result({**data, **verdict.data}, "\n".join(lines), 0 if verdict.is_clean else 3, notes=notes)


# carrying a session out


def _next_data(step: NextStep) -> dict[str, Any]:
    return {**step.data, "step": int(step.item) if step.item else None}


def _data(state: PlanState, step: NextStep) -> dict[str, Any]:
    """What every command says of a session."""
    return {
        "run": state.run,
        "plan": state.path,
        "state": state.word,
        "base": state.base,
        "depth": state.depth,
        "legacy": state.terms.is_legacy,
        "fence": state.fence,
        "overrides": state.overrides,
        "session": {"number": state.number, "of": state.sessions},
        "handoffs": state.terms.handoffs,
        "next": _next_data(step),
    }


def start(arguments: argparse.Namespace, context: Context) -> Result:
    begun = starting.start(
        _caller(arguments, context),
        _path(arguments, context),
        arguments.number,
        environ=context.environ,
        unreviewed=arguments.unreviewed,
    )
    return _begun(begun, context)


def recover(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.workflows.ultraplan import recover as recovering  # which leans on nearly all pages of a plan

    caller = _caller(arguments, context)
    if arguments.plan is not None and arguments.named:
        raise BadInput("PLAN and --run each name what to go on with", fix="name one of them")
    if arguments.plan is None:
        run = recovering.named(caller, arguments.named)
    else:
        run = recovering.chosen(caller, _path(arguments, context))
    return _begun(recovering.recover(run, environ=context.environ), context)


def _begun(begun: Started, context: Context) -> Result:
    state = begun.state
    if begun.missing:
        lines = ["Blocked: nothing was begun.", *(f"  {need}" for need in begun.missing), f"Next: {begun.next.text}"]
        data = {**_data(state, begun.next), "missing": begun.missing}
        return Result(data, "\n".join(lines), MISSING, notes=begun.notes)
    context.notes += session.cancelled_notes(context.row(state.session))
    of = f" (session {state.number} of {state.sessions})" if state.sessions > 1 else ""
    if state.recovering:
        of += f", recovery {state.depth} of {MOST_RECOVERIES}"
    spec = os.path.relpath(begun.spec, context.root)
    steps = state.recovering or [step for step in state.steps if step not in state.before]
    runnable = [command for command in state.pinned if command.argv]
    lines = [
        f"Plan session {state.run}{of}: {counted(len(steps), 'step')} from {state.base[:12]}",
        f"  spec         {spec}",
        f"  may change   {', '.join(state.fence['touch']) or 'anything'}",
        f"  never        {', '.join(state.fence['never']) or 'nothing named'}",
        *(f"  will run     {line}" for line in by_steps(runnable)),
        *(f"  will not run {command}" for command in state.pinned if not command.argv),
        *(f"  let through  {override}" for override in state.overrides),
        *(f"  done already step {step} {commit[:12]}".rstrip() for step, commit in state.before.items()),
        *(f"  handed over  {note}" for note in state.terms.handoffs),
        f"Next: {begun.next.text}",
    ]
    data = {**_data(state, begun.next), "spec": spec, "verify": state.terms.verify}
    return Result(data, "\n".join(lines), notes=begun.notes)


def skip(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.workflows.ultraplan import finish as finishing  # with all that an end needs

    run = require_run(FLOW, _caller(arguments, context), arguments.named)
    step = finishing.skip(run, arguments.step, arguments.reason)
    text = f"Step {arguments.step} is skipped, and the report says so.\nNext: {step.text}"
    return Result({"skipped": arguments.step, "next": _next_data(step)}, text)


def status(arguments: argparse.Namespace, context: Context) -> Result:
    caller = _caller(arguments, context, looks=True)
    loaded = load_status(caller, arguments.named)
    if loaded is None:
        step = ends.not_begun(FLOW, caller)
        return Result({"run": None, "state": "none", "next": _next_data(step)}, f"No plan session. Next: {step.text}")
    step = publish_status(loaded)
    step = cancelled(loaded) or step
    state = loaded.state
    data = {
        **_data(state, step),
        "audit": loaded.audit.to_json(),
        "edited": loaded.edited,
        "problems": list(loaded.run.damage_lines),
    }
    lines = [f"Plan session {state.run}: {state.word}", *(f"  {line}" for line in in_lines(loaded))]
    return Result(data, "\n".join([*lines, f"Next: {step.text}"]), notes=list(loaded.run.damage_lines))


def finish(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.workflows.ultraplan import finish as finishing

    if arguments.failed is None and (arguments.error or arguments.tried):
        raise BadInput("--error and --tried belong to --failed STEP", fix="omo plan finish --help")
    caller = _caller(arguments, context)
    if arguments.abandon is None:
        reopen_if_changed(caller, FLOW.name)
    run = require_run(FLOW, caller, arguments.named)
    if arguments.abandon is not None:
        done = finishing.abandon(run, arguments.abandon, handoff=arguments.handoff)
    else:
        failure = None
        if arguments.failed is not None:
            failure = finishing.Failure(arguments.failed, arguments.error, arguments.tried)
        done = finishing.finish(run, failure, unverified=arguments.unverified, handoff=arguments.handoff)
    ended = done.status
    data = {
        **_data(ended.state, done.next),
        "verdict": done.verdict,
        "closed": done.closed,
        "report": done.path,
        "audit": ended.audit.to_json() if ended.audit.steps else None,
        "verify": list(map(asdict, done.results)),
        "edited": ended.edited,
    }
    end = f"Closed as {done.verdict}." if done.closed else "Not closed: the session is still under way."
    return Result(data, f"{done.report}\n{end} Report: {os.path.relpath(done.path, context.root)}", done.exit_code)


# whether a plan was kept


def audit(arguments: argparse.Namespace, context: Context) -> Result:
    loaded = audit_file(caller_of(context, ""), _path(arguments, context))
    shown = loaded.audit
    data = {**shown.to_json(), "document": loaded.state.path, "edited": loaded.edited}
    lines = []
    for step in shown.steps:
        commit = f" ({step.commit[:12]})" if step.commit else ""
        lines.append(f"{step.status:8}Step {step.step}: {clip(step.title, 80)}{commit}")
        lines += [f"          {clip(finding, 300)}" for finding in step.findings if finding not in shown.problems]
    if loaded.edited:
        lines.append(f"note: {loaded.edited}")
    lines += shown.notes(is_ended=bool(loaded.state.how))
    since = f" since {shown.base[:12]}" if shown.base else ""
    lines.append(f"Verdict: {shown.words}{since}, {len(shown.passed)} of {len(shown.steps)} steps pass")
    if shown.verdict != "pass":
        following = next_step(loaded)
        data["next"] = _next_data(following)
        lines.append(f"Next: {following.text}")
    return Result(data, "\n".join(lines), shown.exit_code)
