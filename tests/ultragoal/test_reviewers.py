"""The last word of a reviewer that the host saw finish."""

from __future__ import annotations

import json

import pytest

from omo.errors import Refused
from tests.ultragoal.project import TWO, Project

ARCHITECT = {
    "architectureStatus": "CLEAR",
    "productStatus": "CLEAR",
    "codeStatus": "CLEAR",
    "recommendation": "APPROVE",
}
QA = {"status": "passed", "e2eStatus": "passed", "redTeamStatus": "passed", "blockers": []}


def fenced(report: object) -> str:
    return f"Findings: none of note.\n\n```json\n{json.dumps(report, indent=2)}\n```\n"


def closed(project: Project, *said: tuple[str, str]) -> dict[str, object]:
    project.begin(TWO)
    for kind, message in said:
        project.agent_ends(kind, message)
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


def test_reviewers_that_said_clean_are_independent(project: Project) -> None:
    receipt = closed(project, *GOOD)
    assert (receipt["independence"], receipt["notes"]) == ("full", [])
    assert [one["verdict"] for one in receipt["agents"]] == ["APPROVE", "passed"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(("kind", "message", "word"), UNCLEAN.values(), ids=UNCLEAN)
def test_no_goal_is_closed_against_the_last_word_of_a_reviewer(
    project: Project, kind: str, message: str, word: str
) -> None:
    with pytest.raises(Refused, match=f"{word} was said by {kind}") as caught:
        closed(project, *GOOD, (kind, message))
    assert "record-review-blockers --goal-id G001" in caught.value.fix
    assert project.statuses()["G001"] == "active"


@pytest.mark.parametrize(("kind", "message", "word"), UNCLEAN.values(), ids=UNCLEAN)
def test_a_clean_word_after_the_work_was_mended_counts(project: Project, kind: str, message: str, word: str) -> None:
    receipt = closed(project, (kind, message), *GOOD)
    assert (receipt["independence"], receipt["notes"]) == ("full", [])


@pytest.mark.parametrize("message", ["", "CLEAR", "```json\n{\n```", "```json\n[1]\n```", "{" * 5000, "```\n" * 999])
def test_a_message_without_a_verdict_vouches_for_nothing(project: Project, message: str) -> None:
    receipt = closed(project, *GOOD, ("omo:qa", message))
    assert receipt["independence"] == "reduced"
