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
        self._chain = ledger.Chain([], [], ledger.Head(0, ledger.START, None))
        self._end: Row = {}  # where that ends, as the mark says

    def rows(self) -> list[Row]:
        return ledger.rows(self.path)

    def problems(self) -> list[str]:
        """What was changed, removed or cut off; empty when nothing was."""
        return self.read()[1]

    def read(self) -> tuple[list[Row], list[str]]:
        """The rows and what is wrong with them, in one pass."""
        version = self._version_now()
        if version is None or version != self._version:
            self._read_files()
            self._version = version
        return list(self._chain.rows), list(self._chain.problems)

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

    def _read_files(self) -> None:
        problems = []
        self._end = {}
        try:
            self._end = store.read(self._mark) or {}
        except Unreadable as error:
            problems.append(error.message)
        try:
            self._chain = ledger.read_chain(self.path, self._end, self._mark)
        except Unreadable as error:
            self._chain = ledger.Chain([], [error.message], ledger.Head(0, ledger.START, None))
        if problems:
            self._chain.problems[:] = problems

    def require_whole(self, what: str, fix: str) -> None:
        """Refused where it is not: nothing is believed or run because a file says so."""
        if problems := self.problems():
            raise Refused(f"the ledger of {what} is not as omo wrote it: {problems[0]}", fix=fix, defects=problems)

    def seal(self, now: float) -> list[Row]:
        """Keep a damaged ledger under another name; call under the lock. The events that say so."""
        if not self.problems():
            return []
        store.set_aside(self._mark, now)
        if not os.path.exists(self.path):
            return [{"kind": "repaired", "kept": None, "digest": None}]
        kept, digest = ledger.set_aside(self.path, now)
        return [{"kind": "repaired", "kept": os.path.basename(kept), "digest": digest}]

    def _write_mark(self, head: ledger.Head) -> None:
        self._end = {"seq": head.seq, "digest": head.digest}
        store.replace(self._mark, dumps(self._end) + "\n")

    def _append(self, events: list[Row], actor: str, now: float) -> None:
        if not os.path.exists(self.path):
            self._chain = ledger.Chain([], [], ledger.Head(0, ledger.START, None))
            self._write_mark(self._chain.head)  # before the first row: from now on a missing mark means something
        chain = self._chain
        known = None if chain.problems else chain.head
        rows, head = ledger.append(self.path, events, actor=actor, now=now, mark=self._end, head=known)
        self._write_mark(head)
        self._version = None
        if not chain.problems:
            self._chain = ledger.Chain([*chain.rows, *rows], [], head)
            self._version = self._version_now()

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
            rows, _ = self.read()
            answer, events = decide(rows)
            if events:
                self._append(events, actor, now)
            if publish is not None:
                publish()
            return answer
