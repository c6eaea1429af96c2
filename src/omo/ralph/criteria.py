"""The criteria of a run, as a file has them and as the ledger keeps them. Every defect is told at once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omo.errors import BadInput
from omo.evidence import documents, globs
from omo.evidence.checks import Check, JudgeCheck, digest_of_check, dump, ids_of, parse_checks
from omo.ralph import wording
from omo.shown import clip, counted

Row = dict[str, Any]

MOST_CRITERIA = 50
MOST_PATHS = 100
LONGEST_DESCRIPTION = 500
FIELDS = ("id", "description", "checks", "affected_paths", "guard")
EXAMPLE = (
    "criteria: [{id: C1, description: the tests pass, "
    "checks: [{type: command, argv: [python3, -m, pytest, -q]}], affected_paths: [src/**, tests/**]}]"
)


@dataclass(frozen=True)
class Criterion:
    """`guard`: true before the work already and meant to stay so. Every check has an id, unique in its criterion."""

    id: str
    description: str
    checks: list[Check]
    affected_paths: tuple[str, ...] = ()
    guard: bool = False

    @property
    def data(self) -> Row:
        """As the ledger keeps it."""
        return {
            "id": self.id,
            "description": self.description,
            "checks": [dump(check) for check in self.checks],
            "affected_paths": list(self.affected_paths),
            "guard": self.guard,
        }

    @property
    def digests(self) -> frozenset[str]:
        return frozenset(digest_of_check(check) for check in self.checks)

    @property
    def questions(self) -> list[JudgeCheck]:
        """What code cannot decide."""
        return [check for check in self.checks if isinstance(check, JudgeCheck)]

    @property
    def mechanical(self) -> list[Check]:
        return [check for check in self.checks if not isinstance(check, JudgeCheck)]

    def goal(self, run: str) -> str:
        """What its checks are pinned for."""
        return f"ralph/{run}/{self.id}"


def load(path: Path) -> list[Criterion]:
    return parse(documents.load(path), path.name)


def parse(data: object, name: str = "criteria") -> list[Criterion]:
    """Raises BadInput with every defect there is."""
    listed = _listed(data, name)
    defects: list[str] = []
    if isinstance(data, dict):
        defects += [
            f"{clip(str(key), 60)}: no such key; the file has one, criteria" for key in data if key != "criteria"
        ]
    found = [_criterion(item, f"criteria[{at}]", defects) for at, item in enumerate(listed)]
    known = [one for one in found if one is not None]
    defects += _repeated(known)
    if known and len(known) == len(found) and all(one.guard for one in known):
        defects.append("criteria: every one is a guard, so none can show that work was done; add one that fails now")
    if defects:
        raise bad(defects)
    return known


def from_rows(rows: Sequence[Mapping[str, Any]]) -> list[Criterion]:
    """Back from the ledger."""
    return [
        Criterion(
            id=str(row["id"]),
            description=str(row["description"]),
            checks=_without_strings(parse_checks(row["checks"])),
            affected_paths=tuple(str(path) for path in row.get("affected_paths", ())),
            guard=bool(row.get("guard")),
        )
        for row in rows
    ]


def bad(defects: list[str]) -> BadInput:
    return BadInput(
        f"the criteria have {counted(len(defects), 'defect')}: {clip(defects[0], 300)}",
        fix="mend them in the file, then omo ralph start --criteria FILE again; docs/ralph.md shows the form",
        defects=[clip(one, 600) for one in defects],
    )


def _listed(data: object, name: str) -> list[Any]:
    listed = data.get("criteria") if isinstance(data, dict) else None
    if not isinstance(listed, list) or not listed:
        raise bad([f"{name}: must hold one key, criteria, with a list of at least one: {EXAMPLE}"])
    if len(listed) > MOST_CRITERIA:
        raise bad([f"criteria: {len(listed)} of them, at most {MOST_CRITERIA} are allowed; make several runs"])
    return listed


def _criterion(item: object, where: str, defects: list[str]) -> Criterion | None:
    """None where something of it is wrong."""
    if not isinstance(item, dict):
        defects.append(f"{where}: must be an object with {', '.join(FIELDS)}; {EXAMPLE}")
        return None
    before = len(defects)
    defects += [
        f"{where}.{clip(str(key), 60)}: no such field; a criterion has {', '.join(FIELDS)}"
        for key in item
        if key not in FIELDS
    ]
    name = _id(item.get("id"), f"{where}.id", defects)
    description = _description(item.get("description"), f"{where}.description", defects)
    checks = _checks(item.get("checks"), f"{where}.checks", defects)
    globbed = _paths(item.get("affected_paths", []), f"{where}.affected_paths", defects)
    guard = _guard(item.get("guard", False), checks, f"{where}.guard", defects)
    defects += wording.defects(description, checks, where)
    return Criterion(name, description, checks, globbed, guard) if len(defects) == before else None


def _id(value: object, where: str, defects: list[str]) -> str:
    if isinstance(value, str) and re.fullmatch(r"C[1-9][0-9]{0,3}", value):
        return value
    said = clip(repr(value), 60) if value is not None else "nothing"
    defects.append(f"{where}: must be C and a number, such as C1, not {said}")
    return ""


def _description(value: object, where: str, defects: list[str]) -> str:
    if isinstance(value, str) and value.strip() and len(value) <= LONGEST_DESCRIPTION and _is_text(value):
        return clip(value, LONGEST_DESCRIPTION)
    defects.append(f"{where}: must say in 1 to {LONGEST_DESCRIPTION} characters what is true when the work is done")
    return ""


def _is_text(value: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in value)


def _checks(value: object, where: str, defects: list[str]) -> list[Check]:
    if value is None or value == []:
        defects.append(f"{where}: a criterion needs at least one check; a judge check where no machine can decide")
        return []
    try:
        checks = _without_strings(parse_checks(value, where))
    except BadInput as error:
        told = error.details.get("defects")
        defects += told if isinstance(told, list) else [error.message]
        return []
    defects += _repeated_checks(checks, where)
    return checks


def _without_strings(checks: Sequence[Check | str]) -> list[Check]:
    """A check in plain words is a question to the judge."""
    named = zip(ids_of(checks), checks, strict=True)
    return [JudgeCheck(id=name, question=check) if isinstance(check, str) else check for name, check in named]


def _repeated_checks(checks: Sequence[Check], where: str) -> list[str]:
    first: dict[str, int] = {}
    defects = []
    for at, check in enumerate(checks):
        earlier = first.setdefault(digest_of_check(check), at)
        if earlier != at:
            defects.append(f"{where}[{at}]: the same check as {where}[{earlier}]; remove one")
    return defects


def _paths(value: object, where: str, defects: list[str]) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > MOST_PATHS:
        defects.append(f"{where}: must be a list of at most {MOST_PATHS} globs, such as [src/**]")
        return ()
    found = []
    for at, item in enumerate(value):
        try:
            if not isinstance(item, str) or not _is_text(item) or not (path := globs.normal(item)):
                raise ValueError("must be a glob inside the project, such as src/**")
            found.append(path)
        except ValueError as error:
            defects.append(f"{where}[{at}]: {error}")
    return tuple(found)


def _guard(value: object, checks: Sequence[Check], where: str, defects: list[str]) -> bool:
    if not isinstance(value, bool):
        defects.append(f"{where}: must be true or false, not {clip(repr(value), 40)}")
        return False
    return value or (bool(checks) and all(check.guard for check in checks))


def _repeated(found: Sequence[Criterion]) -> list[str]:
    defects: list[str] = []
    ids: set[str] = set()
    checked: dict[frozenset[str], str] = {}
    for one in found:
        if one.id in ids:
            defects.append(f"{one.id}: is there twice; ids must be unique")
        ids.add(one.id)
        earlier = checked.setdefault(one.digests, one.id)
        if earlier != one.id:
            defects.append(f"{one.id}.checks: the same checks as {earlier}; one of the two says nothing more")
    return defects
