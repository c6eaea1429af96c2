"""What the host refused, read from its record; the story in the client is in tests/e2e/test_refused.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from omo.hosts.claude import ClaudeTranscript, rules_for
from omo.hosts.codex import Rollout
from omo.state import paths
from tests.hooks.conftest import Host

IN_PROCESS = True
BEFORE, NOW = "2026-11-16T10:00:00.000Z", "2026-11-16T11:00:00.000Z"


def refused(call: str, tool: str, given: dict[str, Any], *, source: str = "config", kind: str = "user-rejected") -> str:
    """A call and its refusal, as Claude Code 2.1.325 writes them down."""
    use = {"type": "tool_use", "id": call, "name": tool, "input": given}
    result = {"type": "tool_result", "tool_use_id": call, "is_error": True, "content": "no"}
    rows: list[dict[str, Any]] = [
        {"type": "assistant", "timestamp": NOW, "message": {"content": [use]}},
        {
            "type": "user",
            "timestamp": NOW,
            "message": {"content": [result]},
            "toolDenialKind": kind,
            "permissionDecision": {"decision": "reject", "source": source},
        },
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


def transcript(tmp_path: Path, text: str) -> ClaudeTranscript:
    path = tmp_path / "transcript.jsonl"
    path.write_text(text, encoding="utf-8")
    return ClaudeTranscript(str(path))


def test_what_the_permissions_refuse_counts_and_nobody_elses_no(tmp_path: Path) -> None:
    text = refused("a", "Bash", {"command": "make test"}) + refused("b", "Bash", {"command": "x"}, source="hook")
    text += refused("c", "WebFetch", {"url": "u"}, source="user_reject")
    text += refused("d", "Write", {"file_path": "/p/a.py"}, kind="permission-rule")
    found = transcript(tmp_path, text).refused_since(BEFORE)
    assert [(each.tool, each.what, each.is_denied) for each in found] == [
        ("Bash", "make test", False),
        ("Write", "/p/a.py", True),
    ]
    assert transcript(tmp_path, text).refused_since(NOW) == [], "what the agent was told of already"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{\n",
        '"toolDenialKind"\n',
        json.dumps({"toolDenialKind": 1, "permissionDecision": 2, "timestamp": NOW}) + "\n",
    ],
)
def test_an_odd_record_refuses_nothing(tmp_path: Path, text: str) -> None:
    assert transcript(tmp_path, text).refused_since(BEFORE) == []


@pytest.mark.parametrize(
    ("tool", "command", "rules"),
    [
        ("Bash", "make test", ["Bash(make *)"]),
        ("Bash", "touch x && git status", ["Bash(touch *)", "Bash(git *)"]),
        ("Bash", "", ["Bash"]),
        ("Write", "", ["Edit"]),
        ("WebFetch", "make test", ["WebFetch"]),
    ],
)
def test_the_rule_that_would_allow_it(tool: str, command: str, rules: list[str]) -> None:
    assert rules_for(tool, command) == rules


def test_what_codex_did_not_carry_out_counts_and_what_failed_does_not(tmp_path: Path) -> None:
    def row(kind: str, call: str, **more: object) -> str:
        payload = {"type": kind, "call_id": call, **more}
        return json.dumps({"timestamp": NOW, "type": "response_item", "payload": payload}) + "\n"

    asked = json.dumps({"cmd": "curl x\nmore"})
    text = row("function_call", "a", name="exec_command", arguments=asked)
    text += row("function_call_output", "a", output="approval policy is Never; reject command")
    text += row("function_call", "b", name="exec_command", arguments="{")
    text += row("function_call_output", "b", output="patch rejected: writing is blocked by read-only sandbox")
    text += row("function_call_output", "c", output="Process exited with code 1: Read-only file system")
    path = tmp_path / "rollout.jsonl"
    path.write_text(text + "{\n", encoding="utf-8")
    found = [(each.tool, each.what, each.rules) for each in Rollout(str(path)).refused_since(BEFORE)]
    assert found == [
        ("exec_command", "curl x", ["--ask-for-approval on-request"]),
        ("exec_command", "", ["--sandbox workspace-write"]),
    ]
    assert Rollout(str(path)).refused_since(NOW) == []
    assert Rollout("").refused_since(BEFORE) == []


@pytest.mark.parametrize("junk", [3, [], {"at": 7}, {"at": "x", "calls": 1, "rules": []}, {"calls": [1], "rules": [2]}])
def test_an_edited_row_holds_and_is_held(host: Host, junk: object) -> None:
    host.prompt("ulw x")
    runtime = json.loads(Path(paths.runtime_file(host.state)).read_text("utf-8"))
    runtime["sessions"][host.session]["ulw"]["refused"] = junk
    host.write_runtime(json.dumps(runtime))
    assert host.stop().blocks
