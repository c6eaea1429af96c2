"""What proved one goal of a run proves no other."""

from __future__ import annotations

import copy
import json
import shutil
from typing import Any

import pytest

from omo.proof import artifacts
from omo.state import paths
from omo.workflows.ultrawork.gates import SessionGates
from tests.ultragoal.gates import (
    Gate,
    add_surface,
    artifact,
    surface,
)
from tests.ultragoal.project import ONE, SEEN, Project

RECEIPT = {"type": "consumer-run", "id": "run-1", "status": "passed"}


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


def receipted(gate: Gate, receipt: Gate) -> Gate:
    return add_surface(copy.deepcopy(gate), surface("pkg", "package", "r"), artifact("r", "package", receipt=receipt))


@pytest.mark.parametrize(
    "again",
    [
        RECEIPT,
        {**RECEIPT, "note": "another look", "status": "verified"},
        {**RECEIPT, "id": " RUN-1 "},
    ],
    ids=str,
)
def test_a_typed_receipt_proves_one_goal(started: Project, again: Gate) -> None:
    started.complete("G001", gate=receipted(started.gate("G001"), RECEIPT))
    with started.refused("proves another goal of this run already"):
        started.complete("G002", gate=receipted(started.gate("G002"), again))
    assert started.complete("G002", gate=receipted(started.gate("G002"), {**RECEIPT, "id": "run-2"})).changed


def test_one_receipt_that_was_issued_anew_frees_nothing(started: Project) -> None:
    first = receipted(started.gate("G001"), RECEIPT)
    started.complete("G001", gate=first)
    started.complete("G001", gate=receipted(started.gate("G001"), {**RECEIPT, "id": "run-2"}))
    with started.refused("proves another goal of this run already"):
        started.complete("G002", gate=receipted(started.gate("G002"), RECEIPT))


def test_the_same_goal_may_be_closed_again_by_what_proved_it(started: Project) -> None:
    gate = receipted(started.gate("G001"), RECEIPT)
    started.complete("G001", gate=gate)
    assert started.complete("G001", f"{SEEN}, once more", gate=gate).changed


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


def test_after_the_users_repair_what_receipts_name_is_still_used(started: Project) -> None:
    started.complete("G001")
    wipe(started)
    (started.root / "other.txt").write_text("seen\n")
    started.now += 1
    options: dict[str, Any] = {"goal": "other", "started_at": None, "by": "user", "now": started.now, "wait": 5.0}
    artifacts.register(started.state, started.root, "other.txt", repair=True, **options)
    used = json.loads(json.dumps(started.gate("G001")))
    used["iteration"]["evidence"] += "another gate"
    with started.refused("already proves another goal of this run"):
        started.complete("G002", gate=used)
    assert started.complete("G002").changed


def test_a_plan_without_receipts_needs_no_ledger_of_evidence(project: Project) -> None:
    project.begin(ONE)
    shutil.rmtree(paths.evidence_dir(project.state), ignore_errors=True)
    assert project.complete("G001").changed
