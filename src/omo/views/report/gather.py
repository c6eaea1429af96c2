"""One report: a session or a run with everything that is known of it, gathered once for the page and for Markdown."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from omo import __version__, table
from omo.clock import stamp
from omo.context import Context
from omo.errors import BadInput, OmoError, Refused, Unreadable
from omo.json_text import Json
from omo.proof import base, changes, unchecked_lines
from omo.proof.project_files import commit_at
from omo.state import runtime
from omo.state.ledger_rows import SessionEvent
from omo.state.rows import EMPTY
from omo.table import name_of
from omo.text import clip, listed
from omo.views import project, works
from omo.views.project import SessionView
from omo.views.report.notices import is_block, notices, refused, unproven_before
from omo.views.report.parts import Part, parts_of
from omo.views.report.verdict import Headline, verdict
from omo.work import requests, times
from omo.work.files import Files
from omo.work.outcome import items_in_words
from omo.work.run import Run
from omo.work.sections import Notice, Sections
from omo.work.session import KIND
from omo.work.status import Status
from omo.work.viewer import Viewer

ASKED = (*requests.ARMED, requests.ASKED)


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
    began: str
    ended: str
    notices: tuple[Notice, ...]
    verdict: Headline
    blocks: int
    run: str = ""
    lines: unchecked_lines.EarlierLook | None = None  # what `omo proof` said of these files, if anybody asked

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
        return f"{name_of(kinds[0] if kinds else KIND)} in {self.project}"

    @property
    def project(self) -> str:
        return clip(os.path.basename(self.root) or self.root, 80)

    @property
    def took(self) -> str:
        return times.between(self.began, self.ended)

    @property
    def let_through(self) -> str:
        """What is said where nothing has to be told: that nothing was let through is known only of what has ended."""
        if self.verdict.outcome is None:
            return "Nothing that was let through is known so far; no end was told."
        return "No exception was made, and every ledger is whole."

    @property
    def items(self) -> list[str]:
        """Of a task that is a list, with the tests that name them."""
        return items_in_words(self.verdict.outcome) if self.verdict.outcome else []

    @property
    def data(self) -> Json:
        return {
            "session": self.session,
            "run": self.run or None,
            "root": self.root,
            "made": self.made,
            "by": f"omo {__version__}",
            "task": self.task or None,
            "verdict": self.verdict.data,
            "outcome": self.verdict.outcome,
            "notices": [notice.data for notice in self.notices],
            "changed": [path for path, _ in self.changed.files],
            "works": [part.view.data for part in self.parts],
        }


class Chosen(NamedTuple):
    """What is reported: a session's work as it is, or one run of one kind."""

    session: str
    kind: str = ""


def gather(context: Context, name: str, run: str = "") -> Report:
    """Every file is read: what a report calls proven rests on nothing that was remembered."""
    chosen = find_run(context, run, name) if run else Chosen(name)
    session = project.look_at(context, chosen.session, closely=False)
    is_own_run = chosen.kind in [workflow.kind for workflow in table.with_runs()]
    viewer = Viewer(context, chosen.session, session.brief.row, reads_all=True, run=run if is_own_run else "")
    statuses = [status for status in works.works_of(viewer) if not run or status.kind == chosen.kind]
    if not run:
        statuses = _without_cancelled(statuses, session)
    session = session._replace(works=statuses, problems=_ledger_problems(context.state, session, run))
    events = viewer.events
    has_runs = any(row.runs.names_of(context.state, chosen.session) for row in table.with_runs())
    if not (statuses or events or has_runs or session.brief.now.unreadable):
        raise Refused(f"session {clip(chosen.session, 80)} has nothing to report", fix="omo status --all")
    parts = parts_of(viewer, statuses)
    begins = [part.whole.began for part in parts if part.whole.began]
    since = _asked_at(events, min(begins)) if begins else ""
    until = parts[0].whole.ended if run and parts else ""
    stamps = [str(row.get("ts")) for row in events]
    told = notices(context, session, parts)
    if since and not run:  # a run that was named stands for itself
        told += unproven_before(events, since)
    told += refused(events, since)
    changed = _changed_files(viewer.files, parts)
    lines = unchecked_lines.earlier(context.state, context.root)
    if lines is not None and lines.paths.isdisjoint(path for path, _ in changed.files):
        lines = None  # that look was at files of other work
    return Report(
        view=session,
        root=context.root,
        made=stamp(context.now),
        task=_task(events, parts),
        changed=changed,
        parts=tuple(parts),
        began=since or (stamps[0] if stamps else ""),
        ended=until or (stamps[-1] if stamps else ""),
        notices=tuple(told),
        verdict=verdict(session, run),
        blocks=_blocks(events, since, until),
        run=run,
        lines=lines,
    )


def _without_cancelled(statuses: list[Status], session: SessionView) -> list[Status]:
    """What the user cancelled for something else is none of that, unless it is all there is."""
    cancelled = [work.kind for work in session.brief.work if work.state == runtime.CANCELLED]
    return [status for status in statuses if status.kind not in cancelled] or statuses


def _asked_at(events: Sequence[SessionEvent], began: str) -> str:
    """When the user asked for what began at that moment; the moment itself where nobody asked."""
    asked = ""
    for row in events:
        if row.get("kind") in ASKED and str(row.get("ts")) <= began:
            asked = str(row["ts"])
    return asked or began


def _blocks(events: Sequence[SessionEvent], since: str, until: str) -> int:
    """How often this run was sent back."""
    blocks = [str(row.get("ts")) for row in events if is_block(row)]
    return len([ts for ts in blocks if since <= ts and (not until or ts <= until)])


def _task(events: Sequence[SessionEvent], parts: Sequence[Part]) -> str:
    """What the person typed that set the work going."""
    for part in parts:
        if texts := requests.of_run(events, part.view.kind, part.view.run):
            return texts[0]
    return ""


def _changed_files(files: Files, parts: Sequence[Part]) -> Changed:
    """What differs from the files with which the leading work began."""
    for part in parts:
        if part.sections.base:
            try:
                return _changed_since(files, part.sections)
            except OmoError as error:
                return Changed(unknown=clip(error.message, 200))
    return Changed(unknown="nothing says what the work began with")


def _changed_since(files: Files, sections: Sections) -> Changed:
    """What was changed by this work alone, where that was noted when it ended; else all up to now. The base is a
    commit, or the files as the row of an arming has them."""
    root, began = files.root, sections.base
    assert began
    if isinstance(began, dict):
        commit, before = str(began.get("head") or ""), runtime.part(began, "files")
    else:
        commit, before = began, {}
    if sections.changed is not None:
        paths = sections.changed
    elif isinstance(began, dict):
        look = files.look(began).without(sections.left_out)
        if look.changed is None:
            return Changed(unknown=clip(look.unknown, 200))
        paths = sorted(look.changed)
    else:
        paths = changes.changed(Path(root), began)
    known = {*before, *(commit_at(root, str(commit)).names if commit else ())}
    named = []
    for path in paths:
        how = "" if path in known else "new"
        if not os.path.lexists(os.path.join(root, path)):
            how = "gone"
        if not path.startswith(base.OWN_DIRECTORIES):
            named.append((path, how))
    return Changed(tuple(named))


def _ledger_problems(state: str, view: SessionView, run: str) -> tuple[str, ...]:
    """What is wrong with the session's ledger. Nothing is known of that by a row which nobody can read, nor, for a run
    that has a ledger of its own, by one that was dropped for its age."""
    if view.brief.mode == "unreadable" or (run and view.brief.row is EMPTY):
        return ()
    try:
        return tuple(runtime.ledger_problems(state, view.name))
    except Unreadable as error:
        return (error.message,)


def find_run(context: Context, run: str, session: str) -> Chosen:
    """A run of any kind by its name, wherever in the project it was."""
    caller = Viewer(context, session).caller
    known: list[str] = []
    for row in table.with_runs():
        kind = row.runs
        names = kind.names(context.state)
        if run in names:
            state = Run(kind, caller, run).state
            return Chosen(state.session if state else session, kind.name)
        known += reversed(names)
    for owner, of_session in sorted(runtime.sessions(context.state).items(), key=lambda item: item[0] != session):
        for kind_name, summary in of_session["work"].items():
            if summary.get("run") == run:
                return Chosen(owner, kind_name)
    raise BadInput(
        f"--run {clip(run, 80)}: there is no such run in this project; of ultrawork a conversation keeps its last",
        fix=f"omo report without --run, or with --session ID; known: {listed(known) or 'none'}",
    )
