"""A plan session: as its ledger tells it, by the plan that was pinned at its start, and what git shows of it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from omo.digest import sha256
from omo.errors import NotEvaluable, OmoError, Refused, Unreadable
from omo.state import paths
from omo.text import clip
from omo.work.bound import REOPENED
from omo.work.outcome import exception, repaired
from omo.work.run import Caller, Kind, Row, Run, load, tag
from omo.workflows.ultraplan import document as documents
from omo.workflows.ultraplan import history as histories
from omo.workflows.ultraplan import sessions, verify
from omo.workflows.ultraplan.audit import Audit, audit_history, unknown
from omo.workflows.ultraplan.history import History
from omo.workflows.ultraplan.models import Document
from omo.workflows.ultraplan.propose import synthesise
from omo.workflows.ultraplan.verify import Verify

KIND = "ultraplan"
MOST_RECOVERIES = 2
START = "omo plan start PLAN"
STARTED = (
    *("session", "path", "plan", "number", "order", "base", "runner", "root", "fence", "steps"),
    *("depth", "unreviewed", "is_named", "left_behind", "handoffs"),
)
SHORT_TAG = 4


@dataclass(frozen=True)
class PlanState:
    """A run as its rows tell it. `end` is empty, pass, failed or abandoned; without a `base` the run never began.

    A recovery opens the run again: the session stays the same, with all its steps and its base.
    """

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
    depth: int = 0  # how often the session was recovered
    recovering: tuple[int, ...] = ()  # the steps that the last recovery is for
    unreviewed: str = ""
    is_named: bool = False  # the user named this very text after /omo:ultraexecute
    left_behind: tuple[str, ...] = ()  # what an earlier session of the lineage changed outside the fence
    handoffs: tuple[str, ...] = ()  # what earlier sessions of the plan left for this one
    is_legacy: bool = False  # of a plan before 1.7: no critic looked, and manifests may have been made up
    is_part: bool = False  # an older omo recovered a session by a run of its missing steps
    preflight: Row = field(default_factory=dict)
    lacks: tuple[str, ...] = ()  # what the last preflight missed; nothing began since, nor ended
    skipped: Mapping[int, str] = field(default_factory=dict)
    seen: tuple[int, ...] = ()
    audited: Row = field(default_factory=dict)
    verified: Row = field(default_factory=dict)  # what the Verify commands said when they last ran
    finished: Row = field(default_factory=dict)
    repairs: tuple[Row, ...] = ()  # of its ledger, by the user

    @property
    def end(self) -> str:
        return str(self.finished.get("verdict") or "")

    @property
    def sessions(self) -> int:
        return len(self.order)

    @property
    def is_open(self) -> bool:
        return bool(self.base) and not self.end

    @property
    def word(self) -> str:
        if self.lacks:
            return "blocked"
        return self.end or "active"

    @property
    def not_open(self) -> Refused:
        """What is said to whoever wants to act on a run that is not under way."""
        how = f"ended ({self.end})" if self.end else f"never began: {self.preflight.get('why')}"
        return Refused(f"plan session {self.run} {how}", fix="omo plan status")

    def verified_as(self, result: str) -> list[Row]:
        """The Verify commands that came to this when they last ran."""
        return [row for row in self.verified.get("results") or [] if row["result"] == result]

    @property
    def done(self) -> list[int]:
        """The steps that were seen to pass, or passed when the run ended."""
        return sorted({*self.seen, *(self.finished.get("passed") or ())})

    @property
    def spec(self) -> str:
        """The name of what its executor reads."""
        return f"recovery-{self.depth}.md" if self.recovering else "spec.md"

    @property
    def exceptions(self) -> list[Row]:
        """What was let through without its proof: what, by whom, and why."""
        let_through = [repaired(row) for row in self.repairs]
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
    try:
        for row in rows:
            state = _after(state, row)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise Unreadable(f"a row of plan session {run} is none that omo writes: {clip(repr(error), 100)}") from None
    return state if state.started_at else None


def _after(state: PlanState, row: Row) -> PlanState:
    kind = row.get("kind")
    if kind == "preflight":
        if not state.base:
            state = replace(state, session=row["session"], path=row["path"], started_at=row["ts"])
        return replace(state, preflight=row, lacks=tuple(row.get("missing") or ()))
    if kind == "started":
        return _started(state, row)
    if kind == "skipped":
        return replace(state, skipped={**state.skipped, int(row["step"]): str(row["reason"])})
    if kind == "audited":  # what was once seen to pass stays seen, whatever a later row says
        return replace(state, audited=row, seen=tuple(sorted({*state.seen, *row["passed"]})))
    if kind == "verified":
        return replace(state, verified=row)
    if kind == "recovered":
        return replace(
            state,
            session=row.get("session", state.session),
            depth=int(row["depth"]),
            recovering=tuple(row["missing"]),
            fence={**state.fence, "uncommitted": row.get("uncommitted")},
            lacks=(),
            finished={},
        )
    if kind == "finished":
        return replace(state, finished=row, lacks=())
    if kind == REOPENED:
        return replace(state, finished={})
    if kind == "repaired":
        return replace(state, repairs=(*state.repairs, row))
    if kind == "adopted":
        return replace(state, session=row["session"])
    if kind == "moved":  # the project lies elsewhere now, and its fence with it
        return replace(state, root=row["root"], fence={**state.fence, "root": row["root"]})
    return state


def _started(state: PlanState, row: Row) -> PlanState:
    same: Row = {}  # what the row and the state call the same
    for key in STARTED:
        if row.get(key) is not None:
            same[key] = tuple(row[key]) if isinstance(row[key], list) else row[key]
    return replace(
        state,
        **same,
        started_at=row["ts"],
        by=row["actor"],
        verify=verify.read(row.get("verify") or []),
        is_legacy=row.get("legacy") is True,
        is_part=bool(row.get("recovery_of")),
        lacks=(),
    )


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
    """The runs of the plan at a place, whatever its text was, oldest first."""
    name = from_top(caller, path)
    return [state for state in _begun(caller, 1, name) if state.path == name]


def from_top(caller: Caller, path: Path | str) -> str:
    """From the project's top where it lies below it; the links in it followed."""
    real = os.path.realpath(os.path.join(caller.root, path))
    inside = os.path.relpath(real, caller.here)
    return real if inside.startswith("..") else inside.replace(os.sep, "/")


def depth_of(runs: Sequence[PlanState], number: int) -> int:
    """How often a session of a plan was recovered, over every run of it."""
    return max((state.depth for state in runs if state.number == number), default=0)


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
    """What a session is held to, as its plan had it at the start."""
    if state.is_part:
        raise Refused(f"plan session {state.run} was begun by an older omo, for some steps of a session")
    for document in sessions.cut(pinned_plan(caller_state, state)):
        if document.sessions[0].number == state.number:
            return document
    raise Refused(f"{state.path} has no session {state.number}", fix=START)


# what git and the files show

NOT_AUDITED = Audit(None, None, [])
NO_PLAN = Document("", "")


@dataclass(frozen=True)
class RunStatus:
    """`audit` decides, and `document` is what it was held to."""

    run: PlanRun
    document: Document = NO_PLAN
    audit: Audit = NOT_AUDITED
    broken: str = ""  # why the plan cannot be believed any more
    edited: str = ""
    whole: History | None = None  # from where the plan's first session began, for whoever answers for all of it

    @property
    def state(self) -> PlanState:
        return self.run.state or PlanState(self.run.id)

    @property
    def problems(self) -> list[str]:
        return self.run.problems

    @property
    def unknown(self) -> str:
        """Why nothing can be said; empty where something can."""
        if self.audit.verdict != "unknown" or not self.audit.steps:
            return self.broken
        reasons = list(self.audit.problems)
        for step in self.audit.steps:
            if step.status == "unknown":
                reasons += step.findings
        return next(iter(reasons), "nothing could be established")

    def require_evaluable(self) -> None:
        """Raises for a session of which nothing can be said."""
        if self.unknown:
            error: type[OmoError] = Refused if self.broken else NotEvaluable
            raise error(self.unknown, fix="omo plan status names the way on")


def load_status(caller: Caller, named: str = "") -> RunStatus | None:
    """The session's run, or the one that is named, and what git and the files show of it. Nothing is written."""
    run = load(PLAN, caller, named)
    if run is None:
        return None
    if run.problems or run.state is None or not run.state.base:
        return RunStatus(run)
    return audit_run(run)


def audit_run(run: PlanRun, *, is_ending: bool = False) -> RunStatus:
    """What git and the files show of one session, by the plan that was pinned.

    A session that passed is held to what was there when it did: what comes after it is not its own. Of several, the
    next may build on its files: what the manifests say of those held when it ended, and `audit_plan` looks at them now.
    """
    caller, state = run.caller, run.state
    assert state is not None
    if state.root != caller.here and os.path.isdir(state.root):
        # A copy of the project, or another worktree: that is never audited from here. One that was moved is.
        return RunStatus(run, broken=f"plan session {state.run} belongs to {state.root}, and this is {caller.here}")
    edited = _edited(caller, state)
    try:
        document = pinned_part(caller.state, state)
    except Refused as error:
        return RunStatus(run, broken=error.message, edited=edited)
    whole = None
    if is_ending and state.sessions > 1:
        with suppress(NotEvaluable):
            whole = _whole_history(caller, state)
    try:
        history = whole.since(state.base) if whole else histories.look(Path(caller.here), state.base)
        if state.end == "pass":
            history = history.until(str(state.finished.get("head") or ""), is_past=state.sessions > 1)
    except NotEvaluable as error:
        return RunStatus(run, document, unknown(document, error), edited=edited)
    return RunStatus(run, document, audit_history(document, history, state.skipped), edited=edited, whole=whole)


def _edited(caller: Caller, state: PlanState) -> str:
    """What became of the plan since it was started from; empty where nothing did."""
    text = documents.text_of(os.path.join(caller.here, state.path))
    if text is not None and sha256(text.encode("utf-8", "replace")) == state.plan:
        return ""
    became = "deleted" if text is None else "edited"
    return f"{clip(state.path, 200)} was {became} after start; the copy made then is what counts"


def audit_file(caller: Caller, path: Path) -> RunStatus:
    """A plan of which a session began: what is recorded of it tells where the work began and what was skipped."""
    runs = runs_at(caller, path)
    if not runs:
        document = documents.load(path, Path(caller.root))
        raise Refused(
            f"no session of {clip(document.path, 200)} was begun, so nobody knows where the work did",
            fix=f"omo plan start {shlex.quote(document.path)}",
        )
    run = Run(PLAN, caller, runs[-1].run)
    run.require_whole()  # one that was copied with its project tells where the work began there, not here
    return audit_plan(run)


def audit_plan(run: PlanRun, whole: History | None = None) -> RunStatus:
    """The whole plan that a session is of, as it is now, from where its first session began."""
    caller, state = run.caller, run.state
    assert state is not None
    document = synthesise(pinned_plan(caller.state, state))
    edited = _edited(caller, state)
    try:
        history = whole or _whole_history(caller, state)
    except NotEvaluable as error:
        return RunStatus(run, document, unknown(document, error), edited=edited)
    skipped: dict[int, str] = {}
    for other in runs_of_plan(caller, state.plan):
        skipped |= other.skipped
    return RunStatus(run, document, audit_history(document, history, skipped), edited=edited)


def _whole_history(caller: Caller, state: PlanState) -> History:
    for other in runs_of_plan(caller, state.plan):
        is_lost = other.end == "abandoned" and other.finished.get("audit") == "unknown"
        if not is_lost:  # a base that the history no longer has is no base
            return histories.look(Path(caller.root), other.base)
    raise NotEvaluable(f"no session of {state.path} has a base in the history")
