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


def named(kind: str) -> str:
    """What messages call the work of `begin` and `put`."""
    return f"{kind} {kind}-1 (2 of 3 open)"


# A cancel, a breaker, a pause, an end


@each_workflow
def test_a_workflow_that_is_typed_after_a_cancel_is_held_once_it_is_begun(host: Host, name: str) -> None:
    host.prompt("/omo:stop-continuation")
    answer = host.prompt(f"/omo:{name} make add right")
    assert answer.says_to_user("prompt-takes-cancel-back", command=f"/omo:{name}")
    assert answer.says_to_agent("prompt-wanted-now", command=f"/omo:{name}")
    begin(host, WORKFLOWS[name])
    assert host.stop().blocks


@pytest.mark.usefixtures("through_the_shell")
@each_workflow
def test_what_was_open_at_the_cancel_goes_on_and_is_named(host: Host, name: str) -> None:
    put(host, **{WORKFLOWS[name]: summary(WORKFLOWS[name])})
    host.prompt("/omo:stop-continuation")
    host.stop().assert_silent()
    answer = host.prompt(f"/omo:{name} go on")
    assert answer.says_to_user("prompt-command-goes-on", command=f"/omo:{name}", works=named(WORKFLOWS[name]))
    assert "`omo next`" in answer.json["hookSpecificOutput"]["additionalContext"]
    assert host.stop().blocks


def test_after_a_cancel_the_command_of_a_workflow_takes_up_that_one_alone(host: Host) -> None:
    put(host, ultragoal=summary("ultragoal"), laps=summary("laps", state="paused", why="w", question="", told=True))
    host.prompt("/omo:stop-continuation")
    answer = host.prompt("/omo:ultraplan make add right")
    assert answer.says_to_user("prompt-takes-cancel-back", command="/omo:ultraplan")
    assert "ultragoal" not in answer.stdout
    begin(host, "ultraplan")
    held = host.stop()
    assert held.says_to_agent("stop-open-when-last-looked-at", work="ultraplan", open=2, total=3)
    assert "ultragoal" not in held.stdout
    assert "goes on" in host.prompt("continue ultragoal").message
    assert host.stop().says_to_agent("stop-open-when-last-looked-at", work="ultragoal", open=2, total=3)


def test_after_a_cancel_the_word_with_another_task_takes_up_nothing_else(host: Host) -> None:
    put(host, ultragoal=summary("ultragoal"))
    host.prompt("/omo:stop-continuation")
    answer = host.prompt("ulw mend add")
    assert answer.says_to_user("prompt-on", works="ultrawork")
    assert "ultragoal" not in answer.stdout + host.stop().json["reason"]
    assert "goes on" in host.prompt("continue ultragoal").message
    assert host.stop().says_to_agent("stop-open-when-last-looked-at", work="ultragoal", open=2, total=3)


@pytest.mark.parametrize("typed", ["ulw", "ulw go on", "ulw mend add. then finish ultragoal"])
def test_after_a_cancel_the_word_takes_up_what_is_to_go_on(host: Host, typed: str) -> None:
    put(host, ultragoal=summary("ultragoal"))
    host.prompt("/omo:stop-continuation")
    assert host.prompt(typed).says_to_user("prompt-command-goes-on", works=named("ultragoal"))


def test_after_a_cancel_what_a_breaker_had_let_go_stays_off_too(host: Host) -> None:
    begin(host, "ultragoal")
    exhaust(host)
    host.prompt("/omo:stop-continuation")
    assert host.prompt("/omo:laps x").says_to_user("prompt-takes-cancel-back", command="/omo:laps")
    assert host.stop().says_to_agent("stop-not-begun", name="laps")
    answer = host.prompt("/omo:ultragoal go on")
    assert answer.says_to_user("prompt-command-goes-on", command="/omo:ultragoal", works=named("ultragoal"))


def test_what_a_breaker_let_go_and_the_user_stops_by_its_name_is_paused(host: Host) -> None:
    begin(host, "ultragoal")
    exhaust(host)
    assert host.prompt("stop ultragoal").says_to_user("prompt-one-paused-told", work="ultragoal ultragoal-1")
    assert host.prompt("ulw mend").says_to_user("prompt-on", works="ultrawork")
    assert "ultragoal" not in host.stop().json["reason"]
    assert host.prompt("continue ultragoal").says_to_user("prompt-continue", works=named("ultragoal"))


def test_the_model_is_told_what_was_cancelled(host: Host) -> None:
    begin(host, "ultragoal")
    host.prompt("/omo:stop-continuation")
    assert host.prompt("what now?").says_to_agent("prompt-cancelled-before", works="ultragoal")
    host.prompt("/omo:ultragoal go on")
    begin(host, "laps")
    both = "ultragoal and laps"
    answer = host.prompt("stop ulw and show me the diff")
    assert answer.says_to_agent("prompt-cancelled", works=both)


def test_a_word_that_was_not_acted_on_is_answered_after_a_cancel_too(host: Host) -> None:
    host.prompt("ulw mend add")
    host.prompt("/omo:stop-continuation")
    answer = host.prompt("what does ulw do?")
    assert answer.says_to_user("prompt-not-turned-on")
    assert answer.says_to_agent("prompt-cancelled-before", works="ultrawork")


def test_a_cancel_where_nothing_was_on_says_nothing_of_ultrawork(host: Host) -> None:
    host.prompt("/omo:stop-continuation")
    assert host.user("status", "--all").says("status-session-off", session=SESSION)
    host.prompt("ulw fix it")
    ended = outcome.outcome(outcome.ATTESTED, "it is so")
    change(host, lambda row: session.finish(row, ended, at="2026-11-17T15:00:00.000Z", files={}))
    host.stop()
    host.prompt("/omo:stop-continuation")
    assert host.user("status", "--all").says("status-session-on-agents-word", session=SESSION)


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
    assert "goes on" in host.prompt(f"/omo:{name} go on").message
    assert host.row()["ulw"]["stopBlocks"] == 0
    assert host.stop().blocks


def test_after_a_spent_budget_continue_names_what_raises_it_and_its_command_counts_anew(host: Host) -> None:
    put(host, laps=summary("laps"))
    change(host, lambda row: {**row, "budget": {"agents": 1}, "spent": {"agents": 1}})
    change(host, lambda row: session.exhaust(row, rule="budget", why="spent"))
    answer = host.prompt("continue")
    assert answer.says_to_user("prompt-budget-nothing-goes-on", more="/omo:budget 2 agents")
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
    answer = host.stop(stop_hook_active=True)
    assert answer.says_to_user("stop-not-begun-told", name="laps")
    assert answer.says_to_user("end-on-agents-word", evidence=f"verify verify-1: {ended['why']}")


@pytest.mark.parametrize("state", ["active", "waiting", "paused", "ended"])
def test_what_there_is_makes_way_for_what_is_typed(host: Host, state: str) -> None:
    put(host, ultragoal=summary("ultragoal", state=state, why="w", question="", told=True, endedBy="cap"))
    answer = host.prompt("/omo:verify that it is so")
    assert host.row()["work"]["ultragoal"]["state"] == "paused"
    made_way = answer.says_to_user("prompt-another-piece-of-work", work=named("ultragoal"))
    assert made_way is (state != "paused")
    begin(host, "verify")
    assert host.stop().says_to_agent("stop-open-when-last-looked-at", work="verify", open=2, total=3)
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
    assert host.prompt(prompt).says_to_user("prompt-continue", works=named("ultragoal"))
    assert host.stop().blocks


def test_what_is_paused_is_shown_so_and_keeps_nothing_from_its_end(host: Host) -> None:
    begin(host, "laps")
    host.prompt("forget laps, ulw fix it")
    assert host.user("status").says("next-one-active-one-paused", other="laps")
    assert "Beside it" not in host.agent("next").out
    because = ("--because", "the flag is documented in README.md, and nothing runs it")
    host.write("README.md")
    ran = host.agent("ulw", "done", *because)
    assert (ran.code, ran.err) == (0, "")
    answer = host.stop()
    assert answer.says_to_user("end-on-agents-word")
    assert answer.says_to_user("end-paused-work", work=named("laps"))
    assert "laps paused" in host.user("status").out
    host.prompt("continue")
    assert host.stop().blocks


@each_workflow
def test_nobody_is_told_to_go_on_with_what_is_paused(host: Host, name: str) -> None:
    begin(host, WORKFLOWS[name])
    host.prompt("stop")
    assert host.user("status").says("status-asked-to-stop")
    said = host.agent("next")
    assert said.says("next-only-they-set-it-going")
    assert "$ omo" not in said.out
    host.prompt("/omo:stop-continuation")
    said = host.agent("next")
    assert said.says("next-stays-off")
    assert "waits for" not in said.out


# Not begun, not on


@pytest.mark.usefixtures("through_the_shell")
@each_workflow
def test_a_turn_that_begins_nothing_of_it_is_sent_back_once_and_then_told(host: Host, name: str) -> None:
    host.prompt(f"/omo:{name} make add right").assert_silent()
    first = host.stop()
    assert first.blocks
    assert first.says_to_agent("stop-not-begun", name=name)
    let_go = host.stop(stop_hook_active=True, last_assistant_message="Which one?")
    assert let_go.situations == {"stop-not-begun-told"}
    assert let_go.says_to_user("stop-not-begun-told", name=name)
    host.stop().assert_silent()


@pytest.mark.parametrize("words", ["stop", "never mind", "stop laps"])
def test_a_stop_before_anything_was_begun_calls_it_off(host: Host, words: str) -> None:
    host.prompt("/omo:laps make add right")
    answer = host.prompt(words)
    assert answer.situations_for("user") == {"prompt-nothing-will-be-begun"}
    assert answer.says_to_agent("prompt-do-nothing-for", name="laps")
    host.stop().assert_silent()
    assert host.agent("next").says("next-nothing-on-here")
    assert "/omo:laps, and" not in host.agent("next").out
    host.prompt("/omo:laps make add right")
    assert host.stop().blocks


def test_a_stop_of_what_is_not_begun_leaves_the_rest_on(host: Host) -> None:
    host.prompt("ulw fix it")
    host.prompt("/omo:laps make add right")
    assert host.prompt("stop laps").says_to_user("prompt-nothing-will-be-begun", name="laps")
    assert host.stop().json["reason"].startswith("Ultrawork active")
    host.prompt("/omo:laps make add right")
    assert host.prompt("stop").says_to_user("prompt-one-paused-told", work="ultrawork")
    host.stop().assert_silent()


def test_what_is_asked_for_beside_other_work_is_not_forgotten(host: Host) -> None:
    host.prompt("ulw fix it")
    host.prompt("/omo:laps make add right")
    typed = '/omo:laps "make add right"'
    assert host.agent("next").says("next-beside-nothing-begun", command=typed)
    ended = outcome.outcome(outcome.ATTESTED, "it is so")
    change(host, lambda row: session.finish(row, ended, at="2026-11-17T15:00:00.000Z", files={}))
    assert host.stop().says_to_agent("stop-not-begun", name="laps")
    answer = host.stop(stop_hook_active=True, last_assistant_message="Which one?")
    assert answer.says_to_user("stop-not-begun-told", name="laps")
    assert answer.says_to_user("end-on-agents-word")
    host.prompt("thanks")
    host.stop().assert_silent()


def test_what_is_asked_for_is_not_forgotten_beside_what_was_cancelled(host: Host) -> None:
    begin(host, "ultragoal")
    host.prompt("/omo:stop-continuation")
    host.prompt("/omo:verify that add is right")
    assert host.stop().says_to_agent("stop-not-begun", name="verify")


def test_what_is_begun_is_not_called_unbegun(host: Host) -> None:
    host.prompt("/omo:laps make add right")
    begin(host, "laps")
    assert host.stop().blocks
    host.prompt("/omo:stop-continuation")
    host.stop().assert_silent()


@pytest.mark.usefixtures("through_the_shell")
def test_a_turn_of_which_no_plan_has_gone_to_the_critic_is_sent_back_once_and_then_told(host: Host) -> None:
    host.prompt("/omo:ultraplan the parts").assert_silent()
    assert host.stop().says_to_agent("stop-no-plan", name="ultraplan")
    assert host.agent("next").says("next-no-plan")
    let_go = host.stop(stop_hook_active=True, last_assistant_message="Which parts?")
    assert let_go.situations == {"stop-no-plan-told"}
    assert let_go.says_to_user("stop-no-plan-told", name="ultraplan")
    host.stop().assert_silent()
    host.prompt("/omo:ultraplan the parts")
    assert host.prompt("never mind").situations_for("user") == {"prompt-no-plan-called-off"}
    host.stop().assert_silent()


def test_what_else_was_typed_with_the_cancel_is_passed_on(host: Host) -> None:
    host.prompt("ulw fix it")
    answer = host.prompt("/omo:stop-continuation and then explain what mean() does")
    assert not answer.blocks
    assert answer.says_to_user("prompt-cancelled-told", works="ultrawork")
    assert answer.says_to_agent("prompt-do-only-the-rest")
    host.stop().assert_silent()
    assert host.prompt("/omo:stop-continuation and explain").says_to_agent("prompt-cancels-nothing")


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
    answer = host.prompt(prompt)
    assert bool(answer.message) is bool(name)
    assert answer.says_to_user("prompt-not-on", name=name) is bool(name)


def test_who_speaks_of_the_workflow_that_is_open_is_told_nothing(host: Host) -> None:
    put(host, ultragoal=summary("ultragoal"))
    host.prompt("now do the second one of the ultragoal")
    host.prompt("go ahead with ultragoal G002, using the new parser").assert_silent()


@each_workflow
def test_where_the_state_cannot_be_written_that_is_said(host: Host, name: str) -> None:
    (host.project / ".sisyphus").write_text("a file is in the way\n")
    answer = host.prompt(f"/omo:{name} make add right")
    assert answer.says_to_user("prompt-not-turned-on-unwritable", work=name)
    assert answer.says_to_agent("prompt-not-turned-on-unwritable", work=name)


def test_a_full_disk_is_told_to_whoever_types_a_workflow(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    host.prompt("ulw fix it")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert host.prompt("/omo:laps it").says_to_user("prompt-not-turned-on-unwritable", work="laps")
    monkeypatch.undo()
    assert host.stop().blocks
    monkeypatch.setattr(os, "replace", full)
    cancel = host.prompt("/omo:stop-continuation")
    assert cancel.says_to_user("hook-cancel-not-recorded-full-disk")
    assert "OMO_DISABLE=1" in cancel.json["reason"]


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
