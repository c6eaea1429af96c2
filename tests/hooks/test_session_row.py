"""What a session's row keeps of its gates when a run is cancelled, taken back or ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from omo import settings
from omo.work import outcome, session

NOW = 1_771_780_801.0
LIMITS = settings.Settings().limits
AT = "2026-02-22T17:20:05.000Z"
ENDED = outcome.outcome("attested", "it is done")
Row = Any


def armed(row: Row | None = None, now: float = NOW, pinned: int = 0) -> Row:
    return session.arm(row, by="user", limits=LIMITS, now=now, pinned=pinned)


def cancelled(row: Row | None) -> Row:
    return session.cancel(row, reason="user: cancel", now=NOW + 1)


def with_two_gates() -> Row:
    """One of them passed."""
    return session.with_gates(armed(), failing=[], not_run=["lint"], total=2)


ENDS: dict[str, Callable[[Row], Row]] = {
    "cancelled": cancelled,
    "cancelled twice": lambda row: cancelled(cancelled(row)),
    "taken back": session.withdraw,
    "taken back, then cancelled": lambda row: cancelled(session.withdraw(row)),
    "cancelled, armed, taken back": lambda row: session.withdraw(armed(cancelled(row))),
    "done": lambda row: session.finish(row, ENDED, at=AT, files={}),
    "exhausted": lambda row: session.exhaust(row, rule="cap", why="8 blocks"),
}


@pytest.mark.parametrize("end", ENDS)
def test_a_new_run_has_every_pinned_gate_open(end: str) -> None:
    again = armed(ENDS[end](with_two_gates()), now=NOW + 9, pinned=2)
    told = again["work"]["ulw"]
    assert (told["state"], told["open"], told["total"]) == ("active", 2, 2)
    assert told["run"] != armed()["work"]["ulw"]["run"]


def test_a_run_that_goes_on_has_its_gates_as_they_were() -> None:
    told = armed(with_two_gates(), now=NOW + 9, pinned=2)["work"]["ulw"]
    assert (told["run"], told["open"], told["total"], told["next"]) == ("u1771780801000", 1, 2, "lint")


def test_an_end_has_its_moment_until_the_work_goes_on() -> None:
    row = session.finish(armed(), ENDED, at=AT, files={})
    assert (row["work"]["ulw"]["at"], row["work"]["ulw"]["outcome"]) == (AT, ENDED)
    again = armed(row, now=NOW + 9)["work"]["ulw"]
    assert "at" not in again
    assert "outcome" not in again


def test_a_workflow_that_proves_its_end_later_is_told_although_a_forged_one_was() -> None:
    forged: Any = {"run": "rows", "state": "ended", "outcome": ENDED, "told": True, "unvouched": True}
    fresh: Any = {"run": "rows", "state": "ended", "outcome": ENDED}
    row: Any = {**armed(), "work": {"ultraplan": forged}}
    assert session.kept_state(row, "ultraplan", fresh) == fresh


def changed(summary: Any, **changes: Any) -> Any:
    return {**summary, **changes}


def test_an_end_that_was_not_told_is_carried_by_the_run_in_its_place() -> None:
    old: Any = {"run": "rows", "state": "ended", "outcome": ENDED}
    new: Any = {"run": "columns", "state": "active"}
    carried: Any = session.with_earlier(old, new)
    assert carried == {**new, "earlier": ENDED}
    assert session.with_earlier(carried, changed(new, state="ended"))["earlier"] == ENDED
    assert session.with_earlier(changed(old, told=True), new) == new
    assert session.with_earlier(changed(old, run="columns"), new) == new, "it goes on, and has not ended"
    edited = session.with_earlier(changed(new, earlier="nothing"), new)["earlier"]
    assert edited["verdict"] == outcome.ENDED
