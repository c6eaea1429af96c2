"""`omo statusline`: the line that Claude Code shows below its prompt. `bin/omo` takes a shorter road to the same."""

from __future__ import annotations

import argparse
import sys

from omo import hosts
from omo.cli import options
from omo.cli.result import Result
from omo.context import Context
from omo.errors import BadInput
from omo.hooks.main import World
from omo.views import session, statusline


def register(commands: options.Commands) -> None:
    about = "one line for Claude Code's status line, from its JSON on stdin"
    options.command(commands, "statusline", about, run, session=False)


def run(arguments: argparse.Namespace, context: Context) -> Result:
    event = hosts.around(context.environ).read(sys.stdin.buffer.read(), context.environ)
    if event is None:
        raise BadInput("stdin is not a JSON object", fix="omo setup statusline lets Claude Code call it")
    world = World(event, context.environ, context.cwd, context.now)
    view = session.look(world.state, event.session, context.settings.limits, world.now, world.environ)
    line = statusline.text(view)
    text = statusline.coloured(line, view, context.environ) if line else ""
    return Result({"line": line, **view.data}, text)
