"""Bringing a plan back: what was changed by hand is seen and never believed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from omo.errors import OmoError, Refused
from omo.state import ledger, paths
from omo.ultragoal import brief, clearing, creation, summary
from omo.ultragoal.repair import Repaired, repair
from omo.ultragoal.run import publish
from tests.ultragoal.workshop import ONE, THREE, Workshop

Lines = list[bytes]


FORGED = b'{"seq": 5, "ts": "t", "kind": "goal_checkpointed", "goalId": "G002", "status": "complete", "evidence": "e"}'


def lines(shop: Workshop) -> Lines:
    return shop.ledger.read_bytes().split(b"\n")[:-1]


def put(shop: Workshop, found: Lines) -> None:
    shop.ledger.write_bytes(b"".join(line + b"\n" for line in found))


def at_work(shop: Workshop) -> Workshop:
    """Rows: plan_created, started G001, checkpointed G001, started G002, a note."""
    shop.create(THREE)
    shop.hand_out()
    shop.complete("G001")
    shop.steer("annotate_ledger")
    return shop


def mended(shop: Workshop) -> Repaired:
    return repair(shop.run("user"))


# The views


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text.replace('"pending"', '"complete"'),
        lambda text: text.replace("Write the report.", "Write nothing."),
        lambda text: text.replace('"version": 1', '"version": 2'),
        lambda text: json.dumps({**json.loads(text), "goals": []}),
        lambda text: json.dumps({**json.loads(text), "more": 1}),
        lambda text: json.dumps({key: value for key, value in json.loads(text).items() if key != "ledger"}),
        lambda text: text.replace('"seq": 5', '"seq": 4'),
        lambda text: text.replace('"seq": 5', '"seq": 99'),
        lambda text: text.replace('"seq": 5', '"seq": "5"'),
        lambda text: "[]",
        lambda text: "{",
        lambda text: "",
    ],
)
def test_an_edited_view_is_seen_and_not_believed(shop: Workshop, edit: Callable[[str], str]) -> None:
    at_work(shop)
    before = shop.statuses()
    shop.goals_json.write_text(edit(shop.goals_json.read_text(encoding="utf-8")), encoding="utf-8")
    (problem,) = shop.run().problems()
    assert "goals.json" in problem
    assert shop.statuses() == before
    with shop.refused("changed by hand", "omo ultragoal repair"):
        shop.complete("G002")


def test_the_agent_may_repair_a_view_and_receipts_stay_fresh(shop: Workshop) -> None:
    at_work(shop)
    edited = shop.goals_json.read_text().replace('"pending"', '"complete"')
    shop.goals_json.write_text(edited)
    receipt = shop.receipt("G001")
    done = repair(shop.run("agent"))
    assert "goals.json was written anew" in done.what[0]
    assert shop.run().problems() == []
    assert (shop.receipt("G001"), shop.stale("G001")) == (receipt, "")
    assert shop.statuses() == {"G001": "complete", "G002": "active", "G003": "pending"}
    (kept,) = shop.directory.glob("goals.json.corrupt-*")
    assert kept.read_text() == edited
    assert shop.kinds()[-1] == "repaired"
    shop.complete("G002")
    shop.complete("G003")
    assert shop.final() == "G003"


def test_any_change_also_writes_the_view_anew_and_keeps_the_edited_one(shop: Workshop) -> None:
    at_work(shop)
    shop.goals_json.write_text("{}")
    shop.set_back("G002", "failed")
    assert shop.run().problems() == []
    assert [one.read_text() for one in shop.directory.glob("goals.json.corrupt-*")] == ["{}"]


def test_a_whole_plan_needs_no_repair(shop: Workshop) -> None:
    at_work(shop)
    for by in ("agent", "user"):
        with shop.refused("needs no repair"):
            repair(shop.run(by))


def test_without_a_plan_there_is_nothing_to_repair(shop: Workshop) -> None:
    with pytest.raises(Refused, match="no ultragoal plan"):
        mended(shop)


# A project that was moved


def test_a_moved_project_is_refused_until_it_is_repaired(shop: Workshop, tmp_path: Path) -> None:
    at_work(shop)
    base = shop.plan().repository["base"]
    shop.root.rename(tmp_path / "moved")
    shop.root = tmp_path / "moved"
    with shop.refused("was made for", "omo ultragoal repair"):
        shop.hand_out()
    done = repair(shop.run("agent"))
    assert str(tmp_path / "moved") in done.what[0]
    assert shop.plan().repository["base"] == base, "where the work began does not move with it"
    assert shop.stale("G001") == ""
    shop.finish()
    assert shop.final() == "G003"


# The ledger


def edit_receipt(found: Lines) -> Lines:
    return [*found[:2], found[2].replace(b'"independence": "reduced"', b'"independence": "full"'), *found[3:]]


DAMAGE: dict[str, Callable[[Lines], Lines]] = {
    "a note edited": lambda found: [*found[:4], found[4].replace(b"seen", b"SEEN")],
    "a start edited": lambda found: [*found[:3], found[3].replace(b"G002", b"G003"), *found[4:]],
    "a checkpoint edited": edit_receipt,
    "its beginning edited": lambda found: [found[0].replace(b"Parse", b"PARSE"), *found[1:]],
    "without its beginning": lambda found: found[1:],
    "a row removed": lambda found: [*found[:3], *found[4:]],
    "the last row cut": lambda found: found[:4],
    "the last row cut and another put in its place": lambda found: [*found[:4], FORGED],
    "rubbish put in": lambda found: [*found[:3], b"rubbish", *found[3:]],
    "a forged row put in": lambda found: [*found[:4], FORGED, *found[4:]],
    "a row copied to the end": lambda found: [*found, found[1]],
    "only rubbish": lambda found: [b"rubbish"],
    "emptied": lambda found: [],
}


@pytest.mark.parametrize("harm", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_ledger_is_seen_sealed_by_the_user_and_the_plan_begins_anew(
    shop: Workshop, harm: Callable[[Lines], Lines]
) -> None:
    at_work(shop)
    summary.tell(shop.run())
    put(shop, harm(lines(shop)))
    mending = "the user runs omo ultragoal repair --session abc123"
    assert shop.step().action == "repair"
    assert shop.step().command.startswith(mending)
    for attempt in (lambda: shop.create(ONE), lambda: clearing.clear(shop.run(), force=False)):
        with shop.refused(mending, "--force"):
            attempt()
    with shop.refused("is for the user", mending, "--force"):
        repair(shop.run("agent"))
    before = shop.files()
    done = mended(shop)
    assert "nothing of it is carried over" in done.what[0]
    kept = next(Path(one) for one in done.kept if Path(one).name.startswith("ultragoal."))
    assert str(kept) in done.what[0]
    assert {name: (kept / name).read_bytes() for name in before} == before, "the bytes are kept"
    assert (shop.run().plan(), shop.run().problems()) == (None, [])
    assert shop.step().action == "create-goals"
    shop.create(ONE)
    shop.finish()
    assert shop.final() == "G001"


@pytest.mark.parametrize("name", ["mark.json", "ledger.jsonl"])
def test_a_missing_mark_or_ledger_is_damage_too(shop: Workshop, name: str) -> None:
    at_work(shop)
    (shop.directory / name).unlink()
    with shop.refused("changed by hand"):
        shop.steer("annotate_ledger")
    mended(shop)
    assert (shop.run().plan(), shop.run().problems()) == (None, [])


def test_after_the_users_repair_nothing_holds_the_session(shop: Workshop) -> None:
    at_work(shop)
    summary.tell(shop.run())
    assert shop.told()["state"] == "active"
    put(shop, [*lines(shop), FORGED])
    mended(shop)
    assert shop.told() == {}


def test_a_plan_whose_directory_is_gone_is_said_to_be_gone(shop: Workshop) -> None:
    at_work(shop)
    summary.tell(shop.run())
    shutil.rmtree(shop.directory)
    step = shop.step()
    assert (step.action, step.command) == ("repair", "omo state clear --mode ultragoal --force")
    for by in ("agent", "user"):
        with pytest.raises(OmoError, match="nothing is left"):
            repair(shop.run(by))


def test_after_the_directory_was_removed_every_remedy_works(shop: Workshop) -> None:
    at_work(shop)
    summary.tell(shop.run())
    shutil.rmtree(shop.directory)
    for refused in (lambda: shop.create(ONE), lambda: clearing.clear(shop.run(), force=False)):
        with pytest.raises(Refused) as caught:
            refused()
        assert "omo state clear --mode ultragoal --force" in caught.value.fix
        assert "repair" not in caught.value.fix
    cleared = clearing.clear(shop.run("user"), force=True)
    assert cleared is not None
    assert not [one for one in cleared.kept if "ultragoal." in one], "nothing was there to be kept"
    shop.create(ONE)
    shop.finish()


def test_force_claims_to_have_kept_only_what_was_there(shop: Workshop) -> None:
    at_work(shop)
    summary.tell(shop.run())
    shutil.rmtree(shop.directory)
    _, kept = creation.create_goals(shop.run(), brief.parse(ONE), mode="aggregate", force=True)
    assert kept is None
    (noted,) = [
        row for row in ledger.rows(paths.events_file(shop.state, shop.session)) if row["kind"] == "plan-archived"
    ]
    assert noted["kept"] is None


def test_what_is_published_twice_is_the_same(shop: Workshop) -> None:
    at_work(shop)
    before = shop.files()
    publish(shop.run())
    assert shop.files() == before
