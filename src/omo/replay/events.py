"""The events a host would have sent, and what the hooks answered: the side of the wire that the host is on."""

from __future__ import annotations

import json
from typing import Any

from omo.json_text import loads

Row = dict[str, Any]

NAMES = {
    "prompt": "UserPromptSubmit",
    "tool": "PreToolUse",
    "stop": "Stop",
    "subagent": "SubagentStop",
    "start": "SessionStart",
}


def prompt(text: str) -> Row:
    return {"prompt": text}


def tool(name: str, given: Row, *, call: str, agent: str, agent_type: str) -> Row:
    return {"tool_name": name, "tool_input": given, "tool_use_id": call, **_agent(agent, agent_type)}


def stop(message: str, *, continues: bool, mode: str, background: list[Row], wakeups: int) -> Row:
    return {
        "stop_hook_active": continues,
        "last_assistant_message": message,
        "permission_mode": mode,
        "background_tasks": background,
        "session_crons": [{"recurring": False}] * wakeups,
    }


def subagent(agent: str, agent_type: str, message: str) -> Row:
    return {**_agent(agent, agent_type), "last_assistant_message": message}


def start(source: str) -> Row:
    return {"source": source}


def payload(kind: str, fields: Row, *, session: str, cwd: str, transcript: str) -> bytes:
    base = {"session_id": session, "transcript_path": transcript, "cwd": cwd, "hook_event_name": NAMES[kind]}
    return json.dumps({**base, **fields}).encode() + b"\n"


def verdict(kind: str, answer: bytes) -> tuple[str, str]:
    """What an answer decides, in a word, and what it says."""
    text = answer.decode("utf-8", "replace").strip()
    if not text:
        return ("allow" if kind == "stop" else "pass"), ""
    if not text.startswith("{"):
        return "context", text
    body = loads(text)
    more = body.get("hookSpecificOutput") or {}
    if "permissionDecision" in more:
        return str(more["permissionDecision"]), str(more.get("permissionDecisionReason", ""))
    if body.get("decision") == "block":
        return "block", str(body.get("reason", ""))
    return ("allow" if kind == "stop" else "context"), str(body.get("systemMessage", ""))


def told_user(stdout: object) -> str:
    """The message in a hook's own output, as a transcript keeps it."""
    try:
        body = loads(stdout) if isinstance(stdout, str) else None
    except (ValueError, RecursionError):
        return ""
    return str(body.get("systemMessage") or "") if isinstance(body, dict) else ""


def _agent(agent: str, agent_type: str) -> Row:
    return {"agent_id": agent, "agent_type": agent_type} if agent else {}
