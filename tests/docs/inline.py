"""Commands that stand in sentences, with words for what is left open, made into ones that can be run."""

from __future__ import annotations

import argparse
import itertools
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from tests.named_commands import children, parser_of_omo
from tests.project import Project, Ran

# What a word in capitals stands for in this test.
STANDS_FOR = {
    "FILE": "goal.yaml",
    "GOAL": "G1",
    "ID": "demo",
    "K": "annotate_ledger",
    "N": "1",
    "NAME": "tests",
    "COMMAND": "true",
    "PATH": "value",
    "REASON": "the reason, in a sentence",
    "REV": "HEAD",
    "SPEC": "plan.md",
    "STEP": "1",
    "TEXT": "what was seen, in a sentence",
    "TRANSCRIPT": "transcript.jsonl",
    "WHY": "the reason, in a sentence",
    "X": "ulw",
}
# Sentences that speak of an option without the rest of its command, and that rest.
LEFT_OUT = {
    "omo ultragoal checkpoint --status complete": "--goal-id G001 --evidence TEXT",
    "omo ultragoal steer --kind annotate_ledger": "--evidence TEXT --rationale TEXT",
}
FILES = {
    "value": "old\n",
    "goal.yaml": "id: G1\ntitle: It is there\nverification:\n  checks:\n    - {id: a, type: path, path: made.txt}\n",
    "plan.md": "# A plan\n\nplan_version: 1.7\n",
    "transcript.jsonl": "",
}


def commands_of(text: str) -> list[list[str]]:
    """Each way to read it: `a|b` is both, `[c]` with and without, capitals are filled in, a mere name asks for help."""
    said = text.removesuffix(" …")
    whole = f"{said} {LEFT_OUT.get(said, '')}"
    readings = {re.sub(r" ?\[.*?\]", "", whole), whole.replace("[", "").replace("]", "")}
    return [complete(list(words)) for one in sorted(readings) for words in alternatives(shlex.split(one)[1:])]


def alternatives(words: list[str]) -> Iterator[tuple[str, ...]]:
    return itertools.product(
        *(word.split("|") if re.fullmatch(r"[\w-]+(\|[\w-]+)+", word) else [word] for word in words)
    )


def complete(words: list[str]) -> list[str]:
    argv = [STANDS_FOR.get(word, word) for word in words]
    parser, rest = parser_at(argv)
    needs_more = bool(children(parser)) or any(action.required for action in parser._actions)
    named = parser._option_string_actions.get(rest[-1]) if rest else None
    is_name = named.nargs != 0 if named else not rest and needs_more
    return [*argv[: len(argv) - len(rest)], "--help"] if is_name else argv


def parser_at(argv: list[str]) -> tuple[argparse.ArgumentParser, list[str]]:
    parser = parser_of_omo()
    while argv and argv[0] in (known := children(parser)):
        parser, argv = known[argv[0]], argv[1:]
    return parser, argv


def was_understood(ran: Ran) -> bool:
    """Refused or not found is an answer; a usage error sends the reader to --help."""
    is_usage = ran.code == 2 and re.search(r"omo[\w -]* --help|(has|is) no command", ran.err + ran.out)
    return ran.code in (0, 2, 3, 4, 77) and not is_usage


def run(project: Project, argv: list[str]) -> Ran:
    try:
        return project.omo(*argv, stdin="{}", has_terminal=False)
    except SystemExit as left:
        return Ran(int(left.code or 0), "", "")


def fill(project: Project, environment: Path) -> None:
    """What the commands of the pages speak of."""
    for name, text in FILES.items():
        project.write(name, text)
    project.environ = {**os.environ, "OMO_ENV_HOME": str(environment)}
