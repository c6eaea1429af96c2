"""A brief becomes a plan; the plan that was there before is never overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from omo.workflows.ultragoal import create
from omo.workflows.ultragoal.brief import parse
from omo.workflows.ultragoal.run import ULTRAGOAL
from tests.ultragoal.project import ONE, Project


def archived(project: Project) -> list[Path]:
    return sorted(Path(ULTRAGOAL.home(project.state)).glob("g*.archived-*"))


@pytest.mark.parametrize("rubbish", [b"", b"garbage\n", b'{"seq": 1}\n'])
def test_the_users_force_gets_past_a_ledger_nobody_can_read(project: Project, rubbish: bytes) -> None:
    project.create()
    project.ledger.write_bytes(rubbish)
    create.create_goals(project.run("user"), parse(ONE), mode="aggregate", force=True)
    assert project.statuses() == {"G001": "pending"}
    assert (archived(project)[0] / "ledger.jsonl").read_bytes() == rubbish


def test_a_plan_too_long_to_be_kept_is_refused_before_the_old_one_is_put_aside(project: Project) -> None:
    project.create(ONE)
    text = "\n".join(f"@goal: G{n}\n{'x' * 9000}" for n in range(20))
    with project.refused("bytes", "in files of the project"):
        project.create(text, force=True)
    assert archived(project) == []
