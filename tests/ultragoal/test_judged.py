"""What a plan's reviewers are held to, through the hooks and commands: their words, the user's words, the files."""

from __future__ import annotations

import json

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


def test_a_clean_word_on_the_files_that_were_blocked_is_refused(planned: Project) -> None:
    planned.agent_ends("omo:architect", json.dumps(BLOCK))
    reviewed(planned)
    assert "BLOCK was said by omo:architect" in completed(planned, code=3)
    planned.write("parse.py", "NEW = True\n")
    reviewed(planned)
    completed(planned)


def test_a_report_about_another_goal_says_nothing_of_this_one(planned: Project) -> None:
    reviewed(planned, goal="G007")
    assert "no reviewer seen to find it clean" in completed(planned)
