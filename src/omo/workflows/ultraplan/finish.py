"""Ending a plan session: by an audit that passes, by an honest report of a step that failed, or given up."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from omo.clock import stamp
from omo.context import Context
from omo.errors import BadInput, Refused
from omo.proof import base, git
from omo.proof.gate_runs import Plain, Subject
from omo.state import store
from omo.text import block, clip, counted, listed
from omo.work import bound, outcome, proving
from omo.work.citations import require_cited
from omo.work.lifecycle import require_reason
from omo.work.publish import note_given_up, take_up_again
from omo.work.run import Caller
from omo.work.status import NextStep
from omo.workflows.ultraplan import document as documents
from omo.workflows.ultraplan import history as histories
from omo.workflows.ultraplan import verify
from omo.workflows.ultraplan.audit import EXIT_CODES
from omo.workflows.ultraplan.critique import is_another_named
from omo.workflows.ultraplan.next_step import failed_command, next_step, sessions_left, start_command
from omo.workflows.ultraplan.run import PlanRun, PlanState, pinned_part, runs_of_repository, state_of, unrecorded
from omo.workflows.ultraplan.run_audit import RunStatus, audit_plan, audit_run
from omo.workflows.ultraplan.status import in_lines, publish_end, publish_status
from omo.workflows.ultraplan.verify import Verify
from omo.workflows.ultrawork import gates, pins
from omo.workflows.ultrawork.finish import Finish, WaitsForUser
from omo.workflows.ultrawork.prove import Prover

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.rows import LetThrough, Outcome
    from omo.workflows.ultraplan.run import RunRow

LONGEST = 8000
LONGEST_WHY = 160
MOST_NAMED = 5
MOST_VIOLATIONS = 20


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
        return bool(self.status.state.end)

    @property
    def exit_code(self) -> int:
        if self.verdict == "failed":  # which is no pass, even where the manifest of the step holds
            return EXIT_CODES[self.status.state.finished["audit"]] or EXIT_CODES["drift"]
        return EXIT_CODES.get(self.verdict, 0)


def finish(run: PlanRun, failure: Failure | None = None, *, unverified: str = "", handoff: str = "") -> FinishedSession:
    """Audit, run what the plan verifies with, report. Closes the run where all of it passes, or where a step is
    reported as failed."""
    _hand_over(run, handoff)
    state = run.require_whole()
    if failure is not None:
        return _fail(run, failure)
    if state.end:
        return _again(run)
    if not state.is_open:
        raise state.not_open
    if unverified:
        _require_not_failing(run, unverified)
    status = audit_run(run, is_ending=True)
    audit = status.audit
    if audit.verdict != "pass":
        return _not_closed(status)
    held = pins.hold(run.caller, is_last=not sessions_left(status))
    commands = _pinned_commands(status)
    row = _row_of_end(status, "pass")
    if unverified:
        commands = [command for command in commands if not command.argv]  # what could be run is an exception
        row["unverified"] = clip(unverified, 1000)
    results = verify.run_all(Path(run.caller.root), commands, audit.changed)
    if verify.verdict_of(results) != "pass":
        return _not_closed(status, results)
    edited = histories.edited(Path(run.caller.root)) if results or held.passing else []
    before = {state.path, *audit.allowed, *(violation.path for violation in audit.left_alone)}
    if set(edited) - before:  # by the very commands that were to look at it
        return _not_closed(audit_run(run), results)
    row["files"] = bound.files_of_end(run.caller.root, run.caller.events)
    row["outcome"] = _outcome(status, row, results, held)
    return _close(status, row, results)


def _fail(run: PlanRun, failure: Failure) -> FinishedSession:
    """Also once more, where the user has answered and it still cannot go on."""
    state = run.require_whole()
    if not state.is_open and state.end != "failed":
        raise state.not_open
    _require_step(state, failure.step)
    require_reason(failure.error, "--error", "say what was seen, as it was printed")
    require_reason(failure.tried, "--tried", "say what was tried")
    status = audit_run(run)
    row = _row_of_end(status, "failed")
    texts = {"error": block(failure.error, LONGEST), "tried": block(failure.tried, LONGEST)}
    row["failed"] = {"step": failure.step, **texts}
    why = f"plan session {state.run} stopped at step {failure.step}: {clip(failure.error, LONGEST_WHY)}"
    row["outcome"] = outcome.outcome(outcome.ENDED, why, state.exceptions)
    return _close(status, row)


def _require_step(state: PlanState, number: int) -> None:
    if number not in state.steps:
        known = ", ".join(map(str, state.steps))
        raise BadInput(f"step {number} is no step of this session", fix=f"name one of {known}")


def _row_of_end(status: RunStatus, verdict: str) -> RunRow:
    run, audit = status.run, status.audit
    row: RunRow = {"kind": "finished", "verdict": verdict, "audit": audit.verdict, "by": run.caller.by}
    row |= {"passed": audit.passed, "missing": audit.missing, "head": audit.head, "report": report_path(run)}
    if audit.violations:
        row["violations"] = [str(violation) for violation in audit.violations[:MOST_VIOLATIONS]]
    return row


def _hand_over(run: PlanRun, handoff: str) -> None:
    """Kept whatever comes of the end: it need not be said again, and may be said after it."""
    if not handoff:
        return
    require_cited(run.caller, "--handoff", [handoff])
    run.append({"kind": "handed-over", "handoff": block(handoff, LONGEST)})
    if run.require_whole().end:
        report = documents.text_of(report_path(run)) or ""
        store.replace(report_path(run), f"{report}- for the next session: {block(handoff, LONGEST)}\n")


def _require_not_failing(run: PlanRun, reason: str) -> None:
    """What could not be run is let through with a reason; what was seen to fail only by the user."""
    require_reason(reason, "--unverified", "say why it cannot be run")
    failing = run.require_whole().verified_as(verify.FAIL)
    if failing and run.caller.by != "user":
        raise Refused(
            "--unverified does not go over a Verify command that fails",
            fix=f"mend it and commit; or {failed_command(failing[0].step).line}",
            defects=[f"{command}: {command.why}" for command in failing],
        )


def _pinned_commands(status: RunStatus) -> list[Verify]:
    """As the start pinned them; a skipped step has none."""
    skipped = [step.step for step in status.audit.steps if step.status == "skipped"]
    return [command for command in status.state.verify if command.step not in skipped]


def abandon(run: PlanRun, reason: str, *, handoff: str = "") -> FinishedSession:
    """Give the run up, whatever git shows of it."""
    require_reason(reason, "--abandon", "say why it is given up")
    _hand_over(run, handoff)
    state, by = run.require_whole(), run.caller.by
    if state.end in ("pass", "abandoned"):
        return _again(run)
    status = audit_run(run) if state.is_open else RunStatus(run)
    row = _row_of_end(status, "abandoned")
    row["reason"] = clip(reason, 1000)
    row["passed"] = sorted({*state.done, *status.audit.passed})
    left = [str(number) for number in state.steps if number not in row["passed"]]
    why = f"plan session {state.run} was ended by the user"
    if by != "user":
        why = f"the agent abandoned plan session {state.run}"
        if left:
            what = f"plan session {state.run} was given up with step {', '.join(left)} of {clip(state.path, 80)} undone"
            note_given_up(run, what, clip(reason, LONGEST_WHY))
    why = f"{why}: {clip(reason, LONGEST_WHY)}"
    row["outcome"] = outcome.outcome(outcome.ENDED, why, state.exceptions)
    return _close(status, row)


def _close(status: RunStatus, row: RunRow, results: Sequence[Verify] = ()) -> FinishedSession:
    run = status.run
    run.append(*_verified_rows(status, results), row)
    has_passed = row["verdict"] == "pass"
    if has_passed and run.caller.row().get("givenUp"):
        for earlier in runs_of_repository(run.caller, status.state.path):
            if _answers_for(status, earlier):
                take_up_again(run.caller, earlier.id)
    done = _reported(status, row["verdict"], next_step(status), results)
    publish_end(status, progressed=has_passed)
    return done


def _answers_for(status: RunStatus, earlier: PlanRun) -> bool:
    """Whether a session that passed has every step that an earlier one was to carry out: a plan of fewer takes nothing
    up (bench/endings: "three steps given up, and a plan of one of them in their place")."""
    titles = {step.title for step in status.document.steps}
    try:
        given_up = pinned_part(earlier.caller.state, state_of(earlier))
    except Refused:
        return False
    return titles.issuperset(step.title for step in given_up.steps)


def _not_closed(status: RunStatus, results: Sequence[Verify] = ()) -> FinishedSession:
    if results:
        status.run.append(*_verified_rows(status, results))
    verdict: str = status.audit.verdict
    if verdict == "pass":
        verdict = verify.verdict_of(results)
    return _reported(status, verdict, publish_status(status), results)


def _verified_rows(status: RunStatus, results: Sequence[Verify]) -> list[RunRow]:
    if not results:
        return []
    rows = [result.row for result in results]
    return [{"kind": "verified", "head": status.audit.head, "verdict": verify.verdict_of(results), "results": rows}]


def _reported(status: RunStatus, verdict: str, step: NextStep, results: Sequence[Verify]) -> FinishedSession:
    state, run = status.state, status.run
    lines = [f"run: {state.run}, begun {state.started_at}, reported {stamp(run.caller.now)}"]
    lines += [*in_lines(status), f"next: {step.text}"]
    title = clip(status.document.title, 120) or state.path
    text = "\n".join([f"# Session report: {title}", "", *(f"- {line}" for line in lines), ""])
    store.replace(report_path(run), text)
    return FinishedSession(status, step, verdict, text, results)


def report_path(run: PlanRun) -> str:
    return os.path.join(run.directory, "report.md")


def _again(run: PlanRun) -> FinishedSession:
    """The run is over; what a crash kept from the session is told now."""
    status = RunStatus(run)
    report = documents.text_of(report_path(run)) or ""
    return FinishedSession(status, publish_status(status), status.state.end, report)


# how a session that passed its audit ended


def _outcome(status: RunStatus, finished: RunRow, results: Sequence[Verify], held: pins.Held) -> Outcome:
    state = status.state
    count = len(status.audit.passed)
    parts = [f"plan session {state.run}: {counted(count, 'step')} passed the audit"]
    exceptions = [*_let_through(status, finished), *held.exceptions]
    if state.before:
        parts.append(f"step {', '.join(map(str, state.before))} was done before this session")
    if state.sessions > 1:
        parts.append(f"session {state.number} of {state.sessions} of {clip(state.path, 100)}")
    left = sessions_left(status)
    if left:
        parts.append(f"next: {start_command(state).line}")
    verified, weak = _verified(status, results)
    parts += [*verified, *held.facts]
    if state.sessions > 1 and not left:
        gone = unrecorded(runs_of_repository(status.run.caller, state.path), state.order)
        whole, against = _whole_plan(status)
        parts.append(whole)
        exceptions += against
        if gone:  # carried out where nobody kept what was run and fenced: git alone speaks for it
            weak.append(f"of session {', '.join(map(str, gone))} no record is left")
    for step in status.audit.steps:
        if step.status == "skipped":  # as the plan allows: that lowers nothing, and is named
            reason = clip(state.skipped[step.step], LONGEST_WHY)
            parts.append(f"step {step.step} was skipped, as its plan allows: {reason}")
    if not count:
        return outcome.outcome(outcome.ENDED, "; ".join(parts), exceptions)
    # A gate that passes says nothing of the sessions that were not begun yet.
    proof = ""
    if not weak and not exceptions and not left:
        proof = _red_to_green(status.run.caller)
        if not proof:
            shown = _shown_by_verify(status, results)
            proof, weak = shown.proof, [*shown.reasons]
    if proof:
        not_said = [part for part in parts if part not in proof]  # what the user allowed is said in it
        return outcome.outcome(outcome.PROVEN, "; ".join([proof, *not_said]))
    return outcome.outcome(outcome.ATTESTED, "; ".join([*parts, *weak]), exceptions)


def _let_through(status: RunStatus, finished: RunRow) -> list[LetThrough]:
    """Verify commands that could have been run, and what is changed where the session had no business, and stays."""
    state, audit = status.state, status.audit
    exceptions = list(state.exceptions)
    for command in _pinned_commands(status):
        if command.argv and finished.get("unverified"):
            what = f"Verify of step {command.step} was not run: {clip(command.text, 80)}"
            exceptions.append(outcome.exception(what, finished["by"], clip(finished["unverified"], LONGEST_WHY)))
    if audit.left_alone:
        paths = clip(", ".join(violation.path for violation in audit.left_alone), LONGEST_WHY)
        why = "no step's commit has it, and the fence saw no call that writes it"
        exceptions.append(outcome.exception(f"changed outside the fence: {paths}", "user, or a script", why))
    if audit.allowed:
        paths = clip(", ".join(audit.allowed), LONGEST_WHY)
        exceptions.append(outcome.exception(f"changed beside the plan: {paths}", "user", "/omo:allow"))
    if is_another_named(status.run.caller, state.path, state.plan, state.started_at):
        was = f"carried out as {clip(state.path, 100)} was before the user named it again"
        exceptions.append(outcome.exception(was, "agent", "the session had begun"))
    return exceptions


def _verified(status: RunStatus, results: Sequence[Verify]) -> tuple[list[str], list[str]]:
    """What the plan's own Verify commands show, and what is in doubt of it."""
    facts, doubts = [], []
    passing = [command for command in results if command.result == verify.PASS]
    not_run = [str(command) for command in results if command.result == verify.NOT_RUN]
    if passing:
        facts.append(f"{counted(len(passing), 'Verify command')} passed, which the plan's author chose")
        subject = _subject(status)
        facts += proving.allowed_notes(subject)
        doubts += proving.doubts(subject, [Plain(command.argv, timeout=verify.SECONDS) for command in passing])
    if not_run:
        doubts.append(f"not run by omo: {listed(not_run, MOST_NAMED, '; ')}")
    return facts, doubts


def _subject(status: RunStatus) -> Subject:
    """The files of the session, for the experiment: what the audit saw changed, what was committed by a run of it that
    failed ("tests weakened in a session that fails"), and what a runner reads anyway."""
    state, root = status.state, status.state.root
    head, paths = state.base, [*status.audit.changed]
    if state.began and state.began != head:
        differing = git.run(root, *git.DIFF, state.began, "--")
        if differing.ok:  # else that commit was thrown away
            head, paths = state.began, [*paths, *differing.lines]
    changed = {path: base.digest_of(root, path) for path in paths}
    for path, digest in state.runner.items():  # looked at also where git ignores them
        if base.digest_of(root, path) != digest:
            changed[path] = base.digest_of(root, path)
    caller = status.run.caller
    look = base.Look(base.tree_of(changed), changed, frozenset())
    allowed = gates.fold(caller.events, None).allowed_changes
    return proving.subject_of(caller, {"head": head, "files": {}}, allowed, look)


def _shown_by_verify(status: RunStatus, results: Sequence[Verify]) -> proving.ProofOrReasons:
    """What the plan's own Verify commands prove, where the user named the plan or the project names the command."""
    subject = _subject(status)
    candidates, others = [], []
    for result in results:
        if result.result == verify.PASS:
            command = Plain(result.argv, timeout=verify.SECONDS)
            owner = proving.owner_of(subject, command, is_users=status.state.is_named)
            name = f"Verify of step {result.step}"
            if owner:
                candidates.append(proving.Candidate(name, command, owner, verify.judge_of(result)))
            else:  # of which it is said already who chose it
                others.append(command)
    return proving.shown(subject, candidates, others)


def _red_to_green(caller: Caller) -> str:
    """What a gate of the session's own run proves beside the plan; empty where none does."""
    row = caller.row()
    if not len(gates.current(caller.state, caller.session, row, caller.session_rows)):
        return ""
    context = Context(os.environ, caller.root, caller.now, has_terminal=caller.by == "user")
    armed_at = str(row["ulw"].get("armedAt") or "")
    try:
        proof = Prover(context, caller.session, makes=True).proof()
        ended = Finish(proof, armed_at).outcome()
    except (Refused, WaitsForUser):
        return ""
    return str(ended["why"]) if ended["verdict"] == outcome.PROVEN else ""


def _whole_plan(status: RunStatus) -> tuple[str, list[LetThrough]]:
    """The last session answers for the plan: what no longer holds of it, from where its first session began."""
    state = status.state
    exceptions: list[LetThrough] = []

    def against(what: str, why: str) -> None:
        exceptions.append(outcome.exception(what, "agent, or the user", clip(why, 200)))  # between sessions nobody saw

    audit = audit_plan(status.run.caller, status.run, whole=status.whole).audit
    here = {violation.path for violation in status.audit.left_alone}
    outside = [violation.path for violation in audit.left_alone if violation.path not in here]
    for violation in audit.violations:
        if not any(violation.path in line for line in state.left_behind):
            against("changed since the plan's first session began", str(violation))
    for step in audit.steps:
        if step.status not in ("pass", "skipped"):
            against(f"step {step.step} of {clip(state.path, 100)} does not hold any more", "; ".join(step.findings))
    for problem in audit.problems:
        against("the whole plan could not be audited", problem)
    words = f"of the whole plan, from its first session on, {len(audit.passed)} of {len(audit.steps)} steps hold"
    if outside:
        words += f"; between its sessions also changed: {clip(', '.join(outside), 160)}"
    return words, exceptions


# skipping


def skip(run: PlanRun, number: int, reason: str) -> NextStep:
    """Leave a step out: only where its plan allows it, and never in silence."""
    state = run.require_whole()
    if not state.is_open:
        raise state.not_open
    _require_step(state, number)
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
    if number not in state.skipped:
        run.append({"kind": "skipped", "step": number, "reason": clip(reason, 1000)})
        status = audit_run(run)
    return publish_status(status)
