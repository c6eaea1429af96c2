"""What git's own cleaning does to omo's state while work is open: the hook's answer beside what git really does."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from omo.fence import KEEPS
from tests.hooks.conftest import Host, note_starts
from tests.hooks.test_tool_gates import bash, denied
from tests.kept import copied

IN_PROCESS = True
TAKES = [
    *("git clean -fdx", "git clean -fdX", "git clean -ffdX", "git clean -xdf", "git clean --force -d -x"),
    *("git clean -fdx -e '*.o'", "git clean -fdxe sub", "git clean -fdx --exclude=sub", "git clean -fdX -e .sisyphus"),
    *("git clean -fx .", "git clean -fX .sisyphus", "git clean -fdx -- .sisyphus/cc-omo", "git clean -fdx ':!sub'"),
    *("git stash -a", "git stash --all", "git stash push --all -m x", "git stash save -a", "git stash push -am note"),
    *("git -C . clean -fdx", "git -C sub clean -fdx ..", "git -C sub stash -a", "(cd sub && git stash --all)"),
    *("true && git clean -fdx", "(git clean -fdX)", "sh -c 'git clean -fdx'", "for x in 1; do git clean -fdx; done"),
]
KEEP = [
    *("git clean -n -dx", "git clean -fdx --dry-run", "git clean -fd", "git clean -ffd", "git clean -fx"),
    *("git clean -fdx -e .sisyphus", "git clean -fdx --exclude=.sisyphus/", "git clean -fdx -e sub -e /.sisyphus"),
    *("git clean -fdxe .sisyphus", "git clean -fdx --exclude .sisyphus", "git clean -fdx -e .sisyphus/cc-omo"),
    *("git clean -fdx sub", "git clean -fX", "git clean -fdX . ':!.sisyphus'", "git clean -fdx ':(exclude).sisyphus'"),
    *("git stash", "git stash -u", "git stash push -u -m clean", "git stash push -a -- sub", "git stash list"),
    *("git stash push -a -- . ':!.sisyphus'", "git commit --allow-empty -m 'git clean -fdx'", "echo git stash -a"),
    *("cd sub && git clean -fdx", "git -C sub clean -fdX", "cd nested && git clean -fdx", "git -C nested stash -a"),
    *("git checkout . && git clean -fd", "git stash && git checkout HEAD -- . && git restore ."),
]


@pytest.fixture
def at_work(host: Host) -> Host:
    """A repository with a commit, ignored and new files, another repository in it, and ultrawork that is on."""
    copied(host.project, begin)
    host.prompt("ulw clean up and build")
    return host


def begin(project: Path) -> None:
    for name, text in {".gitignore": "*.o\nnested\n", "a": "x\n", "b.o": "o\n", "new": "n\n", "sub/y": "y\n"}.items():
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(text)
    for directory in (project, project / "nested"):
        directory.mkdir(exist_ok=True)
        (directory / "tracked").write_text("t\n")
        for argv in (["init", "-q"], ["add", ".gitignore" if directory == project else ".", "tracked"]):
            subprocess.run(["git", *argv], cwd=directory, check=True)
        commit = ["-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-q", "-m", "begin"]
        subprocess.run(["git", *commit], cwd=directory, check=True)


def is_kept_by(command: str, project: Path) -> bool:
    """Whether omo's state is whole after git has really done it, in a copy of the project."""
    copy = project.parent / "copy"
    shutil.copytree(project, copy, symlinks=True)
    who = "git config user.name T; git config user.email t@example.org; "
    subprocess.run(["sh", "-c", who + command], cwd=copy, capture_output=True, check=False)
    kept = sorted(path.relative_to(copy) for path in (copy / ".sisyphus").rglob("*"))
    shutil.rmtree(copy)
    return kept == sorted(path.relative_to(project) for path in (project / ".sisyphus").rglob("*"))


@pytest.mark.parametrize("command", TAKES)
def test_what_takes_the_state_is_refused_and_told_how_to_keep_it(at_work: Host, command: str) -> None:
    assert not is_kept_by(command, at_work.project)
    reason = denied(bash(at_work, command))
    assert "omo's own state" in reason
    assert [keeps for keeps in KEEPS.values() if keeps in reason], reason
    bash(at_work, command, session_id="another").assert_silent()


@pytest.mark.parametrize("command", [*KEEP, *KEEPS.values()])
def test_what_keeps_the_state_is_allowed(at_work: Host, command: str) -> None:
    assert is_kept_by(command, at_work.project)
    bash(at_work, command).assert_silent()


def test_below_the_project_stash_still_takes_all_of_it(at_work: Host) -> None:
    below = {"cwd": str(at_work.project / "sub")}
    assert "git stash -u" in denied(bash(at_work, "git stash -a", **below))
    bash(at_work, "git clean -fdx", **below).assert_silent()


def test_without_open_work_cleaning_is_nobodys_business(at_work: Host) -> None:
    at_work.prompt("/omo:stop-continuation")
    bash(at_work, "git clean -fdx").assert_silent()


@pytest.mark.usefixtures("through_the_shell")
def test_python_is_asked_only_about_git_that_cleans_or_stashes(at_work: Host, data: Path) -> None:
    noted = note_starts(data)
    for command in ("make clean", "git status", "npm run clean", "ls stash"):
        bash(at_work, command).assert_silent()
    assert not noted.exists()
    bash(at_work, "git clean -fdx").assert_silent()
    assert noted.exists()
