"""All sessions of a project, and the work of those that are looked at closely."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from omo.clock import seconds
from omo.context import Context
from omo.report import session
from omo.report.work import NextStep, Place, WorkView
from omo.shown import clip
from omo.state import paths, runtime

Row = dict[str, Any]

ORPHANED_AFTER = 24 * 3600.0


@dataclass(frozen=True)
class SessionView:
    """`brief` is what the hooks see, `works` what the ledgers say; `works` is None where nobody looked."""

    brief: session.View
    works: list[WorkView] | None = None
    is_here: bool = False
    is_orphan: bool = False
    last_used: str = ""

    @property
    def name(self) -> str:
        return self.brief.name

    @property
    def next(self) -> NextStep:
        """The one thing that moves this session on: its leading work's, as its own ledger says."""
        leading = self.brief.leading
        for view in self.works or []:
            if leading is not None and view.kind == leading.kind:
                return view.next
        return NextStep()

    @property
    def data(self) -> Row:
        given, most = self.brief.breakers[0].used, self.brief.breakers[0].most
        found: Row = {
            **self.brief.data,
            "blocks": {"given": given, "of": most},
            "here": self.is_here,
            "orphan": self.is_orphan,
            "last_used": self.last_used or None,
        }
        if self.works is None:
            return found
        gates = {item.id: item.status for view in self.works if view.kind == "ulw" for item in view.items}
        return {**found, "gates": gates, "works": [view.data for view in self.works], "next": self.next.data}


@dataclass(frozen=True)
class ProjectView:
    root: str
    sessions: list[SessionView] = field(default_factory=list)
    overrides: list[Row] = field(default_factory=list)

    @property
    def data(self) -> Row:
        return {"root": self.root, "sessions": [one.data for one in self.sessions], "overrides": self.overrides}


def look(context: Context, *, closely: str = "") -> ProjectView:
    """Every session that the runtime file knows, newest first; the one that is meant first of all.

    Closely: the named session, else this one, and every one that is live.
    """
    rows = runtime.read(context.state)["sessions"]
    here = context.named_session or ""
    found = [
        look_at(context, name, closely=name in (closely, here) or (isinstance(row, dict) and runtime.is_live(row)))
        for name, row in rows.items()
    ]
    found.sort(key=lambda one: one.last_used, reverse=True)
    found.sort(key=lambda one: (one.name != (closely or here), one.brief.is_idle))
    return ProjectView(context.root, found, overrides(context))


def look_at(context: Context, name: str, *, closely: bool = True) -> SessionView:
    from omo.report import works

    brief = session.look(context.state, name, context.settings.limits, context.now, context.environ)
    row = brief.row
    is_orphan = runtime.is_live(row) and age(row, context.now) > ORPHANED_AFTER
    return SessionView(
        brief,
        works.look(Place(context, name, row)) if closely else None,
        is_here=name == context.named_session,
        is_orphan=is_orphan,
        last_used=clip(str(row.get("lastUsedAt") or ""), 30),
    )


def overrides(context: Context) -> list[Row]:
    """Claims that code did not confirm and somebody let stand: shown wherever things are summed up."""
    if not os.path.isdir(paths.verify_dir(context.state)):
        return []
    from omo.verify import claims

    return [
        {"claim": clip(str(row["claim"]), 160), "reason": clip(str(row["override"]), 160), "by": str(row["actor"])}
        for row in claims.recorded(context.state, overridden=True)
    ]


def age(row: Row, now: float) -> float:
    try:
        return now - seconds(row["lastUsedAt"])
    except (KeyError, ValueError, AttributeError):
        return float("inf")  # written by another hand, and nobody knows when
