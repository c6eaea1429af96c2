"""Whichever call of the system fails in a whole `omo ulw done`, or in a look for unchecked lines: nothing is lost or
unsaid, and the next one works."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project import Project
from tests.proof.faults import LEFT, LINES, OF_THE_GATE, SESSION, WORK
from tests.proof.test_swap import seen

ROOT = Path(__file__).resolve().parents[2]
EVERY = 20
PARTS = 2  # of the whole, for two workers
GATE = f"""
if test "$(tail -n 1 value)" = newer; then exit 0; fi
test ../edited -nt value || {{ : > ../edited; printf '{OF_THE_GATE.strip()}\\n' > value; }}
echo left > {LEFT}
exit 1
"""


def world(tmp_path: Path) -> Path:
    """Work that waits for `omo ulw done`: an edit, a new file in a new directory, one that is gone."""
    place = tmp_path / "world"
    (place / "home").mkdir(parents=True)
    project = Project(place / "project", session=SESSION)
    project.root.mkdir()
    os.environ["HOME"] = str(place / "home")
    project.git("init", "-q")
    project.write("value", "value\n")
    project.write("gone", "was here\n")
    project.write("check.sh", GATE)
    project.commit("base")
    project.prompt("ulw make the value newer")
    project.check("gate", "add", "tests", "--", "sh", "check.sh", by="user")
    project.write("value", WORK)
    project.write("new/deep/file", "new\n")
    (project.root / "gone").unlink()
    was = {name: repr(what) for name, what in seen(project.root).items()}
    (place / "was.json").write_text(json.dumps(was))
    return place


def world_of_lines(tmp_path: Path) -> Path:
    """A change of two hunks: tests fail without the first, and take no notice of the second."""
    place = tmp_path / "world"
    (place / "home").mkdir(parents=True)
    project = Project(place / "project", session=SESSION)
    project.root.mkdir()
    os.environ["HOME"] = str(place / "home")
    project.git("init", "-q")
    project.write("value", "value\n")
    project.write("check.sh", f'test "$(head -n 1 value)" = the-newer && exit 0\necho left > {LEFT}\nexit 1\n')
    project.commit("base")
    project.write("value", "the-newer\n")
    project.write("new/deep/file", "new\n")
    was = {name: repr(what) for name, what in seen(project.root).items()}
    (place / "was.json").write_text(json.dumps(was))
    return place


def failures(place: Path, mode: str, first: int, step: int, *what: str) -> list[str]:
    command = [sys.executable, "-m", "tests.proof.faults", str(place), mode, str(first), str(step), *what]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=environ)
    assert done.returncode == 0, done.stdout + done.stderr
    plays = [json.loads(line) for line in done.stdout.splitlines()]
    assert plays[-1]["failed"] == "", "the last one is played to its end"
    return [f"{play['number']} ({play['failed']}): {play['wrong']}\n{play['said']}" for play in plays if play["wrong"]]


@pytest.mark.parametrize("mode", ["once", "full"])
def test_every_twentieth_call_that_fails_loses_nothing(tmp_path: Path, mode: str) -> None:
    assert failures(world(tmp_path), mode, 1, EVERY) == []


@pytest.mark.long
@pytest.mark.parametrize("part", range(1, PARTS + 1))
@pytest.mark.parametrize("mode", ["once", "full"])
def test_whichever_call_fails_nothing_is_lost(tmp_path: Path, mode: str, part: int) -> None:
    assert failures(world(tmp_path), mode, part, PARTS) == []


@pytest.mark.parametrize("mode", ["once", "full"])
def test_every_twentieth_call_that_fails_in_a_look_for_lines_loses_nothing(tmp_path: Path, mode: str) -> None:
    assert failures(world_of_lines(tmp_path), mode, 1, EVERY, *LINES) == []


@pytest.mark.long
@pytest.mark.parametrize("mode", ["once", "full"])
def test_whichever_call_fails_in_a_look_for_lines_nothing_is_lost(tmp_path: Path, mode: str) -> None:
    assert failures(world_of_lines(tmp_path), mode, 1, 1, *LINES) == []
