"""How a verification ends: each disposition, dependents, legs, hypotheses, and the session that waits for it."""

from __future__ import annotations

from typing import Any

import pytest

from omo.errors import BadInput, Refused
from omo.hosts import claude
from omo.state import runtime
from omo.stop import rules
from omo.stop.situation import Situation
from omo.workflows.verify import finish
from tests.verify.workshop import LIMITS, SUMMARY, Workshop, checks, path_check, q1, q2


def command(*argv: str, name: str = "runs") -> dict[str, Any]:
    return {"id": name, "type": "command", "argv": list(argv)}


FAILS = path_check("missing.py", "fails")
UNKNOWN = command("no-such-program-anywhere", name="unknown")
DISPOSITIONS: list[tuple[list[Any], str, int, str]] = [
    ([path_check()], "pass", 0, "completed"),
    ([path_check(), FAILS], "fail", 3, "pending"),
    ([path_check(), UNKNOWN], "unknown", 4, "in-progress"),
    ([FAILS, UNKNOWN], "fail", 3, "pending"),
    ([], "unknown", 4, "in-progress"),
    ([path_check(), "Is it readable?"], "unknown", 4, "in-progress"),
    ([FAILS, "Is it readable?"], "fail", 3, "pending"),
    ([{"type": "judge", "question": "Is it readable?"}], "unknown", 4, "in-progress"),
]


@pytest.mark.parametrize(("listed", "verdict", "code", "status"), DISPOSITIONS)
def test_a_failure_outranks_an_unknown_and_an_unknown_never_passes(
    shop: Workshop, listed: list[Any], verdict: str, code: int, status: str
) -> None:
    shop.add(**checks(*listed))
    shop.begin()
    shop.work()
    done = shop.finish()
    assert (done.verdict, done.exit_code, done.data["state"]) == (verdict, code, status)
    assert shop.goal().failures == (verdict == "fail")
    assert done.data["goal_completed"] is (verdict == "pass")


def test_a_pass_is_dated_counted_and_recorded_before_anybody_is_freed(shop: Workshop) -> None:
    shop.add(**checks(path_check()))
    shop.begin()
    shop.work()
    shop.finish()
    goal = shop.goal()
    assert (goal.count, goal.summary, goal.failures) == (1, SUMMARY, 0)
    assert goal.completed_at is not None
    assert shop.kinds()[-3:] == ["looked", "judged", "ended"]
    with pytest.raises(Refused, match="is completed"):
        shop.finish()


@pytest.mark.parametrize(
    ("summary", "why"),
    [
        ("", "0 characters"),
        ("done", "4 characters"),
        ("x" * 201, "201 characters"),
        ("parser.py splits text\nand more", "more than one line"),
        ("parser.py probably splits quoted text", "hedges"),
    ],
)
def test_the_summary_is_one_factual_line(shop: Workshop, summary: str, why: str) -> None:
    shop.add(**checks(path_check()))
    shop.begin()
    with pytest.raises(BadInput) as caught:
        shop.finish(summary=summary)
    assert why in str(caught.value.details["defects"])
    assert shop.goal().status == "in-progress"


def complete(shop: Workshop, name: str, summary: str = SUMMARY) -> finish.FinishedGoal:
    shop.begin(name)
    shop.work(f"{name}.py", f"# {name} {summary}\n")
    done = shop.finish(name, summary=summary)
    assert done.verdict == "pass", done.reason
    return done


def add(shop: Workshop, name: str, **fields: Any) -> None:
    shop.add(id=name, **checks(path_check(f"{name}.py")), **fields)


def test_a_goal_filed_after_its_predecessor_was_completed_does_not_wait_for_it(shop: Workshop) -> None:
    add(shop, "A")
    complete(shop, "A")
    add(shop, "B", blocked_by="A", depends_on="A")
    assert shop.goal("B").status == "pending"
    assert [each["summary"] for each in shop.goal("B").inputs] == [SUMMARY]


def test_filing_anew_keeps_what_was_released_and_blocks_on_what_is_new(shop: Workshop) -> None:
    add(shop, "A", recurring=True)
    add(shop, "B", blocked_by="A")
    complete(shop, "A")
    add(shop, "B", blocked_by=["A"], category="again")
    assert shop.goal("B").status == "pending"
    shop.begin("B")
    add(shop.as_user(), "B", blocked_by=["A", "Z"])
    shop.tick()
    shop.work("B.py")
    with pytest.raises(Refused, match="B is blocked by Z"):
        shop.finish("B")


LEGS: dict[str, Any] = {
    "participants": ["agent", "user"],
    "verification": {
        "outcomes": ["the draft is written", "the user has signed it"],
        "outcomes_agent_leg": ["the draft is written"],
    },
}


def leg(outcome: str = "the draft is written", artifact: str = "draft.md") -> dict[str, Any]:
    statement = f"The draft is written because `{artifact}` was read just now."
    return {"outcomes": [{"outcome": outcome, "artifact": artifact, "statement": statement}]}


def test_the_agents_leg_is_an_end_of_its_own_and_the_users_stays_visible(shop: Workshop) -> None:
    shop.add(**LEGS)
    shop.add(id="G2", blocked_by="G1")
    shop.begin()
    assert set(shop.steps()) == {"agent-leg", "finish"}
    shop.work("draft.md", "Dear all\n")
    assert shop.finish().verdict == "unknown"
    shop.answer("agent-leg", leg())
    done = shop.finish()
    assert (done.verdict, done.exit_code, done.data["state"]) == ("pass", 0, "agent-leg-complete")
    assert (done.data["goal_completed"], done.data["users_leg"]) == (False, ["the user has signed it"])
    assert shop.goal("G2").status == "blocked"
    with pytest.raises(Refused, match="the rest is the user's: the user has signed it"):
        shop.finish()
    with pytest.raises(Refused, match="is agent-leg-complete"):
        shop.begin()
    closed = shop.as_user().finish(summary="the draft was signed by the user")
    shop.tick(2)
    assert (closed.data["state"], closed.unblocked, shop.goal().count) == ("completed", ["G2"], 1)
    assert "the user closed their leg; closed on the agent's own answers" in closed.data["outcome"]["why"]
    assert shop.goal().users_leg is None


def test_the_user_does_not_close_their_leg_over_a_check_that_fails_by_then(shop: Workshop) -> None:
    check = {"type": "path", "path": "draft.md"}
    shop.add(**{**LEGS, "verification": {**LEGS["verification"], "checks": [check]}})
    shop.begin()
    shop.work("draft.md", "Dear all\n")
    shop.answer("agent-leg", leg())
    assert shop.finish().data["state"] == "agent-leg-complete"
    (shop.root / "draft.md").unlink()
    with pytest.raises(Refused, match=r"goal G1 cannot be closed: .*draft\.md"):
        shop.as_user().finish(summary="the draft was signed by the user")


@pytest.mark.parametrize(
    ("result", "status"), [(None, "completed"), ("corrected", "completed"), ("expired", "expired")]
)
def test_what_the_user_says_with_their_leg_is_kept(shop: Workshop, result: str | None, status: str) -> None:
    shop.add(hypothesis="H1", **LEGS)
    shop.begin()
    shop.work("draft.md", "Dear all\n")
    shop.answer("agent-leg", leg())
    assert shop.finish(hypothesis="confirmed").data["state"] == "agent-leg-complete"
    signed = "the draft was signed by the user"
    closed = shop.as_user().finish(summary=signed, learned="ask earlier", hypothesis=result)
    assert (closed.data["state"], shop.goal().learned) == (status, "ask earlier")
    assert (f"hypothesis H1 {result}" in shop.goal().reason) == (result is not None)


@pytest.mark.parametrize(
    ("data", "error", "why"),
    [
        ({"outcomes": []}, BadInput, "each needs its own answer"),
        (leg("the user has signed it"), BadInput, "each needs its own answer"),
        (leg(artifact=""), BadInput, "each needs its own answer"),
        (leg(artifact="nowhere.md"), Refused, "is not there"),
    ],
)
def test_every_outcome_of_the_agents_leg_needs_its_artifact(
    shop: Workshop, data: dict[str, Any], error: type[Exception], why: str
) -> None:
    shop.add(**LEGS)
    shop.begin()
    with pytest.raises(error, match=why):
        shop.answer("agent-leg", data)


@pytest.mark.parametrize("fields", [LEGS, checks(path_check("draft.md"))])
def test_what_was_found_broken_fails_the_goal_where_no_question_was_owed(
    shop: Workshop, fields: dict[str, Any]
) -> None:
    shop.add(**fields)
    shop.begin()
    shop.work("draft.md", "Dear all\n")
    shop.answer("q1", q1("draft.md"))
    shop.answer("q2", q2("draft.md", problem="the second page is empty"))
    if "participants" in fields:
        shop.answer("agent-leg", leg())
    assert shop.finish().verdict == "fail"


@pytest.mark.parametrize("fields", [{"participants": ["agent"]}, {"participants": ["user"]}])
def test_only_a_collaborative_goal_has_an_agents_leg(shop: Workshop, fields: dict[str, Any]) -> None:
    shop.add(**fields)
    shop.begin()
    with pytest.raises(Refused, match="does not ask for agent-leg"):
        shop.answer("agent-leg", leg())


HYPOTHESES: list[tuple[str | None, bool, str, int, str]] = [
    ("confirmed", True, "pass", 0, "completed"),
    ("corrected", True, "pass", 0, "completed"),
    ("confirmed", False, "fail", 3, "pending"),
    ("expired", True, "unknown", 4, "expired"),
    ("expired", False, "unknown", 4, "expired"),
    ("pending", True, "unknown", 4, "pending"),
    ("pending", False, "unknown", 4, "pending"),
    (None, True, "unknown", 4, "pending"),
    (None, False, "fail", 3, "pending"),
]


@pytest.mark.parametrize(("result", "worked", "verdict", "code", "status"), HYPOTHESES)
def test_a_hypothesis_ends_as_it_came_out_and_a_confirmed_one_is_verified(
    shop: Workshop, result: str | None, worked: bool, verdict: str, code: int, status: str
) -> None:
    shop.add(hypothesis={"id": "H1", "text": "quotes are the cause"}, **checks(path_check()))
    shop.begin()
    if worked:
        shop.work()
    done = shop.finish(hypothesis=result)
    assert (done.verdict, done.exit_code, done.data["state"]) == (verdict, code, status)
    assert "hypothesis H1" in done.reason


def test_a_hypothesis_result_belongs_to_a_hypothesis(shop: Workshop) -> None:
    shop.add(**checks(path_check()))
    shop.begin()
    with pytest.raises(BadInput, match="has no hypothesis"):
        shop.finish(hypothesis="confirmed")


def rule(shop: Workshop) -> str:
    row = runtime.session(shop.state, "s1")
    event = claude.event_of({"session_id": "s1"}, repr(shop.now).encode())
    return rules.deciding_rule(Situation(event, row, LIMITS, shop.now + 60)).name


def test_an_unresolved_hypothesis_waits(shop: Workshop) -> None:
    shop.add(hypothesis="H1")
    shop.begin()
    shop.publish("G1")
    shop.finish(hypothesis="pending")
    assert shop.publish()["work"]["verify"]["state"] == "waiting"
    assert rule(shop) == "waiting"


def test_the_session_catches_up_after_a_crash_between_journal_and_runtime(shop: Workshop) -> None:
    shop.add(**checks(path_check()))
    shop.begin()
    shop.publish("G1")
    shop.work()
    shop.finish()
    assert rule(shop) == "block"
    shop.publish()
    assert rule(shop) == "done"
