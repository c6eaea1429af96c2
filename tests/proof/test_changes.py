"""What git says of the files, all at once and in few processes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from omo.deadline import Deadline
from omo.errors import NotEvaluable
from omo.proof import changes, git
from tests.project import git as run_git
from tests.proof.test_differences import forge_index
from tests.proof.test_evaluate import commit, write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    run_git(project, "init", "-q")
    write(project, ".gitignore", "out/\n")
    write(project, "a.txt", "a\n")
    commit(project)
    return project


def test_all_there_is_to_know_takes_at_most_nine_processes(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = changes.head(root)
    assert first
    write(root, "b.txt", "b\n")
    commit(root)
    write(root, "a.txt", "edited\n")
    write(root, "new.txt", "new\n")
    write(root, "out/built.txt", "built\n")
    write(root, ".gitignore", "out/\nnew.txt\n")
    started: list[object] = []
    really_start = git.start

    def start(*arguments: object, **options: object) -> git.Process:
        started.append(arguments)
        return really_start(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(git, "start", start)
    assert changes.changed(root, first) == [".gitignore", "a.txt", "b.txt", "new.txt"]
    assert len(started) <= 9


def test_git_that_gives_no_answer_is_ended(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "bin/git", f"#!/bin/sh\necho $$ >{tmp_path}/pid\nexec sleep 60\n").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin") + ":/usr/bin:/bin")
    with Deadline(1), pytest.raises(git.TookTooLong, match=r"git took too long \(status\)"):
        git.run(root, "status")
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_git_that_says_too_much_is_ended(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git, "MOST_OUTPUT", 10)
    with pytest.raises(NotEvaluable, match="git log lists more than 10 bytes"):
        git.run(root, "log")


def test_without_git_nothing_is_known(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert changes.head(root) is None
    with pytest.raises(NotEvaluable, match="no answer"):
        git.ask(root, "log")


def test_files_of_a_commit_are_read_in_one_process(root: Path) -> None:
    write(root, "sp ace.txt", "x\n\ny")
    write(root, "empty", "")
    commit(root)
    names = [f"HEAD:./{name}" for name in ("sp ace.txt", "missing", "empty", "a.txt", ".")]
    assert git.blobs(root, names) == [b"x\n\ny", None, b"", b"a\n", None]
    assert git.blobs(root, names[1:2]) == [None]
    assert git.blobs(root, []) == []


@pytest.mark.parametrize("kind", ["sha1", "sha256"])
def test_before_the_first_commit_the_base_is_what_git_calls_a_tree_without_files(tmp_path: Path, kind: str) -> None:
    subprocess.run(["git", "init", "-q", f"--object-format={kind}", str(tmp_path)], check=True)
    empty = git.ask(tmp_path, "hash-object", "-t", "tree", "--stdin").strip()
    assert changes.head(tmp_path) == changes.resolve(tmp_path, empty) == empty


@pytest.mark.parametrize("path", ["../outside/.gitignore", "/outside/.gitignore", "a.txt"])
def test_rules_that_were_noted_in_another_place_are_not_written_there(root: Path, tmp_path: Path, path: str) -> None:
    """The ledger has them, and an agent can write into that."""
    write(root, "out/built.txt", "built\n")
    noted = path.replace("/outside", f"{tmp_path}/outside") if path.startswith("/") else path
    with pytest.raises(NotEvaluable, match="is no file of rules for git"):
        changes.hidden_by_work(root, "HEAD", {noted: "*\n"})
    assert not (tmp_path / "outside").exists()


def test_an_edit_that_git_does_not_see(root: Path) -> None:
    write(root, "a.txt", "b\n")
    forge_index(root)
    assert run_git(root, "status", "--porcelain") == ""
    assert changes.changed(root, "HEAD") == ["a.txt"]
