"""git may break while files are swapped: those of the list come back, nothing else is moved, and the user is told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from omo.proof import base
from omo.proof.swap import Swap, recover
from omo.proof.swap_files import NOTHING
from omo.state import paths
from tests import texts
from tests.project import Project
from tests.proof.test_swap import Place, die, file, lay, seen

# Each breaks git in the middle of the run without the work; a file of the run is left, too.
BREAKS = {
    "a syntax error in its configuration": "echo '[core' > .git/config",
    "its directory moved": "mv .git elsewhere",
    "its directory removed": "rm -rf .git",
    "a broken index": "echo x > .git/index",
    "no HEAD": ": > .git/HEAD",
    "no index": "rm .git/index",
    "no rules for what is ignored": "rm .gitignore",
    "another repository in its place": "mv .git elsewhere; git init -q",
}
SILENT = ("no index", "no rules for what is ignored", "another repository in its place")  # git answers all the same


@pytest.fixture
def work(project: Project) -> Project:
    """Files that git knows, that it does not, and that it ignores; a gate that the work makes pass."""
    project.write("check.sh", 'if test "$(cat value)" = newer; then exit 0; fi\n. ../meanwhile\nexit 1\n')
    project.write(".gitignore", ".env\nelsewhere\n")
    project.write("src/tracked.py")
    project.commit("base")
    project.write("../meanwhile", "echo left > left_by_the_run\n")
    project.write("notes.txt", "mine\n")
    project.write(".env", "A=1\n")
    project.prompt("ulw make the value newer")
    project.check("gate", "add", "tests", "--", "sh", "check.sh", by="user")
    project.write("value", "newer\n")
    return project


def files(project: Project) -> dict[str, object]:
    """All but what the breaking itself changed."""
    found = seen(project.root)
    return {name: what for name, what in found.items() if name.partition("/")[0] not in ("elsewhere", ".gitignore")}


@pytest.mark.parametrize("name", BREAKS)
def test_nothing_is_moved_that_was_there_before(work: Project, name: str) -> None:
    work.write("../meanwhile", f"{BREAKS[name]}\n")
    was = files(work)
    ran = work.omo("ulw", "done")
    assert files(work) == was
    said = ran.out + ran.err
    assert "Traceback" not in said
    assert not os.path.lexists(paths.swap_journal(work.state))
    assert not Path(paths.kept_dir(work.state)).exists()
    if name not in SILENT:
        assert "git status" in said, said


def test_what_a_run_leaves_is_moved_aside_while_git_answers(work: Project) -> None:
    said = work.omo("ulw", "done")
    assert not (work.root / "left_by_the_run").exists()
    assert list(Path(paths.kept_dir(work.state)).rglob("left_by_the_run.kept")), said.out + said.err


def test_what_a_run_leaves_stays_where_git_cannot_tell_it_apart(work: Project) -> None:
    work.write("../meanwhile", "echo left > left_by_the_run; echo '[core' > .git/config\n")
    said = work.omo("ulw", "done")
    assert (work.root / "left_by_the_run").read_text() == "left\n"
    assert said.says("swap-left-in-project")


def test_a_list_that_began_without_git_ends_without(tmp_path: Path) -> None:
    place = Place(tmp_path / "project")
    lay(place.root, {"a": b"the work", ".gitignore": b"left\n"})
    swap = Swap(str(place.root), place.state, {"without": {"a": file(b"base")}}, base.Untracked(str(place.root)))
    with swap:
        swap.put("without")
        lay(place.root, {"left": b"by a run"})
        place.git("init", "-q")
    assert [kept.path for kept in swap.appeared] == ["left"]
    assert not (place.root / "left").exists()


def test_where_no_git_can_be_started_nothing_is_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Place(tmp_path / "project")
    lay(place.root, {"a": b"the work", "other": b"x"})
    place.git("init", "-q")
    swap = Swap(str(place.root), place.state, {"without": {"a": file(b"base")}}, base.Untracked(str(place.root)))
    with swap:
        swap.put("without")
        lay(place.root, {"left": b"by a run"})
        monkeypatch.setenv("PATH", str(tmp_path))
    assert "git ls-files failed" in swap.unmoved
    assert seen(place.root) == {name: (text, 0o644) for name, text in LEFT.items()}


LEFT = {"a": b"the work", "other": b"x", "left": b"by a run"}


# -- what is told


def test_the_lock_that_went_with_gits_directory_is_named(work: Project) -> None:
    work.write("../meanwhile", "mv .git elsewhere\n")
    assert work.omo("ulw", "done").says("swap-git-directory-moved", directory=work.root / ".git")


def test_a_file_that_is_deleted_meanwhile_comes_back_and_is_named(work: Project) -> None:
    work.write("../meanwhile", "rm value\n")
    said = work.omo("ulw", "done")
    assert (work.root / "value").read_text() == "newer\n"
    assert said.says("swap-deleted-meanwhile", files="value")


def test_a_removal_of_the_swap_itself_is_not_told_as_one_of_somebody_else(tmp_path: Path) -> None:
    place = Place(tmp_path / "project")
    lay(place.root, {"a": b"the work", "b": b"new", "c": b"c"})
    with place.swap(without={"a": file(b"base"), "b": NOTHING}, tests={"a": NOTHING}) as swap:
        swap.put("without")
        swap.put("tests")
        (place.root / "c").unlink()
    assert swap.deleted == []


def test_notes_are_told_also_where_the_swap_ends_in_an_error(work: Project) -> None:
    """The gate takes the lock of git's away, so that nothing counts, and deletes a file."""
    work.write("../meanwhile", "rm value .git/index.lock\n")
    said = work.omo("ulw", "done")
    assert said.says("swap-index-lock-taken")
    assert said.says("swap-deleted-meanwhile", files="value")


# -- the journal that was not finished


KILLED = """
import os, signal, sys
from omo.proof.swap import Swap
from omo.proof.swap_files import File
real = os.replace
def replace(source, target):
    if target.endswith("swap.journal"):
        os.kill(os.getpid(), signal.SIGKILL)
    real(source, target)
os.replace = replace
root = sys.argv[1]
Swap(root, root + "/.sisyphus/cc-omo", {"without": {"value": File(b"base", "f")}}, list).__enter__()
"""


@pytest.mark.parametrize("finds", ["a command", "a hook"])
def test_a_journal_that_was_never_finished_does_not_stay(work: Project, finds: str) -> None:
    source = Path(base.__file__).parents[2]
    command = [sys.executable, "-c", KILLED, str(work.root)]
    killed = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(source)}, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert os.path.lexists(f"{paths.swap_journal(work.state)}.tmp")
    if finds == "a command":
        work.check("status", by="user")
    else:
        work.prompt("hello")
    assert not os.path.lexists(f"{paths.swap_journal(work.state)}.tmp")


def test_after_a_kill_a_moved_git_directory_is_told_and_the_files_are_back(tmp_path: Path) -> None:
    place = Place(tmp_path / "project")
    lay(place.root, {"a": b"the work"})
    place.git("init", "-q")
    swap = place.swap(without={"a": file(b"base")})
    swap.__enter__()
    swap.put("without")
    die(swap)
    (place.root / ".git").rename(tmp_path / "moved")
    put_back, about_git = recover(place.state, str(place.root))
    assert texts.says(put_back, "swap-ended-in-middle", count="1 file")
    assert texts.says(about_git, "swap-git-directory-elsewhere", directory=".git")
    assert (place.root / "a").read_bytes() == b"the work"
