"""The criteria of a run, as a person or a model wrote them in a file. All defects are reported at once."""

from __future__ import annotations

import re
from collections.abc import Set
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationError

from omo.engine.case import CaseItem, CheckRow
from omo.errors import BadInput
from omo.proof import documents
from omo.proof.checks import Glob, JudgeCheck, Text, dump, ids_of, parse_checks
from omo.strict import Strict, defects_of
from omo.text import clip, counted
from omo.work.citations import without_quotations

MOST_CRITERIA, MOST_PATHS = 50, 100
LONGEST_DESCRIPTION = 500
EXAMPLE = (
    "criteria: [{id: C1, description: the tests pass, "
    "checks: [{type: command, argv: [python3, -m, pytest, -q]}], affected_paths: [src/**, tests/**]}]"
)
# Opinions: what nobody can check, what to write instead, and the kind of check that decides it all the same.
OPINIONS: tuple[tuple[str, str, str], ...] = (
    (
        r"looks? (?:good|great|nice|right|fine|modern|clean)|feels? \w+|"
        r"(?:clean|good|nice|elegant|high[- ]quality) code|"
        r"user[- ]friendly|intuitive|best practices?|production[- ]ready|makes? sense|etc|as (?:appropriate|needed)|"
        r"(?:is|are) (?:the )?(?:\w+ )?(?:good|great|nice|modern)",
        "say each thing that is meant, as it can be seen or run, such as: at 390 px width no text is cut off",
        "",
    ),
    (
        r"(?:no|zero|without) (?:more |known )?(?:bugs|defects)|there are no (?:errors|issues|problems)|"
        r"never (?:fails|crashes|breaks)|everything works|fast enough|good performance|"
        r"works? (?:as expected|correctly|properly|well)|"
        r"(?:is|are) (?:more |very )?(?:robust|secure|reliable|stable|readable|fast|quick)",
        "name the cases that must hold and the command that shows each, or the number and how it is measured",
        "command",
    ),
    (
        r"(?:is|are) (?:\w+ ){0,5}?(?:clear|correct|complete|consistent|well[- ]written|done)"
        r"(?=\s*(?:$|[.,;:!?]|and\b))|"
        r"(?:it|the app|the feature|all) works?(?=\s*(?:$|[.,;:!?]))|all edge[- ]cases",
        "say what somebody would find there, such as: the section Use says which command to run first",
        "code",
    ),
)


DECIDED_BY_CODE = frozenset({"code"})


def _id(text: str) -> str:
    if not re.fullmatch(r"C[1-9][0-9]{0,3}", text):
        raise ValueError("must be C and a number, such as C1")
    return text


def _description(text: str) -> str:
    if not text.strip():
        raise ValueError("must say what is true when the work is done")
    return text


class CriterionForm(Strict):
    """One criterion. Its checks are read by themselves, so that each defect is reported with its own field."""

    id: Annotated[str, AfterValidator(_id)]
    description: Annotated[Text, AfterValidator(_description), Field(max_length=LONGEST_DESCRIPTION)]
    checks: Any = None
    affected_paths: list[Glob] = Field(default_factory=list, max_length=MOST_PATHS)
    guard: bool = False


class CriteriaFile(Strict):
    criteria: Annotated[list[CriterionForm], Field(min_length=1, max_length=MOST_CRITERIA)]


def load(path: Path) -> list[CaseItem]:
    return parse(documents.load(path))


def parse(data: object) -> list[CaseItem]:
    """Read the criteria. Raises BadInput with every defect of the form, else with what they lack together."""
    forms: list[CriterionForm] = []
    defects: list[str] = []
    try:
        forms = CriteriaFile.model_validate(data).criteria
    except ValidationError as error:
        defects += defects_of(error, CriteriaFile)
    listed = data.get("criteria") if isinstance(data, dict) else None
    checks = []
    for index, given in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(given, dict):
            where = f"criteria[{index}]"
            checks.append(_checks(given.get("checks"), where, defects))
            defects += _opinions(str(given.get("description")), checks[-1], where)
    if defects:
        raise _bad(defects)
    items = []
    for form, pinned in zip(forms, checks, strict=True):
        is_guard = form.guard or all(check["guard"] for check in pinned)
        items.append(
            CaseItem(form.id, clip(form.description, LONGEST_DESCRIPTION), pinned, form.affected_paths, is_guard)
        )
    ids = [item.id for item in items]
    for name in dict.fromkeys(ids):
        if ids.count(name) > 1:
            defects.append(f"{name}: is there twice; ids must be unique")
    if all(item.guard for item in items):
        defects.append("criteria: every one is a guard, so none can show that work was done; add one that fails now")
    if defects:
        raise _bad(defects)
    return items


def _bad(defects: list[str]) -> BadInput:
    return BadInput(
        f"the criteria have {counted(len(defects), 'defect')}",
        fix=f"mend them in the file, then omo ralph start --criteria FILE again; its form: {EXAMPLE}",
        defects=[clip(defect, 600) for defect in defects],
    )


def _checks(value: object, where: str, defects: list[str]) -> list[Any]:
    """Return checks as the ledger keeps them, each with an id. A check in plain words is a question to the judge."""
    if value is None or value == []:
        missing = "a criterion needs at least one check; a judge check where no machine can decide"
        defects.append(f"{where}.checks: {missing}")
        return []
    try:
        listed = parse_checks(value)
    except BadInput as error:
        defects += [f"{where}.{line}" for line in error.details["defects"]]  # type: ignore[attr-defined]
        return []
    checks = []
    for name, check in zip(ids_of(listed), listed, strict=True):
        checks.append(dump(JudgeCheck(id=name, question=check) if isinstance(check, str) else check))
    return checks


def _opinions(description: str, checks: list[CheckRow], where: str) -> list[str]:
    """Return what of a criterion is a matter of opinion: its description, and the questions it puts to the judge."""
    types = {check["type"] for check in checks if check["type"] != "judge"}
    decided_by = {"code"} if types else set()
    if types & {"command", "metric"}:
        decided_by.add("command")
    if not checks:  # then only taste is surely no fact
        decided_by = {"code", "command"}
    defects = []
    if opinion := opinion_in(description, decided_by):
        defects.append(f"{where}.description: {opinion}")
    for index, check in enumerate(checks):
        if opinion := opinion_in(str(check.get("question") or ""), decided_by & {"code"}):
            defects.append(f"{where}.checks[{index}].question: {opinion}")
    return defects


def opinion_in(text: str, decided_by: Set[str] = DECIDED_BY_CODE) -> str | None:
    """Return what of a text cannot be checked, and what to write instead. A number makes a fact of what is vague."""
    plain = without_quotations(text)
    facts = decided_by | {"command"} if re.search(r"\b\d", plain) else decided_by
    for pattern, instead, fact in OPINIONS:
        match = re.search(rf"\b(?:{pattern})(?![\w-])", plain, re.I)
        if match and fact not in facts:
            return f"{clip(match[0].strip(' .,;!'), 60)!r} cannot be checked; {instead}"
    return None
