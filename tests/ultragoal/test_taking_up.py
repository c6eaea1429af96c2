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


def test_a_session_whose_own_plan_was_removed_takes_none_up_over_it(project: Project) -> None:
    other = theirs(project)
    project.create(ONE)
    project.tell()
    shutil.rmtree(project.directory)
    before = other.files()
    with pytest.raises(Refused, match="open work of its own"):
        take_up(project, by="user")
    assert other.files() == before


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
