"""A brief becomes a plan; the plan that was there before is never overwritten."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from omo.state import ledger, paths
from omo.ultragoal import create
from omo.ultragoal.plan import POINTER
from tests.ultragoal.workshop import ONE, THREE, TWO, Workshop


def archived(shop: Workshop) -> list[Path]:
    return sorted(shop.directory.parent.glob("ultragoal.archived-*"))


def test_the_ledger_is_the_truth_and_the_files_show_it(shop: Workshop) -> None:
    shop.create(THREE)
    shown = json.loads(shop.goals_json.read_text(encoding="utf-8"))
    assert [(goal["id"], goal["title"], goal["status"]) for goal in shown["goals"]] == [
        ("G001", "Parse", "pending"),
        ("G002", "Check", "pending"),
        ("G003", "Write", "pending"),
    ]
    assert (shown["objective"], shown["goalMode"], shown["constraints"]) == (POINTER, "aggregate", "Keep the API.")
    assert (shop.directory / "brief.md").read_text(encoding="utf-8") == THREE + "\n"
    assert shop.kinds() == ["plan_created"]
    assert shop.rows()[0]["goalIds"] == ["G001", "G002", "G003"]
    assert shop.run().problems == []


def test_a_plan_knows_its_session_and_its_repository(shop: Workshop) -> None:
    shop.root.joinpath("a").write_text("a")
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    subprocess.run(["git", "add", "a"], cwd=shop.root, check=True)
    subprocess.run(["git", *identity, "commit", "-qm", "x"], cwd=shop.root, check=True)
    plan = shop.create()
    assert plan.session == shop.session
    assert plan.repository["root"] == str(shop.root)
    assert plan.repository["git"] == str(shop.root / ".git")
    assert len(plan.repository["base"]) == 40


def test_an_unfinished_plan_is_never_overwritten(shop: Workshop) -> None:
    shop.create(THREE)
    with shop.refused("3 open goals", "complete-goals", "add_subgoal", "--force"):
        shop.create(ONE)
    assert archived(shop) == []


def test_by_force_it_is_archived_with_every_byte_and_the_record_says_so(shop: Workshop) -> None:
    old = shop.create(THREE)
    before = shop.files()
    shop.create(ONE, force=True)
    (kept,) = archived(shop)
    assert {name: (kept / name).read_bytes() for name in before} == before
    assert shop.statuses() == {"G001": "pending"}
    assert shop.plan().run != old.run
    assert shop.rows()[0]["replaces"] == {"run": old.run, "open": 3, "trouble": "", "by": "agent"}
    rows = ledger.rows(paths.events_file(shop.state, shop.session))
    assert [(row["run"], row["open"]) for row in rows if row["kind"] == "plan-archived"] == [(old.run, 3)]


def test_a_finished_plan_makes_room_by_itself_and_is_kept(shop: Workshop) -> None:
    shop.create(ONE)
    shop.finish()
    shop.create(TWO)
    assert shop.statuses() == {"G001": "pending", "G002": "pending"}
    assert len(archived(shop)) == 1


def test_a_plan_that_was_edited_by_hand_is_not_taken_for_finished(shop: Workshop) -> None:
    shop.create()
    shop.goals_json.write_text(shop.goals_json.read_text().replace("pending", "complete"))
    with shop.refused("2 open goals", "--force"):
        shop.create(ONE)


@pytest.mark.parametrize("rubbish", [b"", b"garbage\n", b'{"seq": 1}\n'])
def test_the_users_force_gets_past_a_ledger_nobody_can_read(shop: Workshop, rubbish: bytes) -> None:
    shop.create()
    shop.ledger.write_bytes(rubbish)
    for force in (False, True):
        with shop.refused("changed by hand", "the user runs"):
            shop.create(ONE, force=force)
    create.create_goals(shop.run("user"), create.parse(ONE), mode="aggregate", force=True)
    assert shop.statuses() == {"G001": "pending"}
    assert (archived(shop)[0] / "ledger.jsonl").read_bytes() == rubbish


def test_a_plan_works_outside_git_too(tmp_path: Path) -> None:
    plain = Workshop(tmp_path / "plain")
    plain.root.mkdir()
    assert plain.create(ONE).repository["base"] is None
    plain.finish()
    assert plain.final() == "G001"


def test_a_plan_too_long_to_be_kept_is_refused_before_the_old_one_is_put_aside(shop: Workshop) -> None:
    shop.create(ONE)
    text = "\n".join(f"@goal: G{n}\n{'x' * 9000}" for n in range(20))
    with shop.refused("bytes", "in files of the project"):
        shop.create(text, force=True)
    assert archived(shop) == []
