"""Beginning a plan session: everything that can be refused is refused before the fence goes up."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from omo.errors import BadInput, NotEvaluable, Refused
from omo.proof import base, changes
from omo.state import paths, store
from omo.state.runtime import part
from omo.text import clip, counted
from omo.work.lifecycle import left_by_others, require_reason
from omo.work.publish import publish_damage
from omo.work.run import Caller, Row, Run, load
from omo.work.status import NextStep
from omo.workflows.ultraplan import costs, critique, preflight, rules, sessions, spec_text, verify
from omo.workflows.ultraplan import document as documents
from omo.workflows.ultraplan import history as histories
from omo.workflows.ultraplan.audit import Audit, audit_history
from omo.workflows.ultraplan.audited import RunStatus
from omo.workflows.ultraplan.critique import CRITIC
from omo.workflows.ultraplan.models import Document, Fence
from omo.workflows.ultraplan.run import (
    KIND,
    PLAN,
    PlanState,
    depth_of,
    pinned_path,
    require_shown,
    runs_of_plan,
    tags,
)
from omo.workflows.ultraplan.sessions import Session
from omo.workflows.ultraplan.spec_text import Recovery
from omo.workflows.ultraplan.status import GIVE_UP, close_recovered, publish_end

MOST_SHOWN = 10
MOST_UNCOMMITTED = 200
LONGEST_UNCOMMITTED = 8000


@dataclass(frozen=True)
class Contract:
    """What is to be carried out: one session of a plan, or the missing steps of one that began. `runs` are those that
    began on this text of the plan before."""

    plan: Document
    sessions: list[Session]
    number: int
    runs: list[PlanState]
    notes: list[str] = field(default_factory=list)
    parent: RunStatus | None = None
    recovery: Recovery | None = None

    @property
    def session(self) -> Session:
        return next(session for session in self.sessions if session.number == self.number)

    @property
    def document(self) -> Document:
        """The session's part of the plan, and of that what is missing."""
        document = self.session.document
        if self.recovery is None:
            return document
        return replace(document, steps=tuple(step for step in document.steps if step.number in self.recovery.missing))

    @property
    def recovers(self) -> PlanState | None:
        return self.parent.state if self.parent else None


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
    is_agreed: bool = False,
) -> Started:
    """Begin a session of a plan; without a number the next one that has not passed."""
    require_free(caller)
    require_shown(caller)
    contract = load_contract(caller, path, number)
    if not is_agreed:
        costs.require_restart_agreed(contract.plan, contract.number, contract.runs)
    return begin(caller, contract, environ=environ, unreviewed=unreviewed)


def begin(caller: Caller, contract: Contract, *, environ: Mapping[str, str], unreviewed: str = "") -> Started:
    root = Path(caller.root)
    parent = contract.parent.run if contract.parent else None
    store.make_state_dir(caller.state)
    store.make_dir(paths.plans_dir(caller.state), caller.state)
    with store.Lock(os.path.join(paths.plans_dir(caller.state), "start.lock"), store.Deadline(caller.wait)):
        caller.forget()
        require_free(caller, parent.id if parent else "")
        history, looked = clean_history(root, contract)
        unreviewed = require_reviewed(caller, contract, history, unreviewed)
        asked = preflight.look(contract.document.needs, root, environ=environ, by=caller.by)
        run = Run(PLAN, caller, PLAN.new_id(caller, tags(contract.plan.digest, contract.plan.path)))
        if parent is not None and contract.recovery is not None:
            recovery = contract.recovery
            missing, reasons = list(recovery.missing), list(recovery.reasons)
            parent.append({"kind": "recovered", "depth": recovery.depth, "missing": missing, "reasons": reasons})
        if asked.missing:
            run.append(preflight_row(caller, contract, asked))
            step = publish_end(RunStatus(run), session=caller.session)
            return Started(run.require_whole(), step, "", [str(need) for need in asked.missing], contract.notes)
        # Ledger first: a crash before the summary leaves a run that the next command finds.
        store.make_dir(run.directory, caller.state)
        spec = pinned_path(caller.state, run.id, "spec.md")
        store.replace(spec, spec_text.render(contract.session, contract.recovery))
        store.replace(pinned_path(caller.state, run.id, "plan.md"), contract.plan.text)
        row = {**_started_row(caller, contract, history), "unreviewed": clip(unreviewed, 1000)}
        run.append(preflight_row(caller, contract, asked), row)
    status = RunStatus(run, contract.document, looked)
    if parent is not None and contract.parent is not None:
        close_recovered(caller, parent.id)
        status = replace(contract.parent, run=run)  # a recovery answers for its whole session
    return Started(run.require_whole(), publish_end(status, session=caller.session), spec, notes=contract.notes)


def _started_row(caller: Caller, contract: Contract, history: histories.History) -> Row:
    document = contract.document
    fence = document.fence or Fence()
    depth = contract.recovery.depth if contract.recovery else depth_of(contract.runs, contract.number)
    handoffs = []  # what the sessions of the plan left for those after them, oldest first
    left_behind: list[str] = []  # what earlier runs of it committed outside its fence: a new base makes nothing undone
    for state in contract.runs:
        if note := state.finished.get("handoff"):
            handoffs.append(f"session {state.number}: {note}")
        if state.number == contract.number:
            left_behind += [*state.left_behind, *map(str, state.finished.get("violations") or [])]
    return {
        "kind": "started",
        "session": caller.session,
        "path": contract.plan.path,
        "plan": contract.plan.digest,
        "number": contract.number,
        "order": [session.number for session in contract.sessions],
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
        "depth": depth,
        "recovery_of": contract.recovers.run if contract.recovers else "",
        "left_behind": list(dict.fromkeys(left_behind))[:MOST_SHOWN],
        "handoffs": handoffs[-MOST_SHOWN:],
        "legacy": contract.plan.is_legacy,
    }


def _uncommitted(history: histories.History) -> list[str] | None:
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
    runs = runs_of_plan(caller, plan.digest)
    cut = sessions.cut(plan, has_remote=preflight.has_remote(root))
    passed = {state.number for state in runs if state.end == "pass"}
    if not number:
        left = [session.number for session in cut if session.number not in passed]
        if not left:
            raise Refused(f"every session of {plan.path} has passed", fix=f"omo plan audit {shlex.quote(plan.path)}")
        number = left[0]
    session = next((session for session in cut if session.number == number), None)
    if session is None:
        raise Refused(f"{plan.path} has no session {number}", fix=f"name one of 1 to {len(cut)}, or none")
    waits_for = [f"session {other}" for other in session.depends_on if other not in passed]
    if waits_for:
        raise Refused(
            f"session {number} depends on {', '.join(waits_for)} of {plan.path}, which no audit has passed yet",
            fix=f"omo plan start {shlex.quote(plan.path)} begins what comes first",
        )
    steps = [step.number for step in session.document.steps]
    others = [step.number for step in plan.steps if step.number not in steps]
    notes = []
    wrong = []
    for defect in rules.validate(plan, root, begun=others):
        if defect.is_advisory:
            notes.append(str(defect))
        else:
            wrong.append(defect)
    if wrong:
        raise Refused(
            f"{plan.path} has {counted(len(wrong), 'defect')}",
            fix=_way_on(plan, number, runs, {defect.code for defect in wrong}),
            defects=[str(defect) for defect in wrong],
        )
    return Contract(plan, cut, number, runs, notes)


def _way_on(plan: Document, number: int, runs: Sequence[PlanState], codes: set[str]) -> str:
    name = shlex.quote(plan.path)
    if codes == {"vacuous"}:
        for state in reversed(runs):
            if state.number == number:
                return f"plan session {state.run} did them: omo plan recover {name} has the rest"
        return "take what is done already out of the plan, and have it reviewed again"
    if codes & {"field", "manifest-count"}:
        return f"omo plan critique {name} fills in what omo can know, and names the rest"
    return f"mend them; omo plan critique {name}"


# what is refused


def require_free(caller: Caller, recovered: str = "") -> None:
    """One plan session per worktree: two could not tell their commits apart. One that is recovered gives way."""
    for name in caller.session_rows:
        summary = caller.summary(KIND, name)
        run = str(summary.get("run") or "")
        if name == caller.session or part(summary, "fence").get("root") != caller.here or run == recovered:
            continue
        fix = f'if that session died, the user ends it: omo plan finish --session {name} --abandon "why"'
        if name in left_by_others(KIND, caller):
            fix = f"omo resume {shlex.quote(name)} takes it up; or {fix}"
        raise Refused(f"plan session {run} of session {name} is under way in {caller.here}", fix=fix)
    own = load(PLAN, caller)
    if own is None:
        return
    if own.problems:
        publish_damage(own)
        raise own.damage()
    state = own.state
    if state is None or not state.is_fenced or own.id == recovered:
        return
    own.require_whole()
    way = "omo plan recover" if state.end == "recovered" else "omo plan finish"
    raise Refused(
        f"plan session {own.id} of this session is under way in {caller.here}",
        fix=f"{way}; to give it up: {GIVE_UP}",
    )


def require_reviewed(caller: Caller, contract: Contract, history: histories.History, unreviewed: str) -> str:
    """Why it begins without a clean critique; empty where it has one, or needs none. What the critic was seen to say of
    this text is recorded now."""
    plan, parent = contract.plan, contract.recovers
    if parent is not None and parent.unreviewed:
        # A recovery carries out the same contract, so what was let through for it still is, and is still told.
        unreviewed = parent.unreviewed
        if not parent.recovery_of:
            unreviewed += f" (as plan session {parent.run} began)"
    review = critique.latest(caller.state, plan.digest)
    if not critique.is_clean(review):
        try:
            critique.record(caller, plan)
        except BadInput:
            if not unreviewed:
                raise
        review = critique.latest(caller.state, plan.digest)
    if critique.is_clean(review):
        return ""
    if unreviewed:
        require_reason(unreviewed, "--unreviewed", "say why no critic looked")
        if caller.by != "user" and parent is None and critique.has_refused(caller, plan):
            raise Refused(
                f"{CRITIC} has found {plan.path} not to be sound; only the user starts it all the same",
                fix=f"mend it and have it reviewed: omo plan critique {shlex.quote(plan.path)}; or ask the user, who "
                "runs omo plan start in their own terminal, with --unreviewed and --session",
            )
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
        fix=f"omo plan critique {shlex.quote(plan.path)}; or --unreviewed REASON, which is reported",
    )


def clean_history(root: Path, contract: Contract) -> tuple[histories.History, Audit]:
    """From the commit the work begins at. What is not committed now could not be told from the session's own work."""
    head = changes.head(root)
    if head is None:
        raise NotEvaluable(f"{root} is not a git repository", fix="git init, and commit what is there")
    history = histories.look(root, head)
    looked = audit_history(contract.document, history, {})
    if looked.problems:
        raise NotEvaluable(looked.problems[0], fix="git status; mend that, then start again")
    if dirty := looked.dirty:
        more = [f"and {len(dirty) - MOST_SHOWN} more"] if len(dirty) > MOST_SHOWN else []
        raise Refused(
            f"{counted(len(dirty), 'file')} not committed: the audit would call that drift",
            fix="commit, stash or ignore what is listed, then start again",
            defects=[*dirty[:MOST_SHOWN], *more],
        )
    return history, looked


# preflight


def preflight_row(caller: Caller, contract: Contract, asked: preflight.Preflight) -> Row:
    why = "; ".join(clip(str(need), 160) for need in asked.missing)
    return {
        "kind": "preflight",
        "session": caller.session,
        "path": contract.plan.path,
        "recovery_of": contract.recovers.run if contract.recovers else "",
        "needs": [asdict(need) for need in asked.needs],
        "missing": [need.name for need in asked.missing],
        "result": asked.result,
        "bypassed": asked.bypassed_by,
        "why": clip(why, 400),
    }
