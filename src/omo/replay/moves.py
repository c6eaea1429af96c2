"""What a row of a transcript says happened: somebody spoke, a tool was called, a turn ended, a hook was heard."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]

FEEDBACK = "Stop hook feedback:"
BLOCKED = "UserPromptSubmit operation blocked by hook:"
INTERRUPTED = "[Request interrupted by user"
COMMAND = re.compile(r"<command-name>\s*(/?[^<\s]{1,200})\s*</command-name>")
ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
NOTICE_ID = re.compile(r"<task-id>\s*([^<\s]{1,200})\s*</task-id>")
NOTICE = "<task-notification>"
# Text of the host's own, and what a person ran in its shell: no prompt.
NO_PROMPT = ("<local-command-", "<bash-input>", "<bash-stdout>", "<bash-stderr>", "<system-reminder>")
# Commands the host carries out itself; no hook hears of them.
LOCAL = frozenset(
    (
        *("/compact", "/clear", "/usage", "/cost", "/help", "/model", "/config", "/login", "/logout", "/status"),
        *("/doctor", "/resume", "/exit", "/quit", "/memory", "/permissions", "/hooks", "/agents", "/mcp", "/plugin"),
        *("/reload-plugins", "/context", "/export", "/rewind", "/vim", "/theme", "/statusline"),
    )
)
HOOK_ROWS = ("hook_success", "hook_blocking_error", "hook_system_message")


@dataclass(frozen=True)
class Move:
    """`kind` names what happened; the rest is what it needs."""

    kind: str
    text: str = ""
    id: str = ""
    name: str = ""
    data: Row = field(default_factory=dict)
    is_error: bool = False


def moves_of(row: Row) -> list[Move]:
    """None of them for the rows a replay has no use for, whatever shape they have."""
    reader = READERS.get(str(row.get("type")))
    return reader(row) if reader else []


def _user(row: Row) -> list[Move]:
    content = _content(row)
    found = [_result(block, row) for block in content if block.get("type") == "tool_result"]
    if found:
        return found
    text = _text(content)
    mode = row.get("permissionMode")
    moves = [Move("mode", mode)] if isinstance(mode, str) else []
    if row.get("isCompactSummary") is True or not text.strip():
        return moves
    if row.get("isMeta") is True:
        return [Move("feedback", text[len(FEEDBACK) :].strip()), *moves] if text.startswith(FEEDBACK) else moves
    if text.startswith(INTERRUPTED):
        return [Move("interrupted")]
    return [*_prompt(text), *moves]  # the turn before it ended in the mode before


def _prompt(text: str) -> list[Move]:
    command = COMMAND.search(text[:1000]) if text.lstrip().startswith(("<command-name>", "<command-message>")) else None
    if command is None:
        return [] if text.startswith(NO_PROMPT) else [Move("prompt", text)]
    name = command[1] if command[1].startswith("/") else f"/{command[1]}"
    arguments = ARGUMENTS.search(text)
    return [] if name in LOCAL else [Move("prompt", f"{name} {arguments[1] if arguments else ''}".strip())]


def _result(block: Row, row: Row) -> Move:
    details = row.get("toolUseResult")
    return Move(
        "result",
        _text(_blocks(block.get("content"))),
        str(block.get("tool_use_id")),
        data=details if isinstance(details, dict) else {},
        is_error=block.get("is_error") is True,
    )


def _assistant(row: Row) -> list[Move]:
    content = _content(row)
    calls = [
        Move("call", id=str(one.get("id")), name=str(one.get("name")), data=_object(one.get("input")))
        for one in content
        if one.get("type") == "tool_use"
    ]
    message = _object(row.get("message"))
    facts = {"stop_reason": message.get("stop_reason"), "calls": len(calls)}
    return [Move("said", _text(content), str(message.get("id")), data=facts), *calls]


def _system(row: Row) -> list[Move]:
    kind, text = row.get("subtype"), row.get("content")
    if kind == "compact_boundary":
        return [Move("compacted")]
    if kind == "stop_hook_summary":
        return [Move("summary", data=row)]
    if kind == "informational" and isinstance(text, str) and text.startswith(BLOCKED):
        return [Move("blocked-prompt", text[len(BLOCKED) :].strip())]
    return []


def _attachment(row: Row) -> list[Move]:
    told = _object(row.get("attachment"))
    if told.get("type") == "queued_command":  # typed while the model worked, and delivered between two tools
        text = _text(_blocks(told.get("prompt")))
        return [Move("prompt", text)] if text.strip() else []
    if told.get("type") not in HOOK_ROWS:
        return []
    return [Move("hook", str(told.get("hookName")), name=str(told.get("hookEvent")), data=told)]


def _queue(row: Row) -> list[Move]:
    content = row.get("content")
    return [Move("queue", content if isinstance(content, str) else "", name=str(row.get("operation")))]


def _mode(row: Row) -> list[Move]:
    mode = row.get("permissionMode")
    return [Move("mode", mode)] if isinstance(mode, str) else []


def _content(row: Row) -> list[Row]:
    return _blocks(_object(row.get("message")).get("content"))


def _blocks(value: object) -> list[Row]:
    if isinstance(value, str):
        return [{"type": "text", "text": value}]
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _text(blocks: list[Row]) -> str:
    texts = [one.get("text") for one in blocks if one.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))


def _object(value: object) -> Row:
    return value if isinstance(value, dict) else {}


READERS: dict[str, Callable[[Row], list[Move]]] = {
    "user": _user,
    "assistant": _assistant,
    "system": _system,
    "attachment": _attachment,
    "queue-operation": _queue,
    "permission-mode": _mode,
}
