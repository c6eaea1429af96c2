"""What keeps a plan session from beginning, or from going on: each asked before anything is written."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from omo.engine.ends import require_over
from omo.engine.runs import CaseRun, load_run
from omo.errors import BadInput, NotEvaluable, Refused
from omo.proof import changes
from omo.state.rows import EMPTY
from omo.state.runtime import Change, has_ended, part
from omo.text import clip, counted
from omo.work import requests
from omo.work.lifecycle import not_shown, replaces, require_reason, require_room
from omo.work.run import Caller
from omo.work.session import suspend
from omo.workflows.ultraplan import critique
from omo.workflows.ultraplan import history as histories
from omo.workflows.ultraplan.audit import Audit, audit_history
from omo.workflows.ultraplan.flow import CRITIC, FLOW
from omo.workflows.ultraplan.history import History
from omo.workflows.ultraplan.models import Document
from omo.workflows.ultraplan.run import PLAN, state_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.ledger_rows import SessionEvent

MOST_SHOWN = 10


def require_free(caller: Caller, recovered: str = "") -> None:
    """One plan session per worktree: two could not tell their commits apart. One that is recovered gives way."""
    for name in caller.session_rows:
        summary = caller.summary(FLOW.name, name)
        run = str(summary.get("run") or "")
        is_here = part(summary, "fence").get("root") == caller.here
        if is_here and name != caller.session and run != recovered:
            raise under_way(caller, run, name)
    require_room(FLOW.name, caller)
    own = load_run(FLOW, caller)
    if own is not None and own.id != recovered:
        require_over(own, is_replaced=replaces(caller, FLOW.name) is not None)


def under_way(caller: Caller, run: str, session: str) -> Refused:
    """In another conversation."""
    name = shlex.quote(session)
    return Refused(
        f"plan session {run} of session {session} is under way in {caller.here}",
        fix=f"once that one is over: omo resume {name}; or the user ends it: "
        f'omo plan finish --session {name} --abandon "why"',
    )


def require_shown(caller: Caller) -> None:
    """An agent that failed or gave up goes on only once Stop has shown the user how that ended."""
    fix = "end your turn with what you would tell them; the next Stop shows it, and they say how to go on"
    refusal = not_shown(PLAN, caller, fix)
    if refusal is None:
        return
    summary = caller.summary(FLOW.name)
    if has_ended(summary):
        raise refusal
    state = state_of(CaseRun(PLAN, caller, str(summary.get("run") or "")))
    if state.started and (state.waiting or not state.how):
        return  # something it needs was missing: nothing was begun, and what ended before was shown
    if state.started and critique.is_another_named(caller, state.path, state.terms.plan, state.started_at):
        return  # they said themselves that it goes on with another text
    raise refusal


def require_clean(
    root: Path, document: Document, done: Mapping[int, str], *, is_begun: bool = False
) -> tuple[History, Audit]:
    """From the commit the work begins at. What is not committed now could not be told from the session's own work; once
    it `is_begun`, what lies outside its fence is none of it."""
    head = changes.commit_of(root, "HEAD")
    if head is None:
        raise NotEvaluable(
            f"{root} is not a git repository, or has no commit yet", fix="git init, and commit what is there"
        )
    history = histories.history_since(root, head)
    audit = audit_history(document, history, {}, done=done)
    dirty = audit.dirty
    if not is_begun:
        dirty = sorted({*dirty, *(violation.path for violation in (*audit.violations, *audit.left_alone))})
    if dirty:
        more = [f"and {len(dirty) - MOST_SHOWN} more"] if len(dirty) > MOST_SHOWN else []
        raise Refused(
            f"{counted(len(dirty), 'file')} not committed: the audit would call that drift",
            fix="commit, stash (git stash -u) or ignore what is listed, then start again",
            defects=[*dirty[:MOST_SHOWN], *more],
        )
    return history, audit


def require_as_named(caller: Caller, plan: Document) -> bool:
    """Whether the user named this very text after /omo:ultraexecute; one that was changed since they did not mean."""
    is_changed = critique.is_another_named(caller, plan.path, plan.digest)
    if is_changed and caller.by != "user":
        what = requests.not_as_named(plan.path)
        way = f"/omo:ultraexecute {shlex.quote(plan.path)}"
        asked = f"If you mean it as it is now, type {way}"
        noted: SessionEvent = {"kind": "waiting", "evidence": what}
        caller.change(lambda row: Change(None, suspend(row or EMPTY, why=what, question=asked), [noted]))
        raise Refused(what, fix=f"put it back as it was; or tell them what changed, and they type: {way}")
    typed = requests.typed(caller.events, "ultraexecute")
    is_named = any(named.get("path") == plan.path for row in typed for named in requests.files_of(row))
    return is_named and not is_changed


def require_reviewed(caller: Caller, plan: Document, history: History, unreviewed: str) -> str:
    """Why it begins without a clean critique; empty where it has one, or needs none. What the critic was seen to say of
    this text is recorded now."""
    name = shlex.quote(plan.path)
    try:
        critique.record(caller, plan)
    except BadInput:
        if not unreviewed:
            raise
    review = critique.latest(caller.root, caller.state, plan.digest)
    if critique.is_clean(review):
        return ""
    if unreviewed and caller.by == "user":
        return require_reason(unreviewed, "--unreviewed", "say why no critic looked")
    is_committed = plan.path not in history.tree.dirty and not history.tree.is_untracked(plan.path)
    if plan.is_legacy and is_committed and not unreviewed:
        return ""
    why = "no critic has found this text sound, and of an older plan only what is committed needs none"
    if review is not None:
        reasons = "; ".join(map(str, review.get("reasons") or ()))
        why = clip(f"{CRITIC.agent} has found it not to be sound: {reasons}", 300)
    theirs = f"omo plan start {name} --unreviewed REASON --session {shlex.quote(caller.session)}"
    raise Refused(
        f"{plan.path} has no clean critique of the text it has now (digest {plan.digest[:12]}): {why}",
        fix=f"omo plan critique {name}; or the user, in a terminal of their own: {theirs}",
    )
