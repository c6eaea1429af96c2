"""A workflow's own ledger: a directory with a lock, a chained ledger, and a mark of where that ledger ends."""

from __future__ import annotations

import os

from omo.clock import stamp
from omo.errors import Unreadable
from omo.state import ledger, ownership, store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, TypeVar

    from omo.state.ledger_rows import LedgerRow, Repaired
    from omo.state.rows import Mark, Tally

    A = TypeVar("A")  # what a decision answers


class Journal:
    """State is a fold of the rows; the only way to change it is to append. Who folds them knows their type, and what
    they count: that is kept beside the ledger with its end.

    Of a damaged ledger the rows up to the last whole one count. Whoever appends to it keeps the damaged bytes aside
    first.

    What was read is kept, so that a command that looks and then appends reads the file once; it is read again when
    somebody else has written meanwhile.
    """

    def __init__(self, directory: str, state: str, counts: Callable[[list[Any]], Tally] | None = None) -> None:
        self.directory = directory
        self.path = os.path.join(directory, "ledger.jsonl")
        self._state = state
        self._counts = counts
        self._mark = os.path.join(directory, "mark.json")
        self._chain = ledger.Chain([], [], ledger.Head())
        self._end: Mark = {}  # where that ends, as the mark says
        self._version: object = ()  # of the two files, when they were read
        self.unreadable: Unreadable | None = None  # nobody can say whether it is damaged

    def rows(self) -> list[Any]:
        """Return the rows that are whole."""
        return self.read()[0]

    def problems(self) -> list[str]:
        """Return what was changed, removed or cut off."""
        return self.read()[1]

    def read(self) -> tuple[list[Any], list[str]]:
        """Return the rows that are whole, and what is wrong with the ledger."""
        version = self._version_now()
        if version != self._version:
            self._read_files()
            self._version = version
        return list(self._chain.whole), list(self._chain.problems)

    def repaired(self, actor: str, now: float) -> Repaired:
        """Return the row that goes on after the whole rows of a damaged ledger, as whoever appends next writes it."""
        row = len(self.read()[0])
        event = ledger.repaired(self._end, row, now)
        event.update({"seq": row + 1, "ts": stamp(now), "actor": actor, "prev": ledger.UNMARKED})
        return event

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
            self.unreadable = None
        except Unreadable as error:
            self._chain = ledger.Chain([], [error.message], ledger.Head())
            self.unreadable = error
        if problem:
            self._chain.problems[:] = [problem]

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
            if events and self.unreadable is not None:
                raise self.unreadable
            if events and self._chain.problems:
                repaired, head = ledger.keep_aside(self.path, self._chain.whole, self._end, now)
                self._chain, self._end = ledger.Chain(self._chain.whole, [], head), head.mark
                events = [repaired, *events]
            if events:
                self._append(events, actor, now)
            return answer

    def _append(self, events: Sequence[Mapping[str, Any]], actor: str, now: float) -> None:
        chain = self._chain
        if not os.path.exists(self.path):
            self._write_mark()  # before the first row: from now on a missing mark means something
        head = chain.head
        rows, head = ledger.append(self.path, events, self._note_words, actor=actor, now=now, mark=self._end, head=head)
        self._chain = ledger.Chain([*chain.rows, *rows], [], head)
        if self._counts is not None:
            head.counts = self._counts(self._chain.rows)
        self._write_mark()
        self._version = self._version_now()

    def _note_words(self, rows: Sequence[LedgerRow]) -> None:
        ownership.note_words(self._state, rows)

    def _write_mark(self) -> None:
        self._end = self._chain.head.mark
        store.replace(self._mark, store.dumps(self._end) + "\n")
