"""What files held at the base comes back byte by byte, or it is said why nobody knows."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from omo.errors import NotMade
from omo.proof import base, contents
from omo.proof.git import FILE_MODE, LINK_MODE
from omo.proof.swap_files import NOTHING, File
from omo.state import paths
from tests.project import git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.rows import Base


@pytest.fixture
def root(tmp_path: Path) -> Path:
    project = tmp_path / "a b"
    project.mkdir()
    git(project, "init", "-q")
    (project / ".gitattributes").write_text("*.crlf text eol=crlf\n")
    (project / "line.crlf").write_bytes(b"one\r\ntwo\r\n")
    (project / "plain.py").write_bytes(b"no end of line")
    (project / "empty.py").write_bytes(b"")
    (project / "run.sh").write_bytes(b"true\n")
    (project / "run.sh").chmod(0o755)
    (project / "link").symlink_to("plain.py")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "base")
    return project


def state_of(root: Path) -> str:
    return str(root / ".sisyphus" / "cc-omo")


def take(root: Path) -> Base:
    return base.take(str(root), os.environ, state_of(root))


def held(root: Path, began: Base, *wanted: str) -> list[File]:
    found = contents.at_base(str(root), state_of(root), began, wanted)
    return [found[path] for path in wanted]


def test_the_commit_s_files_are_as_git_checks_them_out(root: Path) -> None:
    names = ("line.crlf", "plain.py", "empty.py", "run.sh", "link", "new.py")
    as_they_are = [contents.now(str(root), name) for name in names]
    began = take(root)
    for name in ("line.crlf", "plain.py", "run.sh", "link"):
        (root / name).unlink()
        (root / name).write_text("edited\n")
    assert held(root, began, *names) == as_they_are
    assert as_they_are[0] == File(b"one\r\ntwo\r\n", FILE_MODE)
    assert as_they_are[-2:] == [File(b"plain.py", LINK_MODE), NOTHING]


def test_what_was_not_committed_is_as_it_was_when_the_run_was_armed(root: Path) -> None:
    (root / "plain.py").write_text("the user's own edit\n")
    (root / "loose.py").write_text("untracked\n")
    (root / "run.sh").unlink()
    (root / "away").symlink_to("loose.py")
    began = take(root)
    for name in ("plain.py", "loose.py", "run.sh"):
        (root / name).write_text("the agent's\n")
    (root / "away").unlink()
    assert held(root, began, "plain.py", "loose.py", "run.sh", "away") == [
        File(b"the user's own edit\n", FILE_MODE),
        File(b"untracked\n", FILE_MODE),
        NOTHING,
        File(b"loose.py", LINK_MODE),
    ]


def test_a_copy_that_was_changed_or_is_gone_is_no_base(root: Path) -> None:
    (root / "plain.py").write_text("the user's own edit\n")
    began = take(root)
    copy = Path(paths.copies_dir(state_of(root)), began["files"]["plain.py"])
    copy.write_text("what the agent would like it to have been\n")
    with pytest.raises(NotMade, match=r"the copy of plain.py from when the run began was changed"):
        held(root, began, "plain.py")
    copy.unlink()
    with pytest.raises(NotMade, match=r"what plain.py held when the run began was not kept"):
        held(root, began, "plain.py")


def test_what_cannot_be_known_is_said(root: Path, tmp_path: Path) -> None:
    with open(root / "large.bin", "wb") as file:
        file.truncate(base.LARGEST_FILE + 1)
    inner = tmp_path / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    git(inner, "commit", "-q", "--allow-empty", "-m", "inner")
    git(root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "sub")
    (root / ".gitattributes").write_text("*.crlf text eol=crlf\n*.secret filter=crypt\n")
    (root / "a.secret").write_text("plain\n")
    git(root, "add", "-A", ":!large.bin")
    git(root, "commit", "-qm", "more")
    git(root, "config", "filter.crypt.smudge", "touch started; cat")
    began = take(root)
    for path, why in (
        ("large.bin", "too large to be kept"),
        ("sub", "a repository of its own"),
        ("a.secret", "through a filter of git's, which omo does not start"),
    ):
        with pytest.raises(NotMade, match=f"{path}.*{why}"):
            held(root, began, path)
    assert not (root / "started").exists()
