"""The files that are swapped: the list of them, and how a path changes.

A path changes by renames only. What stands there is moved aside and looked at: it goes if it is what we put there; if
it is the original it waits to be put back; all else (a formatter's output, a person's edit) is kept and named.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import NamedTuple

from omo import safe_open
from omo.digest import sha256
from omo.errors import NotMade, Unwritable
from omo.proof import git_hold
from omo.proof.git import FILE_MODE, LINK_MODE, PROGRAM_MODE
from omo.state import paths, store
from omo.text import clip

MOST_BYTES = 64 * 1024 * 1024
TRIES = 3
MOST_NAMED = 3
IGNORED_LETTERS = frozenset(
    chr(number)
    for number in (*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF)  # as git has them
)
MOST_KEPT = 9  # versions of one path in one swap, each below a directory of its own
SECOND = 1_000_000_000
GROUP_FILE = "group"
DIRECTORY, ODD = "d", "?"  # modes of what can stand at a path and is no file of ours


class File(NamedTuple):
    """What stands at a path. A link's content is where it leads."""

    content: bytes | None
    mode: str = ""


class Kept(NamedTuple):
    """What stood at a path instead of what was put there, and where it is now."""

    path: str
    kept_as: str


NOTHING = File(None)
Arrangement = Mapping[str, File]


class Listed:
    """One path of the list: its original, and how to know again what we put there."""

    def __init__(self, path: str, root: str, stage: str, number: int) -> None:
        self.path = path
        self.full = os.path.join(root, path)
        self.stage = stage
        self.waiting = os.path.join(stage, f"{number}.original")  # the original while something else stands there
        self.fresh = os.path.join(stage, f"{number}.new")  # what is about to be put there
        self.aside = os.path.join(stage, f"{number}.aside")  # what stood there, until it was looked at
        self.original = NOTHING
        self.permissions = 0
        self.inode = 0
        self.owner = (-1, -1)
        self.ours: set[str] = set()
        self.stood: set[tuple[int, int, int]] = set()  # size, second and hash of files that stood there
        self.version: tuple[int, ...] = ()  # of the original, when it was read
        self.modified = 0  # the original's time

    def has_other(self, file: File, second: int) -> bool:
        """Another file of the same size was there in this second."""
        size, content = len(file.content or b""), hash(file.content)
        return any(stood[:2] == (size, second) and stood[2] != content for stood in self.stood)

    @property
    def can_wait(self) -> bool:
        """A link that waits leads nowhere, and node stops at it: "node: a link that leads to a file beside it". It is
        written anew when it is put back."""
        return self.original.content is not None and self.original.mode != LINK_MODE

    def permissions_of(self, file: File) -> int | None:
        """A private or read-only file stays that, whatever its content; None: as the user's new files are."""
        if self.original.mode not in (FILE_MODE, PROGRAM_MODE):
            return None
        if file.mode == self.original.mode:
            return self.permissions
        if file.mode == PROGRAM_MODE:
            return self.permissions | (self.permissions & 0o444) >> 2
        return self.permissions & ~0o111


class Tree:
    """The listed files, the directories above them, and how to arrange them."""

    def __init__(self, root: str, state: str, identity: str) -> None:
        self.root = root
        self.state = state
        self.identity = identity
        self.files: list[Listed] = []
        self.directories: dict[str, list[int] | None] = {}  # permissions and owner; None where there was none
        self.kept: list[Kept] = []
        self._moved_away = 0
        self._keeps_whole_seconds = False
        self._last_second = 0

    def named(self, place: str) -> str:
        """Name a place in the project relative to it: a project that was moved or copied speaks of itself."""
        below = os.path.relpath(place, self.root)
        return place if below.split(os.sep)[0] == os.pardir else below

    # -- originals that wait ----------------------------------------------------------------------------------------

    def is_own(self, full: str) -> bool:
        """A place of ours beside the project's files."""
        if os.path.basename(full).startswith(f".omo-kept-{self.identity}"):
            return True
        return any(f"{full}/".startswith(f"{place}/") for place in (self.state, *self._stages()))

    def stage(self) -> None:
        """Before the first change, a copy of every original lies where a rename alone puts it back: on a full disk
        nothing else could be done."""
        self.require_real_stages()
        for stage in self._stages():
            _make_stage(stage)
        for listed in self.files:
            if listed.can_wait and not os.path.lexists(listed.waiting):
                self._write_original(listed)

    def require_real_stages(self) -> None:
        """What would wait behind a link is written somewhere else."""
        for stage in self._stages():
            if os.path.islink(stage):
                raise OSError(errno.ELOOP, "it is a link", stage)

    def _write_original(self, listed: Listed) -> None:
        """By a rename too: one that a kill has torn would be taken for what somebody wrote into it."""
        self._write(listed.fresh, listed, listed.original)
        os.replace(listed.fresh, listed.waiting)

    def _stages(self) -> set[str]:
        return {paths.swap_dir(self.state), *(listed.stage for listed in self.files)}

    def clear(self) -> None:
        """Nothing is left of what waited, but what somebody has written into it."""
        self.require_real_stages()
        for listed in self.files:
            self._look_at_aside(listed)
            if _mode_at(listed.waiting) and not _holds(listed.waiting, listed.original):
                self.keep(listed.waiting, listed.path)
            remove(listed.waiting)
            remove(listed.fresh)
        remove(os.path.join(paths.swap_dir(self.state), GROUP_FILE))
        remove(paths.swap_unfinished(self.state))
        for stage in self._stages():
            _remove_empty(stage)

    def stands_as_read(self, listed: Listed) -> bool:
        if listed.original.content is None:
            return not self._has_real_parents(listed.path) or _mode_at(listed.full) in ("", DIRECTORY)
        try:
            if _version(os.lstat(listed.full)) == listed.version:
                return True
        except OSError:
            return False
        return file_at(listed.full) == listed.original

    # -- arranging --------------------------------------------------------------------------------------------------

    def put_back(self) -> set[str]:
        """Everything as it was, whatever fails on the way: a file that cannot be put back does not hold up the next.
        The paths that were not."""
        changed: set[str] = set()
        for _ in range(TRIES):
            failures = self.arrange({}, changed, goes_on=True)
            if not failures:
                break
        else:
            names = ", ".join(clip(failure, 200) for failure in failures[:MOST_NAMED])
            raise Unwritable(
                f"{len(failures)} files could not be put back as they were ({names}); omo keeps them in "
                f"{paths.swap_journal(self.state)}",
                fix="mend what it says, then call omo status: every command and every hook tries again",
            )
        self._give_later_second(changed)
        self._order_times({})
        return changed

    def arrange(self, arrangement: Arrangement, changed: set[str] | None = None, *, goes_on: bool = False) -> list[str]:
        """Removals before writes, so that a directory can become a file and Foo.py foo.py. What is not in the
        arrangement stands as it was. With `goes_on`, what failed is listed instead of raised."""
        changed = set() if changed is None else changed
        failures: list[str] = []
        targets = [(listed, arrangement.get(listed.path, listed.original)) for listed in self.files]
        wanted = self._wanted_directories(targets)
        steps: list[tuple[str, Callable[[], bool]]] = []
        self.require_real_stages()
        for stage in self._stages():  # a kill may have come before they were made
            steps.append(("", partial(_make_stage, stage)))
        for listed, file in reversed(targets):
            if file.content is None:
                steps.append((listed.path, partial(self._clear_path, listed)))
        for directory in sorted(self.directories, reverse=True):
            if directory not in wanted:
                steps.append(("", partial(self._remove_directory, directory)))
        for directory in sorted(wanted):
            steps.append(("", partial(self._make_directory, directory)))
        for listed, file in targets:
            if file.content is not None:
                steps.append((listed.path, partial(self._place, listed, file)))
        for path, step in steps:
            try:
                if step() and path:
                    changed.add(path)
            except OSError as error:
                if not goes_on:
                    raise
                failures.append(f"{path or error.filename}: {error.strerror or error}")
        self._order_times(arrangement)
        self._last_second = self._second()
        return failures

    def _wanted_directories(self, targets: Iterable[tuple[Listed, File]]) -> set[str]:
        """Those with a file in them, and those that were there without one of the list. Others would be found by who
        looks for packages."""
        wanted: set[str] = set()
        had_files: set[str] = set()
        files: set[str] = set()
        for listed, file in targets:
            if file.content is not None:
                files.add(listed.path)
                wanted.update(above(listed.path))
            if listed.original.content is not None:
                had_files.update(above(listed.path))
        for directory, before in self.directories.items():
            if before is None or directory in had_files or not files.isdisjoint([directory, *above(directory)]):
                continue
            wanted.update([directory, *above(directory)])
        return wanted

    def _remove_directory(self, directory: str) -> bool:
        return self._has_real_parents(directory) and _remove_empty(os.path.join(self.root, directory))

    def _make_directory(self, directory: str) -> bool:
        self._require_real_parents(directory)
        full = os.path.join(self.root, directory)
        if _mode_at(full) == DIRECTORY:
            return False
        if _mode_at(full):
            self.keep(full, directory)
        os.mkdir(full)
        before = self.directories[directory]
        if before is not None:
            _give_owner(full, before[1], before[2])
            os.chmod(full, before[0])
        return True

    def _clear_path(self, listed: Listed) -> bool:
        if not self._has_real_parents(listed.path) or _mode_at(listed.full) in ("", DIRECTORY):
            return False
        self._move_aside(listed)
        self._look_at_aside(listed)
        return True

    def _place(self, listed: Listed, file: File) -> bool:
        if self._stands(listed, file):
            return _give_permissions(listed.full, file, listed.permissions_of(file))
        source = listed.fresh
        if file == listed.original:
            source = listed.waiting
            self._make_wait(listed)
            os.utime(source, follow_symlinks=False)  # the old time would make `make` keep what it built of the other
        else:
            self._write(source, listed, file)
        for _ in range(TRIES):
            mode = _mode_at(listed.full)
            if mode == DIRECTORY and _remove_empty(listed.full):
                mode = ""
            if mode:
                self._move_aside(listed)
            self._require_real_parents(listed.path)
            if _move_to_free(source, listed.full):
                break
            self._look_at_aside(listed)  # somebody wrote there at this moment
        else:
            raise OSError(errno.EBUSY, "somebody keeps writing it", listed.full)
        self._look_at_aside(listed)
        return True

    def _stands(self, listed: Listed, file: File) -> bool:
        return self._has_real_parents(listed.path) and _holds(listed.full, file)

    def is_directory(self, listed: Listed) -> bool:
        return self._has_real_parents(listed.path) and _mode_at(listed.full) == DIRECTORY

    def _has_real_parents(self, path: str) -> bool:
        """What lies behind a link is somewhere else."""
        return all(_mode_at(os.path.join(self.root, directory)) == DIRECTORY for directory in above(path))

    def _require_real_parents(self, path: str) -> None:
        """Asked at the moment of each change: a link may have been put there since the last."""
        if not self._has_real_parents(path):
            raise OSError(errno.ENOTDIR, "a directory above it is gone, or a link", os.path.join(self.root, path))

    def _make_wait(self, listed: Listed) -> None:
        """An editor that has the original open may have written into it: that is kept, and we know the bytes."""
        self._look_at_aside(listed)
        if not _holds(listed.waiting, listed.original):
            if _mode_at(listed.waiting):
                self.keep(listed.waiting, listed.path)
            self._write_original(listed)
        _give_permissions(listed.waiting, listed.original, listed.permissions)
        if listed.original.mode != LINK_MODE and os.lstat(listed.waiting).st_ino != listed.inode:
            descriptor = os.open(listed.waiting, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                os.fsync(descriptor)  # a copy: the journal goes soon, and nothing else holds these bytes
            finally:
                os.close(descriptor)

    def _move_aside(self, listed: Listed) -> None:
        self._look_at_aside(listed)
        self._require_real_parents(listed.path)
        os.rename(listed.full, listed.aside)

    def _look_at_aside(self, listed: Listed) -> None:
        """The original itself waits rather than its copy: it has its owner, its links and its attributes."""
        found = file_at(listed.aside)
        if found == NOTHING:
            return
        status = os.lstat(listed.aside)
        listed.stood.add((status.st_size, int(status.st_mtime), hash(found.content)))
        if _is_same(found, listed.original):
            if listed.can_wait and (status.st_ino == listed.inode or not os.path.lexists(listed.waiting)):
                os.replace(listed.aside, listed.waiting)
            else:
                os.unlink(listed.aside)
        elif _digest(found) in listed.ours:
            os.unlink(listed.aside)
        else:
            self.keep(listed.aside, listed.path)

    def _write(self, full: str, listed: Listed, file: File) -> None:
        """A new file where nobody looks, as it is to be."""
        remove(full)
        content = file.content or b""
        if file.mode == LINK_MODE:
            os.symlink(content, os.fsencode(full))
            return
        usual = 0o777 if file.mode == PROGRAM_MODE else 0o666
        descriptor = os.open(full, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, usual)
        try:
            write_all(descriptor, content)
            if listed.original.content is not None:
                _give_owner(descriptor, *listed.owner)
            permissions = listed.permissions_of(file)
            if permissions is not None:
                os.fchmod(descriptor, permissions)
            self._keeps_whole_seconds = os.fstat(descriptor).st_mtime_ns % SECOND == 0
        finally:
            os.close(descriptor)

    def keep(self, full: str, path: str) -> None:
        self.kept.append(self.move_away(full, path))

    def move_away(self, full: str, path: str) -> Kept:
        """Moved, never copied or removed: below our state, on a full disk without new directories, and where that is
        another file system beside the project's files."""
        kept_dir = paths.kept_dir(self.state)
        number = self._moved_away + 1
        top = _top_on_file_system(self.root, os.path.dirname(full))
        # By its own name node, jest and vitest would take it for a test: "honest: node: a formatter in the gate".
        places = [os.path.join(kept_dir, f"{self.identity}-{count}", f"{path}.kept") for count in range(1, MOST_KEPT)]
        places.append(os.path.join(self.state, f"kept-{self.identity}-{number}"))
        places.append(os.path.join(top, f".omo-kept-{self.identity}-{number}"))
        problem = OSError(errno.EEXIST, "there is no free name for it", full)
        for place in places:
            try:
                if place.startswith(kept_dir + os.sep):
                    store.make_dir(os.path.dirname(place), self.state)
                if os.path.lexists(place):
                    continue
                os.rename(full, place)
            except OSError as error:
                problem = error  # also a file that is kept where this one needs a directory
                continue
            self._moved_away += 1
            return Kept(path, self.named(place))
        raise problem

    # -- times ------------------------------------------------------------------------------------------------------

    def await_later_second(self, arrangement: Arrangement) -> None:
        """Bytecode caches compare the second and the size of a source: a file of the same size that was there in this
        second would be taken for this one. Never a time of the future: ninja builds such a file again and again."""
        while self._is_second_taken(self._second(), arrangement):
            _sleep_to_next_second()

    def _second(self) -> int:
        """The one that a file written now would have: the clock of files is behind `time.time()` by up to a tick."""
        seconds = [int(time.time())]
        for stage in self._stages():
            try:
                os.utime(stage)
                seconds.append(int(os.stat(stage).st_mtime))
            except OSError:
                continue  # not made yet, or gone already
        return min(seconds)

    def _is_second_taken(self, second: int, arrangement: Arrangement) -> bool:
        if self._keeps_whole_seconds and second == self._last_second:
            return True
        for listed in self.files:
            file = arrangement.get(listed.path, listed.original)
            if file.content is None or file.mode == LINK_MODE:
                continue
            if listed.has_other(file, second):
                return True
            try:
                status = os.lstat(listed.full)
            except OSError:
                continue
            if (status.st_size, int(status.st_mtime)) == (len(file.content), second):
                if not self._stands(listed, file):
                    return True
        return False

    def _give_later_second(self, changed: set[str]) -> None:
        """The same after putting back, which does not wait: files first, their times then."""
        late = []
        taken = 0
        for listed in self.files:
            if listed.path not in changed or listed.original.mode not in (FILE_MODE, PROGRAM_MODE):
                continue
            try:
                second = int(os.lstat(listed.full).st_mtime)
            except OSError:
                continue
            if listed.has_other(listed.original, second):
                late.append(listed)
                taken = max(taken, second)
        while late and self._second() <= taken:
            _sleep_to_next_second()
        for listed in late:
            try:
                self._require_real_parents(listed.path)
                os.utime(listed.full, follow_symlinks=False)
            except OSError:
                pass  # it was removed meanwhile, by somebody who may

    def _order_times(self, arrangement: Arrangement) -> None:
        """Which of the originals is newer than which stays as it was: else `make` would keep what it built before the
        source was mended ("what make builds is ignored by nothing, and the red was seen by hand")."""
        placed = []
        for listed in self.files:
            if listed.modified and arrangement.get(listed.path, listed.original) == listed.original:
                try:
                    now = os.lstat(listed.full).st_mtime_ns
                except OSError:
                    continue
                if now != listed.modified:  # it was away
                    placed.append((listed.modified, now, listed.path))
        if len(placed) < 2:
            return
        time_given = max(now for _, now, _ in placed)
        before, _, _ = min(placed)
        for modified, _, path in sorted(placed):
            time_given += modified > before  # by a billionth of a second
            before = modified
            try:
                self._require_real_parents(path)
                os.utime(os.path.join(self.root, path), ns=(time_given, time_given), follow_symlinks=False)
            except OSError:
                pass  # it was removed meanwhile, by somebody who may


# -- before the first change ------------------------------------------------------------------------------------------


def read_tree(root: str, state: str, identity: str, arrangements: Mapping[str, Arrangement]) -> Tree:
    """The list with its originals. Whatever is odd about it is said here, while nothing was changed."""
    tree = Tree(root, state, identity)
    names = sorted({path for arrangement in arrangements.values() for path in arrangement})
    for path in names:
        require_ordinary(path, root, state)
    stages: dict[str, str] = {}
    left = MOST_BYTES
    for number, path in enumerate(names):
        has_real_parents = _read_directories(tree, path, names)
        directory = root
        for name in above(path):
            if tree.directories[name] is not None:
                directory = os.path.join(root, name)
        if directory not in stages:
            stages[directory] = stage_for(root, state, directory, identity)
        listed = Listed(path, root, stages[directory], number)
        if has_real_parents:
            left -= _read_original(listed, left)
        for arrangement in arrangements.values():
            file = arrangement.get(path)
            if file is not None and file.content is not None:
                listed.ours.add(_digest(file))
        tree.files.append(listed)
    _tell_cases_apart(tree)
    _require_free_directories(tree, names)
    for arrangement in arrangements.values():
        require_possible(tree, arrangement)
    return tree


def require_ordinary(path: str, root: str, state: str, *, is_directory: bool = False) -> None:
    """Refuse a path that is not below the project, or that belongs to git or to omo; also when a journal names it."""
    parts = path.split("/")
    if not path or os.path.isabs(path) or os.path.normpath(path) != path or os.pardir in parts or "\0" in path:
        raise NotMade(f"{clip(repr(path), 80)} is no path below the project")
    # A swapped .gitignore made a user's .env visible, and it was removed as a file that nobody wanted.
    names = [_as_file_systems_see(part) for part in parts]
    if ".git" in names or (names[-1].startswith(".git") and not is_directory):
        raise NotMade(f"{clip(path, 80)} tells git what to look at, and is never swapped")
    full = os.path.join(os.path.realpath(root), *names)
    if f"{full}/".casefold().startswith(os.path.join(os.path.realpath(state), "").casefold()):
        raise NotMade(f"{clip(path, 80)} is omo's own state, and is never swapped")


def _as_file_systems_see(name: str) -> str:
    """One of macOS takes `.Git` with a mark of writing direction in it for `.git`."""
    return "".join(letter for letter in name if letter not in IGNORED_LETTERS).casefold()


def _read_directories(tree: Tree, path: str, names: list[str]) -> bool:
    """Note the directories above a path. False where one of them is not there, or is a file now."""
    is_real = True
    for directory in above(path):
        full = os.path.join(tree.root, directory)
        mode = _mode_at(full) if is_real else ""
        if mode == DIRECTORY:
            _note_directory(tree, directory)
            continue
        if mode and directory not in names:
            raise NotMade(f"{directory} is a link or a file, and {path} would lie below it")
        tree.directories[directory] = None
        is_real = False
    return is_real


def _note_directory(tree: Tree, directory: str) -> None:
    full = os.path.join(tree.root, directory)
    status = os.lstat(full)
    tree.directories[directory] = [stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid]
    if not os.access(full, os.W_OK | os.X_OK):
        raise NotMade(f"{directory} cannot be written", fix=f"make {directory} writable")


def _read_original(listed: Listed, left: int) -> int:
    """Note what stands at the path, of at most so many bytes; how many they are."""
    try:
        status = os.lstat(listed.full)
    except (FileNotFoundError, NotADirectoryError):
        return 0
    if stat.S_ISREG(status.st_mode) and status.st_size > left:
        raise NotMade(f"the files that would be swapped hold more than {MOST_BYTES // 2**20} MB")
    found = file_at(listed.full)
    if found.mode == ODD:
        raise unreadable(listed.path)
    if found.content is None:
        return 0
    if status.st_mode & (stat.S_ISUID | stat.S_ISGID) and found.mode != LINK_MODE:
        raise NotMade(f"{listed.path} runs as its owner or group (setuid), and is never swapped")
    listed.original = found
    listed.permissions = stat.S_IMODE(status.st_mode)
    listed.inode = status.st_ino
    listed.version = _version(status)
    listed.modified = status.st_mtime_ns
    listed.owner = (status.st_uid, status.st_gid)
    return len(found.content)


def _tell_cases_apart(tree: Tree) -> None:
    """Where Foo.py and foo.py are one file, only the name that it has is there."""
    by_name: dict[str, list[Listed]] = {}
    for listed in tree.files:
        if listed.original.content is not None:
            by_name.setdefault(listed.path.casefold(), []).append(listed)
    for same in by_name.values():
        if len(same) == 1:
            continue
        for listed in same:
            directory, name = os.path.split(listed.full)
            if name not in os.listdir(directory):
                listed.original = NOTHING


def _require_free_directories(tree: Tree, listed_names: list[str]) -> None:
    """Where a directory stands, a file can be put only if all that is in it is on the list."""
    standing = [listed for listed in tree.files if tree.is_directory(listed)]
    if not standing:
        return
    known = set(listed_names)
    links = git_hold.gitlinks(tree.root, [listed.path for listed in standing])
    for listed in standing:
        if listed.path in links or os.path.lexists(os.path.join(listed.full, ".git")):
            raise NotMade(f"{listed.path} is a submodule, and those are not swapped")
        if not listed.ours:
            continue
        for directory, names, files in os.walk(listed.full):
            _note_directory(tree, os.path.relpath(directory, tree.root))
            links_to_directories = [name for name in names if os.path.islink(os.path.join(directory, name))]
            for name in [*files, *links_to_directories]:
                path = os.path.relpath(os.path.join(directory, name), tree.root)
                if path not in known:
                    raise NotMade(f"{listed.path} would become a file, and {path} lies below it")


def require_possible(tree: Tree, arrangement: Arrangement) -> None:
    has_file = set()
    for listed in tree.files:
        file = arrangement.get(listed.path, listed.original)
        if (file.content is None) != (file.mode == "") or file.mode not in ("", FILE_MODE, PROGRAM_MODE, LINK_MODE):
            raise NotMade(f"{listed.path} has the mode {file.mode!r}, which omo does not know")
        if file.content is not None:
            has_file.add(listed.path)
    for path in has_file:
        for directory in above(path):
            if directory in has_file:
                raise NotMade(f"{directory} cannot be a file and a directory at once")


def stage_for(root: str, state: str, directory: str, identity: str) -> str:
    """On the file system of the files, so that a rename puts them back; below our own state where that is on it."""
    if os.stat(directory).st_dev == os.stat(state).st_dev:
        return paths.swap_dir(state)
    return os.path.join(_top_on_file_system(root, directory), f".omo-swap-{identity}")


def _top_on_file_system(root: str, directory: str) -> str:
    """The highest directory of the project from which one can rename to this one."""
    while directory.startswith(root + os.sep):
        higher = os.path.dirname(directory)
        if os.stat(higher).st_dev != os.stat(directory).st_dev:
            break
        directory = higher
    return directory


# -- one path ---------------------------------------------------------------------------------------------------------


def _mode_at(full: str) -> str:
    """Empty where nothing is."""
    try:
        mode = os.lstat(full).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return ""
    if stat.S_ISDIR(mode):
        return DIRECTORY
    if stat.S_ISLNK(mode):
        return LINK_MODE
    if not stat.S_ISREG(mode):
        return ODD
    return PROGRAM_MODE if mode & stat.S_IXUSR else FILE_MODE


def unreadable(path: str) -> NotMade:
    return NotMade(f"{path} cannot be read, or is no file")


def file_at(full: str) -> File:
    mode = _mode_at(full)
    try:
        if mode == LINK_MODE:
            return File(os.readlink(os.fsencode(full)), mode)
        if mode in (FILE_MODE, PROGRAM_MODE):
            return File(safe_open.read_file(full, MOST_BYTES), mode)
    except (FileNotFoundError, NotADirectoryError):
        return NOTHING  # removed meanwhile
    except OSError:
        mode = ODD  # unreadable, or larger than anything of ours
    return File(None, mode)


def _holds(full: str, file: File) -> bool:
    """What is not as long is not read."""
    try:
        if os.lstat(full).st_size != len(file.content or b""):
            return False
    except (FileNotFoundError, NotADirectoryError):
        return False
    return _is_same(file_at(full), file)


def _version(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _is_same(one: File, other: File) -> bool:
    """By content: permissions are given back without a swap."""
    return (
        one.content is not None
        and one.content == other.content
        and (one.mode == LINK_MODE) == (other.mode == LINK_MODE)
    )


def _digest(file: File) -> str:
    if file.content is None:
        return ""
    return sha256((b"l" if file.mode == LINK_MODE else b"f") + file.content)


def _give_permissions(full: str, file: File, permissions: int | None) -> bool:
    if file.mode == LINK_MODE:
        return False
    now = stat.S_IMODE(os.lstat(full).st_mode)
    if permissions is None:
        permissions = now & ~0o111
        if file.mode == PROGRAM_MODE:
            permissions = now | (now & 0o444) >> 2
    if now == permissions:
        return False
    os.chmod(full, permissions)
    return True


def _make_stage(stage: str) -> bool:
    if _mode_at(stage) != DIRECTORY:
        os.mkdir(stage, 0o700)
    return False


def _give_owner(place: str | int, user: int, group: int) -> None:
    """Root in a container would make the user's files its own."""
    status = os.stat(place)
    if (user, group) != (status.st_uid, status.st_gid):
        try:
            os.chown(place, user, group)
        except PermissionError:
            pass


def _move_to_free(source: str, full: str) -> bool:
    """Rename to where nothing is. False where somebody has written there since we looked: theirs is not overwritten."""
    try:
        os.link(source, full, follow_symlinks=False)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS, errno.EINVAL):
            raise
        os.rename(source, full)  # a file system without hard links
        return True
    os.unlink(source)
    return True


def above(path: str) -> list[str]:
    """The directories above a path, the highest first."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def write_all(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def remove(full: str) -> None:
    try:
        os.unlink(full)
    except (FileNotFoundError, NotADirectoryError):
        pass


def _remove_empty(directory: str) -> bool:
    try:
        os.rmdir(directory)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            return False
        raise
    return True


def _sleep_to_next_second() -> None:
    now = time.time()
    time.sleep(int(now) + 1.005 - now)
