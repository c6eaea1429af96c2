"""The forms that people and models fill in: goal files, and one kind of answer for each question."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, ValidationError

from omo.digest import sha256
from omo.engine.case import CaseItem
from omo.engine.filed import HOUR
from omo.errors import BadInput
from omo.proof import documents
from omo.proof.checks import DOCS, Id, JudgeCheck, dump, ids_of, parse_checks
from omo.strict import Strict, defects_of, lowered
from omo.text import counted
from omo.workflows.verify.flow import EXAMPLES

MOST_ITEMS = 10
# What says what has to be shown. An answer that was given for something else does not count.
SHOWN = ("title", "description", "verification", "participants", "guard", "routine")


def _listed(value: object) -> object:
    """Hand-written goals say null for none, and leave out the brackets around one."""
    if value is None:
        return []
    return [value] if isinstance(value, (str, dict)) else value


def _needs(value: object) -> object:
    needs = _listed(value)
    return [_named(need, "goal_id") for need in needs] if isinstance(needs, list) else needs


def _named(value: object, key: str = "id") -> object:
    return {key: value} if isinstance(value, str) else value


Line = Annotated[str, Field(min_length=1, max_length=2000)]
Lines = Annotated[list[Line], BeforeValidator(_listed)]
Ids = Annotated[list[Id], BeforeValidator(_listed)]
Text = Annotated[str, Field(max_length=4000)]
SomeText = Annotated[str, Field(min_length=1, max_length=4000)]
Dimension = Literal["presence", "correctness", "integration", "breakage"]
DIMENSIONS: tuple[str, ...] = get_args(Dimension)


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


def read(path: Path) -> list[CaseItem]:
    """Read a goal file as the one item of a run."""
    return [parse_goal(documents.load(path), str(path))]


def parse_goal(data: object, where: str) -> CaseItem:
    """Return what a goal file asks for, or raise BadInput with every defect of it."""
    if not isinstance(data, dict):
        raise BadInput(f"{where} holds {type(data).__name__}, not a goal", fix="give an object with id and title")
    goal, defects = None, []
    try:
        goal = GoalFile.model_validate(data)
    except ValidationError as error:
        defects += defects_of(error, GoalFile)
    verification = data.get("verification")
    if isinstance(verification, dict):
        try:
            parse_checks(_listed(verification.get("checks")), "verification.checks")
        except BadInput as error:
            defects += [str(defect) for defect in error.details["defects"]]  # type: ignore[attr-defined]
    if goal is None or defects:
        fix = f"mend the fields named, then the same again; {DOCS / 'verify.md'} shows a whole goal"
        raise BadInput(f"{where} is not a goal: {counted(len(defects), 'defect')}", fix=fix, defects=defects)
    return _item(goal)


def _item(goal: GoalFile) -> CaseItem:
    form = goal.model_dump()
    outcomes, for_agent = goal.verification.outcomes, goal.verification.outcomes_agent_leg
    listed = parse_checks(goal.verification.checks)
    checks, in_words = [], []
    for name, check in zip(ids_of(listed), listed, strict=True):
        if isinstance(check, str):
            in_words.append(name)
            check = JudgeCheck(id=name, type="judge", question=check)
        pinned: Any = {**dump(check), "id": name}  # type: ignore[dict-item]
        checks.append(pinned)
    has_leg = "user" in goal.participants and bool(for_agent)
    hours = goal.interval_hours or (goal.remind_days or 1) * 24
    return CaseItem(
        goal.id,
        goal.title,
        checks,
        guard=goal.guard,
        in_words=in_words,
        outcomes=outcomes,
        waits_for=goal.blocked_by,
        wants={need.goal_id: need.expects for need in goal.depends_on},
        every=hours * HOUR if goal.recurring else 0.0,
        left_for_user=[outcome for outcome in outcomes if has_leg and outcome not in for_agent],
        judged_with=["--summary", "TEXT", *(["--hypothesis-result", "RESULT"] if goal.hypothesis else [])],
        text=goal.description,
        form=form,
        contract=sha256(json.dumps({name: form[name] for name in SHOWN}, sort_keys=True).encode())[:32],
    )


class Q1(Strict):
    artifact: SomeText
    statement: SomeText


class ChecklistItem(Strict):
    question: SomeText
    dimension: Dimension
    result: Annotated[Literal["pass", "fail", "na"], BeforeValidator(lowered)]
    covered: bool
    evidence: Text = ""


class Q15(Strict):
    items: Annotated[list[ChecklistItem], Field(max_length=MOST_ITEMS)]


class Q2(Strict):
    failure_mode: Text = ""
    checked: bool = False
    how: Text = ""
    statement: Text = ""
    problem: Text | None = None


class Q3(Strict):
    scope: Literal["unit", "integration"]
    statement: Text = ""


class ShownOutcome(Strict):
    """An outcome in the goal's own words, and what shows it."""

    outcome: SomeText
    statement: SomeText
    artifact: Text = ""


class Outcomes(Strict):
    outcomes: Annotated[list[ShownOutcome], Field(max_length=50)]


REPLIES: dict[str, type[Strict]] = {
    "q1": Q1,
    "q1.5": Q15,
    "q2": Q2,
    "q3": Q3,
    "outcomes": Outcomes,
    "agent-leg": Outcomes,
}


def parse_reply(question: str, data: object) -> Any:
    """Read the answer to a question, or raise BadInput with every defect of it."""
    model = REPLIES[question]
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise BadInput(
            f"the answer to {question} cannot be used",
            fix=f"it looks like {EXAMPLES[question]}",
            defects=defects_of(error, model),
        ) from None
