"""What differs from the files as a run began with them: told by content, whatever git was told to overlook."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from omo.proof import base
from tests.kept import copied
from tests.project import git as git
from tests.proof.test_differences import forge_index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.rows import Base, FilesAtEnd


def make(root: Path) -> None:
    (root / "calc.py").write_text("a\n")
    (root / "tests").mkdir()
    (root / "tests" / "test_calc.py").write_text("b\n")
    (root / ".gitignore").write_text("ignored.txt\n")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "base")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "a b"
    copied(root, make)
    return root


def changed(root: Path, began: Base) -> set[str]:
    look = base.look(str(root), began)
    assert look.changed is not None, look.unknown
    return set(look.changed)


def take(root: Path) -> Base:
    return base.take(str(root), os.environ)


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_git_told_not_to_look_hides_no_edit_and_makes_none(project: Path, flag: str) -> None:
    began = take(project)
    git(project, "update-index", flag, "calc.py")
    assert changed(project, began) == set()
    (project / "calc.py").write_text("hidden\n")
    assert changed(project, began) == {"calc.py"}


def test_a_clone_that_looks_at_less_than_before_is_unknown(project: Path) -> None:
    began = take(project)
    git(project, "config", "core.fileMode", "false")
    assert "core.fileMode" in base.look(str(project), began).unknown
    git(project, "config", "core.fileMode", "true")
    assert base.look(str(project), began).unknown == ""
    git(project, "update-index", "--refresh")  # a copy is touched, and git leaves such files out of no checkout
    git(project, "sparse-checkout", "set", "--no-cone", "/*", "!/calc.py")
    assert "sparse checkout" in base.look(str(project), began).unknown


def test_a_new_rule_above_the_project_hides_no_new_file(project: Path) -> None:
    began = take(project / "tests")
    (project / "tests" / "feature.py").write_text("x\n")
    (project / ".gitignore").write_text("feature.py\n")
    assert changed(project / "tests", began) == {"feature.py"}


def test_a_new_rule_of_git_hides_no_new_file(project: Path) -> None:
    began = take(project)
    (project / "ignored.txt").write_text("as agreed\n")
    (project / "feature.py").write_text("x\n")
    (project / ".git" / "info" / "exclude").write_text("feature.py\n")
    assert changed(project, began) == {"feature.py"}
    (project / ".gitignore").write_text("ignored.txt\nfeature.py\n")
    assert changed(project, began) == {"feature.py", ".gitignore"}


def test_a_runners_file_is_looked_at_although_it_is_ignored(project: Path) -> None:
    (project / ".gitignore").write_text("ignored.txt\nGNUmakefile\n")
    git(project, "commit", "-qam", "ignore it")
    began = take(project)
    (project / "GNUmakefile").write_text("test:\n")
    assert changed(project, began) == {"GNUmakefile"}


def test_a_test_that_a_runner_would_find_is_no_leftover_nor_is_source(project: Path) -> None:
    began = take(project)
    tests = ("cov/test_red.py", "coverage/red.test.js", ".sisyphus/evidence/red.test.js", "coverage/miles.py")
    for name in (*tests, ".tox/py/miles.py", ".tox/py/test_six.py", "htmlcov/test_calc_py.html", "htmlcov/index.js"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("x")
    assert changed(project, began) == set(tests)


def test_what_is_large_is_told_apart_by_its_times(project: Path) -> None:
    with open(project / "model.bin", "wb") as file:
        file.truncate(base.LARGEST_FILE + 1)
    began = take(project)
    assert changed(project, began) == set()
    with open(project / "model.bin", "r+b") as file:
        file.write(b"x")
    assert changed(project, began) == {"model.bin"}


@pytest.mark.parametrize("is_filtered_before", [True, False])
def test_a_filter_is_never_started_and_hides_nothing(project: Path, is_filtered_before: bool) -> None:
    def set_filter() -> None:
        (project / ".git" / "info" / "attributes").write_text("*.py filter=x\n")
        git(project, "config", "filter.x.clean", "touch started; echo a")
        git(project, "config", "filter.x.required", "true")

    if is_filtered_before:
        set_filter()
    began = take(project)
    set_filter()
    assert changed(project, began) == set()
    (project / "calc.py").write_text("edited\n")
    git(project, "add", "calc.py")  # git notes the edit as what the filter makes of it: the commit's content
    (project / "started").unlink()
    assert changed(project, began) == {"calc.py"}
    assert not (project / "started").exists()


def test_what_the_commit_does_not_hold_is_kept_under_its_digest(project: Path) -> None:
    (project / "calc.py").write_text("dirty\n")
    (project / "new.py").write_text("untracked\n")
    (project / "link").symlink_to("calc.py")
    state = project / ".sisyphus" / "cc-omo"
    began = base.take(str(project), os.environ, str(state))
    kept = {path: (state / "base" / digest).read_bytes() for path, digest in began["files"].items()}
    assert kept == {"calc.py": b"dirty\n", "new.py": b"untracked\n", "link": b"calc.py\0dirty\n"}
    os.utime(state / "base" / began["files"]["new.py"], (0, 0))
    (project / "new.py").write_text("another\n")
    base.take(str(project), os.environ, str(state))
    assert not (state / "base" / began["files"]["new.py"]).exists(), "a month later"


def test_a_clean_tree_keeps_nothing(project: Path) -> None:
    base.take(str(project), os.environ, str(project / ".sisyphus" / "cc-omo"))
    assert not (project / ".sisyphus").exists()


def test_an_edit_that_git_does_not_see_is_seen_and_stays_so(project: Path) -> None:
    """An end is marked with it, and a look at it later reads no file that was not written since."""
    began = take(project)
    (project / "tests" / "test_calc.py").write_text("c\n")
    forge_index(project)
    look = base.look(str(project), began)
    assert set(look.changed or ()) == {"tests/test_calc.py"}
    assert base.look(str(project), base.of_commit(str(project), "HEAD")).tree == look.tree
    marked = base.mark(str(project), seen=look)
    later: FilesAtEnd = {**marked, "moment": marked["moment"] + 3600}
    assert base.changed_since(str(project), later).changed == []
    (project / "tests" / "test_calc.py").write_text("d\n")
    forge_index(project)
    assert base.changed_since(str(project), later).changed == ["tests/test_calc.py"]
    (project / "calc.py").write_text("b\n")
    forge_index(project)
    assert base.changed_since(str(project), marked).changed == ["calc.py", "tests/test_calc.py"]
