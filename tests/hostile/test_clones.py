"""Repositories of strangers. Each row is an attack that a clone can carry, opened through every hook and command.

What must not change is compared byte by byte: the repository's own `.git`, the user's home, and all that lies outside.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from omo.state import ownership
from tests.hooks.conftest import Host, data
from tests.hostile.attacks import ATTACKS, WITNESS, Clone, everything_below, interpreters
from tests.kept import copied, git_init
from tests.parts import first_of
from tests.project import IDENTITY, Answer, Project
from tests.proof.test_base import git
from tests.terminal import terminal

SHOWS = {"CLAUDECODE": "1"}
AGENT = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "new"}
__all__ = ["data"]


EVENTS: tuple[tuple[str, dict[str, object]], ...] = (
    ("SessionStart", {"source": "startup"}),
    ("UserPromptSubmit", {"prompt": "what is this repository about?"}),
    ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "omo gate run"}}),
    ("PreToolUse", {"tool_name": "Write", "tool_input": {"file_path": "notes.md", "content": "x"}}),
    ("PostToolUse", {"tool_name": "Bash", "tool_input": {"command": "omo status"}}),
    ("SubagentStop", {"agent_id": "a1", "agent_type": "omo:explorer", "last_assistant_message": "found"}),
    ("Stop", {"stop_hook_active": False, "background_tasks": [], "session_crons": []}),
    ("SessionStart", {"source": "resume"}),
)
LOOKS = (
    ("status",),
    ("status", "--all"),
    ("next",),
    ("doctor",),
    ("explain", "stop"),
    ("ledger", "verify"),
    ("gate", "list"),
    ("receipt", "verify", "x"),
    ("report", "--md"),
)


def without_own(files: dict[str, object], home: Path) -> dict[str, object]:
    own = (str(home / ".local"), str(home / ".cache"))
    return {path: held for path, held in files.items() if not path.startswith(own)}


def records(files: dict[str, object], home: Path) -> list[str]:
    """The files that omo keeps of projects, by name."""
    return sorted(path for path, held in files.items() if path.startswith(str(home / ".local")) and held != "directory")


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    root, home, outside = tmp_path / "a clone", Path(os.environ["HOME"]), tmp_path / "outside"
    copied(root, git_init)
    outside.mkdir()
    (home / ".bashrc").write_text("alias ll='ls -l'")  # without a newline: what looks torn is cut by a writer
    (home / ".ssh").mkdir()
    (home / ".ssh" / "id_ed25519").write_text("secret")
    return Clone(root, home, outside)


def commit_all(clone: Clone) -> None:
    """As a clone has it: all of it in the commit, and nothing else."""
    subprocess.run(["git", "add", "-f", "-A"], cwd=clone.root, check=False, env={**os.environ, **IDENTITY})
    environ = {**os.environ, **IDENTITY}
    subprocess.run(
        ["git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "commit", "-q", "-m", "all of it"],
        cwd=clone.root,
        check=False,
        env=environ,
    )
    Path(clone.witness).unlink(missing_ok=True)


def open_in_session(host: Host, clone: Clone) -> list[Answer]:
    said = []
    for event, fields in EVENTS:
        answer = host.send(event, session_id="new", env={**SHOWS, **clone.environ}, **fields)
        said.append(answer)
    return said


@pytest.mark.parametrize("attack", first_of(ATTACKS, 4))
def test_opening_a_clone_runs_nothing_writes_nothing_and_allows_nothing(clone: Clone, data: Path, attack: str) -> None:
    ATTACKS[attack](clone)
    commit_all(clone)
    host = Host(clone.root, data=data)
    before = everything_below(clone.root, clone.home, clone.outside)
    is_empty = ownership.look(str(clone.state), str(clone.root)).standing == ownership.ABSENT
    for answer in open_in_session(host, clone):
        assert '"allow"' not in answer.stdout
        assert not answer.says_to_user("prompt-pins-hold")
        assert not answer.blocks
    for argv in LOOKS:
        for by in ("user", "nobody"):
            environ = {**clone.environ, **(AGENT if by == "nobody" else {})}
            ran = Project(clone.root).omo(*argv, by=by, env=environ, has_terminal=by == "user", stdin="")
            assert "Traceback" not in ran.err
            assert ran.code in (0, 2, 3, 4, 77), ran.err
            assert WITNESS not in ran.out or attack in ("settings of the project",)
    if is_empty:  # the agent's `omo gate run` was given a state of the user's own, as in any repository
        ownership.forget(str(clone.state))
        shutil.rmtree(clone.state)
        if f"{clone.state.parent}" not in before:
            clone.state.parent.rmdir()
    after = everything_below(clone.root, clone.home, clone.outside)
    assert without_own(after, clone.home) == without_own(before, clone.home)
    assert records(after, clone.home) == records(before, clone.home)
    assert not Path(clone.witness).exists()


@pytest.mark.parametrize("attack", ATTACKS)
def test_turning_something_on_in_a_clone_begins_with_nothing_of_it(clone: Clone, data: Path, attack: str) -> None:
    """What omo keeps of the project outside is what it keeps of an empty one."""
    ATTACKS[attack](clone)
    commit_all(clone)
    host = Host(clone.root, data=data)
    outside = everything_below(clone.home, clone.outside)
    of_git = everything_below(clone.root / ".git")
    host.prompt("ulw say what this does", session_id="new", env={**SHOWS, **clone.environ})
    host.send("PreToolUse", session_id="new", env=SHOWS, tool_name="Bash", tool_input={"command": "omo ulw done"})
    host.stop(session_id="new", env={**SHOWS, **clone.environ})
    assert WITNESS not in Project(clone.root).user("gate", "list", session="new").out
    assert without_own(everything_below(clone.home, clone.outside), clone.home) == without_own(outside, clone.home)
    assert everything_below(clone.root / ".git") == of_git
    assert not Path(clone.witness).exists()


def test_the_user_s_own_state_works(clone: Clone, data: Path) -> None:
    """The control: the same steps, with a pin of the user's own, which is listed, allowed and run."""
    clone.write("a.py", "x = 1\n")
    commit_all(clone)
    host = Host(clone.root, data=data)
    host.prompt("ulw say what this does", session_id="new", env=SHOWS)
    host.prompt(f"/omo:pin tests -- touch {clone.witness}", session_id="new", env=SHOWS)
    permitted = host.send(
        "PreToolUse", session_id="new", env=SHOWS, tool_name="Bash", tool_input={"command": "omo gate run"}
    )
    assert '"allow"' in permitted.stdout
    assert "tests" in Project(clone.root).user("gate", "list", session="new").out
    assert Project(clone.root).agent("gate", "run", session="new").code == 0
    assert Path(clone.witness).exists()
    began = host.send("SessionStart", session_id="next", source="startup", env=SHOWS)
    assert began.says_to_user("prompt-pins-hold")


@pytest.mark.parametrize("argv", [("status",), ("doctor",), ("--version",), ("stop-continuation", "--all")])
def test_the_commands_of_a_terminal_start_no_program_of_the_clone(
    clone: Clone, data: Path, argv: tuple[str, ...]
) -> None:
    interpreters(clone)
    evil = clone.script("bin/python3")
    commit_all(clone)
    environ = {"HOME": str(clone.home), "OMO_ENV_HOME": str(data), "VIRTUAL_ENV": str(clone.root / ".venv")}
    environ["PATH"] = os.pathsep.join(["", ".", str(evil.parent), os.environ["PATH"]])
    program = str(Host(clone.root, data=data).plugin / "bin" / "omo")
    with terminal() as screen:
        done = subprocess.run(
            [program, *argv], cwd=clone.root, env=environ, stdin=screen, capture_output=True, text=True, check=False
        )
    assert "Traceback" not in done.stderr
    assert not Path(clone.witness).exists()


def test_a_clone_of_a_repository_with_git_state_is_as_it_was(clone: Clone, data: Path) -> None:
    """The index is not refreshed, although every file was touched since."""
    clone.write("a.py", "x = 1\n")
    commit_all(clone)
    os.utime(clone.root / "a.py", (1, 1))
    before = everything_below(clone.root / ".git")
    host = Host(clone.root, data=data)
    open_in_session(host, clone)
    for argv in LOOKS:
        Project(clone.root).user(*argv, stdin="")
    assert everything_below(clone.root / ".git") == before
    assert git(clone.root, "status", "--porcelain") == ""
