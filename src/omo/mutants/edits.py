"""Edits of a file's bytes, and the mutants that they make: one small change, and every other byte as it was."""

from __future__ import annotations

import bisect
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from omo.text import clip

# Where a line has more than it may, it keeps these first.
KINDS = ("condition", "comparison", "return", "boolean", "call", "arithmetic")
MOST_PER_LINE = 6
# A longer edit belongs to its first line only: a callback of forty lines is not the call that takes it.
MOST_LINES = 10
# No test checks what is logged, so a mutant there would survive for nothing.
LOGGING = re.compile(
    rb"(?:await\s+)?(?:[\w$]+\s*\??\.\s*)*_?(?:logging\.getLogger\([^()]*\)|console|log|logger|logging|slog)\s*\??\.\s*"
    rb"(?:debug|info|warn|warning|error|exception|critical|trace|notice|log|print)(?:f|w|ln|context|ctx)?\s*\(",
    re.IGNORECASE,
)
_WORD = re.compile(rb"[\w$]")


class Edit(NamedTuple):
    """`text`, in the place of the bytes from `start` to `end`."""

    start: int
    end: int
    text: bytes
    kind: str


@dataclass(frozen=True)
class Mutant:
    """One edit of a changed line. `before` and `after` are the lines that it changes, for people."""

    path: str
    line: int
    kind: str
    before: str
    after: str
    edit: Edit
    original: bytes = field(repr=False)

    @property
    def content(self) -> bytes:
        """Return the whole file with the edit. Mutants of one file share its original."""
        return applied(self.original, self.edit)


@dataclass(frozen=True)
class NoMutants:
    """Why nobody can say whether mutants of a file die."""

    path: str
    reason: str

    @property
    def why(self) -> str:
        return f"no mutants of {self.path}: {clip(self.reason, 300)}"


def applied(content: bytes, edit: Edit) -> bytes:
    return content[: edit.start] + edit.text + content[edit.end :]


def apart(content: bytes, edit: Edit) -> Edit:
    """Return the edit with a blank where its text would run into the word beside it: `return"a"` → `return None`."""
    text = edit.text
    if _WORD.match(text[:1]) and _WORD.match(content[edit.start - 1 : edit.start]):
        text = b" " + text
    if _WORD.match(text[-1:]) and _WORD.match(content[edit.end : edit.end + 1]):
        text += b" "
    return edit._replace(text=text)


class Lines:
    """Where the lines of a file begin."""

    def __init__(self, content: bytes) -> None:
        self.starts = [0]
        for line in content.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def ranges(self, lines: Collection[int]) -> list[tuple[int, int]]:
        """Return the bytes of these lines, from and to, neighbours as one."""
        found: list[tuple[int, int]] = []
        for line in sorted(set(lines)):
            if not 0 < line < len(self.starts):
                continue
            start, end = self.starts[line - 1], self.starts[line]
            if found and found[-1][1] == start:
                start = found.pop()[0]
            found.append((start, end))
        return found

    def first_and_last(self, start: int, end: int) -> tuple[int, int]:
        """Return the numbers of the first and the last line that these bytes touch."""
        first = bisect.bisect_right(self.starts, start)
        return first, max(first, bisect.bisect_left(self.starts, end))


def mutants_from(
    path: str, content: bytes, lines: Collection[int], edits: Sequence[Edit], encoding: str = "utf-8"
) -> list[Mutant]:
    """Return a mutant for each edit that changes one of these lines, at most `MOST_PER_LINE` for a line."""
    changed = set(lines)
    starts = Lines(content)
    by_line: dict[int, list[Edit]] = {}
    for edit in _without_logging(content, edits):
        first, last = starts.first_and_last(edit.start, edit.end)
        if last - first >= MOST_LINES:
            last = first
        touched = [line for line in range(first, last + 1) if line in changed]
        if touched:
            by_line.setdefault(touched[0], []).append(apart(content, edit))
    mutants = []
    for line, of_line in sorted(by_line.items()):
        for edit in _fair(of_line):
            first, last = starts.first_and_last(edit.start, edit.end)
            start, end = starts.starts[first - 1], starts.starts[min(last, len(starts.starts) - 1)]
            before = content[start:end]
            after = content[start : edit.start] + edit.text + content[edit.end : end]
            shown = (before.decode(encoding, "replace").strip(), after.decode(encoding, "replace").strip())
            mutants.append(Mutant(path, line, edit.kind, *shown, edit, content))
    return mutants


def _without_logging(content: bytes, edits: Sequence[Edit]) -> list[Edit]:
    """Return the edits, sorted, each once, without calls of a logger and what is said in them."""
    kept: list[Edit] = []
    logged_to = 0
    for edit in sorted(set(edits), key=lambda edit: (edit.start, -edit.end, edit.kind, edit.text)):
        if edit.kind == "call" and LOGGING.match(content, edit.start):
            logged_to = max(logged_to, edit.end)
        elif edit.start >= logged_to:
            kept.append(edit)
    return kept


def _fair(edits: Sequence[Edit]) -> list[Edit]:
    """Return as many edits as a line may have, the first of each kind before the second of any."""
    seen = dict.fromkeys(KINDS, 0)
    turns: list[tuple[int, int, Edit]] = []
    for edit in edits:
        turns.append((seen[edit.kind], KINDS.index(edit.kind), edit))
        seen[edit.kind] += 1
    return sorted(turn[2] for turn in sorted(turns)[:MOST_PER_LINE])
