"""Work in full: its goals, steps, criteria or gates, what proves them, and what comes next."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from omo.context import Context
from omo.errors import NotEvaluable
from omo.report.ways import Way, ways
from omo.shown import clip
from omo.state import paths, store

Row = dict[str, Any]

PLURALS = {"criterion": "criteria"}
DAMAGED = "the ledger is damaged"
UNTOLD = "the files cannot be read, so nobody can tell"


def plural(unit: str) -> str:
    return PLURALS.get(unit, f"{unit}s")


def units(count: int, unit: str) -> str:
    """1 goal, 3 criteria."""
    return f"{count} {unit if count == 1 else plural(unit)}"


@dataclass(frozen=True)
class Item:
    """One goal, step, criterion or gate. `mark` says how it is drawn, whatever word its workflow uses.

    done, active, open, failed, stale (it was proven, and is not any more), waiting, cut (it no longer counts).
    """

    id: str
    title: str
    status: str
    mark: str
    notes: tuple[str, ...] = ()
    receipt: str = ""  # fresh or stale; empty where there is none
    receipt_why: str = ""  # what made it stale
    overrides: tuple[str, ...] = ()  # what was let through without its proof

    @property
    def counts(self) -> bool:
        return self.mark != "cut"

    def no_longer(self, why: str) -> Item:
        """The same where what proved it cannot be leaned on; what is open, or stale already, stays as it is."""
        if self.mark != "done" and self.receipt != "fresh":
            return self
        return replace(self, mark="stale" if self.counts else self.mark, receipt="stale", receipt_why=why)

    @property
    def data(self) -> Row:
        return {
            "id": self.id,
            "title": self.title,
            "status": self.status,
            "mark": self.mark,
            "receipt": self.receipt or None,
            "receipt_why": self.receipt_why or None,
            "notes": list(self.notes),
            "overrides": list(self.overrides),
        }


@dataclass(frozen=True)
class NextStep:
    """`command` is the one command that moves things on; empty where only a person can."""

    action: str = ""
    why: str = ""
    command: str = ""

    @property
    def ways(self) -> tuple[Way, ...]:
        """The commands in what the workflow says, to be copied one by one."""
        return ways(self.command)

    @property
    def data(self) -> Row:
        told = [way.data for way in self.ways]
        return {"action": self.action, "why": self.why, "command": self.command, "ways": told}


@dataclass(frozen=True)
class WorkView:
    """One kind of work of one session, from its own ledger. `unit` is what its items are called."""

    kind: str
    unit: str
    run: str = ""
    headline: str = ""
    items: tuple[Item, ...] = ()
    next: NextStep = NextStep()
    facts: tuple[str, ...] = ()  # iteration 2 of 5; the tree has changed since the receipt of G002
    changed: tuple[str, ...] = ()  # of the facts, those that say what is no longer as it was
    overrides: tuple[str, ...] = ()  # reduced independence, a skipped verification: always in plain sight
    problems: tuple[str, ...] = ()  # what was changed by hand, or cannot be read
    outcome: Row | None = None  # how it ended, as its own last row has it; None while it is open

    @property
    def total(self) -> int:
        return sum(item.counts for item in self.items)

    @property
    def done(self) -> int:
        return sum(item.mark == "done" for item in self.items)

    @property
    def stale(self) -> int:
        return sum(item.mark == "stale" for item in self.items)

    @property
    def believed(self) -> WorkView:
        """Of a damaged ledger nothing counts that it calls done."""
        if not self.problems:
            return self
        return replace(self, items=tuple(item.no_longer(DAMAGED) for item in self.items))

    @property
    def lapsed(self) -> str:
        """Of work that is over: why it does not hold as it did then; empty while it does."""
        left = [item for item in self.items if item.counts and item.mark != "done"]
        if not left:
            return DAMAGED if self.problems else "" if self.total else "what proved it is not there"
        reasons = {item.receipt_why for item in left}
        told = next(iter(reasons)) if len(reasons) == 1 else ""
        return (
            told or f"{len(left)} of {units(self.total, self.unit)} {'does' if len(left) == 1 else 'do'} not hold now"
        )

    def standing(self, item: Item) -> str:
        """complete, receipt fresh; what a gate passed on has no receipt, it is fresh or stale itself."""
        receipt = item.receipt if self.unit == "gate" or not item.receipt else f"receipt {item.receipt}"
        return ", ".join(filter(None, [clip(item.status, 24), receipt]))

    @property
    def data(self) -> Row:
        return {
            "kind": self.kind,
            "run": self.run or None,
            "unit": self.unit,
            "headline": self.headline,
            "done": self.done,
            "stale": self.stale,
            "total": self.total,
            "items": [item.data for item in self.items],
            "next": self.next.data,
            "facts": list(self.facts),
            "overrides": list(self.overrides),
            "problems": list(self.problems),
            "outcome": self.outcome,
        }


@dataclass(frozen=True)
class Place:
    """Whose work is looked at, where and when. All that looking may leave is the cache of the tree's fingerprint."""

    context: Context
    session: str
    row: Row = field(default_factory=dict)
    kept: str = ""  # where a plan of goals lies that was archived or cleared; empty for the session's own
    trees: dict[str, str] = field(default_factory=dict, compare=False)  # shared where many sessions are looked at
    reads_all: bool = False  # every file, and nothing rests on the cache, which an agent could write

    @property
    def given(self) -> Row:
        """What every run of a workflow is made with."""
        return {
            "state": self.context.state,
            "root": self.context.root,
            "session": self.session,
            "by": self.context.actor,
            "now": self.context.now,
            "wait": store.CLI_WAIT,
            "limits": self.context.limits,
        }

    @property
    def tree(self) -> str:
        """The project's files as they are; empty where nobody can tell."""
        if "now" not in self.trees:
            self.trees["now"] = self._fingerprint()
        return self.trees["now"]

    def _fingerprint(self) -> str:
        from omo.evidence import tree

        cache = Path(paths.tree_cache(self.context.state))
        is_cached = not self.reads_all and cache.parent.is_dir()
        try:
            return tree.fingerprint(Path(self.context.root), cache=cache if is_cached else None)
        except NotEvaluable:
            return ""

    def changed_since(self, proven_on: object) -> str:
        """Why something that was proven on a tree may not hold any more; empty while it is the same."""
        if not self.tree:
            return UNTOLD
        return "" if self.tree == proven_on else "the tree has changed since"
