"""`omo ledger verify`: which ledgers it looks at, and what is wrong with one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from omo.state import paths, runtime, store
from omo.state.journal import Journal
from tests import texts
from tests.project import NOW, SESSION, Project


def note(project: Project, name: str, *kinds: str, now: float = NOW, **more: Any) -> str:
    journal = Journal(os.path.join(project.state, name), project.state)
    rows = [{"kind": kind, **more} for kind in kinds]
    journal.change(lambda _: (None, rows), actor="user", now=now, wait=5)
    return journal.path


@pytest.mark.parametrize("cut", ["the last row", "a piece of the last row", "all"])
def test_a_ledger_that_was_cut_is_shown_to_be(project: Project, cut: str) -> None:
    project.agent("ulw", "start")
    project.agent("ulw", "pause")
    assert project.agent("ledger", "verify").code == 0
    path = Path(paths.events_file(project.state, SESSION))
    rows = path.read_bytes().splitlines(keepends=True)
    left = {"the last row": b"".join(rows[:-1]), "a piece of the last row": path.read_bytes()[:-9], "all": b""}
    path.write_bytes(left[cut])
    ran = project.agent("ledger", "verify")
    problem = f"ends at row {len(left[cut].splitlines()) - (cut == 'a piece of the last row')}, before row {len(rows)}"
    assert (ran.code, ran.out.startswith(f"{path}: {problem}")) == (3, True)
    told = project.agent("ledger", "verify", "--json").json
    assert (told["ok"], told["problems"][-1].startswith(f"{path}: {problem}")) == (False, True)


def test_a_journal_that_was_cut_is_shown_to_be(project: Project) -> None:
    path = note(project, "evidence", "one", "two")
    Path(path).write_bytes(Path(path).read_bytes().splitlines(keepends=True)[0])
    ran = project.agent("ledger", "verify")
    assert (ran.code, ran.says("ledger-ends-before-the-state", path=path, number=1, number2=2)) == (3, True)


def test_what_the_project_shares_is_checked_without_any_session(project: Project) -> None:
    path = note(project, "evidence", "added")
    assert project.user("ledger", "verify", "--json").json["ledgers"] == {path: []}


@pytest.mark.parametrize("name", [f"sessions/{SESSION}/events.jsonl", "evidence/ledger.jsonl"])
def test_a_pipe_in_the_place_of_a_ledger_holds_nobody(project: Project, name: str) -> None:
    project.agent("ulw", "start")
    note(project, "evidence", "added")
    path = Path(project.state, name)
    path.unlink()
    os.mkfifo(path)
    ran = project.agent("ledger", "verify")
    assert (ran.code, f"{path} cannot be read: it is no file" in ran.out + ran.err) == (4, True)
    project.agent("status")


def test_a_row_that_does_not_follow_is_named(project: Project) -> None:
    path = note(project, "evidence", "added")
    with open(path, "a", encoding="utf-8") as file:
        file.write('{"seq": 2, "ts": "2001-01-01T00:00:00Z", "kind": "forged"}\n')
    ran = project.agent("ledger", "verify", "--json")
    assert ran.code == 3
    assert texts.says(ran.json["problems"][0], "ledger-line-does-not-follow", path=path, number=2)


def test_verify_counts_the_ledgers_that_are_there(project: Project) -> None:
    project.agent("ulw", "start")
    evidence = note(project, "evidence", "added", "used")
    ran = project.agent("ledger", "verify", "--json")
    session = paths.events_file(project.state, SESSION)
    assert (ran.code, ran.json["ledgers"]) == (0, {session: [], evidence: []})
    assert project.agent("ledger", "verify").says("ledger-every-row-is-there-and", ledgers="2 ledgers")


def test_a_damaged_ledger_is_named_with_its_path(project: Project) -> None:
    project.agent("ulw", "start")
    path = note(project, "plans/p-1", "checked")
    Path(path).write_text(Path(path).read_text().replace("checked", "skipped"))
    ran = project.agent("ledger", "verify", "--json")
    (problem,) = ran.json["ledgers"][path]
    assert (ran.code, ran.json["problems"]) == (3, [f"{path}: {problem}"])
    assert project.agent("ledger", "verify").out == f"{path}: {problem}\n"


def test_verify_looks_at_every_session_or_at_one(project: Project) -> None:
    without_state = project.user("ledger", "verify", "--json")
    assert (without_state.code, without_state.json["ledgers"], Path(project.state).exists()) == (0, {}, False)
    for name in (SESSION, "other"):
        project.user("ulw", "start", "--session", name)
    whole = project.agent("ledger", "verify", "--json")
    assert (whole.code, whole.json["problems"], len(whole.json["ledgers"])) == (0, [], 2)
    path = Path(paths.events_file(project.state, "other"))
    path.write_text(path.read_text().replace("activated", "cancelled"))
    assert project.user("ledger", "verify", "--session", SESSION).code == 0
    ran = project.agent("ledger", "verify", "--json")
    assert (ran.code, ran.json["problems"][0].startswith(f"{path}: ")) == (3, True)
    assert [name for name, problems in ran.json["ledgers"].items() if problems] == [str(path)]


def test_a_session_that_was_forgotten_is_verified_as_far_as_its_chain_goes(project: Project) -> None:
    project.user("ulw", "start", "--session", "old")
    runtime._update(project.state, lambda kept: kept["sessions"].clear(), NOW, store.deadline(5))
    ran = project.user("ledger", "verify")
    assert (ran.code, ran.says("ledger-where-ended-is-not-known", without_end="old")) == (0, True)
    assert project.user("ledger", "verify", "--json").json["end_unknown"] == ["old"]
    path = Path(paths.events_file(project.state, "old"))
    path.write_text("rubbish\n")
    assert project.user("ledger", "verify").code == 3
