"""Append-only JSONL. Each row names the digest of the row before it, so a changed or missing row shows."""

from __future__ import annotations

import io
import os

from omo import digest
from omo.clock import stamp
from omo.safe_open import own_file, regular_file
from omo.state import store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from omo.state.ledger_rows import LedgerRow, Repaired
    from omo.state.rows import Mark, Tally

SHORT_TAIL = 16 * 1024
BULK = 1024 * 1024  # bytes: from here on it pays to import hashlib, and to keep what was read
# How the session's row begins, which stands last in a row of its ledger. It is most of that row, and only the last one
# is asked for it, after a crash.
AFTER = b',"after":{"ulw":{'
START = "0" * 32
UNMARKED = "?" * 32  # follows nothing: rows were there, and nothing says which of them were ours
PROVING = ("receipt", "outcome", "completionVerification")  # what a row that proves has
MOST_DAMAGE = 2  # so often damaged, a run ends; so often counts a ledger whose mark is gone
REMEMBERED = 8  # of the last rows: as many may be lost, and it is known which row is the last that is left


class Head:
    """The end of a ledger: what the next row continues. `torn` is what a writer that died left behind it.

    `known` has digests of rows, by number, each with whether it stays: those of the first row and of rows that prove
    do, those of the last ones until newer ones are there. Of a damaged ledger the rows up to a known one still count.

    `damaged` says when the ledger was found to be damaged, and `counts` what its rows counted when they were written:
    both are kept in the mark, so that nothing counts less because rows were lost.
    """

    def __init__(self, seq: int = 0, digest: str = START, row: LedgerRow | None = None, torn: bytes = b"") -> None:
        self.seq = seq
        self.digest = digest
        self.row = row
        self.torn = torn
        self.known: dict[str, list[object]] = {}
        self.damaged: list[str] = []
        self.counts: Tally = {}

    @property
    def mark(self) -> Mark:
        """Where the intact ledger ends. Stored separately so that a truncated ledger is noticed."""
        mark: Mark = {"seq": self.seq, "digest": self.digest}
        if self.known:
            mark["known"] = self.known
        if self.damaged:
            mark["damaged"] = self.damaged
        if self.counts:
            mark["counts"] = self.counts
        return mark

    def takes_over(self, mark: Mark) -> None:
        """Keep what a mark before this one says of damage and counts."""
        self.damaged, self.counts = damaged_in(mark), counts_in(mark)


_kept: dict[str, tuple[tuple[int, ...], Chain]] = {}  # long ledgers, by path: which version of the file was read


class Chain:
    """A ledger as it was read: the rows, what is wrong with their chain, and its end. `whole` are those of which it is
    known that they are as they were written; without a mark, those that follow each other from the beginning. Whose
    ledger it is knows the type of its rows."""

    def __init__(self, rows: list[Any], problems: list[str], head: Head, whole: list[Any] | None = None) -> None:
        self.rows = rows
        self.problems = problems
        self.head = head
        self.whole = rows if whole is None else whole


def append(
    path: str,
    events: Sequence[Mapping[str, Any]],
    before_writing: Callable[[Sequence[LedgerRow]], None] | None = None,
    *,
    actor: str,
    now: float,
    mark: Mark | None = None,
    head: Head | None = None,
) -> tuple[list[LedgerRow], Head]:
    """Add events; the rows they became, and the new end. Call with the lock held.

    `mark` is where the snapshot says the ledger ends, None if it says nothing; `head` is its end where that was read
    under this lock already. `before_writing` is shown the rows, and may raise. A row is chained to what was written,
    not to what is found: if the two differ, the difference stays visible.
    """
    head = head or head_of(path)
    read_before = _kept_chain(path)
    if head.torn:  # kept aside; the next row follows the last whole one
        _take_off_torn(path, head.torn)
    seq, before = (head.seq, head.digest) if mark is None else _end(path, head, mark)
    from omo import masking  # what only looks at a ledger masks nothing

    lines = []
    rows: list[LedgerRow] = []
    known = _known(mark or {})
    has_proof = False
    for event in events:
        seq += 1
        row: Any = {"seq": seq, "ts": stamp(now), "kind": event["kind"], "actor": actor, "prev": before}
        row.update(masking.masked_row(event))
        line = store.encode(store.dumps(row))
        before = digest_of(line)
        is_proof = _proves(row)
        has_proof = has_proof or is_proof
        known[seq] = (before, seq == 1 or is_proof)
        lines.append(line + b"\n")
        rows.append(row)
    if before_writing is not None:
        before_writing(rows)
    _write(path, b"".join(lines), is_proof=has_proof)
    if read_before is not None:
        _keep_appended(path, read_before, lines)
    head = Head(seq, before, rows[-1] if rows else None)
    for number, (of_row, stays) in known.items():
        if stays or number > seq - REMEMBERED:
            head.known[str(number)] = [of_row, stays]
    head.takes_over(mark or {})
    return rows, head


def _take_off_torn(path: str, torn: bytes) -> None:
    """Keep a torn end beside the ledger. The ledger is opened first: a link could lead to somebody else's file."""
    try:
        descriptor = own_file(path, os.O_WRONLY)
    except OSError as error:
        raise store.unwritable(path, error) from None
    try:
        _write(path + ".torn", torn + b"\n")
        os.ftruncate(descriptor, os.fstat(descriptor).st_size - len(torn))
    except OSError as error:
        raise store.unwritable(path, error) from None
    finally:
        os.close(descriptor)


def _proves(row: LedgerRow) -> bool:
    return any(row.get(key) for key in PROVING)


def _known(mark: Mark) -> dict[int, tuple[str, bool]]:
    """By row, the digest that a mark knows of it, and whether that stays; what somebody edited into nonsense is left
    out."""
    entries = mark.get("known")
    known = {}
    for number, entry in entries.items() if isinstance(entries, dict) else ():
        if str(number).isdecimal() and isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], str):
            known[int(number)] = (entry[0], entry[1] is True)
    return known


def _end(path: str, head: Head, mark: Mark) -> tuple[int, str]:
    """The number and the digest of the row that the next one follows. A crash between ledger and snapshot leaves the
    mark behind: then the row that it names is there, and one after it that was forged follows nothing, which shows."""
    seq, digest = mark.get("seq"), mark.get("digest")
    if not isinstance(seq, int) or not isinstance(digest, str):
        return head.seq, (START if head.digest == START else UNMARKED)
    lines = _contents(path).split(b"\n") if head.seq > seq else []
    if lines and (digest == START or any(digest_of(line) == digest for line in lines)):
        return head.seq, head.digest
    return seq, digest


def keep_aside(path: str, whole: list[LedgerRow], mark: Mark, now: float) -> tuple[Repaired, Head]:
    """Keep a damaged ledger under another name, and write the rows that are whole anew. Return the event that says so,
    and their end."""
    lines = _contents(path).split(b"\n")[: len(whole)] if whole else []
    event = repaired(mark, len(lines), now)
    if os.path.lexists(path):
        event["kept"] = os.path.basename(store.keep_as(path, "damaged", now))
    if lines:
        _write(path, b"".join(line + b"\n" for line in lines), is_proof=True)
    head = head_of(path)
    for number, entry in _known(mark).items():
        if number <= head.seq:
            head.known[str(number)] = list(entry)
    head.takes_over(mark)
    head.damaged = damage_noted(mark, now)
    return event, head


def damage_noted(mark: Mark, now: float) -> list[str]:
    """Return when a ledger was damaged, this time included. Where the mark is gone, so is what it said of that: it
    counts twice."""
    times = 1 if is_mark(mark) else MOST_DAMAGE
    return [*damaged_in(mark), *[stamp(now)] * times][-REMEMBERED:]


def repaired(mark: Mark, row: int, now: float) -> Repaired:
    """Return the event of going on after row `row` of a damaged ledger, with what its mark counts."""
    return {"kind": "repaired", "row": row, "counts": counts_in(mark), "times": len(damage_noted(mark, now))}


def damaged_in(mark: Mark) -> list[str]:
    listed = mark.get("damaged")
    return [str(moment) for moment in listed] if isinstance(listed, list) else []


def counts_in(mark: Mark) -> Tally:
    counts = mark.get("counts")
    return counts if isinstance(counts, dict) else {}


def is_mark(mark: Mark) -> bool:
    seq, digest = mark.get("seq"), mark.get("digest")
    return isinstance(seq, int) and not isinstance(seq, bool) and isinstance(digest, str)


def head_of(path: str) -> Head:
    """The last whole row, without changing anything."""
    *whole, torn = _tail(path).split(b"\n")
    if not whole:
        return Head(torn=torn)
    row = _parse(whole[-1])
    seq = row.get("seq") if row else None
    return Head(seq if isinstance(seq, int) else 0, digest_of(whole[-1]), row, torn)


def digest_of(line: bytes) -> str:
    return digest.sha256(line)[:32]


def rows(path: str) -> list[Any]:
    """Every row that can be read, oldest first, whether they are all there or not."""
    return read_checked(path).rows


def newest_first(path: str) -> Iterator[Any]:
    """Yield every row that can be read, from the end: of a long ledger no more is read than somebody looks at."""
    try:
        with open(path, "rb", opener=regular_file) as file:
            end, rest = file.seek(0, os.SEEK_END), b""
            is_torn = True  # what follows the last line end is no row
            while end:
                start = max(0, end - SHORT_TAIL)
                file.seek(start)
                rest, *lines = (file.read(end - start) + rest).split(b"\n")
                if lines and is_torn:
                    lines.pop()
                    is_torn = False
                for line in reversed(lines):
                    if (row := _parse(line)) is not None:
                        yield row
                end = start
            if not is_torn and (row := _parse(rest)) is not None:
                yield row
    except FileNotFoundError:
        return
    except OSError as error:
        raise store.unreadable(path, error) from None


def read_chain(path: str, mark: Mark, what: str) -> Chain:
    """The rows, and what is wrong with their chain or with its end against the mark kept apart from it.

    A ledger whose mark is gone is damaged too. What cuts off an end is a hand, a copy, or a power failure before the
    disk had it: what is known is where it should be.
    """
    chain = read_checked(path)
    if not is_mark(mark):
        if mark or chain.rows or chain.problems:
            chain.problems.insert(0, f"{what} no longer says where the ledger ends")
        return _with_whole(path, chain, mark)
    seq, digest = mark["seq"], mark["digest"]
    if seq > chain.head.seq:
        chain.problems.append(f"ends at row {chain.head.seq}, before row {seq}, where the state says it should")
    elif seq == chain.head.seq and digest != chain.head.digest:
        chain.problems.append(f"ends in another row {seq} than the state says it should")
    elif 0 < seq < chain.head.seq and not chain.problems and digest != chain.rows[seq].get("prev"):
        chain.problems.append(f"has another row {seq} than the state says it should")
    return _with_whole(path, chain, mark)


def _with_whole(path: str, chain: Chain, mark: Mark) -> Chain:
    if chain.problems:
        chain.whole = _known_rows(path, chain.whole, mark)
    return chain


def _known_rows(path: str, rows: list[LedgerRow], mark: Mark) -> list[LedgerRow]:
    """Of rows that follow each other those up to the last whose digest the mark knows. What comes after it anybody may
    have written, and what comes before it cannot be other than it was."""
    known = {number: digest for number, (digest, _) in _known(mark).items()}
    if isinstance(mark.get("seq"), int):
        known[mark["seq"]] = str(mark.get("digest"))
    following = digest_of(_contents(path).split(b"\n")[len(rows) - 1]) if rows else ""
    for number in range(len(rows), 0, -1):
        if known.get(number) == following:
            return rows[:number]
        following = str(rows[number - 1].get("prev"))
    return []


def read_checked(path: str) -> Chain:
    """Every row that can be read, and what is wrong with the chain, in one pass. A long ledger is read once while
    nobody else changes it; of its rows only the last has what the session's row became."""
    if (chain := _kept_chain(path)) is not None:
        return chain
    version = store.version_of(path)  # before it is read: what is written meanwhile makes another one
    raw = _contents(path)
    chain = _checked(raw)
    if len(raw) >= BULK and version is not None:
        _kept[path] = (version, chain)
    return _copy(chain)


def _checked(raw: bytes) -> Chain:
    is_long = len(raw) >= BULK
    load = store.loader(len(raw))
    new_sha256 = digest.new_sha256
    if is_long:
        import hashlib

        new_sha256 = hashlib.sha256
    end = raw.rfind(b"\n") + 1
    position = 0
    found: list[LedgerRow] = []
    problems: list[str] = []
    seq, before, torn = 0, START, b""
    row: LedgerRow | None = None
    whole = 0
    for number, whole_line in enumerate(io.BytesIO(raw), start=1):  # half the memory of a list of all lines
        position += len(whole_line)
        if position > end:
            torn = whole_line
            break
        line = whole_line[:-1]
        seq += 1
        may_be_cut = is_long and position < end and line.endswith(b"}}")
        cut = line.rfind(AFTER) if may_be_cut else -1
        try:
            row = load(line if cut < 0 else line[:cut] + b"}")
        except (ValueError, RecursionError):
            row = _parse(line)  # it was cut inside of another value
        if not isinstance(row, dict):
            row = None
            problems.append(f"line {number} is not a row")
        else:
            found.append(row)
            if row.get("seq") != seq or row.get("prev") != before:
                problems.append(f"line {number} does not follow the line before it")
                if isinstance(row.get("seq"), int):
                    seq = row["seq"]
        before = new_sha256(line).hexdigest()[:32]
        if not problems:
            whole = number
    return Chain(found, problems, Head(seq, before, row, torn), found[:whole] if problems else found)


def _kept_chain(path: str) -> Chain | None:
    """What was read of a long ledger, if it is still what the file holds. Whoever appends makes the file longer."""
    version, chain = _kept.get(path, (None, None))
    return _copy(chain) if chain is not None and version == store.version_of(path) else None


def _keep_appended(path: str, chain: Chain, lines: list[bytes]) -> None:
    """Add rows that were just appended to what was read of a long ledger, instead of reading it again."""
    more = _checked(b"".join(lines))
    follows = bool(more.rows) and more.rows[0].get("prev") == chain.head.digest and not chain.head.torn
    version = store.version_of(path)
    if chain.problems or not follows or version is None:
        _kept.pop(path, None)
        return
    rows = [*chain.rows, *more.rows]
    _kept[path] = (version, Chain(rows, [], Head(chain.head.seq + len(lines), more.head.digest, more.head.row)))


def _copy(chain: Chain) -> Chain:
    """The same, to which whoever reads it may add problems."""
    return Chain(chain.rows, list(chain.problems), chain.head, chain.whole)


def _parse(line: bytes) -> LedgerRow | None:
    try:
        row: LedgerRow = store.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def _write(path: str, data: bytes, *, is_proof: bool = False) -> None:
    """Whole or not at all: what a full disk or a quota cuts short is taken back, so that no torn row stays.

    What proves that work is done is on the disk before anybody is told so; other rows may be lost with the power.
    """
    store.require_no_link(path)
    try:
        descriptor = own_file(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
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


def _contents(path: str) -> bytes:
    return store.contents(path) or b""


def _tail(path: str) -> bytes:
    """The end of the file, as much of it as holds the last whole row."""
    try:
        if (known := store.known_contents(path)) is not None:
            return known
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
        raise store.unreadable(path, error) from None
