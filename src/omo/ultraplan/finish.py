"""Ending a plan session: by an audit that passes, by an honest report of a step that failed, or given up; and
recovery, a spec of just the steps that are missing, twice at most for one session of one plan."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from omo.clock import stamp
from omo.errors import BadInput, Refused
from omo.evidence import changes, globs
from omo.shown import block, clip, counted
from omo.state import store
from omo.state.runtime import part
from omo.ultraplan import checks, sessions, spec_text
from omo.ultraplan import document as documents
from omo.ultraplan.models import Recovery
from omo.ultraplan.report import render
from omo.ultraplan.run import (
    ENDED,
    MOST_RECOVERIES,
    PLAN,
    PlanRun,
    PlanState,
    RunStatus,
    audited,
    depth_of,
    digest_of,
    from_top,
    line_of,
    pinned,
    runs_at,
    runs_of_plan,
)
from omo.ultraplan.status import (
    GIVE_UP,
    close_recovered,
    failed_command,
    next_step,
    publish_end,
    publish_status,
    take_back,
)
from omo.work import outcome
from omo.work.lifecycle import SHORTEST_REASON, require
from omo.work.run import Caller, Run, load
from omo.work.status import NextStep

Row = dict[str, Any]

LONGEST = 8000
LONGEST_WHY = 160
MOST_VIOLATIONS = 20
EXITS = {"pass": 0, "drift": 3, "unknown": 4}
NOT_RUN = "its Verify commands were not run by omo"


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


def finish(run: PlanRun, failure: Failure | None = None) -> Finished:
    """Audit and report. Closes the run where the audit passes, or where a step is reported as failed."""
    state = run.require_whole()
    if state.end in ENDED:
        if failure is not None:
            raise Refused(f"plan session {state.run} already ended ({state.end})", fix="omo plan status")
        return _again(run)
    if not state.base:
        raise Refused(f"plan session {state.run} never began: {state.preflight.get('why')}", fix="omo plan status")
    if failure is not None:
        _check(state, failure)
    status = audited(run)
    if failure is None and status.verdict != "pass":
        if state.end:  # recovered, and what is missing is still missing
            return _again(run)
        step = publish_status(status)
        path = report_path(run)
        text = render(status, {}, now=stamp(run.caller.now), following=step.text)
        store.replace(path, text)
        return Finished(status, text, path, status.verdict, False, EXITS[status.verdict], step)
    row: Row = {"verdict": "pass", "audit": status.verdict, "by": run.caller.by, "missing": status.missing}
    row |= {"passed": status.passed, "head": status.audit.head if status.audit else None}
    if failure is None:
        return _close(status, row, 0)
    texts = {key: block(str(value), LONGEST) for key, value in asdict(failure).items()}
    row |= {"verdict": "failed", "failed": {**texts, "step": failure.step}}
    # A step that is reported as failed is no pass, even where its manifest holds.
    return _close(status, row, EXITS["drift"] if status.verdict == "pass" else EXITS[status.verdict])


def _check(state: PlanState, failure: Failure) -> None:
    known = ", ".join(str(step) for step in state.steps)
    if failure.step not in state.steps:
        raise BadInput(f"--failed {failure.step} is no step of {state.spec}", fix=f"name one of {known}")
    if failure.step in state.skipped:
        raise Refused(f"step {failure.step} was skipped", fix=f"name another of {known}")
    short = [f"--{name}" for name in ("error", "tried") if len(getattr(failure, name).strip()) < SHORTEST_REASON]
    if short:
        what = f"{' and '.join(short)}: at least {SHORTEST_REASON} characters each"
        raise BadInput(what, fix="say what was seen and what was tried")


def abandon(run: PlanRun, reason: str) -> Finished:
    """Give the run up, whatever git shows of it."""
    if len(reason.strip()) < SHORTEST_REASON:
        raise BadInput(f"--abandon {reason!r}: at least {SHORTEST_REASON} characters", fix="say why it is given up")
    state = run.require_whole()
    if state.end in ("pass", "abandoned"):
        return _again(run)
    status = audited(run) if state.is_open else RunStatus(run)
    row = {"verdict": "abandoned", "audit": status.verdict, "by": run.caller.by, "reason": clip(reason, 1000)}
    return _close(status, {**row, "passed": sorted({*state.done, *status.passed})}, 0)


def _close(status: RunStatus, row: Row, exit_code: int) -> Finished:
    run = status.run
    assert run is not None
    if status.violations:
        row["violations"] = [str(violation) for violation in status.violations[:MOST_VIOLATIONS]]
    path = report_path(run)
    row = {"kind": "finished", **row, "report": path, "outcome": outcome_of(status, row)}
    run.append(row)
    ended = RunStatus(run)
    step = next_step(ended)
    text = render(replace(status, run=run), row, now=stamp(run.caller.now), following=step.text)
    store.replace(path, text)
    publish_end(ended, progressed=ended.state.end == "pass")
    return Finished(replace(status, run=run), text, path, ended.state.end, True, exit_code, step)


def _again(run: PlanRun) -> Finished:
    """The run is over; what a crash kept from the session is told now."""
    status = RunStatus(run)
    step = publish_status(status)
    path = report_path(run)
    end = status.state.end
    code = EXITS["drift"]
    if end in ("pass", "abandoned"):
        code = 0
    elif status.state.finished.get("audit") == "unknown":
        code = EXITS["unknown"]
    return Finished(status, documents.text_of(path) or "", path, end, True, code, step)


def outcome_of(status: RunStatus, finished: Row) -> Row:
    """How a session ended, decided from the row that ends it and what git and the files showed."""
    state = status.state
    name = f"plan session {state.run}"
    if finished["verdict"] == "failed":
        failed = part(finished, "failed")
        why = f"{name} stopped at step {failed.get('step')}: {clip(str(failed.get('error') or ''), LONGEST_WHY)}"
        return outcome.outcome(outcome.ENDED, why, state.exceptions)
    if finished["verdict"] == "abandoned":
        reason = clip(str(finished.get("reason") or ""), LONGEST_WHY)
        why = f"the agent abandoned {name}: {reason}"
        if finished["by"] == "user":
            why = f"{name} was ended by the user: {reason}"
        return outcome.outcome(outcome.ENDED, why, state.exceptions)
    count = len(status.passed)
    parts = [f"{name}: {counted(count, 'step')} {'passes' if count == 1 else 'pass'} the audit"]
    if state.sessions > 1:
        parts.append(f"session {state.number} of {state.sessions} of {clip(state.master, 100)}")
    parts.append(NOT_RUN)
    for step in status.audit.steps if status.audit else ():
        if step.status == "skipped":  # as the plan allows: that lowers nothing, and is named
            reason = clip(state.skipped.get(step.step, "in the session that this one recovers"), LONGEST_WHY)
            parts.append(f"step {step.step} was skipped, as its plan allows: {reason}")
    return outcome.outcome(outcome.ATTESTED, "; ".join(parts), state.exceptions)


def report_path(run: PlanRun) -> str:
    return os.path.join(run.directory, "report.md")


# skipping


def skip(run: PlanRun, number: int, reason: str) -> NextStep:
    """Leave a step out: only where its plan allows it, and never in silence."""
    state = require_open(run)
    if number not in state.steps:
        known = ", ".join(str(step) for step in state.steps)
        raise BadInput(f"step {number} is none of this session's", fix=f"name one of {known}")
    if len(reason.strip()) < SHORTEST_REASON:
        raise BadInput(f"--reason {reason!r}: at least {SHORTEST_REASON} characters", fix="say why it is left out")
    status = audited(run)
    status.require_evaluable()
    step = status.document.step(number) if status.document else None
    if step is None or step.on_failure != "skip":
        says = step.on_failure if step and step.on_failure else "nothing"
        what = f"step {number} may not be skipped: its On failure says {says}, not skip"
        raise Refused(what, fix=failed_command(number).line)
    if number in status.passed:
        raise Refused(f"step {number} passes already", fix="omo plan status")
    if number not in state.skipped:
        run.append({"kind": "skipped", "step": number, "reason": clip(reason, 1000)})
        status = audited(run)
    return publish_status(status)


def require_open(run: PlanRun) -> PlanState:
    state = run.require_whole()
    if not state.is_open:
        how = f"ended ({state.end})" if state.end else "never began: something it needs is missing"
        raise Refused(f"plan session {state.run} {how}", fix="omo plan status")
    return state


# recovery


@dataclass(frozen=True)
class Recovered:
    spec: str
    depth: int
    missing: list[int]
    next: NextStep


def chosen(caller: Caller, path: Path, named: str = "") -> PlanRun:
    """The current run where it is one of that file, else the last of the file that is left, whoever began it."""
    runs = runs_at(caller, path)
    current = load(PLAN, caller, named)
    is_current = current is not None and current.id in [state.run for state in runs]
    if runs and not named and not is_current:
        left = [state for state in runs if state.end != "pass"] or runs
        return Run(PLAN, caller, left[-1].run, named=True)
    run = require(PLAN, caller, named)
    require_named(run, path)
    return run


def require_named(run: PlanRun, path: Path) -> None:
    """The spec that was typed is the one the run was started with, by its place; its text is pinned."""
    state = run.require_whole()
    place = from_top(run.caller, path)
    if place != state.spec and state.run not in [each.run for each in runs_at(run.caller, path)]:
        raise Refused(
            f"{place} is not what plan session {state.run} was started with, which is {state.spec}",
            fix="leave SPEC away for the current session, or name another with --run ID",
        )


def recover(run: PlanRun, out: Path | None = None) -> Recovered:
    """Close the run and write the spec that goes on from it. Refused where a person has to look first.

    A run that ended may be another session's: it goes on in this one.
    """
    caller = run.caller
    state = run.require_whole()
    lineage = [each for each in runs_of_plan(caller, state.plan) if each.lineage == state.lineage]
    child = next((each.run for each in lineage if each.recovery_of == state.run), "")
    _require_recoverable(run, state, child)
    missing = list(state.recovered.get("missing", []))
    depth = int(state.recovered.get("depth", 0))
    anew = str(state.recovered.get("anew") or "")
    if state.end != "recovered":  # a second call writes the same spec again, and counts nothing
        status = audited(run)
        # An abandoned run that cannot be audited from where it began: its recovery answers for its own steps.
        anew = clip(status.unknown, 200) if state.end == "abandoned" else ""
        if not depth or child:  # a recovery that was written and never begun is not counted a second time
            depth = depth_of(lineage, state.lineage) + 1
        missing = _missing(run, status, anew, depth)
    path = _place(run, out, depth, [str(each.recovered.get("digest")) for each in lineage])
    text = _render(run, missing, depth, path)
    store.replace(path, text)
    shown = from_top(caller, path)
    row = {"kind": "recovered", "digest": digest_of(text), "depth": depth, "missing": missing, "anew": anew}
    run.append({**row, "spec": shown})
    close_recovered(caller, state.run)
    # Whoever recovers a run holds it, and its fence, until the recovery begins.
    step = publish_end(RunStatus(run), session=caller.session)
    return Recovered(shown, depth, missing, step)


def _require_recoverable(run: PlanRun, state: PlanState, child: str) -> None:
    caller = run.caller
    if not state.base:
        raise Refused(f"plan session {state.run} never began, so nothing is missing of it", fix="omo plan status")
    if state.end == "pass":
        raise Refused(f"plan session {state.run} ended (pass)", fix="omo plan status")
    if state.end == "recovered" and child:
        raise Refused(f"plan session {state.run} goes on as {child}", fix=f"omo plan recover --run {child}")
    if state.is_open:
        whose = caller.holder(PLAN.name, run.id)
        if whose != caller.session:
            fix = f"omo adopt --from {whose}; or, if that session died, the user ends it: omo plan finish"
            raise Refused(
                f"plan session {state.run} of session {whose} is under way",
                fix=f'{fix} --session {whose} --abandon "why"',
            )
    own = load(PLAN, caller)
    if own is not None and own.id != run.id and own.state is not None and own.state.is_open:
        raise Refused(f"plan session {own.id} of this session is under way", fix=f"omo plan finish; or {GIVE_UP}")


def _missing(run: PlanRun, status: RunStatus, anew: str, depth: int) -> list[int]:
    """The steps to carry out; refused where no recovery helps."""
    state = status.state
    if anew:
        document = pinned(run.caller.state, line_of(run.caller, state)[0])
        missing = [step.number for step in document.work_steps if not checks.holds(step, Path(run.caller.root))]
    else:
        status.require_evaluable()
        missing = status.missing
    report = "revise the plan, then omo plan critique, decompose and start"
    if state.is_open:
        report = failed_command(missing[0] if missing else "STEP").line
    if status.violations:
        undo = NextStep(commands=take_back(status)).command
        raise Refused(
            "what lies outside the fence is never recovered automatically",
            fix=f"take it back: {undo}" if undo else f"a person decides: {report}",
            defects=[clip(str(violation), 200) for violation in status.violations],
        )
    if not missing:
        left = f"; not committed: {clip(', '.join(status.dirty), 200)}" if status.dirty else ""
        way = f"omo plan audit {state.spec}"
        if state.is_open:
            way = "commit or remove what is left, then omo plan finish"
        raise Refused(f"no step of {state.spec} is missing{left}", fix=way)
    if depth > MOST_RECOVERIES:
        raise Refused(
            f"this session was recovered {MOST_RECOVERIES} times already: what is missing needs a person, or a "
            "better plan",
            fix=report,
            defects=[f"step {step} is missing" for step in missing],
        )
    return missing


def _place(run: PlanRun, out: Path | None, depth: int, written: list[str]) -> str:
    """With our state, where git does not see it, unless a file of the project is named."""
    if out is None:
        return os.path.join(run.directory, f"recovery-{depth}.md")
    path = os.path.realpath(out)
    if not globs.is_inside(run.caller.here, path) or not path.endswith(".md"):
        raise BadInput(f"--out {out} is no Markdown file in the project", fix="leave --out away, or name FILE.md")
    if os.path.lexists(path) and digest_of(documents.text_of(path) or "") not in written:
        raise Refused(f"--out {out} is there already, and is no recovery's spec", fix="name another file")
    if not os.path.isdir(os.path.dirname(path)):
        raise BadInput(f"--out {out}: its directory does not exist", fix=f"mkdir -p {os.path.dirname(path)}")
    return path


def _render(run: PlanRun, missing: list[int], depth: int, path: str) -> str:
    """From the session the line of recoveries began with: it has every step."""
    caller, state = run.caller, run.require_whole()
    first = line_of(caller, state)[0]
    head = changes.head(Path(caller.root)) or state.base
    entry = f"what passed is committed at {head[:12]}"
    recovery = Recovery(of=first.spec, depth=depth, missing=tuple(missing), entry=entry)
    document = pinned(caller.state, first)
    spec = sessions.recovered(document, recovery, path=from_top(caller, path), plan_digest=state.plan)
    return spec_text.render(spec)
