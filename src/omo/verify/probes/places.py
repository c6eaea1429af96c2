"""Where a path of a claim leads: inside the project, and to one file."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from omo.evidence import run as runner
from omo.verify.probes import Finding, Limits, not_probeable

# Ours, git's, and what package managers put there: nothing of it is the project's own.
SKIPPED = frozenset((".git", "node_modules", "__pycache__", ".venv", ".tox", ".mypy_cache", ".ruff_cache"))
STATE = ".sisyphus/cc-omo"
_GIT = ("git", "--literal-pathspecs", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
_GIT_ENVIRONMENT = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}


@dataclass(frozen=True)
class Listing:
    """Tracked and untracked files below the project, as `/`-paths; `complete` unless a limit cut it off."""

    paths: tuple[str, ...]
    complete: bool


def listing(root: Path, limits: Limits) -> Listing:
    argv = [*_GIT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    limit = 300 * limits.files
    outcome = runner.run(argv, cwd=root, timeout=limits.seconds, output_limit=limit, extra_env=_GIT_ENVIRONMENT)
    names = outcome.stdout.split("\0")[:-1] if outcome.ok and not outcome.stdout_truncated else []
    # An outer repository that ignores all of this has nothing to say about it, nor has git about names it cannot spell.
    usable = names and not any("\ufffd" in name for name in names)
    found = _below(root, list(dict.fromkeys(names))) if usable else walk(root, "")
    paths = tuple(islice(found, limits.files + 1))
    return Listing(paths[: limits.files], len(paths) <= limits.files)


def git_status(root: Path, path: str, limits: Limits) -> str | None:
    """What git says of a path: empty for one that is committed as it is, None where git does not say."""
    argv = [*_GIT, "status", "--porcelain", "--ignored", "--untracked-files=all", "--", path]
    outcome = runner.run(argv, cwd=root, timeout=limits.seconds, extra_env=_GIT_ENVIRONMENT)
    return outcome.stdout.strip()[:200] if outcome.ok else None


def _below(root: Path, names: list[str]) -> Iterator[str]:
    for name in names:
        try:
            mode = os.lstat(os.path.join(root, name)).st_mode
        except OSError:  # tracked, and deleted
            continue
        if stat.S_ISDIR(mode):  # a repository inside this one is listed as one name
            yield from walk(root, name.rstrip("/"))
        elif not _is_ours(name):
            yield name


def walk(root: Path, below: str) -> Iterator[str]:
    """Every file at or below a path of the project, but for what tools keep there."""
    start = os.path.join(root, below)
    if os.path.isfile(start):
        yield below
    for directory, directories, files in os.walk(start):
        directories[:] = sorted(name for name in directories if name not in SKIPPED)
        relative = os.path.relpath(directory, root).replace(os.sep, "/")
        for name in sorted(files):
            path = name if relative == "." else f"{relative}/{name}"
            if not _is_ours(path):
                yield path


def _is_ours(path: str) -> bool:
    return path.startswith(STATE + "/")


@dataclass(frozen=True)
class Place:
    """A path of a claim: `full` is None where nothing is there. `problem` says why it was not looked at."""

    shown: str
    full: str | None = None
    problem: Finding | None = None


def locate(root: Path, named: str, hint: str | None, limits: Limits) -> Place:
    """The file a claim names. A hint can say which of several is meant, never put another in its place."""
    if hint and ("/" + _slashed(hint)).endswith("/" + _slashed(named)):
        named = hint
    place = inside(root, named)
    if place.problem or place.full:
        return place
    wanted = "/" + _slashed(named)
    same = [path for path in listing(root, limits).paths if ("/" + path).endswith(wanted)]
    if len(same) == 1:
        return inside(root, same[0])
    if same:
        shown = ", ".join(same[: limits.places])
        reason = f"{len(same)} files are called {named}: write the path of the one that is meant"
        return Place(named, problem=not_probeable(reason, f"look for {named}", shown))
    return place


def inside(root: Path, named: str) -> Place:
    top = os.path.realpath(root)
    written = os.path.normpath(os.path.join(top, os.path.expanduser(named)))
    if not _is_below(written, top):  # named through a link to the project, perhaps
        written = os.path.join(os.path.realpath(os.path.dirname(written)), os.path.basename(written))
    if not _is_below(written, top):
        reason = f"{named} is not inside the project: only the project's own files are read"
        return Place(named, problem=not_probeable(reason))
    full = os.path.realpath(written)
    shown = os.path.relpath(written, top).replace(os.sep, "/")
    if not _is_below(full, top):
        reason = f"{shown} leads out of the project: what it points to is not the project's, and was not read"
        return Place(shown, problem=Finding("insufficient", f"look at {shown}", "a link out of the project", reason))
    return Place(shown, full if os.path.lexists(full) else None)


def _is_below(path: str, top: str) -> bool:
    return path == top or path.startswith(os.path.join(top, ""))


def _slashed(path: str) -> str:
    return path.replace(os.sep, "/").removeprefix("./").rstrip("/")


def read(full: str, limit: int) -> tuple[bytes, bool]:
    """The bytes of a regular file up to a limit, and whether that is all of it. Never waits on a pipe."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(full, flags)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("not a regular file")
        data = file.read(limit + 1)
    return data[:limit], len(data) <= limit
