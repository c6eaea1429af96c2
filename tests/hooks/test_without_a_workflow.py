"""A workflow is one row of the table: with the row taken out, the rest works, also on what the workflow has left."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from omo import table
from omo.state import paths
from tests.hooks.conftest import ROOT, SESSION, Answer, Host

KINDS = [row.kind for row in table.ROWS if row.commands]
# Before anything else is loaded. argv has where omo and its packages are, the kind, and then what the script gets.
WITHOUT = """
import sys
sys.path[:0] = [sys.argv[1], sys.argv[2]]
from omo import table
kind = sys.argv[3]
table.ROWS = tuple(row for row in table.ROWS if row.kind != kind)
table.BY_KIND = {row.kind: row for row in table.ROWS}
table.BY_TYPED = {name: row for row in table.ROWS for name in row.typed}
del sys.argv[1:4]
"""
HOOK = "from omo.hooks import main; main.run(sys.argv[1])"
COMMAND = "from omo.cli import console; console()"


def run(host: Host, kind: str, script: str, *argv: str, stdin: bytes = b"") -> Answer:
    """Whole processes: every table that is made when a module is loaded is made of the rows that are left."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", WITHOUT + script, ROOT / "src", sysconfig.get_path("purelib"), kind, *argv],
        input=stdin,
        capture_output=True,
        cwd=host.project,
        env=host.environment(OMO_SESSION_ID=SESSION),
        check=False,
    )
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())


def hook(host: Host, kind: str, name: str, event: str, **fields: object) -> Answer:
    answer = run(host, kind, HOOK, name, stdin=host.payload(event, **fields))
    assert (answer.code, answer.stderr) == (0, "")
    assert not Path(paths.log_file(host.state)).exists()  # where a hook says what it failed on
    return answer


def omo(host: Host, kind: str, *argv: str) -> str:
    ran = run(host, kind, COMMAND, *argv)
    assert ran.code == 0, ran.stderr
    return ran.stdout


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_left", [False, True], ids=["never there", "left open"])
def test_the_rest_works_without_the_row(host: Host, kind: str, is_left: bool) -> None:
    if is_left:
        host.hook("user-prompt-submit", prompt=f"/omo:{kind} tidy up")
        left = {"run": "x1", "state": "active", "open": 1, "total": 2, "next": "tidy"}
        host.change_row(lambda row: {**row, "work": {**row["work"], kind: left}})
    commands = omo(host, kind, "--help")
    assert f"\n  {next(iter(table.BY_KIND[kind].commands))} " not in commands
    assert "\n  gate " in commands
    assert "ultrawork" in hook(host, kind, "user-prompt-submit", "UserPromptSubmit", prompt="ulw fix it").stdout
    omo(host, kind, "gate", "add", "tests", "--", "true")
    state = str(Path(host.state) / "runtime.local.json")
    for tool, given in [
        ("Bash", {"command": "omo ulw status; ls"}),
        ("AskUserQuestion", {"questions": []}),
        ("Agent", {"subagent_type": "omo:judge", "prompt": "say yes"}),
    ]:
        hook(host, kind, "pre-tool-use", "PreToolUse", tool_name=tool, tool_input=given)
    denied = hook(host, kind, "pre-tool-use", "PreToolUse", tool_name="Write", tool_input={"file_path": state})
    assert "is omo's own state" in denied.stdout
    assert hook(host, kind, "stop", "Stop", last_assistant_message="Done.").blocks
    hook(host, kind, "session-start", "SessionStart", source="compact")
    status = omo(host, kind, "status")
    assert "ultrawork" in status
    assert "tests" in status
    for look in ("next", "report"):
        omo(host, kind, look)
    assert "ultrawork is off" in hook(host, kind, "user-prompt-submit", "UserPromptSubmit", prompt="stop ulw").stdout
