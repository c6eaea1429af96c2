"""`omo plan audit` as it is typed: exit codes, the text, and where the base comes from."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from omo.cli.main import main
from tests.ultraplan.plans import carry_out, commit, git, plan_text, project

NOW = 1_771_780_801.0
AGENT = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s1"}
SKIP = {"On failure": "skip — the rest works without it"}
PLAN = plan_text(steps=3, step3=SKIP)


class Typed:
    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root, self._capsys, self._now = root, capsys, NOW
        self.base = git(root, "rev-parse", "HEAD")

    def omo(self, *argv: str) -> tuple[int, str]:
        self._now += 1
        self._capsys.readouterr()
        code = main(list(argv), AGENT, str(self.root), self._now)
        said = self._capsys.readouterr()
        return code, said.out + said.err

    def audit(self, *more: str, name: str = "plan.md") -> tuple[int, dict[str, Any]]:
        code, said = self.omo("plan", "audit", name, "--json", *more)
        return code, json.loads(said)


@pytest.fixture
def typed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Typed:
    return Typed(project(tmp_path, PLAN), capsys)


def start(typed: Typed, name: str = "plan.md") -> None:
    code, said = typed.omo("plan", "start", name, "--unreviewed", "there is no critic in this test")
    assert code == 0, said


def test_pass_drift_and_unknown_have_their_exit_codes(typed: Typed) -> None:
    carry_out(typed.root, 1)
    code, found = typed.audit("--base", typed.base)
    assert (code, found["ok"], found["verdict"]) == (3, False, "drift")
    assert [one["status"] for one in found["steps"]] == ["pass", "missing", "missing"]
    assert found["next"] == "omo plan recover plan.md"
    carry_out(typed.root, 2)
    carry_out(typed.root, 3)
    code, found = typed.audit("--base", typed.base)
    assert (code, found["ok"], found["verdict"], found["next"]) == (0, True, "pass", "")
    code, found = typed.audit("--base", "0" * 40)
    assert (code, found["ok"], found["verdict"]) == (4, False, "unknown")


def test_the_text_has_a_line_for_each_step_then_the_verdict_and_the_way_on(typed: Typed) -> None:
    first = carry_out(typed.root, 1)
    code, said = typed.omo("plan", "audit", "plan.md", "--base", typed.base)
    lines = said.splitlines()
    assert code == 3
    assert lines[0] == f"pass    Step 1: Add part 1 ({first[:12]})"
    assert lines[1] == "missing Step 2: Add part 2"
    assert lines[2].startswith("          none of 1 commits")
    assert lines[-2] == f"Verdict: drift since {typed.base[:12]}, 1 of 3 steps pass"
    assert lines[-1] == "Next: omo plan recover plan.md"


def test_a_reason_that_is_about_everything_is_said_once(typed: Typed) -> None:
    _, said = typed.omo("plan", "audit", "plan.md", "--base", "0" * 40)
    assert said.count("is not a revision") == 1


def test_a_violation_goes_to_the_user_and_not_to_recovery(typed: Typed) -> None:
    (typed.root / "infra").mkdir()
    (typed.root / "infra" / "x").write_text("x")
    commit(typed.root, "chore: quick")
    _, found = typed.audit("--base", typed.base)
    assert found["session"]["scope_violations"][0].startswith("infra/x: changed by")
    assert "tell the user" in found["next"]


def test_without_a_base_and_without_a_start_it_asks_for_one(typed: Typed) -> None:
    code, said = typed.omo("plan", "audit", "plan.md")
    assert code == 2
    assert "omo plan audit plan.md --base REV" in said


def test_the_base_is_the_one_start_recorded(typed: Typed) -> None:
    start(typed)
    carry_out(typed.root, 1)
    code, found = typed.audit()
    assert (code, found["base"]) == (3, typed.base)
    assert found["proven_but_unclaimed"] == [1]


def test_a_skip_that_was_recorded_is_reported(typed: Typed) -> None:
    start(typed)
    carry_out(typed.root, 1)
    carry_out(typed.root, 2)
    code, said = typed.omo("plan", "skip", "3", "--reason", "the service it needs is down")
    assert code == 0, said
    code, found = typed.audit()
    assert (code, found["steps"][2]["status"]) == (0, "skipped")


def test_what_was_noted_as_passed_and_is_no_more_is_told(typed: Typed) -> None:
    start(typed)
    sha = carry_out(typed.root, 1)
    typed.omo("plan", "status")
    git(typed.root, "revert", "--no-edit", sha)
    code, found = typed.audit()
    assert (code, found["steps"][0]["status"], found["claimed_but_unproven"]) == (3, "drift", [1])


def test_specs_beside_the_one_that_is_audited_are_not_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = Typed(project(tmp_path, plan_text(steps=2, sessions=[[1], [2]])), capsys)
    code, said = typed.omo("plan", "decompose", "plan.md", "--out", "specs")
    assert code == 0, said
    carry = typed.root / "src" / "part1.py"
    carry.write_text("def part1():\n    return 1\n")
    git(typed.root, "add", "src")
    git(typed.root, "commit", "-q", "-m", "feat(part1): add part 1")
    first = sorted((typed.root / "specs").glob("*.md"))[0]
    assert git(typed.root, "status", "--porcelain") == "?? specs/"
    code, found = typed.audit("--base", typed.base, name=str(first.relative_to(typed.root)))
    assert (code, found["session"]["dirty"], found["session"]["scope_violations"]) == (0, [], [])
    (typed.root / "specs" / "notes.md").write_text("# Notes\n")
    _, found = typed.audit("--base", typed.base, name=str(first.relative_to(typed.root)))
    assert found["session"]["dirty"] == ["specs/notes.md"]


def test_a_plan_with_defects_cannot_be_evaluated(typed: Typed) -> None:
    (typed.root / "broken.md").write_text(PLAN.replace("expected_paths", "expected_path", 1))
    code, said = typed.omo("plan", "audit", "broken.md", "--base", typed.base)
    assert code == 4
    assert "omo plan validate broken.md" in said


def test_a_plan_of_before_is_audited_by_what_its_prose_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = plan_text(steps=2, version="1.6", step1={"manifest": None}, step2={"manifest": None})
    typed = Typed(project(tmp_path, old), capsys)
    carry_out(typed.root, 1)
    code, found = typed.audit("--base", typed.base)
    assert (code, [one["status"] for one in found["steps"]]) == (3, ["pass", "missing"])


def test_an_edited_plan_is_audited_by_the_copy_that_was_started(typed: Typed) -> None:
    start(typed)
    carry_out(typed.root, 1)
    (typed.root / "plan.md").write_text(plan_text(steps=1))
    for more in ((), ("--base", typed.base)):
        code, found = typed.audit(*more)
        assert (code, [one["step"] for one in found["steps"]]) == (3, [1, 2, 3])
        assert "edited after start" in found["edited"]
    _, said = typed.omo("plan", "audit", "plan.md")
    assert said.startswith("Note: plan.md was edited after start")


def test_an_edited_plan_never_passes_from_a_base_of_ones_own(typed: Typed) -> None:
    start(typed)
    for number in (1, 2, 3):
        carry_out(typed.root, number)
    (typed.root / "plan.md").write_text(plan_text(steps=1))
    assert typed.audit()[0] == 0
    code, found = typed.audit("--base", typed.base)
    assert (code, found["ok"]) == (3, False)


def test_an_edited_plan_of_several_sessions_names_their_specs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = Typed(project(tmp_path, plan_text(steps=2, sessions=[[1], [2]])), capsys)
    typed.omo("plan", "decompose", "plan.md", "--out", "specs")
    start(typed, "specs/session-1.md")
    (typed.root / "plan.md").write_text(plan_text(steps=1))
    code, said = typed.omo("plan", "audit", "plan.md", "--base", typed.base)
    assert code == 3
    assert "omo plan audit specs/session-1.md" in said


def test_what_was_never_noted_is_told_only_where_something_was(typed: Typed) -> None:
    start(typed)
    carry_out(typed.root, 1)
    assert "never noted" not in typed.omo("plan", "audit", "plan.md")[1]
    typed.omo("plan", "status")
    carry_out(typed.root, 2)
    assert "proven, never noted: 2" in typed.omo("plan", "audit", "plan.md")[1]


def test_in_a_copy_of_the_project_the_audit_says_whose_run_it_is(
    typed: Typed, capsys: pytest.CaptureFixture[str]
) -> None:
    start(typed)
    copied = Typed(shutil.copytree(typed.root, typed.root.parent / "copy"), capsys)
    code, said = copied.omo("plan", "audit", "plan.md")
    assert code == 3
    assert f"belongs to {typed.root}" in said
