"""Blockers: who can remove one, and the goals that resolve what a review found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from omo.errors import BadInput, Refused
from omo.ultragoal import steering
from omo.ultragoal.checkpoint import MOST_OPEN_BLOCKERS as MOST_OPEN
from omo.ultragoal.checkpoint import classify, record_review_blockers
from tests.ultragoal.workshop import THREE, WHY, Workshop, make

NEEDED = "the user has to enter the production key"


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    shop = make(tmp_path / "a b")
    shop.create(THREE)
    return shop


# classify-blocker


@pytest.mark.parametrize(("classification", "allows"), [("human_blocked", True), ("resolvable", False)])
def test_only_what_a_person_has_to_do_allows_a_pause(shop: Workshop, classification: str, allows: bool) -> None:
    shop.hand_out()
    row = classify(shop.run(), classification, evidence=f"  {NEEDED} ", goal_id="G001")
    assert row == {
        "kind": "blocker_classified",
        "classification": classification,
        "evidence": NEEDED,
        "goalId": "G001",
    }
    assert shop.plan().is_human_blocked is allows
    assert shop.statuses() == {"G001": "active", "G002": "pending", "G003": "pending"}


def test_a_classification_holds_until_the_next_row(shop: Workshop) -> None:
    shop.hand_out()
    shop.classify()
    assert shop.plan().is_human_blocked
    shop.steer("annotate_ledger")
    assert not shop.plan().is_human_blocked


def test_the_same_classification_again_is_the_same_row(shop: Workshop) -> None:
    shop.hand_out()
    shop.classify(goal="G001")
    before = shop.rows()
    shop.classify(goal="G001")
    assert shop.rows() == before
    shop.classify(goal="G002")
    assert len(shop.rows()) == len(before) + 1


@pytest.mark.parametrize("classification", ["", "blocked", "HUMAN_BLOCKED", "human"])
def test_there_are_two_classifications(shop: Workshop, classification: str) -> None:
    with shop.refused("--classification", "human_blocked, resolvable", kind=BadInput):
        classify(shop.run(), classification, evidence=NEEDED)


@pytest.mark.parametrize("evidence", [None, "", "   ", "stuck", "a\0 key is missing", "x" * 20_001])
def test_a_classification_needs_words_that_say_something(shop: Workshop, evidence: str | None) -> None:
    with shop.refused("--evidence", kind=BadInput):
        classify(shop.run(), "human_blocked", evidence=evidence)


def test_a_goal_that_is_not_there_cannot_be_classified(shop: Workshop) -> None:
    with shop.refused("there is no goal 'G009'", kind=BadInput):
        classify(shop.run(), "resolvable", evidence=NEEDED, goal_id="G009")


def test_a_closed_goal_is_no_reason_to_pause(shop: Workshop) -> None:
    shop.hand_out()
    shop.complete("G001")
    with shop.refused("G001 is closed"):
        classify(shop.run(), "human_blocked", evidence=NEEDED, goal_id="G001")
    classify(shop.run(), "resolvable", evidence=NEEDED, goal_id="G001")


def test_a_finished_plan_waits_for_nobody(shop: Workshop) -> None:
    shop.finish()
    with shop.refused("every goal is closed"):
        classify(shop.run(), "human_blocked", evidence=NEEDED)


def test_a_classification_stales_no_receipt(shop: Workshop) -> None:
    shop.finish()
    final = shop.final()
    classify(shop.run(), "resolvable", evidence=NEEDED)
    assert shop.final() == final == "G003"


def test_without_a_plan_there_is_nothing_to_classify(tmp_path: Path) -> None:
    shop = make(tmp_path / "a b")
    with pytest.raises(Refused, match="no ultragoal plan"):
        shop.classify()


# record-review-blockers


def test_a_finding_becomes_a_goal_and_the_reviewed_one_waits_for_it(shop: Workshop) -> None:
    shop.hand_out()
    done = record_review_blockers(
        shop.run(), "G001", objective=" Bad rows are refused. ", evidence=" src/a.py:7 ", title="Mend  it"
    )
    assert not done.deduplicated
    assert (done.parent.status, done.parent.evidence) == ("review_blocked", "src/a.py:7")
    assert (done.goal.id, done.goal.title, done.goal.status) == ("G004", "Mend it", "pending")
    assert done.goal.objective == "Bad rows are refused."
    assert done.goal.steering == {"kind": "review_blocker", "blockedGoalId": "G001", "evidence": "src/a.py:7"}
    row = shop.rows()[-1]
    assert (row["kind"], row["goalId"], row["blockerGoalIds"]) == ("review_blockers_recorded", "G001", ["G004"])


MAY_BE_REVIEWED = {
    "pending": False,
    "active": True,
    "failed": True,
    "blocked": False,
    "review_blocked": True,
    "complete": True,
    "superseded": False,
}


@pytest.mark.parametrize(("status", "allowed"), MAY_BE_REVIEWED.items())
def test_what_was_worked_on_can_be_reviewed(shop: Workshop, status: str, allowed: bool) -> None:
    from tests.ultragoal.test_steering import bring

    bring(shop, status)
    if allowed:
        assert shop.review("G001", "Another finding.").parent.status == "review_blocked"
    else:
        with shop.refused(f"G001 is {status}: review is not possible"):
            shop.review("G001")


def test_a_finding_on_a_complete_goal_takes_its_receipt_away(shop: Workshop) -> None:
    shop.finish()
    assert shop.final() == "G003"
    shop.review("G002")
    assert shop.goal("G002").receipt is None
    assert shop.final() is None


def test_with_its_last_blocker_the_reviewed_goal_is_superseded(shop: Workshop) -> None:
    shop.hand_out()
    first, second = shop.review("G001", "First finding.").goal.id, shop.review("G001", "Second finding.").goal.id
    for name in ("G002", "G003", first):
        assert shop.hand_out() == shop.goal(name)
        shop.complete(name)
    assert shop.statuses()["G001"] == "review_blocked"
    shop.complete(second)
    assert shop.statuses()["G001"] == "superseded"
    assert shop.final() == second


@pytest.mark.parametrize("again", ["Bad rows are refused.", " bad  ROWS are\nrefused. "])
def test_the_same_finding_twice_is_one_goal(shop: Workshop, again: str) -> None:
    shop.hand_out()
    first = shop.review("G001", "Bad rows are refused.")
    shop.review("G001", "Another finding.")
    before = shop.files()
    done = shop.review("G001", again)
    assert (done.goal.id, done.deduplicated) == (first.goal.id, True)
    assert shop.files() == before


def test_the_same_finding_on_another_goal_is_another_goal(shop: Workshop) -> None:
    shop.hand_out()
    first = shop.review("G001").goal.id
    assert shop.hand_out() == shop.goal("G002")
    assert shop.review("G002").goal.id != first


def test_a_finding_that_comes_back_after_it_was_resolved_is_a_new_goal(shop: Workshop) -> None:
    shop.hand_out()
    blocker = shop.review("G001").goal.id
    for name in ("G002", "G003", blocker):
        shop.hand_out()
        shop.complete(name)
    again = shop.review("G003", "The parser must refuse bad rows.")
    assert (again.goal.id, again.deduplicated) == ("G005", False)


def test_a_goal_has_at_most_three_open_blockers(shop: Workshop) -> None:
    shop.hand_out()
    names = [shop.review("G001", f"Finding {number}.").goal.id for number in range(MOST_OPEN)]
    with shop.refused("G001 has 3 open blockers", ", ".join(names)):
        shop.review("G001", "One more.")
    assert shop.review("G001", "Finding 0.").deduplicated


def test_a_closed_blocker_makes_room(shop: Workshop) -> None:
    shop.hand_out()
    names = [shop.review("G001", f"Finding {number}.").goal.id for number in range(MOST_OPEN)]
    for name in ("G002", "G003", names[0]):
        shop.hand_out()
        shop.complete(name)
    assert not shop.review("G001", "One more.").deduplicated


def test_a_blocker_may_itself_be_reviewed(shop: Workshop) -> None:
    shop.hand_out()
    blocker = shop.review("G001").goal.id
    for name in ("G002", "G003"):
        shop.hand_out()
        shop.complete(name)
    assert shop.hand_out() == shop.goal(blocker)
    assert shop.review(blocker, "Its test cannot fail.").goal.blocks == blocker


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"objective": None}, "--objective is missing"),
        ({"objective": " "}, "--objective is blank"),
        ({"objective": "x" * 10_001}, "--objective has 10001"),
        ({"evidence": None}, "--evidence is missing"),
        ({"evidence": "\n"}, "--evidence is blank"),
        ({"title": " "}, "--title is blank"),
        ({"title": "x" * 81}, "--title has 81"),
    ],
)
def test_a_finding_needs_its_words(shop: Workshop, options: dict[str, Any], why: str) -> None:
    shop.hand_out()
    given: dict[str, Any] = {"objective": "It works.", "evidence": "it does not", "title": None, **options}
    with shop.refused(why, kind=BadInput):
        record_review_blockers(shop.run(), "G001", **given)


def test_every_missing_word_is_named_at_once(shop: Workshop) -> None:
    shop.hand_out()
    with shop.refused("--objective is missing", "--evidence is blank", "--title is blank", kind=BadInput):
        record_review_blockers(shop.run(), "G001", objective=None, evidence="", title="")


def test_a_goal_that_is_passed_along_has_to_be_the_sessions(shop: Workshop) -> None:
    shop.hand_out()
    words = {"objective": "It works.", "evidence": "it does not", "title": None}
    live = shop.tool()
    assert live is not None
    with shop.refused("--goal-json does not show"):
        record_review_blockers(shop.run(), "G001", **words, goal_json={**live.render(), "objective": "Another one."})
    done = record_review_blockers(shop.run(), "G001", **words, goal_json={"goal": live.render()})
    assert done.goal.id == "G004"


def test_a_blocker_whose_blocker_is_superseded_lets_its_parent_be_tried_again(shop: Workshop) -> None:
    """There is always a way on, whatever became of the goals that were to resolve a review."""
    shop.hand_out()
    blocker = shop.review("G001").goal.id
    for name in ("G002", "G003"):
        shop.hand_out()
        shop.complete(name)
    shop.hand_out()
    shop.set_back(blocker, "blocked")
    steering.steer(shop.run(), steering.Attempt(kind="mark_blocked_superseded", goal_id=blocker, **WHY))
    assert shop.hand_out(retry_blocked=True) == shop.goal("G001")
