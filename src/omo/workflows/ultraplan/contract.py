"""What a session is to carry out: which part of the plan it is, what is done of it, and whether the plan is sound."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from omo.errors import Refused
from omo.text import counted
from omo.work.run import Caller
from omo.workflows.ultraplan import document as documents
from omo.workflows.ultraplan import preflight, progress, rules, sessions
from omo.workflows.ultraplan.models import Document, Session
from omo.workflows.ultraplan.progress import Progress
from omo.workflows.ultraplan.run import PlanState, states_of_text


@dataclass(frozen=True)
class Contract:
    """One session of a plan, `document` the part that it is held to, and what is done of the plan already. `advice` is
    what the rules have to say of the plan and refuse nothing for."""

    plan: Document
    document: Document
    progress: Progress
    advice: Sequence[str] = ()

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


def load_contract(caller: Caller, path: Path, number: int = 0) -> Contract:
    """Refused where there is nothing to begin, where something else comes first, and with every defect of the plan."""
    root = Path(caller.root)
    plan = documents.load(path, root)
    name = shlex.quote(plan.path)
    known = progress.progress_of(caller, plan)
    parts = sessions.cut(plan, has_remote=preflight.has_remote(root))
    document = _named_session(parts, known, plan.path, number) if number else _next_session(parts, known, plan.path)
    contract = Contract(plan, document, known)
    _require_dependencies(contract)
    unfinished = [state for state in contract.runs if state.end != "pass" and state.root == caller.here]
    if unfinished and contract.done:
        steps = ", ".join(map(str, contract.done))
        raise Refused(
            f"step {steps} of {plan.path} is done, by plan session {unfinished[-1].run}",
            fix=f"omo plan recover {name} goes on with the rest",
        )
    of_others = {step.number for step in plan.steps if step.number not in contract.session.steps}
    defects = rules.validate(plan, root, begun={*of_others, *known.done}, edited=known.edited)
    if wrong := rules.refusing(defects):
        fix = f"mend them; omo plan critique {name} fills in what omo can know"
        raise Refused(f"{plan.path} has {counted(len(wrong), 'defect')}", fix=fix, defects=list(map(str, wrong)))
    return Contract(plan, document, known, list(map(str, defects)))


def _named_session(parts: Sequence[Document], known: Progress, path: str, number: int) -> Document:
    for document in parts:
        session = document.sessions[0]
        if session.number == number and known.is_over(session):
            fix = f"omo plan start {shlex.quote(path)} begins what is left"
            raise Refused(f"session {number} of {path} is done already", fix=fix)
        if session.number == number:
            return document
    raise Refused(f"{path} has no session {number}", fix=f"name one of 1 to {len(parts)}, or none")


def _next_session(parts: Sequence[Document], known: Progress, path: str) -> Document:
    """The first that is neither over nor in another worktree's hands."""
    elsewhere = []
    for document in parts:
        session = document.sessions[0]
        if known.is_over(session):
            continue
        where = known.elsewhere(session.number)
        if not where:
            return document
        elsewhere.append(where)
    audit = f"omo plan audit {shlex.quote(path)}"
    if elsewhere:
        raise Refused("; ".join(elsewhere), fix=f"merge what has passed, then {audit}")
    raise Refused(f"every session of {path} has passed", fix=audit)


def _require_dependencies(contract: Contract) -> None:
    """Met are those whose work is on this branch, wherever it was done."""
    session, plan = contract.session, contract.plan
    for other in plan.sessions:
        if other.number not in session.depends_on or contract.progress.is_over(other):
            continue
        where = contract.progress.elsewhere(other.number)
        fix = f"omo plan start {shlex.quote(plan.path)} {other.number} begins that one"
        if where:
            fix = f"{where}: merge its branch once it has passed"
        raise Refused(
            f"session {session.number} depends on session {other.number} of {plan.path}, and not every step of that "
            "passes the audit on this branch",
            fix=fix,
        )
