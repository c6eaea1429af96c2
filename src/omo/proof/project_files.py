"""A project's files for whoever only reads a few of them: those of a commit, or those on the disk.

A hook reads too, so only what hooks have loaded anyway is imported here.
"""

from __future__ import annotations

import os
import posixpath

from omo import safe_open
from omo.errors import NotEvaluable, NotMade
from omo.proof import base, git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import TypeAlias

    from omo.state.rows import Base

    Files: TypeAlias = "DiskFiles | CommitFiles | BaseFiles"

MOST_OF_FILE = 256 * 1024
MOST_IN_DIRECTORY = 2000


class DiskFiles:
    """The files as they are; without those that differ from the commit, where there is one."""

    names: frozenset[str] = frozenset()  # of all, which nobody has looked for here

    def __init__(self, root: str, differing: Collection[str] | None = None) -> None:
        self.root = root
        self._differing = differing or ()
        self.is_committed = differing is not None
        self._texts: dict[str, str] = {}

    def has(self, path: str) -> bool:
        return path not in self._differing and os.path.isfile(os.path.join(self.root, path))

    def text(self, path: str) -> str:
        if path in self._differing:
            return ""
        if path not in self._texts:
            try:
                content, _ = safe_open.read_start(os.path.join(self.root, path), MOST_OF_FILE, follow_link=True)
            except OSError:
                content = b""
            self._texts[path] = content.decode("utf-8", "replace")
        return self._texts[path]

    def read(self, paths: Collection[str]) -> None:
        pass

    def among(self, directory: str, names: Collection[str]) -> set[str]:
        """Return those of the names that are files in the directory."""
        return {name for name in names if self.has(posixpath.join(directory, name))}

    def in_directory(self, path: str) -> list[str]:
        try:
            names = sorted(os.listdir(os.path.join(self.root, path)))[:MOST_IN_DIRECTORY]
        except OSError:
            return []
        return [name for name in names if posixpath.join(path, name) not in self._differing]


class NamedFiles:
    """Files of which all names are known."""

    names: frozenset[str]
    _by_directory: dict[str, list[str]] | None = None

    def has(self, path: str) -> bool:
        return path in self.names

    def among(self, directory: str, names: Collection[str]) -> set[str]:
        """Return those of the names that are files in the directory."""
        return set(self.in_directory(directory)).intersection(names)

    def in_directory(self, path: str) -> list[str]:
        if self._by_directory is None:
            self._by_directory = {}
            for name in sorted(self.names):
                directory, _, last = name.rpartition("/")
                self._by_directory.setdefault(directory, []).append(last)
        return self._by_directory.get(path, [])


class CommitFiles(NamedFiles):
    """The files of a commit, each asked for once."""

    is_committed = True

    def __init__(self, root: str, head: str) -> None:
        self.root = root
        self._head = head
        self._texts: dict[str, str] = {}
        self.entries: dict[str, str] | None  # None where git has no such commit
        try:
            self.entries = git.entries(root, head)
        except git.TookTooLong:
            raise
        except NotEvaluable:
            self.entries = None
        self.names = frozenset(self.entries or ())

    def text(self, path: str) -> str:
        if path in self.names and path not in self._texts:
            self.read([path])
        return self._texts.get(path, "")

    def read(self, paths: Collection[str]) -> None:
        """Before their texts are asked for one by one: all of them at once."""
        unread = [path for path in paths if path in self.names and path not in self._texts]
        if not unread:
            return
        held = git.committed(self.root, self._head, unread)
        for path in unread:
            self._texts[path] = held.get(path, b"")[:MOST_OF_FILE].decode("utf-8", "replace")


_commits: dict[tuple[str, str], CommitFiles] = {}


def commit_at(root: str, head: str) -> CommitFiles:
    """A commit does not change, and is read once."""
    if (root, head) not in _commits:
        _commits[root, head] = CommitFiles(root, head)
    return _commits[root, head]


def files_at(root: str, head: str | None) -> Files:
    """Those of the commit; where there is none, those that are there."""
    return commit_at(root, head) if head else DiskFiles(root)


class BaseFiles(NamedFiles):
    """The files as they were when a run began, for whoever reads a few of them. What was not kept has no text."""

    is_committed = False

    def __init__(self, root: str, state: str, began: Base) -> None:
        head = began.get("head")
        self.root = root
        self._state = state
        self._commit = commit_at(root, head) if head else None
        self._differing = began["files"]
        gone = {path for path, digest in self._differing.items() if digest == base.GONE}
        self.names = (self._commit.names if self._commit else frozenset()).union(self._differing) - gone

    def text(self, path: str) -> str:
        digest = self._differing.get(path)
        if digest is None:
            return self._commit.text(path) if self._commit else ""
        try:
            content = base.copied(self._state, path, digest)[:MOST_OF_FILE]
        except NotMade:
            return ""
        return content.decode("utf-8", "replace")

    def read(self, paths: Collection[str]) -> None:
        if self._commit:
            self._commit.read(paths)
