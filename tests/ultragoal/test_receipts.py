"""Receipts: which kind is issued, what makes one stale, what never does, and how a stale one is issued again."""

from __future__ import annotations

import pytest

from omo.workflows.ultragoal import goal_tool
from tests.ultragoal.project import THREE, Project


def test_a_receipt_says_what_it_covers(project: Project) -> None:
    project.finished()
    first, last = project.receipt("G001"), project.receipt("G002")
    assert (first["receiptKind"], last["receiptKind"]) == ("per-goal", "final-aggregate")
    assert "covers" not in first
    assert last["covers"] == {"G001": first["receiptId"], "G002": last["receiptId"]}
    assert last["verifiedAt"] == project.goal("G002").updated_at == project.goal("G002").completed_at


def test_a_goal_added_after_the_end_stales_the_final_receipt_and_its_completion_issues_a_new_one(
    project: Project,
) -> None:
    project.finished()
    added = project.add()
    assert project.final() is None
    assert (project.stale("G001"), project.stale("G002")) == ("", ""), "each still proves its own goal"
    project.hand_out()
    project.complete(added)
    assert project.final() == added
    assert project.receipt(added)["receiptKind"] == "final-aggregate"
    goal, is_changed = goal_tool.operate("complete", project.run())
    assert (goal.status, is_changed) == ("complete", True)


@pytest.mark.parametrize("last", ["G001", "G003"])
def test_a_blocked_goal_superseded_at_the_end_leaves_a_way_to_the_final_receipt(project: Project, last: str) -> None:
    """The last open goal was completed while another was blocked: an identical replay issues what is missing."""
    project.begin(THREE).complete("G001")
    project.set_back("G002", "blocked")
    project.hand_out()
    project.complete("G003")
    assert project.receipt("G003")["receiptKind"] == "per-goal"
    project.supersede("G002")
    assert (project.final(), project.plan().open_goals) == (None, [])
    step = project.step()
    assert (step.action, step.item) == ("verify-again", "G003")
    assert "checkpoint --goal-id G003 --evidence TEXT" in step.command
    assert project.complete(last).changed, "the same words and the same gate"
    assert project.final() == last
    before = project.files()
    assert not project.complete(last).changed
    assert project.files() == before
