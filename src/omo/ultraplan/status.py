"""A plan session: its steps as git shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omo.shown import clip
from omo.state.runtime import part
from omo.work import outcome, ways
from omo.work.status import DAMAGED, Fact, Item, Status
from omo.work.viewer import Viewer

if TYPE_CHECKING:
    from omo.ultraplan.record import Record
    from omo.ultraplan.standing import Standing
    from omo.ultraplan.step_audit import StepAudit

GIT = "git, and the files as they are"
WHY = {
    "pass": "its commit is there, and its checks hold",
    "skipped": "it was skipped, as its plan allows",
    "missing": "no commit carries it out",
}
MARKS = {"pass": "done", "drift": "failed", "missing": "open", "unknown": "waiting", "skipped": "cut"}


def status(viewer: Viewer) -> Status | None:
    from omo.ultraplan import standing
    from omo.ultraplan.next_step import next_step
    from omo.ultraplan.record import MOST_RECOVERIES
    from omo.ultraplan.run import PlanRun

    at = standing.look(PlanRun(**viewer.given, follows=False))
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
            *_fence(viewer),
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
    why = "; ".join(one.findings) if one.status != "pass" else ""
    return Item(
        str(one.step),
        clip(one.title, 200),
        one.status,
        MARKS[one.status],
        notes,
        overrides=skipped,
        why=clip(why, 300) or WHY.get(one.status, f"the audit says {one.status}"),
        facts=(Fact("commit", GIT, one.commit), Fact("findings", GIT, one.findings)),
    )


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


def _fence(viewer: Viewer) -> list[str]:
    """What the hooks hold the session to, as its row has it."""
    fence = part(part(part(viewer.row, "work"), "ultraplan"), "fence")
    told = [f"{word} {', '.join(map(str, globs))}" for word in ("touch", "never") if (globs := fence.get(word))]
    return [clip(f"fence: {'; '.join(told) or 'the project'}", 200)] if fence else []


def _changed(at: Standing) -> list[str]:
    found = [f"outside the fence: {clip(one, 160)}" for one in at.violations]
    found += [f"not committed: {clip(one, 160)}" for one in at.dirty]
    return [*found, at.edited] if at.edited else found
