"""`omo goal` and `omo state`, as the agent and the user type them."""

from __future__ import annotations

from pathlib import Path

import pytest

from omo import table
from omo.state import paths
from omo.work import session
from omo.workflows.ultragoal import create
from omo.workflows.ultragoal.brief import parse
from omo.workflows.ultragoal.plan import POINTER
from tests import texts
from tests.cli.sessions import next_stop
from tests.project import NOW, SESSION, Project
from tests.ultragoal.project import TWO
from tests.ultragoal.project import Project as GoalProject

MODES = "|".join([row.kind for row in table.ROWS if row.has_own_ledger])
HANDOFF = '{"current_phase":"handoff"}'

OBJECTIVE = "ultragoal-objective-of-the-plan"
DAMAGED = "ledger-damaged-goes-on"


@pytest.fixture
def goals(project: Project) -> GoalProject:
    """The same session, for what other commands would do to its plan."""
    return GoalProject(project.root, now=NOW, session=SESSION)


@pytest.fixture
def planned(project: Project, goals: GoalProject) -> GoalProject:
    make_plan(goals)
    goals.start()
    assert project.agent("goal", "resume").code == 0
    return goals


def make_plan(goals: GoalProject) -> None:
    create.create_goals(goals.run(), parse(TWO), mode="aggregate", force=False)


# omo goal


def test_a_session_without_a_goal(project: Project) -> None:
    ran = project.agent("goal", "get", "--json")
    assert (ran.code, ran.json) == (0, {"ok": True, "goal": None})
    assert "no goal" in project.agent("goal", "get").out
    assert not Path(project.state).exists()


def test_a_goal_from_its_creation_to_its_end(project: Project, planned: GoalProject) -> None:
    project.agent("goal", "drop")
    made = project.agent("goal", "create", "--objective", f" {POINTER} ", "--json").json
    shown = project.agent("goal", "get", "--json").json
    assert shown == {"ok": True, "goal": made["goal"]}
    assert set(shown["goal"]) == {"id", "objective", "status", "createdAt", "updatedAt"}
    assert (texts.says(shown["goal"]["objective"], OBJECTIVE), shown["goal"]["status"]) == (True, "active")
    assert shown["goal"]["createdAt"].endswith("Z")
    again = project.agent("goal", "create")
    assert again.code == 3
    assert POINTER[:100] in again.err
    assert "omo goal drop" in again.err
    planned.close("G001", "G002")
    assert project.agent("goal", "complete").code == 0
    assert project.agent("goal", "complete").code == 3
    assert project.agent("goal", "get", "--json").json["goal"]["status"] == "complete"


def test_get_shows_what_it_can_of_a_damaged_ledger(project: Project, planned: GoalProject) -> None:
    planned.ledger.write_text(planned.ledger.read_text().replace("goal_started", "goal_started_"))
    ran = project.agent("goal", "get", "--json")
    assert ran.code == 0
    assert texts.says(ran.json["goal"]["objective"], OBJECTIVE)
    assert ran.json["problems"]
    assert ran.says(DAMAGED, row=2)
    assert project.agent("goal", "drop").code == 0
    assert "problems" not in project.agent("goal", "get", "--json").json


def test_get_does_not_pretend_when_nothing_can_be_read(project: Project, planned: GoalProject) -> None:
    planned.ledger.unlink()
    planned.ledger.mkdir()
    ran = project.agent("goal", "get", "--json")
    assert ran.code == 3
    assert ran.json["error"]["code"] == "unreadable-state"
    assert "omo state clear --mode ultragoal --force" in ran.json["error"]["fix"]


def test_every_answer_names_the_next_step(project: Project, goals: GoalProject) -> None:
    make_plan(goals)
    project.agent("goal", "drop")
    made = project.agent("goal", "create", "--json").json
    assert made["next"]["command"] == "omo ultragoal complete-goals"
    assert "Next: " in project.agent("goal", "resume").out


def test_pausing_lets_the_turn_end_and_tells_why(project: Project, planned: GoalProject) -> None:
    refused = project.agent("goal", "pause", "--json")
    assert refused.code == 3
    assert "classify-blocker" in refused.json["error"]["fix"]
    assert len(refused.json["error"]["details"]) > 3
    assert next_stop(project) == "block"
    planned.classify()
    assert project.agent("goal", "pause").code == 0
    assert (planned.told()["state"], planned.told()["why"]) == ("paused", "the key is with the user")
    assert project.agent("ultragoal", "status").says("goal-active-parse-waits-for-person")
    assert next_stop(project) == "waiting"
    assert project.agent("goal", "resume").code == 0
    assert planned.told()["state"] == "active"
    assert not project.agent("ultragoal", "status").says("ultragoal-next-waits-for-person-password-is")
    assert next_stop(project) == "block"
    assert project.agent("goal", "pause").code == 3
    planned.classify()
    assert project.agent("goal", "pause").code == 0
    project.agent("goal", "drop")
    assert next_stop(project) == "block", "a paused goal that was dropped lets nothing go"


def test_a_resume_that_died_half_way_is_finished_by_the_next(project: Project, planned: GoalProject) -> None:
    planned.classify()
    project.agent("goal", "pause")
    before = Path(paths.runtime_file(project.state)).read_bytes()
    ledger = Path(paths.events_file(project.state, SESSION))
    kept = ledger.read_bytes()
    project.agent("goal", "resume")
    Path(paths.runtime_file(project.state)).write_bytes(before)
    ledger.write_bytes(kept)
    assert planned.told()["state"] == "paused"
    again = project.agent("goal", "resume", "--json").json
    assert again["changed"] is False
    assert planned.told()["state"] == "active"


def test_what_the_user_paused_stays_paused_whatever_the_goal_does(project: Project, planned: GoalProject) -> None:
    project.change_row(lambda row: session.pause(row, why="the user asked to stop for now", told=False))
    assert project.agent("goal", "resume").code == 0
    assert planned.told()["state"] == "paused"
    project.agent("goal", "drop")
    assert planned.told()["state"] == "paused"


def test_a_pause_and_a_resume_give_no_new_budget(project: Project, planned: GoalProject) -> None:
    project.change_row(lambda row: session.exhaust(row, rule="cap", why="8 blocks"))
    planned.classify()
    project.agent("goal", "pause")
    project.agent("goal", "resume")
    assert planned.told()["state"] != "active"
    assert planned.row()["ulw"]["enabled"] is False


def test_dropping_the_goal_does_not_end_the_plan(project: Project, planned: GoalProject) -> None:
    ran = project.agent("goal", "drop", "--json")
    assert (ran.code, ran.json["goal"]["status"], ran.json["by"]) == (0, "dropped", "agent")
    assert ran.says("ultragoal-dropping-goal-does-not-end-plan")
    assert "2 goals" in ran.err
    assert next_stop(project) == "block"
    assert project.agent("goal", "get", "--json").json["goal"] is None


def test_completing_the_goal_of_a_plan_needs_its_receipts_and_ends_the_run(
    project: Project, planned: GoalProject
) -> None:
    before = planned.state_files()
    for argv in (["goal", "get"], ["goal", "get", "--json"]):
        assert project.agent(*argv).code == 0
    assert planned.state_files() == before, "looking writes not a byte"
    refused = project.agent("goal", "complete", "--json")
    assert refused.code == 3
    assert refused.json["error"]["details"] == ["G001 is active", "G002 is pending"]
    assert "omo ultragoal checkpoint --goal-id G001" in refused.json["error"]["fix"]
    planned.close("G001", "G002")
    assert project.agent("goal", "complete").code == 0
    assert planned.told()["state"] == "ended"
    assert next_stop(project) == "done"


# omo state


def test_from_ultragoal_to_planning_and_back(project: Project, planned: GoalProject) -> None:
    early = project.agent("state", "ultragoal", "handoff", "--to", "ultraplan", "--json")
    assert early.code == 3
    assert early.json["error"]["fix"] == f"omo state ultragoal write --input '{HANDOFF}'"
    assert project.agent("state", "ultragoal", "write", "--input", HANDOFF).code == 3, "as a pause is refused"
    waits = ("--classification", "human_blocked", "--evidence", "the user wants to plan it anew")
    project.check("ultragoal", "classify-blocker", *waits)
    written = project.agent("state", "ultragoal", "write", "--input", HANDOFF, "--json").json
    assert (written["before"], written["phase"]) == ("active", "handoff")
    assert next_stop(project) == "waiting"
    given = project.agent("state", "ultragoal", "handoff", "--to", "ultraplan", "--json").json
    assert (given["to"], given["phase"]) == ("ultraplan", "handoff")
    back = project.agent("state", "ultragoal", "write", "--input", '{"current_phase": "active"}', "--json").json
    assert (back["before"], back["phase"]) == ("handoff", "active")
    assert next_stop(project) == "block"


@pytest.mark.parametrize(
    "given",
    [
        "{",
        "[]",
        "{}",
        '{"current_phase": 3}',
        '{"current_phase": "done"}',
        '{"current_phase": "complete"}',
        '{"current_phase": "handoff", "force": true}',
    ],
)
def test_an_input_that_cannot_be_used_says_what_it_has_to_be(
    project: Project, planned: GoalProject, given: str
) -> None:
    ran = project.agent("state", "ultragoal", "write", "--input", given)
    assert ran.code == 2
    assert ran.says("ultragoal-input-has-to-be-object-with", phases="handoff, active", text=given)
    assert planned.plan().handoff is None


@pytest.mark.parametrize("to", ["ultragoal", "ulw", "", "Ralph", "../x"])
def test_a_plan_is_handed_to_another_workflow_only(project: Project, planned: GoalProject, to: str) -> None:
    assert project.agent("state", "ultragoal", "handoff", "--to", to).code == 2


def test_clearing_says_when_there_is_nothing(project: Project) -> None:
    ran = project.agent("state", "clear", "--mode", "ultragoal", "--json")
    assert (ran.code, ran.json["cleared"]) == (0, False)
    assert project.agent("state", "clear", "--mode", "ultragoal", "--force").says("state-there-is-nothing-to-clear-in")


def test_clearing_an_unfinished_run_needs_force_and_is_recorded(project: Project, planned: GoalProject) -> None:
    refused = project.agent("state", "clear", "--mode", "ultragoal", "--json")
    assert refused.code == 3
    assert "--force" in refused.json["error"]["fix"]
    cleared = project.agent("state", "clear", "--mode", "ultragoal", "--force", "--json")
    assert (cleared.code, cleared.json["open"], cleared.json["by"]) == (0, 2, "agent")
    assert all(Path(path).is_dir() for path in cleared.json["kept"])
    assert cleared.says("state-this-is-recorded-as-agent-and")
    assert next_stop(project) == "done"
    last = project.events()[-1]
    assert (last["kind"], last["actor"], last["forced"]) == ("cleared", "agent", True)


def test_the_user_clears_another_session_by_its_name(project: Project, planned: GoalProject) -> None:
    other = planned.other()
    make_plan(other)
    other.tell()
    ran = project.user("state", "clear", "--mode", "ultragoal", "--force", "--session", "other")
    assert ran.code == 0
    assert other.run().plan is None
    assert planned.run().require_plan().open_goals
    assert next_stop(project) == "block"


@pytest.mark.parametrize(
    ("mode", "code", "fix"),
    [
        ("ulw", 3, "omo ulw done"),
        ("all", 2, f"--mode {MODES}"),
    ],
)
def test_other_modes_are_not_cleared_here(
    project: Project, planned: GoalProject, mode: str, code: int, fix: str
) -> None:
    before = planned.state_files()
    ran = project.agent("state", "clear", "--mode", mode, "--force")
    assert ran.code == code
    assert fix in ran.err
    assert planned.state_files() == before
