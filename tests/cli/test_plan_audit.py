"""`omo plan audit` as it is typed: exit codes, the text, and where the base comes from."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests import texts
from tests.project import Project
from tests.ultraplan.plans import carry_out, commit, git, head, plan_text
from tests.ultraplan.plans import project as plan_project

PLAN = plan_text(steps=3, step3={"On failure": "skip — the rest works without it"})


def planned(tmp_path: Path, plan: str) -> Project:
    return Project(plan_project(tmp_path, plan))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return planned(tmp_path, PLAN)


def audit(project: Project) -> tuple[int, dict[str, Any]]:
    ran = project.agent("plan", "audit", "plan.md", "--json")
    return ran.code, ran.json


def start(project: Project, name: str = "plan.md") -> None:
    ran = project.user(
        "plan", "start", name, "--unreviewed", "there is no critic in this test", session=project.session
    )
    assert ran.code == 0, ran.err


def test_pass_drift_and_unknown_have_their_exit_codes_and_the_text_says_the_same(project: Project) -> None:
    ran = project.agent("plan", "audit", "plan.md")
    assert (ran.code, "omo plan start plan.md" in ran.err) == (3, True)
    base = head(project.root)
    start(project)
    first = carry_out(project.root, 1)
    code, shown = audit(project)
    assert (code, shown["ok"], shown["verdict"], shown["base"]) == (3, False, "drift", base)
    assert [step["status"] for step in shown["steps"]] == ["pass", "missing", "missing"]
    assert (shown["next"]["action"], shown["next"]["step"]) == ("execute", 2)
    lines = project.agent("plan", "audit", "plan.md").out.splitlines()
    assert lines[:2] == [f"pass    Step 1: Add part 1 ({first[:12]})", "missing Step 2: Add part 2"]
    assert texts.says(lines[2], "ultraplan-none-of-commits-since-is", count=1)
    assert lines[-2] == f"Verdict: drift since {base[:12]}, 1 of 3 steps pass"
    assert lines[-1].startswith("Next: step 2 Add part 2")
    carry_out(project.root, 2)
    carry_out(project.root, 3)
    code, shown = audit(project)
    assert (code, shown["ok"], shown["verdict"], "next" in shown) == (0, True, "pass", False)
    git(project.root, "checkout", "-q", "--orphan", "elsewhere")
    commit(project.root, "chore: another history")
    code, shown = audit(project)
    assert (code, shown["ok"], shown["verdict"]) == (4, False, "unknown")
    text = project.agent("plan", "audit", "plan.md").out.partition("Next:")[0]
    assert text.count("is no ancestor of HEAD") == 1, "a reason that is about everything is said once"


def test_a_violation_goes_to_the_user_and_not_to_recovery(project: Project) -> None:
    start(project)
    (project.root / "infra").mkdir()
    (project.root / "infra" / "x").write_text("x")
    commit(project.root, "chore: quick")
    _, shown = audit(project)
    assert shown["session"]["scope_violations"][0].startswith("infra/x: changed by")
    assert texts.says(shown["next"]["why"], "ultraplan-person-decides")


def test_a_step_that_was_reverted_since_is_no_pass(project: Project) -> None:
    start(project)
    first = carry_out(project.root, 1)
    project.agent("plan", "status")
    git(project.root, "revert", "--no-edit", first)
    code, shown = audit(project)
    assert (code, shown["steps"][0]["status"]) == (3, "drift")


def test_a_plan_of_before_is_audited_by_what_its_prose_says(tmp_path: Path) -> None:
    old = plan_text(steps=2, version="1.6", step1={"manifest": None}, step2={"manifest": None})
    project = planned(tmp_path, old)
    start(project)
    carry_out(project.root, 1)
    code, shown = audit(project)
    assert (code, [step["status"] for step in shown["steps"]]) == (3, ["pass", "missing"])


def test_an_edited_plan_is_audited_by_the_copy_that_was_started(project: Project) -> None:
    start(project)
    carry_out(project.root, 1)
    (project.root / "plan.md").write_text(plan_text(steps=1))
    code, shown = audit(project)
    assert (code, [step["step"] for step in shown["steps"]]) == (3, [1, 2, 3])
    assert texts.says(shown["edited"], "ultraplan-was-after-start-copy-made-then", became="edited")
    assert project.agent("plan", "audit", "plan.md").says(
        "ultraplan-was-after-start-copy-made-then", path="note: plan.md", became="edited"
    )
    for number in (2, 3):
        carry_out(project.root, number)
    assert audit(project)[0] == 0


def test_an_edited_plan_of_several_sessions_is_audited_by_the_copy_too(tmp_path: Path) -> None:
    project = planned(tmp_path, plan_text(steps=2, sessions=[[1], [2]]))
    start(project)
    (project.root / "plan.md").write_text(plan_text(steps=1))
    code, shown = audit(project)
    assert (code, [step["step"] for step in shown["steps"]]) == (3, [1, 2])
    assert texts.says(shown["edited"], "ultraplan-was-after-start-copy-made-then", path="plan.md", became="edited")


def test_in_a_copy_of_the_project_the_audit_says_whose_run_it_is(project: Project) -> None:
    start(project)
    there = Project(shutil.copytree(project.root, project.root.parent / "copy"))
    ran = there.agent("plan", "audit", "plan.md")
    assert (ran.code, f"belongs to {project.root}" in ran.err) == (3, True)
