"""The host refuses a tool: the agent is told once, then the run waits for the user, and every view names it."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import EIGHT_BLOCKS, Stage
from tests.e2e.scripted_model import bash, call, say

pytestmark = pytest.mark.client

WALL = "the host refused Bash make test"
WAY = "Allow Bash(make *) in the permissions of the host"


def test_an_agent_is_not_sent_back_to_the_same_wall(stage: Stage) -> None:
    stage.model.script(bash("make test"), say("I may not run the tests."), bash("make test"), say("Still not."))
    run = stage.prompt("ulw fix the tests", allowed_tools=("Read",), env=EIGHT_BLOCKS)
    assert (run.result, stage.model.overruns) == ("Still not.", 0)
    assert stage.kinds(run.session_id) == ["activated:leading", "blocked:block", "allowed:refused"]
    assert stage.times_told("But the host refused Bash make test.")[-1] == 1, "told once"
    work = stage.work(run.session_id)
    assert (work["state"], work["why"]) == ("waiting", WALL)
    assert WAY in work["question"]
    status, report = stage.omo("status"), stage.omo("report", "--md")
    assert WALL in status.stdout
    assert WAY in status.stdout
    assert "refused by the host" in report.stdout
    assert stage.omo("status", "--exit-code").returncode == 3


def test_what_a_rule_of_the_user_denies_is_theirs_to_take_away(stage: Stage) -> None:
    stage.model.script(bash("make test"), say("No."), say("No."))
    run = stage.prompt("ulw fix the tests", args=["--disallowedTools", "Bash(make *)"], env=EIGHT_BLOCKS)
    assert stage.kinds(run.session_id)[1:] == ["blocked:block", "allowed:refused"]
    assert "permission rule " in stage.work(run.session_id)["question"]


def test_an_agent_that_finds_another_way_is_held_as_ever(stage: Stage) -> None:
    stage.model.script(
        *(bash("make test"), say("I may not run them.")),
        *(call("Write", file_path=str(stage.project / "new.txt"), content="x"), say("Another way.")),
        say("Done, I think."),
    )
    limits = {**EIGHT_BLOCKS, "OMO_MAX_STOP_BLOCKS": "2"}
    run = stage.prompt("ulw fix the tests", allowed_tools=("Read", "Write", "Edit"), env=limits)
    assert stage.kinds(run.session_id)[1:] == ["blocked:block", "blocked:block", "allowed:cap"]
    assert "refused" not in stage.row(run.session_id)["ulw"]


def test_the_users_next_word_goes_on(stage: Stage) -> None:
    stage.model.script(bash("make test"), say("I may not."), say("No."))
    talk = stage.talk(allowed_tools=("Read",), env=EIGHT_BLOCKS)
    run = talk.prompt("ulw fix the tests")
    assert stage.work(run.session_id)["state"] == "waiting"
    stage.model.script(say("On it."), *(say("Hm.") for _ in range(9)))
    talk.prompt("I allowed it, continue")
    assert "resumed" in stage.kinds(run.session_id)
    assert "blocked:block" in stage.kinds(run.session_id)[4:]
