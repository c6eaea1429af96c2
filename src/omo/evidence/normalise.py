"""Output of a command without what differs from one honest run to the next: colours, places, times, ids."""

from __future__ import annotations

import re
from collections.abc import Mapping

from omo.evidence.captures import ESCAPES

SHORTEST_PLACE = 4  # "/" or "/a" as a home would be found everywhere

_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
# With a digit and a letter: a number alone is no object id, nor is one such as 1234567e8.
_OBJECT = r"(?!\d+\b)(?!\d+e\d+\b)(?=[a-f]*\d)[0-9a-f]{7,40}"
TOKENS = (
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?Z"), "<time>"),
    (re.compile(rf"(?<![\w-]){_UUID}(?![\w-])"), "<uuid>"),
    (re.compile(rf"(?<![\w.]){_OBJECT}(?![\w])"), "<object>"),
    # The directory made for the occasion; what is in it keeps its name.
    (re.compile(r"(?:/private)?/(?:var/folders/[\w+-]+/[\w+-]+/T|var/tmp|tmp)/[^/\s\"':;,()<>]+"), "<temp>"),
)


def plain(text: str) -> str:
    """What a person would read: no colours, one kind of line end, nothing invisible at the end of a line."""
    lines = ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line.rstrip() for line in lines).rstrip("\n")


def normalise(text: str, places: Mapping[str, str]) -> str:
    """`places` are directories, each with the token that stands for it."""
    text = plain(text)
    for place in sorted(places, key=len, reverse=True):
        if len(place) >= SHORTEST_PLACE:
            text = re.sub(re.escape(place) + r"(?![\w.-])", places[place], text)
    for pattern, token in TOKENS:
        text = pattern.sub(token, text)
    return text
