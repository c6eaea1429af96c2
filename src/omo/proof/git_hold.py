"""Git while files are swapped: nobody commits the old work, and the gate has an index of its own.

A `git commit -a` of somebody else committed the swapped files silently; with the index lock held it is refused, and
`git status` goes on working. A gate that ends in `git diff --exit-code` failed by the swap itself, and one that stashes
what is not staged tested the wrong files; with an index of its own, brought up to the swapped files, both are right.
"""

from __future__ import annotations

import errno
import os
import time

from omo import safe_open
from omo.errors import NotEvaluable, NotMade
from omo.proof import git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

OWN_INDEX = "omo-index"
LOCK_SECONDS = 2.0
POLL = 0.02
LARGEST_LOCK = 4096
LARGEST_INDEX = 256 * 1024 * 1024
NOT_WRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS)


class Hold:
    """`mark` is in the first line of the lock, so that whoever comes later knows whose it is; `head` is the commit that
    is checked out, where somebody has just looked."""

    def __init__(self, root: str, directory: str, mark: str, head: str | None = None) -> None:
        self.root = root
        self.directory = directory
        self.mark = mark
        self.is_locked = False
        self.may_have_own_index = False
        self._head = head
        self._staged = b""
        self._has_unlocked = False

    @property
    def lock_path(self) -> str:
        return os.path.join(self.directory, "index.lock")

    @property
    def index_path(self) -> str:
        return os.path.join(self.directory, OWN_INDEX)

    def take(self) -> None:
        """Lock the index. A host's sandbox may keep the git directory read-only: then it is compared afterwards."""
        if self._head is None:
            self._head = git.head(self.root)
        self.is_locked = self._lock()
        self._has_unlocked = False
        if not self.is_locked:
            self._staged = _staged(self.root)

    def _lock(self) -> bool:
        """The lock appears with its content at once: an empty one of ours could not be told from git's own."""
        aside = os.path.join(self.directory, f"omo-lock-{self.mark}")
        try:
            with open(aside, "x", encoding="ascii") as file:
                file.write(f"{self.mark}\nomo has swapped files for a run of the tests; it puts them back by itself\n")
        except OSError as error:
            if error.errno in NOT_WRITABLE:
                return False
            raise
        end = time.monotonic() + LOCK_SECONDS
        try:
            while True:
                try:
                    os.link(aside, self.lock_path)
                    return True
                except FileExistsError:
                    if time.monotonic() > end:
                        raise NotMade(
                            f"git's index is locked by somebody else: {self.lock_path}",
                            fix="wait for the other git, or remove the file if none is running",
                        ) from None
                except OSError as error:
                    if error.errno in NOT_WRITABLE:
                        return False  # a file system without hard links says so too
                    raise
                time.sleep(POLL)
        finally:
            _remove(aside)

    def release(self) -> str:
        """Take the lock and the index away again. Says why what was seen meanwhile is void, else nothing."""
        moved = ""
        if self.is_locked and not self._has_unlocked and not self._is_own_lock():
            moved = "git's index lock was taken away while files were swapped"
            if not os.path.isdir(self.directory):  # the lock is still in it
                moved = (
                    f"{self.directory} was moved or removed while files were swapped; if git says later that its index "
                    "is locked, remove index.lock there"
                )
        self.sweep()
        if not self.is_locked and not moved and _staged(self.root) != self._staged:
            moved = "git's index was changed while files were swapped"
        self.is_locked = False
        before, self._head = self._head or "", None
        head = git.head(self.root)
        if head != before and not moved:
            moved = f"HEAD moved from {before[:12] or 'nothing'} to {head[:12] or 'nothing'} while files were swapped"
        return moved

    def sweep(self) -> None:
        """Whatever of ours lies in the git directory, also after a kill."""
        if self._is_own_lock():
            _remove(self.lock_path)
            self._has_unlocked = True
        for name in (f"omo-lock-{self.mark}", OWN_INDEX, f"{OWN_INDEX}.lock"):
            _remove(os.path.join(self.directory, name))

    def _is_own_lock(self) -> bool:
        try:
            content, _ = safe_open.read_start(self.lock_path, LARGEST_LOCK)
        except OSError:
            return False
        return content.startswith(f"{self.mark}\n".encode())

    def environment(self, removed: Sequence[str], written: Sequence[str]) -> dict[str, str]:
        """What names the gate's own index, with these files as they stand; nothing where it cannot have one.

        The name is relative: git reads it from the top of whatever repository it works in, so that tests which make
        repositories of their own are not led to ours.
        """
        if not self.may_have_own_index:
            return {}
        try:
            self._copy_index()
        except OSError:
            return {}
        repository = {**git.own_repository(self.root), "GIT_INDEX_FILE": self.index_path}
        for arguments, paths in ((["--force-remove"], removed), (["--add", "--replace"], written)):
            if not paths:
                continue
            names = os.fsencode("".join(f"{path}\0" for path in paths))
            command = ["update-index", *arguments, "-z", "--stdin"]
            try:
                is_done = git.start(self.root, command, stdin=names, repository=repository).answer().ok
            except NotEvaluable:
                is_done = False
            if not is_done:
                _remove(self.index_path)
                return {}
        return {"GIT_INDEX_FILE": f".git/{OWN_INDEX}"}

    def _copy_index(self) -> None:
        _remove(self.index_path)
        try:
            content = safe_open.read_file(os.path.join(self.directory, "index"), LARGEST_INDEX)
        except FileNotFoundError:
            return  # nothing was ever added
        with open(self.index_path, "xb") as file:
            file.write(content)


def find(root: str, mark: str) -> Hold | None:
    """The repository of a project; None where git keeps none or does not answer."""
    place = git.place_of_repository(root)
    if not place:
        return None
    own = os.path.join(os.path.realpath(root), ".git")
    directory, head = own, git.plain_head(own)
    if not head:
        about = git.run(root, "rev-parse", "--absolute-git-dir", *git.HEAD)
        directory = os.fsdecode(about.output).removesuffix("\n")
        if about.ok:  # else there is no commit yet
            directory, _, head = directory.rpartition("\n")
    if not directory:
        return None
    hold = Hold(root, directory, mark, head)
    is_plain = place == "." and os.path.isdir(own)
    # A clean filter is a program that git would start to add a file.
    if is_plain and os.access(hold.directory, os.W_OK):
        hold.may_have_own_index = not git.settings(root).as_they_are
    return hold


def gitlinks(root: str, paths: Sequence[str]) -> list[str]:
    """Of these paths, those where another repository stands."""
    answer = git.run(root, "ls-files", "--stage", "-z", "--", *paths)
    found = []
    for line in answer.lines if answer.ok else []:
        about, _, path = line.partition("\t")
        if about.startswith("160000 "):
            found.append(path)
    return found


def _staged(root: str) -> bytes:
    """By content: an index that was only refreshed is the same one."""
    return git.run(root, "ls-files", "--stage", "-z").output


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        if error.errno not in NOT_WRITABLE:
            raise
