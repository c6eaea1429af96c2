"""A run on disk: beginning it, its iterations and phases, how it ends, and what is refused on the way."""

from __future__ import annotations

import os
import threading
from typing import Any

import pytest

from omo.engine import ends as ending
from omo.engine.begin import StartOptions, begin
from omo.engine.case import fold
from omo.engine.runs import require_run
from omo.engine.steps import UNCOUNTED, changed_lines
from omo.errors import BadInput, Refused, Unreadable
from omo.proof import base
from omo.state import ledger
from omo.work.run import Caller
from tests import texts
from tests.engine.laps import FLOW
from tests.engine.project import Project, criterion


@pytest.mark.parametrize("number", [0, -1, 51])
def test_iterations_are_between_one_and_fifty(project: Project, number: int) -> None:
    with pytest.raises(BadInput, match=f"--max-iterations {number}"):
        project.start(max_iterations=number)
    assert project.runs == []


def test_ids_of_runs_do_not_collide(project: Project) -> None:
    path = StartOptions(file=project.criteria_file())
    found = set()
    for name in ("s1", "s2", "s3"):
        found.add(begin(FLOW, Caller(project.state, str(project.root), name, "agent", 1000.0, 5.0), path)[0].id)
    user = Caller(project.state, str(project.root), "s1", "user", 1000.0, 5.0)
    ending.abandon(require_run(FLOW, user), "to begin again at once")
    found.add(begin(FLOW, user, path)[0].id)
    assert len(found) == 4


def test_starts_at_the_same_moment_are_one(project: Project) -> None:
    path = StartOptions(file=project.criteria_file())
    told: list[str] = []

    def start() -> None:
        caller = Caller(project.state, str(project.root), "s1", "agent", 1000.0, 20.0)
        try:
            told.append(begin(FLOW, caller, path)[0].id)
        except Refused:
            told.append("refused")

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told.count("refused") == 3
    assert len(project.runs) == 1


class TestNotes:
    def test_refine_is_left_out_with_a_reason(self, project: Project) -> None:
        project.start()
        for reason in ("", "small    "):
            with pytest.raises(BadInput, match="says too little"):
                project.leave_out_refine(reason)
        project.leave_out_refine("nothing to refine")
        project.leave_out_refine("nothing to refine")
        (row,) = project.rows("skipped")
        assert row["why"].split() == ["nothing", "to", "refine"]
        assert project.status().reason_to_skip("REFINE")
        project.judged(C1="fail")
        assert project.status().reason_to_skip("REFINE") is None  # each iteration has its own


class TestChangedLines:
    def count(self, project: Project) -> int:
        return changed_lines(project.caller(), project.status())

    def begun(self, project: Project) -> Project:
        project.write("a.txt", "1\n2\n3\n")
        project.write("b.txt", "1\n")
        project.commit()
        project.write("b.txt", "dirty\n" * 70)
        project.write("loose.txt", "loose\n" * 70)
        project.start()
        return project

    def test_committed_edited_new_and_removed_all_count(self, project: Project) -> None:
        self.begun(project)
        project.write("a.txt", "1\n2\n4\n")
        assert self.count(project) == 2
        project.commit()
        assert self.count(project) == 2
        project.write("new.txt", "1\n2")
        assert self.count(project) == 4
        (project.root / "a.txt").unlink()
        assert self.count(project) == 5

    def test_a_binary_is_no_small_change(self, project: Project) -> None:
        (project.root / "a.bin").write_bytes(b"\0\1")
        project.commit()
        project.start()
        (project.root / "a.bin").write_bytes(b"\0\2")
        assert self.count(project) == 50

    def test_dirt_that_is_touched_again_counts_from_what_it_was(self, project: Project) -> None:
        self.begun(project)
        project.write("loose.txt", "other\n")
        assert self.count(project) == 71
        project.write("loose.txt", "loose\n" * 70)
        assert self.count(project) == 0

    def test_what_is_written_between_rounds_counts(self, project: Project) -> None:
        project.start()
        project.write("before-exec.txt", "1\n" * 60)
        assert self.count(project) == 60
        project.judged(C1="fail")
        last = {
            **project.rows("judged")[-1],
            "files": base.take(str(project.root), {}, project.state),
        }  # as omo laps judge does
        project.run().append({key: last[key] for key in last if key not in ("seq", "ts", "actor", "prev")})
        project.write("between.txt", "1\n" * 60)
        project.write("after-exec.txt", "1\n")
        assert self.count(project) == 61

    def test_what_a_new_ignore_rule_hides_counts_too(self, project: Project) -> None:
        self.begun(project)
        project.write(".gitignore", "hidden.txt\n")
        project.write("hidden.txt", "x\n" * 60)
        assert self.count(project) >= 50

    def test_where_nobody_can_tell_it_is_never_small(self, project: Project) -> None:
        self.begun(project)
        assert project.files.changed_since(project.status().opened["files"]) == []
        os.rename(project.root / ".git", project.root.parent / "git-elsewhere")
        assert self.count(project) == UNCOUNTED


class TestEnds:
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
        self, project: Project, rounds: list[dict[str, str]], most: int, how: str
    ) -> None:
        project.start(max_iterations=most)
        for results in rounds:
            assert project.status().ended is None
            at = project.judged(**results)
        assert at.ended is not None
        assert at.ended["how"] == how
        assert bool(at.ended["receipt"]) is (how == "pass")
        assert at.decision == ("safeguard" if how == "safeguard" else "done")


def test_a_gate_that_fails_and_was_accepted_is_an_exception(project: Project) -> None:
    project.start()
    at = project.status()
    at.judged.append({"gates": [{"name": "tests", "by": "user", "failed": "fails"}]})
    ended_as = ending.outcome_of(at, "pass")
    assert ended_as["verdict"] == "waived"
    assert texts.says(ended_as["exceptions"][0]["what"], "run-gate-fails", gate="tests")


def end(project: Project, how: str) -> str:
    run = project.start(max_iterations=1 if how == "safeguard" else 5).run
    for _ in range({"partial": 3, "safeguard": 1}.get(how, 0)):
        project.judged(C1="pass")
    if how == "abandoned":
        project.abandon("it is more work than it seemed")
    if how == "circumvented":
        row = {"kind": "early", "iteration": 0, "attempt": 1, "missing": ["PLAN"]}
        project.run().append(row, row, row, {"kind": "ended", "how": how, "verdict": "fail", "receipt": None})
        project.run().publish()
    return run


class TestBeginningAgain:
    @pytest.mark.parametrize(
        ("how", "why"),
        [
            ("partial", "run-settled-not-passed"),
            ("safeguard", "run-used-its-rounds"),
            ("abandoned", "run-agent-gave-up"),
            ("circumvented", "run-nothing-says-how-it-ended"),  # by rows that omo did not write
        ],
    )
    def test_the_agent_waits_until_the_user_was_shown_the_end(self, project: Project, how: str, why: str) -> None:
        run = end(project, how)
        assert project.run().publish().action == "tell-user"
        assert texts.says(project.told()["outcome"]["why"], why)
        with pytest.raises(Refused, match=f"{run} ended without a pass") as refused:
            project.start(same_turn=True)
        assert texts.says(refused.value.fix, "run-end-your-turn")
        project.turn_ends()
        assert project.start(same_turn=True).after["how"] == how

    def test_the_user_does_not_wait(self, project: Project) -> None:
        run = end(project, "circumvented")
        after = project.start(same_turn=True, by="user").after
        assert (after["run"], after["dropped"]) == (run, [])
        assert after["statuses"] == {"C1": "PENDING", "C2": "PENDING"}

    def test_what_is_no_longer_asked_goes_to_the_receipt_and_to_stop(self, project: Project) -> None:
        end(project, "circumvented")
        second = project.start(criterion(1)).run
        project.abandon("once more, to make it forgotten")
        at = project.start(criterion(1, {"type": "path", "path": "easy.txt"}))
        said = f"after {second}: abandoned; 2 criteria were dropped (C2, C1)"
        assert at.after_text == said
        ended: Any = project.judged(C1="pass").ended
        assert ended["receipt"]["after"] == at.after
        ended_as = project.told()["outcome"]
        assert ended_as == ended["outcome"]
        assert said in ended_as["why"]
        assert ended_as["verdict"] == "waived"
        assert [(one["what"].split(" ")[0], one["by"]) for one in ended_as["exceptions"]] == [
            ("C2", "agent"),
            ("C1", "agent"),
        ]

    def test_after_the_users_own_end_or_a_pass_nothing_is_carried(self, project: Project) -> None:
        project.start()
        project.abandon("I want something else", by="user")
        assert project.start(same_turn=True).after == {}
        project.judged(C1="pass", C2="pass")
        assert project.start(criterion(3), same_turn=True).after == {}


def test_rows_of_another_shape_are_unreadable_and_hide_no_other_run(project: Project) -> None:
    with pytest.raises(Unreadable):
        fold(FLOW, [{"kind": "started", "items": "none"}], "r1")
    run = project.start().run
    first, *others = ledger.rows(str(project.ledger_of(run)))
    judged: Any = {"kind": "judged", "iteration": 1, "marks": {}, "results": {"C1": "pass"}}
    broken_rows: list[Any] = [[{**first, "after": "r1"}], [{**first, "request": 7}], [first, *others, judged]]
    for rows in broken_rows:
        with pytest.raises(Unreadable, match="is no object"):
            fold(FLOW, rows, run)
    great: Any = {
        "kind": "judged",
        "iteration": 1,
        "marks": {name: {"status": "GREAT"} for name in ("C1", "C2")},
        "results": {},
    }
    with pytest.raises(Unreadable, match="GREAT"):
        fold(FLOW, [first, *others, great], run)
    broken = project.ledger_of("r9999999999999-00000000").parent
    broken.mkdir()
    (broken / "ledger.jsonl").write_text('{"kind": "started", "items": [7]}\n')
    assert project.status().run == run
    assert project.start(session="s2").lessons == []


@pytest.mark.parametrize(
    "row",
    [
        {"ts": "2026-02-22T17:20:01.000Z"},
        {"kind": "skipped", "iteration": 1, "why": "small"},
        {"kind": "brief", "iteration": 1},
        {"kind": "judged", "iteration": 1, "marks": {}},
        {"kind": "round", "iteration": 2},
        {"kind": "early", "iteration": 1},
        {"kind": "ended"},
    ],
    ids=lambda row: str(row.get("kind")),
)
def test_a_row_that_lacks_a_field_makes_the_run_one_that_nobody_can_read(project: Project, row: Any) -> None:
    run = project.start().run
    rows = ledger.rows(str(project.ledger_of(run)))
    with pytest.raises(Unreadable, match="a row nobody can read"):
        fold(FLOW, [*rows, row], run)


def test_what_passed_and_could_not_be_told_now_is_open_again(project: Project) -> None:
    project.start()
    project.judged(C1="pass", C2="fail")
    assert (project.status().remaining, project.told()["open"]) == (["C2"], 1)
    case = project.judged(C1="unknown", C2="fail")
    assert case.passing == ["C1"]
    assert (case.remaining, project.told()["open"]) == (["C1", "C2"], 2)


class TestLessons:
    def failed_run(self, project: Project) -> str:
        project.start(criterion(1, description="Part one is IN place!"), criterion(2))
        for _ in range(3):
            at = project.judged(C2="pass")
        assert at.ended is not None
        return at.run

    def test_what_was_blocked_is_loaded_and_an_overlap_has_its_evidence(self, project: Project) -> None:
        before = self.failed_run(project)
        again = criterion(1, {"type": "path", "path": "other.txt"}, description="part one is in place")
        at = project.start(again, criterion(3), criterion(4, {"id": "x", "type": "path", "path": "done-1.txt"}))
        (blocked,) = at.lessons
        assert (blocked["id"], blocked["evidence"], blocked["from_run"]) == ("C1", "saw fail", before)
        assert blocked["again"] == ["C1", "C4"]
        assert at.marks["C1"].status == "PENDING"

    def test_what_passed_since_is_no_lesson(self, project: Project) -> None:
        self.failed_run(project)
        project.start(criterion(1))
        project.judged(C1="pass")
        assert project.start().lessons == []

    def test_a_ledger_that_was_edited_teaches_nothing(self, project: Project) -> None:
        self.failed_run(project)
        project.damage()
        assert project.start().lessons == []
