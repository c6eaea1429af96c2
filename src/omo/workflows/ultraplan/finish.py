"""Ending a plan session: by an audit that passes, by an honest report of a step that failed, or given up."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from omo.clock import stamp
from omo.errors import BadInput, Refused
from omo.state import store
from omo.state.runtime import part
from omo.text import block, clip
from omo.work import claims, outcome
from omo.work.lifecycle import require_reason
from omo.work.run import Row
from omo.work.status import NextStep
from omo.workflows.ultraplan import document as documents
from omo.workflows.ultraplan import history as histories
from omo.workflows.ultraplan import verify
from omo.workflows.ultraplan.audit import EXIT_CODES
from omo.workflows.ultraplan.run import MOST_RECOVERIES, PlanRun, PlanState, RunStatus, audit_run
from omo.workflows.ultraplan.session_outcome import outcome_of, pinned_commands
from omo.workflows.ultraplan.start import at_best, not_agreed
from omo.workflows.ultraplan.status import failed_command, next_step, publish_end, publish_status
from omo.workflows.ultraplan.verify import Result

LONGEST = 8000
LONGEST_SHOWN = 4000
MOST_SHOWN = 50
MOST_VIOLATIONS = 20


@dataclass(frozen=True)
class Failure:
    step: int
    error: str
    tried: str


@dataclass(frozen=True)
class Finished:
    """`closed` says whether the run is over; `exit_code` is that of the audit."""

    status: RunStatus
    report: str
    path: str
    verdict: str
    closed: bool
    exit_code: int
    next: NextStep
    results: list[Result] = field(default_factory=list)


def finish(run: PlanRun, failure: Failure | None = None, *, unverified: str = "", handoff: str = "") -> Finished:
    """Audit, run what the plan verifies with, report. Closes the run where all of it passes, or where a step is
    reported as failed."""
    state = run.require_whole()
    if state.end:
        if failure is not None:
            raise Refused(f"plan session {state.run} already ended ({state.end})", fix="omo plan status")
        return _again(run)
    if not state.base:
        raise Refused(f"plan session {state.run} never began: {state.preflight.get('why')}", fix="omo plan status")
    if failure is not None:
        known = ", ".join(map(str, state.steps))
        if failure.step not in state.steps:
            raise BadInput(f"--failed {failure.step} is no step of this session", fix=f"name one of {known}")
        if failure.step in state.skipped:
            raise Refused(f"step {failure.step} was skipped", fix=f"name another of {known}")
        require_reason(failure.error, "--error", "say what was seen, as it was printed")
        require_reason(failure.tried, "--tried", "say what was tried")
    if unverified:
        _require_not_failing(run, unverified)
    if handoff:
        claims.require_statement(run.caller, "--handoff", handoff, since=state.started_at)
    status = audit_run(run, is_ending=True)
    row: Row = {"verdict": "pass", "audit": status.audit.verdict, "by": run.caller.by, "missing": status.audit.missing}
    row |= {"passed": status.audit.passed, "head": status.audit.head, "handoff": block(handoff, LONGEST)}
    if failure is not None:
        texts = {key: block(str(value), LONGEST) for key, value in asdict(failure).items()}
        row |= {"verdict": "failed", "failed": {**texts, "step": failure.step}}
        # A step that is reported as failed is no pass, even where its manifest holds.
        return _close(status, row, status.audit.exit_code or EXIT_CODES["drift"])
    if status.audit.verdict != "pass":
        return _not_closed(status)
    commands = pinned_commands(status)
    if unverified:
        commands = [command for command in commands if not command.argv]  # what could be run is an exception
        row["unverified"] = clip(unverified, 1000)
    results = verify.run_all(Path(run.caller.root), commands)
    if verify.verdict_of(results) != "pass":
        return _not_closed(status, results)
    edited = histories.edited(Path(run.caller.root)) if results else []
    if set(edited) - {state.path}:  # by the very commands that were to look at it
        return _not_closed(audit_run(run), results)
    return _close(status, row, 0, results)


def _require_not_failing(run: PlanRun, reason: str) -> None:
    """What could not be run is let through with a reason; what was seen to fail only by the user."""
    require_reason(reason, "--unverified", "say why it cannot be run")
    failing = run.require_whole().verified_as(verify.FAIL)
    if failing and run.caller.by != "user":
        raise Refused(
            "--unverified does not go over a Verify command that fails",
            fix=f"mend it and commit; or {failed_command(failing[0]['step']).line}",
            defects=[f"step {row['step']}: {row['text']}: {row['why']}" for row in failing],
        )


def _not_closed(status: RunStatus, results: Sequence[Result] = ()) -> Finished:
    run = status.run
    assert run is not None
    if results:
        run.append(_verified_row(status, results))
    step = publish_status(status)
    path = report_path(run)
    text = render(status, {}, results, now=stamp(run.caller.now), following=step.text)
    store.replace(path, text)
    verdict: str = status.audit.verdict
    if verdict == "pass":
        verdict = verify.verdict_of(results)
    return Finished(status, text, path, verdict, False, EXIT_CODES[verdict], step, list(results))


def abandon(run: PlanRun, reason: str) -> Finished:
    """Give the run up, whatever git shows of it."""
    require_reason(reason, "--abandon", "say why it is given up")
    state = run.require_whole()
    if state.end in ("pass", "abandoned"):
        return _again(run)
    status = audit_run(run) if state.base and not state.finished else RunStatus(run)
    row = {"verdict": "abandoned", "audit": status.audit.verdict, "by": run.caller.by, "reason": clip(reason, 1000)}
    return _close(status, {**row, "passed": sorted({*state.done, *status.audit.passed})}, 0)


def _verified_row(status: RunStatus, results: Sequence[Result]) -> Row:
    rows = [result.row for result in results]
    return {"kind": "verified", "head": status.audit.head, "verdict": verify.verdict_of(results), "results": rows}


def _close(status: RunStatus, row: Row, exit_code: int, results: Sequence[Result] = ()) -> Finished:
    run = status.run
    assert run is not None
    if status.audit.violations:
        row["violations"] = [str(violation) for violation in status.audit.violations[:MOST_VIOLATIONS]]
    path = report_path(run)
    row = {"kind": "finished", **row, "report": path, "outcome": outcome_of(status, row, results)}
    events = [row]
    if results:
        events.insert(0, _verified_row(status, results))
    run.append(*events)
    ended = replace(status, run=run)
    step = next_step(ended)
    text = render(ended, row, results, now=stamp(run.caller.now), following=step.text)
    store.replace(path, text)
    publish_end(ended, progressed=ended.state.end == "pass")
    return Finished(ended, text, path, ended.state.end, True, exit_code, step, list(results))


def _again(run: PlanRun) -> Finished:
    """The run is over; what a crash kept from the session is told now."""
    status = RunStatus(run)
    step = publish_status(status)
    path = report_path(run)
    end = status.state.end
    code = EXIT_CODES["drift"]
    if end in ("pass", "abandoned"):
        code = 0
    elif status.state.finished.get("audit") == "unknown":
        code = EXIT_CODES["unknown"]
    return Finished(status, documents.text_of(path) or "", path, end, True, code, step)


def report_path(run: PlanRun) -> str:
    return os.path.join(run.directory, "report.md")


# the report: what passed, what did not and why, what was tried, and what was let through without proof


def render(status: RunStatus, end: Row, results: Sequence[Result], *, now: str, following: str) -> str:
    """`end` is the row that ends the run, or an empty one where nothing ends yet."""
    state, audit = status.state, status.audit
    title = state.path or state.run
    if status.document and status.document.title:
        title = clip(status.document.title, 120)
    lines = [f"# Session report: {title}", "", f"- Run: {state.run}", f"- Plan: {state.path}"]
    if state.sessions > 1:
        lines.append(f"- Session: {state.number} of {state.sessions}")
    lines += [f"- Base: {state.base[:12]}", f"- Started: {state.started_at}", f"- Reported: {now}"]
    if state.is_legacy:
        lines.append("- Legacy: a plan before 1.7")
    if state.depth:
        lines.append(f"- Recovery: {state.depth} of {MOST_RECOVERIES}")
    whole = " (of the whole session, from where it began)" if state.recovering else ""
    lines += [f"- Audit: {status.audit.words}{whole}", f"- Ended as: {end.get('verdict') or 'not ended'}"]
    if end:
        lines.append(f"- Outcome: {outcome.in_words(outcome.of(end))}")

    def section(heading: str, listed: Sequence[object]) -> None:
        if listed:
            lines.extend(["", f"## {heading}", "", *(f"- {line}" for line in listed)])

    section("Steps", audit.steps)
    section("Verify", verify.by_steps([(result.command.step, result.words) for result in results]))
    if "unverified" in end:
        section("Verify, not run", [f"by the {end['by']}: {clip(end['unverified'], 400)}"])
    if failed := part(end, "failed"):
        section("Failed", [f"{key}: {block(str(failed[key]), LONGEST_SHOWN)}" for key in ("step", "error", "tried")])
    if "reason" in end:
        section("Abandoned", [f"by the {end.get('by')}: {clip(str(end['reason']), 400)}"])
    section("Skipped", [f"step {step}: {clip(why, 400)}" for step, why in sorted(state.skipped.items())])
    let_through = outcome.of(end)["exceptions"] if end else state.exceptions
    section("Let through", [clip(f"{each['what']}: {each['why']}", 400) for each in let_through])
    section("Outside the fence", _few(status.audit.violations))
    section("Not committed", _few(status.audit.dirty))
    section("Commits that no step claims", _few(audit.unclaimed))
    if status.unknown:
        section("Could not be evaluated", [clip(status.unknown, 400)])
    if status.edited:
        section("To note", [status.edited])
    if end.get("handoff"):
        section("For the next session", [end["handoff"]])
    section("Next", [following])
    return "\n".join(lines) + "\n"


def _few(listed: Sequence[object]) -> list[str]:
    lines = [clip(str(each), 300) for each in listed[:MOST_SHOWN]]
    if len(listed) > MOST_SHOWN:
        lines.append(f"and {len(listed) - MOST_SHOWN} more")
    return lines


# skipping


def skip(run: PlanRun, number: int, reason: str, *, is_agreed: bool = False) -> NextStep:
    """Leave a step out: only where its plan allows it, never in silence, and once it is known what that costs."""
    state = require_open(run)
    if number not in state.steps:
        known = ", ".join(map(str, state.steps))
        raise BadInput(f"step {number} is none of this session's", fix=f"name one of {known}")
    require_reason(reason, "--reason", "say why it is left out")
    status = audit_run(run)
    status.require_evaluable()
    step = status.document.step(number) if status.document else None
    if step is None or step.on_failure != "skip":
        says = step.on_failure if step and step.on_failure else "nothing"
        what = f"step {number} may not be skipped: its On failure says {says}, not skip"
        raise Refused(what, fix=failed_command(number).line)
    if number in status.audit.passed:
        raise Refused(f"step {number} passes already", fix="omo plan status")
    if number not in state.skipped:
        if not is_agreed:
            costs = [
                f"lost: what step {number} was to bring; what is there of it has to be taken back",
                f"{at_best(has_exceptions=bool(state.exceptions))}, with the step named as skipped, and your reason",
                f"allowed by: the plan, whose On failure of step {number} says skip",
            ]
            raise not_agreed(f"step {number} would be left out", costs, "skip", str(number), "--reason", reason)
        run.append({"kind": "skipped", "step": number, "reason": clip(reason, 1000)})
        status = audit_run(run)
    return publish_status(status)


def require_open(run: PlanRun) -> PlanState:
    state = run.require_whole()
    if not state.is_open:
        how = f"ended ({state.end})" if state.end else "never began: something it needs is missing"
        raise Refused(f"plan session {state.run} {how}", fix="omo plan status")
    return state
