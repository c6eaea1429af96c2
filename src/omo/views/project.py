"""All sessions of a project, and the work of those that are looked at closely."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import Any

from omo import settings
from omo.clock import seconds
from omo.context import Context
from omo.errors import Unreadable
from omo.hooks.messages import state_was_removed
from omo.shown import clip
from omo.state import paths, runtime
from omo.views import session
from omo.work import outcome
from omo.work.status import NextStep, Status, command
from omo.work.viewer import Viewer

Row = dict[str, Any]

ORPHANED_AFTER = 24 * 3600.0
RECENT = 24 * 3600.0  # what ended since then has a line of its own, and is held against the files as they are
UNVOUCHED = "the state says that {} is done, and the session's ledger does not"
LET_GO = {
    "exhausted": NextStep("arm", "it was let go with work open; type ulw in a prompt to set it going again"),
    "cancelled": NextStep("arm", "it stays off until you type ulw in a prompt"),
}


FENCED = "; the plan's fence stays up until its session is finished or given up"


@dataclass(frozen=True)
class SessionView:
    """`brief` is what the hooks see, `works` what the ledgers say; `works` is None where nobody looked."""

    brief: session.View
    works: list[Status] | None = None
    is_here: bool = False
    is_orphan: bool = False
    last_used: str = ""
    unused_for: float = float("inf")  # seconds; for ever where nobody knows
    problems: tuple[str, ...] = ()  # of the session's own ledger

    @property
    def name(self) -> str:
        return self.brief.name

    @property
    def is_live(self) -> bool:
        return runtime.is_live(self.brief.row)

    @property
    def is_on(self) -> bool:
        """Something holds it or its writes, or would where omo is switched off, or is about to be said in it."""
        return self.is_live or not self.brief.is_idle or self.brief.is_fenced

    @property
    def leading(self) -> Status | None:
        """What the ledger says of the work that speaks for the session."""
        return self.view_of(self.brief.leading)

    def view_of(self, work: session.Work | None) -> Status | None:
        return next((view for view in self.works or [] if work is not None and view.kind == work.kind), None)

    @property
    def is_proven(self) -> bool | None:
        """Of what is done: whether it ended by its proof. None while it goes on, or where something else ended it."""
        leading = self.brief.leading
        return leading.is_proven if leading is not None and self.brief.mode == "done" else None

    def end_of(self, work: session.Work) -> str:
        """How work that is done came to be so: its own words, unless its row alone says them."""
        if work.kind in runtime.unvouched(self.brief.row):
            return UNVOUCHED.format(clip(work.kind, 20))
        return work.how or "nothing says how it ended"

    @property
    def lapsed(self) -> str:
        """Why what it ended with does not hold any more; empty while it holds, and where nobody looked.

        What was let through, or not reached, cannot lapse.
        """
        ended = self.brief.leading.outcome if self.brief.leading and self.brief.mode == "done" else None
        if ended is None or ended["verdict"] in (outcome.WAIVED, outcome.ENDED) or self.works is None:
            return ""
        return self.leading.lapsed if self.leading else "its ledger is not there"

    @property
    def overrides(self) -> list[str]:
        """What was let through without its proof: the exceptions of what ended, else what the works say themselves."""
        told = []
        for work in self.brief.work:
            if work.kind in runtime.unvouched(self.brief.row):
                told.append(self.end_of(work))
            elif work.outcome is not None:
                told += [outcome.exception_in_words(one) for one in work.outcome["exceptions"]]
        ended = {work.kind for work in self.brief.work if work.outcome is not None}
        for view in self.works or []:
            told += [said for said in view.overrides if view.kind not in ended]
            told += [f"{item.id}: {said}" for item in view.items for said in item.overrides]
        return list(dict.fromkeys(clip(said, 300) for said in told if said not in self.problems))

    @property
    def next(self) -> NextStep:
        """The one thing that moves this session on: its leading work's, as its own ledger says.

        After a breaker or a cancel it is the user's word alone.
        """
        if self.brief.mode in LET_GO:
            let_go = LET_GO[self.brief.mode]
            if self.brief.is_fenced:
                return replace(let_go, why=let_go.why + FENCED, commands=(command("omo plan status"),))
            return let_go
        return self.leading.next if self.leading else NextStep()

    @property
    def data(self) -> Row:
        given, most = self.brief.breakers[0].used, self.brief.breakers[0].most
        found: Row = {
            **self.brief.data,
            "blocks": {"given": given, "of": most},
            "here": self.is_here,
            "orphan": self.is_orphan,
            "last_used": self.last_used or None,
            "proven": self.is_proven,
            "lapsed": self.lapsed or None,
            "overrides": self.overrides,
        }
        if self.works is None:
            return found
        found["problems"] = list(self.problems)
        gates = {item.id: item.status for view in self.works if view.kind == "ulw" for item in view.items}
        return {**found, "gates": gates, "works": [view.data for view in self.works], "next": self.next.data}


@dataclass(frozen=True)
class Problem:
    """What has to be known before anything else is believed, and what mends it."""

    what: str
    fix: str = ""
    code: str = "problem"

    @property
    def data(self) -> Row:
        return {"what": self.what, "fix": self.fix, "code": self.code}


@dataclass(frozen=True)
class ProjectView:
    root: str
    sessions: list[SessionView] = field(default_factory=list)
    overrides: list[Row] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    meant: str = ""  # the session that was named, or that asks; empty in a terminal of the user's

    @property
    def focus(self) -> SessionView | None:
        """The session that is shown in full: the one that is meant, else the newest that is on."""
        first = next(iter(self.sessions), None)
        is_shown = first is not None and (first.name == self.meant if self.meant else first.is_on)
        return first if is_shown else None

    @property
    def others(self) -> list[SessionView]:
        return self.sessions[1:] if self.focus else self.sessions

    @property
    def data(self) -> Row:
        return {
            "root": self.root,
            "sessions": [one.data for one in self.sessions],
            "overrides": self.overrides,
            "problems": [one.data for one in self.problems],
        }


def look(context: Context, *, closely: str = "") -> ProjectView:
    """Every session that the runtime file knows, newest first; the one that is meant first of all.

    Closely: the named session, else this one, every one that is live or fenced, and what was done within a day. A
    file that nobody can read is a problem to be told, not an error.
    """
    own = context.settings
    meant = closely or context.named_session or ""
    rows, told = _read(context, own)
    if rows is None:
        found = [look_at(context, meant, closely=False, limits=own.limits)] if meant else []
    else:
        trees: dict[str, str] = {}
        found = [_look_at_row(context, name, row, meant, own.limits, trees) for name, row in rows.items()]
    found.sort(key=lambda one: one.last_used, reverse=True)
    found.sort(key=lambda one: (one.name != meant, not one.is_on))
    let_stand, unread = _read_overrides(context)
    return ProjectView(context.root, found, let_stand, [*told, *unread], meant)


def _read(context: Context, own: settings.Settings) -> tuple[Row | None, list[Problem]]:
    """The rows by session, and what has to be said first; None where they cannot be read."""
    told = [Problem(one, "omo doctor", "setting") for one in own.problems]
    if settings.is_disabled(context.environ):
        told.insert(0, Problem("OMO_DISABLE is set here: where it is, no hook does anything", code="disabled"))
    try:
        for marker in runtime.removed(context.state, context.root):
            what = f"session {clip(marker.session, 64)} ended, not proven: {state_was_removed(marker.state, marker.on)}"
            told.append(Problem(what, "type ulw in a prompt to begin anew", "removed"))
        return runtime.read(context.state)["sessions"], told
    except Unreadable as error:
        return None, [Problem(error.message, error.fix, error.code), *told]


def _read_overrides(context: Context) -> tuple[list[Row], list[Problem]]:
    try:
        return overrides(context), []
    except Unreadable as error:
        return [], [Problem(error.message, error.fix, error.code)]


def _look_at_row(
    context: Context, name: str, row: object, meant: str, limits: Row, trees: dict[str, str]
) -> SessionView:
    if not isinstance(row, dict):  # it is said to be unreadable, by the one place that says so
        return look_at(context, name, closely=name == meant, limits=limits)
    closely = name == meant or _is_worth_a_look(row, context.now)
    return look_at(context, name, closely=closely, limits=limits, known=row, trees=trees)


def _is_worth_a_look(row: Row, now: float) -> bool:
    is_done_lately = bool(runtime.work_in(row, "done")) and age(row, now) < RECENT
    return runtime.is_live(row) or runtime.is_fenced(row) or is_done_lately


def look_at(
    context: Context,
    name: str,
    *,
    closely: bool = True,
    limits: Row | None = None,
    known: Row | None = None,
    trees: dict[str, str] | None = None,
) -> SessionView:
    """One session. `limits`, `known`, its row, and `trees` spare reading the same files for each of many."""
    from omo.views import works

    bounds = context.settings.limits if limits is None else limits
    brief = session.look(context.state, name, bounds, context.now, context.environ, known=known)
    row = brief.row
    unused_for = age(row, context.now)
    seen = works.look(Viewer(context, name, row, trees={} if trees is None else trees)) if closely else None
    return SessionView(
        brief,
        seen,
        is_here=name == context.named_session,
        is_orphan=runtime.is_live(row) and unused_for > ORPHANED_AFTER,
        last_used=clip(str(row.get("lastUsedAt") or ""), 30),
        unused_for=unused_for,
        problems=_ledger_problems(context.state, brief, seen),
    )


def _ledger_problems(state: str, brief: session.View, works: list[Status] | None) -> tuple[str, ...]:
    """What is wrong with the session's own ledger, which belongs to no work, and where its row says more than that."""
    if works is None:
        return ()
    doubts = [UNVOUCHED.format(clip(kind, 20)) for kind in runtime.unvouched(brief.row)]
    if looked := next((view for view in works if view.kind == "ulw"), None):
        return (*looked.problems, *doubts)  # it has looked already
    try:
        return (*runtime.chain_problems(state, brief.name), *doubts)
    except Unreadable as error:
        return (error.message,)


def overrides(context: Context) -> list[Row]:
    """Claims that code did not confirm and somebody let stand: shown wherever things are summed up."""
    if not os.path.isdir(paths.verify_dir(context.state)):
        return []
    from omo.verify import claims

    told = {"claim": "claim", "reason": "override", "by": "actor"}
    rows = claims.recorded(context.state, overridden=True)
    return [{key: clip(str(row.get(name)), 160) for key, name in told.items()} for row in rows]


def age(row: Row, now: float) -> float:
    try:
        return now - seconds(row["lastUsedAt"])
    except (KeyError, ValueError, AttributeError, TypeError):
        return float("inf")  # written by another hand, and nobody knows when
