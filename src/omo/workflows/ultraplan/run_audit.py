"""What git and the files show of a plan session, or of a whole plan, held to the text that was pinned at its start."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from omo.digest import sha256
from omo.engine.case import ItemResult
from omo.engine.flow import ItemMark
from omo.engine.runs import CaseRun, load_run, moved
from omo.errors import NotEvaluable, Refused
from omo.proof import base
from omo.text import clip
from omo.work import gates
from omo.work.run import Caller
from omo.workflows.ultraplan import document as documents
from omo.workflows.ultraplan import history as histories
from omo.workflows.ultraplan.audit import Audit, audit_history, unknown
from omo.workflows.ultraplan.critique import is_another_named
from omo.workflows.ultraplan.flow import FLOW, items_of
from omo.workflows.ultraplan.history import History
from omo.workflows.ultraplan.models import Document
from omo.workflows.ultraplan.run import (
    from_top,
    history_of_plan,
    pinned_part,
    pinned_plan,
    runs_of_repository,
    state_of,
    states_of_text,
)
from omo.workflows.ultraplan.session import PlanState

NOT_AUDITED = Audit(None, None, [])
NO_PLAN = Document("", "")
SKIPPED = "skipped, as its plan allows"


@dataclass(frozen=True)
class RunStatus:
    """A session and what was found of it; `document` is the plan that the `audit` held it to."""

    run: CaseRun
    document: Document = NO_PLAN
    audit: Audit = NOT_AUDITED
    edited: str = ""
    is_revised: bool = False  # the plan says something else than when the session began
    whole: History | None = None  # from where the plan's first session began, for whoever answers for all of it

    @property
    def state(self) -> PlanState:
        return state_of(self.run)

    @property
    def seen(self) -> PlanState:
        """The same with its steps as git shows them now. What git cannot be asked of is as it was seen last."""
        state = replace(self.state, look=self)
        if not self.audit.steps:
            return replace(state, unseen=clip(self.unknown or "nothing was begun", 200))
        statuses: dict[str, str] = {}
        results: dict[str, ItemResult] = {}
        for step in self.audit.steps:
            commit = f"commit {step.commit[:12]}" if step.commit else ""
            statuses[str(step.step)] = step.status
            skipped = [SKIPPED] if step.status == "skipped" else []
            notes = [commit, *(clip(finding, 200) for finding in step.findings)]
            results[str(step.step)] = {"result": step.status, "notes": notes, "overrides": skipped}
        items = items_of(self.document)
        known = {item.id: state.marks.get(item.id, ItemMark(FLOW.begins_as)) for item in items}
        return replace(state, items=items, marks=moved(FLOW, known, statuses, state.round), seen=results)

    @property
    def unknown(self) -> str:
        """Why nothing can be said; empty where something can."""
        if self.audit.verdict != "unknown":
            return ""
        reasons = list(self.audit.problems)
        for step in self.audit.steps:
            if step.status == "unknown":
                reasons += step.findings
        return next(iter(reasons), "")

    def require_evaluable(self) -> None:
        """Raises for a session of which nothing can be said."""
        if self.unknown:
            raise NotEvaluable(self.unknown, fix="omo plan status names the way on")


def load_status(caller: Caller, named: str = "") -> RunStatus | None:
    """The session's run, or the one that is named, and what git and the files show of it. Nothing is written."""
    run = load_run(FLOW, caller, named)
    return look_at(run) if run is not None else None


def look_at(run: CaseRun) -> RunStatus:
    return RunStatus(run) if run.is_lost or not state_of(run).base else audit_run(run)


def audit_run(run: CaseRun, *, is_ending: bool = False) -> RunStatus:
    """What git and the files show of one session, by the plan that was pinned.

    A session that passed is held to the commits up to then: what comes after is not its own. Of several sessions, a
    later one may change its files: they were checked when it ended, and `audit_plan` checks them as they are now.
    """
    caller, state = run.caller, state_of(run)
    if state.root != caller.here and os.path.isdir(state.root):
        # A copy of the project, or another worktree, is not audited from here; a project that was moved is.
        elsewhere = f"plan session {state.run} belongs to {state.root}, and this is {caller.here}"
        return RunStatus(run, audit=unknown(NO_PLAN, NotEvaluable(elsewhere)))

    def look() -> History:
        history = histories.history_since(Path(caller.here), state.base)
        if state.how != "pass":
            return history
        return history.until(str(state.finished.get("head") or ""), is_past=state.sessions > 1)

    whole = None
    if is_ending and state.sessions > 1:
        with suppress(NotEvaluable):
            whole = history_of_plan(caller, state.path, runs_of_repository(caller, state.path), state.terms.order)
    return replace(_audited(caller, run, pinned_part, look, state.skipped, state.before), whole=whole)


def audit_file(caller: Caller, path: Path) -> RunStatus:
    """The whole plan in a file. Refused where no session of it was begun: its records tell where the work began, and
    what was skipped."""
    name = from_top(caller, path)
    runs = runs_of_repository(caller, name)
    if not runs:
        document = documents.load(path, Path(caller.root))
        raise Refused(
            f"no session of {clip(document.path, 200)} was begun, so nobody knows where the work did",
            fix=f"omo plan start {shlex.quote(document.path)}",
        )
    own = [run for run in runs if run.caller is caller]
    if own:
        own[-1].require_whole()  # one that was copied with its project tells where the work began there, not here
    return audit_plan(caller, (own or runs)[-1], runs)


def audit_plan(caller: Caller, run: CaseRun, runs: Sequence[CaseRun] = (), whole: History | None = None) -> RunStatus:
    """The whole plan that a session is of, as it is now, from where its first session began."""
    state = state_of(run)
    runs = runs or runs_of_repository(caller, state.path)
    skipped: dict[int, str] = {}
    for other in states_of_text(runs, state.terms.plan):
        skipped |= other.skipped

    def look() -> History:
        return whole or history_of_plan(caller, state.path, runs, state.terms.order)

    return _audited(caller, run, pinned_plan, look, skipped, {})


def _audited(
    caller: Caller,
    run: CaseRun,
    read: Callable[[CaseRun], Document],
    look: Callable[[], History],
    skipped: Mapping[int, str],
    before: Mapping[int, str],
) -> RunStatus:
    """The audit, with what the user let through by /omo:allow as long as it is as they saw it."""
    document = NO_PLAN
    allowed = []
    for path, digest in gates.fold(caller.events, None).allowed_changes.items():
        if base.digest_of(caller.root, path) == digest:
            allowed.append(path)
    try:
        document = read(run)
        audit = audit_history(document, look(), skipped, allowed, before)
    except (Refused, NotEvaluable) as error:
        audit = unknown(document, error)
    return replace(_held_against_file(caller, run), document=document, audit=audit)


def _held_against_file(caller: Caller, run: CaseRun) -> RunStatus:
    """What became of the plan's file since the session was started from it."""
    state = state_of(run)
    text = documents.text_of(os.path.join(caller.here, state.path))
    if text is not None and sha256(text.encode("utf-8", "replace")) == state.terms.plan:
        return RunStatus(run)
    became = "deleted" if text is None else "edited"
    edited = f"{clip(state.path, 200)} was {became} after start; the copy made then is what counts"
    if state.is_open and is_another_named(caller, state.path, state.terms.plan, state.started_at):
        edited += '; the user named the new text: to carry that out, omo plan finish --abandon "they changed it"'
    return RunStatus(run, edited=edited, is_revised=text is not None)
