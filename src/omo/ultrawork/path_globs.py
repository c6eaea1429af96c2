"""Paths against globs as `omo.evidence.globs` reads them, for hooks: without `re` and what it brings along."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def covers(path: str, glob: str) -> bool:
    """Whether the glob names the path or a directory it is in."""
    parts, wanted = path.split("/"), glob.split("/")
    return any(_matches(parts[:length], wanted) for length in range(1, len(parts) + 1))


def leads_to(path: str, glob: str) -> bool:
    """Whether something the glob names could lie below this directory."""
    for part, want in zip(path.split("/"), glob.split("/"), strict=False):
        if want == "**":
            return True
        if not name_matches(part, want):
            return False
    return path.count("/") < glob.count("/")


def expand(path: str, most: int) -> list[str]:
    """The entries an absolute glob names on the disk, as a shell finds them."""
    found = ["/"]
    for want in path.strip("/").split("/"):
        if any(sign in want for sign in "*?["):
            found = [os.path.join(one, name) for one in found for name in _names(one) if name_matches(name, want)]
        else:
            found = [os.path.join(one, want) for one in found]
    return [one for one in found[:most] if os.path.lexists(one)]


def _names(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except OSError:
        return []


def _matches(parts: Sequence[str], wanted: Sequence[str]) -> bool:
    """Row by row over the glob, so that many `**` cost no more than one."""
    row = [True] + [False] * len(parts)
    for want in wanted:
        if want == "**":
            first = row.index(True) if True in row else len(row)
            row = [at >= first for at in range(len(row))]
        else:
            row = [False] + [row[at] and name_matches(part, want) for at, part in enumerate(parts)]
    return row[-1]


def name_matches(name: str, glob: str) -> bool:
    """One name: `*`, `?`, `[a-z]` and `[!a-z]`; the last `*` alone is gone back to, so the time is bounded."""
    tokens = _tokens(glob)
    at = mark = 0
    star = -1
    position = 0
    while position < len(name):
        token = tokens[at] if at < len(tokens) else ""
        if token == "*":
            star, mark = at, position
            at += 1
        elif token and _is_one_of(name[position], token):
            at, position = at + 1, position + 1
        elif star >= 0:
            mark += 1
            at, position = star + 1, mark
        else:
            return False
    return all(token == "*" for token in tokens[at:])


def _tokens(glob: str) -> list[str]:
    """Each a letter, `*`, `?`, or a whole bracket; an opening one that nothing closes is a letter."""
    found, at = [], 0
    while at < len(glob):
        end = at + 1
        if glob[at] == "[":
            first = at + 2 if glob[at + 1 : at + 2] == "!" else at + 1
            end = glob.find("]", first + 1) + 1 or at + 1
        found.append(glob[at:end])
        at = end
    return found


def _is_one_of(letter: str, token: str) -> bool:
    if len(token) == 1:
        return token in ("?", letter)
    negated = token[1] == "!"
    inside = token[2 if negated else 1 : -1]
    return _is_in_set(letter, inside) != negated


def _is_in_set(letter: str, inside: str) -> bool:
    at = 0
    while at < len(inside):
        if inside[at + 1 : at + 2] == "-" and at + 2 < len(inside):
            if inside[at] <= letter <= inside[at + 2]:
                return True
            at += 3
        else:
            if letter == inside[at]:
                return True
            at += 1
    return False
