"""A look writes nothing below `.git`: no index, no lock, no object, not even for a moment.

A file that is made and removed again leaves other times in its directory, so the times of all directories are compared.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from omo.hooks import own_calls
from tests.project import HOOKS, Project

LOOKS = [words for words in own_calls.CALLS if words not in own_calls.NEED_THE_FILES]
OPTIONS = {"report": (("--md",), ("--json",)), "status": (("--all",), ("--json",)), "next": (("--json",),)}
COMMANDS = [(*words, *more) for words in LOOKS for more in ((), *OPTIONS.get(words[0], ()))]
EVENTS: list[tuple[str, dict[str, Any]]] = [
    ("session-start", {"source": "startup"}),
    ("session-start", {"source": "compact"}),
    ("user-prompt-submit", {"prompt": "ulw make the value new"}),
    ("user-prompt-submit", {"prompt": "/omo:status"}),
    ("user-prompt-submit", {"prompt": "go on"}),
    ("pre-tool-use", {"tool_name": "Bash", "tool_input": {"command": "omo ulw done"}}),
    ("pre-tool-use", {"tool_name": "Bash", "tool_input": {"command": "git stash -u"}}),
    ("pre-tool-use", {"tool_name": "Write", "tool_input": {"file_path": "value", "content": "x"}}),
    ("post-tool-use", {"tool_name": "Bash", "tool_input": {"command": "omo next"}}),
    ("subagent-start", {"agent_id": "a1", "agent_type": "omo:judge"}),
    ("subagent-stop", {"agent_id": "a1", "agent_type": "omo:judge", "last_assistant_message": "done"}),
    ("stop", {"stop_hook_active": False, "background_tasks": [], "session_crons": []}),
]
Entry = tuple[int, int, int, int, bytes]


@pytest.fixture
def touched(project: Project) -> Project:
    """Work is on and called done; files are staged, edited, removed, and one was only touched, as all of `src` was."""
    for name in ("src/a.py", "src/b.py", "edited", "removed", "both"):
        project.write(name)
    project.commit("base")
    project.prompt("ulw make the value new")
    project.write("value", "new\n")
    project.write("both", "staged\n")
    project.write("test_value.py", "def test_value():\n    assert open('value').read() == 'new\\n'\n")
    project.git("add", "value", "both")
    project.write("both", "staged, and edited\n")
    project.write("edited", "edited\n")
    (project.root / "removed").unlink()
    project.check("ulw", "done", "--because", "the value is what was asked for")
    for path in (*(project.root / "src").iterdir(), project.root / ".sisyphus", project.root / "value"):
        os.utime(path, (1, 1))
    return project


def entries(directory: Path) -> dict[str, Entry]:
    found = {}
    for top, directories, files in os.walk(directory):
        for path in (Path(top), *(Path(top, name) for name in (*directories, *files))):
            status = path.lstat()
            content = path.read_bytes() if path.is_file() else b""
            found[str(path)] = (status.st_ino, status.st_mode, status.st_mtime_ns, status.st_ctime_ns, content)
    return found


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_command_that_looks_leaves_git_as_it_was(touched: Project, command: tuple[str, ...]) -> None:
    before = entries(touched.root / ".git")
    for _ in range(2):
        touched.omo(*command, stdin="")
    assert entries(touched.root / ".git") == before


@pytest.mark.parametrize(("name", "fields"), EVENTS, ids=lambda value: value if isinstance(value, str) else "")
def test_a_hook_leaves_git_as_it_was(touched: Project, name: str, fields: dict[str, Any]) -> None:
    before = entries(touched.root / ".git")
    touched.hook(name, **fields)
    assert entries(touched.root / ".git") == before


def test_every_event_is_tried() -> None:
    assert {name for name, _ in EVENTS} == set(HOOKS)


# The look at the files of an end, and the base of a run, ask git the most.
KILLED: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("hook", "stop", {"stop_hook_active": False}),
    ("hook", "user-prompt-submit", {"prompt": "ulw make the value new"}),
    ("command", "next", {}),
    ("command", "status", {}),
)
# A shell starts it, for a path with a space in it.
KILLER = """#!/bin/sh
''':'
exec {python} "$0" "$@"
'''
import os, signal
with open({count!r}, "a") as file:
    file.write("x")
    number = file.tell()
if number == {fatal}:
    os.kill(os.getppid(), signal.SIGKILL)
os.environ["PATH"] = {path!r}
os.execvp("git", ["git", *__import__("sys").argv[1:]])
"""
PLAY = """
import sys
from pathlib import Path
from tests.project import Project
what, name, fields, root = {what!r}, {name!r}, {fields!r}, Path({root!r})
project = Project(root)
project.hook(name, **fields) if what == "hook" else project.omo(name)
"""


@pytest.mark.parametrize(("what", "name", "fields"), KILLED, ids=lambda value: value if isinstance(value, str) else "")
def test_a_look_that_is_killed_leaves_no_lock(
    touched: Project, tmp_path: Path, what: str, name: str, fields: dict[str, Any]
) -> None:
    """Each time one git later, and at last not at all."""
    play = PLAY.format(what=what, name=name, fields=fields, root=str(touched.root))
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    before = entries(touched.root / ".git")
    fatal = 0
    code = -9
    while code == -9:
        fatal += 1
        count = tmp_path / f"count-{fatal}"
        program.write_text(
            KILLER.format(python=shlex.quote(sys.executable), count=str(count), fatal=fatal, path=os.environ["PATH"])
        )
        program.chmod(0o755)
        environ = {
            **os.environ,
            "PATH": f"{program.parent}:{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        code = subprocess.run([sys.executable, "-c", play], env=environ, check=False).returncode
    assert code == 0
    assert fatal > 1
    assert entries(touched.root / ".git") == before
