"""What a cheating agent would try: each is refused or shown, and the real state is unharmed."""

from __future__ import annotations

import copy
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from omo.errors import OmoError, Refused
from omo.state import paths, runtime
from omo.state.journal import Journal
from omo.ultragoal import goal_tool, lifecycle, receipts, summary
from omo.ultrawork import gates as pinned_gates
from tests.ultragoal.gates import Gate, add_surface, artifact, screenshot, surface, transcript, valid_gate
from tests.ultragoal.workshop import ONE, TWO, Workshop

posix = pytest.mark.skipif(sys.platform == "win32", reason="links as POSIX has them")
FORGED = {
    "schemaVersion": 1,
    "receiptId": "f" * 32,
    "receiptKind": "final-aggregate",
    "verifiedAt": "2026-02-22T17:20:01.000Z",
    "goalMode": "aggregate",
    "qualityGateHash": "a" * 64,
    "independence": "full",
}


def at_work(shop: Workshop) -> Workshop:
    shop.create(TWO)
    shop.hand_out()
    shop.complete("G001")
    summary.publish_status(shop.run())
    return shop


def assert_not_released(shop: Workshop) -> None:
    """Nothing is done and nothing can be completed; where only the user can go on, they are told so."""
    summary.publish_status(shop.run())
    told = shop.told()
    assert told["state"] == "active" or (told["state"], told["told"]) == ("blocked", False)
    assert "complete" in shop.told()["deny"]
    assert shop.step().action not in ("done", "complete-goal")
    with pytest.raises(OmoError):
        goal_tool.complete(shop.run())


def forged_receipt(shop: Workshop, name: str) -> dict[str, Any]:
    """As good as it gets without the ledger: right goal, right generation, a gate of its own on disk."""
    plan = shop.plan()
    digest = receipts.keep_gate(str(shop.directory), shop.state, {"forged": name})
    basis = {**shop.receipt("G001")["basis"]}
    covers = {goal.id: FORGED["receiptId"] for goal in plan.required}
    return {**FORGED, "goalId": name, "qualityGateHash": digest, "basis": basis, "covers": covers}


# Receipts and statuses written by hand


def test_receipts_written_into_goals_json_count_for_nothing(shop: Workshop) -> None:
    at_work(shop)
    shown = json.loads(shop.goals_json.read_text())
    for goal in shown["goals"]:
        goal.update(status="complete", completionVerification=forged_receipt(shop, goal["id"]))
    shop.goals_json.write_text(json.dumps(shown, indent=2) + "\n")
    assert shop.statuses() == {"G001": "complete", "G002": "active"}
    assert "was edited" in shop.run().edited_view()
    assert_not_released(shop)
    shop.complete("G002")
    assert shop.final() == "G002"


def forged_row(shop: Workshop, **more: Any) -> dict[str, Any]:
    return {
        "seq": len(shop.rows()) + 1,
        "ts": "2026-02-22T18:00:00.000Z",
        "kind": "goal_checkpointed",
        "actor": "user",
        "goalId": "G002",
        "status": "complete",
        "evidence": "trust me",
        "completionVerification": forged_receipt(shop, "G002"),
        **more,
    }


def add_line(shop: Workshop, row: dict[str, Any]) -> None:
    with shop.ledger.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


CHAINS: dict[str, dict[str, Any]] = {
    "no chain": {},
    "a made-up chain": {"prev": "0" * 32},
    "an old number": {"seq": 2, "prev": "0" * 32},
    "a far number": {"seq": 999, "prev": "0" * 32},
}


@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
def test_a_row_appended_by_hand_is_seen_and_never_believed(shop: Workshop, chain: dict[str, Any]) -> None:
    at_work(shop)
    add_line(shop, forged_row(shop, **chain))
    assert shop.run().problems
    assert_not_released(shop)
    with shop.refused("changed by hand"):
        shop.complete("G002")
    assert lifecycle.clear(shop.caller("user"), force=True) is not None
    assert (shop.run().plan, shop.run().problems) == (None, []), "nothing of it is believed"


def test_nothing_is_added_to_a_ledger_with_a_forged_row(shop: Workshop) -> None:
    at_work(shop)
    add_line(shop, forged_row(shop, prev="0" * 32))
    before = shop.files()
    for attempt in (
        lambda: shop.steer("annotate_ledger"),
        lambda: shop.set_back("G002", "failed"),
        lambda: shop.hand_out(),
        lambda: lifecycle.adopt(shop.caller(session="another"), shop.session),
    ):
        with shop.refused("changed by hand", f"omo state clear --mode ultragoal --force --session {shop.session}"):
            attempt()
    assert shop.files() == before


def test_an_edited_row_is_seen(shop: Workshop) -> None:
    at_work(shop)
    text = shop.ledger.read_text()
    shop.ledger.write_text(text.replace('"independence": "reduced"', '"independence": "full"'))
    assert text != shop.ledger.read_text()
    assert_not_released(shop)
    assert "does not follow" in shop.run().problems[0]


def test_a_truncated_ledger_is_seen(shop: Workshop) -> None:
    """The row that opened a blocker is cut off, so that the plan looks finished."""
    shop.create(ONE)
    shop.hand_out()
    shop.finish()
    shop.review("G001")
    summary.publish_status(shop.run())
    lines = shop.ledger.read_bytes().splitlines(keepends=True)
    shop.ledger.write_bytes(b"".join(lines[:-1]))
    assert shop.plan().open_goals == []
    assert "but row" in shop.run().problems[0]
    assert_not_released(shop)


def test_a_deleted_mark_is_seen(shop: Workshop) -> None:
    at_work(shop)
    (shop.directory / "mark.json").unlink()
    assert_not_released(shop)
    with pytest.raises(Refused, match="changed by hand"):
        lifecycle.clear(shop.caller("agent"), force=True)


@pytest.mark.parametrize("harm", [Path.unlink, lambda path: path.write_text('{"forged": true}')])
def test_a_gate_behind_a_receipt_cannot_be_taken_away_or_exchanged(
    shop: Workshop, harm: Callable[[Path], object]
) -> None:
    at_work(shop).complete("G002")
    harm(shop.directory / "gates" / f"{shop.receipt('G001')['qualityGateHash']}.json")
    plan = shop.plan()
    assert receipts.forged(plan, str(shop.directory))
    assert shop.final() is None
    with pytest.raises(Refused, match="no fresh receipt"):
        goal_tool.complete(shop.run())


def test_a_receipt_whose_gate_is_named_by_a_path_leads_nowhere(shop: Workshop) -> None:
    name = receipts.gate_file("/d", "../../../../etc/passwd")
    assert name == os.path.join("/d", "gates", "none.json")


# Plans put in the place of the real one


ALL_DONE = {
    "version": 1,
    "goals": [
        {"id": "G001", "title": "Parse", "objective": "Read.", "status": "complete", "completionVerification": FORGED},
        {"id": "G002", "title": "Check", "objective": "Check.", "status": "complete", "completionVerification": FORGED},
    ],
}


@pytest.mark.parametrize("without", [("mark.json",), ("mark.json", "ledger.jsonl")])
def test_another_plan_next_to_what_is_left_of_a_ledger_ends_nothing(shop: Workshop, without: tuple[str, ...]) -> None:
    at_work(shop)
    shop.goals_json.write_text(json.dumps(ALL_DONE))
    for name in without:
        (shop.directory / name).unlink()
    before = shop.files()
    assert shop.run().problems
    for attempt in (lambda: goal_tool.complete(shop.run()), lambda: shop.complete("G002")):
        with pytest.raises(OmoError):
            attempt()
    assert shop.files() == before


def test_our_rows_beside_it_betray_another_plan_also_before_the_session_was_told(shop: Workshop) -> None:
    shop.create(TWO)
    shop.goals_json.write_text(json.dumps(ALL_DONE))
    (shop.directory / "mark.json").unlink()
    assert shop.told() == {}
    assert shop.run().problems
    assert shop.statuses() == {"G001": "pending", "G002": "pending"}


@pytest.mark.parametrize("document", [ALL_DONE, {"goals": []}, {"goals": "none"}, {}])
def test_a_view_without_a_ledger_is_no_plan(shop: Workshop, document: dict[str, Any]) -> None:
    shop.directory.mkdir(parents=True)
    shop.goals_json.write_text(json.dumps(document))
    assert (shop.run().plan, shop.step().action) == (None, "create-goals")
    with pytest.raises(OmoError):
        shop.hand_out()
    shop.create(ONE)
    assert shop.statuses() == {"G001": "pending"}
    (kept,) = shop.directory.parent.glob("ultragoal.archived-*/goals.json")
    assert json.loads(kept.read_text()) == document


def test_another_sessions_finished_plan_moved_in_by_hand_ends_nothing(shop: Workshop) -> None:
    other = Workshop(shop.root, session="other", now=shop.now)
    other.create(ONE)
    other.finish()
    shop.now = other.now
    at_work(shop)
    shutil.rmtree(shop.directory)
    shutil.copytree(other.directory, shop.directory)
    (problem,) = shop.run().problems
    assert "is gone" in problem
    with pytest.raises(OmoError, match="changed by hand"):
        goal_tool.complete(shop.run())
    for change in (lambda: shop.steer("annotate_ledger"), lambda: shop.hand_out(), lambda: shop.complete("G001")):
        with shop.refused("omo state clear --mode ultragoal --force"):
            change()
    summary.publish_status(shop.run())
    assert "complete" in shop.told()["deny"]
    assert shop.told()["state"] == "blocked"
    assert other.final() == "G001"


def test_a_removed_plan_ends_nothing_and_is_told_to_the_user(shop: Workshop) -> None:
    at_work(shop)
    shutil.rmtree(shop.directory)
    summary.publish_status(shop.run())
    assert (shop.told()["state"], shop.told()["told"]) == ("blocked", False)
    assert "is gone" in shop.told()["why"]
    with pytest.raises(OmoError):
        goal_tool.complete(shop.run())


# Gates that cite what proves nothing


def spoiled(shop: Workshop, spoil: Callable[[Path, Gate], object]) -> Gate:
    gate = copy.deepcopy(shop.gate("G001"))
    spoil(shop.root, gate)
    return gate


def with_screenshot(root: Path, gate: Gate, *, blank: bool) -> None:
    screenshot(root / "shot.png", blank=blank)
    transcript(root / "browser.json")
    add_surface(
        gate,
        surface("surface-web", "web", "browser", "shot"),
        artifact("browser", "browser-automation", "browser.json"),
        artifact("shot", "screenshot", "shot.png"),
    )


def linked(root: Path, gate: Gate) -> None:
    (root.parent / "elsewhere.txt").write_text("12 calls, 12 as the contract says\n")
    (root / "linked.txt").symlink_to(root.parent / "elsewhere.txt")
    gate["executorQa"]["artifactRefs"][0]["path"] = "linked.txt"


def cites(path: str) -> Callable[[Path, Gate], object]:
    return lambda root, gate: gate["executorQa"]["artifactRefs"][0].update(path=path)


def old(root: Path, gate: Gate) -> None:
    os.utime(root / "artifacts" / "G001" / "api-report.txt", (1_000_000_000, 1_000_000_000))


WORTHLESS: dict[str, tuple[Callable[[Path, Gate], object], str]] = {
    "missing": (lambda root, gate: (root / "artifacts/G001/api-report.txt").unlink(), "is not there"),
    "empty": (lambda root, gate: (root / "artifacts/G001/api-report.txt").write_text(" \n"), "is empty"),
    "a directory": (cites("artifacts"), "artifactRefs"),
    "a uniform screenshot": (lambda root, gate: with_screenshot(root, gate, blank=True), "shot"),
    "outside the project": (cites("../elsewhere.txt"), "outside the project"),
    "an absolute path outside": (cites("/etc/hostname"), "outside the project"),
    "state of omo": (cites(".sisyphus/cc-omo/runtime.local.json"), "state of omo or git"),
    "git's own": (cites(".git/config"), "state of omo or git"),
    "older than the goal": (old, "older than the work"),
}


@pytest.mark.parametrize(("spoil", "said"), WORTHLESS.values(), ids=WORTHLESS)
def test_evidence_that_proves_nothing_is_refused(
    shop: Workshop, spoil: Callable[[Path, Gate], object], said: str
) -> None:
    shop.create(ONE)
    shop.hand_out()
    gate = spoiled(shop, spoil)
    with shop.refused("quality gate of G001", said):
        shop.complete("G001", gate=gate)
    assert shop.statuses() == {"G001": "active"}


def test_the_same_screenshot_with_a_picture_in_it_passes(shop: Workshop) -> None:
    shop.create(ONE)
    shop.hand_out()
    gate = spoiled(shop, lambda root, gate: with_screenshot(root, gate, blank=False))
    assert shop.complete("G001", gate=gate).changed


@posix
def test_a_link_that_leads_out_of_the_project_is_refused(shop: Workshop) -> None:
    shop.create(ONE)
    shop.hand_out()
    gate = spoiled(shop, linked)
    with shop.refused("by a link"):
        shop.complete("G001", gate=gate)


def test_evidence_of_another_goal_is_refused_also_as_a_copy(shop: Workshop) -> None:
    at_work(shop)
    used = valid_gate(shop.root, "G001", salt=shop.plan().run)
    with shop.refused("already proves goal"):
        shop.complete("G002", gate=used)
    shutil.copytree(shop.root / "artifacts" / "G001", shop.root / "artifacts" / "copy")
    copied = json.loads(json.dumps(used).replace("artifacts/G001/", "artifacts/copy/"))
    with shop.refused("already proves goal"):
        shop.complete("G002", gate=copied)


def test_a_touch_does_not_make_old_evidence_new(shop: Workshop) -> None:
    gate = valid_gate(shop.root)
    early = 1_600_000_000
    for path in (shop.root / "artifacts").rglob("*.txt"):
        os.utime(path, (early, early))
    shop.create(ONE)
    shop.hand_out()  # what lies there now is remembered
    for path in (shop.root / "artifacts").rglob("*.txt"):
        path.write_bytes(path.read_bytes())
    with shop.refused("older than the work"):
        shop.complete("G001", gate=gate)


# Replays


COMMAND = [sys.executable, "-c", "open('ran', 'w').close(); print('7 rows')"]


def replaying(shop: Workshop) -> Gate:
    record = {
        "schemaVersion": 1,
        "kind": "cli-replay",
        "command": COMMAND,
        "replaySafe": True,
        "recordedStdout": "7 rows\n",
    }
    gate = copy.deepcopy(shop.gate("G001"))
    return add_surface(gate, surface("surface-cli", "cli", "replay"), artifact("replay", "cli-replay", replay=record))


def pin(shop: Workshop, by: str) -> None:
    shop.now += 1
    pinned_gates.add(
        shop.state,
        shop.session,
        "rows",
        COMMAND,
        by=by,
        cwd=".",
        program=None,
        now=shop.now,
        wait=5,
    )


@pytest.mark.parametrize("by", [None, "agent"])
def test_a_command_the_user_did_not_pin_is_not_run(shop: Workshop, by: str | None) -> None:
    shop.create(ONE)
    shop.hand_out()
    if by:
        pin(shop, by)
    with shop.refused("replay"):
        shop.complete("G001", gate=replaying(shop))
    assert not (shop.root / "ran").exists()


def test_a_command_the_user_pinned_is_run_for_real(shop: Workshop) -> None:
    shop.create(ONE)
    shop.hand_out()
    pin(shop, "user")
    assert shop.complete("G001", gate=replaying(shop)).changed
    assert (shop.root / "ran").exists()


def test_a_pin_written_by_hand_allows_nothing(shop: Workshop) -> None:
    shop.create(ONE)
    shop.hand_out()
    commands = Path(paths.commands_dir(shop.state))
    commands.mkdir(parents=True)
    row = {"seq": 1, "ts": "", "kind": "command-pinned", "actor": "user", "name": "rows", "argv": COMMAND}
    (commands / "ledger.jsonl").write_text(json.dumps(row) + "\n")
    assert Journal(str(commands), shop.state).problems()
    with shop.refused("replay"):
        shop.complete("G001", gate=replaying(shop))
    assert not (shop.root / "ran").exists()


# The session's own record


def test_editing_the_sessions_row_changes_no_plan(shop: Workshop) -> None:
    at_work(shop)
    path = Path(paths.runtime_file(shop.state))
    text = path.read_text().replace('"open": 1', '"open": 0').replace('"state": "active"', '"state": "done"')
    path.write_text(text)
    assert shop.told()["state"] == "done"
    assert_not_released(shop)


def test_a_session_that_never_had_a_plan_is_told_nothing(shop: Workshop) -> None:
    at_work(shop)
    stranger = Workshop(shop.root, session="stranger", now=shop.now)
    summary.publish_status(stranger.run())
    assert runtime.session(shop.state, "stranger") is None
