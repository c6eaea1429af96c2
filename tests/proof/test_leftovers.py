"""What lies in the tree when a goal begins stays old, however git stands to it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from omo.proof import artifacts
from tests.project import git
from tests.proof.test_artifacts import refusal, register
from tests.proof.test_artifacts import root as root  # the fixture, under its own name
from tests.proof.test_evaluate import commit, write


def staged(root: Path) -> str:
    write(root, "proof.txt", "7 passed\n")
    git(root, "add", "proof.txt")
    return "proof.txt"


def modified(root: Path) -> str:
    write(root, "proof.txt", "1 passed\n")
    commit(root)
    write(root, "proof.txt", "7 passed\n")
    return "proof.txt"


def unwatched(root: Path) -> str:
    name = modified(root)
    git(root, "update-index", "--assume-unchanged", name)
    return name


def ignored(root: Path) -> str:
    write(root, ".gitignore", "out/\n")
    write(root, "out/proof.txt", "7 passed\n")
    return "out/proof.txt"


def excluded(root: Path) -> str:
    write(root, ".git/info/exclude", "proof.txt\n")
    write(root, "proof.txt", "7 passed\n")
    return "proof.txt"


def nested(root: Path) -> str:
    write(root, "inner/proof.txt", "7 passed\n")
    git(root / "inner", "init", "-q")
    commit(root / "inner")
    return "inner/proof.txt"


def submodule(root: Path) -> str:
    name = nested(root)
    git(root, "add", "inner")
    commit(root)
    return name


def in_our_own_place(root: Path) -> str:
    write(root, ".sisyphus/evidence/.gitignore", "*\n")
    write(root, ".sisyphus/evidence/G001/proof.txt", "7 passed\n")
    return ".sisyphus/evidence/G001/proof.txt"


PLACES = (staged, modified, unwatched, ignored, excluded, nested, submodule, in_our_own_place)


@pytest.mark.parametrize("make", PLACES, ids=lambda make: make.__name__)
def test_a_touch_does_not_make_it_new(state: str, root: Path, make: Callable[[Path], str]) -> None:
    name = make(root)
    artifacts.remember(state, root, by="agent", now=time.time(), wait=1.0)
    began = time.time() + 60
    (root / name).write_text((root / name).read_text())
    os.utime(root / name, (began + 60, began + 60))
    assert refusal(state, root, name, started_at=began).details["why"] == "old"
    copy = write(root, "copy.txt", (root / name).read_text())
    os.utime(copy, (began + 60, began + 60))
    assert refusal(state, root, "copy.txt", started_at=began).details["why"] == "old"


@pytest.mark.parametrize("make", PLACES, ids=lambda make: make.__name__)
def test_what_is_written_there_afterwards_is_new(state: str, root: Path, make: Callable[[Path], str]) -> None:
    name = make(root)
    began = time.time() - 60
    artifacts.remember(state, root, by="agent", now=began, wait=1.0)
    write(root, name, "8 passed\n")
    assert register(state, root, name, started_at=began).path == name


def test_a_huge_ignored_tree_is_cut_and_the_newest_of_it_counts(
    state: str, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(artifacts, "MOST_REMEMBERED", 3)
    monkeypatch.setattr(artifacts, "LARGEST_REMEMBERED", 1_000)
    write(root, ".gitignore", "node_modules/\nout/\n")
    for number in range(30):
        os.utime(write(root, f"node_modules/{number}.js", f"{number}\n"), (1e9, 1e9))
    write(root, "out/proof.txt", "7 passed\n")
    write(root, ".sisyphus/evidence/.gitignore", "*\n")
    write(root, "new.txt", "new\n")
    write(root, "large.txt", "x" * 2_000)
    artifacts.remember(state, root, by="agent", now=time.time(), wait=1.0)
    names: set[str] = set()
    for row in artifacts._journal(state).rows():
        names.update(row["contents"])
    assert {"new.txt", ".gitignore", "out/proof.txt", ".sisyphus/evidence/.gitignore"} <= names
    assert len(names) <= 6
    assert "large.txt" not in names


def test_what_was_remembered_once_is_not_written_again(state: str, root: Path) -> None:
    write(root, "log.txt", "7 passed\n")
    for _ in range(2):
        assert artifacts.remember(state, root, by="agent", now=time.time(), wait=1.0) == 1
    rows = artifacts._journal(state).rows()
    assert [row["kind"] for row in rows] == ["seen"]


def test_names_of_any_length_fit_into_rows(state: str, root: Path) -> None:
    deep = "/".join(["d" * 200] * 10)
    for number in range(120):
        write(root, f"{deep}/{number}.txt", f"{number}\n")
    assert artifacts.remember(state, root, by="agent", now=time.time(), wait=1.0) == 120
    assert artifacts._journal(state).problems() == []
