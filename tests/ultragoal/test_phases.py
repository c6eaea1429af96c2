"""Phases, handing off, and clearing: what each does to the session's row, and that it does it whole."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from omo.errors import BadInput, Refused
from omo.hooks import session, stop
from omo.hosts import claude
from omo.state import ledger, paths, runtime
from omo.ultragoal import goal_tool, lifecycle, phases, summary
from omo.ultragoal.phases import PIPELINE, ULTRAGOAL
from tests.ultragoal.tool_plans import LIMITS, TWO, Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture
def planned(desk: Desk) -> Desk:
    desk.plan(TWO)
    goal_tool.create(desk.run())
    desk.start()
    desk.tell()
    return desk


def phase(desk: Desk, mode: str = ULTRAGOAL) -> str:
    return phases.phase_of(mode, desk.row(), desk.run().plan)


def events(desk: Desk) -> list[dict[str, object]]:
    return ledger.rows(paths.events_file(desk.state, desk.session))


def stopping(desk: Desk) -> tuple[str, str]:
    """What the next Stop does: the rule, and what it says."""
    event = claude.event_of({"session_id": desk.session})

    def decide(row: dict[str, object] | None) -> runtime.Change:
        return stop.carry_out(stop.Situation(event, row, dict(LIMITS), desk.now + 60))

    rule, text = runtime.change_session(desk.state, desk.session, decide, actor="hook", now=desk.now, wait=5.0)
    return rule.name, text


# Phases follow from the plan

# Status that a started G001 is left in, beside a pending G002.
PLANS = ("missing", "pending", "active", "blocked", "failed", "complete")


def make(desk: Desk, wanted: str) -> None:
    if wanted == "missing":
        return
    desk.plan(TWO)
    if wanted == "complete":
        desk.complete_all()
    elif wanted != "pending":
        desk.start()
    if wanted in ("blocked", "failed"):
        desk.checkpoint("G001", wanted)


@pytest.mark.parametrize("expected", PLANS)
def test_the_phase_follows_from_the_plan(desk: Desk, expected: str) -> None:
    make(desk, expected)
    assert phase(desk) == expected


def test_complete_by_word_alone_is_no_complete_phase(desk: Desk) -> None:
    desk.plan(TWO)
    for name in ("G001", "G002"):
        desk.start(name)
        desk.checkpoint(name, "complete")
    assert phase(desk) == "pending"


@pytest.mark.parametrize("before", PLANS)
@pytest.mark.parametrize("wanted", phases.PHASES)
def test_only_the_handoff_mark_can_be_written(desk: Desk, before: str, wanted: str) -> None:
    make(desk, before)
    if before != "missing" and wanted == "handoff":
        assert phases.write(desk.run(), ULTRAGOAL, wanted) == (before, "handoff")
        assert phase(desk) == "handoff"
        return
    with pytest.raises(Refused) as refused:
        phases.write(desk.run(), ULTRAGOAL, wanted)
    assert "omo " in refused.value.fix
    assert f"from {before} can be written: {'none' if before == 'missing' else 'handoff'}" in refused.value.message
    assert (desk.row(), events(desk)) == ({}, [])


@pytest.mark.parametrize("wanted", ["done", "HANDOFF", "", "planing"])
def test_an_unknown_phase_is_bad_input_that_lists_the_ways(planned: Desk, wanted: str) -> None:
    with pytest.raises(BadInput, match="can be written: handoff"):
        phases.write(planned.run(), ULTRAGOAL, wanted)


@pytest.mark.parametrize("before", [name for name in PLANS if name != "missing"])
def test_back_from_handoff_the_phase_follows_from_the_plan_again(desk: Desk, before: str) -> None:
    make(desk, before)
    phases.write(desk.run(), ULTRAGOAL, "handoff")
    assert phases.write(desk.run(), ULTRAGOAL, "active") == ("handoff", before)
    assert "phases" not in desk.row() or ULTRAGOAL not in desk.row()["phases"]


def test_writing_handoff_twice_writes_once(planned: Desk) -> None:
    phases.write(planned.run(), ULTRAGOAL, "handoff")
    files = planned.files()
    assert phases.write(planned.run(), ULTRAGOAL, "handoff") == ("handoff", "handoff")
    assert planned.files() == files


@pytest.mark.parametrize("by", ["agent", "user"])
def test_while_handed_off_stop_lets_go_and_tells_the_user_once(planned: Desk, by: str) -> None:
    assert stopping(planned)[0] == "block"
    phases.write(planned.run(by), ULTRAGOAL, "handoff")
    assert planned.work()["state"] == "paused"
    assert "ask" not in planned.work()["deny"]
    rule, text = stopping(planned)
    assert rule == "waiting"
    assert f"marked ready for handoff by the {by}" in text
    assert stopping(planned) == ("waiting", "")


def test_back_from_handoff_stop_holds_and_questions_are_refused_again(planned: Desk) -> None:
    phases.write(planned.run(), ULTRAGOAL, "handoff")
    phases.write(planned.run(), ULTRAGOAL, "active")
    assert planned.work()["state"] == "active"
    assert "ask" in planned.work()["deny"]
    assert stopping(planned)[0] == "block"


def test_a_finished_run_stays_done_when_it_is_marked(desk: Desk) -> None:
    make(desk, "complete")
    desk.tell()
    phases.write(desk.run(), ULTRAGOAL, "handoff")
    assert desk.work()["state"] == "done"


def test_the_mark_of_an_earlier_plan_says_nothing_of_the_next(planned: Desk) -> None:
    phases.write(planned.run(), ULTRAGOAL, "handoff")
    planned.plan(TWO, force=True)
    assert phase(planned) == "pending"


def test_a_detour_through_a_handoff_gives_no_new_budget(planned: Desk) -> None:
    def exhaust(row: dict[str, object] | None) -> runtime.Change:
        return runtime.Change(None, session.exhaust(row or {}, rule="cap", why="8 blocks"), [{"kind": "allowed"}])

    runtime.change_session(planned.state, planned.session, exhaust, actor="hook", now=planned.now, wait=5.0)
    phases.write(planned.run(), ULTRAGOAL, "handoff")
    phases.write(planned.run(), ULTRAGOAL, "active")
    assert planned.work()["state"] == "exhausted"
    assert planned.row()["ulw"]["enabled"] is False


# Handing off


def test_a_handoff_changes_both_sides_at_once(planned: Desk) -> None:
    phases.write(planned.run(), ULTRAGOAL, "handoff")
    before = len(events(planned))
    assert phases.hand_off(planned.run(), ULTRAGOAL, "ultraplan") == ("handoff", "planning")
    marks = planned.row()["phases"]
    assert (marks[ULTRAGOAL]["phase"], marks[ULTRAGOAL]["to"]) == ("handoff", "ultraplan")
    assert (marks["ultraplan"]["phase"], marks["ultraplan"]["from"]) == ("planning", ULTRAGOAL)
    (row,) = events(planned)[before:]
    assert (row["kind"], row["from"], row["to"], row["actor"]) == ("handed-off", ULTRAGOAL, "ultraplan", "agent")
    assert "handed off to ultraplan by the agent" in stopping(planned)[1]


def test_a_crash_between_ledger_and_row_loses_neither_side(planned: Desk) -> None:
    phases.write(planned.run(), ULTRAGOAL, "handoff")
    old = Path(paths.runtime_file(planned.state)).read_bytes()
    phases.hand_off(planned.run(), ULTRAGOAL, "ultraplan")
    after = planned.row()["phases"]
    Path(paths.runtime_file(planned.state)).write_bytes(old)  # the replace did not come to pass
    summary.publish_status(planned.run(), progressed=True)
    assert planned.row()["phases"] == after


@pytest.mark.parametrize("to", PIPELINE)
@pytest.mark.parametrize("before", [*PLANS, "handoff"])
def test_forward_from_any_phase_back_only_from_handoff_or_complete(desk: Desk, to: str, before: str) -> None:
    mode = ULTRAGOAL
    make(desk, "active" if before == "handoff" else before)
    if before == "handoff":
        phases.write(desk.run(), mode, "handoff")
    goes_back = PIPELINE.index(to) < PIPELINE.index(mode)
    if mode == to:
        with pytest.raises(BadInput, match="no workflow"):
            phases.hand_off(desk.run(), mode, to)
    elif before == "missing" or (goes_back and before not in ("handoff", "complete")):
        with pytest.raises(Refused) as refused:
            phases.hand_off(desk.run(), mode, to)
        assert "omo " in refused.value.fix
        assert "phases" not in desk.row()
    else:
        assert phases.hand_off(desk.run(), mode, to) == ("handoff", "planning")


@pytest.mark.parametrize("to", ["ulw", "", "Ralph", "../x"])
def test_there_are_four_workflows(planned: Desk, to: str) -> None:
    with pytest.raises(BadInput, match="no workflow"):
        phases.hand_off(planned.run(), ULTRAGOAL, to)


def test_a_return_makes_the_plan_active_again(planned: Desk) -> None:
    phases.write(planned.run(), ULTRAGOAL, "handoff")
    phases.hand_off(planned.run(), ULTRAGOAL, "ultraplan")
    assert phases.hand_off(planned.run(), "ultraplan", ULTRAGOAL) == ("handoff", "active")
    assert ULTRAGOAL not in planned.row()["phases"]
    assert planned.work()["state"] == "active"
    assert stopping(planned)[0] == "block"


def test_the_way_back_from_a_later_workflow_is_by_its_own_mark(planned: Desk) -> None:
    phases.hand_off(planned.run(), ULTRAGOAL, "ralph")
    with pytest.raises(Refused) as refused:
        phases.hand_off(planned.run(), "ralph", ULTRAGOAL)
    assert refused.value.fix == 'omo state ralph write --input \'{"current_phase":"handoff"}\''
    phases.write(planned.run(), "ralph", "handoff")
    assert phases.hand_off(planned.run(), "ralph", ULTRAGOAL) == ("handoff", "active")


def test_a_workflow_that_never_began_hands_nothing_on(planned: Desk) -> None:
    for mode in ("ultraplan", "ralph", "verify"):
        with pytest.raises(Refused, match="nothing under way"):
            phases.hand_off(planned.run(), mode, ULTRAGOAL)


def test_planning_that_is_handed_on_before_there_is_a_plan(planned: Desk) -> None:
    phases.write(planned.run(), ULTRAGOAL, "handoff")
    phases.hand_off(planned.run(), ULTRAGOAL, "ultraplan")
    lifecycle.clear(planned.caller("user"), force=True)
    assert phases.hand_off(planned.run(), "ultraplan", ULTRAGOAL) == ("handoff", "planning")
    with pytest.raises(Refused, match="planning"):
        phases.write(planned.run(), ULTRAGOAL, "handoff")
    planned.plan(TWO)
    assert phase(planned) == "pending"


def test_handing_off_leaves_other_sessions_alone(planned: Desk) -> None:
    other = Desk(planned.root, session="other")
    other.plan(TWO)
    other.tell()
    before = (other.row(), other.run().journal.rows())
    phases.write(planned.run(), ULTRAGOAL, "handoff")
    phases.hand_off(planned.run(), ULTRAGOAL, "ultraplan")
    assert (other.row(), other.run().journal.rows()) == before


# Clearing


def kept_bytes(desk: Desk, name: str) -> list[Path]:
    return sorted(Path(paths.session_dir(desk.state, desk.session)).glob(f"{name}.cleared-*"))


def test_there_may_be_nothing_to_clear(desk: Desk) -> None:
    assert lifecycle.clear(desk.caller(), force=False) is None
    assert lifecycle.clear(desk.caller(), force=True) is None
    assert desk.files() == {}


def test_a_finished_run_is_cleared_without_force(planned: Desk) -> None:
    planned.complete_all()
    goal_tool.complete(planned.run())
    planned.tell()
    bytes_before = (planned.directory("ultragoal") / "ledger.jsonl").read_bytes()
    cleared = lifecycle.clear(planned.caller(), force=False)
    assert cleared is not None
    assert not cleared.is_shown
    (kept,) = kept_bytes(planned, "ultragoal")
    assert (kept / "ledger.jsonl").read_bytes() == bytes_before
    assert len(kept_bytes(planned, "goal")) == 1
    assert planned.tool() is None
    assert planned.run().plan is None
    assert planned.work() == {}
    row = events(planned)[-1]
    assert (row["kind"], row["actor"], row["mode"], row["forced"]) == ("cleared", "agent", ULTRAGOAL, False)
    assert row["kept"] == cleared.kept
    assert lifecycle.clear(planned.caller(), force=False) is None


def test_an_unfinished_run_is_not_cleared_without_force(planned: Desk) -> None:
    before = planned.files()
    with pytest.raises(Refused, match="not finished") as refused:
        lifecycle.clear(planned.caller(), force=False)
    assert "omo state clear --mode ultragoal --force" in refused.value.fix
    defects = refused.value.details["defects"]
    assert isinstance(defects, list)
    assert [one.partition(":")[0] for one in defects] == [
        "G001 active",
        "G002 pending",
        "the session's goal is active",
    ]
    assert planned.files() == before


def test_a_goal_without_a_plan_is_unfinished_too(desk: Desk) -> None:
    goal_tool.create(desk.run(), "Ship the parser")
    with pytest.raises(Refused, match="not finished"):
        lifecycle.clear(desk.caller(), force=False)
    assert lifecycle.clear(desk.caller(), force=True) is not None
    assert desk.tool() is None
    assert "cleared the session's goal with" in stopping(desk)[1]


def test_what_the_agent_gives_up_is_shown_to_the_user(planned: Desk) -> None:
    lifecycle.clear(planned.caller(), force=True)
    work = planned.work()
    assert (work["state"], work["open"], work["told"]) == ("blocked", 2, False)
    rule, text = stopping(planned)
    assert rule == "waiting"
    assert f"the agent cleared the ultragoal plan {work['run']} with 2 open" in text


def test_clearing_again_does_not_hide_it(planned: Desk) -> None:
    lifecycle.clear(planned.caller(), force=True)
    for force in (False, True):
        assert lifecycle.clear(planned.caller(), force=force) is None
    assert "with 2 open" in stopping(planned)[1]
    assert lifecycle.clear(planned.caller(), force=False) is not None
    assert planned.work() == {}


def test_what_the_user_gives_up_is_simply_gone(planned: Desk) -> None:
    lifecycle.clear(planned.caller("user"), force=True)
    assert "ultragoal" not in planned.row()["work"]
    assert not runtime.is_live(planned.row())
    assert stopping(planned)[0] == "not-active"


def test_what_the_user_clears_does_not_turn_off_what_else_is_on(planned: Desk) -> None:
    def arm(row: dict[str, object] | None) -> runtime.Change:
        return runtime.Change(None, session.arm(row, by="user", limits=dict(LIMITS), now=planned.now), [{"kind": "x"}])

    runtime.change_session(planned.state, planned.session, arm, actor="user", now=planned.now, wait=5.0)
    lifecycle.clear(planned.caller("user"), force=True)
    assert stopping(planned)[0] == "block"


def test_clearing_takes_the_handoff_mark_with_it(planned: Desk) -> None:
    phases.hand_off(planned.run(), ULTRAGOAL, "ralph")
    lifecycle.clear(planned.caller("user"), force=True)
    assert list(planned.row()["phases"]) == ["ralph"]


def garbage(path: Path) -> None:
    path.write_bytes(b"\xff\x00 not ours \n{]\n")


def a_directory(path: Path) -> None:
    path.unlink()
    (path / "in it").mkdir(parents=True)


def odd_rows(path: Path) -> None:
    path.write_text('{"kind": ["a"], "seq": "x"}\n{"kind": "goal_started"}\n[1]\n')


def empty(path: Path) -> None:
    path.write_bytes(b"")


def gone(path: Path) -> None:
    path.unlink()


CORRUPT = [
    "ultragoal/ledger.jsonl",
    "ultragoal/goals.json",
    "ultragoal/mark.json",
    "goal/ledger.jsonl",
    "goal/mark.json",
]


@pytest.mark.parametrize("name", CORRUPT)
@pytest.mark.parametrize("corrupt", [garbage, a_directory, odd_rows, empty, gone])
def test_the_user_recovers_from_anything_by_force(planned: Desk, name: str, corrupt: Callable[[Path], None]) -> None:
    other = Desk(planned.root, session="other")
    other.plan(TWO)
    goal_tool.create(other.run())
    other.tell()
    theirs = {key: text for key, text in planned.files().items() if key.startswith("sessions/other")}
    corrupt(planned.directory(name))
    with pytest.raises(Refused) as refused:
        lifecycle.clear(planned.caller("user"), force=False)
    assert lifecycle.FORCE in refused.value.fix
    assert lifecycle.clear(planned.caller("user"), force=True) is not None
    assert {key: text for key, text in planned.files().items() if key.startswith("sessions/other")} == theirs
    assert other.work()["state"] == "active"
    assert planned.work() == {}
    planned.plan(TWO)
    assert goal_tool.create(planned.run()).changed
    assert (planned.run().problems, planned.run().tool.problems) == ([], [])


@pytest.mark.parametrize("corrupt", [garbage, a_directory, empty])
def test_force_recovers_from_a_runtime_file_nobody_can_read(planned: Desk, corrupt: Callable[[Path], None]) -> None:
    corrupt(Path(paths.runtime_file(planned.state)))
    with pytest.raises(Refused, match="not finished"):
        lifecycle.clear(planned.caller(), force=False)
    assert lifecycle.clear(planned.caller(), force=True) is not None
    assert planned.work()["why"].endswith("with 2 open")
    assert list(Path(planned.state).glob("runtime.local.json.corrupt-*"))


@pytest.mark.parametrize("name", ["ultragoal", "goal"])
def test_force_recovers_from_a_file_where_a_directory_should_be(planned: Desk, name: str) -> None:
    os.rename(planned.directory(name), planned.directory(f"{name}.moved"))
    planned.directory(name).write_text("a file")
    assert lifecycle.clear(planned.caller("user"), force=True) is not None
    assert [path.read_text() for path in kept_bytes(planned, name)] == ["a file"]


def test_a_link_is_moved_and_what_it_leads_to_is_left_alone(planned: Desk, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    os.rename(planned.directory("ultragoal"), outside)
    planned.directory("ultragoal").symlink_to(outside)
    lifecycle.clear(planned.caller(), force=True)
    assert (outside / "ledger.jsonl").exists()
    assert not os.path.lexists(planned.directory("ultragoal"))


def test_a_crash_after_the_move_is_finished_by_the_next_clear(planned: Desk) -> None:
    for name in ("ultragoal", "goal"):
        os.rename(planned.directory(name), planned.directory(f"{name}.cleared-1"))
    assert lifecycle.clear(planned.caller("user"), force=True) is not None
    assert planned.work() == {}


def test_an_agent_cannot_seal_a_plan_that_it_ruined(planned: Desk) -> None:
    garbage(planned.directory("ultragoal/ledger.jsonl"))
    Path(paths.runtime_file(planned.state)).write_text(json.dumps({"version": 1, "sessions": {}}))
    with pytest.raises(Refused, match="changed by hand"):
        lifecycle.clear(planned.caller(), force=True)
