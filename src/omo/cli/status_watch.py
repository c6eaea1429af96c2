"""`omo status --watch`: the same view again whenever it has changed, until somebody interrupts it."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from omo.cli import status
from omo.cli.result import Result
from omo.cli.status import Screen
from omo.context import Context
from omo.errors import BadInput
from omo.report import project
from omo.report.project import ProjectView
from omo.report.screen import watch


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
    from rich.text import Text

    from omo.report.screen import terminal

    console = Console(highlight=False, markup=False, emoji=False, no_color=not on.color, legacy_windows=False)
    last: tuple[Screen, list[Text]] = (on, [])

    def redraw(live: Live) -> None:
        nonlocal last
        for view in views:
            now_on = status.screen(context.environ) or on
            lines = terminal.lines(view, now_on.width, everything=arguments.all, ascii_only=now_on.ascii_only)
            if (now_on, lines) != last:
                last = (now_on, lines)
                live.update(terminal.joined(terminal.fitted(lines, now_on.height)), refresh=True)

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # whoever ends us gets their own screen back
    with Live(console=console, screen=not arguments.inline, auto_refresh=False, vertical_overflow="crop") as live:
        _until_interrupted(lambda: redraw(live))
    if not arguments.inline:
        console.print(terminal.joined(last[1]))
