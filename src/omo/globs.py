"""Paths against globs: `*` and `?` within a name, `**` for any number of directories. Hooks use it: no `re` in here."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

SIGNS = "*?["


def is_pattern(glob: str) -> bool:
    return any(sign in glob for sign in SIGNS)


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


def expand(path: str, most: int) -> list[str]:
    """The entries an absolute glob names on the disk, as a shell finds them."""
    paths = ["/"]
    for wanted in path.strip("/").split("/"):
        longer = []
        for directory in paths:
            names = [wanted]
            if is_pattern(wanted):
                names = [name for name in _list(directory) if name_matches(name, wanted)]
            longer += [os.path.join(directory, name) for name in names]
        paths = longer
    return [path for path in paths[:most] if os.path.lexists(path)]


def name_matches(name: str, glob: str) -> bool:
    """One name, without `/`. Only the last `*` is gone back to, so no glob makes this slow."""
    if not is_pattern(glob):
        return name == glob
    if glob[0] == "*" and not is_pattern(glob[1:]):
        return name.endswith(glob[1:])  # what nearly all globs are, and an audit asks it of every file
    tokens = _tokens(glob)
    position = token = 0
    star = resume = -1
    while position < len(name):
        if token < len(tokens) and tokens[token] == "*":
            star, resume = token, position
            token += 1
        elif token < len(tokens) and _is_letter_of(name[position], tokens[token]):
            token += 1
            position += 1
        elif star >= 0:
            resume += 1
            token, position = star + 1, resume
        else:
            return False
    return all(left == "*" for left in tokens[token:])


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


def _tokens(glob: str) -> list[str]:
    """Each a letter, `*`, `?`, or a whole bracket; an opening one that nothing closes is a letter."""
    tokens, start = [], 0
    while start < len(glob):
        end = start + 1
        if glob[start] == "[":
            first = start + 2 if glob[start + 1 : start + 2] == "!" else start + 1
            end = glob.find("]", first + 1) + 1 or end
        tokens.append(glob[start:end])
        start = end
    return tokens


def _is_letter_of(letter: str, token: str) -> bool:
    if len(token) == 1:
        return token in ("?", letter)
    is_negated = token[1] == "!"
    inside = token[2:-1] if is_negated else token[1:-1]
    while inside:
        if inside[1:2] == "-" and len(inside) > 2:
            if inside[0] <= letter <= inside[2]:
                return not is_negated
            inside = inside[3:]
        else:
            if letter == inside[0]:
                return not is_negated
            inside = inside[1:]
    return is_negated
