"""`omo status --watch`: the same view again whenever it has changed, until somebody interrupts it."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING

from omo.cli import status
from omo.cli.result import Result
from omo.cli.status import Screen
from omo.context import Context
from omo.errors import BadInput
from omo.views import project, watch
from omo.views.project import ProjectView

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text


def run(arguments: argparse.Namespace, context: Context, name: str) -> Result:
    on = status.screen(context.environ)
    if arguments.json:
        _until_interrupted(lambda: _print_objects(_views(arguments, context, name)))
    elif on is None:
        raise BadInput(
            "--watch redraws a terminal, and the output is none",
            fix="omo status --watch --json prints an object for each change; omo ledger show --follow prints rows",
        )
    else:
        _draw(arguments, context, on, _views(arguments, context, name))
    sys.stdout.flush()
    raise SystemExit(0)  # everything was shown as it came: there is no result left to render


def _until_interrupted(act: Callable[[], None]) -> None:
    try:
        act()
    except KeyboardInterrupt:
        pass


def _views(arguments: argparse.Namespace, context: Context, name: str) -> Iterator[ProjectView]:
    def seen() -> tuple[object, ...]:
        return watch.signature(context.state, context.root), status.screen(context.environ)

    for now in watch.moments(seen, clock=time.time, pause=lambda: time.sleep(arguments.interval)):
        yield project.look(replace(context, now=now), closely=name)


def _print_objects(views: Iterator[ProjectView]) -> None:
    last = None
    for view in views:
        data = status.data_of(view)
        if watch.without_the_clock(data) != last:
            last = watch.without_the_clock(data)
            print(json.dumps({"ok": not status.error_of(view), **data}, ensure_ascii=False, default=str), flush=True)


def _draw(arguments: argparse.Namespace, context: Context, on: Screen, views: Iterator[ProjectView]) -> None:
    """On a screen of its own, whose last view stays when it is left; or below the prompt."""
    from rich.console import Console
    from rich.live import Live

    from omo.views import terminal

    console = Console(highlight=False, markup=False, emoji=False, no_color=not on.color, legacy_windows=False)
    last: tuple[Screen, list[Text]] = (on, [])

    def begun() -> Live:
        return Live(console=console, screen=not arguments.inline, auto_refresh=False, vertical_overflow="crop")

    def redraw(picture: Picture) -> None:
        nonlocal last
        for view in views:
            now_on = status.screen(context.environ) or on
            lines = terminal.lines(view, now_on.width, everything=arguments.all, ascii_only=now_on.ascii_only)
            if (now_on, lines) != last:
                last = (now_on, lines)
                picture.show(terminal.joined(terminal.fitted(lines, now_on.height)))

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # whoever ends us gets their own screen back
    with Picture(begun) as picture:
        _until_interrupted(lambda: redraw(picture))
    if not arguments.inline:
        console.print(terminal.joined(last[1]))


class Picture:
    """What is drawn. Ctrl-Z gives the terminal back as it was, and `fg` draws the same again."""

    def __init__(self, begun: Callable[[], Live]) -> None:
        self._begun = begun
        self._live = begun()
        self._shown: Text | None = None
        self._is_drawing = False
        self._is_sent_away = False

    def __enter__(self) -> Picture:
        if hasattr(signal, "SIGTSTP"):
            signal.signal(signal.SIGTSTP, self._send_away)
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def show(self, text: Text) -> None:
        self._shown = text
        self._is_drawing = True
        self._live.update(text, refresh=True)
        self._is_drawing = False
        if self._is_sent_away:
            self._sleep()

    def _send_away(self, number: int, frame: object) -> None:
        """In the middle of a line nothing else can be written: what is being drawn is finished first."""
        self._is_sent_away = True
        if not self._is_drawing:
            self._sleep()

    def _sleep(self) -> None:
        self._is_sent_away = False
        self._live.stop()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)  # comes back when somebody has woken us
        signal.signal(signal.SIGTSTP, self._send_away)
        self._live = self._begun()
        self._live.start()
        if self._shown is not None:
            self.show(self._shown)
