"""Lock with filelock, read and write with orjson: what a command does. A hook does both with the standard library, in
`store` and `json_text`, since loading the two would take longer than all else it does.

Both sides take the same lock by the same protocol and write the same bytes. tests/state/test_packages.py compares them.
"""

from __future__ import annotations

import time
from contextlib import contextmanager

from omo.json_text import dumps_row
from omo.state import store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

# Any nineteen digits in a row may be a number beyond 64 bits, of which orjson makes a float without a word.
LONG_NUMBER = b"0" * 19
AS_ZEROS = bytes.maketrans(b"123456789", b"0" * 9)


@contextmanager
def used(*, only_looks: bool) -> Iterator[None]:
    """Let this process, a command, use the packages. One that only looks reads with orjson what is long, no more."""
    before, store.packages = store.packages, Packages(only_looks=only_looks)
    try:
        yield
    finally:
        store.packages = before


class Packages:
    """The two packages, each loaded when it is first needed."""

    def __init__(self, *, only_looks: bool) -> None:
        self._shortest = store.MOST_KEPT + 1 if only_looks else 0  # bytes that orjson reads

    def acquire(self, path: str, deadline: float) -> Callable[[], None] | None:
        """Take a lock and return what releases it. None without an environment, as `omo stop-continuation` may be."""
        try:
            from filelock import FileLock
        except ImportError:
            return None
        lock = FileLock(path, mode=0o600, preserve_lock_file=True)
        lock.acquire(timeout=max(0.0, deadline - time.monotonic()), poll_interval=store.POLL)
        return lock.release

    def loader(self, size: int) -> Callable[[bytes], Any]:
        """Return what parses JSON that stands in a file of this size."""
        if size < self._shortest:
            return store.loads_plainly
        try:
            import orjson
        except ImportError:
            return store.loads_plainly

        def loads(raw: bytes) -> Any:
            if LONG_NUMBER in raw.translate(AS_ZEROS):
                return store.loads_plainly(raw)
            try:
                return orjson.loads(raw)
            except ValueError:
                return store.loads_plainly(raw)  # orjson is stricter than what wrote it

        return loads

    def dumps(self, value: object) -> str:
        """Return the text of a row. What orjson would write in another way than a hook is written as hooks do."""
        try:
            import orjson

            if _is_written_alike(value):
                return orjson.dumps(value).decode("utf-8")
        except (ImportError, TypeError):
            pass  # half a character, a number beyond 64 bits, more than 254 levels
        return dumps_row(value)


def _is_written_alike(value: object) -> bool:
    """Return whether this is JSON, and orjson writes its floats as Python does: very small ones and NaN it does not."""
    left = [value]
    while left:
        part = left.pop()
        if isinstance(part, dict):
            left.extend(part.values())
        elif isinstance(part, list | tuple):
            left.extend(part)
        elif isinstance(part, float):
            if part != 0 and not 1e-4 <= abs(part) < 1e16:  # NaN is neither
                return False
        elif part is not None and not isinstance(part, str | int):
            return False
    return True
