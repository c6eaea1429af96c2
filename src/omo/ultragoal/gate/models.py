"""The three sections of a gate and their rows. Known keys are strict; further keys inside a section are kept."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from omo.evidence.records import FAMILIES

SUCCESS = ("covered", "passed", "verified")
NOT_APPLICABLE = "not_applicable"
SURFACES = FAMILIES


def _written(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("blank", "is blank")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise PydanticCustomError("not_text", "is not valid text") from None
    return text


def _success(text: str) -> str:
    word = _written(text).strip().lower()
    if word not in SUCCESS:
        raise PydanticCustomError("not_success", "is no success")
    return word


def _surface(text: str) -> str:
    word = _written(text).strip().lower()
    if word not in SURFACES:
        raise PydanticCustomError("surface", "is no surface")
    return word


def _no_use(text: str) -> str:
    if text.strip().lower() != NOT_APPLICABLE:
        raise PydanticCustomError("not_success", "says something else")
    return NOT_APPLICABLE


def _yes(value: bool) -> bool:
    """Literal[True] would take 1 for it."""
    if not value:
        raise PydanticCustomError("not_rerun", "is false")
    return value


Written = Annotated[str, AfterValidator(_written), Field(json_schema_extra={"pattern": r"\S"})]
Success = Annotated[str, AfterValidator(_success), Field(json_schema_extra={"enum": list(SUCCESS)})]
Surface = Annotated[str, AfterValidator(_surface), Field(json_schema_extra={"enum": list(SURFACES)})]
Texts = Annotated[list[Written], Field(min_length=1)]
NoUse = Annotated[str, AfterValidator(_no_use), Field(json_schema_extra={"const": NOT_APPLICABLE})]
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
    id: Written


class Artifact(Named):
    """One piece of evidence. What proves is the file at `path`, a replay that passes, or a typed receipt."""

    kind: Written
    description: Written
    path: Written = ""
    replay: dict[str, Any] = Field(default_factory=dict)
    replayExempt: dict[str, Any] = Field(default_factory=dict)
    verifiedReceipt: dict[str, Any] = Field(default_factory=dict)
    receipt: dict[str, Any] = Field(default_factory=dict)


class NotApplicable(Named):
    """What this goal does not touch, and why. Only coverage and surface rows may say so."""

    contractRef: Written
    status: NoUse
    reason: Written


class Judged(Named):
    """`status`, `verdict` and `result` may all be there; each that is must be a success word."""

    contractRef: Written
    status: Success = ""
    verdict: Success = ""
    result: Success = ""
    artifactRefs: Texts


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
    verdict: Success = ""
    result: Success = ""
    surfaceEvidenceRefs: Texts = Field(default_factory=list)
    adversarialCaseRefs: Texts = Field(default_factory=list)
    artifactRefs: Texts = Field(default_factory=list)


class QaHead(Section):
    """What the QA and red-team lane says as a whole."""

    status: Literal["passed"]
    e2eStatus: Literal["passed"]
    redTeamStatus: Literal["passed"]
    evidence: Written
    e2eCommands: Texts
    redTeamCommands: Texts
    blockers: NoBlockers


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
ROWS: dict[str, type[Named]] = {
    "artifactRefs": Artifact,
    "surfaceEvidence": SurfaceEvidence,
    "adversarialCases": AdversarialCase,
    "contractCoverage": Coverage,
}
MAY_NOT_APPLY = ("surfaceEvidence", "contractCoverage")
