"""What moves a plan session on, as data: every view and every answer words it from here."""

from __future__ import annotations

from omo.errors import Refused
from omo.state.runtime import part
from omo.text import clip
from omo.work.session import is_cancelled
from omo.work.status import Command, NextStep, command
from omo.workflows.ultraplan import progress, verify
from omo.workflows.ultraplan.audit import OUTSIDE, StepAudit
from omo.workflows.ultraplan.flow import FLOW, MOST_RECOVERIES
from omo.workflows.ultraplan.run import pinned_plan
from omo.workflows.ultraplan.run_audit import RunStatus
from omo.workflows.ultraplan.session import PlanState

FINISH = command("omo plan finish")
REVISE = (Command(lead="revise the plan"), command("omo plan critique PLAN", lead="then, before it is started again"))
TAKE_BACK = "if it fails, take it back, then"
ON_FAILURE = {"skip": TAKE_BACK, "revert": TAKE_BACK, "escalate": "if it fails"}


def next_step(status: RunStatus) -> NextStep:
    """The one thing that moves a session on; the first rule that applies decides. That the user has cancelled it is for
    whoever asks what is so now to say: `cancelled`."""
    state, audit = status.state, status.audit
    if state.lacks:
        why = f"{', '.join(state.lacks)} is missing, nothing was begun; once it is there"
        commands: tuple[Command, ...] = (recover_command(state) if state.base else start_command(state),)
        if "git_push" in state.lacks:
            commands += (Command(lead="or, where nothing is to be pushed, needs: [] in the plan says so"),)
        return NextStep("unblock", why, commands)
    if state.how == "pass":
        return _passed(status)
    if state.how:
        return _over(status)
    if audit.verdict == "unknown":
        why = f"the audit cannot be evaluated ({clip(status.unknown, 200)}); put that right (git reflog has commits)"
        return NextStep("unknown", why, (abandon_command(lead="or"),))
    if audit.violations:
        return _violation(status)
    for step in audit.steps:
        if step.status in ("missing", "drift"):
            return _carry_out(status, step)
    if audit.dirty:
        paths = clip(", ".join(audit.dirty), 160)
        why = f"not committed: {paths}; commit what is yours, what is not the user commits or allows (/omo:allow); then"
        return NextStep("clean", why, (FINISH,))
    if state.last("verified").get("head") == audit.head:
        for run in state.verified_as(verify.FAIL):
            why = f"step {run.step}: its Verify {clip(run.text, 120)} fails ({clip(run.why, 160)}); mend it"
            return NextStep("mend", why, (FINISH, failed_command(run.step, lead="if it fails after retry")))
        for run in state.verified_as(verify.UNKNOWN):
            why = f"step {run.step}: its Verify {clip(run.text, 120)} gave {run.why}; make it faster"
            leave_out = command("omo plan finish --unverified", "why it cannot be run", lead="or")
            return NextStep("mend", why, (FINISH, leave_out))
    return NextStep("finish", "every step passes the audit", (FINISH,))


def cancelled(status: RunStatus) -> NextStep | None:
    """What there is to do with a session that is open, and that the user has cancelled."""
    if not status.state.is_open or not is_cancelled(status.run.caller.session_rows.get(status.state.session)):
        return None
    why = "the user has cancelled it, and its fence is down; it goes on when they type ulw"
    return NextStep("cancelled", why, (abandon_command(lead="to give it up"),), who="user")


# a session that is under way


def _violation(status: RunStatus) -> NextStep:
    """No command that undoes it is named: whose bytes they are only the user knows."""
    first = status.audit.violations[0]
    way = "a person decides"  # what must never be touched stays told, whatever a later commit does
    if first.rule == OUTSIDE:
        way = "take it back in a commit of its own"
    elif first.commit is None:
        way = "if a command of yours wrote it, undo that; if not, it is the user's: leave it"
    step = first.step or next(iter(status.audit.missing), status.state.steps[-1])
    allow = Command(lead=f"or the user types /omo:allow {clip(first.path, 120)}")
    why = f"{clip(str(first), 200)}; {way}"
    return NextStep("escalate", why, (failed_command(step, lead="report it"), allow))


def _carry_out(status: RunStatus, audited: StepAudit) -> NextStep:
    """The first step in order that has no commit, or one that does not hold."""
    state, item, step = status.state, str(audited.step), status.document.step(audited.step)
    word = step.on_failure if step else ""
    commands = [failed_command(audited.step, lead=ON_FAILURE.get(word, "if it fails after retry"))]
    if word == "skip":
        commands = [command("omo plan skip", item, "--reason", "TEXT", lead=ON_FAILURE[word])]
    has_later = any(other.step > audited.step and other.status in ("pass", "drift") for other in status.audit.steps)
    if has_later and audited.step not in state.recovering and not unrecoverable(status):
        # Later steps that are done show that this one was left out: that is what a recovery is for.
        commands.insert(0, command("omo plan recover", lead="if you do not do it now"))
    if audited.status == "missing" and step is not None:
        verifying = f"; verify: {clip(step.verify, 80)}" if step.verify else ""
        then = clip(step.checkpoint, 300) or "commit it"
        why = f"step {step.number} {clip(step.title, 60)}{verifying}; then {then}"
        if status.audit.unclaimed and len(audited.findings) == 1:  # only its commit is missing
            why += f"; if {clip(status.audit.unclaimed[-1], 60)} is it, reword that: git commit --amend -m MESSAGE"
        return NextStep("execute", why, tuple(commands), item=item)
    why = f"step {item} does not hold ({clip('; '.join(audited.findings), 120)}); mend and commit it"
    return NextStep("mend", why, tuple(commands), item=item)


# a session that is over


def _passed(status: RunStatus) -> NextStep:
    state = status.state
    left = sessions_left(status)
    if not left:
        return NextStep("done", "the session passed its audit and has its report")
    said = [f"session {state.number} of {state.sessions} passed its audit", *filter(None, left.values())]
    here = [number for number, elsewhere in left.items() if not elsewhere]
    if not here:
        said.append("merge what has passed, then")
        return NextStep("next-session", "; ".join(said), (command("omo plan audit", state.path),))
    said.append(f"session {here[0]} begins with")
    return NextStep("next-session", "; ".join(said), _begin(status))


def sessions_left(status: RunStatus) -> dict[int, str]:
    """The other sessions of the plan that are not over on this branch, in the order they can be carried out, each with
    where else it was or is carried out."""
    state = status.state
    if state.sessions == 1:
        return {}
    try:
        plan = pinned_plan(status.run)
    except Refused:
        return {}
    done = progress.progress_of(status.run.caller, plan, status.whole)
    left = {}
    for session in plan.sessions:
        if session.number != state.number and not done.is_over(session):
            left[session.number] = done.elsewhere(session.number)
    return left


def _over(status: RunStatus) -> NextStep:
    """It failed, which waits for the user's answer, or was given up: with what is left of it."""
    state, audit = status.state, status.audit
    item = str(part(state.finished, "failed").get("step") or "")
    why = f"the session stopped at step {item}" if item else "the session was abandoned"
    who = "agent"
    if item and not _is_answered(status):
        why, who = f"{why} and waits for a person", "user"
    elif item:
        why += ", and the user has answered since"
    if not (item or state.passed or audit.passed):
        return NextStep("start", why, _begin(status))
    if audit.steps and not audit.missing and not audit.violations:
        close = (abandon_command(lead="to close it"),) if item else ()
        why = f"{why}; every step passes, as {command('omo plan audit', state.path).line} shows"
        return NextStep("escalate" if item else "done", why, close, who=who, item=item)
    if status.is_revised:
        return NextStep("start", why, _begin(status), who=who, item=item)
    if unrecoverable(status):
        return NextStep("escalate", f"{why}; {unrecoverable(status)}", REVISE, who="user", item=item)
    commands = (recover_command(state, lead="to go on"), Command(lead="or revise the plan"))
    return NextStep("escalate" if item else "recover", why, commands, who=who, item=item)


def unrecoverable(status: RunStatus, depth: int = 0) -> str:
    """Why no recovery helps, which would be the `depth`-th; empty where one does."""
    audit = status.audit
    if status.unknown:
        return clip(status.unknown, 200)
    if audit.violations:
        return "what lies outside the fence is never recovered automatically"
    if not audit.missing:
        return f"no step of plan session {status.run.id} is missing"
    if status.is_revised:  # a recovery goes by the text of the start; whoever edited the plan means another
        return f"{status.state.path} was edited since the session began, and a recovery would carry out the old text"
    if max(depth, status.state.depth + 1) > MOST_RECOVERIES:
        return f"this session was recovered {MOST_RECOVERIES} times already: the rest needs a person, or a better plan"
    return ""


def _is_answered(status: RunStatus) -> bool:
    """Whether it is the user's answer by which Stop holds a session that failed: an open one has its fence up."""
    summary = status.run.caller.summary(FLOW.name)
    return summary.get("run") == status.run.id and summary.get("state") == "active" and "fence" not in summary


# the commands


def start_command(state: PlanState, lead: str = "") -> Command:
    return command("omo plan start", state.path or "PLAN", lead=lead)


def recover_command(state: PlanState, lead: str = "") -> Command:
    return command("omo plan recover", state.path, lead=lead)


def failed_command(step: int | str, lead: str = "") -> Command:
    return command("omo plan finish --failed", str(step), "--error", "TEXT", "--tried", "TEXT", lead=lead)


def abandon_command(lead: str = "") -> Command:
    return command("omo plan finish --abandon", "why it is given up", lead=lead)


def _begin(status: RunStatus) -> tuple[Command, ...]:
    """A session of the plan as it is now: a text that was edited is reviewed first."""
    if not status.is_revised:
        return (start_command(status.state),)
    review = command("omo plan critique", status.state.path, lead="the plan was edited, so first")
    return review, start_command(status.state, lead="then")
