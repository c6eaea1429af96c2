"""The four states of work: every move that a word, a command or a limit makes is in the table, and one run is on."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from omo.settings import DEFAULT_LIMITS
from omo.state import states
from omo.state.rows import EMPTY
from omo.state.runtime import is_left_open
from omo.work import outcome, room, session

RUNS = ("ultragoal", "ultraplan", "laps", "verify")
KINDS = ("ulw", *RUNS)
NOW = 1_771_780_801.0
PROVEN = outcome.outcome(outcome.PROVEN, "gate tests passes")
tasks = st.sampled_from([session.NEW_TASK, session.SAME_TASK, session.NO_TASK])

Row = Any


def test_the_page_has_the_table_of_the_code() -> None:
    script = Path(__file__).parents[2] / "docs" / "make_states.py"
    made = runpy.run_path(str(script))
    assert made["page"]() == made["PAGE"].read_text(encoding="utf-8")


def test_every_state_is_entered_and_left() -> None:
    assert {each.after for each in states.TRANSITIONS} == set(states.STATES)
    assert {each.before for each in states.TRANSITIONS} == {None, *states.STATES}


class Session(RuleBasedStateMachine):
    """A session's row, as prompts, commands and Stops change it."""

    def __init__(self) -> None:
        super().__init__()
        self.row: Row = EMPTY
        self.count = 0

    def changed(self, by: states.Mover, change: Callable[[Row], Row]) -> None:
        before, self.row = self.row, change(self.row)
        for kind, summary in self.row["work"].items():
            old = before["work"].get(kind, {})
            is_same = old.get("run") == summary.get("run")
            came_from = old.get("state") if is_same else None
            if is_same and came_from == summary["state"]:
                continue
            moves = [each for each in states.TRANSITIONS if (each.before, each.after) == (came_from, summary["state"])]
            assert by in [each.by for each in moves], (kind, came_from, summary["state"], by)

    def summary(self, kind: str, state: str, run: str = "") -> Row:
        summary = {"run": run or f"{kind}-{self.count}", "state": state, "open": 1, "total": 2, "next": None}
        if state == "ended":
            summary |= {"outcome": PROVEN, "open": 0}
        if state == "waiting":
            summary |= {"waitsFor": "outside", "why": "a key is missing", "question": "Which?", "told": False}
        return summary

    @rule(task=tasks)
    def ulw_is_typed(self, task: str) -> None:
        self.count += 1
        wanted = session.Wanted(session.KIND, task)
        now = NOW + self.count
        self.changed("user", lambda row: session.arm(row, by="user", limits=DEFAULT_LIMITS, now=now, wanted=wanted))

    @rule(kind=st.sampled_from(RUNS), task=tasks)
    def a_workflow_is_typed(self, kind: str, task: str) -> None:
        wanted = session.Wanted(kind, task)
        self.changed("user", lambda row: session.arm(row, by="user", limits=DEFAULT_LIMITS, now=NOW, wanted=wanted))
        self.row = {**self.row, "asked": kind}

    @rule(kind=st.sampled_from(RUNS), state=st.sampled_from(["active", "waiting"]), is_users=st.booleans())
    def a_run_is_begun(self, kind: str, state: str, is_users: bool) -> None:
        """As the workflow's own command does, which refuses an agent while another run is open, and any other while the
        one before is not over."""
        others = [summary for name, summary in room.runs(self.row, "active", "waiting", "paused") if name != kind]
        is_mine_left = is_left_open(self.row["work"].get(kind, {}))
        if is_mine_left or (others and not is_users and self.row.get("asked") != kind):
            return
        self.count += 1
        self.put("user" if is_users else "agent", kind, self.summary(kind, state if not is_users else "active"))

    @rule(kind=st.sampled_from(RUNS), state=st.sampled_from(["active", "waiting", "ended"]))
    def a_command_of_a_run_tells_how_it_stands(self, kind: str, state: str) -> None:
        old = self.row["work"].get(kind, {})
        if old.get("state") in ("active", "waiting", "paused"):
            self.put("agent", kind, self.summary(kind, state, old["run"]))

    def put(self, by: states.Mover, kind: str, summary: Row) -> None:
        def published(row: Row) -> Row:
            kept = session.kept_state(row, kind, summary)
            return session.put_work(row, kind, kept, limits=DEFAULT_LIMITS, now=NOW)

        self.changed(by, published)

    @rule(names=st.lists(st.sampled_from(KINDS), max_size=2))
    def stop_is_typed(self, names: list[str]) -> None:
        self.changed("user", lambda row: session.pause(row, why="you asked to stop", told=True, named=names))

    @rule(named=st.sampled_from(["", *KINDS]), is_armed_anew=st.booleans())
    def continue_is_typed(self, named: str, is_armed_anew: bool) -> None:
        if session.is_cancelled(self.row):
            return
        if is_armed_anew:
            self.changed(
                "user", lambda row: session.resume_with_all_blocks(row, limits=DEFAULT_LIMITS, now=NOW, named=named)
            )
        else:
            self.changed("user", lambda row: session.resume(row, named=named))

    @rule()
    def anything_is_typed(self) -> None:
        self.changed("user", lambda row: session.answered(session.resume(row, states=("waiting",), own=False)))

    @rule()
    def a_cancel_is_typed(self) -> None:
        self.changed("user", lambda row: session.cancel(row, reason="user", now=NOW))

    @rule()
    def a_breaker_lets_go(self) -> None:
        self.changed("omo", lambda row: session.exhaust(row, rule="cap", why="8 blocks without verified progress"))

    @rule()
    def the_host_ends_a_turn_by_a_limit(self) -> None:
        self.changed("host", lambda row: session.wait_for_host(row, "You've hit your limit"))

    @rule()
    def the_host_goes_on(self) -> None:
        self.changed("host", session.end_wait_for_host)

    @rule()
    def ultrawork_is_called_done(self) -> None:
        if session.is_ultrawork_on(self.row):
            self.changed("agent", lambda row: session.finish(row, PROVEN, at="", files={}))

    @rule()
    def files_change_after_an_end(self) -> None:
        for kind, summary in self.row["work"].items():
            if summary["state"] == "ended" and not summary.get("endedBy") and not room.is_another_on(self.row, kind):
                self.changed("omo", lambda row, kind=kind: session.reopened(row, kind, ["calc.py"]))  # type: ignore[misc]
                return

    @invariant()
    def one_run_is_on(self) -> None:
        on = [kind for kind, _ in room.runs(self.row, *room.GOING)]
        assert len(on) <= 1, on

    @invariant()
    def what_stands_still_is_the_users(self) -> None:
        """A pause ends by their word, so each says which: its name, where it made way for another."""
        for kind, summary in room.runs(self.row, "paused"):
            if room.is_another_on(self.row, kind):
                assert summary.get("madeWayFor"), (kind, summary)


TestSession = Session.TestCase
TestSession.settings = hypothesis_settings(max_examples=60, stateful_step_count=30, deadline=None)
