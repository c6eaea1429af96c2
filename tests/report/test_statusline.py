"""The status line: what it says of a session, and that it says nothing where nothing is on."""

from __future__ import annotations

from typing import Any

import pytest

from omo.clock import stamp
from omo.hosts import claude
from omo.settings import DEFAULT_LIMITS
from omo.state.rows import read_row
from omo.stop.situation import Situation
from omo.views import session, statusline
from omo.work import outcome
from tests import texts
from tests.project import Project

NOW = 1_790_000_000.0
LIMITS = DEFAULT_LIMITS
Row = Any


def view(row: Row | None) -> session.View:
    known = None if row is None else read_row(row)
    return session.View("s", Situation(claude.event_of({"session_id": "s"}), known, LIMITS, NOW))


def line(row: Row | None) -> str:
    return statusline.text(view(row))


def armed(**work: Row) -> Row:
    return {"ulw": {"enabled": True, "armedAt": stamp(NOW - 60)}, "work": work}


GOALS = {"state": "active", "open": 3, "total": 5, "next": "G003 Log in"}
PROVEN = {"state": "ended", "total": 5, "outcome": outcome.outcome(outcome.JUDGED, "5 of 5 goals complete")}
SKIPPED = outcome.outcome(outcome.WAIVED, "no gate", [outcome.exception("verification skipped", "agent", "a comment")])
ATTESTED = {"state": "ended", "outcome": outcome.outcome(outcome.ATTESTED, "gate tests passes, as it did before")}
WAITS = {
    "state": "waiting",
    "waitsFor": "outside",
    "open": 1,
    "total": 2,
    "why": "no key",
    "question": "Which key?",
    "told": False,
}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (None, ""),
        ({}, ""),
        ({"ulw": {"enabled": False}, "work": {"ulw": {"state": "ended"}}}, ""),
        ({"ulw": {"enabled": False}, "work": {"ulw": {"state": "ended", "endedBy": "cap"}}}, ""),
        ({**armed(ulw={"state": "active"}), "stopContinuation": {"disabled": True}}, ""),
        ({"ulw": {"enabled": True}}, "omo ulw"),
        (armed(ulw={"state": "active", "open": 2, "total": 3, "next": "lint"}), "omo ulw 1/3 · next: lint"),
        (armed(ultragoal=GOALS), "omo ultragoal 2/5 · next: G003 Log in"),
        (armed(ulw={"state": "active"}, ultragoal=GOALS), "omo ultragoal 2/5 +1 · next: G003 Log in"),
        (armed(laps=WAITS), "omo laps 1/2 blocked · next stop lets go · Which key?"),
        (armed(ultragoal=PROVEN), "omo ultragoal 5/5 done, judged · next stop lets go"),
        (armed(ulw={"state": "ended"}), "omo ulw ended, not proven · next stop lets go"),
        (armed(ulw={"state": "ended", "outcome": SKIPPED}), "omo ulw ended with exceptions · next stop lets go"),
        (armed(ulw=ATTESTED), "omo ulw finished on the agent's word · next stop lets go"),
        (
            armed(ultragoal=PROVEN, ulw=ATTESTED),
            "omo ultragoal 5/5 finished on the agent's word · next stop lets go",
        ),
        (
            armed(ultragoal={**PROVEN, "unvouched": True}),
            "omo ultragoal 5/5 ended, not proven · next stop lets go",
        ),
    ],
)
def test_what_it_says(row: Row | None, said: str) -> None:
    assert line(row) == said


def test_blocks_are_shown_once_there_are_any_and_a_breaker_before_it_lets_go() -> None:
    row = armed(ulw={"state": "active", "open": 1, "total": 1, "next": "tests"})
    row["ulw"] |= {"stopBlocks": 3, "lastStopAt": stamp(NOW - 10)}
    assert line(row) == "omo ulw 0/1 · block 3 of 8 · next: tests"
    row["ulw"] |= {"stopBlocks": 8}
    assert line(row) == "omo ulw 0/1 · block 8 of 8 · next stop lets go · next: tests"


def test_a_cooldown_is_no_forecast_because_it_is_over_before_anybody_reads_it(project: Project) -> None:
    project.environ["OMO_COOLDOWN_SECONDS"] = "60"
    project.prompt("ulw fix it")
    assert project.stop(last_assistant_message="done").blocks
    assert project.agent("status").says("status-next-stop-sent-back")
    seen = session.session_view(project.state, project.session, {**LIMITS, "cooldown_seconds": 60.0}, project.now, {})
    assert statusline.text(seen) == "omo ulw · block 1 of 8"


def test_a_fence_is_shown_while_it_is_up() -> None:
    row = armed(ultraplan={"state": "ended", "endedBy": "cap", "fence": {"touch": ["src/**"]}})
    row["ulw"] = {"enabled": False}
    assert texts.situations(line(row)) == {"statusline-fence-is-up"}
    row["stopContinuation"] = {"disabled": True}
    assert line(row) == ""


def test_what_an_agent_wrote_stays_one_short_line() -> None:
    hostile = {**GOALS, "next": "\x1b]0;owned\x07 G\n\r\u202e" + "x" * 10_000}
    said = line(armed(ultragoal=hostile))
    assert len(said) <= statusline.LONGEST
    assert said.isprintable()


@pytest.mark.parametrize(
    ("row", "colour"),
    [
        (armed(ulw={"state": "active"}), "36"),
        (armed(laps=WAITS), "33"),
        (armed(ultragoal=PROVEN), "32"),
        (armed(ulw={"state": "ended", "outcome": SKIPPED}), "33"),
        (armed(ultragoal={**PROVEN, "unvouched": True}), "33"),
    ],
)
def test_only_what_is_proven_is_green(row: Row, colour: str) -> None:
    assert statusline.coloured("x", view(row), {}) == f"\x1b[{colour}mx\x1b[0m"
    assert statusline.coloured("x", view(row), {"NO_COLOR": "1"}) == "x"


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        (armed(ultragoal=PROVEN), "judged"),
        (armed(ultragoal=PROVEN, ulw=ATTESTED), "attested"),
        (armed(ultragoal=PROVEN, ulw={"open": 1, "total": 1, "next": "lint"}), "waived"),
        (armed(ultragoal={**PROVEN, "state": "active"}), None),
        (armed(ultragoal=PROVEN, laps=WAITS), None),
        (armed(ulw={"state": "ended", "outcome": SKIPPED}), "waived"),
        (armed(ulw={"state": "ended"}), "ended"),
        ({"ulw": {"enabled": False}, "work": {"ulw": {"state": "ended", "endedBy": "cap"}}}, "ended"),
    ],
)
def test_a_session_ended_as_the_worst_of_its_works_and_only_when_all_have(row: Row, verdict: str | None) -> None:
    ended = view(row).outcome
    assert (ended and ended["verdict"]) == verdict
