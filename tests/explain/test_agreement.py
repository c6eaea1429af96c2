"""What `explain tool` says of a call is what the hook then answers, whatever the session is in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from omo.hooks import tool_use
from omo.hooks.main import World, answer
from omo.hosts import claude
from omo.state import ownership, runtime
from omo.state.rows import read_row
from omo.views.explain.decisions import explain_tool
from omo.work import session

NOW = 1_771_780_801.0
SESSION = "s1"
DENY = {"ask": "A goal is open.", "pause": "No blocker.", "complete": "Not proven."}
RUN: Any = {"run": "g1", "state": "active", "open": 1, "total": 1, "next": "G001", "deny": DENY}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("Read", {"file_path": "a"}),
    ("Write", {"file_path": "src/a.py"}),
    ("Write", {"file_path": "README.md"}),
    ("Edit", {"file_path": ".sisyphus/cc-omo/runtime.local.json"}),
    ("Write", {"file_path": ".sisyphus/omo.json"}),
    ("Bash", {"command": "rm -rf .sisyphus"}),
    ("Bash", {"command": "echo x > README.md; omo goal pause"}),
    ("Bash", {"command": "env A=b omo goal complete"}),
    ("Bash", {"command": "omo ultragoal checkpoint"}),
    ("Bash", {"command": "git commit -m 'omo goal pause'"}),
    ("PowerShell", {"command": "Remove-Item README.md"}),
    ("AskUserQuestion", {"questions": [{"question": "Which?"}]}),
    ("Bash", {"command": 3}),
    ("Write", {}),
]


def rows(root: Path) -> dict[str, Any]:
    armed = session.arm(None, by="user", limits={}, now=NOW)
    led = session.put_work(None, "ultragoal", RUN, limits={}, now=NOW)
    fence = {"touch": ["src/**"], "never": [], "root": str(root), "spec": ""}
    fenced = {"work": {"ultraplan": {"run": "p1", "state": "active", "open": 1, "total": 1, "fence": fence}}}
    return {
        "nothing": {},
        "ultrawork": armed,
        "ultragoal": led,
        "cancelled": session.cancel(led, reason="user", now=NOW),
        "fenced": fenced,
    }


@pytest.mark.parametrize("state", ["nothing", "ultrawork", "ultragoal", "cancelled", "fenced"])
def test_explained_as_decided(tmp_path: Path, state: str) -> None:
    kept = str(tmp_path / ".sisyphus" / "cc-omo")
    ownership.make_state_dir(kept)
    row = rows(tmp_path)[state]
    runtime.change_session(
        kept, SESSION, lambda _: runtime.Change(None, read_row(row), [{"kind": "test"}]), actor="user", now=NOW, wait=5
    )
    for tool, given in CALLS * 4:
        fields = {"session_id": SESSION, "cwd": str(tmp_path), "tool_name": tool, "tool_input": given}
        raw = json.dumps(fields).encode()
        event = claude.HOST.read(raw, {})
        assert event is not None
        said = explain_tool(event, World(event, {}, str(tmp_path), NOW))
        told = answer("pre-tool-use", tool_use.handle, raw, {}, str(tmp_path), NOW)
        more = json.loads(told)["hookSpecificOutput"] if told else {"permissionDecision": "allow"}
        assert said.decision == more["permissionDecision"], (tool, given)
        assert said.decision == "allow" or said.why in more["permissionDecisionReason"]
