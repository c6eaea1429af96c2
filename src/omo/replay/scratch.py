"""The directory a replay plays in: it goes when the replay ends, and what a killed one left goes with the next."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

PREFIX = "omo-replay-"
FORSAKEN_AFTER = 24 * 3600.0
ENDERS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def scratch(now: float) -> Iterator[str]:
    sweep(now)
    before = {number: signal.signal(number, _end) for number in ENDERS}
    try:
        with tempfile.TemporaryDirectory(prefix=PREFIX) as directory:
            yield directory
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(number: int, frame: object) -> NoReturn:
    """As an exception, so that everything is put away; the exit code says which signal it was."""
    raise SystemExit(128 + number)


def sweep(now: float) -> None:
    """What no replay can still be using: ours by name and owner, and old. A link is left where it is."""
    for entry in _ours(tempfile.gettempdir()):
        try:
            found = entry.stat(follow_symlinks=False)
        except OSError:
            continue
        if stat.S_ISDIR(found.st_mode) and _is_mine(found) and now - found.st_mtime > FORSAKEN_AFTER:
            shutil.rmtree(entry.path, ignore_errors=True)


def _ours(parent: str) -> list[os.DirEntry[str]]:
    try:
        return [entry for entry in os.scandir(parent) if entry.name.startswith(PREFIX)]
    except OSError:
        return []


def _is_mine(found: os.stat_result) -> bool:
    return not hasattr(os, "getuid") or found.st_uid == os.getuid()
