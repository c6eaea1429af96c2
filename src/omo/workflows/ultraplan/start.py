"""Beginning a plan session: which it is, what is asked first, in order, and what is written then."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from omo.engine.runs import CaseRun, give_way
from omo.errors import Refused
from omo.proof import base, changes
from omo.state import store
from omo.state.runtime import part
from omo.text import clip
from omo.work import gates, requests
from omo.work.lifecycle import make_way_notes, replaced_notes
from omo.work.run import Caller
from omo.work.status import NextStep
from omo.workflows.ultraplan import document as documents
from omo.workflows.ultraplan import preflight, progress, rules, sessions, verify
from omo.workflows.ultraplan.flow import FLOW
from omo.workflows.ultraplan.history import History
from omo.workflows.ultraplan.models import Document, FenceGlobs, Session, refusal
from omo.workflows.ultraplan.progress import Progress
from omo.workflows.ultraplan.refusals import (
    require_as_named,
    require_clean,
    require_free,
    require_reviewed,
    require_shown,
)
from omo.workflows.ultraplan.run import PLAN, state_of, states_of_text, tags
from omo.workflows.ultraplan.run_audit import RunStatus
from omo.workflows.ultraplan.session import PlanSessionRow, PlanState, Terms
from omo.workflows.ultraplan.status import next_step, publish

if TYPE_CHECKING:
    from omo.engine.case import CaseRow
    from omo.state.rows import FenceLists

MOST_SHOWN = 10
MOST_UNCOMMITTED = 200
LONGEST_UNCOMMITTED = 8000


@dataclass(frozen=True)
class Contract:
    """One session of a plan, `document` the part that it is held to, and what is done of the plan already. `advice` is
    what the rules have to say of the plan and refuse nothing for."""

    plan: Document
    document: Document
    progress: Progress
    advice: list[str]

    @property
    def session(self) -> Session:
        return self.document.sessions[0]

    @property
    def done(self) -> dict[int, str]:
        """The steps of the session that need not be carried out."""
        return {step: commit for step, commit in self.progress.done.items() if step in self.session.steps}

    def runs(self) -> list[PlanState]:
        """The earlier runs of the same session of the same text."""
        same = states_of_text(self.progress.runs, self.plan.digest)
        return [state for state in same if state.number == self.session.number]


@dataclass(frozen=True)
class Started:
    """`missing` names what kept it from beginning; then nothing was opened."""

    state: PlanState
    next: NextStep
    spec: str = ""
    missing: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def start(caller: Caller, path: Path, number: int = 0, *, environ: Mapping[str, str], unreviewed: str = "") -> Started:
    """Begin a session of a plan; without a number the next one that has not passed."""
    root = Path(caller.root)
    require_free(caller)
    require_shown(caller)
    contract = load_contract(caller, path, number)
    plan, document = contract.plan, contract.document
    with PLAN.start_lock(caller):
        caller.forget()
        require_free(caller)
        history, audit = require_clean(root, document, contract.done)
        is_named = require_as_named(caller, plan)
        unreviewed = require_reviewed(caller, plan, history, unreviewed)
        asked = preflight.check(document.needs, root, environ=environ, by=caller.by)
        run = CaseRun(PLAN, caller, PLAN.new_id(caller, tags(plan.digest, plan.path)))
        terms = replace(_terms(caller, contract, history), unreviewed=clip(unreviewed, 1000), is_named=is_named)
        notes = contract.advice
        spec = ""
        started = _started_row(run, contract, terms, Path(write(run, "plan.md", plan.text)))
        if asked.missing:
            run.append(started, *preflight_rows(asked))
        else:
            notes = [*make_way_notes(caller, PLAN.name), *replaced_notes(caller, PLAN.name), *notes]
            give_way(FLOW, caller)
            spec = write(run, "spec.md", sessions.render(plan, document, done=contract.done))
            run.append(started, *preflight_rows(asked), _first_round(run, contract, history))
            run.append(*_settled_rows(run, contract))
    return begun(RunStatus(run, document, audit), asked, spec, notes)


def begun(status: RunStatus, asked: preflight.Preflight, spec: str, notes: Sequence[str] = ()) -> Started:
    """Ledger before summary: a crash in between leaves a run that the next command finds."""
    step = next_step(status)
    publish(status, step, begins=True)
    return Started(state_of(status.run), step, spec, [str(need) for need in asked.missing], list(notes))


def load_contract(caller: Caller, path: Path, number: int = 0) -> Contract:
    """Refused where there is nothing to begin, where something else comes first, and with every defect of the plan."""
    root = Path(caller.root)
    plan = documents.load(path, root)
    known = progress.progress_of(caller, plan)
    document = _chosen(sessions.cut(plan, has_remote=preflight.has_remote(root)), known, number)
    contract = Contract(plan, document, known, [])
    _require_dependencies(contract)
    unfinished = [state for state in contract.runs() if state.how != "pass" and state.root == caller.here]
    if unfinished and contract.done:
        steps = ", ".join(map(str, contract.done))
        raise Refused(
            f"step {steps} of {plan.path} is done, by plan session {unfinished[-1].run}",
            fix=f"omo plan recover {shlex.quote(plan.path)} goes on with the rest",
        )
    of_others = {step.number for step in plan.steps if step.number not in contract.session.steps}
    defects = rules.validate(plan, root, begun={*of_others, *known.done})
    if wrong := rules.refusing(defects):
        raise refusal(plan, wrong)
    contract.advice.extend(map(str, defects))
    return contract


def _chosen(parts: Sequence[Document], known: Progress, number: int) -> Document:
    """The session that is named; else the first that is neither over nor in another worktree's hands."""
    path = parts[0].path
    audit = f"omo plan audit {shlex.quote(path)}"
    named = [document for document in parts if number in (0, document.sessions[0].number)]
    left = [document for document in named if not known.is_over(document.sessions[0])]
    if not named:
        raise Refused(f"{path} has no session {number}", fix=f"name one of 1 to {len(parts)}, or none")
    if not left:
        what = f"session {number}" if number else "every session"
        raise Refused(f"{what} of {path} has passed", fix=audit)
    elsewhere = []
    for document in left:
        where = known.elsewhere(document.sessions[0].number)
        if number or not where:
            return document
        elsewhere.append(where)
    raise Refused("; ".join(elsewhere), fix=f"merge what has passed, then {audit}")


def _require_dependencies(contract: Contract) -> None:
    """Met are those whose work is on this branch, wherever it was done."""
    session, plan = contract.session, contract.plan
    for other in plan.sessions:
        if other.number not in session.depends_on or contract.progress.is_over(other):
            continue
        fix = f"omo plan start {shlex.quote(plan.path)} {other.number} begins that one"
        if where := contract.progress.elsewhere(other.number):
            fix = f"{where}: merge its branch once it has passed"
        depends = f"session {session.number} depends on session {other.number} of {plan.path}"
        raise Refused(f"{depends}, and not every step of that passes the audit on this branch", fix=fix)


def write(run: CaseRun, name: str, text: str) -> str:
    store.make_dir(run.directory, run.caller.state)
    path = os.path.join(run.directory, name)
    store.replace(path, text)
    return path


def preflight_rows(asked: preflight.Preflight) -> list[PlanSessionRow]:
    """Return what the machine was asked, and what it waits for, if something is missing."""
    rows: list[PlanSessionRow] = [
        {"kind": "preflight", "needs": list(map(asdict, asked.needs)), "bypassed": asked.bypassed_by}
    ]
    if asked.missing:
        why = clip("; ".join(clip(str(need), 160) for need in asked.missing), 160)
        missing = [need.name for need in asked.missing]
        rows.append({"kind": "waits", "why": why, "asked": "Make it available, then:", "missing": missing})
    return rows


def _started_row(run: CaseRun, contract: Contract, terms: Terms, copy: Path) -> PlanSessionRow:
    """Return the row that begins the run. What its steps say stays in the copy of the plan."""
    items = []
    for item in FLOW.read(copy):
        if int(item.id) in contract.session.steps:
            items.append({**item.data, "text": ""})
    row: PlanSessionRow = {"kind": "started", "session": run.caller.session, "root": run.caller.here, "items": items}
    return {**row, "terms": asdict(terms)}


def _first_round(run: CaseRun, contract: Contract, history: History) -> CaseRow:
    """Return the row that opens the session. It is recovered no more often than its earlier runs have left."""
    depth = max((state.depth for state in contract.runs()), default=0)
    globs = contract.document.fence or FenceGlobs()
    fence: FenceLists = {"touch": list(globs.touch), "never": list(globs.never), "spec": contract.plan.path}
    return {**run.round_row(None, 1 + depth), "fence": {**fence, "uncommitted": uncommitted(history)}}


def _settled_rows(run: CaseRun, contract: Contract) -> list[CaseRow]:
    """Return what is done of the session, and what an earlier run of it left out: as its plan allows, that stays so."""
    rows = run.marked({str(step): "pass" for step in contract.done})
    for step, reason in contract.progress.skipped.items():
        if step in contract.session.steps:
            rows += run.marked({str(step): "skipped"}, why=reason)
    return rows


def _terms(caller: Caller, contract: Contract, history: History) -> Terms:
    session, plan = contract.session, contract.plan
    handoffs = []  # what the sessions of the plan left for those after them, oldest first
    left_behind: list[str] = []  # what earlier runs of it committed outside its fence: a new base makes nothing undone
    for state in contract.progress.states:
        if state.handoff:
            handoffs.append(f"session {state.number}: {state.handoff}")
        if state.number == session.number:
            left_behind += [*state.terms.left_behind, *(state.against if state.how else ())]
    return Terms(
        path=plan.path,
        plan=plan.digest,
        number=session.number,
        order=[other.number for other in plan.sessions],
        base=history.head,
        began=_began(caller, contract),
        runner={path: base.digest_of(caller.root, path) for path in base.ALWAYS_LOOKED_AT},
        done={str(step): commit for step, commit in contract.done.items()},
        verify=[asdict(command) for command in verify.commands_of(contract.document.steps)],
        is_legacy=plan.is_legacy,
        left_behind=list(dict.fromkeys(left_behind))[:MOST_SHOWN],
        handoffs=handoffs[-MOST_SHOWN:],
    )


def _began(caller: Caller, contract: Contract) -> str:
    """The base of the first run of the session that did not pass; else the commit when the user asked for the plan,
    unless work has ended since: "a test weakened before the plan is begun"."""
    began = ""
    for state in contract.progress.states:
        if state.number == contract.session.number:
            began = "" if state.how == "pass" else began or state.base
    asked = requests.typed(caller.events, "ultraplan") or requests.typed(caller.events, "ultraexecute")
    if began or not asked or gates.fold(caller.events, None).left is None:
        return began
    return str(part(asked[-1], "base").get("head") or "")


def uncommitted(history: History) -> list[str] | None:
    """What HEAD does not have as it is now, ignored files too: not the session's to remove or restore. None where it is
    more than a row that every hook reads should hold."""
    edited = [path for path in history.tree.dirty if not history.tree.is_untracked(path)]
    listed = sorted({*changes.untracked_or_ignored(history.root, whole_directories=True), *edited})
    is_little = len(listed) <= MOST_UNCOMMITTED and sum(map(len, listed)) <= LONGEST_UNCOMMITTED
    return listed if is_little else None
