"""The fingerprint of a working tree: what its files hold now, whatever git has been told about them."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import struct
import subprocess
import tempfile
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from omo.errors import BadInput, NotEvaluable
from omo.evidence import git
from omo.evidence.run import child_environment

SCHEME = "tree1"
GIT_SECONDS = 120.0


def fingerprint(root: Path, *, cache: Path | None = None, exclude: Sequence[str] = (".sisyphus/cc-omo",)) -> str:
    """A digest of path, content and executable bit or link target of every tracked or unignored file.

    `exclude` names paths below `root` that do not count. `cache` is a file of ours, in a directory that
    exists and does not count itself; it changes how long the answer takes, never the answer.
    A file that cannot be read raises NotEvaluable: a tree we cannot see is not a tree we know.
    """
    top = os.fsencode(os.path.realpath(root))
    if not os.path.isdir(top):
        raise BadInput(f"no tree to fingerprint at {root}", fix="name an existing directory")
    excluded = [os.fsencode(name).strip(b"/") for name in exclude]
    with _Memory.opened(cache, top, excluded) as memory, ThreadPoolExecutor(2) as pool:
        listed = pool.submit(_list, top)
        cached, changed = memory.recall(top, pool)
        look = _look(top, listed.result(), cached.paths, changed, excluded)
        memory.keep(cached, look)
    rows = _splice(cached.paths, cached.rows, look.outdated, look.rows)
    return f"{SCHEME}:{hashlib.sha256(rows).hexdigest()}"


def _list(top: bytes) -> list[bytes]:
    """The paths below `top` that count; a nested repository is one path, a directory."""
    paths = _list_repository(top)
    # An outer repository that ignores all of this (dotfiles kept in HOME) has nothing to say about it.
    if paths is None or not (paths or os.path.lexists(top + b"/.git")):
        return list(_walk(top))
    return paths


def _list_repository(top: bytes) -> list[bytes] | None:
    out = _git(top, "ls-files", "-z", "--cached", "--others", "--exclude-standard", **_own(top))
    return None if out is None else out.replace(b"/\0", b"\0").split(b"\0")[:-1]


def _own(top: bytes) -> dict[str, str]:
    """Holds git to the repository at `top`, if any: it would take an outer one where that is damaged."""
    own = top + b"/.git"
    if not os.path.lexists(own):
        return {}
    return {"GIT_DIR": os.fsdecode(own), "GIT_WORK_TREE": os.fsdecode(top)}


def _walk(top: bytes, below: bytes = b"") -> Iterator[bytes]:
    """Every file and link below `top`, but in a repository found there only what counts in it."""
    for entry in _entries(top + b"/" + below):
        path = below + entry.name
        if entry.name == b".git":
            continue
        if not entry.is_dir(follow_symlinks=False):
            yield path
        elif os.path.lexists(entry.path + b"/.git"):
            yield from (path + b"/" + inner for inner in _list_nested(entry.path))
        else:
            yield from _walk(top, path + b"/")


def _entries(directory: bytes) -> list[os.DirEntry[bytes]]:
    try:
        with os.scandir(directory) as entries:
            return list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise _cannot_read(directory, error) from error


def _list_nested(directory: bytes) -> list[bytes]:
    paths = _list_repository(directory)
    return list(_walk(directory)) if paths is None else paths


def _git(cwd: bytes, *arguments: str | bytes, **environment: str) -> bytes | None:
    """What git prints, or None where there is no git, no repository, or a broken one."""
    env = {**child_environment(os.environ), **git.ENVIRONMENT, **environment}
    try:
        done = subprocess.run(
            [*git.COMMAND, *arguments],
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=GIT_SECONDS,
            check=False,
        )
    except OSError:
        return None
    except subprocess.TimeoutExpired as error:
        where = os.fsdecode(cwd)
        raise NotEvaluable(f"git gave no answer in {where} within {GIT_SECONDS:g} s", path=where) from error
    if b"could not open directory" in done.stderr:
        raise NotEvaluable(os.fsdecode(done.stderr.strip()), fix="make it readable, or have git ignore it")
    return done.stdout if done.returncode == 0 else None


class _Reading(NamedTuple):
    row: bytes  # digest of mode, path and content
    status: os.stat_result
    mode: int


class _Look(NamedTuple):
    """How the tree differs from what we remember of it."""

    outdated: list[bytes]
    rows: dict[bytes, bytes]
    read: dict[bytes, _Reading]
    size: int


def _look(top: bytes, paths: list[bytes], known: list[bytes], changed: list[bytes], excluded: Sequence[bytes]) -> _Look:
    rows: dict[bytes, bytes] = {}
    read: dict[bytes, _Reading] = {}
    real_parents = {b"": True}
    listed: list[bytes] = []
    while paths:
        paths.sort()
        _drop(paths, excluded)
        listed += paths
        unknown = {*_missing(paths, known), *(path for path in changed if _has(paths, path))}
        paths = []
        for path in unknown:
            if not _is_real(top, os.path.dirname(path), real_parents):
                continue
            if reading := _read(top, path):
                read[path] = reading
                rows[path] = reading.row
            elif os.path.isdir(os.path.join(top, path)):
                paths += _enter(top, path, rows)
    listed.sort()
    return _Look([*changed, *_missing(known, listed)], rows, read, len(listed))


def _missing(ours: list[bytes], theirs: list[bytes]) -> set[bytes]:
    """What is in the one sorted list and not in the other; two equal halves cost one comparison."""
    if ours == theirs:
        return set()
    if not theirs or len(ours) + len(theirs) < 64:
        return {*ours}.difference(theirs)
    longer = max(ours, theirs, key=len)
    middle = longer[len(longer) // 2]
    i, j = bisect_left(ours, middle), bisect_left(theirs, middle)
    return _missing(ours[:i], theirs[:j]) | _missing(ours[i:], theirs[j:])


def _has(paths: list[bytes], path: bytes) -> bool:
    at = bisect_left(paths, path)
    return at < len(paths) and paths[at] == path


def _splice(paths: list[bytes], rows: bytes, outdated: Iterable[bytes], newer: Mapping[bytes, bytes]) -> bytes:
    """The rows of sorted `paths`, without the outdated and with the newer ones in their places."""
    pieces: list[bytes] = []
    at = 0
    for path in sorted({*outdated, *newer}):
        place = bisect_left(paths, path)
        pieces += rows[at * _ROW : place * _ROW], newer.get(path, b"")
        at = place + _has(paths[place : place + 1], path)
    return b"".join((*pieces, rows[at * _ROW :]))


def _drop(paths: list[bytes], excluded: Sequence[bytes]) -> None:
    for name in excluded:
        for first, last in ((name, name + b"\0"), (name + b"/", name + b"0")):
            del paths[bisect_left(paths, first) : bisect_left(paths, last)]


def _is_real(top: bytes, directory: bytes, memo: dict[bytes, bool]) -> bool:
    """Whether the way to `directory` crosses no link: the index may name files beyond one."""
    if directory not in memo:
        memo[directory] = _is_real(top, os.path.dirname(directory), memo) and not os.path.islink(
            os.path.join(top, directory)
        )
    return memo[directory]


def _read(top: bytes, path: bytes) -> _Reading | None:
    """The reading of a file or link; None for what is gone or is neither."""
    full = os.path.join(top, path)
    try:
        status = os.lstat(full)
        if stat.S_ISLNK(status.st_mode):
            digest = _row(0o120000, path)
            digest.update(os.readlink(full))
            return _Reading(digest.digest(), status, 0o120000)
        return _read_file(full, path) if stat.S_ISREG(status.st_mode) else None
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _cannot_read(full, error) from error


# O_NOFOLLOW and O_NONBLOCK: a file swapped for a link or a pipe just now is neither followed nor waited for.
_OPEN = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def _read_file(full: bytes, path: bytes) -> _Reading:
    descriptor = os.open(full, _OPEN)
    try:
        status = os.fstat(descriptor)
        mode = 0o100755 if status.st_mode & stat.S_IXUSR else 0o100644
        digest = _row(mode, path)
        while chunk := os.read(descriptor, 1 << 20):
            digest.update(chunk)
    finally:
        os.close(descriptor)
    return _Reading(digest.digest(), status, mode)


def _row(mode: int, path: bytes) -> hashlib._Hash:
    return hashlib.sha256(b"%o %b\0" % (mode, path))


def _cannot_read(path: bytes, error: OSError) -> NotEvaluable:
    shown = os.fsdecode(path)
    return NotEvaluable(
        f"cannot fingerprint the tree: {shown}: {error.strerror}",
        fix="make it readable, or have git ignore it",
        path=shown,
    )


def _enter(top: bytes, path: bytes, rows: dict[bytes, bytes]) -> list[bytes]:
    """The paths in a submodule or other nested repository; where it stands becomes a row of its own."""
    directory = os.path.join(top, path)
    if os.path.lexists(directory + b"/.git"):
        head = _git(directory, "rev-parse", "--quiet", "--verify", "HEAD", **_own(directory)) or b""
        digest = _row(0o160000, path)
        digest.update(head.strip())
        rows[path] = digest.digest()
        inner = _list_nested(directory)
    elif _is_submodule(directory):
        inner = list(_walk(directory))
    else:
        return []  # a tracked file has become a directory: git lists what is in it
    return [path + b"/" + name for name in inner]


def _is_submodule(directory: bytes) -> bool:
    parent, name = os.path.split(directory)
    return (_git(parent, "ls-files", "-z", "--stage", "--", name) or b"").startswith(b"160000 ")


# The cache is a git index that git never writes: `git diff-files` then compares 50,000 stats in C and on
# all cores, where as many os.lstat calls alone take longer than the whole of `git status`. The user's own
# index would not do: its object ids are those of filtered content, and flags in it can hide an edit. Git
# compares whole seconds only, hence SETTLED_SECONDS. The rows live in an extension git skips. No object id
# in it is real, so where git goes on to compare contents it finds a difference, and we read the file.
SETTLED_SECONDS = 2
_HEADER = struct.Struct(">4sII")
_ENTRY = struct.Struct(">10I20sH")
_EXTENSION = struct.Struct(">4sI")
_LENGTH = struct.Struct(">Q")
_SIGNATURE = b"OMO1"
_EMPTY_BLOB = bytes.fromhex("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391")
_ROW = 32
_CHECKSUM = 20


class _Cached(NamedTuple):
    paths: list[bytes]
    rows: bytes
    entries: bytes

    def row_by_path(self) -> dict[bytes, bytes]:
        return {path: row for path, (row,) in zip(self.paths, struct.iter_unpack(f"{_ROW}s", self.rows), strict=True)}

    def entry_by_path(self) -> dict[bytes, bytes]:
        ends = list(accumulate(map(_entry_size, self.paths)))
        return {path: self.entries[a:b] for path, a, b in zip(self.paths, [0, *ends], ends, strict=False)}


_NONE_CACHED = _Cached([], b"", b"")


class _Memory:
    """What the last look found, for as long as the files' stats show that it still holds."""

    def __init__(self, cache: Path | None, workshop: str) -> None:
        self._cache = cache
        self._workshop = workshop
        self._opened = os.stat(workshop).st_mtime_ns // 10**9 if workshop else 0

    @classmethod
    @contextlib.contextmanager
    def opened(cls, cache: Path | None, top: bytes, excluded: Sequence[bytes]) -> Iterator[_Memory]:
        if cache is not None:
            cache = Path(os.path.realpath(cache))
            _check_outside(cache, top, excluded)
        # On Windows st_ctime is the time of creation: an edit with its mtime put back would not show.
        if cache is None or os.name == "nt" or not os.access(cache.parent, os.W_OK):
            yield cls(None, "")
            return
        with tempfile.TemporaryDirectory(prefix=f"{cache.name}.", dir=cache.parent) as workshop:
            yield cls(cache, workshop)

    def recall(self, top: bytes, pool: ThreadPoolExecutor) -> tuple[_Cached, list[bytes]]:
        """What we remember, and the paths of which it no longer holds."""
        if self._cache is None or not (version := _version(self._cache)):
            return _NONE_CACHED, []
        asked = pool.submit(self._changed, top, self._cache)
        cached = _load(self._cache)
        changed = asked.result()
        # Another process may have replaced the file after we read it and before git did.
        if changed is None or _version(self._cache) != version:
            return _NONE_CACHED, []
        return cached, changed

    def _changed(self, top: bytes, cache: Path) -> list[bytes] | None:
        for name in ("objects", "refs"):
            os.mkdir(os.path.join(self._workshop, name))
        with open(os.path.join(self._workshop, "HEAD"), "wb") as head:
            head.write(b"ref: refs/heads/none\n")
        out = _git(
            top,
            "diff-files",
            "-z",
            "--name-only",
            GIT_DIR=self._workshop,
            GIT_WORK_TREE=os.fsdecode(top),
            GIT_INDEX_FILE=str(cache),
        )
        return None if out is None else out.split(b"\0")[:-1]

    def keep(self, cached: _Cached, look: _Look) -> None:
        """Write the cache anew, where reading as much again would cost more than writing does."""
        if self._cache is None:
            return
        settled = self._settled(look.read)
        size = sum(reading.status.st_size for reading in settled.values())
        if 64 * len(settled) + size // 1024 <= look.size:
            return
        rows, entries = cached.row_by_path(), cached.entry_by_path()
        for path in look.outdated:
            entries.pop(path, None)
        for path, reading in settled.items():
            rows[path], entries[path] = reading.row, _entry(path, reading)
        aside = os.path.join(self._workshop, "index")
        with contextlib.suppress(OSError), open(aside, "wb") as file:
            file.write(_render(entries, rows))
            file.close()
            os.replace(aside, self._cache)

    def _settled(self, read: Mapping[bytes, _Reading]) -> dict[bytes, _Reading]:
        """Those whose next change must show in a stat, by the clock of the disk the workshop is on."""
        limit = self._opened - SETTLED_SECONDS
        return {path: reading for path, reading in read.items() if _newest(reading.status) < limit}


def _newest(status: os.stat_result) -> int:
    return max(status.st_mtime_ns, status.st_ctime_ns) // 10**9


def _check_outside(cache: Path, top: bytes, excluded: Sequence[bytes]) -> None:
    places = [os.path.join(top, name) for name in (*excluded, b".git")]
    folder = os.path.join(os.fsencode(cache.parent), b"")
    if folder.startswith(os.path.join(top, b"")) and not folder.startswith(
        tuple(os.path.join(place, b"") for place in places)
    ):
        raise BadInput(
            f"the cache {cache} would be part of the tree it describes",
            fix="put it outside the tree or below an excluded directory",
        )


def _version(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def _entry_size(path: bytes) -> int:
    return (_ENTRY.size + len(path) + 8) & ~7


def _entry(path: bytes, reading: _Reading) -> bytes:
    status = reading.status
    ctime, mtime = divmod(status.st_ctime_ns, 10**9), divmod(status.st_mtime_ns, 10**9)
    numbers = (*ctime, *mtime, status.st_dev, status.st_ino, reading.mode, status.st_uid, status.st_gid)
    packed = _ENTRY.pack(
        *(number & 0xFFFFFFFF for number in (*numbers, status.st_size)), _EMPTY_BLOB, min(len(path), 0xFFF)
    )
    return (packed + path).ljust(_entry_size(path), b"\0")


def _render(entries: Mapping[bytes, bytes], rows: Mapping[bytes, bytes]) -> bytes:
    paths = sorted(entries)
    ours = b"".join([rows[path] for path in paths]) + b"\0".join(paths)
    ours += _LENGTH.pack(len(ours))
    body = b"".join(
        (
            _HEADER.pack(b"DIRC", 2, len(paths)),
            *(entries[path] for path in paths),
            _EXTENSION.pack(_SIGNATURE, len(ours)),
            ours,
        )
    )
    return body + _checksum(body)


def _load(cache: Path) -> _Cached:
    try:
        return _parse(cache.read_bytes())
    except OSError:
        return _NONE_CACHED


def _parse(data: bytes) -> _Cached:
    """What `_render` wrote; nothing, for any other bytes."""
    if len(data) < _HEADER.size + _EXTENSION.size + _LENGTH.size + _CHECKSUM:
        return _NONE_CACHED
    body, checksum = memoryview(data)[:-_CHECKSUM], data[-_CHECKSUM:]
    if _checksum(body) != checksum:
        return _NONE_CACHED
    magic, version, count = _HEADER.unpack_from(body)
    (length,) = _LENGTH.unpack_from(body, len(body) - _LENGTH.size)
    start = len(body) - _LENGTH.size - length
    if magic != b"DIRC" or version != 2 or start < _HEADER.size + _EXTENSION.size or length < count * _ROW:
        return _NONE_CACHED
    if bytes(body[start - _EXTENSION.size : start - 4]) != _SIGNATURE:
        return _NONE_CACHED
    rows, names = bytes(body[start : start + count * _ROW]), bytes(body[start + count * _ROW : start + length])
    paths = names.split(b"\0") if count else []
    return _Cached(paths, rows, bytes(body[_HEADER.size : start - _EXTENSION.size]))


def _checksum(body: bytes | memoryview) -> bytes:
    return hashlib.sha1(body, usedforsecurity=False).digest()
