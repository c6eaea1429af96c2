"""A plan session as its ledger tells it, and the plan that was pinned at its start."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from omo.digest import sha256
from omo.errors import Refused
from omo.state import paths
from omo.state.runtime import part
from omo.text import clip
from omo.work.outcome import exception
from omo.work.run import Caller, Kind, Row, Run, tag
from omo.workflows.ultraplan import document as documents
from omo.workflows.ultraplan import sessions, verify
from omo.workflows.ultraplan.models import Document
from omo.workflows.ultraplan.verify import Verify

KIND = "ultraplan"
MOST_RECOVERIES = 2
ENDED = ("pass", "failed", "abandoned")
START = "omo plan start PLAN"
SHORT_TAG = 4


@dataclass(frozen=True)
class PlanState:
    """A run as its rows tell it. `end` is empty, pass, failed, abandoned or recovered; without a `base` the run never
    began, because something it needs was missing."""

    run: str
    started_at: str = ""
    by: str = "agent"  # who started it
    session: str = ""
    path: str = ""  # the plan's
    plan: str = ""  # the digest of its text
    number: int = 1  # which session of the plan it is
    order: tuple[int, ...] = (1,)  # its sessions, in the order they can be carried out
    base: str = ""
    runner: Row = field(default_factory=dict)  # files that change what a test runner does, as they were then
    root: str = ""
    fence: Row = field(default_factory=dict)
    steps: tuple[int, ...] = ()
    verify: tuple[Verify, ...] = ()  # the commands that were pinned
    depth: int = 0
    recovery_of: str = ""
    unreviewed: str = ""
    left_behind: tuple[str, ...] = ()  # what an earlier session of the lineage changed outside the fence
    handoffs: tuple[str, ...] = ()  # what earlier sessions of the plan left for this one
    is_legacy: bool = False  # of a plan before 1.7: no critic looked, and manifests may have been made up
    preflight: Row = field(default_factory=dict)
    skipped: Mapping[int, str] = field(default_factory=dict)
    seen: tuple[int, ...] = ()
    audited: Row = field(default_factory=dict)
    verified: Row = field(default_factory=dict)  # what the Verify commands said when they last ran
    recovered: Row = field(default_factory=dict)
    finished: Row = field(default_factory=dict)

    @property
    def end(self) -> str:
        if self.finished:
            return str(self.finished.get("verdict") or "")
        return "recovered" if self.recovered else ""

    @property
    def sessions(self) -> int:
        return len(self.order)

    @property
    def is_open(self) -> bool:
        return bool(self.base) and not self.end

    @property
    def is_fenced(self) -> bool:
        """Until what recovers it has begun, a recovered run holds its fence."""
        return self.is_open or self.end == "recovered"

    @property
    def word(self) -> str:
        return self.end or ("active" if self.base else "blocked")

    def verified_as(self, result: str) -> list[Row]:
        """The Verify commands that came to this when they last ran."""
        return [row for row in self.verified.get("results") or [] if row["result"] == result]

    @property
    def done(self) -> list[int]:
        """The steps that were seen to pass, or passed when the run ended."""
        return sorted({*self.seen, *_numbers(self.finished.get("passed"))})

    @property
    def exceptions(self) -> list[Row]:
        """What was let through without its proof: what, by whom, and why."""
        let_through = []
        if self.unreviewed:
            let_through.append(exception("no clean critique of the plan", self.by, self.unreviewed))
        if self.is_legacy:
            what = "a plan before 1.7: no critic was asked"
            let_through.append(exception(what, self.by, "what it does not say was taken from its prose"))
        for path in self.left_behind:
            let_through.append(exception("changed by an earlier session outside its fence", "agent", path))
        if self.preflight.get("bypassed"):
            whose = str(self.preflight.get("actor") or self.by)
            let_through.append(exception("preflight bypassed", whose, str(self.preflight["bypassed"])))
        return let_through

    @property
    def overrides(self) -> list[str]:
        """The same in words, for every view."""
        return [f"{exception['what']}: {exception['why']}" for exception in self.exceptions]


def fold(rows: list[Row], run: str) -> PlanState | None:
    state = PlanState(run)
    for row in rows:
        kind = row.get("kind")
        if kind == "preflight":
            texts = _texts(row, "session", "path", "recovery_of")
            state = replace(state, preflight=row, started_at=str(row.get("ts") or ""), **texts)
        elif kind == "started":
            state = _started(state, row)
        elif kind == "skipped":
            skipped = {**state.skipped, _number(row.get("step")): str(row.get("reason") or "")}
            state = replace(state, skipped=skipped)
        elif kind == "audited":  # what was once seen to pass stays seen, whatever a later row says
            seen = tuple(sorted({*state.seen, *_numbers(row.get("passed"))}))
            state = replace(state, audited=row, seen=seen)
        elif kind == "verified":
            state = replace(state, verified=row)
        elif kind == "recovered":
            state = replace(state, recovered=row, finished={})
        elif kind == "finished":
            state = replace(state, finished=row)
        elif kind == "adopted":
            state = replace(state, **_texts(row, "session"))
        elif kind == "moved":  # the project lies elsewhere now, and its fence with it
            root = str(row.get("root") or state.root)
            state = replace(state, root=root, fence={**state.fence, "root": root})
    return state if state.started_at else None


def _started(state: PlanState, row: Row) -> PlanState:
    return replace(
        state,
        **_texts(row, "session", "path", "plan", "base", "root", "recovery_of", "unreviewed"),
        started_at=str(row.get("ts") or ""),
        by=str(row.get("actor") or state.by),
        number=_number(row.get("number")) or 1,
        order=_numbers(row.get("order")) or (1,),
        runner=part(row, "runner"),
        fence=part(row, "fence"),
        steps=_numbers(row.get("steps")),
        verify=verify.read(row.get("verify")),
        depth=_number(row.get("depth")),
        left_behind=tuple(map(str, row.get("left_behind") or ())),
        handoffs=tuple(map(str, row.get("handoffs") or ())),
        is_legacy=row.get("legacy") is True,
    )


def _texts(row: Row, *names: str) -> Row:
    return {name: str(row.get(name) or "") for name in names}


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _numbers(value: object) -> tuple[int, ...]:
    return tuple(_number(number) for number in value) if isinstance(value, list) else ()


PLAN: Kind[PlanState] = Kind(KIND, "plan session", "p", START, paths.plans_dir, fold)
PlanRun = Run[PlanState]


# which runs belong together: their ids say so, so that no other ledger is opened


def tags(plan: str, path: str) -> str:
    """What the id of a run is found by: the plan's text, and where the plan lies."""
    return tag(plan)[:SHORT_TAG] + tag(path)[:SHORT_TAG]


def _begun(caller: Caller, position: int, text: str) -> list[PlanState]:
    """The runs that have the tag of a text at a position, and began."""
    wanted = tag(text)[:SHORT_TAG]
    first = position * SHORT_TAG
    begun = []
    for name in PLAN.names(caller.state):
        if name.rpartition("-")[2][first : first + SHORT_TAG] == wanted:
            state = Run(PLAN, caller, name).state
            if state is not None and state.base:
                begun.append(state)
    return begun


def runs_of_plan(caller: Caller, digest: str) -> list[PlanState]:
    """The runs that began on one text of a plan, oldest first."""
    return [state for state in _begun(caller, 0, digest) if state.plan == digest]


def runs_at(caller: Caller, path: Path) -> list[PlanState]:
    """The runs of the plan at a place, whatever its text was, oldest first; what a recovery took over is not among
    them."""
    name = from_top(caller, path)
    runs = [state for state in _begun(caller, 1, name) if state.path == name]
    taken_over = {state.recovery_of for state in runs}
    return [state for state in runs if state.run not in taken_over]


def from_top(caller: Caller, path: Path | str) -> str:
    """From the project's top where it lies below it; the links in it followed."""
    real = os.path.realpath(os.path.join(caller.root, path))
    inside = os.path.relpath(real, caller.here)
    return real if inside.startswith("..") else inside.replace(os.sep, "/")


def depth_of(runs: Sequence[PlanState], number: int) -> int:
    """How often a session of a plan was recovered, over every run of it."""
    depth = 0
    for state in runs:
        if state.number == number:
            depth = max(depth, state.depth, _number(state.recovered.get("depth")))
    return depth


def line_of(caller: Caller, state: PlanState) -> list[PlanState]:
    """A run and those it recovers, the first of them first."""
    line = [state]
    known = {state.run}
    while line[0].recovery_of and line[0].recovery_of not in known:
        known.add(line[0].recovery_of)
        parent = Run(PLAN, caller, line[0].recovery_of).state
        if parent is None or not parent.base:
            raise Refused(f"plan session {line[0].recovery_of}, which this one recovers, is gone")
        line.insert(0, parent)
    return line


def require_shown(caller: Caller) -> None:
    """An agent that failed or gave up goes on only once Stop has shown the user how that ended."""
    summary = caller.summary(KIND)
    run = str(summary.get("run") or "")
    if caller.by == "user" or summary.get("state") != "blocked" or summary.get("told") is not False:
        return
    state = None if summary.get("cleared") else Run(PLAN, caller, run).state
    if state is not None and not state.end:
        return  # something it needs was missing: nothing was begun
    why = clip(str(summary.get("why") or ""), 200)
    raise Refused(
        f"plan session {run} ended without a pass, and the user has not been shown it: {why}",
        fix="end your turn with what you would tell them; the next Stop shows it, and they say how to go on",
    )


# the plan that was pinned


def pinned_path(state: str, run: str, name: str) -> str:
    return os.path.join(paths.plan_run_dir(state, run), name)


def pinned_plan(caller_state: str, state: PlanState) -> Document:
    """The plan as it was started: from the copy, or from the file where that still has the digest of the ledger."""
    for path in (pinned_path(caller_state, state.run, "plan.md"), os.path.join(state.root, state.path)):
        text = documents.text_of(path)
        if text is not None and sha256(text.encode("utf-8", "replace")) == state.plan:
            return documents.parse(text, state.path)
    raise Refused(
        f"{clip(state.path, 200)} of plan session {state.run} is no longer what it was started with, digest "
        f"{state.plan[:12]}",
        fix=f'omo plan finish --abandon "why", then {START}',
    )


def pinned_part(caller_state: str, state: PlanState) -> Document:
    """What a session is held to, as its plan had it at the start; a recovery is held to the whole of it."""
    for session in sessions.cut(pinned_plan(caller_state, state)):
        if session.number == state.number:
            return session.document
    raise Refused(f"{state.path} has no session {state.number}", fix=START)
