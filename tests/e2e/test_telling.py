"""What a person at the terminal is told when a run ends, needs them, or was ended from somewhere else."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from tests.e2e.client import environment
from tests.e2e.conftest import Stage, wait_until
from tests.e2e.scripted_model import call, say
from tests.e2e.test_interactive import ask, only_session, shows, start
from tests.terminal import terminal as terminal_of_the_user

pytestmark = pytest.mark.client

OTHERS = re.compile(rb"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")  # titles and their like, which may end in a bell, too


def test_a_question_of_the_agent_is_shown_and_notifies_once(stage: Stage) -> None:
    asked = "omo ulw blocked --evidence 'two keys exist; I may use one' --question 'Which key may I use?'"
    stage.model.script(call("Bash", command=asked), say("I need a key."))
    terminal = stage.open(env={"KITTY_WINDOW_ID": "1"})
    written = terminal.written
    terminal.submit("ulw publish it")
    shows(terminal, "Stop says: omo: ultrawork waits for you: two keys exist; I may use one. Which key may I use?")
    notified = b"\x1b]99;;omo: ultrawork waits for you: two keys exist, I may use one. Which key may I use?\x1b\\"
    wait_until(lambda: notified in written.read_bytes())
    assert written.read_bytes().count(b"\x1b]99;") == 1
    session = only_session(stage)
    assert stage.kinds(session) == ["activated:leading", "waiting", "allowed:waiting"]
    stage.model.script(say("With the second, then."))
    ask(stage, terminal, "the second one", "It is published.")
    wait_until(lambda: stage.kinds(session)[3:] == ["resumed", "blocked:quote-message", "allowed:message-quoted"])


def test_a_run_that_is_capped_rings_and_is_told_once_also_to_who_comes_back(stage: Stage) -> None:
    stage.model.script(say("I stop."), say("I stop again."))
    terminal = stage.open()
    written = terminal.written
    terminal.submit("ulw fix the flaky tests")
    shows(terminal, "omo: ultrawork is on: a turn that ends too early is sent back.")
    shows(terminal, "Ultrawork active: continuing until verification gates pass or stop requested.")
    stops = "The user stops this with /omo:stop-continuation"
    shows(terminal, f"Block 1 of 1. Cannot go on? omo ulw blocked --evidence TEXT. {stops}")
    capped = "omo: ended, not proven: 1 block without verified progress."
    shows(terminal, f"Stop says: {capped} Type `ulw` to go on.")
    assert "hook error" not in terminal.screen()
    wait_until(lambda: OTHERS.sub(b"", written.read_bytes()).count(b"\a") == 1)
    assert "bell 1" in terminal._tmux("display-message", "-p", "bell #{window_bell_flag}")
    session = only_session(stage)
    wait_until(lambda: capped in stage.transcript())
    terminal.close()
    again = stage.open(resume=session)
    again.wait_for("I stop again.")
    shown = " ".join(again.scrollback().split())
    on = "omo: ultrawork is on: "
    counts = [shown.count(text) for text in (on, capped, "omo: ")]
    assert counts == [1, 1, 2], "what the client kept, and nothing new"
    assert stage.kinds(session) == ["activated:leading", "blocked:block", "allowed:cap"]

    again.submit("/omo:pin both -- test -f README.md && test -d .git")
    shows(again, "omo: gate both pinned by you: sh -c 'test -f README.md && test -d .git'; it has a shell's syntax")
    again.submit("/clear")
    kept = "both: sh -c 'test -f README.md && test -d .git'."
    # The client takes it in; on a busy machine it does not always paint it.
    wait_until(
        lambda: f'"hook_system_message","content":"omo: pinned by you in this project: {kept}' in stage.transcript()
    )


def test_a_cancel_in_another_terminal_and_a_state_that_is_removed_are_told_where_the_work_was(stage: Stage) -> None:
    terminal, held = start(stage, say("What I did so far."))
    assert stage.plugin is not None
    with terminal_of_the_user() as screen:
        subprocess.run(
            [str(stage.plugin / "bin" / "omo"), "stop-continuation", "--all"],
            cwd=stage.project,
            env=environment(stage.home, None, {"OMO_ENV_HOME": str(stage.data)}),
            stdin=screen,
            check=True,
        )
    held.set()
    shows(terminal, "Stop says: omo: ended, not proven: ultrawork was cancelled by you in another terminal.")
    ask(stage, terminal, "and now?", "Nothing holds me.")
    kinds = ["activated:leading", "cancelled:cli", "allowed:cancelled", "cancel-told"]
    assert stage.kinds(only_session(stage)) == kinds
    assert terminal.scrollback().count("cancelled by you") == 1

    held.clear()
    asked = len(stage.model.turns)
    stage.model.script(call("Bash", command="true"), say("What I did since.").held_by(held))
    terminal.submit("ulw fix the slow tests")
    stage.model.wait_for_turns(asked + 2)
    shutil.rmtree(stage.project / ".sisyphus")
    held.set()
    shows(terminal, "Stop says: omo: ended, not proven: the state of this project (")
    shows(
        terminal,
        "was removed while this was on: ultrawork. Nothing holds this session any more. A new `ulw` starts it again.",
    )
    ask(stage, terminal, "and now?", "Still nothing.")
    ask(stage, terminal, "really?", "Nothing at all.")
    assert terminal.scrollback().count("ended, not proven: the state") == 1
    assert not (stage.project / ".sisyphus").exists()
