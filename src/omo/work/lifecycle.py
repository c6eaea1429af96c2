"""What happens to runs of every workflow alike: they are given up, put aside, cleared."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

from omo import masking, table
from omo.errors import BadInput, Refused
from omo.state import runtime, store
from omo.state.rows import EMPTY, without
from omo.state.runtime import OPEN_STATES
from omo.text import clip
from omo.work import damage, left_open, naming, outcome, requests, room
from omo.work import session as rows
from omo.work.run import Caller, Kind, S, load
from omo.work.status import NextStep, command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.context import Context
    from omo.state.ledger_rows import SessionEvent
    from omo.state.rows import SessionRow, Summary


SHORTEST_REASON = 10
ASKED_ANEW = "they asked for something else"


def require_room(kind: str, caller: Caller) -> None:
    """Refuse an agent that begins a second piece of work. It may begin what the user asked for: by typing its command,
    or by answering when other work was handed to it."""
    row = caller.row()
    asked = str(row.get("asked") or "")
    is_asked_for = asked == kind or (asked in table.BY_TYPED and table.BY_TYPED[asked].kind == kind)
    if caller.by == "user" or rows.is_cancelled(row) or is_asked_for:
        return
    for other, summary in room.runs(row, *OPEN_STATES):
        gave_way = summary.get("madeWayFor") == kind and (not summary.get("own") or summary.get("answered"))
        if other == kind or gave_way:
            continue
        typed = table.BY_KIND[kind].typed[-1]
        if summary["state"] == "paused":  # it goes on by the user's word alone
            fix = f"ask the user to type /omo:{typed}"
        else:
            fix = f"finish it first: omo {table.BY_KIND[other].command} status says what is left; or ask the user: "
            fix += f"when they type /omo:{typed}, it is paused for that"
        raise Refused(
            f"{naming.listed([(other, summary)])} of this session is open, and a session has one piece of work at a "
            "time",
            fix=fix,
        )


def make_way_notes(caller: Caller, kind: str) -> list[str]:
    """Say to the user who begins a run in a terminal which one is paused for it."""
    if caller.by != "user":
        return []
    notes = []
    for other, summary in room.runs(caller.row(), *room.GOING):
        if other != kind:
            name = table.name_of(other)
            notes.append(f'{naming.listed([(other, summary)])} is paused for it; "continue {name}" goes on with that')
    return notes


def nothing_begun(kind: Kind[S], caller: Caller) -> Refused:
    others = left_by_others(kind.name, caller)
    fix = f"omo resume {shlex.quote(others[0])} takes up that of another session; or " if others else ""
    return Refused(f"session {caller.session} has no {kind.what}", fix=fix + kind.start)


def not_shown(kind: Kind[S], caller: Caller, fix: str) -> Refused | None:
    """The refusal for an agent whose run ended without a pass: it begins no other before Stop has shown the user how
    that one ended."""
    summary = caller.summary(kind.name)
    is_unshown = summary.get("told") is False and (runtime.is_asking(summary) or runtime.is_blocked(summary))
    if caller.by == "user" or not is_unshown:
        return None
    why = clip(str(summary.get("why") or ""), 200)
    what = f"{kind.what} {summary.get('run')} ended without a pass, and the user has not been shown it: {why}"
    return Refused(what, fix=fix)


def require_reason(text: str, what: str, fix: str) -> str:
    """Why something is let through or given up, in at least a few words, without secrets."""
    reason = masking.mask(text.strip())
    if len(reason) < SHORTEST_REASON:
        said = clip(text, 40)
        raise BadInput(f"{what} {said!r} says too little, {SHORTEST_REASON} characters are needed", fix=fix)
    return reason


def left_elsewhere(kind: str, what: str, caller: Caller) -> NextStep | None:
    """How to take up what another conversation left open of a workflow, before anything new of it is begun here."""
    others = left_by_others(kind, caller)
    if not others:
        return None
    why = f"session {others[0]} has {what} open; to take it up"
    return NextStep("resume", why, (command("omo resume", others[0]),))


def left_by_others(kind: str, caller: Caller) -> list[str]:
    """Other sessions of this project whose work of one kind can be taken up here."""
    sessions = []
    for session, row in left_open.of_others(caller.session_rows, caller.session).items():
        if kind in dict(runtime.left_open(row)):
            sessions.append(session)
    return sessions


@dataclass(frozen=True)
class Cleared:
    """Where the bytes lie now, how many items were open, and whether the user is shown it at the next Stop."""

    kept: list[str]
    open: int
    is_shown: bool


def clear(
    kind: Kind[S], caller: Caller, *, force: bool, unfinished: Sequence[str] = (), left: int | None = None
) -> Cleared | None:
    """Start from nothing: the run's directory is kept under another name. None where there is nothing to clear.

    `unfinished` is what the workflow knows to be open besides; for `left` see `forget_summary`.
    """
    run = load(kind, caller)
    summary = caller.summary(kind.name)
    if run is None and not summary:
        return None
    problems: list[str] = []
    is_open = runtime.is_open(summary) or bool(unfinished)
    if run is not None:
        if caller.by != "user":
            damage.require_going_on(run)
        problems = run.problems
        is_open = is_open or (run.state is not None and run.state.is_open)
    if caller.by != "user" and run is None and runtime.has_ended(summary) and runtime.is_untold(summary):
        return None  # an earlier clear is still to be shown
    if (is_open or problems) and not force:
        raise Refused(
            f"the {kind.what} of session {caller.session} is not finished",
            fix=f"omo state clear --mode {kind.name} --force gives it up and keeps its files aside",
            defects=[*problems, *unfinished],
        )
    name = run.id if run is not None else str(summary.get("run") or "")
    what = f"{kind.what} {name}".rstrip()
    kept = []
    if run is not None and os.path.lexists(run.directory):
        # Before the row: were that first, a crash would leave a run that no hook knows of.
        kept.append(store.keep_as(run.directory, "cleared", caller.now))
    return forget_summary(caller, kind.name, what, kept, force=force, is_open=is_open, left=left)


def release(caller: Caller, kind: str, what: str, *, left: int, force: bool) -> Cleared | None:
    """Give up what the session is held to, with `left` of it open, for work that has no directory of the session's."""
    summary = caller.summary(kind)
    if not summary:
        return None
    is_open = runtime.is_open(summary)
    if is_open and not force:
        raise Refused(
            f"the {what} of session {caller.session} are not finished",
            fix=f"omo state clear --mode {kind} --force gives them up in this session",
        )
    return forget_summary(caller, kind, what, [], force=force, is_open=is_open, left=left)


def replaces(caller: Caller, kind: str) -> Caller | None:
    """The user as the one in whose name the session's run of a kind gives way to a new one: it was cancelled or let go,
    and they have asked for something else of the workflow since, which the ledger says. None where they did not."""
    is_let_go = runtime.was_let_go(caller.summary(kind))
    return replace(caller, by="user") if is_let_go and requests.is_asked_anew(caller.events, kind) else None


def replaced_notes(caller: Caller, kind: str) -> list[str]:
    """For whoever begins something in its place."""
    if replaces(caller, kind) is None:
        return []
    return [f"{kind} {clip(str(caller.summary(kind).get('run')), 60)} is over: the user has asked for something else"]


def notes_of_start(kind: str, what: str, caller: Caller, context: Context) -> list[str]:
    """Return what somebody is told who begins a run. What they should know before that is noted in the context: agents
    that are missing, `what` another session left open, that the session was cancelled."""
    context.note_missing_agents()
    if other := left_elsewhere(kind, what, caller):
        context.notes.append(other.text)
    context.notes += rows.cancelled_notes(caller.row())
    return [*make_way_notes(caller, kind), *replaced_notes(caller, kind)]


def give_up_for_another(user: Caller, kind: str) -> None:
    """Take what gives way to another task of the user's out of the session's row, for what is begun in its place."""
    forget_summary(user, kind, kind, [], force=True, is_open=True)


def forget_summary(
    caller: Caller, kind: str, what: str, kept: list[str], *, force: bool, is_open: bool, left: int | None = None
) -> Cleared:
    """Take work out of the session's row. What the agent clears while it is open is shown to the user, and so is an end
    that they have not seen: there is no silent way out.

    `left` is how many items the workflow itself knows to be open; without it, as many as hooks were last told of.
    """
    summary = caller.summary(kind)
    count = summary.get("open") if left is None else left
    if not isinstance(count, int):  # in a file that anybody can edit, and it is told
        count = 0
    has_untold_end = runtime.has_ended(summary) and runtime.is_untold(summary)
    is_shown = caller.by != "user" and (is_open or has_untold_end)

    def decide(row: SessionRow | None) -> runtime.Change:
        old = row or EMPTY
        work = {name: other for name, other in old["work"].items() if name != kind}
        if is_shown and has_untold_end:
            work[kind] = {**summary, "stopped": True}  # how it ended is told all the same
        elif is_shown:
            why = f"the agent cleared the {what} with {count} open"
            ended = outcome.not_proven(why)
            known = without(summary, "fence")
            given_up: Summary = {**known, "state": "ended", "why": why, "question": "Shall it be begun again?"}
            work[kind] = {**given_up, "next": None, "told": False, "outcome": ended}
            old = rows.give_up(
                old, str(summary.get("run") or kind), f"{what} was given up with {count} open", "cleared"
            )
        event: SessionEvent = {"kind": "cleared", "mode": kind, "forced": force, "open": count, "kept": kept}
        after: SessionRow = {**old, "work": work}
        # The counter that this work armed goes with it, unless something else is still open.
        if not is_shown and old["ulw"].get("by") == kind and not runtime.work_in(after, *OPEN_STATES):
            after = rows.close(after)
        return runtime.Change(None, after, [event])

    caller.change(decide)
    return Cleared(kept, count, is_shown)
