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


def tracks(entry: str) -> bool:
    """Whether git tracks this, something below it, or a submodule it is in. Case is ignored, as some disks do."""
    top = top_of(os.path.dirname(entry))
    data = _index_of(top) if top else b""
    if not data.startswith(READ):
        return True
    path = os.fsencode(entry[len(top) :].strip("/")).lower()
    parts = path.split(b"/")
    above = [b"/".join(parts[:length]) for length in range(1, len(parts))]
    return _has(data, path, below=True) or any(_has(data, one, below=False) for one in above)


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


def _has(data: bytes, name: bytes, *, below: bool) -> bool:
    """Names end with a NUL, and stand behind two bytes with their length, or behind two more in version 3."""
    lowered = data.lower()
    at = lowered.find(name)
    while at >= 0:
        end = data.find(b"\0", at)
        length = min(end - at, LONGEST)
        lengths = [int.from_bytes(data[at - back : at - back + 2], "big") & LONGEST for back in (2, 4)]
        if length in lengths and (
            end - at == len(name) or (below and data[at + len(name) : at + len(name) + 1] == b"/")
        ):
            return True
        at = lowered.find(name, at + 1)
    return False
