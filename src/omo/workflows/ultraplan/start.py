"""Beginning a plan session, and recovering one: what can be refused is refused before anything is written."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from omo.errors import BadInput, NotEvaluable, Refused
from omo.proof import base, changes
from omo.state import store
from omo.state.runtime import part
from omo.text import clip, counted
from omo.work import requests
from omo.work.lifecycle import left_by_others, not_shown, require, require_reason
from omo.work.publish import publish_damage
from omo.work.run import Caller, Row, Run, load
from omo.work.status import NextStep
from omo.workflows.ultraplan import critique, preflight, rules, sessions, verify
from omo.workflows.ultraplan import document as documents
from omo.workflows.ultraplan import history as histories
from omo.workflows.ultraplan import progress as progresses
from omo.workflows.ultraplan.audit import Audit, audit_history
from omo.workflows.ultraplan.critique import CRITIC
from omo.workflows.ultraplan.history import History
from omo.workflows.ultraplan.models import Document, Fence, Session
from omo.workflows.ultraplan.progress import Progress
from omo.workflows.ultraplan.run import (
    KIND,
    MOST_RECOVERIES,
    PLAN,
    PlanRun,
    PlanState,
    RunStatus,
    audit_run,
    depth_of,
    from_top,
    pinned_path,
    pinned_plan,
    runs_of_repository,
    states_of_text,
    tags,
)
from omo.workflows.ultraplan.sessions import Recovery
from omo.workflows.ultraplan.status import GIVE_UP, failed_command, leave_to_another, publish_end

MOST_SHOWN = 10
MOST_UNCOMMITTED = 200
LONGEST_UNCOMMITTED = 8000


@dataclass(frozen=True)
class Contract:
    """What is to be carried out: one session of a plan, `document` the part that it is held to, and what is done of
    the plan already."""

    plan: Document
    document: Document
    progress: Progress
    notes: list[str] = field(default_factory=list)

    @property
    def session(self) -> Session:
        return self.document.sessions[0]

    @property
    def runs(self) -> list[PlanState]:
        """The earlier runs of the same session of the same text."""
        same = states_of_text(self.progress.runs, self.plan.digest)
        return [state for state in same if state.number == self.session.number]

    @property
    def done(self) -> dict[int, str]:
        """The steps of the session that need not be carried out."""
        return {step: commit for step, commit in self.progress.done.items() if step in self.session.steps}


@dataclass(frozen=True)
class Started:
    """`missing` names what kept it from beginning; then nothing was opened."""

    state: PlanState
    next: NextStep
    spec: str = ""
    missing: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def start(
    caller: Caller,
    path: Path,
    number: int = 0,
    *,
    environ: Mapping[str, str],
    unreviewed: str = "",
) -> Started:
    """Begin a session of a plan; without a number the next one that has not passed."""
    root = Path(caller.root)
    require_free(caller)
    require_shown(caller)
    contract = load_contract(caller, path, number)
    plan, document = contract.plan, contract.document
    with PLAN.start_lock(caller):
        caller.forget()
        require_free(caller)
        history, looked = clean_history(root, document, contract.done)
        is_named = _require_as_named(caller, plan)
        unreviewed = require_reviewed(caller, plan, history, unreviewed)
        asked = preflight.look(document.needs, root, environ=environ, by=caller.by)
        run = Run(PLAN, caller, PLAN.new_id(caller, tags(plan.digest, plan.path)))
        if asked.missing:
            return _blocked(run, plan.path, asked, contract.notes)
        # Ledger before summary: a crash in between leaves a run that the next command finds.
        spec = _write(run, "spec.md", sessions.render(plan, document, done=contract.done))
        _write(run, "plan.md", plan.text)
        row = {**_started_row(caller, contract, history), "unreviewed": clip(unreviewed, 1000), "is_named": is_named}
        run.append(_preflight_row(caller, plan.path, asked), row, *_skipped_rows(contract))
    step = publish_end(RunStatus(run, document, looked), session=caller.session)
    return Started(run.require_whole(), step, spec, notes=contract.notes)


def _write(run: PlanRun, name: str, text: str) -> str:
    store.make_dir(run.directory, run.caller.state)
    path = pinned_path(run.caller.state, run.id, name)
    store.replace(path, text)
    return path


def _blocked(run: PlanRun, path: str, asked: preflight.Preflight, notes: Sequence[str] = ()) -> Started:
    run.append(_preflight_row(run.caller, path, asked))
    step = publish_end(RunStatus(run), session=run.caller.session)
    return Started(run.require_whole(), step, "", [str(need) for need in asked.missing], list(notes))


def _preflight_row(caller: Caller, path: str, asked: preflight.Preflight) -> Row:
    why = "; ".join(clip(str(need), 160) for need in asked.missing)
    return {
        "kind": "preflight",
        "session": caller.session,
        "path": path,
        "needs": [asdict(need) for need in asked.needs],
        "missing": [need.name for need in asked.missing],
        "result": asked.result,
        "bypassed": asked.bypassed_by,
        "why": clip(why, 400),
    }


def _skipped_rows(contract: Contract) -> list[Row]:
    """What an earlier run of the session left out, as its plan allows, stays left out."""
    rows = []
    for step, reason in contract.progress.skipped.items():
        if step in contract.session.steps:
            rows.append({"kind": "skipped", "step": step, "reason": reason})
    return rows


def _started_row(caller: Caller, contract: Contract, history: History) -> Row:
    session, document = contract.session, contract.document
    fence = document.fence or Fence()
    handoffs = []  # what the sessions of the plan left for those after them, oldest first
    left_behind: list[str] = []  # what earlier runs of it committed outside its fence: a new base makes nothing undone
    for state in contract.progress.states:
        if note := state.finished.get("handoff"):
            handoffs.append(f"session {state.number}: {note}")
        if state.number == session.number:
            left_behind += [*state.left_behind, *map(str, state.finished.get("violations") or [])]
    return {
        "kind": "started",
        "session": caller.session,
        "path": contract.plan.path,
        "plan": contract.plan.digest,
        "number": session.number,
        "order": [other.number for other in contract.plan.sessions],
        "base": history.head,
        "runner": {path: base.digest_of(caller.root, path) for path in base.ALWAYS_LOOKED_AT},
        "root": caller.here,
        "fence": {
            "touch": list(fence.touch),
            "never": list(fence.never),
            "root": caller.here,
            "spec": contract.plan.path,
            "uncommitted": _uncommitted(history),
        },
        "steps": [step.number for step in document.steps],
        "verify": [command.row for command in verify.commands_of(document.steps)],
        "done": {str(step): commit for step, commit in contract.done.items()},
        "depth": depth_of(contract.runs),
        "left_behind": list(dict.fromkeys(left_behind))[:MOST_SHOWN],
        "handoffs": handoffs[-MOST_SHOWN:],
        "legacy": contract.plan.is_legacy,
    }


def _uncommitted(history: History) -> list[str] | None:
    """What HEAD does not have as it is now, ignored files too: not the session's to remove or restore. None where it is
    more than a row that every hook reads should hold."""
    edited = [path for path in history.tree.dirty if not history.tree.is_untracked(path)]
    listed = sorted({*changes.loose(history.root, whole_directories=True), *edited})
    is_little = len(listed) <= MOST_UNCOMMITTED and sum(map(len, listed)) <= LONGEST_UNCOMMITTED
    return listed if is_little else None


# the contract


def load_contract(caller: Caller, path: Path, number: int = 0) -> Contract:
    """Refused with every defect of the plan."""
    root = Path(caller.root)
    plan = documents.load(path, root)
    name = shlex.quote(plan.path)
    progress = progresses.look(caller, plan)
    cut = sessions.cut(plan, has_remote=preflight.has_remote(root))
    document = _chosen_session(cut, progress, plan.path, number)
    _require_dependencies(document.sessions[0], plan, progress)
    contract = Contract(plan, document, progress)
    unfinished = [state for state in contract.runs if state.end != "pass" and state.root == caller.here]
    if unfinished and contract.done:
        steps = ", ".join(map(str, contract.done))
        raise Refused(
            f"step {steps} of {plan.path} is done, by plan session {unfinished[-1].run}",
            fix=f"omo plan recover {name} goes on with the rest",
        )
    defects = rules.validate(plan, root, begun=_of_others(contract), edited=progress.edited)
    if wrong := rules.refusing(defects):
        fix = f"mend them; omo plan critique {name} fills in what omo can know"
        raise Refused(f"{plan.path} has {counted(len(wrong), 'defect')}", fix=fix, defects=list(map(str, wrong)))
    return replace(contract, notes=list(map(str, defects)))


def _of_others(contract: Contract) -> set[int]:
    """The steps whose work may be there: those of other sessions, and what is done."""
    own = contract.session.steps
    others = {step.number for step in contract.plan.steps if step.number not in own}
    return others | set(contract.progress.done)


def _chosen_session(cut: Sequence[Document], progress: Progress, path: str, number: int) -> Document:
    """The one of that number; without one, the next that is neither over nor in another worktree's hands."""
    name = shlex.quote(path)
    elsewhere = []
    for document in cut:
        session = document.sessions[0]
        if number and session.number != number:
            continue
        if number and progress.is_over(session):
            fix = f"omo plan start {name} begins what is left"
            raise Refused(f"session {number} of {path} is done already", fix=fix)
        if progress.is_over(session):
            continue
        where = "" if number else progress.elsewhere(session.number)
        if not where:
            return document
        elsewhere.append(where)
    if number:
        raise Refused(f"{path} has no session {number}", fix=f"name one of 1 to {len(cut)}, or none")
    if elsewhere:
        raise Refused("; ".join(elsewhere), fix=f"merge what has passed, then omo plan audit {name}")
    raise Refused(f"every session of {path} has passed", fix=f"omo plan audit {name}")


def _require_dependencies(session: Session, plan: Document, progress: Progress) -> None:
    """Met are those whose work is on this branch, wherever it was done."""
    name = shlex.quote(plan.path)
    for other in plan.sessions:
        if other.number not in session.depends_on or progress.is_over(other):
            continue
        where = progress.elsewhere(other.number)
        fix = f"omo plan start {name} {other.number} begins that one"
        if where:
            fix = f"{where}: merge its branch once it has passed"
        raise Refused(
            f"session {session.number} depends on session {other.number} of {plan.path}, and not every step of that "
            "passes the audit on this branch",
            fix=fix,
        )


# what is refused


def require_free(caller: Caller, recovered: str = "") -> None:
    """One plan session per worktree: two could not tell their commits apart. One that is recovered gives way."""
    for name in caller.session_rows:
        summary = caller.summary(KIND, name)
        run = str(summary.get("run") or "")
        if name == caller.session or part(summary, "fence").get("root") != caller.here or run == recovered:
            continue
        raise _under_way(caller, run, name)
    own = load(PLAN, caller)
    if own is None or own.id == recovered:
        return
    if own.problems:
        publish_damage(own)
        raise own.damage()
    if own.state is not None and own.state.is_open:
        own.require_whole()
        raise Refused(
            f"plan session {own.id} of this session is under way in {caller.here}",
            fix=f"omo plan finish; to give it up: {GIVE_UP}",
        )


def _under_way(caller: Caller, run: str, session: str) -> Refused:
    """In another conversation."""
    fix = f'if that session died, the user ends it: omo plan finish --session {session} --abandon "why"'
    if session in left_by_others(KIND, caller):
        fix = f"omo resume {shlex.quote(session)} takes it up; or {fix}"
    return Refused(f"plan session {run} of session {session} is under way in {caller.here}", fix=fix)


def require_shown(caller: Caller) -> None:
    """An agent that failed or gave up goes on only once Stop has shown the user how that ended."""
    fix = "end your turn with what you would tell them; the next Stop shows it, and they say how to go on"
    refusal = not_shown(PLAN, caller, fix)
    if refusal is None:
        return
    summary = caller.summary(KIND)
    state = None if summary.get("cleared") else Run(PLAN, caller, str(summary.get("run") or "")).state
    if state is not None and (state.lacks or not state.end):
        return  # something it needs was missing: nothing was begun, and what ended before was shown
    raise refusal


def _require_as_named(caller: Caller, plan: Document) -> bool:
    """Whether the user named this very text after /omo:ultraexecute; one that was changed since is not what they meant.

    What omo itself filled in since is no change of anybody's.
    """
    typed = requests.typed(caller.events, "ultraexecute")
    if not typed:
        return False
    texts = critique.texts_of(caller.root, caller.state, plan.digest)
    is_changed = all(requests.changed_since_named(typed, plan.path, digest) for digest in texts)
    if is_changed and caller.by != "user":
        name = shlex.quote(plan.path)
        raise Refused(
            f"{plan.path} is not as it was when the user named it",
            fix=f"put it back as it was; or tell them what changed, and they type: /omo:ultraexecute {name}",
        )
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
    theirs = f"omo plan start {name} --unreviewed REASON --session {shlex.quote(caller.session)}"
    if unreviewed and caller.by != "user":
        # Not asking the critic was cheaper than asking: after its no only the user could go on, before it the agent.
        why = "no critic has looked at it"
        if critique.has_refused(caller, plan):
            why = f"{CRITIC} has found it not to be sound"
        raise Refused(
            f"--unreviewed starts {plan.path} over a missing review ({why}), and that is the user's alone",
            fix=f"have it reviewed: omo plan critique {name}; or they type, in a terminal of their own: {theirs}",
        )
    if unreviewed:
        require_reason(unreviewed, "--unreviewed", "say why no critic looked")
        return unreviewed
    is_committed = plan.path not in history.tree.dirty and not history.tree.is_untracked(plan.path)
    if plan.is_legacy and is_committed:
        return ""
    reviewed = ""
    if review is not None:
        reviewed = f": {clip('; '.join(map(str, review.get('reasons') or ())), 300)}"
    elif plan.is_legacy:
        reviewed = ", nor was it there before: of an older plan only what is committed needs none"
    raise Refused(
        f"{plan.path} has no clean critique of the text it has now (digest {plan.digest[:12]}){reviewed}",
        fix=f"omo plan critique {name}; or the user, in a terminal of their own: {theirs}",
    )


def clean_history(
    root: Path, document: Document, done: Mapping[int, str], *, is_begun: bool = False
) -> tuple[History, Audit]:
    """From the commit the work begins at. What is not committed now could not be told from the session's own work; once
    it `is_begun`, what lies outside its fence is none of it."""
    head = changes.commit_of(root, "HEAD")
    if head is None:
        raise NotEvaluable(
            f"{root} is not a git repository, or has no commit yet", fix="git init, and commit what is there"
        )
    history = histories.look(root, head)
    looked = audit_history(document, history, {}, done=done)
    if looked.problems:
        raise NotEvaluable(looked.problems[0], fix="git status; mend that, then start again")
    dirty = looked.dirty
    if not is_begun:
        dirty = sorted({*dirty, *(violation.path for violation in (*looked.violations, *looked.left_alone))})
    if dirty:
        more = [f"and {len(dirty) - MOST_SHOWN} more"] if len(dirty) > MOST_SHOWN else []
        raise Refused(
            f"{counted(len(dirty), 'file')} not committed: the audit would call that drift",
            fix="commit, stash or ignore what is listed, then start again",
            defects=[*dirty[:MOST_SHOWN], *more],
        )
    return history, looked


# recovery: a session goes on with just the steps that are missing, twice at most for one session of one plan


def chosen(caller: Caller, path: Path) -> PlanRun:
    """The current run where it is one of that plan, else the last of the plan that is left, whoever began it."""
    name = from_top(caller, path)
    runs = [run for run in runs_of_repository(caller, name) if run.caller is caller]
    current = load(PLAN, caller)
    names = [run.id for run in runs]
    if current is not None and current.id in names:
        return require(PLAN, caller)
    if not runs:
        raise Refused(f"no session of {name} began here, so nothing is missing of it", fix=f"omo plan start {name}")
    left = [run.id for run in runs if run.state is not None and run.state.end != "pass"] or names
    return Run(PLAN, caller, left[-1], named=True)


def recover(run: PlanRun, *, environ: Mapping[str, str]) -> Started:
    """The session goes on with what is missing, by a spec of just that. Refused where a person has to look first.

    One that ended may be another conversation's: it goes on in this one.
    """
    caller, root = run.caller, Path(run.caller.root)
    state = run.require_whole()
    if not state.base or state.end == "pass":
        raise state.not_open
    if state.end:
        require_shown(caller)
    elif (holder := caller.holder(PLAN.name, run.id)) != caller.session:
        raise _under_way(caller, run.id, holder)
    status = audit_run(run)
    if status.is_revised:
        raise _revised(state)
    same = states_of_text(runs_of_repository(caller, state.path), state.plan)
    depth = depth_of([other for other in same if other.number == state.number]) + 1
    again = state.recovering and state.is_open and state.recovered_at == status.audit.head
    if again and not status.audit.dirty:  # nothing was done since: it is the same recovery
        depth = state.depth
    missing = _missing(status, depth)
    plan = pinned_plan(caller.state, state)
    cut = sessions.cut(plan, has_remote=preflight.has_remote(root))
    document = next(each for each in cut if each.sessions[0].number == state.number)
    with PLAN.start_lock(caller):
        caller.forget()
        require_free(caller, run.id)
        history, _ = clean_history(root, document, state.before, is_begun=True)
        asked = preflight.look(document.needs, root, environ=environ, by=caller.by)
        if asked.missing:
            return _blocked(run, state.path, asked)
        reasons = [clip(str(step), 200) for step in status.audit.steps if step.step in missing]
        entry = f"what passed is committed at {history.head[:12]}"
        recovery = Recovery(depth, missing, reasons, entry, from_top(caller, run.journal.path))
        spec = _write(run, f"recovery-{depth}.md", sessions.render(plan, document, recovery))
        row: Row = {"kind": "recovered", "session": caller.session, "depth": depth, "missing": missing}
        row |= {"reasons": reasons, "uncommitted": _uncommitted(history), "head": history.head}
        run.append(_preflight_row(caller, state.path, asked), row)
    leave_to_another(caller, run.id)
    return Started(run.require_whole(), publish_end(replace(status, run=run), session=caller.session), spec)


def _revised(state: PlanState) -> Refused:
    """A recovery goes by the text of the start; whoever edited the plan means another."""
    name = shlex.quote(state.path)
    first = f"{GIVE_UP}, then " if state.is_open else ""
    anew = f"{first}omo plan critique {name}, and omo plan start {name}"
    return Refused(
        f"{state.path} was edited since plan session {state.run} began, and a recovery would carry out the old text",
        fix=f"put the text back; or {anew}: what is done stays done",
    )


def _missing(status: RunStatus, depth: int) -> list[int]:
    """The steps to carry out; refused where no recovery helps."""
    state = status.state
    status.require_evaluable()
    missing = status.audit.missing
    report = "revise the plan, then omo plan critique, and start it"
    if state.is_open:
        report = failed_command(missing[0] if missing else "STEP").line
    if status.audit.violations:
        raise Refused(
            "what lies outside the fence is never recovered automatically",
            fix=f"a person decides: {report}",
            defects=[clip(str(violation), 200) for violation in status.audit.violations],
        )
    if not missing:
        left = f"; not committed: {clip(', '.join(status.audit.dirty), 200)}" if status.audit.dirty else ""
        way = f"omo plan audit {state.path} shows each; {GIVE_UP} closes what was reported as failed"
        if state.is_open:
            way = "commit or remove what is left, then omo plan finish"
        raise Refused(f"no step of plan session {state.run} is missing{left}", fix=way)
    if depth > MOST_RECOVERIES:
        raise Refused(
            f"this session was recovered {MOST_RECOVERIES} times already: what is missing needs a person, or a "
            "better plan",
            fix=report,
            defects=[f"step {step} is missing" for step in missing],
        )
    return missing
