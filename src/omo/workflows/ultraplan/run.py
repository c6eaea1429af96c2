"""A plan session as its ledger tells it, and the plan that was pinned at its start."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from omo import table
from omo.digest import sha256
from omo.errors import NotEvaluable, Refused, Unreadable
from omo.proof import changes, git
from omo.state import paths
from omo.state.ledger_rows import From, LedgerRow
from omo.text import clip
from omo.work.bound import REOPENED
from omo.work.outcome import exception, repaired
from omo.work.run import Caller, Kind, Run, tag
from omo.workflows.ultraplan import document as documents
from omo.workflows.ultraplan import history as histories
from omo.workflows.ultraplan import sessions, verify
from omo.workflows.ultraplan.history import History
from omo.workflows.ultraplan.models import Document
from omo.workflows.ultraplan.verify import Verify, VerifyRow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.rows import FenceLists, FilesAtEnd, LetThrough, Outcome


class RunRow(LedgerRow, From, total=False):
    """A row of a plan session's ledger, of whichever kind."""

    session: str
    path: str
    plan: str
    number: int
    order: list[int]
    base: str
    began: str
    runner: dict[str, str]
    root: str
    fence: FenceLists
    steps: list[int]
    verify: list[VerifyRow]
    done: dict[str, str]
    depth: int
    left_behind: list[str]
    handoffs: list[str]
    unreviewed: str
    is_named: bool
    legacy: bool
    needs: list[object]
    missing: Any  # the steps; of a preflight the names of what it missed
    bypassed: str
    why: str
    step: int
    reason: str
    passed: list[int]
    head: str | None
    uncommitted: list[str] | None
    verdict: str
    audit: str
    by: str
    handoff: str
    failed: object
    unverified: str
    violations: list[str]
    files: FilesAtEnd
    report: str
    outcome: Outcome
    results: list[VerifyRow]


KIND = "ultraplan"
MOST_RECOVERIES = 2
START = "omo plan start PLAN"
SHORT_TAG = 4
NO_FENCE: FenceLists = {}
NO_ROW: RunRow = {}


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
    began: str = ""  # the base of the first run of the session, where that was another
    runner: Mapping[str, str] = field(default_factory=dict)  # what changes what a test runner does, as it was then
    root: str = ""
    fence: FenceLists = field(default_factory=NO_FENCE.copy)
    steps: tuple[int, ...] = ()
    before: Mapping[int, str] = field(default_factory=dict)  # those that were done when it began, with their commits
    verify: tuple[Verify, ...] = ()  # the commands that were pinned
    depth: int = 0  # how often the session was recovered
    recovering: tuple[int, ...] = ()  # the steps that the last recovery is for
    unreviewed: str = ""
    is_named: bool = False  # the user named this very text after /omo:ultraexecute
    left_behind: tuple[str, ...] = ()  # what an earlier session of the lineage changed outside the fence
    handoffs: tuple[str, ...] = ()  # what earlier sessions of the plan left for this one
    handoff: str = ""  # what it leaves itself for the next
    is_legacy: bool = False  # of a plan before 1.7: no critic looked, and manifests may have been made up
    preflight: RunRow = field(default_factory=NO_ROW.copy)
    lacks: tuple[str, ...] = ()  # what the last preflight missed; nothing began since, nor ended
    skipped: Mapping[int, str] = field(default_factory=dict)
    seen: tuple[int, ...] = ()
    audited: RunRow = field(default_factory=NO_ROW.copy)
    verified: RunRow = field(default_factory=NO_ROW.copy)  # what the Verify commands said when they last ran
    finished: RunRow = field(default_factory=NO_ROW.copy)
    repairs: tuple[LetThrough, ...] = ()  # of its ledger, by the user

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

    @property
    def results(self) -> tuple[Verify, ...]:
        """What became of the Verify commands when they last ran."""
        return verify.read_rows(self.verified.get("results") or [])

    def verified_as(self, result: str) -> list[Verify]:
        return [command for command in self.results if command.result == result]

    @property
    def done(self) -> list[int]:
        """The steps that were seen to pass, or passed when the run ended."""
        return sorted({*self.seen, *(self.finished.get("passed") or ())})

    @property
    def spec(self) -> str:
        """The name of what its executor reads."""
        return f"recovery-{self.depth}.md" if self.recovering else "spec.md"

    @property
    def exceptions(self) -> list[LetThrough]:
        """What was let through without its proof: what, by whom, and why."""
        exceptions = list(self.repairs)
        if self.unreviewed:
            exceptions.append(exception("no clean critique of the plan", self.by, self.unreviewed))
        if self.is_legacy:
            what = "a plan before 1.7: no critic was asked"
            exceptions.append(exception(what, self.by, "what it does not say was taken from its prose"))
        for path in self.left_behind:
            exceptions.append(exception("changed by an earlier session outside its fence", "agent", path))
        if self.preflight.get("bypassed"):
            whose = str(self.preflight.get("actor") or self.by)
            exceptions.append(exception("preflight bypassed", whose, str(self.preflight["bypassed"])))
        return exceptions

    @property
    def overrides(self) -> list[str]:
        """The same in words, for every view."""
        return [f"{exception['what']}: {exception['why']}" for exception in self.exceptions]


def fold(rows: list[RunRow], run: str) -> PlanState | None:
    state = PlanState(run)
    try:
        for row in rows:
            state = _after(state, row)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise Unreadable(f"a row of plan session {run} is none that omo writes: {clip(repr(error), 100)}") from None
    return state if state.started_at else None


def _after(state: PlanState, row: RunRow) -> PlanState:
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
    if kind == "handed-over":
        return replace(state, handoff=str(row["handoff"]))
    if kind == "finished":
        return replace(state, finished=row, lacks=(), handoff=str(row.get("handoff") or state.handoff))
    if kind == REOPENED:
        return replace(state, finished={})
    if kind == "repaired":
        return replace(state, repairs=(*state.repairs, repaired(row)))
    if kind == "adopted":
        return replace(state, session=row["session"])
    if kind == "moved":  # the project lies elsewhere now, and its fence with it
        return replace(state, root=row["root"], fence={**state.fence, "root": row["root"]})
    return state


def _started(state: PlanState, row: RunRow) -> PlanState:
    before = {int(number): str(commit) for number, commit in (row.get("done") or {}).items()}
    known: dict[str, Any] = {}
    for name in PlanState.__dataclass_fields__.keys() & row.keys():  # what the row and the state call the same
        value = row.get(name)
        if value is not None:
            known[name] = tuple(value) if isinstance(value, list) else value
    known["verify"] = verify.read_rows(row.get("verify") or [])
    known["seen"] = tuple(before)  # no progress of this session's
    return replace(
        state,
        **known,
        started_at=row["ts"],
        by=row["actor"],
        before=before,
        is_legacy=row.get("legacy") is True,
        lacks=(),
    )


PLAN: Kind[PlanState] = Kind(KIND, "plan session", "p", START, table.BY_KIND[KIND].directory, fold)
RUNS = PLAN
PlanRun = Run[PlanState]


def state_of(run: PlanRun) -> PlanState:
    return run.state or PlanState(run.id)


# which runs belong together: their ids say so, so that no other ledger is opened


def tags(plan: str, path: str) -> str:
    """What the id of a run is found by: the plan's text, and where the plan lies."""
    return tag(plan)[:SHORT_TAG] + tag(path)[:SHORT_TAG]


def runs_of_repository(caller: Caller, path: str) -> list[PlanRun]:
    """The runs that began on the plan at a place, whatever it said then, oldest first: in this worktree and in every
    other. Those of others are read and never written."""
    wanted = tag(path)[:SHORT_TAG]
    runs = []
    for root in paths.worktrees(caller.root):
        there = caller
        if root != caller.root:
            there = replace(caller, root=root, state=paths.state_beside(caller.root, caller.state, root))
        for name in PLAN.names(there.state):
            if name.rpartition("-")[2][SHORT_TAG:] == wanted:
                run = Run(PLAN, there, name)
                if state_of(run).base and state_of(run).path == path:
                    runs.append(run)
    return sorted(runs, key=lambda run: run.id)


def states_of_text(runs: Sequence[PlanRun], digest: str) -> list[PlanState]:
    """Of the runs those that began on one text of the plan."""
    return [state for state in map(state_of, runs) if state.plan == digest]


def unrecorded(runs: Sequence[PlanRun], sessions: Sequence[int]) -> list[int]:
    """The sessions of a plan that no worktree of the repository has a run of."""
    recorded = {state_of(run).number for run in runs}
    return [number for number in sessions if number not in recorded]


def history_of_plan(caller: Caller, path: str, runs: Sequence[PlanRun], sessions: Sequence[int]) -> History:
    """From where the work on a plan began: the oldest base of its runs that this branch has. One of its `sessions` that
    left no run may have been carried out in a worktree that is gone: then from before the plan was committed."""
    root = Path(caller.root)
    if unrecorded(runs, sessions):
        brought_by = git.run(root, "rev-list", "HEAD", "--", path).text.split()
        if brought_by:
            return histories.history_since(root, changes.commit_of(root, f"{brought_by[-1]}^") or brought_by[-1])
    problem = NotEvaluable(f"no session of {path} has a base in the history")
    for run in runs:
        try:
            return histories.history_since(root, state_of(run).base)
        except NotEvaluable as error:
            problem = error
    raise problem


def from_top(caller: Caller, path: Path | str) -> str:
    """From the project's top where it lies below it; the links in it followed."""
    real = os.path.realpath(os.path.join(caller.root, path))
    inside = os.path.relpath(real, caller.here)
    return real if inside.startswith("..") else inside


# the plan that was pinned


def pinned_path(state: str, run: str, name: str) -> str:
    return os.path.join(PLAN.directory(state, run), name)


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
    for document in sessions.cut(pinned_plan(caller_state, state)):
        if document.sessions[0].number == state.number:
            return document
    raise Refused(f"{state.path} has no session {state.number}", fix=START)
