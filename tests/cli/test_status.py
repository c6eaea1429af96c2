"""`omo status`: what is drawn where, which session is meant, and what is opened for it in real processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import texts
from tests.project import SESSION, Project

SOURCE = Path(__file__).resolve().parents[2] / "src"
CONSOLE = "import sys; sys.argv[0] = 'omo'; from omo.cli import console; console()"
OTHER = "abd456"
NOTHING = "Nothing is on in this project.\n"


def arm(project: Project, name: str = SESSION) -> None:
    assert project.omo("ulw", "start", by="user", env={"CLAUDE_CODE_SESSION_ID": name}).code == 0


def test_the_plain_view_when_nobody_looks(project: Project) -> None:
    arm(project)
    lines = project.agent("status").out.splitlines()
    assert texts.says(lines[0], "status-session-with-works", id=SESSION, works="ultrawork active")
    assert texts.says("\n".join(lines), "status-command-omo-gate-add-name-command")


def test_width_and_colour_never_change_the_data(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    arm(project)
    plain = project.agent("status", "--json").json
    project.now -= 1
    project.has_screen = True
    monkeypatch.setenv("COLUMNS", "30")
    assert project.omo("status", "--json", "--all", by="user", env=agents(NO_COLOR="1")).json == plain


def agents(**more: str) -> dict[str, str]:
    return {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": SESSION, **more}


def test_a_terminal_gets_colours_unless_it_says_otherwise(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    arm(project)
    project.has_screen = True
    monkeypatch.setenv("COLUMNS", "80")
    assert "\x1b[36m" in project.omo("status", by="user", env=agents(TERM="xterm")).out.replace(
        "\x1b[1;36m", "\x1b[36m"
    )
    without = project.omo("status", by="user", env=agents(TERM="xterm", NO_COLOR="1")).out
    assert "36m" not in without
    assert "\x1b[1m" in without
    assert "\x1b" not in project.omo("status", by="user", env=agents(TERM="dumb")).out


def test_another_session_by_as_much_of_its_id_as_is_unique(project: Project) -> None:
    arm(project)
    arm(project, OTHER)
    assert project.agent("status", "--session", "abd").out.startswith(f"session {OTHER}: ultrawork active")
    several = project.agent("status", "--session", "ab")
    assert (several.code, several.says("command-session-is-beginning-of-several-sessions")) == (2, True)
    assert f"{SESSION}, {OTHER}" in several.err
    nobody = project.agent("status", "--session", "\x1b[31mnobody")
    assert (nobody.code, nobody.says("command-session-is-no-session-of-this")) == (2, True)
    assert "\x1b" not in nobody.err


def test_sessions_that_are_off_are_listed_on_demand(project: Project) -> None:
    nothing = {"ok": True, "root": str(project.root), "sessions": [], "overrides": [], "problems": []}
    assert project.user("status").situations == {"status-nothing-is-on"}
    assert project.user("status", "--json").json == nothing
    arm(project, OTHER)
    project.user("stop-continuation", "--session", OTHER)
    project.now += 3 * 24 * 3600
    shown = project.user("status")
    assert shown.situations == {"status-nothing-is-on", "session-one-is-over"}
    assert f"session {OTHER}: ultrawork cancelled" in project.user("status", "--all").out


def test_unreadable_state_is_shown_and_is_an_error(project: Project) -> None:
    arm(project)
    Path(project.state, "runtime.local.json").write_text('{"version": 9, "sessions": {}}')
    shown = project.agent("status")
    assert shown.code == 3
    assert shown.out.startswith("problem: ")
    data = project.agent("status", "--json").json
    assert (data["ok"], data["error"]["code"], data["problems"][0]["code"]) == (False, "newer-state", "newer-state")
    assert data["sessions"][0]["mode"] == "unreadable"


def test_what_the_page_shows_is_not_told_beside_it(project: Project) -> None:
    project.write(".sisyphus/omo.json", '{"colour": "red"}')
    shown = project.user("status")
    assert (shown.out.count("'colour' is no setting"), shown.err) == (1, "")
    drawn = project.omo("status", by="user", env={"TTY_COMPATIBLE": "1", "COLUMNS": "60"})
    assert (drawn.says("status-unknown-setting", word="colour"), drawn.err) == (True, "")
    assert project.user("next").says("settings-sisyphus-omo-json-is-no-setting", name="'colour'")


def test_a_gate_that_the_user_let_through_is_not_said_to_pass(project: Project) -> None:
    project.prompt("ulw fix it")
    project.prompt("/omo:pin tests -- false")
    project.agent("gate", "run")
    project.prompt("/omo:allow tests")
    assert project.user("status").says("status-no-gate-open-but-not-ended")


def test_ultrawork_status_names_the_work(project: Project) -> None:
    assert project.agent("ulw", "status").says("status-session-with-works", id=SESSION, works="off")
    project.agent("ultragoal", "create-goals", "--brief", "@goal: Parse\nRead the file.")
    said = project.agent("ulw", "status").out
    assert said.startswith(f"session {SESSION} (this session): ultragoal active\n  next stop  would be sent back")
    assert said in project.agent("status").out
    assert {"session", "mode", "breakers", "works", "nextStop"} <= set(project.agent("ulw", "status", "--json").json)


def test_an_end_on_a_word_alone_has_no_proof_that_could_be_missing(project: Project) -> None:
    project.agent("ulw", "start")
    project.write("value", "new\n")
    project.check("ulw", "done", "--because", "the value holds what was asked")
    shown = project.agent("status").out
    assert texts.says(shown.splitlines()[0], "status-session-finished-here")
    assert project.agent("report").out.splitlines()[0].removesuffix(".") in shown


# Real processes


def environment(**more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME")}
    return {**kept, "PYTHONPATH": str(SOURCE), "PYTHONUTF8": "1", "OMO_SESSION_ID": SESSION, **more}


def test_what_a_pipe_gets_is_made_without_rich(project: Project) -> None:
    arm(project)
    for argv in (["status"], ["status", "--json"]):
        asks = "import atexit, sys; atexit.register(lambda: print('rich' in sys.modules, file=sys.stderr)); "
        done = subprocess.run(
            [sys.executable, "-c", asks + CONSOLE, *argv],
            cwd=project.root, env=environment(), capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert SESSION in done.stdout
        assert done.stderr == "False\n"


COUNTING = """
import collections, json, sys
opened = collections.Counter()
def note(event, arguments):
    # A file that is opened by a function of ours is told twice; the second time has no mode.
    if event == "open" and isinstance(arguments[0], str) and "cc-omo" in arguments[0] and arguments[1] is None:
        opened[arguments[0]] += 1
sys.addaudithook(note)
from omo.cli.main import main
code = main(["status"], {"OMO_SESSION_ID": sys.argv[1]}, sys.argv[2], float(sys.argv[3]))
print("\\n" + json.dumps({"code": code, "opened": opened}))
"""
CREATE_GOALS = ("ultragoal", "create-goals", "--brief", "@goal: A file\nWrite it.")


def opened(project: Project) -> dict[str, int]:
    """How often `omo status` of the session opens each state file."""
    done = subprocess.run(
        [sys.executable, "-c", COUNTING, SESSION, str(project.root), str(project.now)],
        cwd=project.root, env=environment(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    told = json.loads(done.stdout.rstrip("\n").rpartition("\n")[2])
    assert told["code"] == 0
    counts = {os.path.relpath(path, project.state): count for path, count in told["opened"].items()}
    return {path: count for path, count in counts.items() if not path.startswith("..")}  # not the record


def begin_and_give_up(project: Project, name: str) -> None:
    assert project.user(*CREATE_GOALS, "--session", name).code == 0
    assert project.user("stop-continuation", "--session", name).code == 0


def test_status_opens_each_file_once_and_no_more_with_many_runs_before(project: Project) -> None:
    arm(project)
    project.agent("gate", "add", "tests", "--", "true")
    assert project.agent(*CREATE_GOALS).code == 0
    alone = opened(project)
    assert set(alone.values()) == {1}
    assert {os.path.basename(path) for path in alone} >= {"runtime.local.json", "events.jsonl", "ledger.jsonl"}
    project.now -= 2 * 24 * 3600
    for number in range(20):
        begin_and_give_up(project, f"earlier-{number}")
    project.now += 2 * 24 * 3600
    assert opened(project) == alone
    for number in range(20):
        begin_and_give_up(project, f"today-{number}")
    lately = opened(project)
    assert set(lately.values()) == {1}
    assert len([path for path in lately if path.startswith("sessions")]) <= 2, "its own, and the last that ended"


def test_a_session_without_a_kind_of_work_opens_none_of_its_ledgers(project: Project) -> None:
    begin_and_give_up(project, OTHER)
    project.user("ultragoal", "create-goals", "--brief", "@goal: Parse\nRead the file.", "--session", OTHER)
    project.user("state", "clear", "--mode", "ultragoal", "--force", "--session", OTHER)
    project.now += 2 * 24 * 3600
    arm(project)
    assert set(opened(project)) == {"id", "runtime.local.json", os.path.join("sessions", SESSION, "events.jsonl")}
