"""The status line as a process: what the host sends, what comes back, and that nothing is written."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

from omo.hosts import claude_setup
from tests.hooks.conftest import ROOT, SESSION, Host


def status_event(project: Path, name: str = SESSION) -> bytes:
    """Status lines are told the project apart from the directory the agent has moved to."""
    places = {"current_dir": "/", "project_dir": str(project)}
    return json.dumps({"hook_event_name": "Status", "session_id": name, "cwd": "/", "workspace": places}).encode()


def shown(host: Host, stdin: bytes, **extra: str) -> tuple[int, str, str]:
    """As the settings call it: the script that `omo setup statusline` writes."""
    environ = host.environment(**{"NO_COLOR": "1", **extra})
    environ.pop("CLAUDE_PROJECT_DIR")
    (host.data / "root").write_text(f"{ROOT}\n")
    script = claude_setup.STATUS_LINE_SCRIPT.format(home=shlex.quote(str(host.data)))
    done = subprocess.run(["sh", "-c", script], input=stdin, capture_output=True, env=environ, cwd="/")
    by_name = subprocess.run(
        [ROOT / "bin" / "omo", "statusline"],
        input=stdin,
        capture_output=True,
        env={**environ, "OMO_ENV_HOME": str(host.data)},
        cwd="/",
    )
    assert by_name.stdout == done.stdout, "for a status line of one's own"
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
    assert sorted(path for path in host.project.rglob("*")) == before
    host.prompt("stop ulw")
    assert shown(host, event) == (0, "", "")
