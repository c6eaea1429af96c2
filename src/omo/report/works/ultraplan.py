"""A plan session: its steps as git shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omo.report import ways
from omo.report.work import Place
from omo.shown import clip
from omo.state.runtime import part
from omo.work import outcome
from omo.work.status import DAMAGED, Item, Status

if TYPE_CHECKING:
    from omo.ultraplan.audit import StepAudit
    from omo.ultraplan.record import Record
    from omo.ultraplan.standing import Standing

MARKS = {"pass": "done", "drift": "failed", "missing": "open", "unknown": "waiting", "skipped": "cut"}


def look(place: Place) -> Status | None:
    from omo.ultraplan import standing
    from omo.ultraplan.next_step import next_step
    from omo.ultraplan.record import MOST_RECOVERIES
    from omo.ultraplan.run import PlanRun

    at = standing.look(PlanRun(**place.given, follows=False))
    if at.record is None:
        return None
    step, record = next_step(at), at.record
    state = record.end or ("active" if record.base else "blocked")
    items = tuple(_item(one) for one in at.audit.steps) if at.audit else _unaudited(at)
    changed = tuple(_changed(at))
    return Status(
        "ultraplan",
        "step",
        run=record.run,
        headline=state + (f", audit {at.words}" if record.is_open else ""),
        items=items,
        next=ways.step(step.action, clip(step.why, 300), clip(step.command, 2000)),
        facts=(
            *_fence(place),
            f"spec {clip(record.spec, 200)}",
            f"recovery {record.depth} of {MOST_RECOVERIES}",
            *changed,
        ),
        changed=changed,
        overrides=tuple(clip(one, 200) for one in record.overrides),
        problems=tuple(clip(one, 300) for one in (*at.problems, at.broken) if one),
        outcome=_outcome(record),
    )


def _outcome(record: Record) -> dict[str, Any] | None:
    if record.end == "recovered":
        from omo.ultraplan.outcomes import handed_on

        return handed_on(record.run)
    return outcome.of(record.finished) if record.finished else None


def _item(one: StepAudit) -> Item:
    commit = [f"commit {one.commit[:12]}"] if one.commit else []
    findings = [clip(finding, 200) for finding in one.findings]
    skipped = ("skipped, as its plan allows",) if one.status == "skipped" else ()
    notes = (*commit, *findings)
    return Item(str(one.step), clip(one.title, 200), one.status, MARKS[one.status], notes, overrides=skipped)


def _unaudited(at: Standing) -> tuple[Item, ...]:
    """What the ledger knows where git cannot be asked. What was once seen to pass is not known to be there now."""
    record = at.record
    seen = set(record.done) if record else set()
    why = DAMAGED if at.problems else clip(at.broken or "nothing was begun", 200)
    return tuple(
        Item(str(step), "", "seen then", "stale", receipt="stale", receipt_why=why)
        if step in seen
        else Item(str(step), "", "open", "open")
        for step in (record.steps if record else ())
    )


def _fence(place: Place) -> list[str]:
    """What the hooks hold the session to, as its row has it."""
    fence = part(part(part(place.row, "work"), "ultraplan"), "fence")
    told = [f"{word} {', '.join(map(str, globs))}" for word in ("touch", "never") if (globs := fence.get(word))]
    return [clip(f"fence: {'; '.join(told) or 'the project'}", 200)] if fence else []


def _changed(at: Standing) -> list[str]:
    found = [f"outside the fence: {clip(one, 160)}" for one in at.violations]
    found += [f"not committed: {clip(one, 160)}" for one in at.dirty]
    return [*found, at.edited] if at.edited else found
