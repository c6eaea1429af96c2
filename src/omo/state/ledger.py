"""Append-only JSONL. Each row names the digest of the row before it, so a changed or missing row shows."""

from __future__ import annotations

import os

from omo.clock import stamp
from omo.digest import sha256
from omo.errors import Unreadable
from omo.json_text import dumps, loads
from omo.safe_open import regular_file
from omo.state import store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Row = dict[str, Any]

LONGEST_ROW = 256 * 1024
SHORT_TAIL = 16 * 1024
BULK = 1024 * 1024
MANY = 5000
START = "0" * 32
UNMARKED = "?" * 32  # follows nothing: rows were there, and nothing says which of them were ours


class Head:
    """The end of a ledger: what the next row continues."""

    __slots__ = ("appended", "digest", "row", "seq")

    def __init__(self, seq: int, digest: str, row: Row | None, appended: list[Row] | None = None) -> None:
        self.seq = seq
        self.digest = digest
        self.row = row
        self.appended = appended or []


class Chain:
    """A ledger as it was read: the rows, what is wrong with their chain, and its end."""

    __slots__ = ("head", "problems", "rows")

    def __init__(self, rows: list[Row], problems: list[str], head: Head) -> None:
        self.rows = rows
        self.problems = problems
        self.head = head


def append(path: str, events: list[Row], *, actor: str, now: float, mark: Row | None = None) -> Head:
    """Add events. Call with the lock held; `mark` is where the snapshot says the ledger ends, None if it says nothing.

    A row is chained to what was written, not to what is found: if the two differ, the difference stays visible.
    """
    head = _mend_and_find_head(path)
    seq, digest = (head.seq, head.digest) if mark is None else _end(path, head, mark)
    lines = []
    rows: list[Row] = []
    for event in events:
        seq += 1
        row = {"seq": seq, "ts": stamp(now), "kind": event["kind"], "actor": actor, "prev": digest, **event}
        line = store.encode(dumps(row))
        digest = digest_of(line)
        lines.append(line + b"\n")
        rows.append(row)
    is_proof = any(row.get("receipt") or row.get("outcome") for row in rows)
    _write(path, b"".join(lines), is_proof=is_proof)
    return Head(seq, digest, rows[-1] if rows else None, rows)


def _end(path: str, head: Head, mark: Row) -> tuple[int, str]:
    seq, digest = mark.get("seq"), mark.get("digest")
    if not isinstance(seq, int) or not isinstance(digest, str):
        return head.seq, head.digest if head.digest == START else UNMARKED
    return (head.seq, head.digest) if head.seq > seq and _leads_on(path, digest) else (seq, digest)


def _leads_on(path: str, digest: str) -> bool:
    """Whether the rows after the mark are chained to it: a crash leaves it behind, a forged row follows nothing."""
    lines = _lines(path)
    digests = [START, *(digest_of(line) for line in lines)]
    if digest not in digests:
        return False
    at = digests.index(digest)
    found = [_parse(line) for line in lines[at:]]
    return all(row is not None and row.get("prev") == before for row, before in zip(found, digests[at:], strict=False))


def set_aside(path: str, now: float) -> tuple[str, str]:
    """Keep a damaged ledger under another name: that name, and the digest of its bytes."""
    with open(path, "rb", opener=regular_file) as file:
        digest = digest_of(file.read())
    kept = f"{path}.damaged-{int(now * 1000)}"
    os.replace(path, kept)
    return kept, digest


def head_of(path: str) -> Head:
    """The last whole row, without changing anything."""
    return _head(_tail(path))


def digest_of(line: bytes) -> str:
    return sha256(line)[:32]


def rows(path: str) -> list[Row]:
    """Every row that can be read, oldest first. `verify` says whether they are all there."""
    lines = _lines(path)
    parse = _parser_for(lines)
    return [row for row in (parse(line) for line in lines) if row is not None]


def read_marked(path: str, mark: Row, what: str) -> tuple[list[Row], list[str]]:
    chain = read_chain(path, mark, what)
    return chain.rows, chain.problems


def read_chain(path: str, mark: Row, what: str) -> Chain:
    """The rows, and what is wrong with their chain or with its end against the mark kept apart from it.

    A ledger whose mark is gone is damaged too.
    """
    seq, digest = mark.get("seq"), mark.get("digest")
    if isinstance(seq, int) and not isinstance(seq, bool) and isinstance(digest, str):
        return read_checked(path, expected_seq=seq, expected_digest=digest)
    chain = read_checked(path)
    if mark or chain.rows or chain.problems:
        chain.problems.insert(0, f"{what} no longer says where the ledger ends")
    return chain


def verify(path: str, *, expected_seq: int = 0, expected_digest: str = "") -> list[str]:
    """What is wrong with the chain, in words; empty when nothing is."""
    return read_checked(path, expected_seq=expected_seq, expected_digest=expected_digest).problems


def read_checked(path: str, *, expected_seq: int = 0, expected_digest: str = "") -> Chain:
    """Every row that can be read, and what is wrong with the chain, in one pass."""
    lines = _lines(path)
    if len(lines) >= MANY and (whole := _read_whole_chain(lines)):
        found, digest = whole
        head = Head(len(lines), digest, found[-1])
        return Chain(found, _end_problems(head.seq, digest, expected_seq, expected_digest), head)
    found = []
    problems: list[str] = []
    seq, digest = 0, START
    row = None
    parse = _parser_for(lines)
    for number, line in enumerate(lines, start=1):
        row = parse(line)
        if row is None:
            problems.append(f"line {number} is not a row")
            seq += 1
        else:
            found.append(row)
            if row.get("seq") != seq + 1 or row.get("prev") != digest:
                problems.append(f"line {number} does not follow the line before it")
            seq = row["seq"] if isinstance(row.get("seq"), int) else seq + 1
        digest = digest_of(line)
    problems += _end_problems(seq, digest, expected_seq, expected_digest)
    return Chain(found, problems, Head(seq, digest, row))


def _end_problems(seq: int, digest: str, expected_seq: int, expected_digest: str) -> list[str]:
    if expected_seq > seq or (expected_seq == seq and expected_digest not in ("", digest)):
        return [f"ends at row {seq}, but row {expected_seq} was written"]
    return []


def _write(path: str, data: bytes, *, is_proof: bool = False) -> None:
    """Whole or not at all: what a full disk or a quota cuts short is taken back, so that no torn row stays.

    What proves that work is done is on the disk before anybody is told so; other rows may be lost with the power.
    """
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    try:
        descriptor = regular_file(path, flags)
        size = os.fstat(descriptor).st_size
        try:
            while data:
                data = data[os.write(descriptor, data) :]
            if is_proof:
                os.fsync(descriptor)
        except OSError:
            os.ftruncate(descriptor, size)
            raise
        finally:
            os.close(descriptor)
    except OSError as error:
        raise store.unwritable(path, error) from None


def _mend_and_find_head(path: str) -> Head:
    """A last line without its end was being written when its writer died: keep it aside, go on before it."""
    tail = _tail(path)
    torn = len(tail) - (tail.rfind(b"\n") + 1)
    if torn:
        _write(path + ".torn", tail[-torn:] + b"\n")
        os.truncate(path, os.path.getsize(path) - torn)
        tail = tail[:-torn]
    return _head(tail)


def _tail(path: str) -> bytes:
    """The end of the file, as much of it as holds the last whole row."""
    try:
        with open(path, "rb", opener=regular_file) as file:
            size = file.seek(0, os.SEEK_END)
            near = SHORT_TAIL
            while True:
                file.seek(max(0, size - near))
                tail = file.read(near)
                if near >= size or tail.count(b"\n") > 1:
                    return tail
                near *= 4
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: str, error: OSError) -> Unreadable:
    return Unreadable(f"{path} cannot be read: {error.strerror}", fix="move it away, omo keeps a new one", path=path)


def _head(tail: bytes) -> Head:
    whole = tail.split(b"\n")[:-1]
    if not whole:
        return Head(0, START, None)
    row = _parse(whole[-1])
    seq = row.get("seq") if row else None
    return Head(seq if isinstance(seq, int) else 0, digest_of(whole[-1]), row)


def _lines(path: str) -> list[bytes]:
    try:
        with open(path, "rb", opener=regular_file) as file:
            raw = file.read()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise _unreadable(path, error) from None
    return raw.split(b"\n")[:-1]


def _read_whole_chain(lines: list[bytes]) -> tuple[list[Row], str] | None:
    """Rows and last digest of a long ledger without any damage, fast; None where something is odd."""
    from hashlib import sha256 as fast_sha256

    from orjson import loads as fast_loads

    found: list[Row] = []
    digest = START
    try:
        for seq, line in enumerate(lines, start=1):
            row = fast_loads(line)
            if row["prev"] != digest or row["seq"] != seq:
                return None
            found.append(row)
            digest = fast_sha256(line).hexdigest()[:32]
    except (ValueError, TypeError, KeyError):
        return None
    return found, digest


def _parser_for(lines: list[bytes]) -> Callable[[bytes], Row | None]:
    """orjson where there is enough to read that its import pays; what it is too strict for is read as ever."""
    if sum(map(len, lines)) < BULK:
        return _parse
    from orjson import loads as fast

    def parse(line: bytes) -> Row | None:
        try:
            row = fast(line)
        except ValueError:
            return _parse(line)
        return row if isinstance(row, dict) else None

    return parse


def _parse(line: bytes) -> Row | None:
    try:
        row = loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None
