"""Each package is loaded by the commands that need it, and by no other."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from omo.cli.doctor import MODULES
from tests.cli.test_ultragoal_evidence import gate
from tests.project import Project
from tests.terminal import terminal
from tests.ultragoal.project import ONE
from tests.ultraplan.plans import plan_text

ROOT = Path(__file__).resolve().parents[2]
RARE = {"PIL", "jinja2", "markdown_it", "regex", "rich"}
OF_WRITERS = {"filelock", "orjson"}
PROGRAM = """
import atexit, sys
path = sys.argv.pop(1)
atexit.register(lambda: open(path, "w").write(" ".join(sys.modules)))
from omo.cli import console
console()
"""


def loaded(project: Project, *argv: str, stdout: int = subprocess.DEVNULL) -> set[str]:
    """Return the rare packages that a command of the agent has loaded."""
    return RARE & modules_of(project, *argv, stdout=stdout)


def modules_of(project: Project, *argv: str, stdout: int = subprocess.DEVNULL) -> set[str]:
    told = project.root.parent / "modules"
    environ = {
        **os.environ,
        **project.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "PYTHONUTF8": "1",
        "TERM": "xterm",
        "CLAUDECODE": "1",
        "CLAUDE_CODE_SESSION_ID": project.session,
    }
    command = [sys.executable, "-c", PROGRAM, str(told), *argv]
    null = subprocess.DEVNULL
    subprocess.run(command, cwd=project.root, env=environ, stdin=null, stdout=stdout, stderr=null, check=False)
    return set(told.read_text().split())


@pytest.mark.parametrize(
    "line",
    [
        *(
            "--version",
            "--help",
            "status",
            "status --json",
            "next",
            "explain stop",
            "adopt",
            "resume",
        ),
        *("ulw start", "ulw status", "ulw done", "ledger verify", "gate suggest", "gate add x -- true", "gate run"),
        *("gate list", "proof", "receipt write", "receipt verify r.json", "run --help", "stop-continuation"),
        *("doctor", "setup path", "ultragoal create-goals --brief Greet", "ultragoal status", "goal create Greet"),
        "verify status",
    ],
)
def test_most_commands_load_none_of_the_rare_packages(project: Project, line: str) -> None:
    project.prompt("ulw fix it")
    assert loaded(project, *line.split()) == set()


@pytest.mark.parametrize(
    "line",
    [
        *("--version", "--help", "gate --help", "status", "status --json", "next", "next --json", "explain stop"),
        *("ledger verify", "gate list", "ulw status", "verify status"),
        *("plan status", "ultragoal status", "goal get"),
    ],
)
def test_a_look_loads_neither_filelock_nor_orjson(project: Project, line: str) -> None:
    project.prompt("ulw fix it")
    project.check("gate", "add", "tests", "--", "true")
    assert modules_of(project, *line.split()) & OF_WRITERS == set()


@pytest.mark.parametrize(
    "line",
    [
        *("gate add lint -- true", "gate remove tests", "gate run", "ulw start", "ulw done --because=it_was_asked"),
        *("ulw blocked --evidence the_key_is_missing", "ultragoal create-goals --brief Greet", "report"),
    ],
)
def test_a_command_that_writes_loads_both(project: Project, line: str) -> None:
    project.prompt("ulw fix it")
    project.check("gate", "add", "tests", "--", "true")
    assert modules_of(project, *line.split()) >= OF_WRITERS


def test_a_report_loads_what_fills_its_page(project: Project) -> None:
    project.prompt("ulw fix it")
    assert loaded(project, "report") == {"jinja2"}
    assert loaded(project, "report", "--md") == {"jinja2"}


def test_a_status_for_a_person_to_look_at_loads_what_draws_it(project: Project) -> None:
    project.prompt("ulw fix it")
    with terminal() as screen:
        assert loaded(project, "status", stdout=screen) >= {"rich"}


def test_a_check_with_a_pattern_loads_what_bounds_its_time(project: Project) -> None:
    def needed(check: dict[str, object]) -> set[str]:
        goal = {"id": f"G-{check['type']}", "title": "Work", "verification": {"checks": [check]}}
        file = project.write("goal.json", json.dumps(goal))
        return loaded(project, "verify", "add", "--file", str(file))

    project.make_state()
    assert needed({"id": "made", "type": "path", "path": "made.py"}) == set()
    assert needed({"id": "runs", "type": "command", "argv": ["true"], "stdout": "fine"}) == {"regex"}


def test_a_plan_loads_what_reads_it(project: Project) -> None:
    project.make_state()
    project.write("plan.md", plan_text())
    assert loaded(project, "plan", "validate", "plan.md") == {"markdown_it", "regex"}


def test_a_goal_that_cites_a_picture_loads_what_opens_it(project: Project) -> None:
    project.check("ultragoal", "create-goals", "--brief", ONE)
    project.check("ultragoal", "complete-goals")
    closes = ("ultragoal", "checkpoint", "--goal-id", "G001", "--status", "complete", "--evidence", "it was seen")
    document = json.dumps(gate(project))
    assert loaded(project, *closes, "--quality-gate-json", document) == {"PIL"}


def test_each_package_says_what_a_user_loses_without_it() -> None:
    """And the doctor and the environment try to import all of them."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (block,) = re.findall(r"^dependencies = \[\n(.*?)^\]", text, re.M | re.S)
    lines = block.splitlines()
    reasons = [re.fullmatch(r' {4}"([\w-]+)[^"]*", +# without it (.+)', line) for line in lines]
    assert None not in reasons
    assert len(lines) == len(MODULES)
