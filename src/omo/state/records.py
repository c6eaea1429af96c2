"""The files that omo keeps of state directories outside every project: where each is, what is on in it, and which rows
of its ledgers the user typed. A clone can bring files, but none of these.

Only hooks and commands outside an agent's shell write them. What cannot be read is no record.
"""

from __future__ import annotations

import os
import time

from omo.json_text import dumps, part
from omo.safe_open import own_file, read_file
from omo.state import STATE_DIR, beats, paths, store
from omo.text import clip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

PLACE = os.path.join("omo", "projects")
BY_PATH = "at"  # in a place: for the launcher, the records of directories with live sessions, by the directory's name
VERSION = 1
HEX = frozenset("0123456789abcdef")
ID_LENGTH = 32
LARGEST = 1 << 20
LONGEST_ON = 200
MOST_SWEPT = 1000  # in one hook, which has ten seconds
KEPT_FOR = 180 * 24 * 3600.0  # seconds: the record of a directory that is gone, or was moved and not used since
PATIENCE = 2.0  # seconds, for another writer of the same record
IN_PROJECT = os.path.join(os.sep, STATE_DIR)


class StateRecord:
    """The file outside of one state directory. `path` is its real path, `name` the path under which hooks know it."""

    def __init__(self, identity: str, place: str, stored: Mapping[str, Any]) -> None:
        self.identity = identity
        self.place = place
        self.path = str(stored.get("path") or "")
        self.name = str(stored.get("name") or self.path)
        self.live: dict[str, str] = {}  # what is on, by session
        for session, on in part(stored, "on").items():
            self.live[session] = clip(str(on), LONGEST_ON)
        known = stored.get("known")
        self.known: list[str] = [str(mark) for mark in known] if isinstance(known, list) else []

    @property
    def file(self) -> str:
        return os.path.join(self.place, self.identity)

    @property
    def in_index(self) -> str:
        return os.path.join(f"{self.place}{os.sep}{BY_PATH}{self.name}", self.identity)

    def is_of(self, state: str) -> bool:
        """Return whether this directory is the recorded one: the same, under whichever name, or moved here."""
        here = os.path.realpath(state)
        if here == self.path or identity_of(self.path) != self.identity:
            return True
        try:
            return os.path.samefile(here, self.path)
        except OSError:
            return False


def places(root: str) -> list[str]:
    """Return the directories for records, best first. One inside the project is none: a clone could have brought it."""
    found = []
    top = paths.top_of(root)
    named, home = os.environ.get("XDG_STATE_HOME") or "", paths.home_of(os.environ, root, top)
    if named and paths.may_name(named, root, top):
        found.append(os.path.join(named, PLACE))
    if home:
        found.append(os.path.join(home, ".local", "state", PLACE))
    return list(dict.fromkeys(found))


def find(identity: str, at: Iterable[str]) -> StateRecord | None:
    for place in at if identity else ():
        if (record := read(identity, place)) is not None:
            return record
    return None


def read(identity: str, place: str) -> StateRecord | None:
    try:
        stored = store.loads(read_file(os.path.join(place, identity), LARGEST))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(stored, dict) or stored.get("version") != VERSION or not os.path.isabs(str(stored.get("path"))):
        return None
    return StateRecord(identity, place, stored)


def identity_of(state: str) -> str:
    """Return the id in a state directory; empty where there is none that omo could have written."""
    try:
        identity = read_file(paths.id_file(state), ID_LENGTH + 1).decode("ascii").strip()
    except (OSError, ValueError):
        return ""
    return identity if len(identity) == ID_LENGTH and HEX.issuperset(identity) else ""


def root_of(state: str) -> str:
    return state.removesuffix(IN_PROJECT) if state.endswith(IN_PROJECT) else os.path.dirname(state)


def locked(record: StateRecord) -> store.Lock:
    return store.Lock(f"{record.file}.lock", store.deadline(PATIENCE))


def write(record: StateRecord) -> None:
    """Write a record and its entry in the index. The launcher reads the first line."""
    os.makedirs(record.place, mode=0o700, exist_ok=True)
    first = f'{{"version": {VERSION}, "live": {dumps(sorted(record.live))}'
    rest = {"path": record.path, "name": record.name, "on": record.live, "known": record.known}
    store.replace(record.file, f"{first},\n{store.dumps(rest)[1:]}\n")
    if not record.live:
        remove_from_index(record.in_index, record.place)
    elif not os.path.exists(record.in_index):
        os.makedirs(os.path.dirname(record.in_index), exist_ok=True)
        with open(record.in_index, "wb", opener=own_file):
            pass


def remove(record: StateRecord) -> None:
    remove_from_index(record.in_index, record.place)
    beats.remove(record.file, list(record.live))
    for path in (record.file, f"{record.file}.lock"):
        try:
            os.unlink(path)
        except OSError:
            pass


def remove_from_index(path: str, place: str) -> None:
    """Remove an entry of the index, and the directories above it that are empty then."""
    try:
        os.unlink(path)
        while (path := os.path.dirname(path)) != place:
            os.rmdir(path)
    except OSError:
        pass


def sweep(place: str, own: str) -> None:
    """Remove records of directories that are gone, and heartbeats of sessions that are on no more. `own` is a record
    that stays, and with which nothing is on."""
    beating = set()
    for count, identity in enumerate(listed(place)):
        if count == MOST_SWEPT:
            return
        if identity == own:
            continue
        record = read(identity, place)
        if record is not None and _is_left_over(record):
            remove(record)
        elif record is not None:
            beating |= {beats.file_of(record.file, session) for session in record.live}
    beats.sweep(place, beating)


def _is_left_over(record: StateRecord) -> bool:
    try:
        age = time.time() - os.lstat(record.file).st_mtime
    except OSError:
        return True
    return age > KEPT_FOR and not os.path.lexists(record.path)


def listed(directory: str) -> list[str]:
    """Return the ids that have a file in a directory."""
    try:
        entries = os.listdir(directory)
    except (OSError, ValueError):
        return []
    return sorted(name for name in entries if len(name) == ID_LENGTH and HEX.issuperset(name))
