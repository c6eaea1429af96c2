"""Rows that name other rows: every name leads to a row, and every row it leads to was a success."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from omo.ultragoal.gate.findings import Defect, shown
from omo.ultragoal.gate.rows import LINKS, LISTS, Matrix, Row

MOST_COMPARED = 50  # likeness is costly, and a suggestion out of hundreds is a guess


def defects(matrix: Matrix) -> list[Defect]:
    found: list[Defect] = []
    judged: list[Row[Any]] = [*matrix.surfaces, *matrix.cases]
    for row in judged:
        found += _unresolved(matrix, row, "artifactRefs", "artifactRefs")
    for covered in matrix.coverage:
        for key, target in LINKS.items():
            found += _unresolved(matrix, covered, key, target)
    return found + _successes(matrix)


def refs(row: Row[Any], key: str) -> list[tuple[str, str]]:
    """Each name a row gives, with the place it stands at."""
    return [(f"{row.path}.{key}[{at}]", name) for at, name in enumerate(getattr(row.value, key))]


def _unresolved(matrix: Matrix, row: Row[Any], key: str, target: str) -> list[Defect]:
    found = []
    for path, name in refs(row, key):
        if name not in matrix.named[target]:
            found.append(Defect(path, "UNKNOWN_REF", _unknown(name, target, matrix.named[target])))
        elif name in matrix.not_applicable[target]:
            text = f"{shown(name)} is a row of {target} that does not apply, which covers nothing: link one that passed"
            found.append(Defect(path, "LINK_NOT_APPLICABLE", text))
    return found


def _unknown(name: str, target: str, known: set[str]) -> str:
    near = get_close_matches(name[:100], known, 1) if len(known) <= MOST_COMPARED else []
    there = f"did you mean {shown(near[0])}?" if near else f"there are {shown(sorted(known)[:10], 120)}"
    return f"{shown(name)} is no id in {target}: {there}"


def _successes(matrix: Matrix) -> list[Defect]:
    """Not everything can be out of scope. Where a row could not be read, that is what is told."""
    found = []
    for name, rows in (("contractCoverage", matrix.coverage), ("surfaceEvidence", matrix.surfaces)):
        if not rows and matrix.raw[name] and len(matrix.not_applicable[name]) == len(matrix.raw[name]):
            text = f"says of every row that it does not apply: {LISTS[name]}, at least one that passed"
            found.append(Defect(f"executorQa.{name}", "NOTHING_APPLIES", text))
    return found
