"""How a plan session stands: the Status that every view draws, and what of it commands print and hooks read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omo.state import runtime
from omo.state.rows import EMPTY, read_files
from omo.state.runtime import part
from omo.text import block, clip
from omo.work import outcome
from omo.work.publish import publish, publish_damage
from omo.work.run import Caller
from omo.work.status import DAMAGED, LONGEST_SHORT, Command, Item, NextStep, Status, command
from omo.workflows.ultraplan import verify
from omo.workflows.ultraplan.audit import StepAudit
from omo.workflows.ultraplan.next_step import next_step
from omo.workflows.ultraplan.run import KIND, MOST_RECOVERIES, START, PlanState, from_top, pinned_path
from omo.workflows.ultraplan.run_audit import RunStatus, load_status

if TYPE_CHECKING:
    from omo.state.ledger_rows import SessionEvent
    from omo.state.rows import SessionRow, Summary
    from omo.work.viewer import Viewer

LONGEST_SHOWN = 4000
# What begins it, by what the user typed, and the ends of a file that it is begun with as it is.
NAMED_FILES = {"ultraexecute": ("",)}
BEGINNINGS = {
    "ultraplan": (
        command("omo plan critique PLAN", lead="write the plan, then"),
        Command(lead="when omo:critic found it sound, tell the user: /omo:ultraexecute carries it out"),
    ),
    "ultraexecute": (command(START, lead="once it is committed, and omo:critic found it sound"),),
}
MARKS = {"pass": "done", "drift": "failed", "missing": "open", "unknown": "waiting", "skipped": "cut"}


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
    facts += loaded.audit.notes(is_ended=bool(state.end))
    for note in state.handoffs:
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
    title, mark = clip(step.title, 200), MARKS[step.status]
    return Item(str(step.step), title, step.status, mark, tuple(notes), overrides=skipped, text=text)


# what `omo plan status` prints, and the report of a session's end


def in_lines(loaded: RunStatus) -> list[str]:
    status, state = status_of(loaded), loaded.state
    plan, *facts = status.facts
    lines = [plan, f"base: {state.base or 'none, nothing was begun'}"]
    exceptions = state.exceptions
    if status.outcome is not None:
        exceptions = status.outcome["exceptions"]
        lines.append(f"ended as: {state.end}, {outcome.in_words(status.outcome)}")
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
    step = next_step(loaded)
    run, state, audit = loaded.run, loaded.state, loaded.audit
    if loaded.problems:
        publish_damage(run)
        return step
    told = run.caller.summary(KIND)
    if state.is_open:
        is_progress = bool(set(audit.passed) - set(state.seen))
        row = {"verdict": audit.verdict, "passed": audit.passed, "missing": audit.missing}
        if audit.steps:
            run.require_whole()  # a project that was moved takes its fence along
            if {**state.audited, **row} != state.audited:
                run.append({"kind": "audited", **row})
        publish(run, summarize(loaded, step), progressed=lambda old: is_progress)
    elif told.get("run") == run.id and "fence" in told:
        # A crash came between the ledger's last row and the session's.
        publish(run, summarize(loaded, step))
    return step


def publish_end(loaded: RunStatus, *, progressed: bool = False, session: str = "") -> NextStep:
    """The run is over, or could not begin: said once. What a person wakes again later stays awake."""
    step = next_step(loaded)
    publish(loaded.run, summarize(loaded, step), session=session, progressed=lambda old: progressed)
    return step


def summarize(loaded: RunStatus, step: NextStep) -> Summary:
    state, audit = loaded.state, loaded.audit
    # What was skipped, as its plan allows, is neither done nor open.
    left, passed = audit.missing, audit.passed
    if not audit.steps:  # as the ledger has them
        passed = list(state.finished.get("passed", state.seen))
        left = sorted(set(state.steps).difference(passed, state.skipped))
    open_count = len(left) or int(bool(audit.violations))  # what holds it open though every step passes
    if state.end == "pass":
        open_count = 0
    if state.end == "failed":  # Stop reads this once the user has answered, and then nobody waits any more
        step = step._replace(why=f"step {step.item} failed")
    following = None if step.action == "done" else step.short
    if step.action == "execute":  # for Stop, which is short: the step by its name
        to_do = loaded.document.step(int(step.item))
        following = clip(f"step {step.item} {to_do.title if to_do else ''}", LONGEST_SHORT)
    summary: Summary = {
        "run": state.run,
        "open": open_count,
        "total": len({*left, *passed}),
        "next": following,
    }
    if state.is_open:
        summary["fence"] = state.fence
    return {**summary, **_state(state, step)}


def _state(state: PlanState, step: NextStep) -> Summary:
    """Under way, over, or waiting for a person who is asked how to go on."""
    ended_as = outcome.of(state.finished)
    why = ended_as["why"]
    if state.lacks:
        why = clip(str(state.preflight.get("why") or ""), 160)
        question = f"Make it available, then: {step.command}"
    elif state.is_open:
        return {"state": "active"}
    elif state.end == "failed":
        question = f"Report: {state.finished.get('report')}; {step.command}"
    elif state.end == "abandoned" and state.finished.get("actor") != "user":
        question = "Begin it again, or leave it? omo plan status"
    elif state.end == "pass":
        files = read_files(state.finished.get("files"))
        return {"state": "done", "outcome": ended_as, "at": str(state.finished.get("ts")), "files": files}
    else:
        return {"state": "done", "outcome": ended_as}
    return {"state": "blocked", "why": why, "question": question, "told": False}


def leave_to_another(caller: Caller, run: str) -> None:
    """The session whose run goes on in the caller's has nothing left to hold it, and names it no more."""
    ended = outcome.not_proven(f"plan session {run} goes on in session {clip(caller.session, 64)}")
    over: Summary = {"state": "done", "open": 0, "total": 0, "next": None, "told": True, "outcome": ended}

    def decide(row: SessionRow | None) -> runtime.Change:
        before = row or EMPTY
        work = before["work"]
        event: SessionEvent = {"kind": KIND, "run": run, "state": "done", "open": 0}
        return runtime.Change(None, {**before, "work": {**work, KIND: over}}, [event])

    for name in list(caller.session_rows):
        if name != caller.session and caller.summary(KIND, name).get("run") == run:
            caller.change(decide, name)
