"""What git tracks, read from its index: for hooks, which start no program. In doubt something is tracked."""

from __future__ import annotations

import os

READ = (b"DIRC\0\0\0\2", b"DIRC\0\0\0\3")  # version 4 writes names as differences
LONGEST = 0xFFF  # of a name, as the flags before it tell


def top_of(directory: str) -> str:
    """The root of the repository that this directory is in, empty outside of any."""
    while not os.path.lexists(os.path.join(directory, ".git")):
        above = os.path.dirname(directory.rstrip("/"))
        if above == directory.rstrip("/") or not above:
            return ""
        directory = above
    return directory.rstrip("/") or "/"


def tracks(root: str, entry: str) -> bool:
    """Whether git tracks this or something below it. Case is ignored, as some disks do."""
    top = top_of(root)
    if not top or top_of(os.path.dirname(entry)) != top:
        return True  # of a submodule, or of another repository
    data = _index_of(top)
    return not data.startswith(READ) or _has(data, os.fsencode(entry[len(top) :].strip("/")).lower())


def _index_of(top: str) -> bytes:
    directory = os.path.join(top, ".git")
    try:
        if os.path.isfile(directory):  # a worktree or a submodule
            with open(directory, "rb") as file:
                named = os.fsdecode(file.read().removeprefix(b"gitdir:").strip())
            directory = os.path.join(top, named)
        if any(name.startswith("sharedindex.") for name in os.listdir(directory)):
            return b""  # a part of it is there
        with open(os.path.join(directory, "index"), "rb") as file:
            return file.read()
    except OSError:
        return b""


def _has(data: bytes, path: bytes) -> bool:
    """Names end with a NUL, and stand behind two bytes with their length, or behind two more in version 3."""
    lowered = data.lower()
    begin = lowered.find(path)
    while begin >= 0:
        end = data.find(b"\0", begin)
        length = min(end - begin, LONGEST)
        flags = [int.from_bytes(data[begin - back : begin - back + 2], "big") & LONGEST for back in (2, 4)]
        rest = data[begin + len(path) : end]
        if length in flags and (not rest or rest.startswith(b"/")):
            return True
        begin = lowered.find(path, begin + 1)
    return False
