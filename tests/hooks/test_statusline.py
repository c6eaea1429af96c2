"""The status line as a process: what the host sends, what comes back, and that nothing is written."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.hooks.conftest import ROOT, SESSION, Host


def status_event(project: Path, name: str = SESSION) -> bytes:
    """Status lines are told the project apart from the directory the agent has moved to."""
    places = {"current_dir": "/", "project_dir": str(project)}
    return json.dumps({"hook_event_name": "Status", "session_id": name, "cwd": "/", "workspace": places}).encode()


def shown(host: Host, stdin: bytes, **extra: str) -> tuple[int, str, str]:
    environ = host.environment(**{"NO_COLOR": "1", "OMO_ENV_HOME": str(host.data), **extra})
    environ.pop("CLAUDE_PROJECT_DIR")
    done = subprocess.run([ROOT / "bin" / "omo", "statusline"], input=stdin, capture_output=True, env=environ, cwd="/")
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_the_command_as_the_host_calls_it(host: Host) -> None:
    event = status_event(host.project)
    assert shown(host, event) == (0, "", "")
    host.prompt("ulw fix it")
    before = sorted(path for path in host.project.rglob("*"))
    assert shown(host, event) == (0, "omo ulw\n", "")
    assert shown(host, status_event(host.project, "another")) == (0, "", "")
    assert shown(host, event, OMO_DISABLE="1") == (0, "", "")
    assert shown(host, b"not JSON") == (0, "", "")
    assert shown(host, event, OMO_ENV_HOME=str(host.project / "nowhere"))[:2] == (0, "")
    assert sorted(path for path in host.project.rglob("*")) == before
    host.prompt("stop ulw")
    assert shown(host, event) == (0, "", "")
