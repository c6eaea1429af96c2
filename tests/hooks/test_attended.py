"""What the user set counts where the host runs: the agent's shell and its edits open no gate and shrink no budget."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from omo.cli.main import main
from tests.hooks.conftest import SESSION, Host
from tests.hooks.test_tool_gates import ASK, ask, denied, open_run

IN_PROCESS = True

AGENT = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": SESSION}
BRIEF = "@goal: Parse\nRead."


def write_settings(host: Host, **values: Any) -> None:
    path = host.project / ".sisyphus" / "omo.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(values), encoding="utf-8")


def omo(host: Host, *argv: str, **environ: str) -> int:
    host.make_state()
    return main([*argv], {**AGENT, "OMO_PROJECT_DIR": str(host.project), **environ}, str(host.project), time.time())


@pytest.mark.parametrize(
    ("environ", "committed", "allowed"),
    [
        ({}, None, False),
        ({"OMO_ATTENDED": "1"}, None, True),
        ({"CLAUDE_PLUGIN_OPTION_ATTENDED": "true"}, None, True),
        ({}, True, True),
        ({"OMO_ATTENDED": "0"}, True, False),
        ({"CLAUDE_PLUGIN_OPTION_ATTENDED": "false"}, True, False),
        ({"OMO_ATTENDED": "maybe"}, None, False),
        ({}, "true", False),
    ],
)
def test_the_question_is_open_only_where_the_users_own_environment_or_the_committed_file_says_so(
    host: Host, environ: dict[str, str], committed: object, allowed: bool
) -> None:
    told: dict[str, Any] = {} if committed is None else {"attended": committed}
    open_run(host, **told)
    host.environ |= environ
    assert denied(ask(host)) == ("" if allowed else ASK)


def test_neither_the_agents_shell_nor_an_edit_opens_the_question_and_a_commit_does(host: Host) -> None:
    write_settings(host, attended=True)
    assert omo(host, "ultragoal", "create-goals", "--brief", BRIEF, OMO_ATTENDED="1") == 0
    assert ask(host).says_to_agent("ultragoal-no-question-now")
    host.git("add", "-f", ".sisyphus/omo.json")
    host.commit()
    assert omo(host, "ultragoal", "create-goals", "--brief", BRIEF, "--force") == 0
    ask(host).assert_silent()


@pytest.mark.parametrize("variable", ["OMO_MAX_STOP_BLOCKS", "CLAUDE_PLUGIN_OPTION_MAX_STOP_BLOCKS"])
def test_a_limit_that_the_agent_lowers_for_itself_lets_nothing_go(host: Host, variable: str) -> None:
    host.environ["OMO_COOLDOWN_SECONDS"] = "0.001"
    assert omo(host, "ultragoal", "create-goals", "--brief", BRIEF, **{variable: "1"}) == 0
    assert [host.stop(last_assistant_message=str(number)).blocks for number in range(3)] == [True] * 3


def test_a_limit_that_is_lowered_in_the_projects_file_later_lets_nothing_go(host: Host) -> None:
    host.environ["OMO_COOLDOWN_SECONDS"] = "0.001"
    assert omo(host, "ultragoal", "create-goals", "--brief", BRIEF) == 0
    write_settings(host, max_stop_blocks=1, max_hours=0.0001)
    assert [host.stop(last_assistant_message=str(number)).blocks for number in range(3)] == [True] * 3


WRITES: list[tuple[str, dict[str, Any]]] = [
    ("Write", {"file_path": ".sisyphus/omo.json"}),
    ("Edit", {"file_path": "src/../.sisyphus/OMO.json"}),
    ("apply_patch", {"command": "*** Add File: .sisyphus/omo.json\n+{}\n"}),
]


@pytest.mark.parametrize(("tool", "given"), WRITES)
def test_while_work_is_open_the_agent_does_not_change_the_users_settings(
    host: Host, tool: str, given: dict[str, Any]
) -> None:
    host.send("PreToolUse", tool_name=tool, tool_input=given).assert_silent()
    open_run(host)
    refused = host.send("PreToolUse", tool_name=tool, tool_input=given)
    assert denied(refused)
    assert refused.says_to_agent("tool-users-settings")
    other = host.send("PreToolUse", tool_name="Write", tool_input={"file_path": "src/omo.json"})
    other.assert_silent()
    open_run(host, state="ended")
    host.send("PreToolUse", tool_name=tool, tool_input=given).assert_silent()
