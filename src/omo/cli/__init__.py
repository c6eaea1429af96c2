"""The `omo` command: parse, call, render. stdout is data, stderr is talk."""

from __future__ import annotations

import errno
import gc
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

# What a write fails with where whoever takes our output cannot: a full disk, a quota, a terminal that is gone.
UNTAKEN = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


def console() -> None:
    gc.set_threshold(100_000)  # most commands end before it pays to look for garbage
    _open_what_is_closed()
    try:
        code = _run()
        sys.stdout.flush()
    except BrokenPipeError:
        code = 0
        _write_to_nobody()
    except KeyboardInterrupt:
        code = 130
    except Exception as error:
        if os.environ.get("OMO_DEBUG"):
            raise
        code = _say(error)
    sys.exit(code)


def _run() -> int:
    """The command's exit code, also where the parser has ended it, as for --help."""
    try:
        cwd = os.getcwd()
    except FileNotFoundError:
        print("omo: the directory you are in was removed\n  fix: cd to one that is there", file=sys.stderr)
        return 2
    from omo import progress
    from omo.cli.main import main

    progress.stream = sys.stderr
    argv = sys.argv[1:]
    has_terminal = _has_terminal()
    is_under_agent = True
    if has_terminal or argv[:1] in (["setup"], ["run"], ["receipt"]):  # which alone may be a script's
        is_under_agent = _is_under_agent(in_session=has_terminal)
    is_persons = has_terminal and not is_under_agent
    try:
        return main(argv, os.environ, cwd, time.time(), has_terminal=is_persons, is_under_agent=is_under_agent)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)


def _is_under_agent(*, in_session: bool) -> bool:
    """Whether a program above this one has what hosts set for their agents, where the system lets us look: some give
    them a terminal, and `env -u` takes away what they set in it. In a terminal the programs of its session count, which
    were started in it; where there is none, all."""
    from omo import hosts

    marks = [f"{name}=".encode() for name in hosts.agent_variables()]
    process, first = os.getppid(), os.getsid(0)
    try:
        while process > 0 and (not in_session or (first != os.getpid() and os.getsid(process) == first)):
            with open(f"/proc/{process}/environ", "rb") as file:
                variables = b"\0" + file.read()
            if any(b"\0" + mark in variables for mark in marks):
                return True
            with open(f"/proc/{process}/stat", "rb") as file:
                process = int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, ValueError):
        return False
    return False


def _has_terminal() -> bool:
    """Also where input and output go elsewhere: `omo status | less` is typed by a person."""
    if any(os.isatty(number) for number in range(3)):
        return True
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


def _say(error: Exception) -> int:
    if isinstance(error, OSError) and error.errno in UNTAKEN and error.filename is None:
        lines = [f"omo: the output cannot be written: {error.strerror}"]
        _write_to_nobody()
    else:
        lines = [
            f"omo: a bug in omo: {type(error).__name__}: {error}",
            "  fix: run it again with OMO_DEBUG=1 and report what it prints",
        ]
    try:
        print("\n".join(lines), file=sys.stderr, flush=True)
    except OSError:
        _write_to_nobody(sys.stderr)
    return 1


def _open_what_is_closed() -> None:
    """A shell's `>&-`. Else the next file that is opened would be the standard output of every program we start; as it
    is, the lowest number that is free is the one that is closed."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115  # stays open


def _write_to_nobody(stream: TextIO | None = None) -> None:
    """What is still buffered goes nowhere, so that the interpreter does not try again when it ends."""
    number = (stream or sys.stdout).fileno()
    nobody = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nobody, number)
    os.close(nobody)
