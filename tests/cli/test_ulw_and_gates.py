"""Done is what pinned commands say on the tree as it is; everything else is refused with what to do."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from omo.state import paths, runtime, store
from omo.work import outcome
from tests.cli.conftest import SESSION, Shell

PASSES = [sys.executable, "-c", "pass"]
FAILS = [sys.executable, "-c", "print('two and two'); raise SystemExit(1)"]
NEEDS_NEW = ["grep", "-q", "new", "value"]
BECAUSE = "the value is the new one"


def pin(shell: Shell, name: str, argv: list[str]) -> None:
    assert shell.agent("gate", "add", name, "--", *argv).code == 0


def test_a_run_from_start_to_done(shell: Shell) -> None:
    assert shell.agent("ulw", "start").code == 0
    pin(shell, "value", NEEDS_NEW)
    assert shell.agent("gate", "run").code == 3
    refused = shell.agent("ulw", "done")
    assert refused.code == 3
    assert "value: fails (exit 1)" in refused.err
    shell.write("value", "new\n")
    assert "changed" not in shell.agent("gate", "run").err
    refused = shell.agent("ulw", "done")
    assert (refused.code, "--because" in refused.err) == (3, True), "the agent chose the gate"
    done = shell.agent("ulw", "done", "--because", BECAUSE)
    assert done.out.startswith(f"Finished on the agent's word: “{BECAUSE}”; ")
    assert shell.row()["work"]["ulw"]["state"] == "done"
    assert shell.row()["work"]["ulw"]["outcome"]["verdict"] == "attested"
    assert [row["kind"] for row in shell.events()] == [
        *("activated", "gate-added", "gate-ran", "gate-ran", "done"),
    ]


def test_done_without_a_gate_is_refused_with_both_ways_out(shell: Shell) -> None:
    shell.agent("ulw", "start")
    refused = shell.agent("ulw", "done", "--json")
    assert refused.code == 3
    assert refused.json["ok"] is False
    assert "omo gate add" in refused.json["error"]["fix"]
    assert "--because" in refused.json["error"]["fix"]


@pytest.mark.parametrize("option", ["--because", "--skip-verification"])
@pytest.mark.parametrize("reason", ["no", "         x"])
def test_a_reason_has_to_explain_something(shell: Shell, option: str, reason: str) -> None:
    shell.agent("ulw", "start")
    pin(shell, "ok", PASSES)
    refused = shell.agent("ulw", "done", option, reason)
    assert (refused.code, option in refused.err) == (2, True)


def test_only_what_could_run_and_did_not_is_skipped(shell: Shell) -> None:
    shell.agent("ulw", "start")
    skip = ("ulw", "done", "--skip-verification", "there is no network here")
    assert shell.agent(*skip).code == 2, "there is nothing to skip"
    pin(shell, "value", NEEDS_NEW)
    shell.agent("gate", "run")
    refused = shell.agent(*skip)
    assert (refused.code, "a gate that fails: value" in refused.err) == (3, True)
    shell.agent("gate", "remove", "value")
    pin(shell, "never", PASSES)
    assert shell.agent(*skip).code == 0
    ended = shell.events()[-1]["outcome"]
    assert ended["verdict"] == "waived"
    assert [(each["what"], each["by"]) for each in ended["exceptions"]] == [
        ("gate never was not run in this run", "agent"),
        ("gate value (grep -q new value) failed", "agent"),
    ]


def test_a_pass_is_stale_once_the_tree_changes(shell: Shell) -> None:
    shell.agent("ulw", "start")
    pin(shell, "ok", PASSES)
    shell.agent("gate", "run")
    shell.write("value", "changed after\n")
    refused = shell.agent("ulw", "done")
    assert "ok: passed, but since then changed: value" in refused.err
    shell.agent("gate", "run")
    assert shell.agent("ulw", "done", "--because", BECAUSE).code == 0


def test_a_gate_that_writes_files_does_not_stale_its_neighbours(shell: Shell) -> None:
    shell.agent("ulw", "start")
    pin(shell, "first", PASSES)
    pin(shell, "writes", [sys.executable, "-c", "open('built', 'w').write('x')"])
    pin(shell, "last", PASSES)
    ran = shell.agent("gate", "run")
    assert (ran.code, "left out: built" in ran.out) == (0, True)
    assert shell.agent("ulw", "done", "--because", BECAUSE).code == 0


def test_a_pass_on_the_tree_it_was_pinned_on_is_shown_as_such(shell: Shell) -> None:
    shell.agent("ulw", "start")
    pin(shell, "ok", PASSES)
    shell.agent("gate", "run")
    assert "unchanged tree" in shell.agent("gate", "list").out
    shell.write("value", "new\n")
    shell.agent("gate", "run")
    assert "unchanged tree" not in shell.agent("gate", "list").out


def test_passing_gates_alone_do_not_end_the_run(shell: Shell) -> None:
    """The pass may be stale by the time of the Stop; only `ulw done` looks at the tree."""
    shell.agent("ulw", "start")
    pin(shell, "value", NEEDS_NEW)
    shell.write("value", "new\n")
    shell.agent("gate", "run")
    shell.write("value", "broken again\n")
    assert "block" in shell.agent("explain", "stop").out
    assert shell.agent("ulw", "done").code == 3


def test_a_gate_that_newly_passes_renews_the_budget_and_a_repeat_does_not(shell: Shell) -> None:
    shell.agent("ulw", "start")
    pin(shell, "value", NEEDS_NEW)
    use_blocks(shell, 5)
    shell.agent("gate", "run")
    assert shell.row()["ulw"]["stopBlocks"] == 5
    shell.write("value", "new\n")
    shell.agent("gate", "run")
    assert shell.row()["ulw"]["stopBlocks"] == 0
    use_blocks(shell, 5)
    shell.agent("gate", "run")
    assert shell.row()["ulw"]["stopBlocks"] == 5


def use_blocks(shell: Shell, number: int) -> None:
    def change(row: dict[str, object] | None) -> runtime.Change:
        assert row is not None
        return runtime.Change(None, {**row, "ulw": {**runtime.part(row, "ulw"), "stopBlocks": number}})

    runtime.change_session(shell.state, SESSION, change, actor="hook", now=shell.now, wait=5)


@pytest.mark.parametrize(
    ("argv", "code", "result"),
    [
        (PASSES, 0, "pass"),
        (FAILS, 3, "fail"),
        (["no-such-program"], 4, "unknown"),
        ([sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"], 3, "fail"),
    ],
)
def test_exit_codes_of_a_gate(shell: Shell, argv: list[str], code: int, result: str) -> None:
    pin(shell, "g", argv)
    ran = shell.agent("gate", "run", "--json")
    assert ran.code == code
    assert ran.json["gates"][0]["result"] == result


def test_a_real_failure_outranks_an_unknown(shell: Shell) -> None:
    pin(shell, "missing", ["no-such-program"])
    pin(shell, "fails", FAILS)
    ran = shell.agent("gate", "run")
    assert ran.code == 3
    assert "two and two" in ran.out


def test_a_runner_with_another_in_its_place_has_not_passed(shell: Shell) -> None:
    shell.agent("ulw", "start")
    shell.write("test_value.py", "import unittest\nclass T(unittest.TestCase):\n    def test(self): assert 0\n")
    pin(shell, "tests", [sys.executable, "-B", "-m", "unittest"])
    assert shell.agent("gate", "run").code == 3
    shell.write("unittest.py", "")
    shadowed = shell.agent("gate", "run")
    assert shadowed.code == 4
    assert "unittest.py stands in the place of the runner's own module" in shadowed.out


def test_a_gate_that_hangs_is_ended(shell: Shell) -> None:
    argv = [sys.executable, "-c", "import time; time.sleep(600)"]
    assert shell.agent("gate", "add", "slow", "--timeout", "0.2", "--", *argv).code == 0
    ran = shell.agent("gate", "run", "slow")
    assert ran.code == 4
    assert "timed out" in ran.out


def test_a_command_is_run_without_a_shell(shell: Shell) -> None:
    pin(shell, "odd", ["printf", "%s", "a; touch hacked | $(touch hacked) # 'x'"])
    ran = shell.agent("gate", "run", "--json")
    assert ran.json["gates"][0]["tail"] == "a; touch hacked | $(touch hacked) # 'x'"
    assert not (shell.project / "hacked").exists()


@pytest.mark.parametrize(
    "argv",
    [
        ["gate", "add", "a/b", "--", "x"],
        ["gate", "add", "", "--", "x"],
        ["gate", "add", "ok"],
        ["gate", "add", "ok", "--cwd", "..", "--", "x"],
        ["gate", "add", "ok", "--cwd", "nowhere", "--", "x"],
        ["gate", "add", "ok", "--timeout", "0", "--", "x"],
        ["gate", "add", "ok", "--timeout", "soon", "--", "x"],
        ["gate", "add", "ok", "--timeout", "25h", "--", "x"],
        ["gate", "remove", "unknown"],
        ["gate", "run", "unknown"],
        ["gate", "record", "unknown", "--pre-existing", "--evidence", "it failed before too"],
        ["gate", "frobnicate"],
        ["frobnicate"],
        [],
    ],
)
def test_bad_input_is_exit_2_names_the_trouble_and_changes_nothing(shell: Shell, argv: list[str]) -> None:
    ran = shell.agent(*argv)
    assert ran.code == 2
    assert ran.err.startswith("omo: ")
    assert "fix:" in ran.err
    assert "Traceback" not in ran.err
    assert not shell.events()


RECORD = ("gate", "record", "value", "--pre-existing", "--evidence")


def test_recording_needs_a_failure_that_this_run_saw_before_the_work(shell: Shell) -> None:
    shell.agent("ulw", "start")
    pin(shell, "value", NEEDS_NEW)
    assert shell.agent(*RECORD, "fails on the commit before").code == 3
    shell.write("other", "work\n")
    shell.agent("gate", "run")
    unseen = shell.agent(*RECORD, "fails on the commit before")
    assert (unseen.code, "git stash push -u" in unseen.err) == (3, True)
    (shell.project / "other").unlink()
    shell.agent("gate", "run")
    assert shell.agent(*RECORD, "short").code == 2
    assert shell.agent(*RECORD, "fails on the commit before").code == 0
    done = shell.agent("ulw", "done", "--because", BECAUSE)
    assert "gate value fails, as it did when the run began (by the agent: fails on the commit before)" in done.out


def test_a_recorded_failure_holds_for_the_files_it_was_seen_on(shell: Shell) -> None:
    shell.agent("ulw", "start")
    pin(shell, "value", NEEDS_NEW)
    shell.agent("gate", "run")
    shell.agent(*RECORD, "fails on the commit before")
    shell.write("other", "work\n")
    assert shell.agent("ulw", "done", "--because", BECAUSE).code == 3
    shell.agent("gate", "run")
    assert shell.agent("ulw", "done", "--because", BECAUSE).code == 0
    assert shell.events()[-1]["outcome"]["verdict"] == "waived"


def test_a_gate_that_passes_is_recorded_no_more(shell: Shell) -> None:
    shell.agent("ulw", "start")
    pin(shell, "value", NEEDS_NEW)
    shell.agent("gate", "run")
    shell.agent(*RECORD, "fails on the commit before")
    shell.write("value", "new\n")
    shell.agent("gate", "run")
    shell.write("value", "old\n")
    shell.agent("gate", "run")
    assert shell.agent("ulw", "done", "--because", BECAUSE).code == 3


def test_every_pin_says_who_made_it_and_the_users_stands(shell: Shell) -> None:
    assert shell.user("gate", "add", "tests", "--session", SESSION, "--", *FAILS).code == 0
    refused = shell.agent("gate", "add", "tests", "--", "true")
    assert refused.code == 3
    assert "pinned by the user" in refused.err
    pin(shell, "mine", PASSES)
    listed = shell.agent("gate", "list", "--json").json["gates"]
    assert {gate["name"]: gate["by"] for gate in listed} == {"tests": "user", "mine": "agent"}


def test_results_of_an_earlier_run_do_not_count_in_the_next(shell: Shell) -> None:
    shell.agent("ulw", "start")
    pin(shell, "value", NEEDS_NEW)
    shell.write("value", "new\n")
    shell.agent("gate", "run")
    assert shell.agent("ulw", "done", "--because", BECAUSE).code == 0
    end_run(shell)
    shell.user("ulw", "start", "--session", SESSION)
    assert shell.row()["work"]["ulw"]["open"] == 1
    assert "not run in this run" in shell.agent("ulw", "done").err


def end_run(shell: Shell) -> None:
    from omo.work import session

    def change(row: dict[str, object] | None) -> runtime.Change:
        assert row is not None
        return runtime.Change(None, session.close(row), [{"kind": "allowed", "rule": "done"}])

    runtime.change_session(shell.state, SESSION, change, actor="hook", now=shell.now, wait=5)


def test_a_changed_ledger_refuses_completion_and_repair_starts_anew(shell: Shell) -> None:
    shell.agent("ulw", "start")
    pin(shell, "fails", FAILS)
    shell.agent("gate", "run")
    path = Path(paths.events_file(shell.state, SESSION))
    path.write_text(path.read_text().replace('"result": "fail"', '"result": "pass"'))
    for command in (("gate", "run"), ("ulw", "done")):
        refused = shell.agent(*command)
        assert refused.code == 3
        assert "damaged" in refused.err
        assert "omo ledger repair" in refused.err
    assert shell.agent("ledger", "verify").code == 3
    assert shell.agent("ledger", "repair").code == 3, "the user's pins would end with it"
    assert shell.user("ledger", "repair", "--session", SESSION).code == 0
    assert shell.agent("ledger", "verify").code == 0
    assert list(path.parent.glob("events.jsonl.damaged-*"))
    assert "no gate was pinned" in shell.agent("ulw", "done").err
    assert shell.user("ledger", "repair", "--session", SESSION).code == 3


@pytest.mark.parametrize("is_there", [True, False])
def test_a_repair_also_settles_an_end_that_no_command_wrote(shell: Shell, is_there: bool) -> None:
    shell.agent("ulw", "start")
    read = runtime.read(shell.state)
    read["sessions"][SESSION]["work"]["ulw"] |= {"state": "done", "outcome": outcome.outcome("proven", "said so")}
    store.replace(paths.runtime_file(shell.state), runtime.render(read))
    if not is_there:
        Path(paths.events_file(shell.state, SESSION)).unlink()
    assert shell.agent("ledger", "verify").code == 3
    assert shell.user("ledger", "repair", "--session", SESSION).code == 0
    assert shell.agent("ledger", "verify").code == 0
    assert shell.row()["work"]["ulw"]["state"] == "exhausted"


def test_a_forged_pin_is_not_run(shell: Shell) -> None:
    """An agent that writes its own row into the ledger has not pinned anything."""
    shell.agent("ulw", "start")
    path = Path(paths.events_file(shell.state, SESSION))
    forged = {"seq": 2, "kind": "gate-added", "name": "x", "argv": ["touch", "hacked"], "cwd": ".", "by": "user"}
    path.write_text(path.read_text() + json.dumps({**forged, "timeout": 5, "tree": None, "prev": "0"}) + "\n")
    assert shell.agent("gate", "run").code == 3
    assert not (shell.project / "hacked").exists()


def test_blocked_and_waiting_let_the_session_stop_and_come_back(shell: Shell) -> None:
    shell.agent("ulw", "start")
    assert shell.agent("ulw", "blocked", "--evidence", "no").code == 2
    assert shell.agent("ulw", "blocked", "--evidence", "the registry answers 403 to every push").code == 0
    assert shell.row()["work"]["ulw"]["state"] == "blocked"
    assert "waiting" in shell.agent("explain", "stop").out
    assert shell.agent("ulw", "resume").code == 0
    shell.agent("ulw", "blocked", "--evidence", "two designs are possible", "--question", "A or B?")
    assert shell.row()["work"]["ulw"]["state"] == "waiting"
    assert shell.agent("ulw", "resume").code == 0
    assert shell.agent("ulw", "resume").code == 3


def test_the_agent_cannot_use_the_escape_hatch_or_undo_the_users_word(shell: Shell) -> None:
    shell.agent("ulw", "start")
    refused = shell.agent("stop-continuation")
    assert refused.code == 3
    assert shell.agent("stop-continuation", "--all").code == 3
    assert shell.row()["ulw"]["enabled"] is True
    assert shell.user("stop-continuation", "--session", SESSION).code == 0
    refused = shell.agent("ulw", "start")
    assert refused.code == 3
    assert "ask the user to type ulw" in refused.err
    assert shell.agent("ulw", "resume").code == 3


def test_the_agent_cannot_renew_its_budget_or_raise_its_limits(shell: Shell) -> None:
    high = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": SESSION, "OMO_MAX_STOP_BLOCKS": "500"}
    assert shell.run(high, "ulw", "start", "--json").json["limits"]["max_stop_blocks"] == 8
    use_blocks(shell, 5)
    assert shell.run(high, "ulw", "start").code == 3
    assert shell.row()["ulw"]["stopBlocks"] == 5
    low = {**high, "CLAUDE_CODE_SESSION_ID": "other", "OMO_MAX_STOP_BLOCKS": "3"}
    assert shell.run(low, "ulw", "start", "--json").json["limits"]["max_stop_blocks"] == 3


def test_what_a_gate_prints_cannot_drive_the_terminal(shell: Shell) -> None:
    pin(shell, "odd", [sys.executable, "-c", "print('\\033]0;pwn\\007'); raise SystemExit(1)"])
    assert not set("\033\007") & set(shell.agent("gate", "run").out)


def test_the_escape_hatch_from_any_terminal(shell: Shell) -> None:
    assert "No session" in shell.user("stop-continuation", "--all").out
    shell.run({"CLAUDE_CODE_SESSION_ID": "one"}, "ulw", "start")
    assert shell.user("stop-continuation").code == 0
    assert "No session" in shell.user("stop-continuation").out
    assert shell.row("one")["stopContinuation"]["disabled"] is True
    for name in ("two", "three"):
        shell.run({"CLAUDE_CODE_SESSION_ID": name}, "ulw", "start")
    unclear = shell.user("stop-continuation")
    assert unclear.code == 2
    assert "two, three" in unclear.err
    assert shell.user("stop-continuation", "--all", "--json").json["sessions"] == ["two", "three"]
    assert shell.user("status", "--json").json["sessions"][0]["mode"] == "cancelled"


def test_status_and_explain_tell_what_stop_would_do(shell: Shell) -> None:
    assert "Nothing is on" in shell.agent("status").out
    shell.agent("ulw", "start")
    before = shell.events()
    status = shell.agent("ulw", "status", "--json").json
    assert status["mode"] == "active"
    assert status["nextStop"]["rule"] == "block"
    assert shell.agent("explain", "stop", "--json").json["rule"] == "block"
    assert shell.agent("status", "--json").json["sessions"][0]["here"] is True
    shell.now += 2 * 24 * 3600
    assert "orphan" in shell.user("status").out
    assert shell.events() == before


def test_explaining_a_saved_event(shell: Shell) -> None:
    shell.agent("ulw", "start")
    shell.write("event.json", json.dumps({"session_id": SESSION, "permission_mode": "plan"}))
    explained = shell.agent("explain", "stop", "--event", str(shell.project / "event.json"))
    assert "=> plan-mode" in explained.out
    assert shell.agent("explain", "stop", "--event", "nowhere").code == 2


@pytest.mark.parametrize(
    ("text", "action", "rule"),
    [("ulw fix it", "activate", "leading"), ("what is ulw?", "none", "question"), ("use `ulw`", "none", "in-code")],
)
def test_explaining_a_prompt(shell: Shell, text: str, action: str, rule: str) -> None:
    explained = shell.agent("explain", "prompt", text, "--json").json
    assert (explained["action"], explained["rule"]) == (action, rule)
    assert explained["why"]


def test_a_refused_setting_is_said_on_stderr(shell: Shell) -> None:
    shell.environ["OMO_MAX_STOP_BLOCKS"] = "-1"
    ran = shell.agent("ulw", "start", "--json")
    assert ran.json["limits"]["max_stop_blocks"] == 8
    assert "OMO_MAX_STOP_BLOCKS: '-1'" in ran.err


def test_a_newer_state_file_is_refused_by_the_cli(shell: Shell) -> None:
    import os

    os.makedirs(shell.state)
    Path(paths.runtime_file(shell.state)).write_text('{"version": 7, "sessions": {}}')
    ran = shell.agent("ulw", "start")
    assert ran.code == 3
    assert "update the plugin" in ran.err


def test_an_unwritable_project_is_one_actionable_line(shell: Shell) -> None:
    shell.write(".sisyphus", "a file in the way")
    ran = shell.agent("ulw", "start")
    assert ran.code == 77
    assert "OMO_STATE_DIR" in ran.err


def test_git_sees_nothing_of_a_whole_run(shell: Shell) -> None:
    import subprocess

    subprocess.run(["git", "add", "."], cwd=shell.project, check=True)
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    subprocess.run(["git", *identity, "commit", "-qm", "x"], cwd=shell.project, check=True)
    shell.agent("ulw", "start")
    pin(shell, "ok", PASSES)
    shell.agent("gate", "run")
    shell.agent("ulw", "done", "--because", BECAUSE)
    status = subprocess.run(["git", "status", "--porcelain"], cwd=shell.project, capture_output=True, check=True)
    assert status.stdout == b""


def test_what_the_user_pins_may_be_replayed_and_is_listed(shell: Shell) -> None:
    shell.agent("ulw", "start")
    pin(shell, "mine", PASSES)
    assert shell.agent("gate", "list", "--json").json["replay"] == []
    assert shell.user("gate", "add", "tests", "--", "pytest", "-q").code == 0
    allowed = shell.user("gate", "add", "cli", "--", "./mycli", "...")
    assert allowed.out.startswith("Replays of cli pinned by the user")
    listed = shell.agent("gate", "list", "--json").json
    assert listed["replay"] == [["pytest", "-q"], ["./mycli", "..."]]
    assert [gate["name"] for gate in listed["gates"]] == ["mine", "tests"]
    assert "may be replayed" in shell.agent("gate", "list").out


def test_an_agent_can_neither_allow_a_replay_nor_repair_the_ledger_of_them(shell: Shell) -> None:
    shell.agent("ulw", "start")
    refused = shell.agent("gate", "add", "cli", "--", "./mycli", "...")
    assert (refused.code, "/omo:pin" in refused.err) == (3, True)
    refused = shell.agent("gate", "add", "cli", "--repair", "--", "./mycli")
    assert (refused.code, "only the user" in refused.err) == (3, True)


def test_a_damaged_ledger_of_replay_commands_hides_no_gate_and_is_repaired_by_the_user(shell: Shell) -> None:
    shell.agent("ulw", "start")
    shell.user("gate", "add", "tests", "--", "pytest", "-q")
    path = f"{paths.commands_dir(shell.state)}/ledger.jsonl"
    with open(path, "a", encoding="utf-8") as file:
        file.write('{"kind": "command-pinned", "actor": "user", "name": "evil", "argv": ["evil"]}\n')
    listed = shell.agent("gate", "list", "--json").json
    assert (len(listed["gates"]), listed["replay"]) == (1, [])
    assert "--repair" in listed["problem"]
    assert shell.user("gate", "add", "cli", "--", "./mycli").code == 3
    assert shell.user("gate", "add", "cli", "--repair", "--", "./mycli").code == 0
    assert shell.agent("gate", "list", "--json").json["replay"] == [["./mycli"]]
