"""A plan is what its ledger tells: folded, shown, and read back."""

from __future__ import annotations

from typing import Any

import pytest

from omo.errors import BadInput, Unreadable
from omo.ultragoal import plan as plans
from omo.ultragoal.plan import Plan, fold, render
from tests.ultragoal.workshop import THREE, Workshop

Row = dict[str, Any]

CREATED: Row = {
    "seq": 1,
    "ts": "2026-02-22T17:20:01.000Z",
    "kind": "plan_created",
    "run": "g1",
    "session": "s1",
    "brief": "@goal: A\n@goal: B\n@goal: C",
    "constraints": "",
    "goalMode": "aggregate",
    "objective": plans.POINTER,
    "repository": {"root": "/p"},
    "goals": [{"id": f"G00{n}", "title": f"T{n}", "objective": f"O{n}"} for n in (1, 2, 3)],
}


def told(*rows: Row) -> Plan:
    found = fold([CREATED, *({**row, "seq": at, "ts": f"t{at}"} for at, row in enumerate(rows, start=2))])
    assert found is not None
    return found


def started(name: str) -> Row:
    return {"kind": "goal_started", "goalId": name}


def closed(name: str, status: str = "complete", **more: Any) -> Row:
    return {"kind": "goal_checkpointed", "goalId": name, "status": status, "evidence": "seen", **more}


def steered(mutation: str, **more: Any) -> Row:
    return {"kind": "steering_accepted", "mutation": mutation, "evidence": "e", "rationale": "r", **more}


def statuses(plan: Plan) -> dict[str, str]:
    return {goal.id: goal.status for goal in plan.goals}


def test_without_rows_there_is_no_plan() -> None:
    assert fold([]) is None


def test_a_new_plan_has_pending_goals_in_the_order_of_the_brief() -> None:
    plan = told()
    assert statuses(plan) == {"G001": "pending", "G002": "pending", "G003": "pending"}
    assert (plan.seq, plan.last["kind"], plan.goal_mode) == (1, "plan_created", "aggregate")


def test_a_start_is_remembered_once() -> None:
    plan = told(started("G001"), closed("G001", "failed"), started("G001"))
    assert plan.goal("G001").started_at == "t2"
    assert plan.goal("G001").updated_at == "t4"
    assert plan.active is plan.goal("G001")


@pytest.mark.parametrize(
    ("row", "goals", "order"),
    [
        (
            steered("add_subgoal", goals=[{"id": "G004", "title": "T", "objective": "O"}]),
            {"G001": "active", "G002": "pending", "G003": "pending", "G004": "pending"},
            ["G001", "G002", "G003", "G004"],
        ),
        (
            steered(
                "split_subgoal",
                goalId="G002",
                replacementGoalIds=["G004", "G005"],
                goals=[{"id": name, "title": "T", "objective": "O"} for name in ("G004", "G005")],
            ),
            {"G001": "active", "G002": "superseded", "G003": "pending", "G004": "pending", "G005": "pending"},
            ["G001", "G002", "G004", "G005", "G003"],
        ),
        (
            steered("reorder_pending", pendingGoalIds=["G003", "G002"]),
            {"G001": "active", "G002": "pending", "G003": "pending"},
            ["G001", "G003", "G002"],
        ),
        (
            steered("annotate_ledger"),
            {"G001": "active", "G002": "pending", "G003": "pending"},
            ["G001", "G002", "G003"],
        ),
        (
            {"kind": "a_row_of_a_later_version"},
            {"G001": "active", "G002": "pending", "G003": "pending"},
            ["G001", "G002", "G003"],
        ),
    ],
)
def test_what_each_row_makes_of_a_plan(row: Row, goals: dict[str, str], order: list[str]) -> None:
    plan = told(started("G001"), row)
    assert statuses(plan) == goals
    assert [goal.id for goal in plan.goals] == order
    assert plan.last["kind"] == row["kind"]


def test_reordering_touches_no_goal() -> None:
    before, after = (
        told(started("G001")),
        told(started("G001"), steered("reorder_pending", pendingGoalIds=["G003", "G002"])),
    )
    assert sorted(render(before)["goals"], key=str) == sorted(render(after)["goals"], key=str)


def test_an_order_that_damage_left_half_true_loses_no_goal() -> None:
    """The row that started G003 was lost with the damage; the order was of the two others."""
    plan = told(steered("reorder_pending", pendingGoalIds=["G002", "G001"]))
    assert [goal.id for goal in plan.goals] == ["G002", "G001", "G003"]
    plan = told(started("G001"), steered("reorder_pending", pendingGoalIds=["G003", "G001"]))
    assert [goal.id for goal in plan.goals] == ["G001", "G003", "G002"]


def test_revised_wording_takes_the_place_of_the_old() -> None:
    plan = told(steered("revise_pending_wording", goalId="G002", objective="New", changedFields=["objective"]))
    assert (plan.goal("G002").title, plan.goal("G002").objective) == ("T2", "New")


def test_a_completed_blocker_supersedes_the_goal_it_was_recorded_for() -> None:
    blocker = {"id": "G004", "title": "T", "objective": "O", "steering": {"blockedGoalId": "G001"}}
    rows = [
        started("G001"),
        {"kind": "review_blockers_recorded", "goalId": "G001", "evidence": "e", "goals": [blocker]},
    ]
    plan = told(*rows)
    assert plan.goal("G001").status == "review_blocked"
    assert [goal.id for goal in plan.open_blockers_of("G001")] == ["G004"]
    assert plan.stuck == [], "it waits for its blocker, so it is not tried again by itself"
    plan = told(*rows, started("G004"), closed("G004", supersedes=["G001"], completionVerification={"receiptId": "r"}))
    assert plan.goal("G001").status == "superseded"
    assert "G004" in plan.goal("G001").evidence


def test_only_a_receipt_or_a_replacement_closes_a_goal() -> None:
    plan = told(started("G001"), closed("G001", completionVerification={"receiptId": "r"}), closed("G002"))
    assert [goal.id for goal in plan.open_goals] == ["G002", "G003"], "complete without a receipt is still open"
    assert [goal.id for goal in plan.required] == ["G001", "G002", "G003"]


def test_what_waits_for_a_person_is_kept_with_the_goal_until_it_moves() -> None:
    said = {"kind": "blocker_classified", "classification": "human_blocked", "evidence": "the key", "goalId": "G001"}
    plan = told(started("G001"), closed("G001", "blocked"), said)
    assert plan.goal("G001").human_blocked == "the key"
    assert plan.is_human_blocked
    later = told(started("G001"), closed("G001", "blocked"), said, steered("annotate_ledger"))
    assert not later.is_human_blocked, "it has to be the latest row"
    assert later.goal("G001").human_blocked == "the key"
    assert not told(started("G001"), closed("G001", "blocked"), said, started("G001")).goal("G001").human_blocked


def test_a_classification_for_no_goal_is_for_what_is_under_way_or_stuck() -> None:
    said = {"kind": "blocker_classified", "classification": "human_blocked", "evidence": "the key"}
    plan = told(started("G001"), closed("G001", "blocked"), started("G002"), said)
    assert [goal.id for goal in plan.goals if goal.human_blocked] == ["G001", "G002"]
    resolved = told(started("G001"), closed("G001", "blocked"), said, {**said, "classification": "resolvable"})
    assert not resolved.goal("G001").human_blocked


@pytest.mark.parametrize(
    "row",
    [
        started("G009"),
        {"kind": "goal_started"},
        {"kind": "goal_checkpointed", "goalId": "G001"},
        closed("G001", "done"),
        closed("G001", supersedes=["G009"]),
        {"kind": "steering_accepted"},
        {"kind": "review_blockers_recorded", "goalId": "G001", "evidence": "e", "goals": 3},
        {**CREATED, "goals": None},
    ],
)
def test_a_row_that_is_not_of_its_kind_is_named_and_nothing_is_guessed(row: Row) -> None:
    with pytest.raises(Unreadable, match="row 2 of the plan's ledger"):
        told(row)


def test_a_row_before_the_plan_is_refused() -> None:
    with pytest.raises(Unreadable, match="goal_started"):
        fold([{"seq": 1, "ts": "t", **started("G001")}])


@pytest.mark.parametrize(("typed", "hint"), [("g1", "G001"), ("G0001", "did you mean G001?"), ("foo", "G001, G002")])
def test_a_goal_that_is_not_there_is_answered_with_those_that_are(typed: str, hint: str) -> None:
    with pytest.raises(BadInput, match="no goal") as caught:
        told().goal(typed)
    assert hint in caught.value.fix


def test_ids_never_repeat() -> None:
    plan = told(steered("add_subgoal", goals=[{"id": "G007", "title": "T", "objective": "O"}]))
    assert plan.new_ids(2) == ["G008", "G009"]


def test_goals_json_shows_every_goal_with_its_receipt(shop: Workshop) -> None:
    shop.create(THREE)
    shop.hand_out()
    shop.complete("G001")
    shop.set_back("G002", "blocked")
    shop.classify()
    first, second, third = render(shop.plan())["goals"]
    assert first["completionVerification"]["goalId"] == "G001"
    assert (second["status"], bool(second["humanBlocked"])) == ("blocked", True)
    assert "completionVerification" not in third


def test_in_a_per_story_plan_the_storys_own_objective_counts_too() -> None:
    plan = told()
    assert plan.objectives_of(plan.goal("G001")) == [plans.POINTER]
    plan.goal_mode = "per-story"
    assert plan.objectives_of(plan.goal("G001")) == ["O1", plans.POINTER]
