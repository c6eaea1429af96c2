"""What the user types is acted on: a workflow after a cancel, and the task of a client that was killed."""

from __future__ import annotations

import os
import shlex
import threading
from pathlib import Path

import pytest

from tests.e2e.client import SIZE, Terminal, environment
from tests.e2e.conftest import EIGHT_BLOCKS, Stage
from tests.e2e.scripted_model import bash, say
from tests.e2e.test_interactive import ask, shows

pytestmark = pytest.mark.client

CRITERIA = """\
criteria:
  - id: C1
    description: the README has a section named Install
    checks:
      - {id: install, type: content, path: README.md, regex: "^## Install$"}
"""


def test_a_workflow_that_is_typed_after_a_cancel_is_told_and_held(stage: Stage) -> None:
    criteria = stage.home / "criteria.yaml"
    criteria.write_text(CRITERIA, "utf-8")
    stage.model.script(
        bash(f"omo ralph start --criteria '{criteria}'"),
        say("It looks finished to me."),
        say("I have nothing to add."),
    )
    talk = stage.talk()
    talk.prompt("/omo:stop-continuation")
    assert len(stage.model.turns) == 0, "a cancel needs no model"
    run = talk.prompt("/omo:ralph document how to install it")
    said = "".join(str(event["stdout"]) for event in run.hook_events)
    assert "omo: /omo:ralph takes your cancel back" in said
    assert "omo: ralph is on: a turn that ends too early is sent back." in said
    assert stage.times_told("types /omo:ralph now: that is wanted")[0] == 1
    assert "blocked:block" in stage.kinds(run.session_id)
    assert stage.row(run.session_id)["work"]["ralph"]["open"] > 0
    assert run.result == "I have nothing to add."
    assert stage.model.overruns == 0


def test_a_plan_that_was_asked_for_and_not_begun_is_reminded_of_once_and_then_told(stage: Stage) -> None:
    stage.model.script(say("A plan would be good."), say("Shall it have tests?"))
    terminal = stage.open(env=EIGHT_BLOCKS)
    terminal.submit("/omo:ultraplan split the parser")
    shows(terminal, "The user typed /omo:ultraplan, and no plan has gone to the critic.")
    shows(terminal, "Shall it have tests?")
    shows(
        terminal,
        "Stop says: omo: no plan has gone to the critic yet, so nothing holds this session. Answer the agent, or type "
        "/omo:ultraplan again.",
    )
    ask(stage, terminal, "yes, with tests", "Then I write it.")
    assert terminal.scrollback().count("so nothing holds this session") == 1
    assert stage.model.overruns == 0


def test_after_a_kill_the_model_has_the_task_by_one_command_in_a_terminal(stage: Stage, tmp_path: Path) -> None:
    at_work = threading.Event()
    stage.model.script(
        bash("true"),
        say("On with it.").held_by(at_work),  # the client is killed
        bash("omo ulw done --because 'the README says how to install it'"),
        say("Said so."),
    )
    terminal = stage.open("--allowedTools", "Bash", env=EIGHT_BLOCKS)
    terminal.submit("ulw fix mean() for empty lists")
    stage.model.wait_for_turns(2)
    terminal.kill()
    at_work.set()

    # `claude` as the user's PATH has it; the plugin is in this directory, and not installed.
    programs = tmp_path / "programs"
    programs.mkdir()
    assert stage.plugin is not None
    options = ["--allowedTools", "Bash", "--plugin-dir", str(stage.plugin), "--permission-mode", "default"]
    client = programs / "claude"
    client.write_text(f'#!/bin/sh\nexec {shlex.join([str(stage.client.binary), *options])} "$@"\n', "utf-8")
    client.chmod(0o755)
    environ = environment(stage.home, stage.model, {**EIGHT_BLOCKS, "OMO_ENV_HOME": str(stage.data)})
    environ["PATH"] = os.pathsep.join([str(programs), environ["PATH"]])
    terminal = Terminal([str(stage.plugin / "bin" / "omo"), "resume"], environ, stage.project, SIZE)
    try:
        shows(terminal, "omo: taken up from session")
        shows(terminal, "Said so.")
        shows(terminal, "omo: finished on the agent's word")
    finally:
        terminal.close()
    assert stage.times_told('The user\'s own words, for ultrawork: "ulw fix mean() for empty lists".')[2] == 1
    assert stage.model.overruns == 0
