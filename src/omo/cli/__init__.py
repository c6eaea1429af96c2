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

OF_SCRIPTS = ("setup", "run", "receipt", "proof", "adopt")  # commands that a user's script may call
# What a write of our output fails with, where that is no bug of ours: a full disk, a quota, a terminal that is gone.
OUTPUT_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


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
        code = _report(error)
    gc.freeze()  # else Python looks for garbage in all there is before it ends
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
    if has_terminal or argv[:1] in [[name] for name in OF_SCRIPTS]:
        is_under_agent = _is_under_agent(in_session=has_terminal)
    has_terminal = has_terminal and not is_under_agent  # some hosts give their agents one
    try:
        return main(argv, os.environ, cwd, time.time(), has_terminal=has_terminal, is_under_agent=is_under_agent)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)


def _is_under_agent(*, in_session: bool) -> bool:
    """Whether a program above this one has a variable that hosts set for their agents, as far as the system lets us
    look: `env -u` takes it away from this one alone. `in_session`: only programs started in this terminal count."""
    from omo import hosts

    marks = [f"\0{name}=".encode() for name in hosts.agent_variables()]
    process, leader = os.getppid(), os.getsid(0)
    try:
        while process > 0:
            if in_session and os.getsid(process) != leader:
                return False
            with open(f"/proc/{process}/environ", "rb") as file:
                variables = b"\0" + file.read()
            if any(mark in variables for mark in marks):
                return True
            with open(f"/proc/{process}/stat", "rb") as file:
                process = int(file.read().rpartition(b")")[2].split()[1])  # its parent
    except (OSError, ValueError):
        return False
    return False


def _has_terminal() -> bool:
    """Whether there is one, also where input and output go elsewhere: a person types `omo status | less`."""
    if any(os.isatty(number) for number in range(3)):
        return True
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


def _report(error: Exception) -> int:
    from omo import masking

    if isinstance(error, OSError) and error.errno in OUTPUT_ERRORS and error.filename is None:
        lines = [f"omo: the output cannot be written: {error.strerror}"]
        _write_to_nobody()
    else:
        lines = [
            f"omo: a bug in omo: {type(error).__name__}: {masking.mask(str(error))}",
            "  fix: run it again with OMO_DEBUG=1 and report what it prints",
        ]
    try:
        print("\n".join(lines), file=sys.stderr, flush=True)
    except OSError:
        _write_to_nobody(sys.stderr)
    return 1


def _open_what_is_closed() -> None:
    """Opens the null device for each standard stream that a shell's `>&-` has closed. It gets the number that is free;
    else the next file we open would, and be the standard output of every program we start."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115  # stays open


def _write_to_nobody(stream: TextIO | None = None) -> None:
    """What is still buffered goes nowhere, so that the interpreter does not try again when it ends."""
    number = (stream or sys.stdout).fileno()
    nobody = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nobody, number)
    os.close(nobody)
