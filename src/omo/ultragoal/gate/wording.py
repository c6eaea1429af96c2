"""What the models refuse, in words: the value, why it does not do, and what to put there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import ValidationError

from omo.ultragoal.gate.findings import Defect, shown
from omo.ultragoal.gate.models import NOT_APPLICABLE, SUCCESS, SURFACES

RECORD = "mend what was found, or keep it as work: omo ultragoal record-review-blockers --goal-id ID"
NEEDS = {
    "architectReview": "what the architect said",
    "executorQa": "what QA and the red team did",
    "iteration": "the full rerun after the last change",
    "architectureStatus": "say CLEAR once the architect does",
    "productStatus": "say CLEAR once the architect does",
    "codeStatus": "say CLEAR once the architect does",
    "recommendation": "say APPROVE once the architect does",
    "e2eStatus": "say passed once the end-to-end run did",
    "redTeamStatus": "say passed once the red team could not break it",
    "fullRerun": "say true once everything was run again after the last change",
    "evidence": "say what was run and what was seen",
    "commands": "name the commands or agents that reviewed",
    "e2eCommands": "name the end-to-end commands that were run",
    "redTeamCommands": "name the red-team commands that were run",
    "rerunCommands": "name the commands that were run again",
    "blockers": "[] where nothing is open",
    "artifactRefs": "name the evidence, by id",
    "surfaceEvidence": "one row for each real surface that was exercised",
    "adversarialCases": "one row for each attempt to break it",
    "contractCoverage": "one row for each obligation of the contract",
    "surfaceEvidenceRefs": "leave the key out, or name rows of surfaceEvidence",
    "adversarialCaseRefs": "leave the key out, or name rows of adversarialCases",
    "id": "a name that is unique in its list",
    "kind": "what it is, such as screenshot, cli-replay or test-report",
    "description": "what it shows",
    "path": "leave the key out, or name a file of the project",
    "contractRef": "the criterion or interface this row is about",
    "obligation": "what the contract asks for",
    "reason": "why it does not apply to this goal",
    "surface": f"one of {', '.join(SURFACES)}",
    "invocation": "what was really run, called or clicked",
    "scenario": "how it was attacked",
    "expectedBehavior": "what the contract asks for in that case",
    "status": "say passed once it did",
    "verdict": "say passed once it did",
    "result": "say passed once it did",
}
TYPES = {
    "string_type": "text",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "bool_type": "true or false",
}


def defects(error: ValidationError, path: str, row: object = None) -> list[Defect]:
    """`path` is where the validated value stands in the gate."""
    return [_defect(one, path, row) for one in error.errors(include_url=False)]


def join(path: str, places: Sequence[str | int]) -> str:
    for place in places:
        path += f"[{place}]" if isinstance(place, int) else f".{place}" if path else place
    return path


def need(field: str) -> str:
    return NEEDS.get(field, "fill it in")


def wrong_type(value: object, wanted: str, field: str) -> str:
    return f"must be {wanted}, not {shown(value)}: {need(field)}"


def _defect(one: Any, path: str, row: object) -> Defect:
    field = next((place for place in reversed(one["loc"]) if isinstance(place, str)), "")
    full = join(path, one["loc"])
    value = one["input"]
    if one["type"] in TYPES:
        return Defect(full, "WRONG_TYPE", wrong_type(value, TYPES[one["type"]], field))
    blank = isinstance(value, str) and not value.strip()
    code, say = WORDS.get("blank" if blank else one["type"], ("INVALID", _invalid))
    return Defect(full, code, say(field, value, one) + _hint(field, row))


def _hint(field: str, row: object) -> str:
    if field == "obligation" and isinstance(row, dict) and row.get("description"):
        return " (there is a `description`: in this list it is called `obligation`)"
    return ""


def _missing(field: str, value: object, one: Any) -> str:
    return f"is missing: {need(field)}"


def _blank(field: str, value: object, one: Any) -> str:
    return f"is {shown(value)}, which is blank: {need(field)}"


def _empty(field: str, value: object, one: Any) -> str:
    return f"is an empty list: {need(field)}"


def _not_text(field: str, value: object, one: Any) -> str:
    return "holds half a character, which no file can: write it again"


def _blockers(field: str, value: Any, one: Any) -> str:
    return f"holds {len(value)}, beginning with {shown(value[0])}: {RECORD}"


def _not_clean(field: str, value: object, one: Any) -> str:
    return f"is {shown(value)}, which is not clean; only {one['ctx']['expected'].strip(chr(39))} is: {RECORD}"


def _not_rerun(field: str, value: object, one: Any) -> str:
    return "is false: run the whole verification again after the last change, then say true"


def _surface(field: str, value: Any, one: Any) -> str:
    many = "names several; choose one" if "|" in value else "is no surface; choose one"
    return f"{shown(value)} {many} of {', '.join(SURFACES)}, and a row of its own for each further one"


def _not_success(field: str, value: Any, one: Any) -> str:
    word = value.strip().lower()
    if word == "todo":
        return "is todo: do it, then say what came of it"
    if word == NOT_APPLICABLE:
        return "is not_applicable, which only status may say, and only in surfaceEvidence and contractCoverage"
    return f"is {shown(value)}, which is no success; a row passes with {', '.join(SUCCESS)}: {RECORD}"


def _invalid(field: str, value: object, one: Any) -> str:
    return f"is {shown(value)}: {one['msg']}"


WORDS: dict[str, tuple[str, Callable[[str, Any, Any], str]]] = {
    "missing": ("MISSING", _missing),
    "blank": ("BLANK", _blank),
    "too_short": ("EMPTY", _empty),
    "not_text": ("NOT_TEXT", _not_text),
    "too_long": ("BLOCKERS_OPEN", _blockers),
    "literal_error": ("NOT_CLEAN", _not_clean),
    "not_rerun": ("NOT_RERUN", _not_rerun),
    "surface": ("SURFACE_UNKNOWN", _surface),
    "not_success": ("NOT_SUCCESS", _not_success),
}
