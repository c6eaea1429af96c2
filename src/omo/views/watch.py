"""`omo status --watch`: the same view again whenever it has changed, until somebody types q or interrupts it.

A ledger or a setting was written, the window changed, or so much time went by that something else may have.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from omo.context import Context
from omo.state import paths
from omo.views import project
from omo.views.project import ProjectView
from omo.views.screen import Screen, screen

if TYPE_CHECKING:
    from rich.text import Text

POLL_SECONDS = 1.0
LEDGERS = ("ledger.jsonl", "events.jsonl")
LOOK_ANYWAY = 10.0  # files of the project, and ages, are not polled: what became of them is seen this late


def a_second_or_q() -> None:
    """A q leaves as an interrupt does."""
    if os.name != "posix" or not sys.stdin.isatty():
        time.sleep(POLL_SECONDS)
        return
    typed, _, _ = select.select([sys.stdin], [], [], POLL_SECONDS)
    if typed and os.read(sys.stdin.fileno(), 1) in (b"q", b"Q", b""):
        raise KeyboardInterrupt


def views(context: Context, name: str, *, everything: bool) -> Iterator[ProjectView]:
    """One at once, and one whenever something is other than it was."""

    def look() -> tuple[object, ...]:
        return signature(context.state, context.root), screen(context.environ)

    for now in moments(look, clock=time.time, pause=a_second_or_q):
        then = Context(context.environ, context.cwd, now, context.has_terminal)
        yield project.look(then, closely=name, everything=everything)


def moments(
    look: Callable[[], Hashable], *, clock: Callable[[], float], pause: Callable[[], object], ages: float = LOOK_ANYWAY
) -> Iterator[float]:
    """The times to look anew at everything: at once, then whenever `look` tells of a change, or `ages` went by."""
    last, last_time = look(), clock()
    yield last_time
    while True:
        pause()
        current, now = look(), clock()
        if current != last or not 0 <= now - last_time < ages:  # a clock that was set back is a change too
            last, last_time = current, now
            yield now


def signature(state: str, root: str) -> tuple[object, ...]:
    """What is another one after every write of ours, and needs no reading."""
    watched = [paths.runtime_file(state), paths.settings_file(root)]
    for directory, names, files in os.walk(state):
        names.sort()
        watched += [os.path.join(directory, name) for name in LEDGERS if name in files]
    marks = []
    for path in watched:
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            continue
        marks.append((path, status.st_ino, status.st_mtime_ns, status.st_size))
    return tuple(marks)


@contextmanager
def _keys_at_once() -> Iterator[None]:
    """A terminal hands on what is typed without waiting for Enter, and shows none of it."""
    if os.name != "posix" or not sys.stdin.isatty():
        yield
        return
    import termios
    import tty

    before = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def draw(context: Context, on: Screen, following: Iterator[ProjectView], *, everything: bool) -> None:
    """On a screen of its own, whose last view stays when it is left."""
    from rich.console import Console
    from rich.live import Live

    from omo.views import terminal

    console = Console(highlight=False, markup=False, emoji=False, no_color=not on.color, legacy_windows=False)
    drawn: tuple[Screen, list[Text]] = (on, [])
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # whoever ends us gets their own screen back
    try:
        with _keys_at_once(), Live(console=console, screen=True, auto_refresh=False, vertical_overflow="crop") as live:
            for view in following:
                now_on = screen(context.environ) or on
                lines = terminal.lines(view, now_on.width, everything=everything)
                if (now_on, lines) != drawn:
                    drawn = (now_on, lines)
                    live.update(terminal.joined(terminal.fitted(lines, now_on.height)), refresh=True)
    finally:
        console.print(terminal.joined(drawn[1]))
