"""The `omo` command: parse, call, render. stdout is data, stderr is talk."""

from __future__ import annotations

import os
import sys
import time

from omo.cli.main import main


def console() -> None:
    try:
        code = main(sys.argv[1:], os.environ, os.getcwd(), time.time())
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        code = 0
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)
