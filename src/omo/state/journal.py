"""A workflow's own ledger: a directory with a lock, a chained ledger, and a mark of where that ledger ends."""

from __future__ import annotations

import os

from omo.errors import Refused, Unreadable
from omo.state import ledger, ownership, store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, TypeVar

    from omo.state.ledger_rows import LedgerRow, Repaired
    from omo.state.rows import Mark

    A = TypeVar("A")  # what a decision answers

REPAIR = (
    "the user runs in a terminal of their own: omo ledger repair (all bytes are kept, and whole rows stand); "
    "omo ledger verify shows what was changed"
)


class Journal:
    """State is a fold of the rows; the only way to change it is to append. Who folds them knows their type.

    What was read is kept, so that a command that looks and then appends reads the file once; it is read again when
    somebody else has written meanwhile.
    """

    def __init__(self, directory: str, state: str) -> None:
        self.directory = directory
        self.path = os.path.join(directory, "ledger.jsonl")
        self._state = state
        self._mark = os.path.join(directory, "mark.json")
        self._chain = ledger.Chain([], [], ledger.Head())
        self._end: Mark = {}  # where that ends, as the mark says
        self._version: object = ()  # of the two files, when they were read

    def rows(self) -> list[Any]:
        """The rows, for a caller that need not know whether all are there: the mark is not opened."""
        return ledger.rows(self.path)

    def problems(self) -> list[str]:
        """What was changed, removed or cut off; empty when nothing was."""
        return self.read()[1]

    def read(self) -> tuple[list[Any], list[str]]:
        """The rows and what is wrong with them, in one pass."""
        version = self._version_now()
        if version != self._version:
            self._read_files()
            self._version = version
        return list(self._chain.rows), list(self._chain.problems)

    def _version_now(self) -> object:
        return store.version_of(self.path), store.version_of(self._mark)

    def _read_files(self) -> None:
        self._end, problem = {}, ""
        try:
            stored: Any = store.read(self._mark) or {}
            self._end = stored
        except Unreadable as error:
            problem = error.message
        try:
            self._chain = ledger.read_chain(self.path, self._end, self._mark)
        except Unreadable as error:
            self._chain = ledger.Chain([], [error.message], ledger.Head())
        if problem:
            self._chain.problems[:] = [problem]

    def require_whole(self, what: str) -> None:
        """Refused where it is not: nothing is believed or run because a file says so."""
        if problems := self.problems():
            raise Refused(f"the ledger of {what} is not as omo wrote it: {problems[0]}", fix=REPAIR, defects=problems)

    def whole(self) -> list[Any]:
        """The rows before the first that is not as omo wrote it."""
        self.read()
        return list(self._chain.whole)

    def seal(self, now: float) -> list[Repaired]:
        """Keep a damaged ledger under another name, and answer the events that say so. Call it under the lock."""
        if not self.problems():
            return []
        store.keep_as(self._mark, "corrupt", now)
        return [ledger.set_aside(self.path, now)]

    def repair(self, now: float) -> list[Repaired]:
        """The same, but the ledger goes on behind the rows that are whole. For the user, who may judge what is lost."""
        if not self.problems():
            return []
        whole = self.whole()
        event, head = ledger.keep_whole(self.path, whole, self._end, now)
        self._chain = ledger.Chain(whole, [], head)
        self._write_mark()
        return [event]

    def change(
        self,
        decide: Callable[[list[Any]], tuple[A, Sequence[Mapping[str, Any]]]],
        *,
        actor: str,
        now: float,
        wait: float,
    ) -> A:
        """Under the lock: show `decide` the rows, append the events it returns, and hand back its answer."""
        ownership.make_state_dir(self._state)
        store.make_dir(self.directory, self._state)
        with store.Lock(os.path.join(self.directory, "ledger.lock"), store.deadline(wait)):
            answer, events = decide(self.read()[0])
            if events:
                self._append(events, actor, now)
            return answer

    def _append(self, events: Sequence[Mapping[str, Any]], actor: str, now: float) -> None:
        if not os.path.exists(self.path):
            self._chain = ledger.Chain([], [], ledger.Head())
            self._write_mark()  # before the first row: from now on a missing mark means something
        chain = self._chain
        head = None if chain.problems else chain.head
        rows, head = ledger.append(self.path, events, self._note_words, actor=actor, now=now, mark=self._end, head=head)
        self._chain = ledger.Chain([*chain.rows, *rows], chain.problems, head)
        self._write_mark()
        self._version = self._version_now()

    def _note_words(self, rows: Sequence[LedgerRow]) -> None:
        ownership.note_words(self._state, rows)

    def _write_mark(self) -> None:
        self._end = self._chain.head.mark
        store.replace(self._mark, store.dumps(self._end) + "\n")
