"""Goals are handed out one at a time, and closed by a checkpoint; a refused one changes nothing."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from omo.clock import seconds
from omo.state import paths
from omo.state.journal import Journal
from omo.workflows.ultragoal import reviewers
from omo.workflows.ultragoal.checkpoint import subject_of
from tests.ultragoal.gates import valid_gate
from tests.ultragoal.project import CLEAN, ONE, THREE, TWO, Project

# Handing out


@pytest.mark.parametrize("status", ["failed", "blocked"])
def test_no_two_goals_are_ever_active(project: Project, status: str) -> None:
    project.begin(THREE)
    project.set_back("G001", status)
    project.hand_out()
    assert project.statuses() == {"G001": status, "G002": "active", "G003": "pending"}
    project.hand_out(retry_failed=True, retry_blocked=True)
    assert project.statuses() == {"G001": status, "G002": "active", "G003": "pending"}


def test_a_goal_whose_review_is_open_is_not_handed_out_before_its_blocker(project: Project) -> None:
    project.begin(ONE)
    project.review("G001")
    goal = project.hand_out(retry_blocked=True)
    assert goal is not None
    assert goal.id == "G002"
    project.set_back("G002", "failed")
    assert project.hand_out(retry_blocked=True) is None, "its blocker failed and can be tried again; it cannot"
    assert project.hand_out(retry_failed=True) is not None


def test_what_lies_in_the_tree_is_remembered_when_a_goal_begins(project: Project) -> None:
    project.root.joinpath("old.txt").write_text("from before")
    project.create()
    project.hand_out()
    rows = Journal(paths.evidence_dir(project.state), project.state).rows()
    assert [list(row["contents"]) for row in rows if row["kind"] == "seen"] == [["old.txt"]]


def test_the_background_tells_why_a_goal_came_to_be_and_what_went_wrong(project: Project) -> None:
    project.begin(TWO)
    project.set_back("G001", "failed", "the parser hangs on tabs")
    plan = project.plan()
    assert plan.background(plan.goal("G001")) == ["last time: the parser hangs on tabs"]
    made = project.review("G001").goal
    plan = project.plan()
    (told,) = plan.background(plan.goal(made.id))
    assert "G001" in told
    assert "the review found bad rows" in told
    parts = '[{"title": "A", "objective": "a"}, {"title": "B", "objective": "b"}]'
    row = project.steer("split_subgoal", goal_id="G002", replacements=parts)
    plan = project.plan()
    assert plan.background(plan.goal(row["goals"][0]["id"])) == ["it is a part of G002"]


# Completing and setting back


def test_other_words_or_another_gate_issue_a_new_receipt(project: Project) -> None:
    project.begin().complete("G001")
    first = project.receipt("G001")["receiptId"]
    assert project.complete("G001", "seen once more").changed
    second = project.receipt("G001")["receiptId"]
    gate = copy.deepcopy(project.gate("G001"))
    gate["iteration"]["evidence"] += "once more"
    assert project.complete("G001", "seen once more", gate=gate).changed
    assert len({first, second, project.receipt("G001")["receiptId"]}) == 3
    assert project.statuses() == {"G001": "complete", "G002": "active"}, "the goal under way stays so"


# The goal tool's goal


def test_completing_under_another_objective_is_refused(project: Project) -> None:
    project.create(mode="per-story")
    project.steer("revise_pending_wording", goal_id="G001", objective="Read all files.")
    project.hand_out()
    with project.refused("another goal is active (Read the file.)", "omo goal drop, then omo goal create"):
        project.complete("G001")


def test_what_the_evidence_cites_is_looked_at(project: Project) -> None:
    project.begin()
    with project.refused("docs/report.md is cited, and is not there"):
        project.complete("G001", "docs/report.md lists every route")


# Independence


def agents(project: Project, *types: str) -> None:
    for one in types:
        project.agent_ends(one, json.dumps(CLEAN.get(one, {"status": "passed"})))


def test_a_damaged_session_ledger_vouches_for_nobody(project: Project) -> None:
    project.begin()
    agents(project, "omo:architect", "omo:qa", "omo:qa")
    path = Path(paths.events_file(project.state, project.session))
    path.write_text(path.read_text().replace('"omo:qa"', '"omo:QA"', 1))
    assert reviewers.reviews_of(project.run(), project.goal("G001")) == {}
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


# What it looks at


def test_changed_files_are_those_since_the_commit_the_plan_began_at(project: Project, tmp_path: Path) -> None:
    project.begin()
    assert subject_of(project.run(control_globs=("native",)), project.plan(), project.goal("G001")).changed == []
    project.root.joinpath("new.py").write_text("x = 1\n")
    assert subject_of(project.run(control_globs=("native",)), project.plan(), project.goal("G001")).changed == [
        "new.py"
    ]
    plain = Project(tmp_path / "no git")
    plain.root.mkdir()
    plain.create(ONE)
    assert subject_of(plain.run(control_globs=("native",)), plain.plan(), plain.goal("G001")).changed is None, (
        "nobody can say"
    )


def test_a_goal_begun_later_takes_no_evidence_from_before(project: Project) -> None:
    project.begin()
    gate = valid_gate(project.root, "G002", salt="early")
    project.now = 2_000_000_000.0  # after the files were written, which is when G002 begins
    project.complete("G001", gate=valid_gate(project.root, "G001", salt="x"))
    assert seconds(str(project.goal("G002").started_at)) > 2_000_000_000.0
    with project.refused("artifactRefs", "older than the work"):
        project.complete("G002", gate=gate)
