"""What a checkpoint costs: files are opened once, git is asked a few times, and the past costs nothing."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

import pytest

from omo.work.run import tag
from tests.project import SESSION, Project, plan_directory
from tests.ultragoal.gates import valid_gate

TWO = "@goal: Parse\nRead the file.\n@goal: Check\nCheck each row."
MOST_PROCESSES = 10
IDENTITY = ["-c", "user.name=omo", "-c", "user.email=omo@example.org", "-c", "commit.gpgsign=false"]
# Each is read once. Who appends looks at the end again under the lock: a file of evidence twice, what lies in the tree
# when the next goal begins, the goal, and the session, whose row is read again too. Before all that a command looks
# whether the session's ledger is whole.
MOST_READS = {
    "evidence/ledger.jsonl": 4,
    "evidence/mark.json": 4,
    "runtime.local.json": 4,
    f"sessions/{SESSION}/events.jsonl": 3,
    f"sessions/{SESSION}/goal/ledger.jsonl": 1,
    f"sessions/{SESSION}/goal/mark.json": 1,
    "ultragoal/RUN/brief.md": 1,
    "ultragoal/RUN/goals.json": 1,
    "ultragoal/RUN/ledger.jsonl": 2,
    "ultragoal/RUN/mark.json": 2,
}

watching: list[tuple[str, str]] | None = None


def audit(event: str, arguments: tuple[object, ...]) -> None:
    if watching is None:
        return
    if event == "open" and isinstance(arguments[0], str) and str(arguments[1]).startswith("r"):
        watching.append(("read", arguments[0]))
    elif event in ("subprocess.Popen", "os.posix_spawn"):
        watching.append(("process", str(arguments[1])))


sys.addaudithook(audit)


@contextlib.contextmanager
def watched() -> Iterator[list[tuple[str, str]]]:
    global watching
    seen: list[tuple[str, str]] = []
    watching = seen
    try:
        yield seen
    finally:
        watching = None


def reads_and_processes(project: Project, goal: str, *, sessions: int) -> tuple[Counter[str], list[str]]:
    """Of one checkpoint that completes a goal, in a project with other sessions' plans and archived ones."""
    for argv in (["add", "-A"], [*IDENTITY, "commit", "-qm", "start"]):
        subprocess.run(["git", *argv], cwd=project.root, check=True)
    assert project.agent("ultragoal", "create-goals", "--brief", TWO).code == 0
    own = plan_directory(project.state, SESSION)
    for number in range(sessions):
        shutil.copytree(own, own.with_name(f"{own.name}.archived-{number}"))
        shutil.copytree(own, own.with_name(f"g{1_700_000_000_000 + number}-{tag(f'other{number}')}"))
        shutil.copytree(own, own.with_name(f"g{1_700_000_000_000 + number}-{tag(SESSION)}"))
    assert project.agent("ultragoal", "complete-goals").code == 0
    gate = json.dumps(valid_gate(project.root, goal))
    with watched() as seen:
        ran = project.agent(
            *("ultragoal", "checkpoint", "--goal-id", goal, "--status", "complete"),
            *("--evidence", "it was seen to work", "--quality-gate-json", gate),
        )
    assert ran.code == 0, ran.err
    reads = Counter(
        os.path.relpath(path, project.state).replace(own.name, "RUN")
        for how, path in seen
        if how == "read" and project.state in path
    )
    return reads, [what for how, what in seen if how == "process"]


@pytest.mark.parametrize("sessions", [0, 10, 200])
def test_a_checkpoint_reads_each_state_file_once_and_the_past_costs_nothing(project: Project, sessions: int) -> None:
    reads, processes = reads_and_processes(project, "G001", sessions=sessions)
    assert set(reads) <= set(MOST_READS)
    assert {path: reads[path] for path in reads if reads[path] > MOST_READS[path]} == {}
    assert len(processes) <= MOST_PROCESSES, processes
