"""How work ended, as a field and in words: the worst of several wins, and nothing is said that was not seen."""

from __future__ import annotations

from typing import Any

import pytest

from omo.work import outcome
from omo.work.status import Status
from tests import texts

LET = outcome.exception("gate lint fails", "agent", "it failed before")


@pytest.mark.parametrize("verdict", ["proven", "judged", "attested"])
def test_what_was_let_through_is_an_exception_whatever_the_rest_shows(verdict: str) -> None:
    ended = outcome.outcome(verdict, "tests pass", [LET])
    assert ended["verdict"] == "waived"
    assert texts.says(outcome.in_words(ended), "end-with-exceptions")
    assert texts.says(outcome.in_words(ended).partition(": ")[2], "end-let-through-by", **LET)
    assert outcome.in_words(ended).endswith("; tests pass")
    assert outcome.outcome("ended", "capped", [LET])["verdict"] == "ended"


def test_the_worst_of_several_wins_and_all_of_them_speak() -> None:
    both = outcome.worst(
        [outcome.outcome("proven", "A"), outcome.outcome("attested", "B"), outcome.outcome("judged", "C")]
    )
    assert (both["verdict"], both["why"]) == ("attested", "A; B; C")
    assert outcome.worst([outcome.outcome("proven", "A"), outcome.outcome("waived", "B", [LET])])["exceptions"] == [LET]
    assert outcome.worst([])["verdict"] == "ended"


@pytest.mark.parametrize(
    "summary",
    [
        {},
        {"outcome": None},
        {"outcome": "proven"},
        {"outcome": {"verdict": "excellent"}},
        {"outcome": {"verdict": ["proven"]}},
        {"outcome": outcome.outcome("proven", "x"), "unvouched": True},
    ],
)
def test_what_is_no_outcome_or_is_not_vouched_for_proves_nothing(summary: dict[str, Any]) -> None:
    assert outcome.of(summary)["verdict"] == "ended"


def test_an_edited_outcome_is_read_without_trouble() -> None:
    edited = {"outcome": {"verdict": "proven", "why": 7, "exceptions": [1, {"what": None}]}}
    assert outcome.in_words(outcome.of(edited)) == "ended with exceptions: ? (let through by the ?: ?); 7"


def test_words_are_one_bounded_line() -> None:
    said = outcome.in_words(outcome.outcome("attested", "x\x1b[31m\n" * 500, [LET] * 30))
    assert "\n" not in said
    assert "\x1b" not in said
    assert len(said) < 1500
    assert "25 more exceptions" in said


def test_of_a_damaged_ledger_without_items_it_is_said_that_it_is_damaged() -> None:
    assert Status("ulw", "gate", problems=("row 2 is another",)).lapsed == "the ledger is damaged"
