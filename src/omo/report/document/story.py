"""The story of a session: the rows of all its ledgers in one line of time, each as a sentence."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from omo.clock import seconds, stamp
from omo.errors import OmoError
from omo.report.document import story_lines
from omo.report.kept_plans import kept_plans
from omo.shown import clip
from omo.state import ledger, paths
from omo.state.journal import Journal

Row = dict[str, Any]

MOST_EVENTS = 400
MOST_KINDS = 40


@dataclass(frozen=True)
class Event:
    """`at` is the row's own time, and as a number where that can be read; `ledger` is where it was written."""

    at: str
    kind: str
    what: str
    detail: str = ""
    mark: str = ""
    ledger: str = ""
    run: str = ""
    actor: str = ""
    moment: float = 0.0

    @property
    def data(self) -> Row:
        names = ("at", "kind", "what", "detail", "mark", "ledger", "run", "actor")
        return {name: getattr(self, name) or None for name in names}


@dataclass(frozen=True)
class Story:
    """Oldest first: the newest events, before them what is no routine; `earlier` counts by kind what is not told."""

    events: tuple[Event, ...] = ()
    earlier: dict[str, int] = field(default_factory=dict)
    total: int = 0
    quiet: int = 0
    began: str = ""
    ended: str = ""

    @property
    def data(self) -> Row:
        return {
            "events": [one.data for one in self.events],
            "earlier": self.earlier,
            "total": self.total,
            "quiet": self.quiet,
            "began": self.began or None,
            "ended": self.ended or None,
        }


@dataclass(frozen=True)
class Source:
    """One ledger, or the part of one that is about the session."""

    ledger: str
    rows: Sequence[Row]
    run: str = ""


Timed = tuple[float, Source, Row]


def tell(sources: Sequence[Source], *, most: int = MOST_EVENTS) -> Story:
    """Merged by time. A row whose time cannot be read stays where it was in its ledger."""
    timed = [one for source in sources for one in _timed(source)]
    timed.sort(key=lambda one: one[0])
    loud = [one for one in timed if str(one[2].get("kind")) not in story_lines.QUIET.get(one[1].ledger, ())]
    shown, before = _chosen(loud, most)
    moments = [one[0] for one in loud if one[0] > 0]
    return Story(
        events=tuple(event for at, source, row in shown for event in _events(at, source, row)),
        earlier={clip(kind, 40): count for kind, count in _counted(before)},
        total=len(loud),
        quiet=len(timed) - len(loud),
        began=stamp(moments[0]) if moments else "",
        ended=stamp(moments[-1]) if moments else "",
    )


def _counted(before: list[Timed]) -> list[tuple[str, int]]:
    return Counter(str(row.get("kind")) for _, _, row in before).most_common(MOST_KINDS)


def _chosen(loud: list[Timed], most: int) -> tuple[list[Timed], list[Timed]]:
    """What is told and what is only counted: the newest, and of what came before, first what is no routine."""
    if len(loud) <= most:
        return loud, []
    new, old = loud[-(most // 2) :], loud[: -(most // 2)]
    kept = [at for at, one in enumerate(old) if str(one[2].get("kind")) not in story_lines.ROUTINE]
    kept = kept[-(most - len(new)) :] if kept else list(range(len(old)))[-(most - len(new)) :]
    told = set(kept)
    return [*(old[at] for at in kept), *new], [one for at, one in enumerate(old) if at not in told]


def _timed(source: Source) -> Iterator[Timed]:
    last = 0.0
    for row in source.rows:
        try:
            last = seconds(str(row.get("ts")))
        except (ValueError, OverflowError):
            pass
        yield last, source, row


def _events(at: float, source: Source, row: Row) -> Iterator[Event]:
    for what, detail, mark in story_lines.tell(dict(row), source.ledger):
        yield Event(
            clip(str(row.get("ts") or ""), 30),
            clip(str(row.get("kind")), 60),
            clip(what, 400),
            detail,
            mark,
            source.ledger,
            clip(source.run, 80),
            clip(str(row.get("actor") or ""), 12),
            at,
        )


def sources_of(state: str, session: str, rows: Sequence[Row]) -> list[Source]:
    """Every ledger with something of the session in it. `rows` are those of the session's own."""
    goal = Journal(paths.goal_dir(state, session), state)
    found = [Source("session", rows), Source("goal", _rows(goal))]
    for kept in kept_plans(state, session):
        directory = kept.directory or paths.ultragoal_dir(state, session)
        found.append(Source("ultragoal", _rows(Journal(directory, state)), kept.run))
    found += [plan_source(state, run) for run in _plan_runs(state, session)]
    found += [ralph_source(state, run) for run in _ralph_runs(state, session)]
    found += _verify(state, session)
    return [one for one in found if one.rows]


def plan_source(state: str, run: str) -> Source:
    return Source("ultraplan", _rows(Journal(paths.plan_run_dir(state, run), state)), run)


def ralph_source(state: str, run: str) -> Source:
    return Source("ralph", _rows(Journal(paths.ralph_run_dir(state, run), state)), run)


def _plan_runs(state: str, session: str) -> list[str]:
    from omo.ultraplan.run import records

    return [one.run for one in records(state) if one.session == session]


def _ralph_runs(state: str, session: str) -> list[str]:
    from omo.ralph.run import standings

    return [one.run for one in standings(state) if one.session == session]


def _verify(state: str, session: str) -> list[Source]:
    """The goals that this session began, and the claims about them."""
    top = paths.verify_dir(state)
    if not os.path.isdir(top):
        return []
    rows = _rows(Journal(os.path.join(top, "goals"), state))
    names = {str(row.get("goal")) for row in rows if row.get("kind") == "begun" and row.get("session") == session}
    claims = _rows(Journal(os.path.join(top, "claims"), state))
    return [Source("verify", [row for row in found if str(row.get("goal")) in names]) for found in (rows, claims)]


def session_rows(state: str, session: str) -> list[Row]:
    """Without what each left of the session's row, which is most of a long ledger and is shown nowhere."""
    try:
        rows = ledger.rows(paths.events_file(state, session))
    except OmoError:
        return []
    for row in rows:
        row.pop("after", None)
    return rows


def _rows(journal: Journal) -> list[Row]:
    try:
        return journal.rows()
    except OmoError:
        return []
