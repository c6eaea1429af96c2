"""Regular expressions written by a model: refused when filed if they prove nothing, bounded in time when run.

The library is loaded by the first pattern that is tried: most commands try none.
"""

from __future__ import annotations

import time

LONGEST = 1000
SECONDS = 2.0

# Texts of different kinds; a pattern found in all of one row says nothing about the text it is found in.
# With a line end each, because `^$` is found in every text that ends a line.
_ANY_TEXT = ("a", "Z", "0", "-", "é", "}")
_ANY_LINE = tuple(text + "\n" for text in _ANY_TEXT)


class TooSlow(Exception):
    """Its time was up before an answer was there, or before it was tried: neither found nor absent."""


def defect(pattern: str) -> str | None:
    """Why the pattern cannot be used, or None."""
    if len(pattern) > LONGEST:
        return f"{len(pattern)} characters long, at most {LONGEST} are allowed"
    import regex

    try:
        if any(all(found(pattern, text, SECONDS) for text in row) for row in (_ANY_TEXT, _ANY_LINE)):
            return r"matches any text and so proves nothing; write what must be there (no output at all is \A\Z)"
    except regex.error as error:
        return f"not a regular expression: {error}"
    except (RecursionError, MemoryError, OverflowError):
        return "nested too deeply or too large"
    except TooSlow:
        return "too slow even on one letter; nested repeats such as (a+)+ can be written without nesting"
    return None


def found(pattern: str, text: str, seconds: float = SECONDS) -> bool:
    """Whether the pattern is found anywhere; `^` and `$` also match at line ends. Raises TooSlow."""
    import regex

    try:
        return regex.compile(pattern, regex.MULTILINE).search(text, timeout=seconds) is not None
    except (TimeoutError, MemoryError):
        raise TooSlow(pattern) from None


class SearchTime:
    """The time all the searches of one evaluation have together; commands and reading do not count."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds

    def found(self, pattern: str, text: str) -> bool:
        if self._left <= 0:
            raise TooSlow(pattern)
        started = time.monotonic()
        try:
            return found(pattern, text, min(self._left, SECONDS))
        finally:
            self._left -= time.monotonic() - started
