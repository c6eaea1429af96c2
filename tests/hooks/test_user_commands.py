"""/omo:pin, /omo:unpin and /omo:allow, typed by the user: answered by the hook, and the user's word stands."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from omo.cli.main import main
from omo.hooks import user_commands
from omo.proof import seals
from omo.state import runtime
from omo.workflows.ultrawork import gates
from tests.hooks.conftest import SESSION, Host
from tests.proof.test_base import git

IN_PROCESS = True

AGENT = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": SESSION}


@pytest.fixture
def on(host: Host) -> Host:
    (host.project / "value").write_text("old\n")
    (host.project / "below").mkdir()
    (host.project / "below" / "here").write_text("")
    git(host.project, "add", ".")
    git(host.project, "commit", "-qm", "base")
    host.prompt("ulw make the value new")
    return host


def agent(host: Host, *argv: str) -> int:
    import time

    return main(list(argv), AGENT, str(host.project), time.time())


def known(host: Host) -> gates.Gates:
    return gates.current(host.state, SESSION, host.row())


def sealed(host: Host) -> list[Sequence[str]]:
    return [gate.sealed for gate in seals.terms_in(runtime.vouched_rows(host.state, SESSION)).gates]


def reason(answer: Any) -> str:
    assert answer.blocks, answer.stdout
    return str(answer.json["reason"])


def test_a_pin_keeps_words_directory_time_and_owner_whoever_repeats_it(on: Host) -> None:
    assert reason(on.prompt("/omo:pin --timeout 30m tests -- grep -q new value")).startswith(
        "omo: gate tests pinned by you"
    )
    same = ("gate", "add", "tests", "--", "grep", "-q", "new", "value")
    assert agent(on, *same) == 0
    assert agent(on, "gate", "add", "tests", "--", "true") == 3
    assert agent(on, "gate", "add", "tests", "--cwd", "below", *same[3:]) == 3
    assert agent(on, "gate", "add", "tests", "--timeout", "5", *same[3:]) == 3
    assert agent(on, "gate", "remove", "tests") == 3
    gate = known(on).known("tests")
    assert (gate.by, gate.cwd, gate.timeout, gate.argv) == ("user", ".", 1800.0, ["grep", "-q", "new", "value"])
    assert agent(on, "gate", "run") == 3
    on.prompt("/omo:pin --timeout 1h tests -- grep -q new value")
    assert known(on).known("tests").timeout == 3600.0
    assert known(on).known("tests").has_failed, "the same command keeps what it said"
    on.prompt("/omo:pin tests -- grep -q old value")
    assert known(on).known("tests").last is None


def test_what_a_pin_seals_only_the_user_takes_back(on: Host) -> None:
    told = reason(on.prompt("/omo:pin --sealed 'data/**' --timeout 30m tests -- grep -q new value"))
    assert told.startswith("omo: gate tests pinned by you: grep -q new value")
    assert "sealed: data/**" in told
    assert agent(on, "gate", "add", "tests", "--", "grep", "-q", "new", "value") == 0
    assert agent(on, "gate", "add", "tests", "--sealed", "more", "--", "grep", "-q", "new", "value") == 3
    assert agent(on, "gate", "add", "mine", "--sealed", "docs", "--sealed", "src", "--", "true") == 0
    assert agent(on, "gate", "add", "mine", "--", "true") == 0
    assert agent(on, "gate", "add", "mine", "--timeout", "5", "--", "true") == 0
    assert [gate.sealed for gate in seals.terms_in(runtime.vouched_rows(on.state, SESSION)).gates] == [
        ["data/**"],
        ["docs", "src"],
    ]
    on.prompt("/omo:unpin tests")
    assert [gate.sealed for gate in seals.terms_in(runtime.vouched_rows(on.state, SESSION)).gates] == [["docs", "src"]]


def test_a_pin_takes_over_what_the_agent_called_so(on: Host) -> None:
    assert agent(on, "gate", "add", "tests", "--", "true") == 0
    on.prompt("/omo:pin tests -- true")
    assert known(on).known("tests").is_users


def test_the_directory_of_a_pin_is_the_sessions(on: Host) -> None:
    below = str(on.project / "below")
    on.send("UserPromptSubmit", prompt="/omo:pin here -- test -f here", env={"CLAUDE_PROJECT_DIR": below}, cwd=below)
    assert known(on).known("here").cwd == "below"
    assert agent(on, "gate", "run", "here") == 0


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("/omo:pin tests", "NAME -- COMMAND"),
        ("/omo:pin --timeout soon tests -- true", "--timeout 'soon'"),
        ("/omo:pin --timeout 25h tests -- true", "--timeout '25h'"),
        ("/omo:pin 'tests -- true", "close the quote"),
        ("/omo:unpin", "is not one name"),
        ("/omo:unpin nothing", "there is no gate 'nothing'"),
        ("/omo:allow nothing", "there is neither a gate nor a file 'nothing'"),
        ("/omo:allow below/", "there is neither a gate nor a file 'below/'"),
        ("/omo:allow ../value", "there is neither a gate nor a file '../value'"),
        ("/omo:allow two words", "is not one name"),
    ],
)
def test_what_cannot_be_done_says_why_and_does_nothing(on: Host, prompt: str, said: str) -> None:
    before = on.events()
    assert said in reason(on.prompt(prompt))
    assert on.events() == before


def test_the_user_unpins_a_typo_and_pins_again(on: Host) -> None:
    on.prompt("/omo:pin tests -- gerp -q new value")
    assert agent(on, "gate", "run") == 4
    assert reason(on.prompt("/omo:unpin tests")) == "omo: gate tests is gone"
    assert len(known(on)) == 0
    assert known(on).dropped == [], "it never failed"


def test_a_time_out_of_the_users_gate_waits_for_them_and_names_the_line(on: Host) -> None:
    on.prompt("/omo:pin --timeout 0.2s slow -- tail -f value")
    assert agent(on, "gate", "run") == 4
    assert on.row()["work"]["ulw"]["state"] == "waiting"
    told = on.stop().json["systemMessage"]
    assert "gate slow, which you pinned, did not end within 0.2 s" in told
    assert "/omo:pin --timeout 1m slow -- tail -f value" in told
    on.prompt("/omo:pin --timeout 1m slow -- true")
    assert on.row()["work"]["ulw"]["state"] == "active"


@pytest.mark.parametrize(
    "asks",
    [
        ("ulw", "done", "--skip-verification", "it cannot be mended here"),
        ("gate", "record", "tests", "--pre-existing", "--evidence", "it failed before I came"),
    ],
)
def test_the_users_failing_gate_waits_for_the_user_and_only_they_let_it_through(
    on: Host, asks: tuple[str, ...]
) -> None:
    on.prompt("/omo:pin tests -- grep -q new value")
    (on.project / "other").write_text("work\n")
    agent(on, "gate", "run")
    assert agent(on, *asks) == 3
    assert on.row()["work"]["ulw"]["state"] == "waiting"
    assert "/omo:allow tests lets it through" in on.stop().json["systemMessage"]
    on.prompt("please look at it once more")
    assert on.row()["work"]["ulw"]["state"] == "active"
    assert agent(on, "ulw", "done", "--because", "the rest of it is done") == 3
    assert "gate tests is let through by you" in reason(on.prompt("/omo:allow tests"))
    assert agent(on, "ulw", "done", "--because", "the rest of it is done") == 0
    told = on.stop().json["systemMessage"]
    assert told.startswith("omo: ended with exceptions: gate tests fails (exit 1) (by the user: /omo:allow); ")


def test_what_is_shown_to_be_typed_is_what_was_pinned(on: Host) -> None:
    answer = reason(on.prompt("/omo:pin --timeout 0.2s slow -- sh -c 'sleep 5; true'"))
    assert answer == "omo: gate slow pinned by you: sh -c 'sleep 5; true' (within 0.2 s)"
    assert agent(on, "gate", "run") == 4
    assert "/omo:pin --timeout 1m slow -- sh -c 'sleep 5; true'" in on.stop().json["systemMessage"]


def test_the_commands_are_no_words_of_the_agents(on: Host) -> None:
    assert on.prompt("/omo:pin tests -- true", agent_id="a1").stdout == ""
    assert len(known(on)) == 0


def test_the_base_is_taken_when_the_run_is_armed_and_kept_when_it_is_armed_again(on: Host) -> None:
    began = known(on).base
    assert began is not None
    assert began["head"] == git(on.project, "rev-parse", "HEAD").strip()
    (on.project / "value").write_text("new\n")
    on.prompt("ulw go on")
    assert known(on).base == began


def test_without_git_the_run_is_armed_all_the_same(host: Host) -> None:
    import shutil

    shutil.rmtree(host.project / ".git")
    (host.project / "value").write_text("old\n")
    assert "ultrawork" in host.prompt("ulw go").stdout
    began = known(host).base
    assert began is not None
    assert (began["head"], list(began["files"])) == (None, ["value"])
    assert Path(host.state).is_dir()


def test_whatever_lies_in_the_project_the_run_is_armed(on: Host) -> None:
    on.prompt("/omo:stop-continuation")
    odd = os.path.join(os.fsencode(on.project), b"\xff\xfe.py")
    with open(odd, "wb") as file:
        file.write(b"x")
    (on.project / "new\nline").write_text("x")
    (on.project / "dangling").symlink_to("nowhere")
    os.mkfifo(on.project / "pipe")
    (on.project / "nested").mkdir()
    git(on.project / "nested", "init", "-q")
    assert "Ultrawork is on again" in on.prompt("ulw go on with it").stdout
    assert on.row()["ulw"]["enabled"] is True
    assert agent(on, "gate", "add", "t", "--", "true") == 0
    assert agent(on, "gate", "run") == 0
    assert agent(on, "ulw", "done", "--because", "all of it is there") == 0


def test_status_and_report_are_answered_without_the_model(on: Host) -> None:
    """As a terminal shows them, without its escape sequences; where nothing is on as well, and nothing is written."""
    on.prompt("/omo:pin tests -- grep -q new value")
    shown = reason(on.prompt("/omo:status", env={"LANG": "C.UTF-8"}))
    assert shown.startswith("omo status\nultrawork active")
    assert "○ tests  grep -q new value" in shown
    assert "\x1b" not in shown
    assert max(map(len, shown.splitlines())) <= 70
    told, path = reason(on.prompt("/omo:report")).splitlines()[1:]
    assert told.startswith("NOT proven: ")
    assert Path(path).read_text("utf-8").startswith("<!")
    for somebody_elses in ("/status", "/report"):
        on.prompt(somebody_elses).assert_silent()


def test_status_where_nothing_is_on_writes_nothing(host: Host, files: Callable[[], dict[str, bytes]]) -> None:
    before = files()
    assert "Nothing is on in this project." in reason(host.prompt("/omo:status"))
    assert reason(host.prompt("/omo:report")).startswith("omo report\n")
    assert files() == before


def test_a_view_that_takes_too_long_names_the_command(on: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_commands, "LONGEST_LOOK", 0.001)
    assert reason(on.prompt("/omo:report")) == "omo: it takes longer than 0.001 s; type `omo report` in a terminal."
