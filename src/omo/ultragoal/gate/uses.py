"""What proves what: each row's artifacts against the surface, case or obligation they are cited for."""

from __future__ import annotations

from typing import Any

from omo.ultragoal.gate import exempt, kinds, links
from omo.ultragoal.gate.findings import Defect, shown
from omo.ultragoal.gate.models import SURFACES, Artifact, SurfaceEvidence
from omo.ultragoal.gate.proof import EXEMPT, FILE, INLINE, METADATA, RECEIPT, REPLAY, Prover
from omo.ultragoal.gate.rows import Matrix, Row

# What may stand behind an artifact, by what it is cited for.
BASES = {
    "web": (FILE, REPLAY),
    "cli": (FILE, REPLAY, EXEMPT),
    "native": (FILE, REPLAY),
    "api-package": (FILE, REPLAY, RECEIPT),
    "algorithm-math": (FILE, REPLAY, RECEIPT),
    "": (FILE, REPLAY),
}
NOTHING_PROVES = "cli"  # what a command that does not touch the project can show: that one was run
REFUSALS = {
    INLINE: (
        "INLINE_ONLY",
        "is text in the row, which proves nothing: save what was seen to a file, and name it in path",
    ),
    METADATA: ("METADATA_ONLY", "only describes evidence: name the file in path"),
    RECEIPT: ("RECEIPT_ONLY", "is a receipt alone, which stands only for api, package, algorithm and math surfaces"),
    EXEMPT: ("EXEMPT_NOT_HERE", "is exempt from replay, which counts only for a cli surface: cite its fallback here"),
}
WANTED = {
    "web": "a browser automation transcript and a screenshot",
    "cli": "a replay record (cli-replay) that passes, or one with a valid replayExempt",
    "native": "a screenshot, a terminal capture or an automation transcript",
    "api-package": f"a test report or one of {', '.join(sorted(kinds.REPORTS['api-package']))}",
    "algorithm-math": f"a test report or one of {', '.join(sorted(kinds.REPORTS['algorithm-math']))}",
}


def defects(prover: Prover) -> list[Defect]:
    matrix = prover.matrix
    found = kind_defects(matrix)
    for surface in matrix.surfaces:
        found += _surface(prover, surface)
    others: list[Row[Any]] = [*matrix.cases, *matrix.coverage]
    for row in others:
        for place, artifact in resolved(matrix, row):
            found += _use(prover, place, artifact, "")
    return list(dict.fromkeys(found))


def kind_defects(matrix: Matrix) -> list[Defect]:
    return [
        Defect(
            f"{row.path}.kind",
            "KIND_UNKNOWN",
            f"is {shown(row.value.kind)}, of which no word is known: use one of {', '.join(kinds.KNOWN)}",
        )
        for row in matrix.artifacts
        if not kinds.shape(row.value.kind)
    ]


def resolved(matrix: Matrix, row: Row[Any]) -> list[tuple[str, Row[Artifact]]]:
    named = [(place, matrix.artifact(name)) for place, name in links.refs(row, "artifactRefs")]
    return [(place, artifact) for place, artifact in named if artifact is not None]


def _use(prover: Prover, place: str, artifact: Row[Artifact], family: str) -> list[Defect]:
    basis = prover.basis(artifact)
    if not kinds.shape(artifact.value.kind):
        return []
    if basis not in BASES[family]:
        code, text = REFUSALS[basis]
        return [Defect(place, code, f"{shown(artifact.value.id)} {text}")]
    if basis == REPLAY and family != NOTHING_PROVES and prover.says_nothing(artifact):
        text = "replays what says nothing about this project, which counts only for a cli surface: cite a file"
        return [Defect(place, "REPLAY_SAYS_NOTHING", f"{shown(artifact.value.id)} {text}, or replay the project's own")]
    if basis == EXEMPT:
        return exempt.defects(prover, artifact)
    return prover.prove(artifact, family)


def _surface(prover: Prover, row: Row[SurfaceEvidence]) -> list[Defect]:
    family = SURFACES[row.value.surface]
    cited = resolved(prover.matrix, row)
    found = [defect for place, artifact in cited for defect in _use(prover, place, artifact, family)]
    is_readable = len(cited) == len(row.value.artifactRefs) and all(kinds.shape(one.value.kind) for _, one in cited)
    if is_readable and not _is_enough(family, [artifact for _, artifact in cited]):
        kind = ", ".join(shown(artifact.value.kind) for _, artifact in cited)
        text = f"of kind {kind} do not prove a {row.value.surface} surface: it needs {WANTED[family]}"
        found.append(Defect(f"{row.path}.artifactRefs", "KINDS_INSUFFICIENT", text))
    return found


def _is_enough(family: str, cited: list[Row[Artifact]]) -> bool:
    """By kind alone: whether each of them is what its kind says is told at the artifact itself."""
    shapes = {kinds.shape(artifact.value.kind) for artifact in cited}
    if family == "web":
        return {kinds.AUTOMATION, kinds.SCREENSHOT} <= shapes
    if family == "cli":
        return kinds.REPLAY in shapes
    if family == "native":
        return bool(shapes.intersection(kinds.STRUCTURAL))
    return any(kinds.can_prove(artifact.value.kind, family) for artifact in cited)
