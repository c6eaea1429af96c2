"""Opening a file that somebody else may have put there: no pipe is waited for, no device read, no link followed.

Hooks open files this way too, so nothing but `os` is imported.
"""

from __future__ import annotations

import os
import stat


class NotAFile(OSError):
    """There is something, and it is no regular file."""


class TooLarge(OSError):
    """More bytes than whoever reads it can use."""


def open_file(path: str | bytes | os.PathLike[str], *, follow_link: bool = False) -> int:
    """A descriptor of a regular file, open for reading."""
    return regular_file(path, os.O_RDONLY if follow_link else os.O_RDONLY | os.O_NOFOLLOW)


def regular_file(path: str | bytes | os.PathLike[str], flags: int) -> int:
    """The opener behind all of it, also for `open(…, opener=regular_file)`, which follows links."""
    descriptor = os.open(path, flags | os.O_NONBLOCK, 0o600)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise NotAFile(0, "it is no file", path)


def own_file(path: str | bytes | os.PathLike[str], flags: int) -> int:
    """The same opener for a file of ours, which is never a link: what it leads to is somebody else's."""
    return regular_file(path, flags | os.O_NOFOLLOW)


def read_start(path: str | os.PathLike[str], most: int, *, follow_link: bool = False) -> tuple[bytes, bool]:
    """The first `most` bytes of a regular file, and whether they are all."""
    descriptor = regular_file(path, os.O_RDONLY if follow_link else os.O_RDONLY | os.O_NOFOLLOW)
    pieces: list[bytes] = []
    left = most + 1
    try:
        while left > 0:
            piece = os.read(descriptor, min(left, 1 << 20))
            if not piece:
                break
            pieces.append(piece)
            left -= len(piece)
    finally:
        os.close(descriptor)
    content = b"".join(pieces)
    return content[:most], len(content) <= most


def read_file(path: str | os.PathLike[str], most: int, *, follow_link: bool = False) -> bytes:
    """All of a regular file of at most `most` bytes."""
    content, is_whole = read_start(path, most, follow_link=follow_link)
    if not is_whole:
        raise TooLarge(0, f"it is larger than {most} bytes", path)
    return content
