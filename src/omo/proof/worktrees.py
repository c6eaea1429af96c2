"""Worktrees of git beside the project, each with the files as they are here, so that several runs go on at once.

They lie in the system's directory for such things and go at the end. One that a killed omo left is removed the next
time: its lock is free then.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace

from omo.errors import NotEvaluable, NotMade
from omo.proof import contents, gate_runs, git
from omo.proof.base import LISTED
from omo.proof.gate_runs import CommandRun, GateCommand, Subject
from omo.proof.git import LINK_MODE, PROGRAM_MODE
from omo.proof.swap_files import Arrangement, File
from omo.state import paths

PREFIX = "omo-worktree-"
LOCK = "in-use"


class Worktree:
    """One of them, in which one run is made at a time."""

    def __init__(self, subject: Subject, command: GateCommand, arrangements: Mapping[str, Arrangement]) -> None:
        self.subject = subject  # with the root of the worktree
        self._command = command
        self._arrangements = arrangements
        self._present = _listed(subject.root)
        self._lock = threading.Lock()
        self._group = 0
        self._is_stopped = False

    def run(self, name: str, limit: float) -> CommandRun:
        root = self.subject.root
        put = self._arrangements.get(name, {})
        before = {path: contents.now(root, path) for path in put}
        try:
            for path, file in put.items():
                _write(root, path, file)
            return gate_runs.run_gate(self.subject, self._command, limit=limit, swapped=self)
        finally:
            self._group = 0
            for path, file in before.items():
                _write(root, path, file)
            for path in _listed(root) - self._present:
                _remove(os.path.join(root, path))

    def environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        return dict(environ)

    def group_started(self, pgid: int) -> None:
        with self._lock:
            self._group = pgid
            if self._is_stopped:
                _kill(pgid)

    def stop(self) -> None:
        """End the run that is under way, and any that is about to begin."""
        with self._lock:
            self._is_stopped = True
            if self._group:
                _kill(self._group)


class Worktrees:
    """`with Worktrees(…) as worktrees: worktrees.add()`. Nothing of them is left behind."""

    def __init__(self, subject: Subject, command: GateCommand, arrangements: Mapping[str, Arrangement]) -> None:
        self._subject = subject
        self._command = command
        self._arrangements = arrangements
        self._top = os.path.realpath(paths.top_of(subject.root))
        self._directory = ""
        self._made: list[str] = []
        self._stack = ExitStack()

    def __enter__(self) -> Worktrees:
        remove_left_over(self._top)
        if paths.is_inside(tempfile.gettempdir(), self._top):
            raise NotMade(f"{tempfile.gettempdir()} lies in the project, so no worktree can be made outside of it")
        self._directory = tempfile.mkdtemp(prefix=PREFIX)
        self._stack.callback(self._remove)
        self._stack.callback(os.close, _hold(os.path.join(self._directory, LOCK), os.O_CREAT))
        return self

    def add(self) -> Worktree:
        """Raises NotMade, with the reason, if the project does not allow it."""
        place = os.path.join(self._directory, str(len(self._made)), os.path.basename(self._top) or "project")
        os.makedirs(os.path.dirname(place))
        self._made.append(place)
        try:
            _check_out(self._top, place)
        except (NotEvaluable, OSError) as error:
            raise NotMade(f"no worktree can be made of these files: {error}") from None
        below = os.path.relpath(os.path.realpath(self._subject.root), self._top)
        subject = replace(self._subject, root=os.path.normpath(os.path.join(place, below)))
        return Worktree(subject, self._command, self._arrangements)

    def __exit__(self, *raised: object) -> None:
        self._stack.close()

    def _remove(self) -> None:
        for place in self._made:
            git.run(self._top, "worktree", "remove", "--force", "--force", place)
        shutil.rmtree(self._directory, ignore_errors=True)
        git.run(self._top, "worktree", "prune")


def remove_left_over(top: str) -> None:
    """Remove worktrees of this repository that an omo made which has ended."""
    listed = git.run(top, "worktree", "list", "--porcelain")
    directories = set()
    for line in os.fsdecode(listed.output).splitlines():
        if line.startswith("worktree "):
            directories.add(os.path.dirname(os.path.dirname(line.removeprefix("worktree "))))
    ours = os.path.join(os.path.realpath(tempfile.gettempdir()), PREFIX)
    for directory in directories:
        if not directory.startswith(ours) or os.sep in directory.removeprefix(ours):
            continue
        try:
            lock = _hold(os.path.join(directory, LOCK))
        except OSError:
            continue  # somebody is at it, or it is gone
        shutil.rmtree(directory, ignore_errors=True)
        os.close(lock)
        git.run(top, "worktree", "prune")


def _hold(path: str, flags: int = 0) -> int:
    """Return the descriptor that holds a lock; the kernel frees it when this process ends. Raises OSError if another
    process has it."""
    from fcntl import LOCK_EX, LOCK_NB, flock

    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | flags, 0o600)
    try:
        flock(descriptor, LOCK_EX | LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _check_out(top: str, place: str) -> None:
    """Make a worktree, and copy every file that counts: git would write them through its filters and line ends."""
    git.require(git.run(top, "worktree", "add", "--detach", "--no-checkout", place, "HEAD"), "worktree")
    git.require(git.run(place, "read-tree", "HEAD"), "read-tree")
    for path in sorted(_listed(top)):
        source, target = os.path.join(top, path), os.path.join(place, path)
        if os.path.isdir(source) and not os.path.islink(source):
            raise contents.own_repository(path)
        if os.path.lexists(source):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)


def _listed(root: str) -> frozenset[str]:
    """What git knows or does not ignore."""
    tracked, untracked, _ = git.sorted_out(git.require(git.run(root, *LISTED), LISTED[0]))
    return frozenset([*tracked, *untracked])


def _write(root: str, path: str, file: File) -> None:
    full = os.path.join(root, path)
    _remove(full)
    if file.content is None:
        return
    os.makedirs(os.path.dirname(full), exist_ok=True)
    if file.mode == LINK_MODE:
        os.symlink(os.fsdecode(file.content), full)
        return
    with open(full, "xb") as target:
        target.write(file.content)
    if file.mode == PROGRAM_MODE:
        os.chmod(full, 0o755)


def _remove(full: str) -> None:
    if os.path.isdir(full) and not os.path.islink(full):
        shutil.rmtree(full, ignore_errors=True)
        return
    with suppress(FileNotFoundError, NotADirectoryError):
        os.unlink(full)


def _kill(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def why_not(place: Worktree, here: CommandRun, broken: str, limit: float) -> str | None:
    """Return why a run in a worktree would not be one of the project, or None if it is."""
    there = place.run(gate_runs.AS_IT_IS, limit)
    if there.result != "pass":
        return f"in a worktree the command {there.failure}"
    if there.counts != here.counts:
        return f"in a worktree the command says {there.summary}, here {here.summary}"
    if place.run(broken, limit).result != "fail":
        return "in a worktree the command passes whatever stands in the changed files: it tests another copy"
    return None
