"""What a plan session says of itself: what comes next, what hooks read of it, and the shape that every view draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from omo.errors import Refused
from omo.state import runtime
from omo.state.rows import EMPTY
from omo.state.runtime import part
from omo.text import block, clip
from omo.work import outcome
from omo.work.publish import change_row, publish, publish_damage
from omo.work.run import Caller, Row
from omo.work.session import is_cancelled
from omo.work.status import DAMAGED, Command, Item, NextStep, Status, command
from omo.workflows.ultraplan import progress, verify
from omo.workflows.ultraplan.audit import EXCEPTIONS, OUTSIDE, StepAudit
from omo.workflows.ultraplan.run import (
    KIND,
    MOST_RECOVERIES,
    START,
    PlanState,
    RunStatus,
    from_top,
    load_status,
    pinned_path,
    pinned_plan,
)
from omo.workflows.ultraplan.verify import Verify

if TYPE_CHECKING:
    from omo.work.viewer import Viewer

LONGEST_FIRST = 90
LONGEST_SHOWN = 4000
NOT_STARTED = NextStep("start", "there is no plan session", (command(START),))
FINISH = command("omo plan finish")
REVISE = (Command(lead="revise the plan"), command("omo plan critique PLAN", lead="then, before it is started again"))
GIVE_UP = 'omo plan finish --abandon "why"'
GIT = "git, and the files as they are"
WHY = {
    "pass": "its commit is there, and its checks hold",
    "skipped": "it was skipped, as its plan allows",
    "missing": "no commit carries it out",
}
MARKS = {"pass": "done", "drift": "failed", "missing": "open", "unknown": "waiting", "skipped": "cut"}


def failed_command(step: int | str, lead: str = "") -> Command:
    return command("omo plan finish --failed", str(step), "--error", "TEXT", "--tried", "TEXT", lead=lead)


def abandon_command(lead: str = "") -> Command:
    return command("omo plan finish --abandon", "why it is given up", lead=lead)


# what comes next


def next_step(status: RunStatus) -> NextStep:
    """The one thing that moves a session on; the first rule that applies decides. That the user has cancelled it is for
    whoever asks what is so now to say: `cancelled`."""
    if status.problems:
        why = f"the ledger is not as omo wrote it ({clip(status.problems[0], 120)}), so nothing counts that rests on it"
        return NextStep("repair", why, (status.run.repair,), who="user")
    state = status.state
    if state.lacks:
        begin = command("omo plan recover", state.path) if state.base else _start(state)
        why = f"{', '.join(state.lacks)} is missing, nothing was begun; once it is there"
        return NextStep("unblock", why, (begin,))
    if state.end in ENDS:
        return ENDS[state.end](status)
    if status.broken:
        return NextStep("abandon", status.broken, (abandon_command(), _again(status, lead="then")))
    if status.audit.verdict == "unknown":
        why = (
            f"the audit cannot be evaluated ({clip(status.unknown, 160)}); restore the history it began on (git reflog)"
        )
        return NextStep("unknown", why, (abandon_command(lead="or"), _again(status, lead="then")))
    if status.audit.violations:
        return _violation(status)
    for step in status.audit.steps:
        if step.status in ("missing", "drift"):
            return _carry_out(status, step)
    if status.audit.dirty:
        paths = clip(", ".join(status.audit.dirty), 160)
        why = f"not committed: {paths}; commit what is yours, what is not the user commits or allows (/omo:allow); then"
        return NextStep("clean", why, (FINISH,))
    if state.verified.get("head") == status.audit.head:
        for row in state.verified_as(verify.FAIL):
            why = f"step {row['step']}: its Verify {clip(row['text'], 120)} fails ({clip(row['why'], 160)}); mend it"
            return NextStep("mend", why, (FINISH, failed_command(row["step"], lead="if it fails after retry")))
        for row in state.verified_as(verify.UNKNOWN):
            why = f"step {row['step']}: its Verify {clip(row['text'], 120)} gave {row['why']}; make it faster"
            leave_out = command("omo plan finish --unverified", "why it cannot be run", lead="or")
            return NextStep("mend", why, (FINISH, leave_out))
    return NextStep("finish", "every step passes the audit", (FINISH,))


def cancelled(status: RunStatus) -> NextStep | None:
    """What there is to do with a session that is open, and that the user has cancelled."""
    if not status.state.is_open or not is_cancelled(status.run.caller.session_rows.get(status.state.session)):
        return None
    why = "the user has cancelled it, and its fence is down; it goes on when they type ulw"
    return NextStep("cancelled", why, (abandon_command(lead="to give it up"),), who="user")


def _violation(status: RunStatus) -> NextStep:
    """No command that undoes it is named: whose bytes they are only the user knows."""
    first = status.audit.violations[0]
    why = f"{clip(str(first), 200)}; "
    if first.rule == OUTSIDE:
        why += "take it back in a commit of its own"
    elif first.commit is None:
        why += "if a command of yours wrote it, undo that; if not, it is the user's: leave it"
    else:
        # What must never be touched stays told, whatever a later commit does.
        why += "a person decides"
    step = first.step or next(iter(status.audit.missing), status.state.steps[-1])
    allow = Command(lead=f"or the user types /omo:allow {clip(first.path, 120)}")
    return NextStep("escalate", why, (failed_command(step, lead="report it"), allow))


def _carry_out(status: RunStatus, audited: StepAudit) -> NextStep:
    """The first step in order that has no commit, or one that does not hold."""
    step = status.document.step(audited.step)
    is_left_out = False
    for other in status.audit.steps:
        if other.step > audited.step and other.status in ("pass", "drift"):
            is_left_out = True
    commands = []
    is_in_hand = audited.step in status.state.recovering or status.is_revised
    if is_left_out and not is_in_hand and status.state.depth < MOST_RECOVERIES:
        # Later steps that are done show that this one was left out: that is what a recovery is for.
        commands.append(command("omo plan recover", lead="if you do not do it now"))
    commands.append(failed_command(audited.step, lead="if it fails after retry"))
    item = str(audited.step)
    if audited.status == "missing" and step is not None:
        verifying = f"; verify: {clip(step.verify, 80)}" if step.verify else ""
        then = clip(step.checkpoint, 300) or "commit it"
        why = f"step {step.number} {clip(step.title, 60)}{verifying}; then {then}"
        return NextStep("execute", why, tuple(commands), item=item)
    why = f"step {audited.step} does not hold ({clip('; '.join(audited.findings), 120)}); mend and commit it"
    return NextStep("mend", why, tuple(commands), item=item)


def _passed(status: RunStatus) -> NextStep:
    state = status.state
    why = "the session passed its audit and has its report"
    if left := sessions_left(status):
        here = [number for number, elsewhere in left.items() if not elsewhere]
        others = "; ".join(filter(None, left.values()))
        passed = f"session {state.number} of {state.sessions} passed its audit"
        if not here:
            return NextStep("next-session", f"{passed}; {others}; merge what has passed, then", (_audit(state),))
        why = f"{passed}; session {here[0]} begins with"
        if others:
            why = f"{passed}; {others}; session {here[0]} begins, once what it needs is merged, with"
        return NextStep("next-session", why, _begin(status))
    if state.sessions > 1:
        return NextStep("done", f"{why}; so have all {state.sessions} sessions of {state.path}")
    return NextStep("done", why)


def sessions_left(status: RunStatus) -> dict[int, str]:
    """The other sessions of the plan that are not over on this branch, in the order they can be carried out, each with
    where else it was or is carried out."""
    state = status.state
    if state.sessions == 1:
        return {}
    try:
        plan = pinned_plan(status.run.caller.state, state)
    except Refused:
        return {}
    done = progress.look(status.run.caller, plan, status.whole)
    left = {}
    for session in plan.sessions:
        if session.number != state.number and not done.is_over(session):
            left[session.number] = done.elsewhere(session.number)
    return left


def _failed(status: RunStatus) -> NextStep:
    state = status.state
    step = str(part(state.finished, "failed").get("step"))
    why, who = f"the session stopped at step {step} and waits for a person", "user"
    summary = status.run.caller.summary(KIND)
    is_active = summary.get("run") == status.run.id and summary.get("state") == "active"
    if is_active and "fence" not in summary:  # which an open run has: so it is their answer by which Stop holds it
        why, who = f"the session stopped at step {step}, and the user has answered since", "agent"
    if state.finished.get("violations") or state.depth >= MOST_RECOVERIES:
        return NextStep("escalate", why, REVISE, who=who, item=step)
    nothing_missing = bool(status.audit.steps) and not status.audit.missing
    if status.unknown or nothing_missing:  # there is nothing that a recovery could carry out
        why += f"; {clip(status.unknown, 160)}" if status.unknown else ", and every step passes the audit"
        close = abandon_command(lead="to close it")
        return NextStep("escalate", why, (close, Command(lead="or revise the plan")), who=who, item=step)
    if status.is_revised:
        return NextStep("escalate", why, _begin(status), who=who, item=step)
    recover = command("omo plan recover", state.path, lead="to go on")
    return NextStep("escalate", why, (recover, Command(lead="or revise the plan")), who=who, item=step)


def _abandoned(status: RunStatus) -> NextStep:
    state = status.state
    if status.is_revised or not (state.done or status.audit.passed):
        return NextStep("start", "the session was abandoned", _begin(status))
    if status.audit.steps and not status.audit.missing:
        why = f"the session was abandoned, and nothing of it is missing: omo plan audit {state.path}"
        return NextStep("done", why)
    if status.audit.violations or status.unknown or state.depth >= MOST_RECOVERIES:
        return NextStep("escalate", "the session was abandoned, and what is left needs a person", REVISE, who="user")
    return NextStep("recover", "the session was abandoned with steps done", (_again(status),))


ENDS: dict[str, Callable[[RunStatus], NextStep]] = {
    "pass": _passed,
    "failed": _failed,
    "abandoned": _abandoned,
}


def _start(state: PlanState, lead: str = "") -> Command:
    return command("omo plan start", state.path or "PLAN", lead=lead)


def _begin(status: RunStatus) -> tuple[Command, ...]:
    """A session of the plan as it is now: a text that was edited is reviewed first."""
    if not status.is_revised:
        return (_start(status.state),)
    review = command("omo plan critique", status.state.path, lead="the plan was edited, so first")
    return review, _start(status.state, lead="then")


def _audit(state: PlanState) -> Command:
    return command("omo plan audit", state.path)


def _again(status: RunStatus, lead: str = "") -> Command:
    """What is done already cannot be started once more: a recovery has the rest."""
    state = status.state
    if not state.done and not status.audit.passed:
        return _start(state, lead)
    return command("omo plan recover", state.path, lead=lead)


# what hooks read


def publish_status(status: RunStatus) -> NextStep:
    """Bring ledger and summary up to what git shows. A step that passes for the first time gives the budget back."""
    step = next_step(status)
    run = status.run
    if status.problems:
        publish_damage(run)
        return step
    told = run.caller.summary(KIND)
    if status.state.is_open:
        if not status.broken:
            run.require_whole()  # a project that was moved takes its fence along
        is_progress = bool(set(status.audit.passed) - set(status.state.seen))
        row = {"verdict": status.audit.verdict, "passed": status.audit.passed, "missing": status.audit.missing}
        if status.audit.steps and {**status.state.audited, **row} != status.state.audited:
            run.append({"kind": "audited", **row})
        publish(run, summarize(status, step), progressed=lambda old: is_progress)
    elif told.get("run") == run.id and "fence" in told:
        # A crash came between the ledger's last row and the session's.
        publish(run, summarize(status, step))
    return step


def publish_end(status: RunStatus, *, progressed: bool = False, session: str = "") -> NextStep:
    """The run is over, or could not begin: said once. What a person wakes again later stays awake."""
    step = next_step(status)
    publish(status.run, summarize(status, step), session=session, progressed=lambda old: progressed)
    return step


def summarize(status: RunStatus, step: NextStep) -> Row:
    state = status.state
    # What was skipped, as its plan allows, is neither done nor open.
    left, passed = status.audit.missing, status.audit.passed
    if not status.audit.steps:  # as the ledger has them
        passed = list(state.finished.get("passed", state.seen))
        left = sorted(set(state.steps).difference(passed, state.skipped))
    total = len({*left, *passed})
    open_count = len(left) or int(bool(status.audit.violations))  # what holds it open though every step passes
    if state.end == "pass":
        open_count = 0
    following: str | None = step.short
    if step.action == "done":
        following = None
    elif state.end == "failed":  # Stop reads this once the user has answered, and then nobody waits any more
        following = step._replace(why=f"step {step.item} failed").short
    elif state.is_open:
        # Hooks read it later, when more may be committed: just where it stood.
        planned = status.document.step(int(step.item)) if step.item else None
        first = step.text
        if step.action == "execute" and planned is not None:
            first = f"step {planned.number} {planned.title}"
        elif len(first) > LONGEST_FIRST:
            first = step.why  # rather than a command that is cut
        following = clip(first, LONGEST_FIRST)
    summary: Row = {"run": state.run, "open": open_count, "total": total, "next": following}
    if state.is_open:
        summary["fence"] = state.fence
    return {**summary, **_state(state, step)}


def _state(state: PlanState, step: NextStep) -> Row:
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
    else:
        ended: Row = {"state": "done", "outcome": ended_as}
        if state.end == "pass":
            ended |= {"at": state.finished.get("ts"), "files": state.finished.get("files")}
        return ended
    return {"state": "blocked", "why": why, "question": question, "told": False}


def leave_to_another(caller: Caller, run: str) -> None:
    """The session whose run goes on in the caller's has nothing left to hold it, and names it no more."""
    ended = outcome.outcome(outcome.ENDED, f"plan session {run} goes on in session {clip(caller.session, 64)}")
    over = {"state": "done", "open": 0, "total": 0, "next": None, "told": True, "outcome": ended}

    def decide(row: Row | None) -> runtime.Change:
        before = row or EMPTY
        work = before["work"]
        event = {"kind": KIND, "run": run, "state": "done", "open": 0}
        return runtime.Change(None, {**before, "work": {**work, KIND: over}}, [event])

    for name in list(caller.session_rows):
        if name != caller.session and caller.summary(KIND, name).get("run") == run:
            change_row(caller, name, decide)


# what commands and views show


def _recovered(state: PlanState) -> str:
    return f", recovered {state.depth} of at most {MOST_RECOVERIES} times" if state.depth else ""


def in_lines(status: RunStatus, results: Sequence[Verify] = ()) -> list[str]:
    """All there is to say of a session, for `omo plan status` and for the report of its end."""
    state, audit, end = status.state, status.audit, status.state.finished
    of = f", session {state.number} of {state.sessions}" if state.sessions > 1 else ""
    lines = [f"plan: {state.path}{of}{_recovered(state)}"]
    lines.append(f"base: {state.base or 'none, nothing was begun'}")
    let_through = state.exceptions
    if end:
        ended = outcome.of(end)
        let_through = ended["exceptions"]
        lines.append(f"ended as: {state.end}, {outcome.in_words(ended)}")
    if audit.steps:
        whole = " (of the whole session, from where it began)" if state.recovering else ""
        lines.append(f"audit: {audit.words}{whole}")
        lines += map(str, audit.steps)
    if state.is_open:
        ever = {*state.seen, *audit.passed}
        lines.append(f"seen: {len(ever)} of {len(state.steps)} steps have passed at some time")
    for line in verify.by_steps(results):
        lines.append(f"verify: {line}")
    for key, value in part(end, "failed").items():
        lines.append(f"failed, {key}: {block(str(value), LONGEST_SHOWN)}")
    lines += remarks(status)
    for each in let_through:
        lines.append(clip(f"let through: {each['what']}: {each['why']}", 400))
    for note in state.handoffs:
        lines.append(f"handed over: {note}")
    if handoff := end.get("handoff"):
        lines.append(f"for the next session: {handoff}")
    return lines


def remarks(status: RunStatus) -> list[str]:
    """What there is to say beside the steps."""
    lines = [f"note: {note}" for note in (status.broken, status.edited) if note]
    for about, listed in status.audit.remarks.items():
        if about in EXCEPTIONS and status.state.finished:
            continue  # the end names them
        lines += [f"{about}: {entry}" for entry in listed]
    return lines


def status(viewer: Viewer) -> Status | None:
    """The session's run for every view; None where it has none."""
    loaded = load_status(viewer.caller, viewer.run)
    if loaded is None:
        return None
    state = loaded.state
    items = [_item(loaded, step) for step in loaded.audit.steps] or _unaudited(loaded)
    changed = []
    for violation in (*loaded.audit.violations, *loaded.audit.left_alone):
        changed.append(f"outside the fence: {clip(str(violation), 160)}")
    changed += [f"not committed: {clip(path, 160)}" for path in loaded.audit.dirty]
    if loaded.edited:
        changed.append(loaded.edited)
    facts = []
    fence = part(part(part(viewer.row, "work"), KIND), "fence")
    if fence and runtime.is_fenced(viewer.row):  # what the hooks hold the session to
        lists = [f"{word} {', '.join(map(str, fence[word]))}" for word in ("touch", "never") if fence.get(word)]
        facts.append(clip(f"fence: {'; '.join(lists) or 'the project'}", 200))
    facts.append(f"plan {clip(state.path, 200)}{_recovered(state)}")
    if state.sessions > 1:
        facts.append(f"session {state.number} of {state.sessions}")
    if state.is_open:
        facts.append(f"spec {from_top(viewer.caller, pinned_path(viewer.caller.state, state.run, state.spec))}")
    ended = outcome.of(state.finished) if state.finished else None
    return Status(
        KIND,
        "step",
        run=state.run,
        headline=f"{state.word}, audit {loaded.audit.words}" if state.is_open else state.word,
        items=tuple(items),
        next=next_step(loaded),
        facts=(*facts, *changed),
        changed=tuple(changed),
        overrides=tuple(clip(override, 200) for override in state.overrides),
        problems=tuple(clip(problem, 300) for problem in (*loaded.problems, loaded.broken) if problem),
        outcome=ended,
    )


def _item(loaded: RunStatus, step: StepAudit) -> Item:
    notes = [f"commit {step.commit[:12]}"] if step.commit else []
    notes += [clip(finding, 200) for finding in step.findings]
    skipped = ("skipped, as its plan allows",) if step.status == "skipped" else ()
    title, mark = clip(step.title, 200), MARKS[step.status]
    planned = loaded.document.step(step.step)
    # What the plan says of it, but for what only the audit reads.
    fields = planned.fields if planned is not None else {}
    text = "\n".join(f"{name}: {value}" for name, value in fields.items() if value)
    return Item(str(step.step), title, step.status, mark, tuple(notes), overrides=skipped, text=text)


def _unaudited(loaded: RunStatus) -> list[Item]:
    """What the ledger knows where git cannot be asked. What was once seen to pass is not known to be there now."""
    why = DAMAGED if loaded.problems else clip(loaded.broken or "nothing was begun", 200)
    items = []
    for step in loaded.state.steps:
        if step in loaded.state.done:
            items.append(Item(str(step), "", "seen then", "stale", receipt="stale", receipt_why=why))
        else:
            items.append(Item(str(step), "", "open", "open"))
    return items
