"""The rows of executorQa: read one by one, and how they name each other.

A row that cannot be read is told and left out, and the rest is read all the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from omo.workflows.ultragoal.gate.models import (
    MAY_NOT_APPLY,
    NOT_APPLICABLE,
    ROWS,
    AdversarialCase,
    Artifact,
    Coverage,
    Defect,
    Named,
    NotApplicable,
    SurfaceEvidence,
    model_defects,
    need,
    shown,
)

MOST_ROWS = 500
LINKS = {
    "surfaceEvidenceRefs": "surfaceEvidence",
    "adversarialCaseRefs": "adversarialCases",
    "artifactRefs": "artifactRefs",
}


@dataclass
class Matrix:
    """The rows of executorQa that could be read. `ids` has every id that is there, also of rows that could not."""

    artifacts: list[Artifact] = field(default_factory=list)
    surfaces: list[SurfaceEvidence] = field(default_factory=list)
    cases: list[AdversarialCase] = field(default_factory=list)
    coverage: list[Coverage] = field(default_factory=list)
    not_applicable: dict[str, set[str]] = field(default_factory=dict)
    ids: dict[str, set[str]] = field(default_factory=dict)


def read_matrix(qa: dict[str, Any], may_lack: tuple[str, ...] = ()) -> tuple[Matrix, list[Defect]]:
    """`may_lack` are lists that need not be there."""
    matrix = Matrix()
    defects: list[Defect] = []
    readable: dict[str, list[Any]] = {}
    for name in ROWS:
        matrix.ids[name], matrix.not_applicable[name], readable[name] = set(), set(), []
        if name in may_lack and name not in qa:
            continue
        for index, raw in enumerate(_raw_rows(qa, name, defects)):
            path = f"executorQa.{name}[{index}]"
            row = _read_row(raw, name, path, defects)
            given = raw.get("id") if isinstance(raw, dict) else None
            if row is not None and given in matrix.ids[name]:
                text = f"is {shown(given)}, which another row has already: {need('id')}"
                defects.append(Defect(f"{path}.id", "DUPLICATE_ID", text))
            elif isinstance(row, NotApplicable):
                matrix.not_applicable[name].add(row.id)
            elif row is not None:
                readable[name].append(row)
            if isinstance(given, str):
                matrix.ids[name].add(given)
    matrix.artifacts, matrix.surfaces = readable["artifactRefs"], readable["surfaceEvidence"]
    matrix.cases, matrix.coverage = readable["adversarialCases"], readable["contractCoverage"]
    return matrix, defects


def _raw_rows(qa: dict[str, Any], name: str, defects: list[Defect]) -> list[Any]:
    path, value = f"executorQa.{name}", qa.get(name)
    if name not in qa:
        defects.append(Defect(path, "MISSING", f"is missing: {need(name)}"))
        return []
    if not isinstance(value, list):
        defects.append(Defect(path, "WRONG_TYPE", f"must be a list of rows, not {shown(value)}: {need(name)}"))
        return []
    if not value:
        defects.append(Defect(path, "EMPTY", f"has no row: {need(name)}"))
    if len(value) > MOST_ROWS:
        text = f"has {len(value)} rows, of at most {MOST_ROWS}: keep detail in files, and cite them"
        defects.append(Defect(path, "TOO_MANY", text))
    return value[:MOST_ROWS]


def _read_row(value: object, name: str, path: str, defects: list[Defect]) -> Named | None:
    model = ROWS[name]
    if name in MAY_NOT_APPLY and isinstance(value, dict):
        if str(value.get("status")).strip().lower() == NOT_APPLICABLE:
            model = NotApplicable
    try:
        row = model.model_validate(value)
    except ValidationError as error:
        defects += model_defects(error, path)
        return None
    row._place = path
    return row


def link_defects(matrix: Matrix) -> list[Defect]:
    """Every name leads to a row, and every row it leads to was a success."""
    defects: list[Defect] = []
    for row in (*matrix.surfaces, *matrix.cases):
        defects += _unresolved(matrix, row, "artifactRefs", "artifactRefs")
    for covered in matrix.coverage:
        for key, target in LINKS.items():
            defects += _unresolved(matrix, covered, key, target)
    # Not everything can be out of scope. Where a row could not be read, that is what is told.
    for name, rows in (("contractCoverage", matrix.coverage), ("surfaceEvidence", matrix.surfaces)):
        if not rows and matrix.ids[name] and matrix.ids[name] == matrix.not_applicable[name]:
            text = f"says of every row that it does not apply: {need(name)}, at least one that passed"
            defects.append(Defect(f"executorQa.{name}", "NOTHING_APPLIES", text))
    return defects


def refs_of(row: Named, key: str) -> list[tuple[str, str]]:
    """Each name a row gives, with the place it stands at."""
    return [(f"{row.place}.{key}[{index}]", name) for index, name in enumerate(getattr(row, key))]


def _unresolved(matrix: Matrix, row: Named, key: str, target: str) -> list[Defect]:
    defects = []
    known = matrix.ids[target]
    for path, name in refs_of(row, key):
        if name not in known:
            there = shown(sorted(known)[:10], 120)
            defects.append(Defect(path, "UNKNOWN_REF", f"{shown(name)} is no id in {target}: there are {there}"))
        elif name in matrix.not_applicable[target]:
            text = f"{shown(name)} is a row of {target} that does not apply, which covers nothing: link one that passed"
            defects.append(Defect(path, "LINK_NOT_APPLICABLE", text))
    return defects
