"""Stop through the registered command: blocks, releases, isolation, and what the ledger says of it."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from omo.state import paths, runtime
from tests.hooks.conftest import SESSION, Host

pytestmark = pytest.mark.usefixtures("laps")

IN_PROCESS = True

MINIMUM = {
    "sessions": {
        SESSION: {
            "ulw": {"enabled": True, "stopBlocks": 3, "lastStopAt": "2026-02-22T17:20:01Z"},
            "stopContinuation": {"disabled": False, "disabledReason": None},
        }
    }
}


def test_a_block_is_exactly_two_keys(host: Host) -> None:
    host.prompt("ulw fix the tests")
    answer = host.stop()
    assert set(answer.json) == {"decision", "reason"}
    assert answer.json["decision"] == "block"
    assert len(answer.json["reason"]) <= 600


@pytest.mark.parametrize("indent", [None, 2], ids=["compact", "pretty"])
def test_state_written_by_another_hand_is_understood(host: Host, indent: int | None) -> None:
    host.write_runtime(json.dumps(MINIMUM, indent=indent))
    assert host.stop().blocks
    assert host.row()["ulw"]["stopBlocks"] == 4


@pytest.mark.usefixtures("through_the_shell")
def test_eight_blocks_then_released_once_with_a_line_and_then_silence(host: Host) -> None:
    host.prompt("ulw fix the tests")
    answers = [host.stop(last_assistant_message=f"done {number}") for number in range(11)]
    assert [answer.blocks for answer in answers] == [True] * 8 + [False] * 3
    assert answers[8].says_to_user("end-no-progress", blocks=8)
    assert [answer.stdout for answer in answers[9:]] == ["", ""]
    assert host.kinds() == ["activated:leading", *["blocked:block"] * 8, "allowed:cap"]
    assert (host.row()["work"]["ulw"]["state"], host.row()["ulw"]["enabled"]) == ("ended", False)


def test_the_same_stop_delivered_twice_is_one_block(host: Host) -> None:
    host.environ["OMO_COOLDOWN_SECONDS"] = "3"
    host.prompt("ulw fix the tests")
    assert host.stop(prompt_id="p").blocks
    host.stop(prompt_id="p").assert_silent()
    assert host.row()["ulw"]["stopBlocks"] == 1
    assert host.row()["work"]["ulw"]["state"] == "active"


def test_after_the_cooldown_it_blocks_again(host: Host) -> None:
    host.environ["OMO_COOLDOWN_SECONDS"] = "3"
    host.prompt("ulw fix the tests")
    assert host.stop().blocks
    host.last_block_was(4, time.time())
    assert host.stop(stop_hook_active=True).blocks


@pytest.mark.usefixtures("through_the_shell")
def test_other_sessions_of_the_project_are_not_touched(host: Host) -> None:
    host.prompt("ulw fix the tests")
    before = host.row()
    host.stop(session_id="somebody-else").assert_silent()
    host.stop(session_id="").assert_silent()
    host.raw("Stop", b'{"cwd": "/"}\n').assert_silent()
    assert host.row() == before


def test_state_without_an_id_blocks_nobody(host: Host) -> None:
    host.write_runtime(json.dumps({"sessions": {"": MINIMUM["sessions"][SESSION]}}))
    host.stop(session_id="").assert_silent()
    host.stop().assert_silent()


UNREADABLE = ["{", "", "[]", "null", "7", '{"sessions": 3}', '{"version": "x", "sessions": {}}', '{"version": true}']
UNREADABLE += ['\ufeff{"sessions": {}}', "\0\0", '{"a": 1} x', "[" * 100_000]


@pytest.mark.parametrize("text", UNREADABLE, ids=lambda text: text[:20])
def test_an_unreadable_file_allows_and_is_kept_and_said_once(host: Host, text: str) -> None:
    path = host.write_runtime(text)
    answer = host.stop()
    assert not answer.blocks
    assert "kept as" in answer.json["systemMessage"]
    (kept,) = path.parent.glob("*.corrupt-*")
    assert kept.read_text(encoding="utf-8") == text
    host.stop().assert_silent()


def test_a_newer_file_is_left_alone_and_told(host: Host) -> None:
    text = json.dumps({**MINIMUM, "version": 99})
    path = host.write_runtime(text)
    assert host.stop().says_to_user("stop-state-is-newer", version=99)
    assert path.read_text() == text


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"background_tasks": [{"id": "1", "type": "subagent", "status": "running"}]}, "background-agent"),
        ({"session_crons": [{"id": "1", "schedule": "x", "recurring": False, "prompt": "p"}]}, "wake-up"),
        ({"background_tasks": [{"id": "1", "type": "shell", "status": "running"}]}, "background-shell"),
        ({"permission_mode": "plan"}, "plan-mode"),
        ({"last_assistant_message": "API Error: Connection error."}, "host-limit"),
    ],
)
def test_waiting_is_not_counted(host: Host, fields: dict[str, Any], rule: str) -> None:
    host.prompt("ulw fix the tests")
    assert not host.stop(**fields).blocks
    assert host.row()["ulw"]["stopBlocks"] == 0
    assert host.kinds()[-1] == f"allowed:{rule}"


def test_a_subagent_may_always_stop(host: Host) -> None:
    host.prompt("ulw fix the tests")
    before = host.events()
    host.stop(agent_id="a1", agent_type="omo:explorer").assert_silent()
    assert host.events() == before


@pytest.mark.parametrize(
    ("operations", "blocks"),
    [
        (["enqueue"], False),
        (["enqueue", "dequeue"], True),
        (["enqueue", "enqueue", "dequeue"], False),
        (["enqueue", "remove"], True),
        (["enqueue", "enqueue", "popAll"], True),
        ([], True),
    ],
)
def test_a_prompt_typed_while_the_model_worked_is_let_in(
    host: Host, tmp_path: Path, operations: list[str], blocks: bool
) -> None:
    transcript = tmp_path / "transcript.jsonl"
    rows = [{"type": "user", "sessionId": SESSION}]
    rows += [{"type": "queue-operation", "operation": one, "content": "/omo:stop-continuation"} for one in operations]
    transcript.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))
    for prompt in ("/omo:laps fix the tests", "ulw fix the tests"):
        host.prompt(prompt)
        assert host.stop(transcript_path=str(transcript)).blocks is blocks, prompt


def test_the_hosts_own_notice_of_a_task_is_no_prompt_of_the_user(host: Host, tmp_path: Path) -> None:
    """It is noted as queued before the turn that it begins, and its end may be noted late."""
    host.prompt("ulw fix the tests")
    transcript = tmp_path / "transcript.jsonl"
    notice = {
        "type": "queue-operation",
        "operation": "enqueue",
        "content": "<task-notification>\n<task-id>a1</task-id>",
    }
    transcript.write_text(json.dumps(notice, separators=(",", ":")) + "\n")
    assert host.stop(transcript_path=str(transcript)).blocks
    typed = {"type": "queue-operation", "operation": "enqueue", "content": "/omo:stop-continuation"}
    with transcript.open("a") as file:
        file.write(json.dumps(typed, separators=(",", ":")) + "\n")
    assert not host.stop(transcript_path=str(transcript), last_assistant_message="again").blocks


def test_the_ledger_of_a_run_is_whole_and_git_sees_nothing(host: Host) -> None:
    import subprocess

    host.prompt("ulw fix the tests")
    for number in range(9):
        host.stop(last_assistant_message=str(number))
    assert runtime.ledger_problems(host.state, SESSION) == []
    status = subprocess.run(["git", "status", "--porcelain"], cwd=host.project, capture_output=True, check=True)
    assert status.stdout == b""


def test_a_long_run_makes_a_handful_of_files(host: Host) -> None:
    host.environ |= {"OMO_MAX_STOP_BLOCKS": "50", "OMO_MAX_TOTAL_BLOCKS": "50"}
    host.prompt("ulw fix the tests")
    for number in range(50):
        assert host.stop(last_assistant_message=str(number)).blocks
    assert len([path for path in Path(host.state).rglob("*") if path.is_file()]) <= 6


def test_a_refused_limit_is_told_when_the_run_is_armed(host: Host) -> None:
    host.environ["OMO_MAX_STOP_BLOCKS"] = "0"
    told = host.prompt("ulw fix it", env={"CLAUDECODE": "1"})
    assert told.says_to_user("prompt-on", works="ultrawork")
    assert told.says_to_user("settings-limit-not-used", name="OMO_MAX_STOP_BLOCKS", value=0)
    Path(paths.settings_file(str(host.root))).write_text('{"colour": "red"}')
    host.prompt("/omo:stop-continuation")
    told = host.prompt("ulw fix it", env={"CLAUDECODE": "1"})
    assert told.says_to_user("settings-unknown-not-used", name="colour")
    assert "max_hours" not in told.message, "omo doctor has those that there are"
    assert host.row()["ulw"]["limits"]["max_stop_blocks"] == 8
