"""Our hooks run as the first host runs them, for those who try one: a registered command in sh, the event on stdin."""

from __future__ import annotations

import json
import re
from pathlib import Path

from omo import hosts
from omo.errors import Unreadable
from omo.hosts import Answer
from omo.hosts.setups import handlers, read_object
from omo.json_text import part

HOST = hosts.named(hosts.NAMES[0])
STOP, PROMPT = "Stop", "UserPromptSubmit"
NAMED_FILE = re.compile(rf"\$\{{?{HOST.root_variable}\}}?/([\w./-]+)")


def registered_commands(plugin: Path, event: str = "") -> list[str]:
    """The command strings in the registration, all of them or those of one event."""
    path = plugin / HOST.registration
    values = read_object(path)
    if values is None:
        raise Unreadable(f"{path} is missing")
    if not part(values, "hooks"):
        raise Unreadable(f"{path} registers no hooks")
    events = [event] if event else list(part(values, "hooks"))
    return [str(handler.get("command", "")) for name in events for handler in handlers(values, name)]


def files_of(command: str) -> list[str]:
    """The plugin's files that a command needs."""
    return NAMED_FILE.findall(command)


def hook_variables(plugin: Path, home: Path, project: Path) -> dict[str, str]:
    """The variables that a hook finds, with `home` for where omo keeps its Python and its environment."""
    return {HOST.root_variable: str(plugin), "OMO_ENV_HOME": str(home), HOST.project_variable: str(project)}


def agent_shell_variables(session: str) -> dict[str, str]:
    return {hosts.AGENT_VARIABLES[HOST.name][0]: "1", HOST.session_variable: session}


def stop_event(session: str, directory: Path, *, message: str = "", continues: bool = False) -> bytes:
    return _event(STOP, session, directory, stop_hook_active=continues, last_assistant_message=message)


def prompt_event(session: str, directory: Path, prompt: str) -> bytes:
    return _event(PROMPT, session, directory, prompt=prompt)


def _event(name: str, session: str, directory: Path, **fields: object) -> bytes:
    event = {"session_id": session, "cwd": str(directory), "hook_event_name": name, **fields}
    return json.dumps(event).encode() + b"\n"


def read_answer(stdout: str) -> Answer:
    """What a hook said, as the host takes it."""
    try:
        values = json.loads(stdout)
    except ValueError:
        return Answer(context=stdout.strip())
    if not isinstance(values, dict):
        return Answer()
    if values.get("decision") == "block":
        return Answer(hosts.KEEP_GOING, str(values.get("reason", "")))
    context = part(values, "hookSpecificOutput").get("additionalContext", "")
    return Answer(message=str(values.get("systemMessage", "")), context=str(context))
