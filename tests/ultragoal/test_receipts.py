"""Receipts: which kind is issued, what makes one stale, what never does, and how a stale one is issued again."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from omo.errors import OmoError
from omo.ultragoal import goal_tool, receipts
from tests.ultragoal.workshop import ONE, THREE, TWO, Workshop


def started(shop: Workshop, text: str = TWO) -> Workshop:
    shop.create(text)
    shop.hand_out()
    return shop


def finished(shop: Workshop, text: str = TWO) -> Workshop:
    started(shop, text).finish()
    return shop


def rejected(shop: Workshop) -> None:
    with pytest.raises(OmoError):
        shop.steer("revise_pending_wording", goal_id="G001", title="Other")
    assert shop.kinds()[-1] == "steering_rejected"


def resumed(shop: Workshop) -> None:
    shop.classify()
    goal_tool.pause(shop.run())
    goal_tool.resume(shop.run())
    assert shop.kinds()[-1] == "goal_resumed"


BOOKKEEPING: dict[str, Callable[[Workshop], object]] = {
    "a note": lambda shop: shop.steer("annotate_ledger"),
    "a note about the goal": lambda shop: shop.steer("annotate_ledger", goal_id="G001"),
    "a refused attempt": rejected,
    "a resolvable blocker": lambda shop: shop.classify("resolvable"),
    "a resolvable blocker of the goal": lambda shop: shop.classify("resolvable", goal="G001"),
}
OF_OTHERS: dict[str, Callable[[Workshop], object]] = {
    **BOOKKEEPING,
    "another goal starts and fails": lambda shop: shop.set_back("G002", "failed"),
    "another goal is added": lambda shop: shop.add(),
    "the pending ones are put in another order": lambda shop: (
        shop.add(),
        shop.steer("reorder_pending", order='["G004", "G003"]'),
    ),
    "a person is needed": lambda shop: shop.classify(),
    "a pause and its end": resumed,
    "another goal is reviewed": lambda shop: shop.review("G002"),
    "another goal is complete": lambda shop: shop.complete("G002"),
}


@pytest.mark.parametrize("happens", OF_OTHERS.values(), ids=OF_OTHERS)
def test_nothing_that_leaves_the_goal_alone_stales_its_receipt(
    shop: Workshop, happens: Callable[[Workshop], object]
) -> None:
    started(shop, THREE).complete("G001")
    before = shop.receipt("G001")
    happens(shop)
    assert shop.stale("G001") == ""
    assert shop.receipt("G001") == before


@pytest.mark.parametrize("happens", BOOKKEEPING.values(), ids=BOOKKEEPING)
def test_bookkeeping_never_stales_the_final_receipt(shop: Workshop, happens: Callable[[Workshop], object]) -> None:
    finished(shop)
    happens(shop)
    assert shop.final() == "G002"
    assert shop.step().action == "complete-goal"
    assert goal_tool.complete(shop.run()).changed


def test_a_receipt_says_what_it_covers(shop: Workshop) -> None:
    finished(shop)
    first, last = shop.receipt("G001"), shop.receipt("G002")
    assert (first["receiptKind"], last["receiptKind"]) == ("per-goal", "final-aggregate")
    assert "covers" not in first
    assert last["covers"] == {"G001": first["receiptId"], "G002": last["receiptId"]}
    assert last["planGeneration"] == receipts.canonical_digest(last["basis"])
    assert last["verifiedAt"] == shop.goal("G002").updated_at == shop.goal("G002").completed_at
    row = shop.rows()[last["checkpointLedgerRow"] - 1]
    assert row["completionVerification"] == last


def test_the_order_of_keys_and_blanks_changes_no_digest() -> None:
    left, right = {"a": [1, {"b": "ü", "c": None}], "d": True}, {"d": True, "a": [1, {"c": None, "b": "ü"}]}
    assert receipts.canonical_digest(left) == receipts.canonical_digest(json.loads(json.dumps(right, indent=7)))
    assert receipts.canonical_digest([1, 2]) != receipts.canonical_digest([2, 1])


def test_findings_reopen_a_complete_goal_and_take_its_receipt(shop: Workshop) -> None:
    finished(shop)
    blocker = shop.review("G001").goal.id
    assert (shop.goal("G001").status, shop.goal("G001").receipt) == ("review_blocked", None)
    assert shop.final() is None
    shop.hand_out()
    shop.complete(blocker)
    assert shop.final() == blocker
    assert shop.statuses() == {"G001": "superseded", "G002": "complete", blocker: "complete"}


def test_a_goal_added_after_the_end_stales_the_final_receipt_and_its_completion_issues_a_new_one(
    shop: Workshop,
) -> None:
    finished(shop)
    added = shop.add()
    assert shop.final() is None
    assert (shop.stale("G001"), shop.stale("G002")) == ("", ""), "each still proves its own goal"
    shop.hand_out()
    shop.complete(added)
    assert shop.final() == added
    assert shop.receipt(added)["receiptKind"] == "final-aggregate"
    assert goal_tool.complete(shop.run()).changed


def test_completing_an_early_goal_again_mints_no_final_receipt_while_others_are_open(shop: Workshop) -> None:
    started(shop, THREE).complete("G001")
    shop.complete("G001", "seen once more")
    assert shop.receipt("G001")["receiptKind"] == "per-goal"
    shop.finish()
    assert shop.final() == "G003"


def test_completing_an_early_goal_again_at_the_end_moves_the_final_receipt_to_it(shop: Workshop) -> None:
    finished(shop, THREE)
    shop.complete("G001", "seen once more")
    assert shop.final() == "G001"
    assert set(shop.receipt("G001")["covers"]) == {"G001", "G002", "G003"}
    shop.complete("G002", "and this one")
    assert shop.final() == "G002"
    assert goal_tool.complete(shop.run()).changed


@pytest.mark.parametrize("last", ["G001", "G003"])
def test_a_blocked_goal_superseded_at_the_end_leaves_a_way_to_the_final_receipt(shop: Workshop, last: str) -> None:
    """The last open goal was completed while another was blocked: an identical replay issues what is missing."""
    started(shop, THREE).complete("G001")
    shop.set_back("G002", "blocked")
    shop.hand_out()
    shop.complete("G003")
    assert shop.receipt("G003")["receiptKind"] == "per-goal"
    shop.supersede("G002")
    assert (shop.final(), shop.plan().open_goals) == (None, [])
    step = shop.step()
    assert (step.action, step.item) == ("verify-again", "G003")
    assert "checkpoint --goal-id G003 --status complete" in step.command
    assert shop.complete(last).changed, "the same words and the same gate"
    assert shop.final() == last
    before = shop.files()
    assert not shop.complete(last).changed
    assert shop.files() == before


@pytest.mark.parametrize(
    ("harm", "said"),
    [(lambda path: path.unlink(), "is gone"), (lambda path: path.write_text("{}"), "was edited")],
    ids=["deleted", "edited"],
)
def test_a_receipt_whose_gate_is_gone_or_edited_is_stale_and_can_be_issued_again(
    shop: Workshop, harm: Callable[[object], object], said: str
) -> None:
    finished(shop)
    harm(shop.directory / "gates" / f"{shop.receipt('G001')['qualityGateHash']}.json")
    assert said in shop.stale("G001")
    assert shop.final() is None
    step = shop.step()
    assert (step.action, step.item) == ("verify-again", "G001")
    with pytest.raises(OmoError, match="no fresh receipt"):
        goal_tool.complete(shop.run())
    assert shop.complete("G001").changed
    assert shop.final() == "G001"


def test_a_final_receipt_needs_every_other_receipt_fresh(shop: Workshop) -> None:
    finished(shop, THREE)
    (shop.directory / "gates" / f"{shop.receipt('G001')['qualityGateHash']}.json").unlink()
    shop.complete("G003", "seen once more")
    assert shop.receipt("G003")["receiptKind"] == "final-aggregate"
    assert shop.final() is None, "what it covers is not all proven"


def test_a_superseded_goal_needs_no_receipt(shop: Workshop) -> None:
    started(shop).set_back("G001", "blocked")
    shop.supersede("G001")
    shop.finish()
    assert set(shop.receipt("G002")["covers"]) == {"G002"}
    assert shop.final() == "G002"


def test_a_per_story_plan_needs_a_receipt_for_each_and_no_final_one(shop: Workshop) -> None:
    shop.create(TWO, mode="per-story")
    while (goal := shop.hand_out()) is not None:
        if shop.step().action == "complete-goal":
            assert shop.step().command == "omo goal complete, then omo goal create"
            goal_tool.complete(shop.run())
            goal_tool.create(shop.run())
        shop.complete(goal.id)
    assert shop.final() is None
    assert shop.plan().open_goals == []
    assert shop.step().action == "complete-goal"
    assert goal_tool.complete(shop.run()).changed
    assert shop.step().action == "done"


def test_a_receipt_outlives_a_new_start_of_another_goal(shop: Workshop) -> None:
    started(shop, THREE).complete("G001")
    assert shop.goal("G002").status == "active"
    shop.set_back("G002", "failed")
    shop.hand_out()
    shop.set_back("G003", "blocked")
    shop.hand_out(retry_failed=True)
    assert shop.stale("G001") == ""


def test_what_is_not_complete_has_no_receipt_to_speak_of(shop: Workshop) -> None:
    started(shop, ONE)
    assert shop.stale("G001") == "G001 is active"
