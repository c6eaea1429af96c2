"""Taking over the plan of another session."""

from __future__ import annotations

import shutil

import pytest

from omo.errors import BadInput, OmoError, Refused
from omo.state import runtime
from omo.ultragoal import lifecycle, summary
from omo.ultragoal.plan import Plan
from tests.ultragoal.gates import valid_gate
from tests.ultragoal.workshop import ONE, THREE, Workshop


def theirs(shop: Workshop) -> Workshop:
    """Another session of the same project, at work on a plan."""
    other = Workshop(shop.root, session="other", now=shop.now)
    other.create(THREE)
    other.hand_out()
    other.complete("G001")
    summary.publish_status(other.run())
    shop.now = other.now
    return other


def adopt(shop: Workshop, source: str = "other", by: str = "agent") -> Plan:
    return lifecycle.adopt(shop.caller(by), source).require_plan()


# From another session


def test_a_plan_moves_with_its_goals_and_receipts_and_says_from_where(shop: Workshop) -> None:
    other = theirs(shop)
    receipt = other.receipt("G001")
    shop.now += 3600
    plan = adopt(shop)
    assert {goal.id: goal.status for goal in plan.goals} == {"G001": "complete", "G002": "active", "G003": "pending"}
    assert (plan.session, shop.kinds()[-1]) == (shop.session, "adopted")
    assert shop.rows()[-1]["from"] == "other"
    assert (shop.receipt("G001"), shop.stale("G001")) == (receipt, "")
    assert shop.run().problems == []
    assert (shop.tool() is not None, other.tool()) == (True, None), "the session's goal goes along"
    shop.finish()
    assert shop.final() == "G003"


def test_no_two_sessions_own_one_plan(shop: Workshop) -> None:
    other = theirs(shop)
    shop.now += 3600
    adopt(shop)
    assert not other.directory.exists()
    assert other.run().plan is None
    assert other.run().problems == []
    assert other.told() == {}
    row = runtime.session(shop.state, "other")
    assert row is not None
    with pytest.raises(OmoError):
        adopt(Workshop(shop.root, session="third", now=shop.now))


def test_the_agent_takes_no_plan_from_a_session_at_work(shop: Workshop) -> None:
    other = theirs(shop)
    before = other.files()
    with pytest.raises(Refused, match="was at work") as caught:
        adopt(shop)
    assert "adopt --from other" in caught.value.fix
    assert other.files() == before
    assert not shop.directory.exists()
    shop.now += 15 * 60
    assert adopt(shop).session == shop.session


def test_the_user_takes_it_at_once(shop: Workshop) -> None:
    theirs(shop)
    assert adopt(shop, by="user").session == shop.session


def test_a_session_that_was_cancelled_or_waits_is_no_longer_at_work(shop: Workshop) -> None:
    other = theirs(shop)
    other.set_back("G002", "blocked")
    other.hand_out()
    other.set_back("G003", "blocked")
    for name in ("G002", "G003"):
        other.classify(goal=name)
    summary.publish_status(other.run())
    shop.now = other.now
    assert adopt(shop).session == shop.session


def test_an_own_plan_with_open_goals_stands_in_the_way(shop: Workshop) -> None:
    other = theirs(shop)
    shop.create(ONE)
    before = other.files()
    with shop.refused("1 open goal", "omo state clear --mode ultragoal --force"):
        adopt(shop, by="user")
    assert other.files() == before
    shop.finish()
    assert len(adopt(shop, by="user").goals) == 3
    assert len(list(shop.directory.parent.glob("ultragoal.archived-*"))) == 1


def test_a_session_whose_own_plan_was_removed_adopts_none_over_it(shop: Workshop) -> None:
    other = theirs(shop)
    shop.create(ONE)
    summary.publish_status(shop.run())
    shutil.rmtree(shop.directory)
    before = other.files()
    with pytest.raises(Refused, match="changed by hand"):
        adopt(shop, by="user")
    assert other.files() == before


@pytest.mark.parametrize("source", ["nobody", "", "../other", "/", ".", "no/such/place"])
def test_a_source_that_is_none_is_named_with_those_that_are(shop: Workshop, source: str) -> None:
    theirs(shop)
    with pytest.raises(OmoError) as caught:
        adopt(shop, source, by="user")
    assert caught.value.fix
    assert not shop.ledger.exists()


def test_the_sessions_with_a_plan_are_listed(shop: Workshop) -> None:
    theirs(shop)
    with pytest.raises(BadInput, match="'nobody'") as caught:
        adopt(shop, "nobody")
    assert "other" in caught.value.fix


def test_a_session_adopts_nothing_from_itself(shop: Workshop) -> None:
    shop.create(ONE)
    with shop.refused("its own plan"):
        adopt(shop, shop.session)


def test_a_plan_adopted_just_before_a_crash_says_so_with_the_next_change(shop: Workshop) -> None:
    other = theirs(shop)
    shop.directory.parent.mkdir(parents=True, exist_ok=True)
    other.directory.rename(shop.directory)
    shop.steer("annotate_ledger")
    assert shop.kinds()[-2:] == ["adopted", "steering_accepted"]
    assert shop.plan().session == shop.session


def test_a_cleared_session_leaves_no_plan_to_adopt_and_one_given_a_new_id_takes_it_along(shop: Workshop) -> None:
    other = theirs(shop)
    runtime.move_session(shop.state, "other", shop.session, now=shop.now, wait=5)
    assert shop.run().problems == []
    assert shop.statuses()["G002"] == "active"
    shop.complete("G002", gate=valid_gate(shop.root, "G002"))
    assert "adopted" in shop.kinds()
    assert shop.rows()[shop.receipt("G002")["checkpointLedgerRow"] - 1]["goalId"] == "G002"
    assert other.run().plan is None
    lifecycle.clear(shop.caller("user"), force=True)
    with pytest.raises(OmoError):
        adopt(Workshop(shop.root, session="third", now=shop.now), shop.session)
