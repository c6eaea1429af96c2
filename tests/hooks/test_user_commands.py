"""/omo:pin, /omo:unpin and /omo:allow, typed by the user: answered by the hook, and the user's word stands."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from omo.cli.main import main
from omo.hooks import user_commands
from omo.state import ledger, paths, runtime
from omo.state.rows import EMPTY
from omo.work import gates
from tests import texts
from tests.hooks.conftest import SESSION, Answer, Host
from tests.project import Project
from tests.proof.test_base import git

IN_PROCESS = True
SKIPS = ("ulw", "done", "--skip-verification", "it cannot be mended here")
ON_ITS_WORD = ("ulw", "done", "--because", "the rest of it is done")
AT_REST = "prompt-at-rest"


@pytest.fixture
def on(host: Host) -> Host:
    (host.project / "value").write_text("old\n")
    (host.project / "below").mkdir()
    (host.project / "below" / "here").write_text("")
    git(host.project, "add", ".")
    git(host.project, "commit", "-qm", "base")
    host.prompt("ulw make the value new")
    return host


def agent(host: Host, *argv: str, session: str = SESSION) -> int:
    environ = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": session}
    host.make_state()
    return main(list(argv), environ, str(host.project), time.time())


def known(host: Host) -> gates.Gates:
    return gates.current(host.state, SESSION, host.row())


def sealed(host: Host) -> list[Sequence[str]]:
    return [gate.sealed for gate in gates.fold(runtime.vouched_rows(host.state, SESSION), None)]


def reason(answer: Any) -> str:
    assert answer.blocks, answer.stdout
    return str(answer.json["reason"])


def test_a_pin_may_leave_the_name_before_the_dashes_away(on: Host) -> None:
    for typed in ("/omo:pin -- grep -q new value", "/omo:pin --timeout 30m -- grep -q old value"):
        assert on.prompt(typed).says_to_user("gate-pinned", by="you")
    assert [gate.argv for gate in known(on)] == [["grep", "-q", "new", "value"], ["grep", "-q", "old", "value"]]


def test_a_pin_keeps_words_directory_time_and_owner_whoever_repeats_it(on: Host) -> None:
    told = on.prompt("/omo:pin --timeout 30m tests -- grep -q new value")
    assert told.says_to_user("gate-pinned", gate="tests", by="you")
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
    told = on.prompt("/omo:pin --sealed 'data/**' --timeout 30m tests -- grep -q new value")
    assert told.says_to_user("gate-pinned", gate="tests", by="you")
    assert "sealed: data/**" in reason(told)
    assert agent(on, "gate", "add", "tests", "--", "grep", "-q", "new", "value") == 0
    assert agent(on, "gate", "add", "tests", "--sealed", "more", "--", "grep", "-q", "new", "value") == 3
    assert agent(on, "gate", "add", "mine", "--sealed", "docs", "--sealed", "src", "--", "true") == 0
    assert agent(on, "gate", "add", "mine", "--", "true") == 0
    assert agent(on, "gate", "add", "mine", "--timeout", "5", "--", "true") == 0
    assert sealed(on) == [["data/**"], ["docs", "src"]]
    assert on.prompt("/omo:unpin tests").situations == {"typed-gate-is-gone", AT_REST}
    assert known(on).dropped == [], "it never failed"
    assert sealed(on) == [["docs", "src"]]


def test_the_directory_of_a_pin_is_the_sessions(on: Host) -> None:
    below = str(on.project / "below")
    on.send("UserPromptSubmit", prompt="/omo:pin here -- test -f here", env={"CLAUDE_PROJECT_DIR": below}, cwd=below)
    assert known(on).known("here").cwd == "below"
    assert agent(on, "gate", "run", "here") == 0


def commit(host: Host, files: dict[str, str]) -> None:
    for name, text in files.items():
        (host.project / name).parent.mkdir(parents=True, exist_ok=True)
        (host.project / name).write_text(text)
    git(host.project, "add", "-f", *files)
    git(host.project, "commit", "-qm", "files")


MAKEFILE = "check:\n\tgrep -q new value\nlint:\n\ttrue\n"


def test_a_bare_pin_pins_what_the_projects_files_name(host: Host) -> None:
    commit(host, {"Makefile": MAKEFILE, "value": "old\n"})
    turned_on = host.prompt("ulw make the value new")
    assert turned_on.says_to_agent("hook-project-tests", command="make check")
    assert host.stop().says_to_agent("stop-nothing-shown-yet", command="make check")
    told = host.prompt("/omo:pin")
    named = "tests: make check (Makefile); lint: make lint (Makefile)"
    assert told.says_to_user("typed-pinned-as-files-name", gates=named)
    assert {gate.name: (gate.by, gate.argv) for gate in known(host)} == {
        "tests": ("user", ["make", "check"]),
        "lint": ("user", ["make", "lint"]),
    }
    host.prompt("/omo:pin tests -- grep -q new value")
    assert host.prompt("/omo:pin").says_to_user("typed-stays-as-pinned")
    assert known(host).known("tests").argv == ["grep", "-q", "new", "value"]
    reason(host.prompt("/omo:pin tests"))
    assert known(host).known("tests").argv == ["make", "check"]


def test_what_the_files_named_when_the_run_began_is_pinned_and_nothing_that_was_written_since(host: Host) -> None:
    commit(host, {"Makefile": "lint:\n\ttrue\n"})
    host.prompt("ulw go")
    commit(host, {"Makefile": "lint:\n\ttrue\ntest:\n\ttrue\n", "package.json": '{"scripts": {"test": "true"}}'})
    reason(host.prompt("/omo:pin"))
    assert [gate.name for gate in known(host)] == ["lint"]


def test_a_file_that_differs_from_the_commit_is_not_in_the_block(host: Host) -> None:
    commit(host, {"Makefile": "lint:\n\ttrue\n"})
    (host.project / "Makefile").write_text("test:\n\ttrue\n")
    assert "-- make" not in host.prompt("ulw go").stdout


def test_project_gates_are_the_users_as_they_were_committed(host: Host) -> None:
    settings = ".sisyphus/omo.json"
    unit = "test -f value && grep -q new value"
    gate = json.dumps({"gates": {"unit": unit}})
    commit(host, {settings: gate, "Makefile": MAKEFILE, "value": ""})
    host.prompt("ulw go")
    changed = '{"gates": {"unit": "true", "more": "true"}}'
    (host.project / settings).write_text(changed)
    told = host.prompt("/omo:pin")
    assert f"unit: sh -c '{unit}' ({settings}, gate unit)" in reason(told)
    assert told.says_to_user("typed-not-as-committed", gates="unit, more")
    suggested = Project(host.project).agent("gate", "suggest", session=SESSION)
    assert suggested.says("ulw-gates-not-as-committed", gates="unit, more")
    git(host.project, "commit", "-qam", "the agent's")
    assert host.prompt("/omo:pin").says_to_user("typed-not-as-committed"), "the run began before that"
    assert [(gate.name, gate.by, gate.argv[-1]) for gate in known(host)] == [("unit", "user", unit)]
    assert agent(host, "gate", "run") == 3


def test_gates_in_a_file_that_was_never_committed_are_nobodys(host: Host) -> None:
    (host.project / ".sisyphus").mkdir()
    (host.project / ".sisyphus" / "omo.json").write_text('{"gates": {"unit": "true"}}')
    told = host.prompt("/omo:pin")
    assert told.says_to_user("typed-no-check-found")
    assert told.says_to_user("typed-not-as-committed", gates="unit")
    assert told.says_to_user("typed-commit-the-file", gate="unit")
    assert len(known(host)) == 0


def test_a_gate_of_a_file_runs_where_that_file_is(host: Host) -> None:
    commit(host, {"pkg/Makefile": MAKEFILE, "pkg/value": "new\n", "pkg/src/a": "", "Makefile": "test:\n\tfalse\n"})
    below = str(host.project / "pkg" / "src")
    place: Any = {"env": {"CLAUDE_PROJECT_DIR": below}, "cwd": below}
    assert host.prompt("ulw go", **place).says_to_agent("hook-project-tests", command="make check")
    assert "(in pkg) (pkg/Makefile)" in reason(host.prompt("/omo:pin", **place))
    assert agent(host, "gate", "run") == 0


@pytest.mark.parametrize(
    ("typed", "name", "argv", "said"),
    [
        ("grep -q new value", "grep-new-value", ["grep", "-q", "new", "value"], "grep -q new value"),
        ("both -- test -f a && test -f b", "both", ["sh", "-c", "test -f a && test -f b"], "so sh runs it"),
        ("typo -- pytset -q", "typo", ["pytset", "-q"], "There is no program pytset here yet"),
        ("typo -- pytset | tee out", "typo", ["sh", "-c", "pytset | tee out"], "There is no program pytset here yet"),
        ("--timeout 30m grep -q 'a && b' value", "grep", ["grep", "-q", "a && b", "value"], "within 1800 s"),
        ('q -- grep -q "it\'s" value', "q", ["grep", "-q", "it's", "value"], "value"),
        ("true", "true", ["true"], "gate true pinned by you: true"),
        ("`grep -q new value`", "grep-new-value", ["grep", "-q", "new", "value"], "by you: grep -q new value"),
        ("q -- `grep -q new value`", "q", ["grep", "-q", "new", "value"], "by you: grep -q new value"),
        ("'grep -q new value'", "grep-new-value", ["grep", "-q", "new", "value"], "by you: grep -q new value"),
        ("`true`", "true", ["true"], "gate true pinned by you: true"),
        ("unit: grep -q new value", "unit", ["grep", "-q", "new", "value"], "gate unit pinned by you"),
        ('q -- test "`cat value`" = new', "q", ["sh", "-c", 'test "`cat value`" = new'], "so sh runs it"),
    ],
)
def test_a_pin_as_one_types_it(on: Host, typed: str, name: str, argv: list[str], said: str) -> None:
    assert said in reason(on.prompt(f"/omo:pin {typed}"))
    assert [(gate.name, gate.argv, gate.by) for gate in known(on)] == [(name, argv, "user")]


def test_a_pin_that_does_nothing_names_a_way_that_works(on: Host) -> None:
    assert on.prompt("/omo:pin true\nfalse").says_to_user("typed-one-line")
    assert on.prompt("/omo:pin unit pytest").says_to_user("typed-if-that-is-the-gates-name", gate="unit")
    assert not on.prompt("/omo:pin lint, pytest").says_to_user("typed-if-that-is-the-gates-name")
    assert len(known(on)) == 0


def begun(host: Host, new: str, source: str = "startup") -> Answer:
    """What a new conversation tells the user first."""
    return host.send("SessionStart", session_id=new, source=source, env={"CLAUDE_PID": new, "CLAUDECODE": "1"})


def pin_in(host: Host, text: str, session: str = SESSION) -> None:
    host.prompt(f"/omo:pin {text}", session_id=session)


def gates_of(host: Host, session: str) -> dict[str, tuple[str, list[str]]]:
    return {gate.name: (gate.by, gate.argv) for gate in gates.current(host.state, session, host.row(session))}


@pytest.mark.parametrize("source", ["startup", "clear"])
def test_the_users_pins_hold_in_every_conversation_and_the_agents_do_not(on: Host, source: str) -> None:
    pin_in(on, "--timeout 30m --sealed 'data/**' tests -- grep -q new value")
    pin_in(on, "gone -- true")
    on.prompt("/omo:unpin gone")
    assert agent(on, "gate", "add", "mine", "--", "true") == 0
    pins = "tests: grep -q new value (within 1800 s) (sealed: data/**)"
    assert begun(on, "second", source).says_to_user("prompt-pins-hold", pins=pins)
    assert gates_of(on, "second") == {"tests": ("user", ["grep", "-q", "new", "value"])}
    assert on.row("second") == EMPTY, "nothing is written for a conversation that only began"
    assert on.prompt("ulw go", session_id="second").says_to_agent("hook-pinned", gate="tests")
    assert on.stop(session_id="second").says_to_agent("stop-gates-open", left=1, total=1, names="tests")
    for forbidden in (["gate", "add", "tests", "--", "true"], ["gate", "remove", "tests"]):
        assert agent(on, *forbidden, session="second") == 3


def test_what_is_taken_away_anywhere_is_gone_everywhere(on: Host) -> None:
    pin_in(on, "tests -- grep -q new value")
    assert "tests" in begun(on, "second").message
    assert agent(on, "gate", "add", "own", "--", "true", session="third") == 0
    on.prompt("/omo:unpin tests", session_id="second")
    begun(on, "fourth").assert_silent()  # where nothing is pinned
    assert [gates_of(on, name) for name in (SESSION, "second")] == [{}, {}]
    pin_in(on, "own -- false", session="second")
    on.prompt("/omo:unpin own", session_id="fourth")
    pin_in(on, "tests -- true", session="second")
    assert gates_of(on, SESSION) == {"tests": ("user", ["true"])}


def test_pins_outlive_a_long_holiday(on: Host) -> None:
    """Rows that nobody used for two weeks are forgotten, and with them where a ledger ends."""
    pin_in(on, "tests -- true")
    on.prompt("/omo:stop-continuation")
    path = Path(on.state, "runtime.local.json")
    path.write_text(path.read_text().replace('"lastUsedAt":"2', '"lastUsedAt":"1'))
    on.prompt("ulw go", session_id="second")
    assert gates_of(on, "third") == {"tests": ("user", ["true"])}


@pytest.mark.parametrize("is_chained", [True, False])
def test_a_row_that_somebody_wrote_into_a_file_becomes_nobodys_pin(on: Host, is_chained: bool) -> None:
    """Neither one that follows nothing, nor one whose writer knows how rows are chained."""
    pin_in(on, "tests -- true")
    path = Path(paths.events_file(on.state, SESSION))
    last = json.loads(path.read_text().splitlines()[-1])
    forged = {**last, "name": "forged"}
    if is_chained:
        forged |= {"seq": last["seq"] + 1, "prev": ledger.head_of(str(path)).digest}
    path.write_text(path.read_text() + json.dumps(forged) + "\n")
    assert "forged" not in begun(on, "second").message
    assert gates_of(on, "second") == {"tests": ("user", ["true"])}
    Path(on.state, "pins").write_text(json.dumps(forged))
    runtime_file = Path(on.state, "runtime.local.json")
    told = json.loads(runtime_file.read_text())
    told["pins"] = [forged]
    told["sessions"]["nobody"] = {"pins": True, "lastUsedAt": last["ts"]}
    runtime_file.write_text(json.dumps(told))
    assert gates_of(on, "third") == {"tests": ("user", ["true"])}


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("/omo:pin", "no check was found in this project"),
        ("/omo:pin tests", "neither a check nor a program 'tests' was found"),
        ("/omo:pin tests pytest", "if that is the gate's name: /omo:pin tests -- COMMAND"),
        ("/omo:pin tests --", "names no command"),
        ("/omo:pin --timeout soon tests -- true", "--timeout 'soon'"),
        ("/omo:pin --timeout 25h tests -- true", "--timeout '25h'"),
        ("/omo:pin 'tests -- true", "close the quote"),
        ("/omo:unpin", "it needs a name; for example: /omo:unpin tests"),
        ("/omo:unpin nothing", "there is no gate 'nothing'"),
        ("/omo:allow nothing", "'nothing' is no gate, no file, and no test that omo has seen run"),
        ("/omo:allow below/", "'below/' is no gate, no file, and no test that omo has seen run"),
        ("/omo:allow ../value", "'../value' is no gate, no file, and no test that omo has seen run"),
        ("/omo:allow two words", "'two' is no gate, no file, and no test that omo has seen run"),
        ("/omo:allow", "it needs a name; for example: /omo:allow tests"),
    ],
)
def test_what_cannot_be_done_says_why_and_does_nothing(on: Host, prompt: str, said: str) -> None:
    before = on.events()
    assert said in reason(on.prompt(prompt))
    assert on.events() == before


def test_of_several_names_all_are_allowed_or_none(on: Host) -> None:
    on.prompt("/omo:pin tests -- grep -q new value")
    (on.root / "value").write_text("other\n")
    before = on.events()
    refused = on.prompt("/omo:allow tests value nothing")
    assert refused.says_to_user("typed-allow-unknown", name="nothing")
    assert on.events() == before
    both = on.prompt("/omo:allow tests value")
    assert both.says_to_user("prompt-gate-and-change-allowed", gate="tests", path="value")
    assert both.says_to_user(AT_REST)


def test_an_end_that_stands_already_is_not_said_to_name_what_is_allowed_after_it(on: Host) -> None:
    on.prompt("/omo:pin tests -- grep -q new value")
    (on.root / "value").write_text("new\n")
    assert agent(on, "ulw", "done") == 0
    told = on.prompt("/omo:allow tests")
    assert told.situations == {"prompt-gate-allowed-after-end"}
    assert told.blocks


def test_a_time_out_of_the_users_gate_waits_for_them_and_names_the_line(on: Host) -> None:
    command = "sh -c 'tail -f value; true'"
    pinned = on.prompt(f"/omo:pin --timeout 0.2s slow -- {command}")
    assert pinned.says_to_user("gate-pinned", gate="slow", by="you", command=f"{command} (within 0.2 s)")
    assert pinned.says_to_user(AT_REST)
    assert agent(on, "gate", "run") == 4
    assert on.row()["work"]["ulw"]["state"] == "waiting"
    told = on.stop()
    assert told.says_to_user("stop-pinned-gate-timed-out", gate="slow", seconds=0.2)
    assert told.says_to_user("stop-more-time", command=f"/omo:pin --timeout 1m slow -- {command}")
    on.prompt("/omo:pin --timeout 1m slow -- true")
    assert on.row()["work"]["ulw"]["state"] == "active"


def test_what_they_take_away_again_stands_in_the_way_of_no_proof_and_is_told(on: Host) -> None:
    on.prompt("/omo:pin tests -- grep -q new value")
    on.prompt("/omo:pin docs -- test -s CHANGES.md")
    (on.project / "value").write_text("new\n")
    assert agent(on, "ulw", "done") == 3
    on.prompt("/omo:unpin docs")
    assert agent(on, "ulw", "done") == 0
    told = on.stop()
    assert told.says_to_user("end-exception-gate-removed", gate="docs", command="test -s CHANGES.md")
    assert told.says_to_user("end-gate-fails-without-work", gate="tests", exit=1)


def test_all_gates_that_hold_the_work_up_are_let_through_by_the_one_line_that_is_named(on: Host) -> None:
    for name in ("tests", "docs"):
        on.prompt(f"/omo:pin {name} -- grep -q new value")
    (on.project / "other").write_text("work\n")
    assert agent(on, *SKIPS) == 3
    assert on.stop().says_to_user("stop-way-to-allow", command="/omo:allow tests docs")
    told = on.prompt("/omo:allow tests docs")
    assert told.says_to_user("prompt-gates-allowed", gate="tests", second="docs")
    assert agent(on, *ON_ITS_WORD) == 0


@pytest.mark.parametrize(
    "asks",
    [
        SKIPS,
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
    waiting = on.stop()
    assert waiting.says_to_user("stop-agent-asks-to-finish")
    assert waiting.says_to_user("stop-way-to-allow", command="/omo:allow tests")
    told = on.prompt("please look at it once more", env={"CLAUDECODE": "1"})
    assert told.says_to_user("prompt-answer-goes-on")
    assert told.says_to_user("prompt-allow-lets-it-through", command="/omo:allow tests")
    assert "/omo:stop-continuation" in told.message
    assert on.row()["work"]["ulw"]["state"] == "active"
    assert agent(on, *ON_ITS_WORD) == 3
    assert on.prompt("/omo:allow tests").says_to_user("prompt-gate-allowed", gate="tests")
    assert agent(on, *ON_ITS_WORD) == 0
    assert on.prompt("/omo:status").json["reason"].count("Override") == 1, (
        "it is let through once, and so it is counted"
    )
    assert on.stop().says_to_user("end-exception-gate-allowed", gate="tests", exit=1)


def test_what_the_user_records_themselves_is_asked_of_nobody(on: Host) -> None:
    on.prompt("/omo:pin tests -- grep -q new value")
    agent(on, "gate", "run")
    record = ("gate", "record", "tests", "--pre-existing", "--evidence", "it failed before I came")
    for by in ("user", "agent"):
        assert Project(on.project).omo(*record, by=by, session=SESSION).code == 0


def test_a_change_is_let_through_after_an_end_on_the_agents_word_which_is_taken_up_again(on: Host) -> None:
    assert agent(on, *ON_ITS_WORD) == 0
    on.stop()
    assert on.prompt("/omo:allow value").says_to_user("typed-allow-unchanged", path="value")
    (on.project / "value").write_text("new\n")
    told = on.prompt("/omo:allow value")
    assert told.situations == {"prompt-change-allowed-after-end", "typed-work-to-be-called-done", AT_REST}
    assert "omo ulw done" in reason(on.stop())
    on.prompt("/omo:stop-continuation")
    assert on.prompt("/omo:allow value").says_to_user("typed-allow-nothing-on", name="value")


def test_an_end_that_was_not_told_is_told_with_that_of_the_next_task(on: Host) -> None:
    for task, why in (("newer", "why-a-first"), ("newer still", "why-a-second"), ("go on", "why-a-third")):
        on.prompt(f"ulw {task}")
        assert agent(on, "ulw", "done", "--because", why) == 0
    assert "“why-a-first”" in on.row()["work"]["ulw"]["earlier"]["why"]


def test_what_waited_for_a_leave_goes_on_with_the_next_message_and_calls_no_failure_a_pass(on: Host) -> None:
    on.prompt("/omo:pin tests -- grep -q new value")
    agent(on, "gate", "run")
    agent(on, *SKIPS)
    assert on.prompt("/omo:allow tests").situations == {"prompt-gate-allowed", AT_REST}
    held = on.stop()
    assert held.blocks
    assert held.says_to_agent("stop-no-gate-open")


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
    assert on.prompt("ulw again").says_to_agent("prompt-on-again")
    assert on.row()["ulw"]["enabled"] is True
    assert agent(on, "gate", "add", "t", "--", "true") == 0
    assert agent(on, "gate", "run") == 0
    assert agent(on, *ON_ITS_WORD) == 0


def test_status_and_report_are_answered_without_the_model(on: Host) -> None:
    """As a terminal shows them, without its escape sequences; where nothing is on as well, and nothing is written."""
    on.prompt("/omo:pin tests -- grep -q new value")
    shown = reason(on.prompt("/omo:status", env={"LANG": "C.UTF-8"}))
    assert shown.startswith("omo status\nultrawork active")
    assert texts.says(shown, "status-gate-not-run", gate="tests")
    assert "\x1b" not in shown
    assert max(map(len, shown.splitlines())) <= 70
    told, path = reason(on.prompt("/omo:report")).splitlines()[1:3]
    assert told.startswith("NOT proven: ")
    assert Path(path).read_text("utf-8").startswith("<!")
    for somebody_elses in ("/status", "/report"):
        on.prompt(somebody_elses).assert_silent()


@pytest.mark.parametrize(
    "typed", ["/omo:status", "/omo:report", "/omo:pin grep -q new value", "/omo:unpin nope", "/omo:budget"]
)
def test_an_answer_without_the_model_says_that_the_work_waits_for_a_message(on: Host, typed: str) -> None:
    # A slash command typed at work comes when the turn is over: nobody is sent back by it, and the run is still on.
    assert texts.says(reason(on.prompt(typed)).splitlines()[-1], AT_REST)
    on.prompt("stop")
    assert not texts.says(reason(on.prompt(typed)), AT_REST)


def test_status_where_nothing_is_on_writes_nothing(host: Host, files: Callable[[], dict[str, bytes]]) -> None:
    before = files()
    assert host.prompt("/omo:status").says_to_user("status-nothing-on")
    told = host.prompt("/omo:report", env={"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": SESSION})
    assert told.says_to_user("report-nothing", session=SESSION)
    assert reason(told).endswith("omo status --all")
    assert files() == before


def test_a_view_that_takes_too_long_names_the_command(on: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_commands, "LONGEST_LOOK", 0.001)
    told = on.prompt("/omo:report")
    assert told.says_to_user("typed-takes-too-long", seconds=0.001, command="report")
    assert told.situations == {"typed-takes-too-long", AT_REST}
