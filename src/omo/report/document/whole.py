"""One report: a session or a run with everything that is known of it, gathered once for the page and for Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from omo import __version__
from omo.clock import seconds, stamp
from omo.context import Context
from omo.errors import Refused, Unreadable
from omo.report import project, works
from omo.report.document import evidence, story
from omo.report.document.choosing import Chosen, find_run, known_sessions
from omo.report.document.evidence import Notice, Proof, Room
from omo.report.document.exhibits import Budget
from omo.report.document.notices import notices
from omo.report.document.story import Source, Story
from omo.report.document.verdict import Ground, Verdict, verdict
from omo.report.project import SessionView
from omo.report.session import Work
from omo.report.work import Place
from omo.shown import clip
from omo.state import runtime
from omo.work.status import Status

Row = dict[str, Any]

MOST_ITEMS = 200
AROUND = 60.0  # seconds before and after a run in which the session's own rows belong to it


@dataclass(frozen=True)
class Part:
    """One kind of work with what stands behind it."""

    view: Status
    proof: Proof

    @property
    def left_out(self) -> int:
        return max(0, len(self.view.items) - MOST_ITEMS)

    @property
    def data(self) -> Row:
        shown = self.view.items[:MOST_ITEMS]
        items = [{**item.data, **self.proof.dossier(item.id).data} for item in shown]
        return {**self.view.data, "items": items, "left_out": self.left_out, "whole": self.proof.whole.data}


@dataclass(frozen=True)
class Report:
    seen: SessionView
    root: str
    made: str
    parts: tuple[Part, ...]
    story: Story
    notices: tuple[Notice, ...]
    verdict: Verdict
    run: str = ""
    others: tuple[tuple[str, str], ...] = ()  # other runs of the session: kind and id

    @property
    def session(self) -> str:
        return self.seen.name

    @property
    def let_through(self) -> str:
        """What is said where nothing has to be told: that nothing was let through is known only of what has ended."""
        if self.verdict.outcome is None:
            return "Nothing that was let through is known so far; it has not ended."
        return "Nothing was let through: no exception, no override, no reduced independence, and every ledger is whole."

    @property
    def data(self) -> Row:
        return {
            "session": self.session,
            "run": self.run or None,
            "root": self.root,
            "made": self.made,
            "by": f"omo {__version__}",
            "verdict": {"level": self.verdict.level, "text": self.verdict.text, "proven": self.verdict.is_proven},
            "outcome": self.verdict.outcome,
            "notices": [one.data for one in self.notices],
            "breakers": {one.name: one.data for one in self.seen.brief.breakers},
            "mode": self.seen.brief.mode,
            "works": [one.data for one in self.parts],
            "other_runs": [{"kind": kind, "run": run} for kind, run in self.others],
            "story": self.story.data,
        }


@dataclass(frozen=True)
class RunPlace(Place):
    """Of one run that was named, be it one that ended long ago."""

    run: str = ""

    @property
    def given(self) -> Row:
        return {**super().given, **({"named": self.run} if self.run else {})}


def gather(context: Context, name: str, run: str = "") -> Report:
    chosen = find_run(context, run, name) if run else Chosen(name)
    rows = story.session_rows(context.state, chosen.session)
    seen, place = _look(context, chosen)
    sources = story.sources_of(context.state, chosen.session, rows)
    if not seen.works and not sources:
        raise Refused(f"session {clip(chosen.session, 80)} has nothing to report", fix=known_sessions(context))
    room = Room(place, rows, Budget())
    parts = tuple(Part(view, evidence.lay_out(room, view)) for view in seen.works or [])
    told = story.tell(_narrowed(sources, chosen) if run else sources)
    found = tuple(notices(context, seen, parts, _held(seen)))
    mode = "" if run and seen.brief.mode != "unreadable" else seen.brief.mode
    return Report(
        seen,
        context.root,
        stamp(context.now),
        parts,
        told,
        found,
        verdict([one.view for one in parts], Ground(_held(seen), mode, seen.problems)),
        run=run,
        others=tuple(_others(sources, parts, chosen)),
    )


def _held(seen: SessionView) -> list[Work]:
    """The work that holds or held the session; gates that were pinned for something else have no state of their own."""
    told = runtime.part(seen.brief.row, "work")
    return [one for one in seen.brief.work if runtime.part(told, one.kind).get("state")]


def _look(context: Context, chosen: Chosen) -> tuple[SessionView, Place]:
    """Every file is read: what a report calls proven rests on nothing that was remembered."""
    seen = project.look_at(context, chosen.session, closely=False)
    named = chosen.run if chosen.kind in ("ralph", "ultraplan") else ""
    place = RunPlace(context, chosen.session, seen.brief.row, chosen.kept, reads_all=True, run=named)
    found = [one for one in works.look(place) if not chosen.run or one.kind == chosen.kind]
    # A row that was dropped for its age says nothing of a run, which has a ledger of its own; nor does one that nobody
    # can read say anything of the session's ledger.
    is_silent = seen.brief.mode == "unreadable" or (bool(chosen.run) and not seen.brief.row)
    problems = () if is_silent else _ledger_problems(context.state, chosen.session)
    return replace(seen, works=found, problems=problems), place


def _ledger_problems(state: str, session: str) -> tuple[str, ...]:
    try:
        return tuple(runtime.ledger_problems(state, session))
    except Unreadable as error:
        return (error.message,)


def _narrowed(sources: Sequence[Source], chosen: Chosen) -> list[Source]:
    """The run's own ledger, and what the session noted while it went on."""
    own = [one for one in sources if one.run == chosen.run]
    moments = [at for one in own for row in one.rows if (at := _moment(row)) is not None]
    if not moments:
        return [one for one in sources if one.ledger in ("session", "verify")]
    first, last = min(moments) - AROUND, max(moments) + AROUND
    around = [
        replace(one, rows=[row for row in one.rows if first <= (_moment(row) or 0.0) <= last])
        for one in sources
        if one.ledger == "session"
    ]
    return [*around, *own]


def _moment(row: Row) -> float | None:
    try:
        return seconds(str(row.get("ts")))
    except (ValueError, OverflowError):
        return None


def _others(sources: Sequence[Source], parts: Sequence[Part], chosen: Chosen) -> list[tuple[str, str]]:
    shown = {one.view.run for one in parts} | {chosen.run}
    return [(one.ledger, clip(one.run, 80)) for one in sources if one.run and one.run not in shown]
