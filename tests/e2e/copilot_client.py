"""The real Copilot CLI, offline: our plugin installed in a home of its own, headless runs, a terminal to type in."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from tests import packages
from tests.e2e.client import PATIENCE, POLL_SECONDS, Terminal, input_box, search_path
from tests.e2e.records import Installed
from tests.e2e.scripted_model import Request, ScriptedModel, text_of, texts_of
from tests.hooks.conftest import point_at

PACKAGES = packages.node_modules(packages.COPILOT) / "@github"
SIZE = (140, 45)


def find_binary() -> Path | None:
    """Return the client that OMO_COPILOT names, else the one that `./tests/run --clients` has fetched."""
    named = os.environ.get("OMO_COPILOT")
    machine = "arm64" if platform.machine().lower() in ("arm64", "aarch64") else "x64"
    libc = "" if sys.platform != "linux" or platform.libc_ver()[0] == "glibc" else "musl"
    binary = Path(named) if named else PACKAGES / f"copilot-{sys.platform}{libc}-{machine}" / "copilot"
    return binary if os.access(binary, os.X_OK) else None


class CopilotModel(ScriptedModel):
    """It speaks the Messages API, and says in a line of the system prompt that it is the main loop."""

    def is_agent(self, request: Request) -> bool:
        return "You are the GitHub Copilot CLI" not in text_of(request.get("system", ""))


@dataclass(frozen=True)
class Run:
    exit_code: int
    stdout: str
    stderr: str

    @cached_property
    def session(self) -> str:
        (session,) = re.findall(r"copilot --resume=(\S+)", self.stdout + self.stderr)
        return str(session)


@dataclass
class Copilot(Installed):
    """The client with our plugin and a scripted model, in one project."""

    binary: Path
    model: CopilotModel
    project: Path
    home: Path
    plugin: Path
    terminals: list[Terminal] = field(default_factory=list)

    @property
    def settings(self) -> Path:
        return self.home / ".copilot"

    @property
    def data(self) -> Path:
        return self.home / ".cache" / "omo"

    def install(self) -> None:
        """As a user does it, and the environment as the first ulw would have it made."""
        for words in (("marketplace", "add", str(self.plugin)), ("install", "omo@omo")):
            run = self.call("plugin", *words)
            assert run.exit_code == 0, run.stdout + run.stderr
        self.data.mkdir(parents=True)
        point_at(self.data, sys.executable)

    def call(self, *arguments: str, env: Mapping[str, str] | None = None) -> Run:
        done = subprocess.run(
            [str(self.binary), *arguments],
            cwd=self.project,
            env={**self.environment, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
        )
        return Run(done.returncode, done.stdout, done.stderr)

    def prompt(
        self, text: str, *options: str, resume: str = "", ends: int = 0, env: Mapping[str, str] | None = None
    ) -> Run:
        """One headless run. It ends with 1 where a hook has answered the prompt."""
        resumed = ["--resume", resume] if resume else []
        run = self.call("-p", text, *(options or ("--allow-all-tools",)), *resumed, env=env)
        assert run.exit_code == ends, run.stdout + run.stderr
        return run

    def omo(self, *arguments: str) -> str:
        return self.omo_of(self.plugin, *arguments)

    def open(self, *arguments: str, env: Mapping[str, str] | None = None) -> Terminal:
        """The terminal interface, once the user has said that they trust the project, and it has begun anew with that:
        of a prompt that comes sooner it does not show what a hook says."""
        command = [str(self.binary), "--allow-all-tools", *arguments]
        terminal = Terminal(command, {**self.environment, **(env or {})}, self.project, SIZE)
        self.terminals.append(terminal)
        terminal.wait_for("Do you trust the files in this folder?")
        terminal.key("Enter")
        terminal.wait_for("MCP Servers reloaded")
        return terminal

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of the developer's own setup."""
        temporary = self.home / "tmp"
        temporary.mkdir(parents=True, exist_ok=True)
        return {
            "HOME": str(self.home),
            "PATH": search_path(),
            "TMPDIR": str(temporary),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "GIT_CONFIG_NOSYSTEM": "1",
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_PROVIDER_BASE_URL": self.model.url,
            "COPILOT_PROVIDER_TYPE": "anthropic",
            "COPILOT_PROVIDER_API_KEY": "sk-fake",
            "COPILOT_MODEL": "claude-sonnet-4.5",
            "OMO_COOLDOWN_SECONDS": "0.001",
            "OMO_MAX_STOP_BLOCKS": "1",
        }

    def was_told(self, text: str) -> bool:
        """Whether the model's last request showed it this."""
        return any(text in shown for shown in texts_of(self.model.turns[-1]))

    def results(self) -> list[str]:
        """What the tools answered, without what the client writes below it."""
        return [result.partition("\n<shellId:")[0] for result in results_of(self.model.turns[-1])]


def results_of(request: Request) -> list[str]:
    results = []
    for message in request["messages"]:
        for block in message["content"] if isinstance(message["content"], list) else []:
            if block["type"] == "tool_result":
                results.append(text_of(block["content"]))
    return results


def submit(terminal: Terminal, text: str) -> None:
    """Types a line, and presses Enter until the input is empty: the list of commands takes the first for itself."""
    terminal.type(text)
    tail = "".join(text.split())[-40:]
    terminal.wait_for(lambda screen: tail in "".join(input_box(screen).split()))
    while tail in "".join(input_box(terminal.screen()).split()):
        terminal.key("Enter")
        time.sleep(POLL_SECONDS)
