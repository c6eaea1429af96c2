"""A workflow without rounds, whose rows have names of their own and change its items while the run is open."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

from omo.engine.case import Case, CaseItem, CaseRow, fold
from omo.engine.flow import Flow, ItemMark, ItemStatus
from omo.engine.runs import summarize
from omo.errors import Unreadable
from omo.work.status import NextStep


@dataclass
class Trip(Case):
    """Stops of a trip: each is reached by itself, and others are added on the way."""

    @property
    def waits(self) -> CaseRow | None:
        resting = [row for row in self.rows if row["kind"] == "rested"]
        return {"why": "it rains", "question": "Go on?", "pauses": True} if resting else None

    def read_row(self, row: Any) -> None:
        match row["kind"]:
            case "reached":
                self.move(row["stop"], "pass")
            case "detour":
                self.add([CaseItem(row["stop"], "a detour", [])], row["after"])
            case "turned":
                self.reorder(row["order"])
            case "renamed":
                self.reword(row["stop"], description=row["name"])


def turn(mark: ItemMark, result: str, iteration: int) -> ItemMark:
    return replace(mark, status="THERE", last_pass_iteration=iteration)


TRIP = Flow(
    name="trip",
    unit="stop",
    prefix="t",
    read=lambda path: [],
    turn=turn,
    statuses=(ItemStatus("AHEAD", "open", "Ahead"), ItemStatus("THERE", "done", "There")),
    begins_as="AHEAD",
    has_rounds=False,
    started_row="set_out",
    ended_row="arrived",
    case=Trip,
)
STOPS: Any = [{"id": name, "description": name, "checks": []} for name in ("A", "B", "C")]
SET_OUT: Any = {"kind": "set_out", "run": "t1", "ts": "2026-03-01T10:00:00.000Z", "session": "s", "root": "/p"}
BEGUN: Any = {**SET_OUT, "items": STOPS}
ARRIVED = {"kind": "arrived", "how": "pass", "ts": "2026-03-01T11:00:00.000Z", "outcome": {"verdict": "judged"}}
STEP = NextStep("go", "A is next")


def folded(*rows: Any) -> Case:
    case = fold(TRIP, [BEGUN, *rows], "t1")
    assert case is not None
    return case


def names(case: Case) -> list[str]:
    return [item.id for item in case.items]


def test_a_run_without_rounds_is_open_from_its_first_row_to_its_end() -> None:
    assert folded().is_open
    assert not folded(ARRIVED).is_open
    told = summarize(folded({"kind": "reached", "stop": "A"}), STEP)
    assert (told["open"], told["total"], told["passed"]) == (2, 3, ["A"])
    assert "iteration" not in told


def test_items_are_added_reordered_and_reworded_by_rows() -> None:
    case = folded({"kind": "detour", "stop": "D", "after": "A"}, {"kind": "turned", "order": ["C", "B"]})
    assert (names(case), case.marks["D"].status) == (["A", "D", "C", "B"], "AHEAD")
    case = folded({"kind": "renamed", "stop": "B", "name": "the bridge"})
    assert [item.description for item in case.items] == ["A", "the bridge", "C"]


@pytest.mark.parametrize("row", [{"kind": "reached", "stop": "A"}, {"kind": "detour", "stop": "D", "after": ""}])
def test_what_changes_an_item_takes_the_end_back(row: Any) -> None:
    assert folded(ARRIVED, row).is_open
    assert summarize(folded(ARRIVED), STEP)["state"] == "ended"


def test_a_case_says_in_its_own_words_why_it_waits() -> None:
    told = summarize(folded({"kind": "rested"}), STEP)
    assert (told["state"], told["own"], told["why"], told["question"]) == ("paused", True, "it rains", "Go on?")


def test_the_ledger_of_another_run_is_not_read() -> None:
    with pytest.raises(Unreadable, match="it is the ledger of t1"):
        fold(TRIP, [BEGUN], "t2")
