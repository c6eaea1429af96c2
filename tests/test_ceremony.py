"""The jobs of bench/ceremony.py end as they should, and ask no more of the agent than is said of them."""

from __future__ import annotations

from pathlib import Path

import pytest

import bench.jobs  # noqa: F401, its modules register the jobs
from bench.ceremony import BEFORE, JOBS, Job, Session
from tests.stories.play import make_project

MOST_FOR_A_GOAL = 10
GOALS = 3


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.workflow)
def test_a_job_ends_as_it_should_and_asks_little(job: Job, tmp_path: Path) -> None:
    session = Session(make_project(tmp_path))
    job.play(session)
    asked, before = session.asked, BEFORE[job.workflow]
    assert asked.commands <= before.commands * 0.7
    assert asked.values * 3 <= before.values
    assert asked.tokens <= before.tokens * 0.4
    if job.workflow == "ultragoal":
        assert asked.values <= MOST_FOR_A_GOAL * GOALS
