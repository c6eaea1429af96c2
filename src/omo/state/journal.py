"""A workflow's own ledger: a directory with a lock, a chained ledger, and a mark of where that ledger ends."""

from __future__ import annotations

import os

from omo.errors import Refused, Unreadable
from omo.json_text import dumps
from omo.state import ledger, store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Row = dict[str, Any]


class Journal:
    """State is a fold of the rows; the only way to change it is to append.

    What was read is kept, so that a command that looks and then appends reads the file once; it is read again when
    somebody else has written meanwhile.
    """

    def __init__(self, directory: str, state: str) -> None:
        self.directory = directory
        self.path = os.path.join(directory, "ledger.jsonl")
        self._state = state
        self._mark = os.path.join(directory, "mark.json")
        self._version: tuple[int, ...] | None = None
        self._read: tuple[list[Row], list[str]] = ([], [])

    def rows(self) -> list[Row]:
        return ledger.rows(self.path)

    def problems(self) -> list[str]:
        """What was changed, removed or cut off; empty when nothing was."""
        return self.read()[1]

    def read(self) -> tuple[list[Row], list[str]]:
        """The rows and what is wrong with them, in one pass."""
        version = self._version_now()
        if version is None or version != self._version:
            self._read = self._read_files()
            self._version = version
        rows, problems = self._read
        return list(rows), list(problems)

    def _version_now(self) -> tuple[int, ...] | None:
        """What tells one content of the two files from another; None where nobody can tell."""
        version: tuple[int, ...] = ()
        for path in (self.path, self._mark):
            try:
                status = os.stat(path)
            except FileNotFoundError:
                version += (0, 0, 0)
                continue
            except OSError:
                return None
            version += (status.st_ino, status.st_size, status.st_mtime_ns)
        return version

    def _read_files(self) -> tuple[list[Row], list[str]]:
        try:
            return ledger.read_marked(self.path, store.read(self._mark) or {}, self._mark)
        except Unreadable as error:
            return self._readable_rows(), [error.message]

    def _readable_rows(self) -> list[Row]:
        try:
            return self.rows()
        except Unreadable:
            return []

    def require_whole(self, what: str, fix: str) -> None:
        """Refused where it is not: nothing is believed or run because a file says so."""
        if problems := self.problems():
            raise Refused(f"the ledger of {what} was changed by hand: {problems[0]}", fix=fix, defects=problems)

    def seal(self, now: float) -> list[Row]:
        """Keep a damaged ledger under another name; call under the lock. The events that say so."""
        if not self.problems():
            return []
        store.set_aside(self._mark, now)
        if not os.path.exists(self.path):
            return [{"kind": "repaired", "kept": None, "digest": None}]
        kept, digest = ledger.set_aside(self.path, now)
        return [{"kind": "repaired", "kept": os.path.basename(kept), "digest": digest}]

    def _write_mark(self, seq: int, digest: str) -> None:
        store.replace(self._mark, dumps({"seq": seq, "digest": digest}) + "\n")

    def _read_mark(self) -> Row:
        try:
            return store.read(self._mark) or {}
        except Unreadable:
            return {}

    def change(
        self,
        decide: Callable[[list[Row]], tuple[Any, list[Row]]],
        *,
        actor: str,
        now: float,
        wait: float,
        publish: Callable[[], None] | None = None,
    ) -> Any:
        """Under the lock: show `decide` the rows, append the events it returns, and hand back its answer.

        `publish` runs under the lock too, after the append: it brings views of the ledger up to date.
        """
        store.make_state_dir(self._state)
        store.make_dir(self.directory, self._state)
        with store.Lock(os.path.join(self.directory, "ledger.lock"), store.Deadline(wait)):
            rows, problems = self.read()
            answer, events = decide(list(rows))
            if events and not os.path.exists(self.path):
                self._write_mark(0, ledger.START)  # before the first row: from now on a missing mark means something
            if events:
                head = ledger.append(self.path, events, actor=actor, now=now, mark=self._read_mark())
                self._write_mark(head.seq, head.digest)
                if not problems:
                    self._read = ([*rows, *head.appended], [])
                    self._version = self._version_now()
            if publish is not None:
                publish()
            return answer
