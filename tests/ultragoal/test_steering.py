"""Steering: the six kinds, what each refuses, and that every attempt is in the ledger."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from omo.errors import BadInput, OmoError, Refused
from omo.ultragoal import steering
from omo.ultragoal.steering import MOST_GOALS, OPTIONS, Attempt
from tests.ultragoal.workshop import THREE, WHY, Workshop, make

PARTS = json.dumps([{"title": "Read", "objective": "Read it."}, {"title": "Judge", "objective": "Judge it."}])


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    """G001 Parse, G002 Check, G003 Write, all pending."""
    shop = make(tmp_path / "a b")
    shop.create(THREE)
    return shop


def order(shop: Workshop) -> list[str]:
    return [goal.id for goal in shop.plan().goals]


def goals_of(shop: Workshop) -> list[dict[str, Any]]:
    goals: list[dict[str, Any]] = json.loads(shop.goals_json.read_text(encoding="utf-8"))["goals"]
    return goals


def reject(shop: Workshop, kind: str, **options: Any) -> OmoError:
    """The attempt is refused and recorded, once; no goal is another one afterwards."""
    before, rows = goals_of(shop), shop.rows()
    with pytest.raises(OmoError) as caught:
        steering.steer(shop.run(), Attempt(kind=kind, **{**WHY, **options}))
    assert isinstance(caught.value, (BadInput, Refused))
    assert caught.value.fix
    assert goals_of(shop) == before
    assert shop.rows()[:-1] == rows
    assert shop.rows()[-1]["kind"] == "steering_rejected"
    assert shop.rows()[-1]["mutation"] == kind
    assert shop.run().problems == []
    return caught.value


def words(error: OmoError) -> str:
    defects = error.details.get("defects", [])
    return " ".join([error.message, error.fix, *(defects if isinstance(defects, list) else [])])


# What each kind does


def test_added_goals_come_last_and_wait(shop: Workshop) -> None:
    row = shop.steer("add_subgoal", title="Find  the leak", objective=" Name the leak. ")
    assert row["goalIds"] == ["G004"]
    goal = shop.goal("G004")
    assert (goal.title, goal.objective, goal.status) == ("Find the leak", "Name the leak.", "pending")
    assert goal.steering == {"kind": "add_subgoal", **WHY}
    assert shop.rows()[-1]["kind"] == "steering_accepted"
    assert shop.rows()[-1]["rationale"] == WHY["rationale"]


def test_the_parts_of_a_split_goal_stand_where_it_stood_and_it_is_kept(shop: Workshop) -> None:
    row = shop.steer("split_subgoal", goal_id="G002", replacements=PARTS)
    assert row["replacementGoalIds"] == ["G004", "G005"]
    assert order(shop) == ["G001", "G002", "G004", "G005", "G003"]
    assert shop.goal("G002").status == "superseded"
    assert (shop.goal("G002").steering or {})["replacementGoalIds"] == ["G004", "G005"]
    assert shop.goal("G004").steering == {"kind": "split_replacement", "sourceGoalId": "G002", **WHY}


def test_a_blocked_goal_is_replaced_by_splitting_it(shop: Workshop) -> None:
    shop.hand_out()
    shop.set_back("G001", "blocked")
    shop.steer("split_subgoal", goal_id="G001", replacements=PARTS)
    assert shop.statuses()["G001"] == "superseded"
    assert shop.hand_out() == shop.goal("G004")


def test_the_parts_of_a_review_blocker_still_resolve_the_review(shop: Workshop) -> None:
    shop.hand_out()
    blocker = shop.review("G001").goal
    shop.steer("split_subgoal", goal_id=blocker.id, replacements=PARTS)
    assert [goal.id for goal in shop.plan().open_blockers_of("G001")] == ["G005", "G006"]


def test_a_reworded_review_blocker_still_resolves_the_review(shop: Workshop) -> None:
    shop.hand_out()
    blocker = shop.review("G001").goal
    shop.steer("revise_pending_wording", goal_id=blocker.id, objective="Bad rows are refused by number.")
    assert shop.goal(blocker.id).blocks == "G001"


def test_reordering_moves_pending_goals_among_their_own_places(shop: Workshop) -> None:
    shop.hand_out()
    row = shop.steer("reorder_pending", order='["G003", "G002"]')
    assert order(shop) == ["G001", "G003", "G002"]
    assert (row["previousPendingGoalIds"], row["pendingGoalIds"]) == (["G002", "G003"], ["G003", "G002"])


def test_an_order_or_parts_may_be_in_a_file(shop: Workshop, tmp_path: Path) -> None:
    (tmp_path / "order.json").write_text('["G003", "G002", "G001"]', encoding="utf-8")
    (tmp_path / "parts.json").write_text(PARTS, encoding="utf-8")
    shop.steer("reorder_pending", order="order.json", cwd=str(tmp_path))
    shop.steer("split_subgoal", goal_id="G003", replacements="parts.json", cwd=str(tmp_path))
    assert order(shop) == ["G003", "G004", "G005", "G002", "G001"]


@pytest.mark.parametrize(
    ("given", "changed"),
    [
        ({"title": "Check rows"}, ["title"]),
        ({"objective": "Check each row by number."}, ["objective"]),
        ({"title": "Check rows", "objective": "Check each row by number."}, ["title", "objective"]),
        ({"title": "Check rows", "objective": "Check each row."}, ["title"]),
    ],
)
def test_rewording_says_which_fields_changed(shop: Workshop, given: dict[str, str], changed: list[str]) -> None:
    row = shop.steer("revise_pending_wording", goal_id="G002", **given)
    goal = shop.goal("G002")
    assert row["changedFields"] == changed
    assert (goal.title, goal.objective) == (given.get("title", "Check"), given.get("objective", "Check each row."))


def test_what_was_promised_first_stays_visible_however_often_a_goal_is_reworded(shop: Workshop) -> None:
    shop.steer("revise_pending_wording", goal_id="G002", objective="Check rows.")
    shop.steer("revise_pending_wording", goal_id="G002", objective="Check.", title="Look")
    rows = [row for row in shop.rows() if row["kind"] == "steering_accepted"]
    assert [row["previous"]["objective"] for row in rows] == ["Check each row.", "Check rows."]
    shown = goals_of(shop)[1]
    assert shown["objective"] == "Check."
    assert shown["steering"]["firstWording"] == {"title": "Check", "objective": "Check each row."}


def test_a_note_changes_no_goal(shop: Workshop) -> None:
    before = goals_of(shop)
    shop.steer("annotate_ledger")
    row = shop.steer("annotate_ledger", goal_id="G002")
    assert goals_of(shop) == before
    assert row["goalId"] == "G002"
    assert shop.kinds()[-2:] == ["steering_accepted", "steering_accepted"]


@pytest.mark.parametrize("stuck", ["blocked", "review_blocked"])
def test_a_stuck_goal_can_be_superseded_while_another_one_counts(shop: Workshop, stuck: str) -> None:
    shop.hand_out()
    if stuck == "blocked":
        shop.set_back("G001", "blocked")
    else:
        shop.review("G001")
    row = shop.steer("mark_blocked_superseded", goal_id="G001")
    assert row["noReplacementRequired"] is True
    assert shop.statuses()["G001"] == "superseded"
    assert "G001" in order(shop)
    assert shop.hand_out() == shop.goal("G002")


# What is refused, each attempt with its row

MISSING = {"goal_id": "G002", "title": "A", "objective": "B", "replacements": PARTS, "order": '["G001"]'}


@pytest.mark.parametrize("kind", OPTIONS)
@pytest.mark.parametrize("name", ["evidence", "rationale"])
@pytest.mark.parametrize("said", [None, "", "  \n", "\u200b"])
def test_no_kind_does_without_evidence_and_rationale(shop: Workshop, kind: str, name: str, said: str | None) -> None:
    options = {option: MISSING[option] for option in OPTIONS[kind][0]}
    assert f"--{name} is" in words(reject(shop, kind, **{**options, name: said}))


@pytest.mark.parametrize("kind", OPTIONS)
def test_every_missing_option_is_named_at_once(shop: Workshop, kind: str) -> None:
    said = words(reject(shop, kind, evidence=None))
    for name in OPTIONS[kind][0]:
        assert f"{steering.FLAGS[name]} is missing" in said
    assert "--evidence is missing" in said


@pytest.mark.parametrize("kind", OPTIONS)
def test_an_option_of_another_kind_is_not_passed_over(shop: Workshop, kind: str) -> None:
    for name in set(MISSING) - {*OPTIONS[kind][0], *OPTIONS[kind][1]}:
        given = {option: MISSING[option] for option in OPTIONS[kind][0]}
        said = words(reject(shop, kind, **given, **{name: MISSING[name]}))
        assert f"{steering.FLAGS[name]} does not belong to {kind}" in said


@pytest.mark.parametrize(
    "kind", ["", "complete_goal", "change_objective", "delete_goal", "ADD_SUBGOAL", "add_subgoal ", "make it better"]
)
def test_what_is_no_kind_is_answered_with_the_kinds(shop: Workshop, kind: str) -> None:
    with pytest.raises(BadInput) as caught:
        steering.steer(shop.run(), Attempt(kind=kind, **WHY))
    assert all(name in caught.value.fix for name in OPTIONS)
    assert shop.kinds()[-1] == "steering_rejected"


REFUSED: list[tuple[str, dict[str, str], str]] = [
    ("add_subgoal", {"title": " ", "objective": "B"}, "--title is blank"),
    ("add_subgoal", {"title": "A", "objective": "\u200b"}, "--objective is blank"),
    ("add_subgoal", {"title": "A" * 81, "objective": "B"}, "--title has 81 characters"),
    ("add_subgoal", {"title": "A", "objective": "B" * 10_001}, "--objective has 10001 characters"),
    ("add_subgoal", {"title": "A", "objective": "b\0b"}, "a NUL"),
    ("add_subgoal", {"title": "A", "objective": "b\udc80b"}, "no UTF-8"),
    ("add_subgoal", {"title": "CHECK", "objective": " check  each row."}, "G002 says the same already"),
    ("split_subgoal", {"goal_id": "G9", "replacements": PARTS}, "no goal 'G9'"),
    ("split_subgoal", {"goal_id": "G002", "replacements": "[]"}, "a list of 0"),
    ("split_subgoal", {"goal_id": "G002", "replacements": '[{"title": "A", "objective": "B"}]'}, "a list of 1"),
    ("split_subgoal", {"goal_id": "G002", "replacements": '{"title": "A"}'}, "is {'title': 'A'}"),
    ("split_subgoal", {"goal_id": "G002", "replacements": "[1, 2]"}, "replacements[1] is 2"),
    ("split_subgoal", {"goal_id": "G002", "replacements": "[{"}, "not valid JSON"),
    ("split_subgoal", {"goal_id": "G002", "replacements": "gone.json"}, "neither JSON nor a file"),
    ("split_subgoal", {"goal_id": "G002", "replacements": " "}, "--replacements-json is empty"),
    (
        "split_subgoal",
        {"goal_id": "G002", "replacements": '[{"title": "", "objective": "B"}, {"title": "A"}]'},
        "replacements[0].title is blank",
    ),
    (
        "split_subgoal",
        {"goal_id": "G002", "replacements": '[{"title": 1, "objective": "B"}, {"title": "A", "objective": "C"}]'},
        "replacements[0].title is 1, not a text",
    ),
    (
        "split_subgoal",
        {
            "goal_id": "G002",
            "replacements": '[{"title": "A", "objective": "B", "status": "complete"}, {"title": "C", "objective": ""}]',
        },
        "replacements[0].status is nothing a new goal is given",
    ),
    (
        "split_subgoal",
        {"goal_id": "G002", "replacements": '[{"title": "A", "objective": "B"}, {"title": "a", "objective": " b"}]'},
        "the same goal twice",
    ),
    (
        "split_subgoal",
        {
            "goal_id": "G002",
            "replacements": '[{"title": "Parse", "objective": "Read the file."}, {"title": "B", "objective": "C"}]',
        },
        "G001 says the same already",
    ),
    ("reorder_pending", {"order": "[]"}, "not a list of goal ids"),
    ("reorder_pending", {"order": "[1]"}, "not a list of goal ids"),
    ("reorder_pending", {"order": '{"a": 1}'}, "not a list of goal ids"),
    ("reorder_pending", {"order": "G002,G001"}, "neither JSON nor a file"),
    ("reorder_pending", {"order": '["G001", "G002"]'}, "G003 is pending and left out"),
    ("reorder_pending", {"order": '["G001", "G002", "G003", "G003"]'}, "G003 is named 2 times"),
    ("reorder_pending", {"order": '["G001", "G002", "G003", "G007"]'}, "there is no goal 'G007'"),
    ("reorder_pending", {"order": '["G001", "G002", "G003"]'}, "in this order already"),
    ("revise_pending_wording", {"goal_id": "G002"}, "stays as it is"),
    ("revise_pending_wording", {"goal_id": "G002", "title": "Check"}, "stays as it is"),
    ("revise_pending_wording", {"goal_id": "G002", "objective": ""}, "--objective is blank"),
    ("revise_pending_wording", {"goal_id": "G002", "title": "Parse", "objective": "Read the file."}, "G001 says"),
    ("revise_pending_wording", {"goal_id": "g002", "title": "X"}, "did you mean G002?"),
    ("annotate_ledger", {"goal_id": "G009"}, "no goal 'G009'"),
    ("mark_blocked_superseded", {"goal_id": "G002"}, "G002 is pending: supersede is not possible"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "options", "why"), REFUSED, ids=[f"{one[0]}: {one[2]}" for one in REFUSED])
def test_a_refused_attempt_is_recorded_and_changes_no_goal(
    shop: Workshop, kind: str, options: dict[str, str], why: str
) -> None:
    assert why in words(reject(shop, kind, **options))
    row = shop.rows()[-1]
    assert row["reason"]
    assert set(row["payload"]) == set(options)
    assert row["goalId"] == options.get("goal_id")


def test_all_defects_of_an_order_are_told_at_once(shop: Workshop) -> None:
    shop.hand_out()
    error = reject(shop, "reorder_pending", order='["G001", "G009", "G002", "G002"]')
    assert error.details["defects"] == [
        "G001 is active, not pending",
        "there is no goal 'G009'",
        "G002 is named 2 times",
        "G003 is pending and left out",
    ]


# status → the kinds that may be done to a goal in it
MAY = {
    "pending": {"split_subgoal", "revise_pending_wording"},
    "active": set(),
    "failed": set(),
    "blocked": {"split_subgoal", "mark_blocked_superseded"},
    "review_blocked": {"mark_blocked_superseded"},
    "complete": set(),
    "superseded": set(),
}


def bring(shop: Workshop, status: str) -> None:
    """G001 into this status."""
    if status != "pending":
        shop.hand_out()
    if status in ("failed", "blocked"):
        shop.set_back("G001", status)
    elif status == "review_blocked":
        shop.review("G001")
    elif status == "complete":
        shop.complete("G001")
    elif status == "superseded":
        shop.set_back("G001", "blocked")
        shop.supersede("G001")
    assert shop.statuses()["G001"] == status


@pytest.mark.parametrize("status", MAY)
@pytest.mark.parametrize("kind", ["split_subgoal", "revise_pending_wording", "mark_blocked_superseded"])
def test_only_some_goals_can_be_steered(shop: Workshop, status: str, kind: str) -> None:
    bring(shop, status)
    more = {"split_subgoal": {"replacements": PARTS}, "revise_pending_wording": {"title": "New"}}.get(kind, {})
    if kind in MAY[status]:
        shop.steer(kind, goal_id="G001", **more)
        assert shop.kinds()[-1] == "steering_accepted"
    else:
        assert f"G001 is {status}" in words(reject(shop, kind, goal_id="G001", **more))


def test_the_only_goal_that_counts_is_never_superseded(shop: Workshop) -> None:
    for name in ("G001", "G002", "G003"):
        shop.hand_out()
        shop.set_back(name, "blocked")
    shop.supersede("G001")
    shop.supersede("G002")
    assert "the only goal that counts" in words(reject(shop, "mark_blocked_superseded", goal_id="G003"))
    shop.add("Something in its place")
    shop.supersede("G003")
    assert shop.statuses()["G003"] == "superseded"


def test_the_same_attempt_twice_adds_nothing_the_second_time(shop: Workshop) -> None:
    shop.steer("add_subgoal", title="A", objective="B")
    assert "G004 says the same already" in words(reject(shop, "add_subgoal", title="A", objective="B"))
    shop.steer("split_subgoal", goal_id="G002", replacements=PARTS)
    assert "G002 is superseded" in words(reject(shop, "split_subgoal", goal_id="G002", replacements=PARTS))
    assert len(shop.plan().goals) == 6


def test_a_goal_that_was_closed_may_be_asked_for_again(shop: Workshop) -> None:
    shop.hand_out()
    shop.complete("G001")
    assert shop.steer("add_subgoal", title="Parse", objective="Read the file.")["goalIds"] == ["G004"]


def test_a_plan_has_a_limit_of_goals(shop: Workshop) -> None:
    for number in range(MOST_GOALS - 3):
        shop.add(f"More {number}")
    assert f"over {MOST_GOALS}" in words(reject(shop, "add_subgoal", title="One", objective="Too many."))
    assert f"over {MOST_GOALS}" in words(reject(shop, "split_subgoal", goal_id="G002", replacements=PARTS))


def test_what_does_not_fit_into_a_row_is_refused_with_a_row(shop: Workshop) -> None:
    parts = json.dumps([{"title": f"Part {number}", "objective": "x" * 9_000} for number in range(30)])
    assert "bytes" in words(reject(shop, "split_subgoal", goal_id="G002", replacements=parts))


def test_a_refused_attempt_leaves_a_short_row_however_long_it_was(shop: Workshop) -> None:
    with pytest.raises(BadInput):
        steering.steer(shop.run(), Attempt("x" * 500_000, "e" * 500_000, "r" * 500_000, title="t" * 500_000))
    line = shop.ledger.read_bytes().splitlines()[-1]
    assert len(line) < 5_000


def test_without_a_plan_an_attempt_leaves_nothing(tmp_path: Path) -> None:
    shop = make(tmp_path / "a b")
    with pytest.raises(Refused, match="has no ultragoal plan"):
        shop.steer("annotate_ledger")
    assert not shop.ledger.exists()


def test_an_attempt_after_a_classification_shows_that_there_was_something_to_do(shop: Workshop) -> None:
    shop.hand_out()
    shop.classify()
    assert shop.plan().is_human_blocked
    reject(shop, "delete_goal")
    assert not shop.plan().is_human_blocked


def test_steering_stales_no_receipt_of_a_goal_it_does_not_touch(shop: Workshop) -> None:
    shop.hand_out()
    shop.complete("G001")
    shop.steer("annotate_ledger", goal_id="G001")
    shop.add()
    shop.steer("reorder_pending", order='["G004", "G003"]')
    reject(shop, "mark_blocked_superseded", goal_id="G001")
    assert shop.stale("G001") == ""


def test_brief_objective_and_constraints_are_as_before_after_every_kind(shop: Workshop) -> None:
    before = shop.plan()
    shop.steer("revise_pending_wording", goal_id="G001", title="Other")
    shop.steer("split_subgoal", goal_id="G002", replacements=PARTS)
    shop.add()
    after = shop.plan()
    assert (after.brief, after.objective, after.constraints) == (before.brief, before.objective, before.constraints)
