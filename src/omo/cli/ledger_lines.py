"""Which rows of a ledger are shown, and how a row looks on a line."""

from __future__ import annotations

import argparse
import json
import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from omo.cli.ledger_tail import Seen
from omo.clock import stamp
from omo.errors import BadInput
from omo.shown import clip

Row = dict[str, Any]

LONGEST_NAME = 40
SPANS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
# Part of the chain, or in a column of its own, or too long to read on a line: --json has them.
NOT_IN_WORDS = ("seq", "ts", "kind", "actor", "prev", "after", "tail", "message")


@dataclass(frozen=True)
class Wanted:
    """`kinds` empty means all; `since` is a moment, `last` a number of rows."""

    kinds: frozenset[str] = frozenset()
    since: float = -math.inf
    last: int | None = None

    def of(self, found: Sequence[Seen]) -> list[Seen]:
        """What does not follow from the rows before it is shown whatever was asked for."""
        kept = [seen for seen in found if seen.problem or self._holds(seen)]
        return kept if self.last is None else kept[-self.last :]

    def _holds(self, seen: Seen) -> bool:
        kind = str((seen.row or {}).get("kind"))
        return seen.at >= self.since and (not self.kinds or kind in self.kinds)


def wanted_by(arguments: argparse.Namespace, now: float) -> Wanted:
    given = arguments.kind or ""
    kinds = frozenset(one.strip() for one in given.split(",") if one.strip())
    since = moment(arguments.since, now) if arguments.since else -math.inf
    return Wanted(kinds, since, arguments.last)


def moment(text: str, now: float) -> float:
    """A time such as 2026-02-22T17:20:01Z, in UTC unless it names a zone, or how long ago: 90s, 10m, 2h, 1d."""
    number, unit = text[:-1], text[-1:]
    try:
        if unit in SPANS and number.replace(".", "", 1).isascii() and number.replace(".", "", 1).isdigit():
            return now - float(number) * SPANS[unit]
        at = datetime.fromisoformat(text[:-1] + "+00:00" if unit in ("Z", "z") else text)
        return (at if at.tzinfo else at.replace(tzinfo=timezone.utc)).timestamp()
    except (ValueError, OverflowError):
        fix = "10m, 2h, 1d, or a time such as 2026-02-22T17:20:01Z"
        raise BadInput(f"--since {clip(text, 60)!r} is no time", fix=fix) from None


def row_count(text: str) -> int:
    """The value of --last."""
    number = int(text) if text.isascii() and text.isdigit() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{clip(text, 40)!r} is not a whole number above 0")
    return number


def as_data(seen: Seen) -> Row:
    """The row as it was written, the ledger it is of, and where it is wrong, what. Our keys win over the row's."""
    row = {key: value for key, value in (seen.row or {}).items() if key != "problem"}
    return {**row, "ledger": seen.ledger, **({"problem": _problem(seen)} if seen.problem else {})}


def as_json_line(seen: Seen) -> str:
    return escaped(json.dumps(as_data(seen), ensure_ascii=False))


def as_lines(seen: Seen, *, named: bool, width: int, columns: int | None) -> list[str]:
    """The row on one line, as wide as the terminal; before it, if it is not in order, a line that says so."""
    name = clip(seen.ledger, LONGEST_NAME)
    lines = [f"   ! {name} {_problem(seen)}"] if seen.problem else []
    if seen.row is not None:
        lines.append((f"{name:{width}} " if named else "") + _in_words(seen.row))
    return [fitted(escaped(line), columns) for line in lines]


def _problem(seen: Seen) -> str:
    return f"line {seen.line}: {seen.problem}" if seen.line else clip(seen.problem, 300)


def _in_words(row: Row) -> str:
    rest = {key: value for key, value in row.items() if key not in NOT_IN_WORDS}
    head = f"{_brief(row, 'seq', 9):>4} {_time(row)} {_brief(row, 'actor', 12):6} {_brief(row, 'kind', 40):15}"
    return f"{head} {json.dumps(rest, ensure_ascii=False) if rest else ''}".rstrip()


def _brief(row: Row, key: str, longest: int) -> str:
    return clip(str(row.get(key, "-")), longest)


def _time(row: Row) -> str:
    """Without the milliseconds, and always in UTC, as its Z says."""
    text = clip(str(row.get("ts", "-")), len(stamp(0.0)))
    return f"{text[:19]}Z" if len(text) == len(stamp(0.0)) and text[19] == "." and text.endswith("Z") else f"{text:20}"


def escaped(text: str) -> str:
    """Control characters, those that reorder text, and halves of characters, as JSON writes them."""
    return "".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in text)


def fitted(line: str, columns: int | None) -> str:
    """Cut to so many cells, with a mark."""
    if columns is None or sum(map(_cells, line)) <= columns:
        return line
    kept, room = [], columns - 1
    for letter in line:
        room -= _cells(letter)
        if room < 0:
            break
        kept.append(letter)
    return "".join(kept) + "…"


def _cells(letter: str) -> int:
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1
