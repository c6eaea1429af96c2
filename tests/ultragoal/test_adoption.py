"""Taking over a plan: from another session, and from the tool this one descends from."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from omo.errors import BadInput, OmoError, Refused
from omo.state import runtime
from omo.ultragoal import adoption, clearing, goal_tool, summary
from omo.ultragoal.checkpoint import checkpoint
from omo.ultragoal.plan import POINTER, Plan
from tests.ultragoal.gates import valid_gate
from tests.ultragoal.workshop import ONE, SEEN, THREE, Workshop, write_foreign

OLD = "Complete G001: Parse; G002: Check"
BRIEF = "Keep the API.\n@goal: Parse\nRead the file.\n@goal: Check\nCheck each row."


def theirs(shop: Workshop) -> Workshop:
    """Another session of the same project, at work on a plan."""
    other = Workshop(shop.root, session="other", now=shop.now)
    other.create(THREE)
    other.hand_out()
    other.complete("G001")
    summary.tell(other.run())
    shop.now = other.now
    return other


def adopt(shop: Workshop, source: str = "other", by: str = "agent") -> Plan:
    return adoption.adopt_from(shop.run(by), source, str(shop.root))


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
    assert shop.run().problems() == []
    goal_tool.create(shop.run())
    shop.finish()
    assert shop.final() == "G003"


def test_no_two_sessions_own_one_plan(shop: Workshop) -> None:
    other = theirs(shop)
    shop.now += 3600
    adopt(shop)
    assert not other.directory.exists()
    assert other.run().plan() is None
    assert other.run().problems() == []
    assert other.told() == {}
    row = runtime.session(shop.state, "other")
    assert row is not None
    with pytest.raises(OmoError):
        adopt(Workshop(shop.root, session="third", now=shop.now))


def test_the_agent_takes_no_plan_from_a_session_at_work(shop: Workshop) -> None:
    other = theirs(shop)
    before = other.files()
    with pytest.raises(Refused, match="was at work on its plan") as caught:
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
    summary.tell(other.run())
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
    summary.tell(shop.run())
    shutil.rmtree(shop.directory)
    before = other.files()
    with pytest.raises(Refused, match="is gone"):
        adopt(shop, by="user")
    assert other.files() == before


@pytest.mark.parametrize("source", ["nobody", "", "../other", "/", "no/such/place"])
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
    assert shop.run().problems() == []
    assert shop.statuses()["G002"] == "active"
    shop.complete("G002", gate=valid_gate(shop.root, "G002"))
    assert "adopted" in shop.kinds()
    assert shop.rows()[shop.receipt("G002")["checkpointLedgerRow"] - 1]["goalId"] == "G002"
    assert other.run().plan() is None
    clearing.clear(shop.run("user"), force=True)
    with pytest.raises(OmoError):
        adopt(Workshop(shop.root, session="third", now=shop.now), shop.session)


# From the tool this one descends from


def foreign_goal(number: int, status: str = "pending", **more: Any) -> dict[str, Any]:
    return {"id": f"G00{number}", "title": f"Title {number}", "objective": f"Do {number}.", "status": status, **more}


def foreign_plan(*goals: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "brief": BRIEF,
        "gjcGoalMode": "aggregate",
        "gjcObjective": OLD,
        "goals": list(goals) or [foreign_goal(1, "active"), foreign_goal(2)],
        "createdAt": "2026-01-01T00:00:00.000Z",
        "updatedAt": "2026-01-01T00:00:00.000Z",
        "state_revision": 3,
        **more,
    }


FOREIGN_ROW = {"eventId": "e1", "timestamp": "2026-01-01T00:00:00.000Z", "event": "plan_created", "goalIds": ["G001"]}


def in_place(shop: Workshop, *goals: dict[str, Any], **more: Any) -> Workshop:
    shop.put_foreign(foreign_plan(*goals, **more), FOREIGN_ROW, text=BRIEF)
    return shop


def everything(shop: Workshop) -> dict[str, bytes]:
    return {str(one): one.read_bytes() for one in Path(shop.state).rglob("*") if one.is_file()}


def test_looking_at_a_foreign_plan_shows_it_and_writes_nothing(shop: Workshop) -> None:
    in_place(shop)
    before = everything(shop)
    assert shop.statuses() == {"G001": "active", "G002": "pending"}
    assert (shop.plan().objective, shop.plan().aliases) == (POINTER, [OLD])
    assert shop.run().problems() == []
    step = shop.step()
    assert (step.action, step.command) == ("take-over", "omo ultragoal complete-goals")
    summary.tell(shop.run())
    assert everything(shop) == before


def refused_attempt(shop: Workshop) -> None:
    with pytest.raises(OmoError):
        shop.steer("reorder_pending")


FIRST: dict[str, Callable[[Workshop], object]] = {
    "handing out": lambda shop: shop.hand_out(),
    "a note": lambda shop: shop.steer("annotate_ledger"),
    "a setback": lambda shop: shop.set_back("G001", "failed"),
    "a refused attempt": refused_attempt,
}


@pytest.mark.parametrize("first", FIRST.values(), ids=FIRST)
def test_the_first_change_takes_it_over_and_keeps_the_originals(
    shop: Workshop, first: Callable[[Workshop], object]
) -> None:
    in_place(shop)
    originals = shop.files()
    first(shop)
    kept = {name: next(shop.directory.glob(f"{name}.taken-over-*")).read_bytes() for name in originals}
    assert kept == originals
    assert shop.kinds()[:2] == ["plan_created", "aggregate_objective_migrated"]
    assert (shop.rows()[1]["from"], shop.rows()[1]["to"]) == (OLD, POINTER)
    assert (shop.plan().objective, shop.plan().aliases) == (POINTER, [OLD])
    assert shop.run().problems() == []
    run = shop.plan().run
    shop.steer("annotate_ledger")
    assert shop.plan().run == run, "once taken over it stays the same run"


def test_a_foreign_plan_is_worked_to_its_end(shop: Workshop) -> None:
    in_place(shop)
    shop.hand_out()
    goal_tool.create(shop.run())
    shop.finish()
    assert shop.statuses() == {"G001": "complete", "G002": "complete"}
    assert shop.final() == "G002"
    assert goal_tool.complete(shop.run()).changed


def test_a_goal_with_the_old_objective_still_counts(shop: Workshop) -> None:
    in_place(shop)
    goal_tool.create(shop.run(), OLD)
    shop.hand_out()
    assert shop.step().action == "execute-goal"
    passed = {"goal": {"objective": OLD, "status": "active"}}
    gate = shop.gate("G001")
    done = checkpoint(shop.run(), "G001", status="complete", evidence=SEEN, goal_json=passed, gate=gate)
    assert done.changed
    shop.finish()
    assert goal_tool.complete(shop.run()).changed


def test_nothing_is_completed_before_it_is_taken_over(shop: Workshop) -> None:
    """Its goals would begin with every look, and no evidence could be younger."""
    in_place(shop)
    goal_tool.create(shop.run())
    with shop.refused("not taken over yet", "omo ultragoal complete-goals"):
        checkpoint(shop.run(), "G001", status="complete", evidence=SEEN, goal_json=None, gate=valid_gate(shop.root))


def test_what_another_tool_calls_complete_is_verified_here(shop: Workshop) -> None:
    receipt = {"receiptKind": "final-aggregate", "schemaVersion": 1, "goalId": "G001", "receiptId": "x"}
    in_place(shop, foreign_goal(1, "complete", evidence="done", completionVerification=receipt))
    shop.hand_out()
    goal_tool.create(shop.run())
    assert [goal.id for goal in shop.plan().open_goals] == ["G001"]
    assert shop.goal("G001").receipt is None
    step = shop.step()
    assert (step.action, step.goal) == ("verify-again", "G001")
    with pytest.raises(Refused, match="no fresh receipt"):
        goal_tool.complete(shop.run())
    shop.complete("G001")
    assert shop.final() == "G001"


def test_a_per_story_plan_keeps_its_own_objective(shop: Workshop) -> None:
    in_place(shop, gjcGoalMode="per-story", gjcObjective="Own words")
    shop.hand_out()
    assert (shop.plan().objective, shop.plan().goal_mode) == ("Own words", "per-story")
    assert "aggregate_objective_migrated" not in shop.kinds()


@pytest.mark.parametrize(
    "document",
    [
        {"gjcObjective": OLD, "goals": []},
        {"gjcObjective": OLD, "goals": "none"},
        {"gjcObjective": OLD, "goals": [foreign_goal(1), foreign_goal(1)]},
    ],
)
def test_a_defective_foreign_plan_is_shown_and_has_a_way_out(shop: Workshop, document: dict[str, Any]) -> None:
    shop.put_foreign(document)
    before = shop.files()
    assert shop.run().problems()
    step = shop.step()
    assert (step.action, step.command) == ("repair", "omo state clear --mode ultragoal --force")
    with pytest.raises(OmoError):
        shop.hand_out()
    with pytest.raises(OmoError, match="changed by hand"):
        shop.create(ONE)
    assert shop.files() == before
    shop.create(ONE, force=True)
    assert shop.statuses() == {"G001": "pending"}


def test_adopting_a_directory_does_the_same_and_leaves_it_alone(shop: Workshop) -> None:
    source = shop.root / ".gjc" / "_session-x" / "ultragoal"
    write_foreign(source, foreign_plan(), FOREIGN_ROW, text=BRIEF)
    before = {one.name: one.read_bytes() for one in source.iterdir()}
    plan = adopt(shop, ".gjc/_session-x/ultragoal")
    assert (plan.objective, plan.aliases, plan.session) == (POINTER, [OLD], shop.session)
    assert shop.kinds() == ["plan_created", "aggregate_objective_migrated"]
    assert {one.name: one.read_bytes() for one in source.iterdir()} == before
    assert json.loads(shop.goals_json.read_text())["goals"][0]["status"] == "active"
    goal_tool.create(shop.run())
    shop.finish()
    assert shop.final() == "G002"


def test_a_directory_outside_the_project_is_not_adopted_also_not_by_a_link(shop: Workshop, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    write_foreign(outside, foreign_plan(), FOREIGN_ROW, text=BRIEF)
    (shop.root / "link").symlink_to(outside)
    for source in (str(outside), "link", "../outside"):
        with pytest.raises(BadInput):
            adopt(shop, source)
    assert not shop.ledger.exists()


def test_a_copy_of_a_plan_of_ours_carries_no_receipts(shop: Workshop) -> None:
    other = theirs(shop)
    before = other.files()
    plan = adopt(shop, str(other.directory))
    assert [(goal.id, goal.status, goal.receipt) for goal in plan.goals] == [
        ("G001", "complete", None),
        ("G002", "active", None),
        ("G003", "pending", None),
    ]
    assert len(plan.open_goals) == 3, "what was proven there is proven anew here"
    assert other.files() == before
