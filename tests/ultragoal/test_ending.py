"""The word that a user reads of a plan of goals: never better than what its ledger and the hooks know."""

from __future__ import annotations

import json

import pytest

from omo.errors import Refused
from omo.hooks import messages
from omo.state import runtime
from omo.ultragoal import goal_tool, lifecycle, steering, summary
from tests.ultragoal.workshop import CLEAN, ONE, TWO, Workshop


def told(shop: Workshop) -> str:
    """At Stop."""
    summary.publish_status(shop.run())
    row = runtime.session(shop.state, shop.session) or {}
    return messages.release("done", row, row, {})


def exceptions(shop: Workshop) -> list[tuple[str, str]]:
    told(shop)
    return [(one["what"], one["by"]) for one in shop.told()["outcome"]["exceptions"]]


def test_goals_that_both_reviewers_were_seen_to_find_clean_are_judged(shop: Workshop) -> None:
    shop.judged(TWO)
    assert told(shop) == (
        f"omo: done, judged: ultragoal {shop.plan().run}: 2 of 2 goals complete; "
        "omo:architect and omo:qa were seen to find each clean. `omo report` shows the evidence."
    )
    closing = [row for row in shop.rows() if row["kind"] == "goal_checkpointed"][-1]
    assert closing["outcome"] == shop.told()["outcome"] == shop.plan().outcome


def test_goals_that_nobody_reviewed_say_so(shop: Workshop) -> None:
    shop.create(TWO)
    shop.finish()
    goal_tool.complete(shop.run())
    assert told(shop) == (
        f"omo: finished on the agent's word: ultragoal {shop.plan().run}: 2 of 2 goals complete; reduced "
        "independence, no verdict of omo:architect or omo:qa was seen for G001, G002."
    )


@pytest.mark.parametrize("message", ["ok", "", "My verdict: BLOCK. REQUEST CHANGES."])
def test_a_reviewer_without_a_readable_verdict_judged_nothing(shop: Workshop, message: str) -> None:
    shop.judged(architect=message)
    assert shop.receipt("G001")["independence"] == "reduced"
    assert told(shop).startswith("omo: finished on the agent's word: ")
    assert "no verdict of omo:architect was seen for G001" in told(shop)


def test_a_block_that_a_hook_saw_closes_nothing(shop: Workshop) -> None:
    blocked, failed = {**CLEAN["omo:architect"], "codeStatus": "BLOCK"}, {"e2eStatus": "failed"}
    with pytest.raises(Refused) as caught:
        shop.judged(architect=json.dumps(blocked), qa=json.dumps(failed))
    defects = str(caught.value.details["defects"])
    assert "BLOCK was said by omo:architect" in defects
    assert "failed was said by omo:qa" in defects


def test_one_goal_nobody_saw_reviewed_is_enough(shop: Workshop) -> None:
    shop.create(TWO)
    shop.hand_out()
    shop.reviewed()
    shop.complete("G001")
    shop.complete("G002")
    goal_tool.complete(shop.run())
    assert told(shop).startswith("omo: finished on the agent's word: ")


def test_a_plan_thrown_away_by_force_is_an_exception(shop: Workshop) -> None:
    before = shop.create(TWO).run
    finish_again(shop)
    assert exceptions(shop) == [(f"plan {before} was given up with 2 open goals", "agent")]
    assert told(shop).startswith("omo: ended with exceptions: plan g")


def finish_again(shop: Workshop) -> None:
    shop.create("@goal: Note\nWrite a note.", force=True)
    shop.hand_out()
    shop.reviewed()
    shop.complete("G001")
    goal_tool.complete(shop.run())


def test_a_plan_thrown_away_twice_is_still_known(shop: Workshop) -> None:
    first = shop.create(TWO).run
    second = shop.create("@goal: Between\nDo a little.", force=True).run
    finish_again(shop)
    assert [what for what, _ in exceptions(shop)] == [
        f"plan {first} was given up with 2 open goals",
        f"plan {second} was given up with 1 open goal",
    ]


def test_a_plan_cleared_away_and_replaced_before_the_user_saw_it_is_an_exception(shop: Workshop) -> None:
    before = shop.create(TWO).run
    summary.publish_status(shop.run())
    lifecycle.clear(shop.caller(), force=True)
    finish_again(shop)
    assert exceptions(shop) == [(f"plan {before} was given up with 2 open goals", "agent")]


def test_a_goal_closed_by_the_blocker_of_its_review_had_nothing_shown_for_it(shop: Workshop) -> None:
    shop.create(ONE)
    shop.hand_out()
    shop.review("G001", "The help text has no typo.")
    while (goal := shop.hand_out()) is not None:
        shop.reviewed()
        shop.complete(goal.id)
    goal_tool.complete(shop.run())
    assert exceptions(shop) == [("G001 was closed with nothing shown for it: Parse", "agent")]
    assert "(by the agent: G002 resolved what its review had found)" in told(shop)


def reworded(shop: Workshop, by: str) -> None:
    shop.create(TWO)
    attempt = steering.Attempt(
        kind="revise_pending_wording",
        goal_id="G002",
        title="Write a note",
        objective="A note is there.",
        evidence="seen",
        rationale="it is less",
    )
    steering.steer(shop.run(by), attempt)
    while (goal := shop.hand_out()) is not None:
        shop.reviewed()
        shop.complete(goal.id)
    goal_tool.complete(shop.run())


def test_a_goal_reworded_by_the_agent_is_an_exception(shop: Workshop) -> None:
    reworded(shop, "agent")
    (what, by), *_ = exceptions(shop)
    assert what == "G002 was reworded: 'Check' (Check each row.) became 'Write a note' (A note is there.)"
    assert by == "agent"


def test_what_the_user_reworded_lowers_nothing(shop: Workshop) -> None:
    reworded(shop, "user")
    assert told(shop).startswith("omo: done, judged: ")


def test_a_goal_dropped_by_the_agent_is_an_exception(shop: Workshop) -> None:
    shop.create(TWO)
    shop.hand_out()
    shop.set_back("G001", "blocked")
    shop.supersede("G001")
    shop.finish()
    goal_tool.complete(shop.run())
    assert exceptions(shop) == [("G001 was dropped: Parse", "agent")]


def test_goals_that_are_closed_without_the_end_of_the_plan_are_not_done(shop: Workshop) -> None:
    shop.create(ONE)
    shop.hand_out()
    shop.reviewed()
    shop.complete("G001")
    assert told(shop).startswith("omo: ended, not proven: ")
    assert "open is: All ultragoal goals are complete: omo goal complete" in told(shop)


def test_a_final_receipt_that_is_missing_is_not_done(shop: Workshop) -> None:
    shop.create(TWO)
    shop.hand_out()
    shop.set_back("G001", "blocked")
    shop.hand_out()
    shop.complete("G002")
    shop.supersede("G001")
    assert told(shop).startswith("omo: ended, not proven: ")
    assert "no fresh final receipt" in shop.told()["outcome"]["why"]


def test_a_plan_that_goes_on_has_no_outcome(shop: Workshop) -> None:
    shop.judged()
    shop.add()
    assert shop.plan().outcome is None
    summary.publish_status(shop.run())
    assert "outcome" not in shop.told()
