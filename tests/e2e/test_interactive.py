"""A person at the terminal: what they see, and what they type while the model works."""

from __future__ import annotations

import json
import threading
from dataclasses import replace

import pytest

from omo.hooks import messages
from tests.e2e.client import PICTURE, SIZE, Terminal, input_box
from tests.e2e.conftest import EIGHT_BLOCKS, Stage, wait_until
from tests.e2e.scripted_model import Request, Turn, bash, call, say

pytestmark = pytest.mark.client

BLOCK = messages.INSTRUCTIONS.strip()
COMMAND = "/omo:stop-continuation"
FEEDBACK = "Stop hook feedback"
UNITTEST = """\
import unittest
from add import add


class Sums(unittest.TestCase):
    def test_two_and_two(self):
        self.assertEqual(add(2, 2), 4)
"""
TOO_EARLY = "The sign in add.py is wrong. That should do it."
STILL_ON = "[omo] Ultrawork is still on in this session"


def shows(terminal: Terminal, text: str) -> None:
    """Wait for a text that the screen may break into lines."""
    terminal.wait_for(lambda screen: text in " ".join(screen.split()))


def start(stage: Stage, *steps: Turn, size: tuple[int, int] = SIZE) -> tuple[Terminal, threading.Event]:
    """A session in which the model, having used a tool, is at work until the event is set."""
    held = threading.Event()
    first, *rest = steps
    stage.model.script(call("Bash", command="true"), first.held_by(held), *rest)
    terminal = stage.open(size=size)
    terminal.submit("ulw fix the flaky tests")
    stage.model.wait_for_turns(2)
    return terminal, held


def ask(stage: Stage, terminal: Terminal, prompt: str, answer: str) -> None:
    """One more prompt and its answer: whatever came before it has ended."""
    stage.model.script(say(answer))
    terminal.key("C-u")
    terminal.submit(prompt)
    terminal.wait_for(answer)


def interrupt(terminal: Terminal, held: threading.Event) -> None:
    terminal.key("Escape")
    terminal.wait_for("Interrupted")
    held.set()


def only_session(stage: Stage) -> str:
    (session,) = stage.sessions
    return session


def states(stage: Stage) -> dict[str, str]:
    work = stage.row(only_session(stage))["work"]
    return {kind: summary["state"] for kind, summary in work.items()}


def commit_a_failing_test(stage: Stage) -> None:
    stage.commit("add.py", "def add(a, b):\n    return a - b\n")
    stage.commit("test_add.py", UNITTEST)


def test_the_picture_of_a_turn_that_ends_too_early_without_omo(stage: Stage) -> None:
    commit_a_failing_test(stage)
    stage.model.script(say(TOO_EARLY))
    terminal = replace(stage, plugin=None).open(size=PICTURE)
    terminal.submit("fix the failing test")
    shows(terminal, TOO_EARLY)
    assert "a - b" in (stage.project / "add.py").read_text("utf-8")
    terminal.draw("client-alone")


def test_the_picture_of_a_run_from_ulw_to_its_proof(stage: Stage) -> None:
    commit_a_failing_test(stage)
    stage.model.script(
        say(TOO_EARLY),
        bash("sed -i 's/a - b/a + b/' add.py"),
        bash("omo ulw done"),
        say("add adds now, and the tests pass."),
    )
    terminal = stage.open(size=PICTURE, env=EIGHT_BLOCKS)
    terminal.submit("ulw fix the failing test")
    shows(terminal, "omo: ultrawork is on: a turn that ends too early is sent back.")
    shows(terminal, "Stop says: omo: done, proven: gate tests ")
    shows(terminal, ", on the files as they were at ")
    assert stage.kinds(only_session(stage))[-1] == "allowed:done"
    terminal.draw("client")


def test_the_picture_of_a_run_that_is_paused_looked_at_and_goes_on(stage: Stage) -> None:
    stage.limits = EIGHT_BLOCKS
    terminal, held = start(stage, say("Never heard."), size=PICTURE)
    interrupt(terminal, held)
    stage.model.script(say("I wait for you."))
    terminal.submit("wait, I want to look at it first")
    shows(terminal, "omo: understood as a stop: ultrawork is paused.")
    terminal.wait_for("I wait for you.")
    asked = len(stage.model.turns)
    terminal.submit("/omo:status")
    shows(terminal, "UserPromptSubmit operation blocked by hook: omo status ultrawork paused")
    assert len(stage.model.turns) == asked
    stage.model.script(call("Bash", command="true"), say("I go on.").held_by(threading.Event()))
    terminal.submit("continue")
    shows(terminal, "omo: understood as continue: ultrawork goes on.")
    stage.model.wait_for_turns(asked + 2)
    terminal.draw("client-pause")
    terminal.key("Escape")
    terminal.wait_for(lambda screen: screen.count("Interrupted") == 2)
    asked = len(stage.model.turns)
    terminal.submit(COMMAND)
    shows(terminal, f"UserPromptSubmit operation blocked by hook: {messages.CANCELLED}")
    assert stage.kinds(only_session(stage))[-1] == "cancelled:cancel-command"
    assert len(stage.model.turns) == asked


def test_the_picture_of_stop_ulw_typed_while_the_model_works(stage: Stage) -> None:
    terminal, held = start(stage, call("Bash", command="true"), say("What I did so far."), size=PICTURE)
    terminal.submit("stop ulw")
    wait_until(lambda: stage.kinds(only_session(stage))[-1] == "cancelled:cancel")
    terminal.wait_for(lambda screen: "stop ulw" not in input_box(screen))
    held.set()
    shows(terminal, f"UserPromptSubmit says: {messages.CANCELLED} {messages.ESC}")
    terminal.wait_for("What I did so far.")
    terminal.draw("client-stop")
    ask(stage, terminal, "and now?", "Nothing holds me.")
    assert (stage.times_told(FEEDBACK)[-1], len(stage.model.turns), stage.model.overruns) == (0, 4, 0)
    assert stage.times_told(messages.CANCELLED_AND_MORE)[2:] == [1, 1]
    session = only_session(stage)
    assert stage.kinds(session) == ["activated:leading", "cancelled:cancel"]

    # `stop` alone, in a run of its own.
    held.clear()
    stage.model.script(call("Bash", command="true"), call("Bash", command="true").held_by(held), say("I stopped."))
    terminal.submit("ulw once more")
    stage.model.wait_for_turns(6)
    terminal.submit("stop")
    wait_until(lambda: stage.kinds(session)[-1] == "paused:live-stop")
    held.set()
    terminal.wait_for("I stopped.")
    wait_until(lambda: stage.kinds(session)[-1].startswith("allowed:"))
    assert stage.times_told(messages.paused([("ulw", {})]).context)[-1] == 1
    assert (stage.work(session)["state"], stage.blocks(session), stage.model.overruns) == ("paused", 0, 0)


def test_another_run_that_is_typed_pauses_the_first_and_both_are_named(stage: Stage) -> None:
    stage.commit("README.md", "# A project\n")
    goal = json.dumps({"id": "G1", "title": "It is there", "verification": {"checks": [{"type": "path", "path": "g"}]}})
    (stage.project / "goal.json").write_text(goal, encoding="utf-8")
    criteria = {"criteria": [{"id": "C1", "description": "c", "checks": [{"id": "c", "type": "path", "path": "c"}]}]}
    (stage.project / "criteria.json").write_text(json.dumps(criteria), encoding="utf-8")
    held = threading.Event()
    stage.model.script(bash("omo ralph start --criteria criteria.json"), say("I am at work.").held_by(held))
    terminal = stage.open("--allowedTools", "Bash(omo *)", env=EIGHT_BLOCKS)
    terminal.submit("/omo:ralph write the file c")
    stage.model.wait_for_turns(2)
    interrupt(terminal, held)
    assert states(stage) == {"ralph": "active"}

    asked = len(stage.model.turns)
    held.clear()
    stage.model.script(bash("omo verify begin --file goal.json"), say("I am at the goal.").held_by(held))
    terminal.submit("/omo:verify that g is there")
    shows(terminal, "omo: /omo:verify begins another piece of work. ralph (2 of 2 open) is paused.")
    stage.model.wait_for_turns(asked + 2)
    interrupt(terminal, held)
    assert states(stage) == {"ralph": "paused", "verify": "active"}


def test_the_command_typed_early_in_a_long_turn_ends_with_it(stage: Stage) -> None:
    """The client holds a slash command back until the turn ends: the Stop must let it end."""
    wordy = call("Bash", command="seq 1 5000")
    terminal, held = start(stage, *[wordy] * 9, say("What I did so far."), say("I was sent back."))
    queue_the_command(stage, terminal)
    assert stage.kinds(only_session(stage)) == ["activated:leading"]
    held.set()
    shows(terminal, f"UserPromptSubmit operation blocked by hook: {messages.CANCELLED}")
    kinds = ["activated:leading", "allowed:prompt-queued", "cancelled:cancel-command"]
    assert stage.kinds(only_session(stage)) == kinds
    assert (len(stage.model.turns), stage.model.overruns) == (11, 0)


def queue_the_command(stage: Stage, terminal: Terminal) -> None:
    terminal.submit(COMMAND)
    terminal.wait_for("Press up to edit queued messages")
    # The client writes its transcript a moment later than the screen.
    wait_until(lambda: f'"content":"{COMMAND}"' in stage.transcript())


def test_the_command_typed_as_the_model_ends_costs_one_turn_at_most(stage: Stage) -> None:
    """Enter and the model's last word in the same moment: the transcript may not tell of the command yet."""
    typed = threading.Event()

    def press_enter(request: Request) -> Turn:
        assert typed.wait(30)
        terminal.key("Enter")
        return say("What I did so far.")

    stage.model.script(call("Bash", command="true"), press_enter, say("One more turn."))
    terminal = stage.open(env=EIGHT_BLOCKS)
    terminal.submit("ulw fix the flaky tests")
    stage.model.wait_for_turns(2)
    terminal.type(COMMAND)
    terminal.wait_for(lambda screen: COMMAND in input_box(screen))
    typed.set()
    shows(terminal, f"UserPromptSubmit operation blocked by hook: {messages.CANCELLED}")
    session = only_session(stage)
    assert stage.kinds(session)[-2:] == ["allowed:prompt-queued", "cancelled:cancel-command"]
    assert stage.blocks(session) <= 1
    assert stage.model.overruns == 0


def test_a_remark_typed_while_the_model_works_excuses_nothing(stage: Stage) -> None:
    """Where the agent worked on. Nor does the command, once it is taken back from the queue."""
    works = call("Bash", command="echo work > work.txt")
    terminal, held = start(stage, works, say("I stop early."), say("I stop again."))
    queue_the_command(stage, terminal)
    terminal.key("Up")
    terminal.wait_for(lambda screen: COMMAND in input_box(screen))
    wait_until(lambda: '"operation":"popAll"' in stage.transcript())
    terminal.key("C-u")
    terminal.wait_for(lambda screen: COMMAND not in input_box(screen))
    terminal.submit("mind the docs as well")
    wait_until(lambda: "mind the docs as well" in stage.transcript())
    held.set()
    session = only_session(stage)
    wait_until(lambda: stage.kinds(session)[-1] == "allowed:cap")
    assert stage.times_told("mind the docs as well")[-1] == 1
    assert stage.kinds(session) == ["activated:leading", "blocked:block", "allowed:cap"]


def test_compaction_keeps_a_run_and_brings_no_cancelled_one_back(stage: Stage) -> None:
    terminal, held = start(stage, say("Never heard."))
    interrupt(terminal, held)
    session = only_session(stage)
    compact(stage, terminal, session)
    stage.model.script(say("I stop early."))
    ask(stage, terminal, "how far are you?", "I stop again.")
    assert [stage.times_told(STILL_ON)[-1], stage.times_told(BLOCK)[-1]] == [1, 0]
    kept = ["activated:leading", "blocked:quote-message", "allowed:message-quoted"]
    wait_until(lambda: stage.kinds(session) == kept)

    terminal.submit("stop ulw")
    shows(terminal, messages.CANCELLED)
    terminal.key("C-u")
    compact(stage, terminal, session)
    ask(stage, terminal, "how far are you now?", "Not at all.")
    assert [stage.times_told(STILL_ON)[-1], stage.times_told(BLOCK)[-1]] == [0, 0]
    wait_until(lambda: stage.kinds(session) == [*kept, "cancelled:cancel", "cancel-told"])


def compact(stage: Stage, terminal: Terminal, session: str) -> None:
    """Nothing of the session's row is lost but that its model knows the instructions."""
    before = stage.row(session)
    asked = len(stage.model.requests)
    stage.model.script(say("<summary>The tests are flaky.</summary>"))
    terminal.submit("/compact")
    terminal.wait_for(lambda screen: "Compacted" in screen and len(stage.model.requests) > asked)
    wait_until(lambda: stage.row(session)["instructed"] is False)
    assert {**stage.row(session), "lastUsedAt": ""} == {**before, "lastUsedAt": "", "instructed": False}


def test_a_withdrawn_prompt_arms_nothing_and_sent_again_tells_the_instructions(stage: Stage) -> None:
    terminal = withdraw(stage)
    ask(stage, terminal, "what is in the README?", "A project.")
    ask(stage, terminal, "thanks", "You are welcome.")
    assert stage.times_told(FEEDBACK)[-1] == 0
    ask(stage, terminal, "ulw fix the flaky tests, the slow ones first", "On it.")
    assert stage.times_told(BLOCK)[-1] == 1


def withdraw(stage: Stage) -> Terminal:
    """Esc before the model has said anything: the client takes the prompt back into the input box."""
    held = threading.Event()
    stage.model.script(say("Never heard.").held_by(held))
    terminal = stage.open()
    terminal.submit("ulw fix the flaky tests")
    stage.model.wait_for_turns(1)
    terminal.key("Escape")
    terminal.wait_for(lambda screen: "ulw fix the flaky tests" in input_box(screen))
    held.set()
    return terminal


def test_a_goal_of_the_client_holds_in_place_of_omo(stage: Stage) -> None:
    stage.limits = EIGHT_BLOCKS
    terminal, held = start(stage, say("Never heard."))
    interrupt(terminal, held)
    stage.model.script(say("One thing is done."), say("And another."))
    stage.model.check_goal(False, True)
    terminal.submit("/goal all tests pass")
    shows(terminal, "Stop says: omo: ultrawork stays on, and sends nothing back while /goal is on (all tests pass).")
    shows(terminal, "Goal achieved")
    # The client asks its goal and the hook side by side: the second Stop may find the goal over already.
    wait_until(lambda: len(stage.kinds(only_session(stage))) > 2)
    assert stage.kinds(only_session(stage))[1] == "allowed:other-loop"
    assert "".join(terminal.scrollback().split()).count("sendsnothingback") == 1
    stage.model.script(say("I stop."), say("I stop again."))
    terminal.submit("and the rest")
    shows(terminal, "Ultrawork active: continuing until verification gates pass or stop requested.")
