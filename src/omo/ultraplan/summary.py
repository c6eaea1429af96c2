"""What hooks read of a plan session: how much is open, what is next, and the fence while it is up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from omo.hooks import session
from omo.shown import clip
from omo.state import runtime
from omo.state.runtime import part
from omo.ultraplan.next_step import Next, next_step
from omo.ultraplan.outcomes import handed_on
from omo.ultraplan.record import Record
from omo.ultraplan.run import KIND, PlanRun
from omo.ultraplan.standing import Standing
from omo.work import outcome

Row = dict[str, Any]

LONGEST_NEXT = 300
COUNTS = " (omo plan status counts the commits)"


def tell(run: PlanRun, at: Standing) -> Next:
    """Bring ledger and summary up to what git shows. A step that passes for the first time gives the budget back."""
    step = next_step(at)
    if at.record is not None and at.record.is_open:
        fresh = _note(run, at, at.record)
        _put(run, summarize(at, at.record, step), progressed=bool(fresh))
    elif at.record is not None and _end_was_never_told(run, at.record):
        _put(run, summarize(at, at.record, step))
    return step


def tell_end(run: PlanRun, at: Standing, *, progressed: bool = False) -> Next:
    """The run is over, or could not begin: said once. What a person wakes again later stays awake."""
    assert at.record is not None
    step = next_step(at)
    _put(run, summarize(at, at.record, step), progressed=progressed)
    return step


def take_over(run: PlanRun, at: Standing) -> Next:
    """Whoever recovers a run holds it, and its fence, until the recovery begins."""
    assert at.record is not None
    close_recovered(run, at.record.run)
    step = next_step(at)
    _put(replace(run, named=""), summarize(at, at.record, step), holder=run.session)
    return step


def _end_was_never_told(run: PlanRun, record: Record) -> bool:
    """A crash came between the ledger's last row and the session's."""
    told = run.summary()
    return told.get("run") == record.run and "fence" in told


def _note(run: PlanRun, at: Standing, record: Record) -> list[int]:
    """One `audited` row for each change in what git shows; the steps that pass for the first time."""
    if at.audit is None:
        return []
    passed = [one.step for one in at.audit.steps if one.status == "pass"]
    row = {"kind": "audited", "verdict": at.verdict, "passed": passed, "missing": at.missing}
    if any(record.audited.get(key) != value for key, value in row.items() if key != "kind"):
        run.append(record.run, row)
    return [step for step in passed if step not in record.seen]


def summarize(at: Standing, record: Record, step: Next) -> Row:
    left = _left(at, record)
    summary: Row = {
        "run": record.run,
        "open": left,
        "total": max(_counting(at, record), left),
        "next": _next(record, step),
        **_state(record, step),
    }
    if record.is_fenced:
        summary["fence"] = record.fence
    return summary


def _next(record: Record, step: Next) -> str | None:
    """Hooks read this later, when more may be committed than it was derived from."""
    if step.action == "done":
        return None
    more = COUNTS if record.is_open else ""
    return clip(step.text, LONGEST_NEXT - len(more)) + more


def _counting(at: Standing, record: Record) -> int:
    """What was skipped, as its plan allows, is neither done nor open."""
    if at.audit is not None:
        return sum(one.status != "skipped" for one in at.audit.steps)
    return len(_told_steps(record))


def _told_steps(record: Record) -> set[int]:
    """As the ledger has them; at its end a recovery names those of the whole session."""
    ended = [step for key in ("passed", "missing") for step in record.finished.get(key) or []]
    return {*record.steps, *ended} - set(record.skipped)


def _left(at: Standing, record: Record) -> int:
    """The steps that do not pass; a session that ended otherwise than by its audit has them still."""
    if record.end == "pass":
        return 0
    if record.end == "recovered":
        return len(record.recovered.get("missing", []))
    if at.audit is not None:
        return len(at.missing)
    return len(_told_steps(record) - set(record.finished.get("passed") or []))


def _state(record: Record, step: Next) -> Row:
    told, ended_as = record.finished, outcome.of(record.finished)
    if record.end == "failed":
        return _waits(ended_as["why"], f"Report: {told.get('report')}. {step.command}")
    if record.end == "abandoned" and told.get("actor") != "user":
        return _waits(ended_as["why"], "Begin it again, or leave it? omo plan status")
    if told:
        return {"state": "done", "outcome": ended_as}
    if not record.base:
        return _waits(clip(str(record.preflight.get("why") or ""), 160), f"Make it available, then: {step.command}")
    return {"state": "active"}


def _waits(why: str, question: str) -> Row:
    return {"state": "blocked", "why": why, "question": question, "told": False}


def _put(run: PlanRun, fresh: Row, *, progressed: bool = False, holder: str = "") -> None:
    def decide(row: Row | None) -> runtime.Change:
        old = part(part(row or {}, "work"), KIND)
        if run.named and old.get("run") != fresh["run"]:
            return runtime.Change(None)  # looked at by name, and nobody's any more
        summary = session.kept_state(row or {}, old, fresh)
        if summary == old and not progressed:
            return runtime.Change(None)
        after = session.put_work(row, KIND, summary, limits=run.limits, now=run.now)
        if progressed:
            after = session.progress(after)
        event = {"kind": KIND, "run": fresh["run"], "state": summary["state"], "open": fresh["open"]}
        return runtime.Change(None, after, [{**event, "next": fresh["next"]}])

    name = holder or run.holder(str(fresh["run"]))
    runtime.change_session(run.state, name, decide, actor=run.by, now=run.now, wait=run.wait)


def close_recovered(run: PlanRun, parent: str) -> None:
    """Another session that handed its missing steps over has nothing left to hold it."""
    rows = runtime.read(run.state)["sessions"]
    for name, row in rows.items():
        told = part(part(row, "work"), KIND) if isinstance(row, dict) else {}
        is_held = told.get("state") in runtime.OPEN_STATES or "fence" in told
        if name != run.session and told.get("run") == parent and is_held:
            runtime.change_session(run.state, name, _handed_on(parent), actor=run.by, now=run.now, wait=run.wait)


def _handed_on(parent: str) -> Any:
    def decide(row: Row | None) -> runtime.Change:
        old = part(part(row or {}, "work"), KIND)
        if old.get("run") != parent:
            return runtime.Change(None)
        left = {key: value for key, value in old.items() if key != "fence"}
        over = {**left, "state": "done", "next": None, "outcome": handed_on(parent)}
        after = {**(row or {}), "work": {**part(row or {}, "work"), KIND: over}}
        event = {"kind": KIND, "run": parent, "state": "done", "open": old.get("open")}
        return runtime.Change(None, after, [event])

    return decide
