"""What the agent gave up is named by every later end of the conversation, until the user asks for something new."""

from __future__ import annotations

import contextlib
import json

import pytest

from tests import texts
from tests.hunt.walk import Died, death
from tests.project import Project

pytestmark = pytest.mark.usefixtures("laps")

CRITERIA = {
    "criteria": [
        {"id": "C1", "description": "NOTES is there", "checks": [{"id": "there", "type": "path", "path": "NOTES"}]}
    ]
}


@pytest.fixture
def given_up(project: Project) -> Project:
    """A run that the agent gave up; the user was told so, and did not ask for anything new."""
    project.commit()
    file = project.root.parent / "criteria.json"
    file.write_text(json.dumps(CRITERIA), encoding="utf-8")
    project.prompt("/omo:laps write NOTES")
    project.check("laps", "start", "--criteria", str(file))
    project.check("laps", "abandon", "it is not worth the time")
    assert "gave up laps run" in project.stop().message
    return project


@pytest.mark.parametrize("prompt", ["ulw write a note instead", "/omo:ultragoal a note instead", "/omo:laps a note"])
def test_a_new_request_of_the_users_is_not_held_to_it(given_up: Project, prompt: str) -> None:
    given_up.prompt(prompt)
    assert "givenUp" not in given_up.row()


@pytest.mark.parametrize("write", range(6))
def test_a_run_that_was_given_up_is_named_also_where_that_was_killed(project: Project, write: int) -> None:
    project.commit()
    file = project.root.parent / "criteria.json"
    file.write_text(json.dumps(CRITERIA), encoding="utf-8")
    project.prompt("/omo:laps write NOTES")
    project.check("laps", "start", "--criteria", str(file))
    with contextlib.suppress(Died), death(write):
        project.agent("laps", "abandon", "it is not worth the time")
    out = project.check("laps", "status").out
    assert "gave up" not in out or "givenUp" in project.row(), out


def test_a_plan_that_waits_is_held_to_the_one_it_was_made_in_place_of(project: Project) -> None:
    project.check("ultragoal", "create-goals", "--brief", "@goal: Pay\nTake payments.")
    project.check("ultragoal", "create-goals", "--start", "--force", "--brief", "@goal: Note\nWrite a note.")
    project.check(
        *("ultragoal", "classify-blocker", "--classification", "human_blocked", "--evidence", "they have to choose")
    )
    project.check("goal", "pause")
    project.stop()
    project.prompt("ulw go on with it")
    (entry,) = project.row()["givenUp"]
    assert texts.says(entry["what"], "ultragoal-plan-given-up", count=1)
