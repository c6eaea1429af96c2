"""When the result of a heavy check may be taken over from an earlier iteration instead of being run again.

What is remembered stands in the `judged` rows of the run's ledger, so nobody can write a result beside it.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from omo.errors import OmoError
from omo.evidence import globs
from omo.evidence.checks import Check, CommandCheck, MetricCheck, digest_of_check
from omo.state.runtime import part

Row = dict[str, Any]

HEAVY_SECONDS = 30.0
MOST_ITERATIONS = 3
MOST_FILES = 5_000
_OPEN = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def key(root: Path, check: Check, affected_paths: Sequence[str]) -> str:
    """Changes with the check and with any file it declares to depend on, whatever git knows of that file.

    Empty where nothing can be remembered: no command, no paths, no file there, or one that cannot be seen whole.
    """
    if not affected_paths or not isinstance(check, (CommandCheck, MetricCheck)):
        return ""
    try:
        files = _files(root, affected_paths)
        return _digest(root, check, files) if files else ""
    except (OSError, OmoError):
        return ""


def earlier(judged: Row | None, criterion: str, check: str, digest: str) -> Row | None:
    """What the newest judgement keeps of a heavy check of a criterion that passed."""
    found = part(part(judged or {}, "results"), criterion)
    if found.get("result") != "pass":
        return None
    facts = found.get("heavy", ())
    return next((fact for fact in facts if (fact.get("id"), fact.get("digest")) == (check, digest)), None)


def holds(fact: Row | None, now: str, *, iteration: int, heavy: float = HEAVY_SECONDS) -> bool:
    """Whether the fact still stands in for a run: the same key, heavy enough to be worth it, and not too old."""
    if not fact or not now or fact.get("key") != now:
        return False
    age = iteration - int(fact["ran_at"])
    return float(fact["seconds"]) > heavy and 0 < age <= MOST_ITERATIONS


def _files(root: Path, affected_paths: Sequence[str]) -> list[str]:
    """Sorted. Raises OSError where a link hides what is behind it, or where there are too many."""
    found: set[str] = set()
    for glob in affected_paths:
        for wanted in (glob, f"{glob}/**"):  # a directory stands for all that is in it
            hits = globs.find(root, wanted)
            if hits.strays or any(_is_linked_directory(root, path) for path in hits.paths):
                raise OSError(f"{glob} leads out of what can be seen")
            found.update(path for path in hits.paths if os.path.isfile(os.path.join(root, path)))
    if len(found) > MOST_FILES:
        raise OSError(f"more than {MOST_FILES} files")
    return sorted(found)


def _is_linked_directory(root: Path, path: str) -> bool:
    full = os.path.join(root, path)
    return os.path.islink(full) and os.path.isdir(full)


def _digest(root: Path, check: Check, files: Sequence[str]) -> str:
    whole = hashlib.sha256(digest_of_check(check).encode("ascii"))
    for path in files:
        name = os.fsencode(path)
        whole.update(b"%d:%b:%b" % (len(name), name, _content(os.path.join(root, path))))
    return whole.hexdigest()


def _content(path: str) -> bytes:
    """Executable bit and digest of what is in it."""
    descriptor = os.open(path, _OPEN)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(f"{path} is not a file")
        digest = hashlib.sha256(b"x" if status.st_mode & stat.S_IXUSR else b"-")
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.digest()
