"""What counts as an answer: one strict object with the nonce, and evidence that says what was seen."""

from __future__ import annotations

import json
from typing import Any

import pytest

from omo.work import judge
from omo.work.agents import NoAnswer
from omo.work.judge import match, read_answer
from tests.engine.project import answer, reply

NONCE = "0123456789abcdef0123456789abcdef"
ONE = ("C1", "clear")


@pytest.mark.parametrize(
    "given_",
    [None, {"C1": "pass"}, [answer("C1")] * 1001],
    ids=["no-answers", "no-list", "too-many"],
)
def test_an_object_without_a_list_of_answers_is_none(given_: object) -> None:
    with pytest.raises(NoAnswer):
        read_answer(json.dumps({"nonce": NONCE, "answers": given_}), NONCE)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"result": "PASS"}, "is none of"),
        ({"result": "passed"}, "is none of"),
        ({"result": True}, "is none of"),
        ({"result": None}, "is none of"),
        ({"result": ["pass"]}, "is none of"),
        ({"evidence": ""}, "no evidence"),
        ({"evidence": " \n\t"}, "no evidence"),
        ({"evidence": "…!"}, "no evidence"),
        ({"evidence": None}, "no evidence"),
        ({"evidence": 1}, "no evidence"),
        ({"result": "fail", "evidence": ""}, "no evidence"),
        ({"evidence": "it probably lists them"}, "hedged"),
    ],
)
def test_an_answer_that_says_too_little_is_unknown(changes: dict[str, Any], why: str) -> None:
    found = read_answer(reply(NONCE, {**answer("C1"), **changes}), NONCE).answers[ONE]
    assert found.result == "unknown"
    assert why in found.evidence


@pytest.mark.parametrize(
    "evidence",
    [
        "this should work now",
        "it seems to print the list",
        "the tool's list should be the users' list",
        "Likely fine: the code has it",
        "I think all commands are there",
        "presumably the tests cover it",
        "the list is complete, assuming the help is",
        "I could not run it, the code reads well",
        "I couldn’t verify it, but the code reads well",
        "not tested, and the diff has it",
        "it looks like\nevery command is there",
    ],
)
def test_a_hedge_makes_a_pass_unknown_and_leaves_a_fail(evidence: str) -> None:
    assert read_answer(reply(NONCE, answer("C1", evidence=evidence)), NONCE).answers[ONE].result == "unknown"
    assert (
        read_answer(reply(NONCE, answer("C1", result="fail", evidence=evidence)), NONCE).answers[ONE].result == "fail"
    )


@pytest.mark.parametrize(
    "evidence",
    [
        "`tool probably` printed the 3 commands",
        'it printed "this should work" and exited 0',
        "README.md says 'this should work on macOS' under Use",
        "it printed “probably fine” and exited 0",
        "an unlikely name, ` x`, is refused with exit 2",
        "the probably-prime test of the module passes, exit 0",
        "exit 0, 14 passed",
    ],
)
def test_what_is_quoted_is_no_hedge(evidence: str) -> None:
    assert read_answer(reply(NONCE, answer("C1", evidence=evidence)), NONCE).answers[ONE].result == "pass"


def test_two_answers_to_one_question_are_none() -> None:
    for results in (("pass", "pass"), ("pass", "fail"), ("fail", "pass"), ("pass", "pass", "pass")):
        found = read_answer(reply(NONCE, *[answer("C1", result=one) for one in results]), NONCE)
        assert found.answers[ONE].result == "unknown"


def test_answers_without_a_question_are_ignored_and_told() -> None:
    said = read_answer(
        reply(NONCE, answer("C1"), answer("C1", "tests"), answer("C9"), "C1: pass", {"criterion": "C1"}), NONCE
    )
    told, notes = match(said, [ONE, ("C2", "clear")])
    assert {key: one.result for key, one in told.items()} == {ONE: "pass", ("C2", "clear"): "unknown"}
    for words in ("C1/tests is ignored", "C9/clear is ignored", "answers[3]", "answers[4]"):
        assert any(words in note for note in notes), notes


def test_what_is_shown_is_bounded() -> None:
    long = {**answer("C1", evidence="x" * 9000), "suggested_action": "y\n" * 9000}
    said = read_answer(reply(NONCE, long, challenges=[{"criterion": "C1", "text": "\x1b[2J" + "z" * 9000}] * 99), NONCE)
    found = said.answers[ONE]
    assert len(found.evidence) <= judge.LONGEST_EVIDENCE
    assert len(found.suggested_action) <= judge.LONGEST_ACTION
    assert len(said.challenges) == judge.MOST_CHALLENGES
    assert all("\x1b" not in one["text"] and len(one["text"]) <= 300 for one in said.challenges)
    _, notes = match(read_answer(reply(NONCE, *[answer(f"C{n}") for n in range(500)]), NONCE), [ONE])
    assert len(notes) <= judge.MOST_NOTES + 1


@pytest.mark.parametrize("given_", [None, "no list", [1], [{"criterion": "C1"}], [{"text": "x"}], {"criterion": "C1"}])
def test_challenges_that_are_none_are_left_out(given_: object) -> None:
    assert read_answer(reply(NONCE, answer("C1"), challenges=given_), NONCE).challenges == []
