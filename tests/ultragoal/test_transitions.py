"""Every way a goal can go, and every way it cannot."""

from __future__ import annotations

import pytest

from omo.errors import Refused
from omo.ultragoal.plan import STATUSES, TRANSITIONS, Goal

EVENTS = ("start", "retry", "complete", "failed", "blocked", "review", "resolve", "split", "supersede", "revise")
# status: event → status; what is not here is refused
ALLOWED = {
    "pending": "start→active blocked→blocked split→superseded revise→pending",
    "active": "complete→complete failed→failed blocked→blocked review→review_blocked",
    "failed": "retry→active complete→complete failed→failed blocked→blocked review→review_blocked",
    "blocked": "retry→active blocked→blocked split→superseded supersede→superseded",
    "review_blocked": "retry→active review→review_blocked resolve→superseded supersede→superseded",
    "complete": "complete→complete review→review_blocked",
    "superseded": "",
}


def goal(status: str) -> Goal:
    return Goal("G001", "T", "O", "t", "t", status=status)


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("event", EVENTS)
def test_the_table(status: str, event: str) -> None:
    allowed = dict(one.split("→") for one in ALLOWED[status].split())
    if event in allowed:
        assert goal(status).move(event) == allowed[event]
        return
    with pytest.raises(Refused, match=f"G001 is {status}") as caught:
        goal(status).move(event)
    assert "omo ultragoal" in caught.value.fix


def test_every_status_and_event_is_in_the_table() -> None:
    assert set(TRANSITIONS) == set(STATUSES) == set(ALLOWED)
    used = {event for ways in TRANSITIONS.values() for event in ways}
    assert used == set(EVENTS)
    assert {after for ways in TRANSITIONS.values() for after in ways.values()} <= set(STATUSES)


@pytest.mark.parametrize("status", ["pending", "superseded", "active", "review_blocked", "", "Complete"])
def test_no_event_sets_a_status_by_its_name_alone(status: str) -> None:
    """A checkpoint cannot supersede a goal, put it back, or start it."""
    for before in STATUSES:
        with pytest.raises(Refused):
            goal(before).move(status)


def test_superseded_is_the_end_and_complete_is_left_only_by_findings() -> None:
    assert TRANSITIONS["superseded"] == {}
    assert set(TRANSITIONS["complete"].values()) == {"complete", "review_blocked"}
