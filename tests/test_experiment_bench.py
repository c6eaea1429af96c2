"""The experiment makes no run of the gate that it does not need: two stories of bench/experiment.py, counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.experiment import STORIES, Honest, played
from bench.truth import is_here
from omo.work.outcome import PROVEN

RUNS = {"red and green seen": (2, 0), "a test added": (3, 3)}  # in the whole story, and beyond the agent's own
COUNTED = [which for which in STORIES if which.name in RUNS]


@pytest.mark.parametrize("which", COUNTED, ids=lambda which: which.name)
def test_no_run_is_made_that_is_not_needed(which: Honest, tmp_path: Path) -> None:
    if not is_here("make"):
        pytest.skip("make is not here")
    cost = played(which, tmp_path)
    assert cost.word == PROVEN, "\n".join(cost.log)
    assert (cost.runs, cost.extra) == RUNS[which.name], "\n".join(cost.log)


def test_the_stories_are_there() -> None:
    assert sorted(which.name for which in COUNTED) == sorted(RUNS)
