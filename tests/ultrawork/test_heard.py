"""What is promised of prompts in many frames: no work is paused, no use is missed, no mention is taken for a use."""

from __future__ import annotations

import pytest

from omo.hooks.keyword import read_prompt
from tests.ultrawork import heard

MOST_LEFT_TO_THE_FACTS = 0.12  # of the stops: idioms, odd frames, languages that nobody promised


def read_as(listed: list[str], *actions: str) -> list[tuple[str, str]]:
    readings = [(prompt, read_prompt(prompt)) for prompt in listed]
    return [(prompt, reading.rule) for prompt, reading in readings if reading.action in actions]


def test_no_work_is_paused() -> None:
    assert read_as(heard.WORK, "pause", "cancel", "cancel-and-continue") == []


def test_no_use_is_missed() -> None:
    assert len(read_as(heard.USES, "activate")) == len(heard.USES)
    assert read_as(heard.USES, "none", "pause", "resume", "cancel", "cancel-and-continue") == []


def test_no_mention_is_taken_for_a_use() -> None:
    assert read_as(heard.MENTIONS, "activate", "pause", "cancel", "cancel-and-continue") == []


def test_most_stops_are_read_and_none_is_read_as_something_else() -> None:
    unread = read_as(heard.STOPS, "none")
    assert len(unread) <= MOST_LEFT_TO_THE_FACTS * len(heard.STOPS), unread
    assert read_as(heard.STOPS, "resume", "activate") == []


@pytest.mark.parametrize("listed", [heard.STOPS, heard.WORK, heard.USES, heard.MENTIONS])
def test_there_are_many_of_each(listed: list[str]) -> None:
    assert len(set(listed)) == len(listed) >= 150
