"""The commands that a text names, held against the parsers: what skills, agents and pages tell an agent to run."""

from __future__ import annotations

import argparse
import functools
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from omo.cli.main import COMMANDS, build_parser

FENCED = re.compile(r"^(`{3,}).*?^\1", re.M | re.S)


def parser_of_omo() -> argparse.ArgumentParser:
    """Return the parser of all commands that there are now: a test may put in one of its own."""
    return _parser_of(tuple(COMMANDS))


@functools.cache
def _parser_of(commands: tuple[str, ...]) -> argparse.ArgumentParser:
    return build_parser()


def children(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Its commands or verbs by name, none where it has none."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def parser_at(words: list[str]) -> tuple[argparse.ArgumentParser, list[str]]:
    """The parser that the first words lead to, and the words that are left for it. `a|b` needs both to exist."""
    found = parser_of_omo()
    while words and (below := children(found)):
        for name in words[0].split("|"):
            if name.startswith(("-", "…")):
                return found, words
            assert name in below, f"{found.prog} has no {name}"
        found, words = below[words[0].split("|")[0]], words[1:]
    return found, words


def named_commands(path: Path) -> Iterator[list[str]]:
    """What stands in backticks, wherever it is wrapped, and begins with omo and a word."""
    prose = FENCED.sub("", path.read_text(encoding="utf-8"))
    for found in re.findall(r"`(omo [^`]+)`", " ".join(prose.split())):
        yield shlex.split(found)[1:]


def assert_named_commands_exist(path: Path) -> None:
    """And have the options that are named with them."""
    for words in named_commands(path):
        parser, rest = parser_at(words)
        if "--" in rest:
            rest = rest[: rest.index("--")]
        for option in (word for word in rest if word.startswith("--")):
            assert option in parser._option_string_actions, f"{parser.prog} has no {option}"


def whole_commands(paths: Sequence[Path]) -> list[str]:
    """The lines an agent would copy: in code blocks, up to a remark."""
    commands = []
    for path in paths:
        text = re.sub(r" *\\\n *", " ", path.read_text(encoding="utf-8"))
        for line in re.findall(r"^(?: {4}|\$ )?(omo .+)$", text, re.M):
            commands += re.sub(r" {2,}\S.*| <<'\w+'$", "", line).split(" && ")
    return commands


def assert_parses(line: str) -> None:
    """Raises what a person would read who typed it."""
    parser_of_omo().parse_args(shlex.split(line)[1:])
