"""What happens to a run of any workflow: damage, sealing, the next conversation, a project that was moved."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from omo.hooks import main as hook
from omo.hooks import stop as stop_hook
from tests import texts
from tests.cli.sessions import next_stop
from tests.engine.project import criterion
from tests.project import SESSION, Project
from tests.ultraplan.plans import commit, git, plan_text

pytestmark = pytest.mark.usefixtures("laps")

OTHER = "next-conversation"


@dataclass(frozen=True)
class Workflow:
    """How to begin a run of it, a command that works on one, and where its ledger lies."""

    kind: str
    begin: Callable[[Project], None]
    work: tuple[str, ...]
    ledger: Callable[[Project], Path]


def begin_laps(project: Project) -> None:
    project.write("criteria.json", json.dumps({"criteria": [criterion(1)]}))
    assert project.agent("laps", "start", "--criteria", "criteria.json").code == 0


def laps_ledger(project: Project) -> Path:
    return max(Path(project.state, "laps").glob("r*/ledger.jsonl"))


def acted(code: int, told: str) -> bool:
    """It did what it is for. A judgement of laps over no work does so too: it counts that."""
    return code == 0 or "circumvention" in told


LAPS = Workflow("laps", begin_laps, ("laps", "judge"), laps_ledger)


def begin_plan(project: Project) -> None:
    if not (project.root / "plan.md").exists():
        project.write("plan.md", plan_text(2, step2={"On failure": "skip — it can be left out"}))
        git(project.root, "init", "-q", "-b", "main")
        git(project.root, "config", "user.name", "Test")
        git(project.root, "config", "user.email", "test@example.org")
        commit(project.root, "docs: a plan")
    ran = project.user("plan", "start", "plan.md", "--unreviewed", "no critic in this test", session=project.session)
    assert ran.code == 0, ran.err


def plan_ledger(project: Project) -> Path:
    return max(Path(project.state, "plans").glob("p*/ledger.jsonl"))


SKIP = ("plan", "skip", "2", "--reason", "it can be left out here")
PLAN = Workflow("ultraplan", begin_plan, SKIP, plan_ledger)
each_workflow = pytest.mark.parametrize("flow", [LAPS, PLAN], ids=lambda flow: flow.kind)


def damage(path: Path) -> None:
    text = path.read_text()
    path.write_text(text.replace(SESSION, "somebody", 1))


def other(project: Project, *argv: str) -> tuple[int, str]:
    ran = project.omo(*argv, by="user", env={"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": OTHER})
    return ran.code, ran.out + ran.err


def stop(project: Project, session: str = SESSION) -> str:
    """What the user reads at this Stop."""
    event = {"session_id": session, "cwd": str(project.root), "hook_event_name": "Stop"}
    said = hook.answer("stop", stop_hook.handle, json.dumps(event).encode(), {}, str(project.root), project.now)
    return str(json.loads(said or b"{}").get("systemMessage", ""))


@each_workflow
def test_a_run_that_was_removed_is_damage_too(project: Project, flow: Workflow) -> None:
    flow.begin(project)
    directory = flow.ledger(project).parent
    directory.rename(project.root.parent / "elsewhere")
    assert project.agent(*flow.work).code == 3
    assert next_stop(project) == "done"
    assert project.user("state", "clear", "--mode", flow.kind, "--force", "--session", SESSION).code == 0
    flow.begin(project)
    ran = project.agent(*flow.work)
    assert acted(ran.code, ran.err)


@each_workflow
def test_the_next_conversation_takes_the_run_up(project: Project, flow: Workflow) -> None:
    flow.begin(project)
    code, told = other(project, *flow.work)
    assert (code, f"omo resume {SESSION}" in told) == (3, True), told
    code, told = other(project, "resume")
    assert (code, texts.says(told, "resume-session-was-at-work-just-now")) == (3, True), told
    project.now += 16 * 60
    code, told = other(project, "resume")
    assert (code, texts.says(told, "resume-taken-up-from-session-by-session", source=SESSION)) == (0, True), told
    assert acted(*other(project, *flow.work))
    assert (next_stop(project), next_stop(project, OTHER)) == ("done", "block")
    assert project.agent(*flow.work).code == 3
    told = stop(project)
    assert re.search(rf"omo: ended, not proven: session {OTHER} took {flow.kind} \S+ over\.", told), told
    assert (stop(project), next_stop(project), next_stop(project, OTHER)) == ("", "not-active", "block")
    assert project.user("ledger", "verify", "--session", OTHER).code == 0


@each_workflow
def test_the_user_takes_a_run_away_from_a_session_at_work(project: Project, flow: Workflow) -> None:
    flow.begin(project)
    assert project.user("resume", SESSION, "--session", OTHER).code == 0
    assert next_stop(project, OTHER) == "block"


@each_workflow
def test_a_run_is_cleared_by_the_agent_in_plain_sight_only(project: Project, flow: Workflow) -> None:
    flow.begin(project)
    assert project.agent("state", "clear", "--mode", flow.kind).code == 3
    ran = project.agent("state", "clear", "--mode", flow.kind, "--force")
    assert (ran.code, ran.says("state-this-is-recorded-as-agent-and")) == (0, True)
    summary = project.row()["work"][flow.kind]
    assert (summary["state"], summary["told"], summary["outcome"]["verdict"]) == ("ended", False, "ended")


@each_workflow
def test_a_moved_project_takes_its_run_along_and_a_copied_one_does_not(project: Project, flow: Workflow) -> None:
    import shutil

    flow.begin(project)
    original = project.root
    copy = original.parent / "copy"
    shutil.copytree(original, copy, symlinks=True)
    project.root = copy
    refused = project.agent(*flow.work)
    assert (refused.code, "belongs to" in refused.err) == (3, True), refused.err
    shutil.rmtree(original)
    ran = project.agent(*flow.work)
    assert acted(ran.code, ran.err)
    assert project.agent("ledger", "verify").code == 0


def begin_goal(project: Project) -> None:
    goal = {"id": "G1", "title": "done.txt", "verification": {"checks": [{"type": "path", "path": "done.txt"}]}}
    project.write("goal.json", json.dumps(goal))
    assert project.agent("verify", "add", "--file", "goal.json").code == 0
    assert project.agent("verify", "begin", "G1").code == 0


def test_the_next_conversation_is_held_to_the_goals_of_the_last(project: Project) -> None:
    begin_goal(project)
    assert other(project, "resume")[0] == 3
    project.now += 16 * 60
    code, told = other(project, "resume")
    assert (code, "verify G1" in told) == (0, True), told
    assert texts.says(stop(project), "end-taken-over", by=OTHER, run="verify G1")
    assert (next_stop(project), next_stop(project, OTHER)) == ("not-active", "block")


def test_what_is_called_off_twice_in_a_terminal_is_told_and_a_start_there_sets_it_going(project: Project) -> None:
    begin_laps(project)
    for _ in range(2):
        project.check("stop-continuation", "--session", SESSION, by="user")
    assert "was cancelled by you in another terminal" in project.stop().message
    assert "laps goes on with it." in project.check("ulw", "start", "--session", SESSION, by="user").out


def test_a_session_gives_its_goals_up_in_plain_sight(project: Project) -> None:
    begin_goal(project)
    assert project.agent("state", "clear", "--mode", "verify").code == 3
    cleared = project.agent("state", "clear", "--mode", "verify", "--force", "--json")
    assert (cleared.code, cleared.json["open"]) == (0, 1)
    summary = project.row()["work"]["verify"]
    assert (summary["state"], summary["outcome"]["verdict"]) == ("ended", "ended")
    assert texts.says(summary["why"], "session-agent-cleared-with-open", what="goals", count=1), (
        "goals, and not what they owe"
    )
    assert project.user("stop-continuation").says("session-none-live")
    assert project.user("state", "clear", "--mode", "verify", "--session", SESSION).code == 0
    assert "verify" not in project.row()["work"]


def test_all_that_a_session_left_is_taken_up_at_once(project: Project) -> None:
    project.prompt("ulw make it so")
    begin_goal(project)
    project.now += 16 * 60
    code, told = other(project, "resume")
    assert (code, "ultrawork, verify G1 (2 of 2 open)" in told) == (0, True), told
    assert {kind: summary["state"] for kind, summary in project.row(OTHER)["work"].items()} == {
        "ulw": "active",
        "verify": "active",
    }
    assert re.fullmatch(r"omo: ended, not proven: .*ultrawork over; .*verify G1 over\.", stop(project)) is not None
    assert next_stop(project) == "not-active"


GOAL = json.dumps({"id": "G1", "title": "It is there", "verification": {"checks": [{"type": "path", "path": "x"}]}})
BEGINNINGS = [
    ("verify", "begin", "--file", "goal.json"),
    ("laps", "start", "--criteria", "criteria.json"),
    ("ultragoal", "create-goals", "--brief", "Read the file."),
    ("plan", "start", "plan.md", "--unreviewed", "no critic in this test"),
]


@pytest.mark.parametrize("argv", BEGINNINGS, ids=lambda argv: argv[0])
def test_what_is_begun_in_a_session_that_the_user_cancelled_says_so(project: Project, argv: tuple[str, ...]) -> None:
    project.write("goal.json", GOAL)
    project.write("criteria.json", json.dumps({"criteria": [criterion(1)]}))
    project.write("plan.md", plan_text(1))
    commit(project.root, "docs: what is wanted")
    project.prompt("ulw do it")
    project.prompt("/omo:stop-continuation")
    begun = project.check(*argv, by="user" if argv[0] == "plan" else "agent", session=SESSION)
    assert begun.says("session-user-has-cancelled-what-is-on")
