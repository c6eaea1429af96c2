"""The command's parsers as plain data: what may follow what."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass

FREE = ""  # nothing can be offered: a text, a number
FILES = "files"
DIRECTORIES = "directories"

# What completes a value, by the command (or the words it begins with) and the parser's name for the option.
# `ids KIND` is asked for when it is needed: omo completion ids KIND.
BY_NAME = {
    ("", "session"): "ids sessions",
    ("evidence", "goal"): "ids goals",
    ("explain goal", "wanted"): "ids explained",
    ("explain tool", "shell"): FILES,
    ("gate add", "argv"): FILES,
    ("gate add", "cwd"): DIRECTORIES,
    ("gate record", "name"): "ids gates",
    ("gate run", "name"): "ids gates",
    ("ledger show", "of"): "ids ledgers",
    ("plan", "named"): "ids plan-runs",
    ("ralph", "named"): "ids ralph-runs",
    ("ultragoal", "goal_id"): "ids plan-goals",
    ("ultragoal adopt", "source"): "ids sessions",
    ("verify", "file"): FILES,
    ("verify", "goal"): "ids verify-goals",
    ("verify claim", "field"): FREE,
}
FILE_WORDS = frozenset(("FILE", "PATH", "PLAN", "SPEC", "TRANSCRIPT"))
# A command that checks a value itself, to answer better than argparse would, has the choices in its help.
ONE_OF = re.compile(r"one of ([\w.-]+(?:, [\w.-]+)+)")


@dataclass(frozen=True)
class Option:
    """One way to write an option. `value` is what follows it, None where nothing does."""

    name: str
    about: str
    value: str | None


@dataclass(frozen=True)
class Command:
    """`path` is how it is typed after `omo`; a group has `commands`, any other `arguments`, the last for all `rest`."""

    path: str
    commands: tuple[tuple[str, str], ...]
    options: tuple[Option, ...]
    arguments: tuple[str, ...]
    rest: bool


def commands_of(parser: argparse.ArgumentParser, path: str = "") -> Iterator[Command]:
    """The parser's own command, then those below it."""
    groups = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    shown = [action for action in parser._actions if action not in groups and action.help != argparse.SUPPRESS]
    places = [action for action in shown if not action.option_strings]
    yield Command(
        path,
        tuple(pair for group in groups for pair in _named(group)),
        tuple(option for action in shown for option in _options(parser, action, path)),
        tuple(_value(action, path) for action in places),
        any(action.nargs in ("*", "+", argparse.REMAINDER) for action in places[-1:]),
    )
    for group in groups:
        for name, child in group.choices.items():
            yield from commands_of(child, f"{path} {name}".strip())


def _named(group: argparse._SubParsersAction[argparse.ArgumentParser]) -> list[tuple[str, str]]:
    return [(name, _line(str(child.description or ""))) for name, child in group.choices.items()]


def _options(parser: argparse.ArgumentParser, action: argparse.Action, path: str) -> list[Option]:
    about = _line(parser._get_formatter()._expand_help(action)) if action.help else ""
    value = None if action.nargs == 0 else _value(action, path)
    return [Option(name, about, value) for name in action.option_strings]


def _value(action: argparse.Action, path: str) -> str:
    if action.choices:
        return "choice " + " ".join(map(str, action.choices))
    words = path.split()
    for length in range(len(words), -1, -1):
        if (known := BY_NAME.get((" ".join(words[:length]), action.dest))) is not None:
            return known
    if listed := ONE_OF.fullmatch(action.help or ""):
        return "choice " + listed[1].replace(",", "")
    written = str(action.metavar or "").partition(".")[0].split("|")
    return FILES if FILE_WORDS.intersection(written) else DIRECTORIES if "DIR" in written else FREE


def _line(text: str) -> str:
    return " ".join(text.split())
