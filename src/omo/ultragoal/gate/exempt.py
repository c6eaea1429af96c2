"""Commands that cannot be replayed: why, who says so, and what shows the run instead."""

from __future__ import annotations

from omo.errors import BadInput
from omo.evidence import records
from omo.evidence.records import ReplayExempt
from omo.ultragoal.gate import kinds
from omo.ultragoal.gate.findings import Defect, shown
from omo.ultragoal.gate.models import Artifact
from omo.ultragoal.gate.proof import FILE, Prover, told
from omo.ultragoal.gate.rows import Row

FAMILY = "cli"


def defects(prover: Prover, row: Row[Artifact]) -> list[Defect]:
    """Why the exemption does not stand; one that does is noted in `exemptions`."""
    path = f"{row.path}.replayExempt"
    try:
        claim = records.parse_exemption(prover.exemption(row))
    except BadInput as error:
        return [Defect(path, "EXEMPT_INVALID", why) for why in told(error)]
    found = prover.file(row) if row.value.path else []
    shapes = []
    for at, name in enumerate(claim.fallbackArtifactRefs):
        problems, shape = _fallback(prover, row, name, f"{path}.fallbackArtifactRefs[{at}]")
        found += problems
        shapes.append(shape)
    if not found and not set(shapes).intersection(kinds.STRUCTURAL):
        text = "names no screenshot, terminal capture or automation transcript of the run: add one"
        found.append(Defect(f"{path}.fallbackArtifactRefs", "FALLBACK_WEAK", text))
    if not found:
        _note(prover, row, claim)
    return found


def _fallback(prover: Prover, row: Row[Artifact], name: str, place: str) -> tuple[list[Defect], str]:
    if name not in prover.matrix.named["artifactRefs"]:
        return [Defect(place, "UNKNOWN_REF", f"{shown(name)} is no id in artifactRefs")], ""
    other = prover.matrix.artifact(name)
    if other is None:
        return [], kinds.SCREENSHOT  # told at the row itself
    if other.value.id == row.value.id or prover.is_same_file(other, row):
        return [Defect(place, "FALLBACK_SELF", f"{shown(name)} is the record itself: name what shows the run")], ""
    shape = kinds.shape(other.value.kind)
    if prover.basis(other) != FILE or shape == kinds.REPLAY:
        text = f"{shown(name)} is no file that shows the run: name a screenshot, terminal capture or transcript"
        return [Defect(place, "FALLBACK_WEAK", text)], ""
    return prover.prove(other, FAMILY), shape


def _note(prover: Prover, row: Row[Artifact], claim: ReplayExempt) -> None:
    noted = {
        "artifact": row.value.id,
        "reasonCode": claim.reasonCode,
        "reason": claim.reason,
        "approvedBy": claim.approvedBy,
        "fallbackArtifactRefs": list(claim.fallbackArtifactRefs),
    }
    if noted not in prover.found.exemptions:
        prover.found.exemptions.append(noted)
