"""One report: a session or a run with everything that is known of it, gathered once for the page and for Markdown."""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from omo import __version__, table
from omo.clock import stamp
from omo.context import Context
from omo.errors import BadInput, OmoError, Refused, Unreadable
from omo.proof import base, changes
from omo.proof.project_files import names_at
from omo.state import runtime
from omo.table import name_of
from omo.text import clip
from omo.views import project, works
from omo.views.project import SessionView
from omo.views.report import timeline
from omo.views.report.attachments import Budget, show
from omo.views.report.timeline import Timeline
from omo.views.report.verdict import Verdict, notices, verdict
from omo.work import requests, times
from omo.work.run import Run
from omo.work.sections import Notice, Section, Sections
from omo.work.status import Status
from omo.work.viewer import Viewer

Row = dict[str, Any]

MOST_ITEMS = 200
MOST_EARLIER = 5


@dataclass(frozen=True)
class Part:
    """One kind of work with what stands behind it, as it may be shown."""

    view: Status
    sections: Sections

    @property
    def whole(self) -> Section:
        return self.sections.whole

    def evidence(self, item: str) -> Section:
        return self.sections.of.get(item, Section())


@dataclass(frozen=True)
class Changed:
    """Files that differ from what the work began with, each with `new`, `gone` or nothing beside its path.

    `unknown` says why nobody can tell.
    """

    files: tuple[tuple[str, str], ...] = ()
    unknown: str = ""


@dataclass(frozen=True)
class Report:
    view: SessionView
    root: str
    made: str
    task: str  # as the person typed it; empty where nobody typed one
    changed: Changed
    parts: tuple[Part, ...]
    timeline: Timeline
    notices: tuple[Notice, ...]
    verdict: Verdict
    blocks: int
    run: str = ""
    others: tuple[tuple[str, str], ...] = ()  # other runs of the session: kind and id

    @property
    def session(self) -> str:
        return self.view.name

    @property
    def title(self) -> str:
        """What a person calls it: the first line of the task, else what the work is."""
        line = self.task.strip().partition("\n")[0]
        if line:
            return clip(line, 120)
        kinds = [part.view.kind for part in self.parts]
        return f"{name_of(kinds[0] if kinds else 'ulw')} in {self.project}"

    @property
    def project(self) -> str:
        return clip(os.path.basename(self.root) or self.root, 80)

    @property
    def let_through(self) -> str:
        """What is said where nothing has to be told: that nothing was let through is known only of what has ended."""
        if self.verdict.outcome is None:
            return "Nothing that was let through is known so far; it has not ended."
        return "Nothing was let through: no exception was made, nobody judged their own work, every ledger is whole."

    @property
    def data(self) -> Row:
        return {
            "session": self.session,
            "run": self.run or None,
            "root": self.root,
            "made": self.made,
            "by": f"omo {__version__}",
            "task": self.task or None,
            "verdict": {"level": self.verdict.level, "text": self.verdict.text, "proven": self.verdict.is_proven},
            "outcome": self.verdict.outcome,
            "notices": [notice.data for notice in self.notices],
            "changed": [path for path, _ in self.changed.files],
            "works": [part.view.data for part in self.parts],
            "other_runs": [{"kind": kind, "run": run} for kind, run in self.others],
        }


class Chosen(NamedTuple):
    """What is reported: a session's work as it is, or one run of one kind."""

    session: str
    kind: str = ""
    run: str = ""


def gather(context: Context, name: str, run: str = "") -> Report:
    """Every file is read: what a report calls proven rests on nothing that was remembered."""
    chosen = find_run(context, run, name) if run else Chosen(name)
    session = project.look_at(context, chosen.session, closely=False)
    named = chosen.run if chosen.kind in ("ultragoal", "ralph", "ultraplan") else ""
    viewer = Viewer(context, chosen.session, session.brief.row, reads_all=True, run=named)
    views = [view for view in works.look(viewer) if not run or view.kind == chosen.kind]
    session = session._replace(works=views, problems=_ledger_problems(context.state, session, run))
    sources = timeline.sources_of(viewer)
    if not views and not sources:
        raise Refused(f"session {clip(chosen.session, 80)} has nothing to report", fix="omo status --all")
    budget = Budget()
    parts = [Part(view, _sections(viewer, view, budget)) for view in views]
    shown_runs = {view.run for view in views} | {run}
    others = []
    shown = []
    for source in sources:
        if source.run and source.run not in shown_runs:
            others.append((source.ledger, clip(source.run, 80)))
        else:
            shown.append(source)
    if run:
        own = [source for source in shown if source.run == run]
        shown = own or [source for source in shown if source.ledger in ("session", "verify")]
    begins = [part.whole.began for part in parts if part.whole.began]
    since = timeline.asked_at(viewer.events, min(begins)) if begins else ""
    until = parts[0].whole.ended if run and parts else ""
    return Report(
        session,
        context.root,
        stamp(context.now),
        _task(viewer.events, parts),
        _changed_files(context.root, parts),
        tuple(parts),
        timeline.tell(shown, since=since),
        (*notices(context, session, parts), *_unproven_before(viewer.events, since, run)),
        verdict(session, run),
        _blocks(viewer.events, since, until),
        run=run,
        others=tuple(others),
    )


def _blocks(events: Sequence[Row], since: str, until: str) -> int:
    """How often this run was sent back."""
    blocks = [str(row.get("ts")) for row in events if timeline.is_block(row)]
    return len([ts for ts in blocks if since <= ts and (not until or ts <= until)])


def _unproven_before(events: Sequence[Row], since: str, run: str) -> list[Notice]:
    """Runs of the conversation of which this one may be the second try. A run that was named stands for itself."""
    if not since or run:
        return []
    earlier = []
    for before in timeline.earlier_runs(events, since)[-MOST_EARLIER:]:
        if not before.is_done:
            text = f"{before.task or 'without a task'}: {before.in_words}"
            earlier.append(Notice("a run before this one", clip(text, 300), times.moment(before.ts)))
    return earlier


def _sections(viewer: Viewer, view: Status, budget: Budget) -> Sections:
    """Work that nobody can read has no evidence to show; why is told with the work itself."""
    module = table.BY_KIND[view.kind].folder
    try:
        sections: Sections = importlib.import_module(f"{module}.sections").sections(viewer, view)
    except (OmoError, LookupError, TypeError, ValueError, AttributeError, RecursionError, OverflowError) as error:
        why = error.message if isinstance(error, OmoError) else f"{type(error).__name__}: {error}"
        notice = Notice("unreadable", clip(f"its evidence cannot be read: {why}", 300))
        return Sections(whole=Section(notices=(notice,)))

    def shown(section: Section) -> Section:
        attachments = [show(budget, viewer.context.root, attachment) for attachment in section.attachments]
        return replace(section, attachments=tuple(attachments))

    of_items = {name: shown(section) for name, section in sections.of.items()}
    return replace(sections, whole=shown(sections.whole), of=of_items)


def _task(events: Sequence[Row], parts: Sequence[Part]) -> str:
    """What the person typed that set the work going."""
    for part in parts:
        if texts := requests.of_run(events, part.view.kind, part.view.run):
            return texts[0]
    return ""


def _changed_files(root: str, parts: Sequence[Part]) -> Changed:
    """Against what the work that leads began with."""
    for part in parts:
        if part.sections.base:
            try:
                return _changed_since(root, part.sections)
            except OmoError as error:
                return Changed(unknown=clip(error.message, 200))
    return Changed(unknown="nothing says what the work began with")


def _changed_since(root: str, sections: Sections) -> Changed:
    """By this work and no later one, where it has ended and that was noted; else up to now. Its base is a commit, or
    the files as the row of an arming has them."""
    began = sections.base
    assert began
    commit, before = began, {}
    if isinstance(began, dict):
        commit, before = str(began.get("head") or ""), runtime.part(began, "files")
    if sections.changed is not None:
        paths = sections.changed
    elif isinstance(began, dict):
        look = base.look(root, began).without(sections.left_out)
        if look.changed is None:
            return Changed(unknown=clip(look.unknown, 200))
        paths = sorted(look.changed)
    else:
        paths = changes.changed(Path(root), began)
    known = {*before, *(names_at(root, str(commit)) if commit else ())}
    files = []
    for path in paths:
        how = "" if path in known else "new"
        if not os.path.lexists(os.path.join(root, path)):
            how = "gone"
        if not path.startswith(base.OWN_DIRECTORIES):
            files.append((path, how))
    return Changed(tuple(files))


def _ledger_problems(state: str, view: SessionView, run: str) -> tuple[str, ...]:
    """A row that was dropped for its age says nothing of a run, which has a ledger of its own; nor does one that
    nobody can read say anything of the session's ledger."""
    if view.brief.mode == "unreadable" or (run and not view.brief.row):
        return ()
    try:
        return tuple(runtime.ledger_problems(state, view.name))
    except Unreadable as error:
        return (error.message,)


def find_run(context: Context, run: str, session: str) -> Chosen:
    """A run of any kind by its name, wherever in the project it was."""
    caller = Viewer(context, session).caller
    for kind in timeline.run_kinds():
        if run in kind.names(context.state):
            state = Run(kind, caller, run).state
            return Chosen(state.session if state else session, kind.name, run)
    for kind_name, summary in caller.row(session)["work"].items():
        if isinstance(summary, dict) and summary.get("run") == run:
            return Chosen(session, str(kind_name), run)
    raise BadInput(f"--run {clip(run, 80)}: there is no such run in this project", fix="omo report without --run")
