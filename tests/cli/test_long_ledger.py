"""A ledger of more than a megabyte: a command reads it once, a hook needs no package for it, damage still shows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from omo.state import ledger, paths, runtime
from omo.work.outcome import PROVEN
from tests.cli.test_plan_costs import counted
from tests.project import SESSION, Project

EVENT = Path(__file__).resolve().parents[2] / "hooks" / "event.py"
ROWS = 2500
EVENTS = os.path.join("sessions", SESSION, "events.jsonl")
MOST_READS = {"status": 2, "next": 2, "done": 10}  # all of it once; every change of the session looks at its end again


@pytest.fixture
def armed(project: Project) -> Project:
    project.git("init", "-q")
    project.write("calc.py", "print('broken')\n")
    project.write("Makefile", "test:\n\tgrep right calc.py\n")
    project.commit("base")
    project.now = time.time()  # hooks as the host starts them know no other clock
    project.prompt("ulw make it right")
    grow(project)
    project.write("calc.py", "print('right')\n")
    return project


def grow(project: Project) -> None:
    row = project.row()
    events = [{"kind": "blocked", "rule": "block", "reason": "r" * 200, "after": row} for _ in range(ROWS)]
    project.change_row(lambda row: row, *events)
    assert os.path.getsize(events_file(project)) > ledger.BULK


def events_file(project: Project) -> str:
    return paths.events_file(project.state, SESSION)


@pytest.mark.parametrize("command", ["status", "next"])
def test_a_look_reads_it_once(armed: Project, command: str) -> None:
    with counted(armed) as costs:
        armed.check(command, "--json")
    assert costs.read[EVENTS] <= MOST_READS[command]


def test_done_reads_it_once(armed: Project) -> None:
    with counted(armed) as costs:
        done = armed.check("ulw", "done", "--json")
    assert done.json["outcome"]["verdict"] == PROVEN
    assert costs.read[EVENTS] <= MOST_READS["done"]


def test_what_done_appends_is_what_a_later_command_reads(armed: Project) -> None:
    armed.check("ulw", "done")
    assert runtime.ledger_problems(armed.state, SESSION) == []
    assert armed.events()[-1]["kind"] == "done"


def test_a_gate_that_edits_the_ledger_ends_no_run(armed: Project) -> None:
    path = Path(events_file(armed))
    edit = f"""
from pathlib import Path
path = Path({str(path)!r})
path.write_bytes(path.read_bytes().replace(b'"reason":"rrr', b'"reason":"qqq', 1))
"""
    armed.check("gate", "add", "editor", "--", sys.executable, "-c", edit)
    done = armed.check("ulw", "done", code=3)
    assert done.says("ulw-session-changed-while-gates-ran")
    assert armed.events()[-1]["kind"] != "done"


@pytest.mark.parametrize(
    ("event", "script", "fields", "said"),
    [
        ("Stop", "stop", {}, '"block"'),
        (
            "UserPromptSubmit",
            "user-prompt-submit",
            {"prompt": "/omo:pin tests -- make test"},
            "gate tests pinned by you",
        ),
        ("PreToolUse", "pre-tool-use", {"tool_name": "Bash", "tool_input": {"command": "omo ulw done"}}, "make test"),
        ("SessionStart", "session-start", {"source": "resume"}, "make it right"),
    ],
)
def test_a_hook_reads_it_without_any_package(
    armed: Project, event: str, script: str, fields: dict[str, object], said: str
) -> None:
    body = {"session_id": SESSION, "cwd": str(armed.root), "hook_event_name": event, **fields}
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(EVENT), script, "", "claude"],
        input=json.dumps(body).encode(),
        capture_output=True,
        cwd=armed.root,
        env={"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "CLAUDE_PROJECT_DIR": str(armed.root)},
        check=True,
    )
    assert said in done.stdout.decode()
    assert not os.path.exists(paths.log_file(armed.state))
