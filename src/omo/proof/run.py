"""Run a command for somebody: argv without a shell, bounded in time and output, killed as a group."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from omo import progress, variables
from omo.errors import BadInput
from omo.proof import bytecode

OUTPUT_LIMIT = 64_000

# How long output may keep coming once every process we can reach is dead: long enough to drain a
# pipe, short enough that a daemon which left the group and kept the pipe open does not hold us.
DRAIN_SECONDS = 1.0
KILL_SECONDS = 5.0

_ALLOWED = re.compile(
    r"""
      PATH | HOME | LANG | LANGUAGE | LC_\w+ | TERM | TMPDIR | TEMP | TMP | TZ | USER | LOGNAME | SHELL | XDG_\w+
    | VIRTUAL_ENV | PYENV_\w+ | CONDA_PREFIX | CONDA_DEFAULT_ENV | RBENV_\w+ | GEM_HOME | GEM_PATH
    | CARGO_HOME | RUSTUP_HOME | RUSTUP_TOOLCHAIN | GOPATH | GOROOT | GOCACHE | GOMODCACHE | DOTNET_ROOT
    | JAVA_HOME | M2_HOME | MAVEN_HOME | GRADLE_HOME | GRADLE_USER_HOME | ANDROID_HOME | ANDROID_SDK_ROOT
    | NVM_DIR | NVM_BIN | FNM_DIR | VOLTA_HOME | PNPM_HOME | BUN_INSTALL | DENO_DIR
    | SSL_CERT_\w+ | NODE_EXTRA_CA_CERTS | REQUESTS_CA_BUNDLE | CURL_CA_BUNDLE
    """,
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True)
class CommandOutcome:
    """How a command ended.

    `exit_code` is None when it did not exit by itself or never started. A truncated stream went over its
    limit, or was still held open by a process that had left the group.
    """

    argv: tuple[str, ...]
    cwd: Path
    duration: float
    exit_code: int | None = None
    signal: int | None = None
    timed_out: bool = False
    not_found: bool = False
    stdout: str = ""
    stderr: str = ""
    stdout_truncated: bool = False
    stderr_truncated: bool = False

    @property
    def ok(self) -> bool:
        return self.exit_code == 0


def child_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What a command needs to find its tools, and what is the user's own; nothing that identifies the session or opens
    an account."""
    own = variables.handed_on()
    allowed = {}
    for name, value in environ.items():
        if name in own or (_ALLOWED.fullmatch(name) and not variables.is_secret(name)):
            allowed[name] = value
    return allowed


def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    timeout: float,
    output_limit: int = OUTPUT_LIMIT,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    started: Callable[[int], None] | None = None,
    is_judged: bool = True,
) -> CommandOutcome:
    """Run `argv` in `cwd` and say how it ended; only bad input raises. `started` is told its process group.

    `env` is the whole environment of the child, by default the allowed part of ours; but for where Python compiles to,
    if what it says is judged. A program that cannot be
    started is `not_found`, with the reason in `stderr`. Nothing of the command's process group outlives the call.
    """
    command = tuple(argv)
    where = Path(os.path.abspath(cwd))
    if not where.is_dir():
        raise BadInput(f"a command cannot run in {where}: not a directory", fix="name an existing directory")
    environment = dict(child_environment(os.environ) if env is None else env)
    if is_judged:
        environment |= bytecode.variables()
    began = time.monotonic()
    try:
        process = _start(command, where, environment, feed=bool(stdin))
    except ValueError as error:
        raise BadInput(f"the system does not take this command or its environment: {error}") from error
    except OSError as error:
        return CommandOutcome(command, where, time.monotonic() - began, not_found=True, stderr=str(error))
    out, err = _Kept(output_limit), _Kept(output_limit)
    waiter = _thread(process.wait)  # with a time it would look every 50 ms, and many a test takes less
    with progress.doing(f"running {shlex.join(command)}"):
        try:
            if started is not None:
                started(process.pid)
            if process.stdin is not None:
                _thread(_write, process.stdin, stdin)
            readers = [_thread(out.read, process.stdout), _thread(err.read, process.stderr)]
            waiter.join(max(0.0, began + timeout - time.monotonic()))
            timed_out = waiter.is_alive()
        finally:
            _end_group(process.pid, waiter)
    deadline = time.monotonic() + DRAIN_SECONDS
    for reader in readers:
        reader.join(max(0.0, deadline - time.monotonic()))
    code = process.returncode
    return CommandOutcome(
        argv=command,
        cwd=where,
        duration=time.monotonic() - began,
        exit_code=code if code is not None and code >= 0 and not timed_out else None,
        signal=-code if code is not None and code < 0 else None,
        timed_out=timed_out,
        stdout=out.text(),
        stderr=err.text(),
        stdout_truncated=out.truncated,
        stderr_truncated=err.truncated,
    )


def _start(
    command: tuple[str, ...], cwd: Path, environment: Mapping[str, str], *, feed: bool
) -> subprocess.Popen[bytes]:
    program = None  # searched along the child's PATH
    if os.path.dirname(command[0]):
        program = str(cwd / command[0])
    return subprocess.Popen(
        command,
        executable=program,
        cwd=cwd,
        env=environment,
        stdin=subprocess.PIPE if feed else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,
    )


class _Kept:
    """The beginning and the end of a stream, within `limit` bytes, however long the stream is."""

    def __init__(self, limit: int) -> None:
        self._head_limit = limit // 4
        self._tail_limit = limit - self._head_limit
        self._head = self._tail = b""
        self._dropped = 0
        self._ended = False

    def read(self, stream: IO[bytes]) -> None:
        """Bytes are never changed in place, so whoever looks while this goes on needs no lock."""
        with stream:
            while chunk := stream.read(65_536):
                room = self._head_limit - len(self._head)
                self._head += chunk[:room]
                tail = self._tail + chunk[room:]
                if len(tail) > 2 * self._tail_limit:
                    self._dropped += len(tail) - self._tail_limit
                    tail = tail[-self._tail_limit :]
                self._tail = tail
        self._ended = True

    @property
    def truncated(self) -> bool:
        return not self._ended or self._dropped > 0 or len(self._tail) > self._tail_limit

    def text(self) -> str:
        head, kept = self._head, self._tail
        tail = kept[-self._tail_limit :]
        dropped = self._dropped + len(kept) - len(tail)
        if not dropped:
            return (head + tail).decode("utf-8", "replace")
        return f"{head.decode('utf-8', 'replace')}\n[… {dropped} bytes left out …]\n{tail.decode('utf-8', 'replace')}"


def shortened(outcome: CommandOutcome, limit: int = OUTPUT_LIMIT) -> CommandOutcome:
    """Return the outcome of a command as if no more of its output than `limit` had been kept."""
    out, err = _Kept(limit), _Kept(limit)
    out.read(io.BytesIO(outcome.stdout.encode()))
    err.read(io.BytesIO(outcome.stderr.encode()))
    return replace(
        outcome,
        stdout=out.text(),
        stderr=err.text(),
        stdout_truncated=outcome.stdout_truncated or out.truncated,
        stderr_truncated=outcome.stderr_truncated or err.truncated,
    )


def _thread(target: Callable[..., object], *arguments: object) -> threading.Thread:
    """A daemon, as one whose pipe an escaped process holds never ends."""
    thread = threading.Thread(target=target, args=arguments, daemon=True)
    thread.start()
    return thread


def _write(stream: IO[bytes], data: bytes) -> None:
    with contextlib.suppress(OSError), stream:  # a command need not read what it is given
        view = memoryview(data)
        while view:
            view = view[stream.write(view) :]


def _end_group(group: int, waiter: threading.Thread) -> None:
    """However it went (exit, time-out, Ctrl-C), the group is killed and the leader reaped."""
    # ProcessLookupError: nobody left. PermissionError: macOS says so of a group of zombies.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
    waiter.join(KILL_SECONDS)


class Guard:
    """Ends a process group where this process is killed: a shell that waits for our end of a pipe to close."""

    def __init__(self) -> None:
        self._shell: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Guard:
        return self

    def over(self, group: int) -> None:
        command = ["sh", "-c", 'read -r line || kill -9 "-$1"', "sh", str(group)]
        nobody = subprocess.DEVNULL
        self._shell = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=nobody, stderr=nobody, start_new_session=True
        )

    def __exit__(self, *raised: object) -> None:
        if self._shell is not None:
            self._shell.communicate(b"over\n")
