"""`omo status`: what is on in this project, this session in full and the others in a line each."""

from __future__ import annotations

import argparse
import sys

from omo.cli import options
from omo.cli.result import Result
from omo.context import Context
from omo.errors import BadInput, Unreadable
from omo.views import project
from omo.views.screen import screen


def register(commands: options.Commands) -> None:
    parser = options.command(commands, "status", "what is on in this project, session by session", run)
    parser.add_argument("--all", action="store_true", help="every session, goal, step and note, also what is over")
    parser.add_argument("--watch", action="store_true", help="redraw on every change, until q or Ctrl-C")


def run(arguments: argparse.Namespace, context: Context) -> Result:
    """Reads only. A live session that nobody has used for a day is shown as an orphan."""
    name = context.looked_at(arguments.session) if arguments.session else ""
    if arguments.watch:
        _watch(arguments, context, name)
        sys.stdout.flush()
        raise SystemExit(0)  # everything was shown as it came: there is no result left to render
    view = project.look(context, closely=name, everything=arguments.all)
    text = ""
    on = screen(context.environ)
    if arguments.json:
        pass
    elif on is None:
        from omo.views import plain

        text = plain.render(view, everything=arguments.all)
    else:
        from omo.views import terminal

        text = terminal.render(view, on.width, everything=arguments.all, color=on.color)
    return Result(view.data, text, exit_code=Unreadable.exit_code if view.error else 0)


def _watch(arguments: argparse.Namespace, context: Context, name: str) -> None:
    from omo.views import watch

    on = screen(context.environ)
    if on is None or arguments.json:
        raise BadInput(
            "--watch redraws a terminal, and the output is none that can show it",
            fix="omo ledger show --follow prints each row as it is written",
        )
    try:
        watch.draw(context, on, watch.views(context, name, everything=arguments.all), everything=arguments.all)
    except KeyboardInterrupt:
        pass
