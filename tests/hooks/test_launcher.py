"""The launcher under harsh conditions: whatever happens, exit 0, nothing on stderr, no output nobody decided on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hooks.conftest import HOOKS, ROOT, SESSION, Answer, Host, command_of, note_starts
from tests.parts import first_of

EVENTS = list(HOOKS)
Files = Callable[[], dict[str, bytes]]

HARSH_STDIN = {
    "empty": b"",
    "newline": b"\n",
    "no newline": b'{"session_id": "abc123", "prompt": "ulw x"}',
    "garbage": b"\x00\xff\xfe{{{",
    "number": b"7\n",
    "list": b"[1]\n",
    "truncated": b'{"session_id": "abc123", "prompt": "ulw',
    "deep": b"[" * 200_000,
    "wrong types": b'{"session_id": 7, "cwd": [], "prompt": {}, "tool_input": 3, "background_tasks": "x"}\n',
    "bom": b'\xef\xbb\xbf{"session_id": "abc123"}\n',
    "crlf": b'{"session_id": "abc123"}\r\n',
    "surrogate": b'{"session_id": "abc123", "prompt": "ulw \\ud800", "last_assistant_message": "\\udfff"}\n',
    "no path": b'{"session_id": "%b", "transcript_path": "\\u0000"}\n' % SESSION.encode(),
    "long": b'{"cwd": "%b", "tool_name": "Bash", "tool_input": {"command": "omo"}}\n' % (b"x" * 300_000),
}


@pytest.mark.parametrize("event", EVENTS)
def test_any_stdin_is_survived(host: Host, event: str) -> None:
    host.prompt("ulw begin")
    for name, stdin in HARSH_STDIN.items():
        answer = host.raw(event, stdin)
        assert (answer.code, answer.stderr) == (0, ""), name
        if answer.stdout.startswith("{"):
            json.loads(answer.stdout)
        assert host.row()["ulw"]["enabled"], f"{name}: what was on is on"


@pytest.mark.parametrize(
    "extra",
    [
        {"LC_ALL": "C"},
        {"LC_ALL": "POSIX", "PYTHONIOENCODING": "cp1252"},
        {"PYTHONIOENCODING": "cp949", "LANG": "ko_KR.EUC-KR"},
        {"PYTHONPATH": "/nonexistent", "PYTHONHOME": "/nonexistent", "PYTHONSTARTUP": "/nonexistent"},
        {"CDPATH": "/tmp", "IFS": "x", "ENV": "/nonexistent"},
    ],
    ids=lambda extra: " ".join(extra),
)
def test_odd_environments_do_not_matter(host: Host, extra: dict[str, str]) -> None:
    first = host.send("UserPromptSubmit", prompt="ulw 수정해줘 🙂 \ud800", env=extra)
    assert first.says_to_agent("prompt-turned-on")
    assert host.send("Stop", env=extra).blocks


def test_bom_and_crlf_around_a_real_prompt(host: Host) -> None:
    body = host.payload("UserPromptSubmit", prompt="ulw fix it\r\nplease").rstrip(b"\n")
    assert host.raw("UserPromptSubmit", b"\xef\xbb\xbf" + body + b"\r\n").says_to_agent("prompt-turned-on")


@pytest.mark.parametrize("event", first_of(EVENTS, 1))
@pytest.mark.parametrize("said", [True, False], ids=["after the event", "without a word"])
def test_a_stdin_that_never_closes_does_not_hold_the_session(host: Host, event: str, said: bool) -> None:
    host.prompt("ulw begin")
    read, write = os.pipe()
    try:
        if said:
            os.write(write, host.payload(event, prompt="ulw again", source="clear"))
        done = subprocess.run(
            ["sh", "-c", command_of(event)],
            stdin=read,
            capture_output=True,
            cwd=host.project,
            env=host.environment(PATH=without_python(host)),
            timeout=30,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
    finally:
        os.close(read)
        os.close(write)


def without_python(host: Host) -> str:
    """A PATH with next to nothing on it."""
    tools = host.data / "tools"
    tools.mkdir(exist_ok=True)
    for name in ("sh", "sed", "sleep", "cksum", "tr", "mkdir", "rm", "mv", "cat", "date", "find", "head", "tail", "ls"):
        source = shutil.which(name)
        if source and not (tools / name).exists():
            (tools / name).symlink_to(source)
    return str(tools)


def running_in(session: int) -> list[str]:
    """What still runs there; a zombie only waits for somebody to take note of its end."""
    command = ["ps", "-o", "stat=,args=", "-s", str(session)]
    listing = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return [line for line in listing.splitlines() if not line.startswith("Z")]


def test_the_watchdog_leaves_no_process_behind(host: Host) -> None:
    """In a session of its own, so that nobody else's processes count. Left to itself the watchdog would sleep on."""
    tools = without_python(host)
    sleep = Path(tools, "sleep")
    sleep.unlink()
    sleep.write_text(f"#!/bin/sh\nexec '{shutil.which('sleep')}' 600\n", encoding="utf-8")
    sleep.chmod(0o755)
    hook = host.start("UserPromptSubmit", host.payload("UserPromptSubmit", prompt="hello"), PATH=tools)
    hook.communicate()
    deadline = time.monotonic() + 60
    while left := running_in(hook.pid):
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


@pytest.mark.parametrize("event", EVENTS)
def test_a_plugin_directory_that_was_deleted_is_survived(host: Host, event: str) -> None:
    host.plugin = host.project / "gone"
    host.raw(event, host.payload(event, prompt="ulw x")).assert_silent()


@pytest.mark.parametrize("event", EVENTS)
def test_switched_off_nothing_is_printed_and_nothing_written(host: Host, event: str, files: Files) -> None:
    host.prompt("ulw begin")
    before = files()
    answer = host.raw(event, host.payload(event, prompt="ulw x", tool_name="Write"), OMO_DISABLE="1")
    answer.assert_silent()
    assert files() == before


def test_single_hooks_can_be_skipped(host: Host) -> None:
    host.prompt("ulw begin")
    host.send("Stop", env={"OMO_SKIP_HOOKS": "pre-tool-use, stop"}).assert_silent()
    host.send("Stop", env={"OMO_SKIP_HOOKS": "Stop"}).assert_silent()
    assert host.send("Stop", env={"OMO_SKIP_HOOKS": "pre-tool-use"}).blocks


@pytest.mark.parametrize("event", EVENTS)
def test_a_project_that_cannot_be_written_is_left_alone(host: Host, event: str) -> None:
    (host.project / ".sisyphus").write_text("a file where the directory should be")
    host.raw(event, host.payload(event, prompt="ulw x", source="clear"), PATH=without_python(host)).assert_silent()


def test_the_words_in_paths_and_other_fields_do_not_trigger(host: Host, files: Files) -> None:
    before = files()
    host.prompt("hi", transcript_path="/x/ultrawork/ulw.jsonl").assert_silent()
    assert files() == before


LONG = "stop " * 100_000  # for whose patterns a shell with letters of several bytes takes a second


def test_what_is_said_in_a_long_prompt_is_heard(host: Host) -> None:
    host.prompt("please look at this log:\n" + LONG).assert_silent()
    assert host.prompt(f"{LONG}\n\nulw x").says_to_agent("prompt-turned-on")
    assert host.stop(last_assistant_message=LONG).blocks
    host.stop(session_id="never-on", last_assistant_message=LONG).assert_silent()
    cancelled = host.prompt(f"/omo:stop-continuation {LONG}")
    assert cancelled.says_to_agent("prompt-cancelled", works="ultrawork")


def test_a_long_event_is_read_by_python_alone(host: Host, data: Path) -> None:
    """In a project with state: the patterns of the launcher are not run over it."""
    host.prompt("ulw begin", session_id="other-1")
    noted = note_starts(data)
    host.prompt(LONG).assert_silent()
    host.send("PreToolUse", tool_name="Write", tool_input={"content": LONG}).assert_silent()
    host.send("PostToolUse", tool_name="Bash", tool_input={"command": LONG}).assert_silent()
    host.stop(last_assistant_message=LONG).assert_silent()
    host.send("SubagentStop", last_assistant_message=LONG).assert_silent()
    assert noted.read_text().split() == ["user-prompt-submit", "pre-tool-use", "post-tool-use", "stop", "subagent-stop"]


def test_a_subdirectory_uses_the_state_of_its_project(host: Host) -> None:
    host.prompt("ulw begin")
    deep = host.project / "a" / "b"
    deep.mkdir(parents=True)
    answer = host.raw("Stop", host.payload("Stop", cwd=str(deep)), cwd=deep, CLAUDE_PROJECT_DIR="")
    assert answer.blocks
    assert not list(deep.rglob(".sisyphus"))


@pytest.mark.parametrize("escaped", [True, False])
def test_a_host_that_names_the_project_in_the_event_alone(host: Host, tmp_path: Path, escaped: bool) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    def send(event: str, **fields: str) -> Answer:
        body = {"session_id": SESSION, "cwd": str(host.project), **fields}
        raw = json.dumps(body, ensure_ascii=escaped).encode() + b"\n"
        return host.raw(event, raw, cwd=elsewhere, CLAUDE_PROJECT_DIR="")

    send("Stop").assert_silent()
    assert send("UserPromptSubmit", prompt="ulw begin").says_to_agent("prompt-turned-on")
    assert send("Stop").blocks
    send("UserPromptSubmit", prompt="hello").assert_silent()
    assert list(elsewhere.iterdir()) == []


def test_state_elsewhere(host: Host, tmp_path: Path) -> None:
    elsewhere = {"OMO_STATE_DIR": str(tmp_path / "states")}
    assert host.send("UserPromptSubmit", prompt="ulw x", env=elsewhere).says_to_agent("prompt-turned-on")
    assert host.send("Stop", env=elsewhere).blocks
    assert not (host.project / ".sisyphus").exists()


def test_the_plugin_works_from_a_directory_with_quotes_and_spaces(host: Host, tmp_path: Path) -> None:
    plugin = tmp_path / """o'm "o" $HOME `x` ü"""
    for part in ("hooks", "src"):
        shutil.copytree(ROOT / part, plugin / part, ignore=shutil.ignore_patterns("__pycache__"))
    host.plugin = plugin
    assert host.prompt("ulw x").says_to_agent("prompt-turned-on")
    assert host.stop().blocks
    assert not list(plugin.rglob("__pycache__"))


@pytest.mark.parametrize("event", ["Stop", "SubagentStop"])
def test_in_a_project_where_nothing_is_live_no_python_is_started(host: Host, data: Path, event: str) -> None:
    host.prompt("ulw fix it")
    host.prompt("/omo:stop-continuation")
    host.prompt("thanks")
    noted = note_starts(data)
    host.send(event)
    assert not noted.exists()
