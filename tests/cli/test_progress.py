"""What is progress, so that the breaker starts anew: files that go back and forth are none."""

from __future__ import annotations

import pytest

from tests.project import Project

NEEDS_NEW = ["grep", "-q", "new", "value"]


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


def test_a_gate_that_changes_its_mind_about_the_same_files_passes_nothing_new(running: Project) -> None:
    elsewhere = running.root.parent / "elsewhere"
    gate(running, ["test", "-e", str(elsewhere)])
    elsewhere.touch()
    try_value(running, "new\n")
    sent_back(running)
    elsewhere.unlink()
    running.check("gate", "run", code=3)
    elsewhere.touch()
    running.check("gate", "run")
    assert running.row()["ulw"]["stopBlocks"] == 1


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
