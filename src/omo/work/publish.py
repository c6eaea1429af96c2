"""The one place that puts a workflow's summary into its session's row, where hooks read it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from omo.state import runtime
from omo.state.rows import EMPTY
from omo.text import clip
from omo.work import bound
from omo.work import session as rows
from omo.work.run import Caller, Run

if TYPE_CHECKING:
    from omo.state.ledger_rows import SessionEvent
    from omo.state.rows import SessionRow, Summary


def publish(
    run: Run[Any], summary: Summary, *, session: str = "", progressed: Callable[[Summary], bool] = lambda old: False
) -> None:
    """Bring the row of the session that holds the run up to it: `summary` has run, state, open, total and next.

    A run that was only named with --run, and that no row names, is nobody's: nothing is written. `session` is who
    takes it, at its beginning or when it is taken over. `progressed` is asked about the summary of before: verified
    progress gives the budget of blocks back.
    """
    caller, kind = run.caller, run.kind.name
    holder = session or caller.holder(kind, run.id)
    had_it = caller.summary(kind, holder).get("run") == run.id

    def decide(row: SessionRow | None) -> runtime.Change:
        old = (row or EMPTY)["work"].get(kind, {})
        was_taken_up = had_it and row is not None and old.get("run") != run.id  # by another conversation, meanwhile
        if was_taken_up or (run.named and not session and old.get("run") != run.id):
            return runtime.Change(None)
        return changed(caller, row, kind, summary, progressed=progressed(old))

    known = caller.session_rows.get(holder)
    if known is None or decide(known).row is not None:  # nothing is locked and read anew to write the same again
        caller.change(decide, holder)


def publish_progress(run: Run[Any], summary: Summary, *, session: str = "") -> None:
    """Publish the summary. An item that passes for the first time gives the budget of blocks back, and so does a run
    that passes."""

    def progressed(old: Summary) -> bool:
        if old.get("run") != run.id:
            return False
        has_passed = runtime.has_ended(summary) and not runtime.has_ended(old)
        return has_passed or not set(summary["passed"]) <= set(old.get("passed") or [])

    publish(run, summary, session=session, progressed=progressed)


def reopen_if_changed(caller: Caller, kind: str) -> bool:
    """What was called done, and has other files now, is open again for whoever goes on with it, as it would be at the
    next Stop. Was it so?"""
    if rows.is_bound_end(caller.summary(kind)):
        return bool(caller.change(lambda row: _reopened(caller, kind, row)))
    return False


def _reopened(caller: Caller, kind: str, row: SessionRow | None) -> runtime.Change:
    ended = dict(rows.bound_ends(row or EMPTY)).get(kind)
    if row is None or ended is None or ended.get("stopped"):
        return runtime.Change(False)
    changed = bound.look_again(caller.root, ended).changed
    if not changed:
        return runtime.Change(False)
    after = rows.reopened(row, kind, changed)
    summary = after["work"][kind]
    bound.reopen(caller.state, kind, summary, actor=caller.by, now=caller.now, wait=caller.wait)
    return runtime.Change(True, after, [{"kind": bound.REOPENED, "work": kind, "changed": changed}])


def note_given_up(run: Run[Any], what: str, why: str) -> None:
    """In the row of the session that had it: every later end of that session names it."""

    def decide(row: SessionRow | None) -> runtime.Change:
        event: SessionEvent = {"kind": "given-up", "run": run.id, "what": clip(what, 200), "why": clip(why, 200)}
        return runtime.Change(None, rows.give_up(row or EMPTY, run.id, what, why), [event])

    run.caller.change(decide, run.caller.holder(run.kind.name, run.id))


def take_up_again(caller: Caller, run: str) -> None:
    """A new run answers for all that was given up with that one."""

    def decide(row: SessionRow | None) -> runtime.Change:
        after = rows.taken_up_again(row or EMPTY, run)
        return runtime.Change(None, after if after != row else None)

    caller.change(decide)


def changed(
    caller: Caller, row: SessionRow | None, kind: str, summary: Summary, *, progressed: bool = False
) -> runtime.Change:
    """A row with its summary renewed, and the event that says so; no change where it says the same already."""
    old = (row or EMPTY)["work"].get(kind, {})
    kept = rows.kept_state(row or EMPTY, kind, summary)  # a pause of the user's and a breaker are not undone by it
    kept = rows.with_earlier(old, kept)
    if kept == old and not progressed:
        return runtime.Change(None)
    after = rows.put_work(row, kind, kept, limits=caller.limits, now=caller.now)
    if progressed:
        after = rows.progress(after)
    event: SessionEvent = {"kind": kind, "run": kept.get("run"), "state": kept["state"]}
    if "endedBy" in kept:
        event["endedBy"] = kept["endedBy"]
    event |= {"open": kept.get("open"), "next": kept.get("next")}
    return runtime.Change(None, after, [event])
