"""`omo status --watch`: the same view again whenever it has changed, until somebody types q or interrupts it.

A state file grew, git moved on, the window changed, or so much time went by that ages would read otherwise.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from omo.context import Context
from omo.state import paths
from omo.views import project
from omo.views.project import ProjectView
from omo.views.screen import Screen, screen

if TYPE_CHECKING:
    from rich.text import Text

POLL_SECONDS = 1.0
LOOK_ANYWAY = 15.0  # files of the project itself are not polled: what became stale is seen this late
GIT_FILES = ("HEAD", "index", os.path.join("logs", "HEAD"), "packed-refs")
POLLED = ("ledger.jsonl", "mark.json", "events.jsonl", "goals.json")

Mark = tuple[str, int, int, int]


def a_second() -> None:
    time.sleep(POLL_SECONDS)


def a_second_or_q() -> None:
    """A q leaves as an interrupt does."""
    if os.name != "posix" or not sys.stdin.isatty():
        a_second()
        return
    typed, _, _ = select.select([sys.stdin], [], [], POLL_SECONDS)
    if typed and os.read(sys.stdin.fileno(), 1) in (b"q", b"Q", b""):
        raise KeyboardInterrupt


def views(
    context: Context, name: str, *, everything: bool, pause: Callable[[], None] = a_second
) -> Iterator[ProjectView]:
    """One at once, and one whenever something is other than it was."""

    def look() -> tuple[object, ...]:
        return signature(context.state, context.root), screen(context.environ)

    for now in moments(look, clock=time.time, pause=pause):
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


def signature(state: str, root: str) -> tuple[Mark, ...]:
    """What tells a change without opening a file: name, inode, time and size of all that a status reads."""
    watched = [paths.runtime_file(state), paths.settings_file(root)]
    for directory, names, files in os.walk(state):
        names.sort()
        if os.path.basename(directory) in ("evidence", "artifacts"):
            names.clear()  # what is there never changes, and may be a lot
        watched += [os.path.join(directory, name) for name in POLLED if name in files]
    if git := _git_directory(root):
        watched += [os.path.join(git, name) for name in GIT_FILES]
    marks = []
    for path in watched:
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            continue
        marks.append((path, status.st_ino, status.st_mtime_ns, status.st_size))
    return tuple(marks)


def _git_directory(root: str) -> str:
    """Of this working tree; a linked one has its own, which its `.git` file names."""
    own = os.path.join(root, ".git")
    if os.path.isdir(own):
        return own
    try:
        with open(own, encoding="utf-8", errors="surrogateescape") as file:
            line = file.readline(4096).strip()
    except OSError:
        return ""
    return os.path.join(root, line.removeprefix("gitdir:").strip()) if line.startswith("gitdir:") else ""


def print_objects(following: Iterator[ProjectView]) -> None:
    """As JSON, an object a line for each change."""
    last = None
    for view in following:
        data = view.data
        if without_the_clock(data) != last:
            last = without_the_clock(data)
            print(json.dumps({"ok": view.error is None, **data}, ensure_ascii=False, default=str), flush=True)


def without_the_clock(data: dict[str, Any]) -> dict[str, Any]:
    """What of a view changes only when something happened."""
    sessions = []
    for session in data["sessions"]:
        breakers = {**session["breakers"]}
        del breakers["hours"]
        sessions.append({**session, "breakers": breakers})
    return {**data, "sessions": sessions}


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
