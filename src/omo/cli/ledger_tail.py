"""A ledger as it grows: what was appended since the last look, and whether each row follows the one before it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, BinaryIO

from omo.errors import Unreadable
from omo.json_text import loads
from omo.state import ledger, store

Row = dict[str, Any]

ANEW = "the rows above are no longer there: the ledger begins anew"
NO_ROW = "is not a row"
UNCHAINED = "does not follow the row before it"


@dataclass(frozen=True)
class Line:
    """One line of a ledger. `row` is None where it is no row; number 0 is none of them and speaks of the whole."""

    number: int
    row: Row | None
    problem: str = ""


class Tail:
    """Reads whole lines only: one without its end is still being written."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._inode: tuple[int, int] | None = None
        self._forget()

    def look(self) -> list[Line]:
        """The lines that came since the last look, from the first again where the file is another one."""
        appended, is_anew = self._appended()
        lines = []
        if is_anew:
            self._forget()
            lines.append(Line(0, None, ANEW))
        for line in appended.split(b"\n")[:-1]:
            lines.append(self._next(line))
        return lines

    def _forget(self) -> None:
        self._offset = 0
        self._last = b""
        self._number = 0
        self._seq = 0
        self._digest = ledger.START

    def _appended(self) -> tuple[bytes, bool]:
        """What follows the lines already read, and whether these are gone."""
        file = self._open()
        if file is None:
            return b"", self._number > 0
        with file:
            status = os.fstat(file.fileno())
            is_anew = self._number > 0 and not self._continues(file, status)
            self._inode = (status.st_dev, status.st_ino)
            file.seek(0 if is_anew else self._offset)
            return file.read(), is_anew

    def _open(self) -> BinaryIO | None:
        """None while there is no file. Something else in its place, such as a pipe, must not make us wait for it."""
        try:
            return open(self._path, "rb", opener=store.file_only)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            why = f"{self._path} cannot be read: {error.strerror}"
            raise Unreadable(why, fix="omo ledger verify", path=self._path) from None

    def _continues(self, file: BinaryIO, status: os.stat_result) -> bool:
        """The same file, and the last line that was read is still where it was."""
        if (status.st_dev, status.st_ino) != self._inode or status.st_size < self._offset:
            return False
        file.seek(self._offset - len(self._last))
        return file.read(len(self._last)) == self._last

    def _next(self, line: bytes) -> Line:
        row = _parsed(line)
        problem = ""
        seq = self._seq + 1
        if row is None:
            problem = NO_ROW
        else:
            if row.get("seq") != seq or row.get("prev") != self._digest:
                problem = UNCHAINED
            if isinstance(row.get("seq"), int):
                seq = row["seq"]
        self._seq, self._digest = seq, ledger.digest_of(line)
        self._number += 1
        self._last = line + b"\n"
        self._offset += len(self._last)
        return Line(self._number, row, problem)


def _parsed(line: bytes) -> Row | None:
    try:
        row = loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None
