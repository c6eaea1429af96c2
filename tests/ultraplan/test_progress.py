"""What is done of a plan: over worktrees of one repository, and after the plan was edited."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from omo.workflows.ultraplan.document import parse
from omo.workflows.ultraplan.flow import DIMENSIONS
from tests import texts
from tests.project import Project
from tests.ultraplan.plans import begin_repository, carry_out, plan_text

THREE = {"sessions": [[1], [2], [3]], "step3": {"Depends on": "Step 1, Step 2"}}


def critic(project: Project) -> None:
    """Asked for the text that the plan has now, and satisfied with it."""
    project.check("plan", "critique", "plan.md")
    said = {
        "verdict": "clean",
        "plan_digest": parse((project.root / "plan.md").read_text(), "plan.md").digest,
        "dimensions": dict.fromkeys(DIMENSIONS, "pass"),
        "findings": [],
    }
    project.agent_ends("omo:critic", json.dumps(said))


def planned(root: Path, text: str) -> Project:
    root.mkdir()
    project = Project(root)
    project.write("plan.md", text)
    project.write("src/app.py", "VALUE = 1\n")
    begin_repository(root)
    return project


def worktree(project: Project, name: str) -> Project:
    project.git("worktree", "add", "-q", "-b", name, f"../{name}")
    return Project(project.root.parent / name, session=f"s-{name}", now=project.now, environ=project.environ)


def carry_out_session(project: Project, number: int, *steps: int) -> None:
    project.check("plan", "start", "plan.md", str(number))
    for step in steps:
        carry_out(project.root, step)
    project.check("plan", "finish", "--handoff", f"session {number} left a part")


@pytest.fixture
def parallel(tmp_path: Path) -> tuple[Project, Project, Project]:
    """A plan of three sessions, the third on the first two, which were carried out in worktrees of their own."""
    main = planned(tmp_path / "main", plan_text(3, **THREE))
    critic(main)
    first, second = worktree(main, "w1"), worktree(main, "w2")
    carry_out_session(first, 1, 1)
    carry_out_session(second, 2, 2)
    main.now = second.now
    return main, first, second


def test_sessions_of_parallel_worktrees_are_joined_by_a_merge(parallel: tuple[Project, Project, Project]) -> None:
    main, first, _ = parallel
    told = main.check("plan", "start", "plan.md", "3", code=3)
    assert told.says("ultraplan-merge-that-session", number=1, root=first.root)
    told = main.check("plan", "start", "plan.md", code=3)
    assert told.says("ultraplan-depends-on-session", number2=1)
    main.git("merge", "-q", "w1")
    main.git("merge", "-q", "-m", "Merge w2", "w2")
    begun = main.check("plan", "start", "plan.md")
    assert "session 3 of 3" in begun.out
    assert begun.says("ultraplan-handed-over", number=1)
    carry_out(main.root, 3)
    done = main.check("plan", "finish")
    assert done.says("ultraplan-whole-plan-holds", passed=3, steps=3)
    assert main.check("plan", "audit", "plan.md").out.count("pass    Step") == 3
    assert main.check("plan", "start", "plan.md", code=3).says("ultraplan-every-session-of-has-passed", file="plan.md")


def test_a_worktree_learns_what_the_others_have_and_where(parallel: tuple[Project, Project, Project]) -> None:
    main, first, second = parallel
    told = second.check("plan", "status").out
    assert f"session 1 passed in {first.root} and is not merged here" in told
    second.git("merge", "-q", "-m", "Merge w1", "w1")
    carry_out_session(second, 3, 3)
    main.git("merge", "-q", "w2")
    assert main.check("plan", "audit", "plan.md").out.count("pass    Step") == 3
    assert "has passed" in main.check("plan", "start", "plan.md", code=3).err


@pytest.mark.parametrize("how", ["squashed", "rebased"])
def test_a_merge_that_makes_new_commits_is_judged_by_what_they_have(
    parallel: tuple[Project, Project, Project], how: str
) -> None:
    main, first, second = parallel
    main.git("merge", "-q", "w2")
    if how == "squashed":
        main.git("merge", "-q", "--squash", "w1")
        main.commit("feat(part1): add part 1")
    else:
        first.git("rebase", "-q", "main")
        main.git("merge", "-q", "w1")
    main.git("worktree", "remove", "--force", str(first.root))
    main.git("worktree", "remove", "--force", str(second.root))
    assert "session 3 of 3" in main.check("plan", "start", "plan.md").out, "the verdict was given here"
    carry_out(main.root, 3)
    done = main.check("plan", "finish")
    assert done.says("ultraplan-whole-plan-holds", passed=3, steps=3)
    assert texts.says(main.summary("ultraplan")["outcome"]["why"], "ultraplan-no-record-left", numbers="1, 2")
    assert main.summary("ultraplan")["outcome"]["verdict"] == "attested"


def test_a_session_that_is_under_way_elsewhere_is_not_begun_twice(tmp_path: Path) -> None:
    main = planned(tmp_path / "main", plan_text(3, **THREE))
    critic(main)
    first = worktree(main, "w1")
    first.check("plan", "start", "plan.md")
    main.now = first.now
    assert "session 2 of 3" in main.check("plan", "start", "plan.md").out


# a plan that was edited


def revise(project: Project, text: str) -> None:
    project.write("plan.md", text)
    project.commit("docs: revise the plan")


def test_a_word_of_prose_costs_a_review_and_nothing_else(tmp_path: Path) -> None:
    text = plan_text(2, sessions=[[1], [2]], step2={"Depends on": "Step 1"})
    project = planned(tmp_path / "p", text)
    critic(project)
    carry_out_session(project, 1, 1)
    revise(project, text.replace("# Add parts", "# Add some parts"))
    assert "omo plan critique plan.md" in project.check("plan", "status").out
    assert "no clean critique" in project.check("plan", "start", "plan.md", code=3).err
    before = (project.root / "plan.md").read_text()
    critic(project)
    assert (project.root / "plan.md").read_text() == before, "what is done is proposed no second time"
    begun = project.check("plan", "start", "plan.md").out
    assert ("session 2 of 2" in begun, "session 1 left a part" in begun) == (True, True)
    carry_out(project.root, 2)
    assert "2 of 2 steps hold" in project.check("plan", "finish").out


FAILED = ("plan", "finish", "--failed", "2", "--error", "it cannot be written", "--tried", "twice, in two ways")


def failed_after_its_first_step(root: Path) -> Project:
    project = planned(root, plan_text(2))
    critic(project)
    project.check("plan", "start", "plan.md")
    carry_out(project.root, 1)
    project.check(*FAILED, code=3)
    project.stop()
    return project


def test_a_revised_step_is_carried_out_as_it_says_now_and_what_is_done_stays_done(tmp_path: Path) -> None:
    project = failed_after_its_first_step(tmp_path / "p")
    first = project.git("rev-parse", "HEAD")
    changes = {
        "Changes": "a function `other2`",
        "manifest": {"must_contain": [{"path": "src/part2.py", "pattern": "def other2"}]},
    }
    revise(project, plan_text(2, step2=changes))
    edited = project.check("plan", "recover", "plan.md", code=3)
    assert edited.says("ultraplan-edited-since-it-began", file="plan.md")
    brief = project.check("plan", "critique", "plan.md").out
    assert "ultraplan-done-and-committed" in texts.situations(brief)
    critic(project)
    begun = project.check("plan", "start", "plan.md").out
    assert f"done already step 1 {first[:12]}" in begun
    spec = (project.root / re.search(r"spec +(\S+)", begun)[1]).read_text()  # type: ignore[index]
    assert ("### Step 1" in spec, "`other2`" in spec) == (False, True)
    carry_out(project.root, 2)
    assert project.check("plan", "finish", code=3).out.count("step 2: drift")
    project.write("src/part2.py", "def other2():\n    return 2\n")
    project.commit("feat(part2): as revised")
    assert project.check("plan", "finish").code == 0
    assert texts.says(project.summary("ultraplan")["outcome"]["why"], "ultraplan-done-before-this-session", steps=1)


def test_a_step_that_was_edited_after_it_was_done_is_asked_about(tmp_path: Path) -> None:
    project = failed_after_its_first_step(tmp_path / "p")
    revise(project, plan_text(2, step1={"Changes": "a function `part1`, and it is fast"}))
    told = project.check("plan", "critique", "plan.md", code=3).err
    assert "where it was done and edited since, put its text back" in told
    assert "must_contain" in told
