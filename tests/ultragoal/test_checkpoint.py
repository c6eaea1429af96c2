"""A checkpoint: what it takes, what it changes, and that a refused one changes nothing."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from omo.clock import seconds
from omo.errors import BadInput
from omo.evidence import artifacts
from omo.state import paths
from omo.ultragoal import goal_tool, receipts, reviewers
from omo.ultragoal.checkpoint import checkpoint, subject_of
from tests.ultragoal.gates import Gate, valid_gate
from tests.ultragoal.workshop import CLEAN, ONE, SEEN, THREE, TWO, Workshop


def begin(shop: Workshop, text: str = TWO) -> Workshop:
    shop.create(text)
    shop.hand_out()
    return shop


def test_a_complete_goal_gets_a_receipt_and_the_next_one_is_started(shop: Workshop) -> None:
    done = begin(shop).complete("G001")
    assert (done.changed, done.started) == (True, "G002")
    assert shop.statuses() == {"G001": "complete", "G002": "active"}
    assert shop.goal("G001").evidence == SEEN
    assert shop.kinds() == ["plan_created", "goal_started", "goal_checkpointed", "goal_started"]
    assert shop.receipt("G001")["receiptKind"] == "per-goal"


def test_the_last_one_starts_nothing_and_its_receipt_is_final(shop: Workshop) -> None:
    done = begin(shop, ONE).complete("G001")
    assert done.started is None
    assert shop.receipt("G001")["receiptKind"] == "final-aggregate"
    assert shop.plan().open_goals == []


def test_a_complete_checkpoint_retries_nothing_by_itself(shop: Workshop) -> None:
    begin(shop, THREE).set_back("G001", "failed")
    shop.hand_out()
    shop.set_back("G002", "blocked")
    shop.hand_out()
    assert shop.complete("G003").started is None
    assert shop.statuses() == {"G001": "failed", "G002": "blocked", "G003": "complete"}


def test_the_receipt_notes_what_was_looked_at(shop: Workshop) -> None:
    begin(shop).complete("G001")
    receipt = shop.receipt("G001")
    assert set(receipt["artifacts"]) == {"artifacts/G001/api-report.txt", "artifacts/G001/attack-report.txt"}
    assert (receipt["goalStatusBeforeCheckpoint"], receipt["by"], receipt["exemptions"]) == ("active", "agent", [])
    kept = artifacts.list_artifacts(shop.state, goal=f"ultragoal/{shop.plan().run}/G001")
    assert {one.path: one.digest for one in kept} == receipt["artifacts"]
    assert (shop.directory / "gates" / f"{receipt['qualityGateHash']}.json").exists()


@pytest.mark.parametrize("status", ["failed", "blocked"])
def test_setting_a_goal_back_needs_no_gate_and_starts_nothing(shop: Workshop, status: str) -> None:
    done = begin(shop).set_back("G001", status, "the host answers 403")
    assert done.started is None
    assert shop.statuses() == {"G001": status, "G002": "pending"}
    assert shop.goal("G001").evidence == "the host answers 403"


def test_a_failed_goal_that_works_after_all_can_be_completed(shop: Workshop) -> None:
    begin(shop, ONE).set_back("G001", "failed")
    assert shop.complete("G001").changed
    assert shop.receipt("G001")["goalStatusBeforeCheckpoint"] == "failed"


def test_no_file_of_a_goal_is_named_twice_in_the_ledger_for_the_same_words(shop: Workshop) -> None:
    begin(shop).set_back("G001", "failed", "no")
    before = shop.files()
    assert not shop.set_back("G001", "failed", "  no\n").changed
    assert shop.files() == before
    assert shop.set_back("G001", "failed", "no, still").changed


@pytest.mark.parametrize("evidence", [SEEN, f"  {SEEN}\n"])
def test_a_replay_of_a_complete_checkpoint_writes_nothing(shop: Workshop, evidence: str) -> None:
    begin(shop).complete("G001")
    before = shop.files()
    done = shop.complete("G001", evidence)
    assert (done.changed, done.started) == (False, None)
    assert shop.files() == before


def test_other_words_or_another_gate_issue_a_new_receipt(shop: Workshop) -> None:
    begin(shop).complete("G001")
    first = shop.receipt("G001")["receiptId"]
    assert shop.complete("G001", "seen once more").changed
    second = shop.receipt("G001")["receiptId"]
    gate = copy.deepcopy(shop.gate("G001"))
    gate["iteration"]["evidence"] += "once more"
    assert shop.complete("G001", "seen once more", gate=gate).changed
    assert len({first, second, shop.receipt("G001")["receiptId"]}) == 3
    assert shop.statuses() == {"G001": "complete", "G002": "active"}, "the goal under way stays so"


REFUSED: dict[str, tuple[Callable[[Gate], object], list[str]]] = {
    "no architect": (lambda gate: gate.pop("architectReview"), ["architectReview"]),
    "a section too many": (lambda gate: gate.update(codeReview={}), ["codeReview"]),
    "a status in other words": (lambda gate: gate["executorQa"].update(status="ok"), ["executorQa.status"]),
    "open blockers": (lambda gate: gate["iteration"].update(blockers=["x"]), ["iteration.blockers"]),
    "two defects are said at once": (
        lambda gate: [gate[name].update(status="ok") for name in ("executorQa", "iteration")],
        ["executorQa.status", "iteration.status", "2 defects"],
    ),
}


@pytest.mark.parametrize(("spoil", "said"), REFUSED.values(), ids=REFUSED)
def test_a_gate_that_does_not_pass_is_refused(shop: Workshop, spoil: Callable[[Gate], object], said: list[str]) -> None:
    begin(shop)
    gate = copy.deepcopy(shop.gate("G001"))
    spoil(gate)
    with shop.refused(*said, "gate validate"):
        shop.complete("G001", gate=gate)
    assert artifacts.list_artifacts(shop.state) == [], "what proves nothing is not recorded as proof"


@pytest.mark.parametrize("gate", [[], "text", 3, True, {}])
def test_what_is_no_gate_is_refused(shop: Workshop, gate: object) -> None:
    begin(shop)
    with shop.refused("quality gate of G001"):
        shop.complete("G001", gate=gate)


def test_without_a_gate_a_goal_cannot_be_completed(shop: Workshop) -> None:
    begin(shop)
    with shop.refused("needs its quality gate", "gate init --goal-id G001"):
        checkpoint(shop.run(), "G001", status="complete", evidence=SEEN, goal_json=None, gate=None)


@pytest.mark.parametrize("status", ["failed", "blocked"])
def test_a_gate_belongs_to_complete_alone(shop: Workshop, status: str) -> None:
    begin(shop)
    with shop.refused("--quality-gate-json", kind=BadInput):
        checkpoint(shop.run(), "G001", status=status, evidence=SEEN, goal_json=None, gate=shop.gate("G001"))


@pytest.mark.parametrize("evidence", ["", " \n\t", "x" * 20_001])
@pytest.mark.parametrize("status", ["complete", "failed", "blocked"])
def test_evidence_has_to_say_something_short(shop: Workshop, status: str, evidence: str) -> None:
    begin(shop)
    gate = shop.gate("G001") if status == "complete" else None
    with shop.refused("--evidence", kind=BadInput):
        checkpoint(shop.run(), "G001", status=status, evidence=evidence, goal_json=None, gate=gate)


@pytest.mark.parametrize("status", ["pending", "active", "superseded", "review_blocked", "done", ""])
def test_a_checkpoint_sets_no_other_status(shop: Workshop, status: str) -> None:
    """Superseding, reopening and starting have commands of their own, with rules."""
    begin(shop)
    with shop.refused("G001 is active"):
        checkpoint(shop.run(), "G001", status=status, evidence=SEEN, goal_json=None, gate=None)


def test_a_goal_that_is_not_there_is_named(shop: Workshop) -> None:
    begin(shop)
    with shop.refused("G009", kind=BadInput):
        shop.complete("G009")


@pytest.mark.parametrize(
    ("prepare", "said"),
    [
        (lambda shop: None, ["G002 is pending", "complete-goals"]),
        (lambda shop: shop.set_back("G002", "blocked"), ["G002 is blocked", "--retry-blocked"]),
        (lambda shop: shop.review("G001") and None, ["G001 is review_blocked"]),
        (lambda shop: (shop.set_back("G002", "blocked"), shop.supersede("G002")), ["G002 is superseded"]),
    ],
    ids=["pending", "blocked", "review_blocked", "superseded"],
)
def test_only_an_active_failed_or_complete_goal_can_be_completed(
    shop: Workshop, prepare: Callable[[Workshop], object], said: list[str]
) -> None:
    begin(shop)
    prepare(shop)
    name = said[0].split()[0]
    with shop.refused(*said):
        shop.complete(name)


def test_without_a_plan_it_is_refused(shop: Workshop) -> None:
    with shop.refused("no ultragoal plan", "create-goals"):
        shop.complete("G001")
    assert not shop.ledger.exists()


# The goal tool's goal


@pytest.mark.parametrize(
    ("prepare", "said"),
    [
        (lambda shop: goal_tool.drop(shop.run()), ["no active goal", "omo goal create"]),
        (
            lambda shop: (shop.classify(), goal_tool.pause(shop.run())),
            ["the session's goal is paused", "omo goal resume"],
        ),
    ],
    ids=["none", "paused"],
)
def test_completing_needs_the_sessions_goal_active(
    shop: Workshop, prepare: Callable[[Workshop], object], said: list[str]
) -> None:
    begin(shop)
    prepare(shop)
    with shop.refused(*said):
        shop.complete("G001")
    assert shop.set_back("G001", "failed").changed, "a setback needs none"


def test_completing_under_another_objective_is_refused(shop: Workshop) -> None:
    goal_tool.create(shop.run(), "Paint the shed")
    begin(shop)
    with shop.refused("another goal is active (Paint the shed)", "omo goal drop, then omo goal create"):
        shop.complete("G001")


def live(shop: Workshop) -> dict[str, Any]:
    found = shop.tool()
    assert found is not None
    return found.render()


@pytest.mark.parametrize("shape", ["{}", "goal", "details.goal"])
def test_the_goal_may_be_passed_in_each_shape_it_is_printed_in(shop: Workshop, shape: str) -> None:
    begin(shop)
    goal = live(shop)
    passed: dict[str, Any] = {"{}": goal, "goal": {"goal": goal}, "details.goal": {"details": {"goal": goal}}}[shape]
    gate = shop.gate("G001")
    done = checkpoint(shop.run(), "G001", status="complete", evidence=SEEN, goal_json=passed, gate=gate)
    assert done.changed


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"objective": "Paint the shed"}, "objective: 'Paint the shed' was passed"),
        ({"status": "complete"}, "status: 'complete' was passed"),
        ({"id": "t1"}, "id: 't1' was passed"),
    ],
)
@pytest.mark.parametrize("status", ["complete", "blocked"])
def test_a_goal_that_is_passed_in_never_replaces_the_live_one(
    shop: Workshop, change: dict[str, str], said: str, status: str
) -> None:
    begin(shop)
    gate = shop.gate("G001") if status == "complete" else None
    with shop.refused(said, "omo goal get --json"):
        passed = {"goal": {**live(shop), **change}}
        checkpoint(shop.run(), "G001", status=status, evidence=SEEN, goal_json=passed, gate=gate)


@pytest.mark.parametrize("passed", [{}, [], "goal", {"goal": None}, {"details": {}}])
def test_what_holds_no_goal_is_bad_input(shop: Workshop, passed: object) -> None:
    begin(shop)
    with shop.refused("--goal-json holds no goal", kind=BadInput):
        checkpoint(shop.run(), "G001", status="complete", evidence=SEEN, goal_json=passed, gate=shop.gate("G001"))


# Blockers of a review


def test_the_last_blocker_supersedes_its_goal_and_its_receipt_is_final(shop: Workshop) -> None:
    begin(shop, ONE)
    blocker = shop.review("G001").goal.id
    shop.hand_out()
    shop.complete(blocker)
    assert shop.statuses() == {"G001": "superseded", blocker: "complete"}
    assert shop.receipt(blocker)["receiptKind"] == "final-aggregate"
    assert shop.final() == blocker
    assert shop.rows()[-1]["supersedes"] == ["G001"]


def test_one_of_two_blockers_leaves_the_goal_waiting_for_the_other(shop: Workshop) -> None:
    begin(shop, ONE)
    shop.review("G001", "Refuse tabs.")
    shop.review("G001", "Refuse blanks.")
    shop.hand_out()
    done = shop.complete("G002")
    assert shop.statuses() == {"G001": "review_blocked", "G002": "complete", "G003": "active"}
    assert (done.started, shop.receipt("G002")["receiptKind"]) == ("G003", "per-goal")
    shop.complete("G003")
    assert shop.statuses()["G001"] == "superseded"
    assert shop.final() == "G003"


# Independence


def agents(shop: Workshop, *types: str) -> None:
    for one in types:
        shop.agent_ends(one, json.dumps(CLEAN.get(one, {"status": "passed"})))


@pytest.mark.parametrize(
    ("seen", "independence"),
    [
        (["omo:architect", "omo:qa"], "full"),
        (["omo:qa", "omo:executor", "omo:architect", "omo:qa"], "full"),
        (["omo:architect"], "reduced"),
        (["omo:qa"], "reduced"),
        (["architect", "qa"], "reduced"),
        (["other:architect", "other:qa"], "reduced"),
        ([], "reduced"),
    ],
)
def test_independence_is_what_the_host_saw_finish(shop: Workshop, seen: list[str], independence: str) -> None:
    begin(shop)
    agents(shop, *seen)
    shop.complete("G001")
    assert shop.receipt("G001")["independence"] == independence


def test_reviewers_of_an_earlier_goal_do_not_count(shop: Workshop) -> None:
    begin(shop)
    agents(shop, "omo:architect", "omo:qa")
    shop.complete("G001")
    shop.now += 1
    shop.complete("G002")
    assert (shop.receipt("G001")["independence"], shop.receipt("G002")["independence"]) == ("full", "reduced")
    assert {one["role"] for one in shop.receipt("G001")["agents"]} == {"architect", "qa"}


def test_a_damaged_session_ledger_vouches_for_nobody(shop: Workshop) -> None:
    begin(shop)
    agents(shop, "omo:architect", "omo:qa", "omo:qa")
    path = Path(paths.events_file(shop.state, shop.session))
    path.write_text(path.read_text().replace('"omo:qa"', '"omo:QA"', 1))
    assert reviewers.reviews_of(shop.caller(), shop.goal("G001")) == {}
    shop.complete("G001")
    assert shop.receipt("G001")["independence"] == "reduced"


def test_a_row_an_agent_wrote_into_the_session_ledger_is_no_reviewer(shop: Workshop) -> None:
    begin(shop)
    shop.note(kind="test")
    path = Path(paths.events_file(shop.state, shop.session))
    forged = (
        '{"seq": 2, "ts": "2099-01-01T00:00:00.000Z", "kind": "agent-finished", "agentType": "omo:qa", "digest": ""}\n'
    )
    path.write_text(path.read_text() + forged + forged.replace("qa", "architect"))
    shop.complete("G001")
    assert shop.receipt("G001")["independence"] == "reduced"


# A crash between two writes


def test_a_replay_after_a_crash_brings_the_files_up_to_the_ledger(shop: Workshop) -> None:
    begin(shop)
    behind = shop.goals_json.read_bytes()
    shop.complete("G001")
    shown, rows = shop.goals_json.read_bytes(), shop.ledger.read_bytes()
    shop.goals_json.write_bytes(behind)
    assert shop.run().problems == [], "behind is not edited"
    assert not shop.complete("G001").changed
    assert (shop.goals_json.read_bytes(), shop.ledger.read_bytes()) == (shown, rows)


def test_a_crash_before_the_mark_is_no_damage(shop: Workshop) -> None:
    begin(shop)
    mark = shop.directory / "mark.json"
    behind = mark.read_bytes()
    shop.complete("G001")
    mark.write_bytes(behind)
    assert shop.run().problems == []
    shop.complete("G002")
    assert shop.final() == "G002"
    assert shop.run().problems == []


def test_a_missing_view_is_written_again_by_the_next_change(shop: Workshop) -> None:
    begin(shop)
    shown = shop.goals_json.read_bytes()
    shop.goals_json.unlink()
    assert shop.run().problems == []
    shop.set_back("G001", "failed")
    shop.hand_out(retry_failed=True)
    assert shop.goals_json.read_bytes() != shown
    assert shop.run().problems == []


# The tree


def test_drift_of_the_tree_is_shown_and_costs_no_receipt(shop: Workshop) -> None:
    begin(shop)
    assert receipts.drift(shop.plan(), str(shop.root), None) == "", "no receipt, nothing to compare with"
    shop.complete("G001")
    assert receipts.drift(shop.plan(), str(shop.root), None) == ""
    shop.root.joinpath("more.py").write_text("x = 1\n")
    assert "changed since the receipt of G001" in receipts.drift(shop.plan(), str(shop.root), None)
    assert shop.stale("G001") == ""


def test_changed_files_are_those_since_the_commit_the_plan_began_at(shop: Workshop, tmp_path: Path) -> None:
    begin(shop)
    assert subject_of(shop.run(control_globs=("native",)), shop.plan(), shop.goal("G001")).changed == []
    shop.root.joinpath("new.py").write_text("x = 1\n")
    assert subject_of(shop.run(control_globs=("native",)), shop.plan(), shop.goal("G001")).changed == ["new.py"]
    plain = Workshop(tmp_path / "no git")
    plain.root.mkdir()
    plain.create(ONE)
    assert subject_of(plain.run(control_globs=("native",)), plain.plan(), plain.goal("G001")).changed is None, (
        "nobody can say"
    )


def test_per_story_receipts_are_never_final(shop: Workshop) -> None:
    shop.create(TWO, mode="per-story")
    shop.hand_out()
    shop.complete("G001")
    goal_tool.complete(shop.run())
    goal_tool.create(shop.run())
    shop.complete("G002")
    assert [shop.receipt(name)["receiptKind"] for name in ("G001", "G002")] == ["per-goal", "per-goal"]
    assert goal_tool.complete(shop.run()).changed
    assert shop.step().action == "done"


def test_a_goal_begun_later_takes_no_evidence_from_before(shop: Workshop) -> None:
    begin(shop)
    gate = valid_gate(shop.root, "G002", salt="early")
    shop.now = 2_000_000_000.0  # after the files were written, which is when G002 begins
    shop.complete("G001", gate=valid_gate(shop.root, "G001", salt="x"))
    assert seconds(str(shop.goal("G002").started_at)) > 2_000_000_000.0
    with shop.refused("artifactRefs", "older than the work"):
        shop.complete("G002", gate=gate)
