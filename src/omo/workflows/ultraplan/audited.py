"""What git and the files show of a plan session and of a whole plan, by the copies that were pinned."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from omo.digest import sha256
from omo.errors import NotEvaluable, OmoError, Refused
from omo.text import clip
from omo.work.run import Caller, Run, load
from omo.workflows.ultraplan import document as documents
from omo.workflows.ultraplan import history as histories
from omo.workflows.ultraplan.audit import Audit, audit_history, unknown
from omo.workflows.ultraplan.history import History
from omo.workflows.ultraplan.models import Document
from omo.workflows.ultraplan.propose import synthesise
from omo.workflows.ultraplan.run import (
    PLAN,
    PlanRun,
    PlanState,
    line_of,
    pinned_part,
    pinned_plan,
    runs_at,
    runs_of_plan,
)

NOT_AUDITED = Audit(None, None, [])


@dataclass(frozen=True)
class RunStatus:
    """`audit` decides, and `document` is what it was held to: for a recovery the whole session, from where that one
    began."""

    run: PlanRun | None
    document: Document | None = None
    audit: Audit = NOT_AUDITED
    broken: str = ""  # why the plan cannot be believed any more
    edited: str = ""
    whole: History | None = None  # from where the plan's first session began, for whoever answers for all of it

    @property
    def state(self) -> PlanState:
        assert self.run is not None
        return self.run.state or PlanState(self.run.id)

    @property
    def problems(self) -> list[str]:
        return self.run.problems if self.run else []

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


def load_status(caller: Caller, named: str = "") -> RunStatus:
    """The session's run, or the one that is named, and what git and the files show of it. Nothing is written."""
    run = load(PLAN, caller, named)
    if run is None or run.problems or run.state is None or not run.state.base:
        return RunStatus(run)
    return audited(run)


def audited(run: PlanRun, *, is_ending: bool = False) -> RunStatus:
    """What git and the files show of one run, by the plan that was pinned. A recovery answers for its session.

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
        line = line_of(caller, state)
        document = pinned_part(caller.state, line[0])
    except Refused as error:
        return RunStatus(run, broken=error.message, edited=edited)
    whole = None
    if is_ending and state.sessions > 1:
        with suppress(NotEvaluable):
            whole = _whole_history(caller, state)
    try:
        history = whole.since(line[0].base) if whole else histories.look(Path(caller.here), line[0].base)
        if state.end == "pass":
            history = history.until(str(state.finished.get("head") or ""), is_past=state.sessions > 1)
    except NotEvaluable as error:
        return RunStatus(run, document, unknown(document, error), edited=edited)
    audit = audit_history(document, history, _skipped_in(line))
    return RunStatus(run, document, audit, edited=edited, whole=whole)


def _edited(caller: Caller, state: PlanState) -> str:
    """What became of the plan since it was started from; empty where nothing did."""
    text = documents.text_of(os.path.join(caller.here, state.path))
    if text is not None and sha256(text.encode("utf-8", "replace")) == state.plan:
        return ""
    became = "deleted" if text is None else "edited"
    return f"{clip(state.path, 200)} was {became} after start; the copy made then is what counts"


def _skipped_in(line: Sequence[PlanState]) -> dict[int, str]:
    skipped: dict[int, str] = {}
    for state in line:
        skipped |= state.skipped
    return skipped


# the whole plan


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
    try:
        history = whole or _whole_history(caller, state)
    except NotEvaluable as error:
        return RunStatus(run, document, unknown(document, error), edited=_edited(caller, state))
    skipped = _skipped_in(runs_of_plan(caller, state.plan))
    return RunStatus(run, document, audit_history(document, history, skipped), edited=_edited(caller, state))


def _whole_history(caller: Caller, state: PlanState) -> History:
    for other in runs_of_plan(caller, state.plan):
        is_lost = other.end == "abandoned" and other.finished.get("audit") == "unknown"
        if not is_lost:  # a base that the history no longer has is no base
            return histories.look(Path(caller.root), other.base)
    raise NotEvaluable(f"no session of {state.path} has a base in the history")
