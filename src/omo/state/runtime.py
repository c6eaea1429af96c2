"""`runtime.local.json`: what is on, per session. The only file a hook needs to decide.

The file keeps one layout: its first line lists the sessions that are live or fenced, then one session a line. The
launcher reads that first line without starting Python; everything else reads it as the JSON it is.
"""

from __future__ import annotations

import os

from omo import table
from omo.clock import seconds, stamp
from omo.errors import Newer, Unreadable
from omo.json_text import dumps
from omo.json_text import part as part
from omo.state import RUNTIME_VERSION, ownership, paths, store
from omo.state.rows import EMPTY, claimed, notified, read_row, went_on, without

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from omo.state import ledger
    from omo.state.ledger_rows import LedgerRow, SessionEvent
    from omo.state.ownership import Removed
    from omo.state.rows import FenceLists, Runtime, SessionRow, Summary

    Works = list[tuple[str, Summary]]

KEPT_FOR = 14 * 24 * 3600.0
OPEN_STATES = ("active", "waiting", "paused")
CANCELLED = "cancelled"  # why a run ended
ANY_SESSION = "*"
INDEX = ("version", "live", "fenced", "open", "left", "sessions")
# What a summary says that lets a session go without a word of the agent's; the ledger has to say the same of it.
LETS_GO = ("ended", "paused")
AN_END = ("state", "outcome", "run", "at", "files")


class Change:
    """What a decision asks the store to do: the session's new row (None: leave it), and rows for its ledger. `head` is
    the end of another ledger that it has put in the place of the old one.

    Once that is done, `row` is as it is kept, and `written` are the rows as the ledger has them."""

    def __init__(
        self,
        answer: Any,
        row: SessionRow | None = None,
        events: list[SessionEvent] | None = None,
        head: ledger.Head | None = None,
    ) -> None:
        self.answer = answer
        self.row = row
        self.events = events or []
        self.head = head
        self.written: list[Any] = []


def read(state: str) -> Runtime:
    """The whole file; an empty one if there is none yet. Raises Unreadable or Newer, never guesses."""
    path = paths.runtime_file(state)
    if (link := store.link_to_state(path)) is not None:
        raise Unreadable(f"{link} is a link, and omo reads no state behind it", fix=store.NO_LINK, path=path)
    stored: Any = store.read(path)
    return _checked(stored, state)


def session(state: str, session_id: str) -> SessionRow | None:
    """One session's row. An empty id matches nothing."""
    row = read(state)["sessions"].get(session_id) if session_id else None
    if row is None:
        return None
    if not isinstance(row, dict):
        raise Unreadable(f"{paths.runtime_file(state)}: session {session_id} is not an object")
    return read_row(row)


def is_in_newer(state: str, session_id: str) -> bool:
    """Whether a file of a newer omo, whose rows this one cannot read, names this session, and not as one that the user
    has stopped."""
    stored: Any = store.read(paths.runtime_file(state))
    rows = stored.get("sessions")
    row = rows.get(session_id) if isinstance(rows, dict) else None
    stopped = row.get("stopContinuation") if isinstance(row, dict) else None
    return row is not None and not (isinstance(stopped, dict) and stopped.get("disabled"))


def sessions(state: str) -> dict[str, SessionRow]:
    """Every session's row; what is no row is left out."""
    return rows_of(read(state))


def rows_of(runtime: Runtime) -> dict[str, SessionRow]:
    return {name: read_row(row) for name, row in runtime["sessions"].items() if isinstance(row, dict)}


def is_live(row: SessionRow) -> bool:
    """Does a hook have anything to do for this session?"""
    if row["stopContinuation"].get("disabled"):
        return False
    if row["ulw"].get("enabled"):
        return True
    for summary in row["work"].values():
        if summary.get("state") in OPEN_STATES or (summary.get("question") and is_asking(summary)):
            return True
    return False


def is_held(row: SessionRow) -> bool:
    """Live, and not only because an end is still to be told in a conversation that may be gone."""
    return is_live(row) and not is_over(row)


def is_on_at(noted: Removed) -> bool:
    """Whether a session has open work where its record says; also where nobody can read the state."""
    try:
        return is_held(session(noted.state, noted.session) or EMPTY)
    except Unreadable:
        return True


def is_over(row: SessionRow) -> bool:
    """All its work has ended, in one way or another, and no breaker can be undone."""
    work = work_in(row, *OPEN_STATES, "ended")
    return bool(work) and all(has_ended(summary) for _, summary in work)


def needs_hooks(row: SessionRow) -> bool:
    """Live or fenced; or cancelled or taken over, and the model or the user was not told; or waiting for what an agent
    will say, or for what the user asked for to be begun."""
    if is_live(row) or is_fenced(row) or row.get("awaits") or row.get("asked") or is_taken_over(row):
        return True
    off = row["stopContinuation"]
    return off.get("told") is False or off.get("shown") is False


def is_taken_over(row: SessionRow) -> bool:
    """Another conversation took work over, and nobody was told of it here."""
    for summary in row["work"].values():
        if summary.get("takenBy") and summary.get("told") is False:
            return True
    return False


def is_untold(summary: Summary) -> bool:
    """Work that ended, or came to wait, and the user has not been shown it."""
    return summary.get("told") is False or (has_ended(summary) and summary.get("told") is not True)


def has_untold_end(row: SessionRow) -> bool:
    """No Stop has come to tell it: the client was killed, the turn interrupted, or the work taken over elsewhere."""
    return any(is_untold(summary) for _, summary in over(row))


def is_fenced(row: SessionRow) -> bool:
    """A plan session's fence is up. The user's cancel or stop takes it down; it is up again when they go on with the
    plan."""
    return not row["stopContinuation"].get("disabled") and bool(fence_of(row))


def fence_of(row: SessionRow) -> FenceLists:
    """The fence of the work that has one; empty where none has, or the user paused or cancelled that."""
    for summary in row["work"].values():
        fence = summary.get("fence")
        if fence and isinstance(fence, dict) and not (is_paused_by_user(summary) or was_cancelled(summary)):
            return fence
    return {}


def what_is_on(row: SessionRow) -> str:
    """The work that hooks hold this session to, by name; empty where there is none."""
    if not is_live(row):
        return "a plan's fence" if is_fenced(row) else ""
    return ", ".join(table.name_of(kind) for kind, _ in work_in(row, *OPEN_STATES)) or "ultrawork"


def work_in(row: SessionRow, *states: str) -> Works:
    """The kinds of work that are in one of these states."""
    return [(kind, summary) for kind, summary in row["work"].items() if summary.get("state") in states]


def is_paused_by_user(summary: Summary) -> bool:
    """A workflow's pause of its `own` is the agent's."""
    return summary.get("state") == "paused" and not summary.get("own")


def is_open(summary: Summary) -> bool:
    """Work that is open in any way."""
    return summary.get("state") in OPEN_STATES


def has_ended(summary: Mapping[str, object]) -> bool:
    """Whether it is over: proven, judged, given up, or without a pass. Nothing wakes it."""
    return summary.get("state") == "ended" and not summary.get("endedBy")


def is_asking(summary: Summary) -> bool:
    """Whether it is over with a question to the user that they have not answered."""
    return has_ended(summary) and bool(summary.get("question")) and not summary.get("answered")


def was_let_go(summary: Summary) -> bool:
    """Whether a limit ended it, or the user's word: it goes on by their word."""
    return summary.get("state") == "ended" and bool(summary.get("endedBy"))


def word_of(summary: Summary) -> str:
    """The state as people read it."""
    if has_ended(summary):
        return "done"
    if was_let_go(summary):
        return CANCELLED if was_cancelled(summary) else "exhausted"
    return "blocked" if is_blocked(summary) else str(summary.get("state") or "")


def over(row: SessionRow) -> Works:
    """The kinds of work that are over."""
    return [(kind, summary) for kind, summary in row["work"].items() if has_ended(summary)]


def is_blocked(summary: Summary) -> bool:
    """Whether it waits for something that nobody's answer brings."""
    return summary.get("state") == "waiting" and summary.get("waitsFor") == "outside"


def was_cancelled(summary: Summary) -> bool:
    """Whether the user cancelled it, or let it be for something else: it goes on when they name it."""
    return summary.get("state") == "ended" and summary.get("endedBy") == CANCELLED


def let_go(row: SessionRow) -> Works:
    """The kinds of work that a breaker let go."""
    works = []
    for kind, summary in row["work"].items():
        if was_let_go(summary) and not was_cancelled(summary):
            works.append((kind, summary))
    return works


def is_left_open(summary: Summary) -> bool:
    """Whether it is not over, or was let go."""
    state = summary.get("state")
    return state in OPEN_STATES or (state == "ended" and bool(summary.get("endedBy")))


def left_open(row: SessionRow) -> Works:
    """The kinds of work that are left open, and were not cancelled."""
    return [(kind, summary) for kind, summary in standing(row) if not was_cancelled(summary)]


def standing(row: SessionRow) -> Works:
    """What is left open, and what the user cancelled: all that goes on if they name it."""
    return [(kind, summary) for kind, summary in row["work"].items() if is_left_open(summary)]


def can_be_resumed(row: SessionRow) -> bool:
    """Has it work that another conversation may take up? What the user cancelled is over until they say otherwise."""
    return bool(left_open(row)) and not row["stopContinuation"].get("disabled")


def change_session(
    state: str,
    session_id: str,
    decide: Callable[[SessionRow | None], Change],
    *,
    actor: str,
    now: float,
    wait: float,
    checks: bool = False,
) -> Any:
    """Decide on a session's row and carry it out: ledger first, then the snapshot, so a crash loses no decision.

    A ledger whose end is not where the row says it is was damaged: it goes on after the last whole row. With `checks`
    every row is looked at.
    """
    from omo.state import ledger

    if not session_id:
        return decide(None).answer
    deadline = store.deadline(wait)
    ownership.make_state_dir(state)
    directory = paths.session_dir(state, session_id)
    store.make_dir(directory, state)
    with store.Lock(os.path.join(directory, paths.SESSION_LOCK), deadline):
        try:
            old = session(state, session_id)
        except Newer:
            raise
        except Unreadable:  # whoever writes keeps the bytes aside
            old = None
        path = os.path.join(directory, paths.EVENTS)
        head, damaged = None, None
        if old is not None:
            head = ledger.head_of(path)
            known = old.get("ledger", {})
            if checks or (known.get("seq"), known.get("digest")) != (head.seq, head.digest):
                damaged = _damaged(state, session_id, old)
            if damaged is None:
                old = caught_up(state, session_id, old, head)
            else:
                old = _doubted(old, ledger.Head(row=damaged.whole[-1] if damaged.whole else None))
        change = decide(old)
        if change.row is None:
            return change.answer
        if damaged is not None:
            head = _go_on_after(path, damaged, change, now)
        row = _recorded(state, path, old, head, change, actor=actor, now=now)

        def put(runtime: Runtime) -> None:
            # A row that was deleted while we decided on it stays deleted: somebody wanted it gone.
            if old is None or session_id in runtime["sessions"]:
                runtime["sessions"][session_id] = row

        _update(state, put, now, deadline)
        return change.answer


def _damaged(state: str, session_id: str, row: SessionRow) -> ledger.Chain | None:
    """Return the ledger of a session if it is damaged."""
    chain = read_chain(state, session_id, row)
    return chain if chain.problems else None


def _go_on_after(path: str, damaged: ledger.Chain, change: Change, now: float) -> ledger.Head:
    """Keep a damaged ledger aside, and have the change say so in what goes on. Return where that goes on."""
    from omo.state import ledger

    assert change.row is not None
    repaired, head = ledger.keep_aside(path, damaged.whole, change.row.get("ledger", {}), now)
    run = part(part(change.row, "work"), "ulw").get("run")
    event: Any = {**repaired, "run": run}
    change.events = [event, *change.events]
    name = os.path.basename(os.path.dirname(path))
    told = notified(change.row, path, went_on(f"session {name}", repaired["row"]))
    change.row = {**told, "ledger": head.mark}
    return head


def mend_session(state: str, session_id: str, *, actor: str, now: float, wait: float) -> bool:
    """Go on after the last whole row of a session's ledger, if that is damaged. Return whether it was."""
    if not chain_problems(state, session_id):
        return False

    def decide(row: SessionRow | None) -> Change:
        return Change(True, row)

    return bool(change_session(state, session_id, decide, actor=actor, now=now, wait=wait, checks=True))


def _recorded(
    state: str, path: str, old: SessionRow | None, head: ledger.Head | None, change: Change, *, actor: str, now: float
) -> SessionRow:
    """Append the events of a change to the ledger, and answer the row to be put. `head` is the ledger's end before it,
    where there is an old row."""
    from omo.state import ledger

    assert change.row is not None

    def note(rows: Sequence[LedgerRow]) -> None:
        ownership.note_words(state, rows)

    from omo import masking

    row: SessionRow = masking.masked_row(without(change.row, "invalid"))
    row["lastUsedAt"] = stamp(now)
    mark = row.pop("ledger", None)
    if change.events:
        # What the user typed is kept in the row alone, which forgets it; a ledger never does.
        change.events[-1]["after"] = {**row, "ulw": without(row["ulw"], "said")}
        written = None if old is None else mark or {}
        head = change.head or head
        change.written, end = ledger.append(path, change.events, note, actor=actor, now=now, mark=written, head=head)
        mark = end.mark
    if mark:
        row["ledger"] = mark
    change.row = row
    return row


def hand_over(
    state: str,
    source: str,
    target: str,
    decide: Callable[[SessionRow, SessionRow], tuple[Change, Change]],
    *,
    actor: str,
    now: float,
    wait: float,
) -> Any:
    """Work goes from one session's row to another's, as `decide` says of both: one write of the file has the two, so
    that no moment shows the same work in both. The ledgers come first; both then vouch for their rows after a crash.
    """
    from omo.state import ledger

    deadline = store.deadline(wait)
    locks = []
    for name in sorted((source, target)):  # in one order, so that two who want the same do not wait for each other
        store.make_dir(paths.session_dir(state, name), state)
        locks.append(store.Lock(paths.session_lock(state, name), deadline))
    with locks[0], locks[1]:
        heads = {name: ledger.head_of(paths.events_file(state, name)) for name in (source, target)}
        rows: dict[str, SessionRow] = {}
        for name, head in heads.items():
            # A session that has no row yet is given one, which its ledger can be ahead of.
            row = session(state, name)
            if row is None:
                row = {**EMPTY, "ledger": head.mark}
            rows[name] = caught_up(state, name, row, head)
        given, taken = decide(rows[source], rows[target])

        def put(runtime: Runtime) -> None:
            runtime["sessions"].update(rows)

        _update(state, put, now, deadline)
        for name, change in ((target, taken), (source, given)):
            path = paths.events_file(state, name)
            rows[name] = _recorded(state, path, rows[name], heads[name], change, actor=actor, now=now)
        _update(state, put, now, deadline)
        return taken.answer


def caught_up(state: str, session_id: str, row: SessionRow, head: ledger.Head | None = None) -> SessionRow:
    """The row, or the ledger's word where a crash left that ahead of it. Writes nothing.

    `head` is the ledger's end where it was read already.
    """
    from omo.state import ledger

    head = head or ledger.head_of(paths.events_file(state, session_id))
    ahead = _ahead(head, row)
    if ahead is None or _damaged(state, session_id, row) is not None:
        return _doubted(row, head)
    return {**ahead, "ledger": {**row.get("ledger", {}), **head.mark}}


def doubted(state: str, session_id: str, row: SessionRow, head: ledger.Head | None = None) -> SessionRow:
    """The row, as far as its ledger vouches for it. Writes nothing."""
    from omo.state import ledger

    if not work_in(row, *LETS_GO):
        return row
    try:
        head = head or ledger.head_of(paths.events_file(state, session_id))
    except Unreadable:
        head = ledger.Head()
    return _doubted(row, head) if _ahead(head, row) is None else row


def unvouched(row: SessionRow) -> list[str]:
    """The kinds of work that a row, once looked at beside its ledger, lets go and the ledger does not."""
    return [kind for kind, summary in over(row) if summary.get("unvouched")]


def _ahead(head: ledger.Head, row: SessionRow) -> SessionRow | None:
    known = row.get("ledger", {}).get("seq")
    after = head.row.get("after") if head.row and isinstance(known, int) and head.seq > known else None
    return read_row(after) if isinstance(after, dict) else None


def _doubted(row: SessionRow, head: ledger.Head) -> SessionRow:
    """What the ledger does not vouch for is an end, and no good one. The mark is kept with the row, and so in every
    later `after`: no further event makes it good."""
    claims = work_in(row, *LETS_GO)
    if not claims:
        return row
    told = part(part(head.row or {}, "after"), "work")
    work = dict(row["work"])
    for kind, summary in claims:
        vouched = part(told, kind)
        keys = AN_END if has_ended(summary) else ("state", "endedBy")
        if vouched.get("unvouched"):
            work[kind] = {**summary, "state": "ended", "unvouched": claimed(vouched)}
        elif any(vouched.get(key) != summary.get(key) for key in keys):
            ended = without(summary, "told", "endedBy")
            work[kind] = {**ended, "state": "ended", "unvouched": word_of(summary)}
    return {**row, "work": work} if work != row["work"] else row


def set_corrupt_aside(state: str, *, now: float, wait: float) -> str:
    """Keep the bytes of a file nobody can read under another name. Empty if it became readable meanwhile."""
    with store.Lock(paths.runtime_file(state) + ".lock", store.deadline(wait)):
        _, kept = _read_or_set_aside(state, now)
    return kept


def ledger_problems(state: str, session_id: str) -> list[str]:
    """What is wrong with a session's ledger, and what its row lets go that the ledger does not."""
    row = session(state, session_id) or EMPTY
    doubts = in_doubt(caught_up(state, session_id, row)) if work_in(row, *LETS_GO) else []
    return [*chain_problems(state, session_id), *doubts]


def in_doubt(row: SessionRow) -> list[str]:
    """In words, what a row lets go and its ledger does not, once it was looked at beside that."""
    said = []
    for kind in unvouched(row):
        claim = f"{table.name_of(kind)} is {claimed(row['work'][kind])}"
        said.append(f"the state says that {claim}, and the session's ledger does not")
    return said


def chain_problems(state: str, session_id: str) -> list[str]:
    """What is wrong with a session's ledger alone: its chain, and its end against the row's own mark."""
    return read_chain(state, session_id, session(state, session_id) or EMPTY).problems


def read_chain(state: str, session_id: str, row: SessionRow) -> ledger.Chain:
    """Return the rows of a session's ledger that are whole, and what is wrong with it beside the mark of its row."""
    from omo.state import ledger

    path = paths.events_file(state, session_id)
    chain = ledger.read_chain(path, row.get("ledger", {}), f"the row of session {session_id}")
    chain.rows = ownership.believed(state, chain.whole)
    return chain


def vouched_rows(state: str, session_id: str, row: SessionRow | None = None) -> list[SessionEvent]:
    """Return what hooks and gates saw in a session, as far as its ledger is whole. `row` is the session's, if it was
    read already."""
    try:
        if row is None:
            row = session(state, session_id) or EMPTY
        return read_chain(state, session_id, row).rows if session_id else []
    except Unreadable:
        return []


def whole_rows(state: str, session_id: str, row: SessionRow) -> list[SessionEvent]:
    """Of a session's ledger the part that is as omo wrote it, up to where the session's row says it ends."""
    try:
        chain = read_chain(state, session_id, row)
    except Unreadable:
        return []
    end = row.get("ledger", {}).get("seq")
    return ownership.believed(state, chain.whole[:end]) if isinstance(end, int) else []


def render(runtime: Runtime) -> str:
    """The layout the launcher relies on."""
    live, fenced, opened = set(), set(), set()
    is_left = False
    lines = []
    for key, stored in runtime["sessions"].items():
        lines.append(f"{dumps(key)}: {store.dumps(stored)}")
        if not isinstance(stored, dict):
            continue
        row = read_row(stored)
        if needs_hooks(row):
            live.add(_launcher_name(key))
        elif standing(row):
            # Let go or cancelled: what agents say is kept, and the user's "continue" heard.
            opened.add(_launcher_name(key))
        if is_fenced(row):
            fenced.add(_launcher_name(key))
        is_left = is_left or bool(row.get("pins")) or can_be_resumed(row) or (is_live(row) and has_untold_end(row))
    first = f'{{"version": {RUNTIME_VERSION}, "live": {dumps(sorted(live))}'
    if fenced:
        first += f', "fenced": {dumps(sorted(fenced))}'
    if opened:
        first += f', "open": {dumps(sorted(opened))}'
    if is_left:
        first += ', "left": true'  # for a session that starts: there may be something to offer or tell, or pinned
    end = "}"
    for key, value in runtime.items():
        if key not in INDEX:
            end += f", {dumps(key)}: {store.dumps(value)}"
    return "\n".join([first + ', "sessions": {', ",\n".join(lines), end + "}"]) + "\n"


def _launcher_name(session_id: str) -> str:
    """An id the launcher can look for in an event as it stands; for any other it asks Python."""
    return session_id if paths.SAFE_ID.issuperset(session_id) else ANY_SESSION


def _update(state: str, change: Callable[[Runtime], None], now: float, deadline: float) -> None:
    path = paths.runtime_file(state)
    with store.Lock(path + ".lock", deadline):
        runtime, _ = _read_or_set_aside(state, now)
        change(runtime)
        _prune(runtime, now)
        if runtime["sessions"] or os.path.exists(path):
            store.replace(path, render(runtime))


def on_by_session(runtime: Runtime) -> dict[str, str]:
    """The work that hooks hold each session to, by name; no entry for a session without any."""
    on = {}
    for session_id, row in runtime["sessions"].items():
        if isinstance(row, dict) and (names := what_is_on(read_row(row))):
            on[session_id] = names
    return on


def _read_or_set_aside(state: str, now: float) -> tuple[Runtime, str]:
    """The file; or an empty one, and the name under which the bytes are kept that nobody can read."""
    try:
        return read(state), ""
    except Newer:
        raise
    except Unreadable:
        return _checked(None, state), store.keep_as(paths.runtime_file(state), "corrupt", now)


def _prune(runtime: Runtime, now: float) -> None:
    """Forget sessions that have nothing open and were not used for two weeks. Their ledgers stay."""
    sessions = runtime["sessions"]
    oldest = stamp(now - KEPT_FOR)
    for key, row in list(sessions.items()):
        is_old = isinstance(row, dict) and str(row.get("lastUsedAt") or "9") < oldest
        if is_old and _may_be_forgotten(read_row(row), now):
            del sessions[key]


def _may_be_forgotten(row: SessionRow, now: float) -> bool:
    """A session with an end that was never told may be, since nobody came back to it. One in which the user pinned
    something may not: its row says where the ledger ends that vouches for the pin."""
    if row.get("pins"):
        return False
    has_ended = bool(row["work"]) and not work_in(row, *OPEN_STATES)
    if is_live(row) and not has_ended:
        return False
    try:
        return now - seconds(row["lastUsedAt"]) > KEPT_FOR
    except (KeyError, AttributeError, ValueError):
        return False


def _checked(runtime: Runtime | None, state: str) -> Runtime:
    if runtime is None:
        return {"version": RUNTIME_VERSION, "sessions": {}}
    version = runtime.setdefault("version", RUNTIME_VERSION)
    if version == RUNTIME_VERSION and isinstance(runtime.get("sessions"), dict):
        return runtime
    path = paths.runtime_file(state)
    if not isinstance(version, int) or isinstance(version, bool) or not isinstance(runtime.get("sessions"), dict):
        raise Unreadable(f"{path} does not have the shape of a runtime file", fix=store.MOVE_AWAY, path=path)
    if version > RUNTIME_VERSION:
        raise Newer(
            f"{path} has version {version}, this omo knows {RUNTIME_VERSION}", fix="update the plugin", path=path
        )
    return runtime
