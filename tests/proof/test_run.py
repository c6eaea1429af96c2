"""Commands run as argv, within bounds, and leave nothing of themselves behind."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from omo.errors import BadInput
from omo.proof.run import CommandOutcome, child_environment, run

LONG = 60.0


def python(code: str, *arguments: str, cwd: Path, **options: Any) -> CommandOutcome:
    return run([sys.executable, "-c", code, *arguments], cwd=cwd, **{"timeout": LONG, **options})


@pytest.fixture
def alive(tmp_path: Path) -> Path:
    """A pipe in the file system whose reader sees the end of file when its last writer is dead."""
    path = tmp_path / "alive"
    os.mkfifo(path)
    return path


def wait_until_dead(alive: Path, ready: threading.Event) -> threading.Thread:
    def read() -> None:
        with open(alive, "rb") as pipe:
            ready.set()
            pipe.read()

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    return thread


@pytest.mark.parametrize(
    ("code", "exit_code", "by_signal", "stdout", "stderr"),
    [
        ("print('hi')", 0, None, "hi\n", ""),
        ("import sys; print('no', file=sys.stderr); sys.exit(3)", 3, None, "", "no\n"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", None, signal.SIGTERM, "", ""),
        ("import sys; sys.stdout.buffer.write(b'\\xff')", 0, None, "\N{REPLACEMENT CHARACTER}", ""),
        ("import sys; print(len(sys.stdin.read()))", 0, None, "0\n", ""),
    ],
    ids=["ok", "exit code", "signal", "not utf-8", "no stdin"],
)
def test_outcome(
    tmp_path: Path, code: str, exit_code: int | None, by_signal: int | None, stdout: str, stderr: str
) -> None:
    outcome = python(code, cwd=tmp_path)
    assert (outcome.exit_code, outcome.signal) == (exit_code, by_signal)
    assert (outcome.stdout, outcome.stderr) == (stdout, stderr)
    assert outcome.ok is (exit_code == 0)
    flags = (outcome.timed_out, outcome.not_found, outcome.stdout_truncated, outcome.stderr_truncated)
    assert not any(flags)
    assert outcome.argv == (sys.executable, "-c", code)
    assert outcome.cwd == tmp_path
    assert outcome.duration > 0


def test_nothing_is_parsed_as_shell(tmp_path: Path) -> None:
    text = 'fix Mike\'s $(touch pwned) "x"; (y) | z # w\n`touch pwned` && touch pwned'
    outcome = python("import sys; sys.stdout.write(sys.argv[1])", text, cwd=tmp_path)
    assert outcome.stdout == text
    assert list(tmp_path.iterdir()) == []


def test_a_missing_directory_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        run(["true"], cwd=tmp_path / "missing", timeout=LONG)


@pytest.mark.parametrize("program", ["no-such-program-here", "./missing", "/missing/program", "./plain", "./folder"])
def test_a_program_that_cannot_start_is_an_outcome(tmp_path: Path, program: str) -> None:
    (tmp_path / "plain").write_text("not executable")
    (tmp_path / "folder").mkdir()
    outcome = run([program, "x"], cwd=tmp_path, timeout=LONG)
    assert outcome.not_found
    assert not outcome.ok
    assert (outcome.exit_code, outcome.signal, outcome.timed_out) == (None, None, False)
    assert outcome.stderr


@pytest.mark.parametrize("program", ["./tool", "bin/../tool"])
def test_a_relative_program_is_relative_to_the_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    (tmp_path / "elsewhere").mkdir()
    project = tmp_path / "project"
    (project / "bin").mkdir(parents=True)
    (project / "tool").write_text('#!/bin/sh\necho "$0"\n')
    (project / "tool").chmod(0o755)
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert run([program], cwd=project, timeout=LONG).ok
    monkeypatch.chdir(tmp_path)
    assert run([program], cwd=Path("project"), timeout=LONG).ok


def test_a_time_out_kills_the_whole_group(tmp_path: Path, alive: Path) -> None:
    code = """
import os, sys
pipe = open(sys.argv[1], "wb")
os.fork()
import signal; signal.pause()
"""
    ready = threading.Event()
    dead = wait_until_dead(alive, ready)
    outcome = python(code, str(alive), cwd=tmp_path, timeout=1.0)
    assert outcome.timed_out
    assert outcome.exit_code is None
    assert ready.is_set()
    dead.join(LONG)
    assert not dead.is_alive()


def test_what_the_leader_leaves_behind_is_killed_with_its_output_kept(tmp_path: Path, alive: Path) -> None:
    code = """
import os, sys
pipe = open(sys.argv[1], "wb")
if os.fork() == 0:
    import signal; signal.pause()
print("leader done", flush=True)
"""
    ready = threading.Event()
    dead = wait_until_dead(alive, ready)
    outcome = python(code, str(alive), cwd=tmp_path)
    assert outcome.ok
    assert outcome.stdout == "leader done\n"
    assert not outcome.stdout_truncated
    dead.join(LONG)
    assert not dead.is_alive()


def test_a_daemon_that_left_the_group_does_not_hold_us(tmp_path: Path, alive: Path) -> None:
    code = """
import os, sys
print("leader done", flush=True)
read, write = os.pipe()
if os.fork() == 0:
    os.setsid()
    os.write(write, b"x")
    open(sys.argv[1], "rb").read()
    os._exit(0)
os.read(read, 1)
"""
    outcome = python(code, str(alive), cwd=tmp_path)
    assert outcome.ok
    assert outcome.stdout == "leader done\n"
    assert outcome.stdout_truncated
    open(alive, "wb").close()  # lets the daemon go, and with it the thread that reads its pipe


def test_ctrl_c_kills_the_group(tmp_path: Path, alive: Path) -> None:
    ready = threading.Event()
    dead = wait_until_dead(alive, ready)

    def interrupt() -> None:
        assert ready.wait(LONG)
        os.kill(os.getpid(), signal.SIGINT)

    code = "import signal, sys; pipe = open(sys.argv[1], 'wb'); signal.pause()"
    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        python(code, str(alive), cwd=tmp_path)
    dead.join(LONG)
    assert not dead.is_alive()


@pytest.mark.parametrize("timeout", [LONG, 0.2], ids=["exits", "times out"])
def test_no_zombie_is_left(tmp_path: Path, timeout: float) -> None:
    code = "import signal, sys; sys.argv[1] == 'wait' and signal.pause()"
    python(code, "wait" if timeout < 1 else "go", cwd=tmp_path, timeout=timeout)
    with contextlib.suppress(ChildProcessError):  # there is no child at all; others may have one that lives
        assert os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


@pytest.mark.parametrize(
    ("size", "limit", "truncated"), [(100, 100, False), (101, 100, True), (1_000_000, 100, True), (0, 1, False)]
)
def test_output_is_kept_within_its_limit(tmp_path: Path, size: int, limit: int, truncated: bool) -> None:
    code = """
import sys
data = bytes(ord("a") + i % 26 for i in range(int(sys.argv[1])))
sys.stdout.buffer.write(data)
sys.stderr.buffer.write(data)
"""
    outcome = python(code, str(size), cwd=tmp_path, output_limit=limit)
    whole = "".join(chr(ord("a") + i % 26) for i in range(size))
    for text, cut in ((outcome.stdout, outcome.stdout_truncated), (outcome.stderr, outcome.stderr_truncated)):
        assert cut is truncated
        if not cut:
            assert text == whole
            continue
        head, note, tail = text.split("\n")
        assert len(head + tail) == limit
        assert whole.startswith(head)
        assert whole.endswith(tail)
        assert f"{size - limit} bytes" in note


def test_endless_output_neither_fills_memory_nor_blocks(tmp_path: Path) -> None:
    outcome = run(["yes"], cwd=tmp_path, timeout=0.5, output_limit=1000)
    assert outcome.timed_out
    assert outcome.stdout_truncated
    assert len(outcome.stdout) < 1200
    assert outcome.stdout.endswith("y\n")


def test_a_character_across_two_reads_is_whole(tmp_path: Path) -> None:
    code = "import os\nfor b in 'ü…'.encode(): os.write(1, bytes([b]))"
    assert python(code, cwd=tmp_path).stdout == "ü…"


@pytest.mark.parametrize("code", ["import sys; n = len(sys.stdin.buffer.read()); print(n)", "print(1_000_000)"])
def test_stdin_is_given_whole_and_need_not_be_read(tmp_path: Path, code: str) -> None:
    outcome = python(code, cwd=tmp_path, stdin=b"x" * 1_000_000)
    assert outcome.ok
    assert outcome.stdout == "1000000\n"


KEPT = [
    "PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TMPDIR", "TZ", "USER", "LOGNAME", "SHELL",
    "VIRTUAL_ENV", "PYENV_ROOT", "CARGO_HOME", "RUSTUP_HOME", "GOPATH", "GOCACHE", "JAVA_HOME", "NVM_DIR",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "TEMP", "TMP", "Path",
]  # fmt: skip
DROPPED = [
    "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_ENV_FILE",
    "OMO_SESSION_ID", "OMO_DISABLE", "GITHUB_TOKEN", "GH_TOKEN", "AWS_SECRET_ACCESS_KEY", "NPM_TOKEN",
    "SSH_AUTH_SOCK", "PYENV_TOKEN", "XDG_SECRET", "LC_API_KEY", "GIT_DIR", "PYTHONPATH", "LD_PRELOAD",
    "BASH_ENV", "HTTPS_PROXY", "MYPATH", "PATHS", "",
]  # fmt: skip


def test_the_child_environment_is_an_allowlist() -> None:
    given = dict.fromkeys((*KEPT, *DROPPED), "value")
    assert child_environment(given) == dict.fromkeys(KEPT, "value")


def test_environment_of_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "s3cret")
    monkeypatch.setenv("TZ", "UTC")
    code = "import os; print(*(os.environ.get(n) for n in ('ANTHROPIC_API_KEY', 'TZ', 'EXTRA')))"
    assert python(code, cwd=tmp_path).stdout == "None UTC None\n"
    assert python(code, cwd=tmp_path, env={"EXTRA": "1"}).stdout == "None None 1\n"


def test_python_leaves_no_bytecode_behind(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("X = 1\n")
    assert run([sys.executable, "-c", "import helper"], cwd=tmp_path, timeout=60).ok
    assert [path.name for path in tmp_path.iterdir()] == ["helper.py"]
