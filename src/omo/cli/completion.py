"""`omo completion`: the script for a shell, and the names that script asks for."""

from __future__ import annotations

import argparse
from functools import partial

from omo.cli import options
from omo.cli.result import Result
from omo.completion import ids
from omo.context import Context, plugin_root
from omo.errors import BadInput

SHELLS = ("bash", "zsh", "fish")


def register(commands: options.Commands) -> None:
    from omo.completion.words import INSTALL

    verbs = options.group(commands, "completion", "completion for your shell: bash, zsh, fish")
    for shell in SHELLS:
        about = f"print the script for {shell}. To install: {INSTALL[shell]}"
        options.command(verbs, shell, about, partial(script, shell), session=False)
    asked = options.command(verbs, "ids", "what the scripts ask for: the names of one kind, a line each", offer)
    asked.add_argument("kind", choices=tuple(ids.KINDS), metavar="KIND", help=", ".join(ids.KINDS))


def script(shell: str, arguments: argparse.Namespace, context: Context) -> Result:
    from importlib import import_module

    from omo.cli.main import build_parser
    from omo.completion.table import commands_of

    dialect = import_module(f"omo.completion.{shell}")
    text = dialect.script(list(commands_of(build_parser())), str(plugin_root() / "bin" / "omo"))
    return Result({"shell": shell, "script": text}, text.rstrip("\n"))


def offer(arguments: argparse.Namespace, context: Context) -> Result:
    """Whatever goes wrong, a shell in the middle of a line is told nothing."""
    try:
        found = ids.offered(arguments.kind, context.state, _session(arguments, context))
    except Exception:
        if context.environ.get("OMO_DEBUG"):
            raise
        found = []
    return Result({"kind": arguments.kind, "ids": found}, "\n".join(found))


def _session(arguments: argparse.Namespace, context: Context) -> str:
    """The one that would be looked at; none where there is none, which matters only to what belongs to a session."""
    try:
        return context.looked_at(arguments.session).name
    except BadInput:
        return ""
