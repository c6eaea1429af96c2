"""Evidence files: recorded with digest, size and the goal they belong to. Old, empty and borrowed ones are refused."""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from omo import safe_open
from omo.clock import seconds, stamp
from omo.errors import BadInput, NotEvaluable, Refused
from omo.proof import base, changes, globs
from omo.proof.pins import Recorder
from omo.state import paths
from omo.state.journal import Journal
from omo.state.ledger_rows import LedgerRow
from omo.text import clip

if TYPE_CHECKING:
    from omo.state.rows import Base


class ArtifactRow(LedgerRow, total=False):
    path: str
    digest: str
    size: int
    goal: str
    files: Base
    contents: dict[str, tuple[str, float]]  # by path, the digest of what was seen and since when it is known


LARGEST = 512_000_000
LARGEST_REMEMBERED = 8_000_000
MOST_REMEMBERED = 2_000
MOST_BYTES_REMEMBERED = 256_000_000
PER_ROW = 25  # the longest path has 4,096 bytes
# Kernels stamp files with a clock that may be a tick behind the one we read.
GRACE = 0.05


@dataclass(frozen=True)
class Artifact:
    path: str
    digest: str
    size: int
    goal: str
    at: str
    by: str = ""
    files: Base | None = None  # of a record that omo wrote itself: how the files were when it ran the command


class _File(NamedTuple):
    """A file as it is. `since` is the earlier of its own times."""

    name: str
    digest: str
    size: int
    since: float


def register(
    caller: Recorder, path: str | Path, *, goal: str, started_at: float | None, files: Base | None = None
) -> Artifact:
    """Record a file as evidence for a goal that began at `started_at`; Refused where it cannot be that.

    `files` come with what omo recorded.
    """
    journal = journal_of(caller.state)
    claim = _claim(caller.root, path, goal, started_at)
    file = claim.file

    def decide(rows: list[ArtifactRow]) -> tuple[Artifact | Refused, list[LedgerRow]]:
        answer = _judge(rows, claim)
        if answer is not None:
            return answer, []
        row: ArtifactRow = {"kind": "artifact", "path": file.name, "digest": file.digest, "size": file.size}
        row["goal"] = goal
        if files is not None:
            row["files"] = files
        return Artifact(file.name, file.digest, file.size, goal, stamp(caller.now), caller.by, files), [row]

    answer = journal.change(decide, actor=caller.by, now=caller.now, wait=caller.wait)
    if isinstance(answer, Refused):
        raise answer
    return answer


def check(state: str, root: str | Path, path: str | Path, *, goal: str, started_at: float | None) -> None:
    """Refused exactly where `register` would refuse; nothing is written."""
    answer = _judge(journal_of(state).rows(), _claim(root, path, goal, started_at))
    if isinstance(answer, Refused):
        raise answer


def remember(caller: Recorder) -> int:
    """Note the content of what lies in the tree and is not as HEAD has it, when a goal begins: a later touch does not
    make it new. Of what is over the bounds only the file's times tell.
    """
    root, now = caller.root, caller.now
    journal = journal_of(caller.state)
    present: dict[str, _File] = {}
    left = MOST_BYTES_REMEMBERED
    for path in _not_as_committed(Path(root)):
        try:
            file = _inspect(root, path)
        except Refused:
            continue
        present[file.name] = file
        left -= file.size
        if left <= 0:
            break

    def decide(rows: list[ArtifactRow]) -> tuple[None, list[ArtifactRow]]:
        known = _known_from(rows)
        new = {}
        for file in present.values():
            since = min(file.since, now)
            if known.get(file.digest, math.inf) > since:
                new[file.name] = (file.digest, since)
        items = list(new.items())
        starts = range(0, len(items), PER_ROW)
        return None, [{"kind": "seen", "contents": dict(items[start : start + PER_ROW])} for start in starts]

    journal.change(decide, actor=caller.by, now=now, wait=caller.wait)
    return len(present)


def _known_from(rows: Sequence[ArtifactRow]) -> dict[str, float]:
    """Each content that was seen or recorded, and the earliest time it is known to be from."""
    earliest: dict[str, float] = {}
    for row in rows:
        known: list[tuple[str, float]] = []
        if row.get("kind") == "seen":
            known = list(row["contents"].values())
        elif row.get("kind") == "artifact":
            known = [(row["digest"], seconds(row["ts"]))]
        for digest, since in known:
            earliest[digest] = min(since, earliest.get(digest, math.inf))
    return earliest


def recording(state: str, root: str | Path, path: str, goal: str) -> Artifact | None:
    """What omo itself recorded at this path for this goal, unchanged since; None where it is somebody else's."""
    try:
        file = _inspect(root, path)
    except Refused:
        return None
    wanted = (file.name, file.digest, goal)
    for artifact in _artifacts(journal_of(state).rows()):
        if artifact.files is not None and (artifact.path, artifact.digest, artifact.goal) == wanted:
            return artifact
    return None


def is_unchanged(root: str | Path, path: str, digest: str) -> bool:
    try:
        return _inspect(root, path).digest == digest
    except Refused:
        return False


def list_artifacts(state: str, goal: str | None = None) -> list[Artifact]:
    rows = journal_of(state).rows()
    return [artifact for artifact in _artifacts(rows) if goal in (None, artifact.goal)]


@lru_cache(maxsize=4)  # a journal keeps what it read while nobody else writes, so a command reads the file once
def journal_of(state: str) -> Journal:
    return Journal(paths.evidence_dir(state), state)


class _Claim(NamedTuple):
    """A file, and what it is to prove."""

    file: _File
    goal: str
    started_at: float | None
    committed_before: bool


def _claim(root: str | Path, path: str | Path, goal: str, started_at: float | None) -> _Claim:
    if not goal.strip() or len(goal) > 200:
        raise BadInput("evidence needs the goal it belongs to", fix="--goal ID")
    file = _inspect(root, path)
    committed_before = started_at is not None and _was_committed(str(root), file.name, file.digest, started_at)
    return _Claim(file, goal, started_at, committed_before)


@lru_cache(maxsize=256)  # a gate looks before it records: the same content has the same past
def _was_committed(root: str, name: str, digest: str, moment: float) -> bool:
    return changes.was_committed_before(Path(root), name, moment)


def _judge(rows: Sequence[ArtifactRow], claim: _Claim) -> Artifact | Refused | None:
    """The record of it that already stands, why it cannot be evidence, or None: it can be recorded."""
    file, started_at = claim.file, claim.started_at or -math.inf
    if claim.committed_before:
        return _old(file.name, started_at)
    for artifact in _artifacts(rows):
        if artifact.digest != file.digest:
            continue
        if artifact.goal != claim.goal:
            proves = f"goal {clip(artifact.goal, 60)} ({artifact.path})"
            return Refused(
                f"{file.name} cannot be evidence: the same content already proves {proves}",
                fix="produce evidence that is about this goal",
                why="reused",
            )
        is_fresh = seconds(artifact.at) >= started_at - GRACE
        if artifact.path == file.name and is_fresh:
            return artifact
    # A touch changes the file's own times and nothing else.
    since = min(file.since, _known_from(rows).get(file.digest, math.inf))
    if since < started_at - GRACE:
        return _old(file.name, started_at)
    return None


def _artifacts(rows: Sequence[ArtifactRow]) -> Iterator[Artifact]:
    for row in rows:
        if row.get("kind") == "artifact":
            path, digest, size, goal = row["path"], row["digest"], row["size"], row["goal"]
            yield Artifact(path, digest, size, goal, row["ts"], row["actor"], row.get("files"))


def _inspect(root: str | Path, path: str | Path) -> _File:
    """The path may be absolute, as long as it stays inside. Refused where it names no file that holds anything."""
    shown = clip(str(path), 200)
    if "\0" in str(path):
        raise _unusable(shown, "is no path")
    top = os.path.realpath(root)
    real = os.path.realpath(os.path.join(top, path))
    if not globs.is_inside(top, real):
        raise _unusable(shown, "is outside the project, itself or by a link", "copy the file into the project")
    name = os.path.relpath(real, top)
    if globs.is_own(name) or name.split("/")[0] == ".git":
        raise _unusable(shown, "is state of omo or git, which proves nothing", "name a file the work produced")
    if not os.path.lexists(os.path.normpath(os.path.join(top, path))):
        raise _unusable(shown, "is not there", "produce it first, then register it")
    if not os.path.isfile(real):
        raise _unusable(shown, "is not a regular file" if os.path.lexists(real) else "is a broken link")
    digest, is_blank, size = hashlib.sha256(), True, 0
    try:
        with os.fdopen(safe_open.open_file(real), "rb") as file:
            status = os.fstat(file.fileno())
            if status.st_size > LARGEST:
                raise _unusable(shown, f"is larger than {LARGEST} bytes")
            while chunk := file.read(1 << 20):
                digest.update(chunk)
                size += len(chunk)
                is_blank = is_blank and not chunk.strip()
    except OSError as error:
        raise _unusable(shown, f"cannot be read: {error.strerror}", "make it readable") from None
    if is_blank:
        raise _unusable(shown, "is empty", "let it hold what was observed")
    return _File(name, digest.hexdigest(), size, min(status.st_mtime, status.st_ctime))


def _unusable(shown: str, why: str, fix: str = "name a file that the work produced") -> Refused:
    return Refused(f"{shown} cannot be evidence: it {why}", fix=fix)


def _old(name: str, started_at: float) -> Refused:
    return Refused(
        f"{name} cannot be evidence: its content is older than the work it is to prove, begun {stamp(started_at)}",
        fix="run what produces it again, now, and register the new file; touching the old one does not help",
        why="old",
    )


def _not_as_committed(root: Path) -> list[str]:
    """What lies in the tree and is not as its commit has it: new, edited, staged and ignored files. Bounded: so many
    that git would show, and as many that it would not."""
    shown: set[str] = set()
    hidden: set[str] = set()
    with contextlib.suppress(NotEvaluable):  # a tree of too many files is told of by its times alone
        if changes.head(root) is None:
            shown.update(globs.find_files(root, "**").paths)
        else:
            shown.update(base.take(str(root), {})["files"])
            hidden.update(changes.untracked_or_ignored(root))
    return [*_newest(root, shown), *_newest(root, hidden - shown)]


def _newest(root: Path, names: Iterable[str]) -> list[str]:
    """Ignored trees can be huge, so the newest count; what omo itself lets git ignore comes before any of them."""
    ages = []
    for name in names:
        try:
            status = os.stat(os.path.join(root, name))
        except (OSError, ValueError):
            continue
        is_small_file = stat.S_ISREG(status.st_mode) and 0 < status.st_size <= LARGEST_REMEMBERED
        if is_small_file and not globs.is_own(name):
            ages.append((not name.startswith(".sisyphus/"), -max(status.st_mtime, status.st_ctime), name))
    return [name for _, _, name in sorted(ages)[:MOST_REMEMBERED]]
