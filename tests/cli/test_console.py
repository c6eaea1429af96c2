"""The command as a process: what it says where its output cannot go, and with which exit code it ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Shell

SOURCE = Path(__file__).resolve().parents[2] / "src"
CONSOLE = "from omo.cli import console; console()"
FULL = "omo: the output cannot be written: No space left on device\n"

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a shell's redirections are needed")


def ran(where: Path, redirections: str, *argv: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONUTF8": "1"}
    line = f'"$@" {redirections}'
    command = ["sh", "-c", line, "sh", sys.executable, "-c", CONSOLE, *argv]
    return subprocess.run(command, cwd=where, env=environ, capture_output=True, text=True, check=False)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device here")
@pytest.mark.parametrize("argv", [("status",), ("completion", "bash")])
def test_a_full_output_is_told_in_a_line(shell: Shell, argv: tuple[str, ...]) -> None:
    done = ran(shell.project, ">/dev/full", *argv)
    assert (done.returncode, done.stderr) == (1, FULL)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device here")
def test_help_that_cannot_be_written_ends_without_noise(shell: Shell) -> None:
    done = ran(shell.project, ">/dev/full", "--help")  # newer argparse swallows the error itself
    assert (done.returncode, done.stderr) in [(0, ""), (1, FULL)]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device here")
def test_where_nothing_can_be_told_the_exit_code_still_is(shell: Shell) -> None:
    assert ran(shell.project, ">/dev/full 2>/dev/full", "status").returncode == 1


@pytest.mark.parametrize(
    ("closed", "argv", "code"),
    [(">&-", ("status",), 0), (">&-", ("status", "--nonsense"), 2), (">&- 2>&- <&-", ("explain", "prompt"), 0)],
)
def test_a_closed_output_is_silence(shell: Shell, closed: str, argv: tuple[str, ...], code: int) -> None:
    done = ran(shell.project, closed, *argv)
    assert (done.returncode, done.stdout) == (code, "")
    assert "bug" not in done.stderr
    assert "Exception" not in done.stderr


def test_whoever_has_read_enough_is_left_in_peace(shell: Shell) -> None:
    done = ran(shell.project, "| head -c 1", "completion", "bash")
    assert (done.stdout, done.stderr) == ("#", "")


def test_a_directory_that_is_gone_is_told_in_a_line(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    environ = {**os.environ, "PYTHONPATH": str(SOURCE)}
    line = 'rmdir "$PWD"; "$@"'
    command = ["sh", "-c", line, "sh", sys.executable, "-c", CONSOLE, "status"]
    done = subprocess.run(command, cwd=gone, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "omo: the directory you are in was removed\n  fix: cd to one that is there\n"
