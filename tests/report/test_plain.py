"""The plain view: one fact a line, for pipes, logs and agents."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from omo.views import plain
from tests.report import kept
from tests.report.states import SCENES, scene, view

LINE = re.compile(r"(?:session |problem: |override by |Nothing is on|\d+ (?:more )?sessions? |  [a-z ]{1,10} +\S)")


@pytest.mark.parametrize("name", SCENES)
def test_the_view_is_the_one_that_was_looked_at(name: str) -> None:
    kept.agree(f"{name}-plain", kept.steady(plain.render(view(name))))


@pytest.mark.parametrize("name", SCENES)
def test_every_line_begins_with_what_it_is(name: str) -> None:
    for line in plain.render(view(name), everything=True).splitlines():
        assert LINE.match(line), line


def test_hostile_state_stays_on_its_lines() -> None:
    text = plain.render(view("hostile"), everything=True)
    assert {letter for letter in text if not letter.isprintable()} == {"\n"}
    assert max(map(len, text.splitlines())) < 2 * plain.LONGEST


def test_the_command_can_be_taken_from_its_line() -> None:
    lines = plain.render(view("ralph-regression")).splitlines()
    assert [line.split(maxsplit=1)[1] for line in lines if line.startswith("  command ")] == ["omo ralph judge"]


def test_notes_of_what_is_done_come_with_everything() -> None:
    seen = view("ultraplan-missing-step")
    assert "commit " not in plain.render(seen).replace("commits", "")
    assert re.search(r"note       1 commit [0-9a-f]{12}", plain.render(seen, everything=True))


def test_sessions_that_are_off_are_counted() -> None:
    later = replace(scene("several-sessions"), here="nobody")
    later.now += 20 * 24 * 3600
    assert plain.render(later.view()).splitlines()[-1] == "1 more session is off: omo status --all"
