"""The boundary between the host and a decision: read one event, decide, write, exit 0 whatever happens."""

from __future__ import annotations

import os
import sys
import time

from omo import host, settings
from omo.state import paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LONGEST_LOG = 256 * 1024


class World:
    """What a handler may know besides the event: time, environment, and where the state is."""

    __slots__ = ("environ", "now", "root", "state")

    def __init__(self, event: host.Event, environ: Mapping[str, str], cwd: str, now: float) -> None:
        self.environ = environ
        self.now = now
        self.root = paths.project_root(environ, event.project or cwd)
        self.state = paths.state_dir(self.root, environ)


def run(name: str, handle: Callable[[host.Event, World], bytes]) -> None:
    try:
        _write(answer(name, handle, sys.stdin.buffer.read(), os.environ, _cwd(), time.time()))
    except OSError:
        pass  # the host closed our stdout or stdin: there is nobody left to answer


def answer(
    name: str,
    handle: Callable[[host.Event, World], bytes],
    raw: bytes,
    environ: Mapping[str, str],
    cwd: str,
    now: float,
) -> bytes:
    """Every hook fails open: an error ends in an empty answer and a line in the log."""
    state = ""
    try:
        event = host.parse(raw)
        if event is None or settings.is_disabled(environ) or settings.is_skipped(environ, name):
            return b""
        world = World(event, environ, cwd, now)
        state = world.state
        return handle(event, world)
    except Exception as error:
        log(state, name, error)
        return b""


def log(state: str, name: str, error: BaseException) -> None:
    """Detail for `omo doctor`. Only where there is a state directory already; never a second failure."""
    try:
        if not os.path.isdir(state):
            return
        path = paths.log_file(state)
        if os.path.exists(path) and os.path.getsize(path) > LONGEST_LOG:
            os.replace(path, path + ".old")
        with open(path, "a", encoding="utf-8", errors="replace") as file:
            file.write(f"{int(time.time())} {name} {type(error).__name__}: {error}\n")
    except OSError:
        pass


def _cwd() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]
