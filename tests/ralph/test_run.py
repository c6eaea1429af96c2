"""A run on disk: beginning it, its iterations and phases, how it ends, and what is refused on the way."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from omo.errors import BadInput, Refused, Unreadable
from omo.evidence import pins
from omo.ralph import ending, execution, starting, summary
from omo.ralph.execution import UNCOUNTED, changed_files, changed_lines, snapshot
from omo.ralph.phase_proof import PHASES
from omo.ralph.run import KIND, RalphRun, fold, problems_of, standings
from omo.state import paths
from tests.ralph.desk import Desk, criterion, desk, question

HERE = {"type": "path", "path": "README.md"}


@pytest.fixture
def at_desk(tmp_path: Path) -> Desk:
    return desk(tmp_path)


def test_a_start_keeps_the_criteria_pins_their_checks_and_holds_stop(at_desk: Desk) -> None:
    at = at_desk.start(criterion(1), criterion(2, question(), affected_paths=["docs/**"])).standing
    (row,) = at.rows
    assert (row["kind"], row["session"], row["max_iterations"], row["reduced_scope"]) == ("started", "s1", 5, "")
    assert (row["source"], row["base"]) == ("criteria.json", at_desk.git("rev-parse", "HEAD"))
    assert row["before"] == {"C1": "fail", "C2": "unknown"}
    pinned = pins.pinned(at_desk.state)
    assert {pin.goal for pin in pinned.pins} == {f"ralph/{at.run}/C1", f"ralph/{at.run}/C2"}
    assert {one for each in at.criteria for one in each.digests} == pinned.digests
    assert at_desk.told()["state"] == "active"
    assert at_desk.row()["ulw"]["enabled"]
    assert {state.status for state in at.states.values()} == {"PENDING"}


@pytest.mark.parametrize("number", [0, -1, 51])
def test_iterations_are_between_one_and_fifty(at_desk: Desk, number: int) -> None:
    with pytest.raises(BadInput, match=f"--max-iterations {number}"):
        at_desk.start(max_iterations=number)
    assert standings(at_desk.state) == []


def test_one_run_of_a_session_at_a_time(at_desk: Desk) -> None:
    first = at_desk.start().standing.run
    with pytest.raises(Refused, match=f"{first} of this session is open") as refused:
        at_desk.start()
    assert "omo ralph abandon" in refused.value.fix
    assert at_desk.start(session="s2").standing.run != first
    assert at_desk.standing().run == first


def test_ids_of_runs_do_not_collide(at_desk: Desk) -> None:
    path = at_desk.criteria_file()
    found = set()
    for name in ("s1", "s2", "s3"):
        run = RalphRun(at_desk.state, str(at_desk.root), name, "agent", 1000.0, 5.0)
        found.add(starting.start(run, path).standing.run)
    run = RalphRun(at_desk.state, str(at_desk.root), "s1", "user", 1000.0, 5.0)
    ending.abandon(run, "to begin again at once")
    found.add(starting.start(run, path).standing.run)
    assert len(found) == 4


def test_starts_at_the_same_moment_are_one(at_desk: Desk) -> None:
    path = at_desk.criteria_file()
    told: list[str] = []

    def begin() -> None:
        run = RalphRun(at_desk.state, str(at_desk.root), "s1", "agent", 1000.0, 20.0)
        try:
            told.append(starting.start(run, path).standing.run)
        except Refused:
            told.append("refused")

    threads = [threading.Thread(target=begin) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told.count("refused") == 3
    assert len(standings(at_desk.state)) == 1


def test_a_criterion_that_passes_before_the_work_is_refused_and_all_are_named(at_desk: Desk) -> None:
    with pytest.raises(Refused, match="2 of 3 criteria") as refused:
        at_desk.start(criterion(1, HERE), criterion(2), criterion(3, HERE, {**HERE, "path": "*.md"}))
    listed = refused.value.details["defects"]
    assert isinstance(listed, list)
    assert [line[:3] for line in listed] == ["C1:", "C3:"]
    assert standings(at_desk.state) == []
    assert at_desk.told() == {}


def test_a_guard_and_a_question_may_hold_before_the_work(at_desk: Desk) -> None:
    at = at_desk.start(criterion(1, HERE, guard=True), criterion(2, {**HERE, "path": "*.md"}, question())).standing
    assert at.started["before"]["C1"] == "pass"


class TestWorkOfARunThatDidNotPass:
    def unfinished(self, at_desk: Desk) -> str:
        run = at_desk.start().standing.run
        for name in ("done-1.txt", "done-2.txt"):
            at_desk.write(name)
        ending.abandon(at_desk.run(), "no verdict was ever asked for")
        return run

    def test_it_can_be_judged_by_the_next(self, at_desk: Desk) -> None:
        first = self.unfinished(at_desk)
        at = at_desk.start().standing
        assert at.started["carried"] == {"C1": first, "C2": first}
        assert at.started["before"] == {"C1": "pass", "C2": "pass"}
        ending.abandon(at_desk.run(), "nor was one this time")
        assert at_desk.start().standing.started["carried"] == {"C1": first, "C2": first}

    def test_but_not_once_it_passed(self, at_desk: Desk) -> None:
        self.unfinished(at_desk)
        at_desk.start()
        at_desk.round(C1="pass", C2="pass")
        with pytest.raises(Refused, match="2 of 2 criteria"):
            at_desk.start()

    def test_nor_with_other_checks_or_on_the_word_of_an_edited_ledger(self, at_desk: Desk) -> None:
        self.unfinished(at_desk)
        with pytest.raises(Refused, match="1 of 2 criteria"):
            at_desk.start(criterion(1), criterion(2, {"type": "path", "path": "done-*.txt"}))
        at_desk.damage()
        with pytest.raises(Refused, match="2 of 2 criteria"):
            at_desk.start()


class TestReducedScope:
    REASON = "a demonstration, nobody needs QA"

    def test_only_the_user_authorises_it(self, at_desk: Desk) -> None:
        with pytest.raises(Refused, match="only the user") as refused:
            at_desk.start(reduced_scope=self.REASON)
        assert "--session s1" in refused.value.fix
        assert at_desk.start(reduced_scope=self.REASON, by="user").standing.reduced_scope == self.REASON

    def test_it_takes_a_reason(self, at_desk: Desk) -> None:
        with pytest.raises(BadInput, match="says too little"):
            at_desk.start(reduced_scope="quick    ", by="user")


class TestExec:
    def test_the_first_time_it_is_the_whole_task(self, at_desk: Desk) -> None:
        at_desk.start()
        done = at_desk.execute()
        assert (done.is_new, done.standing.iteration, done.standing.open_iteration) == (True, 1, True)
        row = done.standing.exec_row
        assert (row["scope"], row["head"]) == (["C1", "C2"], at_desk.git("rev-parse", "HEAD"))
        assert row["tree"].startswith("tree1:")

    def test_an_open_iteration_is_shown_again(self, at_desk: Desk) -> None:
        at_desk.start()
        at_desk.execute()
        again = at_desk.execute()
        assert (again.is_new, again.standing.iteration) == (False, 1)
        assert at_desk.kinds() == ["started", "exec-delegated"]

    def test_later_only_what_fails_or_broke(self, at_desk: Desk) -> None:
        at_desk.start(*(criterion(number) for number in range(1, 5)))
        at_desk.round(C1="pass", C2="pass", C3="fail", C4="fail")
        at_desk.round(C1="pass", C2="fail", C3="fail", C4="fail")
        at_desk.round(C1="pass", C2="fail", C3="fail", C4="unknown")
        assert at_desk.execute().standing.exec_row["scope"] == ["C2", "C4"]
        assert at_desk.standing().states["C3"].status == "BLOCKED"

    def test_a_criterion_nobody_could_tell_about_settles_nothing(self, at_desk: Desk) -> None:
        at_desk.start()
        at = at_desk.round(C1="pass", C2="fail")
        at = at_desk.round(C1="unknown", C2="pass")
        assert (at.states["C1"].status, at.verdict, at.ended) == ("PASS", "fail", None)
        assert at.remaining == ["C1"]
        assert at_desk.execute().standing.exec_row["scope"] == []

    def test_before_a_start_and_after_the_end_it_is_refused(self, at_desk: Desk) -> None:
        with pytest.raises(Refused, match="no ralph run"):
            at_desk.execute()
        at_desk.start(max_iterations=1)
        at_desk.round(C1="pass", C2="pass")
        with pytest.raises(Refused, match=r"ended \(pass\)"):
            at_desk.execute()

    def test_iterations_that_are_used_up_open_no_other(self, at_desk: Desk) -> None:
        """Also where the row that says so is missing."""
        at_desk.start(max_iterations=1)
        at_desk.execute()
        at = at_desk.standing()
        judged = {"kind": "judged", "iteration": 1, "results": {}, "states": {n: s.data for n, s in at.states.items()}}
        at_desk.run().append(
            [{**judged, "verdict": "fail", "decision": "safeguard", "tree": "", "independence": "full"}]
        )
        with pytest.raises(Refused, match="used its 1 iteration"):
            at_desk.execute()


class TestPhases:
    def test_in_their_order_each_once(self, at_desk: Desk) -> None:
        at_desk.start()
        at_desk.execute()
        for name in PHASES:
            assert at_desk.phase(name)[1]
            assert not at_desk.phase(name)[1]
        assert [row["name"] for row in at_desk.standing().phases] == list(PHASES)

    @pytest.mark.parametrize("done", range(5))
    def test_out_of_order_they_are_refused(self, at_desk: Desk, done: int) -> None:
        at_desk.start()
        at_desk.execute()
        for name in PHASES[:done]:
            at_desk.phase(name)
        for name in PHASES[done + 1 :]:
            with pytest.raises(Refused, match=f"{name} comes after {PHASES[done]}"):
                at_desk.phase(name)

    def test_each_iteration_has_its_own(self, at_desk: Desk) -> None:
        at_desk.start()
        at_desk.execute()
        at_desk.phase("PLAN")
        at_desk.judged(C1="fail")
        with pytest.raises(Refused, match="no iteration"):
            at_desk.phase("IMPL")
        at_desk.execute()
        assert at_desk.standing().phases == []
        with pytest.raises(Refused, match="comes after PLAN"):
            at_desk.phase("IMPL")

    def up_to_refine(self, at_desk: Desk) -> None:
        at_desk.start()
        at_desk.execute()
        for name in PHASES[:3]:
            at_desk.phase(name)

    def test_refine_is_left_out_for_a_small_change_with_a_reason(self, at_desk: Desk) -> None:
        self.up_to_refine(at_desk)
        at_desk.write("small.txt", "line\n" * 49)
        with pytest.raises(Refused, match="says too little"):
            at_desk.phase("REFINE", "small    ")
        at, is_new = at_desk.phase("REFINE", "one text file, nothing to refine")
        assert is_new
        assert at.phase("REFINE") == {**at.phases[-1], "skipped": "one text file, nothing to refine"}

    def test_not_for_fifty_lines(self, at_desk: Desk) -> None:
        self.up_to_refine(at_desk)
        at_desk.write("large.txt", "line\n" * 50)
        with pytest.raises(Refused, match="50 lines changed"):
            at_desk.phase("REFINE", "one text file, nothing to refine")

    def test_nothing_else_is_left_out(self, at_desk: Desk) -> None:
        at_desk.start()
        at_desk.execute()
        with pytest.raises(Refused, match="only REFINE"):
            at_desk.phase("PLAN", "the plan is in my head already")


class TestChangedLines:
    def count(self, at_desk: Desk) -> int:
        return changed_lines(at_desk.run(), at_desk.standing())

    def begun(self, at_desk: Desk) -> Desk:
        at_desk.write("a.txt", "1\n2\n3\n")
        at_desk.write("b.txt", "1\n")
        at_desk.commit()
        at_desk.write("b.txt", "dirty\n" * 70)
        at_desk.write("loose.txt", "loose\n" * 70)
        at_desk.start()
        at_desk.execute()
        return at_desk

    def test_what_was_dirty_before_does_not_count(self, at_desk: Desk) -> None:
        assert self.count(self.begun(at_desk)) == 0

    def test_committed_edited_new_and_removed_all_count(self, at_desk: Desk) -> None:
        self.begun(at_desk)
        at_desk.write("a.txt", "1\n2\n4\n")
        assert self.count(at_desk) == 2
        at_desk.commit()
        assert self.count(at_desk) == 2
        at_desk.write("new.txt", "1\n2")
        assert self.count(at_desk) == 4
        (at_desk.root / "a.txt").unlink()
        assert self.count(at_desk) == 5

    def test_dirt_that_is_touched_again_counts_with_all_of_it(self, at_desk: Desk) -> None:
        self.begun(at_desk)
        at_desk.write("loose.txt", "other\n" * 70)
        assert self.count(at_desk) == 70
        at_desk.write("loose.txt", "loose\n" * 70)
        assert self.count(at_desk) == 0

    def test_what_is_written_between_rounds_counts(self, at_desk: Desk) -> None:
        at_desk.start()
        at_desk.write("before-exec.txt", "1\n" * 60)
        at_desk.execute()
        assert self.count(at_desk) == 60
        at_desk.judged(C1="fail")
        last = {**at_desk.standing().rows[-1], **snapshot(at_desk.root)}  # as omo ralph judge writes it
        at_desk.run().append([{key: last[key] for key in last if key not in ("seq", "ts", "actor", "prev", "hash")}])
        at_desk.write("between.txt", "1\n" * 60)
        at_desk.execute()
        at_desk.write("after-exec.txt", "1\n")
        assert self.count(at_desk) == 61

    def test_dirt_that_is_put_back_counts(self, at_desk: Desk) -> None:
        self.begun(at_desk)
        at_desk.git("checkout", "--", "b.txt")
        assert self.count(at_desk) == 71

    def test_a_binary_is_no_small_change(self, at_desk: Desk) -> None:
        (at_desk.root / "a.bin").write_bytes(b"\0\1")
        at_desk.commit()
        at_desk.start()
        at_desk.execute()
        (at_desk.root / "a.bin").write_bytes(b"\0\2")
        assert self.count(at_desk) == 50

    def test_what_a_new_ignore_rule_hides_counts_too(self, at_desk: Desk) -> None:
        self.begun(at_desk)
        at_desk.write(".gitignore", "hidden.txt\n")
        at_desk.write("hidden.txt", "x\n" * 60)
        assert self.count(at_desk) == 61

    def test_where_nobody_can_tell_it_is_never_small(self, at_desk: Desk) -> None:
        self.begun(at_desk)
        assert changed_files(at_desk.run(), at_desk.standing().exec_row) == {}
        os.rename(at_desk.root / ".git", at_desk.root.parent / "git-elsewhere")
        assert self.count(at_desk) == UNCOUNTED


class TestEnds:
    def test_a_pass_makes_a_receipt(self, at_desk: Desk) -> None:
        at_desk.start(max_iterations=1)
        at = at_desk.round(C1="pass", C2="pass")
        assert at.ended is not None
        assert (at.ended["how"], at.decision) == ("pass", "done")
        receipt = at.ended["receipt"]
        assert (receipt["run"], receipt["verdict"], receipt["independence"]) == (at.run, "pass", "full")
        assert set(receipt["criteria"]) == {"C1", "C2"}
        assert receipt["criteria"]["C1"] == ending.evidence_digest(at.last_result("C1"))

    @pytest.mark.parametrize(
        ("rounds", "most", "how"),
        [
            ([{"C1": "pass"}] * 3, 5, "partial"),
            ([{}] * 3, 5, "partial"),
            ([{}], 1, "safeguard"),
            ([{"C1": "pass"}, {"C2": "pass"}], 2, "safeguard"),
            ([{"C1": "pass"}, {"C2": "pass"}, {"C1": "pass", "C2": "pass"}], 3, "pass"),
            ([{}, {}, {"C1": "pass", "C2": "pass"}], 3, "pass"),
        ],
    )
    def test_done_before_safeguard_before_replan(
        self, at_desk: Desk, rounds: list[dict[str, str]], most: int, how: str
    ) -> None:
        at_desk.start(max_iterations=most)
        for results in rounds:
            assert at_desk.standing().ended is None
            at = at_desk.round(**results)
        assert at.ended is not None
        assert at.ended["how"] == how
        assert bool(at.ended["receipt"]) is (how == "pass")
        assert at.decision == ("safeguard" if how == "safeguard" else "done")

    def test_a_criterion_that_comes_and_goes_is_blocked_in_the_end(self, at_desk: Desk) -> None:
        at_desk.start(criterion(1), criterion(2), max_iterations=10)
        for result in ("pass", "fail", "pass", "fail", "pass"):
            at = at_desk.round(C1=result, C2="pass" if result == "fail" else "unknown")
            assert at.ended is None
        at = at_desk.round(C1="fail", C2="pass")
        assert (at.states["C1"].status, at.states["C1"].is_flapping) == ("BLOCKED", True)
        assert at.ended is not None
        assert at.ended["how"] == "partial"

    def test_abandoning_takes_a_reason_and_happens_once(self, at_desk: Desk) -> None:
        at_desk.start()
        with pytest.raises(BadInput, match="says too little"):
            ending.abandon(at_desk.run(), "no")
        at, step = ending.abandon(at_desk.run(), "the task was withdrawn")
        assert (at.decision, step.action, at_desk.kinds()[-1]) == ("safeguard", "tell-user", "ended")
        with pytest.raises(Refused, match="ended already"):
            ending.abandon(at_desk.run(), "the task was withdrawn")
        at_desk.start()


def end(at_desk: Desk, how: str) -> str:
    run = at_desk.start(max_iterations=1 if how == "safeguard" else 5).standing.run
    for _ in range({"partial": 3, "safeguard": 1}.get(how, 0)):
        at_desk.round(C1="pass")
    if how == "abandoned":
        ending.abandon(at_desk.run(), "it is more work than it seemed")
    if how == "circumvented":
        row = {"kind": "exec-circumvention", "iteration": 0, "attempt": 1, "missing": ["PLAN"]}
        at_desk.run().append([row, row, row, {"kind": "ended", "how": how, "verdict": "fail", "receipt": None}])
        summary.tell(at_desk.run())
    return run


class TestBeginningAgain:
    @pytest.mark.parametrize("how", ["partial", "safeguard", "abandoned", "circumvented"])
    def test_the_agent_waits_until_the_user_was_shown_the_end(self, at_desk: Desk, how: str) -> None:
        run = end(at_desk, how)
        assert summary.tell(at_desk.run()).action == "tell-user"
        with pytest.raises(Refused, match=f"{run} ended without a pass") as refused:
            at_desk.start(same_turn=True)
        assert refused.value.fix.startswith("end your turn")
        at_desk.turn_ends()
        assert at_desk.start(same_turn=True).standing.after["how"] == how

    def test_the_user_does_not_wait(self, at_desk: Desk) -> None:
        run = end(at_desk, "circumvented")
        after = at_desk.start(same_turn=True, by="user").standing.after
        assert (after["run"], after["attempts"], after["dropped"]) == (run, 3, [])

    def test_what_is_no_longer_asked_goes_to_the_receipt_and_to_stop(self, at_desk: Desk) -> None:
        end(at_desk, "circumvented")
        second = at_desk.start(criterion(1)).standing.run
        ending.abandon(at_desk.run(), "once more, to make it forgotten")
        at = at_desk.start(criterion(1, {"type": "path", "path": "easy.txt"})).standing
        said = f"after {second}: abandoned; 1 criterion was dropped (C2); 1 criterion was given other checks (C1)"
        assert (at.after_text, at.after["attempts"]) == (said, 3)
        ended = at_desk.round(C1="pass").ended or {}
        assert ended["receipt"]["after"] == at.after
        ended_as = at_desk.told()["outcome"]
        assert ended_as == ended["outcome"]
        assert said in ended_as["why"]
        assert ended_as["verdict"] == "waived"
        assert [(one["what"].split(" ")[0], one["by"]) for one in ended_as["exceptions"]] == [
            ("C2", "agent"),
            ("C1", "agent"),
        ]

    def test_after_the_users_own_end_or_a_pass_nothing_is_carried(self, at_desk: Desk) -> None:
        at_desk.start()
        ending.abandon(at_desk.run(by="user"), "I want something else")
        assert at_desk.start(same_turn=True).standing.after == {}
        at_desk.round(C1="pass", C2="pass")
        assert at_desk.start(criterion(3), same_turn=True).standing.after == {}


def test_with_a_reduced_scope_phases_come_in_any_order_and_need_no_note(at_desk: Desk) -> None:
    at_desk.start(by="user", reduced_scope="a demonstration only")
    at_desk.execute()
    assert "omo ralph phase IMPL" in at_desk.told()["next"]
    assert at_desk.phase("SHIP")[1]
    assert at_desk.phase("IMPL")[1]
    assert "a verdict is due" in at_desk.told()["next"]


class TestForgery:
    def test_an_edited_ledger_is_believed_by_nobody(self, at_desk: Desk) -> None:
        at_desk.start()
        at_desk.execute()
        at_desk.damage()
        for call in (at_desk.execute, lambda: at_desk.phase("PLAN"), lambda: at_desk.run().require_whole()):
            with pytest.raises(Refused, match="changed by hand") as refused:
                call()
            assert "omo state clear --mode ralph --force --session s1" in refused.value.fix
        assert problems_of(at_desk.state, "s1")
        assert problems_of(at_desk.state, "s2") == []

    def test_a_forged_end_shows(self, at_desk: Desk) -> None:
        at_desk.start()
        row = {
            "seq": 2,
            "ts": "2026-02-22T17:20:09.000Z",
            "kind": "ended",
            "how": "pass",
            "actor": "agent",
            "prev": "0",
        }
        with at_desk.ledger().open("a") as file:
            file.write(json.dumps(row) + "\n")
        with pytest.raises(Refused, match="changed by hand"):
            at_desk.run().require()

    def test_an_edited_criteria_file_changes_nothing_and_is_said(self, at_desk: Desk) -> None:
        before = at_desk.start().standing
        assert starting.edited(before) == ""
        at_desk.criteria_file(criterion(1, HERE))
        at = at_desk.standing()
        assert at.criteria == before.criteria
        assert "was edited after start" in starting.edited(at)
        (at_desk.root / "criteria.json").unlink()
        assert "is gone" in starting.edited(at)

    def test_a_run_belongs_to_its_directory(self, at_desk: Desk, tmp_path: Path) -> None:
        at_desk.start()
        (tmp_path / "other").mkdir()
        run = at_desk.run()
        elsewhere = RalphRun(run.state, str(tmp_path / "other"), "s1", "agent", run.now, 5.0)
        with pytest.raises(Refused, match="belongs to"):
            elsewhere.require()


def test_rows_of_another_shape_are_unreadable_and_hide_no_other_run(at_desk: Desk) -> None:
    with pytest.raises(Unreadable):
        fold([{"kind": "started", "criteria": "none"}], "r1")
    at_desk.start()
    broken = Path(paths.ralph_run_dir(at_desk.state, "r0-00000000"))
    broken.mkdir()
    (broken / "ledger.jsonl").write_text('{"kind": "started", "criteria": [7]}\n')
    assert len(standings(at_desk.state)) == 1


def test_kinds_of_rows_that_a_newer_omo_writes_are_passed_over(at_desk: Desk) -> None:
    at = at_desk.start().standing
    rows: list[dict[str, Any]] = [*at.rows, {"kind": "weather", "sky": "blue"}]
    assert fold(rows, at.run).states == at.states


def test_a_crash_before_the_session_was_told_hides_no_run(at_desk: Desk) -> None:
    run = at_desk.start().standing.run
    at_desk.change_row(lambda row: {**row, "work": {}})
    assert at_desk.standing().run == run
    at_desk.execute()
    assert at_desk.told()["run"] == run


class TestLessons:
    def failed_run(self, at_desk: Desk) -> str:
        at_desk.start(criterion(1, description="Part one is IN place!"), criterion(2))
        for _ in range(3):
            at = at_desk.round(C2="pass")
        assert at.ended is not None
        return at.run

    def test_what_was_blocked_is_loaded_and_an_overlap_has_its_evidence(self, at_desk: Desk) -> None:
        before = self.failed_run(at_desk)
        again = criterion(1, {"type": "path", "path": "other.txt"}, description="part one is in place")
        at = at_desk.start(
            again, criterion(3), criterion(4, {"id": "x", "type": "path", "path": "done-1.txt"})
        ).standing
        assert at.lessons["from_run"] == before
        (blocked,) = at.lessons["blocked"]
        assert (blocked["id"], blocked["evidence"], blocked["fail_count"]) == ("C1", "saw fail", 3)
        assert [(one["id"], one["was"]) for one in at.lessons["overlap"]] == [("C1", "C1"), ("C4", "C1")]
        assert at.states["C1"].status == "PENDING"

    def test_what_passed_since_is_no_lesson(self, at_desk: Desk) -> None:
        self.failed_run(at_desk)
        at_desk.start(criterion(1))
        at_desk.round(C1="pass")
        assert at_desk.start().standing.lessons["blocked"] == []

    def test_a_ledger_that_was_edited_teaches_nothing(self, at_desk: Desk) -> None:
        self.failed_run(at_desk)
        at_desk.damage()
        assert at_desk.start().standing.lessons["blocked"] == []


def test_the_session_of_another_is_not_touched(at_desk: Desk) -> None:
    run = at_desk.start().standing.run
    execution.execute(at_desk.run(session="s2", named=run))
    assert at_desk.told("s2") == {}
    assert KIND not in at_desk.row("s2").get("work", {})
