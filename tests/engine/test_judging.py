"""The judgement of an iteration: what code and judge saw of one tree, and nothing else."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from omo.engine import asking, ends
from omo.engine.judging import EXIT_CODES
from omo.errors import NotEvaluable
from tests import texts
from tests.engine.project import (
    Judged,
    Project,
    answer,
    asked,
    criterion,
    judged_criterion,
    make_project,
    question,
    refused,
    reply,
)

FAILING = {"result": "fail", "evidence": "README.md names 2 of 3 commands"}


def statuses(judged: Judged) -> dict[str, str]:
    return {one["id"]: one["status"] for one in judged.criteria}


def results(judged: Judged) -> dict[str, str]:
    return {one["id"]: one["result"] for one in judged.criteria}


def of(judged: Judged, name: str = "C1") -> dict[str, Any]:
    return next(one for one in judged.criteria if one["id"] == name)


# Code alone


def test_every_criterion_is_judged_every_time_whatever_it_was(tmp_path: Path) -> None:
    made = make_project(tmp_path)
    made.start(criterion(1), criterion(2), criterion(3), max_iterations=9)
    made.work("done-1.txt")
    made.judge()
    (made.root / "done-1.txt").unlink()
    made.work("x.txt")
    broken = made.judge()
    assert statuses(broken) == {"C1": "REGRESSED", "C2": "FAIL", "C3": "FAIL"}
    assert of(broken)["last_pass_iteration"] == 1
    made.work("y.txt")
    assert statuses(made.judge()) == {"C1": "FAIL", "C2": "BLOCKED", "C3": "BLOCKED"}
    made.work("done-2.txt")
    assert statuses(made.judge()) == {"C1": "FAIL", "C2": "PASS", "C3": "BLOCKED"}


# The judge


@pytest.mark.parametrize(
    ("there", "said", "result"),
    [
        (True, "pass", "pass"),
        (True, "fail", "fail"),
        (True, "unknown", "unknown"),
        (False, "pass", "fail"),
        (False, "fail", "fail"),
        (False, "unknown", "fail"),
    ],
)
def test_a_criterion_holds_if_all_of_its_checks_do(tmp_path: Path, there: bool, said: str, result: str) -> None:
    file = {"id": "there", "type": "path", "path": "done-1.txt"}
    made = asked(tmp_path, criterion(1, question(), file), files=("done-1.txt" if there else "x.txt",))
    made.says(answer("C1", result=said))
    judged = made.judge()
    assert results(judged) == {"C1": result}
    assert judged.verdict == result


# Unknown


def unanswered(made: Project) -> None:
    """A verdict is asked for, and refused: nothing is written, nothing counted, and the round stays open."""
    before = made.kinds()
    refused(made.judge, "brief is unanswered", "omo:judge", "omo laps brief", kind=NotEvaluable)
    assert made.kinds() == before


def cannot_tell(made: Project) -> Judged:
    """The judge is asked, and asked anew where it could not tell; it cannot."""
    made.ask()
    made.says(answer("C1", result="unknown", evidence="there is no README.md to look at"))
    return made.judge()


def test_a_judge_that_could_not_tell_is_asked_anew(tmp_path: Path) -> None:
    made = asked(tmp_path)
    assert cannot_tell(made).verdict == "unknown"
    following = ends.next_step(made.run()).text
    assert "omo:judge" in following
    assert "omo laps brief" in following
    assert asking.judge_brief(made.run())[1] == made.nonce, "what the next step says can be done"
    assert len(made.rows("brief")) == 2
    unanswered(made)
    made.says(answer("C1"))
    assert made.judge().verdict == "pass"


def test_unknown_changes_nothing_and_leaves_the_iteration_open(tmp_path: Path) -> None:
    made = asked(tmp_path)
    before = made.status()
    made.says(answer("C1", result="unknown", evidence="there is no README.md to look at"))
    judged = made.judge()
    assert (judged.verdict, EXIT_CODES[judged.verdict], judged.decision) == ("unknown", 4, "")
    now = made.status()
    assert (now.marks, now.round) == (before.marks, 1)
    assert made.rows("judged") == []
    assert cannot_tell(made).is_closed is False
    made.ask()
    made.says(answer("C1"))
    assert made.judge().verdict == "pass"


# One tree


def test_a_failure_that_is_told_after_the_next_brief_counts_too(tmp_path: Path) -> None:
    made = asked(tmp_path)
    first = made.nonce
    made.write("README.md", "# a byte more\n")
    made.gate_ran()
    made.ask()
    made.says({**answer("C1"), **FAILING}, nonce=first)
    made.says(answer("C1"))
    assert made.judge().verdict == "fail"


def test_files_that_change_while_they_are_judged_make_everything_unknown(tmp_path: Path) -> None:
    made = make_project(tmp_path)
    writes = {"id": "writes", "type": "command", "argv": ["sh", "-c", "test -e ready && echo x >> log.txt"]}
    made.start(criterion(1, writes), criterion(2))
    made.work("ready", "done-2.txt")
    judged = made.judge()
    assert results(judged) == {"C1": "unknown", "C2": "unknown"}
    assert texts.says("\n".join(judged.notes), "run-files-changed-while-judged")
    assert texts.says("\n".join(judged.notes), "run-others-since", files="log.txt")
    made.write(".gitignore", "log.txt\n")
    made.gate_ran()
    assert made.judge().verdict == "pass"


def test_a_judgement_is_void_if_the_run_went_on_meanwhile(tmp_path: Path) -> None:
    file = {"id": "there", "type": "path", "path": "done-1.txt"}
    made = asked(tmp_path, criterion(1, question(), file))
    made.says(answer("C1"))
    ticks = itertools.count()

    def clock() -> float:  # asked for in the middle of the evaluation: another process records a verdict first
        if made.status().round == 1:
            made.judged(C1="fail")
        return float(next(ticks))

    refused(lambda: made.judge(clock=clock), "void", "omo laps judge")
    assert len(made.rows("judged")) == 1


# The gate before it


def test_honest_work_that_lacks_a_gate_is_refused_and_not_counted(tmp_path: Path) -> None:
    made = asked(tmp_path)
    made.says(answer("C1"))
    made.write("out.txt", "left by the judge\n")
    for _ in range(4):
        refused(made.judge, "not counted", "SHIP", "out.txt", "removed", "omo gate run")
    assert made.rows("early") == []
    (made.root / "out.txt").unlink()
    made.write("out.log", "what tests leave behind is no work\n")
    assert made.judge().verdict == "pass"


def test_no_command_runs_before_the_gate(tmp_path: Path) -> None:
    made = make_project(tmp_path)
    made.start(
        criterion(1, {"id": "mark", "type": "command", "argv": ["sh", "-c", f"echo x >> {tmp_path}/ran; exit 1"]})
    )
    (tmp_path / "ran").unlink()
    refused(made.judge, "circumvention")
    assert not (tmp_path / "ran").exists()


def test_a_judgement_runs_no_test_command_that_nobody_pinned(tmp_path: Path) -> None:
    """The hook lets the agent call it unasked. What the user confirmed is run, the project's own tests are named."""
    made = make_project(tmp_path)
    made.write("Makefile", f"test:\n\techo x >> {tmp_path}/ran\n")
    made.commit("the project's own tests")
    made.start(criterion(1, {"type": "command", "argv": ["test", "-s", "done.py"]}), by="user")
    made.work("done.py")
    assert made.judge().verdict == "pass"
    assert not (tmp_path / "ran").exists()
    ended = made.status().ended or {}
    assert texts.says(ended["outcome"]["why"], "run-tests-not-run", command="make test")


# Sizes


def test_the_largest_judgement_fits_in_a_row(tmp_path: Path) -> None:
    many = [judged_criterion(number) for number in range(1, 51)]
    for number, one in enumerate(many, start=1):
        one["checks"][0]["question"] += f" And number {number}?"
    made = asked(tmp_path, *many)
    wide = "界" * 5000
    answers = [{**answer(f"C{n}", result="fail", evidence=wide), "suggested_action": wide} for n in range(1, 51)]
    challenges = [{"criterion": "C1", "text": wide}] * 50
    judged = made.judge(reply(made.nonce, *answers, challenges=challenges))
    assert judged.verdict == "fail"
    assert len(made.rows("judged")) == 1
