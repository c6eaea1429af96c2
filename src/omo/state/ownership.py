"""Whose is the state that lies in a project: this user's, or a stranger's that came with a clone?

A state directory holds a random id, and a file of that name outside the project, its record (records.py), says where
the directory is. Nothing is read of a state without one, or of a copy.
"""

from __future__ import annotations

import os

from omo.digest import sha256
from omo.errors import Busy, Unreadable, Unwritable
from omo.json_text import dumps, part
from omo.state import RUNTIME_VERSION, STATE_DIR, beats, paths, records, store
from omo.state.records import IN_PROJECT, StateRecord
from omo.text import clip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from typing import Any

NOWHERE = "/proc/omo"  # nothing is there on any system, and nobody can make it
EMPTY = frozenset((".gitignore", "id"))

# How a state directory stands.
OURS, ABSENT, FOREIGN, NO_PLACE = "ours", "absent", "foreign", "no-place"
LINKED = "linked"  # a link of the project's leads to it: what a clone links to is not the clone's
NOT_FOR_AGENTS = "not-for-agents"  # absent, and the caller may not make one
# What has the user's authority in a ledger: what they pinned, took away, and let through.
AUTHORITY = ("gate-added", "gate-removed", "gate-allowed", "change-allowed", "test-allowed", "pinned")
NOT_OF_A_ROW = ("after", "elsewhere")  # what the rest of the program adds to a row, or writes beside it

NAME_A_PLACE = "set XDG_STATE_HOME to a directory outside the project that you can write"
REASONS = {
    FOREIGN: (
        "the omo state in {state} was not made by you on this machine, so omo uses nothing of it",
        "in a terminal of your own: omo adopt shows what it says and takes it, omo adopt --not moves it aside",
    ),
    NO_PLACE: ("omo keeps nothing here: no directory outside {project} can be read and written", NAME_A_PLACE),
    NOT_FOR_AGENTS: (
        "omo has no state in {project}, and a command in an agent's shell makes none",
        "omo's hooks make it before the command runs; `omo doctor` says whether they run here",
    ),
}


class NotOurs(Unwritable):
    """There is no state here that this command may write. `standing` says why."""

    code = "not-our-state"

    def __init__(self, standing: str, state: str) -> None:
        message, fix = REASONS[standing]
        super().__init__(message.format(state=state, project=state.removesuffix(IN_PROJECT)), fix=fix)
        self.standing = standing
        self.state = state


class Ownership:
    """How a state directory stands for one session. `is_lost`: only the state itself says that it is ours."""

    def __init__(self, state: str, standing: str, record: StateRecord | None = None, *, is_lost: bool = False) -> None:
        self.state = state
        self.standing = standing
        self.record = record
        self.is_lost = is_lost

    @property
    def is_ours(self) -> bool:
        return self.standing == OURS

    @property
    def path(self) -> str:
        """Return where to read and write: the directory itself, or a path at which nothing can be, which says why."""
        if self.standing in (OURS, ABSENT):
            return self.state
        return _nowhere(self.standing, self.state)

    def for_agent(self) -> Ownership:
        """Return what a command in an agent's shell may use: it makes no state."""
        return Ownership(self.state, NOT_FOR_AGENTS) if self.standing == ABSENT else self


def look(state: str, root: str, session: str = "") -> Ownership:
    """Find out whose a state directory is. This writes nothing.

    A state that names the very session that asks was made here, whatever happened to its record: session ids are
    random, so no clone can name one.
    """
    at = records.places(root)
    if not at:
        return Ownership(state, NO_PLACE)
    if not _is_in_place(state, root):
        return Ownership(state, LINKED)
    record = records.find(records.identity_of(state), at)
    if record is not None and record.is_of(state):
        return Ownership(state, OURS, record)
    if is_empty(state):
        return Ownership(state, ABSENT)
    if session and names(state, session):
        return Ownership(state, OURS, is_lost=True)
    return Ownership(state, FOREIGN)


def is_empty(state: str) -> bool:
    """Return whether nothing is there that anybody could believe."""
    try:
        names = os.listdir(state)
        if not EMPTY.issuperset(names):
            return False
        # An id without a record is a stranger's, unless somebody is just about to write it.
        return "id" not in names or os.lstat(paths.id_file(state)).st_size == 0
    except store.ABSENT_STATE:
        return True
    except OSError:
        return False


def names(state: str, session: str) -> bool:
    """Return whether the runtime file has a row of exactly this session."""
    try:
        runtime = store.read(paths.runtime_file(state)) or {}
    except Unreadable:
        return False
    version = runtime.get("version", RUNTIME_VERSION)
    return isinstance(version, int) and version >= RUNTIME_VERSION and session in part(runtime, "sessions")


def _is_in_place(state: str, root: str) -> bool:
    """Return whether no link of the project's leads to the state."""
    if state != os.path.join(root, STATE_DIR):
        return True
    return os.path.realpath(state) == os.path.join(os.path.realpath(root), STATE_DIR)


def make_state_dir(state: str) -> None:
    """Make the state directory and its record, unless they are there. The directory ignores itself, so that git never
    shows it. Raises NotOurs where the caller may not write there."""
    require(state)
    if os.path.lexists(paths.id_file(state)):
        return
    store.require_no_link(paths.id_file(state))
    store.make_dir(state, state)
    store.write_new(os.path.join(state, ".gitignore"), "*\n")
    _begin(state)


def require(state: str) -> None:
    """Raise NotOurs for a path at which nothing can be."""
    if not state.startswith(NOWHERE + os.sep):
        return
    for standing in (*REASONS, LINKED):
        beginning = _nowhere(standing, "")
        if state.startswith(beginning + os.sep):
            real = state.removeprefix(beginning)
            store.require_no_link(paths.id_file(real))
            raise NotOurs(FOREIGN if standing == LINKED else standing, real)


def _nowhere(standing: str, state: str) -> str:
    return f"{NOWHERE}{os.sep}{standing}{state}"


def _begin(state: str) -> StateRecord:
    """Write the record, then the id: an id without a record would be a stranger's."""
    record = _new_record(state)
    if not store.write_new(paths.id_file(state), f"{record.identity}\n"):
        records.remove(record)  # another process was first
        return records.find(records.identity_of(state), records.places(records.root_of(state))) or record
    return record


def _new_record(state: str, known: Iterable[str] = ()) -> StateRecord:
    """Write a record to the first place that takes it. Raises NotOurs where none does."""
    identity = os.urandom(records.ID_LENGTH // 2).hex()
    for place in records.places(records.root_of(state)):
        record = StateRecord(identity, place, {"path": os.path.realpath(state), "name": state, "known": list(known)})
        try:
            records.write(record)
        except (OSError, Unwritable):
            continue
        return record
    raise NotOurs(NO_PLACE, state)


def take_again(own: Ownership) -> StateRecord:
    """Give a state that is ours by its own word alone a new id and a new record, which knows nothing of the user's
    word in it. Raises OSError or Unwritable."""
    record = _new_record(own.state)
    store.replace(paths.id_file(own.state), f"{record.identity}\n")
    return record


def adopt(state: str, known: Iterable[str]) -> StateRecord:
    """Take a stranger's state as one's own, with the rows in it that count as the user's word."""
    record = _new_record(state, known)
    store.replace(paths.id_file(state), f"{record.identity}\n")
    return record


def move_aside(state: str, now: float) -> str:
    """Move a whole state directory to a place beside it that git does not show, and answer where it is."""
    shelf = paths.aside_dir(state)
    store.require_no_link(paths.id_file(state))
    store.make_dir(shelf, os.path.dirname(shelf))
    store.write_new(os.path.join(shelf, ".gitignore"), "*\n")
    return store.move_to(state, os.path.join(shelf, str(int(now * 1000))))


def aside_of_ours(state: str, root: str) -> str:
    """Return the newest state directory that was moved aside here and is ours; empty where none is."""
    shelf = paths.aside_dir(state)
    try:
        entries = sorted(os.listdir(shelf), reverse=True)
    except OSError:
        return ""
    at = records.places(root)
    for name in entries:
        aside = os.path.join(shelf, name)
        record = records.find(records.identity_of(aside), at)
        if record is not None and record.path == os.path.realpath(state):
            return aside
    return ""


def bring_back(aside: str, state: str, now: float) -> None:
    """Put a state of ours back that another user of the directory had moved aside; theirs is moved aside in turn."""
    if os.path.lexists(state):
        move_aside(state, now)
    os.rename(aside, state)


def looks_alive(state: str, now: float) -> bool:
    """Return whether somebody may be at work in it: files are swapped, a lock is held, or a file was written within
    the hour."""
    if os.path.lexists(paths.swap_journal(state)):
        return True
    for folder, _, files in os.walk(state):
        for name in files:
            path = os.path.join(folder, name)
            try:
                if now - os.lstat(path).st_mtime < 3600.0 or (name.endswith(".lock") and store.is_locked(path)):
                    return True
            except OSError:
                continue
    return False


def settle(own: Ownership, on: Mapping[str, str], sessions: Collection[str]) -> None:
    """Bring the record up to what is on in the runtime file, by session. Of a session that has no row there any more
    the record keeps what was on, until that is told. A place that cannot be written changes nothing."""
    record = own.record
    if record is None or _settled(record, own.state, on, sessions) == (record.live, record.path, record.name):
        return
    try:
        with records.locked(record):
            record = own.record = records.read(record.identity, record.place) or record
            before, was_live = record.in_index, record.live
            record.live, record.path, record.name = _settled(record, own.state, on, sessions)
            records.write(record)
            if before != record.in_index:
                records.remove_from_index(before, record.place)
            beats.remove(record.file, [session for session in was_live if session not in record.live])
    except (OSError, Unwritable, Busy):
        return
    if not record.live:
        records.sweep(record.place, record.identity)


def _settled(
    record: StateRecord, state: str, on: Mapping[str, str], sessions: Collection[str]
) -> tuple[dict[str, str], str, str]:
    live = {session: what for session, what in record.live.items() if session not in sessions}
    for session, what in on.items():
        live[session] = clip(what, records.LONGEST_ON)
    return live, os.path.realpath(state), state


class Removed:
    """What was on in a session whose row is not there any more, and where its state was."""

    def __init__(self, session: str, record: StateRecord) -> None:
        self.session = session
        self.record = record
        self.state = record.name
        self.on = record.live[session]


def removed(own: Ownership, root: str, sessions: Collection[str], session: str = "") -> list[Removed]:
    """Find the sessions, or the one that is named, that were on here or above and have no row any more."""
    found = []
    for record in _records_around(own, root):
        is_own = own.record is not None and record.identity == own.record.identity
        for name in record.live:
            is_told = is_own and name in sessions
            if (
                not is_told
                and session in ("", name)
                and (is_own or records.identity_of(record.path) != record.identity)
            ):
                found.append(Removed(name, record))
    return found


def tell(what: Removed) -> bool:
    """Take a removed session out of its record, so that it is told once. Return whether nobody else has told it."""
    try:
        with records.locked(what.record):
            record = records.read(what.record.identity, what.record.place)
            if record is None or record.live.pop(what.session, None) is None:
                return False
            records.write(record)
            beats.remove(record.file, [what.session])
    except (OSError, Unwritable, Busy):
        return False
    return True


def _records_around(own: Ownership, root: str) -> Iterator[StateRecord]:
    """Yield the records of this directory's name and of those above: without a state directory, a directory below it
    takes itself for the project."""
    state, known = own.state, own.record
    states = [state, root + IN_PROJECT]
    while (above := os.path.dirname(root)) != root:
        root = above
        states.append(root.rstrip(os.sep) + IN_PROJECT)
    for place in records.places(records.root_of(state)):
        for name in dict.fromkeys(states):
            by_path = f"{place}{os.sep}{records.BY_PATH}{name}"
            if not os.path.isdir(by_path):
                continue
            for identity in records.listed(by_path):
                if known is not None and (identity, place) == (known.identity, known.place):
                    yield known
                elif (record := records.read(identity, place)) is not None:
                    yield record


def every() -> Iterator[Removed]:
    """Yield what is on in all projects of this user, by session."""
    for place in records.places(os.sep + "nowhere"):
        for identity in records.listed(place):
            record = records.read(identity, place)
            if record is None or not os.path.isdir(records.root_of(record.path)):
                continue
            for session in record.live:
                yield Removed(session, record)


def forget(state: str) -> None:
    """Remove the record of a directory that is about to go."""
    record = records.find(records.identity_of(state), records.places(records.root_of(state)))
    if record is not None:
        records.remove(record)


def mark_of(row: Mapping[str, Any]) -> str:
    """Return what a record keeps of a row in which the user pinned or allowed something."""
    kept = {key: value for key, value in row.items() if key not in NOT_OF_A_ROW}
    return sha256(store.encode(dumps(kept)))[: records.ID_LENGTH]


def is_users_word(row: Mapping[str, Any]) -> bool:
    return row.get("actor") == "user" and row.get("kind") in AUTHORITY


def note_words(state: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Keep the marks of rows in which the user pinned or allowed something, before they are in the ledger. Raises
    NotOurs where no record can be written: the rows would be nobody's."""
    marks = [mark_of(row) for row in rows if is_users_word(row)]
    if not marks:
        return
    record = records.find(records.identity_of(state), records.places(records.root_of(state)))
    if record is None:
        raise NotOurs(NO_PLACE, state)
    try:
        with records.locked(record):
            record = records.read(record.identity, record.place) or record
            record.known += [mark for mark in marks if mark not in record.known]
            records.write(record)
    except OSError as error:
        raise store.unwritable(record.file, error) from None


def known_words(state: str) -> frozenset[str]:
    """Return the marks of all rows that are the user's word in a state directory."""
    record = records.find(records.identity_of(state), records.places(records.root_of(state)))
    return frozenset(record.known if record is not None else ())


def believed(state: str, rows: list[Any]) -> list[Any]:
    """Return the rows without those that claim the user's word and that no hook or terminal of theirs wrote."""
    if not any(map(is_users_word, rows)):
        return rows
    known = known_words(state)
    return [row for row in rows if not is_users_word(row) or mark_of(row) in known]
