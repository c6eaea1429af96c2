"""What is not as omo wrote it is seen and never believed; what it costs is one command of the user's."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from omo.workflows.ultragoal import lifecycle
from tests.ultragoal.project import ONE, THREE, Project

Lines = list[bytes]
CLEAR = "omo state clear --mode ultragoal --force --session abc123"


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


# The ledger


# What a damaged ledger whose beginning is whole costs is in tests/cli/test_ultragoal.py.
WITHOUT_A_BEGINNING: dict[str, Callable[[Lines], Lines]] = {
    "its beginning edited": lambda rows: [rows[0].replace(b"Parse", b"PARSE"), *rows[1:]],
    "without its beginning": lambda rows: rows[1:],
    "only rubbish": lambda rows: [b"rubbish"],
    "emptied": lambda rows: [],
}


@pytest.mark.parametrize("harm", WITHOUT_A_BEGINNING.values(), ids=WITHOUT_A_BEGINNING)
def test_of_what_has_no_beginning_any_more_nothing_can_go_on(project: Project, harm: Callable[[Lines], Lines]) -> None:
    at_work(project)
    harmed = harm(project.ledger.read_bytes().split(b"\n")[:-1])
    project.ledger.write_bytes(b"".join(line + b"\n" for line in harmed))
    assert project.run().journal.whole() == []
    refused = project.user("ledger", "repair", "--session", project.session)
    assert (refused.code, CLEAR.split(" --session")[0] in refused.err) == (3, True)
    before = project.files()
    sealed = lifecycle.clear(project.caller("user"), force=True)
    assert sealed is not None
    kept = next(Path(path) for path in sealed.kept if ".cleared-" in path and "/ultragoal/" in path)
    assert {name: (kept / name).read_bytes() for name in before} == before, "the bytes are kept"
    assert (project.run().plan, project.run().problems, project.told()) == (None, [], {})
    project.create(ONE)
    project.finish()
    assert project.final() == "G001"
