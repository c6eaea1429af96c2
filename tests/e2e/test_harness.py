"""The harness itself, with a throw-away plugin: what the other tests here rest on."""

from __future__ import annotations

import json
import shlex
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.client import Client
from tests.e2e.scripted_model import ScriptedModel, call, say, texts_of, told

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


def test_a_prompt_reaches_the_model(client: Client, model: ScriptedModel, project: Path, home: Path) -> None:
    model.script(say("a scripted answer"))
    run = client.run_print("what do you say?", model=model, project=project, home=home)
    assert (run.exit_code, run.result) == (0, "a scripted answer")
    assert [model.times_told("what do you say?"), len(model.turns), model.overruns] == [1, 1, 0]


def test_a_tool_runs_in_the_project_and_its_output_is_shown(
    client: Client, model: ScriptedModel, project: Path, home: Path
) -> None:
    model.script(call("Bash", command="pwd") + call("Bash", command="git log --format=%s"), say("seen"))
    run = client.run_print("look", model=model, project=project, home=home)
    assert run.result == "seen"
    # Calls that only read run side by side: their results come in either order.
    assert {str(project), "first"} <= set(texts_of(model.turns[1]))


def test_a_step_may_be_computed_from_the_request(
    client: Client, model: ScriptedModel, project: Path, home: Path
) -> None:
    model.script(lambda request: say(f"asked with {len(request['messages']) > 0}"))
    assert client.run_print("go", model=model, project=project, home=home).result == "asked with True"


def test_a_script_that_ran_out_is_counted(client: Client, model: ScriptedModel, project: Path, home: Path) -> None:
    assert client.run_print("go", model=model, project=project, home=home).result == "Done."
    assert model.overruns == 1


def test_context_of_a_prompt_hook_is_told_once(
    client: Client, model: ScriptedModel, project: Path, home: Path, make_plugin: MakePlugin
) -> None:
    plugin = make_plugin(UserPromptSubmit="echo context-of-the-hook")
    run = client.run_print("go", model=model, project=project, home=home, plugin_dir=plugin)
    assert model.times_told("context-of-the-hook") == 1
    assert [event["hook_event"] for event in run.hook_events] == ["UserPromptSubmit"]


def test_a_blocked_prompt_costs_no_model_turn(
    client: Client, model: ScriptedModel, project: Path, home: Path, make_plugin: MakePlugin
) -> None:
    plugin = make_plugin(UserPromptSubmit="""echo '{"decision": "block", "reason": "not today"}'""")
    run = client.run_print("go", model=model, project=project, home=home, plugin_dir=plugin)
    assert (run.exit_code, model.turns) == (0, [])


def test_a_blocked_stop_continues(
    client: Client, model: ScriptedModel, project: Path, home: Path, make_plugin: MakePlugin, tmp_path: Path
) -> None:
    once = shlex.quote(str(tmp_path / "once"))
    block = """echo '{"decision": "block", "reason": "one gate is open"}'"""
    plugin = make_plugin(Stop=f"test -e {once} || {{ : > {once}; {block}; }}")
    model.script(say("done?"), say("done!"))
    run = client.run_print("go", model=model, project=project, home=home, plugin_dir=plugin)
    assert (run.result, len(model.turns)) == ("done!", 2)
    assert model.times_told("one gate is open") > 0


def test_a_subagent_has_its_own_script(client: Client, model: ScriptedModel, project: Path, home: Path) -> None:
    task = call(
        "Agent",
        description="scout",
        prompt="find the door",
        subagent_type="general-purpose",
        run_in_background=False,
    )
    model.script(task, say("thanks"))
    model.agent(told("find the door"), say("it is on the left"))
    run = client.run_print("go", model=model, project=project, home=home)
    assert (run.result, len(model.agent_turns)) == ("thanks", 1)
    assert model.times_told("it is on the left") == 1


def test_resume_keeps_the_session(client: Client, model: ScriptedModel, project: Path, home: Path) -> None:
    first = client.run_print("first prompt", model=model, project=project, home=home)
    second = client.run_print("second prompt", model=model, project=project, home=home, resume=first.session_id)
    assert second.session_id == first.session_id
    assert [model.times_told("first prompt"), model.times_told("second prompt")] == [1, 1]


def test_plugin_commands_run_without_a_model(client: Client, home: Path, make_plugin: MakePlugin) -> None:
    run = client.plugin("validate", str(make_plugin(Stop="true")), home=home)
    assert run.exit_code == 0, run.stdout + run.stderr


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
