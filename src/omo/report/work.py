"""Work in full: its goals, steps, criteria or gates, what proves them, and what comes next."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from omo.context import Context
from omo.errors import NotEvaluable
from omo.report.ways import Way, ways
from omo.state import paths, store

Row = dict[str, Any]


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
    overrides: tuple[str, ...] = ()  # reduced independence, a skipped verification: always in plain sight
    problems: tuple[str, ...] = ()  # what was changed by hand, or cannot be read

    @property
    def total(self) -> int:
        return sum(item.counts for item in self.items)

    @property
    def done(self) -> int:
        return sum(item.mark == "done" for item in self.items)

    @property
    def data(self) -> Row:
        return {
            "kind": self.kind,
            "run": self.run or None,
            "unit": self.unit,
            "headline": self.headline,
            "done": self.done,
            "total": self.total,
            "items": [item.data for item in self.items],
            "next": self.next.data,
            "facts": list(self.facts),
            "overrides": list(self.overrides),
            "problems": list(self.problems),
        }


@dataclass(frozen=True)
class Place:
    """Whose work is looked at, where and when. Looking writes nothing."""

    context: Context
    session: str
    row: Row = field(default_factory=dict)
    kept: str = ""  # where a plan of goals lies that was archived or cleared; empty for the session's own

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

    @cached_property
    def tree(self) -> str:
        """The project's files as they are, good enough to show what is stale; empty where nobody can tell."""
        from omo.evidence import tree

        cache = Path(paths.tree_cache(self.context.state))
        try:
            return tree.fingerprint(Path(self.context.root), cache=cache if cache.parent.is_dir() else None)
        except NotEvaluable:
            return ""

    def changed_since(self, proven_on: object) -> str:
        """Why something that was proven on a tree may not hold any more; empty while it is the same."""
        return "" if not self.tree or self.tree == proven_on else "the tree has changed since"
