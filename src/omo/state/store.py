"""Reading and replacing one JSON file. Absent, unreadable and newer are three different answers."""

from __future__ import annotations

import os
import time

from omo import json_text
from omo.errors import Busy, Unreadable, Unwritable
from omo.safe_open import regular_file
from omo.state import STATE_DIR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from omo.state.packages import Packages


HOOK_WAIT = 8.0  # seconds that a hook waits for locks in all, of the ten that hosts give it
CLI_WAIT = 10.0
POLL = 0.005
MOST_KEPT = 1 << 20  # bytes: who needs a longer ledger again needs its end alone
SETTLED = 0.1  # seconds: what is younger may be written again in the same tick of its file system's clock
ABSENT_STATE = (FileNotFoundError, NotADirectoryError)  # also where a file stands in the way of the directory
MOVE_AWAY = "move it away; the next hook or command that writes does so by itself and keeps the bytes"
NO_LINK = "remove the link; to have the state elsewhere, set OMO_STATE_DIR"
_IN_PROJECT = os.path.join(os.sep, STATE_DIR, "")

packages: Packages | None = None  # of a command; a hook has none
_known: dict[str, tuple[tuple[int, ...], bytes]] = {}  # by path: which version of a file it was, and what it held


def deadline(seconds: float) -> float:
    """When to give up waiting for all the locks that an operation takes."""
    return time.monotonic() + seconds


class Lock:
    """A kernel lock on a sibling file. The file is never unlinked: a waiter may already have it open."""

    def __init__(self, path: str, deadline: float) -> None:
        self._path = path
        self._deadline = deadline
        self._release: Callable[[], None] | None = None

    def __enter__(self) -> Lock:
        require_no_link(self._path)
        try:
            self._release = _acquire(self._path, self._deadline)
        except TimeoutError:
            raise Busy(f"{self._path} is held by another process", fix="try again in a moment") from None
        except OSError as error:
            raise unwritable(self._path, error) from None
        return self

    def __exit__(self, *raised: object) -> None:
        if self._release is not None:
            self._release()


def _acquire(path: str, deadline: float) -> Callable[[], None]:
    """Take a lock by filelock's protocol: a command by the package, a hook by the one system call that it makes."""
    if packages is not None and (release := packages.acquire(path, deadline)) is not None:
        return release
    from fcntl import LOCK_EX, LOCK_NB, flock

    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        while True:
            try:
                flock(descriptor, LOCK_EX | LOCK_NB)
                return lambda: os.close(descriptor)
            except (BlockingIOError, PermissionError):
                if time.monotonic() >= deadline:
                    raise TimeoutError(path) from None
            time.sleep(POLL)
    except OSError:  # also the TimeoutError
        os.close(descriptor)
        raise


def read(path: str) -> json_text.Json | None:
    """The object in the file, None only if there is no file."""
    raw = contents(path, ABSENT_STATE)
    return None if raw is None else parse(raw, path)


def contents(path: str, absent: tuple[type[OSError], ...] = (FileNotFoundError,)) -> bytes | None:
    """All of a file; None if it is `absent`. What was read before and not written since is not opened again, unless it
    is long."""
    if (known := known_contents(path)) is not None:
        return known
    try:
        with open(path, "rb", opener=regular_file) as file:
            raw = file.read()
            status = os.fstat(file.fileno())
    except absent:
        return None
    except OSError as error:
        raise unreadable(path, error) from None
    if len(raw) <= MOST_KEPT and time.time() - status.st_ctime > SETTLED:
        _known[path] = (_version(status), raw)
    return raw


def unreadable(path: str, error: OSError) -> Unreadable:
    return Unreadable(f"{path} cannot be read: {error.strerror}", fix="make it readable, or move it away", path=path)


def known_contents(path: str) -> bytes | None:
    """What was read of a file before, if it is still what it holds."""
    version, raw = _known.get(path, (None, None))
    if version is None:
        return None
    try:
        return raw if version == _version(os.stat(path)) else None
    except OSError:
        return None


def version_of(path: str) -> tuple[int, ...] | None:
    """What tells one content of a file from another; None where there is none."""
    try:
        return _version(os.stat(path))
    except OSError:
        return None


def _version(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def parse(raw: bytes, path: str) -> json_text.Json:
    try:
        value = loads(raw)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"{path} is not valid JSON: {error}", fix=MOVE_AWAY, path=path) from None
    if not isinstance(value, dict):
        raise Unreadable(f"{path} holds {type(value).__name__}, not an object", fix=MOVE_AWAY, path=path)
    return value


def loader(size: int) -> Callable[[bytes], Any]:
    """Return what parses JSON that stands in a file of this size."""
    return loads_plainly if packages is None else packages.loader(size)


def loads(raw: bytes) -> Any:
    """Return the value in a file of ours. Raises ValueError where it is not exactly one of JSON."""
    if packages is None:
        return json_text.loads(raw.decode("utf-8"))
    return packages.loader(len(raw))(raw)


def loads_plainly(raw: bytes) -> Any:
    return json_text.loads(raw.decode("utf-8"))


def dumps(value: object) -> str:
    """Return the text of a row. A command and a hook write the same."""
    return json_text.dumps_row(value) if packages is None else packages.dumps(value)


def encode(text: str) -> bytes:
    """UTF-8. A lone surrogate becomes the JSON escape it came from."""
    return text.encode("utf-8", "backslashreplace")


def replace(path: str, text: str) -> None:
    """Write aside, then rename over. Call with the file's lock held."""
    require_no_link(path)
    _sweep(path)
    aside = f"{path}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    try:
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(encode(text))
        os.replace(aside, path)
    except OSError as error:
        _remove(aside)
        raise unwritable(path, error) from None


def keep_as(path: str, why: str, now: float) -> str:
    """Move a file or a directory out of the way under a name that says why and when; nothing is overwritten."""
    require_no_link(path)
    kept = f"{path}.{why}-{int(now * 1000)}"
    while os.path.lexists(kept):
        kept += "x"
    try:
        os.replace(path, kept)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise unwritable(path, error) from None
    return kept


def write_new(path: str, text: str) -> bool:
    """Write a small file that must not be there. False where something is."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        return False
    except OSError as error:
        raise unwritable(path, error) from None
    with os.fdopen(descriptor, "wb") as file:
        file.write(encode(text))
    return True


def move_to(source: str, target: str) -> str:
    """Move a file or a directory to a name where nothing is; the target, or that with more behind it, is returned."""
    while os.path.lexists(target):
        target += "x"
    try:
        os.rename(source, target)
    except OSError as error:
        raise unwritable(target, error) from None
    return target


def is_locked(path: str) -> bool:
    """Return whether another process holds this lock. The file is not written."""
    from fcntl import LOCK_NB, LOCK_SH, flock

    descriptor = regular_file(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        flock(descriptor, LOCK_SH | LOCK_NB)
    except (BlockingIOError, PermissionError):
        return True
    finally:
        os.close(descriptor)
    return False


def make_dir(directory: str, state: str) -> None:
    """Create a directory of ours."""
    require_no_link(os.path.join(directory, "a file"))
    if (link := first_link(state, os.path.relpath(directory, state))) is not None:
        raise _behind(link)
    try:
        if not os.path.isdir(directory):
            os.makedirs(directory, mode=0o700, exist_ok=True)
    except OSError as error:
        raise unwritable(directory, error) from None


def require_no_link(path: str) -> None:
    """Refuse to write a file of the state if a directory between the project and it is a link: a cloned repository
    could lead our writes elsewhere by one. OMO_STATE_DIR is the way to do that."""
    if (link := link_to_state(path)) is not None:
        raise _behind(link)


def link_to_state(path: str) -> str | None:
    """Return the first directory between the project and a file of its state that is a link. The project itself, and
    a state elsewhere, may be reached by links."""
    root, own, below = path.rpartition(_IN_PROJECT)
    if not own:
        return None
    place = root or os.sep
    for name in os.path.dirname(STATE_DIR + os.sep + below).split(os.sep):
        place = os.path.join(place, name)
        if os.path.islink(place):
            return place
    return None


def first_link(top: str, below: str) -> str | None:
    """Return the first link on the way from a directory to what lies below it."""
    place = top
    for name in below.split(os.sep):
        place = os.path.join(place, name)
        if os.path.islink(place):
            return place
    return None


def _behind(link: str) -> Unwritable:
    return Unwritable(f"{link} is a link, and omo writes nothing behind it", fix=NO_LINK)


def unwritable(path: str, error: OSError) -> Unwritable:
    from errno import EDQUOT, ENOSPC

    fix = f"make {os.path.dirname(path)} writable, or set OMO_STATE_DIR to a directory that is"
    if error.errno in (ENOSPC, EDQUOT):
        fix = "free some space on that disk"
    return Unwritable(f"{path} cannot be written: {error.strerror or error}", fix=fix)


def _sweep(path: str) -> None:
    """Only the lock's holder writes aside, so whatever lies aside now was left by a writer that died."""
    directory, name = os.path.split(path)
    for entry in os.listdir(directory):
        if entry.startswith(name + ".") and entry.endswith(".tmp"):
            _remove(os.path.join(directory, entry))


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
