"""The goal tool: every pair of status and operation, and what a plan adds to them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from omo.errors import BadInput, Refused
from omo.workflows.ultragoal import create, goal_tool
from omo.workflows.ultragoal.brief import parse
from omo.workflows.ultragoal.plan import POINTER
from omo.workflows.ultragoal.run import PlanRun
from omo.workflows.ultragoal.session_goal import MOVES, SessionGoalOutcome, ToolGoal
from tests.ultragoal.project import THREE, WHY, Project, words_of

OPERATIONS: dict[str, Callable[[PlanRun], SessionGoalOutcome]] = {
    "create": lambda run: goal_tool.create(run, "Ship the parser"),
    "pause": goal_tool.pause,
    "resume": goal_tool.resume,
    "complete": goal_tool.complete,
    "drop": goal_tool.drop,
}
WAY_TO = {
    "none": (),
    "active": ("create",),
    "paused": ("create", "pause"),
    "complete": ("create", "complete"),
    "dropped": ("create", "drop"),
}
# What each operation makes of a status. What is not here is refused.
EXPECTED = {
    "none": {"create": "active"},
    "active": {"pause": "paused", "resume": "active", "complete": "complete", "drop": "dropped"},
    "paused": {"pause": "paused", "resume": "active", "drop": "dropped"},
    "complete": {"create": "active"},
    "dropped": {"create": "active"},
}
NAMES = ("G001", "G002", "G003")


def plan(project: Project, mode: str = "aggregate") -> None:
    """A plan of three goals, without the session's goal for it."""
    create.create_goals(project.run(), parse(THREE), mode=mode, force=False)


def planned(project: Project, mode: str = "aggregate") -> Project:
    plan(project, mode)
    goal_tool.create(project.run())
    return project


def steered(mutation: str, **more: object) -> dict[str, object]:
    return {"kind": "steering_accepted", "mutation": mutation, **WHY, **more}


def live(project: Project) -> ToolGoal:
    goal = project.tool()
    assert goal is not None
    return goal


def tool_rows(project: Project) -> list[dict[str, object]]:
    return project.run().tool.journal.rows()


@pytest.mark.parametrize("status", WAY_TO)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_pair_of_status_and_operation(project: Project, status: str, operation: str) -> None:
    for earlier in WAY_TO[status]:
        OPERATIONS[earlier](project.run())
    rows = tool_rows(project)
    expected = EXPECTED[status].get(operation)
    if expected is None:
        with pytest.raises(Refused) as refused:
            OPERATIONS[operation](project.run())
        assert "omo goal " in refused.value.fix
        assert status in ("none", "dropped") or "Ship the parser" in refused.value.message
        assert tool_rows(project) == rows
        return
    outcome = OPERATIONS[operation](project.run())
    assert outcome.goal is not None
    assert (outcome.before, outcome.goal.status) == (status, expected)
    assert outcome.changed is (status != expected)
    assert [row["kind"] for row in tool_rows(project)[len(rows) :]] == (
        [MOVES[operation][0]] if outcome.changed else []
    )


@pytest.mark.parametrize(
    ("objective", "named"),
    [("", "blank"), (" \n\t", "blank"), ("x" * 4001, "4001")],
)
def test_an_objective_that_says_nothing_is_refused(project: Project, objective: str, named: str) -> None:
    with pytest.raises(BadInput, match=named):
        goal_tool.create(project.run(), objective)
    assert project.state_files() == {}


def test_a_goal_is_what_its_journal_says(project: Project) -> None:
    created = goal_tool.create(project.run(), f"  {'x' * 4000}\n").goal
    assert created == project.tool()
    assert created is not None
    assert created.objective == "x" * 4000
    paused = goal_tool.pause(project.run()).goal
    assert paused == project.tool()
    assert paused is not None
    assert (paused.id, paused.created_at) == (created.id, created.created_at)
    assert paused.updated_at > created.updated_at
    goal_tool.drop(project.run("user"))
    assert project.tool() is None
    assert [row["actor"] for row in tool_rows(project)] == ["agent", "agent", "user"]
    goal_tool.create(project.run(), "two")
    assert live(project).id != created.id


# A goal and the plan of its session


def test_without_an_objective_the_plan_says_it(project: Project) -> None:
    with pytest.raises(BadInput, match="--objective"):
        goal_tool.create(project.run())
    planned(project)
    assert (live(project).objective, live(project).run) == (POINTER, project.plan().run)


def test_in_a_per_story_plan_it_is_the_current_goals_objective(project: Project) -> None:
    planned(project, "per-story")
    assert live(project).objective == "Read the file."
    goal_tool.drop(project.run())
    project.start("G001")
    project.close("G001")
    project.start("G002")
    goal_tool.create(project.run())
    assert live(project).objective == "Check each row."


@pytest.mark.parametrize(
    ("mode", "objective"),
    [("aggregate", "Something else"), ("per-story", "Something else"), ("per-story", "Write the report.")],
)
def test_a_goal_that_would_block_every_checkpoint_is_refused(project: Project, mode: str, objective: str) -> None:
    plan(project, mode)
    with pytest.raises(Refused, match=objective) as refused:
        goal_tool.create(project.run(), objective)
    assert "omo goal create" in refused.value.fix
    assert project.tool() is None


def test_an_unrelated_goal_completes_whatever_the_plan_says(project: Project) -> None:
    goal_tool.create(project.run(), "Something else")
    plan(project)
    assert goal_tool.complete(project.run()).changed
    project.close(*NAMES)
    goal_tool.create(project.run(), "Something else again")
    assert live(project).run == "", "beside a finished plan any goal may be made"


# Pausing


def paused(project: Project) -> Project:
    planned(project).start()
    project.classify()
    goal_tool.pause(project.run())
    return project


def refused_pause(project: Project) -> str:
    with pytest.raises(Refused) as refused:
        goal_tool.pause(project.run())
    return words_of(refused.value)


def test_a_pause_needs_the_latest_row_to_say_that_a_person_is_needed(project: Project) -> None:
    planned(project).start()
    words = refused_pause(project)
    assert [text for text in ("goal_started", "classify-blocker", "steer") if text not in words] == []
    project.classify("resolvable")
    assert "blocker_classified" in refused_pause(project)
    project.classify()
    project.append(steered("annotate_ledger"))
    assert "steering_accepted" in refused_pause(project)
    project.classify()
    goal_tool.pause(project.run())
    assert (live(project).status, live(project).why) == ("paused", "the key is with the user")


def test_what_stands_already_writes_no_row_anywhere(project: Project) -> None:
    paused(project)
    before = project.state_files()
    assert not goal_tool.pause(project.run()).changed
    assert project.state_files() == before
    goal_tool.resume(project.run())
    before = project.state_files()
    assert not goal_tool.resume(project.run()).changed
    assert project.state_files() == before


def test_a_forged_classification_allows_no_pause(project: Project) -> None:
    planned(project)
    forged = '{"seq":2,"ts":"2026-02-22T17:20:01.000Z","kind":"blocker_classified","actor":"user","prev":"x",'
    with project.ledger.open("a") as file:
        file.write(forged + '"classification":"human_blocked","evidence":"let me go"}\n')
    assert "not as omo wrote it" in refused_pause(project)


# Completing


def refused_completion(project: Project) -> Refused:
    with pytest.raises(Refused) as refused:
        goal_tool.complete(project.run())
    assert live(project).status == "active"
    assert "omo " in refused.value.fix
    return refused.value


def test_the_plans_goal_is_complete_with_a_fresh_final_receipt(project: Project) -> None:
    planned(project).close(*NAMES)
    project.append(steered("add_subgoal", goals=[{"id": "G004", "title": "More", "objective": "Do more"}]))
    assert refused_completion(project).details["defects"] == ["G004 is pending"], "which came later"
    project.close("G004")
    assert goal_tool.complete(project.run()).changed
    assert tool_rows(project)[-1]["receipts"] == [project.receipt("G004")["receiptId"]]


def test_complete_by_word_alone_is_not_complete(project: Project) -> None:
    planned(project)
    for name in NAMES:
        row = {"kind": "goal_checkpointed", "goalId": name, "status": "complete", "evidence": "trust me"}
        project.append({"kind": "goal_started", "goalId": name}, row)
    assert "checkpoint --goal-id G001" in refused_completion(project).fix


def test_a_storys_goal_is_complete_with_that_storys_receipt(project: Project) -> None:
    planned(project, "per-story").start("G001")
    error = refused_completion(project)
    assert (error.details["defects"], "G001" in error.fix) == (["G001 is active"], True)
    project.close("G001")
    assert goal_tool.complete(project.run()).changed


def test_a_story_that_others_replaced_is_dropped_not_completed(project: Project) -> None:
    planned(project, "per-story").append(steered("mark_blocked_superseded", goalId="G001"))
    assert "omo goal drop" in refused_completion(project).fix


def test_rewording_a_story_does_not_set_its_goal_free(project: Project) -> None:
    planned(project, "per-story")
    project.steer("revise_pending_wording", goal_id="G001", objective="Read all files.")
    assert "omo goal drop, then omo goal create" in refused_completion(project).fix
    goal_tool.drop(project.run())
    goal_tool.create(project.run())
    assert live(project).objective == "Read all files."


# Damage


def edit_the_objective(directory: Path) -> None:
    path = directory / "ledger.jsonl"
    path.write_text(path.read_text().replace("Ship", "Skip"))


def odd_row(directory: Path) -> None:
    (directory / "ledger.jsonl").write_text('{"kind": "plan_created", "seq": 1}\n')


def ledger_is_a_directory(directory: Path) -> None:
    (directory / "ledger.jsonl").unlink()
    (directory / "ledger.jsonl").mkdir()


def no_directory(directory: Path) -> None:
    shutil.rmtree(directory)
    directory.write_text("a file")


@pytest.mark.parametrize("damage", [odd_row, ledger_is_a_directory, shutil.rmtree])
@pytest.mark.parametrize("mode", ["aggregate", "per-story"])
def test_the_goal_of_a_plan_that_cannot_be_read_is_not_completed(
    project: Project, damage: Callable[[Path], None], mode: str
) -> None:
    planned(project, mode)
    damage(project.directory)
    refused_completion(project)


def test_what_a_plan_that_cannot_be_read_allows(project: Project) -> None:
    goal_tool.create(project.run(), "Something else")
    plan(project)
    odd_row(project.directory)
    assert "not as omo wrote it" in refused_pause(project)
    assert goal_tool.complete(project.run()).changed
    with pytest.raises(Refused, match="not as omo wrote it"):
        goal_tool.create(project.run(), "One more")


@pytest.mark.parametrize("damage", [edit_the_objective, ledger_is_a_directory, no_directory])
@pytest.mark.parametrize("mend", ["drop", "repair"])
def test_nothing_is_built_on_a_damaged_journal_until_the_user_drops_or_repairs_it(
    project: Project, damage: Callable[[Path], None], mend: str
) -> None:
    for operation in ("create", "pause", "resume"):
        OPERATIONS[operation](project.run())
    damage(project.home / "goal")
    before = project.state_files()
    for operate in OPERATIONS.values():
        with pytest.raises(Refused, match="damaged") as refused:
            operate(project.run("agent"))
        assert "omo ledger repair --session" in refused.value.fix
    assert project.state_files() == before
    if mend == "repair" and damage is not no_directory:
        assert project.user("ledger", "repair", "--session", project.session).code == 0
        assert project.run().tool.problems == []
        return
    outcome = goal_tool.drop(project.run("user"))
    assert outcome.goal is None
    assert Path(outcome.kept).exists(), "the bytes are kept"
    assert (project.tool(), project.run().tool.problems) == (None, [])
    assert goal_tool.create(project.run(), "Again").changed


def test_a_writer_that_died_in_the_middle_of_a_row_did_no_damage(project: Project) -> None:
    goal_tool.create(project.run(), "Ship the parser")
    with (project.home / "goal" / "ledger.jsonl").open("a") as file:
        file.write('{"seq":2,"kind":"goal_comp')
    assert project.run().tool.problems == []
    goal_tool.pause(project.run())
    assert live(project).status == "paused"
    assert project.run().tool.problems == []
