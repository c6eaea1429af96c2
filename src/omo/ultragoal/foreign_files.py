"""The three files of a plan to take over: regular, bounded, UTF-8, and not reached by a link."""

from __future__ import annotations

import json
import os
import stat
from typing import NamedTuple

from omo.errors import BadInput
from omo.evidence.globs import is_inside
from omo.shown import clip

LARGEST_PLAN = 8_000_000
LARGEST_LEDGER = 64_000_000
NAME_ONE = "name one such as .gjc/_session-ID/ultragoal"
# O_NOFOLLOW and O_NONBLOCK: a file swapped for a link or a pipe just now is neither followed nor waited for.
_OPEN = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Files(NamedTuple):
    """`brief` is empty and `rows` are none where the file is missing; a line that is no JSON is None."""

    document: object
    brief: str
    rows: list[object]


def read(directory: str, root: str | None) -> Files:
    """BadInput where goals.json is missing or one of the files cannot be used."""
    _require_directory(directory, root)
    document = _load(directory)
    brief = _decoded(_read(directory, "brief.md", LARGEST_PLAN) or b"", "brief.md")
    ledger = _read(directory, "ledger.jsonl", LARGEST_LEDGER) or b""
    return Files(document, brief, [_row(line) for line in ledger.split(b"\n") if line.strip()])


def _require_directory(directory: str, root: str | None) -> None:
    plain = directory.rstrip("/" + os.sep) or directory
    try:
        is_directory, is_link = os.path.isdir(plain), os.path.islink(plain)
        is_outside = root is not None and not is_inside(os.path.realpath(root), os.path.realpath(plain))
    except ValueError:  # a name that no directory can have, such as one with a NUL
        is_directory = is_link = is_outside = False
    shown = clip(directory, 200)
    if is_link or is_outside:
        why = "is a link" if is_link else "lies outside the project"
        raise BadInput(f"{shown} {why}", fix="copy the directory into the project and name the copy")
    if not is_directory:
        raise BadInput(f"there is no directory {shown}", fix=NAME_ONE)


def _load(directory: str) -> object:
    raw = _read(directory, "goals.json", LARGEST_PLAN)
    if raw is None:
        raise BadInput(f"no goals.json in {clip(directory, 200)}", fix=NAME_ONE)
    try:
        return json.loads(_decoded(raw, "goals.json"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInput(f"goals.json is not valid JSON: {clip(str(error), 200)}", fix="mend it in a copy") from None


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _row(line: bytes) -> object:
    try:
        return json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None


def _read(directory: str, name: str, largest: int) -> bytes | None:
    """None where there is no such file. BadInput for a link, a pipe, a directory, or too many bytes."""
    path = os.path.join(directory, name)
    try:
        if os.path.islink(path):
            raise BadInput(f"{name} is a link", fix="put the file itself there")
        with os.fdopen(os.open(path, _OPEN), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise BadInput(f"{name} is not a regular file", fix="put a file there")
            raw = file.read(largest + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadInput(f"{name} cannot be read: {error.strerror}", fix="make it a readable file") from None
    if len(raw) > largest:
        raise BadInput(f"{name} has more than {largest} bytes", fix="move what is not needed out of it")
    return raw


def _decoded(raw: bytes, name: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{name} is not UTF-8: {error.reason} at byte {error.start}", fix="save it as UTF-8") from None
