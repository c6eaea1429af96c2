"""The timeline: every kind of row has its sentence, all ledgers are in one order, and nothing floods the page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omo.hooks import stop
from omo.views.report import timeline as story
from omo.views.report import timeline as story_lines
from omo.views.report.gather import Report
from omo.views.report.timeline import Source
from omo.work import outcome

pytestmark = pytest.mark.xdist_group("report")

SRC = Path(__file__).resolve().parents[2] / "src" / "omo"
KIND = re.compile(r'"kind": "([\w-]+)"')
# Rows of journals that tell nothing of a run, and objects that are no rows.
NOT_TOLD = {"missing-criteria", "review_blocker"}
PLACES = ("workflows", "work", "hooks", "state", "cli")


def row(kind: str, at: int = 0, **fields: Any) -> dict[str, Any]:
    return {"kind": kind, "ts": f"2026-02-22T17:{at // 60:02}:{at % 60:02}.000Z", "actor": "hook", **fields}


def told(ledger: str, *rows: dict[str, Any]) -> list[str]:
    return [one.what for one in story.tell([Source(ledger, rows)]).events]


def test_every_kind_of_row_that_is_written_has_a_sentence() -> None:
    texts = []
    for place in PLACES:
        for path in (SRC / place).rglob("*.py"):
            if "gate" not in path.parts:  # its kinds are those of evidence
                texts.append(path.read_text(encoding="utf-8"))
    written = {kind for text in texts for kind in KIND.findall(text)}
    known = {kind for lines in story_lines.LINES.values() for kind in lines} | set(story_lines.ANYWHERE)
    assert written - known - story_lines.QUIET == NOT_TOLD


def test_the_rows_of_all_ledgers_are_in_one_order() -> None:
    found = story.tell(
        [
            Source("session", [row("activated", 1, rule="keyword"), row("blocked", 30, rule="block", reason="2 open")]),
            Source("ultragoal", [row("goal_started", 10, goalId="G001")], "g1"),
            Source("ralph", [row("ended", 40, how="pass", verdict="pass")], "r1"),
        ]
    )
    assert [(one.what, one.mark) for one in found.events] == [
        ("Ultrawork was turned on by the hook", "active"),
        ("G001 was begun", "active"),
        ("Stop was sent back to work", "block"),
        ("The run ended: pass, verdict pass", "done"),
    ]
    assert found.events[2].detail == "2 open"
    assert (found.began, found.ended) == ("2026-02-22T17:00:01.000Z", "2026-02-22T17:00:40.000Z")


def test_a_kind_nobody_knows_is_shown_as_it_is() -> None:
    (event,) = story.tell([Source("session", [row("<b>new</b>", extra={"a": [1]})])]).events
    assert (event.what, event.detail, event.mark) == ("<b>new</b>", '{"extra": {"a": [1]}}', "")


def test_a_row_without_a_readable_time_stays_where_it_was() -> None:
    rows = [row("goal_started", 5, goalId="G001"), {"kind": "goal_started", "ts": "soon", "goalId": "G002"}]
    between = Source("session", [row("resumed", 6)])
    found = story.tell([Source("ultragoal", rows), between])
    assert [one.what for one in found.events] == ["G001 was begun", "G002 was begun", "It goes on"]
    assert found.events[1].ts == "soon"


def test_a_judgement_names_what_broke_again_and_who_did_not_judge() -> None:
    states = {
        "C1": {"status": "REGRESSED", "regressed_at_iteration": 2, "last_pass_iteration": 1},
        "C2": {"status": "PASS"},
    }
    judged = row(
        "judged",
        iteration=2,
        verdict="fail",
        decision="replan",
        results={"C1": {"result": "fail"}, "C2": {"result": "pass"}},
        states=states,
        independence="reduced",
    )
    (event,) = story.tell([Source("ralph", [judged])]).events
    assert event.what == "Round 2 was judged: fail, not by an independent judge"
    assert (event.detail, event.mark) == ("C1 regressed, C2 pass", "failed")


@pytest.mark.parametrize(
    ("ledger", "fields", "what", "mark"),
    [
        ("session", row("done", outcome=outcome.outcome("waived", "no tests")), "The run was ended", "stale"),
        ("session", row("done", outcome=outcome.outcome("proven", "tests")), "The run was ended", "done"),
        ("session", row("done"), "The run was ended", "stale"),
        ("session", row("blocked", evidence="no key"), "The agent is blocked from outside", "waiting"),
        ("session", row("gate-ran", name="t", result="fail", exit=1, seconds=2), "Gate t: fail (exit 1", "failed"),
        ("ultragoal", row("goal_checkpointed", goalId="G1", status="failed"), "G1 was set to failed", "failed"),
        ("ultragoal", row("goal_checkpointed", goalId="G1", status="complete"), "G1 was set to complete", "stale"),
        ("ultraplan", row("preflight", bypassed="OMO_X", result="bypassed"), "The plan's needs were bypassed", "stale"),
        ("ultraplan", row("skipped", step=3, reason="not here"), "Step 3 was skipped", "stale"),
        ("verify", row("claim", claim="x", verdict="contradicted", override="why"), "A claim was let stand", "stale"),
        ("ralph", row("exec-circumvention", iteration=1, missing=["PLAN"]), "A verdict on round 1 was asked", "stale"),
        ("ultragoal", row("repaired", kept="x"), "A damaged ledger was set aside", "stale"),
    ],
)  # fmt: skip
def test_what_is_less_than_proven_is_marked(ledger: str, fields: dict[str, Any], what: str, mark: str) -> None:
    (event,) = story.tell([Source(ledger, [fields])]).events
    assert event.what.startswith(what), event.what
    assert event.mark == mark


def test_the_newest_events_are_told_and_all_rows_counted() -> None:
    rows = [row("denied", at, tool="Write", gate="a", reason=f"call {at}") for at in range(2990)]
    rows.append(row("done", 2999, outcome=outcome.outcome("attested", "gates passed")))
    found = story.tell([Source("session", rows)], most=100)
    assert (len(found.events), found.total) == (100, 2991)
    assert found.events[-1].detail == "finished on the agent's word: gates passed"
    assert found.events[0].detail == "call 2891"


def test_blocks_with_nothing_between_them_are_told_once() -> None:
    rows = [row("blocked", at, rule="block", reason=f"block {at} of 8") for at in range(1, 9)]
    rows.insert(1, row("allowed", 1, rule="duplicate"))
    rows += [row("allowed", 9, rule="cap"), row("blocked", 10, rule="block", reason="block 1 of 8")]
    found = story.tell([Source("session", rows)])
    assert [(event.what, event.detail) for event in found.events] == [
        ("Stop was sent back to work, 8 times", "block 8 of 8"),
        ("Stop was let through: it was sent back as often as allowed without progress", ""),
        ("Stop was sent back to work", "block 1 of 8"),
    ]


def test_no_rule_of_stop_is_told_by_its_name() -> None:
    for rule in stop.RULES:
        (event,) = story.tell([Source("session", [row("allowed", rule=rule.name)])]).events or [None]
        assert event is None or event.what == f"Stop was let through: {rule.why}"


def test_what_only_repeats_another_ledger_is_left_out() -> None:
    found = story.tell([Source("session", [row("ultragoal", state="active"), row("resumed", 1)])])
    assert ([one.what for one in found.events], found.total) == (["It goes on"], 1)


KINDS = [(ledger, kind.partition(" ")[0]) for ledger, lines in story_lines.LINES.items() for kind in lines]
FIELDS = [
    "goalId",
    "status",
    "results",
    "states",
    "iteration",
    "verdict",
    "completionVerification",
    "reason",
    "missing",
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda one: st.lists(one) | st.dictionaries(st.text(), one),
    max_leaves=6,
)


@settings(max_examples=60)
@given(st.sampled_from(KINDS), st.dictionaries(st.sampled_from(FIELDS) | st.text(), VALUES))
def test_whatever_a_row_holds_it_is_told_in_bounded_lines(which: tuple[str, str], fields: dict[str, Any]) -> None:
    ledger, kind = which
    for event in story.tell([Source(ledger, [{**fields, "kind": kind}])]).events:
        for text in (event.what, event.detail, event.ts):
            assert len(text) <= 1600
            assert text.isprintable()


def test_a_session_tells_of_all_its_workflows(report: Report) -> None:
    told = [event.what for event in report.timeline.events]
    for words in (
        "Ultrawork was turned on",
        "The session was given",
        "G001 was begun",
        "The plan session",
        "Round 1",
        "G1 was",
    ):
        assert any(what.startswith(words) for what in told), words
    moments = [one.ts for one in report.timeline.events]
    assert moments == sorted(moments)
    assert any("C1 regressed" in one.detail for one in report.timeline.events)
