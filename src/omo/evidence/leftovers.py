"""What lies in a tree and is not as its commit has it: new, edited, staged and ignored files, nested repositories."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

from omo.errors import NotEvaluable
from omo.evidence import changes, globs

# Ignored trees can be huge, so the newest count; what omo itself lets git ignore comes before any of them.
FIRST = ".sisyphus/"


def paths(root: Path, *, most: int, largest: int) -> list[str]:
    """Files of at most `largest` bytes: at most `most` that git would show, and as many that it would not."""
    shown, hidden = _listed(root)
    found = dict.fromkeys(_newest(root, shown, most, largest))
    found.update(dict.fromkeys(_newest(root, hidden, most, largest)))
    return list(found)


def _listed(root: Path) -> tuple[set[str], set[str]]:
    """Both sets as far as git lists them; a tree of too many files is told of by its times alone."""
    try:
        shown = set(changes.edited(root))
    except NotEvaluable:
        return set(_walked(root, "**")), set()
    new = set(_tried(lambda: changes.untracked(root)))
    loose = {path.rstrip("/") for path in _tried(lambda: changes.loose(root))}
    nested = {path for path in loose | new | set(_tried(lambda: changes.submodules(root))) if _is_directory(root, path)}
    inside = {path for directory in nested for path in _walked(root, f"{directory}/**")}
    return (shown | new) - nested, (loose | inside) - nested - new


def _tried(listing: Callable[[], list[str]]) -> list[str]:
    try:
        return listing()
    except NotEvaluable:
        return []


def _walked(root: Path, glob: str) -> list[str]:
    return _tried(lambda: globs.find_files(root, glob).paths)


def _is_directory(root: Path, path: str) -> bool:
    full = os.path.join(root, path)
    return os.path.isdir(full) and not os.path.islink(full)


def _newest(root: Path, names: Iterable[str], most: int, largest: int) -> Iterator[str]:
    ages = []
    for name in names:
        try:
            status = os.stat(os.path.join(root, name))
        except (OSError, ValueError):
            continue
        if stat.S_ISREG(status.st_mode) and 0 < status.st_size <= largest and not globs.is_own(name):
            ages.append((not name.startswith(FIRST), -max(status.st_mtime, status.st_ctime), name))
    return islice((name for _, _, name in sorted(ages)), most)
