"""Evidence files: recorded with digest, size and the goal they belong to. Old, empty and borrowed ones are refused."""

from __future__ import annotations

import codecs
import hashlib
import math
import os
import stat
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from omo.clock import seconds, stamp
from omo.errors import BadInput, Refused
from omo.evidence import changes, globs, leftovers, visible
from omo.shown import clip
from omo.state import paths
from omo.state.journal import Journal

Row = dict[str, Any]

LARGEST = 512_000_000
LARGEST_REMEMBERED = 8_000_000
MOST_REMEMBERED = 2_000
MOST_BYTES_REMEMBERED = 256_000_000
PER_ROW = 500
LONGEST_ROW = 128_000
# Kernels stamp files with a clock that may be a tick behind the one we read.
GRACE = 0.05
REPAIR = (
    "let the user look at what was changed, then run in their own terminal: "
    "omo evidence add PATH --goal ID --repair (the old ledger is kept)"
)


# What the user says of a ledger that is not damaged and yet not the one there was.
ANEW = {"kind": "repaired", "kept": None, "digest": None}


@dataclass(frozen=True)
class Artifact:
    path: str
    digest: str
    size: int
    goal: str
    at: str
    by: str = ""


class _Reading(NamedTuple):
    digest: str
    size: int
    is_blank: bool
    since: float


def register(
    state: str,
    root: str | Path,
    path: str | Path,
    *,
    goal: str,
    started_at: float | None,
    by: str,
    now: float,
    wait: float,
    repair: bool = False,
    spent: Collection[str] = (),
) -> Artifact:
    """Record a file as evidence for a goal that began at `started_at`; Refused where it cannot be that.

    `spent` are digests that prove other goals, whatever the ledger says. `repair` keeps a damaged ledger aside, and
    takes one that was begun anew for the right one: only the user can say so.
    """
    _require_goal(goal)
    if repair and by != "user":
        raise Refused("only the user can repair the ledger of evidence", fix=REPAIR)
    journal = _journal(state)
    if not repair:
        journal.require_whole("evidence", REPAIR)
    found = _look(root, path, goal, started_at)

    def decide(rows: list[Row]) -> tuple[Artifact | Refused, list[Row]]:
        sealed = journal.seal(now) if repair else []
        events = sealed or [dict(ANEW)] * repair
        answer = _judge([] if sealed else rows, found, spent)
        if isinstance(answer, Refused):
            is_worth_noting = answer.details["why"] == "old" and not found.committed_before
            return answer, [*events, _seen({found.name: found.reading})] if is_worth_noting else events
        if answer is not None:
            return answer, events
        name, reading = found.name, found.reading
        row = {"kind": "artifact", "path": name, "digest": reading.digest, "size": reading.size, "goal": goal}
        return Artifact(name, reading.digest, reading.size, goal, stamp(now), by), [*events, row]

    answer = journal.change(decide, actor=by, now=now, wait=wait)
    if isinstance(answer, Refused):
        raise answer
    recorded: Artifact = answer
    return recorded


def check(
    state: str,
    root: str | Path,
    path: str | Path,
    *,
    goal: str,
    started_at: float | None,
    spent: Collection[str] = (),
) -> None:
    """Refused exactly where `register` would refuse; nothing is written."""
    _require_goal(goal)
    journal = _journal(state)
    journal.require_whole("evidence", REPAIR)
    answer = _judge(journal.read()[0], _look(root, path, goal, started_at), spent)
    if isinstance(answer, Refused):
        raise answer


def remember(state: str, root: str | Path, *, by: str, now: float, wait: float) -> int:
    """Note the content of what lies in the tree and is not as HEAD has it, when a goal begins: a later touch does not
    make it new. Of what is over the bounds only the file's times tell.
    """
    journal = _journal(state)
    journal.require_whole("evidence", REPAIR)
    readings: dict[str, _Reading] = {}
    left = MOST_BYTES_REMEMBERED
    for path in leftovers.paths(Path(root), most=MOST_REMEMBERED, largest=LARGEST_REMEMBERED):
        try:
            name, reading = _inspect(root, path)
        except Refused:
            continue
        readings[name] = reading
        left -= reading.size
        if left <= 0:
            break

    def decide(rows: list[Row]) -> tuple[None, list[Row]]:
        known = _since(rows)
        new = {name: one for name, one in readings.items() if known.get(one.digest, math.inf) > min(one.since, now)}
        return None, [_seen(part, now) for part in _parts(new)]

    journal.change(decide, actor=by, now=now, wait=wait)
    return len(readings)


def _since(rows: Sequence[Row]) -> dict[str, float]:
    """Each content that was seen, and the earliest time it is known to be from."""
    found: dict[str, float] = {}
    for row in rows:
        for digest, since in row["contents"].values() if row.get("kind") == "seen" else ():
            found[digest] = min(since, found.get(digest, math.inf))
    return found


def _parts(readings: dict[str, _Reading]) -> Iterator[dict[str, _Reading]]:
    """As many to a row as fit."""
    part: dict[str, _Reading] = {}
    size = 0
    for name, reading in readings.items():
        size += 4 * len(name) + 100
        if part and (len(part) >= PER_ROW or size > LONGEST_ROW):
            yield part
            part, size = {}, 4 * len(name) + 100
        part[name] = reading
    if part:
        yield part


def knows(state: str, named: Sequence[tuple[str, str]]) -> bool:
    """Whether each digest was recorded by the time that is named with it, or the user let the ledger begin anew."""
    if not named:
        return True
    rows = _journal(state).read()[0]
    if any(row.get("kind") == "repaired" and row.get("actor") == "user" for row in rows):
        return True
    first: dict[str, str] = {}
    for one in _artifacts(rows):
        first.setdefault(one.digest, one.at)
    return all(digest in first and first[digest] <= at for digest, at in named)


def is_unchanged(root: str | Path, path: str, digest: str) -> bool:
    try:
        return _inspect(root, path)[1].digest == digest
    except Refused:
        return False


def list_artifacts(state: str, goal: str | None = None) -> list[Artifact]:
    journal = _journal(state)
    journal.require_whole("evidence", REPAIR)
    return [one for one in _artifacts(journal.read()[0]) if goal in (None, one.goal)]


def ledger_problems(state: str) -> list[str]:
    return _journal(state).problems()


@lru_cache(maxsize=4)  # a journal keeps what it read while nobody else writes, so a command reads the file once
def _journal(state: str) -> Journal:
    return Journal(paths.evidence_dir(state), state)


def _require_goal(goal: str) -> None:
    if not goal.strip() or len(goal) > 200:
        raise BadInput("evidence needs the goal it belongs to", fix="--goal ID")


class _Found(NamedTuple):
    """A file, and what it is to prove."""

    name: str
    reading: _Reading
    goal: str
    started_at: float | None
    committed_before: bool


def _look(root: str | Path, path: str | Path, goal: str, started_at: float | None) -> _Found:
    name, reading = _inspect(root, path)
    committed_before = started_at is not None and _was_committed(str(root), name, reading.digest, started_at)
    return _Found(name, reading, goal, started_at, committed_before)


@lru_cache(maxsize=256)  # a gate looks before it records: the same content has the same past
def _was_committed(root: str, name: str, digest: str, moment: float) -> bool:
    return changes.was_committed_before(Path(root), name, moment)


def _judge(rows: Sequence[Row], found: _Found, spent: Collection[str]) -> Artifact | Refused | None:
    """The record of it that already stands, why it cannot be evidence, or None: it can be recorded."""
    name, reading, goal, started_at, committed_before = found
    if started_at is not None and committed_before:
        return _old(name, started_at)
    if reading.digest in spent:
        others = (one for one in _artifacts(rows) if one.digest == reading.digest and one.goal != goal)
        return _reused(name, next(others, None))
    for one in _artifacts(rows):
        is_fresh = started_at is None or seconds(one.at) >= started_at - GRACE
        if (one.digest, one.goal, one.path) == (reading.digest, goal, name) and is_fresh:
            return one
        if one.digest == reading.digest and one.goal != goal:
            return _reused(name, one)
    if started_at is not None and _is_old(reading, rows, started_at):
        return _old(name, started_at)
    return None


def _artifacts(rows: Sequence[Row]) -> Iterator[Artifact]:
    for row in rows:
        if row.get("kind") == "artifact":
            yield Artifact(row["path"], row["digest"], row["size"], row["goal"], row["ts"], row["actor"])


def _inspect(root: str | Path, path: str | Path) -> tuple[str, _Reading]:
    """The file's path in the project and what it holds. The path may be absolute, as long as it stays inside."""
    shown = clip(str(path), 200)
    if "\0" in str(path):
        raise _unusable(shown, "is no path")
    top = os.path.realpath(root)
    named = os.path.normpath(os.path.join(top, path))
    real = os.path.realpath(os.path.join(top, path))
    if not globs.is_inside(top, real):
        raise _unusable(shown, "is outside the project, itself or by a link", "copy the file into the project")
    name = os.path.relpath(real, top).replace(os.sep, "/")
    if globs.is_own(name) or name.split("/")[0] == ".git":
        raise _unusable(shown, "is state of omo or git, which proves nothing", "name a file the work produced")
    if not os.path.lexists(named):
        raise _unusable(shown, "is not there", "produce it first, then register it")
    reading = _read(real, shown)
    if not reading.size or reading.is_blank:
        raise _unusable(shown, "is empty", "let it hold what was observed")
    return name, reading


def _unusable(shown: str, why: str, fix: str = "name a file that the work produced") -> Refused:
    return Refused(f"{shown} cannot be evidence: it {why}", fix=fix)


# O_NOFOLLOW and O_NONBLOCK: a file swapped for a link or a pipe just now is neither followed nor waited for.
_OPEN = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def _read(real: str, shown: str) -> _Reading:
    if not os.path.isfile(real):
        raise _unusable(shown, "is not a regular file" if os.path.lexists(real) else "is a broken link")
    try:
        with os.fdopen(os.open(real, _OPEN), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
                raise _unusable(shown, f"is no regular file of at most {LARGEST} bytes")
            digest = hashlib.sha256()
            letters = codecs.getincrementaldecoder("utf-8")("replace")
            is_blank, size = True, 0
            while chunk := file.read(1 << 20):
                digest.update(chunk)
                size += len(chunk)
                is_blank = is_blank and visible.is_blank(letters.decode(chunk))
    except OSError as error:
        raise _unusable(shown, f"cannot be read: {error.strerror}", "make it readable") from None
    return _Reading(digest.hexdigest(), size, is_blank, min(status.st_mtime, status.st_ctime))


def _is_old(reading: _Reading, rows: Sequence[Row], started_at: float) -> bool:
    """By its own times, or because the same content was seen before: a touch changes only the times."""
    if reading.since < started_at - GRACE:
        return True
    if _since(rows).get(reading.digest, math.inf) < started_at - GRACE:
        return True
    return any(one.digest == reading.digest and seconds(one.at) < started_at - GRACE for one in _artifacts(rows))


def _seen(readings: dict[str, _Reading], now: float | None = None) -> Row:
    return {
        "kind": "seen",
        "contents": {
            name: [one.digest, one.since if now is None else min(one.since, now)] for name, one in readings.items()
        },
    }


def _old(name: str, started_at: float) -> Refused:
    return Refused(
        f"{name} cannot be evidence: its content is older than the work it is to prove, begun {stamp(started_at)}",
        fix="run what produces it again, now, and register the new file; touching the old one does not help",
        why="old",
    )


def _reused(name: str, other: Artifact | None) -> Refused:
    proves = f"goal {clip(other.goal, 60)} ({other.path})" if other else "another goal of this run"
    return Refused(
        f"{name} cannot be evidence: the same content already proves {proves}",
        fix="produce evidence that is about this goal",
        why="reused",
    )
