"""Commands taken out of what workflows say, so that each can be copied."""

from __future__ import annotations

import pytest

from omo.report.ways import Way, ways


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("", []),
        ("revise the plan", [Way("revise the plan")]),
        ("omo gate add NAME -- COMMAND", [Way("", "omo gate add NAME -- COMMAND")]),
        ("omo ralph replan, then omo ralph exec", [Way("", "omo ralph replan"), Way("then", "omo ralph exec")]),
        (
            "omo ralph artifacts, omo ralph brief for omo:judge, omo ralph judge",
            [Way("", "omo ralph artifacts"), Way("", "omo ralph brief", "for omo:judge"), Way("", "omo ralph judge")],
        ),
        (
            "when they say go on: omo plan recover 'a; omo b, c.md'; or revise the plan",
            [Way("when they say go on", "omo plan recover 'a; omo b, c.md'"), Way("or revise the plan")],
        ),
        (
            "mend the work; omo verify begin G1 evaluates again",
            [Way("mend the work", "omo verify begin G1", "evaluates again")],
        ),
        ("look at .omo or /omo:status", [Way("look at .omo or /omo:status")]),
        ("say 'omo x", [Way("say '", "omo x")]),
    ],
)
def test_what_is_said_becomes_commands(said: str, found: list[Way]) -> None:
    assert list(ways(said)) == found


@pytest.mark.parametrize(
    ("way", "when"),
    [
        (Way("then", "omo x"), "then"),
        (Way("", "omo x", "for omo:judge"), "for omo:judge"),
        (Way("mend the work", "omo x", "evaluates again"), "mend the work (evaluates again)"),
        (Way("", "omo x"), ""),
    ],
)
def test_what_is_said_about_a_command(way: Way, when: str) -> None:
    assert way.data == {"when": when, "command": "omo x"}
