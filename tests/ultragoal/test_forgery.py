"""What a cheating agent would try: each is refused or shown, and the real state is unharmed."""

from __future__ import annotations

import copy
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from omo.errors import OmoError
from omo.state import paths
from omo.work import gates as pinned_gates
from omo.workflows.ultragoal import goal_tool
from omo.workflows.ultragoal.run import ULTRAGOAL
from tests.ultragoal.gates import Gate, add_surface, artifact, surface, valid_gate
from tests.ultragoal.project import ONE, Project

FORGED = {
    "schemaVersion": 1,
    "receiptId": "f" * 32,
    "receiptKind": "final-aggregate",
    "verifiedAt": "2026-02-22T17:20:01.000Z",
    "goalMode": "aggregate",
    "qualityGateHash": "a" * 64,
    "independence": "full",
}


def assert_not_released(project: Project) -> None:
    """Nothing is done and nothing can be completed; where only the user can go on, they are told so."""
    project.tell()
    told = project.told()
    assert told["state"] == "active" or (told["state"], told["told"]) == ("waiting", False)
    assert "complete" in project.told()["deny"]
    assert project.step().action not in ("done", "complete-goal")
    with pytest.raises(OmoError):
        goal_tool.operate("complete", project.run())


# Plans put in the place of the real one


ALL_DONE = {
    "version": 1,
    "goals": [
        {"id": "G001", "title": "Parse", "objective": "Read.", "status": "complete", "completionVerification": FORGED},
        {"id": "G002", "title": "Check", "objective": "Check.", "status": "complete", "completionVerification": FORGED},
    ],
}


@pytest.mark.parametrize("document", [ALL_DONE, {"goals": []}, {"goals": "none"}, {}])
def test_a_view_without_a_ledger_is_no_plan(project: Project, document: dict[str, Any]) -> None:
    planted = Path(ULTRAGOAL.directory(project.state, ULTRAGOAL.new_id(project.caller())), "goals.json")
    planted.parent.mkdir(parents=True)
    planted.write_text(json.dumps(document))
    assert (project.run().plan, project.step().action) == (None, "create-goals")
    with pytest.raises(OmoError):
        project.hand_out()
    project.create(ONE)
    assert project.statuses() == {"G001": "pending"}
    assert json.loads(planted.read_text()) == document


def test_another_sessions_finished_plan_moved_in_by_hand_ends_nothing(project: Project) -> None:
    project.at_work()
    other = project.other()
    other.create(ONE)
    other.finish()
    project.now = other.now
    shutil.rmtree(project.directory)
    shutil.copytree(other.directory, project.directory)
    (problem,) = project.run().problems
    assert "it is the ledger of g" in problem
    with pytest.raises(OmoError, match="cannot go on"):
        goal_tool.operate("complete", project.run())
    for change in (
        lambda: project.steer("annotate_ledger"),
        lambda: project.hand_out(),
        lambda: project.complete("G001"),
    ):
        with project.refused("cannot go on"):
            change()
    assert "complete" in project.told()["deny"]
    assert "cannot go on" in project.agent("goal", "complete").err
    assert project.told()["outcome"]["verdict"] == "ended"
    assert other.final() == "G001"


# Evidence that proves nothing here


def test_evidence_of_another_goal_is_refused_also_as_a_copy(project: Project) -> None:
    project.at_work()
    used = valid_gate(project.root, "G001", salt=project.plan().run)
    with project.refused("already proves goal"):
        project.complete("G002", gate=used)
    shutil.copytree(project.root / "artifacts" / "G001", project.root / "artifacts" / "copy")
    copied = json.loads(json.dumps(used).replace("artifacts/G001/", "artifacts/copy/"))
    with project.refused("already proves goal"):
        project.complete("G002", gate=copied)


def test_a_touch_does_not_make_old_evidence_new(project: Project) -> None:
    gate = valid_gate(project.root)
    early = 1_600_000_000
    for path in (project.root / "artifacts").rglob("*.txt"):
        os.utime(path, (early, early))
    project.create(ONE)
    project.hand_out()  # what lies there now is remembered
    for path in (project.root / "artifacts").rglob("*.txt"):
        path.write_bytes(path.read_bytes())
    with project.refused("older than the work"):
        project.complete("G001", gate=gate)


# Replays


COMMAND = [sys.executable, "-c", "open('ran', 'w').close(); print('7 rows')"]


def replaying(project: Project) -> Gate:
    record = {
        "schemaVersion": 1,
        "kind": "cli-replay",
        "command": COMMAND,
        "replaySafe": True,
        "recordedStdout": "7 rows\n",
    }
    gate = copy.deepcopy(project.gate("G001"))
    (project.root / "replay.json").write_text(json.dumps(record), encoding="utf-8")
    return add_surface(gate, surface("surface-cli", "cli", "replay"), artifact("replay", "cli-replay", "replay.json"))


def pin(project: Project, by: str) -> None:
    project.now += 1
    gates_of = pinned_gates.SessionGates(project.state, project.session, by, project.now, 5)
    gates_of.add("rows", COMMAND, cwd=".", program=None)


@pytest.mark.parametrize("by", [None, "agent"])
def test_a_command_the_user_did_not_pin_is_not_run(project: Project, by: str | None) -> None:
    project.begin(ONE)
    if by:
        pin(project, by)
    with project.refused("replay"):
        project.complete("G001", gate=replaying(project))
    assert not (project.root / "ran").exists()


def test_a_pin_written_by_hand_allows_nothing(project: Project) -> None:
    project.begin(ONE)
    pin(project, "agent")
    events = Path(paths.events_file(project.state, project.session))
    text = events.read_text(encoding="utf-8")
    assert '"by":"agent"' in text
    events.write_text(text.replace('"by":"agent"', '"by":"user"'), encoding="utf-8")
    with project.refused("is no gate that the user pinned"):
        project.complete("G001", gate=replaying(project))
    assert not (project.root / "ran").exists()


# The session's own record


def test_editing_the_sessions_row_changes_no_plan(project: Project) -> None:
    project.at_work()
    path = Path(paths.runtime_file(project.state))
    text = path.read_text().replace('"open":1', '"open":0').replace('"state":"active"', '"state":"ended"')
    path.write_text(text)
    assert project.told()["state"] == "ended"
    assert_not_released(project)
