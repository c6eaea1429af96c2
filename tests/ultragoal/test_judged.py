"""What a plan's reviewers are held to, through the hooks and commands: their words, the user's words, the files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.project import Project
from tests.ultragoal.gates import valid_gate
from tests.ultragoal.project import CLEAN

BLOCK = {**CLEAN["omo:architect"], "codeStatus": "BLOCK"}


@pytest.fixture
def planned(project: Project) -> Project:
    project.commit()
    project.prompt("/omo:ultragoal read every file")
    project.check("ultragoal", "create-goals", "--start", "--brief", "@goal: Parse\nRead every file.")
    project.write("parse.py", "OLD = True\n")
    return project


def reviewed(project: Project, **more: object) -> None:
    for agent, clean in CLEAN.items():
        project.agent_ends(agent, json.dumps({**clean, **more}))


def completed(project: Project, code: int = 0) -> str:
    gate = json.dumps(valid_gate(project.root))
    ran = project.check(
        *("ultragoal", "checkpoint", "--evidence", "it was seen", "--quality-gate-json", gate), code=code
    )
    return ran.err or ran.out


def test_what_a_reviewer_said_against_it_is_named_and_not_called_no_verdict(planned: Project) -> None:
    reviewed(planned, codeStatus="BLOCK")
    assert planned.check("next").says("ultragoal-reviewer-said-block", section="architectReview", who="omo:architect")


def test_what_the_user_typed_after_the_plan_was_made_is_asked_too(planned: Project) -> None:
    reviewed(planned)
    completed(planned)
    planned.prompt("/omo:ultragoal refuse malformed")
    brief = planned.check("ultragoal", "brief", "architect", "--goal-id", "G001").out
    assert "\n  > refuse malformed\n" in brief
    planned.check("goal", "complete")
    assert planned.stop().says_to_user("end-architect-not-seen-to-say-all")


def test_of_a_goal_that_is_not_the_last_nobody_asks_for_the_whole(project: Project) -> None:
    project.commit()
    project.prompt("/omo:ultragoal read every file, write the report")
    two = "@goal: Parse\nRead every file.\n@goal: Write\nWrite the report."
    project.check("ultragoal", "create-goals", "--start", "--brief", two)
    assert "requestStatus" not in project.check("ultragoal", "brief", "architect").out


def test_what_armed_the_session_is_the_request_where_nothing_else_was_typed(project: Project) -> None:
    project.commit()
    project.prompt("ulw all")
    project.check("ultragoal", "create-goals", "--start", "--brief", "@goal: Parse\nRead every file.")
    assert "  > ulw all\n" in project.check("ultragoal", "brief", "architect").out


def test_a_report_about_another_goal_says_nothing_of_this_one(planned: Project) -> None:
    reviewed(planned, goal="G007")
    assert "no reviewer seen to find it clean" in completed(planned)


def test_in_a_copy_of_the_project_an_end_stays_as_it_was_told(planned: Project, tmp_path: Path) -> None:
    reviewed(planned)
    completed(planned)
    planned.check("goal", "complete")
    planned.stop()
    told = planned.summary("ultragoal")
    shutil.copytree(planned.root, tmp_path / "copy", symlinks=True)
    copy = Project(tmp_path / "copy", now=planned.now)
    for command in ("complete-goals", "status"):
        copy.agent("ultragoal", command)
    assert "work there" in copy.check("ultragoal", "complete-goals", code=3).err
    assert copy.summary("ultragoal") == told
