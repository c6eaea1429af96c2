"""How a goal, criterion, step or gate stands, told from what its own ledger says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from omo.context import Context
from omo.errors import BadInput
from omo.state import runtime
from omo.views.explain import Explanation, items
from omo.work.viewer import Viewer
from tests.ralph.project import make_project as ralph_project
from tests.report import states
from tests.ultragoal import project as goals
from tests.ultraplan.project import make_project as make_plan


def place(root: Path, session: str, now: float) -> Viewer:
    context = Context({}, str(root), now)
    return Viewer(context, session, runtime.session(context.state, session) or {})


def facts(found: Explanation) -> dict[str, Any]:
    return {fact["what"]: fact["value"] for fact in found.data["read"]}


def of_shop(shop: goals.Project, *words: str) -> Explanation:
    return items.explain(place(shop.root, shop.session, shop.now), words)


def test_a_plan_says_what_is_next(tmp_path: Path) -> None:
    shop = goals.make(tmp_path / "project")
    shop.create()
    shop.hand_out()
    found = of_shop(shop)
    assert found.decision == "execute-goal"
    assert facts(found)["goal G001"] == "active"
    assert found.change == [shop.step().command]


def test_a_receipt_is_fresh_and_then_stale_with_what_made_it_so(tmp_path: Path) -> None:
    shop = goals.make(tmp_path / "project")
    shop.create(goals.ONE)
    shop.hand_out()
    shop.complete("G001")
    proven = of_shop(shop, "g001")
    assert (proven.decision, proven.rule, proven.change) == ("done", "receipt-fresh", [])

    gate = next((shop.directory / "gates").glob("*.json"))
    gate.unlink()
    stale = of_shop(shop, "G001")
    assert (stale.decision, stale.rule) == ("open", "receipt-stale")
    assert "is gone" in stale.why
    assert facts(stale)["quality gate behind it"] == "gone"


def test_a_review_that_is_open_holds_a_goal(tmp_path: Path) -> None:
    shop = goals.make(tmp_path / "project")
    shop.create()
    shop.hand_out()
    shop.complete("G001")
    shop.review("G001")
    found = of_shop(shop, "G001")
    assert (found.decision, found.why) == ("open", "its review is open: G003")
    assert facts(found)["blockers open"] == ["G003"]


def test_a_final_receipt_says_whether_it_still_covers_the_plan(tmp_path: Path) -> None:
    shop = goals.make(tmp_path / "project")
    shop.create(goals.ONE)
    shop.finish()
    assert facts(of_shop(shop, "G001"))["covers the plan"] == "yes"
    shop.add()
    assert "goals were added" in facts(of_shop(shop, "G001"))["covers the plan"]


def test_a_plan_that_was_changed_by_hand_proves_nothing(tmp_path: Path) -> None:
    shop = goals.make(tmp_path / "project")
    shop.create(goals.ONE)
    shop.hand_out()
    shop.complete("G001")
    shop.ledger.write_text(shop.ledger.read_text().replace('"kind"', '"kind" ', 1))
    found = of_shop(shop, "G001")
    assert (found.decision, found.rule) == ("open", "receipt-stale")
    assert found.title.endswith("complete, receipt stale")
    assert found.why.startswith("the ledger is not as omo wrote it: ")


def test_a_criterion_says_what_the_judgement_saw(tmp_path: Path) -> None:
    desk = ralph_project(tmp_path)
    desk.start()

    def explained(name: str) -> Explanation:
        return items.explain(place(desk.root, "s1", desk.now), [name])

    assert (explained("C1").rule, explained("C1").why) == ("status-PENDING", "no judgement was made of it yet")
    desk.judged(C1="pass", C2="fail")
    passed, failed = explained("C1"), explained("c2")
    assert (passed.decision, passed.change) == ("done", [])
    assert (failed.decision, failed.why) == ("open", "saw fail")
    assert facts(failed)["failures in a row"] == "1 of 3"
    assert "omo ralph judge" in failed.change[0]
    assert items.explain(place(desk.root, "s1", desk.now), []).title.endswith(": 1 of 2 criteria done")
    desk.damage()
    damaged = explained("C1")
    assert (damaged.decision, damaged.rule) == ("open", "receipt-stale")
    assert damaged.title.endswith("PASS, receipt stale")
    assert "not as omo wrote it" in damaged.why


def test_a_criterion_that_passed_on_other_files_is_open(tmp_path: Path) -> None:
    desk = ralph_project(tmp_path)
    desk.start()
    desk.judged(C1="pass", C2="pass")
    desk.write("later.txt")
    found = items.explain(place(desk.root, "s1", desk.now), ["C1"])
    assert (found.decision, found.rule, found.why) == (
        "open",
        "receipt-stale",
        "it was proven, but the tree has changed since",
    )


# Gates


def of_scene(name: str, *words: str) -> Explanation:
    asked = states.scene(name)
    return items.explain(place(asked.root, states.HERE, asked.now), words)


def test_a_stale_gate_is_called_stale_alone_and_in_the_list() -> None:
    found = of_scene("ulw-with-gates", "lint")
    assert (found.title, found.rule) == ("gate lint: pass, stale", "receipt-stale")
    whole = of_scene("ulw-with-gates")
    assert whole.title.endswith(": 1 of 4 gates done")
    assert [fact.value for fact in whole.read] == ["pass, fresh", "pass, stale", "fail", "not run"]


def test_a_gate_of_a_damaged_ledger_is_stale() -> None:
    found = of_scene("damaged-ledger", "tests")
    assert (found.title, found.decision, found.rule) == ("gate tests: pass, stale", "open", "receipt-stale")
    assert found.why.startswith("the ledger is not as omo wrote it: ")
    assert f"omo ledger repair --session {states.HERE}" in found.change[0]


def test_a_run_that_was_called_off_keeps_its_name_and_its_results() -> None:
    found = facts(of_scene("cancelled", "tests"))
    assert found["last result"] == "pass"
    assert re.match(r"u\d+, which the user called off", found["run"])
    assert re.fullmatch(r"ulw u\d+: 1 of 4 gates done", of_scene("cancelled").title)


def test_gates_without_any_run_have_no_hole_in_their_headline(tmp_path: Path) -> None:
    made = states.nothing(tmp_path / "p")
    made.check("gate", "add", "tests", "--", "true")
    assert items.explain(place(made.root, states.HERE, made.now), []).title == "ulw: 0 of 1 gate done"


# Steps


def test_a_step_says_what_git_shows_of_it(tmp_path: Path) -> None:
    desk = make_plan(tmp_path)
    desk.start()
    at = place(desk.root, "s1", desk.now)
    for words in (["1"], ["step", "1"]):
        found = items.explain(at, words)
        assert (found.decision, found.rule, found.extra["id"]) == ("open", "status-missing", "1")
    assert facts(found)["commit"] is None
    assert "commit" in found.change[0]


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ([], None),
        (["ralph"], None),
        (["C1"], "C1"),
        (["c2"], "C2"),
        (["Criterion", "C1"], "C1"),
        (["ralph", "C2"], "C2"),
    ],
)
def test_what_is_asked_for(tmp_path: Path, words: list[str], meant: str | None) -> None:
    desk = ralph_project(tmp_path)
    desk.start()
    found = items.explain(place(desk.root, "s1", desk.now), words)
    assert (found.extra["kind"], found.extra["id"]) == ("ralph", meant)


def test_what_is_not_there_is_answered_with_what_is(tmp_path: Path) -> None:
    desk = ralph_project(tmp_path)
    desk.start()
    at = place(desk.root, "s1", desk.now)
    for words in (["C9"], ["ralph", "C9"], ["\x1b[31mC9"], ["C1", "C2"], ["step", "1"], ["ultragoal"]):
        with pytest.raises(BadInput) as caught:
            items.explain(at, words)
        assert caught.value.fix == "there are: C1, C2"
        assert "\x1b" not in caught.value.message
    with pytest.raises(BadInput, match="no work to explain"):
        items.explain(place(desk.root, "another", desk.now), [])
