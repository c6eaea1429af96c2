"""Streaks: one pure step, exact at its boundary, and one row that carries all of it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omo.clock import stamp
from omo.engine.filed import HOUR, Streak
from omo.errors import Refused
from omo.work import bound
from omo.workflows.verify import finish
from omo.workflows.verify.forms import parse_goal
from tests.verify.workshop import Workshop, checks, path_check

LAST = 1_771_780_801.25
hours = st.floats(min_value=0.01, max_value=10_000, allow_nan=False)
counts = st.integers(min_value=0, max_value=10**6)


@pytest.mark.parametrize(
    ("given_hours", "days", "expected"),
    [(None, None, 24), (6.0, None, 6), (6.0, 2.0, 6), (None, 2.0, 48), (None, 0.5, 12)],
)
def test_the_interval_is_hours_else_days_else_a_day(
    given_hours: float | None, days: float | None, expected: float
) -> None:
    goal = {"id": "G1", "title": "Parser handles quotes", "interval_hours": given_hours, "remind_days": days}
    assert parse_goal({**goal, "recurring": True}, "goal.json").every == expected * HOUR


@pytest.mark.parametrize(
    ("last", "now", "expected"),
    [
        (None, LAST, 5),
        (LAST, LAST + 24 * HOUR, 5),
        (LAST, LAST + 48 * HOUR, 5),
        (LAST, LAST + 48 * HOUR + 0.002, 1),
        (LAST, LAST + 1000 * HOUR, 1),
    ],
)
def test_twice_the_interval_continues_and_a_moment_more_does_not(last: float | None, now: float, expected: int) -> None:
    after = Streak(4, 9, 20, last).achieved(24 * HOUR, now)
    assert (after.current, after.longest, after.count, after.last) == (expected, 9, 21, now)


@given(hours, counts, counts)
def test_the_boundary_is_exact_for_every_interval(interval: float, current: int, longest: int) -> None:
    before = Streak(current, max(current, longest), current, LAST)
    every = interval * HOUR
    assert before.achieved(every, LAST + 2 * every).current == current + 1
    assert before.achieved(every, LAST + 2 * every + 0.01).current == 1
    assert before.is_due(every, LAST + every)
    assert not before.is_due(every, LAST + every - 0.01)


@given(st.lists(st.floats(min_value=0, max_value=100, allow_nan=False), max_size=40), hours)
def test_the_longest_is_the_most_there_ever_was(gaps: list[float], interval: float) -> None:
    streak, now, seen = Streak(), LAST, [0]
    for gap in gaps:
        now += gap * HOUR
        streak = streak.achieved(interval * HOUR, now)
        seen.append(streak.current)
    assert streak.longest == max(seen)
    assert streak.count == len(gaps)


def recurring(shop: Workshop, **fields: Any) -> None:
    shop.add(recurring=True, interval_hours=6, **checks(path_check()), **fields)
    shop.work()


def test_of_many_who_finish_at_once_one_is_counted(shop: Workshop) -> None:
    recurring(shop)
    shop.begin()
    shop.tick()

    def try_once(_: int) -> int:
        try:
            finish.finish(shop.goals, "G1", summary="parser.py splits quoted text")
        except Refused:
            return 0
        return 1

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(try_once, range(16))) == 1
    streak = shop.goal().streak
    assert (streak["current"], streak["longest"], streak["count"]) == (1, 1, 1)
    assert streak["lastAchievedAt"] == stamp(shop.now)
    assert shop.goals.damage_lines == []


def take_back(shop: Workshop) -> None:
    """Files were changed after the end of G1, and before a Stop told it."""
    summary = shop.publish("G1")["work"]["verify"]
    bound.reopen(shop.state, "verify", summary, actor="hook", now=shop.now, wait=5)


def test_an_end_that_is_taken_back_takes_its_streak_with_it(shop: Workshop) -> None:
    recurring(shop)
    for current in (1, 2):
        shop.tick(7 * HOUR)
        shop.begin()
        shop.finish()
        assert shop.goal().streak["current"] == current
    take_back(shop)
    goal = shop.goal()
    assert (goal.status, goal.streak["current"], goal.count) == ("in-progress", 1, 1)
    assert shop.finish().verdict == "pass"
    assert shop.goal().streak["current"] == 2


def test_what_waits_for_an_end_that_is_taken_back_is_blocked_again(shop: Workshop) -> None:
    shop.add(**checks(path_check()))
    shop.add(id="G2", blocked_by="G1")
    shop.begin()
    shop.work()
    assert shop.finish().unblocked == ["G2"]
    take_back(shop)
    assert shop.goal("G2").blocked_by == ["G1"]
    with pytest.raises(Refused, match="G2 is blocked by G1"):
        shop.begin("G2")
    assert shop.finish().unblocked == ["G2"]
