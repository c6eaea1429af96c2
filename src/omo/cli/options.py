"""Options that several commands share."""

from __future__ import annotations

import argparse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from omo.cli.result import Result
    from omo.context import Context

    Commands = argparse._SubParsersAction[Any]
    Run = Callable[[argparse.Namespace, Context], Result]


def group(commands: Commands, name: str, about: str) -> Commands:
    """`omo NAME VERB …`"""
    parser = commands.add_parser(name, help=about, description=about)
    verbs: Commands = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    return verbs


def command(commands: Commands, name: str, about: str, run: Run, *, session: bool = True) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=about, description=about)
    parser.set_defaults(run=run)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    if session:
        parser.add_argument("--session", "--session-id", metavar="ID", help="another session than this one")
    return parser
