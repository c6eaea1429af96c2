"""`omo ledger verify`: what it lists, and what is wrong with a ledger."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from omo.state import paths, runtime, store
from omo.state.journal import Journal
from tests.project import NOW, SESSION, Project


def note(project: Project, name: str, *kinds: str, now: float = NOW, **more: Any) -> str:
    journal = Journal(os.path.join(project.state, name), project.state)
    rows = [{"kind": kind, **more} for kind in kinds]
    journal.change(lambda _: (None, rows), actor="user", now=now, wait=5)
    return journal.path


# show


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
    assert (ran.code, ran.out.splitlines()[-1].startswith(f"session: {problem}")) == (3, True)
    told = project.agent("ledger", "verify", "--json").json
    assert (told["ok"], told["problems"][-1].startswith(f"session: {problem}")) == (False, True)


def test_a_journal_that_was_cut_is_shown_to_be(project: Project) -> None:
    path = note(project, "evidence", "one", "two")
    Path(path).write_bytes(Path(path).read_bytes().splitlines(keepends=True)[0])
    ran = project.agent("ledger", "verify")
    assert (ran.code, "evidence: ends at row 1, before row 2, where the state says it should" in ran.out) == (3, True)


def test_in_a_terminal_of_the_users_the_newest_session_is_shown_and_named(project: Project) -> None:
    project.user("ulw", "start", "--session", "older")
    project.user("ulw", "start", "--session", "newer-1")
    project.user("stop-continuation", "--session", "older")
    project.user("stop-continuation", "--session", "newer-1")
    ran = project.user("ledger", "verify")
    assert (ran.code, "omo: session newer-1, the newest, none is live" in ran.err) == (0, True)
    assert project.user("ledger", "verify", "--json").json["session"] == "newer-1"
    ran = project.user("ledger", "verify", "--session", "old")
    assert (ran.code, "session older, which --session old begins" in ran.err) == (0, True)
    assert "session of older" in ran.out


def test_what_the_project_shares_is_checked_without_any_session(project: Project) -> None:
    note(project, "evidence", "added")
    assert project.user("ledger", "verify").out.startswith("evidence")


def test_a_repair_that_is_refused_leaves_nothing(project: Project) -> None:
    project.agent("ulw", "start")
    ran = project.user("ledger", "repair", "--session", "brandnew4")
    assert (ran.code, "no ledger of this project needs repair" in ran.err) == (3, True)
    assert os.listdir(Path(project.state, "sessions")) == [SESSION]


@pytest.mark.parametrize("name", [f"sessions/{SESSION}/events.jsonl", "evidence/ledger.jsonl"])
def test_a_pipe_in_the_place_of_a_ledger_holds_nobody(project: Project, name: str) -> None:
    project.agent("ulw", "start")
    note(project, "evidence", "added")
    path = Path(project.state, name)
    path.unlink()
    os.mkfifo(path)
    ran = project.agent("ledger", "verify")
    assert (ran.code, f"{path} cannot be read: it is no file" in ran.out + ran.err) == (3, True)
    project.agent("status")


def test_a_row_that_does_not_follow_is_named(project: Project) -> None:
    path = note(project, "evidence", "added")
    with open(path, "a", encoding="utf-8") as file:
        file.write('{"seq": 2, "ts": "2001-01-01T00:00:00Z", "kind": "forged"}\n')
    ran = project.agent("ledger", "verify", "--json")
    assert ran.code == 3
    assert ran.json["problems"][0] == "evidence: line 2 does not follow the line before it"


# verify


def test_verify_lists_every_ledger_with_its_rows_and_where_it_is(project: Project) -> None:
    project.agent("ulw", "start")
    evidence = note(project, "evidence", "added", "used")
    ran = project.agent("ledger", "verify", "--json")
    assert ran.code == 0
    entries = {one["ledger"]: one for one in ran.json["files"]}
    assert set(entries) == {"session", "evidence"}
    assert (entries["session"]["path"], entries["session"]["session"]) == (
        paths.events_file(project.state, SESSION),
        SESSION,
    )
    assert (entries["evidence"]["path"], entries["evidence"]["rows"], entries["evidence"]["whole"]) == (
        evidence,
        2,
        True,
    )
    first, second, last = project.agent("ledger", "verify").out.splitlines()
    assert first.split(maxsplit=6)[:6] == ["session", "of", SESSION, "1", "row", "whole"]
    assert second.split(maxsplit=4) == ["evidence", "2", "rows", "whole", evidence]
    assert last == "Every row is there and unchanged."


def test_a_damaged_ledger_is_named_in_the_list(project: Project) -> None:
    path = note(project, "plans/p-1", "checked")
    Path(path).write_text(Path(path).read_text().replace("checked", "skipped"))
    ran = project.agent("ledger", "verify", "--json")
    (entry,) = ran.json["files"]
    assert (ran.code, entry["whole"], entry["problems"]) == (3, False, [entry["problems"][0]])
    assert project.agent("ledger", "verify").out.splitlines()[0].split()[:4] == ["plans/p-1", "1", "row", "damaged"]


def test_verify_looks_at_every_session_when_asked(project: Project) -> None:
    without_state = project.user("ledger", "verify", "--all", "--json")
    assert (without_state.code, without_state.json["files"], Path(project.state).exists()) == (0, [], False)
    for name in (SESSION, "other"):
        project.user("ulw", "start", "--session", name)
    whole = project.user("ledger", "verify", "--all", "--json")
    assert (whole.code, whole.json["problems"], whole.json["session"]) == (0, [], None)
    checked = [(entry["session"], entry["ledger"]) for entry in whole.json["files"]]
    assert checked == [(SESSION, "session"), ("other", "session")]
    path = Path(paths.events_file(project.state, "other"))
    path.write_text(path.read_text().replace("activated", "cancelled"))
    assert project.user("ledger", "verify", "--session", SESSION).code == 0
    ran = project.user("ledger", "verify", "--all", "--json")
    assert (ran.code, ran.json["problems"][0].startswith("other: session: ")) == (3, True)
    assert [one["session"] for one in ran.json["files"] if not one["whole"]] == ["other"]


def test_a_session_that_was_forgotten_is_verified_as_far_as_its_chain_goes(project: Project) -> None:
    project.user("ulw", "start", "--session", "old")
    runtime._update(project.state, lambda kept: kept["sessions"].clear(), NOW, store.Deadline(5))
    ran = project.user("ledger", "verify", "--all")
    assert (ran.code, "whole, end unknown" in ran.out) == (0, True)
    path = Path(paths.events_file(project.state, "old"))
    path.write_text("rubbish\n")
    assert project.user("ledger", "verify", "--all").code == 3
