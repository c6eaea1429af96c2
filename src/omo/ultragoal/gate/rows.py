"""Reads a gate part by part: a broken part is told and left out, and the rest is read all the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast

from pydantic import ValidationError

from omo.ultragoal.gate import wording
from omo.ultragoal.gate.findings import Defect, shown
from omo.ultragoal.gate.models import (
    MAY_NOT_APPLY,
    NOT_APPLICABLE,
    ROWS,
    SECTIONS,
    AdversarialCase,
    Artifact,
    Coverage,
    Judged,
    Named,
    NotApplicable,
    Section,
    SurfaceEvidence,
)

MOST_ROWS = 500
Kind = TypeVar("Kind", bound=Section)


@dataclass(frozen=True)
class Row(Generic[Kind]):
    """A row that has the right shape, and where it stands."""

    path: str
    value: Kind


@dataclass
class Matrix:
    """The rows of executorQa that could be read. `named` has every id that is there, also of rows that could not."""

    artifacts: list[Row[Artifact]] = field(default_factory=list)
    surfaces: list[Row[SurfaceEvidence]] = field(default_factory=list)
    cases: list[Row[AdversarialCase]] = field(default_factory=list)
    coverage: list[Row[Coverage]] = field(default_factory=list)
    not_applicable: dict[str, set[str]] = field(default_factory=dict)
    named: dict[str, set[str]] = field(default_factory=dict)
    raw: dict[str, list[Any]] = field(default_factory=dict)

    def artifact(self, name: str) -> Row[Artifact] | None:
        return next((row for row in self.artifacts if row.value.id == name), None)


def section(document: dict[str, Any], name: str) -> tuple[Section | None, list[Defect]]:
    """One of the three parts, without the rows of executorQa."""
    if name not in document:
        return None, [Defect(name, "MISSING", f"is missing: {wording.need(name)}")]
    value = document[name]
    if not isinstance(value, dict):
        return None, [Defect(name, "WRONG_TYPE", wording.wrong_type(value, "an object", name))]
    try:
        return SECTIONS[name].model_validate(value), []
    except ValidationError as error:
        return None, wording.defects(error, name)


def matrix(qa: dict[str, Any]) -> tuple[Matrix, list[Defect]]:
    found = Matrix()
    defects: list[Defect] = []
    for name in ROWS:
        raw, problem = _list(qa, name)
        found.raw[name] = raw
        found.named[name] = {row["id"] for row in raw if isinstance(row, dict) and isinstance(row.get("id"), str)}
        found.not_applicable[name] = set()
        defects += problem
        for row in _rows(raw, name, defects):
            _sort_in(found, name, row)
    return found, defects


def _list(qa: dict[str, Any], name: str) -> tuple[list[Any], list[Defect]]:
    path = f"executorQa.{name}"
    if name not in qa:
        return [], [Defect(path, "MISSING", f"is missing: {LISTS[name]}")]
    value = qa[name]
    if not isinstance(value, list):
        return [], [Defect(path, "WRONG_TYPE", f"must be a list of rows, not {shown(value)}: {LISTS[name]}")]
    if len(value) > MOST_ROWS:
        text = f"has {len(value)} rows, of at most {MOST_ROWS}: keep detail in files, and cite them"
        return value[:MOST_ROWS], [Defect(path, "TOO_MANY", text)]
    return value, [] if value else [Defect(path, "EMPTY", f"has no row: {LISTS[name]}")]


LISTS = {**wording.NEEDS, "artifactRefs": "one row for each piece of evidence"}


def _rows(raw: list[Any], name: str, defects: list[Defect]) -> Iterator[Row[Any]]:
    seen: dict[str, str] = {}
    for at, value in enumerate(raw):
        path = f"executorQa.{name}[{at}]"
        try:
            row = Row(path, _model(name, value).model_validate(value))
        except ValidationError as error:
            defects += wording.defects(error, path, value)
            defects += _judgement(name, path, value)
            continue
        defects += _judgement(name, path, value)
        if first := seen.get(row.value.id):
            text = f"is {shown(row.value.id)}, which {first} has already: {wording.need('id')}"
            defects.append(Defect(f"{path}.id", "DUPLICATE_ID", text))
            continue
        seen[row.value.id] = path
        yield row


def _model(name: str, value: object) -> type[Named]:
    return NotApplicable if name in MAY_NOT_APPLY and says_not_applicable(value) else ROWS[name]


def says_not_applicable(value: object) -> bool:
    status = value.get("status") if isinstance(value, dict) else None
    return isinstance(status, str) and status.strip().lower() == NOT_APPLICABLE


def _judgement(name: str, path: str, value: object) -> list[Defect]:
    """What the keys of a row say together: an outcome is there, and an inapplicable row has none."""
    if not isinstance(value, dict):
        return []
    outcomes = [key for key in ("verdict", "result") if key in value]
    if _model(name, value) is NotApplicable:
        text = "the row is not_applicable and yet has an outcome: drop one of the two"
        return [Defect(f"{path}.{key}", "CONTRADICTION", text) for key in outcomes]
    if issubclass(_model(name, value), Judged) and not outcomes:
        return [Defect(path, "NO_OUTCOME", "has neither verdict nor result: say passed in one of them once it did")]
    if name == "contractCoverage" and not any(link in value for link in LINKS):
        return [Defect(path, "UNLINKED", f"links to nothing: name rows in at least one of {', '.join(LINKS)}")]
    return []


LINKS = {
    "surfaceEvidenceRefs": "surfaceEvidence",
    "adversarialCaseRefs": "adversarialCases",
    "artifactRefs": "artifactRefs",
}


def _sort_in(found: Matrix, name: str, row: Row[Any]) -> None:
    if isinstance(row.value, NotApplicable):
        found.not_applicable[name].add(row.value.id)
        return
    lists = {
        "artifactRefs": found.artifacts,
        "surfaceEvidence": found.surfaces,
        "adversarialCases": found.cases,
        "contractCoverage": found.coverage,
    }
    cast("list[Row[Any]]", lists[name]).append(row)
