"""The globs of a project, searched in its tree: nothing leads out of it, omo's own state is not in it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from omo.errors import BadInput, NotEvaluable
from omo.globs import covers, is_inside, is_pattern, matches
from omo.state import STATE_DIR

__all__ = ["GlobMatches", "covers", "directory_inside", "find", "find_files", "is_inside", "is_own", "normal"]

LONGEST = 500
MOST_ENTRIES = 200_000
OWN = STATE_DIR


@dataclass
class GlobMatches:
    """What a glob names. `strays` are links that are broken or lead out of the project; they prove nothing."""

    paths: list[str] = field(default_factory=list)
    strays: list[str] = field(default_factory=list)


def normal(text: str) -> str:
    """The glob without what says nothing (`./`, `//`, a last `/`). Raises ValueError for one that cannot be used."""
    if not text.strip() or len(text) > LONGEST:
        raise ValueError(f"must be a path of 1 to {LONGEST} characters inside the project")
    if "\0" in text or "\\" in text:
        raise ValueError("write a path with /, without backslash or NUL")
    if text.startswith(("/", "~")) or re.match(r"[A-Za-z]:", text):
        raise ValueError("leaves the project: write it relative to the project's top")
    parts = [part for part in text.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise ValueError("leaves the project: .. is not allowed")
    joined = "/".join(parts)
    if is_own(joined) or parts[:1] == [".git"]:
        raise ValueError("is state of omo or git: nothing in there is proof of work")
    return joined


def is_own(path: str) -> bool:
    return path == OWN or path.startswith((OWN + "/", OWN + ".aside/"))


def find(root: Path, glob: str) -> GlobMatches:
    """Files and directories of the tree as it is now. Links to directories are not searched."""
    top = os.path.realpath(root)
    found = GlobMatches()
    candidates = _search(top, glob) if is_pattern(glob) else iter([glob])
    for path in candidates:
        full = os.path.join(top, path)
        if not is_inside(top, os.path.realpath(full)) or (os.path.islink(full) and not os.path.exists(full)):
            found.strays.append(path)
        elif os.path.lexists(full):
            found.paths.append(path)
    found.paths.sort()
    found.strays.sort()
    return found


def find_files(root: Path, glob: str) -> GlobMatches:
    found = find(root, glob)
    found.paths = [path for path in found.paths if os.path.isfile(os.path.join(root, path))]
    return found


def directory_inside(root: Path, name: str) -> Path:
    """A directory of the project to run something in."""
    top = os.path.realpath(root)
    real = os.path.realpath(os.path.join(top, name))
    if not is_inside(top, real):
        raise BadInput(f"{name} leads out of the project", fix="name a directory of the project itself")
    return Path(real)


def _search(top: str, glob: str) -> Iterator[str]:
    parts = glob.split("/")
    fixed = 0
    while not is_pattern(parts[fixed]):
        fixed += 1
    start = "/".join(parts[:fixed])
    if not is_inside(top, os.path.realpath(os.path.join(top, start))):
        yield start
        return
    depth = None if "**" in parts else len(parts)
    for seen, path in enumerate(_walk(top, start, depth)):
        if seen >= MOST_ENTRIES:
            raise NotEvaluable(f"{glob} searches more than {MOST_ENTRIES} entries", fix="name a narrower directory")
        if matches(path, glob):
            yield path


def _walk(top: str, start: str, depth: int | None) -> Iterator[str]:
    pending = [start]
    while pending:
        below = pending.pop()
        try:
            with os.scandir(os.path.join(top, below)) as scanned:
                entries = list(scanned)
        except (FileNotFoundError, NotADirectoryError):
            continue
        for entry in entries:
            path = f"{below}/{entry.name}" if below else entry.name
            if entry.name == ".git" or is_own(path):
                continue
            yield path
            if entry.is_dir(follow_symlinks=False) and (depth is None or path.count("/") + 1 < depth):
                pending.append(path)
