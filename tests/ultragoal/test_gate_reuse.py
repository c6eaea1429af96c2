"""What a receipt keeps of a replay, and the ledger of evidence that receipts lean on."""

from __future__ import annotations

import copy
import json
import shutil
from typing import Any

import pytest

from omo.proof import artifacts
from omo.state import paths
from omo.workflows.ultrawork.gates import SessionGates
from tests.ultragoal.gates import add_surface, artifact, surface
from tests.ultragoal.project import ONE, Project


@pytest.fixture
def started(project: Project) -> Project:
    return project.begin()


def test_which_program_ran_is_kept_in_the_receipt(started: Project) -> None:
    gate = copy.deepcopy(started.gate("G001"))
    command = ["git", "diff", "--stat"]
    SessionGates(started.state, started.session, "user", started.now, 5).add("diff", command, cwd=".", program=None)
    record = {"schemaVersion": 1, "kind": "cli-replay", "replaySafe": True, "command": command, "recordedStdout": ""}
    (started.root / "run.json").write_text(json.dumps(record), encoding="utf-8")
    add_surface(gate, surface("cli", "cli", "run"), artifact("run", "cli-replay", "run.json"))
    started.complete("G001", gate=gate)
    receipt = started.receipt("G001")
    assert receipt["replays"] == [{"artifact": "run", "command": "git diff --stat", "executable": shutil.which("git")}]


# The ledger of evidence


def wipe(project: Project) -> None:
    shutil.rmtree(paths.evidence_dir(project.state))


def test_a_ledger_of_evidence_that_is_gone_stops_every_completion(started: Project) -> None:
    started.complete("G001")
    wipe(started)
    with started.refused("evidence: the ledger is gone", "let the user", "--repair"):
        started.complete("G002")


def test_one_that_was_begun_anew_is_not_the_one_there_was(started: Project) -> None:
    started.complete("G001")
    wipe(started)
    goal = f"ultragoal/{started.plan().run}/G001"
    for path in started.receipt("G001")["artifacts"]:
        options: dict[str, Any] = {"goal": goal, "started_at": None, "by": "agent", "now": started.now + 1, "wait": 5.0}
        artifacts.register(started.state, started.root, path, **options)
    with started.refused("evidence: the ledger is gone"):
        started.complete("G002")


def test_a_plan_without_receipts_needs_no_ledger_of_evidence(project: Project) -> None:
    project.begin(ONE)
    shutil.rmtree(paths.evidence_dir(project.state), ignore_errors=True)
    assert project.complete("G001").changed
