"""A state directory that is removed while a session is on: the user is told, once, and nobody else is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from omo.cli.setup import live_sessions
from omo.digest import sha256
from omo.state import runtime
from tests import texts
from tests.cli.test_lifecycle import begin_laps
from tests.hooks.conftest import SESSION, Answer, Host, command_of, note_starts
from tests.kept import copied, git_init
from tests.project import Project

pytestmark = pytest.mark.usefixtures("laps")

IN_PROCESS = True

CLAUDE = {"CLAUDECODE": "1"}


def records(home: Path | None = None) -> list[Path]:
    place = (home or Path(os.environ["HOME"]) / ".local" / "state") / "omo" / "projects"
    return sorted(path for path in place.glob("*") if len(path.name) == 32)


def recorded(home: Path | None = None) -> list[str]:
    """The sessions that a record says are on, in whichever project. The launcher finds just their records, by path."""
    sessions: list[str] = []
    for path in records(home):
        stored = json.loads(path.read_text())
        entry = Path(f"{path.parent}/at{stored['name']}/{path.name}")
        assert entry.exists() == bool(stored["live"])
        sessions += stored["live"]
    return sorted(sessions)


def leave(path: Path, session: str, *, days: float = 0) -> Path:
    """A record that somebody left behind, of a state directory that is not there."""
    record = records()[0].with_name(sha256(str(path).encode())[:32])
    on = {session: "ultrawork"} if session else {}
    stored = {"version": 1, "live": list(on), "path": str(path), "name": str(path), "on": on, "known": []}
    record.write_text(json.dumps(stored))
    moment = record.stat().st_mtime - days * 24 * 3600
    os.utime(record, (moment, moment))
    return record


def remove(host: Host) -> None:
    shutil.rmtree(host.project / ".sisyphus")


def after_a_command(host: Host) -> None:
    """The host's event behind an `omo` call of the agent's."""
    host.send("PostToolUse", tool_name="Bash", tool_input={"command": "omo laps start"})


def tells(answer: Answer, state: str, works: str = "ultrawork") -> bool:
    """Return whether this is all that the answer says."""
    return set(answer.json) == {"systemMessage"} and answer.says_to_user("end-state-removed", state=state, works=works)


@pytest.mark.usefixtures("through_the_shell")
def test_a_removed_state_is_told_once_at_the_next_stop_which_lets_go(host: Host) -> None:
    host.prompt("ulw fix it")
    assert host.stop().blocks
    assert recorded() == [SESSION]
    remove(host)
    assert tells(host.stop(), host.state)
    host.stop().assert_silent()
    assert recorded() == []
    assert not (host.project / ".sisyphus").exists(), "to tell of it writes no new state"


def test_a_removed_runtime_file_is_a_removed_state_and_what_was_on_is_named(host: Host) -> None:
    host.prompt("ulw fix it")
    begin_laps(Project(host.project))
    after_a_command(host)
    (Path(host.state) / "runtime.local.json").unlink()
    assert tells(host.stop(), host.state, "ultrawork, laps")
    host.stop().assert_silent()


def test_a_prompt_or_a_return_tells_where_the_user_reads_messages_and_nothing_after_it_does(host: Host) -> None:
    host.prompt("ulw fix it")
    remove(host)
    host.prompt("how far?").assert_silent()
    assert tells(host.prompt("how far?", env=CLAUDE), host.state)
    host.stop(env=CLAUDE).assert_silent()
    host.prompt("ulw fix it")
    remove(host)
    host.send("SessionStart", source="startup", env=CLAUDE).assert_silent()
    assert tells(host.send("SessionStart", source="resume", env=CLAUDE), host.state)
    host.send("SessionStart", source="resume", env=CLAUDE).assert_silent()


def test_a_new_ulw_begins_anew_and_tells_of_the_old_one(host: Host) -> None:
    host.prompt("ulw fix it")
    remove(host)
    answer = host.prompt("ulw fix it again", env=CLAUDE)
    assert answer.says_to_user("end-state-removed-new-run", state=host.state, works="ultrawork")
    assert answer.says_to_user("prompt-on", works="ultrawork")
    assert answer.says_to_agent("prompt-turned-on")
    assert recorded() == [SESSION]
    assert host.stop().blocks
    remove(host)
    assert tells(host.stop(), host.state)


def test_a_cancel_after_it_is_answered_with_it(host: Host) -> None:
    host.prompt("ulw fix it")
    remove(host)
    assert host.prompt("/omo:stop-continuation").says_to_user("end-state-removed", state=host.state)
    host.stop().assert_silent()
    assert recorded() == []


def test_a_command_that_writes_new_state_does_not_hide_it(host: Host) -> None:
    host.prompt("ulw fix it")
    remove(host)
    assert Project(host.project).agent("gate", "add", "tests", "--", "true").code == 0
    assert recorded() == [SESSION]
    assert tells(host.stop(), host.state)
    host.stop().assert_silent()
    assert recorded() == []


def test_two_sessions_are_told_each_for_itself_also_when_one_has_begun_anew(host: Host) -> None:
    host.prompt("ulw fix it")
    host.prompt("ulw write docs", session_id="other-1")
    host.prompt("ulw test it", session_id="other-2")
    remove(host)
    host.stop(session_id="never-on").assert_silent()
    host.stop(agent_id="a1", agent_type="omo:explorer").assert_silent()  # of this session, and not its message
    host.send("SubagentStop", agent_id="a1", agent_type="omo:explorer").assert_silent()
    assert tells(host.stop(), host.state)
    host.prompt("ulw fix it again")
    assert host.stop().blocks
    host.stop(session_id="never-on").assert_silent()
    for name in ("other-1", "other-2"):
        assert tells(host.stop(session_id=name), host.state)
        host.stop(session_id=name).assert_silent()
    assert recorded() == [SESSION]
    assert host.stop().blocks


def test_another_project_is_not_told(host: Host, tmp_path: Path) -> None:
    other = Host(tmp_path / "another", data=host.data)
    copied(other.project, git_init)
    host.prompt("ulw fix it")
    other.stop().assert_silent()
    remove(host)
    other.stop().assert_silent()
    other.prompt("and here?", env=CLAUDE).assert_silent()
    assert tells(host.stop(), host.state)


def test_state_above_the_project_does_not_hide_it(host: Host) -> None:
    above = Host(host.project.parent, data=host.data)
    host.prompt("ulw fix it")
    above.prompt("ulw begin", session_id="above")
    above.prompt("/omo:stop-continuation", session_id="above")
    above.prompt("thanks", session_id="above")
    remove(host)
    assert tells(host.stop(), host.state)


def test_below_a_project_without_git_it_is_told_too(host: Host) -> None:
    shutil.rmtree(host.project / ".git")
    host.prompt("ulw fix it")
    below = host.project / "src"
    below.mkdir()
    remove(host)
    answer = host.raw("Stop", host.payload("Stop", cwd=str(below)), cwd=below, CLAUDE_PROJECT_DIR=str(below))
    assert tells(answer, host.state)


def test_state_and_markers_that_are_kept_elsewhere(host: Host, tmp_path: Path) -> None:
    host.environ |= {"OMO_STATE_DIR": str(tmp_path / "states"), "XDG_STATE_HOME": str(tmp_path / "state home")}
    host.prompt("ulw fix it")
    (state,) = (tmp_path / "states").iterdir()
    assert (recorded(), recorded(tmp_path / "state home")) == ([], [SESSION])
    shutil.rmtree(tmp_path / "states")
    assert tells(host.stop(), str(state))
    host.stop().assert_silent()


def cancel(host: Host, shell: Project) -> None:
    host.prompt("/omo:stop-continuation")


def finish(host: Host, shell: Project) -> None:
    assert shell.agent("ulw", "done", "--because", "there was nothing to change").code == 0
    assert recorded() == [SESSION], "not before it was told"
    assert "finished on the agent's word" in host.stop().json["systemMessage"]


def exhaust(host: Host, shell: Project) -> None:
    host.environ["OMO_MAX_STOP_BLOCKS"] = "1"
    host.prompt("ulw again")
    assert host.stop().blocks
    assert "1 block without" in host.stop().json["systemMessage"]


def spoil(host: Host, shell: Project) -> None:
    host.write_runtime("{")
    assert "could not be read" in host.stop().json["systemMessage"]


@pytest.mark.parametrize("end", [cancel, finish, exhaust, spoil])
def test_an_end_that_was_told_leaves_no_marker(host: Host, end: Callable[[Host, Project], None]) -> None:
    host.prompt("ulw fix it")
    assert recorded() == [SESSION]
    end(host, Project(host.project))
    assert recorded() == []
    remove(host)
    host.stop().assert_silent()


def test_a_run_that_is_taken_up_takes_its_marker_along_until_it_is_cleared(host: Host) -> None:
    shell = Project(host.project)
    begin_laps(shell)
    after_a_command(host)
    assert recorded() == [SESSION]
    shell.check("resume", SESSION, "--session", "heir", by="user")
    assert host.stop().says_to_user("end-taken-over", by="heir")
    assert recorded() == ["heir"]
    shell.check("state", "clear", "--mode", "laps", "--session", "heir", "--force", by="user")
    assert recorded() == []


def test_a_row_that_somebody_took_out_is_told_like_a_removed_state(host: Host) -> None:
    host.prompt("ulw fix it")
    kept = runtime.read(host.state)
    host.write_runtime(runtime.render({**kept, "sessions": {}}))
    assert tells(host.stop(), host.state)
    host.stop().assert_silent()


@pytest.mark.parametrize("home", ["", "relative", "/nonexistent", "/dev/null"])
def test_without_a_place_outside_nothing_is_on_and_the_variable_is_named(host: Host, home: str) -> None:
    host.environ["HOME"] = home
    answer = host.prompt("ulw fix it", env=CLAUDE)
    assert answer.says_to_user("prompt-not-turned-on-nowhere", project=host.project)
    host.stop().assert_silent()
    assert not (host.project / ".sisyphus").exists()


def test_without_the_variable_too(host: Host) -> None:
    environment = host.environment()
    del environment["HOME"]
    for event, said in (("UserPromptSubmit", "Set XDG_STATE_HOME"), ("Stop", "")):
        done = subprocess.run(
            ["sh", "-c", command_of(event)],
            input=host.payload(event, prompt="ulw fix it"),
            capture_output=True,
            cwd=host.project,
            env=environment,
            check=True,
        )
        assert said in done.stdout.decode()


@pytest.mark.parametrize(
    "content",
    [b"", b"x", b"\xff\n\n", b"[]", b'{"version": 1, "live": ["abc123"],\n"path": 7, "on": "x"}', b"{" * 9000],
)
def test_a_record_of_any_content_is_survived(host: Host, content: bytes) -> None:
    host.prompt("ulw fix it")
    (record,) = records()
    record.write_bytes(content)
    assert host.stop().blocks, "the state names this very session"
    remove(host)
    record.write_bytes(content)
    assert len(host.stop().stdout) < 1000


def test_what_is_shown_of_a_record_is_escaped(host: Host) -> None:
    host.prompt("ulw fix it")
    (record,) = records()
    remove(host)
    stored = json.loads(record.read_text())
    stored["on"][SESSION] = "\x1b[31mred\u202e " + "x" * 9000
    record.write_text(f'{{"version": 1, "live": ["{SESSION}"],\n{json.dumps(stored)[1:]}')
    answer = host.stop()
    assert "was removed" in answer.message
    assert "\\u001b" not in answer.stdout
    assert len(answer.stdout) < 1000


def test_records_of_directories_that_are_long_gone_go_when_a_run_ends(host: Host, tmp_path: Path) -> None:
    other = Host(tmp_path / "another", data=host.data)
    copied(other.project, git_init)
    other.prompt("ulw fix it", session_id="on")
    host.prompt("ulw fix it")
    leave(tmp_path / "gone" / ".sisyphus" / "cc-omo", "", days=200)
    moved = leave(tmp_path / "moved" / ".sisyphus" / "cc-omo", "", days=100)
    host.prompt("/omo:stop-continuation")
    assert len(records()) == 3
    assert moved.exists(), "it may be opened again where it was moved"
    assert recorded() == ["on"]


def test_uninstalling_names_no_session_that_is_gone(host: Host, tmp_path: Path) -> None:
    host.prompt("ulw fix it")
    leave(tmp_path / "gone" / ".sisyphus" / "cc-omo", "project-gone")
    assert live_sessions() == [f"{SESSION} in {host.project}"]


@pytest.mark.usefixtures("through_the_shell")
def test_a_marker_of_another_session_or_project_starts_no_python(host: Host, data: Path, tmp_path: Path) -> None:
    other = Host(tmp_path / "another", data=host.data)
    copied(other.project, git_init)
    host.prompt("ulw fix it")
    other.prompt("ulw fix it", session_id="other-1")
    remove(host)
    noted = note_starts(data)
    for name in ("never-on", "other-1"):
        host.stop(session_id=name).assert_silent()
        host.prompt("hello", session_id=name).assert_silent()
    other.stop().assert_silent()
    assert not noted.exists()
    host.stop().assert_silent()
    assert noted.exists()


def test_status_says_the_same_until_it_was_told(host: Host) -> None:
    shell = Project(host.project)
    removed = ("status-state-removed", {"session": SESSION, "state": host.state, "works": "ultrawork"})

    def told() -> list[tuple[str, bool]]:
        problems = shell.user("status", "--json").json["problems"]
        return [(problem["code"], texts.says(problem["what"], removed[0], **removed[1])) for problem in problems]

    host.prompt("ulw fix it")
    assert "was removed" not in shell.user("status").out
    remove(host)
    assert "was removed" in shell.user("status").out
    assert told() == [("removed", True)]
    host.prompt("ulw begin", session_id="other-1")
    assert told() == [("removed", True)]
    host.stop()
    assert told() == []
