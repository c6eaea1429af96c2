"""Append-only, chained, mended at the end only."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omo.errors import Unreadable, Unwritable
from omo.state import ledger

NOW = 1_771_780_801.25


def add(path: Path, *kinds: str) -> ledger.Head:
    return ledger.append(str(path), [{"kind": kind} for kind in kinds], actor="hook", now=NOW)[1]


def test_reading_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    add(path, "a", "b")
    path.write_bytes(path.read_bytes() + b'{"torn')
    before = path.read_bytes()
    for _ in range(3):
        ledger.rows(str(path)), ledger.head_of(str(path)), ledger.read_checked(str(path)).problems
    assert path.read_bytes() == before


def test_a_torn_last_line_is_kept_aside_and_the_chain_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    add(path, "a", "b")
    path.write_bytes(path.read_bytes() + b'{"seq": 3, "torn')
    add(path, "c")
    assert [row["kind"] for row in ledger.rows(str(path))] == ["a", "b", "c"]
    assert ledger.read_checked(str(path)).problems == []
    assert b"torn" in (tmp_path / "events.jsonl.torn").read_bytes()


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda lines: [lines[0].replace(b"k0", b"kX"), *lines[1:]], "line 2 does not follow"),
        (lambda lines: [lines[0], *lines[2:]], "line 2 does not follow"),
        (lambda lines: [lines[1], lines[0], *lines[2:]], "line 1 does not follow"),
        (lambda lines: [lines[0], b"garbage", *lines[2:]], "line 2 is not a row"),
        (lambda lines: lines[:-1], "ends at row 3, before row 4, where the state says it should"),
        (lambda lines: [], "ends at row 0, before row 4, where the state says it should"),
    ],
    ids=["edited", "removed", "swapped", "scribbled", "cut", "emptied"],
)
def test_damage_is_named(tmp_path: Path, damage: object, said: str) -> None:
    path = tmp_path / "events.jsonl"
    head = add(path, "k0", "k1", "k2", "k3")
    lines = path.read_bytes().split(b"\n")[:-1]
    path.write_bytes(b"".join(line + b"\n" for line in damage(lines)))  # type: ignore[operator]
    problems = ledger.read_chain(str(path), head.mark, "the mark").problems
    assert any(said in problem for problem in problems), problems


def test_appending_to_a_damaged_ledger_still_works_and_still_shows(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    head = add(path, "a", "b")
    path.write_bytes(b"garbage\n")
    mark: Any = {"seq": head.seq, "digest": head.digest}
    _, after = ledger.append(str(path), [{"kind": "c"}], actor="hook", now=NOW, mark=mark)
    assert after.seq == 3
    assert ledger.read_checked(str(path)).problems


def test_a_long_ledger_reads_like_a_short_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "events.jsonl"
    odd: list[dict[str, object]] = [{"kind": "k", "data": value} for value in ("\ud800", 2**70, "ü", 1.5, None, ["x"])]
    ledger.append(str(path), odd, actor="hook", now=NOW)
    path.write_bytes(path.read_bytes() + b"garbage\n[1]\n")
    short = ledger.rows(str(path)), ledger.read_checked(str(path)).problems
    monkeypatch.setattr(ledger, "BULK", 0)
    assert (ledger.rows(str(path)), ledger.read_checked(str(path)).problems) == short
    assert len(short[0]) == len(odd)


LONG = 40 * 1024  # as long as a ledger is here from now on, in bytes
BECAME = {"ulw": {"enabled": True}, "work": {}}


def lengthen(path: Path) -> ledger.Head:
    events = [{"kind": "blocked", "number": number, "after": BECAME} for number in range(400)]
    head = ledger.append(str(path), events, actor="hook", now=NOW)[1]
    assert os.path.getsize(path) > LONG
    return head


def test_the_newest_rows_come_first_as_far_as_somebody_looks(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    assert list(ledger.newest_first(str(path))) == []
    lengthen(path)
    path.write_bytes(path.read_bytes() + b'garbage\n{"torn')
    newest = ledger.newest_first(str(path))
    assert next(newest)["number"] == 399
    assert [row["number"] for row in newest] == list(range(398, -1, -1))


def test_of_a_long_ledger_the_last_row_alone_says_what_the_sessions_row_became(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "events.jsonl"
    lengthen(path)
    short = ledger.rows(str(path))
    monkeypatch.setattr(ledger, "BULK", LONG)
    long = ledger.read_checked(str(path))
    assert long.rows == [{**row, "after": BECAME} if row is short[-1] else without(row, "after") for row in short]
    assert (long.problems, long.head.row) == ([], short[-1])


def without(row: dict[str, object], key: str) -> dict[str, object]:
    return {name: value for name, value in row.items() if name != key}


def test_what_was_appended_to_a_long_ledger_is_read_with_what_was_read_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "BULK", LONG)
    path = tmp_path / "events.jsonl"
    head = lengthen(path)
    assert ledger.read_chain(str(path), head.mark, "the mark").problems == []
    rows, head = ledger.append(str(path), [{"kind": "a"}, {"kind": "b"}], actor="hook", now=NOW, mark=head.mark)
    chain = ledger.read_chain(str(path), head.mark, "the mark")
    assert (chain.rows[-2:], chain.head.seq, chain.head.digest, chain.problems) == (rows, head.seq, head.digest, [])


@pytest.mark.parametrize("place", [0, 200, 399])
def test_a_changed_row_of_a_long_ledger_is_noticed_after_it_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    monkeypatch.setattr(ledger, "BULK", LONG)
    path = tmp_path / "events.jsonl"
    head = lengthen(path)
    assert ledger.read_chain(str(path), head.mark, "the mark").problems == []
    lines = path.read_bytes().splitlines(keepends=True)
    lines[place] = lines[place].replace(b'"enabled":true', b'"enabled":false')
    path.write_bytes(b"".join(lines))
    assert ledger.read_chain(str(path), head.mark, "the mark").problems != []
    _, head = ledger.append(str(path), [{"kind": "a"}], actor="hook", now=NOW, mark=head.mark)
    assert ledger.read_chain(str(path), head.mark, "the mark").problems != []


@given(st.lists(st.lists(st.dictionaries(st.sampled_from("abc"), st.text() | st.integers()), max_size=3), max_size=5))
def test_whatever_is_appended_verifies_and_comes_back(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[dict[str, object]]]
) -> None:
    path = tmp_path_factory.mktemp("ledger") / "events.jsonl"
    for batch in batches:
        ledger.append(str(path), [{"kind": "k", "data": one} for one in batch], actor="agent", now=NOW)
    assert ledger.read_checked(str(path)).problems == []
    assert [row["data"] for row in ledger.rows(str(path))] == [one for batch in batches for one in batch]


FORGED = b'{"seq": 5, "kind": "forged", "prev": "00000000000000000000000000000000"}'


def test_rows_that_a_crash_kept_from_the_mark_are_gone_on_from(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    head = add(path, "k0")
    add(path, "k1", "k2")
    mark: Any = {"seq": head.seq, "digest": head.digest}
    _, after = ledger.append(str(path), [{"kind": "k3"}], actor="hook", now=NOW, mark=mark)
    assert after.seq == 4
    assert ledger.read_checked(str(path)).problems == []


@pytest.mark.parametrize("seq", [1, 2, 3, 99])
def test_no_later_row_speaks_for_one_that_somebody_put_at_the_end(tmp_path: Path, seq: int) -> None:
    path = tmp_path / "events.jsonl"
    head = add(path, "k0", "k1")
    path.write_bytes(path.read_bytes() + FORGED.replace(b"5", b"%d" % seq) + b"\n")
    mark: Any = {"seq": head.seq, "digest": head.digest}
    for kind in ("k2", "k3"):
        _, head = ledger.append(str(path), [{"kind": kind}], actor="hook", now=NOW, mark=mark)
        mark = {"seq": head.seq, "digest": head.digest}
    assert ledger.read_chain(str(path), mark, "the mark").problems


@pytest.mark.parametrize("is_read", [False, True])
def test_a_pipe_in_its_place_is_neither_waited_for_nor_written_to(tmp_path: Path, is_read: bool) -> None:
    path = str(tmp_path / "events.jsonl")
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK) if is_read else -1
    for look in (ledger.rows, ledger.head_of, ledger.read_checked):
        with pytest.raises(Unreadable, match="it is no file"):
            look(path)
    with pytest.raises((Unreadable, Unwritable)):
        add(Path(path), "activated")
    if is_read:
        assert os.read(reader, 10) == b""
        os.close(reader)


@pytest.mark.parametrize("place", ["/dev/zero", "/dev/full"])
def test_a_device_in_its_place_is_no_ledger(tmp_path: Path, place: str) -> None:
    path = tmp_path / "events.jsonl"
    path.symlink_to(place)
    with pytest.raises(Unreadable, match="it is no file"):
        ledger.rows(str(path))


# A row of a session for every limit on the size of files, as a quota or a full disk sets one: refused or written whole.
LIMITED = """
import resource, sys
from omo.errors import Unwritable
from omo.state import ledger, paths, runtime
from omo.state.rows import read_row

hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]

def add(state, kinds, limit=resource.RLIM_INFINITY):
    def decide(row):
        events = [{"kind": kind, "why": kind * 40} for kind in kinds]
        return runtime.Change(None, read_row({**(row or {}), "ulw": {"enabled": True}}), events)

    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        runtime.change_session(state, "s1", decide, actor="agent", now=1.0, wait=5)
        return True
    except Unwritable:
        return False
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, hard))

def kinds_in(state):
    assert runtime.chain_problems(state, "s1") == [], state
    return [row["kind"] for row in ledger.rows(paths.events_file(state, "s1"))]

written = []
for room in range(0, int(sys.argv[2]), 3):
    state = f"{sys.argv[1]}/{room}"
    add(state, ["begun"])
    with open(paths.events_file(state, "s1"), "rb") as file:
        size = len(file.read())
    is_written = add(state, ["one", "two", "three"], size + room)
    kinds = kinds_in(state)
    assert kinds == ["begun", "one", "two", "three"][: 4 if is_written else 1], state
    assert add(state, ["after"]), state
    assert kinds_in(state) == [*kinds, "after"], state
    written.append(is_written)
print(written.count(False), written.count(True))
"""


def test_a_write_that_is_cut_short_leaves_no_torn_row_and_no_mark_of_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LIMITED, str(tmp_path), "1500"]
    source = str(Path(__file__).resolve().parents[2] / "src")
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": source}, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    refused, written = map(int, done.stdout.split())
    assert min(refused, written) > 100, "both sides of the limit were met"
