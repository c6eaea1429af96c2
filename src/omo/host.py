"""The host's wire format: the one module that knows the field names Claude Code and Codex use."""

from __future__ import annotations

import os

from omo.digest import sha256
from omo.json_text import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

LONGEST_EVENT = 32 * 1024 * 1024
FINISHED = ("completed", "failed", "killed", "stopped", "cancelled", "done", "exited")
LONGEST_TAIL = 64 * 1024 * 1024
SHELLS = ("shell", "monitor")
TASK_NOTICE = b'"content":"<task-notification>'
# What the rules of Stop read of an event, and the host's field it comes from; for `omo explain`.
READ_FROM = {
    "agent_id": "agent_id",
    "permission_mode": "permission_mode",
    "last_message": "last_assistant_message",
    "running": "background_tasks",
    "wakeups": "session_crons",
    "queued": "transcript_path",
    "tools": "transcript_path",
    "continues": "stop_hook_active",
    "fingerprint": "the event's bytes",
}


class Event:
    """One hook event, each field of the type the rest of the code expects, whatever was sent."""

    __slots__ = ("_fields", "name", "raw")

    def __init__(self, fields: dict[str, Any], raw: bytes = b"") -> None:
        self._fields = fields
        self.raw = raw
        self.name = self._text("hook_event_name")

    def _text(self, key: str) -> str:
        value = self._fields.get(key)
        return value if isinstance(value, str) else ""

    def _objects(self, key: str) -> list[dict[str, Any]]:
        value = self._fields.get(key)
        return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []

    @property
    def session(self) -> str:
        return self._text("session_id")

    @property
    def cwd(self) -> str:
        return self._text("cwd")

    @property
    def project(self) -> str:
        """Where the session was started; a status line is told so, and its `cwd` goes along with every cd."""
        workspace = self._fields.get("workspace")
        named = workspace.get("project_dir") if isinstance(workspace, dict) else None
        return named if isinstance(named, str) and named else self.cwd

    @property
    def prompt(self) -> str:
        return self._text("prompt")

    @property
    def is_machine_prompt(self) -> bool:
        """Where the host says who wrote a prompt; most versions do not."""
        return self._text("source") not in ("", "user", "sdk")

    @property
    def transcript(self) -> str:
        return self._text("transcript_path")

    def queued_prompts(self) -> int:
        """How many prompts the user has typed that the host holds back until this turn ends.

        A slash command typed while the model works reaches no hook before that. The host notes it only in the
        transcript, in a form it does not document; read from the end, and anything odd counts as none.
        """
        waiting: list[bool] = []  # in their order: whether a person typed it, or the host tells of a task that ended
        for line in _transcript_lines(self.transcript, b'"queue-operation"'):
            if b'"enqueue"' in line:
                waiting.append(TASK_NOTICE not in line)
            elif b'"popAll"' in line:
                waiting = []
            else:
                waiting = waiting[1:]
        return sum(waiting)

    def is_silent_since(self, stamp: str) -> bool:
        """There is a transcript, and in it the model has not said a word since that moment."""
        if not os.path.isfile(self.transcript):
            return False
        mark = b'"timestamp":"'
        for line in _transcript_lines(self.transcript, b'"role":"assistant"'):
            at = line.rfind(mark)
            if at >= 0 and line[at + len(mark) :][: len(stamp)].decode("ascii", "replace") > stamp:
                return False
        return True

    def tools_since(self, stamp: str) -> list[tuple[str, dict[str, Any]]] | None:
        """Name and input of each tool the model has called since that moment; None where that is not known.

        Read from the end of the transcript. One in which no model speaks in Claude Code's form tells nothing.
        """
        calls: list[tuple[str, dict[str, Any]]] = []
        is_known = False
        for line in reversed(_transcript_lines(self.transcript, b'"type":"assistant"')):
            row = _object(line)
            moment = row.get("timestamp")
            if row.get("type") != "assistant" or not isinstance(moment, str):
                continue
            is_known = True
            if moment <= stamp:
                break
            calls += _tool_calls(row)
        return calls if is_known else None

    @property
    def start_source(self) -> str:
        return self._text("source")

    @property
    def is_subagent(self) -> bool:
        return bool(self._fields.get("agent_id"))

    @property
    def agent_id(self) -> str:
        return self._text("agent_id")

    @property
    def agent_type(self) -> str:
        return self._text("agent_type")

    @property
    def permission_mode(self) -> str:
        return self._text("permission_mode")

    @property
    def in_plan_mode(self) -> bool:
        return self.permission_mode == "plan"

    @property
    def continues_a_block(self) -> bool:
        """True for the rest of a turn after any Stop hook, not only ours, has blocked it."""
        return self._fields.get("stop_hook_active") is True

    @property
    def last_message(self) -> str:
        return self._text("last_assistant_message")

    @property
    def tool(self) -> str:
        return self._text("tool_name")

    @property
    def tool_input(self) -> dict[str, Any]:
        value = self._fields.get("tool_input")
        return value if isinstance(value, dict) else {}

    @property
    def is_codex(self) -> bool:
        return "turn_id" in self._fields

    @property
    def fingerprint(self) -> str:
        """The same for the same event delivered twice, as to a hook that is registered twice."""
        return sha256(self.raw)[:16]

    def running(self) -> tuple[int, int]:
        """How many background agents and how many background shells are still at work."""
        tasks = [task for task in self._objects("background_tasks") if task.get("status") not in FINISHED]
        shells = sum(task.get("type") in SHELLS for task in tasks)
        return len(tasks) - shells, shells

    def has_one_shot_wakeup(self) -> bool:
        return any(cron.get("recurring") is False for cron in self._objects("session_crons"))


def parse(raw: bytes) -> Event | None:
    """The event on stdin, None if it is not one."""
    try:
        text = raw[:LONGEST_EVENT].decode("utf-8-sig", "surrogateescape")
        fields = loads(text)
    except (ValueError, RecursionError):
        return None
    return Event(fields, raw) if isinstance(fields, dict) else None


def _transcript_lines(path: str, mark: bytes) -> list[bytes]:
    """The lines with this mark, oldest first. A turn can write megabytes, so a short tail is not enough."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, file.seek(0, 2) - LONGEST_TAIL))
            return [line for line in file if mark in line]
    except (OSError, ValueError):
        return []


def _object(line: bytes) -> dict[str, Any]:
    try:
        row = loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return {}
    return row if isinstance(row, dict) else {}


def _tool_calls(row: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The tool calls in one row of a transcript."""
    message = row.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    calls = []
    for block in content if isinstance(content, list) else []:
        if isinstance(block, dict) and block.get("type") == "tool_use":
            given = block.get("input")
            calls.append((str(block.get("name")), given if isinstance(given, dict) else {}))
    return calls


def context(text: str) -> bytes:
    """Plain text for the model (UserPromptSubmit, SessionStart). Never starts with a brace: that would be JSON."""
    return _bytes(text.lstrip("{ \n") + "\n")


def keep_going(reason: str) -> bytes:
    """Stop: the turn goes on. Exactly these two keys; Codex refuses any other."""
    return _json({"decision": "block", "reason": reason})


def is_claude_code(event: Event, environ: Mapping[str, str]) -> bool:
    """May an answer have keys that only Claude Code knows? Codex refuses an answer with any other than its own."""
    return bool(environ.get("CLAUDECODE")) and not event.is_codex


def swallow_prompt(reason: str, event: Event, environ: Mapping[str, str]) -> bytes:
    """UserPromptSubmit: the turn ends here, without a model call; the user reads the reason.

    Claude Code shows one line only while the model works: without the second key that would be the prompt itself.
    """
    answer: dict[str, object] = {"decision": "block", "reason": reason}
    if is_claude_code(event, environ):
        answer["hookSpecificOutput"] = {"hookEventName": "UserPromptSubmit", "suppressOriginalPrompt": True}
    return _json(answer)


def tell_user(message: str, sequence: str = "") -> bytes:
    """`sequence` is written to the terminal; Claude Code passes on titles, notifications and the bell, nothing else."""
    return _json({"systemMessage": message, **({"terminalSequence": sequence} if sequence else {})})


def context_and_message(text: str, message: str, event: Event) -> bytes:
    """SessionStart and UserPromptSubmit in Claude Code: what the model gets, and what the user reads."""
    more = {"hookEventName": event.name, "additionalContext": text}
    return _json({"systemMessage": message, "hookSpecificOutput": more})


def deny_tool(reason: str) -> bytes:
    return _tool_decision("deny", reason)


def ask_about_tool(reason: str) -> bytes:
    return _tool_decision("ask", reason)


def _tool_decision(decision: str, reason: str) -> bytes:
    return _json(
        {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": decision,
                "permissionDecisionReason": reason,
            }
        }
    )


def _json(value: dict[str, object]) -> bytes:
    return _bytes(dumps(value) + "\n")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
