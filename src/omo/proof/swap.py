"""Files of the user's own tree, swapped for the length of a run and always put back.

This is the one thing omo does that could lose somebody's work, so it keeps to few rules. What may change is a list
that is fixed and stands in a synced journal, with every original, before the first change; nothing else is written or
removed (`swap_files`). Nobody commits meanwhile (`git_hold`). The journal goes when everything is as it was; whoever
finds one whose owner is gone puts back from it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from omo import safe_open
from omo.errors import NotEvaluable, NotMade, OmoError, Unwritable
from omo.json_text import dumps, loads
from omo.proof import git, git_hold, swap_files, swap_journal
from omo.proof.swap_files import Arrangement, Kept
from omo.state import ownership, paths, store
from omo.text import clip, counted, listed

if TYPE_CHECKING:
    from types import TracebackType

LOCK_SECONDS = 1.0  # another process may hold it for a moment, to see whether files are swapped
GROUP_SECONDS = 1.0
POLL = 0.01
TRIES = 3
MARKS = ("boot", "processes", "started")  # of a process
MOST_PROCESSES = 1 << 22  # the highest number that a system gives one
BOOT = "/proc/sys/kernel/random/boot_id"
PROCESSES = "/proc/self/ns/pid"  # a container's own numbers name other processes outside
MOST_NAMED = 6
LONGEST_NAME = 80
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
        self.deleted: list[str] = []  # by somebody else, while they were swapped
        self.unmoved = ""  # why nobody can tell what a run has left in the project, or move it aside
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
        self._is_placed = False  # all of what stands was put
        self._began = (0, 0)  # the file system of the journal, and when that was written, by its clock
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
            # Of one who was killed since this command began, which has told of others.
            _tell(_recover(self.state, self.root))
            if os.path.lexists(paths.swap_journal(self.state)):
                raise NotMade("what was swapped before is not put back yet", fix="omo status")
            identity = os.urandom(swap_journal.ID_BYTES).hex()
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
            self._note_deleted(tree)
            self._is_touched = True
            self._standing = arrangement
            self._is_placed = False
            tree.stage()
            tree.await_later_second(arrangement)
            tree.arrange(arrangement)
            self._is_placed = True
        except OSError as error:
            if isinstance(error, OmoError):
                raise
            raise NotMade(f"files cannot be swapped here: {_message_of(error)}") from None

    def put_back(self) -> None:
        """Make the tree as it was, so that nobody is held up any longer; another arrangement may be put after it."""
        self._restore(self._entered())
        self._signals.deliver()

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
        tree = self._entered()
        row = {"id": tree.identity, "group": pgid, **_marks_of(pgid)}
        place = os.path.join(paths.swap_dir(self.state), swap_files.GROUP_FILE)
        try:
            tree.require_real_stages()
            swap_files.remove(place)
            with open(place, "x", encoding="ascii") as file:
                file.write(dumps(row))
        except OSError as error:
            raise NotMade(f"files cannot be swapped here: {_message_of(error)}") from None

    def notes(self) -> list[str]:
        """What the user is told of a swap that came to its end, besides what its runs have shown."""
        lines = []
        if self.kept:
            kept = [f"{clip(kept.path, LONGEST_NAME)} (kept as {kept.kept_as})" for kept in self.kept]
            lines.append(f"put back over what stood there instead: {listed(kept, MOST_NAMED)}")
        if self.deleted:
            names = [clip(path, LONGEST_NAME) for path in self.deleted]
            lines.append(f"deleted while files were swapped, and put back: {listed(names, MOST_NAMED)}")
        if self.appeared:
            moved = [f"{clip(kept.path, LONGEST_NAME)} (now {kept.kept_as})" for kept in self.appeared]
            lines.append(f"appeared meanwhile and moved aside: {listed(moved, MOST_NAMED)}")
        if self.unmoved:
            lines.append(f"what a run has left in the project was not moved aside ({self.unmoved}): look at git status")
        return lines

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._close()
        finally:
            # Whatever becomes of the command: what comes next may end in an error that knows nothing of it.
            _tell([*([self.moved] if self.moved and self.unmoved else []), *self.notes()])

    def _entered(self) -> swap_files.Tree:
        if self._tree is None:
            raise NotMade("nothing was prepared to be swapped")
        return self._tree

    def _arm(self, tree: swap_files.Tree) -> None:
        """The journal first: whatever lies about after a kill is named in it."""
        self._is_armed = True
        swap_journal.write(tree, self._git.directory if self._git else "")
        status = os.lstat(paths.swap_journal(self.state))
        self._began = (status.st_dev, status.st_ctime_ns)
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
                if self._is_touched and not _repeat(lambda: self._move_appeared(tree)):
                    self.unmoved = "it cannot be moved"
            finally:
                if self._is_touched:
                    self._note_deleted(tree)
                    tree.put_back()
            self._standing = {}
            self._is_placed = False
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
        except OmoError as error:
            self.unmoved = error.message  # nobody can tell what is new, so nothing is moved
            return
        self.unmoved = ""
        names = {listed.path for listed in tree.files}
        for path in sorted({path.rstrip("/") for path in untracked - self._untracked} - names):
            full = os.path.join(self.root, path)
            if self._is_new(path) and not tree.is_own(full):
                self.appeared.append(tree.move_away(full, path))

    def _is_new(self, path: str) -> bool:
        """Whether it was written since the journal. What git calls untracked now, as its rules for ignored files are
        gone, was there before."""
        if store.first_link(self.root, os.path.dirname(path) or os.curdir) is not None:
            return False
        try:
            status = os.lstat(os.path.join(self.root, path))
        except OSError:
            return False
        device, began = self._began
        return status.st_dev != device or status.st_ctime_ns >= began

    def _note_deleted(self, tree: swap_files.Tree) -> None:
        """Note files that are gone and that nobody but somebody else can have deleted."""
        if not self._is_placed:
            return
        for each in tree.files:
            file = self._standing.get(each.path, each.original)
            if file.content is not None and not os.path.lexists(each.full) and each.path not in self.deleted:
                self.deleted.append(each.path)


def is_under_way(state: str) -> bool:
    """Files are swapped, and whoever did it lives."""
    journal = paths.swap_journal(state)
    if not os.path.lexists(journal) or store.link_to_state(journal) is not None:
        return False
    lock = _lock(state, 0.0)
    if lock < 0:
        return True
    os.close(lock)
    return False


def recover(state: str, root: str) -> list[str]:
    """Put back what somebody who was killed had swapped. Lines for the user; none where there was nothing to do."""
    journal = paths.swap_journal(state)
    if not os.path.lexists(journal) and not os.path.lexists(paths.swap_unfinished(state)):
        return []
    if (link := store.link_to_state(journal)) is not None:
        return [f"{link} is a link, and the journal of swapped files behind it is not looked at: {store.NO_LINK}"]
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
        swap_files.remove(paths.swap_unfinished(state))  # of one who was killed before anything was changed
        return []
    try:
        tree, git_directory = swap_journal.read(state, root)
    except swap_journal.BadJournal as error:
        kept = store.keep_as(journal, "corrupt", time.time())
        return [
            f"the journal of swapped files is not as omo writes it here ({clip(str(error), 200)}): nothing of it was "
            f"done, and it is kept as {kept}; look at git status, and at that file for what is missing"
        ]
    except OSError as error:
        return [f"files are still swapped, and {journal} cannot be read: {error.strerror or error}"]
    lines = _end_group(state, tree.identity)
    try:
        changed = tree.put_back()
    except OmoError as error:
        raise Unwritable("; ".join([error.message, *lines, *_lines_of(tree)]), fix=error.fix) from None
    hold = _hold_of(tree) if git_directory else None
    _finish(tree, hold.sweep if hold is not None else lambda: None)
    if changed or tree.kept:
        count = counted(len(changed), "file")
        lines.append(f"a run of the tests with swapped files was ended in the middle: {count} put back as before")
    if git_directory and (hold is None or not swap_journal.is_same_git(tree, git_directory, hold)):
        lines.append(
            f"git's directory is not where it was when files were swapped ({clip(git_directory, 200)}): look at git "
            "status, and if git says that its index is locked, remove index.lock there"
        )
    return lines + _lines_of(tree)


def _lines_of(tree: swap_files.Tree) -> list[str]:
    return [f"what stood in {clip(kept.path, 200)} instead is kept in {clip(kept.kept_as, 400)}" for kept in tree.kept]


def _hold_of(tree: swap_files.Tree) -> git_hold.Hold | None:
    """The git directory that this project uses now, whatever a journal says; None where git does not answer."""
    try:
        return git_hold.find(tree.root, tree.identity)
    except NotEvaluable:
        return None


def _lock(state: str, seconds: float) -> int:
    """The descriptor that holds the kernel's lock, which ends with its process and not with a gate that outlives it;
    -1 where somebody else has it."""
    from fcntl import LOCK_EX, LOCK_NB, flock

    store.require_no_link(paths.swap_lock(state))
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


def _end_group(state: str, identity: str) -> list[str]:
    """A gate whose omo was killed goes on by itself, and would write into what is put back. Only a group that is
    certainly that gate's is ended; the system uses numbers again."""
    try:
        raw = safe_open.read_file(os.path.join(paths.swap_dir(state), swap_files.GROUP_FILE), 4096)
        row = loads(raw.decode("ascii"))
        group, marks = row["group"], {name: row[name] for name in MARKS}
        is_of_this_swap = row["id"] == identity
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []
    if type(group) is not int or not is_of_this_swap or not 1 < group < MOST_PROCESSES or group == os.getpgrp():
        return []
    now = _marks_of(group)
    if marks != now or not now["started"]:
        is_there = not now["started"] and marks["boot"] == now["boot"] and _is_alive(group)
        return [f"what the gate has started may still run, as process group {group}: look at it"] if is_there else []
    end = time.monotonic() + GROUP_SECONDS
    try:
        os.killpg(group, 9)
        while time.monotonic() < end:
            os.killpg(group, 0)
            time.sleep(POLL)
    except (ProcessLookupError, PermissionError):
        pass
    return []


def _is_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _marks_of(process: int) -> dict[str, str]:
    """What tells a process from any other that has, had or will have its number; `started` is empty for one that is
    gone."""
    marks = {"boot": _boot(), "processes": _process_numbers()}
    marks["started"] = _started(process) if marks["boot"] else _started_by_ps(process)
    return marks


def _started(process: int) -> str:
    """When a process began, as the kernel counts since it was booted."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[19].decode("ascii")
    except (OSError, IndexError):
        return ""


def _started_by_ps(process: int) -> str:
    """The same where there is no /proc: date and time."""
    environ = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}
    answer = git.Process(["ps", "-o", "lstart=", "-p", str(process)], environ, b"", "ps").answer()
    return answer.text.strip() if answer.ok else ""


def _boot() -> str:
    try:
        with open(BOOT, encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


def _process_numbers() -> str:
    try:
        return os.readlink(PROCESSES)
    except OSError:
        return ""


class _Signals:
    """A host's time-out or a closed terminal ends us by a signal: it becomes an exception, so that files are put back,
    and waits while that is going on."""

    def __init__(self) -> None:
        self._before: dict[int, Any] = {}
        self._depth = 0
        self._is_raised = False  # the first one ends the runs; any more wait until the files are back
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
        self.deliver()

    def deliver(self) -> None:
        """Let one take effect that came while files were put back."""
        came, self._came = self._came, []
        for number in came[:1]:
            os.kill(os.getpid(), number)

    def _handle(self, number: int, frame: object) -> None:
        if self._depth or self._is_raised:
            self._came.append(number)
            return
        self._is_raised = True
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


def _tell(lines: list[str]) -> None:
    """Say on stderr what a user must read whatever becomes of the command."""
    for line in lines:
        print(f"omo: {line}", file=sys.stderr)


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
