"""One plan session on disk: its ledger is the truth, and the spec it was started with is pinned beside it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from omo.digest import sha256
from omo.errors import Refused, Unreadable
from omo.state import paths, runtime
from omo.state.journal import Journal
from omo.state.runtime import part
from omo.ultraplan import document as documents
from omo.ultraplan.models import Document
from omo.ultraplan.record import Record, fold

Row = dict[str, Any]

KIND = "ultraplan"
SHORTEST_REASON = 10
START = "omo plan start SPEC"
ABANDON = 'omo plan finish --abandon "why"'


@dataclass(frozen=True)
class PlanRun:
    """Whose plan session, where and when, and by whom: handed in once. `named` is another run than the current one."""

    state: str
    root: str
    session: str
    by: str
    now: float
    wait: float
    limits: Row = field(default_factory=dict)
    named: str = ""
    follows: bool = True  # a run goes along with a project that was moved; a view only looks

    @property
    def here(self) -> str:
        return os.path.realpath(self.root)

    def summary(self) -> Row:
        """What hooks read of this session's run."""
        try:
            return _told(runtime.session(self.state, self.session) or {})
        except Unreadable:
            return {}

    def current(self) -> str:
        """`--run`, else the open run of the session, else the last its row names. A row that was lost, or never
        written because of a crash, hides no open run."""
        if self.named:
            return self.named
        told = str(self.summary().get("run") or "")
        mine = [one for one in records(self.state) if one.run == told or self._is_mine(one)]
        still_open = [one.run for one in mine if one.is_open]
        return told if told in still_open or not still_open else still_open[-1]

    def _is_mine(self, record: Record) -> bool:
        return record.session == self.session and record.root == self.here

    def journal(self, run: str) -> Journal:
        return Journal(paths.plan_run_dir(self.state, run), self.state)

    def look(self) -> tuple[Record | None, list[str]]:
        """The run and what is wrong with its ledger. A project that was moved takes its runs along."""
        if self.follows:
            self._follow()
        run = self.current()
        if not run:
            return None, []
        rows, problems = self.journal(run).read()
        record = fold(run, rows)
        if record is None and not problems:
            problems = [f"{paths.plan_run_dir(self.state, run)} is gone"]
        return record or Record(run), problems

    def _follow(self) -> None:
        """Where a recorded root is gone, this is where it went; one that is still there belongs to another project."""
        for one in records(self.state):
            if one.root and not os.path.isdir(one.root) and not self.journal(one.run).problems():
                self.rebind(one.run)

    def rebind(self, run: str) -> None:
        self.append(run, {"kind": "moved", "root": self.here})

    def holder(self, run: str) -> str:
        """The session whose row names a run; this one where none does."""
        try:
            rows = runtime.read(self.state)["sessions"]
        except Unreadable:
            return self.session
        named = [name for name, row in rows.items() if isinstance(row, dict) and _told(row).get("run") == run]
        return self.session if self.session in named or not named else str(named[0])

    def require(self) -> Record:
        """Refused where there is none, or where its ledger was changed by hand."""
        record, problems = self.look()
        if record is None:
            raise Refused(f"session {self.session} has no plan session", fix=START)
        if problems:
            what = f"the ledger of plan session {record.run} was changed by hand"
            raise Refused(what, fix=f"{ABANDON}, then {START}", defects=problems)
        return record

    def require_open(self) -> Record:
        record = self.require()
        if not record.is_open:
            how = f"ended ({record.end})" if record.end else "never began: something it needs is missing"
            raise Refused(f"plan session {record.run} {how}", fix="omo plan status")
        return record

    def append(self, run: str, *events: Row, publish: Callable[[], None] | None = None) -> None:
        self.journal(run).change(
            lambda rows: (None, list(events)), actor=self.by, now=self.now, wait=self.wait, publish=publish
        )


def records(state: str) -> list[Record]:
    """Every run of the project that left a readable row, oldest first."""
    try:
        names = sorted(os.listdir(paths.plans_dir(state)))
    except (FileNotFoundError, NotADirectoryError):
        return []
    names = [name for name in names if name != "reviews"]
    found = [fold(name, Journal(paths.plan_run_dir(state, name), state).read()[0]) for name in names]
    return sorted((one for one in found if one is not None), key=lambda one: (one.at, one.run))


def record_of(state: str, run: str) -> Record | None:
    return next((one for one in records(state) if one.run == run), None)


def pinned_path(state: str, run: str) -> str:
    return os.path.join(paths.plan_run_dir(state, run), "spec.md")


def pinned(state: str, record: Record) -> Document:
    """The spec as it was started: from the copy, or from any file that still has the digest the ledger names."""
    for path in (pinned_path(state, record.run), os.path.join(record.root, record.spec)):
        text = text_of(path)
        if text is not None and digest_of(text) == record.digest:
            return documents.parse(text, record.spec)
    raise Refused(
        f"the spec of plan session {record.run} is no longer what it was started with, digest {record.digest[:12]}",
        fix=f"{ABANDON}, then {START}",
    )


def digest_of(text: str) -> str:
    return sha256(text.encode("utf-8", "replace"))


def edited(record: Record) -> str:
    """What happened to the spec's file after the start; empty while it is as it was."""
    text = text_of(os.path.join(record.root, record.spec))
    if text is None:
        return f"{record.spec} was deleted after start; the copy made then is what counts"
    if digest_of(text) != record.source:
        return f"the spec was edited after start: {record.spec}; the copy made then is what counts"
    return ""


def runs_at(state: str, root: str, path: str) -> list[Record]:
    """The runs of what lies at a place, oldest first: of the spec they were started with, or recover, or of the plan.
    What a begun recovery took over is not among them."""
    known = {one.run: one for one in records(state) if one.base}
    here = os.path.realpath(path)

    def places(record: Record) -> set[str]:
        line = _line(record, known)
        return {os.path.realpath(os.path.join(root, name)) for one in line for name in (one.spec, one.master) if name}

    over = {one.recovery_of for one in known.values()}
    return [one for one in known.values() if one.run not in over and here in places(one)]


def _line(record: Record, known: Mapping[str, Record]) -> list[Record]:
    line = [record]
    while (parent := known.get(line[-1].recovery_of)) is not None and parent not in line:
        line.append(parent)
    return line


def find_base(state: str, document: Document) -> str | None:
    """Where the work on a document began, as the ledger knows: for a spec its latest start, for a plan its first."""
    began = _runs_of(state, document)
    return began[0].base if began else None


def find_skipped(state: str, document: Document) -> dict[int, str]:
    """The steps that were skipped since then, with the reasons."""
    return {step: why for record in _runs_of(state, document) for step, why in record.skipped.items()}


def find_noted(state: str, document: Document) -> set[int]:
    """The steps that were once noted as passed."""
    return {step for record in _runs_of(state, document) for step in record.seen}


def problems_of(state: str, session: str) -> list[str]:
    """What was changed by hand in the plan sessions of one session, or is gone."""
    told = _told(runtime.session(state, session) or {}).get("run")
    mine = [one for one in records(state) if one.session == session or one.run == told]
    found = [f"{one.run}: {line}" for one in mine for line in _problems(state, one)]
    if told and told not in [one.run for one in mine]:
        found.append(f"{told}: {paths.plan_run_dir(state, str(told))} is gone, or holds nothing readable")
    return found


def _problems(state: str, record: Record) -> list[str]:
    found = Journal(paths.plan_run_dir(state, record.run), state).problems()
    text = text_of(pinned_path(state, record.run)) if record.base else None
    if record.base and (text is None or digest_of(text) != record.digest):
        found.append("spec.md is not the spec that was started")
    return found


def _runs_of(state: str, document: Document) -> list[Record]:
    """The runs that worked on a document, oldest first: recoveries too, abandoned attempts not."""
    known = [one for one in records(state) if one.base]
    if document.kind == "plan":
        return [one for one in known if one.plan == document.digest and one.end != "abandoned"]
    started = [one for one in known if document.digest in (one.digest, one.source)]
    if not started:
        return []
    after = known[known.index(started[-1]) :]
    return [one for one in after if one.lineage == started[-1].lineage]


def text_of(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8-sig", errors="replace", newline="") as file:
            return file.read(documents.LARGEST + 1)
    except (OSError, ValueError):
        return None


def _told(row: Row) -> Row:
    return part(part(row, "work"), KIND)
