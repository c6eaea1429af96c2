"""Files of the user's own tree, swapped for the length of a run and always put back.

This is the one thing omo does that could lose somebody's work, so it keeps to few rules. What may change is a list
that is fixed and stands in a synced journal, with every original, before the first change; nothing else is written or
removed (`swap_files`). Nobody commits meanwhile (`git_hold`). The journal goes when everything is as it was; whoever
finds one whose owner is gone puts back from it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Mapping
from typing import Any

from omo import safe_open
from omo.errors import NotMade, OmoError
from omo.json_text import dumps, loads
from omo.proof import git_hold, swap_files
from omo.proof.swap_files import Arrangement, Kept
from omo.state import ownership, paths, store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

LOCK_SECONDS = 1.0  # another process may hold it for a moment, to see whether files are swapped
GROUP_SECONDS = 1.0
POLL = 0.01
TRIES = 3
BOOT = "/proc/sys/kernel/random/boot_id"
UNDER_WAY = (
    "omo has swapped files of this project for a run of the tests (without the work, or with the old tests) and "
    "puts them back by itself when it ends"
)


class Swap:
    """`with Swap(…) as swap: swap.put(name)`, then run, then put the next; at the end everything is as it was."""

    def __init__(
        self,
        root: str,
        state: str,
        arrangements: Mapping[str, Arrangement],
        list_untracked: Callable[[], Collection[str]],
    ) -> None:
        self.root = root
        self.state = state
        self.kept: list[Kept] = []
        self.appeared: list[Kept] = []
        self.moved = ""
        self._arrangements = {name: dict(arrangement) for name, arrangement in arrangements.items()}
        self._list_untracked = list_untracked
        self._untracked: frozenset[str] = frozenset()
        self._lock = -1
        self._tree: swap_files.Tree | None = None
        self._git: git_hold.Hold | None = None
        self._is_armed = False  # the journal is there
        self._is_touched = False  # something was changed since
        self._standing: Arrangement = {}
        self._signals = _Signals()

    def __enter__(self) -> Swap:
        try:
            ownership.make_state_dir(self.state)
            self._lock = _lock(self.state, LOCK_SECONDS)
        except OSError as error:
            raise NotMade(f"{self.state} cannot be written: {error.strerror or error}") from None
        if self._lock < 0:
            raise NotMade(UNDER_WAY, fix="try again when it has ended")
        try:
            _recover(self.state, self.root)  # of one who was killed since this command began, which has told of others
            if os.path.lexists(paths.swap_journal(self.state)):
                raise NotMade("what was swapped before is not put back yet", fix="omo status")
            identity = os.urandom(6).hex()
            self._git = git_hold.find(self.root, identity)
            self._tree = swap_files.read_tree(self.root, self.state, identity, self._arrangements)
            self.kept = self._tree.kept
            self._untracked = frozenset(self._list_untracked())
            self._signals.take()
            self._arm(self._tree)
        except BaseException as error:
            self._close()
            if isinstance(error, OSError) and not isinstance(error, OmoError):
                raise NotMade(f"files cannot be swapped here: {_message_of(error)}") from None
            raise
        return self

    def put(self, name: str) -> None:
        """Make the tree as that arrangement has it."""
        tree = self._entered()
        if not self._is_touched:
            for listed in tree.files:
                if not tree.stands_as_read(listed):
                    raise NotMade(f"{listed.path} was changed just now", fix="try again")
        arrangement = self._arrangements[name]
        try:
            self._move_appeared(tree)
            if not self._is_armed:
                self._arm(tree)
            self._is_touched = True
            self._standing = arrangement
            tree.stage()
            tree.await_later_second(arrangement)
            tree.arrange(arrangement)
        except OSError as error:
            if isinstance(error, OmoError):
                raise
            raise NotMade(f"files cannot be swapped here: {_message_of(error)}") from None

    def put_back(self) -> None:
        """Make the tree as it was, so that nobody is held up any longer; another arrangement may be put after it."""
        self._restore(self._entered())

    def environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """For the gate: with an index of its own, where git can have one, that knows the swapped files."""
        names: dict[str, str] = {}
        if self._git is not None and self._standing:
            # All of them, as one that stands as it is may have been taken out of the index meanwhile.
            removed = [path for path, file in self._standing.items() if file.content is None]
            names = self._git.environment(removed, [path for path in self._standing if path not in removed])
        return {**environ, **names}

    def group_started(self, pgid: int) -> None:
        """The gate's process group. If we are killed, it goes on writing into files that are no longer swapped."""
        if not self._is_armed:
            return
        row = {"group": pgid, "started": _started(pgid), "boot": _boot()}
        with open(os.path.join(paths.swap_dir(self.state), swap_files.GROUP_FILE), "w", encoding="ascii") as file:
            file.write(dumps(row))

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def _entered(self) -> swap_files.Tree:
        if self._tree is None:
            raise NotMade("nothing was prepared to be swapped")
        return self._tree

    def _arm(self, tree: swap_files.Tree) -> None:
        """The journal first: whatever lies about after a kill is named in it."""
        self._is_armed = True
        tree.write_journal(self._git.directory if self._git else "")
        tree.stage()
        if self._git is not None:
            self._git.take()

    def _close(self) -> None:
        with self._signals.put_off():
            try:
                if self._tree is not None:
                    self._restore(self._tree)
            finally:
                if self._lock >= 0:
                    os.close(self._lock)
                    self._lock = -1
        self._signals.give_back()

    def _restore(self, tree: swap_files.Tree) -> None:
        if not self._is_armed:
            return
        with self._signals.put_off():
            try:
                if self._is_touched:
                    _repeat(lambda: self._move_appeared(tree))
            finally:
                if self._is_touched:
                    tree.put_back()
            self._standing = {}
            self._is_touched = False
            self._is_armed = False
            _finish(tree, self._release_git)

    def _release_git(self) -> None:
        if self._git is None:
            return
        try:
            self.moved = self._git.release() or self.moved
        except OmoError as error:
            self.moved = error.message
            self._git.sweep()

    def _move_appeared(self, tree: swap_files.Tree) -> None:
        """Move away what a swapped run has left: a snapshot written from the old code would make the next run fail."""
        if not self._standing:
            return
        try:
            untracked = set(self._list_untracked())
        except OmoError:
            return  # nobody can tell what is new, so nothing is moved
        listed = {listed.path for listed in tree.files}
        for path in sorted(untracked - self._untracked - listed):
            full = os.path.join(self.root, path.rstrip("/"))
            if os.path.lexists(full) and not tree.is_own(full):
                self.appeared.append(tree.move_away(full, path.rstrip("/")))


def is_under_way(state: str) -> bool:
    """Files are swapped, and whoever did it lives."""
    if not os.path.lexists(paths.swap_journal(state)):
        return False
    lock = _lock(state, 0.0)
    if lock < 0:
        return True
    os.close(lock)
    return False


def recover(state: str, root: str) -> list[str]:
    """Put back what somebody who was killed had swapped. Lines for the user; none where there was nothing to do."""
    if not os.path.lexists(paths.swap_journal(state)):
        return []
    lock = _lock(state, 0.0)
    if lock < 0:
        return []
    try:
        return _recover(state, root)
    finally:
        os.close(lock)


def _finish(tree: swap_files.Tree, release_git: Callable[[], object]) -> None:
    """The files are back. If one of these steps fails, the journal that stays is cleared by whoever finds it."""
    if _repeat(release_git) and _repeat(tree.clear):
        _repeat(lambda: swap_files.remove(paths.swap_journal(tree.state)))


def _recover(state: str, root: str) -> list[str]:
    """Call with the lock held."""
    journal = paths.swap_journal(state)
    if not os.path.lexists(journal):
        return []
    try:
        tree, hold = swap_files.Tree.from_journal(state, root)
    except OSError as error:
        return [f"files are still swapped, and {journal} cannot be read: {error.strerror or error}"]
    except (ValueError, KeyError, TypeError) as error:
        kept = store.keep_as(journal, "corrupt", time.time())
        return [f"the journal of swapped files cannot be read ({error}) and is kept as {kept}: look at git status"]
    _end_group(state)
    changed = tree.put_back()
    _finish(tree, hold.sweep if hold is not None else lambda: None)
    lines = []
    if changed or tree.kept:
        count = f"{len(changed)} file{'' if len(changed) == 1 else 's'}"
        lines.append(f"a run of the tests with swapped files was ended in the middle: {count} put back as before")
    for kept_file in tree.kept:
        lines.append(f"what stood in {kept_file.path} instead is kept in {kept_file.kept_as}")
    return lines


def _lock(state: str, seconds: float) -> int:
    """The descriptor that holds the kernel's lock, which ends with its process and not with a gate that outlives it;
    -1 where somebody else has it."""
    from fcntl import LOCK_EX, LOCK_NB, flock

    descriptor = os.open(paths.swap_lock(state), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    end = time.monotonic() + seconds
    while True:
        try:
            flock(descriptor, LOCK_EX | LOCK_NB)
            return descriptor
        except (BlockingIOError, PermissionError):
            if time.monotonic() >= end:
                os.close(descriptor)
                return -1
        time.sleep(POLL)


def _end_group(state: str) -> None:
    """A gate whose omo was killed goes on by itself, and would write into what is put back."""
    try:
        raw = safe_open.read_file(os.path.join(paths.swap_dir(state), swap_files.GROUP_FILE), 4096)
        row = loads(raw.decode("ascii"))
        group, started, boot = int(row["group"]), row["started"], row["boot"]
    except (OSError, ValueError, KeyError, TypeError):
        return
    # The system reuses numbers: with another leader, or after another boot, it is somebody else's group.
    if group <= 1 or group == os.getpgrp() or boot != _boot() or _started(group) not in (started, ""):
        return
    end = time.monotonic() + GROUP_SECONDS
    try:
        os.killpg(group, 9)
        while time.monotonic() < end:
            os.killpg(group, 0)
            time.sleep(POLL)
    except (ProcessLookupError, PermissionError):
        pass


def _started(process: int) -> str:
    """When a process began, as the kernel counts; empty where it is gone, or there is no /proc."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[19].decode("ascii")
    except (OSError, IndexError):
        return ""


def _boot() -> str:
    try:
        with open(BOOT, encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


class _Signals:
    """A host's time-out or a closed terminal ends us by a signal: it becomes an exception, so that files are put back,
    and waits while that is going on."""

    def __init__(self) -> None:
        self._before: dict[int, Any] = {}
        self._depth = 0
        self._came: list[int] = []

    def take(self) -> None:
        import signal
        import threading

        if threading.current_thread() is not threading.main_thread():
            return
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            handler = signal.getsignal(number)
            if handler is not None and handler is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._handle)

    def give_back(self) -> None:
        import signal

        before, self._before = self._before, {}
        for number, handler in before.items():
            signal.signal(number, handler)
        came, self._came = self._came, []
        for number in came[:1]:
            os.kill(os.getpid(), number)

    def _handle(self, number: int, frame: object) -> None:
        if self._depth:
            self._came.append(number)
            return
        before = self._before.get(number)
        if callable(before):
            before(number, frame)
        raise SystemExit(128 + number)

    def put_off(self) -> _Signals:
        return self

    def __enter__(self) -> None:
        self._depth += 1

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._depth -= 1


def _message_of(error: OSError) -> str:
    return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error)


def _repeat(step: Callable[[], object]) -> bool:
    for _ in range(TRIES):
        try:
            step()
            return True
        except OSError:
            continue
    return False
