"""One small file for each session that is on, outside its project: who removes the state there does not end it unseen.

It is named by the session's id, in a directory that is named like its state: a hook, and hooks/launch.sh before it,
looks for those of its own project and never at the others. It holds what was on: shown, and never believed further.
What cannot be read or written is no marker.
"""

from __future__ import annotations

import os
import time

from omo.json_text import dumps
from omo.safe_open import regular_file
from omo.state import STATE_DIR, paths, store
from omo.text import clip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

KEPT_FOR = 14 * 24 * 3600.0
MOST_LOOKED_AT = 1000  # of one state: a hook has ten seconds
LONGEST = 8192
IN_PROJECT = os.path.join(os.sep, STATE_DIR)
REPLACED = ".replaced"  # behind the state's name, where another was begun in the place of the one that was removed


class Marker:
    """`place` is its state, with REPLACED behind it where another was begun there."""

    def __init__(self, session: str, place: str, on: str) -> None:
        self.session = session
        self.state = place.removesuffix(REPLACED)
        self.on = on
        self.was_replaced = place.endswith(REPLACED)
        self.path = os.path.join(_folder(place), session)

    def is_left_over(self) -> bool:
        """Its project is gone, nobody came back to it, or its session is on no more."""
        project = self.state.removesuffix(IN_PROJECT)
        if project != self.state and not os.path.isdir(project):
            return True
        try:
            age = time.time() - os.lstat(self.path).st_mtime
        except OSError:
            return True
        is_needed = self.was_replaced or _is_removed(self.state) or self._is_live()
        return age > KEPT_FOR or not is_needed

    def _is_live(self) -> bool:
        """By the first line of the runtime file, as the launcher reads it."""
        try:
            with open(paths.runtime_file(self.state), "rb", opener=regular_file) as file:
                return dumps(self.session).encode() in file.readline()
        except OSError:
            return True  # nobody knows


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
    if not _is_name(session):
        return
    folder = _folder(state)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    try:
        os.makedirs(_folder(), mode=0o700, exist_ok=True)
        os.makedirs(folder, exist_ok=True)
        with os.fdopen(regular_file(os.path.join(folder, session), flags), "wb") as file:
            file.write(store.encode(clip(on, 200)) + b"\n")
    except (OSError, ValueError):
        pass


def replaced(state: str) -> None:
    """A new state is begun here: of what was on in the one before its sessions are still to be told."""
    folder, kept = _folder(state), _folder(state + REPLACED)
    try:
        names = os.listdir(folder)
        os.makedirs(kept, exist_ok=True)
        for name in names:
            os.replace(os.path.join(folder, name), os.path.join(kept, name))
        os.rmdir(folder)
    except (OSError, ValueError):
        pass


def remove(session: str, state: str) -> None:
    """Also what others left behind."""
    marker = _read(session, state)
    if marker is not None:
        _unlink(marker)
    every()


def is_there(session: str, state: str) -> bool:
    return _read(session, state) is not None


def take(session: str, state: str, root: str) -> Marker | None:
    """What was on in this session when the state was removed: given once."""
    for marker in of_removed(state, root):
        if marker.session == session:
            return marker if _unlink(marker) else None
    return None


def of_removed(state: str, root: str) -> list[Marker]:
    """Of all sessions that were on here when the state was removed, and were not told yet."""
    markers: list[Marker] = []
    for place in _removed_around(state, root):
        try:
            names = os.listdir(_folder(place))
        except (OSError, ValueError):
            continue
        markers += _read_all(names, place)
    return markers


def every() -> list[Marker]:
    """Of all projects. What was left behind is removed."""
    markers = []
    base = _folder()
    for folder, _, names in os.walk(base):
        for marker in _read_all(names[:MOST_LOOKED_AT], folder.removeprefix(base)):
            if marker.is_left_over():
                _unlink(marker)
            else:
                markers.append(marker)
    return markers


def _removed_around(state: str, root: str) -> Iterator[str]:
    """Where a state may have been removed. Without the state directory, a directory below it takes itself for the
    project."""
    states = [state, root + IN_PROJECT]
    while (above := os.path.dirname(root)) != root:
        root = above
        states.append(root.rstrip(os.sep) + IN_PROJECT)
    for place in dict.fromkeys(states):
        yield place + REPLACED
        if _is_removed(place):
            yield place


def _is_removed(state: str) -> bool:
    return not os.path.exists(paths.runtime_file(state))


def _read_all(names: list[str], place: str) -> Iterator[Marker]:
    for name in sorted(names):
        marker = _read(name, place)
        if marker is not None:
            yield marker


def _read(session: str, place: str) -> Marker | None:
    if not _is_name(session):
        return None
    try:
        with open(os.path.join(_folder(place), session), "rb", opener=regular_file) as file:
            on = file.read(LONGEST).partition(b"\n")[0]
    except (OSError, ValueError):
        return None
    return Marker(session, place, clip(on.decode("utf-8", "replace"), 200))


def _is_name(session: str) -> bool:
    """Only an id that is its own file name: the launcher looks for that name in the event."""
    return paths.file_name_of(session) == session


def _folder(place: str = "") -> str:
    """Nothing can be in it where there is no directory for markers."""
    return (directory() or os.devnull) + place


def _unlink(marker: Marker) -> bool:
    """And the directories above it that are empty then."""
    base = _folder()
    path = marker.path
    try:
        os.unlink(path)
    except OSError:
        return False
    try:
        while (path := os.path.dirname(path)) != base:
            os.rmdir(path)
    except OSError:
        pass
    return True
