"""The documents that the user named as what to do: which of their lines are gone at the end of the work."""

from __future__ import annotations

import os
import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from omo import masking, safe_open
from omo.digest import sha256
from omo.proof import base
from omo.text import block, clip, counted, listed
from omo.work import requests

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.ledger_rows import NamedFile, SessionEvent
    from omo.state.rows import Base

LARGEST = 1_000_000
MOST_LINES = 3
LONGEST_LINE = 60
# Of a list, a heading or a quotation, and a box, ticked or not.
MARKER = re.compile(r"^(?:(?:[-*+•]|\d+[.)]|#+|>)\s+)*(?:\[.?\]\s+)?")


@dataclass(frozen=True)
class LostLines:
    """Lines that a document had when the user named it, and has no more."""

    path: str
    lines: Sequence[str]

    def __str__(self) -> str:
        quoted = listed([f"“{clip(line, LONGEST_LINE)}”" for line in self.lines], MOST_LINES)
        lost = f"{clip(self.path, 120)} lost {counted(len(self.lines), 'line')} since the user named it: {quoted}"
        return f"{lost} (/omo:allow {shlex.quote(self.path)})"


def lost(
    root: str, asked: Sequence[SessionEvent], allowed: Mapping[str, str], began: Base | None, *, but_for: str = ""
) -> list[LostLines]:
    """Return which documents lost lines. `asked` are the user's prompts, of which the last that named a document
    counts; `allowed` are the changes that they want, and `began` the files that the work began with."""
    named: dict[str, NamedFile] = {}
    for row in asked:
        for document in requests.documents_of(row):
            named[document["path"]] = document
    found = []
    for path, document in named.items():
        if path == but_for or allowed.get(path) == base.digest_of(root, path):
            continue
        now = _content(root, path)
        if now is not None and sha256(now) == document.get("digest"):
            continue
        then = str(document.get("text") or "")
        lines = _gone(then, now)
        if lines and not (now is None and _was_moved(root, then, began)):
            found.append(LostLines(path, lines))
    return found


def doubts(
    root: str, asked: Sequence[SessionEvent], allowed: Mapping[str, str], began: Base | None, *, but_for: str = ""
) -> list[str]:
    """Return a sentence for each of them."""
    return [str(each) for each in lost(root, asked, allowed, began, but_for=but_for)]


def _was_moved(root: str, text: str, began: Base | None) -> bool:
    """Whether another changed file has all the lines of a text."""
    changed = base.look(root, began).changed if began else None
    return any(not _gone(text, _content(root, path)) for path in changed or ())


def _content(root: str, path: str) -> bytes | None:
    try:
        return safe_open.read_start(os.path.join(root, path), LARGEST)[0]
    except OSError:
        return None


def _gone(then: str, content: bytes | None) -> list[str]:
    """The lines of a text that are nowhere in the file. Moved, wrapped otherwise, ticked, struck through or with more
    behind them they are still there."""
    text = "" if content is None else block(content.decode("utf-8", "replace"), LARGEST)
    left = Counter(_words_of(line) for line in masking.mask(text).split("\n"))
    missing = []
    for line in _whole_lines(then):
        words = _words_of(line)
        if left[words]:
            left[words] -= 1
        elif any(map(str.isalnum, words)) and masking.MASK not in words:  # what was masked cannot be compared
            missing.append(line.strip())
    rest = " ".join(left.elements())
    return [line for line in missing if not re.search(rf"(?<!\w){re.escape(_words_of(line))}(?!\w)", rest)]


def _whole_lines(text: str) -> list[str]:
    """All but the last one of a text that was cut."""
    lines = text.split("\n")
    return lines[:-1] if text.endswith("…") else lines


def _words_of(line: str) -> str:
    """A line without its marker and its spaces."""
    return " ".join(MARKER.sub("", line.strip(), count=1).split())
