"""`omo status`: what is on in this project, this session in full and the others in a line each."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from omo.cli import options
from omo.cli.charset import takes_utf8
from omo.cli.result import Result
from omo.context import Context
from omo.errors import Unreadable
from omo.shown import clip
from omo.views import project
from omo.views.project import ProjectView

UNREADABLE = ("unreadable-state", "newer-state")


def register(commands: options.Commands) -> None:
    parser = options.command(commands, "status", "what is on in this project, session by session", run)
    parser.add_argument("--all", action="store_true", help="every session, goal, step and note, also what is over")
    parser.add_argument("--watch", action="store_true", help="redraw on every change; with --json an object a line")
    parser.add_argument("--interval", type=_seconds, default=1.0, metavar="SECONDS", help="how often --watch looks")
    parser.add_argument("--inline", action="store_true", help="--watch below the prompt, not on its own screen")


def run(arguments: argparse.Namespace, context: Context) -> Result:
    """Reads only. A live session that nobody has used for a day is shown as an orphan."""
    name = context.looked_at(arguments.session).name if arguments.session else ""
    if arguments.watch:
        from omo.cli import status_watch

        return status_watch.run(arguments, context, name)
    view = project.look(context, closely=name)
    text = "" if arguments.json else draw(view, screen(context.environ), everything=arguments.all)
    return Result(data_of(view), text, exit_code=Unreadable.exit_code if error_of(view) else 0)


@dataclass(frozen=True)
class Screen:
    """What the terminal can show."""

    width: int
    height: int
    color: bool
    ascii_only: bool


def screen(environ: Mapping[str, str]) -> Screen | None:
    """None where nobody looks, or at something that cannot draw."""
    if not sys.stdout.isatty() or environ.get("TERM") in ("dumb", "unknown"):
        return None
    import shutil

    size = shutil.get_terminal_size()
    plain = not takes_utf8(environ, sys.stdout.encoding)
    return Screen(size.columns, size.lines, color=not environ.get("NO_COLOR"), ascii_only=plain)


def draw(view: ProjectView, on: Screen | None, *, everything: bool) -> str:
    if on is None:
        from omo.views import plain

        return plain.render(view, everything=everything)
    from omo.views import terminal

    return terminal.render(view, on.width, everything=everything, color=on.color, ascii_only=on.ascii_only)


def data_of(view: ProjectView) -> dict[str, Any]:
    failed = error_of(view)
    return {**view.data, "error": failed} if failed else view.data


def error_of(view: ProjectView) -> dict[str, Any]:
    """State that cannot be read is shown, and is an error all the same."""
    for one in view.problems:
        if one.code in UNREADABLE:
            return {"code": one.code, "message": one.what, "fix": one.fix, "details": []}
    return {}


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0.1 <= number <= 3600:
        raise argparse.ArgumentTypeError(f"{clip(text, 40)!r} is not a number of seconds from 0.1 to 3600")
    return number
