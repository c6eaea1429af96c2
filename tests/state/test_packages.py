"""A command writes with orjson what a hook writes with the standard library, byte for byte, and both read the same."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omo.state import ledger, packages, paths, runtime, store
from omo.state.journal import Journal
from omo.state.rows import read_row

NOW = 1_771_780_801.25
IN_A_HOOK: Callable[[], Any] = nullcontext
IN_A_COMMAND = partial(packages.used, only_looks=False)
IN_A_LOOK = partial(packages.used, only_looks=True)
SIDES: list[Callable[[], Any]] = [IN_A_HOOK, IN_A_COMMAND, IN_A_LOOK]
ANY_TEXT = st.text(st.characters(exclude_categories=()))  # also half a character
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.integers(-(2**65), 2**65) | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner),
    max_leaves=20,
)
ODD = [
    *(0.0, -0.0, 1e-4, 9.9e-5, 1e-5, 1e-7, 1e15, 1e16, 1e22, 5e-324, 1.7976931348623157e308),
    *(float("nan"), float("inf"), [float("-inf")], 2**63, 2**64, -(2**63) - 1, {"n": 10**30}),
    *("\ud800", {"\udfff": 1}, "\x00\x1f\x7f\u2028\U0001f600", (1, (2,)), {1: "a", None: "b", 2.5: "c"}, [], {}),
]


def written(side: Callable[[], Any], value: object) -> bytes:
    with side():
        return store.encode(store.dumps(value))


def read(side: Callable[[], Any], raw: bytes) -> str:
    """Return what is read in the form that tells 1 from 1.0 and -0.0 from 0.0; or the error."""
    with side():
        try:
            return repr(store.loads(raw))
        except (ValueError, RecursionError) as error:
            return "no JSON" if isinstance(error, ValueError) else "too deep"


@given(JSON)
def test_each_side_writes_the_same_bytes(value: object) -> None:
    in_a_hook, *others = [written(side, value) for side in SIDES]
    assert others == [in_a_hook] * 2
    assert in_a_hook == json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")


@pytest.mark.parametrize("value", ODD, ids=ascii)
def test_each_side_writes_odd_values_alike(value: object) -> None:
    in_a_hook, *others = [written(side, value) for side in SIDES]
    assert others == [in_a_hook] * 2
    assert len({read(side, in_a_hook) for side in SIDES}) == 1


@pytest.mark.parametrize(
    "value",
    [object(), {"a": {1, 2}}, b"bytes", Path("a"), {"a": NOW, "b": [1j]}],
    ids=lambda value: type(value).__name__,
)
def test_each_side_refuses_what_is_no_json(value: object) -> None:
    for side in SIDES:
        with pytest.raises(TypeError):
            written(side, value)


@given(JSON, st.sampled_from([None, 1]), st.booleans())
def test_each_side_reads_the_same(value: object, indent: int | None, ascii_only: bool) -> None:
    raw = store.encode(json.dumps(value, indent=indent, ensure_ascii=ascii_only))
    assert read(IN_A_COMMAND, raw) == read(IN_A_HOOK, raw) == repr(json.loads(raw))


@given(st.binary() | st.from_regex(rb'\A[\[\]{}",:0-9.eE+truefalsn\\ud -]{0,40}\Z'))
def test_each_side_refuses_the_same(raw: bytes) -> None:
    assert read(IN_A_COMMAND, raw) == read(IN_A_HOOK, raw)


@pytest.mark.parametrize(
    "raw",
    [
        *(b"18446744073709551616", b"-9223372036854775809", b"[1e400]", b'{"a": 1, "a": 2}', b"-0", b"\xef\xbb\xbf{}"),
        *(b"[" * 2000 + b"]" * 2000, b"[" * 300 + b"]" * 300, b'"\\ud800"', b"[NaN]", b"", b"1 2"),
    ],
    ids=lambda raw: ascii(raw[:30]),
)
def test_each_side_reads_odd_texts_alike(raw: bytes) -> None:
    assert read(IN_A_COMMAND, raw) == read(IN_A_HOOK, raw)


def test_a_row_is_deep_on_both_sides_or_on_none() -> None:
    deep: object = 1
    for _ in range(300):  # orjson writes 254 levels
        deep = [deep]
    assert written(IN_A_COMMAND, deep) == written(IN_A_HOOK, deep)


EVENTS = st.lists(st.fixed_dictionaries({"kind": st.just("k"), "data": JSON, "reason": ANY_TEXT}), max_size=3)


@given(st.lists(EVENTS, min_size=1, max_size=3))
def test_a_ledger_has_the_same_bytes_whichever_side_appends(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[dict[str, Any]]]
) -> None:
    """Also where they take turns: the next row names the digest of the one before."""
    made = []
    turns: list[list[Callable[[], Any]]] = [[IN_A_HOOK], [IN_A_COMMAND], [IN_A_HOOK, IN_A_COMMAND]]
    for sides in turns:
        path = tmp_path_factory.mktemp("ledger") / "events.jsonl"
        for number, events in enumerate(batches):
            with sides[number % len(sides)]():
                ledger.append(str(path), events, actor="agent", now=NOW)
        assert ledger.read_checked(str(path)).problems == []
        made.append(path.read_bytes() if path.exists() else b"")
    assert len(set(made)) == 1


def test_the_state_has_the_same_bytes_whichever_side_writes_it(tmp_path: Path) -> None:
    def change(row: Any) -> runtime.Change:
        known = {**(row or {}), "ulw": {"enabled": True, "stopBlocks": 1}, "work": {}, "seconds": [1.5, 1e-5, 2**70]}
        return runtime.Change(None, read_row(known), [{"kind": "activated", "text": "fix “a” \ud800"}])

    made = []
    for name, side in (("hook", IN_A_HOOK), ("command", IN_A_COMMAND)):
        state = str(tmp_path / name / ".sisyphus" / "cc-omo")
        with side():
            runtime.change_session(state, "s1", change, actor="user", now=NOW, wait=5)
            journal = Journal(f"{state}/verify/goals", state)
            journal.change(lambda _: (None, [{"kind": "added", "id": "G1"}]), actor="agent", now=NOW, wait=5)
        written_files = (paths.runtime_file(state), paths.events_file(state, "s1"), journal.path)
        made.append([Path(path).read_bytes() for path in (*written_files, f"{journal.directory}/mark.json")])
    assert made[0] == made[1]


def test_a_look_reads_what_is_long_with_orjson_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "orjson", None)  # not to be imported
    used = packages.Packages(only_looks=True)
    assert used.loader(store.MOST_KEPT) is store.loads_plainly
    monkeypatch.delitem(sys.modules, "orjson")
    assert used.loader(store.MOST_KEPT + 1) is not store.loads_plainly


def test_without_an_environment_a_command_does_as_a_hook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("orjson", "filelock"):
        monkeypatch.setitem(sys.modules, name, None)
    with packages.used(only_looks=False), store.Lock(str(tmp_path / "lock"), store.deadline(1)):
        assert store.is_locked(str(tmp_path / "lock"))
        assert store.loads(store.encode(store.dumps({"a": [1.5]}))) == {"a": [1.5]}
