"""State that is not this user's: what it says, and how it is moved aside, adopted or brought back.

Whoever calls this speaks for the user: a hook that heard them, or a command in a terminal of theirs.
"""

from __future__ import annotations

import os

from omo.errors import Unreadable
from omo.json_text import part
from omo.proof import git
from omo.proof.typed_commands import typed
from omo.state import RUNTIME_VERSION, STATE_DIR, ledger, ownership, paths, runtime, store
from omo.state.ownership import FOREIGN, NotOurs, Ownership
from omo.state.rows import read_row
from omo.text import clip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_SESSIONS = 20
LONGEST_PIN = 300
LONGEST_PATH = 200


class Contents:
    """What a foreign state says, without believing it. `pins` are lines that the user could type."""

    def __init__(self, state: str) -> None:
        self.version: object = None
        self.on: dict[str, str] = {}
        self.pins: list[str] = []
        self.words: list[str] = []  # the marks of rows that claim the user's word
        try:
            stored: Any = store.read(paths.runtime_file(state)) or {}
        except Unreadable:
            stored = {}
        self.version = stored.get("version")
        sessions = part(stored, "sessions")
        for name, row in list(sessions.items())[:MOST_SESSIONS]:
            if isinstance(row, dict) and (on := runtime.what_is_on(read_row(row))):
                self.on[clip(name, 64)] = on
        for name in _names_of_sessions(state)[:MOST_SESSIONS]:
            self._read_pins(_rows(paths.events_file(state, name)))
        self._read_pins(_rows(os.path.join(paths.pins_dir(state), "ledger.jsonl")))

    @property
    def is_of_an_earlier_format(self) -> bool:
        return isinstance(self.version, int) and self.version < RUNTIME_VERSION

    def _read_pins(self, rows: list[Any]) -> None:
        pinned: dict[str, str] = {}
        for row in filter(ownership.is_users_word, rows):
            self.words.append(ownership.mark_of(row))
            name, argv = str(row.get("name")), row.get("argv")
            if row["kind"] == "gate-added" and isinstance(argv, list):
                pinned[name] = clip(f"/omo:pin {name} -- {typed([str(word) for word in argv])}", LONGEST_PIN)
            elif row["kind"] == "gate-removed":
                pinned.pop(name, None)
        self.pins += [line for line in pinned.values() if line not in self.pins]


def _names_of_sessions(state: str) -> list[str]:
    try:
        return sorted(os.listdir(os.path.join(state, "sessions")))
    except OSError:
        return []


def _rows(path: str) -> list[Any]:
    try:
        return ledger.rows(path)
    except Unreadable:
        return []


def names_session_of_earlier_format(state: str, session: str) -> bool:
    """Return whether an omo of before wrote the state, and this session was on in it."""
    try:
        stored: Any = store.read(paths.runtime_file(state)) or {}
    except Unreadable:
        return False
    version = stored.get("version")
    row = part(stored, "sessions").get(session)
    is_earlier = isinstance(version, int) and version < RUNTIME_VERSION
    return is_earlier and isinstance(row, dict) and bool(runtime.what_is_on(read_row(row)))


def take_place(own: Ownership, root: str, now: float) -> str:
    """Make a state of the user's own where they turn something on. A stranger's state goes aside first, whole; the
    line about it is returned. Raises NotOurs where somebody may be at work in that state, or no record can be kept."""
    if own.standing == FOREIGN:
        contents = Contents(own.state)
        if _may_be_in_use(own.state, root, contents, now):
            raise NotOurs(FOREIGN, own.state)
        aside = ownership.move_aside(own.state, now)
        ownership.make_state_dir(own.state)
        return moved_aside(aside, contents)
    ownership.make_state_dir(own.path)
    return ""


def _may_be_in_use(state: str, root: str, contents: Contents, now: float) -> bool:
    if contents.is_of_an_earlier_format:  # nobody can be at work in it but an omo of before
        return os.path.lexists(paths.swap_journal(state))
    return ownership.looks_alive(state, now) and not _is_as_committed(state, root)


def _is_as_committed(state: str, root: str) -> bool:
    """Return whether git brought every file of it as it is: then a clone put it there, and nobody works in it."""
    if state != os.path.join(root, STATE_DIR):
        return False
    tracked = git.run(root, "ls-files", "-z", "--", STATE_DIR)
    changed = git.run(root, "status", "--porcelain", "-z", "--ignored", "--untracked-files=all", "--", STATE_DIR)
    return tracked.ok and changed.ok and bool(tracked.output) and not changed.output


def moved_aside(aside: str, contents: Contents) -> str:
    """Tell the user, once, of a state that they did not make."""
    where = clip(os.path.join(*aside.split(os.sep)[-3:]), LONGEST_PATH)
    if contents.is_of_an_earlier_format:
        lines = [f"omo: an earlier omo wrote the state here, so it is not used any more. It is in {where} now."]
        if contents.pins:
            lines.append("These pins were in it. omo cannot tell who typed them; type those that you want:")
        return "\n".join([*lines, *(f"  {pin}" for pin in contents.pins)])
    return (
        "omo: the omo state here was not made by you on this machine. "
        f"omo believed and ran nothing of it, and moved it to {where}."
    )
