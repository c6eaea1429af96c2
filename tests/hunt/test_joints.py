"""Two things happen between conversations, and the user types the workflow again: a sample of bench/joints.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.hunt.joints import cross

SAMPLE = [
    ("ralph", ("cancel", "conversation")),
    ("ultragoal", ("pause", "/clear")),
    ("ultraplan", ("breaker", "resume")),
    ("verify", ("/clear", "cancel")),
    ("ultrawork", ("kill", "resume")),
    ("ultraplan", ("resume", "breaker")),
    ("ultrawork", ("worktree", "pause")),
    ("verify", ("conversation", "worktree")),
    ("ultraplan", ("worktree", "worktree")),
    ("ultragoal", ("breaker", "resume")),
    ("ralph", ("pause", "kill")),
]


@pytest.mark.parametrize(("workflow", "joints"), SAMPLE, ids=str)
def test_what_the_user_types_is_on_and_has_a_way_on(tmp_path: Path, workflow: str, joints: tuple[str, str]) -> None:
    cross(tmp_path / "walk" / "a project", workflow, joints)


def test_the_command_prints_a_table() -> None:
    bench = Path(__file__).resolve().parents[2] / "bench" / "joints.py"
    one = ("--workflow", "ultrawork", "--first", "cancel", "--second", "/clear")
    done = subprocess.run([sys.executable, bench, *one], capture_output=True, text=True, check=True)
    assert "ultrawork           1 of 1" in done.stdout
