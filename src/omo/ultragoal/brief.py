"""The brief of a run, cut into stories at its `@goal` lines.

A story begins where `@goal` stands in the first column and a colon, a blank, a tab or the end of the line follows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from omo.errors import BadInput
from omo.shown import clip

LONGEST_TEXT = 200_000
LONGEST_TITLE = 80
MOST_GOALS = 999  # ids have three digits
MOST_NOTES = 20
CREATE = "omo ultragoal create-goals --brief-file PATH"

# A lone CR ends a line too: a file opened as text has it so, and the three ways to pass a brief must agree.
LINE_END = re.compile(r"\r\n|\n|\r")
DELIMITER = re.compile(r"@goal(?::|(?=[ \t])|\Z)")
NEAR_MISS = re.compile(r"[\W_]*@[ \t]?goals?\s*(?:[:：]|\Z)|\s*@goal\s", re.IGNORECASE)


@dataclass(frozen=True)
class Story:
    title: str
    objective: str


@dataclass(frozen=True)
class Brief:
    """`text` lost the blank lines around it, not its first indentation: parsed again it gives the same stories."""

    text: str
    preamble: str
    stories: list[Story]
    near_misses: list[str]
    cut_titles: list[str]


def parse(text: str) -> Brief:
    """BadInput with every defect at once: a text that cannot be kept, no text at all, empty blocks by number."""
    _require(defects_of(text))
    # Byte order marks are no text, at the beginning as little as where files were joined.
    lines = LINE_END.split(text.replace("\ufeff", ""))
    if not any(is_visible(line) for line in lines):
        raise BadInput("the brief is blank", fix=f'{CREATE}, or --brief "what is to be done"')
    starts = [at for at, line in enumerate(lines) if DELIMITER.match(line)]
    blocks = [lines[start:end] for start, end in zip(starts, [*starts, len(lines)][1:], strict=True)]
    _require(_block_defects(blocks, starts))
    first = starts[0] if starts else 0
    return Brief(
        text=_without_blank_ends(lines),
        preamble=_joined(lines[:first]),
        stories=[_story(block) for block in blocks] or [_whole(lines)],
        near_misses=_near_misses(lines),
        cut_titles=_cut_titles(blocks),
    )


def _require(defects: list[str]) -> None:
    if defects:
        count = "1 defect" if len(defects) == 1 else f"{len(defects)} defects"
        raise BadInput(
            f"the brief has {count}: {defects[0]}",
            fix=f"mend the brief, then: {CREATE}",
            defects=_bounded(defects, MOST_GOALS),
        )


def defects_of(text: str) -> list[str]:
    """Why a text cannot be kept as it is; none for most."""
    found = []
    if len(text) > LONGEST_TEXT:
        found.append(f"{len(text)} characters, at most {LONGEST_TEXT}; name files instead of copying them")
    if "\0" in text:
        found.append(f"a NUL at character {text.index(chr(0)) + 1}; remove it")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        found.append(f"no UTF-8 at character {error.start + 1}; save it as UTF-8")
    return found


def is_visible(text: str) -> bool:
    return any(letter.isprintable() and not letter.isspace() for letter in text)


def one_line(text: str) -> str:
    """Without control characters, which could redraw a terminal, and without runs of blanks."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def title_of(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= LONGEST_TITLE else line[: LONGEST_TITLE - 3] + "..."


def _block_defects(blocks: list[list[str]], starts: list[int]) -> list[str]:
    found = [
        f"@goal block {number} (line {start + 1}) has neither a title nor a text"
        for number, (block, start) in enumerate(zip(blocks, starts, strict=True), start=1)
        if not is_visible(_title_line(block)) and not any(is_visible(line) for line in block[1:])
    ]
    if len(blocks) > MOST_GOALS:
        found.insert(0, f"{len(blocks)} @goal blocks, at most {MOST_GOALS}; put several steps into one")
    return found


def _story(block: list[str]) -> Story:
    """A missing title is borrowed from the text, a missing text from the title."""
    title, body = _title_line(block), block[1:]
    if not any(is_visible(line) for line in body):
        return Story(title_of(title), title)
    return Story(title_of(title) or _first_title(body), _joined(body))


def _whole(lines: list[str]) -> Story:
    return Story(_first_title(lines), _joined(lines))


def _title_line(block: list[str]) -> str:
    return DELIMITER.sub("", block[0], count=1).strip()


def _first_title(lines: list[str]) -> str:
    return title_of(next(line for line in lines if is_visible(line)))


def _joined(lines: list[str]) -> str:
    return "\n".join(lines).strip()


def _without_blank_ends(lines: list[str]) -> str:
    first = next(at for at, line in enumerate(lines) if line.strip())
    return "\n".join(lines[first:]).rstrip(" \t\n")  # a form feed after @goal makes it text: it has to stay


def _near_misses(lines: list[str]) -> list[str]:
    """Lines that were read as text although a new goal may have been meant."""
    return _bounded(
        [
            f"line {number}: {clip(line, 60)!r} is text and begins no goal: {_why(line)}"
            for number, line in enumerate(lines, start=1)
            if NEAR_MISS.match(line) and not DELIMITER.match(line)
        ]
    )


def _why(line: str) -> str:
    if not line.startswith("@"):
        return "@goal is not in the first column"
    if not line.startswith("@goal"):
        return "the word is @goal, in small letters"
    return "after @goal comes a colon, a blank, a tab or the end of the line"


def _cut_titles(blocks: list[list[str]]) -> list[str]:
    """Titles whose end is now in the brief only, because the text below them is the objective."""
    return _bounded(
        [
            f"G{number:03d}: the title was cut at {LONGEST_TITLE} characters; the objective does not hold its end"
            for number, block in enumerate(blocks, start=1)
            if len(one_line(_title_line(block))) > LONGEST_TITLE and any(is_visible(line) for line in block[1:])
        ]
    )


def _bounded(notes: list[str], most: int = MOST_NOTES) -> list[str]:
    more = len(notes) - most
    return notes if more <= 0 else [*notes[:most], f"and {more} more"]
