"""Is the work moving, or going in circles? Asked where results of gates are recorded: only there the files are known.

A circle is files that are back as they were, with the same gate failing on them, or a gate that fails with the same
words again and again. Neither is progress, and neither is a pass on files that were left and have come back.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from omo.proof import base, outputs
from omo.state.rows import circle_of
from omo.text import clip
from omo.work import session

if TYPE_CHECKING:
    from omo.state.rows import Circle

Row = dict[str, Any]

SAME_FAILURES = 3
LAST_LINES = 20  # as many as the agent is shown
MOST_TRIED = 6
# What differs from one run of a command to the next though nothing has changed.
BY_ITSELF = (
    (re.compile(r"\b0x[0-9a-fA-F]+"), "0x…"),
    (re.compile(r"(?:/private)?(?:/tmp|/var/tmp|/var/folders|/dev/shm)/[^\s'\":,)]+"), "/tmp/…"),
    (re.compile(r"\b\d{4}-\d\d-\d\d\b"), "…"),
    (re.compile(r"\b\d\d:\d\d:\d\d(?:[.,]\d+)?"), "…"),
    (re.compile(r"\b\d+(?:\.\d+)? ?(?:ns|µs|us|ms|s|secs?|seconds?|mins?|minutes?)\b"), "…"),
)


def is_progress(earlier: Sequence[Row], result: Row) -> bool:
    """A gate newly passes on changed files: not on some on which it passed before, nor on some that have come back."""
    if result["result"] != "pass" or result.get("changed") == {}:
        return False
    own = [row for row in earlier if _gate(row) == _gate(result)]
    if own and own[-1]["result"] == "pass" and own[-1].get("changed") != {}:
        return False
    if any(row["result"] == "pass" and row.get("tree") == result.get("tree") for row in own):
        return False
    return _last_visit(earlier, result.get("tree")) is None


def note_circle(row: Row, ran: Sequence[Row], names: Sequence[str]) -> Row:
    """The session's row with the circle that the newest results close; `names` are the gates that they are of.

    What the agent was told stays told until that gate says something new, or of new files.
    """
    old = circle_of(row)
    circle = _circle_in(ran, len(names))
    if circle is None:
        return session.without_circle(row) if old.get("gate") in names else row
    if old.get("gate") == circle["gate"] and old.get("said"):
        circle["said"] = True
    return session.note(row, circle=circle)


def _circle_in(ran: Sequence[Row], count: int) -> Circle | None:
    repeated = None
    for number in range(len(ran) - count, len(ran)):
        if ran[number]["result"] != "fail":
            continue
        if circle := _files_are_back(ran[:number], ran[number]):
            return circle
        repeated = repeated or _fails_the_same(ran[: number + 1])
    return repeated


def _files_are_back(earlier: Sequence[Row], result: Row) -> Circle | None:
    """A → B → A. Who only looked at how the files were when the run began has not tried anything in between."""
    visit = _last_visit(earlier, result.get("tree"))
    if visit is None:
        return None
    between, failed = [], []
    for number, row in enumerate(earlier):
        if row.get("tree") != result.get("tree"):
            if number > visit and row.get("changed") != {}:
                between.append(row)
        elif _gate(row) == _gate(result) and row["result"] == "fail":
            failed.append(row)
    if not between or not failed:
        return None
    return _circle("files", result, len(failed) + 1, failed[-1], between)


def _fails_the_same(ran: Sequence[Row]) -> Circle | None:
    """The newest result of a gate and those before it that say the same, if they are enough."""
    newest = ran[-1]
    words = _words(newest)
    same: list[Row] = []
    for row in reversed(ran):
        if _gate(row) != _gate(newest):
            continue
        if row["result"] != "fail" or _words(row) != words:
            break
        same.append(row)
    if len(same) < SAME_FAILURES:
        return None
    return _circle("output", newest, len(same), same[-1], same[1:])


def _gate(result: Row) -> object:
    """A command is the same gate under any name."""
    return result.get("command") or result.get("name")


def _last_visit(earlier: Sequence[Row], tree: object) -> int | None:
    """Where the files were last as they are now, if they have been otherwise since."""
    was_left = False
    for number in reversed(range(len(earlier))):
        if earlier[number].get("tree") != tree:
            was_left = True
        elif was_left:
            return number
    return None


def _words(result: Row) -> list[str]:
    """What is left of the last lines without what changes by itself."""
    text = str(result.get("tail") or "")
    for pattern, instead in BY_ITSELF:
        text = pattern.sub(instead, text)
    lines = [line.strip() for line in text.splitlines()]
    return [str(result.get("exit")), *[line for line in lines if line][-LAST_LINES:]]


def _circle(kind: str, result: Row, times: int, first: Row, others: Sequence[Row]) -> Circle:
    """What was tried are the files in which the result differs from the others; None where that is not known."""
    tried: list[str] | None = []
    for other in others:
        if tried is None or other.get("changed") is None or result.get("changed") is None:
            tried = None
        else:
            tried += base.differing(result["changed"], other["changed"])
    if tried is not None:
        tried = [clip(path, 80) for path in dict.fromkeys(tried)][:MOST_TRIED]
    last = outputs.quoted(str(result.get("tail") or "")) or f"exit {result.get('exit')}"
    return {
        "kind": kind,
        "gate": result["name"],
        "times": times,
        "since": first.get("ts", ""),
        "tried": tried,
        "last": last,
    }
