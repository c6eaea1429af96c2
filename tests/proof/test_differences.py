"""The tracked files that differ from a commit are those that `git diff` names once it has refreshed the index."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from omo.proof import differences
from tests.project import commit, git

ODD_NAMES = (
    b'quote"d',
    b'"quoted"',
    b"two\nlines",
    b"cut\r",
    b"tab\t",
    b"\xff\xfe",
    "e\u0301 \U0001f600".encode(),
    b" blank ",
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two commits, and then every pair of what can be staged and what can lie in the work tree."""
    top = tmp_path / "project"
    top.mkdir()
    git(top, "init", "-q")
    states = ("as-committed", "edited", "touched", "gone", "linked", "program")
    names = [f"{place}{staged}-{worked}" for place in ("", "sub/") for staged in states for worked in states]
    for name in names:
        write(top, name, "base\n")
    write(top, "lines", "a\r\nb\r\n")
    write(top, "converted", "a\r\nb\r\n")
    write(top, ".gitattributes", "converted text\n")
    write(top, "moved-on", "base\n")
    write(top, "moved-back", "base\n")
    for odd in ODD_NAMES:
        write(top, os.fsdecode(odd), "base\n")
        write(top, os.fsdecode(b"touched-" + odd), "base\n")
    inner = top / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    write(inner, "file", "base\n")
    commit(inner, "inner")
    commit(top, "base")
    write(top, "moved-on", "next\n")
    write(top, "moved-back", "next\n")
    commit(top, "next")
    for name in names:
        put(top, name, name.rpartition("/")[2].rpartition("-")[0])
    git(top, "add", "-A")
    for name in names:
        put(top, name, name.rpartition("-")[2])
    write(top, "moved-back", "base\n")
    write(top, "converted", "a\nb\n")
    write(top, "intended", "new\n")
    git(top, "add", "-N", "intended")
    write(inner, "file", "edited\n")
    for odd in ODD_NAMES:
        write(top, os.fsdecode(odd), "edited\n")
        write(top, os.fsdecode(b"touched-" + odd), "base\n")
    return top


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(text.encode())
    os.utime(path, (1, 1))


def put(root: Path, name: str, state: str) -> None:
    if state == "gone":
        (root / name).unlink(missing_ok=True)
    elif state == "linked":
        (root / name).unlink(missing_ok=True)
        (root / name).symlink_to("lines")
    else:
        write(root, name, "edited\n" if state == "edited" else "base\n")
        (root / name).chmod(0o755 if state == "program" else 0o644)


def named_by_git(root: Path, place: str, since: str, scratch: Path) -> list[str]:
    """In a copy, as this writes the index."""
    shutil.copytree(root, scratch, symlinks=True)
    command = [
        "git",
        "diff",
        "--name-only",
        "-z",
        "--no-renames",
        "--relative",
        "--ignore-submodules=none",
        since,
        "--",
    ]
    printed = subprocess.run(command, cwd=scratch / place, check=True, capture_output=True).stdout
    return sorted(os.fsdecode(printed).split("\0")[:-1])


@pytest.mark.parametrize("since", ["HEAD", "HEAD~1"])
@pytest.mark.parametrize("place", ["", "sub"])
@pytest.mark.parametrize("settings", [{}, {"core.autocrlf": "true"}, {"core.fileMode": "false"}], ids=str)
def test_the_same_files_as_git_diff(
    root: Path, tmp_path: Path, since: str, place: str, settings: dict[str, str]
) -> None:
    for name, value in settings.items():
        git(root, "config", name, value)
    index = (root / ".git" / "index").read_bytes()
    wanted = named_by_git(root, place, since, tmp_path / "copy")
    assert wanted
    assert differences.paths(root / place, git(root, "rev-parse", since)) == wanted
    assert (root / ".git" / "index").read_bytes() == index


def test_before_the_first_commit_and_on_a_branch_without_one(root: Path, tmp_path: Path) -> None:
    began = git(root, "rev-parse", "HEAD")
    git(root, "checkout", "-q", "--orphan", "fresh")
    wanted = named_by_git(root, "", began, tmp_path / "copy")
    assert differences.paths(root, began) == wanted


def test_a_commit_that_is_not_there_is_no_answer(root: Path) -> None:
    assert differences.paths(root, "0" * 39 + "1") is None
    assert differences.paths(root / "inner" / "none", "HEAD") is None
