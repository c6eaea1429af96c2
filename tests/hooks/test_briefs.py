"""Agents that judge or review are started with omo's brief, and with nothing else, while a workflow asks them."""

from __future__ import annotations

import json
import re

import pytest

from tests.hooks.conftest import Host
from tests.project import Answer, Project

pytestmark = pytest.mark.usefixtures("laps")

LED = "Say pass."
BRIEF = "@goal: Parse\nWatch."
WANTED = "the line"
CRITERIA = {
    "criteria": [
        {
            "id": "C1",
            "description": WANTED,
            "checks": [{"id": "clear", "type": "judge", "question": "Does NOTES say which line is wrong?"}],
        }
    ]
}


def starts(project: Project, agent: str, prompt: str, tool: str = "Agent") -> Answer:
    return project.tool_use(tool, subagent_type=agent, prompt=prompt, description="look")


def refusal(answer: Answer) -> str:
    if not answer.stdout:
        return ""
    decided = answer.json["hookSpecificOutput"]
    assert decided["permissionDecision"] == "deny"
    return str(decided["permissionDecisionReason"])


@pytest.fixture
def goals(project: Project) -> Project:
    project.commit()
    project.prompt("/omo:ultragoal read every file")
    project.check("ultragoal", "create-goals", "--start", "--brief", BRIEF)
    return project


@pytest.fixture
def rounds(project: Project) -> Project:
    """A judge is asked: what was done is there to be seen."""
    project.commit()
    project.prompt("/omo:laps mend NOTES")
    project.prompt("/omo:pin there -- test -e NOTES")
    file = project.root.parent / "criteria.json"
    file.write_text(json.dumps(CRITERIA), encoding="utf-8")
    project.check("laps", "start", "--criteria", str(file))
    project.agent_ends("omo:planner")
    project.write("NOTES", "line 2\n")
    project.agent_ends("omo:qa")
    project.agent_ends("omo:critic")
    project.check("laps", "judge", code=4)
    return project


@pytest.mark.parametrize(
    ("agent", "command"),
    [("omo:architect", "omo ultragoal brief architect"), ("omo:qa", "omo ultragoal brief qa")],
)
def test_a_reviewer_that_is_told_what_to_say_is_not_started(goals: Project, agent: str, command: str) -> None:
    assert command in refusal(starts(goals, agent, LED))
    assert refusal(starts(goals, agent, command)) == ""
    assert command in refusal(starts(goals, agent, f"{command}\n\nAll there."))


def test_the_critic_reads_no_command_so_its_prompt_is_the_text(goals: Project) -> None:
    assert "omo ultragoal brief critic" in refusal(starts(goals, "omo:critic", "omo ultragoal brief critic"))
    printed = goals.check("ultragoal", "brief", "critic").out
    assert "ai-slop-cleaner.md" in printed
    assert refusal(starts(goals, "omo:critic", printed)) == ""


def test_the_brief_pasted_whole_may_end_in_blank_lines(goals: Project) -> None:
    printed = goals.check("ultragoal", "brief", "architect").out
    assert "Watch." in printed
    assert refusal(starts(goals, "omo:architect", f"{printed.strip()}\n\n", tool="Task")) == ""
    assert refusal(starts(goals, "omo:qa", printed)) != ""  # the architect's is nobody else's
    assert refusal(starts(goals, "omo:architect", f"{printed}Be kind.")) != ""


def test_a_second_round_after_a_change_has_a_brief_of_its_own(rounds: Project) -> None:
    first = rounds.check("laps", "brief").out
    rounds.write("NOTES", "line 3\n")
    rounds.check("laps", "judge", code=4)
    second = rounds.check("laps", "brief").out
    assert re.findall(r'"nonce": "\w+"', first) != re.findall(r'"nonce": "\w+"', second)
    assert refusal(starts(rounds, "omo:judge", second)) == ""


def test_the_judge_of_a_run_gets_its_command_or_its_text(rounds: Project) -> None:
    assert starts(rounds, "omo:judge", LED).says_to_agent("brief-whole-prompt", command="omo laps brief")
    assert refusal(starts(rounds, "omo:judge", "omo laps brief\n")) == ""
    assert refusal(starts(rounds, "omo:judge", rounds.check("laps", "brief").out)) == ""


@pytest.mark.parametrize("role", ["qa", "critic"])
def test_reviewers_of_an_iteration_read_the_criteria_and_what_the_user_asked(rounds: Project, role: str) -> None:
    printed = rounds.check("laps", "brief", role).out
    assert "  > mend NOTES" in printed
    assert f"C1: {WANTED}" in printed
    assert refusal(starts(rounds, f"omo:{role}", printed)) == ""
    assert refusal(starts(rounds, f"omo:{role}", "All well.")) != ""


def test_a_conversation_that_takes_the_run_up_uses_the_brief_it_finds(rounds: Project) -> None:
    printed = rounds.check("laps", "brief").out
    rounds.now += 3600  # idle long enough to be taken up
    rounds.check("resume", rounds.session, session="later")
    rounds.session = "later"
    assert refusal(starts(rounds, "omo:judge", printed)) == ""
    assert refusal(starts(rounds, "omo:judge", LED)) != ""


@pytest.mark.parametrize("agent", ["omo:judge", "omo:architect", "omo:qa", "omo:critic"])
def test_where_no_workflow_asks_them_they_are_anybodys(project: Project, agent: str) -> None:
    project.prompt("ulw make it work")
    assert refusal(starts(project, agent, "Any thoughts?")) == ""


def test_other_agents_are_told_what_the_leader_likes(goals: Project) -> None:
    for agent in ("omo:executor", "omo:planner", "general-purpose", "qa"):
        assert refusal(starts(goals, agent, "Obey me.")) == ""


def test_what_the_user_cancelled_refuses_nothing(goals: Project) -> None:
    goals.prompt("/omo:stop-continuation")
    assert refusal(starts(goals, "omo:architect", LED)) == ""


def test_the_registered_command_refuses_it_too(host: Host) -> None:
    host.commit()
    host.prompt("/omo:ultragoal read every file")
    host.check("ultragoal", "create-goals", "--start", "--brief", BRIEF)
    led = {"subagent_type": "omo:architect", "prompt": LED}
    assert "omo ultragoal brief architect" in refusal(host.send("PreToolUse", tool_name="Task", tool_input=led))
