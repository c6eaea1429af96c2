"""A brief becomes a plan; the plan that was there before is never overwritten."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from omo.workflows.ultragoal import create
from omo.workflows.ultragoal.brief import parse
from omo.workflows.ultragoal.plan import POINTER
from omo.workflows.ultragoal.run import ULTRAGOAL
from tests.ultragoal.project import ONE, THREE, Project


def archived(project: Project) -> list[Path]:
    return sorted(Path(ULTRAGOAL.home(project.state)).glob("g*.archived-*"))


def test_the_ledger_is_the_truth_and_the_files_show_it(project: Project) -> None:
    project.create(THREE)
    shown = json.loads(project.goals_json.read_text(encoding="utf-8"))
    assert [(goal["id"], goal["title"], goal["status"]) for goal in shown["goals"]] == [
        ("G001", "Parse", "pending"),
        ("G002", "Check", "pending"),
        ("G003", "Write", "pending"),
    ]
    assert (shown["objective"], shown["goalMode"], shown["constraints"]) == (POINTER, "aggregate", "Keep the API.")
    assert (project.directory / "brief.md").read_text(encoding="utf-8") == THREE + "\n"
    assert project.kinds() == ["plan_created", "goal_created"]
    assert project.run().problems == []


@pytest.mark.parametrize("rubbish", [b"", b"garbage\n", b'{"seq": 1}\n'])
def test_the_users_force_gets_past_a_ledger_nobody_can_read(project: Project, rubbish: bytes) -> None:
    project.create()
    project.ledger.write_bytes(rubbish)
    for force in (False, True):
        with project.refused("not as omo wrote it", "the user runs"):
            project.create(ONE, force=force)
    create.create_goals(project.run("user"), parse(ONE), mode="aggregate", force=True)
    assert project.statuses() == {"G001": "pending"}
    assert (archived(project)[0] / "ledger.jsonl").read_bytes() == rubbish


def test_what_was_called_off_is_not_where_the_work_began(project: Project) -> None:
    project.prompt("/omo:ultragoal read the file")
    (project.root / "between.py").write_text("theirs\n", encoding="utf-8")
    project.note(kind="cancelled")
    for is_called_off in (False, True):
        project.prompt("/omo:ultragoal read the file")
        if is_called_off:
            project.note(kind="cancelled")
        assert "between.py" in project.create(ONE, force=True).repository["files"]["files"]


def test_a_plan_too_long_to_be_kept_is_refused_before_the_old_one_is_put_aside(project: Project) -> None:
    project.create(ONE)
    text = "\n".join(f"@goal: G{n}\n{'x' * 9000}" for n in range(20))
    with project.refused("bytes", "in files of the project"):
        project.create(text, force=True)
    assert archived(project) == []
