"""What hooks read of a plan: how much is open, whether the session works or waits, and what is denied."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from omo.hooks import session
from omo.state import runtime
from omo.ultragoal import goal_tool, summary
from tests.ultragoal.workshop import ONE, TWO, Workshop


def told(shop: Workshop, **how: bool) -> dict[str, Any]:
    summary.publish_status(shop.run(), **how)
    return shop.told()


def begin(shop: Workshop, text: str = TWO) -> Workshop:
    shop.create(text)
    shop.hand_out()
    return shop


def row(shop: Workshop) -> dict[str, Any]:
    return runtime.session(shop.state, shop.session) or {}


def change_row(shop: Workshop, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    shop.now += 1
    runtime.change_session(
        shop.state,
        shop.session,
        lambda old: runtime.Change(None, change(old or {})),
        actor="hook",
        now=shop.now,
        wait=5,
    )


def test_a_plan_arms_the_session_and_says_what_is_next(shop: Workshop) -> None:
    begin(shop)
    found = told(shop)
    assert (found["state"], found["open"], found["total"]) == ("active", 2, 2)
    assert found["run"] == shop.plan().run
    assert found["next"] == "G001 Parse"
    assert row(shop)["ulw"]["enabled"] is True
    assert runtime.is_live(row(shop))


def test_what_is_not_just_work_is_told_with_its_command(shop: Workshop) -> None:
    begin(shop, ONE).set_back("G001", "failed")
    assert told(shop)["next"].endswith("omo ultragoal complete-goals --retry-failed")


def test_telling_the_same_twice_writes_once(shop: Workshop) -> None:
    begin(shop)
    told(shop)
    before = row(shop)
    told(shop)
    assert row(shop) == before


def test_no_plan_leaves_no_trace(shop: Workshop) -> None:
    assert summary.publish_status(shop.run()).action == "create-goals"
    assert row(shop) == {}


def test_a_receipt_gives_the_budget_of_blocks_back_and_a_setback_does_not(shop: Workshop) -> None:
    begin(shop)
    told(shop)
    change_row(shop, lambda old: session.note(old, stopBlocks=5))
    shop.set_back("G001", "failed")
    told(shop)
    assert row(shop)["ulw"]["stopBlocks"] == 5
    shop.complete("G001")
    told(shop, progressed=True)
    assert row(shop)["ulw"]["stopBlocks"] == 0


@pytest.mark.parametrize(
    ("end", "why"),
    [
        ("complete", "2 of 2 goals complete"),
        ("superseded", "1 of 2 goals complete, 1 superseded (1 without a replacement)"),
    ],
)
def test_nothing_open_lets_go_and_says_what_was_cut(shop: Workshop, end: str, why: str) -> None:
    begin(shop)
    if end == "superseded":
        shop.set_back("G001", "blocked")
        shop.supersede("G001")
    shop.finish()
    found = told(shop)
    assert (found["state"], found["open"]) == ("done", 0)
    assert found["outcome"]["why"].startswith(why)


def test_what_waits_for_a_person_lets_go_and_says_for_what(shop: Workshop) -> None:
    begin(shop, ONE).set_back("G001", "blocked")
    assert told(shop)["state"] == "active", "blocked alone is for the agent to resolve"
    shop.classify(goal="G001")
    found = told(shop)
    assert (found["state"], found["told"]) == ("blocked", False)
    assert "the key is with the user" in found["why"]
    shop.hand_out(retry_blocked=True)
    assert told(shop)["state"] == "active"


def test_one_goal_that_waits_for_a_person_does_not_stop_the_others(shop: Workshop) -> None:
    begin(shop).set_back("G001", "blocked")
    shop.classify(goal="G001")
    assert told(shop)["state"] == "active"


def test_a_paused_goal_pauses_the_session(shop: Workshop) -> None:
    begin(shop)
    shop.classify()
    goal_tool.pause(shop.run())
    found = told(shop)
    assert (found["state"], found["why"]) == ("paused", "the key is with the user")
    goal_tool.resume(shop.run())
    assert told(shop)["state"] == "active"


def test_what_the_user_paused_stays_paused_until_they_go_on(shop: Workshop) -> None:
    begin(shop)
    told(shop)
    change_row(shop, lambda old: session.suspend(old, state="paused", why="the user said wait"))
    shop.set_back("G001", "failed")
    assert told(shop)["state"] == "paused"
    change_row(shop, session.resume)
    assert told(shop)["state"] == "active"


def test_a_cancel_by_the_user_stays_in_force(shop: Workshop) -> None:
    begin(shop)
    change_row(shop, lambda old: session.cancel(old, reason="user", now=shop.now))
    told(shop)
    assert not runtime.is_live(row(shop))


# What is denied in the client


def denied(shop: Workshop, **changes: Any) -> dict[str, str]:
    summary.publish_status(shop.run(**changes))
    found: dict[str, str] = shop.told()["deny"]
    return found


def test_while_goals_are_open_no_question_no_pause_and_no_completion(shop: Workshop) -> None:
    found = denied(begin(shop))
    assert set(found) == {"ask", "pause", "complete"}
    assert "annotate_ledger" in found["ask"], "where the decision is noted instead"
    assert "record-review-blockers --goal-id G001" in found["ask"]
    assert "classify-blocker --classification human_blocked --goal-id G001" in found["pause"]
    assert "open: G001 active, G002 pending" in found["complete"]


def test_a_pause_is_allowed_only_while_the_latest_row_says_that_a_person_is_needed(shop: Workshop) -> None:
    begin(shop).classify()
    assert "pause" not in denied(shop)
    shop.steer("annotate_ledger")
    assert "pause" in denied(shop)
    shop.classify("resolvable")
    assert "pause" in denied(shop)


def test_a_person_being_needed_does_not_open_the_question_or_the_end(shop: Workshop) -> None:
    begin(shop).classify()
    assert set(denied(shop)) == {"ask", "complete"}


def commit_settings(shop: Workshop, text: str) -> Path:
    path = shop.root / ".sisyphus" / "omo.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    subprocess.run(["git", "add", "-f", str(path)], cwd=shop.root, check=True)
    subprocess.run(["git", *identity, "commit", "-qm", "x"], cwd=shop.root, check=True)
    return path


def test_whether_the_user_attends_is_told_as_it_was_committed_where_the_plan_began(shop: Workshop) -> None:
    path = commit_settings(shop, '{"attended": true}')
    found = told(begin(shop))
    assert (found["attended"], "ask" in found["deny"]) == (True, True), "the hook decides, in the user's environment"
    path.unlink()
    assert told(shop)["attended"] is True


@pytest.mark.parametrize("first", ["{}", '{"attended": false}', "rubbish", '{"attended": "x"}', "[]", "{" * 200_000])
def test_the_agent_cannot_make_the_user_attend_by_an_edit_of_the_projects_file(shop: Workshop, first: str) -> None:
    commit_settings(shop, first)
    begin(shop)
    commit_settings(shop, '{"attended": true}')
    assert "attended" not in told(shop)


def test_at_the_end_nothing_is_denied(shop: Workshop) -> None:
    begin(shop).finish()
    assert denied(shop) == {}


def test_a_missing_final_receipt_denies_the_end(shop: Workshop) -> None:
    begin(shop).finish()
    (shop.directory / "gates" / f"{shop.receipt('G001')['qualityGateHash']}.json").unlink()
    found = denied(shop)
    assert set(found) == {"complete"}
    assert "no fresh final receipt" in found["complete"]
    assert "checkpoint --goal-id G001" in found["complete"]


def test_an_unrelated_goal_may_be_completed(shop: Workshop) -> None:
    goal_tool.create(shop.run(), "Paint the shed")
    assert "complete" not in denied(begin(shop))


def test_a_per_story_plan_lets_go_of_the_question_and_the_pause_at_its_end(shop: Workshop) -> None:
    shop.create(TWO, mode="per-story")
    shop.hand_out()
    assert "G001 is active" in denied(shop)["complete"]
    shop.complete("G001")
    assert "complete" not in denied(shop), "the story the goal tool is about is proven"
    goal_tool.complete(shop.run())
    goal_tool.create(shop.run())
    shop.complete("G002")
    assert denied(shop) == {}
    assert shop.told()["state"] == "done"


def test_a_crash_before_the_session_was_told_is_made_up_for_by_the_next_command(shop: Workshop) -> None:
    begin(shop)
    told(shop)
    behind = row(shop)
    shop.complete("G001")
    assert shop.told()["open"] == 2, "the ledger is ahead"
    assert not shop.complete("G001").changed
    assert told(shop)["open"] == 1
    assert row(shop) != behind
