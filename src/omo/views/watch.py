"""When to look again: a state file grew, git moved on, or so much time went by that ages would read otherwise."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator
from typing import Any

from omo.state import paths

LOOK_ANYWAY = 15.0  # files of the project itself are not polled: what became stale is seen this late
GIT_FILES = ("HEAD", "index", os.path.join("logs", "HEAD"), "packed-refs")
POLLED = ("ledger.jsonl", "mark.json", "events.jsonl", "goals.json")

Mark = tuple[str, int, int, int]


def signature(state: str, root: str) -> tuple[Mark, ...]:
    """What tells a change without opening a file: name, inode, time and size of all that a status reads."""
    watched = [paths.runtime_file(state), paths.settings_file(root), *_ledgers(state), *_git_files(root)]
    return tuple(found for path in watched if (found := _mark(path)) is not None)


def moments(
    look: Callable[[], Hashable], *, clock: Callable[[], float], pause: Callable[[], object], ages: float = LOOK_ANYWAY
) -> Iterator[float]:
    """The times to look anew at everything: at once, then whenever `look` sees something else, or `ages` went by."""
    seen, now = look(), clock()
    yield now
    last = now
    while True:
        pause()
        found, now = look(), clock()
        if found != seen or not 0 <= now - last < ages:  # a clock that was set back is a change too
            seen, last = found, now
            yield now


def without_the_clock(data: dict[str, Any]) -> dict[str, Any]:
    """What of a view changes only when something happened."""
    sessions = [
        {**one, "breakers": {key: value for key, value in one["breakers"].items() if key != "hours"}}
        for one in data["sessions"]
    ]
    return {**data, "sessions": sessions}


def _ledgers(state: str) -> Iterator[str]:
    """Every ledger below the state directory and what is kept beside it; some are begun while somebody watches."""
    for directory, names, files in os.walk(state):
        names.sort()
        if os.path.basename(directory) in ("evidence", "artifacts"):
            names.clear()  # what is there never changes, and may be a lot
        yield from (os.path.join(directory, name) for name in POLLED if name in files)


def _git_files(root: str) -> list[str]:
    directory = _git_directory(root)
    return [os.path.join(directory, name) for name in GIT_FILES] if directory else []


def _git_directory(root: str) -> str:
    """Of this working tree; a linked one has its own, which its `.git` file names."""
    own = os.path.join(root, ".git")
    if os.path.isdir(own):
        return own
    try:
        with open(own, encoding="utf-8", errors="surrogateescape") as file:
            line = file.readline(4096).strip()
    except OSError:
        return ""
    return os.path.join(root, line.removeprefix("gitdir:").strip()) if line.startswith("gitdir:") else ""


def _mark(path: str) -> Mark | None:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return path, found.st_ino, found.st_mtime_ns, found.st_size
