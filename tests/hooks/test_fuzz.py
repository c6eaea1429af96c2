"""Generated events: thousands in the process, hundreds through the registered command. Always exit 0, always valid."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from omo.hooks import main as hook
from tests.hooks.conftest import HANDLERS, SESSION, Host
from tests.hooks.test_tool_gates import open_run

TEXTS = [
    *("", "ulw", "ulw fix it", "stop ulw", "/omo:stop-continuation", "/omo:pin a -- b", "hello", "continue", "wait"),
    *(
        "```\nulw\n",
        "~~~ulw",
        '"ulw" `ulw` > ulw',
        "<task-notification>ulw",
        "ulw로 고쳐",
        "\ud800ulw\udfff",
        "\0ulw\0",
    ),
    *(
        "x" * 5000,
        "ulw " * 500,
        "(((([[[[",
        "ＵＬＷ",
        "🙂 ultrawork 🙂",
        "../../etc",
        SESSION,
        "resume",
        "compact",
        "plan",
    ),
    *("omo goal pause", "omo goal 'pause", 'sh -c "omo goal complete"', "$(omo ultragoal steer", "\0omo goal pause"),
]
FIELDS = (
    *("session_id", "cwd", "prompt", "source", "agent_id", "agent_type", "permission_mode", "stop_hook_active"),
    *("last_assistant_message", "background_tasks", "session_crons", "tool_name", "tool_input", "transcript_path"),
    *("prompt_id", "turn_id", "hook_event_name", "unknown"),
)

KEYS = ("file_path", "command", "questions", "question", "status", "type", "recurring", "x")
TOOLS = ("Write", "Edit", "apply_patch", "AskUserQuestion", "Bash", "Read")


def value(chance: random.Random, depth: int = 0) -> Any:
    kind = chance.randrange(9 if depth < 3 else 6)
    if kind < 3:
        return chance.choice(TEXTS)
    if kind < 6:
        return chance.choice([None, True, False, 0, -1, 2**70, 1.5, 1e308])
    if kind < 7:
        return [value(chance, depth + 1) for _ in range(chance.randrange(4))]
    return {chance.choice(KEYS): value(chance, depth + 1) for _ in range(chance.randrange(4))}


def payload(chance: random.Random) -> bytes:
    body = {name: value(chance) for name in chance.sample(FIELDS, chance.randrange(len(FIELDS)))}
    if chance.random() < 0.7:
        body["session_id"] = SESSION
    if chance.random() < 0.5:
        body["prompt"] = chance.choice(TEXTS)
    if chance.random() < 0.5:
        body["tool_name"] = chance.choice(TOOLS)
        body["tool_input"] = {chance.choice(KEYS): value(chance, 1) for _ in range(3)}
    raw = json.dumps(body, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass")
    return spoiled(raw, chance) if chance.random() < 0.2 else raw + b"\n"


def spoiled(raw: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(raw) + 1)
    odd_byte = raw[:at] + bytes([chance.randrange(256)]) + raw[at:]
    return chance.choice([raw[:at], odd_byte, b"\xef\xbb\xbf" + raw, raw + raw, b"", raw[::-1]])


def assert_valid(event: str, out: bytes) -> None:
    text = out.decode("utf-8")
    if not text.startswith("{"):
        assert event in ("UserPromptSubmit", "SessionStart") or not text
        return
    body = json.loads(text)
    allowed = {"decision", "reason", "systemMessage", "hookSpecificOutput"}
    assert set(body) <= allowed
    if "decision" in body:
        assert body["decision"] == "block"
        assert body["reason"]
    if "hookSpecificOutput" in body:
        assert body["hookSpecificOutput"]["hookEventName"] == event


@pytest.mark.parametrize("event", HANDLERS)
def test_a_thousand_events_in_the_process(event: str, tmp_path: Path) -> None:
    chance = random.Random(event)
    name, handle = HANDLERS[event]
    project = tmp_path / "project"
    project.mkdir()
    environ = {"CLAUDE_PROJECT_DIR": str(project), "OMO_COOLDOWN_SECONDS": "0.5"}
    open_run(Host(project, data=project))
    failures = project / ".sisyphus" / "cc-omo" / "hooks.log"
    for number in range(1000):
        out = hook.answer(name, handle, payload(chance), environ, str(project), 1_771_780_801.0 + number)
        assert_valid(event, out)
    assert not failures.exists(), failures.read_text()
    assert {path.name for path in tmp_path.iterdir()} == {"project"}


@pytest.mark.parametrize("event", HANDLERS)
def test_twenty_events_through_the_registered_command(event: str, host: Host) -> None:
    chance = random.Random(event + "!")
    host.prompt("ulw begin")
    open_run(host)
    for _ in range(20):
        answer = host.raw(event, payload(chance))
        assert (answer.code, answer.stderr) == (0, "")
        assert_valid(event, answer.stdout.encode())
