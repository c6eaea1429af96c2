"""All that a hook asks of git has one deadline, below the host's own; what took too long is reported as that."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from omo import deadline
from omo.deadline import Deadline
from omo.hooks import main as hooks
from omo.proof import git
from tests.project import Project

ROOT = Path(__file__).resolve().parents[2]
WHY = "the value is what was asked for"
TOO_LONG = "git took too long"


@pytest.fixture
def begun(project: Project) -> Project:
    project.write("test_value.py", "def test_value():\n    assert open('value').read() == 'new\\n'\n")
    project.commit("base")
    return project


@pytest.fixture
def starts(tmp_path: Path) -> Path:
    """A file that gets a letter for each git that is started and never answers."""
    return tmp_path / "starts"


@pytest.fixture
def stick(starts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From then on no git answers. Hooks and commands wait half a second for it."""
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nprintf x >>'{starts}'\nexec sleep 600\n")
    program.chmod(0o755)
    monkeypatch.setattr(hooks, "HOOK_SECONDS", 0.5)

    def begin() -> None:
        monkeypatch.setattr(git, "SECONDS", 0.5)
        monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")

    return begin


def test_the_host_waits_longer_than_a_hook_waits_for_git() -> None:
    waits = []
    for name in ("hooks.json", "codex.json", "copilot.json"):
        for groups in json.loads((ROOT / "hooks" / name).read_text(encoding="utf-8"))["hooks"].values():
            for group in groups:
                waits += [hook["timeout"] for hook in group["hooks"]]
    assert min(waits) == deadline.HOST_SECONDS > deadline.HOOK_SECONDS


def test_an_end_whose_files_git_did_not_compare_in_time_says_so(
    begun: Project, stick: Callable[[], None], starts: Path
) -> None:
    begun.prompt("ulw make the value new")
    begun.write("value", "new\n")
    begun.check("ulw", "done", "--because", WHY)
    stick()
    assert TOO_LONG in begun.stop().message
    assert len(starts.read_text()) == 2  # at once; after the deadline none is started


def test_a_tool_call_is_not_permitted_where_git_took_too_long(begun: Project, stick: Callable[[], None]) -> None:
    begun.prompt("ulw make the value new")
    stick()
    assert "permissionDecision" not in begun.tool_use("Bash", command="omo ulw done").stdout


def test_a_run_begins_though_git_took_too_long(begun: Project, stick: Callable[[], None]) -> None:
    stick()
    said = begun.prompt("ulw make the value new").stdout
    assert TOO_LONG in said
    assert "no commit" not in said
    assert begun.row()["ulw"]["enabled"]


@pytest.mark.parametrize("command", ["next", "status"])
def test_a_view_says_that_git_took_too_long(begun: Project, stick: Callable[[], None], command: str) -> None:
    begun.prompt("ulw make the value new")
    stick()
    said = begun.omo(command)
    assert TOO_LONG in said.out
    assert "files, and git does not keep them" not in said.out


def test_what_git_has_said_is_heard_though_another_was_waited_for(
    begun: Project, stick: Callable[[], None], starts: Path
) -> None:
    with Deadline(2):
        answered = git.start(begun.root, ["rev-parse", "HEAD"])
        stick()
        with pytest.raises(git.TookTooLong):
            git.run(begun.root, "status")
        assert answered.answer().ok


def test_no_git_is_started_after_the_deadline(begun: Project, stick: Callable[[], None], starts: Path) -> None:
    stick()
    with Deadline(0), pytest.raises(git.TookTooLong):
        git.run(begun.root, "status")
    assert not starts.exists()


def test_a_deadline_ends_with_its_hook() -> None:
    with Deadline(0):
        with Deadline(60):
            assert deadline.end_of(1) > deadline.end_of(0)
        assert deadline.end_of(60) == deadline.end_of(30)
    assert deadline.end_of(60) > deadline.end_of(30)
