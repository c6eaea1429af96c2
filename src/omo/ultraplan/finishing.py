"""Ending a plan session: by an audit that passes, by an honest report of a step that failed, or given up."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Any

from omo.clock import stamp
from omo.errors import BadInput, Refused
from omo.shown import block, clip
from omo.state import paths, store
from omo.ultraplan import report, summary
from omo.ultraplan.next_step import Next, next_step
from omo.ultraplan.outcomes import outcome_of
from omo.ultraplan.record import Record, fold
from omo.ultraplan.run import SHORTEST_REASON, START, PlanRun, record_of
from omo.ultraplan.standing import Standing, audited, look

Row = dict[str, Any]

LONGEST = 8000
CARRIED = (
    *("session", "spec", "digest", "source", "plan", "master", "lineage", "base", "root", "fence", "depth"),
    *("recovery_of", "anew", "unreviewed", "out_of_order"),
)
EXITS = {"pass": 0, "drift": 3, "unknown": 4}


@dataclass(frozen=True)
class Failure:
    step: int
    error: str
    tried: str


@dataclass(frozen=True)
class Finished:
    """`closed` says whether the run is over; `exit_code` is that of the audit."""

    record: Record
    report: str
    path: str
    verdict: str
    closed: bool
    exit_code: int
    next: Next
    at: Standing


def finish(run: PlanRun, failure: Failure | None = None) -> Finished:
    """Audit and report. Closes the run where the audit passes, or where a step is reported as failed."""
    record = run.require()
    if record.end in ("pass", "failed", "abandoned"):
        if failure is not None:
            raise Refused(f"plan session {record.run} already ended ({record.end})", fix="omo plan status")
        return _again(run, record)
    if not record.base:
        raise Refused(f"plan session {record.run} never began: {record.preflight.get('why')}", fix="omo plan status")
    if failure is not None:
        _check(record, failure)
    at = audited(run, record)
    summary.tell(run, at)
    if record.end and failure is None and at.verdict != "pass":
        return _again(run, record)
    if failure is None and at.verdict != "pass":
        return _not_yet(run, record, at)
    return _close(run, at, _row(run, at, failure), 0 if failure is None else EXITS[_failed_verdict(at)])


def _failed_verdict(at: Standing) -> str:
    """A step that is reported as failed is no pass, even where its manifest holds."""
    return "drift" if at.verdict == "pass" else at.verdict


def _check(record: Record, failure: Failure) -> None:
    known = ", ".join(str(step) for step in record.steps)
    if failure.step not in record.steps:
        raise BadInput(f"--failed {failure.step} is no step of {record.spec}", fix=f"name one of {known}")
    if failure.step in record.skipped:
        raise Refused(f"step {failure.step} was skipped", fix=f"name another of {known}")
    short = [name for name in ("error", "tried") if len(getattr(failure, name).strip()) < SHORTEST_REASON]
    if short:
        what = " and ".join(f"--{name}" for name in short)
        raise BadInput(
            f"{what}: at least {SHORTEST_REASON} characters each", fix="say what was seen and what was tried"
        )


def _row(run: PlanRun, at: Standing, failure: Failure | None) -> Row:
    row: Row = {"kind": "finished", "verdict": "failed" if failure else "pass", "audit": at.verdict, "by": run.by}
    if failure:
        row["failed"] = {key: block(str(value), LONGEST) for key, value in asdict(failure).items()}
        row["failed"]["step"] = failure.step
    if at.violations:
        row["violations"] = at.violations[:20]
    return {**row, "missing": at.missing, "passed": at.audit.passed if at.audit else []}


def _not_yet(run: PlanRun, record: Record, at: Standing) -> Finished:
    step = next_step(at)
    text = report.render(at, {}, now=stamp(run.now), following=step.text)
    path = report_path(run, record)
    run.append(record.run, publish=lambda: store.replace(path, text))
    return Finished(record, text, path, at.verdict, False, EXITS[at.verdict], step, at)


def _close(run: PlanRun, at: Standing, row: Row, exit_code: int) -> Finished:
    assert at.record is not None
    path = report_path(run, at.record)
    row = {**row, "report": path, "outcome": outcome_of(at.record, row, by=run.by, audit=at.audit)}
    after = fold(at.record.run, [*run.journal(at.record.run).rows(), {**row, "actor": run.by}])
    step = next_step(Standing(after))
    text = report.render(at, row, now=stamp(run.now), following=step.text)
    run.append(at.record.run, row, publish=lambda: store.replace(path, text))
    ended = _reread(run, at.record.run)
    summary.tell_end(run, Standing(ended), progressed=ended.end == "pass")
    return Finished(ended, text, path, ended.end, True, exit_code, step, at)


def _again(run: PlanRun, record: Record) -> Finished:
    """The run is over; what a crash kept from the session is told now."""
    at = Standing(record)
    step = summary.tell(run, at)
    path = report_path(run, record)
    audit = str(record.finished.get("audit") or "drift")
    code = 0 if record.end in ("pass", "abandoned") else EXITS["unknown" if audit == "unknown" else "drift"]
    return Finished(record, _stored(path), path, record.end, True, code, step, at)


def abandon(run: PlanRun, reason: str) -> Finished:
    """Give the run up, whatever state it is in: a damaged ledger is set aside, and what it told is carried over."""
    if len(reason.strip()) < SHORTEST_REASON:
        raise BadInput(f"--abandon {reason!r}: at least {SHORTEST_REASON} characters", fix="say why it is given up")
    record, problems = run.look()
    if record is None:
        raise Refused(f"session {run.session} has no plan session", fix=START)
    if record.end in ("pass", "abandoned") and not problems:
        return _again(run, record)
    at = look(run) if record.is_open and not problems else Standing(record, problems=tuple(problems))
    if problems:
        _seal(run, record)
    if record.root not in ("", run.here):  # given up in a copy: from here on the copy goes its own way
        run.rebind(record.run)
    row = {"kind": "finished", "verdict": "abandoned", "audit": at.verdict, "by": run.by, "reason": clip(reason, 1000)}
    done = sorted({*record.done, *(at.audit.passed if at.audit else [])})
    return _close(run, at, {**row, "passed": done}, 0)


def _seal(run: PlanRun, record: Record) -> None:
    journal = run.journal(record.run)
    carried = {**{name: getattr(record, name) for name in CARRIED}, "steps": list(record.steps)}
    carried["legacy"] = record.is_legacy

    def decide(rows: list[Row]) -> tuple[None, list[Row]]:
        return None, [{**row, "carried": carried} for row in journal.seal(run.now)]

    journal.change(decide, actor=run.by, now=run.now, wait=run.wait)


def report_path(run: PlanRun, record: Record) -> str:
    return os.path.join(paths.plan_run_dir(run.state, record.run), "report.md")


def _reread(run: PlanRun, name: str) -> Record:
    record = record_of(run.state, name)
    assert record is not None
    return record


def _stored(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
