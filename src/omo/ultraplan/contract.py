"""What a session is held to: a spec that says what its plan says, and nothing less."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from omo.errors import BadInput, Refused
from omo.evidence import globs
from omo.shown import counted
from omo.state import paths
from omo.ultraplan import document as documents
from omo.ultraplan import preflight, rules, sessions, spec_text
from omo.ultraplan.models import Document, Step
from omo.ultraplan.run import (
    PlanState,
    runs_at,
    runs_of_plan,
)
from omo.work.run import Caller


@dataclass(frozen=True)
class Contract:
    """What a session is held to. `document` is the file that was named, `spec` the session to carry out, `plan` what it
    comes from, `sessions` all that the plan is cut into, `runs` what began on this text of the plan before."""

    document: Document
    spec: Document
    plan: Document
    sessions: list[sessions.SessionSpec]
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
    recovers = next((state for state in reversed(runs) if state.recovered.get("digest") == document.digest), None)
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
    defects = rules.validate(document, root)
    wrong = [each for each in rules.refusing(defects) if not (is_recovery and each.code == "vacuous")]
    if wrong:
        fix = f"mend them; omo plan validate {shlex.quote(document.path)}"
        if all(each.code == "vacuous" for each in wrong):
            fix = "take what is done already out of the plan, and have it reviewed again"
            left = [state.run for state in runs_at(caller, path) if state.end != "pass"]
            if left:
                fix = f"plan session {left[-1]} did them: omo plan recover {shlex.quote(document.path)} has the rest"
        message = f"{document.path} has {counted(len(wrong), 'defect')}"
        raise Refused(message, fix=fix, defects=[str(each) for each in wrong])
    return [str(each) for each in defects if each.is_advisory]


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


def _require_same(spec: Document, plan: Document, specs: Sequence[sessions.SessionSpec], *, is_recovery: bool) -> None:
    """Nobody reviewed a spec, only its plan: steps, fence and needs must be the plan's."""
    planned = next((each for each in specs if each.number == spec.session), None)
    if planned is None:
        raise Refused(f"{plan.path} has no session {spec.session}", fix=f"omo plan decompose {plan.path} --out DIR")
    agreed = documents.parse(spec_text.render(planned), plan.path)
    known = {step.number: _terms(step) for step in agreed.work_steps}
    defects = []
    for step in spec.work_steps:
        if known.get(step.number) != _terms(step):
            defects.append(f"step {step.number} is not as the plan has it")
    left_out = sorted(known.keys() - {step.number for step in spec.work_steps})
    if left_out and not is_recovery:
        defects.append(f"{_listed('step', left_out)} of the session left out, and omo plan recover did not write this")
    if spec.fence != agreed.fence:
        defects.append("the scope fence is not the plan's")
    unasked = [need for need in agreed.needs if need not in spec.needs]
    if unasked:
        defects.append(f"{_listed('need', unasked)} left out")
    if defects:
        raise Refused(
            f"{spec.path} does not say what {plan.path} says",
            fix="change the plan, not the spec: omo plan decompose writes it anew, omo plan recover the missing steps",
            defects=defects,
        )


def _terms(step: Step) -> Step:
    """What binds of a step, wherever in a file it stands."""
    manifest = step.manifest.terms if step.manifest else None
    return replace(step, line=0, text="", manifest=manifest)


def _listed(what: str, values: Sequence[object]) -> str:
    return f"{what}{'' if len(values) == 1 else 's'} {', '.join(map(str, values))}"
