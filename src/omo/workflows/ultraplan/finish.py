"""Ending a plan session: by an audit that passes, by an honest report of a step that failed, or given up."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from omo import masking
from omo.clock import stamp
from omo.engine import ends
from omo.engine.runs import CaseRun
from omo.errors import BadInput, Refused
from omo.proof import git
from omo.state import store
from omo.text import block, clip
from omo.work import bound, outcome, user_pins
from omo.work.citations import require_cited
from omo.work.lifecycle import require_reason
from omo.work.publish import take_up_again
from omo.work.status import NextStep
from omo.workflows.ultraplan import document as documents
from omo.workflows.ultraplan import verify
from omo.workflows.ultraplan.audit import EXIT_CODES
from omo.workflows.ultraplan.end import LONGEST_WHY, outcome_of, pinned_commands
from omo.workflows.ultraplan.next_step import failed_command, sessions_left
from omo.workflows.ultraplan.run import pinned_part, runs_of_repository, state_of
from omo.workflows.ultraplan.run_audit import RunStatus, audit_run
from omo.workflows.ultraplan.session import PlanSessionRow, PlanState
from omo.workflows.ultraplan.status import in_lines, next_step, publish, publish_status, seen_rows
from omo.workflows.ultraplan.verify import Verify

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.rows import FilesAtEnd, Outcome

LONGEST = 8000


@dataclass(frozen=True)
class Failure:
    step: int
    error: str
    tried: str


@dataclass(frozen=True)
class FinishedSession:
    """What came of it. `verdict` is how it ended, or the audit's where it is still under way."""

    status: RunStatus
    next: NextStep
    verdict: str
    report: str
    results: Sequence[Verify] = ()

    @property
    def path(self) -> str:
        return report_path(self.status.run)

    @property
    def closed(self) -> bool:
        return bool(self.status.state.how)

    @property
    def exit_code(self) -> int:
        if self.verdict == "failed":  # which is no pass, even where the manifest of the step holds
            return EXIT_CODES[self.status.state.finished["audit"]] or EXIT_CODES["drift"]
        return EXIT_CODES.get(self.verdict, 0)


def finish(run: CaseRun, failure: Failure | None = None, *, unverified: str = "", handoff: str = "") -> FinishedSession:
    """Audit, run what the plan verifies with, report. Closes the run where all of it passes, or where a step is
    reported as failed."""
    _hand_over(run, handoff)
    run.require_whole()
    if failure is not None:
        return _fail(run, failure)
    if state_of(run).how:
        return _again(run)
    run.require_open()
    if unverified:
        _require_not_failing(run, unverified)
    status = audit_run(run, is_ending=True)
    if status.audit.verdict != "pass":
        return _not_closed(status)
    held = user_pins.hold(run.caller, is_last=not sessions_left(status))
    commands = pinned_commands(status)
    if unverified:
        commands = [command for command in commands if not command.argv]  # what could be run is an exception
    results = verify.run_all(Path(run.caller.root), commands, status.audit.changed)
    if verify.verdict_of(results) != "pass":
        return _not_closed(status, results)
    files = bound.files_of_end(run.caller.root, run.caller.events)
    if (results or held.passing) and _has_edits(status, files):
        again = audit_run(run)
        if again.audit.verdict != "pass":
            return _not_closed(again, results)
    return _close(status, "pass", outcome_of(status, results, held, unverified), {"files": files}, results)


def _has_edits(status: RunStatus, files: FilesAtEnd) -> bool:
    """Whether tracked files were edited by the very commands that were to look at them."""
    audit = status.audit
    known = {status.state.path, *audit.allowed, *(violation.path for violation in audit.left_alone)}
    written = files.get("changed", {}).keys() - known
    return bool(written) and bool(written & git.entries(status.run.caller.root, str(audit.head)).keys())


def _fail(run: CaseRun, failure: Failure) -> FinishedSession:
    """Also once more, where the user has answered and it still cannot go on."""
    state = state_of(run)
    if state.how != "failed":
        run.require_open()
    _require_step(state, failure.step)
    require_reason(failure.error, "--error", "say what was seen, as it was printed")
    require_reason(failure.tried, "--tried", "say what was tried")
    failed = {"step": failure.step, "error": block(failure.error, LONGEST), "tried": block(failure.tried, LONGEST)}
    why = f"plan session {state.run} stopped at step {failure.step}: {clip(failure.error, LONGEST_WHY)}"
    more: PlanSessionRow = {"asked": f"Report: {report_path(run)};", "failed": failed}
    return _close(audit_run(run), "failed", outcome.not_proven(why, ends.exceptions(state)), more)


def _require_step(state: PlanState, number: int) -> None:
    if number not in state.steps:
        known = ", ".join(map(str, state.steps))
        raise BadInput(f"step {number} is no step of this session", fix=f"name one of {known}")


def _hand_over(run: CaseRun, handoff: str) -> None:
    """Kept whatever comes of the end: it need not be said again, and may be said after it."""
    if not handoff:
        return
    require_cited(run.caller, "--handoff", [handoff])
    run.append({"kind": "handed-over", "handoff": block(handoff, LONGEST)})
    if state_of(run).how:
        report = documents.text_of(report_path(run)) or ""
        store.replace(report_path(run), f"{report}- for the next session: {masking.mask(block(handoff, LONGEST))}\n")


def _require_not_failing(run: CaseRun, reason: str) -> None:
    """What could not be run is let through with a reason; what was seen to fail only by the user."""
    require_reason(reason, "--unverified", "say why it cannot be run")
    failing = state_of(run).verified_as(verify.FAIL)
    if failing and run.caller.by != "user":
        raise Refused(
            "--unverified does not go over a Verify command that fails",
            fix=f"mend it and commit; or {failed_command(failing[0].step).line}",
            defects=[f"{command}: {command.why}" for command in failing],
        )


def abandon(run: CaseRun, reason: str, *, handoff: str = "") -> FinishedSession:
    """Give the run up, whatever git shows of it."""
    require_reason(reason, "--abandon", "say why it is given up")
    _hand_over(run, handoff)
    run.require_whole()
    state = state_of(run)
    if state.how in ("pass", "abandoned"):
        return _again(run)
    status = audit_run(run) if state.is_open else RunStatus(run)
    seen = status.seen
    run.append(*seen_rows(status))
    ends.give_up(run, seen, reason, _ending(status, {"asked": "Begin it again, or leave it?"}))
    return _closed(status, "abandoned")


def _close(
    status: RunStatus, how: str, ended: Outcome, more: PlanSessionRow, results: Sequence[Verify] = ()
) -> FinishedSession:
    row: PlanSessionRow = {"kind": "ended", "how": how, "outcome": ended}
    run = status.run
    run.append(*seen_rows(status), *_verified_rows(status, results), {**row, **_ending(status, more)})
    if how == "pass" and run.caller.row().get("givenUp"):
        for earlier in runs_of_repository(run.caller, status.state.path):
            if _answers_for(status, earlier):
                take_up_again(run.caller, earlier.id)
    return _closed(status, how, results)


def _ending(status: RunStatus, more: PlanSessionRow) -> PlanSessionRow:
    return {"audit": status.audit.verdict, "head": status.audit.head, **more}


def _closed(status: RunStatus, how: str, results: Sequence[Verify] = ()) -> FinishedSession:
    """Write the report, and tell hooks."""
    done = _reported(status, how, next_step(status), results)
    publish(status, done.next)
    return done


def _answers_for(status: RunStatus, earlier: CaseRun) -> bool:
    """Whether a session that passed has every step that an earlier one was to carry out: a plan of fewer takes nothing
    up (tests/stories: "three steps given up, and a plan of one of them in their place")."""
    titles = {step.title for step in status.document.steps}
    try:
        return titles.issuperset(step.title for step in pinned_part(earlier).steps)
    except Refused:
        return False


def _not_closed(status: RunStatus, results: Sequence[Verify] = ()) -> FinishedSession:
    if results:
        status.run.append(*_verified_rows(status, results))
    verdict: str = status.audit.verdict
    if verdict == "pass":
        verdict = verify.verdict_of(results)
    return _reported(status, verdict, publish_status(status), results)


def _verified_rows(status: RunStatus, results: Sequence[Verify]) -> list[PlanSessionRow]:
    if not results:
        return []
    return [{"kind": "verified", "head": status.audit.head, "commands": list(map(asdict, results))}]


def _reported(status: RunStatus, verdict: str, step: NextStep, results: Sequence[Verify]) -> FinishedSession:
    state, run = status.state, status.run
    lines = [f"run: {state.run}, begun {state.started_at}, reported {stamp(run.caller.now)}"]
    lines += [*in_lines(status), f"next: {step.text}"]
    title = clip(status.document.title, 120) or state.path
    text = "\n".join([f"# Session report: {title}", "", *(f"- {line}" for line in lines), ""])
    store.replace(report_path(run), masking.mask(text))
    return FinishedSession(status, step, verdict, text, results)


def report_path(run: CaseRun) -> str:
    return os.path.join(run.directory, "report.md")


def _again(run: CaseRun) -> FinishedSession:
    """The run is over; what a crash kept from the session is told now."""
    status = RunStatus(run)
    report = documents.text_of(report_path(run)) or ""
    return FinishedSession(status, publish_status(status), status.state.how, report)


# skipping


def skip(run: CaseRun, number: int, reason: str) -> NextStep:
    """Leave a step out: only where its plan allows it, and never in silence."""
    run.require_open()
    _require_step(state_of(run), number)
    require_reason(reason, "--reason", "say why it is left out")
    status = audit_run(run)
    status.require_evaluable()
    step = status.document.step(number)
    if step is None or step.on_failure != "skip":
        says = step.on_failure if step and step.on_failure else "nothing"
        what = f"step {number} may not be skipped: its On failure says {says}, not skip"
        raise Refused(what, fix=failed_command(number).line)
    if number in status.audit.passed:
        raise Refused(f"step {number} passes already", fix="omo plan status")
    if number not in state_of(run).skipped:
        run.append(*run.marked({str(number): "skipped"}, why=clip(reason, 1000)))
        status = audit_run(run)
    return publish_status(status)
