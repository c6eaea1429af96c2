"""The last word of a reviewer that the host saw finish."""

from __future__ import annotations

import json
from typing import Any

import pytest

from omo.errors import Refused
from tests.ultragoal.project import Project

ARCHITECT = {
    "architectureStatus": "CLEAR",
    "productStatus": "CLEAR",
    "codeStatus": "CLEAR",
    "recommendation": "APPROVE",
}
QA = {"status": "passed", "e2eStatus": "passed", "redTeamStatus": "passed", "blockers": []}


def fenced(report: object) -> str:
    return f"Findings: none of note.\n\n```json\n{json.dumps(report, indent=2)}\n```\n"


def closed(project: Project, *messages: tuple[str, str]) -> Any:
    for agent, message in messages:
        project.agent_ends(agent, message)
    project.complete("G001")
    return project.receipt("G001")


GOOD = (("omo:architect", fenced(ARCHITECT)), ("omo:qa", fenced(QA)))
UNCLEAN = {
    "one lane blocks": ("omo:architect", fenced({**ARCHITECT, "codeStatus": "BLOCK"}), "BLOCK"),
    "one lane is watched": ("omo:architect", fenced({**ARCHITECT, "productStatus": "WATCH"}), "WATCH"),
    "changes are requested": ("omo:architect", fenced({"recommendation": "REQUEST CHANGES"}), "REQUEST CHANGES"),
    "qa failed": ("omo:qa", fenced({**QA, "redTeamStatus": "failed"}), "failed"),
    "blockers are open": ("omo:qa", fenced({**QA, "blockers": ["rows are lost"]}), "open blockers"),
    "inside its section": ("omo:qa", fenced({"executorQa": {**QA, "status": "failed"}}), "failed"),
    "bare at the end": ("omo:qa", "It fails.\n" + json.dumps({**QA, "status": "failed"}), "failed"),
    "the last block counts": ("omo:qa", fenced(QA) + fenced({**QA, "status": "failed"}), "failed"),
}


@pytest.mark.parametrize(("agent", "message", "word"), UNCLEAN.values(), ids=UNCLEAN)
def test_no_goal_is_closed_against_the_last_word_of_a_reviewer(
    project: Project, agent: str, message: str, word: str
) -> None:
    project.begin()
    with pytest.raises(Refused, match=f"{word} was said by {agent}") as caught:
        closed(project, *GOOD, (agent, message))
    assert "record-review-blockers --goal-id G001" in caught.value.fix
    assert project.statuses()["G001"] == "active"
    receipt = closed(project, *GOOD)
    assert (receipt["independence"], receipt["notes"]) == ("full", []), "a clean word after the work was mended counts"
    assert [review["verdict"] for review in receipt["agents"]] == ["APPROVE", "passed"]


def test_words_without_a_verdict_take_no_verdict_back(project: Project) -> None:
    project.begin()
    with pytest.raises(Refused, match="BLOCK was said by omo:architect"):
        closed(project, *GOOD, ("omo:architect", fenced({**ARCHITECT, "codeStatus": "BLOCK"})), ("omo:architect", "ok"))
    assert closed(project, *GOOD)["independence"] == "full"


def test_one_review_is_of_one_goal(project: Project) -> None:
    project.begin()
    project.complete("G001")
    for agent, message in GOOD:
        project.agent_ends(agent, message)
    project.complete("G002")
    project.complete("G001", "the same goal in other words")
    independence = {name: project.receipt(name)["independence"] for name in ("G001", "G002")}
    assert independence == {"G001": "reduced", "G002": "full"}


@pytest.mark.parametrize("message", ["", "CLEAR", "```json\n{\n```", "```json\n[1]\n```", "{" * 5000, "```\n" * 999])
def test_a_message_without_a_verdict_vouches_for_nothing(project: Project, message: str) -> None:
    receipt = closed(project.begin(), *GOOD, ("omo:qa", message))
    assert receipt["independence"] == "reduced"
