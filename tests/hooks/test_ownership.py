"""Whose state it is: what this user's omo made here stays theirs, and what lies there otherwise is a stranger's."""

from __future__ import annotations

import json
import os
import pwd
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omo.hooks import main
from omo.state import ownership, paths
from tests import texts
from tests.hooks.conftest import SESSION, Host, command_of
from tests.kept import copied, git_init
from tests.project import HOOKS as HANDLERS
from tests.project import Project
from tests.terminal import terminal

IN_PROCESS = True
SHOWS = {"CLAUDECODE": "1"}


def standing(root: Path, session: str = "", **environ: str) -> str:
    """How the state of a project stands for somebody with these variables."""
    before = dict(os.environ)
    os.environ.update(environ)
    try:
        return ownership.look(str(root / ".sisyphus" / "cc-omo"), str(root), session).standing
    finally:
        os.environ.clear()
        os.environ.update(before)


def arm(host: Host) -> None:
    host.write("a.py", "x = 1\n")
    host.commit()
    host.prompt("ulw fix it")
    host.prompt("/omo:pin tests -- true")
    assert host.stop().blocks


def pins(host: Host) -> str:
    return Project(host.project).user("gate", "list", session="another").out


def at(host: Host, project: Path) -> Host:
    return Host(project, data=host.data, environ=dict(host.environ), in_process=host.in_process)


def test_a_clone_brings_a_state_that_is_neither_read_nor_touched(host: Host, tmp_path: Path) -> None:
    arm(host)
    shutil.copytree(host.project, tmp_path / "theirs")
    clone = at(host, tmp_path / "theirs")
    identity = clone.project / ".sisyphus" / "cc-omo" / "id"
    identity.write_text("0" * 32 + "\n")
    before = snapshot(clone.project)
    for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "Stop", "SubagentStop"):
        answer = clone.send(event, session_id="new", prompt="hello", source="startup", tool_name="Bash", env=SHOWS)
        answer.assert_silent()
    assert snapshot(clone.project) == before
    assert Project(clone.project).user("status").says("status-not-made-by-you", state=clone.state)
    assert "tests" not in pins(clone)


def test_a_stranger_s_state_goes_aside_when_the_user_turns_something_on(host: Host, tmp_path: Path) -> None:
    """It lies in the commit as it is, so nobody works in it."""
    arm(host)
    clone = committed_clone(host, tmp_path / "theirs")
    assert clone.prompt("ulw again", env=SHOWS, session_id="new").says_to_user("state-moved-aside")
    (aside,) = (clone.project / ".sisyphus" / "cc-omo.aside").glob("[0-9]*")
    assert (aside / "runtime.local.json").exists()
    assert "tests" not in pins(clone)
    assert clone.stop(session_id="new").blocks
    assert "cc-omo.aside" not in clone.git("status", "--porcelain", "--untracked-files=all")


def committed_clone(host: Host, target: Path) -> Host:
    """A clone of the repository with the state committed, in which the id is somebody else's."""
    host.git("add", "-f", ".sisyphus")
    host.commit("state")
    subprocess.run(["git", "clone", "-q", str(host.project), str(target)], check=True)
    clone = at(host, target)
    (target / ".sisyphus" / "cc-omo" / "id").write_text("0" * 32 + "\n")
    clone.git("add", "-f", ".sisyphus")
    clone.commit("theirs")
    return clone


def test_a_state_that_looks_alive_is_left_alone_and_both_ways_are_named(host: Host, tmp_path: Path) -> None:
    arm(host)
    shutil.copytree(host.project, tmp_path / "theirs")
    clone = at(host, tmp_path / "theirs")
    (clone.project / ".sisyphus" / "cc-omo" / "id").write_text("0" * 32 + "\n")
    before = snapshot(clone.project)
    said = clone.prompt("ulw again", env=SHOWS, session_id="new")
    assert said.says_to_user("prompt-not-turned-on-foreign", state=clone.state)
    clone.stop(session_id="new").assert_silent()
    assert snapshot(clone.project) == before
    refused = Project(clone.project).agent("adopt", "--yes")
    assert (refused.code, snapshot(clone.project)) == (3, before)
    shown = Project(clone.project).user("adopt", stdin="n\n")
    assert (shown.code, snapshot(clone.project)) == (3, before)
    assert "/omo:pin tests -- true" in shown.err
    assert shown.says("adopt-on", what="ultrawork", session=SESSION)
    assert Project(clone.project).user("adopt", stdin="y\n").code == 0
    assert "tests" in pins(clone), "the user took it, pins and all"
    assert clone.stop().blocks


def test_an_agents_client_moves_no_state_aside(host: Host, tmp_path: Path) -> None:
    arm(host)
    clone = committed_clone(host, tmp_path / "theirs")
    before = snapshot(clone.project)
    clone.prompt("ulw again", session_id="new", env={"CODEX_CI": "1"})
    clone.stop(session_id="new", env={"CODEX_CI": "1"}).assert_silent()
    assert snapshot(clone.project) == before


def test_an_id_alone_makes_nothing_ours(host: Host) -> None:
    host.write("a.py", "x = 1\n")
    host.write(".sisyphus/cc-omo/id", "0" * 32 + "\n")
    host.git("add", "-f", ".")
    host.commit()
    assert standing(host.project) == ownership.FOREIGN
    assert host.prompt("ulw x", env=SHOWS).says_to_user("state-moved-aside")
    assert Path(host.state, "id").read_text() != "0" * 32 + "\n"
    assert host.stop().blocks
    assert standing(host.project) == ownership.OURS


def test_what_is_not_adopted_is_moved_aside(host: Host, tmp_path: Path) -> None:
    arm(host)
    shutil.copytree(host.project, tmp_path / "theirs")
    clone = at(host, tmp_path / "theirs")
    (clone.project / ".sisyphus" / "cc-omo" / "id").write_text("0" * 32 + "\n")
    assert Project(clone.project).user("adopt", "--not", "--yes").code == 0
    assert not (clone.project / ".sisyphus" / "cc-omo").exists()
    assert Project(clone.project).user("adopt").says("adopt-empty")
    clone.prompt("ulw again", session_id="new")
    assert clone.stop(session_id="new").blocks


def test_a_copy_beside_the_original_is_a_stranger_s(host: Host, tmp_path: Path) -> None:
    arm(host)
    shutil.copytree(host.project, tmp_path / "copy")
    assert standing(host.project) == ownership.OURS
    assert standing(tmp_path / "copy") == ownership.FOREIGN


def test_a_project_that_was_moved_takes_its_state_along_and_a_new_clone_at_the_old_path_gets_none(
    host: Host, tmp_path: Path
) -> None:
    arm(host)
    old = host.project
    moved = at(host, tmp_path / "moved")
    shutil.move(old, moved.project)
    copied(old, git_init)
    assert standing(old) == ownership.ABSENT
    assert moved.stop().blocks
    assert "tests" in pins(moved)
    at(host, old).stop().assert_silent()
    assert moved.stop().blocks


def test_two_names_of_one_directory_are_one(host: Host, tmp_path: Path) -> None:
    arm(host)
    (tmp_path / "link").symlink_to(host.project)
    assert standing(tmp_path / "link") == ownership.OURS
    assert at(host, tmp_path / "link").stop().blocks
    assert host.stop().blocks


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting takes root")
def test_a_bind_mount_of_the_project_is_the_project(host: Host, tmp_path: Path) -> None:
    """As a container and its host see it with the same home."""
    arm(host)
    (tmp_path / "mounted").mkdir()
    look = "import sys; from omo.state import ownership as o; print(o.look(*sys.argv[1:]).standing)"
    state = tmp_path / "mounted" / ".sisyphus" / "cc-omo"
    script = 'mount --bind "$1" "$2" || exit 99; shift 2; exec "$@"'
    mounted = ["unshare", "-m", "sh", "-c", script, "sh", str(host.project), str(tmp_path / "mounted")]
    python = [shutil.which("python3") or "python3", "-c", look, str(state), str(tmp_path / "mounted")]
    source = str(Path(ownership.__file__).parents[2])
    done = subprocess.run([*mounted, *python], env={**os.environ, "PYTHONPATH": source}, capture_output=True, text=True)
    if done.returncode == 99:
        pytest.skip("nothing can be mounted here")
    assert done.stdout.strip() == ownership.OURS, done.stderr


def test_a_link_in_the_project_leads_to_nobody_s_state(host: Host, tmp_path: Path) -> None:
    """A clone could guess where another project of the user's lies, with pins that it would like to run."""
    arm(host)
    clone = at(host, tmp_path / "theirs")
    copied(clone.project, git_init)
    (clone.project / ".sisyphus").symlink_to(host.project / ".sisyphus")
    assert standing(clone.project) == ownership.LINKED
    before = snapshot(host.project)
    said = clone.prompt("ulw again", env=SHOWS, session_id="new")
    assert said.says_to_user("prompt-not-turned-on-linked", link=clone.project / ".sisyphus")
    clone.stop().assert_silent()
    assert snapshot(host.project) == before


def test_a_worktree_has_a_state_of_its_own_and_takes_it_along_when_it_is_moved(host: Host, tmp_path: Path) -> None:
    arm(host)
    host.git("add", "-f", ".sisyphus")
    host.commit("the agent adds the state")
    host.git("worktree", "add", "-q", str(tmp_path / "tree"))
    beside = at(host, tmp_path / "tree")
    assert standing(beside.project) == ownership.FOREIGN, "what git brought there is a copy"
    beside.prompt("ulw again", session_id="second")
    assert beside.stop(session_id="second").blocks
    host.git("worktree", "move", "--force", str(beside.project), str(tmp_path / "moved"))
    assert at(host, tmp_path / "moved").stop(session_id="second").blocks
    assert host.stop().blocks


def test_a_container_and_its_host_take_turns(host: Host, tmp_path: Path) -> None:
    """Another home, the same files: each finds its own state again, once the other no longer works there."""
    arm(host)
    homes = {"host": os.environ["HOME"], "container": str(tmp_path / "root")}
    os.mkdir(homes["container"])
    container = at(host, host.project)
    container.environ["HOME"] = homes["container"]
    said = container.prompt("ulw again", session_id="inside", env=SHOWS)
    assert said.says_to_user("prompt-not-turned-on-foreign"), "the host may be at work"
    age(host.project)
    said = container.prompt("ulw again", session_id="inside", env=SHOWS)
    assert said.says_to_user("state-moved-aside")
    assert container.stop(session_id="inside").blocks
    assert "tests" not in json.dumps(container.events("inside"))
    age(host.project)
    assert host.stop().blocks
    assert "tests" in pins(host)


def age(project: Path) -> None:
    """Nothing was written for two hours."""
    for path in (project / ".sisyphus").rglob("*"):
        moment = path.lstat().st_mtime - 7200
        os.utime(path, (moment, moment), follow_symlinks=False)


def test_another_user_s_home_as_with_sudo_reads_and_changes_nothing(host: Host, tmp_path: Path) -> None:
    arm(host)
    before = snapshot(host.project)
    (tmp_path / "root").mkdir()
    environ = {"HOME": str(tmp_path / "root")}
    assert standing(host.project, **environ) == ownership.FOREIGN
    look = at(host, host.project)
    look.environ |= environ
    look.send("SessionStart", session_id="of-root", source="startup", env=SHOWS).assert_silent()
    assert snapshot(host.project) == before
    assert list((tmp_path / "root").rglob("*")) == []


def test_a_second_machine_on_a_shared_home_finds_it(host: Host, tmp_path: Path) -> None:
    """The same home and project; and a home alone, where the project lies elsewhere and not at the recorded path."""
    arm(host)
    assert standing(host.project) == ownership.OURS
    there = tmp_path / "on the second machine"
    shutil.move(host.project, there)
    assert standing(there) == ownership.OURS


@pytest.mark.parametrize("restores_record", [True, False])
def test_a_job_that_restores_the_state_believes_it_only_with_its_record(
    host: Host, tmp_path: Path, restores_record: bool
) -> None:
    arm(host)
    cache = tmp_path / "cache"
    shutil.copytree(host.project / ".sisyphus", cache / ".sisyphus")
    records = Path(os.environ["HOME"], ".local", "state", "omo")
    shutil.copytree(records, cache / "omo")
    shutil.rmtree(host.project / ".sisyphus")
    shutil.rmtree(records)
    shutil.copytree(cache / ".sisyphus", host.project / ".sisyphus")
    if restores_record:
        shutil.copytree(cache / "omo", records)
    assert standing(host.project) == (ownership.OURS if restores_record else ownership.FOREIGN)
    ran = Project(host.project).user("status", "--json", has_terminal=False, is_under_agent=False)
    assert bool(ran.json["sessions"]) == restores_record


def test_the_default_place_is_read_too_by_a_terminal_that_names_another(host: Host, tmp_path: Path) -> None:
    arm(host)
    assert standing(host.project, XDG_STATE_HOME=str(tmp_path / "elsewhere")) == ownership.OURS


def test_a_terminal_that_does_not_find_the_record_lets_go_all_the_same(host: Host, tmp_path: Path) -> None:
    host.environ["XDG_STATE_HOME"] = str(tmp_path / "of the client")
    arm(host)
    assert standing(host.project) == ownership.FOREIGN
    ran = Project(host.project).user("stop-continuation", "--all")
    assert ran.says("session-nothing-holds-any-more", ended=SESSION)
    assert not host.stop().blocks


def test_a_place_that_cannot_be_written_gives_way_to_the_next(host: Host, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    host.environ["XDG_STATE_HOME"] = str(tmp_path / "file" / "below")
    arm(host)
    assert host.stop().blocks


@pytest.mark.parametrize("place", ["relative", ".state", "PROJECT/.state", "PROJECT"])
def test_a_place_that_a_clone_can_name_is_none_and_is_named(host: Host, place: str) -> None:
    """As a client's settings in the project can set it."""
    named = place.replace("PROJECT", str(host.project))
    host.environ["XDG_STATE_HOME"] = named
    arm(host)
    assert not (host.project / ".state").exists()
    assert Path(os.environ["HOME"], ".local", "state", "omo", "projects").is_dir()
    ran = Project(host.project).user("status", env={"XDG_STATE_HOME": named})
    assert "XDG_STATE_HOME" in ran.out


@pytest.mark.parametrize("place", ["states", "PROJECT/states"])
def test_a_state_directory_that_a_clone_can_name_is_not_used(host: Host, place: str) -> None:
    named = place.replace("PROJECT", str(host.project))
    host.environ["OMO_STATE_DIR"] = named
    host.prompt("ulw fix it")
    assert (host.project / ".sisyphus" / "cc-omo" / "id").exists()
    assert not (host.project / "states").exists()
    assert "OMO_STATE_DIR" in Project(host.project).user("status", env={"OMO_STATE_DIR": named}).out


def test_a_home_in_the_project_is_believed_only_if_the_system_says_so(host: Host) -> None:
    home = host.project / "home"
    home.mkdir()
    host.environ["HOME"] = str(home)
    said = host.prompt("ulw fix it", env=SHOWS).json["systemMessage"]
    assert "Set XDG_STATE_HOME" in said
    assert list(home.rglob("*")) == []


def test_a_home_that_is_the_project_is_the_user_s_own(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person may begin a session in their home, with the usual directories named by variables."""
    place = str(host.project / ".local" / "state")
    user = pwd.struct_passwd(("u", "x", os.getuid(), 0, "", str(host.project), "/bin/sh"))
    monkeypatch.setattr(pwd, "getpwuid", lambda number: user)
    host.environ |= {"HOME": str(host.project), "XDG_STATE_HOME": place}
    arm(host)
    assert list(Path(place, "omo", "projects").glob("[0-9a-f]*"))
    assert "XDG_STATE_HOME" not in Project(host.project).user("status", env={"XDG_STATE_HOME": place}).out


def test_a_branch_that_replaces_files_of_the_state_brings_no_word_of_the_user_s(host: Host, tmp_path: Path) -> None:
    """The id stays, since the branch has none; the ledger with a pin is the stranger's."""
    arm(host)
    host.prompt("/omo:unpin tests")
    assert "tests" not in pins(host)
    theirs = tmp_path / "theirs"
    shutil.copytree(host.project, theirs)
    stranger = at(host, theirs)
    (theirs / ".sisyphus" / "cc-omo" / "id").unlink()
    stranger.environ["HOME"] = str(tmp_path / "another home")
    os.mkdir(stranger.environ["HOME"])
    forge_pin(stranger)
    stranger.git("add", "-f", ".sisyphus")
    stranger.git("rm", "-q", "--cached", "-f", "--ignore-unmatch", ".sisyphus/cc-omo/id")
    stranger.commit("a branch to look at")
    host.git("fetch", "-q", str(theirs), "HEAD")
    host.git("checkout", "-q", "-f", "FETCH_HEAD")
    assert "evil" in json.dumps(host.events())
    assert standing(host.project) == ownership.OURS
    assert "evil" not in pins(host)
    host.prompt("ulw go on", env=SHOWS)
    ran = Project(host.project).agent("gate", "list")
    assert "evil" not in ran.out


def forge_pin(host: Host) -> None:
    """Write a pin as omo writes it when the user types one, with a chain that is whole."""
    from omo.state import ledger, runtime

    row = runtime.read(host.state)["sessions"][SESSION]
    pin = {"kind": "gate-added", "name": "evil", "argv": ["touch", "x"], "cwd": ".", "by": "user", "timeout": 60.0}
    path = paths.events_file(host.state, SESSION)
    _, head = ledger.append(path, [pin], actor="user", now=host.now, mark=row["ledger"])
    stored = runtime.read(host.state)
    stored["sessions"][SESSION] = {**row, "pins": True, "ledger": head.mark}
    Path(paths.runtime_file(host.state)).write_text(runtime.render(stored))


def test_an_agent_that_adds_the_state_to_git_keeps_the_run_on(host: Host) -> None:
    arm(host)
    host.git("add", "-f", ".sisyphus")
    host.commit("away with it")
    assert standing(host.project) == ownership.OURS
    assert host.stop().blocks


def test_an_agent_that_removes_the_record_keeps_the_run_on_and_its_end_says_so(host: Host) -> None:
    arm(host)
    for path in Path(os.environ["HOME"], ".local", "state", "omo", "projects").glob("*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert host.stop().blocks
    assert standing(host.project) == ownership.OURS, "a hook has written a new one"
    assert "tests" not in pins(host), "nobody can tell any more who pinned it"
    host.prompt("/omo:unpin tests")
    ran = Project(host.project).agent("ulw", "done", "--because", "there was nothing to change here")
    assert ran.code == 0, ran.err
    assert host.stop().says_to_user("end-record-removed")


def test_an_agent_that_changes_the_id_keeps_the_run_on(host: Host) -> None:
    arm(host)
    (host.project / ".sisyphus" / "cc-omo" / "id").write_text("f" * 32 + "\n")
    assert host.stop().blocks
    assert standing(host.project) == ownership.OURS


@pytest.mark.usefixtures("through_the_shell")
def test_an_agent_that_empties_the_list_of_live_sessions_keeps_the_run_on(host: Host) -> None:
    """The launcher reads that list, and the record when the list is silent."""
    arm(host)
    runtime_file = Path(host.state, "runtime.local.json")
    text = runtime_file.read_text()
    runtime_file.write_text(text.replace(f'"live": ["{SESSION}"]', '"live": []', 1))
    assert host.stop().blocks


def test_a_command_in_an_agents_shell_makes_no_state_and_the_hook_before_it_does(host: Host) -> None:
    add = ("gate", "add", "tests", "--", "true")
    alone = host.agent(*add, is_heard=False)
    assert alone.code == 77
    assert alone.says("state-none-in-agents-shell", project=host.project)
    assert not (host.project / ".sisyphus").exists()
    host.in_process = False
    host.send("PreToolUse", tool_name="Bash", tool_input={"command": "omo next --json | head"})
    host.send("PreToolUse", tool_name="Bash", tool_input={"command": "echo tomorrow"})
    assert not (host.project / ".sisyphus").exists()
    host.send("PreToolUse", tool_name="Bash", tool_input={"command": "cd . && omo gate add tests -- true"})
    assert host.agent(*add, is_heard=False).code == 0


def test_in_codex_s_sandbox_the_agents_command_only_reads_the_record(host: Host) -> None:
    """Its home is read-only: what the command changes, the next hook notes."""
    arm(host)
    records = Path(os.environ["HOME"], ".local", "state", "omo", "projects")
    before = snapshot(records)
    host.agent("ulw", "done", "--because", "there was nothing to change here", is_heard=False)
    assert snapshot(records) == before
    host.stop()
    assert snapshot(records) != before


def test_state_of_an_earlier_omo_lets_go_and_its_pins_are_offered(host: Host) -> None:
    arm(host)
    runtime_file = Path(host.state, "runtime.local.json")
    text = runtime_file.read_text()
    runtime_file.write_text(text.replace('{"version": 4', '{"version": 1', 1))
    Path(host.state, "id").unlink()
    said = host.stop(env=SHOWS)
    assert said.says_to_user("state-of-an-earlier-omo")
    assert "\n  /omo:pin tests -- true" in said.message
    assert said.says_to_user("hook-nothing-holds")
    host.stop(env=SHOWS).assert_silent()
    host.prompt("ulw again")
    assert host.stop().blocks


def test_a_person_in_a_terminal_begins_anew_or_adopts(host: Host, tmp_path: Path) -> None:
    arm(host)
    clone = committed_clone(host, tmp_path / "theirs")
    here = Project(clone.project)
    refused = here.user("gate", "add", "lint", "--", "true", session="mine")
    assert refused.code == 77
    assert "omo adopt --not moves it aside" in refused.err
    assert here.user("adopt", "--not", "--yes").code == 0
    assert here.user("gate", "add", "lint", "--", "true", session="mine").code == 0


def snapshot(directory: Path) -> dict[str, bytes | str]:
    """Every file below, and where every link leads."""
    found: dict[str, bytes | str] = {}
    for path in directory.rglob("*"):
        if path.is_symlink():
            found[str(path)] = os.readlink(path)
        elif path.is_file():
            found[str(path)] = path.read_bytes()
    return found


ODD = st.one_of(
    st.none(), st.booleans(), st.integers(), st.text(max_size=20), st.lists(st.text(max_size=5), max_size=3)
)
RECORDS = st.one_of(
    st.binary(max_size=80),
    st.fixed_dictionaries(
        {},
        optional={
            "version": st.sampled_from([1, 2, 3, "1", None]),
            "live": ODD,
            "path": st.one_of(ODD, st.sampled_from(["/", "/etc", "relative", "STATE"])),
            "name": st.one_of(ODD, st.sampled_from(["/", "/etc", "../..", "STATE"])),
            "on": st.one_of(ODD, st.dictionaries(st.sampled_from([SESSION, "x/../..", "*"]), ODD, max_size=3)),
            "known": ODD,
        },
    ),
)
ROWS = st.one_of(
    st.binary(max_size=80),
    st.fixed_dictionaries(
        {"version": st.sampled_from([1, 2, 3, 4, "2", None])},
        optional={
            "sessions": st.one_of(
                ODD,
                st.dictionaries(
                    st.sampled_from([SESSION, "*", "../../outside", "a/b"]),
                    st.fixed_dictionaries({}, optional=dict.fromkeys(("ulw", "work", "ledger", "client", "pins"), ODD)),
                    max_size=3,
                ),
            )
        },
    ),
)


@settings(max_examples=60)
@given(record=RECORDS, identity=st.one_of(st.none(), st.binary(max_size=40)), row=st.one_of(st.none(), ROWS))
def test_records_ids_and_rows_of_any_kind_are_survived(
    record: bytes | dict[str, object], identity: bytes | None, row: bytes | dict[str, object] | None
) -> None:
    """No traceback, and nothing is written outside the state and the user's directory for records."""
    with tempfile.TemporaryDirectory() as directory:
        top = Path(directory)
        root, home, outside = top / "p", top / "home", top / "outside"
        for each in (root, home, outside):
            each.mkdir()
        (outside / "kept").write_text("kept")
        project = Project(root)
        with patch.dict(os.environ, {"HOME": str(home)}):
            project.prompt("ulw fix it")
            (kept,) = (path for path in (home / ".local/state/omo/projects").iterdir() if len(path.name) == 32)
            kept.write_bytes(as_bytes(record, project.state))
            if identity is not None:
                Path(project.state, "id").write_bytes(identity)
            if row is not None:
                Path(project.state, "runtime.local.json").write_bytes(as_bytes(row, project.state))
            for event in ("session-start", "user-prompt-submit", "pre-tool-use", "stop"):
                raw = json.dumps({"session_id": SESSION, "cwd": str(root), "prompt": "hello", "source": "resume"})
                _, handle = HANDLERS[event]
                main.answer(event, handle, raw.encode(), {"PATH": ""}, str(root), project.now)
            assert project.omo("status", by="user").code in (0, 3)
            logged = "".join(path.read_text() for path in root.rglob("hooks.log"))
            assert not re.search(r"(Type|Key|Attribute|Value|Index|Assertion|Recursion)Error", logged), logged
        assert (outside / "kept").read_text() == "kept"
        assert {path.name for path in outside.iterdir()} == {"kept"}
        assert {path.name for path in root.iterdir()} == {".sisyphus"}
        assert {path.name for path in home.iterdir()} <= {".local"}


def as_bytes(value: bytes | dict[str, object], state: str) -> bytes:
    return value if isinstance(value, bytes) else json.dumps(value).replace("STATE", state).encode()


def test_the_commands_of_a_real_terminal_know_their_owner(host: Host) -> None:
    """Through bin/omo, whose user has no variable of an agent's."""
    arm(host)
    with terminal() as screen:
        done = subprocess.run(
            [str(host.plugin / "bin" / "omo"), "adopt"],
            cwd=host.project,
            env={"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "OMO_ENV_HOME": str(host.data)},
            stdin=screen,
            capture_output=True,
            text=True,
            check=False,
        )
    assert texts.says(done.stdout, "adopt-yours", state=host.state), done.stderr
    assert command_of("Stop")
