"""What the user types arms, whatever was before; and where it does not, one line says so."""

from __future__ import annotations

import errno
import os
import time
from typing import Any

import pytest

from omo import settings
from omo.state import runtime
from omo.work import outcome, session
from tests.hooks.conftest import SESSION, Host, put, summary

pytestmark = pytest.mark.usefixtures("laps")

IN_PROCESS = True  # but for what the launcher has to let through

Row = Any

CLAUDE = {"CLAUDECODE": "1"}
LIMITS = settings.Settings().limits
WORKFLOWS = {"ultragoal": "ultragoal", "ultraexecute": "ultraplan", "verify": "verify"}
each_workflow = pytest.mark.parametrize("name", WORKFLOWS)


@pytest.fixture(autouse=True)
def in_the_client(host: Host) -> None:
    host.environ |= CLAUDE


def change(host: Host, decide: Any) -> None:
    host.now = time.time()
    host.change_row(decide)


def begin(host: Host, kind: str) -> None:
    """As the workflow's own first command does."""
    change(host, lambda row: session.put_work(row, kind, summary(kind), limits=LIMITS, now=time.time()))


def exhaust(host: Host) -> None:
    change(host, lambda row: session.exhaust(row, rule="cap", why="8 blocks"))


def told(answer: Any) -> tuple[str, str]:
    """What the user and what the model read."""
    more = answer.json.get("hookSpecificOutput", {}) if answer.stdout.strip() else {}
    return answer.message, str(more.get("additionalContext", ""))


# A cancel, a breaker, a pause, an end


@each_workflow
def test_a_workflow_that_is_typed_after_a_cancel_is_held_once_it_is_begun(host: Host, name: str) -> None:
    host.prompt("/omo:stop-continuation")
    line, context = told(host.prompt(f"/omo:{name} make add right"))
    assert f"/omo:{name} takes your cancel back" in line
    assert f"types /omo:{name} now: that is wanted" in context
    begin(host, WORKFLOWS[name])
    assert host.stop().blocks


@pytest.mark.usefixtures("through_the_shell")
@each_workflow
def test_what_was_open_at_the_cancel_goes_on_and_is_named(host: Host, name: str) -> None:
    put(host, **{WORKFLOWS[name]: summary(WORKFLOWS[name])})
    host.prompt("/omo:stop-continuation")
    host.stop().assert_silent()
    line, context = told(host.prompt(f"/omo:{name} go on"))
    assert f"with /omo:{name}: {WORKFLOWS[name]} {WORKFLOWS[name]}-1 (2 of 3 open) goes on." in line
    assert "`omo next`" in context
    assert host.stop().blocks


def test_after_a_cancel_the_command_of_a_workflow_takes_up_that_one_alone(host: Host) -> None:
    put(host, ultragoal=summary("ultragoal"), laps=summary("laps", state="paused", why="w", question="", told=True))
    host.prompt("/omo:stop-continuation")
    line, context = told(host.prompt("/omo:ultraplan make add right"))
    assert "/omo:ultraplan takes your cancel back" in line
    assert "ultragoal" not in line + context
    begin(host, "ultraplan")
    reason = host.stop().json["reason"]
    assert ("ultraplan: 2 of 3 open" in reason, "ultragoal" in reason) == (True, False)
    assert "goes on" in told(host.prompt("continue ultragoal"))[0]
    assert "ultragoal: 2 of 3 open" in host.stop().json["reason"]


def test_after_a_cancel_the_word_with_another_task_takes_up_nothing_else(host: Host) -> None:
    put(host, ultragoal=summary("ultragoal"))
    host.prompt("/omo:stop-continuation")
    line, context = told(host.prompt("ulw mend add"))
    assert line.startswith("omo: ultrawork is on: ")
    assert "ultragoal" not in line + context + host.stop().json["reason"]
    assert "goes on" in told(host.prompt("continue ultragoal"))[0]
    assert "ultragoal: 2 of 3 open" in host.stop().json["reason"]


@pytest.mark.parametrize("typed", ["ulw", "ulw go on", "ulw mend add. then finish ultragoal"])
def test_after_a_cancel_the_word_takes_up_what_is_to_go_on(host: Host, typed: str) -> None:
    put(host, ultragoal=summary("ultragoal"))
    host.prompt("/omo:stop-continuation")
    assert "ultragoal ultragoal-1 (2 of 3 open) goes on" in told(host.prompt(typed))[0]


def test_after_a_cancel_what_a_breaker_had_let_go_stays_off_too(host: Host) -> None:
    begin(host, "ultragoal")
    exhaust(host)
    host.prompt("/omo:stop-continuation")
    assert "takes your cancel back" in host.prompt("/omo:laps make add right").message
    assert "/omo:laps, and nothing of it was begun" in host.stop().json["reason"]
    assert "ultragoal ultragoal-1 (2 of 3 open) goes on" in host.prompt("/omo:ultragoal go on").message


def test_what_a_breaker_let_go_and_the_user_stops_by_its_name_is_paused(host: Host) -> None:
    begin(host, "ultragoal")
    exhaust(host)
    assert "understood as a stop: ultragoal ultragoal-1 is paused" in told(host.prompt("stop ultragoal"))[0]
    assert told(host.prompt("ulw mend add"))[0].startswith("omo: ultrawork is on: ")
    assert "ultragoal" not in host.stop().json["reason"]
    assert "continue: ultragoal ultragoal-1 (2 of 3 open) goes on" in told(host.prompt("continue ultragoal"))[0]


def test_the_model_is_told_what_was_cancelled(host: Host) -> None:
    begin(host, "ultragoal")
    host.prompt("/omo:stop-continuation")
    assert "the user cancelled ultragoal: " in host.prompt("what now?").stdout
    host.prompt("/omo:ultragoal go on")
    begin(host, "laps")
    _, context = told(host.prompt("stop ulw and show me the diff"))
    assert "The user cancelled ultragoal and laps with this message" in context


def test_a_word_that_was_not_acted_on_is_answered_after_a_cancel_too(host: Host) -> None:
    host.prompt("ulw mend add")
    host.prompt("/omo:stop-continuation")
    line, context = told(host.prompt("what does ulw do?"))
    assert line.startswith("omo: ultrawork was not turned on: the sentence asks about it.")
    assert "the user cancelled ultrawork: " in context


def test_a_cancel_where_nothing_was_on_says_nothing_of_ultrawork(host: Host) -> None:
    host.prompt("/omo:stop-continuation")
    assert f"session {SESSION}: off, next stop let go" in host.user("status", "--all").out
    host.prompt("ulw fix it")
    ended = outcome.outcome(outcome.ATTESTED, "it is so")
    change(host, lambda row: session.finish(row, ended, at="2026-11-17T15:00:00.000Z", files={}))
    host.stop()
    host.prompt("/omo:stop-continuation")
    assert "ultrawork finished on the agent's word" in host.user("status", "--all").out


@each_workflow
@pytest.mark.parametrize("let_go", ["breaker", "stop", "stop by name"])
def test_a_breaker_or_a_pause_does_not_stand_in_its_way(host: Host, name: str, let_go: str) -> None:
    kind = WORKFLOWS[name]
    put(host, **{kind: summary(kind)})
    if let_go == "breaker":
        exhaust(host)
    else:
        host.prompt("stop" if let_go == "stop" else f"stop {kind}")
    assert not host.stop().blocks
    line, _ = told(host.prompt(f"/omo:{name} go on with the plan"))
    assert "goes on" in line
    assert host.row()["ulw"]["stopBlocks"] == 0
    assert host.stop().blocks


def test_after_a_spent_budget_continue_names_what_raises_it_and_its_command_counts_anew(host: Host) -> None:
    put(host, laps=summary("laps"))
    change(host, lambda row: {**row, "budget": {"agents": 1}, "spent": {"agents": 1}})
    change(host, lambda row: session.exhaust(row, rule="budget", why="spent"))
    assert "/omo:budget 2 agents raises it and goes on" in host.prompt("continue").message
    host.stop().assert_silent()
    host.prompt("/omo:laps go on")
    assert host.row()["spent"].get("agents", 0) == 0
    assert host.stop().blocks


def test_pinned_gates_are_counted_again_when_ultrawork_comes_after_it(host: Host) -> None:
    host.prompt("/omo:pin tests -- true")
    host.prompt("ulw fix it")
    host.prompt("/omo:stop-continuation")
    host.prompt("/omo:laps make it right")
    host.prompt("ulw fix it after all")
    assert host.row()["work"]["ulw"]["total"] == 1


def test_an_end_that_was_not_told_yet_is_told_all_the_same(host: Host) -> None:
    ended = {"verdict": "attested", "why": "all is said", "exceptions": []}
    put(host, verify=summary("verify", state="ended", outcome=ended))
    host.prompt("/omo:laps and now this")
    assert host.stop().blocks
    line = host.stop(stop_hook_active=True).message
    assert "laps is not begun yet" in line
    assert "all is said" in line


@pytest.mark.parametrize("state", ["active", "waiting", "paused", "ended"])
def test_what_there_is_makes_way_for_what_is_typed(host: Host, state: str) -> None:
    put(host, ultragoal=summary("ultragoal", state=state, why="w", question="", told=True, endedBy="cap"))
    line, _ = told(host.prompt("/omo:verify that it is so"))
    assert host.row()["work"]["ultragoal"]["state"] == "paused"
    assert ("ultragoal ultragoal-1 (2 of 3 open) is paused" in line) is (state != "paused")
    begin(host, "verify")
    assert "verify: 2 of 3 open" in host.stop().json["reason"]
    assert "ultragoal" not in host.stop(stop_hook_active=True).json["reason"]


def test_ultrawork_stays_on_beside_what_is_typed(host: Host) -> None:
    host.prompt("ulw fix it")
    host.prompt("/omo:laps make it right")
    begin(host, "laps")
    assert {kind: work["state"] for kind, work in host.row()["work"].items()} == {"ulw": "active", "laps": "active"}


@pytest.mark.usefixtures("through_the_shell")
@pytest.mark.parametrize("prompt", ["continue", "please go on", "weiter"])
def test_continue_goes_on_after_a_breaker(host: Host, prompt: str) -> None:
    put(host, ultragoal=summary("ultragoal"))
    exhaust(host)
    host.stop().assert_silent()
    assert "understood as continue: ultragoal ultragoal-1 (2 of 3 open) goes on" in host.prompt(prompt).message
    assert host.stop().blocks


def test_what_is_paused_is_shown_so_and_keeps_nothing_from_its_end(host: Host) -> None:
    begin(host, "laps")
    host.prompt("forget laps, ulw fix it")
    assert "ultrawork active, laps paused" in host.user("status").out
    assert "Beside it" not in host.agent("next").out
    because = ("--because", "the flag is documented in README.md, and nothing runs it")
    host.write("README.md")
    ran = host.agent("ulw", "done", *because)
    assert (ran.code, ran.err) == (0, "")
    line = host.stop().message
    assert ("finished on the agent's word" in line, "Paused: laps laps-1 (2 of 3 open)." in line) == (True, True)
    assert "laps paused" in host.user("status").out
    host.prompt("continue")
    assert host.stop().blocks


@each_workflow
def test_nobody_is_told_to_go_on_with_what_is_paused(host: Host, name: str) -> None:
    begin(host, WORKFLOWS[name])
    host.prompt("stop")
    going_on = '"continue" in the session sets it going'
    assert f"you asked to stop for now: {going_on}" in host.user("status").out
    said = host.agent("next").out
    assert "End the turn: only they set it going again." in said
    assert "$ omo" not in said
    host.prompt("/omo:stop-continuation")
    said = host.agent("next").out
    assert "Next, for the user: it stays off until you type ulw" in said
    assert "waits for the user" not in said


# Not begun, not on


@pytest.mark.usefixtures("through_the_shell")
@each_workflow
def test_a_turn_that_begins_nothing_of_it_is_sent_back_once_and_then_told(host: Host, name: str) -> None:
    host.prompt(f"/omo:{name} make add right").assert_silent()
    first = host.stop()
    assert first.blocks
    assert f"/omo:{name}, and nothing of it was begun. `omo next` names the command" in first.json["reason"]
    assert host.stop(stop_hook_active=True, last_assistant_message="Which one?").message == (
        f"omo: {name} is not begun yet, so nothing holds this session. Answer the agent, or type /omo:{name} again."
    )
    host.stop().assert_silent()


@pytest.mark.parametrize("words", ["stop", "never mind", "stop laps"])
def test_a_stop_before_anything_was_begun_calls_it_off(host: Host, words: str) -> None:
    host.prompt("/omo:laps make add right")
    line, context = told(host.prompt(words))
    assert (
        line
        == "omo: understood as a stop: nothing of laps was begun, and nothing will be. /omo:laps asks for it again."
    )
    assert "do nothing for /omo:laps" in context
    host.stop().assert_silent()
    assert "Nothing is on in this session." in host.agent("next").out
    assert "/omo:laps, and" not in host.agent("next").out
    host.prompt("/omo:laps make add right")
    assert host.stop().blocks


def test_a_stop_of_what_is_not_begun_leaves_the_rest_on(host: Host) -> None:
    host.prompt("ulw fix it")
    host.prompt("/omo:laps make add right")
    assert "nothing of laps was begun" in host.prompt("stop laps").message
    assert host.stop().json["reason"].startswith("Ultrawork active")
    host.prompt("/omo:laps make add right")
    assert "ultrawork is paused" in host.prompt("stop").message
    host.stop().assert_silent()


def test_what_is_asked_for_beside_other_work_is_not_forgotten(host: Host) -> None:
    host.prompt("ulw fix it")
    host.prompt("/omo:laps make add right")
    beside = 'Beside it, the user typed /omo:laps "make add right", and nothing of it was begun: omo laps start'
    assert beside in host.agent("next").out
    ended = outcome.outcome(outcome.ATTESTED, "it is so")
    change(host, lambda row: session.finish(row, ended, at="2026-11-17T15:00:00.000Z", files={}))
    assert "/omo:laps, and nothing of it was begun" in host.stop().json["reason"]
    line = host.stop(stop_hook_active=True, last_assistant_message="Which one?").message
    assert "laps is not begun yet" in line
    assert "finished on the agent's word: it is so" in line
    host.prompt("thanks")
    host.stop().assert_silent()


def test_what_is_asked_for_is_not_forgotten_beside_what_was_cancelled(host: Host) -> None:
    begin(host, "ultragoal")
    host.prompt("/omo:stop-continuation")
    host.prompt("/omo:verify that add is right")
    assert "/omo:verify, and nothing of it was begun" in host.stop().json["reason"]


def test_what_is_begun_is_not_called_unbegun(host: Host) -> None:
    host.prompt("/omo:laps make add right")
    begin(host, "laps")
    assert host.stop().blocks
    host.prompt("/omo:stop-continuation")
    host.stop().assert_silent()


NO_PLAN = "no plan has gone to the critic"


@pytest.mark.usefixtures("through_the_shell")
def test_a_turn_of_which_no_plan_has_gone_to_the_critic_is_sent_back_once_and_then_told(host: Host) -> None:
    host.prompt("/omo:ultraplan the parts").assert_silent()
    assert f"/omo:ultraplan, and {NO_PLAN}. `omo next` names the command" in host.stop().json["reason"]
    assert NO_PLAN in host.agent("next").out
    assert host.stop(stop_hook_active=True, last_assistant_message="Which parts?").message == (
        f"omo: {NO_PLAN} yet, so nothing holds this session. Answer the agent, or type /omo:ultraplan again."
    )
    host.stop().assert_silent()
    host.prompt("/omo:ultraplan the parts")
    line = host.prompt("never mind").message
    assert line == f"omo: understood as a stop: {NO_PLAN}. /omo:ultraplan asks for it again."
    host.stop().assert_silent()


def test_what_else_was_typed_with_the_cancel_is_passed_on(host: Host) -> None:
    host.prompt("ulw fix it")
    answer = host.prompt("/omo:stop-continuation and then explain what mean() does")
    assert not answer.blocks
    line, context = told(answer)
    assert line.startswith("omo: ultrawork is off.")
    assert "Do only what else the message asks" in context
    host.stop().assert_silent()
    assert "Do what else the message asks" in told(host.prompt("/omo:stop-continuation and explain it"))[1]


@pytest.mark.usefixtures("through_the_shell")
@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        ("please use ultragoal: create-goals for A and B", "ultragoal"),
        ("do it with ultraplan", "ultraplan"),
        ("what does ultragoal do?", ""),
        ("don't use ultragoal here", ""),
        ("fix the bug in src/ultragoal/run.py", ""),
    ],
)
def test_a_workflow_that_is_asked_for_in_words_is_not_on_and_that_is_said(host: Host, prompt: str, name: str) -> None:
    expected = f"omo: {name} is not on: its command begins it, /omo:{name} and then what you want."
    assert host.prompt(prompt).message == (expected if name else "")


def test_who_speaks_of_the_workflow_that_is_open_is_told_nothing(host: Host) -> None:
    put(host, ultragoal=summary("ultragoal"))
    host.prompt("now do the second one of the ultragoal")
    host.prompt("go ahead with ultragoal G002, using the new parser").assert_silent()


@each_workflow
def test_where_the_state_cannot_be_written_that_is_said(host: Host, name: str) -> None:
    (host.project / ".sisyphus").write_text("a file is in the way\n")
    line, context = told(host.prompt(f"/omo:{name} make add right"))
    assert f"omo: {name} could not be turned on: " in line
    assert "could not be turned on" in context


def test_a_full_disk_is_told_to_whoever_types_a_workflow(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    host.prompt("ulw fix it")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert "laps could not be turned on" in host.prompt("/omo:laps it").message
    monkeypatch.undo()
    assert host.stop().blocks
    monkeypatch.setattr(os, "replace", full)
    cancel = host.prompt("/omo:stop-continuation").json["reason"]
    assert "No space left on device. Free some space on that disk, and type it again, or start" in cancel


# Agents are seen


@pytest.mark.usefixtures("through_the_shell")
@pytest.mark.parametrize("let_go", ["cancel", "breaker"])
def test_who_reviews_open_work_is_seen_whether_it_is_held_or_not(host: Host, let_go: str) -> None:
    put(host, ultragoal=summary("ultragoal"))
    if let_go == "cancel":
        host.prompt("/omo:stop-continuation")
        host.prompt("just tell me about it")
    else:
        exhaust(host)
    host.agent_ends("omo:architect", "CLEAR")
    seen = host.events(SESSION)[-1]
    assert (seen["kind"], seen["agentType"], seen["message"]) == ("agent-finished", "omo:architect", "CLEAR")
    assert runtime.session(host.state, SESSION) is not None


def test_a_run_that_the_agent_begins_after_a_breaker_is_held_by_nothing(host: Host) -> None:
    begin(host, "ultragoal")
    exhaust(host)
    for left in (2, 1):
        told_anew = summary("laps", open=left)
        change(host, lambda row, told=told_anew: session.put_work(row, "laps", told, limits=LIMITS, now=time.time()))
    assert host.row()["work"]["ultragoal"]["endedBy"] == "cap"
    assert not host.row()["ulw"]["enabled"]
