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
from omo.state import paths
from tests.cli.conftest import SESSION, Shell
from tests.ralph.project import criterion
from tests.ultraplan.plans import commit, git, plan_text

OTHER = "next-conversation"


@dataclass(frozen=True)
class Workflow:
    """How to begin a run of it, a command that works on one, and where its ledger lies."""

    kind: str
    begin: Callable[[Shell], None]
    work: tuple[str, ...]
    ledger: Callable[[Shell], Path]


def begin_ralph(shell: Shell) -> None:
    shell.write("criteria.json", json.dumps({"criteria": [criterion(1)]}))
    assert shell.agent("ralph", "start", "--criteria", "criteria.json").code == 0


def ralph_ledger(shell: Shell) -> Path:
    return max(Path(paths.ralph_dir(shell.state)).glob("r*/ledger.jsonl"))


RALPH = Workflow("ralph", begin_ralph, ("ralph", "exec"), ralph_ledger)


def begin_plan(shell: Shell) -> None:
    if not (shell.project / "plan.md").exists():
        shell.write("plan.md", plan_text(2, step2={"On failure": "skip — it can be left out"}))
        git(shell.project, "init", "-q", "-b", "main")
        git(shell.project, "config", "user.name", "Test")
        git(shell.project, "config", "user.email", "test@example.org")
        commit(shell.project, "docs: a plan")
    ran = shell.agent("plan", "start", "plan.md", "--unreviewed", "no critic in this test")
    assert ran.code == 0, ran.err


def plan_ledger(shell: Shell) -> Path:
    return max(Path(paths.plans_dir(shell.state)).glob("p*/ledger.jsonl"))


SKIP = ("plan", "skip", "2", "--reason", "it can be left out here")
PLAN = Workflow("ultraplan", begin_plan, SKIP, plan_ledger)
each_workflow = pytest.mark.parametrize("flow", [RALPH, PLAN], ids=lambda flow: flow.kind)


def damage(path: Path) -> None:
    text = path.read_text()
    path.write_text(text.replace(SESSION, "somebody", 1))


def other(shell: Shell, *argv: str) -> tuple[int, str]:
    ran = shell.run({"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": OTHER}, *argv)
    return ran.code, ran.out + ran.err


def stop(shell: Shell, session: str = SESSION) -> str:
    """What the user reads at this Stop."""
    event = {"session_id": session, "cwd": str(shell.project), "hook_event_name": "Stop"}
    said = hook.answer("stop", stop_hook.handle, json.dumps(event).encode(), {}, str(shell.project), shell.now)
    return str(json.loads(said or b"{}").get("systemMessage", ""))


def stop_rule(shell: Shell, session: str = SESSION) -> str:
    rule: str = shell.user("ulw", "status", "--session", session, "--json").json["nextStop"]["rule"]
    return rule


@each_workflow
def test_damage_lets_the_agent_go_and_is_the_users_to_seal(shell: Shell, flow: Workflow) -> None:
    flow.begin(shell)
    assert stop_rule(shell) == "block"
    ledger = flow.ledger(shell)
    damage(ledger)
    bytes_before = ledger.read_bytes()
    refused = shell.agent(*flow.work)
    seal = ("state", "clear", "--mode", flow.kind, "--force", "--session", SESSION)
    assert (refused.code, f"omo {' '.join(seal)}" in refused.err) == (3, True), refused.err
    assert stop_rule(shell) == "waiting"
    assert shell.agent(*seal).code == 3
    assert ledger.read_bytes() == bytes_before
    assert shell.user(*seal).code == 0
    (kept,) = ledger.parent.parent.glob(f"{ledger.parent.name}.cleared-*/ledger.jsonl")
    assert kept.read_bytes() == bytes_before
    flow.begin(shell)
    assert stop_rule(shell) == "block"


@each_workflow
def test_a_run_that_was_removed_is_damage_too(shell: Shell, flow: Workflow) -> None:
    flow.begin(shell)
    directory = flow.ledger(shell).parent
    directory.rename(shell.project.parent / "elsewhere")
    assert shell.agent(*flow.work).code == 3
    assert stop_rule(shell) == "waiting"
    assert shell.user("state", "clear", "--mode", flow.kind, "--force", "--session", SESSION).code == 0
    flow.begin(shell)
    assert shell.agent(*flow.work).code == 0


@each_workflow
def test_the_next_conversation_takes_the_run_up(shell: Shell, flow: Workflow) -> None:
    flow.begin(shell)
    code, told = other(shell, *flow.work)
    assert (code, f"omo adopt --from {SESSION}" in told) == (3, True), told
    code, told = other(shell, "adopt")
    assert (code, "was at work" in told) == (3, True), told
    shell.now += 16 * 60
    code, told = other(shell, "adopt")
    assert (code, f"Adopted from session {SESSION}" in told) == (0, True), told
    assert other(shell, *flow.work)[0] == 0
    assert (stop_rule(shell), stop_rule(shell, OTHER)) == ("done", "block")
    assert shell.agent(*flow.work).code == 3
    told = stop(shell)
    assert re.search(rf"omo: ended, not proven: session {OTHER} took {flow.kind} \S+ over\.", told), told
    assert (stop(shell), stop_rule(shell), stop_rule(shell, OTHER)) == ("", "not-active", "block")
    assert shell.user("ledger", "verify", "--session", OTHER).code == 0


@each_workflow
def test_the_user_takes_a_run_away_from_a_session_at_work(shell: Shell, flow: Workflow) -> None:
    flow.begin(shell)
    assert shell.user("adopt", "--from", SESSION, "--session", OTHER).code == 0
    assert stop_rule(shell, OTHER) == "block"


@each_workflow
def test_a_run_is_cleared_by_the_agent_in_plain_sight_only(shell: Shell, flow: Workflow) -> None:
    flow.begin(shell)
    assert shell.agent("state", "clear", "--mode", flow.kind).code == 3
    ran = shell.agent("state", "clear", "--mode", flow.kind, "--force")
    assert (ran.code, "the user is shown it" in ran.err) == (0, True)
    summary = shell.row()["work"][flow.kind]
    assert (summary["state"], summary["told"], summary["outcome"]["verdict"]) == ("blocked", False, "ended")


@each_workflow
def test_a_moved_project_takes_its_run_along_and_a_copied_one_does_not(shell: Shell, flow: Workflow) -> None:
    import shutil

    flow.begin(shell)
    original = shell.project
    copy = original.parent / "copy"
    shutil.copytree(original, copy, symlinks=True)
    shell.root = copy
    refused = shell.agent(*flow.work)
    assert (refused.code, "belongs to" in refused.err) == (3, True), refused.err
    shutil.rmtree(original)
    assert shell.agent(*flow.work).code == 0
    assert shell.agent("ledger", "verify").code == 0


def begin_goal(shell: Shell) -> None:
    goal = {"id": "G1", "title": "done.txt", "verification": {"checks": [{"type": "path", "path": "done.txt"}]}}
    shell.write("goal.json", json.dumps(goal))
    assert shell.agent("verify", "add", "--file", "goal.json").code == 0
    assert shell.agent("verify", "begin", "G1").code == 0


def test_the_next_conversation_is_held_to_the_goals_of_the_last(shell: Shell) -> None:
    begin_goal(shell)
    assert other(shell, "adopt")[0] == 3
    shell.now += 16 * 60
    code, told = other(shell, "adopt")
    assert (code, "verify G1" in told) == (0, True), told
    assert stop(shell) == f"omo: ended, not proven: session {OTHER} took verify G1 over."
    assert (stop_rule(shell), stop_rule(shell, OTHER)) == ("not-active", "block")


def test_a_session_gives_its_goals_up_in_plain_sight(shell: Shell) -> None:
    begin_goal(shell)
    assert shell.agent("state", "clear", "--mode", "verify").code == 3
    assert shell.agent("state", "clear", "--mode", "verify", "--force").code == 0
    summary = shell.row()["work"]["verify"]
    assert (summary["state"], summary["outcome"]["verdict"]) == ("blocked", "ended")
    assert shell.user("state", "clear", "--mode", "verify", "--session", SESSION).code == 0
    assert "verify" not in shell.row()["work"]


def test_all_that_a_session_left_is_taken_up_at_once(shell: Shell) -> None:
    begin_goal(shell)
    begin_ralph(shell)
    shell.now += 16 * 60
    code, told = other(shell, "adopt")
    assert (code, "ralph r" in told, "verify G1" in told) == (0, True, True), told
    assert {kind: summary["state"] for kind, summary in shell.row(OTHER)["work"].items()} == {
        "ralph": "active",
        "verify": "active",
    }
    assert re.fullmatch(r"omo: ended, not proven: .*ralph.* over; .*verify G1 over\.", stop(shell)) is not None
    assert stop_rule(shell) == "not-active"
