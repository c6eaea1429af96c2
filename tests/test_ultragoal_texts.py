"""What ultragoal tells its agents: the commands exist, the examples pass, and nobody is given more than their role."""

from __future__ import annotations

import json

import pytest
from pydantic import BaseModel

from omo.cli.main import build_parser
from omo.hooks.tool_use import LEADERS
from omo.workflows.ultragoal.gate import models
from tests.named_commands import children
from tests.texts import AGENTS, agent, flat, fragments, page, skill, text

TEXTS = [skill("ultragoal"), *fragments("ultragoal"), *AGENTS, page("ultragoal")]


def test_every_verb_of_ultragoal_is_explained_somewhere() -> None:
    verbs = children(children(build_parser())["ultragoal"])
    whole = " ".join(map(flat, TEXTS))
    assert [verb for verb in verbs if f"omo ultragoal {verb}" not in whole] == []


@pytest.mark.parametrize(("name", "model"), [("architect", models.ArchitectReview), ("qa", models.ExecutorQa)])
def test_what_a_reviewer_is_shown_to_return_fits_the_gate(name: str, model: type[BaseModel]) -> None:
    example = json.loads(text(agent(name)).split("```json\n")[1].split("```")[0])
    assert set(example) == set(model.model_fields)
    model.model_validate(example)


@pytest.mark.parametrize("step", ["Verify", "Cleaner", "Verify again", "Architect", "QA and red team", "Final review"])
def test_the_gate_is_told_in_its_order(step: str) -> None:
    order = [line.split("**")[1] for line in text(skill("ultragoal")).splitlines() if line[:1].isdigit()]
    assert order.index(step) >= 0
    assert order == ["Verify", "Cleaner", "Verify again", "Architect", "QA and red team", "Final review"]


@pytest.mark.parametrize(
    "rule",
    [
        "`@goal` counts in column 0",
        "Plan first",
        "asking is refused while goals are open",
        "never checkpoint, steer or touch the goal",
        "start one `omo:executor` for each",
        "still running has not failed",
        "also when there are none",
        "fixes the blocking findings, and only those",
        "Only three times CLEAR and APPROVE is clean",
        "Where plan and code differ, that is a blocker",
        "unless you can name what only a person can do",
        "allows `omo goal pause`",
    ],
)
def test_the_skill_says_what_code_cannot_enforce(rule: str) -> None:
    assert rule in flat(skill("ultragoal"))


def test_what_agents_are_told_to_leave_alone_is_denied_to_them() -> None:
    assert {"checkpoint", "steer"} <= set(LEADERS["ultragoal"])
    assert set(children(children(build_parser())["goal"])) - {"get"} == set(LEADERS["goal"])
