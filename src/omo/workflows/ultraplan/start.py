"""Beginning a plan session: everything that can be refused is refused before the fence goes up."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from omo.errors import BadInput, NotEvaluable, Refused
from omo.proof import base, changes, globs
from omo.state import paths, store
from omo.state.runtime import part
from omo.text import clip, counted
from omo.work.lifecycle import adoptable, require_reason
from omo.work.publish import publish_damage
from omo.work.run import Caller, Row, Run, load
from omo.work.status import NextStep
from omo.workflows.ultraplan import critique, preflight, rules, sessions, spec_text, verify
from omo.workflows.ultraplan import document as documents
from omo.workflows.ultraplan import history as histories
from omo.workflows.ultraplan.audit import Audit, audit_history
from omo.workflows.ultraplan.audited import RunStatus, audited
from omo.workflows.ultraplan.critique import CRITIC
from omo.workflows.ultraplan.models import Document, Fence
from omo.workflows.ultraplan.run import (
    KIND,
    PLAN,
    PlanRun,
    PlanState,
    depth_of,
    line_of,
    pinned_path,
    require_shown,
    runs_at,
    runs_of_plan,
    tags,
)
from omo.workflows.ultraplan.sessions import SessionSpec
from omo.workflows.ultraplan.status import GIVE_UP, close_recovered, publish_end

MOST_SHOWN = 10
MOST_UNCOMMITTED = 200
LONGEST_UNCOMMITTED = 8000


@dataclass(frozen=True)
class Started:
    """`missing` names what kept it from beginning; then nothing was opened."""

    state: PlanState
    next: NextStep
    missing: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def start(
    caller: Caller, path: Path, *, unreviewed: str, environ: Mapping[str, str], out_of_order: str = ""
) -> Started:
    require_free(caller)
    require_shown(caller)
    contract = load_contract(caller, path)
    root = Path(caller.root)
    store.make_state_dir(caller.state)
    store.make_dir(paths.plans_dir(caller.state), caller.state)
    with store.Lock(os.path.join(paths.plans_dir(caller.state), "start.lock"), store.Deadline(caller.wait)):
        caller.forget()
        require_free(caller, contract)
        require_in_order(contract, out_of_order)
        history, looked = clean_history(root, contract)
        unreviewed = unreviewed or _inherited(contract)
        require_reviewed(caller, contract, history, unreviewed)
        before = require_something_missing(caller, contract)
        asked = preflight.look(contract.spec.needs, root, environ=environ, by=caller.by)
        first = line_of(caller, contract.recovers)[0].spec if contract.recovers else contract.document.path
        run_id = PLAN.new_id(caller, tags(contract.plan.digest, contract.plan.path, first))
        run = Run(PLAN, caller, run_id)
        if asked.missing:
            run.append(preflight_row(caller, contract.document, asked))
            step = publish_end(RunStatus(run), session=caller.session)
            return Started(_state_of(run), step, [str(need) for need in asked.missing], contract.notes)
        # Ledger first: a crash before the summary leaves a run that the next command finds.
        store.make_dir(run.directory, caller.state)
        store.replace(pinned_path(caller.state, run_id), contract.spec.text)
        store.replace(pinned_path(caller.state, run_id, "plan.md"), contract.plan.text)
        let_through = {"unreviewed": clip(unreviewed, 1000), "out_of_order": clip(out_of_order, 1000)}
        row = {**_started_row(caller, contract, history), **let_through}
        run.append(preflight_row(caller, contract.document, asked), row)
    if contract.recovers:
        close_recovered(caller, contract.recovers.run)
    status = RunStatus(run, contract.spec, looked)
    if before is not None:  # a recovery answers for its whole session
        status = replace(before, run=run)
    return Started(_state_of(run), publish_end(status, session=caller.session), notes=contract.notes)


def _state_of(run: PlanRun) -> PlanState:
    assert run.state is not None
    return run.state


def _started_row(caller: Caller, contract: Contract, history: histories.History) -> Row:
    recovers = contract.recovers
    fence = contract.spec.fence or Fence()
    return {
        "kind": "started",
        "session": caller.session,
        "spec": contract.document.path,
        "digest": contract.spec.digest,
        "source": contract.document.digest,
        "plan": contract.plan.digest,
        "master": contract.plan.path,
        "lineage": contract.lineage,
        "number": contract.number,
        "order": [number for wave in sessions.order(contract.sessions) for number in wave],
        "base": history.head,
        "runner": {path: base.digest_of(caller.root, path) for path in base.ALWAYS_LOOKED_AT},
        "root": caller.here,
        "fence": {
            "touch": list(fence.touch),
            "never": list(fence.never),
            "root": caller.here,
            "spec": contract.document.path,
            "uncommitted": _uncommitted(history),
        },
        "steps": [step.number for step in contract.spec.work_steps],
        "verify": [command.row for command in verify.commands_of(contract.spec.work_steps)],
        "depth": depth_of(contract.runs, contract.lineage),
        "recovery_of": recovers.run if recovers else "",
        "anew": str(recovers.recovered.get("anew") or "") if recovers else "",
        "left_behind": _left_behind(contract),
        "handoffs": _handoffs(contract.runs),
        "legacy": contract.plan.is_legacy,
    }


def _uncommitted(history: histories.History) -> list[str] | None:
    """What HEAD does not have as it is now, ignored files too: not the session's to remove or restore. None where it is
    more than a row that every hook reads should hold."""
    edited = [path for path in history.tree.dirty if not history.tree.is_untracked(path)]
    listed = sorted({*changes.loose(history.root, whole_directories=True), *edited})
    is_little = len(listed) <= MOST_UNCOMMITTED and sum(map(len, listed)) <= LONGEST_UNCOMMITTED
    return listed if is_little else None


def _left_behind(contract: Contract) -> list[str]:
    """What earlier runs of this session committed outside its fence: a new base does not make it undone."""
    lines: list[str] = []
    for state in contract.runs:
        if state.lineage == contract.lineage:
            lines += [*state.left_behind, *map(str, state.finished.get("violations") or [])]
    return list(dict.fromkeys(lines))[:MOST_SHOWN]


def _handoffs(runs: Sequence[PlanState]) -> list[str]:
    """What the sessions of the plan left for those after them, oldest first."""
    notes = []
    for state in runs:
        if note := state.finished.get("handoff"):
            notes.append(f"session {state.number}: {note}")
    return notes[-MOST_SHOWN:]


# the contract: a spec that says what its plan says, and nothing less


@dataclass(frozen=True)
class Contract:
    """What a session is held to. `document` is the file that was named, `spec` the session to carry out, `plan` what it
    comes from, `sessions` all that the plan is cut into, `runs` what began on this text of the plan before."""

    document: Document
    spec: Document
    plan: Document
    sessions: list[SessionSpec]
    runs: list[PlanState]
    recovers: PlanState | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def number(self) -> int:
        return self.spec.session or 1

    @property
    def lineage(self) -> str:
        """Runs of one session of one plan belong together, whatever a spec says of itself."""
        return f"{self.plan.digest}/{self.number}"


def load_contract(caller: Caller, path: Path) -> Contract:
    """Refused with every defect, or where the spec is no longer what the plan says."""
    root = Path(caller.root)
    document = _read(caller, path, root)
    digest = document.digest if document.kind == "plan" else document.master_digest
    runs = runs_of_plan(caller, digest)
    recovers = None
    for state in runs:
        if state.recovered.get("digest") == document.digest:
            recovers = state
    notes = _validated(caller, document, root, path, is_recovery=recovers is not None)
    plan = document if document.kind == "plan" else _master(document, root)
    specs = sessions.decompose(plan, has_remote=preflight.has_remote(root))
    if document.kind == "plan":
        if len(specs) != 1:
            raise Refused(
                f"{plan.path} has {len(specs)} sessions, and one is carried out at a time",
                fix=f"omo plan decompose {shlex.quote(plan.path)} --out DIR, then omo plan start DIR/SPEC",
            )
        spec = documents.parse(spec_text.render(specs[0]), plan.path)
        return Contract(document, spec, plan, specs, runs, notes=notes)
    _require_same(document, plan, specs, is_recovery=recovers is not None)
    return Contract(document, document, plan, specs, runs, recovers, notes)


def _read(caller: Caller, path: Path, root: Path) -> Document:
    """A recovery's spec lies with our state, which may be kept outside the project."""
    real = os.path.realpath(path)
    is_ours = globs.is_inside(os.path.realpath(paths.plans_dir(caller.state)), real)
    if globs.is_inside(os.path.realpath(root), real) or not is_ours:
        return documents.load(path, root)
    return replace(documents.load(path, Path(caller.state)), path=real)


def _validated(caller: Caller, document: Document, root: Path, path: Path, *, is_recovery: bool) -> list[str]:
    """What a step of a recovery left behind may be there already; that is what it mends."""
    advice, wrong, codes = [], [], set()
    for defect in rules.validate(document, root):
        if defect.is_advisory:
            advice.append(str(defect))
        elif not (is_recovery and defect.code == "vacuous"):
            wrong.append(str(defect))
            codes.add(defect.code)
    if not wrong:
        return advice
    fix = f"mend them; omo plan validate {shlex.quote(document.path)}"
    if codes == {"vacuous"}:
        fix = "take what is done already out of the plan, and have it reviewed again"
        for state in runs_at(caller, path):
            if state.end != "pass":
                fix = f"plan session {state.run} did them: omo plan recover {shlex.quote(document.path)} has the rest"
    raise Refused(f"{document.path} has {counted(len(wrong), 'defect')}", fix=fix, defects=wrong)


def _master(spec: Document, root: Path) -> Document:
    again = "omo plan decompose PLAN --out DIR writes specs that name their plan"
    if not spec.master_plan:
        raise Refused(f"{spec.path} names no master plan, so nobody can tell what was agreed", fix=again)
    try:
        plan = documents.load(root / spec.master_plan, root)
    except BadInput as error:
        raise Refused(f"the master plan of {spec.path}: {error.message}", fix=f"bring it back; {again}") from None
    if plan.digest != spec.master_digest:
        folder = shlex.quote(os.path.dirname(spec.path) or ".")
        raise Refused(
            f"{spec.master_plan} changed after decompose: its digest is {plan.digest[:12]}, "
            f"{spec.path} was written from {spec.master_digest[:12] or 'none'}",
            fix=f"omo plan decompose {shlex.quote(spec.master_plan)} --out {folder} --force",
        )
    return plan


def _require_same(spec: Document, plan: Document, specs: Sequence[SessionSpec], *, is_recovery: bool) -> None:
    """Nobody reviewed a spec, only its plan: steps, fence and needs must be the plan's."""
    planned = next((session for session in specs if session.number == spec.session), None)
    if planned is None:
        raise Refused(f"{plan.path} has no session {spec.session}", fix=f"omo plan decompose {plan.path} --out DIR")
    agreed = documents.parse(spec_text.render(planned), plan.path)
    defects = sessions.differences(spec, agreed.work_steps, agreed.fence, agreed.needs, is_recovery=is_recovery)
    if defects:
        raise Refused(
            f"{spec.path} does not say what {plan.path} says",
            fix="change the plan, not the spec: omo plan decompose writes it anew, omo plan recover the missing steps",
            defects=defects,
        )


# what is refused


def require_free(caller: Caller, contract: Contract | None = None) -> None:
    """One plan session per worktree: two could not tell their commits apart. A recovered one gives way to what
    recovers it, which is known once the spec is read."""
    for name in caller.session_rows:
        summary = caller.summary(KIND, name)
        if name == caller.session or part(summary, "fence").get("root") != caller.here:
            continue
        run = str(summary.get("run") or "")
        if _gives_way(caller, run, contract):
            continue
        fix = f'if that session died, the user ends it: omo plan finish --session {name} --abandon "why"'
        if name in adoptable(KIND, caller):
            fix = f"omo adopt --from {shlex.quote(name)} takes it up; or {fix}"
        raise Refused(f"plan session {run} of session {name} is under way in {caller.here}", fix=fix)
    own = load(PLAN, caller)
    if own is None:
        return
    if own.problems:
        publish_damage(own)
        raise own.damage()
    state = own.state
    if state is None or not state.is_fenced or _gives_way(caller, own.id, contract):
        return
    if state.root != caller.here and os.path.isdir(state.root):
        raise Refused(
            f"plan session {own.id} of this session belongs to {state.root}, and this is {caller.here}",
            fix=f"go on there; or give it up there: {GIVE_UP}",
        )
    way = "omo plan finish"
    if state.end == "recovered":
        way = f"omo plan start {shlex.quote(str(state.recovered.get('spec')))}"
    raise Refused(
        f"plan session {own.id} of this session is under way in {caller.here}",
        fix=f"{way}; to give it up: {GIVE_UP}",
    )


def _gives_way(caller: Caller, run: str, contract: Contract | None) -> bool:
    """A recovered run holds nothing against what recovers it; before the spec is read that may be any."""
    if contract is not None:
        return contract.recovers is not None and contract.recovers.run == run
    state = Run(PLAN, caller, run).state
    return state is not None and state.end == "recovered"


def require_reviewed(caller: Caller, contract: Contract, history: histories.History, unreviewed: str) -> None:
    plan = contract.plan
    review = critique.latest(caller.state, plan.digest)
    if critique.is_clean(review):
        return
    if unreviewed:
        require_reason(unreviewed, "--unreviewed", "say why no critic looked")
        if caller.by != "user" and not contract.recovers and critique.has_refused(caller, plan):
            raise Refused(
                f"{CRITIC} has found {plan.path} not to be sound; only the user starts it all the same",
                fix=f"mend it and have it reviewed: omo plan critique {shlex.quote(plan.path)}; or ask the user, who "
                "runs omo plan start in their own terminal, with --unreviewed and --session",
            )
        return
    is_committed = plan.path not in history.tree.dirty and not history.tree.is_untracked(plan.path)
    if plan.is_legacy and is_committed:
        return
    reviewed = ""
    if review is not None:
        reviewed = ": the critic's is not"
    elif plan.is_legacy:
        reviewed = ", nor was it there before: of an older plan only what is committed needs none"
    raise Refused(
        f"{plan.path} has no clean critique of the text it has now (digest {plan.digest[:12]}){reviewed}",
        fix=f"omo plan critique {shlex.quote(plan.path)}; or --unreviewed REASON, which is reported",
    )


def _inherited(contract: Contract) -> str:
    """A recovery carries out the same contract, so what was let through for it still is, and is still told."""
    parent = contract.recovers
    if parent is None or not parent.unreviewed or parent.plan != contract.plan.digest:
        return ""
    return parent.unreviewed if parent.recovery_of else f"{parent.unreviewed} (as plan session {parent.run} began)"


def require_in_order(contract: Contract, reason: str) -> None:
    """What a session depends on is done before it begins. A recovery goes on with what has begun."""
    fix = 'omo plan start SPEC --out-of-order "why"'
    if reason:
        require_reason(reason, "--out-of-order", "say why it cannot wait")
    if reason or contract.recovers:
        return
    passed = [state.lineage for state in contract.runs if state.end == "pass"]
    waiting = []
    for spec in contract.sessions:
        for other in spec.depends_on if spec.number == contract.number else ():
            if f"{contract.plan.digest}/{other}" not in passed:
                waiting.append(f"session {other}")
    if waiting:
        raise Refused(
            f"{contract.spec.path} depends on {', '.join(waiting)} of {contract.plan.path}, "
            "which no audit has passed yet",
            fix=f"carry that out first; or {fix}, which is reported",
        )


def clean_history(root: Path, contract: Contract) -> tuple[histories.History, Audit]:
    """From the commit the work begins at. What is not committed now could not be told from the session's own work."""
    head = changes.head(root)
    if head is None:
        raise NotEvaluable(f"{root} is not a git repository", fix="git init, and commit what is there")
    history = histories.look(root, head)
    inputs = [contract.document.path, contract.plan.path]
    looked = audit_history(contract.spec, history, skipped={}, inputs=inputs)
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


def require_something_missing(caller: Caller, contract: Contract) -> RunStatus | None:
    """How the session stands that a recovery goes on with. A recovery of nothing could never show a commit of its own,
    and one that was begun and failed is not begun again: that would be a recovery which nobody counts."""
    parent = contract.recovers
    if parent is None:
        return None
    for state in contract.runs:
        if state.recovery_of == parent.run and state.end:
            raise Refused(
                f"plan session {state.run} carried {contract.document.path} out and ended ({state.end})",
                fix=f"when the user says go on: omo plan recover --run {state.run}; or a better plan",
            )
    status = audited(Run(PLAN, caller, parent.run))
    if status.audit.verdict == "pass":
        raise Refused(
            f"nothing of plan session {parent.run} is missing any more", fix=f"omo plan finish --run {parent.run}"
        )
    return status


# preflight


def preflight_row(caller: Caller, document: Document, asked: preflight.Preflight) -> Row:
    why = "; ".join(f"{need.name} is {need.status}: {clip(need.detail, 120)}" for need in asked.missing)
    return {
        "kind": "preflight",
        "session": caller.session,
        "spec": document.path,
        "needs": [need.data for need in asked.needs],
        "missing": [need.name for need in asked.missing],
        "result": asked.result,
        "bypassed": asked.bypassed_by,
        "why": clip(why, 400),
    }
