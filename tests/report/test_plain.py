"""The plain view: one fact a line, for pipes, logs and agents."""

from __future__ import annotations

import re

import pytest

from omo.views import lines
from omo.views.project import ProjectView
from tests.report import kept
from tests.report.states import SCENES, view

LINE = re.compile(r"(?:session |problem: |override: |Nothing is on|\d+ (?:more )?sessions? |  [a-z ]{1,10} +\S)")


def plain(view: ProjectView, *, everything: bool = False) -> str:
    return lines.plain(lines.project_lines(view, everything=everything))


@pytest.mark.parametrize("name", SCENES)
def test_the_view_is_the_one_that_was_looked_at(name: str) -> None:
    kept.agree(f"{name}-plain", kept.steady(plain(view(name))))


@pytest.mark.parametrize("name", SCENES)
def test_every_line_begins_with_what_it_is(name: str) -> None:
    for line in plain(view(name), everything=True).splitlines():
        assert LINE.match(line), line


def test_notes_of_what_is_done_come_with_everything() -> None:
    seen = view("ultraplan-missing-step")
    assert "note       1 commit" not in plain(seen)
    assert re.search(r"note       1 commit [0-9a-f]{12}", plain(seen, everything=True))
