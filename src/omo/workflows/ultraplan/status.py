"""How a plan session stands: what every view draws, what of it commands print, and what hooks read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from omo.engine import ends, show
from omo.state import runtime
from omo.state.runtime import part
from omo.text import block, clip
from omo.work import outcome
from omo.work.files import Files
from omo.work.status import NextStep, Status
from omo.workflows.ultraplan import verify
from omo.workflows.ultraplan.flow import FLOW, MOST_RECOVERIES
from omo.workflows.ultraplan.run import from_top
from omo.workflows.ultraplan.run_audit import RunStatus
from omo.workflows.ultraplan.session import PlanState

if TYPE_CHECKING:
    from omo.engine.case import CaseRow

LONGEST_SHOWN = 4000
MOST_VIOLATIONS = 20


def status_of(loaded: RunStatus) -> Status:
    state = loaded.seen
    return shown(state, show.drawn(loaded.run, state, next_step(loaded), Files(loaded.run.caller.root)))


def next_step(loaded: RunStatus) -> NextStep:
    return ends.next_step(loaded.run, loaded.seen)


def shown(state: PlanState, status: Status) -> Status:
    """The status with what the plan, git and the files say beside the steps."""
    loaded = state.look
    assert loaded is not None
    problems = [*loaded.run.damage_lines]
    if loaded.unknown and not loaded.audit.steps:  # not even the plan can be read
        problems.append(loaded.unknown)
    return status._replace(
        facts=tuple(_facts(loaded)),
        overrides=tuple(clip(override, 200) for override in state.overrides),
        problems=tuple(clip(problem, 300) for problem in problems),
        damage="damaged",  # it may be the spec
    )


def _facts(loaded: RunStatus) -> list[str]:
    state, run = loaded.state, loaded.run
    plan = f"plan: {clip(state.path, 200)}"
    if state.sessions > 1:
        plan += f", session {state.number} of {state.sessions}"
    if state.depth:
        plan += f", recovered {state.depth} of at most {MOST_RECOVERIES} times"
    facts = [plan]
    if state.is_open:
        facts.append(f"spec: {from_top(run.caller, os.path.join(run.directory, state.spec))}")
        if runtime.is_fenced(run.caller.row(state.session)):  # what the hooks hold the session to
            lists = [f"{word} {', '.join(state.fence[word])}" for word in ("touch", "never") if state.fence[word]]
            facts.append(clip(f"fence: {'; '.join(lists) or 'the project'}", 200))
    if loaded.edited:
        facts.append(f"note: {loaded.edited}")
    facts += loaded.audit.notes(is_ended=bool(state.how))
    facts += [f"handed over: {note}" for note in state.terms.handoffs]
    if state.handoff:
        facts.append(f"for the next session: {state.handoff}")
    return facts


def in_lines(loaded: RunStatus) -> list[str]:
    """Return what `omo plan status` prints, and the report of a session's end."""
    status, state = status_of(loaded), loaded.state
    plan, *facts = status.facts
    lines = [plan, f"base: {state.base or 'none, nothing was begun'}"]
    exceptions = ends.exceptions(state)
    if status.outcome is not None:
        exceptions = status.outcome["exceptions"]
        lines.append(f"ended as: {state.how}, {outcome.in_words(status.outcome)}")
    if loaded.audit.steps:
        whole = " (of the whole session, from where it began)" if state.recovering else ""
        lines.append(f"audit: {loaded.audit.words}{whole}")
        lines.append(f"steps: {status.done} of {status.total} pass")
    for item in status.items:
        notes = f": {clip('; '.join(item.notes), 400)}" if item.notes else ""
        lines.append(f"step {item.id}: {item.status}{notes}")
    if state.last("verified").get("head") == loaded.audit.head:
        lines += [f"verify: {line}" for line in verify.by_steps(state.results)]
    for key, value in part(state.finished, "failed").items():
        lines.append(f"failed, {key}: {block(str(value), LONGEST_SHOWN)}")
    lines += [f"note: {problem}" for problem in status.problems]
    lines += facts
    for each in exceptions:
        lines.append(clip(f"let through: {each['what']}: {each['why']}", 400))
    return lines


# what hooks read


def publish_status(loaded: RunStatus) -> NextStep:
    """Bring ledger and summary up to what git shows. A step that passes for the first time gives the budget back."""
    run, step = loaded.run, next_step(loaded)
    if loaded.state.is_open and not run.problems and (seen := seen_rows(loaded)):
        run.append(*seen)
    # Of a run that is over this is told once, so that what a person wakes again stays awake, or after a crash.
    told = run.caller.summary(FLOW.name)
    if loaded.state.is_open or (told.get("run") == run.id and "fence" in told):
        publish(loaded, step)
    return step


def publish(loaded: RunStatus, step: NextStep, *, begins: bool = False) -> None:
    """Tell hooks how it stands: the next step by its name; of one that failed not who waits, for they read it once the
    user has answered."""
    if loaded.state.how == "failed":
        step = step._replace(why=f"step {step.item} failed")
    elif step.action == "execute":
        to_do = loaded.document.step(int(step.item))
        step = step._replace(why=f"step {step.item} {to_do.title if to_do else ''}", commands=())
    loaded.run.publish(step, begins=begins)


def seen_rows(loaded: RunStatus) -> list[CaseRow]:
    """Return the row of what git shows, if it is news."""
    audit = loaded.audit
    if not audit.steps:
        return []
    statuses = {str(step.step): step.status for step in audit.steps}
    return loaded.run.marked(statuses, against=[str(violation) for violation in audit.violations[:MOST_VIOLATIONS]])
