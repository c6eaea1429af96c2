"""What ultragoal tells its agents: the commands exist, the examples pass, and nobody is given more than their role."""

from __future__ import annotations

import json

import pytest

from omo.cli.main import build_parser
from omo.hooks.tool_use import LEADERS
from omo.workflows.ultragoal import reviewers
from omo.workflows.ultragoal.gate import models
from tests.named_commands import children
from tests.written import AGENTS, agent, fragments, page, skill, text

TEXTS = [skill("ultragoal"), *fragments("ultragoal"), *AGENTS, page("ultragoal")]


@pytest.mark.parametrize("name", ["architect", "qa"])
def test_what_a_reviewer_is_shown_to_return_is_read_as_clean(name: str) -> None:
    _, is_clean = reviewers.read_verdict(text(agent(name)), f"omo:{name}")
    assert is_clean


def test_what_qa_is_shown_to_return_for_a_review_fits_the_gate() -> None:
    (path,) = [path for path in fragments("ultragoal") if path.stem == "review"]
    example = json.loads(text(path).split("```json\n")[1].split("```")[0])
    assert set(example) == set(models.ExecutorQa.model_fields)
    models.ExecutorQa.model_validate(example)


def test_the_gate_is_told_in_its_order() -> None:
    order = [line.split("**")[1] for line in text(skill("ultragoal")).splitlines() if line[:1].isdigit()]
    assert order == ["Verify", "Cleaner", "Verify again", "Architect", "QA and red team", "Final review"]


def test_what_agents_are_told_to_leave_alone_is_denied_to_them() -> None:
    assert {"checkpoint", "steer"} <= set(LEADERS["ultragoal"])
    assert set(children(children(build_parser())["goal"])) - {"get"} == set(LEADERS["goal"])
