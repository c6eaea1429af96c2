"""`omo status --watch` under job control: the terminal is the user's again while it sleeps."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest

from tests.cli.conftest import Shell
from tests.cli.test_status import arm, read_until, started

ON_ITS_OWN, LEFT, CURSOR = b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[?25h"


def wait_until_stopped(process: subprocess.Popen[bytes]) -> None:
    _, status = os.waitpid(process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)


@pytest.mark.skipif(os.name != "posix", reason="job control is needed")
@pytest.mark.parametrize("options", [(), ("--inline",)])
def test_a_watch_that_is_sent_away_gives_the_terminal_back_and_draws_again(
    shell: Shell, options: tuple[str, ...]
) -> None:
    import pty

    arm(shell)
    ours, theirs = pty.openpty()
    with started(shell, *options, stdin=theirs, stdout=theirs, stderr=theirs, preexec_fn=os.setpgrp) as process:
        os.close(theirs)
        read_until(ours, b"omo gate add NAME -- COMMAND")
        for _ in range(2):
            process.send_signal(signal.SIGTSTP)
            wait_until_stopped(process)
            assert CURSOR in read_until(ours, CURSOR if options else LEFT)
            process.send_signal(signal.SIGCONT)
            again = read_until(ours, b"omo gate add NAME -- COMMAND")
            assert (ON_ITS_OWN in again) == (not options)
        process.send_signal(signal.SIGINT)
        read_until(ours, CURSOR)
        assert process.wait(timeout=60) == 0
    os.close(ours)
