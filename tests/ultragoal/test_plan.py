"""A plan is what its ledger tells: folded, shown, and read back."""

from __future__ import annotations

from typing import Any

import pytest

from omo.engine.case import fold
from omo.errors import Unreadable
from omo.workflows.ultragoal import plan as plans
from omo.workflows.ultragoal.flow import FLOW

CREATED: Any = {
    "seq": 1,
    "ts": "2026-02-22T17:20:01.000Z",
    "kind": "plan_created",
    "run": "g1",
    "session": "s1",
    "brief": "@goal: A\n@goal: B\n@goal: C",
    "constraints": "",
    "goalMode": "aggregate",
    "objective": plans.POINTER,
    "root": "/p",
    "items": [{"id": f"G00{n}", "description": f"T{n}", "checks": [], "text": f"O{n}"} for n in (1, 2, 3)],
}


@pytest.mark.parametrize(
    "row",
    [
        {"kind": "goal_started", "goalId": "G009"},
        {"kind": "goal_started"},
        {"kind": "goal_checkpointed", "goalId": "G001"},
        {"kind": "goal_checkpointed", "goalId": "G001", "status": "done", "evidence": "seen"},
        {"kind": "steering_accepted"},
        {"kind": "steering_accepted", "mutation": "revise_pending_wording", "goalId": "G001", "previous": "Parse"},
        {"kind": "review_blockers_recorded", "goalId": "G001", "evidence": "e", "goals": 3},
        {**CREATED, "items": None},
    ],
)
def test_a_row_that_is_not_of_its_kind_is_named_and_nothing_is_guessed(row: Any) -> None:
    with pytest.raises(Unreadable, match="a row nobody can read"):
        fold(FLOW, [CREATED, row | {"seq": 2, "ts": "t2"}], "g1")
