"""Blockers: who can remove one, and the goals that resolve what a review found."""

from __future__ import annotations

import json

import pytest

from omo.errors import BadInput
from omo.workflows.ultragoal.goals import classify, record_review_blockers
from tests.ultragoal.project import THREE, Project, make

NEEDED = "the user has to enter the production key"


@pytest.fixture
def project() -> Project:
    return make().begin(THREE)


# classify-blocker


@pytest.mark.parametrize("evidence", ["", "   ", "stuck", "a\0 key is missing"])
def test_a_classification_needs_words_that_say_something(project: Project, evidence: str) -> None:
    with project.refused("--evidence", kind=BadInput):
        classify(project.run(), "human_blocked", evidence=evidence)


def test_a_closed_goal_is_no_reason_to_pause(project: Project) -> None:
    project.complete("G001")
    with project.refused("G001 is closed"):
        classify(project.run(), "human_blocked", evidence=NEEDED, goal_id="G001")
    row = classify(project.run(), "resolvable", evidence=f"  {NEEDED} ", goal_id="G001")
    assert row["evidence"] == NEEDED
    assert project.set_back("G002", "blocked")
    rows = len(project.rows())
    assert not project.set_back("G002", "blocked"), "the plan says so already"
    assert len(project.rows()) == rows
    classify(project.run(), "human_blocked", evidence=NEEDED, goal_id="G003")
    assert [goal.human_blocked for goal in project.plan().goals] == ["", "", NEEDED]


# record-review-blockers


def test_a_finding_becomes_a_goal_and_the_reviewed_one_waits_for_it(project: Project) -> None:
    done = record_review_blockers(
        project.run(), "G001", objective=" Refuse bad. ", evidence=" src/a.py:7 ", title="Mend  it"
    )
    assert not done.deduplicated
    assert (done.parent.status, done.parent.evidence) == ("review_blocked", "src/a.py:7")
    assert (done.goal.id, done.goal.title, done.goal.status) == ("G004", "Mend it", "pending")
    assert done.goal.objective == "Refuse bad."
    assert done.goal.steering == {"kind": "review_blocker", "blockedGoalId": "G001", "evidence": "src/a.py:7"}
    row = project.rows()[-1]
    assert (row["kind"], row["goalId"]) == ("review_blockers_recorded", "G001")


@pytest.mark.parametrize("following", [["G001", "G002"], ["G002", "G003"]])
def test_a_goal_whose_review_is_satisfied_comes_next_unless_it_waits(project: Project, following: list[str]) -> None:
    blocker = project.review("G001").goal.id
    project.steer("reorder_pending", order=json.dumps([blocker, "G002", "G003"]))
    if "G001" not in following:
        project.classify(goal="G001")
    project.hand_out()
    assert f"blocked by {blocker}" in project.agent("ultragoal", "status").out
    assert project.complete(blocker).started == following[0]
    assert project.complete(following[0]).started == following[1]
