"""Runs hooks as the host does: the command string of hooks.json in `sh -c`, the event on stdin, a clean environment.

A module in which the shell and the interpreter's start are not the point has IN_PROCESS: its events go to the same
handlers by the same way in, `omo.hooks.main.answer`, ten times as fast. `through_the_shell` is for one test of it.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from omo.clock import stamp
from omo.hooks import main
from omo.settings import DEFAULT_LIMITS
from omo.state import ownership, paths
from omo.work import session
from tests.kept import PYCACHE, copied, git_init
from tests.project import HOOKS as SCRIPTS
from tests.project import SESSION as SESSION
from tests.project import Answer as Answer
from tests.project import Project
from tests.texts import heard

ROOT = Path(__file__).resolve().parents[2]
HOOKS: dict[str, Any] = json.loads((ROOT / "hooks" / "hooks.json").read_text(encoding="utf-8"))["hooks"]
OF_CODEX: dict[str, Any] = json.loads((ROOT / "hooks" / "codex.json").read_text(encoding="utf-8"))["hooks"]
OF_COPILOT: dict[str, Any] = json.loads((ROOT / "hooks" / "copilot.json").read_text(encoding="utf-8"))["hooks"]
HANDLERS = {event: (name, handle) for name, (event, handle) in SCRIPTS.items()}
NO_COOLDOWN = {"OMO_COOLDOWN_SECONDS": "0.001"}  # the hook waits for the rest of one, and tests do not


def summary(kind: str, **changes: Any) -> Any:
    """Of a workflow with two of its three steps open."""
    return {"run": f"{kind}-1", "state": "active", "open": 2, "total": 3, "next": f"{kind} step 2", **changes}


def put(host: Host, **kinds: Any) -> None:
    """An armed session with these workflows; ultrawork itself only where it is among them."""
    host.now = time.time()
    row: Any = {**session.arm(None, by="user", limits=DEFAULT_LIMITS, now=host.now - 60), "work": kinds}
    row["ulw"]["limits"] = {**DEFAULT_LIMITS, "cooldown_seconds": 0.001}
    host.change_row(lambda _: row)


def command_of(event: str, tool: str = "") -> str:
    """The command that is registered for an event, or for this tool."""
    groups = HOOKS[event]
    for group in groups:
        if tool in group.get("matcher", "").split("|"):
            return str(group["hooks"][0]["command"])
    return str(groups[0]["hooks"][0]["command"])


@dataclass
class Host(Project):
    """The project with hooks as the host starts them, in real time."""

    data: Path = Path()
    plugin: Path = ROOT
    environ: dict[str, str] = field(default_factory=NO_COOLDOWN.copy)
    in_process: bool = False

    @property
    def project(self) -> Path:
        return self.root

    def environment(self, **extra: str) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": os.environ["HOME"],
            "CLAUDE_PLUGIN_ROOT": str(self.plugin),
            "CLAUDE_PLUGIN_DATA": str(self.data / "plugin"),
            "OMO_ENV_HOME": str(self.data),
            "CLAUDE_PROJECT_DIR": str(self.project),
            **self.environ,
            **extra,
        }

    def payload(self, event: str, **fields: Any) -> bytes:
        body = {"session_id": self.session, "cwd": str(self.project), "hook_event_name": event, **fields}
        return json.dumps(body).encode() + b"\n"

    def command(self, event: str, stdin: bytes) -> str:
        match = re.search(rb'"tool_name": "(\w+)"', stdin)
        return command_of(event, match[1].decode() if match else "")

    def raw(self, event: str, stdin: bytes, *, cwd: Path | None = None, **extra: str) -> Answer:
        done = subprocess.run(
            ["sh", "-c", self.command(event, stdin)],
            input=stdin,
            capture_output=True,
            cwd=cwd or self.project,
            env=self.environment(**extra),
            check=False,
            timeout=60,
        )
        heard.RECORDER.hook(self.root, event, stdin.decode("utf-8", "replace"), done.stdout.decode("utf-8", "replace"))
        return Answer(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8", "replace"), event)

    def start(self, event: str, stdin: bytes, **extra: str) -> subprocess.Popen[bytes]:
        """As `raw`, in a session of its own. A pipe that is not written to at once is not waited for."""
        number, sent = tempfile.mkstemp(prefix="event-", dir=self.data)  # an earlier one may still be read
        with open(number, "wb") as file:
            file.write(stdin)
        return subprocess.Popen(
            ["sh", "-c", 'exec <"$1"; ' + command_of(event), "sh", sent],
            stdout=subprocess.PIPE,
            cwd=self.project,
            env=self.environment(**extra),
            start_new_session=True,
        )

    def send(self, event: str, *, env: Mapping[str, str] | None = None, **fields: Any) -> Answer:
        stdin = self.payload(event, **fields)
        if self.in_process:
            name, handle = HANDLERS[event]
            environ = self.environment(**(env or {}))
            with patch.object(os, "environ", environ):
                said = main.answer(name, handle, stdin, environ, str(self.project), time.time())
            heard.RECORDER.hook(self.root, event, fields, said.decode("utf-8"))
            return Answer(0, said.decode("utf-8"), "", event)
        answer = self.raw(event, stdin, cwd=None, **(env or {}))
        assert (answer.code, answer.stderr) == (0, "")
        return answer

    def hook(self, name: str, *, session: str = "", env: Mapping[str, str] | None = None, **fields: Any) -> Answer:
        event, _ = SCRIPTS[name]
        return self.send(event, env=env, **{"session_id": session or self.session, **fields})

    def kinds(self, session: str = "") -> list[str]:
        return [f"{row['kind']}:{row['rule']}" if "rule" in row else row["kind"] for row in self.events(session)]

    def write_runtime(self, text: str) -> Path:
        path = Path(paths.runtime_file(self.state))
        ownership.make_state_dir(self.state)
        path.write_text(text, encoding="utf-8")
        return path

    def last_block_was(self, seconds_ago: float, now: float) -> None:
        """Move the recorded block into the past, so that no test waits for a cooldown."""
        self.now = now
        moment = stamp(now - seconds_ago)
        self.change_row(lambda row: {**row, "ulw": {**row["ulw"], "lastStopAt": moment}})


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A home with the interpreter that runs the tests, for hooks and for commands."""
    home = tmp_path / "data"
    home.mkdir()
    point_at(home, sys.executable)
    return home


def point_at(home: Path, python: str) -> None:
    version = f"Python {platform.python_version()}"
    lines = [python, sysconfig.get_path("purelib"), requirements_key(), version]
    for name in ("environment", f"environment-{requirements_key()}"):
        (home / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    (home / "interpreter").write_text(f"{python}\n", encoding="utf-8")
    compiled = os.environ.get(PYCACHE)  # by one test, for the next; a bench has none
    if compiled and not (home / "pycache").is_symlink():
        (home / "pycache").symlink_to(compiled)


def note_starts(home: Path) -> Path:
    """From now on the Python that is kept only notes the hook that it is started for, in this file."""
    noted, python = home / "started", home / "python"
    script = f'#!/bin/sh\n[ "$1" != -V ] || exec "{sys.executable}" -V\necho "$8" >>"{noted}"\nprintf "omo: answered"\n'
    python.write_text(script, encoding="utf-8")
    python.chmod(0o755)
    point_at(home, str(python))
    return noted


@cache
def requirements_key() -> str:
    requirements = (ROOT / "requirements.txt").read_bytes()
    checksum = subprocess.run(["cksum"], input=requirements, capture_output=True, check=True).stdout.decode()
    return "-".join(checksum.split())


@pytest.fixture
def host(request: pytest.FixtureRequest, tmp_path: Path, data: Path) -> Host:
    project = tmp_path / "it's a b" / "ü (1)"
    copied(project, git_init)
    return Host(project, data=data, in_process=getattr(request.module, "IN_PROCESS", False))


@pytest.fixture
def through_the_shell(host: Host) -> None:
    host.in_process = False


@pytest.fixture
def files(host: Host) -> Callable[[], dict[str, bytes]]:
    """Everything in the project and the plugin data, to show that nothing was written."""

    def snapshot() -> dict[str, bytes]:
        roots = (host.project, host.data)
        found = [path for root in roots for path in root.rglob("*") if path.is_file() and "pycache" not in path.parts]
        return {str(path): path.read_bytes() for path in found if ".git" not in path.parts}

    return snapshot
