"""What a round costs: which modules its commands load, how often they open a file, how many git processes they start.

Each command runs in an interpreter of its own that counts, first alone, then beside earlier runs of other sessions.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.cli import COUNTING
from tests.cli.test_packages import OF_WRITERS, loaded, modules_of
from tests.ralph.project import RALPH, Project, answer, criterion, judged_criterion, make_project

ROOT = Path(__file__).resolve().parents[2]
MOST_GIT = 10


def counted(made: Project, *argv: str) -> dict[str, Any]:
    """`opened` has every file below the state directory with how often it was opened."""
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": os.environ["HOME"],
        "CLAUDECODE": "1",
        "CLAUDE_CODE_SESSION_ID": "s1",
        "GIT_CONFIG_GLOBAL": os.devnull,
    }
    environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), *filter(None, sys.path)])
    command = [sys.executable, "-X", "utf8", "-c", COUNTING, "ralph", *argv]
    done = subprocess.run(command, cwd=made.root, env=environ, capture_output=True, text=True, check=True)
    counts: dict[str, Any] = json.loads(done.stdout.rstrip("\n").rpartition("\n")[2])
    return counts


def a_round(made: Project) -> dict[str, dict[str, Any]]:
    """What each of a round's commands costs, the work between them done."""
    costs = {}
    costs["status"] = counted(made, "status")
    made.now = 2_000_000_000.0  # after what the commands wrote, which is by the real clock
    made.work("done-1.txt")
    made.ask()
    made.says(answer("C1"))
    costs["artifacts"] = counted(made, "artifacts")
    costs["judge"] = counted(made, "judge")
    return costs


def begun(directory: Path) -> Project:
    made = make_project(directory)
    made.start(judged_criterion(1), criterion(2))
    return made


@pytest.mark.parametrize("verb", ["start", "status", "judge"])
def test_its_commands_load_none_of_the_rare_packages(project: Project, verb: str) -> None:
    project.prompt("ulw fix it")
    assert loaded(project, "ralph", verb) == set()


def test_a_look_loads_neither_filelock_nor_orjson(project: Project) -> None:
    project.prompt("ulw fix it")
    assert modules_of(project, "ralph", "status") & OF_WRITERS == set()


@pytest.mark.parametrize("earlier", [0, 200])
def test_a_round_costs_the_same_beside_any_number_of_earlier_runs(tmp_path: Path, earlier: int) -> None:
    made = begun(tmp_path)
    own = made.ledger().parent
    for number in range(earlier):
        shutil.copytree(own, RALPH.directory(made.state, f"r{1_600_000_000_000 + number}-{number:08x}"))
    costs = a_round(made)
    assert "judged" in made.kinds()
    assert [name for name, cost in costs.items() if cost["code"] not in (0, 3)] == []
    for name, cost in costs.items():
        assert {path for path in cost["opened"] if "/ralph/r" in path} <= {
            str(own / "ledger.jsonl"),
            str(own / "mark.json"),
        }
        assert cost["started"].count("git") <= MOST_GIT, name
    assert set(costs["status"]["opened"].values()) == {1}
    assert set(costs["artifacts"]["opened"].values()) == {1}
    # The session's row is read to find the run, and twice more under its locks to be written.
    assert max(costs["judge"]["opened"].values()) <= 3, costs["judge"]["opened"]


def test_looking_loads_nothing_that_reads_documents(tmp_path: Path) -> None:
    made = begun(tmp_path)
    made.judged(C1="pass")
    for name in ("status", "artifacts"):
        assert {"pydantic", "yaml"}.isdisjoint(counted(made, name)["loaded"]), name
