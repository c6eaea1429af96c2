"""Whose Stop it is: two sessions in one project, subagents, background tasks, and sessions that come back."""

from __future__ import annotations

import pytest

from omo.digest import sha256
from tests.e2e.conftest import Stage, wait_until
from tests.e2e.scripted_model import Request, ScriptedModel, Turn, call, say, text_of, texts_of, told

pytestmark = pytest.mark.client

STILL_ON = "[omo] Ultrawork is still on in this session"
SCOUT = {"description": "scout", "prompt": "find the door", "subagent_type": "omo:explorer"}
FOUND = "The door is on the left, näher am Fenster."


def shell_until(rule: str, times: int) -> Turn:
    """A background shell that ends once the session's ledger holds so many rows of a rule."""
    count = f"""cat .sisyphus/cc-omo/sessions/*/events.jsonl | grep -c '"rule":"{rule}"'"""
    command = f'until [ "$({count})" -ge {times} ]; do sleep 0.05; done'
    return call("Bash", command=command, description=f"{rule} {times}", run_in_background=True)


def test_another_session_of_the_project_is_not_held(stage: Stage) -> None:
    """Session B begins, works and ends while A is in the middle of its own turn."""
    seen = []

    def meanwhile(request: Request) -> Turn:
        (owner,) = stage.sessions
        before = stage.row(owner)
        with ScriptedModel(call("Bash", command="omo ulw status"), say("B is through.")) as other:
            stage.prompt("what is in the README?", model=other)
            seen.append((other.overruns, text_of(other.turns[-1]["messages"][-1]["content"])))
        assert (stage.row(owner), stage.sessions) == (before, [owner])
        return say("A stops early.")

    stage.model.script(meanwhile, say("A again."))
    run = stage.prompt("ulw fix the flaky tests")
    ((overruns, status),) = seen
    assert overruns == 0
    assert "(this session): off" in status
    assert stage.kinds(run.session_id) == ["activated:leading", "blocked:block", "allowed:cap"]


def test_a_leaf_is_given_no_tool_that_writes_is_not_held_and_what_it_said_is_recorded(stage: Stage) -> None:
    """Neither at once nor to be fetched later."""
    for leaf in ("explorer", "librarian"):
        stage.model.script(call("Agent", **{**SCOUT, "subagent_type": f"omo:{leaf}"}, run_in_background=False))
    stage.model.script(say("Thanks."))
    reads = call("Read", file_path=str(stage.project / "README.md"))
    stage.model.agent(told("find the door"), say(FOUND), say(FOUND), reads, say(FOUND))
    talk = stage.talk()
    talk.prompt("where is the door?")
    assert len(stage.model.agent_turns) == 2
    for turn in stage.model.agent_turns:
        assert "You are a leaf worker" in text_of(turn["system"])
        offered = {tool["name"] for tool in turn["tools"]}
        listed = " ".join(texts_of(turn)).partition("deferred tools are now available")[2].partition("# Environment")[0]
        offered |= set(listed.split())
        assert "Read" in offered
        assert not offered & {
            "Agent",
            "Task",
            "Bash",
            "Write",
            "Edit",
            "MultiEdit",
            "NotebookEdit",
            "Skill",
            "Workflow",
        }

    stage.model.script(call("Agent", **SCOUT, run_in_background=False), say("Thanks."), say("Thanks again."))
    session = talk.prompt("ulw find the door").session_id
    assert (len(stage.model.agent_turns), stage.model.overruns) == (4, 0)
    assert FOUND in stage.tool_results()[-1]
    assert stage.kinds(session) == ["activated:leading", "agent-finished", "blocked:block", "allowed:cap"]
    finished = stage.events(session)[1]
    assert (finished["agentType"], finished["message"], finished["cut"]) == ("omo:explorer", FOUND, False)
    assert finished["digest"] == sha256(FOUND.encode())


def test_a_background_agent_excuses_a_stop(stage: Stage) -> None:
    def once_excused(request: Request) -> Turn:
        (session,) = stage.sessions
        wait_until(lambda: "allowed:background-agent" in stage.kinds(session))
        return say(FOUND)

    stage.model.script(call("Agent", **SCOUT, run_in_background=True), say("I wait."), say("Thanks."), say("Done."))
    stage.model.agent(told("find the door"), once_excused)
    run = stage.prompt("ulw find the door")
    assert stage.model.overruns == 0
    assert stage.kinds(run.session_id) == [
        "activated:leading",
        "allowed:background-agent",
        "agent-finished",
        "blocked:block",
        "allowed:cap",
    ]
    assert (stage.events(run.session_id)[1]["after"]["ulw"]["totalBlocks"], stage.blocks(run.session_id)) == (0, 1)


def test_background_shells_excuse_two_stops_in_a_row(stage: Stage) -> None:
    stage.model.script(
        shell_until("background-shell", 1) + shell_until("background-shell", 2) + shell_until("block", 1),
        say("I wait."),
        say("I still wait."),
        say("And still."),
        say("All are through."),
    )
    run = stage.prompt("ulw start the servers")
    assert stage.kinds(run.session_id)[:4] == [
        "activated:leading",
        "allowed:background-shell",
        "allowed:background-shell",
        "blocked:block",
    ]
    assert stage.times_told("Block 1 of 1.")[-1] > 0


def test_a_resumed_session_is_told_where_things_stand(stage: Stage) -> None:
    """Neither another run in the project nor a fork of its own conversation has changed that."""
    talk = stage.left_active()
    session = talk.session_id
    talk.leave()
    before = stage.row(session)
    second = stage.prompt("ulw write the docs", env={"OMO_MAX_STOP_BLOCKS": "2"}).session_id
    assert (stage.blocks(second), stage.work(second)["state"]) == (2, "ended")
    stage.model.script(say("I am another."))
    fork = stage.prompt("how far are you?", resume=session, args=["--fork-session"])
    assert (fork.result, fork.session_id in stage.sessions) == ("I am another.", False)
    assert stage.row(session) == before

    asked = len(stage.model.turns)
    stage.model.script(say("Still at it."), say("Yes."))
    run = stage.prompt("how far are you?", resume=session)
    assert stage.times_told(STILL_ON)[asked:] == [1, 1]
    (told_on_start,) = [event["stdout"] for event in run.hook_events if event["hook_event"] == "SessionStart"]
    assert len(told_on_start) <= 300 * 3, "300 tokens, of three letters at least"
    assert stage.kinds(session)[2:] == ["blocked:quote-message", "allowed:message-quoted"]
