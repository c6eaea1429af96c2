"""Programs that are installed in the project are the same while they hold the same, and lead to the same."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from omo.proof import base, installed
from tests.project import commit, git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.rows import Base


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_text(text)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    top = tmp_path / "project"
    top.mkdir()
    git(top, "init", "-q")
    put(top / ".gitignore", ".venv/\nnode_modules/\n")
    commit(top, "base")
    put(top / ".venv/bin/pytest", "pytest\n")
    put(top / ".venv/bin/ruff", "ruff\n")
    put(top / "node_modules/jest/cli.js", "jest\n")
    (top / "node_modules/.bin").mkdir()
    (top / "node_modules/.bin/jest").symlink_to("../jest/cli.js")
    (top / "node_modules/.bin/broken").symlink_to("../none")
    return top


def state_of(root: Path) -> str:
    return str(root / ".sisyphus" / "cc-omo")


def take(root: Path) -> Base:
    return base.take(str(root), os.environ, state_of(root))


def replaced(root: Path, began: Base) -> list[str]:
    return base.replaced_programs(str(root), state_of(root), began)


def test_what_is_installed_anew_is_the_same(root: Path) -> None:
    began = take(root)
    put(root / ".venv/bin/pytest", "pytest\n")
    put(root / ".venv/bin/uv", "new\n")
    (root / ".venv/bin/ruff").unlink()
    assert replaced(root, began) == []


def test_another_content_or_another_target_is_another_program(root: Path) -> None:
    began = take(root)
    put(root / ".venv/bin/pytest", "tesypt\n")
    put(root / "node_modules/jest/cli.js", "fake\n")
    (root / ".venv/bin/ruff").unlink()
    (root / ".venv/bin/ruff").symlink_to("pytest")
    assert replaced(root, began) == [".venv/bin/pytest", ".venv/bin/ruff", "node_modules/.bin/jest"]


def test_where_the_note_is_not_as_it_was_none_is_named(root: Path) -> None:
    began = take(root)
    put(root / ".venv/bin/pytest", "fake\n")
    put(Path(state_of(root), "base", began["programs"]), "")
    assert replaced(root, began) == []


def test_a_program_that_a_run_has_brought_is_known_by_what_it_holds(root: Path) -> None:
    before = installed.programs(str(root))
    put(root / ".venv/bin/uv", "new\n")
    brought = installed.new_since(before, str(root))
    assert list(brought) == [".venv/bin/uv"]
    assert installed.is_one_of(str(root / ".venv/bin/uv"), str(root), brought)
    put(root / ".venv/bin/uv", "fake\n")
    assert not installed.is_one_of(str(root / ".venv/bin/uv"), str(root), brought)
