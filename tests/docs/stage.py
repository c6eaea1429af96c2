"""Plays the worked examples of a page: commands, and the host's events by the way in that hooks have."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omo.cli.main import main
from tests.docs.console import Step
from tests.hooks.conftest import Answer, Host

SESSION = "demo"
WHO = {"GIT_AUTHOR_NAME": "You", "GIT_AUTHOR_EMAIL": "you@example.org"}
WHO |= {name.replace("AUTHOR", "COMMITTER"): value for name, value in WHO.items()}
# An omo command and nothing that needs a shell, but perhaps a here-document.
OMO_ALONE = re.compile(r"omo (?P<words>[^|&;<>$`\n*?]+)(?:<<'(?P<end>\w+)'\n(?P<given>.*)\n(?P=end))?", re.S)
SHIM = """\
#!/bin/sh
exec "{python}" -I -X utf8 -c '
import sys
sys.path.insert(0, sys.argv.pop(1))
sys.argv[0] = "omo"
from omo.cli import console
sys.exit(console())
' "{source}" "$@"
"""
# What a brief tells an agent to repeat; in an agent's message the word stands for it.
TOLD = {
    "NONCE": re.compile(r'"nonce": "([0-9a-f]{32})"'),
    "DIGEST": re.compile(r"has the digest ([0-9a-f]{64})"),
}
# What can happen in an example besides commands and prompts. A message may run over several lines.
EVENTS = (
    (re.compile(r"the agent stops(?:: (?P<said>.*))?", re.S), "agent_stops"),
    (re.compile(r"(?P<agent>omo:\w+) ends(?:: (?P<said>.*))?", re.S), "subagent_ends"),
    (re.compile(r"the agent writes (?P<names>.+?)(?: in (?P<directory>\S+))?"), "agent_writes"),
)


@dataclass
class Stage:
    """A project in which a person types, an agent works, and hooks are asked as the host asks them."""

    project: Path
    environment: Path
    work: dict[str, list[str]] = field(default_factory=dict)
    told: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        path = f"{shim(self.environment)}{os.pathsep}{os.environ['PATH']}"
        # Nobody waits between two steps of an example, so a second Stop is no sign of a loop here.
        self.user = {**os.environ, **WHO, "PATH": path, "OMO_COOLDOWN_SECONDS": "0.001"}
        self.agent = {**self.user, "CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": SESSION}
        self.host = Host(
            self.project, data=self.environment, environ={"OMO_COOLDOWN_SECONDS": "0.001"}, in_process=True
        )

    def begin(self, files: dict[str, str]) -> None:
        self.write(files)
        made = self._sh("git init -q -b main && git add -A && git commit -q --allow-empty -m 'chore: begin'")
        assert made == (0, "")

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            path = self.project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            if text.startswith("#!"):
                path.chmod(0o755)

    def play(self, step: Step) -> list[str]:
        """What is seen: output and an exit code that is not 0, or what omo's hook says to whom."""
        acts: dict[str, Callable[[str], str]] = {
            "$": self.agent_types,
            ">": self.user_prompts,
            "()": self.happens,
        }
        return acts[step.who](step.text).rstrip("\n").splitlines()

    def user_prompts(self, text: str) -> str:
        return in_words(self.event("UserPromptSubmit", prompt=text), "to you, not to the agent")

    def user_types(self, command: str) -> str:
        return self._run(command, self.user)

    def agent_types(self, command: str) -> str:
        asked = self.event("PreToolUse", tool_name="Bash", tool_input={"command": command})
        if denial := denied(asked):
            return denial
        message = asked.json.get("systemMessage") if asked.stdout else ""
        told = f"to you: {message}\n" if message else ""
        return told + self._run(command, self.agent)

    def happens(self, text: str) -> str:
        for pattern, name in EVENTS:
            if found := pattern.fullmatch(text):
                act: Callable[..., str] = getattr(self, name)
                return act(**{key: (value or "").strip() for key, value in found.groupdict().items()})
        raise ValueError(f"nobody knows how this happens: ({text})")

    def agent_stops(self, said: str) -> str:
        fields = {"stop_hook_active": False, "background_tasks": [], "session_crons": []}
        return in_words(self.event("Stop", last_assistant_message=said, **fields), "sent back")

    def subagent_ends(self, agent: str, said: str) -> str:
        for word, value in self.told.items():
            said = said.replace(word, value)
        answer = self.event("SubagentStop", agent_type=agent, agent_id=agent, last_assistant_message=said)
        return in_words(answer, "sent back")

    def agent_writes(self, names: str, directory: str) -> str:
        """Files whose text is of no interest to the reader; the fence is asked as for any edit."""
        for name in (os.path.join(directory, one) for one in re.split(r", | and ", names)):
            path = str(self.project / name)
            asked = self.event("PreToolUse", tool_name="Write", tool_input={"file_path": path, "content": ""})
            if denial := denied(asked):
                return denial
            self.write({name: self.work[name].pop(0)})
        return ""

    def event(self, event: str, **fields: Any) -> Answer:
        return self.host.send(event, session_id=SESSION, **fields)

    def _run(self, command: str, environment: dict[str, str]) -> str:
        alone = [OMO_ALONE.fullmatch(part) for part in command.replace("\\\n", "").split(" && ")]
        code, shown = self._chain(alone, environment) if all(alone) else self._sh(command, environment)
        self.told |= {word: found[1] for word, pattern in TOLD.items() if (found := pattern.search(shown))}
        return shown + (f"[exit {code}]\n" if code else "")

    def _chain(self, commands: list[re.Match[str] | None], environment: dict[str, str]) -> tuple[int, str]:
        code, whole = 0, ""
        for one in filter(None, commands):
            code, shown = self._in_process(shlex.split(one["words"]), one["given"] or "", environment)
            whole += shown
            if code:
                break
        return code, whole

    def _in_process(self, argv: list[str], given: str, environment: dict[str, str]) -> tuple[int, str]:
        """Through the same front as bin/omo, without an interpreter of its own; an exception fails the test."""
        terminal, stdin = io.StringIO(), sys.stdin
        sys.stdin = io.TextIOWrapper(io.BytesIO(given.encode()), encoding="utf-8")
        try:
            with contextlib.redirect_stdout(terminal), contextlib.redirect_stderr(terminal):
                code = main(argv, environment, str(self.project), time.time(), has_terminal=True)
        finally:
            sys.stdin = stdin
        return code, terminal.getvalue()

    def _sh(self, command: str, environment: dict[str, str] | None = None) -> tuple[int, str]:
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=self.project,
            env=environment or self.user,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
            timeout=60,
        )
        return done.returncode, done.stdout


def shim(environment: Path) -> Path:
    """A directory with `omo` in it: bin/omo without the question whether the environment is ready."""
    programs = environment / "bin"
    programs.mkdir(exist_ok=True)
    source = Path(__file__).resolve().parents[2] / "src"
    (programs / "omo").write_text(SHIM.format(python=sys.executable, source=source), encoding="utf-8")
    (programs / "omo").chmod(0o755)
    return programs


def in_words(answer: Answer, on_block: str) -> str:
    """A hook's answer as the people concerned meet it."""
    if not answer.stdout.startswith("{"):
        return answer.stdout and f"to the agent: {answer.stdout}"
    said = {on_block: answer.json.get("reason"), "to you": answer.json.get("systemMessage")}
    return "\n".join(f"{whom}: {text}" for whom, text in said.items() if text)


def denied(answer: Answer) -> str:
    """Empty where the call is left to the host, or allowed without a question."""
    if not answer.stdout:
        return ""
    decided = answer.json.get("hookSpecificOutput", {})
    if decided.get("permissionDecision") != "deny":
        return ""
    return f"denied: {decided['permissionDecisionReason']}"
