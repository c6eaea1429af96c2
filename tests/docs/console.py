"""A worked example as text: what is typed, what happens, and what is answered, with `…` for what varies."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import count

HEREDOC = re.compile(r"<<-?\s*'?(\w+)'?")
COMMIT = re.compile(r"\b[0-9a-f]{12}\b")
# A line of a console block that is no answer: `$` is the agent's shell, `>` what the user types in Claude Code.
STARTS = re.compile(r"^(?:(?P<who>[$>]) (?P<typed>.*)|\((?P<event>(?:the agent|omo:\w+) .*))$")


@dataclass(frozen=True)
class Step:
    """`who` is "$", ">" or "()"; `line` counts within the block, from 1."""

    who: str
    text: str
    expected: tuple[str, ...]
    line: int


def steps(text: str) -> list[Step]:
    lines = text.rstrip("\n").split("\n")
    at, found = 0, []
    while at < len(lines):
        begun = STARTS.match(lines[at])
        if begun is None:
            raise ValueError(
                f"line {at + 1}: {lines[at]!r} answers nothing: a block begins with $, >, or (the agent …)"
            )
        who, end = (begun["who"], _end_of_typed) if begun["who"] else ("()", _end_of_event)
        after = end(lines, at)
        typed = "\n".join([begun["typed"] or begun["event"], *lines[at + 1 : after]])
        answered = next((number for number in count(after) if number == len(lines) or STARTS.match(lines[number])), 0)
        found.append(Step(who, typed.removesuffix(")") if who == "()" else typed, tuple(lines[after:answered]), at + 1))
        at = answered
    return found


def _end_of_typed(lines: list[str], at: int) -> int:
    """A command goes on after a backslash, and to the end of its here-document."""
    while lines[at].endswith("\\"):
        at += 1
    opened = HEREDOC.search(lines[at])
    return (lines.index(opened[1], at) if opened else at) + 1


def _end_of_event(lines: list[str], at: int) -> int:
    while not lines[at].endswith(")"):
        at += 1
    return at + 1


def agrees(expected: tuple[str, ...], shown: list[str]) -> bool:
    """A line `…` is one or more lines, `…` inside a line any text, the short name of a commit that of any."""
    pattern = "".join(r"(?:.*\n)+" if line == "…" else _line_pattern(line) + r"\n" for line in expected)
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in shown)) is not None


def _line_pattern(line: str) -> str:
    return COMMIT.sub(COMMIT.pattern.replace("\\", r"\\"), ".*".join(re.escape(part) for part in line.split("…")))
