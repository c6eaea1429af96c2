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
    except Exception as error:
        if os.environ.get("OMO_DEBUG"):
            raise
        print(f"omo: a bug in omo: {type(error).__name__}: {error}", file=sys.stderr)
        print("  fix: run it again with OMO_DEBUG=1 and report what it prints", file=sys.stderr)
        code = 1
    sys.exit(code)
