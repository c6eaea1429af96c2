"""Handing out goals: one at a time, in order, with everything needed to do it."""

from __future__ import annotations

import pytest

from omo.state import paths
from omo.state.journal import Journal
from omo.ultragoal import checkpoint
from tests.ultragoal.workshop import ONE, THREE, TWO, Workshop


def test_the_first_pending_goal_is_started_once(shop: Workshop) -> None:
    shop.create(THREE)
    assert [checkpoint.hand_out(shop.run()), checkpoint.hand_out(shop.run())] == [True, False]
    assert shop.statuses()["G001"] == "active"
    assert shop.kinds() == ["plan_created", "goal_started"]


def test_an_active_goal_writes_nothing(shop: Workshop) -> None:
    shop.create()
    shop.hand_out()
    before = shop.files()
    shop.hand_out(retry_failed=True, retry_blocked=True)
    assert shop.files() == before


@pytest.mark.parametrize("status", ["failed", "blocked"])
def test_no_two_goals_are_ever_active(shop: Workshop, status: str) -> None:
    shop.create(THREE)
    shop.hand_out()
    shop.set_back("G001", status)
    shop.hand_out()
    assert shop.statuses() == {"G001": status, "G002": "active", "G003": "pending"}
    shop.hand_out(retry_failed=True, retry_blocked=True)
    assert shop.statuses() == {"G001": status, "G002": "active", "G003": "pending"}


@pytest.mark.parametrize(
    ("status", "how", "starts"),
    [
        ("failed", {}, False),
        ("failed", {"retry_blocked": True}, False),
        ("failed", {"retry_failed": True}, True),
        ("blocked", {}, False),
        ("blocked", {"retry_failed": True}, False),
        ("blocked", {"retry_blocked": True}, True),
    ],
)
def test_what_failed_or_is_blocked_is_tried_again_only_when_asked_for(
    shop: Workshop, status: str, how: dict[str, bool], starts: bool
) -> None:
    shop.create(ONE)
    shop.hand_out()
    shop.set_back("G001", status)
    assert (shop.hand_out(**how) is not None) is starts
    assert shop.statuses() == {"G001": "active" if starts else status}


def test_a_retry_keeps_the_first_start_and_takes_back_what_waited_for_a_person(shop: Workshop) -> None:
    shop.create(ONE)
    shop.hand_out()
    begun = shop.goal("G001").started_at
    shop.set_back("G001", "blocked")
    shop.classify(goal="G001")
    shop.hand_out(retry_blocked=True)
    assert (shop.goal("G001").started_at, shop.goal("G001").human_blocked) == (begun, "")


def test_blocked_goals_are_skipped_and_hold_up_the_end(shop: Workshop) -> None:
    shop.create(TWO)
    shop.hand_out()
    shop.set_back("G001", "blocked")
    shop.finish()
    assert shop.statuses() == {"G001": "blocked", "G002": "complete"}
    assert [goal.id for goal in shop.plan().open_goals] == ["G001"]
    assert shop.final() is None


def test_superseded_goals_are_skipped_and_hold_up_nothing(shop: Workshop) -> None:
    shop.create(TWO)
    shop.hand_out()
    shop.set_back("G001", "blocked")
    shop.supersede("G001")
    shop.finish()
    assert shop.statuses() == {"G001": "superseded", "G002": "complete"}
    assert shop.final() == "G002"


def test_a_goal_whose_review_is_open_is_not_handed_out_before_its_blocker(shop: Workshop) -> None:
    shop.create(ONE)
    shop.hand_out()
    shop.review("G001")
    goal = shop.hand_out(retry_blocked=True)
    assert goal is not None
    assert goal.id == "G002"
    shop.set_back("G002", "failed")
    assert shop.hand_out(retry_blocked=True) is None, "its blocker failed and can be tried again; it cannot"
    assert shop.hand_out(retry_failed=True) is not None


def test_what_lies_in_the_tree_is_remembered_when_a_goal_begins(shop: Workshop) -> None:
    shop.root.joinpath("old.txt").write_text("from before")
    shop.create()
    shop.hand_out()
    rows = Journal(paths.evidence_dir(shop.state), shop.state).rows()
    assert [list(row["contents"]) for row in rows if row["kind"] == "seen"] == [["old.txt"]]


def test_the_background_tells_why_a_goal_came_to_be_and_what_went_wrong(shop: Workshop) -> None:
    shop.create(TWO)
    shop.hand_out()
    shop.set_back("G001", "failed", "the parser hangs on tabs")
    plan = shop.plan()
    assert checkpoint.background(plan, plan.goal("G001")) == ["last time: the parser hangs on tabs"]
    made = shop.review("G001").goal
    plan = shop.plan()
    (told,) = checkpoint.background(plan, plan.goal(made.id))
    assert "G001" in told
    assert "the review found bad rows" in told
    parts = '[{"title": "A", "objective": "a"}, {"title": "B", "objective": "b"}]'
    row = shop.steer("split_subgoal", goal_id="G002", replacements=parts)
    plan = shop.plan()
    assert checkpoint.background(plan, plan.goal(row["replacementGoalIds"][0])) == ["it is a part of G002"]
