"""`omo ralph brief` and `omo ralph judge` as they are typed: exit codes, JSON, and what a person reads."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests import texts
from tests.ralph.project import Project, answer, asked, criterion, judged_criterion, make_project, reply

ROOT = Path(__file__).resolve().parents[2]


def omo(made: Project, *argv: str, **options: str) -> tuple[int, str, str]:
    ran = made.agent("ralph", *argv, **options)
    return ran.code, ran.out, ran.err


def omo_json(made: Project, *argv: str, **options: str) -> tuple[int, dict[str, Any]]:
    ran = made.agent("ralph", *argv, "--json", **options)
    return ran.code, ran.json


@pytest.fixture
def made(tmp_path: Path) -> Project:
    return asked(tmp_path, judged_criterion(1), criterion(2))


def test_each_verdict_has_its_exit_code_and_its_table(made: Project) -> None:
    made.says(answer("C1"))
    code, data = omo_json(made, "judge")
    assert (code, data["ok"], data["verdict"], data["decision"]) == (3, False, "fail", "replan")
    assert [(one["id"], one["status"], one["source"]) for one in data["criteria"]] == [
        ("C1", "PASS", "judge"),
        ("C2", "FAIL", "code"),
    ]
    assert data["remaining"] == ["C2"]
    assert set(data["criteria"][1]) >= {
        *("id", "status", "evidence", "suggested_action", "fail_count", "last_pass_iteration"),
    }
    made.work("done-2.txt")
    made.ask()
    ran = made.agent("ralph", "judge")
    assert ran.code == 4
    assert ran.says("run-brief-unanswered")
    made.says(answer("C1", result="unknown"))
    ran = made.agent("ralph", "judge")
    assert ran.code == 4
    assert ran.says("run-not-judged")
    made.ask()
    made.says(answer("C1"))
    code, out, _ = omo(made, "judge")
    assert code == 0
    assert re.search(r'^  C1 PASS: part 1 .*\n     seen: "clear: .*" \(judge\)$', out, re.M)
    assert "Complete (2)\n" in out
    assert "independently" not in out


def test_what_failed_and_what_broke_is_said(tmp_path: Path) -> None:
    made = make_project(tmp_path)
    made.start(criterion(1), criterion(2))
    made.work("done-1.txt")
    made.judge()
    (made.root / "done-1.txt").unlink()
    made.work("x.txt")
    _, out, _ = omo(made, "judge")
    assert "Iteration 3 " in out
    assert re.search(r"^  C1 REGRESSED \(regressed 1 time, passed in iteration 1\): ", out, re.M)
    assert texts.says(out, "run-changed-since-pass", iteration=1, files='"done-1.txt", "x.txt"')
    assert '     try: "find the change' in out
    assert re.search(r"^  C2 FAIL \(failed 2 in a row\): ", out, re.M)


def test_a_file_outside_the_project_is_read_and_its_independence_shown(tmp_path: Path, made: Project) -> None:
    file = tmp_path / "answer.md"
    file.write_text(reply(made.nonce, answer("C1"), challenges=[{"criterion": "C2", "text": "an empty file will do"}]))
    ran = made.agent("ralph", "judge", "--result", str(file))
    assert ran.code == 3
    assert ran.says("run-not-judged-independently", rounds=1)
    assert ran.says("run-challenge", criterion="C2")
    assert ran.says("run-answers-from-a-file")


# The texts


def test_the_form_the_judge_is_taught_is_one_that_counts() -> None:
    from omo.work.judge import read_answer

    text = (ROOT / "agents" / "judge.md").read_text(encoding="utf-8")
    said = read_answer(text)
    assert {key: one.result for key, one in said.answers.items()} == {("C1", "clear"): "fail"}
    assert len(said.challenges) == 1
