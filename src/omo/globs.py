"""Paths against globs: `*` and `?` within a name, `**` for any number of directories. Hooks use it: no `re` in here."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def is_inside(directory: str, path: str) -> bool:
    """Whether the path is that directory, or lies in it; by the names alone."""
    return path == directory or path.startswith(os.path.join(directory, ""))


def is_pattern(glob: str) -> bool:
    return "*" in glob or "?" in glob


def matches(path: str, glob: str) -> bool:
    return _match_prefixes(path.split("/"), glob.split("/"))[-1]


def covers(path: str, glob: str) -> bool:
    """Whether the glob names the path or a directory it is in."""
    return any(_match_prefixes(path.split("/"), glob.split("/"))[1:])


def leads_to(path: str, glob: str) -> bool:
    """Whether something the glob names could lie below this directory."""
    for part, wanted in zip(path.split("/"), glob.split("/"), strict=False):
        if wanted == "**":
            return True
        if not name_matches(part, wanted):
            return False
    return path.count("/") < glob.count("/")


def is_shell_pattern(glob: str) -> bool:
    return is_pattern(glob) or "[" in glob


def shell_name_matches(name: str, glob: str) -> bool:
    """`[…]` is one letter of several to a shell. To a plan or a check it is what it says, as in app/[slug]/page.tsx."""
    if "[" not in glob:
        return name_matches(name, glob)
    from fnmatch import fnmatchcase

    return fnmatchcase(name, glob)


def expand(path: str, most: int) -> list[str]:
    """The entries a shell's glob names on the disk; the path is absolute."""
    paths = ["/"]
    for wanted in path.strip("/").split("/"):
        longer = []
        for directory in paths:
            names = [wanted]
            if is_shell_pattern(wanted):
                names = [name for name in _list(directory) if shell_name_matches(name, wanted)]
            longer += [os.path.join(directory, name) for name in names]
        paths = longer
    return [path for path in paths[:most] if os.path.lexists(path)]


def name_matches(name: str, glob: str) -> bool:
    """One name, without `/`. Only the last `*` is gone back to, so no glob makes this slow."""
    if not is_pattern(glob):
        return name == glob
    if glob[0] == "*" and not is_pattern(glob[1:]):
        return name.endswith(glob[1:])  # what nearly all globs are, and an audit asks it of every file
    position = sign = 0
    star = resume = -1
    while position < len(name):
        if glob[sign : sign + 1] == "*":
            star, resume = sign, position
            sign += 1
        elif glob[sign : sign + 1] in ("?", name[position]):
            sign += 1
            position += 1
        elif star >= 0:
            resume += 1
            sign, position = star + 1, resume
        else:
            return False
    return not glob[sign:].strip("*")


def _match_prefixes(parts: Sequence[str], wanted: Sequence[str]) -> list[bool]:
    """For each number of leading parts whether the glob names them. Many `**` cost no more than one."""
    row = [True] + [False] * len(parts)
    for want in wanted:
        if want == "**":
            for index in range(1, len(row)):
                row[index] = row[index] or row[index - 1]
        else:
            row = [False] + [row[index] and name_matches(part, want) for index, part in enumerate(parts)]
    return row


def _list(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except OSError:
        return []
