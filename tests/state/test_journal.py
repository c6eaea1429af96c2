"""A workflow's ledger: changes only by appending, and shows what was done to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from omo.state.journal import Journal
from tests import texts


def test_rows_are_appended_under_the_lock_and_marked(state: str) -> None:
    journal = Journal(state + "/verify", state)
    for number in range(3):
        seen = journal.change(lambda rows: (len(rows), [{"kind": "k", "n": len(rows)}]), actor="a", now=1.0, wait=1)
        assert seen == number
    assert [row["n"] for row in journal.rows()] == [0, 1, 2]
    assert journal.problems() == []


def test_a_decision_without_events_writes_nothing(state: str) -> None:
    journal = Journal(state + "/verify", state)
    assert journal.change(lambda rows: ("seen", []), actor="agent", now=1.0, wait=1) == "seen"
    assert not Path(journal.path).exists()


def test_a_refusal_leaves_the_ledger_as_it_was(state: str) -> None:
    journal = Journal(state + "/verify", state)
    journal.change(lambda rows: (None, [{"kind": "k"}]), actor="agent", now=1.0, wait=1)

    def refuse(rows: list[dict[str, object]]) -> tuple[None, list[dict[str, object]]]:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        journal.change(refuse, actor="agent", now=1.0, wait=1)
    assert len(journal.rows()) == 1


def test_a_ledger_without_its_mark_is_damaged(state: str) -> None:
    journal = Journal(state + "/verify", state)
    assert journal.problems() == []
    journal.change(lambda rows: (None, [{"kind": "a"}]), actor="agent", now=1.0, wait=1)
    Path(journal.directory, "mark.json").unlink()
    assert texts.says(journal.problems()[0], "ledger-end-missing")
