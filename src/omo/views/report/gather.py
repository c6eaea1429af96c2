"""One report: a session or a run with everything that is known of it, gathered once for the page and for Markdown."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from omo import __version__
from omo.clock import stamp
from omo.context import Context
from omo.errors import BadInput, OmoError, Refused, Unreadable
from omo.shown import clip
from omo.state import runtime
from omo.ultragoal.run import kept_plans
from omo.views import project, works
from omo.views.project import SessionView
from omo.views.report import timeline
from omo.views.report.attachments import Budget, Shown, show
from omo.views.report.notices import notices
from omo.views.report.timeline import Source, Timeline
from omo.views.report.verdict import Ground, Verdict, verdict
from omo.work import times
from omo.work.run import Run
from omo.work.sections import Notice, Section, Sections
from omo.work.status import Status
from omo.work.viewer import Viewer

Row = dict[str, Any]

MOST_ITEMS = 200
MOST_KNOWN = 10
AROUND = 60.0  # seconds before and after a run in which the session's own rows belong to it


@dataclass(frozen=True)
class Evidence:
    """A section of a workflow's evidence with its attachments as they are shown."""

    section: Section
    attachments: tuple[Shown, ...] = ()

    @property
    def took(self) -> str:
        return times.between(self.section.began, self.section.ended)

    def pin(self, longest: int = 200) -> str:
        """What decides a gate, and whose word that is."""
        if not self.section.command:
            return ""
        return f"{clip(self.section.command, longest)}, pinned by the {self.section.pinned_by}"

    @property
    def data(self) -> Row:
        section = self.section
        data: Row = {
            "began": section.began or None,
            "ended": section.ended or None,
            "said": section.said or None,
            "covers": dict(section.covers),
            "tables": [table.data for table in section.tables],
            "attachments": [each.data for each in self.attachments],
        }
        if section.command:
            data |= {"command": section.command, "pinned_by": section.pinned_by}
        return data


@dataclass(frozen=True)
class Part:
    """One kind of work with what stands behind it."""

    view: Status
    whole: Evidence
    items: dict[str, Evidence] = field(default_factory=dict)

    def evidence(self, item: str) -> Evidence:
        return self.items.get(item) or Evidence(Section())

    @property
    def left_out(self) -> int:
        return max(0, len(self.view.items) - MOST_ITEMS)

    @property
    def notices(self) -> list[Notice]:
        listed = list(self.whole.section.notices)
        for evidence in self.items.values():
            listed += evidence.section.notices
        for name, evidence in self.items.items():
            for each in evidence.attachments:
                if each.is_broken:
                    listed.append(Notice("evidence changed", f"{each.path or each.name} {each.state}", name))
        return listed

    @property
    def data(self) -> Row:
        items = [{**item.data, **self.evidence(item.id).data} for item in self.view.items[:MOST_ITEMS]]
        return {**self.view.data, "items": items, "left_out": self.left_out, "whole": self.whole.data}


@dataclass(frozen=True)
class Report:
    seen: SessionView
    root: str
    made: str
    parts: tuple[Part, ...]
    timeline: Timeline
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
            "notices": [notice.data for notice in self.notices],
            "breakers": {breaker.name: breaker.data for breaker in self.seen.brief.breakers},
            "mode": self.seen.brief.mode,
            "works": [part.data for part in self.parts],
            "other_runs": [{"kind": kind, "run": run} for kind, run in self.others],
            "timeline": self.timeline.data,
        }


@dataclass(frozen=True)
class Chosen:
    """What is reported: a session's work as it is, or one run of one kind."""

    session: str
    kind: str = ""
    run: str = ""
    kept: str = ""  # where a plan of goals lies that was archived or cleared


def gather(context: Context, name: str, run: str = "") -> Report:
    """Every file is read: what a report calls proven rests on nothing that was remembered."""
    chosen = find_run(context, run, name) if run else Chosen(name)
    seen = project.look_at(context, chosen.session, closely=False)
    named = chosen.run if chosen.kind in ("ralph", "ultraplan") else ""
    viewer = Viewer(context, chosen.session, seen.brief.row, chosen.kept, reads_all=True, run=named)
    views = [view for view in works.look(viewer) if not chosen.run or view.kind == chosen.kind]
    seen = replace(seen, works=views, problems=_ledger_problems(context.state, seen, chosen))
    sources = timeline.sources_of(context.state, chosen.session, viewer.events)
    if not views and not sources:
        raise Refused(f"session {clip(chosen.session, 80)} has nothing to report", fix=_known_sessions(context))
    budget = Budget()
    parts = tuple(_part(viewer, view, budget) for view in views)
    # Gates that were pinned for something else have no state of their own, and hold nobody.
    summaries = runtime.part(seen.brief.row, "work")
    held = [work for work in seen.brief.work if runtime.part(summaries, work.kind).get("state")]
    mode = "" if run and seen.brief.mode != "unreadable" else seen.brief.mode
    return Report(
        seen,
        context.root,
        stamp(context.now),
        parts,
        timeline.tell(_narrowed(sources, chosen) if run else sources),
        tuple(notices(context, seen, parts, held)),
        verdict(views, Ground(held, mode, seen.problems)),
        run=run,
        others=tuple(_others(sources, views, chosen)),
    )


def _part(viewer: Viewer, view: Status, budget: Budget) -> Part:
    """Work that nobody can read has no evidence to show; why is told with the work itself."""
    module = works.PACKAGES[view.kind]
    try:
        sections: Sections = importlib.import_module(f"{module}.sections").sections(viewer, view)
    except (OmoError, LookupError, TypeError, ValueError, AttributeError, RecursionError, OverflowError) as error:
        why = error.message if isinstance(error, OmoError) else f"{type(error).__name__}: {error}"
        notice = Notice("unreadable", clip(f"its evidence cannot be read: {why}", 300))
        sections = Sections(whole=Section(notices=(notice,)))
    root = viewer.context.root

    def shown(section: Section) -> Evidence:
        return Evidence(section, tuple(show(budget, root, each) for each in section.attachments))

    return Part(view, shown(sections.whole), {name: shown(section) for name, section in sections.of.items()})


def _ledger_problems(state: str, seen: SessionView, chosen: Chosen) -> tuple[str, ...]:
    """A row that was dropped for its age says nothing of a run, which has a ledger of its own; nor does one that
    nobody can read say anything of the session's ledger."""
    if seen.brief.mode == "unreadable" or (chosen.run and not seen.brief.row):
        return ()
    try:
        return tuple(runtime.ledger_problems(state, chosen.session))
    except Unreadable as error:
        return (error.message,)


def find_run(context: Context, run: str, session: str) -> Chosen:
    """A run of any kind by its name, wherever in the project it was."""
    from omo.ralph.run import RALPH
    from omo.ultraplan.run import records

    state = context.state
    ralph_runs = RALPH.names(state)
    if run in ralph_runs:
        loaded = Run(RALPH, Viewer(context, session).caller, run)
        return Chosen(loaded.state.session if loaded.state else session, "ralph", run)
    for record in records(state):
        if record.run == run:
            return Chosen(record.session, "ultraplan", run)
    for kept in kept_plans(state):
        if kept.run == run:
            return Chosen(kept.session, "ultragoal", run, kept.directory)
    try:
        row = context.row(session) or {}
    except OmoError:
        row = {}
    for kind, summary in runtime.part(row, "work").items():
        if isinstance(summary, dict) and summary.get("run") == run:
            return Chosen(session, str(kind), run)
    names = ralph_runs + [record.run for record in records(state)]
    names += [kept.run for kept in kept_plans(state)]
    fix = f"name one of these: {clip(', '.join(names[-MOST_KNOWN:]), 300)}" if names else "omo report without --run"
    raise BadInput(f"--run {clip(run, 80)}: there is no such run in this project", fix=fix)


def _known_sessions(context: Context) -> str:
    try:
        names = list(runtime.read(context.state)["sessions"])
    except Unreadable:
        names = []
    return f"name another with --session: {clip(', '.join(names[-MOST_KNOWN:]), 300)}" if names else "omo status"


def _narrowed(sources: Sequence[Source], chosen: Chosen) -> list[Source]:
    """The run's own ledger, and what the session noted while it went on."""
    own = [source for source in sources if source.run == chosen.run]
    moments = []
    for source in own:
        moments += [moment for row in source.rows if (moment := times.number(str(row.get("ts")))) is not None]
    if not moments:
        return [source for source in sources if source.ledger in ("session", "verify")]
    first, last = min(moments) - AROUND, max(moments) + AROUND
    around = []
    for source in sources:
        if source.ledger == "session":
            rows = [row for row in source.rows if first <= (times.number(str(row.get("ts"))) or 0.0) <= last]
            around.append(replace(source, rows=rows))
    return [*around, *own]


def _others(sources: Sequence[Source], views: Sequence[Status], chosen: Chosen) -> list[tuple[str, str]]:
    shown = {view.run for view in views} | {chosen.run}
    return [(source.ledger, clip(source.run, 80)) for source in sources if source.run and source.run not in shown]
