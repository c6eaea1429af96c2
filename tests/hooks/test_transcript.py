"""The host's record of a session is read as rows of JSON, however they are spelled, and only from a regular file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from omo.hosts import claude
from tests.hooks.conftest import Host

Row = dict[str, Any]

TURN = "7d1e"
EARLY, LATE, LATER = (f"2026-11-16T16:0{minute}:00.000Z" for minute in range(3))
NOTICE = "<task-notification>the shell has ended"
USED = {"input_tokens": 1, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 3, "output_tokens": 4}


def queue(operation: str, content: str = "/omo:stop-continuation") -> Row:
    return {"type": "queue-operation", "operation": operation, "content": content}


def answer(at: str, *blocks: Row) -> Row:
    message = {"role": "assistant", "id": at, "content": list(blocks), "usage": USED}
    return {"type": "assistant", "message": message, "requestId": "r", "timestamp": at}


def shown(row: Row) -> Row:
    """As a tool's result tells of it, and as the client notes what a subagent does."""
    return {"type": "progress", "promptId": "other", "data": {"message": row, "text": json.dumps(row)}}


SAID = {"type": "text", "text": 'Schön, "fertig":\n```'}
RAN = {"type": "tool_use", "name": "Bash", "input": {"command": "git status"}}
ROWS = [
    {"type": "user", "promptId": TURN, "message": {"role": "user", "content": "ulw"}},
    answer(EARLY, {"type": "text", "text": "first"}),
    queue("enqueue"),
    queue("enqueue", NOTICE),
    queue("dequeue"),
    queue("enqueue", f"what is {NOTICE}?"),
    {"type": "attachment", "attachment": {"type": "goal_status", "condition": "tests pass"}},
    answer(LATE, RAN, SAID),
    shown(answer(LATER, {"type": "text", "text": "subagent's"})),
    shown(queue("popAll")),
    {"type": "attachment", "attachment": {"type": "other", "text": "goal_status"}},
]
SPELLINGS: dict[str, Callable[[Row], str]] = {
    "compact": lambda row: json.dumps(row, separators=(",", ":"), ensure_ascii=False),
    "with blanks": json.dumps,
    "more blanks": lambda row: json.dumps(row, separators=(" ,\t", " : ")),
    "sorted": lambda row: json.dumps(row, sort_keys=True),
}


@pytest.mark.parametrize("end", ["\n", "", '\n{"type":"assistant","timest'], ids=["whole", "no newline", "torn"])
@pytest.mark.parametrize("spelled", SPELLINGS.values(), ids=list(SPELLINGS))
def test_every_spelling_of_a_row_says_the_same(tmp_path: Path, spelled: Callable[[Row], str], end: str) -> None:
    path = tmp_path / "transcript.jsonl"
    path.write_text("\n".join(map(spelled, ROWS)) + end, encoding="utf-8")
    transcript = claude.HOST.transcript(str(path))
    assert transcript.queued_prompts() == 1
    assert transcript.has_turn(TURN)
    assert not transcript.has_turn("other-turn")
    assert transcript.last_word_at() == LATE
    assert transcript.is_silent_since(LATE)
    assert not transcript.is_silent_since(EARLY)
    calls = transcript.calls_since(EARLY)
    assert calls is not None
    assert [(call.kind, call.command) for call in calls] == [("shell", "git status")]
    assert transcript.active_goal() == "tests pass"
    assert transcript.has_said(SAID["text"])
    assert not transcript.has_said("subagent's")
    assert [usage.at for usage in transcript.usage()[0]] == [EARLY, LATE]


def pipe(tmp_path: Path) -> str:
    os.mkfifo(tmp_path / "pipe")
    return str(tmp_path / "pipe")


def link_to_a_pipe(tmp_path: Path) -> str:
    (tmp_path / "link").symlink_to(pipe(tmp_path))
    return str(tmp_path / "link")


def device(tmp_path: Path) -> str:
    return "/dev/zero"


def directory(tmp_path: Path) -> str:
    return str(tmp_path)


@pytest.mark.parametrize("made", [pipe, link_to_a_pipe, device, directory])
def test_what_is_no_file_is_no_transcript_and_holds_no_hook(
    host: Host, tmp_path: Path, made: Callable[[Path], str]
) -> None:
    path = made(tmp_path)
    given: Row = {"transcript_path": path, "prompt_id": TURN, "env": {"CLAUDECODE": "1"}}
    assert host.prompt("ulw x", **given).says_to_agent("prompt-turned-on")
    host.prompt("what are you at?", **given).assert_silent()
    assert host.stop(transcript_path=path).blocks
    assert host.prompt("/omo:budget 50k tokens", **given).says_to_user("prompt-budget")
    (host.project / "work").write_text("done since the last message\n")
    assert host.stop(**given).says_to_user("end-budget-unknown", ceiling="50k tokens")


def test_what_is_not_known_is_not_called_silence(tmp_path: Path) -> None:
    transcript = claude.HOST.transcript(pipe(tmp_path))
    assert transcript.calls_since(EARLY) is None
    assert not transcript.is_silent_since(LATER)
    assert transcript.queued_prompts() == 0
