"""A plan of goals that outlives a usage limit, an overloaded server, a killed client and /clear."""

from __future__ import annotations

import os
import threading

import pytest

from tests.e2e.client import Terminal
from tests.e2e.conftest import EIGHT_BLOCKS, Stage, wait_until
from tests.e2e.scripted_model import bash, call, fail, say
from tests.e2e.test_interactive import ask, interrupt, shows
from tests.e2e.test_ultragoal import checkpoint, plan, rows, started

pytestmark = pytest.mark.client

OVERLOADED = fail(529, "overloaded_error", "Overloaded")
LIMIT = fail(429, "rate_limit_error", "You've hit your session limit · resets 3pm", x_should_retry="false")


def open_client(stage: Stage) -> Terminal:
    return stage.open("--allowedTools", "Bash", "Agent", env={**EIGHT_BLOCKS, "CLAUDE_CODE_MAX_RETRIES": "1"})


def holders(stage: Stage) -> list[str]:
    """The sessions that hold the plan."""
    sessions = []
    for session in stage.sessions:
        if "run" in stage.row(session)["work"].get("ultragoal", {}):
            sessions.append(session)
    return sessions


def test_a_plan_is_taken_up_again_after_a_limit_an_overload_a_clear_and_a_kill(stage: Stage) -> None:
    at_work, at_work_again = threading.Event(), threading.Event()
    stage.model.script(
        *started(stage),
        LIMIT,
        checkpoint(stage, "G001"),
        *[OVERLOADED] * 2,  # once more than the client tries again
        bash("true"),
        say("On with the second goal.").held_by(at_work),  # cleared
        checkpoint(stage, "G002"),
        say("On with the third goal.").held_by(at_work_again),  # the client is killed
        checkpoint(stage, "G003"),
        bash("omo goal complete"),
        say("Everything is shown."),
    )
    terminal = open_client(stage)
    terminal.submit("work through the brief")
    shows(terminal, "You've hit your session limit")
    terminal.submit("go on")
    shows(terminal, "Overloaded")
    (first,) = holders(stage)
    terminal.submit("and again")
    stage.model.wait_for_turns(8)
    interrupt(terminal, at_work)
    terminal.submit("/clear")
    # The client takes it in; on a busy machine it does not always paint it.
    wait_until(lambda: '"hook_system_message","content":"omo: left open in another ' in stage.transcript())
    offer = "(2 of 3 open). /omo:resume takes it up; to let it go, in a terminal: omo stop-continuation"
    assert offer in stage.transcript()
    terminal.submit("/omo:resume")
    stage.model.wait_for_turns(10)
    (second,) = holders(stage)
    terminal.kill()

    terminal = open_client(stage)
    shows(terminal, "(1 of 3 open). /omo:resume takes it up")
    terminal.submit("/omo:resume")
    shows(terminal, "Everything is shown.")
    shows(terminal, "omo: finished on the agent's word")

    assert stage.model.overruns == 0
    assert len({first, second, *stage.sessions}) == 3
    (third,) = [session for session in stage.sessions if session not in (first, second)]
    assert stage.times_told("[omo] The user typed /omo:resume")[-1] == 1
    goals = plan(stage, first)["goals"]  # a plan stays where it was begun
    assert [goal["status"] for goal in goals] == ["complete"] * 3
    adopted = [(row["from"], row["session"]) for row in rows(stage, first) if row["kind"] == "adopted"]
    assert adopted == [(first, second), (second, third)]
    assert stage.kinds(third)[-1] == "allowed:done"


def test_an_end_of_which_the_client_did_not_live_to_tell_is_told_to_the_next_conversation(stage: Stage) -> None:
    """Killed in the call that has called it done: no Stop came."""
    stage.model.script(bash("echo done > done.txt && omo ulw done --because 'it is written' && sleep 600"))
    terminal = stage.open()
    terminal.submit("ulw write done.txt")
    wait_until(lambda: stage.sessions and stage.work(next(iter(stage.sessions)))["state"] == "ended")
    terminal.kill()

    told = "finished on the agent's word"
    second = stage.open()
    shows(second, f"SessionStart:startup says: omo: {told}: no gate was pinned")
    shows(second, "That was in another conversation, just now; in a terminal omo report --session")
    third = stage.open()
    ask(stage, third, "and now?", "Nothing.")
    assert told not in third.scrollback()


def test_an_end_in_a_turn_that_esc_has_ended_is_told_beside_the_next_prompt(stage: Stage) -> None:
    stage.model.script(bash("omo ulw done --because 'nothing to do'"), call("Bash", command="sleep 600"))
    terminal = stage.open()
    terminal.submit("ulw look for something to do")
    wait_until(lambda: stage.sessions and stage.work(next(iter(stage.sessions)))["state"] == "ended")
    stage.model.wait_for_turns(2)
    terminal.key("Escape")
    terminal.wait_for("Interrupted")
    ask(stage, terminal, "and now?", "Nothing.")
    shows(terminal, "UserPromptSubmit says: omo: finished on the agent's word: no gate was pinned")
    ask(stage, terminal, "really?", "Nothing at all.")
    assert terminal.scrollback().count("finished on the agent's word") == 1


def test_an_end_that_came_in_the_background_is_told_by_the_stop_of_the_turn_that_it_wakes(stage: Stage) -> None:
    """On the files as they are then: the host's notice is no prompt of the user's."""
    os.mkfifo(stage.home / "go")
    ends = f"read go <'{stage.home / 'go'}'; echo done > done.txt; omo ulw done --because 'it is written'"
    stage.model.script(
        call("Bash", command=ends, run_in_background=True),
        say("It is under way."),
        bash("echo more >> done.txt"),
        say("I have added a line."),
        bash("omo ulw done --because 'it is written whole'"),
        say("That is all."),
    )
    terminal = stage.open(env=EIGHT_BLOCKS)
    terminal.submit("ulw write done.txt")
    wait_until(lambda: stage.sessions and "allowed:background-shell" in stage.kinds(stage.sessions[0]))
    (stage.home / "go").write_text("now\n", "utf-8")
    shows(terminal, "done.txt; the agent says: “it is written whole”")
    assert "says: “it is written”" not in terminal.scrollback()
    assert "reopened" in stage.kinds(stage.sessions[0])


def test_the_next_day_a_ulw_alone_goes_on_with_what_was_left_open(stage: Stage) -> None:
    stage.model.script(bash("true"), say("On with it.").held_by(threading.Event()))
    terminal = stage.open()
    terminal.submit("ulw write done.txt")
    stage.model.wait_for_turns(2)
    terminal.kill()
    stage.model.script(bash("echo done > done.txt && omo ulw done --because 'it is written'"), say("Written."))
    terminal = stage.open(env=EIGHT_BLOCKS)
    terminal.submit("ulw")
    shows(terminal, "omo: taken up from session")
    shows(terminal, "done.txt; the agent says: “it is written”")
    assert stage.times_told('The user\'s own words, for ultrawork: "ulw write done.txt".')[-1] == 1
    assert stage.model.overruns == 0
