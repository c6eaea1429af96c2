"""What a quality gate looks like: its sections and rows, read strictly, with every defect by its place."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PrivateAttr,
    Tag,
    ValidationError,
    model_validator,
)

from omo import strict
from omo.errors import BadInput
from omo.proof import documents
from omo.strict import field_name, lowered, message_of
from omo.text import clip
from omo.workflows.ultragoal.gate.media import FAMILIES

SURFACES = FAMILIES
MOST_ROWS = 500
INIT = "omo ultragoal gate init --goal-id ID writes one to fill in; inline JSON begins with {"
APPLIES, NOT_APPLICABLE = TAGS = ("applies", "not_applicable")


@dataclass(frozen=True)
class GateDefect:
    """`path` is where in the gate it stands."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


def defects_at(path: str, messages: Iterable[str]) -> list[GateDefect]:
    return [GateDefect(path, message) for message in messages]


def shown(value: object, longest: int = 80) -> str:
    """Show a value of the gate as it was written."""
    return clip(json.dumps(value, ensure_ascii=False, default=str), longest)


def load(given: str, cwd: str | Path, option: str = "--quality-gate-json") -> object:
    """Read a gate, or a part of one, as it is handed in: JSON itself, or the name of a file that holds it."""
    document = documents.of_option(given, cwd, option, fix=INIT)
    try:
        json.dumps(document, sort_keys=True, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (TypeError, ValueError, RecursionError):
        what = f"the quality gate holds values, or halves of characters, that no JSON file can: {clip(given, 200)}"
        raise BadInput(what, fix=INIT) from None
    return document


def _yes(value: bool) -> bool:
    """Accept true alone; Literal[True] would take 1 for it."""
    if not value:
        raise ValueError("run the whole verification again after the last change, then say true")
    return value


def _no_blockers(blockers: list[Any]) -> list[Any]:
    if blockers:
        raise ValueError("must be empty: mend what was found, or keep it as work (record-review-blockers)")
    return blockers


Written = Annotated[strict.Written, Field(json_schema_extra={"pattern": r"\S"})]
Success = Annotated[Literal["covered", "passed", "verified"], BeforeValidator(lowered)]
Surface = Annotated[
    Literal["gui", "web", "native", "desktop", "tui", "cli", "api", "package", "algorithm", "math"],
    BeforeValidator(lowered),
]
Texts = Annotated[list[Written], Field(min_length=1)]
NoUse = Annotated[Literal["not_applicable"], BeforeValidator(lowered)]
Yes = Annotated[bool, AfterValidator(_yes), Field(json_schema_extra={"const": True})]
NoBlockers = Annotated[list[Any], AfterValidator(_no_blockers), Field(json_schema_extra={"maxItems": 0})]


class GateSection(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")


class ArchitectReview(GateSection):
    """What the architect said in three lanes. Only CLEAR and APPROVE are clean."""

    architectureStatus: Literal["CLEAR"]
    productStatus: Literal["CLEAR"]
    codeStatus: Literal["CLEAR"]
    recommendation: Literal["APPROVE"]
    evidence: Written
    commands: Texts
    blockers: NoBlockers


class Iteration(GateSection):
    """The full verification, run again after the last change. The cleaner's report is carried in `evidence`."""

    status: Literal["passed"]
    fullRerun: Yes
    rerunCommands: Texts
    evidence: Written
    blockers: NoBlockers


class Named(GateSection):
    """A row of executorQa; `place` is where in the gate it stands."""

    id: Written
    _place: str = PrivateAttr("")

    @property
    def place(self) -> str:
        return self._place


class TypedReceipt(GateSection):
    """What another system says it has verified: what it is, which one, and that it passed."""

    type: Written
    id: Written
    status: Literal["passed", "verified"]


# test_an_exemption_that_cannot_be_used in tests/ultragoal/test_replay.py has a reason below each.
SHORTEST_REASON, FEWEST_WORDS, FEWEST_DIFFERENT = 32, 5, 4


def _sentence(text: str) -> str:
    """Accept a text that is long enough, of words, and not one word over and over."""
    words = [word.lower() for word in text.split() if any(map(str.isalnum, word))]
    is_long = len(" ".join(words)) >= SHORTEST_REASON and len(words) >= FEWEST_WORDS
    if not is_long or len(set(words)) < FEWEST_DIFFERENT:
        raise ValueError(f"must say why in at least {SHORTEST_REASON} characters and {FEWEST_WORDS} words")
    return text


class ReplayExempt(strict.Strict):
    """Why a command cannot be replayed, who says so, and what shows the run instead."""

    reasonCode: Literal[
        "unsafe_side_effect",
        "requires_credentials",
        "requires_network",
        "non_deterministic_external",
        "destructive",
        "interactive_only",
        "platform_unavailable",
    ]
    reason: Annotated[Written, AfterValidator(_sentence)]
    approvedBy: Written
    fallbackArtifactRefs: Texts


class GateArtifact(Named):
    """One piece of evidence. What proves is the file at `path`, a gate of the session, or a typed receipt."""

    kind: Written
    description: Written
    path: Written = ""
    gate: Written = ""
    receipt: TypedReceipt | None = None
    replayExempt: ReplayExempt | None = None


class NotApplicable(Named):
    """What this goal does not touch, and why. Only coverage and surface rows may say so."""

    contractRef: Written
    status: NoUse
    reason: Written

    @model_validator(mode="after")
    def _has_no_outcome(self) -> NotApplicable:
        if {"verdict", "result"} & set(self.model_extra or {}):
            raise ValueError("is not_applicable and yet has an outcome: drop one of the two")
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
            raise ValueError("has neither verdict nor result: say passed in one of them once it did")
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
            raise ValueError("links to nothing: name rows in surfaceEvidenceRefs, adversarialCaseRefs or artifactRefs")
        return self


def _tag(row: object) -> str:
    if isinstance(row, dict) and str(row.get("status")).strip().lower() == NOT_APPLICABLE:
        return NOT_APPLICABLE
    return APPLIES


def _unique(rows: list[Any]) -> list[Any]:
    ids = [row.id for row in rows]
    for name in ids:
        if ids.count(name) > 1:
            raise ValueError(f"two rows have the id {shown(name)}: it must be unique in its list")
    return rows


T = TypeVar("T")
Rows = Annotated[list[T], Field(min_length=1, max_length=MOST_ROWS), AfterValidator(_unique)]
OutOfScope = Annotated[NotApplicable, Tag(NOT_APPLICABLE)]
SurfaceRow = Annotated[Annotated[SurfaceEvidence, Tag(APPLIES)] | OutOfScope, Discriminator(_tag)]
CoverageRow = Annotated[Annotated[Coverage, Tag(APPLIES)] | OutOfScope, Discriminator(_tag)]


class ExecutorQa(GateSection):
    """What the QA and red-team lane says."""

    status: Literal["passed"]
    e2eStatus: Literal["passed"]
    redTeamStatus: Literal["passed"]
    evidence: Written
    e2eCommands: Texts
    redTeamCommands: Texts
    artifactRefs: Rows[GateArtifact]
    surfaceEvidence: Rows[SurfaceRow]
    adversarialCases: Rows[AdversarialCase]
    contractCoverage: Rows[CoverageRow]
    blockers: NoBlockers

    @property
    def surfaces(self) -> list[SurfaceEvidence]:
        return [row for row in self.surfaceEvidence if isinstance(row, SurfaceEvidence)]

    @property
    def coverage(self) -> list[Coverage]:
        return [row for row in self.contractCoverage if isinstance(row, Coverage)]

    @property
    def citing(self) -> list[SurfaceEvidence | AdversarialCase | Coverage]:
        """Return all rows that have to show something."""
        return [*self.surfaces, *self.adversarialCases, *self.coverage]

    @model_validator(mode="after")
    def _knows_its_places(self) -> ExecutorQa:
        for name in ("artifactRefs", "surfaceEvidence", "adversarialCases", "contractCoverage"):
            for index, row in enumerate(getattr(self, name)):
                row._place = f"executorQa.{name}[{index}]"
        return self


class QualityGate(BaseModel):
    """A quality gate of omo. Rules across rows are in docs/quality-gate.md."""

    model_config = ConfigDict(strict=True, extra="forbid")

    architectReview: ArchitectReview
    executorQa: ExecutorQa
    iteration: Iteration


S = TypeVar("S", bound=GateSection)


def read_section(model: type[S], document: dict[str, Any], name: str) -> tuple[S | None, list[GateDefect]]:
    """Read one section of a gate, or return all that is wrong with it."""
    if name not in document:
        return None, [GateDefect(name, "is missing")]
    defects = []
    try:
        return model.model_validate(document[name]), []
    except ValidationError as error:
        for problem in error.errors(include_url=False):
            place = [part for part in problem["loc"] if part not in TAGS]
            message = message_of(problem)
            if problem["type"] == "too_short":
                message = "must not be empty"
            elif problem["type"] not in ("missing", "too_long"):
                message += f", not {shown(problem['input'])}"
            defects.append(GateDefect(field_name((name, *place)), message))
    return None, defects
