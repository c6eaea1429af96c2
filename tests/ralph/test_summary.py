"""What Stop reads of a run: when it holds, when it lets go and tells the user, and what the nudge names."""

from __future__ import annotations

from pathlib import Path

import pytest

from omo.hooks import messages, session, stop
from omo.hosts.claude import event_of
from omo.ralph import ending, outcomes
from omo.settings import LIMITS
from omo.state.runtime import is_live
from tests.ralph.desk import Desk, criterion, desk, question

KNOBS = {knob.name: knob.default for knob in LIMITS}


@pytest.fixture
def at_desk(tmp_path: Path) -> Desk:
    return desk(tmp_path)


def decide(at_desk: Desk) -> tuple[str, str]:
    """The rule Stop would apply now, and what it would say."""
    event = event_of({"session_id": "s1", "hook_event_name": "Stop"})
    situation = stop.Situation(event, at_desk.row(), KNOBS, at_desk.now + 3600)
    change = stop.carry_out(situation)
    rule, text = change.answer
    return rule.name, text


def count_blocks(at_desk: Desk, blocks: int) -> None:
    for _ in range(blocks):
        at_desk.change_row(lambda row: session.count_block(row, now=at_desk.now, fingerprint="x"))


def test_it_holds_from_the_start_to_the_verdict_and_names_what_is_open(at_desk: Desk) -> None:
    at_desk.start(criterion(1), criterion(2, question()))
    assert decide(at_desk)[0] == "block"
    assert "C1, C2 open" in decide(at_desk)[1]
    assert "omo ralph exec" in decide(at_desk)[1]
    at_desk.execute()
    assert "omo ralph phase PLAN" in decide(at_desk)[1]
    for name in ("PLAN", "IMPL", "VERIFY", "REFINE", "SHIP"):
        assert f"omo ralph phase {name}" in at_desk.told()["next"]
        at_desk.phase(name)
    assert "omo ralph brief" in decide(at_desk)[1]
    at_desk.judged(C1="pass")
    told = at_desk.told()
    assert (told["open"], told["total"]) == (1, 2)
    assert told["next"].startswith("C2 open after iteration 1 of 5")
    assert "omo ralph replan" in decide(at_desk)[1]


def test_the_next_command_survives_the_bound_of_the_nudge(at_desk: Desk) -> None:
    at_desk.start(*(criterion(number) for number in range(1, 51)))
    at_desk.execute()
    assert "C6 and 44 more" in at_desk.told()["next"]
    assert "omo ralph phase PLAN" in decide(at_desk)[1]
    assert len(decide(at_desk)[1]) <= messages.LONGEST_REASON


def test_a_pass_is_done(at_desk: Desk) -> None:
    at_desk.start()
    at_desk.round(C1="pass", C2="pass")
    assert (at_desk.told()["state"], at_desk.told()["open"]) == ("done", 0)
    rule, text = decide(at_desk)
    assert rule == "done"
    assert text.startswith("omo: finished on the agent's word: ralph run r")
    assert "2 of 2 criteria pass, iteration 1; decided by code alone" in text
    assert at_desk.told()["outcome"] == (at_desk.standing().ended or {})["outcome"]


def test_a_pass_that_a_judge_was_seen_to_give_is_judged(at_desk: Desk) -> None:
    at_desk.start(criterion(1), criterion(2, question()))
    at_desk.round(C1="pass", C2="pass")
    assert decide(at_desk)[1].startswith("omo: done, judged: ralph run r")


def test_less_than_all_is_said_with_the_pass(at_desk: Desk) -> None:
    at_desk.start(by="user", reduced_scope="a demonstration only")
    at_desk.round(C1="pass", C2="pass")
    ended_as = at_desk.told()["outcome"]
    assert ended_as["exceptions"] == [{"what": "reduced scope", "by": "user", "why": "a demonstration only"}]
    assert decide(at_desk)[1].startswith(
        "omo: ended with exceptions: reduced scope (by the user: a demonstration only); ralph run r"
    )


def test_a_gate_that_fails_and_was_accepted_is_an_exception(at_desk: Desk) -> None:
    at_desk.start()
    at_desk.execute()
    at = at_desk.standing()
    at.last_judged = {"gates": [{"name": "tests", "by": "user", "failed": True}]}
    ended_as = outcomes.outcome_of(at, "pass")
    assert (ended_as["verdict"], ended_as["exceptions"][0]["what"]) == ("waived", "gate tests fails")


@pytest.mark.parametrize(
    ("most", "rounds", "said"),
    [
        (5, 3, "is settled, not passed: 1 of 2 pass, C2 blocked"),
        (1, 1, "used its 1 iteration: 1 of 2 pass, C2 do not"),
        (2, 2, "used its 2 iterations: 1 of 2 pass, C2 do not"),
    ],
)
def test_every_other_end_lets_go_and_tells_the_user_once(at_desk: Desk, most: int, rounds: int, said: str) -> None:
    at_desk.start(max_iterations=most)
    for _ in range(rounds):
        at_desk.round(C1="pass")
    told = at_desk.told()
    assert (told["state"], told["own"], told["told"]) == ("blocked", True, False)
    assert (told["open"], told["total"]) == (1, 2)
    rule, text = decide(at_desk)
    assert rule == "waiting"
    assert text.startswith("omo: ended, not proven: ralph run r")
    assert said in text
    assert told["outcome"] == (at_desk.standing().ended or {})["outcome"]
    assert told["outcome"]["verdict"] == "ended"
    at_desk.change_row(session.told)
    at_desk.run().standing()
    assert decide(at_desk) == ("waiting", "")


def test_what_nobody_works_on_any_more_is_open_all_the_same(at_desk: Desk) -> None:
    """C2 failed three times and is blocked, C3 has just failed: one of three passes."""
    at_desk.start(criterion(1), criterion(2), criterion(3))
    for third in ("pass", "pass", "fail"):
        at_desk.round(C1="pass", C2="fail", C3=third)
    assert at_desk.standing().states["C2"].status == "BLOCKED"
    assert (at_desk.told()["state"], at_desk.told()["open"]) == ("active", 2)


def test_an_ended_run_is_woken_by_nobody(at_desk: Desk) -> None:
    at_desk.start(max_iterations=1)
    at_desk.round()
    at_desk.change_row(session.resume)
    assert at_desk.told()["state"] == "blocked"
    at_desk.start()
    assert at_desk.told()["state"] == "active"


def test_an_agent_that_gives_up_has_the_user_told(at_desk: Desk) -> None:
    at_desk.start()
    ending.abandon(at_desk.run(), "the task cannot be done")
    rule, text = decide(at_desk)
    assert rule == "waiting"
    assert text.startswith("omo: ended, not proven: the agent gave up ralph run r")
    assert "the task cannot be done" in text


def test_the_user_who_gives_up_is_done(at_desk: Desk) -> None:
    at_desk.start()
    run = at_desk.standing().run
    ending.abandon(at_desk.run(by="user", session="their-terminal", named=run), "no longer wanted")
    assert (at_desk.told()["state"], at_desk.told()["open"]) == ("done", 2)
    assert decide(at_desk)[1] == f"omo: ended, not proven: ralph run {run} was ended by the user: no longer wanted."
    assert at_desk.row("their-terminal") == {}


def test_a_first_pass_gives_the_budget_back_and_a_second_does_not(at_desk: Desk) -> None:
    at_desk.start(max_iterations=10)
    count_blocks(at_desk, 3)
    at_desk.round()
    assert at_desk.row()["ulw"]["stopBlocks"] == 3
    at_desk.round(C1="pass")
    assert (at_desk.row()["ulw"]["stopBlocks"], at_desk.row()["ulw"]["totalBlocks"]) == (0, 3)
    count_blocks(at_desk, 2)
    at_desk.round(C1="fail", C2="pass")
    assert at_desk.row()["ulw"]["stopBlocks"] == 0
    count_blocks(at_desk, 2)
    at_desk.round(C1="pass", C2="fail")
    assert at_desk.row()["ulw"]["stopBlocks"] == 2


def test_the_cap_of_blocks_holds_as_well(at_desk: Desk) -> None:
    at_desk.start()
    count_blocks(at_desk, int(KNOBS["max_stop_blocks"]))
    assert decide(at_desk)[0] == "cap"


def test_a_new_run_does_not_undo_what_a_breaker_let_go(at_desk: Desk) -> None:
    at_desk.start()
    at_desk.change_row(lambda row: session.exhaust(row, rule="cap", why="8 blocks"))
    ending.abandon(at_desk.run(), "to begin again with a full budget")
    at_desk.start()
    at_desk.execute()
    assert at_desk.told()["state"] == "exhausted"
    assert not at_desk.row()["ulw"]["enabled"]


def test_what_the_user_cancelled_stays_off(at_desk: Desk) -> None:
    at_desk.start()
    at_desk.cancel()
    at_desk.execute()
    assert not is_live(at_desk.row())
    assert decide(at_desk)[0] == "cancelled"


def test_what_the_user_paused_stays_paused(at_desk: Desk) -> None:
    at_desk.start()
    at_desk.change_row(lambda row: session.suspend(row, state="paused", why="the user said so"))
    at_desk.execute()
    assert at_desk.told()["state"] == "paused"
