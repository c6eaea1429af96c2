"""What ultragoal tells its agents: the commands exist, the examples pass, and nobody is given more than their role."""

from __future__ import annotations

import json

import pytest

from omo.cli.main import build_parser
from omo.hooks.tool_use import LEADERS
from omo.workflows.ultragoal import reviewers
from omo.workflows.ultragoal.gate import models
from tests.named_commands import children
from tests.texts import AGENTS, agent, flat, fragments, page, skill, text

TEXTS = [skill("ultragoal"), *fragments("ultragoal"), *AGENTS, page("ultragoal")]


def test_every_verb_of_ultragoal_is_explained_somewhere() -> None:
    verbs = children(children(build_parser())["ultragoal"])
    whole = " ".join(map(flat, TEXTS))
    assert [verb for verb in verbs if f"omo ultragoal {verb}" not in whole] == []


@pytest.mark.parametrize("name", ["architect", "qa"])
def test_what_a_reviewer_is_shown_to_return_is_read_as_clean(name: str) -> None:
    _, is_clean = reviewers.read_verdict(text(agent(name)), f"omo:{name}")
    assert is_clean


def test_what_qa_is_shown_to_return_for_a_review_fits_the_gate() -> None:
    (path,) = [path for path in fragments("ultragoal") if path.stem == "review"]
    example = json.loads(text(path).split("```json\n")[1].split("```")[0])
    assert set(example) == set(models.ExecutorQa.model_fields)
    models.ExecutorQa.model_validate(example)


@pytest.mark.parametrize("step", ["Verify", "Cleaner", "Verify again", "Architect", "QA and red team", "Final review"])
def test_the_gate_is_told_in_its_order(step: str) -> None:
    order = [line.split("**")[1] for line in text(skill("ultragoal")).splitlines() if line[:1].isdigit()]
    assert order.index(step) >= 0
    assert order == ["Verify", "Cleaner", "Verify again", "Architect", "QA and red team", "Final review"]


@pytest.mark.parametrize(
    "rule",
    [
        *("`@goal` counts in column 0", "Plan first", "asking is refused while goals are open"),
        *("never checkpoint, steer or touch the goal", "start one `omo:executor` for each"),
        *("still running has not failed", "also when there are none", "fixes the blocking findings, and only those"),
        *("Only three times CLEAR and APPROVE is clean", "Where plan and code differ, that is a blocker"),
        *("unless you can name what only a person can do", "allows `omo goal pause`"),
    ],
)
def test_the_skill_says_what_code_cannot_enforce(rule: str) -> None:
    assert rule in flat(skill("ultragoal"))


def test_what_agents_are_told_to_leave_alone_is_denied_to_them() -> None:
    assert {"checkpoint", "steer"} <= set(LEADERS["ultragoal"])
    assert set(children(children(build_parser())["goal"])) - {"get"} == set(LEADERS["goal"])
