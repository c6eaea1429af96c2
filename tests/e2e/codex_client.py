"""The real Codex client, offline: our plugin installed in a home of its own, headless runs, a terminal to type in."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from omo.hosts import codex_setup
from tests import packages
from tests.e2e.client import PATIENCE, Terminal, search_path
from tests.e2e.records import Installed
from tests.e2e.responses_model import ResponsesModel, results_of, shown_to
from tests.hooks.conftest import point_at

PACKAGES = packages.node_modules(packages.CODEX) / "@openai"
# What of this repository an installed plugin consists of.
PARTS = (".claude-plugin", ".codex-plugin", "agents", "bin", "hooks", "skill-fragments", "skills", "src")
SIZE = (140, 45)
OLDER, DEFAULT = "gpt-5", ""  # models; the default is the client's own
PROVIDER = 'model_providers.scripted={{name="scripted",base_url="{}",wire_api="responses"}}'


def find_binary() -> Path | None:
    """Return the client that OMO_CODEX names, else the one that `./tests/run --clients` has fetched."""
    named = os.environ.get("OMO_CODEX")
    if named:
        return Path(named) if os.access(named, os.X_OK) else None
    machine = "arm64" if platform.machine().lower() in ("arm64", "aarch64") else "x64"
    found = sorted((PACKAGES / f"codex-{sys.platform}-{machine}").glob("vendor/*/bin/codex"))
    return found[0] if found else None


@dataclass(frozen=True)
class Run:
    exit_code: int
    stdout: str
    stderr: str

    @cached_property
    def session(self) -> str:
        (line,) = [line for line in self.stderr.splitlines() if line.startswith("session id: ")]
        return line.removeprefix("session id: ")

    @property
    def result(self) -> str:
        return self.stdout.strip()


@dataclass
class Codex(Installed):
    """The client with our plugin and a scripted model, in one project."""

    binary: Path
    model: ResponsesModel
    project: Path
    home: Path
    named: str = OLDER  # the model that it is asked for, which decides on the tools
    terminals: list[Terminal] = field(default_factory=list)

    @property
    def settings(self) -> Path:
        return self.home / ".codex"

    def install(self, plugin: Path) -> None:
        """As a user does it, and the environment as the first ulw would have it made."""
        self.settings.mkdir()
        self.call("plugin", "marketplace", "add", str(plugin))
        self.call("plugin", "add", "omo@omo")
        data = self.home / ".cache" / "omo"
        data.mkdir(parents=True)
        point_at(data, sys.executable)

    def trust_hooks(self) -> None:
        """As the client notes it when the user chooses to trust them all."""
        server = [str(self.binary), "app-server"]
        requests = codex_setup.question(str(self.project)).decode()
        with subprocess.Popen(
            server, cwd=self.project, env=self.environment, stdin=-1, stdout=-1, stderr=-3, encoding="utf-8"
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(requests)
            process.stdin.flush()
            answer = next(line for line in process.stdout if '"id":2' in line)
            process.kill()
        with (self.settings / "config.toml").open("a", encoding="utf-8") as file:
            for hook in json.loads(answer)["result"]["data"][0]["hooks"]:
                trusted, _, _ = hook["currentHash"].partition("/")
                file.write(f'\n[hooks.state."{hook["key"]}"]\ntrusted_hash = "{trusted}"\n')

    def call(self, *arguments: str, env: Mapping[str, str] | None = None) -> Run:
        command = [str(self.binary), *arguments]
        environ = {**self.environment, **(env or {})}
        done = subprocess.run(
            command,
            cwd=self.project,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
        )
        return Run(done.returncode, done.stdout, done.stderr)

    def omo(self, *arguments: str) -> str:
        return self.omo_of(self.plugin, *arguments)

    @property
    def plugin(self) -> Path:
        """As it was installed."""
        (root,) = (self.settings / "plugins" / "cache" / "omo" / "omo").iterdir()
        return root

    def prompt(self, text: str, *, resume: str = "", env: Mapping[str, str] | None = None) -> Run:
        """One headless run, which must end well whatever was said in it."""
        resumed = ["resume", resume] if resume else []
        # `resume` takes the sandbox from the session that it resumes.
        sandbox = [] if resume else ["-s", "workspace-write"]
        run = self.call("exec", *self.options, *sandbox, *resumed, text, env=env)
        assert run.exit_code == 0, run.stdout + run.stderr
        return run

    def open(self, *arguments: str, env: Mapping[str, str] | None = None) -> Terminal:
        """The terminal interface, without the daemon that would keep this environment for later ones."""
        trusted = f'\n[projects."{self.project}"]\n'
        with (self.settings / "config.toml").open("a+", encoding="utf-8") as file:
            file.seek(0)
            if trusted not in file.read():  # a headless run notes it too
                file.write(f'{trusted}trust_level = "trusted"\n')
        command = [str(self.binary), "--no-daemon", *self.options, "-s", "workspace-write", *arguments]
        terminal = Terminal(command, {**self.environment, **(env or {})}, self.project, SIZE)
        self.terminals.append(terminal)
        terminal.wait_for("›")
        return terminal

    @property
    def options(self) -> list[str]:
        provider = PROVIDER.format(self.model.url)
        # Else its sandbox leaves an empty .git behind in /tmp, which other tests share.
        sandbox = ["-c", "sandbox_workspace_write.exclude_slash_tmp=true"]
        model = ["-c", provider, "-c", "model_provider=scripted"]
        if self.named:
            model += ["-c", f"model={self.named}"]
        return ["--dangerously-bypass-hook-trust", *model, *sandbox]

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of the developer's own setup."""
        temporary = self.home / "tmp"
        temporary.mkdir(parents=True, exist_ok=True)
        return {
            "HOME": str(self.home),
            "CODEX_HOME": str(self.settings),
            "PATH": search_path(),
            "TMPDIR": str(temporary),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "GIT_CONFIG_NOSYSTEM": "1",
            "OPENAI_API_KEY": "sk-fake",
            "OMO_COOLDOWN_SECONDS": "0.001",
            "OMO_MAX_STOP_BLOCKS": "1",
        }

    def was_told(self, text: str) -> bool:
        """Whether the model's last request showed it this."""
        return any(text in shown for shown in shown_to(self.model.turns[-1]))

    def results(self) -> list[str]:
        """What the tools answered, without what the client writes above it."""
        return [result.partition("Output:\n")[2] or result for result in results_of(self.model.turns[-1])]


def copy_plugin(source: Path, target: Path) -> None:
    """What a clone has of the plugin, without what its tests and its environment weigh."""
    for part in PARTS:
        shutil.copytree(source / part, target / part, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("plugin.json", "requirements.txt"):
        shutil.copy(source / name, target / name)
