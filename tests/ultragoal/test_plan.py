"""A plan is what its ledger tells: folded, shown, and read back."""

from __future__ import annotations

from typing import Any

import pytest

from omo.errors import BadInput, Unreadable
from omo.workflows.ultragoal import plan as plans
from omo.workflows.ultragoal.plan import Plan, fold

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


def told(*rows: Any) -> Plan:
    later = ({**row, "seq": at, "ts": f"t{at}"} for at, row in enumerate(rows, start=2))
    rows_of_all: list[Any] = [CREATED, *later]
    found = fold(rows_of_all)
    assert found is not None
    return found


def started(name: str) -> Row:
    return {"kind": "goal_started", "goalId": name}


def closed(name: str, status: str = "complete", **more: Any) -> Row:
    return {"kind": "goal_checkpointed", "goalId": name, "status": status, "evidence": "seen", **more}


def steered(mutation: str, **more: Any) -> Row:
    return {"kind": "steering_accepted", "mutation": mutation, "evidence": "e", "rationale": "r", **more}


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
        {"kind": "steering_accepted"},
        {"kind": "steering_accepted", "mutation": "revise_pending_wording", "goalId": "G001", "previous": "Parse"},
        {"kind": "review_blockers_recorded", "goalId": "G001", "evidence": "e", "goals": 3},
        {**CREATED, "goals": None},
    ],
)
def test_a_row_that_is_not_of_its_kind_is_named_and_nothing_is_guessed(row: Row) -> None:
    with pytest.raises(Unreadable, match="row 2 of the plan's ledger"):
        told(row)


@pytest.mark.parametrize(("typed", "hint"), [("g1", "G001"), ("G0001", "there are G001"), ("foo", "G001, G002")])
def test_a_goal_that_is_not_there_is_answered_with_those_that_are(typed: str, hint: str) -> None:
    with pytest.raises(BadInput, match="no goal") as caught:
        told().goal(typed)
    assert hint in caught.value.fix
