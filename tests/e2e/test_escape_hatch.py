"""The user says stop, headless: at once, for free, and for good."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from omo.hooks import messages
from tests.e2e.client import Conversation, Run
from tests.e2e.conftest import EIGHT_BLOCKS, Stage
from tests.e2e.scripted_model import call, say
from tests.hooks.conftest import point_at

pytestmark = pytest.mark.client

COMMAND = "/omo:stop-continuation"
PAUSED = messages.paused([("ulw", {})]).context


def shown(run: Run) -> list[str]:
    """What the hooks of this run gave the user to read, in order."""
    answers = [event["stdout"] for event in run.hook_events if event["stdout"].startswith("{")]
    return [line for answer in answers if (line := json.loads(answer).get("systemMessage"))]


def cancelled_for_free(stage: Stage, talk: Conversation, typed: str, rule: str) -> None:
    asked = len(stage.model.requests)
    run = talk.prompt(typed)
    session = run.session_id
    assert len(stage.model.requests) == asked
    assert messages.CANCELLED in run.stdout
    assert stage.kinds(session)[-1] == f"cancelled:{rule}"
    row = stage.row(session)
    assert row["stopContinuation"]["disabled"] is True
    assert row["stopContinuation"]["disabledReason"] == f"user: {rule}"
    assert (row["ulw"]["enabled"], row["work"]) == (False, {})


def test_after_the_hatch_nothing_holds_until_ulw_is_typed_again(stage: Stage) -> None:
    talk = stage.left_active()
    session = talk.session_id
    cancelled_for_free(stage, talk, COMMAND, "cancel-command")
    cancelled = stage.row(session)

    stage.model.script(call("Bash", command="true"), say("Answered."))
    run = talk.prompt("what is the state of things?")
    assert (run.result, stage.model.overruns) == ("Answered.", 1), "the one overrun armed the session"
    assert stage.row(session)["stopContinuation"] == {**cancelled["stopContinuation"], "told": True}
    assert stage.times_told(messages.WAS_CANCELLED)[-1] == 1

    stage.model.script(say("Again."), say("And again."))
    talk.prompt("ulw once more")
    assert stage.times_told(messages.WAS_CANCELLED)[-1] == 1, "it stands in the conversation, and is not said again"
    assert stage.row(session)["stopContinuation"]["disabled"] is False
    assert stage.kinds(session)[-3:] == ["activated:leading", "blocked:block", "allowed:cap"]
    assert [stage.times_told(messages.INSTRUCTIONS.strip())[-1], stage.times_told(messages.ON_AGAIN)[-1]] == [1, 1]


def test_never_mind_pauses_in_one_line_and_a_cancel_with_more_to_it_is_passed_on(stage: Stage) -> None:
    talk = stage.left_active(env=EIGHT_BLOCKS)
    session = talk.session_id
    stage.model.script(say("OK, I stop here."))
    run = talk.prompt("never mind, please stop working on this")
    assert (run.result, stage.model.overruns) == ("OK, I stop here.", 1), "the one overrun armed the session"
    assert (stage.times_told(PAUSED)[-1], stage.blocks(session)) == (1, 0)
    assert stage.kinds(session)[-2:] == ["paused:live-stop", "allowed:waiting"]
    assert [line.partition(".")[0] for line in shown(run)] == ["omo: understood as a stop: ultrawork is paused"]

    stage.model.script(say("Only the README."))
    run = talk.prompt("stop ulw and then fix the README")
    assert (run.result, stage.times_told(messages.CANCELLED_AND_MORE)[-1]) == ("Only the README.", 1)
    assert stage.kinds(session)[-1] == "cancelled:cancel", "the user was told at once, and not again"


def test_a_stop_in_a_wording_that_no_table_knows_is_sent_back_once_at_most(stage: Stage) -> None:
    talk = stage.left_active(env=EIGHT_BLOCKS)
    session = talk.session_id
    stage.model.script(say("Selvä."), say("Selvä, lopetan."))
    run = talk.prompt("lopeta se homma nyt, kiitos")
    assert (run.result, stage.model.overruns) == ("Selvä, lopetan.", 1), "the one overrun armed the session"
    assert stage.times_told('since the user wrote "lopeta se homma nyt, kiitos"')[-1] > 0
    assert stage.kinds(session)[-2:] == ["blocked:quote-message", "allowed:message-quoted"]
    assert (stage.work(session)["state"], stage.row(session)["ulw"]["stopBlocks"]) == ("active", 0)
    assert 'ultrawork stays on, and this turn ends: since you wrote "lopeta se homma nyt, kiitos"' in shown(run)[-1]

    cancelled_for_free(stage, talk, "stop ulw", "cancel")
    run = talk.prompt("hello again")
    told = [event["stdout"].strip() for event in run.hook_events if event["stdout"]]
    assert told == [messages.WAS_CANCELLED], "the model is told that it is over, and nothing else"
    assert stage.kinds(session)[-2:] == ["cancelled:cancel", "cancel-told"]


def test_without_any_python_nothing_of_omo_holds_and_that_is_told(stage: Stage, tmp_path: Path) -> None:
    talk = stage.left_active()
    session = talk.session_id
    talk.leave()
    point_at(stage.data, "/nowhere/python3")
    no_python = tmp_path / "bin"
    no_python.mkdir()
    for name in ("sh", "bash", "head", "sed", "sleep", "tr", "git"):
        (no_python / name).symlink_to(str(shutil.which(name)))
    stage.model.script(say("Free."))
    run = stage.prompt("ulw go on", resume=session, env={"PATH": str(no_python), "OMO_PYTHON_DIRS": "/nowhere"})
    assert (run.result, stage.blocks(session)) == ("Free.", 0)
    assert stage.times_told("Ultrawork could not be turned on. omo cannot run: no Python 3.10")[-1] == 1
