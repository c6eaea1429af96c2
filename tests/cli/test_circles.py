"""Files that go back and forth, and a gate that fails the same way again: said once, and never progress."""

from __future__ import annotations

import sys

import pytest

from tests.project import Project

NEEDS_NEW = ["grep", "-q", "new", "value"]
# Fails with a text that is the same but for what changes by itself.
NOISY = [
    sys.executable,
    "-c",
    "import time, os; print(f'in /tmp/run-{os.getpid()}/x at {hex(id(object()))}');"
    "print(f'1 failed in {time.time() % 7:.4f}s'); raise SystemExit(1)",
]


@pytest.fixture
def running(project: Project) -> Project:
    project.commit("begin")
    project.prompt("ulw make the value new")
    return project


def gate(project: Project, argv: list[str] = NEEDS_NEW, name: str = "value") -> None:
    project.check("gate", "add", name, "--", *argv)


def try_value(project: Project, text: str) -> None:
    project.write("value", text)
    project.agent("gate", "run")


def sent_back(project: Project) -> str:
    project.now += 60
    stopped = project.stop()
    assert stopped.blocks
    reason: str = stopped.json["reason"]
    assert len(reason) <= 600
    return reason


def test_files_that_come_back_are_said_once_with_what_was_tried(running: Project) -> None:
    gate(running, ["sh", "-c", "grep -q new value || { echo the value is not new; exit 1; }"])
    try_value(running, "a\n")
    assert "In circles" not in sent_back(running)
    running.write("other.txt")
    try_value(running, "b\n")
    assert "In circles" not in sent_back(running)
    (running.root / "other.txt").unlink()
    try_value(running, "a\n")
    explained = running.agent("explain", "stop").out
    assert "ulw.circle = the files are as they were at" in explained
    reason = sent_back(running)
    assert "In circles: the files are as they were at " in reason
    assert "gate value fails again (the value is not new); tried since: other.txt, value. Try another way." in reason
    assert "Open as before: omo next says what." in reason
    assert "Cannot go on? omo ulw blocked --evidence TEXT." in reason
    running.write("other.txt")
    try_value(running, "b\n")
    assert "In circles" not in sent_back(running)


def test_the_same_failure_three_times_is_said_once(running: Project) -> None:
    gate(running, NOISY, "tests")
    for text in ("a\n", "b\n"):
        try_value(running, text)
        assert "In circles" not in sent_back(running)
    try_value(running, "c\n")
    reason = sent_back(running)
    assert "In circles: gate tests failed 3 times since " in reason
    assert "with the same output (1 failed)" in reason
    assert "changed meanwhile: value." in reason
    try_value(running, "d\n")
    assert "In circles" not in sent_back(running)
    assert "gate tests failed 4 times" in running.agent("explain", "stop").out


def test_another_failure_is_no_circle(running: Project) -> None:
    gate(running, ["sh", "-c", "cat value; exit 1"], "tests")
    for text in ("line 1\n", "line 2\n", "line 3\n", "line 4\n"):
        try_value(running, text)
    assert "In circles" not in sent_back(running)
    assert "ulw.circle = none" in running.agent("explain", "stop").out


def test_a_look_at_the_beginning_is_no_circle(running: Project) -> None:
    """How a failure from before the work is shown: stash, run, pop, run."""
    gate(running, ["sh", "-c", "cat value; exit 1"])
    try_value(running, "a\n")
    try_value(running, "old\n")
    try_value(running, "a\n")
    assert "In circles" not in sent_back(running)


def test_toggling_between_red_and_green_runs_into_the_cap(running: Project) -> None:
    gate(running)
    blocks = 0
    while True:
        running.now += 60
        if not running.stop().blocks:
            break
        blocks += 1
        assert blocks <= 10
        try_value(running, "red\n")
        try_value(running, "new\n")
    assert blocks == 1 + 8, "the first pass gave the budget back, and no other one"
    assert running.events()[-1]["rule"] == "cap"


def test_a_gate_that_is_taken_away_and_pinned_again_passes_nothing_new(running: Project) -> None:
    gate(running)
    try_value(running, "new\n")
    sent_back(running)
    running.check("gate", "remove", "value")
    gate(running)
    running.check("gate", "run")
    assert running.row()["ulw"]["stopBlocks"] == 1


def test_new_files_that_pass_after_a_failure_are_progress(running: Project) -> None:
    gate(running)
    for text in ("red\n", "new\n", "red\n", "new and better\n"):
        sent_back(running)
        try_value(running, text)
    assert running.row()["ulw"]["stopBlocks"] == 0
