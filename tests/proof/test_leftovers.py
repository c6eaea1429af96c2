"""What lies in the tree when a goal begins stays old, however git stands to it."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from omo.proof import artifacts
from tests.project import IDENTITY
from tests.proof.test_artifacts import agent, refusal, register
from tests.proof.test_artifacts import root as root  # the fixture, under its own name
from tests.proof.test_evaluate import write

OWN = ".sisyphus/evidence"
MODIFIED = "echo 1 passed > proof.txt; git add .; git commit -qm x; echo 7 passed > proof.txt"
NESTED = "cd inner; git init -q; git add .; git commit -qm x; cd .."
# In a shell, after which the file of that name says "7 passed".
PLACES = {
    "staged": ("proof.txt", "git add proof.txt"),
    "modified": ("proof.txt", MODIFIED),
    "unwatched": ("proof.txt", f"{MODIFIED}; git update-index --assume-unchanged proof.txt"),
    "ignored": ("out/proof.txt", "echo out/ > .gitignore"),
    "excluded": ("proof.txt", "echo proof.txt > .git/info/exclude"),
    "nested": ("inner/proof.txt", NESTED),
    "submodule": ("inner/proof.txt", f"{NESTED}; git add inner; git commit -qm x"),
    "our own place": (f"{OWN}/G001/proof.txt", f"echo '*' > {OWN}/.gitignore"),
}
OF_ANOTHER_REPOSITORY = ("nested", "submodule")  # of what lies in one only the times of the file tell


@pytest.mark.parametrize("place", PLACES)
def test_what_lay_there_stays_old_and_what_is_written_there_is_new(state: str, root: Path, place: str) -> None:
    name, command = PLACES[place]
    write(root, name, "7 passed\n")
    subprocess.run(["sh", "-ec", command], cwd=root, check=True, env={**os.environ, **IDENTITY})
    began = time.time() - 60
    artifacts.remember(agent(state, root, began - 60))
    for path in () if place in OF_ANOTHER_REPOSITORY else (root / name, root / "copy.txt"):
        path.write_text("7 passed\n")  # of now, by its times
        assert refusal(state, root, path, started_at=began).details["why"] == "old"
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
    artifacts.remember(agent(state, root))
    names: set[str] = set()
    for row in artifacts.journal_of(state).rows():
        names.update(row["contents"])
    assert {"new.txt", ".gitignore", "out/proof.txt", ".sisyphus/evidence/.gitignore"} <= names
    assert len(names) <= 6
    assert "large.txt" not in names


def test_what_was_remembered_once_is_not_written_again(state: str, root: Path) -> None:
    write(root, "log.txt", "7 passed\n")
    for _ in range(2):
        assert artifacts.remember(agent(state, root)) == 1
    rows = artifacts.journal_of(state).rows()
    assert [row["kind"] for row in rows] == ["seen"]


def test_names_of_any_length_fit_into_rows(state: str, root: Path) -> None:
    deep = "/".join(["d" * 200] * 10)
    for number in range(120):
        write(root, f"{deep}/{number}.txt", f"{number}\n")
    assert artifacts.remember(agent(state, root)) == 120
    assert artifacts.journal_of(state).problems() == []
