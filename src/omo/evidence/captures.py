"""Captures of a terminal: the bytes a program wrote to it, control sequences and all."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from omo.shown import clip

SMALLEST = 512
LARGEST = 16_000_000
SHORTEST_RUN = 10
FEWEST_LETTERS = 3
AGAIN = "record the program in a terminal, for example: script -q -c COMMAND capture.txt"

_OSC = r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"
_CSI = r"\x1b\[[0-?]*[ -/]*[@-~]"
CONTROL = re.compile(f"{_OSC}|{_CSI}")
ESCAPES = re.compile(f"{_OSC}|{_CSI}|\\x1b[ -/]*[0-~]")


def defects(path: Path) -> list[str]:
    """Why the file is no capture of a terminal session: everything at once."""
    return [f"{clip(path.name, 100)}: {problem}" for problem in _problems(path)]


def _problems(path: Path) -> list[str]:
    try:
        raw = _read(path)
    except OSError as error:
        return [f"cannot be read: {clip(error.strerror or str(error), 100)}; {AGAIN}"]
    if len(raw) > LARGEST:
        return [f"is larger than {LARGEST} bytes; capture a shorter session"]
    text = raw.decode("utf-8", "replace")
    found = []
    if len(raw) < SMALLEST:
        found.append(f"has {len(raw)} bytes, a capture has at least {SMALLEST}; {AGAIN}")
    if not CONTROL.search(text):
        found.append(f"holds no control sequence of a terminal, so it is text and no capture; {AGAIN}")
    if not _has_words(ESCAPES.sub("\n", text)):
        found.append(f"shows nothing a person could read: no {SHORTEST_RUN} characters in a row; {AGAIN}")
    return found


def _read(path: Path) -> bytes:
    with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError("it is not a regular file")
        return file.read(LARGEST + 1)


def _has_words(text: str) -> bool:
    """A run of characters with letters in it: a frame of dashes or a row of blanks says nothing."""
    visible = "".join(
        letter if letter.isprintable() and letter != "\N{REPLACEMENT CHARACTER}" else "\n" for letter in text
    )
    return any(
        len(line) >= SHORTEST_RUN and sum(map(str.isalnum, line)) >= FEWEST_LETTERS for line in visible.split("\n")
    )
