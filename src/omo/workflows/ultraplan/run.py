"""The runs of plan sessions: which belong together, and the plan that each was held to at its start."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from omo.digest import sha256
from omo.engine.runs import CaseRun, kind_of
from omo.errors import NotEvaluable, Refused
from omo.proof import changes, git
from omo.state import paths
from omo.text import clip
from omo.work.run import Caller, tag
from omo.workflows.ultraplan import document as documents
from omo.workflows.ultraplan import history as histories
from omo.workflows.ultraplan import sessions
from omo.workflows.ultraplan.flow import FLOW
from omo.workflows.ultraplan.history import History
from omo.workflows.ultraplan.models import Document
from omo.workflows.ultraplan.session import PlanState

PLAN = kind_of(FLOW)
SHORT_TAG = 4


def state_of(run: CaseRun) -> PlanState:
    """Return the session as its ledger tells it; an empty one if nobody can read that."""
    return cast("PlanState", run.state or PlanState(FLOW, run.id))


# which runs belong together: their ids say so, so that no other ledger is opened


def tags(plan: str, path: str) -> str:
    """What the id of a run is found by: the plan's text, and where the plan lies."""
    return tag(plan)[:SHORT_TAG] + tag(path)[:SHORT_TAG]


def runs_of_repository(caller: Caller, path: str) -> list[CaseRun]:
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
                run = CaseRun(PLAN, there, name)
                if state_of(run).base and state_of(run).path == path:
                    runs.append(run)
    return sorted(runs, key=lambda run: run.id)


def states_of_text(runs: Sequence[CaseRun], digest: str) -> list[PlanState]:
    """Of the runs those that began on one text of the plan."""
    return [state for state in map(state_of, runs) if state.terms.plan == digest]


def unrecorded(runs: Sequence[CaseRun], sessions: Sequence[int]) -> list[int]:
    """The sessions of a plan that no worktree of the repository has a run of."""
    recorded = {state_of(run).number for run in runs}
    return [number for number in sessions if number not in recorded]


def history_of_plan(caller: Caller, path: str, runs: Sequence[CaseRun], sessions: Sequence[int]) -> History:
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


def pinned_plan(run: CaseRun) -> Document:
    """The plan as it was started: from the copy, or from the file where that still has the digest of the ledger."""
    state = state_of(run)
    for path in (os.path.join(run.directory, "plan.md"), os.path.join(state.root, state.path)):
        text = documents.text_of(path)
        if text is not None and sha256(text.encode("utf-8", "replace")) == state.terms.plan:
            return documents.parse(text, state.path)
    raise Refused(
        f"{clip(state.path, 200)} of plan session {state.run} is no longer what it was started with, digest "
        f"{state.terms.plan[:12]}",
        fix=f'omo plan finish --abandon "why", then {FLOW.start}',
    )


def pinned_part(run: CaseRun) -> Document:
    """What a session is held to, as its plan had it at the start."""
    for document in sessions.cut(pinned_plan(run)):
        if document.sessions[0].number == state_of(run).number:
            return document
    raise Refused(f"{state_of(run).path} has no session {state_of(run).number}", fix=FLOW.start)
