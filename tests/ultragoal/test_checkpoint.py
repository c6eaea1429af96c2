"""Goals are handed out one at a time, and closed by a checkpoint; a refused one changes nothing."""

from __future__ import annotations

import copy
import json
from pathlib import Path

from omo.state import paths
from omo.workflows.ultragoal import reviewers
from tests.ultragoal.project import CLEAN, Project

# Completing and setting back


def test_other_words_or_another_gate_issue_a_new_receipt(project: Project) -> None:
    project.begin().complete("G001")
    first = project.receipt("G001")["receiptId"]
    assert project.complete("G001", "once more").changed
    second = project.receipt("G001")["receiptId"]
    gate = copy.deepcopy(project.gate("G001"))
    gate["iteration"]["evidence"] += "once more"
    assert project.complete("G001", "once more", gate=gate).changed
    assert len({first, second, project.receipt("G001")["receiptId"]}) == 3
    assert project.statuses() == {"G001": "complete", "G002": "active"}, "the goal under way stays so"


# The goal tool's goal


def test_completing_under_another_objective_is_refused(project: Project) -> None:
    project.create(mode="per-story")
    project.steer("revise_pending_wording", goal_id="G001", objective="Read all files.")
    project.hand_out()
    with project.refused("another goal is active (Read the file.)", "omo goal drop, then omo goal create"):
        project.complete("G001")


# Independence


def test_a_damaged_session_ledger_vouches_for_nobody(project: Project) -> None:
    project.begin()
    for one in ("omo:architect", "omo:qa", "omo:qa"):
        project.agent_ends(one, json.dumps(CLEAN[one]))
    path = Path(paths.events_file(project.state, project.session))
    path.write_text(path.read_text().replace('"omo:qa"', '"omo:QA"', 1))
    assert "omo:qa" not in reviewers.reviews_of(project.run(), project.goal("G001"))
    project.complete("G001")
    assert project.receipt("G001")["independence"] == "reduced"


# A crash between two writes


def test_a_crash_before_the_mark_is_no_damage(project: Project) -> None:
    project.begin()
    mark = project.directory / "mark.json"
    behind = mark.read_bytes()
    project.complete("G001")
    mark.write_bytes(behind)
    assert project.run().problems == []
    project.complete("G002")
    assert project.final() == "G002"
    assert project.run().problems == []
