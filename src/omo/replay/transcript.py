"""Claude Code's transcript files, row by row: one that cannot be read is counted and named, and costs no memory."""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from omo.clock import seconds
from omo.errors import BadInput
from omo.json_text import loads
from omo.shown import clip

Row = dict[str, Any]

LONGEST_LINE = 32 * 1024 * 1024
CHUNK = 1024 * 1024
MOST_NAMED = 20
MOST_AGENTS = 1000
LATEST = 32503680000.0  # the year 3000: what is later was not written by a clock


@dataclass(frozen=True)
class Line:
    """`at` never goes back within a file; `agent` is empty for the session's own rows."""

    file: str
    number: int
    at: float
    fields: Row
    agent: str = ""
    agent_type: str = ""

    def text(self, key: str) -> str:
        value = self.fields.get(key)
        return value if isinstance(value, str) else ""


@dataclass
class Unread:
    """Lines nobody could read: how many, and the first of them."""

    count: int = 0
    first: list[str] = field(default_factory=list)

    def add(self, file: str, number: int, why: str) -> None:
        self.count += 1
        if len(self.first) < MOST_NAMED:
            self.first.append(f"{clip(file, 80)} line {number}: {why}")


def read(path: str, unread: Unread) -> Iterator[Line]:
    """The session's rows and those of its subagents, whose files lie in a directory beside it, by time."""
    agents = os.path.join(os.path.splitext(path)[0], "subagents")
    files = [_lines(path, unread), *(_lines(one, unread, *_agent(one)) for one in _jsonl_in(agents))]
    return heapq.merge(*files, key=lambda line: line.at)


def _jsonl_in(directory: str) -> list[str]:
    try:
        names = sorted(name for name in os.listdir(directory) if name.endswith(".jsonl"))
    except OSError:
        return []
    return [os.path.join(directory, name) for name in names[:MOST_AGENTS]]


def _agent(path: str) -> tuple[str, str]:
    """The id is in the file's name, the type in the file beside it."""
    stem = os.path.splitext(path)[0]
    try:
        with open(stem + ".meta.json", "rb") as file:
            told = loads(file.read(CHUNK).decode("utf-8", "replace"))
    except (OSError, ValueError, RecursionError):
        told = {}
    kind = told.get("agentType") if isinstance(told, dict) else None
    return os.path.basename(stem).removeprefix("agent-"), kind if isinstance(kind, str) else ""


def _lines(path: str, unread: Unread, agent: str = "", agent_type: str = "") -> Iterator[Line]:
    name = os.path.basename(path)
    latest = 0.0
    try:
        with open(path, "rb") as file:
            for number, raw in enumerate(_bounded(file), 1):
                if raw is not None and not raw.strip():
                    continue
                fields = _fields(raw, unread, name, number)
                if fields is None:
                    continue
                latest = max(latest, _time(fields))
                own = agent or (_sidechain(fields) if fields.get("isSidechain") is True else "")
                yield Line(name, number, latest, fields, own, agent_type)
    except OSError as error:
        if not agent:
            raise BadInput(f"{clip(path, 200)}: {error.strerror}", fix="name a transcript file, *.jsonl") from None
        unread.add(name, 0, str(error.strerror))


def _bounded(file: BinaryIO) -> Iterator[bytes | None]:
    """Each line, None for one that is too long to be held."""
    while line := file.readline(LONGEST_LINE):
        if line.endswith(b"\n") or len(line) < LONGEST_LINE:
            yield line
            continue
        while (rest := file.readline(CHUNK)) and not rest.endswith(b"\n"):
            pass
        yield None


def _fields(raw: bytes | None, unread: Unread, name: str, number: int) -> Row | None:
    if raw is None:
        unread.add(name, number, f"longer than {LONGEST_LINE // CHUNK} MB")
        return None
    try:
        value = loads(raw.decode("utf-8-sig", "replace"))
    except RecursionError:
        unread.add(name, number, "nested too deeply")
        return None
    except ValueError:
        unread.add(name, number, "not JSON")
        return None
    if not isinstance(value, dict):
        unread.add(name, number, "not an object")
        return None
    return value


def _sidechain(fields: Row) -> str:
    agent = fields.get("agentId")
    return agent if isinstance(agent, str) and agent else "sidechain"


def _time(fields: Row) -> float:
    stamp = fields.get("timestamp")
    try:
        at = seconds(stamp) if isinstance(stamp, str) else 0.0
    except ValueError:
        return 0.0
    return at if 0 <= at < LATEST else 0.0
