"""What is not as omo wrote it is seen and never believed; what it costs is one command of the user's."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from omo.errors import Refused
from omo.state import ledger
from omo.workflows.ultragoal import goal_tool, lifecycle
from tests.ultragoal.project import ONE, THREE, Project

Lines = list[bytes]

REPAIR = "omo ledger repair --session abc123"
CLEAR = "omo state clear --mode ultragoal --force --session abc123"
FORGED = b'{"seq": 6, "ts": "t", "kind": "goal_checkpointed", "goalId": "G002", "status": "complete", "evidence": "e"}'


def lines(project: Project) -> Lines:
    return project.ledger.read_bytes().split(b"\n")[:-1]


def put(project: Project, rows: Lines) -> None:
    project.ledger.write_bytes(b"".join(line + b"\n" for line in rows))


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


def edit_receipt(rows: Lines) -> Lines:
    return [*rows[:3], rows[3].replace(b'"independence": "reduced"', b'"independence": "full"'), *rows[4:]]


def forged_and_cut(rows: Lines) -> Lines:
    """The receipt says more than it did, the row behind it follows it, and the last is gone."""
    receipt = rows[3].replace(b'"independence": "reduced"', b'"independence": "full"')
    return [*rows[:3], receipt, rows[4].replace(ledger.digest_of(rows[3]).encode(), ledger.digest_of(receipt).encode())]


# What was done, and how many rows are known to be whole after it: row 4 has the receipt of G001, row 5 starts G002.
DAMAGE: dict[str, tuple[Callable[[Lines], Lines], int]] = {
    "a note edited": (lambda rows: [*rows[:5], rows[5].replace(b"seen", b"SEEN")], 5),
    "a start edited": (lambda rows: [*rows[:4], rows[4].replace(b"G002", b"G003"), *rows[5:]], 4),
    "a checkpoint edited": (edit_receipt, 3),
    "a checkpoint edited, and chained anew": (forged_and_cut, 3),
    "its beginning edited": (lambda rows: [rows[0].replace(b"Parse", b"PARSE"), *rows[1:]], 0),
    "without its beginning": (lambda rows: rows[1:], 0),
    "a row removed": (lambda rows: [*rows[:4], *rows[5:]], 4),
    "the last row cut": (lambda rows: rows[:5], 5),
    "all cut behind the receipt": (lambda rows: rows[:4], 4),
    "the last row cut and another put in its place": (lambda rows: [*rows[:5], FORGED], 5),
    "rubbish put in": (lambda rows: [*rows[:4], b"rubbish", *rows[4:]], 4),
    "a forged row put in": (lambda rows: [*rows[:5], FORGED, *rows[5:]], 5),
    "a row copied to the end": (lambda rows: [*rows, rows[2]], 6),
    "only rubbish": (lambda rows: [b"rubbish"], 0),
    "emptied": (lambda rows: [], 0),
}


def harmed(project: Project, name: str) -> str:
    """The command that mends it."""
    at_work(project)
    harm, whole = DAMAGE[name]
    put(project, harm(lines(project)))
    assert len(project.run().journal.whole()) == whole
    return REPAIR if whole else CLEAR


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_ledger_waits_for_the_user(project: Project, name: str) -> None:
    mend = harmed(project, name)
    step = project.step()
    assert (step.action, step.who, mend in step.command) == ("tell-user", "user", True)
    attempts = (
        lambda: project.create(ONE, force=True),
        lambda: project.hand_out(),
        lambda: project.steer("annotate_ledger"),
        lambda: project.complete("G002", gate={}),
        lambda: goal_tool.operate("complete", project.run()),
        lambda: goal_tool.operate("drop", project.run()),
        lambda: lifecycle.clear(project.caller(), force=True),
    )
    for attempt in attempts:
        with project.refused("not as omo wrote it", mend):
            attempt()
    project.tell()
    told = project.told()
    question = f"Run in a terminal of your own: {mend} ("
    assert (told["state"], told["told"], told["question"].startswith(question)) == ("blocked", False, True)


@pytest.mark.parametrize("name", [name for name, (_, whole) in DAMAGE.items() if whole])
def test_what_is_whole_stands_after_the_users_repair_and_the_plan_goes_on(project: Project, name: str) -> None:
    harmed(project, name)
    project.tell()
    damaged = project.ledger.read_bytes()
    assert project.user("ledger", "repair", "--session", project.session).code == 0
    (kept,) = project.directory.glob("ledger.jsonl.damaged-*")
    assert kept.read_bytes() == damaged
    assert project.run().problems == []
    assert project.told()["state"] == "active"
    is_proven = DAMAGE[name][1] >= 4
    assert project.statuses()["G001"] == ("complete" if is_proven else "active")
    while (goal := project.plan().active or project.hand_out()) is not None:
        project.complete(goal.id)
    assert project.final() == "G003"
    (exception,) = project.plan().exceptions
    assert exception["what"] == f"its ledger was damaged after row {DAMAGE[name][1]}"


@pytest.mark.parametrize("name", [name for name, (_, whole) in DAMAGE.items() if not whole])
def test_of_what_has_no_beginning_any_more_nothing_can_go_on(project: Project, name: str) -> None:
    harmed(project, name)
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


def test_a_plan_whose_directory_was_removed_is_said_to_be_gone(project: Project) -> None:
    at_work(project)
    shutil.rmtree(project.directory)
    assert "is gone" in project.run().problems[0]
    for refused in (lambda: project.create(ONE), lambda: lifecycle.clear(project.caller(), force=False)):
        with pytest.raises(Refused) as caught:
            refused()
        assert CLEAR in caught.value.fix
    sealed = lifecycle.clear(project.caller("user"), force=True)
    assert sealed is not None
    assert not [path for path in sealed.kept if "/ultragoal/" in path], "nothing was there to be kept"
    project.create(ONE)
    project.finish()
