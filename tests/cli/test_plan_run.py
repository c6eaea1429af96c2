"""`omo plan start|skip|status|recover|finish`, as the agent and the user type them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from omo.workflows.ultraplan.run import PLAN
from tests import texts
from tests.cli.sessions import OF_ANOTHER, next_stop
from tests.kept import copied
from tests.project import SESSION, Project
from tests.ultraplan.plans import begin_repository, carry_out, commit, git, path_of, plan_text, subject_of

WHY = "no critic in this test"


def with_a_plan(root: Path) -> None:
    (root / "plan.md").write_text(plan_text(5, step5={"On failure": "skip — not needed"}))
    begin_repository(root)


@pytest.fixture
def planned(tmp_path: Path) -> Project:
    copied(tmp_path / "a b", with_a_plan)
    return Project(tmp_path / "a b")


def start(project: Project, *more: str) -> None:
    ran = project.user("plan", "start", "plan.md", "--unreviewed", WHY, *more, session=project.session)
    assert ran.code == 0, ran.err


def test_a_plan_of_five_steps_that_skips_the_third_is_caught_recovers_and_passes(planned: Project) -> None:
    start(planned)
    for number in (1, 2, 4, 5):
        carry_out(planned.root, number)
    ran = planned.agent("plan", "finish", "--json")
    assert (ran.code, ran.json["ok"], ran.json["closed"], ran.json["verdict"]) == (3, False, False, "drift")
    assert next_stop(planned) == "block"
    ran = planned.agent("plan", "recover", "plan.md", "--json")
    assert (ran.code, ran.json["state"], ran.json["depth"]) == (0, "active", 1)
    assert "step 3" in ran.json["next"]["why"]
    assert next_stop(planned) == "block"
    carry_out(planned.root, 3)
    ran = planned.agent("plan", "finish", "--json")
    assert (ran.code, ran.json["closed"], ran.json["verdict"]) == (0, True, "pass")
    assert [step["status"] for step in ran.json["audit"]["steps"]] == ["pass"] * 5
    assert next_stop(planned) == "done"
    assert planned.agent("plan", "audit", "plan.md").code == 0
    assert git(planned.root, "status", "--porcelain") == ""


def test_a_session_is_recovered_twice_at_most_however_it_ends_in_between(planned: Project) -> None:
    start(planned)
    for number in (1, 2, 4, 5):
        carry_out(planned.root, number)
    assert planned.check("plan", "recover", "--json").json["depth"] == 1
    planned.agent("plan", "finish", "--abandon", "the third part is too hard")
    planned.stop()  # it is shown to the user
    assert planned.check("plan", "recover", "--json").json["depth"] == 2
    refused = planned.check("plan", "recover", code=3)
    assert refused.says("ultraplan-this-session-was-recovered-times-already", most_recoveries=2)
    carry_out(planned.root, 3)
    assert planned.check("plan", "finish", "--json").json["depth"] == 2


def test_the_end_names_a_ledger_that_was_damaged(planned: Project) -> None:
    start(planned)
    for number in range(1, 6):
        carry_out(planned.root, number)
    directory = PLAN.directory(planned.state, planned.summary("ultraplan")["run"])
    with Path(directory, "ledger.jsonl").open("a") as ledger:
        ledger.write('{"kind": "skipped", "step": 3}\n')
    assert planned.agent("plan", "finish").code == 0
    told = [exception["what"] for exception in planned.summary("ultraplan")["outcome"]["exceptions"]]
    assert any(texts.says(what, "end-its-ledger-was-damaged-after") for what in told), told


def test_a_recovery_of_what_is_not_there_names_nothing_that_would_refuse_too(planned: Project) -> None:
    assert "omo plan start plan.md" in planned.check("plan", "recover", "plan.md", code=3).err
    assert planned.check("plan", "recover", "nothere.md", code=3).says("ultraplan-name-plan-that-is-there")
    start(planned)
    run = planned.summary("ultraplan")["run"]
    assert planned.check("plan", "recover", "plan.md", "--run", run, code=2).says("ultraplan-name-one-of-them")


def test_a_plan_for_a_file_with_brackets_in_its_name_is_carried_out_within_its_fence(tmp_path: Path) -> None:
    path = "app/[slug]/page.py"
    manifest = {"expected_paths": [path], "must_contain": [{"path": path, "pattern": "^def part1"}]}
    verify = f"`python3 '{path}'` → expected: no output, exit 0"
    step = {"Files": f"`{path}`", "Verify": verify, "manifest": manifest}
    project = Project(tmp_path)
    (tmp_path / "plan.md").write_text(plan_text(1, touch=(path,), step1=step))
    begin_repository(tmp_path)
    start(project)
    target = tmp_path / path
    target.parent.mkdir(parents=True)
    target.write_text("def part1():\n    return 1\n")
    commit(tmp_path, subject_of(1))
    ran = project.agent("plan", "finish", "--json")
    assert (ran.code, ran.json["verdict"]) == (0, "pass"), ran.out


def test_stop_holds_a_session_that_was_called_complete_too_early_or_not_at_all(planned: Project) -> None:
    start(planned)
    for number in (1, 2):
        carry_out(planned.root, number)
    ran = planned.agent("plan", "finish")
    assert (ran.code, "Not closed" in ran.out, next_stop(planned)) == (3, True, "block")
    assert "step 3" in planned.row()["work"]["ultraplan"]["next"]
    for number in (3, 4, 5):
        carry_out(planned.root, number)
    assert "omo plan finish" in planned.agent("plan", "status").out
    assert next_stop(planned) == "block", "every step passes, and nobody has said so"


def test_status_shows_everything_that_counts(planned: Project) -> None:
    assert planned.agent("plan", "status", "--json").json["next"]["command"] == "omo plan start PLAN"
    start(planned)
    carry_out(planned.root, 1)
    planned.agent("plan", "skip", "5", "--reason", "the last part is not needed")
    ran = planned.agent("plan", "status", "--json")
    shown = ran.json
    assert (ran.code, shown["state"], shown["audit"]["verdict"], shown["depth"]) == (0, "active", "drift", 0)
    statuses = [step["status"] for step in shown["audit"]["steps"]]
    assert statuses == ["pass", "missing", "missing", "missing", "skipped"]
    assert shown["base"] == git(planned.root, "rev-parse", "HEAD~1")
    assert any(WHY in override for override in shown["overrides"])
    assert shown["fence"]["touch"] == ["src/**", "tests/**"]
    assert (shown["next"]["action"], shown["next"]["step"]) == ("execute", 2)
    for said in ("step 1: pass", "1 of 4 pass", WHY):
        assert said in planned.agent("plan", "status").out


def test_a_missing_capability_exits_77_and_lets_the_session_stop(planned: Project) -> None:
    (planned.root / "plan.md").write_text(plan_text(1, needs=["cmd:no-such-program"]))
    commit(planned.root, "docs: needs")
    ran = planned.user("plan", "start", "plan.md", "--unreviewed", WHY, "--json", session=planned.session)
    assert (ran.code, ran.json["state"]) == (77, "blocked")
    assert next_stop(planned) == "waiting"
    skipping = {"OMO_SKIP_PREFLIGHT": "1"}
    argv = ("plan", "start", "plan.md", "--unreviewed", WHY)
    agent = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": SESSION, **skipping}
    assert planned.omo(*argv, by="user", env=agent).code == 3, "only the user leaves it out"
    assert planned.omo(*argv, "--session", SESSION, by="user", env=skipping).code == 0
    assert "preflight bypassed: OMO_SKIP_PREFLIGHT" in planned.agent("plan", "status").out


def test_a_failed_step_is_reported_and_the_user_is_told(planned: Project) -> None:
    start(planned)
    carry_out(planned.root, 1)
    ran = planned.agent("plan", "finish", "--failed", "2", "--error", "it does not build", "--tried", "two other ways")
    assert ran.code == 3
    assert ran.says("ultraplan-plan-session-stopped-at-step-it")
    assert next_stop(planned) == "waiting"
    assert "fence" not in planned.row()["work"]["ultraplan"]


REFUSED = [
    (("finish", "--error", "an error without its step"), 2, "--failed"),
    (("finish", "--tried", "what helped nothing"), 2, "--failed"),
    (("finish", "--failed", "1", "--abandon", "both at once here"), 2, "not allowed with"),
    (("finish", "--abandon", "short"), 2, "10 characters are needed"),
    (("recover", "other.md"), 3, "no session of other.md began"),
    (("skip", "1", "--reason", "it would be convenient"), 3, "may not be skipped"),
    (("start", "plan.md", "--unreviewed", WHY), 3, "is under way"),
    (("start", "nowhere.md"), 3, "is under way"),
]


def test_what_is_refused_says_why_and_what_to_do(planned: Project) -> None:
    start(planned)
    (planned.root.parent / "outside.md").write_text("# x\n")
    for argv, code, said in REFUSED:
        ran = planned.agent("plan", *argv)
        assert (ran.code, said in ran.err, "fix:" in ran.err) == (code, True, True), argv


@pytest.mark.parametrize("spec", ["nowhere.md", "../outside.md"])
def test_a_spec_that_is_not_there_is_not_started(planned: Project, spec: str) -> None:
    (planned.root.parent / "outside.md").write_text("# x\n")
    ran = planned.agent("plan", "start", spec)
    assert ran.code == 2
    assert spec.removeprefix("../") in ran.err


def test_a_dead_clients_session_is_ended_by_the_user_and_recovered_from_a_new_one(planned: Project) -> None:
    start(planned)
    carry_out(planned.root, 1)
    assert f"omo resume {SESSION}" in planned.omo("plan", "status", by="user", env=OF_ANOTHER).out
    ran = planned.omo("plan", "recover", "plan.md", by="user", env=OF_ANOTHER)
    assert ran.code == 3
    assert f"--session {SESSION} --abandon" in ran.err
    ran = planned.user("plan", "finish", "--session", SESSION, "--abandon", "that client is gone")
    assert "omo plan recover plan.md" in ran.out
    ran = planned.omo("plan", "start", "plan.md", "--unreviewed", WHY, by="user", env=OF_ANOTHER)
    assert "omo plan recover plan.md" in ran.err
    planned.change_row(lambda row: {**row, "work": {"ultraplan": {"run": "p0"}}}, session="third")
    ran = planned.omo("plan", "recover", "plan.md", "--json", by="user", env=OF_ANOTHER)
    assert (ran.code, ran.json["depth"]) == (0, 1)
    assert planned.row("third")["work"]["ultraplan"] == {"run": "p0"}, "which has nothing to do with it"
    assert "fence" in planned.row("other")["work"]["ultraplan"]
    for number in (2, 3, 4, 5):
        carry_out(planned.root, number)
    assert planned.omo("plan", "finish", by="user", env=OF_ANOTHER).code == 0
    assert planned.row()["work"]["ultraplan"]["state"] == "ended"


def test_the_marks_of_an_older_plan_are_shown_everywhere(planned: Project) -> None:
    (planned.root / "old.md").write_text(plan_text(1, version="1.6", step1={"manifest": None}))
    commit(planned.root, "docs: an older plan")
    assert planned.agent("plan", "start", "old.md").code == 0
    assert planned.agent("plan", "status", "--json").json["legacy"] is True
    assert "before 1.7" in planned.agent("plan", "finish").out


def test_a_skipped_step_is_told_with_the_verdict_and_counts_are_those_of_the_audit(planned: Project) -> None:
    start(planned)
    for number in (1, 3, 4):
        carry_out(planned.root, number)
    planned.agent("plan", "skip", "5", "--reason", "the last part is not needed")
    planned.agent("plan", "recover")
    carry_out(planned.root, 2)
    shown = planned.agent("plan", "status").out
    assert texts.says(shown, "ultraplan-report-audit", verdict="pass", number=1)
    assert texts.says(shown, "ultraplan-report-steps", number=4, number2=4)
    assert planned.row()["work"]["ultraplan"]["total"] == 4, "what was skipped is neither done nor open"
    assert planned.agent("plan", "finish").says("ultraplan-report-audit", verdict="pass", number=1)
    assert planned.row()["work"]["ultraplan"]["total"] == 4
    assert "Verdict: pass, 1 skipped" in planned.agent("plan", "audit", "plan.md").out


def test_an_agent_ends_only_its_own_session(planned: Project) -> None:
    start(planned)
    run = planned.row()["work"]["ultraplan"]["run"]
    for named, why in (
        (("--session", SESSION), "another session than this agent's own, other"),
        (("--run", run), "acts only on its own"),
    ):
        ran = planned.omo("plan", "finish", *named, "--abandon", "it is in my way here", by="user", env=OF_ANOTHER)
        assert (ran.code, why in ran.err) == (3, True)
    assert planned.row()["work"]["ultraplan"]["fence"]
    ran = planned.user("plan", "finish", "--run", run, "--session", "other", "--abandon", "that session died")
    assert ran.code == 0
    assert "fence" not in planned.row()["work"]["ultraplan"]


def test_the_users_stop_releases_stop_and_the_session_can_still_be_given_up(planned: Project) -> None:
    start(planned)
    assert planned.user("stop-continuation", "--session", SESSION).code == 0
    assert next_stop(planned) == "cancelled"
    told = planned.agent("plan", "status").out
    assert "its fence is down; it goes on when they type ulw" in told
    assert "omo plan finish --abandon" in told
    planned.check("plan", "finish", "--abandon", "the user stopped the work")
    assert "fence" not in planned.row()["work"]["ultraplan"]


def test_an_agents_giving_up_is_shown_to_the_user(planned: Project) -> None:
    start(planned)
    planned.agent("plan", "finish", "--abandon", "the plan is beyond me")
    summary = planned.row()["work"]["ultraplan"]
    assert (summary["state"], summary["told"]) == ("waiting", False)
    assert "gave up" in summary["why"]
    assert next_stop(planned) == "waiting"


def test_a_plan_is_found_from_a_directory_below_the_project(planned: Project) -> None:
    start(planned)
    carry_out(planned.root, 1)
    assert (planned.root / path_of(1)).exists()
    assert planned.agent("plan", "recover", "plan.md", cwd=planned.root / "src").code == 0


# The failures this exists for; the first, work called complete after two of five steps, is above.


def test_a_push_that_would_be_denied_is_found_before_any_work(planned: Project) -> None:
    git(planned.root, "remote", "add", "origin", str(planned.root / "nowhere.git"))
    head = git(planned.root, "rev-parse", "HEAD")
    ran = planned.user("plan", "start", "plan.md", "--unreviewed", WHY, "--json", session=planned.session)
    assert (ran.code, ran.json["state"]) == (77, "blocked")
    assert "git_push" in json.dumps(ran.json["missing"])
    assert git(planned.root, "rev-parse", "HEAD") == head
    assert "fence" not in planned.row()["work"]["ultraplan"]


def test_a_plan_of_prose_cannot_be_started(planned: Project) -> None:
    prose = "# Improve it\n\nplan_version: 1.7\n\nFirst refactor the parser, then test everything and ship it.\n"
    (planned.root / "prose.md").write_text(prose)
    commit(planned.root, "docs: prose")
    assert planned.agent("plan", "validate", "prose.md").code == 3
    ran = planned.user("plan", "start", "prose.md", "--unreviewed", WHY, session=planned.session)
    assert ran.code == 3
    assert "ultraplan" not in (planned.agent("ulw", "status", "--json").out)


# Several sessions, and what one leaves behind


def in_two_sessions(project: Project) -> None:
    text = plan_text(2, sessions=[[1], [2]], touch=None, step2={"Depends on": "Step 1"})
    (project.root / "plan.md").write_text(text)
    commit(project.root, "docs: two sessions")


def test_the_end_of_a_session_leads_to_the_next_which_is_not_held_against_it(planned: Project) -> None:
    in_two_sessions(planned)
    start(planned)
    carry_out(planned.root, 1)
    ran = planned.agent("plan", "finish", "--json")
    assert (ran.code, ran.json["session"]) == (0, {"number": 1, "of": 2})
    assert ran.json["next"]["command"] == "omo plan start plan.md"
    first = planned.row()["work"]["ultraplan"]
    assert texts.says(first["outcome"]["why"], "ultraplan-session-of-plan", number=1, number2=2, plan="plan.md")
    start(planned)
    carry_out(planned.root, 2)
    ran = planned.agent("plan", "finish", "--json")
    assert (ran.code, ran.json["next"]["action"], ran.json["next"]["command"]) == (0, "done", "")
    shown = planned.agent("plan", "status", "--run", first["run"], "--json").json["audit"]
    assert shown["session"]["scope_violations"] == []
    assert planned.agent("plan", "audit", "plan.md").code == 0


@pytest.mark.parametrize(
    "end",
    [
        ("--failed", "1", "--error", "could not do it at all", "--tried", "several things"),
        ("--abandon", "it is too hard"),
    ],
)
def test_a_new_start_does_not_make_an_earlier_violation_undone(planned: Project, end: tuple[str, ...]) -> None:
    start(planned)
    (planned.root / "infra").mkdir()
    planned.write("infra/main.tf", "x\n")
    commit(planned.root, "chore: slip")
    planned.agent("plan", "finish", *end)
    assert "has not been shown" in planned.agent("plan", "start", "plan.md").err
    planned.stop()  # it is shown to the user
    start(planned)
    for number in range(1, 6):
        carry_out(planned.root, number)
    assert planned.agent("plan", "finish").code == 0
    ended = planned.row()["work"]["ultraplan"]["outcome"]
    assert ended["verdict"] == "waived"
    assert any("infra/main.tf" in exception["why"] for exception in ended["exceptions"])


def test_a_session_that_stopped_and_was_answered_does_not_say_that_it_waits(planned: Project) -> None:
    start(planned)
    tried = ("--failed", "1", "--error", "it cannot be written", "--tried", "twice, in two ways")
    assert "waits for a person" in planned.check("plan", "finish", *tried, code=3).out
    assert planned.agent("next").says("next-next-for-user-session-stopped")
    assert planned.stop().says_to_user("ultraplan-stopped-at-step", number=1)
    assert planned.agent("plan", "status", "--json").json["next"]["who"] == "user"
    planned.prompt("try it once more")
    out = planned.agent("next").out
    assert texts.says(out, "next-session-stopped-at-step-and", number=1)
    assert not texts.says(out, "ultragoal-waits-for-a-person")
    held = planned.stop()
    assert (held.blocks, "omo plan recover plan.md" in held.stdout, "waits for" in held.stdout) == (True, True, False)
    assert planned.agent("plan", "status", "--json").json["next"]["who"] != "user"
    again = ("--failed", "1", "--error", "as it was before", "--tried", "what the user said")
    assert planned.agent("plan", "finish", *again).code == 3
    assert planned.stop().says_to_user("ultraplan-stopped-at-step", number=1), (
        "what Stop offers is accepted, and waits for them once more"
    )
    planned.prompt("then recover it")
    assert planned.agent("plan", "recover", "plan.md").code == 0
