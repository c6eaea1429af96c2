"""The store's promises: absent is not corrupt, nothing is half written, nothing is lost, nobody waits for ever."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from omo.errors import Busy, Unreadable, Unwritable
from omo.json_text import dumps
from omo.state import store


def test_a_lone_surrogate_survives_the_round_trip(tmp_path: Path) -> None:
    path = str(tmp_path / "state.json")
    store.replace(path, dumps({"text": "한국어 \ud800 é"}))
    assert store.read(path) == {"text": "한국어 \ud800 é"}


def test_what_a_dead_writer_left_aside_is_swept(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    (tmp_path / "state.json.1-aa.tmp").write_text("half")
    (tmp_path / "other.json.1-aa.tmp").write_text("not ours")
    store.replace(str(path), "{}")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["other.json.1-aa.tmp", "state.json"]


def test_a_held_lock_is_busy_after_the_wait_and_not_before(tmp_path: Path) -> None:
    path = str(tmp_path / "a.lock")
    with store.Lock(path, store.deadline(1)):
        begun = time.monotonic()
        with pytest.raises(Busy), store.Lock(path, store.deadline(0.05)):
            pass
        assert time.monotonic() - begun >= 0.05
    assert os.path.exists(path)


def test_a_link_cannot_lead_a_write_out_of_the_state_directory(tmp_path: Path) -> None:
    state, outside = tmp_path / "state", tmp_path / "outside"
    (state / "sessions").mkdir(parents=True)
    outside.mkdir()
    (state / "sessions" / "abc").symlink_to(outside)
    with pytest.raises(Unwritable, match="is a link, and omo writes nothing behind it"):
        store.make_dir(str(state / "sessions" / "abc"), str(state))


def test_what_is_kept_says_why_and_when_and_nothing_is_overwritten(tmp_path: Path) -> None:
    names = []
    for text in ("first", "second", "third"):
        (tmp_path / "plan").mkdir()
        (tmp_path / "plan" / "a").write_text(text)
        names.append(store.keep_as(str(tmp_path / "plan"), "archived", 12.5))
    assert names[0].endswith("plan.archived-12500")
    assert [Path(name, "a").read_text() for name in names] == ["first", "second", "third"]
    assert not (tmp_path / "plan").exists()


def test_keeping_what_is_not_there_is_no_error(tmp_path: Path) -> None:
    store.keep_as(str(tmp_path / "nothing"), "archived", 1.0)
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_in_the_place_of_a_file_holds_nobody(tmp_path: Path) -> None:
    path = tmp_path / "runtime.local.json"
    os.mkfifo(path)
    with pytest.raises(Unreadable, match="it is no file"):
        store.read(str(path))


def test_what_was_not_written_since_is_not_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_bytes(b'{"a": 1}')
    while store.known_contents(str(path)) is None:
        assert store.contents(str(path)) == b'{"a": 1}'
    path.write_bytes(b'{"a": 2}')
    assert store.known_contents(str(path)) is None
    assert store.read(str(path)) == {"a": 2}


def test_writes_of_the_same_size_in_quick_succession_are_all_read(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    for number in range(2000):
        text = b"%08d" % number
        path.write_bytes(text)
        assert store.contents(str(path)) == text
