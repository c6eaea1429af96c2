"""Copies of what files held when a run began, each under its digest: what no commit holds can be put back from here.

A hook writes them, so nothing is imported but what hooks have loaded anyway.
"""

from __future__ import annotations

import os
import time

from omo.errors import Unwritable
from omo.state import ownership, paths, store

KEPT_FOR = 30 * 24 * 3600.0


class Copies:
    """One that cannot be written is missing later, and the experiment says so: no disk that is full keeps a run from
    being armed. Without a state nothing is kept."""

    def __init__(self, state: str = "") -> None:
        self._state = state
        self._directory = paths.copies_dir(state) if state else ""
        self._is_ready = False

    def keep(self, digest: str, content: bytes) -> None:
        if not self._directory:
            return
        path = os.path.join(self._directory, digest)
        try:
            self._make_ready()
            if os.path.lexists(path):
                os.utime(path, follow_symlinks=False)
                return
            aside = f"{path}.{os.getpid()}-{os.urandom(4).hex()}"
            with open(aside, "xb") as file:
                file.write(content)
            os.replace(aside, path)
        except (OSError, Unwritable):
            self._directory = ""

    def _make_ready(self) -> None:
        """Make the directory, and remove what is old in it."""
        if self._is_ready:
            return
        ownership.make_state_dir(self._state)
        store.make_dir(self._directory, self._state)
        self._is_ready = True
        with os.scandir(self._directory) as entries:
            for entry in entries:
                is_file = entry.is_file(follow_symlinks=False)
                if is_file and entry.stat(follow_symlinks=False).st_mtime < time.time() - KEPT_FOR:
                    os.unlink(entry.path)
