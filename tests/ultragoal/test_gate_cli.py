"""`omo ultragoal gate init`, and what a checkpoint says of a gate that was handed in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.project import Project
from tests.ultragoal.gates import Gate

BRIEF = "@goal: Parse\nRead the files.\n@goal: Export\nWrite the report."


@pytest.fixture
def planned(shell: Project) -> Project:
    assert shell.agent("ultragoal", "create-goals", "--brief", BRIEF).code == 0
    assert shell.agent("ultragoal", "complete-goals").code == 0
    return shell


def checkpoint(shell: Project, gate: Gate) -> tuple[int, str]:
    """Of the goal under way."""
    ran = shell.agent("ultragoal", "checkpoint", "--evidence", "done", "--quality-gate-json", json.dumps(gate))
    return ran.code, ran.out + ran.err


def test_init_does_not_replace_a_gate(planned: Project) -> None:
    planned.write(".sisyphus/evidence/G001/gate.json", "half")
    path = planned.root / ".sisyphus/evidence/G001/gate.json"
    ran = planned.agent("ultragoal", "gate", "init")
    assert (ran.code, path.read_text()) == (3, "half")
    assert ran.says("ultragoal-fill-that-gate-in")


@pytest.mark.parametrize("link", [".sisyphus/evidence", ".sisyphus/evidence/G001"])
@pytest.mark.parametrize("target", ["outside", "own"])
def test_init_writes_inside_the_project_only(planned: Project, tmp_path: Path, link: str, target: str) -> None:
    away = tmp_path / "away" if target == "outside" else planned.root / ".sisyphus" / "cc-omo"
    away.mkdir(exist_ok=True)
    (planned.root / link).parent.mkdir(parents=True, exist_ok=True)
    (planned.root / link).symlink_to(away)
    assert planned.agent("ultragoal", "gate", "init").code == 3
    assert not list(away.rglob("gate.json"))
