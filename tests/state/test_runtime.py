"""What is on, per session: shapes, isolation, catching up, forgetting."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omo.clock import stamp
from omo.state import ledger, paths, runtime, store
from omo.state.rows import EMPTY, read_row
from omo.work import outcome
from tests import texts

NOW = 1_771_780_801.0
MINIMUM_ROW = {
    "ulw": {"enabled": True, "stopBlocks": 3, "lastStopAt": "2026-02-22T17:20:01Z"},
    "stopContinuation": {"disabled": False, "disabledReason": None},
}


def write(state: str, text: str) -> None:
    os.makedirs(state, exist_ok=True)
    Path(paths.runtime_file(state)).write_text(text, encoding="utf-8")


def put(state: str, name: str, row: Any, *, now: float = NOW, kind: str = "test") -> None:
    decide = lambda _: runtime.Change(None, read_row(row), [{"kind": kind}])  # noqa: E731
    runtime.change_session(state, name, decide, actor="hook", now=now, wait=5)


def test_unknown_keys_are_kept(state: str) -> None:
    write(state, json.dumps({"version": 1, "sessions": {"a": {"future": [1]}}, "alsoFuture": {"x": 1}}))
    put(state, "b", MINIMUM_ROW)
    after: Any = runtime.read(state)
    assert after["alsoFuture"] == {"x": 1}
    assert after["sessions"]["a"] == {"future": [1]}


def test_a_ledger_that_is_ahead_after_a_crash_wins(state: str) -> None:
    put(state, "a", {"ulw": {"enabled": True, "stopBlocks": 1}})
    ahead = {"ulw": {"enabled": True, "stopBlocks": 2}}
    ledger.append(paths.events_file(state, "a"), [{"kind": "blocked", "after": ahead}], actor="hook", now=NOW)
    seen = runtime.change_session(state, "a", lambda row: runtime.Change(row), actor="hook", now=NOW, wait=1)
    assert seen["ulw"]["stopBlocks"] == 2


@pytest.mark.parametrize("forge", ["edit", "edit and drop the mark"])
def test_a_forged_last_row_is_not_laundered_by_the_next_append(state: str, forge: str) -> None:
    put(state, "a", MINIMUM_ROW, kind="one")
    put(state, "a", {**MINIMUM_ROW, "ledger": runtime.session(state, "a")["ledger"]}, kind="fail")  # type: ignore[index]
    path = Path(paths.events_file(state, "a"))
    path.write_text(path.read_text().replace('"fail"', '"pass"'))
    row = dict(runtime.session(state, "a") or EMPTY)
    if forge != "edit":
        row.pop("ledger")
        write(state, json.dumps({"sessions": {"a": row}}))
    runtime.change_session(
        state, "a", lambda row: runtime.Change(None, row, [{"kind": "x"}]), actor="h", now=NOW, wait=1
    )
    assert runtime.ledger_problems(state, "a") == []
    assert "pass" not in [row["kind"] for row in runtime.vouched_rows(state, "a")]
    (kept,) = path.parent.glob("events.jsonl.damaged-*")
    assert '"pass"' in kept.read_text()


def test_a_row_deleted_while_we_decide_stays_deleted(state: str) -> None:
    put(state, "a", MINIMUM_ROW)

    def delete_then_decide(row: Any) -> runtime.Change:
        os.unlink(paths.runtime_file(state))
        return runtime.Change(None, row, [{"kind": "blocked"}])

    runtime.change_session(state, "a", delete_then_decide, actor="hook", now=NOW, wait=1)
    assert not os.path.exists(paths.runtime_file(state))


def test_old_sessions_with_nothing_open_are_forgotten_and_their_ledgers_kept(state: str) -> None:
    put(state, "over", {"ulw": {"enabled": False}})
    put(state, "open", MINIMUM_ROW)
    put(state, "new", MINIMUM_ROW, now=NOW + runtime.KEPT_FOR + 1)
    assert set(runtime.read(state)["sessions"]) == {"open", "new"}
    assert os.path.exists(paths.events_file(state, "over"))


@given(
    st.dictionaries(
        st.text(min_size=1), st.fixed_dictionaries({}, optional={"x": st.text(), "ulw": st.just({"enabled": True})})
    )
)
def test_the_layout_is_the_json_it_stands_for(sessions: Any) -> None:
    value: Any = {"version": 4, "sessions": sessions, "more": {"ü": [1, None]}}
    read = store.parse(store.encode(runtime.render(value)), "x")
    live, is_left = read.pop("live"), read.pop("left", False)
    assert read == value
    assert bool(live) == is_left == any(row.get("ulw") for row in sessions.values())


@given(st.floats(min_value=0, max_value=4e9))
def test_time_survives_the_round_trip(now: float) -> None:
    from omo.clock import seconds

    assert abs(seconds(stamp(now)) - now) <= 0.0011


# What a row calls done, and its ledger.

PROVEN = outcome.outcome("proven", "gate tests failed and passes")
DONE = {"run": "u1", "state": "ended", "outcome": PROVEN, "told": False}


def ended(**changes: Any) -> Any:
    return {**MINIMUM_ROW, "work": {"ulw": {**DONE, **changes}}}


def by_hand(state: str, name: str, **changes: Any) -> None:
    """Into the runtime file, past every command."""
    read = runtime.read(state)
    read["sessions"].setdefault(name, {}).update(changes)
    write(state, runtime.render(read))


def seen(state: str, name: str) -> list[str]:
    row = runtime.session(state, name)
    assert row is not None
    assert runtime.unvouched(runtime.doubted(state, name, row)) == runtime.unvouched(
        runtime.caught_up(state, name, row)
    )
    return runtime.unvouched(runtime.caught_up(state, name, row))


def touch(state: str, name: str, *events: Any) -> None:
    """A change that leaves the row as it is, with or without events."""
    decide = lambda row: runtime.Change(None, row, list(events))  # noqa: E731
    runtime.change_session(state, name, decide, actor="hook", now=NOW + 60, wait=5)


@pytest.mark.parametrize(
    "before",
    [
        {"run": "u1", "state": "active"},
        {**DONE, "outcome": outcome.outcome("attested", "nothing applies")},
        {**DONE, "run": "u0"},
        {**DONE, "at": "2026-02-22T17:20:05.000Z"},
    ],
)
def test_an_end_written_by_hand_is_not(state: str, before: Any) -> None:
    put(state, "a", {**MINIMUM_ROW, "work": {"ulw": before}})
    by_hand(state, "a", work={"ulw": DONE})
    assert seen(state, "a") == ["ulw"]
    (problem,) = runtime.ledger_problems(state, "a")
    assert texts.says(problem, "ledger-end-not-vouched", what="ultrawork")
    assert runtime.chain_problems(state, "a") == []


def test_a_forged_end_is_made_good_by_no_later_event_and_by_no_edit(state: str) -> None:
    put(state, "a", MINIMUM_ROW)
    by_hand(state, "a", work={"ulw": DONE})
    touch(state, "a", {"kind": "agent-finished"})
    assert seen(state, "a") == ["ulw"]
    by_hand(state, "a", work={"ulw": DONE})
    touch(state, "a", {"kind": "agent-finished"})
    assert seen(state, "a") == ["ulw"]
    assert runtime.ledger_problems(state, "a")


@pytest.mark.parametrize("one", ["active", "waiting"])
def test_only_what_the_user_or_an_end_says_needs_a_word_of_the_ledger(state: str, one: str) -> None:
    put(state, "a", MINIMUM_ROW)
    by_hand(state, "a", work={"ulw": {"state": one, "outcome": "x"}, "ultraplan": "odd"})
    assert (seen(state, "a"), runtime.ledger_problems(state, "a")) == ([], [])


def test_a_change_without_events_leaves_an_end_vouched_for(state: str) -> None:
    put(state, "a", ended())
    touch(state, "a")
    assert (seen(state, "a"), runtime.ledger_problems(state, "a")) == ([], [])


def test_a_ledger_that_is_ahead_after_a_crash_is_the_word_that_counts(state: str) -> None:
    put(state, "a", ended())
    mark = (runtime.session(state, "a") or EMPTY)["ledger"]
    again = {**MINIMUM_ROW, "work": {"ulw": {"run": "u2", "state": "active"}}}
    event = {"kind": "activated", "after": again}
    ledger.append(paths.events_file(state, "a"), [event], actor="user", now=NOW, mark=mark)
    assert (seen(state, "a"), runtime.ledger_problems(state, "a")) == ([], [])
    put(state, "b", MINIMUM_ROW)
    mark = (runtime.session(state, "b") or EMPTY)["ledger"]
    ledger.append(paths.events_file(state, "b"), [{"kind": "done", "after": ended()}], actor="a", now=NOW, mark=mark)
    assert (seen(state, "b"), runtime.ledger_problems(state, "b")) == ([], [])


def test_a_forgotten_session_raises_no_alarm_nor_when_it_comes_back(state: str) -> None:
    put(state, "a", {**ended(), "ulw": {"enabled": False}})
    put(state, "b", MINIMUM_ROW, now=NOW + runtime.KEPT_FOR + 1)
    assert runtime.session(state, "a") is None
    (problem,) = runtime.ledger_problems(state, "a")
    assert texts.says(problem, "ledger-end-missing")
    put(state, "a", ended(run="u9"))
    assert seen(state, "a") == []


def test_the_name_of_forged_work_is_shown_as_one_short_line(state: str) -> None:
    by_hand(state, "a", work={"\x1b[2J" + "k" * 500: DONE})
    (problem,) = runtime.ledger_problems(state, "a")
    assert problem.isprintable()
    assert len(problem) < 160
