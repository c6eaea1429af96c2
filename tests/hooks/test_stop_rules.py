"""The Stop table: each rule by itself, their order, and what each does to the session's row."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omo import settings
from omo.clock import stamp
from omo.hosts import Event, claude
from omo.state.rows import read_row
from omo.stop import rules
from omo.stop.situation import Situation, is_omo_only
from omo.work import outcome, session

pytestmark = pytest.mark.usefixtures("laps")

NOW = 1_771_780_801.0
LIMITS = settings.DEFAULT_LIMITS
ARMED = session.arm(None, by="user", limits=LIMITS, now=NOW - 60)


def event(**fields: Any) -> Event:
    return claude.event_of({"session_id": "abc", **fields}, repr(fields).encode())


def situation(row: Any, now: float = NOW, **fields: Any) -> Situation:
    known = {key: fields.pop(key) for key in ("disabled", "unreadable") if key in fields}
    return Situation(event(**fields), None if row is None else read_row(row), LIMITS, now, **known)


def with_ulw(**changes: Any) -> Any:
    return {**ARMED, "ulw": {**ARMED["ulw"], **changes}}


def with_work(**changes: Any) -> Any:
    return {**ARMED, "work": {"ulw": {**ARMED["work"]["ulw"], **changes}}}


MINIMUM = {
    "ulw": {"enabled": True, "stopBlocks": 3, "lastStopAt": "2026-02-22T17:00:00Z"},
    "stopContinuation": {"disabled": False, "disabledReason": None},
}
AGENT = {"id": "1", "type": "subagent", "status": "running"}
SHELL = {"id": "2", "type": "shell", "status": "running"}
CASES: list[tuple[str, Any, dict[str, Any]]] = [
    ("switched-off", ARMED, {"disabled": True}),
    ("subagent", ARMED, {"agent_id": "a1"}),
    ("not-active", None, {}),
    ("not-active", {"ulw": {"enabled": False}}, {}),
    ("not-active", {}, {}),
    ("cancelled", session.cancel(ARMED, reason="user", now=NOW), {}),
    ("unreadable-state", None, {"unreadable": "not JSON"}),
    ("invalid-state", with_ulw(stopBlocks="x"), {}),
    ("invalid-state", with_ulw(stopBlocks=-1), {}),
    ("invalid-state", with_ulw(stopBlocks=True), {}),
    ("invalid-state", with_ulw(lastStopAt="yesterday"), {}),
    ("invalid-state", with_ulw(lastStopAt=7), {}),
    ("invalid-state", with_ulw(enabled="yes"), {}),
    ("invalid-state", {**ARMED, "work": {"ulw": {"state": "active"}, "x": 3}}, {}),
    ("begin", {"asked": "laps"}, {}),
    ("not-begun", {"asked": "laps"}, {"permission_mode": "plan"}),
    ("not-begun", {"asked": "laps"}, {"last_assistant_message": "API Error: 529 overloaded"}),
    ("not-begun", {"asked": "laps"}, {"background_tasks": [AGENT]}),
    ("not-begun", {"asked": "laps"}, {"session_crons": [{"recurring": False}]}),
    ("not-begun", {"asked": "laps", "reminded": "another event"}, {}),
    ("cancelled", session.cancel(read_row({"asked": "laps"}), reason="user", now=NOW), {}),
    ("block", {**ARMED, "asked": "laps"}, {}),
    ("plan-mode", ARMED, {"permission_mode": "plan"}),
    ("host-limit", ARMED, {"last_assistant_message": "API Error: 529 overloaded"}),
    ("host-limit", ARMED, {"last_assistant_message": "You've hit your limit · resets 11pm"}),
    ("block", ARMED, {"last_assistant_message": "The log says: API Error 529"}),
    ("block", ARMED, {"last_assistant_message": "API Error handling is done. " + "More detail. " * 40}),
    ("background-agent", ARMED, {"background_tasks": [AGENT]}),
    ("background-agent", ARMED, {"background_tasks": [{"type": "workflow", "status": "pending"}]}),
    ("block", ARMED, {"background_tasks": [{**AGENT, "status": "completed"}]}),
    ("block", ARMED, {"background_tasks": [], "session_crons": []}),
    ("wake-up", ARMED, {"session_crons": [{"recurring": False}]}),
    ("block", ARMED, {"session_crons": [{"recurring": True}]}),
    ("background-shell", ARMED, {"background_tasks": [SHELL]}),
    ("background-shell", with_ulw(shellExcuses=1), {"background_tasks": [SHELL]}),
    ("block", with_ulw(shellExcuses=2), {"background_tasks": [SHELL]}),
    ("waiting", session.suspend(ARMED, why="w"), {}),
    ("waiting", session.pause(ARMED, why="w", told=False), {}),
    ("waiting", session.suspend(ARMED, whom="outside", why="w"), {}),
    ("done", session.finish(ARMED, outcome.outcome("attested", "it is"), at=stamp(NOW), files={}), {}),
    ("block", with_work(total=2, open=0), {}),
    ("not-active", {**ARMED, "work": {"laps": {"state": "ended", "endedBy": "cap"}}}, {}),
    ("block", ARMED, {"last_assistant_message": "API Error handling is implemented and the tests pass."}),
    ("block", ARMED, {"last_assistant_message": "API Error: fixed in client.py, done."}),
    ("block", ARMED, {"last_assistant_message": "You've hit your limit on retries in retry.py; I fixed that."}),
    ("block", ARMED, {"last_assistant_message": "You've reached your goal: the counter resets at midnight."}),
    ("block", ARMED, {"last_assistant_message": "API Error: 529 overloaded\nis what the log says, and I mended it."}),
    ("block", ARMED, {"last_assistant_message": "API Error: 529 overloaded, says the log. " + "More detail. " * 40}),
    ("host-limit", ARMED, {"last_assistant_message": "API Error: Connection error."}),
    ("host-limit", ARMED, {"last_assistant_message": "Claude AI usage limit reached|1794834569"}),
    ("block", with_work(total=2, open=1), {}),
    ("block", with_work(total=0, open=0), {}),
    ("block", {**with_work(total=2, open=0), "work": {"ultragoal": {"state": "active", "total": 2, "open": 0}}}, {}),
    ("cap", with_ulw(stopBlocks=8), {}),
    ("cap", with_ulw(stopBlocks=9), {}),
    ("block", with_ulw(stopBlocks=7), {}),
    ("block", with_ulw(lastStopAt=stamp(NOW - 2.9)), {"stop_hook_active": True}),
    ("block", with_ulw(lastStopAt=stamp(NOW - 3.1)), {"stop_hook_active": True}),
    ("cooldown", with_ulw(lastStopAt=stamp(NOW - 3.1), limits={"cooldown_seconds": 60}), {"stop_hook_active": True}),
    ("block", with_ulw(lastStopAt=stamp(NOW - 55), limits={"cooldown_seconds": 60}), {"stop_hook_active": True}),
    ("block", with_ulw(lastStopAt=stamp(NOW + 3600)), {}),
    ("duplicate", with_ulw(lastStopAt=stamp(NOW - 1), lastStop=event().fingerprint), {}),
    ("ceiling", with_ulw(totalBlocks=64), {}),
    ("ceiling", with_ulw(armedAt=stamp(NOW - 8 * 3600 - 1)), {}),
    ("budget", {**ARMED, "budget": {"agents": 2}, "spent": {"agents": 2}}, {}),
    ("budget", {**ARMED, "budget": {"tokens": 2}, "spent": {"tokens": 1, "unknown": "it is gone"}}, {}),
    ("block", {**ARMED, "budget": {"agents": 2}, "spent": {"agents": 1, "unknown": "it is gone"}}, {}),
    ("block", {**ARMED, "budget": {"tokens": "many", "minutes": -1, "agents": True}, "spent": {"tokens": []}}, {}),
    ("other-loop", with_ulw(otherLoop={"name": "/goal", "about": "x", "ends": "/goal clear"}), {}),
    ("cap", with_ulw(stopBlocks=8, otherLoop={"name": "/goal"}), {}),
    ("block", with_ulw(otherLoop={"name": "/goal"}), {"hook_event_name": "Stop"}),
    ("block", MINIMUM, {}),
    ("block", ARMED, {}),
]


@pytest.mark.parametrize(("rule", "row", "fields"), CASES, ids=[f"{n}-{case[0]}" for n, case in enumerate(CASES)])
def test_the_rule_that_decides(rule: str, row: Any, fields: dict[str, Any]) -> None:
    assert rules.deciding_rule(situation(row, **dict(fields))).name == rule


def test_what_is_paused_beside_a_command_of_which_nothing_was_begun_stays_so() -> None:
    paused = {**session.pause(ARMED, why="w", told=False), "asked": "laps"}
    after: Any = rules.decide(situation(paused, permission_mode="plan")).row
    assert (after["ulw"]["enabled"], after["work"]["ulw"]["state"], "asked" in after) == (True, "paused", False)


RULE: Any = {"name": "x", "why": "it is so", "when": lambda s: False, "facts": rules.OF_THE_EVENT}


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        (RULE, "turn"),
        ({"name": "x", "why": "it is so", "turn": rules.OFF, "when": lambda s: False}, "facts"),
        ({**RULE, "turn": rules.WOKEN}, "then"),
        ({**RULE, "turn": rules.SENT_BACK, "then": lambda s, rule: s.row}, "reason"),
        ({**RULE, "turn": rules.TOLD}, "then"),
        ({**RULE, "turn": rules.OVER, "then": lambda s, rule: s.row}, "cause, way_on"),
    ],
)
def test_a_rule_that_lacks_something_cannot_be_made(given: Any, missing: str) -> None:
    with pytest.raises(TypeError, match=missing):
        rules.Rule(**given)


def test_every_rule_has_a_case() -> None:
    needs_a_transcript = {"prompt-queued", "quote-message", "message-quoted", "refused"}  # see the hook's tests
    covered = {rule for rule, _, _ in CASES} | needs_a_transcript
    assert {rule.name for rule in (*rules.RULES, rules.BLOCK)} == covered


def test_an_earlier_rule_wins_over_every_later_one() -> None:
    worst = session.cancel(with_ulw(stopBlocks=99, lastStopAt=stamp(NOW)), reason="user", now=NOW)
    assert rules.deciding_rule(situation(worst, permission_mode="plan", background_tasks=[AGENT])).name == "cancelled"
    assert rules.deciding_rule(situation(worst, agent_id="a")).name == "subagent"
    assert rules.deciding_rule(situation(worst, agent_id="a", disabled=True)).name == "switched-off"


def play(row: Any, stops: int, apart: float, **fields: Any) -> list[str]:
    """Let an agent stop again and again, `apart` seconds from each other."""
    names = []
    for number in range(stops):
        change = rules.decide(situation(row, NOW + number * apart, **fields))
        names.append(change.rule.name)
        row = change.row if change.row is not None else row
    return names


def test_within_the_cooldown_no_second_block_is_given_and_nothing_ends() -> None:
    first = rules.decide(situation(ARMED))
    second = rules.decide(situation(first.row, NOW + 1.0, stop_hook_active=True))
    assert (second.rule, second.text, second.row, second.events) == (rules.BLOCK, "", None, [])
    assert situation(first.row, NOW + 1.0).cooldown_left() == pytest.approx(2.0)
    third = rules.decide(situation(first.row, NOW + 3.1, stop_hook_active=True))
    assert "Block 2 of 8" in third.text


def test_the_cap_decides_before_anybody_waits() -> None:
    assert rules.deciding_rule(situation(with_ulw(stopBlocks=8, lastStopAt=stamp(NOW)))).name == "cap"


@pytest.mark.parametrize(
    ("command", "is_only"),
    [
        ("omo ulw status", True),
        ("omo gate run; omo ulw done", True),
        ("omo gate run && omo ulw done || omo ulw status", True),
        ("/path/to/bin/omo ulw status 2>&1", True),
        ("omo ulw blocked --evidence \"no key; cannot go on\" --question 'Which && why?'", True),
        ("omo ledger verify\nomo ulw status\n", True),
        ("omo ulw status | head -3", False),
        ("cd x && omo ulw status", False),
        ("pytest -q; omo gate run", False),
        ('omo ulw blocked --evidence "$(cat secret)"', False),
        ("omo ulw blocked --evidence `id`", False),
        ("ls", False),
        ("", False),
    ],
)
def test_commands_of_omo_alone(command: str, is_only: bool) -> None:
    assert is_omo_only(command) is is_only


def test_the_ceiling_holds_even_when_progress_renews_the_budget() -> None:
    row: Any = ARMED
    blocks = 0
    for number in range(100):
        change = rules.decide(situation(row, NOW + number * 4.0))
        blocks += change.rule is rules.BLOCK
        assert change.row is not None or change.rule.name == "not-active"
        row = session.progress(change.row) if change.row else row
    assert blocks == 64


def test_a_shell_excuses_two_stops_in_a_row_and_again_after_a_block() -> None:
    rules = play(ARMED, 6, 4.0, background_tasks=[SHELL])
    assert rules == ["background-shell", "background-shell", "block"] * 2


def test_limits_stored_when_the_run_was_armed_hold() -> None:
    row = session.arm(None, by="user", limits={**LIMITS, "max_stop_blocks": 2}, now=NOW)
    assert play(row, 4, 4.0) == ["block", "block", "cap", "not-active"]


@pytest.mark.parametrize(
    ("name", "stored", "own", "holds"),
    [
        ("max_stop_blocks", 1, 8, 8),
        ("max_stop_blocks", 500, 8, 8),
        ("max_stop_blocks", 2, 2, 2),
        ("max_stop_blocks", 8, 1, 8),
        ("max_stop_blocks", 20, 20, 20),
        ("max_total_blocks", 1, 64, 64),
        ("max_hours", 0.01, 8.0, 8.0),
        ("cooldown_seconds", 9999.0, 3.0, 3.0),
        ("cooldown_seconds", 3.0, 9999.0, 3.0),
        ("cooldown_seconds", 0.001, 0.001, 0.001),
        ("cooldown_seconds", 0.001, 3.0, 3.0),
    ],
)
@pytest.mark.parametrize("by", ["agent", "ultragoal", "verify", None, 7])
def test_an_agents_shell_shrinks_and_stretches_no_limit(
    name: str, stored: float, own: float, holds: float, by: str
) -> None:
    """Stored is what its command saw; own is what the hook sees, in the user's environment and the project's file."""

    def limits(value: float) -> Any:
        return dict(LIMITS) | {name: value}

    row = session.arm(None, by=by, limits=limits(stored), now=NOW)
    assert Situation(event(), row, limits(own), NOW).limits == limits(holds)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
ROWS = st.fixed_dictionaries(
    {},
    optional={
        "ulw": ANYTHING
        | st.fixed_dictionaries(
            {"enabled": st.booleans()},
            optional={"stopBlocks": ANYTHING, "lastStopAt": ANYTHING, "armedAt": ANYTHING, "limits": ANYTHING},
        ),
        "stopContinuation": ANYTHING | st.fixed_dictionaries({"disabled": ANYTHING}),
        "work": ANYTHING | st.dictionaries(st.sampled_from(["ulw", "laps"]), ANYTHING, max_size=2),
    },
)
FIELDS = st.dictionaries(
    st.sampled_from(["background_tasks", "session_crons", "permission_mode", "last_assistant_message", "agent_id"]),
    ANYTHING,
    max_size=4,
)


@given(row=ROWS, fields=FIELDS)
def test_any_row_and_any_event_end_in_a_decision_that_advances(row: Any, fields: dict[str, Any]) -> None:
    blocks = 0
    for number in range(12):
        change = rules.decide(situation(row, NOW + 4.0 * number, **fields))
        blocks += change.rule is rules.BLOCK
        row = change.row if change.row is not None else row
    assert blocks <= 8


@given(
    given_up=st.lists(ANYTHING | st.fixed_dictionaries({}, optional={"run": ANYTHING, "what": ANYTHING}), max_size=3)
)
def test_what_was_given_up_is_told_whatever_somebody_made_of_it(given_up: Any) -> None:
    ended = session.finish(ARMED, outcome.outcome("proven", "gate t passes"), at=stamp(NOW), files={})
    decision = rules.decide(situation({**ended, "givenUp": given_up}))
    assert (decision.rule.name, bool(decision.text)) == ("done", True)


@given(blocks=st.integers(0, 20), total=st.integers(0, 100), ago=st.floats(0, 100), hours=st.floats(0, 20))
def test_caps_never_grow_and_zero_is_never_infinite(blocks: int, total: int, ago: float, hours: float) -> None:
    row = with_ulw(stopBlocks=blocks, totalBlocks=total, lastStopAt=stamp(NOW - ago), armedAt=stamp(NOW - hours * 3600))
    change = rules.decide(situation(row, stop_hook_active=True))
    if change.cooldown:
        assert change.row is None
        assert ago < 3.01
        return
    assert change.row is not None
    if change.rule is rules.BLOCK:
        assert blocks < 8
        assert total < 64
        assert ago > 2.99
        assert hours < 8.01
    assert change.row["ulw"]["limits"] == LIMITS
