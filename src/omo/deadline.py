"""When this process must have its answers from other programs.

A command gives each program the time that it may need. A hook sets one deadline for all of them together, because the
host kills it after `HOST_SECONDS`; it holds for whatever the hook calls, so that no caller can forget it.
"""

from __future__ import annotations

import time

HOST_SECONDS = 10  # as the registrations say, docs/make_hooks.py
HOOK_SECONDS = 7.0  # the rest is for starting Python, for waiting for locks and for writing

_end: float | None = None


class Deadline:
    """Holds while it is entered: `with Deadline(HOOK_SECONDS): …`."""

    def __init__(self, seconds: float) -> None:
        self._own = time.monotonic() + seconds
        self._before: float | None = None

    def __enter__(self) -> Deadline:
        global _end
        self._before, _end = _end, self._own
        return self

    def __exit__(self, *raised: object) -> None:
        global _end
        _end = self._before


def end_of(seconds: float) -> float:
    """Return when a program that may take so long must have answered, by the clock of `time.monotonic`."""
    end = time.monotonic() + seconds
    return end if _end is None else min(end, _end)
