"""What an answer may say: one model for each question."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator, Field, ValidationError

from omo.errors import BadInput
from omo.verify.strict import Strict, defects_of

MOST_ITEMS = 10
ESCALATION = ("q1", "q1.5", "q2", "q3")
Dimension = Literal["presence", "correctness", "integration", "breakage"]
DIMENSIONS: tuple[str, ...] = get_args(Dimension)

Text = Annotated[str, Field(max_length=4000)]
Said = Annotated[str, Field(min_length=1, max_length=4000)]


def _lowered(value: object) -> object:
    return value.strip().lower() if isinstance(value, str) else value


Result = Annotated[Literal["pass", "fail", "na"], BeforeValidator(_lowered)]


class Reply(Strict):
    goal: str | None = None


class Q1(Reply):
    artifact: Said
    statement: Said
    override: Text = ""


class Item(Strict):
    question: Said
    dimension: Dimension
    result: Result
    covered: bool
    evidence: Text = ""


class Q15(Reply):
    items: Annotated[list[Item], Field(max_length=MOST_ITEMS)]


class Q2(Reply):
    failure_mode: Text = ""
    checked: bool = False
    how: Text = ""
    statement: Text = ""
    problem: Text | None = None
    override: Text = ""


class Q3(Reply):
    scope: Literal["unit", "integration"]
    statement: Text = ""


class Leg(Strict):
    outcome: Said
    artifact: Said
    statement: Said


class AgentLeg(Reply):
    outcomes: Annotated[list[Leg], Field(max_length=50)]
    override: Text = ""


MODELS: dict[str, type[Reply]] = {"q1": Q1, "q1.5": Q15, "q2": Q2, "q3": Q3, "agent-leg": AgentLeg}


def parse_reply(question: str, data: object) -> Reply:
    model = MODELS[question]
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise BadInput(
            f"the answer to {question} cannot be used",
            fix=f"give an object with {', '.join(_fields(model))}; docs/verify.md shows one",
            defects=defects_of(error, model),
        ) from None


def _fields(model: type[Reply]) -> list[str]:
    return [name for name in model.model_fields if name not in ("goal", "override")]


def answer_command(goal: str, question: str) -> str:
    return f"omo verify answer {goal} --question {question} --file -"
