"""What a goal file may say: the models, and every defect of a file in one answer."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from omo.errors import BadInput
from omo.evidence.checks import parse_checks
from omo.verify import streaks
from omo.verify.strict import Strict, defects_of, digest_of


def _listed(value: object) -> object:
    """Hand-written goals say null for none, and leave out the brackets around one."""
    if value is None:
        return []
    return [value] if isinstance(value, (str, dict)) else value


def _needs(value: object) -> object:
    listed = _listed(value)
    if not isinstance(listed, list):
        return listed
    return [{"goal_id": one} if isinstance(one, str) else one for one in listed]


def _named(value: object) -> object:
    return {"id": value} if isinstance(value, str) else value


Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
Line = Annotated[str, Field(min_length=1, max_length=2000)]
Lines = Annotated[list[Line], BeforeValidator(_listed)]
Ids = Annotated[list[Id], BeforeValidator(_listed)]


class Need(Strict):
    """A predecessor whose output this goal wants to see, and what for."""

    goal_id: Id
    expects: str = ""


class Hypothesis(Strict):
    id: Line
    text: str = ""


class Verification(Strict):
    outcomes: Lines = Field(default_factory=list)
    checks: Annotated[list[Any], BeforeValidator(_listed)] = Field(default_factory=list)
    outcomes_agent_leg: Lines = Field(default_factory=list)


class GoalFile(Strict):
    """What a goal file may say."""

    id: Id
    title: Annotated[str, Field(min_length=3, max_length=200)]
    description: Annotated[str, Field(max_length=20_000)] = ""
    category: Line = "general"
    verification: Verification = Verification()
    participants: Lines = Field(default_factory=lambda: ["agent"])
    blocked_by: Ids = Field(default_factory=list)
    depends_on: Annotated[list[Need], BeforeValidator(_needs)] = Field(default_factory=list)
    recurring: bool = False
    interval_hours: Annotated[float, Field(gt=0)] | None = None
    remind_days: Annotated[float, Field(gt=0)] | None = None
    hypothesis: Annotated[Hypothesis | None, BeforeValidator(_named)] = None
    parent: Id | None = None
    guard: bool = False
    routine: bool = False
    max_retries: Annotated[int, Field(ge=1, le=100)] = 3

    @model_validator(mode="after")
    def _waits_for_others_only(self) -> GoalFile:
        if self.id in self.blocked_by or self.id in self.needed:
            raise ValueError(f"{self.id} cannot wait for itself")
        return self

    @property
    def needed(self) -> list[str]:
        return [need.goal_id for need in self.depends_on]

    @property
    def every(self) -> float:
        """The interval of a recurring goal, in seconds."""
        return streaks.interval(self.interval_hours, self.remind_days)

    @property
    def has_agent_leg(self) -> bool:
        return "user" in self.participants and bool(self.verification.outcomes_agent_leg)

    @property
    def contract(self) -> str:
        """What an answer was given for. It changes with anything that changes what has to be shown."""
        block = self.model_dump(include={"title", "description", "verification", "participants", "guard", "routine"})
        return digest_of(block)


def parse_goal(data: object, where: str) -> GoalFile:
    """The goal, or every defect of it in one answer."""
    if not isinstance(data, dict):
        raise BadInput(f"{where} holds {type(data).__name__}, not a goal", fix="give an object with id and title")
    spec, defects = None, []
    try:
        spec = GoalFile.model_validate(data)
    except ValidationError as error:
        defects += defects_of(error, GoalFile)
    defects += _defects_of_checks(data.get("verification"))
    if spec is None or defects:
        count = f"{len(defects)} defect{'s' if len(defects) > 1 else ''}"
        fix = "mend the fields named, then omo verify add --file again; docs/verify.md shows a whole goal"
        raise BadInput(f"{where} is not a goal: {count}", fix=fix, defects=defects)
    return spec


def _defects_of_checks(verification: object) -> list[str]:
    if not isinstance(verification, dict):
        return []
    try:
        parse_checks(_listed(verification.get("checks")), "verification.checks")
    except BadInput as error:
        listed = error.details.get("defects")
        return [str(one) for one in listed] if isinstance(listed, list) and listed else [error.message]
    return []
