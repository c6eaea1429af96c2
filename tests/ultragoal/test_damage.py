"""What is not as omo wrote it is seen and never believed; what it costs is one command of the user's."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.ultragoal.project import THREE, Project


def at_work(project: Project) -> Project:
    """Rows: plan_created, goal_created, started G001, checkpointed G001, started G002, a note."""

    def work() -> None:
        project.at_work(THREE)
        project.steer("annotate_ledger")
        project.tell()

    return project.reach("noted", work)


# The views


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text.replace('"pending"', '"complete"'),
        lambda text: json.dumps({**json.loads(text), "more": 1}),
        lambda text: text.replace('"seq": 6', '"seq": 99'),
        lambda text: "[]",
        lambda text: "{",
        lambda text: "",
    ],
)
def test_an_edited_view_is_seen_and_never_believed(project: Project, edit: Callable[[str], str]) -> None:
    at_work(project)
    before = project.statuses()
    edited = edit(project.goals_json.read_text(encoding="utf-8"))
    project.goals_json.write_text(edited, encoding="utf-8")
    assert "goals.json was edited" in project.run().edited_view()
    assert (project.statuses(), project.run().problems) == (before, [])
    project.complete("G002")
    assert project.run().edited_view() == ""
    assert [kept.read_text() for kept in project.directory.glob("goals.json.edited-*")] == [edited]
    (project.directory / "brief.md").write_text("less\n", encoding="utf-8")
    project.complete("G003")
    assert project.final() == "G003"
    assert [kept.read_text() for kept in project.directory.glob("brief.md.edited-*")] == ["less\n"]


# A project that was moved


def test_a_plan_goes_along_with_a_project_that_was_moved(project: Project, tmp_path: Path) -> None:
    at_work(project)
    base = project.plan().base
    project.root.rename(tmp_path / "moved")
    project.root = tmp_path / "moved"
    project.finish()
    assert (project.plan().root, project.plan().base) == (str(tmp_path / "moved"), base), "where the work began stays"
    assert (project.stale("G001"), project.final()) == ("", "G003")


def test_a_copy_of_a_project_leaves_the_plan_to_the_original(project: Project, tmp_path: Path) -> None:
    at_work(project)
    shutil.copytree(project.root, tmp_path / "copy", symlinks=True)
    copied = Project(tmp_path / "copy", now=project.now)
    assert copied.step().action == "work-there"
    with copied.refused("belongs to", "work there"):
        copied.hand_out()
