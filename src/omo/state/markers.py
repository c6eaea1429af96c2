"""One small file for each session that is on, outside its project: who removes the state there does not end it unseen.

It is named by the session's id and has two lines, where the state is and what was on; hooks/launch.sh reads the first.
A marker is compared and shown, never believed further. What cannot be read or written is no marker.
"""

from __future__ import annotations

import os
import time

from omo.safe_open import regular_file
from omo.state import paths, store
from omo.text import clip

KEPT_FOR = 14 * 24 * 3600.0
LONGEST = 8192
REPLACED = ".replaced"  # behind the name, where another state was begun in the place of the one that was removed


class Marker:
    """`was_replaced`: another state was begun where this one had been removed."""

    __slots__ = ("on", "session", "state", "was_replaced")

    def __init__(self, session: str, state: str, on: str, *, was_replaced: bool) -> None:
        self.session = session
        self.state = state
        self.on = on
        self.was_replaced = was_replaced

    def tells_of(self, state: str, root: str) -> bool:
        """Was it on in this project, and is the file gone that said so?

        Without the state directory, a directory below it takes itself for the project.
        """
        project = self.state.removesuffix(os.path.join(os.sep, paths.STATE_DIR))
        is_here = self.state == state or f"{root}{os.sep}".startswith(project + os.sep)
        return is_here and (self.was_replaced or not os.path.exists(paths.runtime_file(self.state)))


def directory() -> str:
    """Empty where the user has no directory for state, or none that means the same everywhere."""
    base = os.environ.get("XDG_STATE_HOME") or ""
    home = os.environ.get("HOME") or ""
    if not base and os.path.isdir(home):
        base = os.path.join(home, ".local", "state")
    if not os.path.isabs(base):
        return ""
    return os.path.join(base, "omo", "live")


def write(session: str, state: str, on: str) -> None:
    """Sweeps away what was left by sessions that nobody came back to."""
    path = _path(session)
    if not path or "\n" in state:
        return
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        _sweep(os.path.dirname(path))
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
        with os.fdopen(regular_file(path, flags), "wb") as file:
            file.write(os.fsencode(state) + b"\n" + store.encode(clip(on, 200)) + b"\n")
    except (OSError, ValueError):
        pass


def replaced(state: str) -> None:
    """A new state is begun here: of what was on in the one before its sessions are still to be told."""
    for marker in every():
        if marker.state == state and not marker.was_replaced:
            try:
                os.replace(_path(marker.session), _path(marker.session, REPLACED))
            except OSError:
                pass


def remove(session: str, state: str) -> bool:
    """Whether there was one for this state, and this call has removed it."""
    marker = _read(session)
    return marker is not None and marker.state == state and _unlink(_path(session))


def take(session: str, state: str, root: str) -> Marker | None:
    """What was on in this session when the state was removed: given once."""
    for ending in ("", REPLACED):
        marker = _read(session, ending)
        if marker is not None and marker.tells_of(state, root):
            return marker if _unlink(_path(session, ending)) else None
    return None


def every() -> list[Marker]:
    try:
        names = sorted(os.listdir(directory() or os.devnull))
    except OSError:
        return []
    markers = []
    for name in names:
        session, dot, rest = name.partition(".")
        marker = _read(session, dot + rest)
        if marker is not None:
            markers.append(marker)
    return markers


def _read(session: str, ending: str = "") -> Marker | None:
    try:
        with open(_path(session, ending), "rb", opener=regular_file) as file:
            state, on, *_ = file.read(LONGEST).split(b"\n")
    except (OSError, ValueError):
        return None
    words = clip(on.decode("utf-8", "replace"), 200)
    return Marker(session, os.fsdecode(state), words, was_replaced=ending == REPLACED)


def _unlink(path: str) -> bool:
    try:
        os.unlink(path)
    except OSError:
        return False
    return True


def _path(session: str, ending: str = "") -> str:
    """Only an id that is its own file name: the launcher looks for that name in the event."""
    base = directory()
    if not base or paths.file_name_of(session) != session:
        return ""
    return os.path.join(base, session + ending)


def _sweep(base: str) -> None:
    oldest = time.time() - KEPT_FOR
    for session in os.listdir(base):
        path = os.path.join(base, session)
        if os.lstat(path).st_mtime < oldest:
            os.unlink(path)
