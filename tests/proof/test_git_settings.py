"""What omo reads of a repository by itself, without git, is what git would have said of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from omo.proof import git
from tests.project import git as call_git

PLAIN = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"


@pytest.mark.parametrize(
    "more",
    [
        "",
        "\tfilemode = true\n",
        "\tfileMode = false\n",
        "\tfilemode=FALSE\n\tfilemode = true\n",
        "\tfilemode\n",
        "\tfilemode = no\n",
        "\tfilemode = false # for now\n",
        "\tfilemode = \\\nfalse\n",
        '\tfilemode = "false"\n',
        "[core]filemode=false\n",
        "[CORE] FileMode = false\n",
        '[filter "lfs"]\n\tclean = git-lfs clean\n\trequired = true\n',
        "[filter.odd]\n\tsmudge = cat\n",
        "[include]\n\tpath = more\n",
        '[includeIf "gitdir:**"]\n\tpath = more\n',
    ],
)
def test_a_configuration_is_read_as_git_reads_it(tmp_path: Path, more: str) -> None:
    call_git(tmp_path, "init", "-q")
    (tmp_path / ".git" / "more").write_text('[core]\n\tfilemode = false\n[filter "x"]\n\tclean = tr a b\n')
    (tmp_path / ".git" / "config").write_text(PLAIN + more)
    read, asked = git.settings(tmp_path), git.GitSettings(git.run(tmp_path, *git.SETTINGS).lines)
    assert (read.file_mode, read.as_they_are) == (asked.file_mode, asked.as_they_are)


@pytest.mark.parametrize("linked", ["a worktree", "another directory", "a configuration of its own"])
def test_what_is_in_another_file_counts(tmp_path: Path, linked: str) -> None:
    main, root = tmp_path / "main", tmp_path / "linked"
    main.mkdir()
    call_git(main, "init", "-q", "-b", "main")
    call_git(main, "commit", "-q", "--allow-empty", "-m", "base")
    call_git(main, "config", "core.fileMode", "false")
    if linked == "a worktree":
        call_git(main, "worktree", "add", "-q", str(root))
    elif linked == "another directory":
        root.mkdir()
        call_git(root, "init", "-q", "-b", "main")
        call_git(root, "commit", "-q", "--allow-empty", "-m", "of no account")
        (root / ".git" / "commondir").write_text(str(main / ".git"))
    else:
        root = main
        call_git(main, "config", "extensions.worktreeConfig", "true")
        call_git(main, "config", "--worktree", "core.fileMode", "false")
        call_git(main, "config", "--unset", "core.fileMode")
    assert (git.settings(root).file_mode, git.head(str(root))) == ("false", git.head(str(main)))


@pytest.mark.parametrize(
    ("calls", "is_plain"),
    [
        ([], True),
        ([("checkout", "-q", "-b", "a/branch")], True),
        ([("checkout", "-q", "--detach")], True),
        ([("tag", "-a", "-m", "x", "v1"), ("checkout", "-q", "v1")], True),
        ([("pack-refs", "--all")], False),
        (
            [("symbolic-ref", "refs/heads/a", "refs/heads/main"), ("symbolic-ref", "HEAD", "refs/heads/a")],
            False,
        ),
        ([("symbolic-ref", "HEAD", "refs/heads/unborn")], False),
    ],
)
def test_the_commit_is_the_one_that_git_names(tmp_path: Path, calls: list[tuple[str, ...]], is_plain: bool) -> None:
    call_git(tmp_path, "init", "-q", "-b", "main")
    call_git(tmp_path, "commit", "-q", "--allow-empty", "-m", "base")
    for call in calls:
        call_git(tmp_path, *call)
    assert git.head(str(tmp_path)) == git.run(tmp_path, "rev-parse", *git.HEAD).text.strip()
    assert bool(git.plain_head(str(tmp_path / ".git"))) is is_plain
