"""What stands behind each goal, step, criterion and gate: the receipt and what it covers, files, answers, durations."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from omo.errors import OmoError
from omo.report.document.exhibits import Budget, Exhibit
from omo.report.work import Place
from omo.shown import clip
from omo.work.status import Status

Row = dict[str, Any]

MOST_ROWS = 60


@dataclass(frozen=True)
class Notice:
    """Something a reader has to know before believing the rest. `what` is its kind, `where` the run or goal.

    `until_end`: once the work has ended its outcome names it, as an exception.
    """

    what: str
    text: str
    where: str = ""
    until_end: bool = False

    @property
    def data(self) -> Row:
        return {"what": self.what, "where": self.where, "text": self.text}


@dataclass(frozen=True)
class Cell:
    text: str
    mark: str = ""


@dataclass(frozen=True)
class Table:
    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    left_out: int = 0

    @property
    def data(self) -> Row:
        rows = [[cell.text for cell in row] for row in self.rows]
        return {"title": self.title, "head": list(self.head), "rows": rows, "left_out": self.left_out}


@dataclass(frozen=True)
class Dossier:
    """One item's proof. `covers` is what its receipt speaks of, `said` what was said when it was closed."""

    began: str = ""
    ended: str = ""
    said: str = ""
    covers: tuple[tuple[str, str], ...] = ()
    tables: tuple[Table, ...] = ()
    exhibits: tuple[Exhibit, ...] = ()
    notices: tuple[Notice, ...] = ()
    command: str = ""  # of a gate, as it would be typed
    pinned_by: str = ""

    def pin(self, longest: int = 200) -> str:
        """What decides a gate, and whose word that is."""
        return f"{clip(self.command, longest)}, pinned by the {self.pinned_by}" if self.command else ""

    @property
    def data(self) -> Row:
        return {
            "began": self.began or None,
            "ended": self.ended or None,
            "said": self.said or None,
            "covers": dict(self.covers),
            "tables": [one.data for one in self.tables],
            "exhibits": [one.data for one in self.exhibits],
            **({"command": self.command, "pinned_by": self.pinned_by} if self.command else {}),
        }


@dataclass(frozen=True)
class Proof:
    """All of it for one kind of work; `whole` is what belongs to no single item."""

    of: Mapping[str, Dossier] = field(default_factory=dict)
    whole: Dossier = Dossier()

    def dossier(self, item: str) -> Dossier:
        return self.of.get(item) or Dossier()

    @property
    def notices(self) -> list[Notice]:
        every = [self.whole, *self.of.values()]
        broken = [
            Notice("evidence changed", f"{one.path or one.name} {one.state}", name)
            for name, dossier in self.of.items()
            for one in dossier.exhibits
            if one.is_broken
        ]
        return [notice for one in every for notice in one.notices] + broken


@dataclass
class Room:
    """Whose proof is laid out, with the rows of the session's ledger and what the page may still hold."""

    place: Place
    rows: Sequence[Row]
    budget: Budget

    @property
    def root(self) -> str:
        return self.place.context.root

    @property
    def state(self) -> str:
        return self.place.context.state

    def messages(self, *agents: str) -> list[Row]:
        """The last words of agents, as hooks noted them."""
        return [
            row
            for row in self.rows
            if row.get("kind") == "agent-finished" and row.get("actor") == "hook" and row.get("agentType") in agents
        ]


def lay_out(room: Room, view: Status) -> Proof:
    """Work that nobody can read has no proof to show; why is told with the work itself."""
    try:
        found: Proof = importlib.import_module(f"omo.report.document.dossiers.{view.kind}").lay_out(room, view)
    except (OmoError, LookupError, TypeError, ValueError, AttributeError, RecursionError, OverflowError) as error:
        why = error.message if isinstance(error, OmoError) else f"{type(error).__name__}: {error}"
        return Proof(whole=Dossier(notices=(Notice("unreadable", clip(f"its evidence cannot be read: {why}", 300)),)))
    return found


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[object]]) -> Table:
    """Bounded; a plain value becomes a cell."""
    made = tuple(tuple(_cell(one) for one in row) for row in rows[:MOST_ROWS])
    return Table(title, tuple(head), made, max(0, len(rows) - MOST_ROWS))


def _cell(value: object) -> Cell:
    if isinstance(value, Cell):
        return Cell(clip(value.text, 400), value.mark)
    return Cell(clip("" if value is None else str(value), 400))


def listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def joined(value: object) -> str:
    return ", ".join(str(one) for one in listed(value))


def facts(*pairs: tuple[str, object]) -> tuple[tuple[str, str], ...]:
    return tuple((name, clip(str(value), 400)) for name, value in pairs if value not in (None, "", []))
