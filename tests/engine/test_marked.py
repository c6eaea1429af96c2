"""Items that are seen one by one, outside of a judgement; runs that wait, and runs that go on after their end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from omo.engine.case import Case, CaseItem, fold
from omo.engine.flow import Flow, ItemMark, ItemStatus
from omo.engine.runs import summarize
from omo.errors import Unreadable
from omo.work.status import NextStep, command


def turn(mark: ItemMark, result: str, iteration: int) -> ItemMark:
    return replace(mark, status=result)


def read(path: Path) -> list[CaseItem]:
    return []


PARTS = Flow(
    name="parts",
    unit="part",
    prefix="x",
    read=read,
    turn=turn,
    statuses=(ItemStatus("OPEN", "open", "To do"), ItemStatus("DONE", "done", "Done"), ItemStatus("OUT", "cut", "Out")),
    begins_as="OPEN",
    goes_on=True,
)
ITEMS: Any = [{"id": name, "description": f"part {name}", "checks": []} for name in ("P1", "P2", "P3")]
STARTED = {"kind": "started", "ts": "2026-03-01T10:00:00.000Z", "session": "s1", "root": "/p", "items": ITEMS}
FENCE = {"touch": ["src/**"], "never": []}
ROUND = {"kind": "round", "iteration": 1, "ts": STARTED["ts"], "session_seq": 0, "session": "s1", "fence": FENCE}
WAITS = {"kind": "waits", "why": "git_push is missing", "asked": "Make it available, then:"}
FAILED = {"kind": "ended", "how": "failed", "actor": "agent", "asked": "Read the report;"}
STEP = NextStep("go", "P1 is next", (command("omo parts go"),))


def marked(**statuses: str) -> dict[str, Any]:
    return {"kind": "marked", "marks": {name: {"status": status} for name, status in statuses.items()}}


def folded(*rows: Any) -> Case:
    case = fold(PARTS, list(rows), "x1")
    assert case is not None
    return case


def test_only_what_was_seen_moves_and_what_is_left_out_does_not_count() -> None:
    case = folded(STARTED, ROUND, marked(P1="DONE"), marked(P2="OUT"))
    assert (case.passing, case.cut, case.marks["P3"].status) == (["P1"], ["P2"], "OPEN")
    told = summarize(case, STEP)
    assert (told["open"], told["total"], told["state"]) == (1, 2, "active")


def test_what_stands_against_a_run_holds_it_open_though_every_item_is_done() -> None:
    done = marked(P1="DONE", P2="DONE", P3="DONE")
    assert summarize(folded(STARTED, ROUND, done), STEP)["open"] == 0
    against = {**done, "against": ["infra/main.tf was changed"]}
    assert summarize(folded(STARTED, ROUND, against), STEP)["open"] == 1
    assert summarize(folded(STARTED, ROUND, against, {**done, "against": []}), STEP)["open"] == 0


def test_a_run_that_waits_for_its_first_round_never_began_and_asks_the_user() -> None:
    case = folded(STARTED, WAITS)
    assert not case.is_open
    told = summarize(case, STEP)
    assert (told["state"], told["why"]) == ("waiting", "git_push is missing")
    assert told["question"] == f"{WAITS['asked']} omo parts go"
    assert "fence" not in told
    assert fold(PARTS, [STARTED], "x1") is None  # type: ignore[list-item]


def test_a_round_ends_the_waiting_and_belongs_to_whoever_opens_it() -> None:
    case = folded(STARTED, ROUND, WAITS, {**ROUND, "iteration": 2, "session": "s2"})
    assert (case.is_open, case.waiting, case.round, case.session) == (True, None, 2, "s2")
    told = summarize(case, STEP)
    assert (told["state"], told["fence"]) == ("active", {**FENCE, "root": "/p"})


def test_a_run_that_can_go_on_is_woken_by_an_answer_and_a_round_takes_its_end_back() -> None:
    case = folded(STARTED, ROUND, FAILED)
    told = summarize(case, STEP)
    assert (told["state"], told["question"]) == ("waiting", f"{FAILED['asked']} omo parts go")
    assert {"own", "cleared", "outcome", "fence"}.isdisjoint(told)
    assert told["next"] == STEP.short
    assert folded(STARTED, ROUND, FAILED, {**ROUND, "iteration": 2}).is_open


def test_a_row_of_marks_without_marks_cannot_be_read() -> None:
    for row in ({"kind": "marked"}, {"kind": "marked", "marks": "P1"}, marked(P1="GREAT"), {"kind": "waits"}):
        with pytest.raises(Unreadable, match="a row nobody can read"):
            folded(STARTED, ROUND, row)
