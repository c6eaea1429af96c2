"""Taking up the plan of another session."""

from __future__ import annotations

import shutil

import pytest

from omo.errors import OmoError, Refused
from omo.hooks import resume
from omo.workflows.ultragoal import lifecycle
from omo.workflows.ultragoal.plan import Plan
from tests.ultragoal.gates import valid_gate
from tests.ultragoal.project import ONE, THREE, Project


def theirs(project: Project) -> Project:
    """Another session of the same project, at work on a plan."""
    other = project.other()

    def work() -> None:
        other.create(THREE)
        other.hand_out()
        other.complete("G001")
        other.tell()
        project.now, project.gates = other.now, other.gates

    project.reach("theirs", work)
    other.now, other.gates = project.now, project.gates
    return other


def take_up(project: Project, source: str = "other", by: str = "agent") -> Plan:
    resume.resume(project.caller(by), source)
    return project.plan()


# From another session


def test_a_plan_moves_with_its_goals_and_receipts_and_says_from_where(project: Project) -> None:
    other = theirs(project)
    receipt = other.receipt("G001")
    project.now += 3600
    plan = take_up(project)
    assert {goal.id: goal.status for goal in plan.goals} == {"G001": "complete", "G002": "active", "G003": "pending"}
    assert (plan.session, project.kinds()[-1]) == (project.session, "adopted")
    assert project.rows()[-1]["from"] == "other"
    assert (project.receipt("G001"), project.stale("G001")) == (receipt, "")
    assert project.run().problems == []
    assert (project.tool() is not None, other.tool()) == (True, None), "the session's goal goes along"
    project.finish()
    assert project.final() == "G003"


def test_a_session_whose_own_plan_was_removed_takes_none_up_over_it(project: Project) -> None:
    other = theirs(project)
    project.create(ONE)
    project.tell()
    shutil.rmtree(project.directory)
    before = other.files()
    with pytest.raises(Refused, match="open work of its own"):
        take_up(project, by="user")
    assert other.files() == before


def test_a_plan_that_an_earlier_version_left_in_its_sessions_directory_is_called_gone_and_kept(
    project: Project,
) -> None:
    other = theirs(project)
    old = other.home / "ultragoal"
    other.directory.rename(old)
    assert other.run().problems == [f"{other.run().directory} is gone"]
    assert (other.step().who, "omo state clear --mode ultragoal --force" in other.step().command) == ("user", True)
    project.now += 3600
    with project.refused("not as omo wrote it", "the user runs"):
        take_up(project)
    assert (old / "ledger.jsonl").exists()
    assert other.user("state", "clear", "--mode", "ultragoal", "--force", "--session", other.session).code == 0
    assert other.create(ONE).open_goals


def test_a_cleared_session_leaves_no_plan_to_take_up_and_one_given_a_new_id_takes_it_along(project: Project) -> None:
    other = theirs(project)
    take_up(project, by="user")
    assert project.run().problems == []
    assert project.statuses()["G002"] == "active"
    project.complete("G002", gate=valid_gate(project.root, "G002"))
    assert "adopted" in project.kinds()
    assert other.run().plan is None
    lifecycle.clear(project.caller("user"), force=True)
    with pytest.raises(OmoError):
        take_up(project.other("third"), project.session)
