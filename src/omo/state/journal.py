"""A workflow's own ledger: a directory with a lock, a chained ledger, and a mark of where that ledger ends."""

from __future__ import annotations

import os

from omo.errors import Unreadable
from omo.json_text import dumps
from omo.state import ledger, store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Row = dict[str, Any]


class Journal:
    """State is a fold of `rows()`; the only way to change it is to append."""

    def __init__(self, directory: str, state: str) -> None:
        self.directory = directory
        self.path = os.path.join(directory, "ledger.jsonl")
        self._state = state
        self._mark = os.path.join(directory, "mark.json")

    def rows(self) -> list[Row]:
        return ledger.rows(self.path)

    def problems(self) -> list[str]:
        """What was changed, removed or cut off; empty when nothing was."""
        try:
            mark = store.read(self._mark) or {}
        except Unreadable as error:
            return [error.message]
        return ledger.verify_marked(self.path, mark, self._mark)

    def _write_mark(self, seq: int, digest: str) -> None:
        store.replace(self._mark, dumps({"seq": seq, "digest": digest}) + "\n")

    def _read_mark(self) -> Row:
        try:
            return store.read(self._mark) or {}
        except Unreadable:
            return {}

    def change(
        self, decide: Callable[[list[Row]], tuple[Any, list[Row]]], *, actor: str, now: float, wait: float
    ) -> Any:
        """Under the lock: show `decide` the rows, append the events it returns, and hand back its answer."""
        store.make_state_dir(self._state)
        store.make_dir(self.directory, self._state)
        with store.Lock(os.path.join(self.directory, "ledger.lock"), store.Deadline(wait)):
            answer, events = decide(self.rows())
            if events and not os.path.exists(self.path):
                self._write_mark(0, ledger.START)  # before the first row: from now on a missing mark means something
            if events:
                head = ledger.append(self.path, events, actor=actor, now=now, mark=self._read_mark())
                self._write_mark(head.seq, head.digest)
            return answer
