"""What a session is held to: a spec that says what its plan says, and nothing less."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from omo.errors import BadInput, Refused
from omo.evidence import globs
from omo.state import paths
from omo.ultraplan import document as documents
from omo.ultraplan import preflight, recovery, rules, run, sessions, spec_text
from omo.ultraplan.models import Document, Step
from omo.ultraplan.record import Record

PREDICATE_IS_TRUE = "vacuous"


@dataclass(frozen=True)
class Contract:
    """`document` is the file that was named, `spec` the session to carry out, `plan` what it comes from."""

    document: Document
    spec: Document
    plan: Document
    recovers: Record | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def lineage(self) -> str:
        """Runs of one session of one plan belong together, whatever a spec says of itself."""
        return f"{self.plan.digest}/{self.spec.session or 1}"


def load(path: Path, root: Path, state: str) -> Contract:
    """Refused with every defect, or where the spec is no longer what the plan says."""
    document = _read(path, root, state)
    recovers = recovery.wrote(state, document.digest)
    notes = _validated(document, root, recovers is not None, run.runs_at(state, str(root), str(path)))
    if document.kind == "plan":
        return Contract(document, _only_session(document, root), document, notes=notes)
    plan = _master(document, root)
    _require_same(document, plan, root, recovers is not None)
    return Contract(document, document, plan, recovers, notes)


def _read(path: Path, root: Path, state: str) -> Document:
    """A recovery's spec lies with our state, which may be kept outside the project."""
    inside = globs.is_inside(os.path.realpath(root), os.path.realpath(path))
    if inside or not globs.is_inside(os.path.realpath(paths.plans_dir(state)), os.path.realpath(path)):
        return documents.load(path, root)
    return replace(documents.load(path, Path(state)), path=os.path.realpath(path))


def _validated(document: Document, root: Path, is_recovery: bool, before: Sequence[Record]) -> list[str]:
    """What a step of a recovery left behind may be there already; that is what it mends."""
    found = rules.validate(document, root)
    wrong = [one for one in found if not one.is_advisory and not (is_recovery and one.code == PREDICATE_IS_TRUE)]
    if wrong:
        count = f"{len(wrong)} defect{'' if len(wrong) == 1 else 's'}"
        fix = f"mend them; omo plan validate {shlex.quote(document.path)}"
        left = [one.run for one in before if one.end != "pass"]
        if left and all(one.code == PREDICATE_IS_TRUE for one in wrong):
            fix = f"plan session {left[-1]} did them: omo plan recover {shlex.quote(document.path)} has the rest"
        raise Refused(f"{document.path} has {count}", fix=fix, defects=[str(one) for one in wrong])
    return [str(one) for one in found if one.is_advisory]


def _only_session(plan: Document, root: Path) -> Document:
    written = _sessions(plan, root)
    if len(written) != 1:
        raise Refused(
            f"{plan.path} has {len(written)} sessions, and one is carried out at a time",
            fix=f"omo plan decompose {shlex.quote(plan.path)} --out DIR, then omo plan start DIR/SPEC",
        )
    return written[0]


def _sessions(plan: Document, root: Path) -> list[Document]:
    """What decompose would write of a plan today."""
    found = sessions.decompose(plan, has_remote=preflight.has_remote(root))
    return [documents.parse(spec_text.render(one), plan.path) for one in found]


def _master(spec: Document, root: Path) -> Document:
    again = "omo plan decompose PLAN --out DIR writes specs that name their plan"
    if not spec.master_plan:
        raise Refused(f"{spec.path} names no master plan, so nobody can tell what was agreed", fix=again)
    try:
        plan = documents.load(root / spec.master_plan, root)
    except BadInput as error:
        raise Refused(f"the master plan of {spec.path}: {error.message}", fix=f"bring it back; {again}") from None
    if plan.digest != spec.master_digest:
        raise Refused(
            f"{spec.master_plan} changed after decompose: its digest is {plan.digest[:12]}, "
            f"{spec.path} was written from {spec.master_digest[:12] or 'none'}",
            fix=f"omo plan decompose {shlex.quote(spec.master_plan)} --out {shlex.quote(os.path.dirname(spec.path))}",
        )
    return plan


def _require_same(spec: Document, plan: Document, root: Path, is_recovery: bool) -> None:
    """Nobody reviewed a spec, only its plan: steps, fence and needs must be the plan's."""
    agreed = next((one for one in _sessions(plan, root) if one.session == spec.session), None)
    if agreed is None:
        raise Refused(f"{plan.path} has no session {spec.session}", fix=f"omo plan decompose {plan.path} --out DIR")
    defects = _differences(spec, agreed, is_recovery)
    if defects:
        raise Refused(
            f"{spec.path} does not say what {plan.path} says",
            fix="change the plan, not the spec: omo plan decompose writes it anew, omo plan recover the missing steps",
            defects=defects,
        )


def _differences(spec: Document, agreed: Document, is_recovery: bool) -> list[str]:
    known = {step.number: _terms(step) for step in agreed.work_steps}
    found = [
        f"step {step.number} is not as the plan has it"
        for step in spec.work_steps
        if known.get(step.number) != _terms(step)
    ]
    left_out = sorted(known.keys() - {step.number for step in spec.work_steps})
    if left_out and not is_recovery:
        found.append(f"{_listed('step', left_out)} of the session left out, and omo plan recover did not write this")
    if spec.fence != agreed.fence:
        found.append("the scope fence is not the plan's")
    unasked = [need for need in agreed.needs if need not in spec.needs]
    return found + ([_listed("need", unasked) + " left out"] if unasked else [])


def _terms(step: Step) -> Step:
    """What binds of a step, wherever in a file it stands."""
    manifest = step.manifest.terms if step.manifest else None
    return replace(step, line=0, text="", manifest=manifest)


def _listed(what: str, values: Sequence[object]) -> str:
    return f"{what}{'' if len(values) == 1 else 's'} {', '.join(str(one) for one in values)}"
