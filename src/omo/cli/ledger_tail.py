"""A ledger as it grows: what was appended since the last look, and whether each row follows the one before it."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from omo.cli.ledger_files import LedgerFile
from omo.clock import seconds
from omo.errors import Unreadable
from omo.json_text import loads
from omo.state import ledger, store

Row = dict[str, Any]

ANEW = "the ledger was begun anew"
EMPTIED = "the ledger was emptied"
GONE = "the ledger is gone"
NO_ROW = "is not a row"
UNCHAINED = "does not follow the row before it"


@dataclass(frozen=True)
class Seen:
    """One line of a ledger. `row` is None where it is no row; `at` is when it says it was written.

    Line 0 is none of them: it is what is wrong with the whole.
    """

    ledger: str
    line: int
    row: Row | None
    at: float
    problem: str = ""


class Tail:
    """Reads whole lines only: one without its end is still being written."""

    def __init__(self, file: LedgerFile) -> None:
        self.name = file.name
        self.path = file.path
        self._inode: tuple[int, int] | None = None
        self._was_lost = False
        self._forget()

    def look(self) -> list[Seen]:
        raw, lost = self._appended()
        at = self._at
        if lost:
            self._forget()
        found = [self._next(line) for line in raw.split(b"\n")[:-1]]
        if found and (lost or self._was_lost):
            self._was_lost = False
            found[0] = replace(found[0], problem=found[0].problem or ANEW)
        elif lost:
            self._was_lost = True
            return [Seen(self.name, 0, None, at, GONE if lost == GONE else EMPTIED)]
        return found

    def _forget(self) -> None:
        self._offset = 0
        self._last = b""
        self._line = 0
        self._seq = 0
        self._digest = ledger.START
        self._at = 0.0

    def _appended(self) -> tuple[bytes, str]:
        """The bytes of whole lines after those already read, and what became of these where they are not there."""
        file = self._open()
        if file is None:
            return b"", GONE if self._line else ""
        with file:
            status = os.fstat(file.fileno())
            is_anew = self._line > 0 and not self._continues(file, status)
            self._inode = (status.st_dev, status.st_ino)
            file.seek(0 if is_anew else self._offset)
            raw = file.read()
        return raw[: raw.rfind(b"\n") + 1], ANEW if is_anew else ""

    def _open(self) -> BinaryIO | None:
        """None while there is no file. Something else in its place, such as a pipe, must not make us wait for it."""
        try:
            return open(self.path, "rb", opener=store.file_only)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            why = f"{self.path} cannot be read: {error.strerror}"
            raise Unreadable(why, fix="omo ledger verify", path=self.path) from None

    def _continues(self, file: BinaryIO, status: os.stat_result) -> bool:
        """The same file, and the last line that was read is still where it was."""
        if (status.st_dev, status.st_ino) != self._inode or status.st_size < self._offset:
            return False
        file.seek(self._offset - len(self._last))
        return file.read(len(self._last)) == self._last

    def _next(self, line: bytes) -> Seen:
        row = _parsed(line)
        problem = NO_ROW
        seq = self._seq + 1
        if row is not None:
            problem = "" if row.get("seq") == seq and row.get("prev") == self._digest else UNCHAINED
            seq = row["seq"] if isinstance(row.get("seq"), int) else seq
        self._seq, self._digest = seq, ledger.digest_of(line)
        self._line += 1
        self._last = line + b"\n"
        self._offset += len(self._last)
        self._at = _moment(row, otherwise=self._at)
        return Seen(self.name, self._line, row, self._at, problem)


def batches(find: Callable[[], Sequence[LedgerFile]], pause: Callable[[], None]) -> Iterator[list[Seen]]:
    """First all that is there, then, after each pause, what came since, in the order of its times.

    The ledgers are looked for anew each time: some are begun while somebody watches.
    """
    tails: dict[str, Tail] = {}
    while True:
        for file in find():
            tails.setdefault(file.path, Tail(file))
        found = [seen for tail in tails.values() for seen in tail.look()]
        yield sorted(found, key=lambda seen: seen.at)
        pause()


def _parsed(line: bytes) -> Row | None:
    try:
        row = loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def _moment(row: Row | None, *, otherwise: float) -> float:
    """When a row says it was written; one that does not say stays beside the row before it."""
    try:
        at = seconds(str((row or {}).get("ts")))
    except (ValueError, OverflowError):
        return otherwise
    return at if math.isfinite(at) else otherwise
