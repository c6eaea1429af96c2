"""What was changed by hand is seen and never believed; what it costs is one command of the user's."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from omo.errors import Refused
from omo.ultragoal import lifecycle
from tests.ultragoal.workshop import ONE, THREE, Workshop

Lines = list[bytes]

SEAL = "omo state clear --mode ultragoal --force --session abc123"
FORGED = b'{"seq": 5, "ts": "t", "kind": "goal_checkpointed", "goalId": "G002", "status": "complete", "evidence": "e"}'


def lines(shop: Workshop) -> Lines:
    return shop.ledger.read_bytes().split(b"\n")[:-1]


def put(shop: Workshop, rows: Lines) -> None:
    shop.ledger.write_bytes(b"".join(line + b"\n" for line in rows))


def at_work(shop: Workshop) -> Workshop:
    """Rows: plan_created, started G001, checkpointed G001, started G002, a note."""
    shop.create(THREE)
    shop.hand_out()
    shop.complete("G001")
    shop.steer("annotate_ledger")
    shop.tell()
    return shop


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
def test_an_edited_view_is_seen_and_never_believed(shop: Workshop, edit: Callable[[str], str]) -> None:
    at_work(shop)
    before = shop.statuses()
    edited = edit(shop.goals_json.read_text(encoding="utf-8"))
    shop.goals_json.write_text(edited, encoding="utf-8")
    assert "goals.json was edited" in shop.run().edited_view()
    assert (shop.statuses(), shop.run().problems) == (before, [])
    shop.complete("G002")
    assert shop.run().edited_view() == ""
    assert [kept.read_text() for kept in shop.directory.glob("goals.json.edited-*")] == [edited]
    shop.complete("G003")
    assert shop.final() == "G003"


def test_views_that_say_the_same_are_left_alone(shop: Workshop) -> None:
    at_work(shop)
    before = shop.files()
    shop.run().write_views()
    assert shop.files() == before


# A project that was moved


def test_a_plan_goes_along_with_a_project_that_was_moved(shop: Workshop, tmp_path: Path) -> None:
    at_work(shop)
    base = shop.plan().base
    shop.root.rename(tmp_path / "moved")
    shop.root = tmp_path / "moved"
    shop.finish()
    assert (shop.plan().root, shop.plan().base) == (str(tmp_path / "moved"), base), "where the work began stays"
    assert (shop.stale("G001"), shop.final()) == ("", "G003")


def test_a_copy_of_a_project_leaves_the_plan_to_the_original(shop: Workshop, tmp_path: Path) -> None:
    at_work(shop)
    shutil.copytree(shop.root, tmp_path / "copy", symlinks=True)
    copied = Workshop(tmp_path / "copy", now=shop.now)
    assert copied.step().action == "work-there"
    with copied.refused("belongs to", "work there"):
        copied.hand_out()


# The ledger


def edit_receipt(rows: Lines) -> Lines:
    return [*rows[:2], rows[2].replace(b'"independence": "reduced"', b'"independence": "full"'), *rows[3:]]


DAMAGE: dict[str, Callable[[Lines], Lines]] = {
    "a note edited": lambda rows: [*rows[:4], rows[4].replace(b"seen", b"SEEN")],
    "a start edited": lambda rows: [*rows[:3], rows[3].replace(b"G002", b"G003"), *rows[4:]],
    "a checkpoint edited": edit_receipt,
    "its beginning edited": lambda rows: [rows[0].replace(b"Parse", b"PARSE"), *rows[1:]],
    "without its beginning": lambda rows: rows[1:],
    "a row removed": lambda rows: [*rows[:3], *rows[4:]],
    "the last row cut": lambda rows: rows[:4],
    "the last row cut and another put in its place": lambda rows: [*rows[:4], FORGED],
    "rubbish put in": lambda rows: [*rows[:3], b"rubbish", *rows[3:]],
    "a forged row put in": lambda rows: [*rows[:4], FORGED, *rows[4:]],
    "a row copied to the end": lambda rows: [*rows, rows[1]],
    "only rubbish": lambda rows: [b"rubbish"],
    "emptied": lambda rows: [],
}


@pytest.mark.parametrize("harm", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_ledger_waits_for_the_user_who_seals_it_and_begins_anew(
    shop: Workshop, harm: Callable[[Lines], Lines]
) -> None:
    at_work(shop)
    put(shop, harm(lines(shop)))
    step = shop.step()
    assert (step.action, step.who, SEAL in step.command) == ("tell-user", "user", True)
    attempts = (
        lambda: shop.create(ONE, force=True),
        lambda: shop.hand_out(),
        lambda: shop.steer("annotate_ledger"),
        lambda: lifecycle.clear(shop.caller(), force=True),
    )
    for attempt in attempts:
        with shop.refused("changed by hand", SEAL):
            attempt()
    shop.tell()
    told = shop.told()
    assert (told["state"], told["told"], SEAL in told["question"]) == ("blocked", False, True)
    before = shop.files()
    sealed = lifecycle.clear(shop.caller("user"), force=True)
    assert sealed is not None
    kept = next(Path(path) for path in sealed.kept if Path(path).name.startswith("ultragoal."))
    assert {name: (kept / name).read_bytes() for name in before} == before, "the bytes are kept"
    assert (shop.run().plan, shop.run().problems, shop.told()) == (None, [], {})
    shop.create(ONE)
    shop.finish()
    assert shop.final() == "G001"


@pytest.mark.parametrize("name", ["mark.json", "ledger.jsonl"])
def test_a_missing_mark_or_ledger_is_damage_too(shop: Workshop, name: str) -> None:
    at_work(shop)
    (shop.directory / name).unlink()
    with shop.refused("changed by hand", SEAL):
        shop.steer("annotate_ledger")
    assert lifecycle.clear(shop.caller("user"), force=True) is not None
    assert (shop.run().plan, shop.run().problems) == (None, [])


def test_a_plan_whose_directory_was_removed_is_said_to_be_gone(shop: Workshop) -> None:
    at_work(shop)
    shutil.rmtree(shop.directory)
    assert "is gone" in shop.run().problems[0]
    for refused in (lambda: shop.create(ONE), lambda: lifecycle.clear(shop.caller(), force=False)):
        with pytest.raises(Refused) as caught:
            refused()
        assert SEAL in caught.value.fix
    sealed = lifecycle.clear(shop.caller("user"), force=True)
    assert sealed is not None
    assert not [path for path in sealed.kept if "ultragoal." in path], "nothing was there to be kept"
    shop.create(ONE)
    shop.finish()
