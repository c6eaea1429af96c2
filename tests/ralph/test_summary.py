"""What Stop reads of a run: when it holds, when it lets go and tells the user, and what the nudge names."""

from __future__ import annotations

import pytest

from omo.hosts.claude import event_of
from omo.settings import DEFAULT_LIMITS
from omo.stop import rules, sentences
from omo.stop.situation import Situation
from omo.work import session
from omo.workflows.ralph import end
from tests.ralph.project import Project, criterion


def decide(project: Project) -> tuple[str, str]:
    """The rule Stop would apply now, and what it would say."""
    event = event_of({"session_id": "s1", "hook_event_name": "Stop"})
    situation = Situation(event, project.row(), DEFAULT_LIMITS, project.now + 3600)
    decision = rules.decide(situation)
    return decision.rule.name, decision.text


def count_blocks(project: Project, blocks: int) -> None:
    for _ in range(blocks):
        project.change_row(lambda row: session.count_block(row, now=project.now, fingerprint="x"))


def test_the_next_command_survives_the_bound_of_the_nudge(project: Project) -> None:
    project.start(*(criterion(number) for number in range(1, 51)))
    assert "C6 and 44 more" in project.told()["next"]
    assert "omo ralph judge" in decide(project)[1]
    assert len(decide(project)[1]) <= sentences.LONGEST_REASON


def test_a_gate_that_fails_and_was_accepted_is_an_exception(project: Project) -> None:
    project.start()
    at = project.status()
    at.judged.append({"gates": [{"name": "tests", "by": "user", "failed": "fails"}]})
    ended_as = end.outcome_of(at, "pass")
    assert (ended_as["verdict"], ended_as["exceptions"][0]["what"]) == ("waived", "gate tests fails")


@pytest.mark.parametrize(
    ("most", "rounds", "said"),
    [
        (5, 3, "is settled, not passed: 1 of 2 pass, C2 blocked"),
        (1, 1, "used its 1 iteration: 1 of 2 pass, C2 does not"),
        (2, 2, "used its 2 iterations: 1 of 2 pass, C2 does not"),
    ],
)
def test_every_other_end_lets_go_and_tells_the_user_once(project: Project, most: int, rounds: int, said: str) -> None:
    project.start(max_iterations=most)
    for _ in range(rounds):
        project.judged(C1="pass")
    told = project.told()
    assert (told["state"], told["own"], told["told"]) == ("blocked", True, False)
    assert (told["open"], told["total"]) == (1, 2)
    rule, text = decide(project)
    assert rule == "waiting"
    assert text.startswith("omo: ended, not proven: ralph run r")
    assert said in text
    assert told["outcome"] == (project.status().ended or {})["outcome"]
    assert told["outcome"]["verdict"] == "ended"
    project.change_row(session.told)
    project.status()
    assert decide(project) == ("waiting", "")


def test_what_nobody_works_on_any_more_is_open_all_the_same(project: Project) -> None:
    """C2 failed three times and is blocked, C3 has just failed: one of three passes."""
    project.start(criterion(1), criterion(2), criterion(3))
    for third in ("pass", "pass", "fail"):
        project.judged(C1="pass", C2="fail", C3=third)
    assert project.status().states["C2"].status == "BLOCKED"
    assert (project.told()["state"], project.told()["open"]) == ("active", 2)


def test_an_ended_run_is_woken_by_nobody(project: Project) -> None:
    project.start(max_iterations=1)
    project.judged()
    project.change_row(session.resume)
    assert project.told()["state"] == "blocked"
    project.start()
    assert project.told()["state"] == "active"


def test_a_first_pass_gives_the_budget_back_and_a_second_does_not(project: Project) -> None:
    project.start(max_iterations=10)
    count_blocks(project, 3)
    project.judged()
    assert project.row()["ulw"]["stopBlocks"] == 3
    project.judged(C1="pass")
    assert (project.row()["ulw"]["stopBlocks"], project.row()["ulw"]["totalBlocks"]) == (0, 3)
    count_blocks(project, 2)
    project.judged(C1="fail", C2="pass")
    assert project.row()["ulw"]["stopBlocks"] == 0
    count_blocks(project, 2)
    project.judged(C1="pass", C2="fail")
    assert project.row()["ulw"]["stopBlocks"] == 2


def test_a_new_run_does_not_undo_what_a_breaker_let_go(project: Project) -> None:
    project.start()
    project.change_row(lambda row: session.exhaust(row, rule="cap", why="8 blocks"))
    project.abandon("to begin again with a full budget")
    project.start()
    assert project.told()["state"] == "exhausted"
    assert not project.row()["ulw"]["enabled"]
