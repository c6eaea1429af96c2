"""The harness itself, with a throw-away plugin: what the other tests here rest on."""

from __future__ import annotations

import json
import shlex
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.client import Client
from tests.e2e.scripted_model import ScriptedModel, call, say, texts_of

pytestmark = pytest.mark.client

MakePlugin = Callable[..., Path]


@pytest.fixture
def make_plugin(tmp_path: Path) -> MakePlugin:
    def make(**scripts: str) -> Path:
        """A plugin whose hook for each event named is that line of shell."""
        root = tmp_path / "throw away"
        hooks = {event: [{"hooks": [{"type": "command", "command": line}]}] for event, line in scripts.items()}
        (root / ".claude-plugin").mkdir(parents=True)
        (root / ".claude-plugin" / "plugin.json").write_text(json.dumps({"name": "thrown"}), "utf-8")
        (root / "hooks").mkdir()
        (root / "hooks" / "hooks.json").write_text(json.dumps({"hooks": hooks}), "utf-8")
        return root

    return make


def test_a_prompt_reaches_the_model_and_its_tools_run_in_the_project(
    client: Client, model: ScriptedModel, project: Path, home: Path
) -> None:
    look = call("Bash", command="pwd") + call("Bash", command="git log --format=%s")
    model.script(look, lambda request: say(f"asked with {len(request['messages']) > 0}"))
    run = client.run_print("what do you say?", model=model, project=project, home=home)
    assert (run.exit_code, run.result) == (0, "asked with True")
    assert [model.times_told("what do you say?"), len(model.turns), model.overruns] == [1, 2, 0]
    # Calls that only read run side by side: their results come in either order.
    assert {str(project), "first"} <= set(texts_of(model.turns[1]))


def test_what_hooks_say_is_heard(
    client: Client, model: ScriptedModel, project: Path, home: Path, make_plugin: MakePlugin, tmp_path: Path
) -> None:
    once = shlex.quote(str(tmp_path / "once"))
    block = """echo '{"decision": "block", "reason": "one gate is open"}'"""
    plugin = make_plugin(
        UserPromptSubmit="echo context-of-the-hook", Stop=f"test -e {once} || {{ : > {once}; {block}; }}"
    )
    model.script(say("done?"), say("done!"))
    run = client.run_print("go", model=model, project=project, home=home, plugin_dir=plugin)
    assert (run.result, len(model.turns)) == ("done!", 2)
    assert model.times_told("context-of-the-hook") == 1
    assert model.times_told("one gate is open") > 0
    assert [event["hook_event"] for event in run.hook_events] == ["UserPromptSubmit", "Stop", "Stop"]


def test_resume_keeps_the_session_and_a_script_that_ran_out_is_counted(
    client: Client, model: ScriptedModel, project: Path, home: Path
) -> None:
    first = client.run_print("first prompt", model=model, project=project, home=home)
    second = client.run_print("second prompt", model=model, project=project, home=home, resume=first.session_id)
    assert second.session_id == first.session_id
    assert [model.times_told("first prompt"), model.times_told("second prompt")] == [1, 1]
    assert (second.result, model.overruns) == ("Done.", 2)


def test_typing_works_while_the_model_is_held(client: Client, model: ScriptedModel, project: Path, home: Path) -> None:
    gate = threading.Event()
    model.script(say("the answer on the screen").held_by(gate))
    terminal = client.interactive(model=model, project=project, home=home)
    terminal.submit("what do you say?")
    model.wait_for_turns(1)
    terminal.type("typed meanwhile")
    assert "the answer on the screen" not in terminal.wait_for("typed meanwhile")
    gate.set()
    terminal.wait_for("the answer on the screen")
