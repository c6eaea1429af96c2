"""What of a plan is done already: by its sessions, in any worktree of the repository, and by what git has of it here.

A step is known again by its title and what it says, so that a plan that was edited goes on where it stood. What was
edited in a step itself, after it was done, is nobody's to call done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from omo.engine.runs import CaseRun
from omo.errors import NotEvaluable, Refused
from omo.work.run import Caller
from omo.workflows.ultraplan.audit import audit_history
from omo.workflows.ultraplan.history import History
from omo.workflows.ultraplan.models import Document, Session, Step
from omo.workflows.ultraplan.run import history_of_plan, pinned_plan, runs_of_repository, state_of
from omo.workflows.ultraplan.session import PlanState


@dataclass(frozen=True)
class Progress:
    """`done` are steps with their commits, `skipped` those that were left out, with the reasons. `runs` are the plan's,
    whatever it said then, oldest first."""

    here: str = ""
    runs: list[CaseRun] = field(default_factory=list)
    done: dict[int, str] = field(default_factory=dict)
    skipped: dict[int, str] = field(default_factory=dict)

    @property
    def states(self) -> list[PlanState]:
        return [state_of(run) for run in self.runs]

    def is_over(self, session: Session) -> bool:
        return all(number in self.done or number in self.skipped for number in session.steps)

    def elsewhere(self, number: int) -> str:
        """In which other worktree a session was carried out, or is; empty where in none."""
        for run in reversed(self.runs):
            state = state_of(run)
            if state.number != number or run.caller.here == self.here:
                continue
            if state.how == "pass":
                return f"session {number} passed in {run.caller.here} and is not merged here"
            if state.is_open:
                return f"session {number} is under way in {run.caller.here}"
        return ""


def progress_of(caller: Caller, plan: Document, history: History | None = None) -> Progress:
    """Of the text that a plan has now. Where no session of it ever began here, only one of several can have been
    carried out elsewhere, and git alone tells."""
    runs = runs_of_repository(caller, plan.path)
    progress = Progress(caller.here, runs)
    if not runs and len(plan.sessions) < 2:
        return progress
    try:
        history = history or history_of_plan(caller, plan.path, runs, [session.number for session in plan.sessions])
        _take_over_records(plan, progress, history)
        if len(progress.done) < len(plan.steps):
            _take_over_work(plan, progress, history)
    except NotEvaluable:
        pass  # what the records say is all that is known
    return progress


def _take_over_work(plan: Document, progress: Progress, history: History) -> None:
    """What git has of the steps that say what they said when a session was begun."""
    texts = {_said(then) for run in progress.runs for then in _steps_then(run)}
    for step, audited in zip(plan.steps, audit_history(plan, history, {}).steps, strict=True):
        is_as_it_was = not progress.runs or _said(step) in texts
        if audited.status == "pass" and is_as_it_was:
            progress.done.setdefault(step.number, audited.commit or "")


def _take_over_records(plan: Document, progress: Progress, history: History) -> None:
    """What sessions that passed, and whose last commit this branch has, recorded as passed; and what was skipped."""
    by_text = {_said(step): step for step in plan.steps}
    commits = {history.base, *(commit.sha for commit in history.commits)}
    for run in progress.runs:
        state = state_of(run)
        if run.is_lost:
            continue
        has_passed = state.how == "pass" and state.finished.get("head") in commits
        for then in _steps_then(run):
            step = by_text.get(_said(then))
            if step is None:
                continue
            if has_passed and str(then.number) in state.passing:
                progress.done[step.number] = ""
            elif then.number in state.skipped and step.on_failure == "skip":
                progress.skipped[step.number] = state.skipped[then.number]


def _steps_then(run: CaseRun) -> Sequence[Step]:
    """Of the plan as the run pinned it; none where that is lost."""
    try:
        return pinned_plan(run).steps
    except Refused:
        return ()


def _said(step: Step) -> str:
    """All of a step but its number."""
    return f"{step.title}\n{step.text.partition(chr(10))[2].strip()}"
