"""What a quality gate looks like: its sections and rows, read strictly, and every defect of them in words."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from omo.errors import BadInput
from omo.proof.media import FAMILIES
from omo.text import clip
from omo.workflows.ultragoal.create import json_of

NOT_APPLICABLE = "not_applicable"
SURFACES = FAMILIES
INIT = "omo ultragoal gate init --goal-id ID writes one to fill in; inline JSON begins with {"
RECORD = (
    "mend what was found, or keep it as work: omo ultragoal record-review-blockers --goal-id ID "
    "--objective TEXT --evidence TEXT"
)


@dataclass(frozen=True)
class Defect:
    """`path` is where in the gate it stands, `code` is stable for programs."""

    path: str
    code: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


def shown(value: object, longest: int = 80) -> str:
    """A value of the gate, as it was written."""
    return clip(json.dumps(value, ensure_ascii=False, default=str), longest)


def load(given: str, cwd: str | Path) -> object:
    """A gate as it is handed in: JSON itself, or the name of a file that holds it."""
    document = json_of(given, cwd, "--quality-gate-json", fix=INIT)
    try:
        json.dumps(document, sort_keys=True, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except UnicodeEncodeError as error:
        half = ascii(error.object[error.start : error.end])[1:-1]
        fix = f"write the character itself, or both halves of it, instead of {half}"
        raise BadInput(f"the quality gate holds half a character ({half}), which no text can keep", fix=fix) from None
    except (TypeError, ValueError, RecursionError):
        raise BadInput(f"the quality gate holds values that no JSON file can: {clip(given, 200)}", fix=INIT) from None
    return document


def _written(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise PydanticCustomError("NOT_TEXT", "holds half a character, which no file can: write it again") from None
    if not text.strip():
        raise PydanticCustomError("BLANK", "is blank")
    return text


def _lower(value: object) -> object:
    return value.strip().lower() if isinstance(value, str) else value


def _yes(value: bool) -> bool:
    """Literal[True] would take 1 for it."""
    if not value:
        text = "is false: run the whole verification again after the last change, then say true"
        raise PydanticCustomError("NOT_RERUN", text)
    return value


Written = Annotated[str, AfterValidator(_written), Field(json_schema_extra={"pattern": r"\S"})]
Success = Annotated[Literal["covered", "passed", "verified"], BeforeValidator(_lower)]
Surface = Annotated[
    Literal["gui", "web", "native", "desktop", "tui", "cli", "api", "package", "algorithm", "math"],
    BeforeValidator(_lower),
]
Texts = Annotated[list[Written], Field(min_length=1)]
NoUse = Annotated[Literal["not_applicable"], BeforeValidator(_lower)]
Yes = Annotated[bool, AfterValidator(_yes), Field(json_schema_extra={"const": True})]
NoBlockers = Annotated[list[Any], Field(max_length=0)]


class Section(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")


class ArchitectReview(Section):
    """What the architect said in three lanes. Only CLEAR and APPROVE are clean."""

    architectureStatus: Literal["CLEAR"]
    productStatus: Literal["CLEAR"]
    codeStatus: Literal["CLEAR"]
    recommendation: Literal["APPROVE"]
    evidence: Written
    commands: Texts
    blockers: NoBlockers


class Iteration(Section):
    """The full verification, run again after the last change. The cleaner's report is carried in `evidence`."""

    status: Literal["passed"]
    fullRerun: Yes
    rerunCommands: Texts
    evidence: Written
    blockers: NoBlockers


class Named(Section):
    """A row of executorQa; `place` is where in the gate it stands."""

    id: Written
    _place: str = PrivateAttr("")

    @property
    def place(self) -> str:
        return self._place


class TypedReceipt(Section):
    """What another system says it has verified: what it is, which one, and that it passed."""

    type: Written
    id: Written
    status: Literal["passed", "verified"]


class Artifact(Named):
    """One piece of evidence. What proves is the file at `path`, a gate of the session, or a typed receipt."""

    kind: Written
    description: Written
    path: Written = ""
    gate: Written = ""
    receipt: TypedReceipt | None = None
    replayExempt: dict[str, Any] | None = None


class NotApplicable(Named):
    """What this goal does not touch, and why. Only coverage and surface rows may say so."""

    contractRef: Written
    status: NoUse
    reason: Written

    @model_validator(mode="after")
    def _has_no_outcome(self) -> NotApplicable:
        if {"verdict", "result"} & set(self.model_extra or {}):
            raise PydanticCustomError("CONTRADICTION", "is not_applicable and yet has an outcome: drop one of the two")
        return self


class Judged(Named):
    """`status`, `verdict` and `result` may all be there; each that is must be a success word."""

    contractRef: Written
    status: Success | None = None
    verdict: Success | None = None
    result: Success | None = None
    artifactRefs: Texts

    @model_validator(mode="after")
    def _has_an_outcome(self) -> Judged:
        if not (self.verdict or self.result):
            text = "has neither verdict nor result: say passed in one of them once it did"
            raise PydanticCustomError("NO_OUTCOME", text)
        return self


class SurfaceEvidence(Judged):
    """One real surface that was exercised. Needs `verdict` or `result`."""

    surface: Surface
    invocation: Written


class AdversarialCase(Judged):
    """One attempt to break it. Needs `verdict` or `result`."""

    scenario: Written
    expectedBehavior: Written


class Coverage(Named):
    """One obligation of the contract and the rows that show it is met. Needs at least one of the three links."""

    contractRef: Written
    obligation: Written
    status: Success
    verdict: Success | None = None
    result: Success | None = None
    surfaceEvidenceRefs: Texts = Field(default_factory=list)
    adversarialCaseRefs: Texts = Field(default_factory=list)
    artifactRefs: Texts = Field(default_factory=list)

    @model_validator(mode="after")
    def _is_linked(self) -> Coverage:
        if not (self.surfaceEvidenceRefs or self.adversarialCaseRefs or self.artifactRefs):
            text = "links to nothing: name rows in surfaceEvidenceRefs, adversarialCaseRefs or artifactRefs"
            raise PydanticCustomError("UNLINKED", text)
        return self


class LightQa(Section):
    """What QA says as a whole of a goal whose reviewers come at the end, as the user chose."""

    status: Literal["passed"]
    evidence: Written
    e2eCommands: Texts
    blockers: NoBlockers


class QaHead(LightQa):
    """What the QA and red-team lane says as a whole."""

    e2eStatus: Literal["passed"]
    redTeamStatus: Literal["passed"]
    redTeamCommands: Texts


class ExecutorQa(QaHead):
    artifactRefs: Annotated[list[Artifact], Field(min_length=1)]
    surfaceEvidence: Annotated[list[SurfaceEvidence | NotApplicable], Field(min_length=1)]
    adversarialCases: Annotated[list[AdversarialCase], Field(min_length=1)]
    contractCoverage: Annotated[list[Coverage | NotApplicable], Field(min_length=1)]


class Gate(BaseModel):
    """A quality gate of omo. Rules across rows are in docs/quality-gate.md."""

    model_config = ConfigDict(strict=True, extra="forbid")

    architectReview: ArchitectReview
    executorQa: ExecutorQa
    iteration: Iteration


SECTIONS: dict[str, type[Section]] = {"architectReview": ArchitectReview, "executorQa": QaHead, "iteration": Iteration}
LIGHT_SECTIONS: dict[str, type[Section]] = {"executorQa": LightQa, "iteration": Iteration}
ROWS: dict[str, type[Named]] = {
    "artifactRefs": Artifact,
    "surfaceEvidence": SurfaceEvidence,
    "adversarialCases": AdversarialCase,
    "contractCoverage": Coverage,
}
MAY_NOT_APPLY = ("surfaceEvidence", "contractCoverage")


NEEDS = {
    **dict.fromkeys(("architectureStatus", "productStatus", "codeStatus"), "say CLEAR once the architect does"),
    "recommendation": "say APPROVE once the architect does",
    "e2eStatus": "say passed once the end-to-end run did",
    "redTeamStatus": "say passed once the red team could not break it",
    "fullRerun": "say true once everything was run again after the last change",
    "evidence": "say what was run and what was seen",
    "commands": "name the commands or agents that reviewed",
    "blockers": "[] where nothing is open",
    "artifactRefs": "name each piece of evidence, by its id",
    "surfaceEvidence": "one row for each real surface that was exercised",
    "adversarialCases": "one row for each attempt to break it",
    "contractCoverage": "one row for each obligation of the contract",
    "id": "a name that is unique in its list",
    "gate": "leave the key out, or name a gate of this session (omo gate list)",
    "surface": f"one of {', '.join(SURFACES)}",
    **dict.fromkeys(("status", "verdict", "result"), "say passed once it did"),
}
TYPES = {
    "string_type": "text",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "bool_type": "true or false",
}


def need(field: str) -> str:
    return NEEDS.get(field, "fill it in, or leave the key out where it is optional")


def wrong_type(value: object, wanted: str, field: str) -> str:
    return f"must be {wanted}, not {shown(value)}: {need(field)}"


def model_defects(error: ValidationError, path: str) -> list[Defect]:
    """What a model refuses. `path` is where the value stands in the gate."""
    defects = []
    for problem in error.errors(include_url=False):
        place, field = path, ""
        for key in problem["loc"]:
            if isinstance(key, int):
                place += f"[{key}]"
            else:
                place, field = f"{place}.{key}", key
        defects.append(Defect(place, *_describe(problem, field)))
    return defects


def _describe(problem: Any, field: str) -> tuple[str, str]:
    """The value, why it does not do, and what to put there."""
    kind, value = problem["type"], problem["input"]
    if kind in TYPES:
        return "WRONG_TYPE", wrong_type(value, TYPES[kind], field)
    if isinstance(value, str) and not value.strip():
        return "BLANK", f"is {shown(value)}, which is blank: {need(field)}"
    if kind == "missing":
        return "MISSING", f"is missing: {need(field)}"
    if kind == "too_short":
        return "EMPTY", f"is an empty list: {need(field)}"
    if kind == "too_long":
        return "BLOCKERS_OPEN", f"holds {len(value)}, beginning with {shown(value[0])}: {RECORD}"
    if field == "surface":
        return "SURFACE_UNKNOWN", f"{shown(value)} is no surface; {need(field)}, and a row for each further one"
    if kind == "literal_error":
        expected = problem["ctx"]["expected"].replace("'", "")
        return "NOT_CLEAN", f"is {shown(value)}, which is not clean; only {expected} is: {RECORD}"
    return kind, problem["msg"]  # a rule of ours: its code and its words
