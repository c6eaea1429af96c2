"""What the files of a project are now: which paths count, and one id for what all of them hold.

Git lists the paths; contents are taken as they are on the disk, so no filter, attribute, flag or setting can hide an
edit, and no program is started. Each file is one row, as `git ls-files --stage` has it: mode, id of the content, path.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from omo import safe_open
from omo.errors import BadInput, NotEvaluable
from omo.proof import git

SCHEME = "tree1"
LIST = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
Rows = dict[str, str]


def fingerprint(root: Path, *, exclude: Sequence[str] = (".sisyphus/cc-omo",)) -> str:
    """The id of path, content and executable bit or link target of every tracked or unignored file.

    `exclude` names paths below `root` that do not count.
    A file that cannot be read raises NotEvaluable: a tree we cannot see is not a tree we know.
    """
    top = os.path.realpath(root)
    if not os.path.isdir(top):
        raise BadInput(f"no tree to fingerprint at {root}", fix="name an existing directory")
    excluded = tuple(name.strip("/") + "/" for name in exclude)
    rows: Rows = {}
    _read_all(top, _listed(top), rows, excluded)
    text = "\0".join([rows[path] for path in sorted(rows)])
    return f"{SCHEME}:{hashlib.sha256(os.fsencode(text)).hexdigest()}"


def _listed(top: str) -> list[str]:
    """The paths that count; a nested repository is one of them, its directory."""
    paths = _paths_in(git.start(top, LIST).answer())
    # An outer repository that ignores all of this (dotfiles kept in HOME) has nothing to say about it.
    if paths is None or not (paths or os.path.lexists(os.path.join(top, ".git"))):
        return list(_walk(top))
    return paths


def _paths_in(answer: git.Output) -> list[str] | None:
    """None where there is no git, no repository, or a broken one."""
    if b"could not open directory" in answer.errors:
        why = os.fsdecode(answer.errors).strip()
        raise NotEvaluable(why, fix="make it readable, or have git ignore it")
    if not answer.ok:
        return None
    return os.fsdecode(answer.output.replace(b"/\0", b"\0")).split("\0")[:-1]


def _walk(top: str, below: str = "") -> Iterator[str]:
    """Every file and link below `top`, but in a repository found there only what counts in it."""
    directory = os.path.join(top, below)
    try:
        with os.scandir(directory) as scanned:
            entries = list(scanned)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise _cannot_read(directory, error) from error
    for entry in entries:
        path = below + entry.name
        if entry.name == ".git":
            continue
        if not entry.is_dir(follow_symlinks=False):
            yield path
        elif os.path.lexists(os.path.join(entry.path, ".git")):
            listed = _paths_in(git.start(entry.path, LIST).answer())
            for inner in _walk(entry.path) if listed is None else listed:
                yield f"{path}/{inner}"
        else:
            yield from _walk(top, f"{path}/")


def _read_all(top: str, paths: Iterable[str], rows: Rows, excluded: tuple[str, ...]) -> None:
    """Fills in the row of every path that is there."""
    real_parents = {"": True}
    for path in paths:
        # The user's index may name files beyond a link that has taken the place of a directory.
        if f"{path}/".startswith(excluded) or not _is_real(top, os.path.dirname(path), real_parents):
            continue
        row = _read_row(top, path)
        if row is None:
            _read_all(top, _nested(top, path, rows), rows, excluded)
        else:
            rows[path] = row


def _nested(top: str, path: str, rows: Rows) -> list[str]:
    """The paths in a submodule or another repository in this one; where it stands becomes a row of its own."""
    directory = os.path.join(top, path)
    if not os.path.isdir(directory):
        return []
    inner: Iterable[str] | None = None
    if os.path.lexists(os.path.join(directory, ".git")):
        head, listed = git.run_all(directory, [["rev-parse", "--quiet", "--verify", "HEAD"], LIST])
        rows[path] = f"160000 {head.text.strip()} 0\t{path}"
        inner = _paths_in(listed)
    if inner is None:  # a submodule that is not checked out, or whose repository is damaged
        inner = _walk(directory)
    return [f"{path}/{name}" for name in inner]


def _is_real(top: str, directory: str, memo: dict[str, bool]) -> bool:
    """Whether the way to `directory` crosses no link."""
    if directory not in memo:
        is_link = os.path.islink(os.path.join(top, directory))
        memo[directory] = not is_link and _is_real(top, os.path.dirname(directory), memo)
    return memo[directory]


def _read_row(top: str, path: str) -> str | None:
    """None for what is gone, and for what is neither a file nor a link."""
    full = os.path.join(top, path)
    try:
        status = os.lstat(full)
        if stat.S_ISLNK(status.st_mode):
            target = os.fsencode(os.readlink(full))
            return f"120000 {_begun(len(target), target).hexdigest()} 0\t{path}"
        if not stat.S_ISREG(status.st_mode):
            return None
        mode = "100755" if status.st_mode & stat.S_IXUSR else "100644"
        return f"{mode} {_blob_id(full)} 0\t{path}"
    except (FileNotFoundError, NotADirectoryError, safe_open.NotAFile):
        return None
    except OSError as error:
        raise _cannot_read(full, error) from error


def _blob_id(full: str) -> str:
    descriptor = safe_open.open_file(full)
    try:
        digest = _begun(os.fstat(descriptor).st_size)
        while piece := os.read(descriptor, 1 << 20):
            digest.update(piece)
    finally:
        os.close(descriptor)
    return digest.hexdigest()


def _begun(size: int, content: bytes = b"") -> hashlib._Hash:
    """The digest that git names content by."""
    return hashlib.sha1(b"blob %d\0%b" % (size, content), usedforsecurity=False)


def _cannot_read(path: str, error: OSError) -> NotEvaluable:
    return NotEvaluable(
        f"cannot fingerprint the tree: {path}: {error.strerror}",
        fix="make it readable, or have git ignore it",
        path=path,
    )
