"""One root for hooks and CLI, and no session id that can leave it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omo.state import STATE_DIR, paths
from tests.project import git


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    top = tmp_path / "a b" / "ü (1)"
    (top / "src" / "deep").mkdir(parents=True)
    git(top, "init", "-q")
    git(top, "commit", "-q", "--allow-empty", "-m", "start")
    return top


def test_an_existing_state_directory_wins_over_git(repo: Path) -> None:
    (repo / "src" / STATE_DIR).mkdir(parents=True)
    assert paths.project_root({}, str(repo / "src" / "deep")) == str(repo / "src")


def test_state_above_a_repository_is_not_its_own(repo: Path) -> None:
    (repo.parent / STATE_DIR).mkdir(parents=True)
    assert paths.project_root({}, str(repo / "src")) == str(repo)
    assert paths.project_root({}, str(repo.parent)) == str(repo.parent)


def test_outside_git_the_start_itself_is_the_root(tmp_path: Path) -> None:
    start = tmp_path / "plain" / "x"
    start.mkdir(parents=True)
    assert paths.project_root({"CLAUDE_PROJECT_DIR": str(start)}, "/") == str(start)


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"OMO_PROJECT_DIR": "one", "CLAUDE_PROJECT_DIR": "two"}, "one"),
        ({"CLAUDE_PROJECT_DIR": "two"}, "two"),
        ({"OMO_PROJECT_DIR": ""}, "cwd"),
        ({}, "cwd"),
    ],
)
def test_where_the_search_starts(tmp_path: Path, environ: dict[str, str], expected: str) -> None:
    for name in ("one", "two", "cwd"):
        (tmp_path / name).mkdir()
    full = {key: str(tmp_path / value) if value else "" for key, value in environ.items()}
    assert paths.project_root(full, str(tmp_path / "cwd")) == str(tmp_path / expected)


def test_a_submodule_belongs_to_its_superproject(repo: Path, tmp_path: Path) -> None:
    other = tmp_path / "library"
    other.mkdir()
    git(other, "init", "-q")
    git(other, "commit", "-q", "--allow-empty", "-m", "start")
    git(repo, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), "vendor/library")
    assert paths.project_root({}, str(repo / "vendor" / "library")) == str(repo)


def test_a_linked_worktree_has_its_own_state_also_elsewhere_and_under_the_same_name(repo: Path, tmp_path: Path) -> None:
    linked = [tmp_path / "linked" / repo.name, tmp_path / "other" / repo.name]
    for path in linked:
        git(repo, "worktree", "add", "-q", "--detach", str(path))
        assert paths.project_root({}, str(path)) == str(path)
        assert paths.repository(str(path)) == paths.repository(str(repo))
    among = tmp_path / "worktrees" / "of their own"
    git(tmp_path, "init", "-q", str(among))
    assert paths.repository(str(among)) == str(among / ".git")
    for environ in ({}, {"OMO_STATE_DIR": str(tmp_path / "states")}):
        states = {paths.state_dir(str(path), environ) for path in (repo, *linked)}
        assert len(states) == 3


@pytest.mark.parametrize(
    "session", ["../../x", "/etc/passwd", "", ".", "..", "a/b", "a\\b", "C:\\x", "x" * 300, "ü", "\udc80"]
)
def test_an_unsafe_id_becomes_one_plain_component(session: str) -> None:
    name = paths.file_name_of(session)
    assert name.startswith("x-")
    assert paths.SAFE_ID.issuperset(name)


@given(st.text())
def test_no_id_leaves_the_sessions_directory(session: str) -> None:
    path = Path(paths.session_dir("/state", session))
    assert path.parent == Path("/state/sessions")
    assert path.name not in ("", ".", "..")


@given(st.text(), st.text())
def test_different_ids_never_share_a_directory(one: str, other: str) -> None:
    assert (paths.file_name_of(one) == paths.file_name_of(other)) == (one == other)


def test_an_empty_git_directory_is_no_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    below = tmp_path / "project"
    below.mkdir()
    assert paths.project_root({}, str(below)) == str(below)
