"""What happens to runs of every workflow alike: they are needed whole, taken over by another conversation, cleared."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from typing import Any

from omo.clock import seconds
from omo.errors import BadInput, Refused
from omo.state import runtime, store
from omo.state.runtime import OPEN_STATES, part
from omo.text import clip
from omo.work import outcome
from omo.work.publish import change_row, changed, publish_damage
from omo.work.run import Caller, Kind, Run, S, load

Row = dict[str, Any]

IDLE_FOR = 15 * 60.0
SHORTEST_REASON = 10
CAN_BE_ADOPTED = (*OPEN_STATES, "exhausted")


def require(kind: Kind[S], caller: Caller, named: str = "") -> Run[S]:
    """The run, whole. Refused where there is none; where it is damaged, the work waits for the user from now on."""
    run = load(kind, caller, named)
    if run is None:
        others = adoptable(kind.name, caller)
        fix = f"omo adopt --from {shlex.quote(others[0])} takes up that of another session; or " if others else ""
        raise Refused(f"session {caller.session} has no {kind.what}", fix=fix + kind.start)
    if run.problems:
        publish_damage(run)
    run.require_whole()
    return run


def require_reason(text: str, what: str, fix: str) -> str:
    """Why something is let through or given up, in at least a few words."""
    reason = text.strip()
    if len(reason) < SHORTEST_REASON:
        said = clip(text, 40)
        raise BadInput(f"{what} {said!r} says too little, {SHORTEST_REASON} characters are needed", fix=fix)
    return reason


def adoptable(kind: str, caller: Caller) -> list[str]:
    """Other sessions of this project whose work of one kind is not over."""
    sessions = []
    for session in caller.session_rows:
        summary = caller.summary(kind, session)
        is_open = summary.get("state") in CAN_BE_ADOPTED and not summary.get("cleared")
        if session != caller.session and is_open:
            sessions.append(session)
    return sessions


def adopt(kind: Kind[S], caller: Caller, source: str) -> Run[S]:
    """The run moves with all it has: no two sessions hold one. Its ledger says so, then both rows."""
    summary = caller.summary(kind.name, source)
    if source not in adoptable(kind.name, caller):
        raise Refused(f"session {clip(source, 64)} has no open {kind.what}", fix="omo status shows every session")
    own = load(kind, caller)
    if own is not None and own.state is not None and own.state.is_open:
        raise Refused(f"this session has a {kind.what} of its own, {own.id}, which is open", fix="finish it first")
    run: Run[S] = Run(kind, caller, str(summary.get("run")))
    run.require_whole()
    run.append({"kind": "adopted", "from": source, "session": caller.session})
    hand_over(caller, kind.name, source)
    return run


def hand_over(caller: Caller, kind: str, source: str) -> None:
    """The summary of one kind of work goes from another session's row to this one's."""
    summary = caller.summary(kind, source)

    def give(row: Row | None) -> runtime.Change:
        if row is None:
            return runtime.Change(None)
        return runtime.Change(None, taken_over(row, kind, caller.session), [_moved("adopted-by", caller.session)])

    def take(row: Row | None) -> runtime.Change:
        change = changed(caller, row, kind, summary)
        change.events.insert(0, _moved("adopted", source))
        return change

    def _moved(event: str, other: str) -> Row:
        return {"kind": event, "work": kind, "session": other, "run": summary.get("run")}

    change_row(caller, caller.session, take)
    change_row(caller, source, give)


def taken_over(row: Row, kind: str, by: str) -> Row:
    """The row of a session whose work another one has now. It is held no longer, and its next Stop tells the user."""
    summary = part(part(row, "work"), kind)
    work = {name: other for name, other in part(row, "work").items() if name != kind}
    is_held = part(row, "ulw").get("enabled") and summary.get("state") in OPEN_STATES and not summary.get("cleared")
    if not is_held:  # the user was told already that it was let go
        return disarmed({**row, "work": work}, kind)
    ended = outcome.outcome(outcome.ENDED, f"session {clip(by, 64)} took {kind} {summary.get('run')} over")
    work[kind] = {"state": "done", "open": 0, "total": 0, "next": None, "told": False, "outcome": ended}
    return {**row, "work": work}


def require_idle(caller: Caller, source: str, kinds: list[str]) -> None:
    """The agent may not take work away from a session that is at it; the user may.

    What waits, or was let go, is nobody's work just now.
    """
    if not any(caller.summary(kind, source).get("state") == "active" for kind in kinds):
        return
    row = caller.session_rows.get(source, {})
    used = str(row.get("lastUsedAt") or "")
    try:
        is_idle = caller.now - seconds(used) >= IDLE_FOR
    except ValueError:
        is_idle = True  # nobody knows when it was last used
    if caller.by == "user" or is_idle or not runtime.is_live(row):
        return
    raise Refused(
        f"session {source} was at work at {used}",
        fix=f"the user can take it over, in a terminal of their own: omo adopt --from {shlex.quote(source)} "
        f"--session {shlex.quote(caller.session)}; or wait until it has been idle for {IDLE_FOR / 60:g} minutes",
    )


@dataclass(frozen=True)
class Cleared:
    """Where the bytes lie now, how many items were open, and whether the user is shown it at the next Stop."""

    kept: list[str]
    open: int
    is_shown: bool


def clear(kind: Kind[S], caller: Caller, *, force: bool) -> Cleared | None:
    """Start from nothing: the run's directory is kept under another name. None where there is nothing to clear.

    This is also how damage is sealed, which is the user's to do.
    """
    run = load(kind, caller)
    summary = caller.summary(kind.name)
    if run is None and not summary:
        return None
    problems = run.problems if run is not None else []
    if problems and caller.by != "user" and run is not None:
        raise run.damage()
    is_open = summary.get("state") in OPEN_STATES and not summary.get("cleared")
    is_open = is_open or (run is not None and run.state is not None and run.state.is_open)
    if (is_open or problems) and not force:
        raise Refused(
            f"the {kind.what} of session {caller.session} is not finished",
            fix=f"omo state clear --mode {kind.name} --force gives it up and keeps its files aside",
            defects=problems,
        )
    kept = []
    if run is not None and os.path.lexists(run.directory):
        kept.append(store.keep_as(run.directory, "cleared", caller.now))
    return forget_summary(caller, kind.name, f"{kind.what} {summary.get('run')}", kept, force=force, is_open=is_open)


def release(caller: Caller, kind: str, what: str, *, force: bool) -> Cleared | None:
    """Work that has no directory of this session's own: only what the session was held to is given up."""
    summary = caller.summary(kind)
    if not summary:
        return None
    is_open = summary.get("state") in OPEN_STATES and not summary.get("cleared")
    if is_open and not force:
        raise Refused(
            f"the {what} of session {caller.session} are not finished",
            fix=f"omo state clear --mode {kind} --force gives them up in this session",
        )
    return forget_summary(caller, kind, what, [], force=force, is_open=is_open)


def forget_summary(
    caller: Caller,
    kind: str,
    what: str,
    kept: list[str],
    *,
    force: bool,
    is_open: bool,
    left: int | None = None,
    **noted: object,
) -> Cleared:
    """What was open and cleared by the agent is shown to the user: no silent way out.

    `left` is how many items the workflow itself knows to be open; without it, as many as hooks were last told of.
    What else is `noted` goes into the session's ledger, for the report.
    """
    summary = caller.summary(kind)
    told = summary.get("open")
    count = left if left is not None else 0
    if left is None and isinstance(told, int):
        count = told
    is_shown = caller.by != "user" and is_open

    def decide(row: Row | None) -> runtime.Change:
        old = row or {}
        work = {name: other for name, other in part(old, "work").items() if name != kind}
        if is_shown:
            why = f"the agent cleared the {what} with {count} open"
            ended = outcome.outcome(outcome.ENDED, why)
            given_up = {**summary, "state": "blocked", "why": why, "question": "Shall it be begun again?"}
            work[kind] = {**given_up, "next": None, "told": False, "own": True, "cleared": True, "outcome": ended}
            work[kind].pop("fence", None)
        event = {"kind": "cleared", "mode": kind, "forced": force, "open": count, "kept": kept, **noted}
        after = {**old, "work": work}
        return runtime.Change(None, after if is_shown else disarmed(after, kind), [event])

    change_row(caller, caller.session, decide)
    return Cleared(kept, count, is_shown)


def disarmed(row: Row, kind: str) -> Row:
    """The counter that this work armed goes with it, unless something else is still open."""
    ulw = part(row, "ulw")
    is_its_own = ulw.get("by") == kind and not runtime.work_in(row, *OPEN_STATES)
    return {**row, "ulw": {**ulw, "enabled": False}} if is_its_own else row


def only_source(caller: Caller, kinds: list[str]) -> str:
    """The one other session that has open work, where nobody named it."""
    sessions: list[str] = []
    for kind in kinds:
        sessions += [name for name in adoptable(kind, caller) if name not in sessions]
    if len(sessions) == 1:
        return sessions[0]
    there = f"one of {', '.join(sessions[:10])}" if sessions else "no other session of this project has open work"
    raise BadInput("which session is meant is not clear", fix=f"omo adopt --from SESSION ({there})")
