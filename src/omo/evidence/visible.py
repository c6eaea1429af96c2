"""Whether text shows anything: blanks, zero-width letters and fillers are there and cannot be seen."""

from __future__ import annotations

import unicodedata

# Letters and symbols by their class that are drawn as nothing.
FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
# A mark alone has nothing to stand on; the rest are separators and what Unicode calls other.
SHOWN = ("L", "N", "P", "S")


def is_blank(text: str) -> bool:
    return not any(map(_is_seen, text))


def count(text: str) -> int:
    return sum(map(_is_seen, text))


def _is_seen(letter: str) -> bool:
    return unicodedata.category(letter)[0] in SHOWN and letter not in FILLERS
