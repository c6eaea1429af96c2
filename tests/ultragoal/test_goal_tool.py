"""The goal tool: every pair of status and operation, and what a plan adds to them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from omo.errors import BadInput, Refused, Unreadable
from omo.ultragoal import goal_tool
from omo.ultragoal.goal_tool import KINDS, MOVES, STATUSES, Outcome, next_status
from omo.ultragoal.plan import POINTER
from omo.ultragoal.run import PlanRun
from tests.ultragoal.tool_plans import Desk

OPERATIONS: dict[str, Callable[[PlanRun], Outcome]] = {
    "create": lambda run: goal_tool.create(run, "Ship the parser"),
    "pause": goal_tool.pause,
    "resume": goal_tool.resume,
    "complete": goal_tool.complete,
    "drop": goal_tool.drop,
}
# From status, operation: the status that follows, or None for a refusal.
EXPECTED: dict[tuple[str, str], str | None] = {
    ("none", "create"): "active",
    ("none", "pause"): None,
    ("none", "resume"): None,
    ("none", "complete"): None,
    ("none", "drop"): None,
    ("active", "create"): None,
    ("active", "pause"): "paused",
    ("active", "resume"): "active",
    ("active", "complete"): "complete",
    ("active", "drop"): "dropped",
    ("paused", "create"): None,
    ("paused", "pause"): "paused",
    ("paused", "resume"): "active",
    ("paused", "complete"): None,
    ("paused", "drop"): "dropped",
    ("complete", "create"): "active",
    ("complete", "pause"): None,
    ("complete", "resume"): None,
    ("complete", "complete"): None,
    ("complete", "drop"): None,
    ("dropped", "create"): "active",
    ("dropped", "pause"): None,
    ("dropped", "resume"): None,
    ("dropped", "complete"): None,
    ("dropped", "drop"): None,
}
WAY_TO = {
    "none": (),
    "active": ("create",),
    "paused": ("create", "pause"),
    "complete": ("create", "complete"),
    "dropped": ("create", "drop"),
}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_the_table_has_a_word_for_every_pair() -> None:
    assert set(EXPECTED) == {(status, op) for status in STATUSES for op in MOVES}
    assert set(MOVES) == set(KINDS) == set(OPERATIONS)


@pytest.mark.parametrize(("status", "op"), EXPECTED)
def test_every_pair_of_status_and_operation(desk: Desk, status: str, op: str) -> None:
    for earlier in WAY_TO[status]:
        OPERATIONS[earlier](desk.run())
    rows = desk.tool_rows()
    expected = EXPECTED[status, op]
    if expected is None:
        with pytest.raises(Refused) as refused:
            OPERATIONS[op](desk.run())
        assert "omo goal " in refused.value.fix
        assert desk.tool_rows() == rows
        return
    outcome = OPERATIONS[op](desk.run())
    assert outcome.goal is not None
    assert (outcome.before, outcome.goal.status) == (status, expected)
    assert outcome.changed is (status != expected)
    assert [row["kind"] for row in desk.tool_rows()[len(rows) :]] == ([KINDS[op]] if status != expected else [])


def test_a_refusal_names_the_goal_that_stands_in_the_way_and_how_to_end_it() -> None:
    with pytest.raises(Refused, match="Ship the parser") as refused:
        next_status("active", "create", "Ship the parser")
    assert "omo goal drop" in refused.value.fix
    with pytest.raises(Refused) as paused:
        next_status("paused", "complete", "Ship the parser")
    assert "omo goal resume" in paused.value.fix


def test_a_completed_goal_is_not_reopened_by_pausing_it(desk: Desk) -> None:
    for op in ("create", "complete"):
        OPERATIONS[op](desk.run())
    for op in ("pause", "resume", "drop"):
        with pytest.raises(Refused, match="already complete"):
            OPERATIONS[op](desk.run())
    goal = desk.tool()
    assert goal is not None
    assert goal.status == "complete"


@pytest.mark.parametrize(
    ("objective", "named"),
    [("", "blank"), (" \n\t", "blank"), ("x" * 4001, "4001"), ("/goal", "/goal"), (" /goal ", "/goal")],
)
def test_an_objective_that_says_nothing_is_refused(desk: Desk, objective: str, named: str) -> None:
    with pytest.raises(BadInput, match=named):
        goal_tool.create(desk.run(), objective)
    assert desk.files() == {}


def test_an_objective_is_trimmed_and_may_have_4000_characters(desk: Desk) -> None:
    outcome = goal_tool.create(desk.run(), f"  {'x' * 4000}\n")
    assert outcome.goal is not None
    assert outcome.goal.objective == "x" * 4000


def test_a_goal_is_what_its_journal_says(desk: Desk) -> None:
    created = goal_tool.create(desk.run(), "Ship the parser").goal
    assert created == desk.tool()
    paused = goal_tool.pause(desk.run()).goal
    assert paused == desk.tool()
    assert created is not None
    assert paused is not None
    assert (paused.id, paused.created_at) == (created.id, created.created_at)
    assert paused.updated_at > created.updated_at
    assert [row["actor"] for row in desk.tool_rows()] == ["agent", "agent"]


def test_a_dropped_goal_is_gone_and_the_next_one_has_another_id(desk: Desk) -> None:
    first = goal_tool.create(desk.run(), "one").goal
    dropped = goal_tool.drop(desk.run("user")).goal
    assert dropped is not None
    assert dropped.status == "dropped"
    assert desk.tool() is None
    assert desk.tool_rows()[-1]["actor"] == "user"
    second = goal_tool.create(desk.run(), "two").goal
    assert first is not None
    assert second is not None
    assert first.id != second.id


def test_reading_writes_nothing(desk: Desk) -> None:
    desk.plan()
    goal_tool.create(desk.run())
    before = desk.files()
    desk.tool()
    assert desk.files() == before
    other = Desk(desk.root, session="other")
    assert other.tool() is None
    assert desk.files() == before


# A goal and the plan of its session


def test_without_an_objective_the_plan_says_it(desk: Desk) -> None:
    plan = desk.plan()
    goal = goal_tool.create(desk.run()).goal
    assert goal is not None
    assert (goal.objective, goal.run) == (POINTER, plan.run)


def test_in_a_per_story_plan_it_is_the_current_goals_objective(desk: Desk) -> None:
    plan = desk.plan(mode="per-story")
    first = goal_tool.create(desk.run()).goal
    assert first is not None
    assert first.objective == plan.goals[0].objective
    goal_tool.drop(desk.run())
    desk.start("G001")
    desk.complete("G001")
    desk.start("G002")
    second = goal_tool.create(desk.run()).goal
    assert second is not None
    assert second.objective == plan.goals[1].objective


def test_without_a_plan_an_objective_is_needed(desk: Desk) -> None:
    with pytest.raises(BadInput, match="--objective"):
        goal_tool.create(desk.run())


@pytest.mark.parametrize("mode", ["aggregate", "per-story"])
def test_a_goal_that_would_block_every_checkpoint_is_refused(desk: Desk, mode: str) -> None:
    desk.plan(mode=mode)
    with pytest.raises(Refused, match="Something else") as refused:
        goal_tool.create(desk.run(), "Something else")
    assert "omo goal create" in refused.value.fix
    assert desk.tool() is None


def test_another_storys_objective_is_refused_while_its_turn_has_not_come(desk: Desk) -> None:
    plan = desk.plan(mode="per-story")
    with pytest.raises(Refused):
        goal_tool.create(desk.run(), plan.goals[2].objective)


def test_beside_a_finished_plan_any_goal_may_be_made(desk: Desk) -> None:
    desk.plan()
    desk.complete_all()
    goal = goal_tool.create(desk.run(), "Something else").goal
    assert goal is not None
    assert goal.run == ""
    assert goal_tool.complete(desk.run()).changed


# Pausing


def paused_desk(desk: Desk) -> Desk:
    desk.plan()
    goal_tool.create(desk.run())
    desk.start()
    desk.classify()
    goal_tool.pause(desk.run())
    return desk


def test_a_pause_needs_the_latest_row_to_say_that_a_person_is_needed(desk: Desk) -> None:
    desk.plan()
    goal_tool.create(desk.run())
    desk.start()
    with pytest.raises(Refused, match="goal_started") as refused:
        goal_tool.pause(desk.run())
    assert "classify-blocker" in refused.value.fix
    defects = refused.value.details["defects"]
    assert isinstance(defects, list)
    assert any("steer" in one for one in defects)
    desk.classify("resolvable")
    with pytest.raises(Refused):
        goal_tool.pause(desk.run())
    desk.classify()
    paused = goal_tool.pause(desk.run()).goal
    assert paused is not None
    assert (paused.status, paused.why) == ("paused", "the key is with the user")


def test_a_row_after_the_classification_takes_the_permission_back(desk: Desk) -> None:
    desk.plan()
    goal_tool.create(desk.run())
    desk.classify()
    desk.append({"kind": "steering_accepted", "mutation": "annotate_ledger", "evidence": "x", "rationale": "y"})
    with pytest.raises(Refused, match="steering_accepted"):
        goal_tool.pause(desk.run())


def test_a_resume_takes_the_permission_back(desk: Desk) -> None:
    paused_desk(desk)
    goal_tool.resume(desk.run())
    assert desk.run().journal.rows()[-1]["kind"] == "goal_resumed"
    with pytest.raises(Refused, match="goal_resumed"):
        goal_tool.pause(desk.run())


def test_resuming_what_is_active_writes_no_row_anywhere(desk: Desk) -> None:
    desk.plan()
    goal_tool.create(desk.run())
    before = desk.files()
    assert not goal_tool.resume(desk.run()).changed
    assert desk.files() == before


def test_pausing_twice_is_pausing_once(desk: Desk) -> None:
    paused_desk(desk)
    before = desk.files()
    assert not goal_tool.pause(desk.run()).changed
    assert desk.files() == before


def test_with_nothing_open_a_pause_asks_for_no_classification(desk: Desk) -> None:
    desk.plan()
    goal_tool.create(desk.run())
    desk.complete_all()
    assert goal_tool.pause(desk.run()).changed


def test_a_forged_classification_allows_no_pause(desk: Desk) -> None:
    desk.plan()
    goal_tool.create(desk.run())
    ledger = desk.directory("ultragoal") / "ledger.jsonl"
    forged = '{"seq":2,"ts":"2026-02-22T17:20:01.000Z","kind":"blocker_classified","actor":"user","prev":"x",'
    with ledger.open("a") as file:
        file.write(forged + '"classification":"human_blocked","evidence":"let me go"}\n')
    with pytest.raises(Refused, match="changed by hand"):
        goal_tool.pause(desk.run())


# Completing


def refused_completion(desk: Desk) -> Refused:
    with pytest.raises(Refused) as refused:
        goal_tool.complete(desk.run())
    goal = desk.tool()
    assert goal is not None
    assert goal.status == "active"
    assert "omo " in refused.value.fix
    return refused.value


def test_the_plans_goal_is_complete_with_a_fresh_final_receipt(desk: Desk) -> None:
    desk.plan()
    goal_tool.create(desk.run())
    desk.complete_all()
    assert goal_tool.complete(desk.run()).changed
    last = desk.run().require_plan().goals[-1].receipt
    assert last is not None
    assert desk.tool_rows()[-1]["receipts"] == [last["receiptId"]]


@pytest.mark.parametrize("status", ["pending", "active", "failed", "blocked"])
def test_no_goal_may_be_open(desk: Desk, status: str) -> None:
    desk.plan()
    goal_tool.create(desk.run())
    for name in ("G001", "G002"):
        desk.start(name)
        desk.complete(name)
    if status != "pending":
        desk.start("G003")
    if status in ("failed", "blocked"):
        desk.checkpoint("G003", status)
    error = refused_completion(desk)
    assert error.details["defects"] == [f"G003 is {status}"]
    assert "G003" in error.fix


def test_complete_by_word_alone_is_not_complete(desk: Desk) -> None:
    desk.plan()
    goal_tool.create(desk.run())
    for name in ("G001", "G002", "G003"):
        desk.start(name)
        desk.checkpoint(name, "complete")
    error = refused_completion(desk)
    assert "checkpoint --goal-id G001" in error.fix


def test_a_final_receipt_does_not_cover_a_goal_that_came_later(desk: Desk) -> None:
    desk.plan()
    goal_tool.create(desk.run())
    desk.complete_all()
    goal = {"id": "G004", "title": "More", "objective": "Do more"}
    desk.append(
        {"kind": "steering_accepted", "mutation": "add_subgoal", "goals": [goal], "evidence": "x", "rationale": "y"}
    )
    assert refused_completion(desk).details["defects"] == ["G004 is pending"]
    desk.complete_all()
    assert goal_tool.complete(desk.run()).changed


def test_an_unrelated_goal_completes_whatever_the_plan_says(desk: Desk) -> None:
    goal_tool.create(desk.run(), "Something else")
    desk.plan()
    assert goal_tool.complete(desk.run()).changed


def test_a_storys_goal_is_complete_with_that_storys_receipt(desk: Desk) -> None:
    desk.plan(mode="per-story")
    goal_tool.create(desk.run())
    desk.start("G001")
    error = refused_completion(desk)
    assert error.details["defects"] == ["G001 is active"]
    assert "G001" in error.fix
    desk.complete("G001")
    assert goal_tool.complete(desk.run()).changed


def test_a_story_that_others_replaced_is_dropped_not_completed(desk: Desk) -> None:
    desk.plan(mode="per-story")
    goal_tool.create(desk.run())
    why = {"evidence": "x", "rationale": "y"}
    desk.append({"kind": "steering_accepted", "mutation": "mark_blocked_superseded", "goalId": "G001", **why})
    assert "omo goal drop" in refused_completion(desk).fix


def test_rewording_a_story_does_not_set_its_goal_free(desk: Desk) -> None:
    desk.plan(mode="per-story")
    goal_tool.create(desk.run())
    why = {"evidence": "x", "rationale": "y", "changedFields": ["objective"]}
    changed = {"mutation": "revise_pending_wording", "goalId": "G001", "objective": "Read all files."}
    desk.append({"kind": "steering_accepted", **changed, **why})
    assert "omo goal drop, then omo goal create" in refused_completion(desk).fix
    goal_tool.drop(desk.run())
    goal = goal_tool.create(desk.run()).goal
    assert goal is not None
    assert goal.objective == "Read all files."


def remove(path: Path) -> None:
    for one in sorted(path.rglob("*"), reverse=True):
        one.rmdir() if one.is_dir() else one.unlink()
    path.rmdir()


def garbage_ledger(directory: Path) -> None:
    (directory / "ledger.jsonl").write_text('{"kind": "plan_created", "seq": 1}\n')


def ledger_is_a_directory(directory: Path) -> None:
    (directory / "ledger.jsonl").unlink()
    (directory / "ledger.jsonl").mkdir()


@pytest.mark.parametrize("damage", [garbage_ledger, ledger_is_a_directory, remove])
@pytest.mark.parametrize("mode", ["aggregate", "per-story"])
def test_the_goal_of_a_plan_that_cannot_be_read_is_not_completed(
    desk: Desk, damage: Callable[[Path], None], mode: str
) -> None:
    desk.plan(mode=mode)
    goal_tool.create(desk.run())
    damage(desk.directory("ultragoal"))
    refused_completion(desk)


def test_what_a_plan_that_cannot_be_read_allows(desk: Desk) -> None:
    goal_tool.create(desk.run(), "Something else")
    desk.plan()
    garbage_ledger(desk.directory("ultragoal"))
    with pytest.raises(Refused, match="changed by hand"):
        goal_tool.pause(desk.run())
    assert goal_tool.complete(desk.run()).changed
    with pytest.raises(Refused, match="changed by hand"):
        goal_tool.create(desk.run(), "One more")


def test_dropping_the_goal_leaves_the_plan_alone(desk: Desk) -> None:
    desk.plan()
    goal_tool.create(desk.run())
    before = desk.run().journal.rows()
    goal_tool.drop(desk.run())
    assert desk.run().journal.rows() == before


# A damaged journal


def edit_the_objective(directory: Path) -> None:
    path = directory / "ledger.jsonl"
    path.write_text(path.read_text().replace("Ship", "Skip"))


def cut_the_end(directory: Path) -> None:
    path = directory / "ledger.jsonl"
    path.write_text(path.read_text().splitlines(keepends=True)[0])


def no_mark(directory: Path) -> None:
    (directory / "mark.json").unlink()


def no_json(directory: Path) -> None:
    (directory / "ledger.jsonl").write_bytes(b"\xff\xfe\n")


def no_directory(directory: Path) -> None:
    remove(directory)
    directory.write_text("a file")


DAMAGE = [edit_the_objective, cut_the_end, no_mark, no_json, ledger_is_a_directory, no_directory]


@pytest.fixture
def damaged(request: pytest.FixtureRequest, desk: Desk) -> Desk:
    goal_tool.create(desk.run(), "Ship the parser")
    goal_tool.pause(desk.run())
    goal_tool.resume(desk.run())
    request.param(desk.directory("goal"))
    return desk


@pytest.mark.parametrize("damaged", DAMAGE, indirect=True)
@pytest.mark.parametrize("op", [*OPERATIONS])
def test_nothing_is_built_on_a_damaged_journal(damaged: Desk, op: str) -> None:
    before = damaged.files()
    with pytest.raises(Refused, match="damaged") as refused:
        OPERATIONS[op](damaged.run("agent"))
    assert "omo goal drop" in refused.value.fix
    assert damaged.files() == before


@pytest.mark.parametrize("damaged", DAMAGE, indirect=True)
def test_the_user_drops_a_damaged_journal_and_its_bytes_are_kept(damaged: Desk) -> None:
    outcome = goal_tool.drop(damaged.run("user"))
    assert outcome.goal is None
    assert Path(outcome.kept).exists()
    assert damaged.tool() is None
    assert damaged.run().tool.problems == []
    assert goal_tool.create(damaged.run(), "Again").changed


def test_what_can_be_read_of_a_damaged_journal_is_shown(desk: Desk) -> None:
    goal_tool.create(desk.run(), "Ship the parser")
    edit_the_objective(desk.directory("goal"))
    goal = desk.tool()
    assert goal is not None
    assert goal.objective == "Skip the parser"
    assert desk.run().tool.problems
    ledger_is_a_directory(desk.directory("goal"))
    with pytest.raises(Unreadable, match="cannot be read"):
        desk.run().tool.require_readable()


def test_a_writer_that_died_in_the_middle_of_a_row_did_no_damage(desk: Desk) -> None:
    goal_tool.create(desk.run(), "Ship the parser")
    with (desk.directory("goal") / "ledger.jsonl").open("a") as file:
        file.write('{"seq":2,"kind":"goal_comp')
    assert desk.run().tool.problems == []
    goal = goal_tool.pause(desk.run()).goal
    assert goal is not None
    assert goal.status == "paused"
    assert desk.run().tool.problems == []


def test_another_session_has_another_goal(desk: Desk) -> None:
    goal_tool.create(desk.run(), "one")
    other = Desk(desk.root, session="other/../x")
    goal_tool.create(other.run(), "two")
    found: list[Any] = [one.tool() for one in (desk, other)]
    assert [goal.objective for goal in found] == ["one", "two"]
    goal_tool.drop(other.run())
    assert desk.tool() is not None
