"""How a plan session stands: the Status that every view draws, and what of it commands print and hooks read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omo.state import runtime
from omo.state.rows import EMPTY
from omo.state.runtime import part
from omo.text import block, clip
from omo.work import outcome
from omo.work.run import Caller
from omo.work.status import DAMAGED, Command, Item, NextStep, Status, command
from omo.workflows.ultraplan import verify
from omo.workflows.ultraplan.audit import StepAudit
from omo.workflows.ultraplan.flow import FLOW, MOST_RECOVERIES
from omo.workflows.ultraplan.next_step import next_step
from omo.workflows.ultraplan.run import KIND, START, from_top, pinned_path
from omo.workflows.ultraplan.run_audit import RunStatus, load_status

if TYPE_CHECKING:
    from omo.engine.case import CaseRow
    from omo.state.ledger_rows import SessionEvent
    from omo.state.rows import SessionRow, Summary
    from omo.work.viewer import Viewer

LONGEST_SHOWN = 4000
MOST_VIOLATIONS = 20
# What begins it, by what the user typed, and the ends of a file that it is begun with as it is.
NAMED_FILES = {"ultraexecute": ("",)}
BEGINNINGS = {
    "ultraplan": (
        command("omo plan critique PLAN", lead="write the plan, then"),
        Command(lead="when omo:critic found it sound, tell the user: /omo:ultraexecute carries it out"),
    ),
    "ultraexecute": (command(START, lead="once it is committed, and omo:critic found it sound"),),
}


def status(viewer: Viewer) -> Status | None:
    """The session's run for every view; None where it has none."""
    loaded = load_status(viewer.caller, viewer.run)
    return status_of(loaded) if loaded is not None else None


def status_of(loaded: RunStatus) -> Status:
    state = loaded.state
    problems = [*loaded.problems]
    if loaded.unknown and not loaded.audit.steps:  # not even the plan can be read
        problems.append(loaded.unknown)
    return Status(
        KIND,
        "step",
        run=state.run,
        headline=f"{state.word}, audit {loaded.audit.words}" if state.is_open else state.word,
        items=tuple(_items(loaded)),
        next=next_step(loaded),
        facts=tuple(_facts(loaded)),
        overrides=tuple(clip(override, 200) for override in state.overrides),
        problems=tuple(clip(problem, 300) for problem in problems),
        outcome=outcome.of(state.finished) if state.finished else None,
        damage="damaged",  # it may be the spec
    )


def _facts(loaded: RunStatus) -> list[str]:
    state = loaded.state
    plan = f"plan: {clip(state.path, 200)}"
    if state.sessions > 1:
        plan += f", session {state.number} of {state.sessions}"
    if state.depth:
        plan += f", recovered {state.depth} of at most {MOST_RECOVERIES} times"
    facts = [plan]
    if state.is_open:
        caller = loaded.run.caller
        facts.append(f"spec: {from_top(caller, pinned_path(caller.state, state.run, state.spec))}")
        if runtime.is_fenced(caller.row(state.session)):  # what the hooks hold the session to
            lists = [f"{word} {', '.join(state.fence[word])}" for word in ("touch", "never") if state.fence[word]]
            facts.append(clip(f"fence: {'; '.join(lists) or 'the project'}", 200))
    if loaded.edited:
        facts.append(f"note: {loaded.edited}")
    facts += loaded.audit.notes(is_ended=bool(state.how))
    for note in state.terms.handoffs:
        facts.append(f"handed over: {note}")
    if state.handoff:
        facts.append(f"for the next session: {state.handoff}")
    return facts


def _items(loaded: RunStatus) -> list[Item]:
    if loaded.audit.steps:
        return [_item(loaded, step) for step in loaded.audit.steps]
    # What the ledger knows where git cannot be asked. What was once seen to pass is not known to be there now.
    why = DAMAGED if loaded.problems else clip(loaded.unknown or "nothing was begun", 200)
    items = []
    for step in loaded.state.steps:
        if step in loaded.state.done:
            items.append(Item(str(step), "", "seen then", "stale", receipt="stale", receipt_why=why))
        else:
            items.append(Item(str(step), "", "open", "open"))
    return items


def _item(loaded: RunStatus, step: StepAudit) -> Item:
    notes = [f"commit {step.commit[:12]}"] if step.commit else []
    notes += [clip(finding, 200) for finding in step.findings]
    skipped = ("skipped, as its plan allows",) if step.status == "skipped" else ()
    planned = loaded.document.step(step.step)
    # What the plan says of it, but for what only the audit reads.
    fields = planned.fields if planned is not None else {}
    text = "\n".join(f"{name}: {value}" for name, value in fields.items() if value)
    title, mark = clip(step.title, 200), FLOW.status(step.status).drawn
    return Item(str(step.step), title, step.status, mark, tuple(notes), overrides=skipped, text=text)


# what `omo plan status` prints, and the report of a session's end


def in_lines(loaded: RunStatus) -> list[str]:
    status, state = status_of(loaded), loaded.state
    plan, *facts = status.facts
    lines = [plan, f"base: {state.base or 'none, nothing was begun'}"]
    exceptions = state.exceptions
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
    if state.verified.get("head") == loaded.audit.head:
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
    if loaded.state.is_open and not loaded.problems and (seen := seen_rows(loaded)):
        run.append(*seen)
    # Of a run that is over this is told once, so that what a person wakes again stays awake, or after a crash.
    told = run.caller.summary(KIND)
    if loaded.problems or loaded.state.is_open or (told.get("run") == run.id and "fence" in told):
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


def leave_to_another(caller: Caller, run: str) -> None:
    """The session whose run goes on in the caller's has nothing left to hold it, and names it no more."""
    ended = outcome.not_proven(f"plan session {run} goes on in session {clip(caller.session, 64)}")
    over: Summary = {"state": "ended", "open": 0, "total": 0, "next": None, "told": True, "outcome": ended}

    def decide(row: SessionRow | None) -> runtime.Change:
        before = row or EMPTY
        work = before["work"]
        event: SessionEvent = {"kind": KIND, "run": run, "state": "ended", "open": 0}
        return runtime.Change(None, {**before, "work": {**work, KIND: over}}, [event])

    for name in list(caller.session_rows):
        if name != caller.session and caller.summary(KIND, name).get("run") == run:
            caller.change(decide, name)
