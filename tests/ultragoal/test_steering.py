"""Steering: the six kinds, what each refuses, and that every attempt is in the ledger."""

from __future__ import annotations

import json
from typing import Any

import pytest

from omo.errors import BadInput, OmoError, Refused
from omo.workflows.ultragoal import steering
from omo.workflows.ultragoal.steering import KINDS
from tests.ultragoal.project import THREE, WHY, Project, make, words_of

PARTS = json.dumps([{"title": "Read", "objective": "Read it."}, {"title": "Judge", "objective": "Judge it."}])


@pytest.fixture
def project() -> Project:
    """G001 Parse, G002 Check, G003 Write, all pending."""
    project = make()
    return project.reach("three", lambda: project.create(THREE))


def order(project: Project) -> list[str]:
    return [goal.id for goal in project.plan().goals]


def goals_of(project: Project) -> list[dict[str, Any]]:
    goals: list[dict[str, Any]] = json.loads(project.goals_json.read_text(encoding="utf-8"))["goals"]
    return goals


def reject(project: Project, kind: str, **options: Any) -> OmoError:
    """The attempt is refused and recorded, once; no goal is another one afterwards."""
    before, rows = goals_of(project), project.rows()
    with pytest.raises(OmoError) as caught:
        steering.steer(
            project.run(), kind, {name: text for name, text in {**WHY, **options}.items() if text is not None}
        )
    assert isinstance(caught.value, (BadInput, Refused))
    assert caught.value.fix
    assert goals_of(project) == before
    assert project.rows()[:-1] == rows
    assert project.rows()[-1]["kind"] == "steering_rejected"
    assert project.rows()[-1]["mutation"] == kind.strip()
    assert project.run().problems == []
    return caught.value


# What each kind does


def test_the_parts_of_a_review_blocker_still_resolve_the_review(project: Project) -> None:
    project.hand_out()
    blocker = project.review("G001").goal
    project.steer("split_subgoal", goal_id=blocker.id, replacements=PARTS)
    assert [goal.id for goal in project.plan().open_blockers_of("G001")] == ["G005", "G006"]


# What is refused, each attempt with its row

MISSING = {"goal_id": "G002", "title": "A", "objective": "B", "replacements": PARTS, "order": '["G001"]'}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_takes_its_own_options_and_needs_evidence_and_rationale(project: Project, kind: str) -> None:
    fields = KINDS[kind].model_fields
    needed = [name for name in MISSING if name in fields and fields[name].is_required()]
    given = {option: MISSING[option] for option in needed}
    for name in ("evidence", "rationale"):
        assert f"{name}: is missing" in words_of(reject(project, kind, **{**given, name: None}))
        for text in ("  \n", "\u200b"):
            assert f"{name}: is blank" in words_of(reject(project, kind, **{**given, name: text}))
    words = words_of(reject(project, kind, evidence=None))
    for name in needed:
        assert f"{name}: is missing" in words, "every missing option is named at once"
    for name in set(MISSING) - set(fields):
        words = words_of(reject(project, kind, **given, **{name: MISSING[name]}))
        assert f"{name}: no such field" in words


REFUSED: list[tuple[str, dict[str, str], str]] = [
    ("add_subgoal", {"title": " ", "objective": "B"}, "title: is blank"),
    ("add_subgoal", {"title": "A", "objective": "\u200b"}, "objective: is blank"),
    ("add_subgoal", {"title": "A", "objective": "b\0b"}, "a NUL"),
    ("add_subgoal", {"title": "A", "objective": "b\udc80b"}, "no UTF-8"),
    ("split_subgoal", {"goal_id": "G9", "replacements": PARTS}, "no goal 'G9'"),
    ("split_subgoal", {"goal_id": "G002", "replacements": "[]"}, "needs at least 2, "),
    ("split_subgoal", {"goal_id": "G002", "replacements": '[{"title": "A", "objective": "B"}]'}, "needs at least 2, "),
    ("split_subgoal", {"goal_id": "G002", "replacements": '{"title": "A"}'}, "replacements: must be a list"),
    ("split_subgoal", {"goal_id": "G002", "replacements": "[1, 2]"}, "replacements[1]: must be an object"),
    ("split_subgoal", {"goal_id": "G002", "replacements": "[{"}, "not valid JSON"),
    ("split_subgoal", {"goal_id": "G002", "replacements": "gone.json"}, "neither JSON nor a file"),
    ("split_subgoal", {"goal_id": "G002", "replacements": " "}, "--replacements-json is empty"),
    (
        "split_subgoal",
        {"goal_id": "G002", "replacements": '[{"title": "", "objective": "B"}, {"title": "A"}]'},
        "replacements[0].title: is blank",
    ),
    (
        "split_subgoal",
        {"goal_id": "G002", "replacements": '[{"title": 1, "objective": "B"}, {"title": "A", "objective": "C"}]'},
        "replacements[0].title: must be a text, got 1",
    ),
    (
        "split_subgoal",
        {
            "goal_id": "G002",
            "replacements": '[{"title": "A", "objective": "B", "status": "complete"}, {"title": "C", "objective": ""}]',
        },
        "replacements[0].status: no such field",
    ),
    ("reorder_pending", {"order": "[]"}, "needs at least 1, "),
    ("reorder_pending", {"order": "[1]"}, "order[0]: must be a text"),
    ("reorder_pending", {"order": '{"a": 1}'}, "order: must be a list"),
    ("reorder_pending", {"order": "G002,G001"}, "neither JSON nor a file"),
    ("reorder_pending", {"order": '["G001", "G002"]'}, "no order of the pending goals"),
    ("reorder_pending", {"order": '["G001", "G002", "G003", "G003"]'}, "no order of the pending goals"),
    ("reorder_pending", {"order": '["G001", "G002", "G003", "G007"]'}, "no order of the pending goals"),
    ("revise_pending_wording", {"goal_id": "G002"}, "stays as it is"),
    ("revise_pending_wording", {"goal_id": "G002", "title": "Check"}, "stays as it is"),
    ("revise_pending_wording", {"goal_id": "G002", "objective": ""}, "objective: is blank"),
    ("revise_pending_wording", {"goal_id": "g002", "title": "X"}, "there are G001, G002"),
    ("annotate_ledger", {"goal_id": "G009"}, "no goal 'G009'"),
    ("mark_blocked_superseded", {"goal_id": "G002"}, "G002 is pending: supersede is not possible"),
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_refused_attempt_is_recorded_and_changes_no_goal(project: Project, kind: str) -> None:
    for refused_kind, options, why in REFUSED:
        if refused_kind == kind:
            assert why in words_of(reject(project, kind, **options))
            row = project.rows()[-1]
            assert row["reason"]
            assert set(row["payload"]) == set(options)
            assert row["goalId"] == options.get("goal_id")


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


def bring(project: Project, status: str) -> None:
    """G001 into this status."""
    if status != "pending":
        project.hand_out()
    if status in ("failed", "blocked"):
        project.set_back("G001", status)
    elif status == "review_blocked":
        project.review("G001")
    elif status == "complete":
        project.complete("G001")
    elif status == "superseded":
        project.set_back("G001", "blocked")
        project.supersede("G001")
    assert project.statuses()["G001"] == status


@pytest.mark.parametrize("status", MAY)
def test_only_some_goals_can_be_steered(project: Project, status: str) -> None:
    bring(project, status)
    given = {"split_subgoal": {"replacements": PARTS}, "revise_pending_wording": {"title": "New"}}
    for kind in ("split_subgoal", "revise_pending_wording", "mark_blocked_superseded"):
        if kind in MAY[status]:
            continue
        error = reject(project, kind, goal_id="G001", **given.get(kind, {}))
        assert f"G001 is {status}" in words_of(error)
    for kind in sorted(MAY[status])[:1]:
        project.steer(kind, goal_id="G001", **given.get(kind, {}))
        assert project.kinds()[-1] == "steering_accepted"


def test_the_only_goal_that_counts_is_never_superseded(project: Project) -> None:
    for name in ("G001", "G002", "G003"):
        project.hand_out()
        project.set_back(name, "blocked")
    project.supersede("G001")
    project.supersede("G002")
    told = words_of(reject(project, "mark_blocked_superseded", goal_id="G003"))
    assert "only goal" in told
    project.add("Something in its place")
    project.supersede("G003")
    assert project.statuses()["G003"] == "superseded"


def test_what_does_not_fit_into_a_row_is_refused_with_a_row(project: Project) -> None:
    parts = json.dumps([{"title": f"Part {number}", "objective": "x" * 9_000} for number in range(30)])
    assert "bytes" in words_of(reject(project, "split_subgoal", goal_id="G002", replacements=parts))
