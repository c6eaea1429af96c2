"""What `omo plan finish` runs, what it does not, and what one session of a plan leaves to the next."""

from __future__ import annotations

import json
from typing import Any

import pytest

from omo.workflows.ultraplan.document import parse
from omo.workflows.ultraplan.flow import DIMENSIONS
from tests import texts
from tests.project import SESSION, Project
from tests.ultraplan.plans import begin_repository, carry_out, commit, git, path_of, plan_text, subject_of

WHY = "no critic in this test"
BROKEN = "def part{0}():\n    return {0}\n\n\nraise SystemExit('part {0} does not work')\n"


def planned(project: Project, steps: int = 2, **changes: Any) -> None:
    for folder in ("src", "tests", "infra"):
        (project.root / folder).mkdir(exist_ok=True)
    project.write("src/app.py", "VALUE = 1\n")
    project.write("plan.md", plan_text(steps, **changes))
    begin_repository(project.root)


def start(project: Project, *more: str) -> str:
    ran = project.user("plan", "start", "plan.md", "--unreviewed", WHY, *more, session=project.session)
    assert ran.code == 0, ran.err
    return ran.out


def write(project: Project, number: int, text: str) -> None:
    (project.root / path_of(number)).write_text(text.format(number))
    commit(project.root, subject_of(number))


def ended(project: Project) -> dict[str, Any]:
    outcome: dict[str, Any] = project.row()["work"]["ultraplan"]["outcome"]
    return outcome


def in_two_sessions(project: Project, **changes: Any) -> None:
    planned(project, 2, sessions=[[1], [2]], **changes)
    commit(project.root, "docs: two sessions")


# Verify


def test_a_session_whose_verify_fails_is_not_closed_until_it_passes(project: Project) -> None:
    planned(project)
    assert texts.says(start(project), "ultraplan-will-run", number=1, command="python3 src/part1.py")
    write(project, 1, BROKEN)
    carry_out(project.root, 2)
    ran = project.agent("plan", "finish", "--json")
    assert (ran.code, ran.json["closed"], ran.json["verdict"]) == (3, False, "drift")
    assert [result["result"] for result in ran.json["verify"]] == ["fail", "pass"]
    assert "exit 1, 0 needed: part 1 does not work" in ran.json["verify"][0]["why"]
    step = project.agent("plan", "status", "--json").json["next"]
    assert (step["action"], "step 1: its Verify python3 src/part1.py fails" in step["why"]) == ("mend", True)
    (project.root / path_of(1)).write_text("def part1():\n    return 1\n")
    commit(project.root, "fix: part 1 works")
    ran = project.agent("plan", "finish", "--json")
    assert (ran.code, [result["result"] for result in ran.json["verify"]]) == (0, ["pass", "pass"])
    assert texts.says(ended(project)["why"], "ultraplan-passed-which-plan-author-chose", passing="2 Verify commands")


def test_a_verify_that_says_itself_that_it_ran_no_test_fails(project: Project) -> None:
    planned(project, 1)
    start(project)
    write(project, 1, "def part{0}():\n    return {0}\n\n\nprint('Ran 0 tests in 0.000s')\n")
    ran = project.agent("plan", "finish", "--json")
    assert (ran.code, ran.json["verify"][0]["result"]) == (3, "fail")
    assert texts.says(ran.json["verify"][0]["why"], "ultraplan-it-says-itself-that-it", quoted="Ran 0 tests")


def test_what_was_pinned_at_the_start_is_run_whatever_the_plan_says_later(project: Project) -> None:
    planned(project, 1)
    start(project)
    project.write("plan.md", plan_text(1, step1={"Verify": "`true` → expected: exit 0"}))
    (project.root / path_of(1)).write_text(BROKEN.format(1))
    git(project.root, "add", "src")
    git(project.root, "commit", "-q", "-m", subject_of(1))
    ran = project.agent("plan", "finish", "--json")
    assert (ran.code, ran.json["verify"][0]["text"]) == (3, "python3 src/part1.py")


def test_a_recovery_runs_the_verify_commands_of_the_whole_session(project: Project) -> None:
    planned(project)
    start(project)
    write(project, 1, BROKEN)
    assert project.agent("plan", "recover").code == 0
    carry_out(project.root, 2)
    assert [each["result"] for each in project.agent("plan", "finish", "--json").json["verify"]] == ["fail", "pass"]


def test_what_only_a_shell_can_run_is_listed_as_not_run(project: Project) -> None:
    planned(project, 2, step1={"Verify": "`python3 src/part1.py | cat` → expected: nothing"}, step2={"Verify": "look"})
    assert texts.says(start(project), "ultraplan-will-not-run", number=1, command="python3 src/part1.py | cat")
    for number in (1, 2):
        carry_out(project.root, number)
    ran = project.agent("plan", "finish")
    assert (ran.code, ran.says("ultraplan-verify-only-a-shell-can-run", command="python3 src/part1.py | cat")) == (
        0,
        True,
    )
    assert "not run by omo: step 1: python3 src/part1.py | cat; step 2: look" in ended(project)["why"]


def test_a_command_that_several_steps_verify_with_is_run_once(project: Project) -> None:
    verify = {"Verify": "`python3 -c \"open('runs', 'a').write('x')\"` → expected: exit 0"}
    planned(project, 2, touch=None, step1=verify, step2=verify)
    start(project)
    for number in (1, 2):
        carry_out(project.root, number)
    ran = project.agent("plan", "finish", "--json")
    assert [result["result"] for result in ran.json["verify"]] == ["pass", "pass"]
    assert (project.root / "runs").read_text() == "x"


@pytest.mark.parametrize("search", ["grep -rn TODO src", "git grep TODO src"])
def test_the_exit_that_a_plan_expects_is_the_one_that_is_needed(project: Project, search: str) -> None:
    planned(project, 1, step1={"Verify": f"`{search}` → expected: no output"})
    start(project)
    carry_out(project.root, 1)
    assert project.agent("plan", "finish").code == 0


def test_the_status_of_an_answer_is_no_exit(project: Project) -> None:
    planned(project, 1, step1={"Verify": "`python3 src/part1.py` → expected: it prints status 200"})
    start(project)
    carry_out(project.root, 1)
    assert project.agent("plan", "finish").code == 0


def test_a_quiet_search_is_to_find_something_though_it_prints_nothing(project: Project) -> None:
    planned(project, 1, step1={"Verify": "`grep -rq nowhere-to-be-found src` → expected: no output"})
    start(project)
    carry_out(project.root, 1)
    ran = project.agent("plan", "finish")
    assert ran.code == 3
    assert ran.says(
        "ultragoal-next-step-its-verify-fails-mend", run="grep -rq nowhere-to-be-found src", why="exit 1, 0 needed"
    )
    told = project.row()["work"]["ultraplan"]["next"]
    assert told.endswith("mend it: omo next"), "the command that follows is left out, not cut"


def test_a_command_that_changes_the_work_it_looks_at_shows_nothing(project: Project) -> None:
    change = "from pathlib import Path; Path('src/app.py').write_text('VALUE = 2')"
    planned(project, 1, step1={"Verify": f'`python3 -c "{change}"` → expected: exit 0'})
    start(project)
    carry_out(project.root, 1)
    ran = project.agent("plan", "finish", "--json")
    assert (ran.code, ran.json["closed"], ran.json["audit"]["session"]["dirty"]) == (3, False, ["src/app.py"])


def test_without_running_them_it_ends_with_exceptions_and_never_over_a_failure(project: Project) -> None:
    planned(project, 1)
    start(project)
    write(project, 1, BROKEN)
    unverified = ("plan", "finish", "--unverified", "there is no time for it")
    assert project.agent("plan", "finish").code == 3
    ran = project.agent(*unverified)
    assert (ran.code, ran.says("ultraplan-unverified-does-not-go-over-verify")) == (3, True)
    assert project.user(*unverified, "--session", SESSION).code == 0
    (_, exception) = ended(project)["exceptions"]
    assert texts.says(exception["what"], "ultraplan-verify-of-step-was-not", step=1, command="python3 src/part1.py")
    assert (ended(project)["verdict"], exception["by"]) == ("waived", "user")


def test_a_failure_is_not_forgotten_by_a_recovery(project: Project) -> None:
    planned(project)
    start(project)
    write(project, 1, BROKEN)
    carry_out(project.root, 2)
    assert project.agent("plan", "finish").code == 3
    git(project.root, "revert", "--no-edit", "HEAD")
    assert project.agent("plan", "recover").code == 0
    carry_out(project.root, 2)
    project.check("plan", "finish", "--unverified", "there is no time for it", code=3)


def test_what_cannot_be_run_is_no_exception_when_the_rest_is_left_out(project: Project) -> None:
    planned(project, 1, step1={"Verify": "`python3 src/part1.py | cat` → expected: nothing"})
    start(project)
    carry_out(project.root, 1)
    project.check("plan", "finish", "--unverified", "there is no time for it")
    assert [exception["what"] for exception in ended(project)["exceptions"]] == ["no clean critique of the plan"]
    assert texts.says(ended(project)["why"], "ultraplan-not-run-by-omo", steps="step 1: python3 src/part1.py | cat")


def test_what_is_not_there_to_be_started_is_not_run_and_no_failure(project: Project) -> None:
    planned(project, 1, step1={"Verify": "`no-such-tool src/part1.py` → expected: nothing"})
    start(project)
    carry_out(project.root, 1)
    ran = project.agent("plan", "finish", "--json")
    assert (ran.code, ran.json["verify"][0]["result"]) == (0, "not run"), ran.err
    assert texts.says(ran.json["verify"][0]["why"], "ultraplan-program-cannot-be-started", program="no-such-tool")


def test_a_gate_of_the_users_that_never_passed_holds_up_the_last_session_alone(project: Project) -> None:
    in_two_sessions(project)
    project.prompt("/omo:pin whole -- test -e src/whole.py")
    start(project)
    carry_out(project.root, 1)
    assert project.agent("plan", "finish").code == 0
    assert texts.says(ended(project)["why"], "gate-gate-pinned-by-user", gate="whole", failure="fails (exit 1)")
    start(project)
    carry_out(project.root, 2)
    refused = project.agent("plan", "finish")
    assert (refused.code, "whole" in refused.err) == (3, True)


def test_what_was_done_to_the_tests_is_named_with_a_verify_that_passes(project: Project) -> None:
    test = "import unittest\n\n\nclass Part(unittest.TestCase):\n    def test(self):\n        self.assertTrue({0})\n"
    planned(project, 1, step1={"Verify": "`python3 -m unittest tests.test_part1` → expected: OK"})
    project.write("tests/test_part1.py", test.format("False"))
    commit(project.root, "test: a part")
    start(project)
    project.write("tests/test_part1.py", test.format("True"))
    carry_out(project.root, 1)
    assert project.agent("plan", "finish").code == 0
    why = ended(project)["why"]
    assert "it passes only with the changed tests/test_part1.py: with it as before 1 of 1 tests fails" in why


def test_a_runner_that_git_ignores_is_seen(project: Project) -> None:
    project.write(".gitignore", "unittest.py\n")
    planned(project, 1, touch=None, step1={"Verify": "`python3 -m unittest tests` → expected: OK"})
    start(project)
    carry_out(project.root, 1)
    project.write("unittest.py", "")
    assert project.agent("plan", "finish").code == 0
    assert texts.says(ended(project)["why"], "plan-unittest-tests-stands-in-place", file="unittest.py")


# Several sessions


def test_a_handoff_is_kept_and_printed_to_the_next_session(project: Project) -> None:
    in_two_sessions(project)
    assert "handed over" not in start(project)
    carry_out(project.root, 1)
    refused = project.agent("plan", "finish", "--handoff", "docs/nowhere.md says what session 2 calls")
    assert (refused.code, ("docs/nowhere.md" in refused.err and refused.says("work-is-cited-and-is-not-there"))) == (
        3,
        True,
    )
    ran = project.agent("plan", "finish", "--handoff", "part1() is what session 2 calls")
    assert "part1()" in ran.out
    assert ran.says("ultraplan-for-next-session")
    assert "- next: session 1 of 2 passed its audit; session 2 begins with: omo plan start plan.md" in ran.out
    assert "next: omo plan start plan.md" in ended(project)["why"]
    assert "  handed over  session 1: part1() is what session 2 calls" in start(project)
    assert "handed over: session 1: part1() is what session 2 calls" in project.agent("plan", "status").out


def test_a_session_that_is_given_up_hands_over_as_well(project: Project) -> None:
    in_two_sessions(project)
    start(project)
    carry_out(project.root, 1)
    given_up = ("--abandon", "the parts are cut wrongly", "--handoff", "`src/part1.py` has the rows")
    project.check("plan", "finish", *given_up)
    assert "for the next session: `src/part1.py` has the rows" in project.agent("plan", "status").out


def test_the_path_of_a_plan_stands_in_commands_as_it_can_be_typed(project: Project) -> None:
    in_two_sessions(project)
    (project.root / "plan.md").rename(project.root / "my plan.md")
    refused = project.agent("plan", "recover", "my plan.md")
    assert "omo plan start 'my plan.md'" in refused.err
    commit(project.root, "docs: another name")
    named = ("plan", "start", "my plan.md", "--unreviewed", WHY)
    project.check(*named, by="user", session=project.session)
    carry_out(project.root, 1)
    project.check("plan", "finish")
    assert 'next: omo plan start "my plan.md"' in ended(project)["why"]


@pytest.mark.parametrize("when", ["before the end", "after the end"])
def test_a_handoff_is_kept_whenever_it_is_said(project: Project, when: str) -> None:
    in_two_sessions(project)
    start(project)
    said = ("plan", "finish", "--handoff", "part1() is what session 2 calls")
    if when == "before the end":
        assert "for the next session: part1()" in project.check(*said, code=3).out
    carry_out(project.root, 1)
    project.check("plan", "finish")
    if when == "after the end":
        assert "for the next session: part1()" in project.check(*said).out
    assert "  handed over  session 1: part1() is what session 2 calls" in start(project)


def test_the_next_session_may_change_what_the_one_before_made(project: Project) -> None:
    in_two_sessions(project, step2={"Files": "`src/part1.py`, `src/part2.py`"})
    start(project)
    carry_out(project.root, 1)
    assert project.agent("plan", "finish").code == 0
    first = project.row()["work"]["ultraplan"]["run"]
    start(project)
    (project.root / path_of(1)).write_text("def first_part():\n    return 1\n")
    carry_out(project.root, 2)
    assert project.agent("plan", "finish").code == 0
    steps = project.agent("plan", "status", "--run", first, "--json").json["audit"]["steps"]
    assert [step["status"] for step in steps] == ["pass"], "a sibling does not turn it red"
    assert project.agent("plan", "audit", "plan.md").code == 3
    (_, exception) = ended(project)["exceptions"]
    assert texts.says(exception["what"], "ultraplan-step-of-does-not-hold-any", number=1, file="plan.md")


def test_the_last_session_answers_for_the_whole_plan_from_its_first_base(project: Project) -> None:
    in_two_sessions(project)
    for number in (1, 2):
        start(project)
        carry_out(project.root, number)
        assert project.agent("plan", "finish").code == 0
        if number == 1:
            project.write("infra/main.tf", "x\n")
            project.write("README.md", "# Between the sessions\n")
            commit(project.root, "chore: between")
    why = ended(project)["why"]
    assert "of the whole plan, from its first session on, 2 of 2 steps hold" in why
    assert "between its sessions also changed: README.md" in why
    (_, exception) = ended(project)["exceptions"]
    assert "infra/main.tf: changed by" in exception["why"]


def test_what_a_step_forbids_its_own_session_another_one_may_change(project: Project) -> None:
    in_two_sessions(project, step1={"manifest": {"forbidden_paths": ["src/part2.py"]}})
    for number in (1, 2):
        start(project)
        carry_out(project.root, number)
        assert project.agent("plan", "finish").code == 0
    assert project.agent("plan", "audit", "plan.md").code == 0
    assert len(ended(project)["exceptions"]) == 1


def test_a_violation_is_not_lost_by_recovering_and_giving_up(project: Project) -> None:
    planned(project)
    start(project)
    assert project.agent("plan", "recover").code == 0
    project.write("infra/main.tf", "x\n")
    commit(project.root, "chore: slip")
    project.check("plan", "finish", "--session", SESSION, "--abandon", "begin it anew", by="user")
    assert "infra/main.tf" in start(project)


def test_the_why_of_a_plan_reaches_every_recovery(project: Project) -> None:
    in_two_sessions(project)
    text = (project.root / "plan.md").read_text()
    project.write("plan.md", text.replace("plan_version: 1.7", "plan_version: 1.7\n\nParts are sold one by one."))
    commit(project.root, "docs: why")
    start(project)
    spec = project.agent("plan", "recover", "--json").json["spec"]
    recovery = (project.root / spec).read_text()
    assert "> Parts are sold one by one." in recovery
    assert "  - step 1: missing: none of 0 commits" in recovery
    assert "- Parent ledger: `.sisyphus/cc-omo/plans/" in recovery


# What is the user's


def criticised(project: Project, verdict: str) -> None:
    """A hook sees the critic speak of the plan's text, and it is recorded."""
    marks = dict.fromkeys(DIMENSIONS, "pass" if verdict == "clean" else "fail")
    digest = parse((project.root / "plan.md").read_text(), "plan.md").digest
    answer = {"verdict": verdict, "plan_digest": digest, "dimensions": marks, "findings": []}
    project.agent_ends("omo:critic", json.dumps(answer))


@pytest.mark.parametrize("is_recorded", [True, False])
def test_a_plan_that_the_critic_refused_is_started_only_by_the_user(project: Project, is_recorded: bool) -> None:
    planned(project, 1)
    project.agent("plan", "critique", "plan.md")
    criticised(project, "findings")
    if is_recorded:
        assert project.agent("plan", "critique", "plan.md").code == 3
    begin = ("plan", "start", "plan.md", "--unreviewed", "I think it is good enough")
    ran = project.agent(*begin)
    assert (ran.code, "omo:critic has found it not to be sound" in ran.err) == (3, True)
    assert project.user(*begin, "--session", SESSION).code == 0
    carry_out(project.root, 1)
    project.agent("plan", "finish")
    (exception,) = ended(project)["exceptions"]
    assert (exception["what"], exception["by"]) == ("no clean critique of the plan", "user")


def test_a_plan_that_no_critic_saw_is_the_users_to_start(project: Project) -> None:
    planned(project, 1)
    begin = ("plan", "start", "plan.md", "--unreviewed", "I think it is good enough")
    ran = project.agent(*begin)
    assert ran.code == 3
    assert ran.says("ultraplan-has-no-clean-critique-of-text")
    assert f"omo plan start plan.md --unreviewed REASON --session {SESSION}" in ran.err
    assert "ultraplan" not in project.row().get("work", {}), "nothing was begun"
    assert project.user(*begin, "--session", SESSION).code == 0


def test_an_older_plan_needs_no_critic_only_where_it_was_committed(project: Project) -> None:
    planned(project, 1, version="1.6", step1={"manifest": None})
    text = (project.root / "plan.md").read_text()
    project.write("plan.md", text.replace("Add part 1", "Add the part"))
    ran = project.agent("plan", "start", "plan.md")
    assert (ran.code, ran.says("ultraplan-has-no-clean-critique-of-text")) == (3, True)
    project.write("plan.md", text)
    assert project.agent("plan", "start", "plan.md").code == 0


def test_after_a_failure_an_agent_goes_on_only_once_the_user_was_shown_it(project: Project) -> None:
    planned(project)
    start(project)
    carry_out(project.root, 1)
    failed = ("plan", "finish", "--failed", "2", "--error", "it does not build", "--tried", "two other ways")
    assert [project.agent(*failed).code, project.agent("plan", "finish").code] == [3, 3], "as it ended, also said again"
    for verb in ("recover", "start"):
        ran = project.agent("plan", verb, "plan.md")
        assert (ran.code, ran.says("ultraplan-plan-session-ended-without-pass-and-user-has")) == (3, True), verb
    other = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "other"}
    assert project.omo("plan", "recover", "plan.md", by="user", env=other).code == 0, (
        "another conversation is the user's doing"
    )
