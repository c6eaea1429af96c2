"""What a damaged ledger costs a run: its end names it, and the second time ends the run.

The ledger itself goes on in `state/journal.py` and `state/runtime.py`, at the next append.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from omo.proof import artifacts, pins
from omo.state import runtime, store
from omo.state.ledger import MOST_DAMAGE, damaged_in
from omo.state.rows import EMPTY, without
from omo.text import clip
from omo.work import outcome
from omo.work import session as rows
from omo.work.run import Caller, Run

if TYPE_CHECKING:
    from omo.state.ledger_rows import SessionEvent
    from omo.state.rows import LetThrough, SessionRow, Summary

QUESTION = "Shall it be begun again?"


def exceptions(caller: Caller, since: str) -> list[LetThrough]:
    """Return what an end names of ledgers that were damaged since a run began, beside its own: that of the session, and
    those of pins and evidence."""
    ledgers: dict[str, Sequence[Any]] = {"the session's ledger": caller.events}
    for name, journal in (("pins", pins.journal_of(caller.state)), ("evidence", artifacts.journal_of(caller.state))):
        rows, problems = journal.read()
        ledgers[f"the ledger of {name}"] = [*rows, journal.repaired(caller.by, caller.now)] if problems else rows
    listed = []
    for name, found in ledgers.items():
        for row in found:
            if row.get("kind") == "repaired" and str(row.get("ts")) >= since:
                listed.append(outcome.damaged(name, row))
    return listed


def of_session(row: SessionRow | None, events: Sequence[Any], since: str) -> int:
    """Return how often a session's ledger was damaged since then: by its row, or by what came along with work that was
    taken over.
    """
    by_row = [moment for moment in damaged_in((row or EMPTY).get("ledger", {})) if moment >= since]
    by_events = [event for event in events if event.get("kind") == "repaired" and str(event.get("ts")) >= since]
    return max(len(by_row), len(by_events))


def require_going_on(run: Run[Any]) -> None:
    """End a run that cannot go on: its ledger, or that of its session, was damaged a second time, or its beginning is
    gone. If it was open, that is refused and the user is told; the agent begins no other before they were.
    """
    began = str(run.rows[0].get("ts")) if run.rows else ""
    session = run.state.session if run.state is not None else ""
    is_over = run.state is not None and not run.state.is_open
    caller = run.caller
    if run.journal.unreadable is not None:
        raise run.journal.unreadable
    if not run.is_lost and (is_over or of_session(caller.row(session), caller.events, began) < MOST_DAMAGE):
        return
    if not run.is_lost:
        run.is_lost, run.why_lost = True, "the ledger of its session was damaged a second time"
    if os.path.lexists(run.directory):
        store.keep_as(run.directory, "damaged", run.caller.now)
    kind = run.kind.name
    holder = caller.holder(kind, run.id)
    summary = caller.summary(kind, holder)
    if not _names(summary, run.id) or runtime.is_open(summary):
        caller.change(lambda row: _ended(run, row), holder)
        raise run.lost()


def _names(summary: Summary, run: str) -> bool:
    return summary.get("run") == run or run in summary.get("runs", [])


def _ended(run: Run[Any], row: SessionRow | None) -> runtime.Change:
    """Have the row of its session say that a run ended."""
    old, kind, what = row or EMPTY, run.kind.name, f"{run.kind.what} {run.id}"
    why = clip(f"{what} cannot go on: {run.why_lost}", 300)
    event: SessionEvent = {"kind": "given-up", "run": run.id, "what": what, "why": why}
    after = rows.give_up(old, run.id, f"{what} was ended", run.why_lost, by=outcome.NOBODY)
    summary = old["work"].get(kind, {})
    if _names(summary, run.id):
        ended: Summary = {**without(summary, "fence", "deny"), "state": "ended", "why": why, "question": QUESTION}
        ended |= {"next": None, "told": False, "isLost": True, "outcome": outcome.not_proven(why)}
        after = {**after, "work": {**after["work"], kind: ended}}
    return runtime.Change(None, after, [event])
