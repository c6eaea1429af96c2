"""A person at the terminal: what they see, and what they type while the model works."""

from __future__ import annotations

import threading

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


def test_a_block_and_a_release_are_shown(stage: Stage) -> None:
    stage.model.script(say("I continue."), say("I stop again."))
    terminal = stage.open()
    terminal.submit("ulw fix the flaky tests")
    shows(terminal, "omo: ultrawork is on: a turn that ends too early is sent back.")
    shows(terminal, "I continue.")
    shows(terminal, "Ultrawork active: continuing until verification gates pass or stop requested.")
    assert "hook error" not in terminal.screen()
    shows(terminal, "Block 1 of 1. Cannot go on? omo ulw blocked --evidence TEXT. The user stops this with " + COMMAND)
    shows(
        terminal,
        "Stop says: omo: ended, not proven: 1 block without verified progress. Go on with a new `ulw`?",
    )
    assert stage.kinds(only_session(stage))[1:] == ["blocked:block", "allowed:cap"]
    terminal.submit("/omo:pin both -- test -f README.md && test -d .git")
    shows(terminal, "omo: gate both pinned by you: sh -c 'test -f README.md && test -d .git'; it has a shell's syntax")
    terminal.submit("/clear")
    kept = "both: sh -c 'test -f README.md && test -d .git'."
    shows(terminal, f"SessionStart:clear says: omo: still pinned by you: {kept}")


def test_the_picture_of_a_run_from_ulw_to_its_proof(stage: Stage) -> None:
    stage.commit("add.py", "def add(a, b):\n    return a - b\n")
    stage.commit("test_add.py", UNITTEST)
    stage.model.script(
        bash("omo gate add tests -- python3 -B -m unittest -q && omo gate run"),
        say("The sign in add.py was wrong. That should do it."),
        bash("sed -i 's/a - b/a + b/' add.py && omo gate run"),
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


def test_the_picture_of_stop_ulw_typed_while_the_model_works(stage: Stage) -> None:
    terminal, held = start(stage, call("Bash", command="true"), say("What I did so far."), size=PICTURE)
    terminal.submit("stop ulw")
    wait_until(lambda: stage.kinds(only_session(stage))[-1] == "cancelled:cancel")
    assert "stop ulw" not in input_box(terminal.screen())
    held.set()
    shows(terminal, f"UserPromptSubmit says: {messages.CANCELLED} {messages.ESC}")
    terminal.wait_for("What I did so far.")
    terminal.draw("client-stop")
    ask(stage, terminal, "and now?", "Nothing holds me.")
    assert (stage.times_told(FEEDBACK)[-1], len(stage.model.turns), stage.model.overruns) == (0, 4, 0)
    assert stage.times_told(messages.CANCELLED_AND_MORE)[2:] == [1, 1]
    assert stage.kinds(only_session(stage)) == ["activated:leading", "cancelled:cancel"]


def test_the_command_typed_while_the_model_works_ends_with_its_turn(stage: Stage) -> None:
    """The client holds a slash command back until the turn ends: the Stop must let it end."""
    terminal, held = start(stage, say("What I did so far."))
    queue_the_command(stage, terminal)
    assert stage.kinds(only_session(stage)) == ["activated:leading"]
    held.set()
    shows(terminal, f"UserPromptSubmit operation blocked by hook: {messages.CANCELLED}")
    kinds = ["activated:leading", "allowed:prompt-queued", "cancelled:cancel-command"]
    assert stage.kinds(only_session(stage)) == kinds
    assert (len(stage.model.turns), stage.model.overruns) == (2, 0)


def test_the_command_typed_early_in_a_long_turn_ends_with_it(stage: Stage) -> None:
    wordy = call("Bash", command="seq 1 5000")
    terminal, held = start(stage, *[wordy] * 9, say("What I did so far."), say("I was sent back."))
    queue_the_command(stage, terminal)
    held.set()
    session = only_session(stage)
    wait_until(lambda: stage.kinds(session)[-1] == "cancelled:cancel-command")
    assert stage.kinds(session)[1:-1] == ["allowed:prompt-queued"]


def test_the_command_taken_back_from_the_queue_excuses_nothing(stage: Stage) -> None:
    terminal, held = start(stage, say("I stop early."), say("I stop again."))
    queue_the_command(stage, terminal)
    terminal.key("Up")
    terminal.wait_for(lambda screen: COMMAND in input_box(screen))
    wait_until(lambda: '"operation":"popAll"' in stage.transcript())
    held.set()
    session = only_session(stage)
    wait_until(lambda: stage.kinds(session)[-1] == "allowed:cap")
    assert stage.kinds(session) == ["activated:leading", "blocked:block", "allowed:cap"]


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


def test_escape_and_then_the_hatch(stage: Stage) -> None:
    terminal, held = start(stage, say("Never heard."))
    interrupt(terminal, held)
    terminal.submit(COMMAND)
    shows(terminal, f"UserPromptSubmit operation blocked by hook: {messages.CANCELLED}")
    assert (stage.kinds(only_session(stage)), len(stage.model.turns)) == (
        ["activated:leading", "cancelled:cancel-command"],
        2,
    )


def test_stop_typed_while_the_model_works_pauses(stage: Stage) -> None:
    terminal, held = start(stage, call("Bash", command="true"), say("I stopped."))
    terminal.submit("stop")
    session = only_session(stage)
    wait_until(lambda: stage.kinds(session)[-1] == "paused:live-stop")
    held.set()
    terminal.wait_for("I stopped.")
    wait_until(lambda: stage.kinds(session)[-1].startswith("allowed:"))
    assert stage.times_told(messages.PAUSED.format(work="ultrawork"))[-1] == 1
    assert (stage.work(session)["state"], stage.blocks(session), stage.model.overruns) == ("paused", 0, 0)


def test_a_remark_typed_while_the_model_works_excuses_nothing(stage: Stage) -> None:
    terminal, held = start(stage, call("Bash", command="true"), say("I stop early."), say("I stop again."))
    terminal.submit("mind the docs as well")
    wait_until(lambda: "mind the docs as well" in stage.transcript())
    held.set()
    session = only_session(stage)
    wait_until(lambda: stage.kinds(session)[-1] == "allowed:cap")
    assert stage.times_told("mind the docs as well")[-1] == 1
    assert stage.kinds(session) == ["activated:leading", "blocked:block", "allowed:cap"]


@pytest.mark.parametrize("cancelled", [False, True], ids=["active", "cancelled"])
def test_compaction_keeps_a_run_and_brings_no_cancelled_one_back(stage: Stage, cancelled: bool) -> None:
    terminal, held = start(stage, say("Never heard."))
    interrupt(terminal, held)
    session = only_session(stage)
    if cancelled:
        terminal.submit("stop ulw")
        shows(terminal, messages.CANCELLED)
        terminal.key("C-u")
    before = stage.row(session)
    stage.model.script(say("<summary>The tests are flaky.</summary>"))
    terminal.submit("/compact")
    terminal.wait_for("Compacted")
    assert {**stage.row(session), "lastUsedAt": ""} == {**before, "lastUsedAt": "", "instructed": False}
    answers = ["Not at all."] if cancelled else ["I stop early.", "I stop again."]
    stage.model.script(*map(say, answers[:-1]))
    ask(stage, terminal, "how far are you?", answers[-1])
    assert [stage.times_told(STILL_ON)[-1], stage.times_told(BLOCK)[-1]] == [0 if cancelled else 1, 0]
    wait_until(lambda: not stage.kinds(session)[-1].startswith("blocked:"))
    after = ["cancel-told"] if cancelled else ["blocked:quote-message", "allowed:message-quoted"]
    assert stage.kinds(session) == [*(["activated:leading", "cancelled:cancel"][: 1 + cancelled]), *after]


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
    assert stage.kinds(only_session(stage))[1:] == ["allowed:other-loop", "allowed:other-loop"]
    assert "".join(terminal.scrollback().split()).count("sendsnothingback") == 1
    stage.model.script(say("I stop."), say("I stop again."))
    terminal.submit("and the rest")
    shows(terminal, "Ultrawork active: continuing until verification gates pass or stop requested.")
