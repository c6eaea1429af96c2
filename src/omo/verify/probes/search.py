"""exhaustive-search: the project is searched now, by file name and by content."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from omo.verify.probes import Finding, Limits, not_probeable, places
from omo.verify.triggers import AbsenceClaim

CHUNK = 1 << 20
NEWLINE = b"\n"
SHORTEST_NAME = 2
_RESTATE = "name the file or identifier in quotes: `retry_policy` does not exist"
_DEFINES = re.compile(rb"\b(?:def|class|function|func|fn|sub|const|let|var|type|struct|enum|interface)\s+\Z")
_WORD_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789_")


@dataclass
class Search:
    """Where a name was seen: as a word of its own, or only inside longer ones."""

    name: str
    wholes: list[str] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    files: int = 0
    read: int = 0
    stopped: str = ""
    unread: int = 0
    of_uses: bool = False

    @property
    def saw(self) -> str:
        shown = f"{self.files} files searched, {self.read} bytes"
        for label, found in (("found", self.wholes), ("inside longer words", self.parts)):
            shown += f"; {label}: {', '.join(found)}" if found else ""
        return shown + (f"; {self.stopped}" if self.stopped else "")


def probe(claim: AbsenceClaim, root: Path, limits: Limits) -> Finding:
    if claim.name is None or len(claim.name) < SHORTEST_NAME:
        return not_probeable(f"the claim does not name what is not there: {_RESTATE}")
    if claim.scope is None:
        return not_probeable("the claim is about a place outside the project's files, which cannot be searched")
    if claim.is_path:
        return _path_is_absent(claim, root, limits)
    scope = _scope(root, claim.scope, limits)
    if isinstance(scope, Finding):
        return scope
    search = Search(claim.name, of_uses=claim.of_uses)
    _run(search, root, scope, limits)
    return _judge(
        search,
        f'search for {"uses of " if claim.of_uses else ""}"{claim.name}" in {claim.scope or "the project"}',
        limits,
    )


def _scope(root: Path, scope: str, limits: Limits) -> str | Finding:
    """The path below which to search; the whole project is the empty string."""
    if not scope:
        return ""
    place = places.locate(root, scope, None, limits)
    if place.problem:
        return place.problem
    if place.full is None:
        return Finding(
            "insufficient", f"look for {scope}", "no such path", f"{scope}, where it should be searched, is not there"
        )
    shown = os.path.relpath(place.full, os.path.realpath(root)).replace(os.sep, "/")
    return "" if shown == "." else shown


def _path_is_absent(claim: AbsenceClaim, root: Path, limits: Limits) -> Finding:
    named = (claim.name or "").removeprefix("./").rstrip("/")
    place = places.inside(root, named)
    if place.problem and place.problem.outcome == "not-probeable":
        return place.problem
    ran = f"look for {place.shown} by path and by name"
    listed = places.listing(root, limits)
    same = [path for path in listed.paths if _is_at(path.lower(), place.shown.lower())]
    if place.full or os.path.lexists(os.path.join(root, place.shown)):
        same.insert(0, place.shown)
    if same:
        found = ", ".join(dict.fromkeys(same[: limits.places]))
        return Finding("contradicted", ran, f"found: {found}", f"{named} exists")
    saw = f"{len(listed.paths)} file names searched"
    if not listed.complete:
        return Finding(
            "insufficient", ran, saw, f"the project has more than {limits.files} files: not all were looked at"
        )
    return Finding("holds", ran, saw, "no file of that name")


def _is_at(path: str, wanted: str) -> bool:
    return f"/{path}".endswith(f"/{wanted}") or f"/{wanted}/" in f"/{path}"


def _run(search: Search, root: Path, scope: str, limits: Limits) -> None:
    deadline = time.monotonic() + limits.seconds
    listed = places.listing(root, limits)
    pattern = _pattern(search.name)
    for path in _within(listed, scope, root):
        if search.stopped or len(search.wholes) >= limits.places:
            return
        search.files += 1
        if not search.of_uses:
            _note(search, pattern, path.lower().encode("utf-8", "replace"), path, limits)
        _read(search, pattern, os.path.join(root, path), path, limits, deadline)
    if not listed.complete:
        search.stopped = f"stopped after {limits.files} files"


def _within(listed: places.Listing, scope: str, root: Path) -> tuple[str, ...]:
    if not scope:
        return listed.paths
    chosen = tuple(path for path in listed.paths if path == scope or path.startswith(scope + "/"))
    return chosen or tuple(places.walk(root, scope))  # a path that git ignores can be asked about too


def _pattern(name: str) -> re.Pattern[bytes]:
    """Plain words of a phrase are also found run together: rate limiter, rate_limiter, RateLimiter."""
    lowered = name.lower().encode("utf-8", "replace")
    return re.compile(rb"[\s_-]?".join(re.escape(word) for word in lowered.split()))


def _read(search: Search, pattern: re.Pattern[bytes], full: str, path: str, limits: Limits, deadline: float) -> None:
    overlap, tail, line = 2 * len(search.name) + 16, b"", 1
    try:
        for chunk in _chunks(full):
            search.read += len(chunk)
            data = tail + chunk.lower()
            if _note(search, pattern, data, path, limits, line):
                return
            kept = max(0, len(data) - overlap)
            line, tail = line + data.count(b"\n", 0, kept), data[kept:]
            if search.read > limits.bytes or time.monotonic() > deadline:
                search.stopped = f"stopped after {search.read} bytes, at {path}"
                return
    except OSError:
        search.unread += 1


def _chunks(full: str) -> Iterator[bytes]:
    if os.path.islink(full):  # its own name was searched; what it points to is listed itself or not the project's
        return
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(full, flags)
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return
        while chunk := file.read(CHUNK):
            yield chunk


def _note(search: Search, pattern: re.Pattern[bytes], data: bytes, path: str, limits: Limits, line: int = 0) -> bool:
    """Keep the first place where the name is a word of its own; else the first where it is part of one."""
    part = ""
    for match in pattern.finditer(data):
        place = f"{path}:{line + data.count(NEWLINE, 0, match.start())}" if line else path
        where = place.encode("utf-8", "replace").decode()
        if search.of_uses and _DEFINES.search(data, max(0, match.start() - 40), match.start()):
            continue
        if _stands_alone(data, match):
            search.wholes.append(where)
            return True
        part = part or where
    if part and len(search.parts) < limits.places and part not in search.parts:
        search.parts.append(part)
    return False


def _stands_alone(data: bytes, match: re.Match[bytes]) -> bool:
    before, after = (
        data[match.start() - 1 : match.start()] if match.start() else b"",
        data[match.end() : match.end() + 1],
    )
    first, last = match[0][:1], match[0][-1:]
    joined_before = bool(before) and before[0] in _WORD_BYTES and first[0] in _WORD_BYTES
    joined_after = bool(after) and after[0] in _WORD_BYTES and last[0] in _WORD_BYTES
    return not joined_before and not joined_after


def _judge(search: Search, ran: str, limits: Limits) -> Finding:
    if search.wholes:
        return Finding("contradicted", ran, search.saw, f'"{search.name}" is there: look at {search.wholes[0]}')
    if search.parts:
        reason = f'"{search.name}" occurs inside longer words: say whether those are meant, or name the whole word'
        return Finding("insufficient", ran, search.saw, reason)
    if search.stopped or search.unread:
        why = search.stopped or f"{search.unread} files could not be read"
        return Finding("insufficient", ran, search.saw, f"not everything was searched: {why}")
    if not search.files:
        return Finding("insufficient", ran, search.saw, "there was no file to search")
    if " " in search.name:
        reason = f"the words do not occur together, which a thing under another name would also explain: {_RESTATE}"
        return Finding("insufficient", ran, search.saw, reason)
    if search.of_uses:
        return Finding("holds", ran, search.saw, f'"{search.name}" is in no file, but for where it is defined')
    return Finding("holds", ran, search.saw, f'"{search.name}" is in no file name and no file')
