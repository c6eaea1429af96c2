"""State that cannot be written or read: nobody is held, the user is told, and what was on goes on once it is mended."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from omo.state import paths
from tests.hooks.conftest import Answer, Host, command_of

CLAUDE = {"CLAUDECODE": "1"}
NOT_HELD = "stop-state-not-usable"
NOT_RECORDED = "prompt-state-not-usable"


def without_room(host: Host, event: str, **fields: str) -> Answer:
    """As on a full disk: files can be made, and not one byte written."""
    done = subprocess.run(
        ["sh", "-c", "ulimit -f 0; " + command_of(event)],
        input=host.payload(event, **fields),
        capture_output=True,
        cwd=host.project,
        env=host.environment(**CLAUDE),
        check=False,
        timeout=60,
    )
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode(), event)


def test_on_a_full_disk_a_stop_lets_go_and_says_so(host: Host) -> None:
    host.prompt("ulw fix it")
    before = host.row()
    answer = without_room(host, "Stop")
    assert (answer.code, answer.stderr) == (0, "")
    assert answer.says_to_user(NOT_HELD)
    assert f"{host.state}{os.sep}" in answer.message
    assert answer.says_to_user("stop-goes-on-once-mended")
    assert host.row() == before
    assert host.stop().blocks, "there is room again"


@pytest.mark.parametrize("prompt", ["stop", "please stop now", "never mind", "continue", "how far?"])
def test_on_a_full_disk_what_is_typed_is_answered(host: Host, prompt: str) -> None:
    host.prompt("ulw fix it")
    before = host.row()
    answer = without_room(host, "UserPromptSubmit", prompt=prompt)
    assert answer.says_to_user(NOT_RECORDED)
    assert host.row() == before


def test_on_a_full_disk_nothing_is_turned_on_and_the_user_reads_what_mends_it(host: Host) -> None:
    host.prompt("ulw fix it")
    host.prompt("/omo:stop-continuation")
    for prompt in ("ulw fix it", "/omo:ultragoal fix it"):
        answer = without_room(host, "UserPromptSubmit", prompt=prompt)
        assert answer.says_to_user("prompt-not-turned-on-unwritable")
        assert "OMO_STATE_DIR" in answer.message


def test_on_a_full_disk_a_session_without_work_is_told_nothing(host: Host) -> None:
    host.prompt("ulw fix it", session_id="other-1")
    for event in ("Stop", "UserPromptSubmit"):
        without_room(host, event, prompt="stop").assert_silent()


def not_json(path: Path) -> None:
    path.write_text("{ torn")


def a_list(path: Path) -> None:
    path.write_text("[]\n")


@pytest.mark.parametrize("spoil", [not_json, a_list])
def test_a_stop_that_is_typed_beside_a_state_that_nobody_can_read_is_answered(
    host: Host, spoil: Callable[[Path], None]
) -> None:
    host.prompt("ulw fix it")
    spoil(Path(paths.runtime_file(host.state)))
    host.prompt("stop", session_id="never-on", env=CLAUDE).assert_silent()
    assert host.prompt("stop", env=CLAUDE).says_to_user(NOT_RECORDED)
    assert host.stop(env=CLAUDE).says_to_user("stop-let-go-unreadable")
    host.stop(env=CLAUDE).assert_silent()
    host.prompt("stop", env=CLAUDE).assert_silent()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write anything")
def test_a_state_that_may_neither_be_read_nor_moved(host: Host) -> None:
    host.prompt("ulw fix it")
    path = Path(paths.runtime_file(host.state))
    path.chmod(0)
    path.parent.chmod(0o500)
    try:
        assert host.stop(env=CLAUDE).says_to_user(NOT_HELD)
        assert host.prompt("stop", env=CLAUDE).says_to_user(NOT_RECORDED)
        host.stop(session_id="never-on", env=CLAUDE).assert_silent()
    finally:
        path.parent.chmod(0o700)
        path.chmod(0o600)
    assert host.stop().blocks
