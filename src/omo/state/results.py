"""Results that are kept under a key of all they depend on, one small file each: in the state, or where a caller says.

A result that cannot be read or written is only found out again.
"""

from __future__ import annotations

import os

from omo import safe_open
from omo.errors import OmoError
from omo.json_text import Json
from omo.state import ownership, store

MOST = 4000  # results; a tenth more is thrown away at once, the oldest first
LARGEST = 60_000  # bytes of one


class Results:
    """A directory of them, which lies in the state, if one is named."""

    def __init__(self, directory: str, state: str | None) -> None:
        self._directory = directory
        self._state = state

    def get(self, key: str) -> Json | None:
        path = self._file(key)
        if store.link_to_state(path) is not None:
            return None
        try:
            row = store.loads(safe_open.read_file(path, LARGEST))
        except (OSError, ValueError, RecursionError):
            return None
        return row if isinstance(row, dict) else None

    def put(self, key: str, row: Json) -> None:
        text = store.dumps(row)
        path = self._file(key)
        aside = f"{path}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
        try:
            if self._state is not None:
                ownership.make_state_dir(self._state)
            store.make_dir(self._directory, self._state or self._directory)
            if len(text) < LARGEST // 2 and store.write_new(aside, text):
                os.replace(aside, path)
        except (OmoError, OSError):
            return

    def prune(self) -> None:
        """Throw away the oldest if there are too many, and what a writer that died left."""
        try:
            names = os.listdir(self._directory)
            if len(names) <= MOST or store.link_to_state(self._file("")) is not None:
                return
            by_age = sorted((os.lstat(self._file(name)).st_mtime, name) for name in names)
            for _, name in by_age[: len(names) - MOST + MOST // 10]:
                os.unlink(self._file(name))
        except OSError:
            return

    def _file(self, key: str) -> str:
        return os.path.join(self._directory, key)
