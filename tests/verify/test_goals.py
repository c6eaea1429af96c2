"""Goal files are strict and told all at once; where a goal stands is read from its run."""

from __future__ import annotations

from typing import Any

import pytest

from omo.engine.case import CaseItem
from omo.errors import BadInput, Refused
from omo.workflows.verify import forms
from tests.verify.workshop import Workshop, checks, path_check


def parse(**fields: Any) -> CaseItem:
    return forms.parse_goal({"id": "G1", "title": "Parser handles quotes", **fields}, "goal.json")


@pytest.mark.parametrize(
    ("fields", "name", "expected"),
    [
        ({"blocked_by": None}, "waits_for", []),
        ({"blocked_by": "G0"}, "waits_for", ["G0"]),
        ({"blocked_by": ["G0", "G2"]}, "waits_for", ["G0", "G2"]),
        ({"depends_on": None}, "wants", {}),
        ({"depends_on": "G0"}, "wants", {"G0": ""}),
        ({"depends_on": ["G0", {"goal_id": "G2", "expects": "the schema"}]}, "wants", {"G0": "", "G2": "the schema"}),
        ({"depends_on": {"goal_id": "G2"}}, "wants", {"G2": ""}),
        ({"participants": "user"}, "participants", ["user"]),
        ({"recurring": True, "remind_days": 2}, "every", 2 * 24 * 3600.0),
        ({"hypothesis": "H1"}, "hypothesis", {"id": "H1", "text": ""}),
    ],
)
def test_lists_may_be_null_or_one_name(fields: dict[str, Any], name: str, expected: Any) -> None:
    item = parse(**fields)
    assert {**item.form, **vars(item)}[name] == expected


def test_every_defect_is_told_in_one_answer() -> None:
    data = {
        "id": "../x",
        "titel": "a title",
        "max_retries": 0,
        "recurring": "yes",
        "interval_hours": -1,
        "verification": {"cheks": [], "checks": [{"type": "paths", "path": "x"}]},
        "depends_on": [{"goal": "G2"}],
    }
    with pytest.raises(BadInput, match="is not a goal"):
        forms.parse_goal({"id": "G1", "title": "a title", "depends_on": 5}, "goal.yaml")
    with pytest.raises(BadInput) as caught:
        forms.parse_goal(data, "goal.yaml")
    told = caught.value.details["defects"]
    assert isinstance(told, list)
    text = "\n".join(told)
    for part in (
        "id: must be 1 to 64 letters, digits, dots, dashes and underscores, got '../x'",
        "titel: no such field; did you mean title?",
        "title: is missing",
        "max_retries: ",
        "recurring: ",
        "interval_hours: ",
        "verification.cheks: no such field; did you mean checks?",
        "did you mean path?",
        "depends_on[0].goal_id: is missing",
        "depends_on[0].goal: no such field; did you mean goal_id?",
    ):
        assert part in text, part


def test_defects_are_told_in_words_of_ours() -> None:
    data = {"id": "G1", "title": "ab", "guard": "yes", "max_retries": 1.5, "verification": 3, "recurring": None}
    with pytest.raises(BadInput) as caught:
        forms.parse_goal(data, "goal.yaml")
    assert caught.value.details["defects"] == [
        "title: needs at least 3 characters, got 'ab'",
        "verification: must be an object, got 3",
        "recurring: must be true or false, got None",
        "guard: must be true or false, got 'yes'",
        "max_retries: must be a whole number, got 1.5",
    ]


GUARD = {**path_check("README.md", "kept"), "guard": True}
JUDGE = {"type": "judge", "question": "Is it readable?"}


@pytest.mark.parametrize(
    ("listed", "is_refused"),
    [
        ([GUARD], True),
        ([{**path_check("new.py"), "guard": True}], True),
        ([GUARD, path_check("README.md")], True),
        ([GUARD, path_check("new.py")], False),
        ([GUARD, "Is it readable?"], False),
        ([GUARD, JUDGE], False),
        ([{**JUDGE, "guard": True}], False),
    ],
)
def test_guards_alone_show_no_work(shop: Workshop, listed: list[Any], is_refused: bool) -> None:
    if is_refused:
        with pytest.raises(Refused, match="so none can show that it was done"):
            shop.add(**checks(*listed))
    assert shop.add(guard=is_refused, **checks(*listed)).status == "pending"


def test_who_is_over_waits_for_nobody(shop: Workshop) -> None:
    shop.add(id="A", blocked_by="Z", **checks(path_check()))
    shop.add(id="A", **checks(path_check()), depends_on="B")
    shop.begin("A")
    shop.work()
    shop.finish("A")
    shop.add(id="B", blocked_by="A", depends_on="A")
    assert shop.goal("B").status == "pending"
