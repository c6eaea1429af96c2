"""What hooks read of a plan: how much is open, whether the session works or waits, and what is denied."""

from __future__ import annotations

import pytest

from omo.state import runtime
from omo.work import session
from omo.workflows.ultragoal import goal_tool
from tests.ultragoal.project import Project, commit

SETTINGS = ".sisyphus/omo.json"


@pytest.mark.parametrize(
    ("end", "why"),
    [
        ("complete", "2 of 2 goals complete"),
        ("superseded", "1 of 2 goals complete, 1 superseded (1 without a replacement)"),
    ],
)
def test_nothing_open_lets_go_and_says_what_was_cut(project: Project, end: str, why: str) -> None:
    project.begin()
    if end == "superseded":
        project.set_back("G001", "blocked")
        project.supersede("G001")
    project.finish()
    goal_tool.operate("complete", project.run())
    summary = project.tell()
    assert (summary["state"], summary["open"]) == ("done", 0)
    assert summary["outcome"]["why"].startswith(why)


def test_a_cancel_by_the_user_stays_in_force(project: Project) -> None:
    project.begin()
    project.change_row(lambda old: session.cancel(old, reason="user", now=project.now))
    project.tell()
    assert not runtime.is_live(project.row())


# What is denied in the client


def denied(project: Project) -> dict[str, str]:
    deny: dict[str, str] = project.tell()["deny"]
    return deny


@pytest.mark.parametrize("first", ["{}", '{"attended": false}', "rubbish", '{"attended": "x"}', "[]", "{" * 200_000])
def test_the_agent_cannot_make_the_user_attend_by_an_edit_of_the_projects_file(project: Project, first: str) -> None:
    commit(project.root, SETTINGS, first)
    project.create()
    commit(project.root, SETTINGS, '{"attended": true}')
    assert "attended" not in project.tell()


def test_a_missing_final_receipt_denies_the_end(project: Project) -> None:
    project.begin().finish()
    (project.directory / "gates" / f"{project.receipt('G001')['qualityGateHash']}.json").unlink()
    summary = denied(project)
    assert set(summary) == {"complete"}
    assert "the quality gate behind the receipt of G001 was edited or is gone" in summary["complete"]
    assert "checkpoint --goal-id G001" in summary["complete"]
