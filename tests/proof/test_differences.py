"""The tracked files that differ from a commit are those that `git diff` names once it has refreshed the index."""

from __future__ import annotations

import hashlib
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
    write(top, "sub/touched-and-nowhere-else", "base\n")
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
    write(top, "sub/touched-and-nowhere-else", "base\n")
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


@pytest.mark.parametrize("place", ["", "sub"])
@pytest.mark.parametrize("settings", [{}, {"core.autocrlf": "true"}], ids=str)
def test_of_files_that_git_calls_unchanged_none_has_other_content(
    root: Path, place: str, settings: dict[str, str]
) -> None:
    """Also those that were touched, that are links, and that git would store with other line ends today."""
    write(root, ".gitattributes", "converted text\nlines text\n")
    for name, value in settings.items():
        git(root, "config", name, value)
    top, head = root / place, git(root, "rev-parse", "HEAD")
    named = differences.paths(top, head)
    assert named is not None
    tracked = {os.path.relpath(path, top) for path in top.rglob("*") if ".git" not in path.parts}
    assert "lines" in tracked or place
    assert differences.with_other_content(top, head, tracked.difference(named)) == []


def test_an_edit_that_leaves_what_git_compares(tmp_path: Path) -> None:
    """The index is made to say of the file what the system says of it after the edit."""
    git(tmp_path, "init", "-q")
    write(tmp_path, "test_a", "assert 4\n")
    (tmp_path / "link").symlink_to("here")
    commit(tmp_path, "base")
    head = git(tmp_path, "rev-parse", "HEAD")
    write(tmp_path, "test_a", "assert 8\n")
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to("away")
    forge_index(tmp_path)
    assert git(tmp_path, "status", "--porcelain") == ""
    assert differences.paths(tmp_path, head) == []
    names = ["link", "test_a", "gone"]
    assert differences.with_other_content(tmp_path, head, names) == ["link", "test_a"]
    stamp = (tmp_path / "test_a").stat().st_ctime
    assert differences.with_other_content(tmp_path, head, names, since=stamp) == ["link", "test_a"]
    assert differences.with_other_content(tmp_path, head, names, since=stamp + 3600) == []


def forge_index(root: Path) -> None:
    """Have the index, of version 2, say that the files as they are hold what it has of them."""
    path = root / ".git" / "index"
    index = bytearray(path.read_bytes()[:-20])
    place = 12
    for _ in range(int.from_bytes(index[8:12], "big")):
        length = int.from_bytes(index[place + 60 : place + 62], "big") & 0xFFF
        name = index[place + 62 : place + 62 + length].decode()
        status = (root / name).lstat()
        seen = (status.st_ctime, 0, status.st_mtime, 0, status.st_dev, status.st_ino)
        index[place : place + 24] = b"".join((int(value) & 0xFFFFFFFF).to_bytes(4, "big") for value in seen)
        index[place + 36 : place + 40] = status.st_size.to_bytes(4, "big")
        place += (62 + length + 8) // 8 * 8
    path.write_bytes(index + hashlib.sha1(index).digest())
    later = path.stat().st_mtime + 10  # git reads a file that was written in the same second as the index
    os.utime(path, (later, later))


def test_before_the_first_commit_and_on_a_branch_without_one(root: Path, tmp_path: Path) -> None:
    began = git(root, "rev-parse", "HEAD")
    git(root, "checkout", "-q", "--orphan", "fresh")
    wanted = named_by_git(root, "", began, tmp_path / "copy")
    assert differences.paths(root, began) == wanted


def test_a_commit_that_is_not_there_is_no_answer(root: Path) -> None:
    assert differences.paths(root, "0" * 39 + "1") is None
    assert differences.paths(root / "inner" / "none", "HEAD") is None
