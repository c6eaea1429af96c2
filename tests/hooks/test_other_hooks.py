"""PreToolUse, SubagentStop and SessionStart through the registered commands."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from omo.digest import sha256
from omo.state.rows import read_row
from tests.hooks.conftest import Host
from tests.hooks.test_tool_gates import open_run

IN_PROCESS = True


def edit(host: Host, path: str, tool: str = "Write", **fields: Any) -> Any:
    return host.send("PreToolUse", tool_name=tool, tool_input={"file_path": path}, **fields)


def decision(answer: Any) -> str:
    return str(answer.json["hookSpecificOutput"]["permissionDecision"]) if answer.stdout else ""


@pytest.mark.parametrize(
    "path",
    [
        *("{state}/runtime.local.json", ".sisyphus/cc-omo/runtime.local.json"),
        *("./src/../.sisyphus/cc-omo/sessions/x/events.jsonl", "{state}/new-file"),
        *(".SISYPHUS/CC-OMO/runtime.local.json", "{state}"),
    ],
)
def test_direct_edits_of_our_state_are_denied_with_what_to_do_instead(host: Host, path: str) -> None:
    host.prompt("ulw x")
    answer = edit(host, path.format(state=host.state))
    assert decision(answer) == "deny"
    assert "omo " in answer.json["hookSpecificOutput"]["permissionDecisionReason"]
    assert set(answer.json) == {"hookSpecificOutput"}


def test_a_link_to_our_state_is_our_state(host: Host) -> None:
    host.prompt("ulw x")
    (host.project / "innocent").symlink_to(host.state)
    assert decision(edit(host, "innocent/runtime.local.json", tool="Edit")) == "deny"


@pytest.mark.parametrize(
    ("tool", "tool_input"),
    [
        ("NotebookEdit", {"notebook_path": ".sisyphus/cc-omo/x.ipynb"}),
        ("MultiEdit", {"file_path": ".sisyphus/cc-omo/runtime.local.json", "edits": []}),
        ("apply_patch", {"command": "*** Begin Patch\n*** Update File: .sisyphus/cc-omo/runtime.local.json\n"}),
        ("apply_patch", {"command": ["apply_patch", "*** Begin Patch\n*** Add File: .sisyphus/cc-omo/x\n"]}),
        ("apply_patch", {"input": "*** Begin Patch\n*** Add File: a\n*** Move to: .sisyphus/cc-omo/b\n"}),
    ],
)
def test_every_writing_tool_is_guarded(host: Host, tool: str, tool_input: dict[str, Any]) -> None:
    host.prompt("ulw x")
    assert decision(host.send("PreToolUse", tool_name=tool, tool_input=tool_input)) == "deny"


@pytest.mark.usefixtures("through_the_shell")
@pytest.mark.parametrize("runtime", ["{", '{"version": 9, "sessions": {}}', '{"sessions": {"abc123": 7}}'])
def test_whatever_the_state_everything_else_is_allowed(host: Host, runtime: str) -> None:
    host.write_runtime(runtime)
    for tool, tool_input in [
        ("Read", {"file_path": f"{host.state}/runtime.local.json"}),
        ("Write", {"file_path": "src/a.py", "content": "see .sisyphus/cc-omo/runtime.local.json"}),
        ("Edit", {"file_path": ".sisyphus/omo.json"}),
        ("Bash", {"command": "cat .sisyphus/cc-omo/runtime.local.json; omo ulw status"}),
        ("Grep", {"pattern": "x", "path": "src"}),
        ("Skill", {"skill": "omo:status"}),
        ("AskUserQuestion", {}),
    ]:
        host.send("PreToolUse", tool_name=tool, tool_input=tool_input).assert_silent()


@pytest.mark.usefixtures("through_the_shell")
def test_the_guard_holds_for_sessions_that_are_not_active_too(host: Host) -> None:
    host.prompt("ulw x")
    assert decision(edit(host, f"{host.state}/runtime.local.json", session_id="another")) == "deny"


def test_the_third_identical_attempt_makes_the_run_wait(host: Host) -> None:
    host.prompt("ulw x")
    path = f"{host.state}/runtime.local.json"
    assert [decision(edit(host, path)) for _ in range(3)] == ["deny"] * 3
    assert host.row()["work"]["ulw"]["state"] == "waiting"
    told = host.stop()
    assert told.says_to_user("stop-waits-own-state-refused", times=3)
    assert told.message.endswith(path)
    assert decision(edit(host, f"{host.state}/other")) == "deny"


def finish(host: Host, **fields: Any) -> None:
    fields = {"agent_id": "a1", "agent_type": "omo:explorer", "last_assistant_message": "found it", **fields}
    host.send("SubagentStop", **fields).assert_silent()


@pytest.mark.usefixtures("through_the_shell")
def test_an_agent_that_finishes_during_work_is_recorded_and_nothing_is_printed(host: Host) -> None:
    finish(host)
    host.prompt("ulw x")
    finish(host)
    row = host.events()[-1]
    assert (row["kind"], row["agentType"], row["message"]) == ("agent-finished", "omo:explorer", "found it")
    assert row["digest"] == sha256(b"found it")
    assert len(host.events()) == 2


def test_a_reviewer_that_finishes_is_recorded_with_the_files_it_could_have_seen(host: Host) -> None:
    host.prompt("ulw x")
    (host.project / "new.py").write_text("x = 1\n")
    finish(host, agent_type="omo:qa")
    assert list(host.events()[-1]["base"]["files"]) == ["new.py"]
    finish(host)
    assert "base" not in host.events()[-1]


@pytest.mark.usefixtures("through_the_shell")
def test_an_agent_a_session_waits_for_is_recorded_also_without_open_work(host: Host) -> None:
    row = {"awaits": "omo:critic"}
    host.change_row(lambda _: read_row(row), {"kind": "awaits"})
    finish(host)
    finish(host, agent_type="omo:critic", last_assistant_message="clean")
    assert [(one["kind"], one.get("agentType")) for one in host.events()] == [
        ("awaits", None),
        ("agent-finished", "omo:critic"),
    ]
    assert not host.stop().blocks


def test_the_hosts_own_agents_are_not_recorded(host: Host) -> None:
    host.prompt("ulw x")
    finish(host, agent_type="")
    assert len(host.events()) == 1


def test_a_long_message_is_cut_and_its_digest_is_of_the_whole(host: Host) -> None:
    host.prompt("ulw x")
    said = "ü\x01" * 60_000
    finish(host, last_assistant_message=said)
    row = host.events()[-1]
    assert row["cut"] is True
    assert len(row["message"].encode()) <= 64 * 1024
    assert row["digest"] == sha256(said.encode())
    assert host.stop().blocks


@pytest.mark.usefixtures("through_the_shell")
@pytest.mark.parametrize("source", ["startup", "resume", "clear", "compact", "fork"])
def test_without_open_work_a_session_start_injects_nothing(host: Host, source: str) -> None:
    host.send("SessionStart", source=source).assert_silent()
    host.prompt("ulw x", session_id="other")
    host.send("SessionStart", source=source).assert_silent()


@pytest.mark.usefixtures("through_the_shell")
@pytest.mark.parametrize("source", ["resume", "compact"])
def test_open_work_is_told_in_a_few_words(host: Host, source: str) -> None:
    host.prompt("ulw x")
    told = host.send("SessionStart", source=source)
    assert told.says_to_agent("prompt-still-on")
    assert "/omo:stop-continuation" in told.stdout
    assert len(told.stdout) <= 600


def test_with_much_on_a_compaction_still_tells_workflow_item_and_command(host: Host) -> None:
    host.prompt("ulw x")
    step = "G002 is under way: omo ultragoal checkpoint --goal-id G002 --evidence TEXT"
    open_run(host, next=step)
    told = host.send("SessionStart", source="compact")
    assert told.says_to_agent("stop-open-when-last-looked-at", work="ultragoal", open=2, total=3, next=step)
    assert "`omo next`" in told.stdout
    assert len(told.stdout.strip()) <= 560  # 150 tokens, with what the host writes before it
    host.prompt("wait")
    told = host.send("SessionStart", source="compact")
    assert told.says_to_agent("prompt-all-paused-do-not-go-on", first="ultrawork", second="ultragoal")


@pytest.mark.parametrize("source", ["resume", "compact"])
def test_of_work_that_has_ended_and_was_not_told_yet_nothing_is_said_to_be_on(host: Host, source: str) -> None:
    host.prompt("ulw x")
    host.check("ulw", "done", "--because", "it was asked, and nothing had to be changed")
    host.send("SessionStart", source=source).assert_silent()
    assert host.stop().says_to_user("end-on-agents-word")


@pytest.mark.usefixtures("through_the_shell")
def test_later_shells_are_told_where_things_are(host: Host, tmp_path: Path) -> None:
    file = tmp_path / "env file"
    host.environ |= {"CLAUDE_ENV_FILE": str(file), "CLAUDE_PLUGIN_OPTION_MAX_STOP_BLOCKS": "5"}
    host.send("SessionStart", source="startup").assert_silent()
    script = '. "$0"; printf "%s|%s|%s" "$OMO_PROJECT_DIR" "$OMO_ENV_HOME" "$CLAUDE_PLUGIN_OPTION_MAX_STOP_BLOCKS"'
    done = subprocess.run(["sh", "-c", script, str(file)], capture_output=True, text=True, check=True)
    assert done.stdout == f"{host.project}|{host.data}|5"


@pytest.mark.usefixtures("through_the_shell")
def test_a_session_of_before_an_update_does_not_take_the_users_omo_back(host: Host, data: Path, tmp_path: Path) -> None:
    host.send("SessionStart", source="startup").assert_silent()
    here = (data / "root").read_text()
    newer = tmp_path / "newer"
    (newer / "bin").mkdir(parents=True)
    (newer / "bin" / "omo").touch(mode=0o755)
    (data / "root").write_text(f"{newer}\n")
    for source in ("clear", "compact"):
        host.send("SessionStart", source=source)
        assert (data / "root").read_text() == f"{newer}\n"
    (newer / "bin" / "omo").unlink()
    host.send("SessionStart", source="clear")
    assert (data / "root").read_text() == here, "unless that one is gone"


@pytest.mark.usefixtures("through_the_shell")
@pytest.mark.parametrize("command", ["echo {} > runtime.local.json", "rm -r sessions", "cd sessions && rm -r ."])
def test_a_shell_that_stands_in_the_state_is_looked_at_too(host: Host, command: str) -> None:
    host.prompt("ulw fix it")
    sent = host.send("PreToolUse", tool_name="Bash", tool_input={"command": command}, cwd=host.state)
    assert decision(sent) == "deny"
    host.send("PreToolUse", tool_name="Bash", tool_input={"command": "ls"}, cwd=host.state).assert_silent()
