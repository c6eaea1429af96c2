"""Transcripts as Claude Code writes them, made by hand: rows in the shapes that the real client was seen to use."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omo import settings
from omo.clock import stamp
from omo.replay import stage, transcript
from omo.replay.player import Player

START = 1_771_780_801.0
SESSION = "11111111-2222-4333-8444-555555555555"
PROJECT = "/home/somebody/a project"
STOP_HOOK = 'launch="${CLAUDE_PLUGIN_ROOT}/hooks/launch.sh"; event=stop; . "$launch"'

Row = dict[str, Any]


@dataclass
class Script:
    """Each method appends what the client would; a minute passes between two, so no cooldown plays a part."""

    rows: list[Row | str] = field(default_factory=list)
    now: float = START
    step: float = 60.0

    def add(self, kind: str, **fields: Any) -> Script:
        self.now += self.step
        base = {"type": kind, "timestamp": stamp(self.now), "sessionId": SESSION, "cwd": PROJECT, "isSidechain": False}
        self.rows.append({**base, **fields})
        return self

    def user(self, content: Any, **more: Any) -> Script:
        return self.add("user", message={"role": "user", "content": content}, **more)

    def prompt(self, text: str, mode: str = "default") -> Script:
        return self.user(text, permissionMode=mode, promptSource="typed")

    def command(self, name: str, arguments: str = "") -> Script:
        said = f"<command-message>{name[1:]}</command-message>\n<command-name>{name}</command-name>\n"
        return self.user(f"{said}<command-args>{arguments}</command-args>")

    def assistant(self, *blocks: Row, stop_reason: str | None, **more: Any) -> Script:
        message = {
            "id": f"msg_{len(self.rows)}",
            "role": "assistant",
            "content": list(blocks),
            "stop_reason": stop_reason,
        }
        return self.add("assistant", message=message, **more)

    def says(self, text: str, stop_reason: str | None = "end_turn") -> Script:
        return self.assistant({"type": "text", "text": text}, stop_reason=stop_reason)

    def calls(self, tool: str, answer: str = "", *, is_error: bool = False, **given: Any) -> Script:
        """A call and its result."""
        name = f"toolu_{len(self.rows)}"
        self.assistant({"type": "tool_use", "id": name, "name": tool, "input": given}, stop_reason="tool_use")
        return self.result(name, answer, is_error=is_error)

    def result(self, name: str, answer: str, *, is_error: bool = False, **details: Any) -> Script:
        block = {"type": "tool_result", "tool_use_id": name, "content": answer, "is_error": is_error}
        return self.user([block], toolUseResult={"stdout": answer, **details})

    def bash(self, command: str, answer: str = "", *, is_error: bool = False) -> Script:
        return self.calls("Bash", answer, is_error=is_error, command=command)

    def in_background(self, command: str, task: str) -> Script:
        name = f"toolu_{len(self.rows)}"
        given = {"command": command, "run_in_background": True}
        self.assistant({"type": "tool_use", "id": name, "name": "Bash", "input": given}, stop_reason="tool_use")
        return self.result(name, f"Command running in background with ID: {task}.", backgroundTaskId=task)

    def agent(self, kind: str, agent: str, status: str, said: str = "") -> Script:
        name = f"toolu_{len(self.rows)}"
        given = {"description": "look", "prompt": "look around", "subagent_type": kind}
        self.assistant({"type": "tool_use", "id": name, "name": "Agent", "input": given}, stop_reason="tool_use")
        details: Row = {"status": status, "agentId": agent, "content": [{"type": "text", "text": said}]}
        return self.result(name, said, **details | ({"agentType": kind} if said else {}))

    def notified(self, task: str) -> Script:
        return self.prompt(f"<task-notification>\n<task-id>{task}</task-id>\n<status>completed</status>")

    def feedback(self, reason: str) -> Script:
        self.user(f"Stop hook feedback:\n{reason}", isMeta=True)
        return self.summary(reason)

    def summary(self, *errors: str, command: str = STOP_HOOK) -> Script:
        infos = [{"command": command}]
        return self.add("system", subtype="stop_hook_summary", hookInfos=infos, hookErrors=list(errors))

    def hook(self, event: str, content: str) -> Script:
        told = {"type": "hook_success", "hookName": event, "hookEvent": event.partition(":")[0], "content": content}
        return self.add("attachment", attachment=told)

    def queue(self, operation: str, content: str | None = None) -> Script:
        more = {"content": content} if content is not None else {}
        return self.add("queue-operation", operation=operation, **more)

    def raw(self, text: str) -> Script:
        self.rows.append(text)
        return self

    def save(self, directory: Path, name: str = "session.jsonl") -> Path:
        path = directory / name
        lines = [one if isinstance(one, str) else json.dumps(one, separators=(",", ":")) for one in self.rows]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path


def played(path: Path, scratch: Path) -> Player:
    """The whole of a transcript, under the default settings, in a scratch project below this directory."""
    root = scratch / "replayed"
    root.mkdir()
    player = Player(stage.build(str(root), settings.Settings(), {}, {}))
    for line in transcript.read(str(path), transcript.Unread()):
        player.play(line)
    player.finish()
    return player
