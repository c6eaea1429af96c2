"""A plan is what its ledger tells: folded, shown, and read back."""

from __future__ import annotations

from typing import Any

import pytest

from omo.errors import Unreadable
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
