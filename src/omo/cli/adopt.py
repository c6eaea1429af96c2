"""`omo adopt`: take state that this user did not make here, or move it aside. Only a person decides that."""

from __future__ import annotations

import argparse
import sys

from omo import options
from omo.context import Context
from omo.errors import Refused
from omo.result import Result
from omo.state import ownership
from omo.work import foreign

MOST_SHOWN = 20


def register(commands: options.Commands) -> None:
    parser = options.top_command(commands, "adopt", run, session=False)
    parser.add_argument("--not", action="store_true", dest="refuse", help="move it aside; nothing of it is believed")
    parser.add_argument("--yes", action="store_true", help="do it without asking")


def run(arguments: argparse.Namespace, context: Context) -> Result:
    if context.is_agent:
        raise Refused("only a person may take or refuse state", fix="in a terminal of your own: omo adopt")
    own = context.own
    if own.standing == ownership.NO_PLACE:
        ownership.require(own.path)
    if own.standing != ownership.FOREIGN:
        what = "is yours" if own.is_ours else "is empty"
        return Result({"state": own.state, "done": False}, f"The state in {own.state} {what}. There is nothing to do.")
    contents = foreign.Contents(own.state)
    if arguments.refuse:
        return _move_aside(arguments, context, contents)
    return _take(arguments, context, contents)


def _take(arguments: argparse.Namespace, context: Context, contents: foreign.Contents) -> Result:
    state = context.own.state
    if contents.is_of_an_earlier_format:
        raise Refused(
            f"the state in {state} was written by an earlier omo and cannot be taken",
            fix="omo adopt --not moves it aside",
            defects=contents.pins,
        )
    lines = [f"omo would believe what is in {state}:", *_shown(contents)]
    if not _agreed(arguments, lines):
        return Result({"state": state, "done": False}, "Nothing was done.", 3)
    ownership.adopt(state, contents.words)
    return Result({"state": state, "done": True, "pins": contents.pins}, f"The state in {state} is yours now.")


def _move_aside(arguments: argparse.Namespace, context: Context, contents: foreign.Contents) -> Result:
    state = context.own.state
    lines = [f"omo would move {state} aside, with:", *_shown(contents)]
    if not _agreed(arguments, lines):
        return Result({"state": state, "done": False}, "Nothing was done.", 3)
    aside = ownership.move_aside(state, context.now)
    return Result({"state": state, "done": True, "aside": aside}, f"It is in {aside}, and nothing of it is believed.")


def _shown(contents: foreign.Contents) -> list[str]:
    lines = [f"  on: {what} in session {session}" for session, what in contents.on.items()]
    lines += [f"  pinned: {pin}" for pin in contents.pins[:MOST_SHOWN]]
    if len(contents.pins) > MOST_SHOWN:
        lines.append(f"  and {len(contents.pins) - MOST_SHOWN} more pins")
    return lines or ["  nothing that is on or pinned"]


def _agreed(arguments: argparse.Namespace, lines: list[str]) -> bool:
    if arguments.yes:
        return True
    print("\n".join(lines), "Do this? [y/N] ", sep="\n", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
