"""What git and the files show of a run, or of a plan or spec that runs are recorded of."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from omo.errors import BadInput, NotEvaluable, OmoError, Refused
from omo.shown import clip, counted
from omo.ultraplan import document as documents
from omo.ultraplan import history as histories
from omo.ultraplan.audit import Audit, audit_history, unknown
from omo.ultraplan.models import Document
from omo.ultraplan.run import PLAN, PlanRun, PlanState, digest_of, from_top, line_of, pinned, runs_at, runs_of_plan
from omo.work.run import Caller, load

NOT_AUDITED = Audit(None, None, [])


@dataclass(frozen=True)
class RunStatus:
    """`audit` decides, and `document` is what it was held to: for a recovery the whole session, from where that one
    began. `own` is then the audit of the recovered steps alone, for the report."""

    run: PlanRun | None
    document: Document | None = None
    audit: Audit = NOT_AUDITED
    own: Audit | None = None
    broken: str = ""  # why the spec cannot be believed any more
    edited: str = ""

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


def follow(run: PlanRun) -> None:
    """Where a recorded root is gone, this is where the project went; one that is still there is another project."""
    state = run.state
    if state is not None and state.root and not run.problems and not os.path.isdir(state.root):
        run.require_whole()


def _edited(state: PlanState) -> str:
    """What happened to the spec's file after the start; empty while it is as it was."""
    text = documents.text_of(os.path.join(state.root, state.spec))
    if text is None:
        return f"{state.spec} was deleted after start; the copy made then is what counts"
    if digest_of(text) != state.source:
        return f"the spec was edited after start: {state.spec}; the copy made then is what counts"
    return ""


def load_status(caller: Caller, named: str = "", before: Callable[[PlanRun], None] | None = None) -> RunStatus:
    """The session's run, or the one that is named, and what git and the files show of it. Nothing is written, but what
    `before` does to the run."""
    run = load(PLAN, caller, named)
    if run is not None and before is not None:
        before(run)
    if run is None or run.problems or run.state is None or not run.state.base:
        return RunStatus(run)
    return audited(run)


def audited(run: PlanRun) -> RunStatus:
    """What git and the files show of one run, by the specs that were pinned. A recovery answers for its session.

    A session that passed is held to what was there when it did: what comes after it is not its own.
    """
    caller, state = run.caller, run.state
    assert state is not None
    if state.root != caller.here:  # a copy of the project, or another worktree: that is never audited from here
        return RunStatus(run, broken=f"plan session {state.run} belongs to {state.root}, and this is {caller.here}")
    edited = _edited(state)
    try:
        line = line_of(caller, state)
        first = pinned(caller.state, line[0])
        own = first if len(line) == 1 else pinned(caller.state, state)
    except Refused as error:
        return RunStatus(run, broken=error.message, edited=edited)
    skipped = {step: why for each in line for step, why in each.skipped.items()}
    inputs = [each.spec for each in line]
    try:
        history = histories.look(Path(state.root), line[0].base)
        if state.end == "pass":
            history = history.until(str(state.finished.get("head") or ""))
    except NotEvaluable as error:
        return RunStatus(run, first, unknown(first, error), edited=edited)
    whole = audit_history(first, history, skipped=skipped, inputs=inputs)
    if len(line) == 1:
        return RunStatus(run, first, whole, edited=edited)
    # As if it lay where the first spec does: the files beside that are no part of the work.
    beside = replace(own, path=first.path)
    of_own = audit_history(beside, history.since(state.base), skipped=skipped, inputs=inputs)
    return RunStatus(run, first, whole, of_own, edited=edited)


# the audit of a file, as far as runs of it are recorded


@dataclass(frozen=True)
class AuditedFile:
    """`edited` says what became of the file since a run of it began; then the copy made at that start was audited.
    `noted` are the steps that the ledgers say have passed at some time: told beside the verdict, no part of it."""

    document: Document
    audit: Audit
    noted: set[int]
    edited: str = ""


def audit_file(caller: Caller, path: Path, base: str = "") -> AuditedFile:
    """What is recorded of it tells where the work began and what was skipped; `base` names another commit."""
    runs = runs_at(caller, path)
    latest = runs[-1] if runs else None
    if latest is not None and not base and latest.root != caller.here and os.path.isdir(latest.root):
        # A run that was copied with its project tells where the work began there, not here.
        raise Refused(
            f"plan session {latest.run} belongs to {latest.root}, and this is {caller.here}",
            fix="audit it there; or name where the work began here: --base REV",
        )
    line = line_of(caller, latest) if latest is not None else []
    text = documents.text_of(str(path))
    texts = {digest for state in line for digest in (state.plan, state.digest, state.source)}
    edited = ""
    if line and (text is None or digest_of(text) not in texts):
        place = from_top(caller, path)
        if place not in [state.spec for state in line]:
            specs = sorted({shlex.quote(state.spec) for state in runs})
            what = f"{clip(place, 200)} was changed after its sessions were started, and each of them has its own copy"
            raise Refused(what, fix="; ".join(f"omo plan audit {spec}" for spec in specs))
        document = pinned(caller.state, line[0])
        became = "deleted" if text is None else "edited"
        edited = f"{clip(place, 200)} was {became} after start; the copy made then is audited"
    else:
        document = _evaluable(path, Path(caller.root))
        line = _runs_of(caller, document)
    since = base or (line[0].base if line else "")
    if not since:
        raise BadInput(
            f"where the work on {clip(document.path, 200)} began is not recorded",
            fix=f"name the commit: omo plan audit {shlex.quote(document.path)} --base REV",
        )
    skipped = {step: why for state in line for step, why in state.skipped.items()}
    inputs = [name for state in line for name in (state.spec, state.master) if name]
    noted = {step for state in line for step in state.seen}
    try:
        history = histories.look(Path(caller.root), since)
        if document.kind == "spec" and line and line[-1].end == "pass" and not base:
            history = history.until(str(line[-1].finished.get("head") or ""))
    except NotEvaluable as error:
        return AuditedFile(document, unknown(document, error), noted, edited)
    return AuditedFile(document, audit_history(document, history, skipped=skipped, inputs=inputs), noted, edited)


def _evaluable(path: Path, root: Path) -> Document:
    document = documents.synthesise(documents.load(path, root))
    defects = [str(defect) for defect in document.defects if not defect.is_advisory]
    if not document.work_steps and not defects:
        defects = ["it has no step; steps are headed ### Step N: Title"]
    if defects:
        raise NotEvaluable(
            f"{clip(document.path, 200)} has {counted(len(defects), 'defect')}, so what it asks for is not clear",
            fix=f"omo plan validate {shlex.quote(document.path)}",
            defects=[clip(defect, 400) for defect in defects],
        )
    return document


def _runs_of(caller: Caller, document: Document) -> list[PlanState]:
    """The runs that worked on a document, oldest first: recoveries too. Of a plan all that were not abandoned, of a
    spec those of its session since its latest start."""
    if document.kind == "plan":
        return [state for state in runs_of_plan(caller, document.digest) if state.end != "abandoned"]
    known = runs_of_plan(caller, document.master_digest)
    started = [index for index, state in enumerate(known) if document.digest in (state.digest, state.source)]
    if not started:
        return []
    lineage = known[started[-1]].lineage
    return [state for state in known[started[-1] :] if state.lineage == lineage]
