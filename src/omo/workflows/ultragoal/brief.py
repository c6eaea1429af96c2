"""What somebody writes for a plan: a brief, cut into stories at its `@goal` lines, and the words of its goals.

A story begins where `@goal` stands in the first column and a colon, a blank, a tab or the end of the line follows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from omo import masking
from omo.errors import BadInput
from omo.text import clip, counted

LONGEST_TITLE = 80
MOST_DEFECTS = 50
CREATE = "omo ultragoal create-goals --brief-file PATH"

# A lone CR ends a line too: a file opened as text has it so, and the three ways to pass a brief must agree.
LINE_END = re.compile(r"\r\n|\n|\r")
DELIMITER = re.compile(r"@goal(?::|(?=[ \t])|\Z)")


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


def parse(text: str) -> Brief:
    """Read a brief. Raises BadInput for a text that cannot be kept, for no text at all, and for all empty blocks by
    number."""
    if why := unusable(text):
        _require([why])
    # Byte order marks are no text, at the beginning as little as where files were joined.
    lines = LINE_END.split(text.replace("\ufeff", ""))
    visible = [line for line in lines if is_visible(line)]
    if not visible:
        raise BadInput("the brief is blank", fix=f'{CREATE}, or --brief "what is to be done"')
    starts = [number for number, line in enumerate(lines) if DELIMITER.match(line)]
    stories, defects = [], []
    for number, (start, end) in enumerate(zip(starts, [*starts, len(lines)][1:], strict=True), start=1):
        title = DELIMITER.sub("", lines[start], count=1).strip()
        body = "\n".join(lines[start + 1 : end]).strip()
        if not is_visible(title) and not is_visible(body):
            defects.append(f"@goal block {number} (line {start + 1}) has neither a title nor a text")
        elif not is_visible(body):
            stories.append(Story(title_of(title), title))
        else:  # a missing title is borrowed from the text
            borrowed = next(line for line in body.split("\n") if is_visible(line))
            stories.append(Story(title_of(title) or title_of(borrowed), body))
    _require(defects)
    if not starts:
        stories = [Story(title_of(visible[0]), "\n".join(lines).strip())]
    first = starts[0] if starts else 0
    shown = next(number for number, line in enumerate(lines) if line.strip())
    return Brief(
        text="\n".join(lines[shown:]).rstrip(" \t\n"),  # a form feed after @goal makes it text: it has to stay
        preamble="\n".join(lines[:first]).strip(),
        stories=stories,
    )


def has_goals(text: str) -> bool:
    return any(DELIMITER.match(line) for line in LINE_END.split(text))


def _require(defects: list[str]) -> None:
    if defects:
        raise BadInput(
            f"the brief has {counted(len(defects), 'defect')}",
            fix=f"mend the brief, then: {CREATE}",
            defects=defects[:MOST_DEFECTS],
        )


def unusable(text: str) -> str:
    """Say why a text cannot be kept as it is; empty for most."""
    if "\0" in text:
        return f"a NUL at character {text.index(chr(0)) + 1}; remove it"
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return f"no UTF-8 at character {error.start + 1}; save it as UTF-8"
    return ""


def is_visible(text: str) -> bool:
    return any(letter.isprintable() and not letter.isspace() for letter in text)


def title_of(text: str) -> str:
    line = clip(text, len(text) + 1)  # without control characters, which could redraw a terminal
    return line if len(line) <= LONGEST_TITLE else line[: LONGEST_TITLE - 3] + "..."


def require_text(option: str, text: str, fix: str) -> str:
    """Return somebody's words without secrets and the blanks around them. Raises BadInput if they cannot be kept."""
    if not is_visible(text):
        raise BadInput(f"{option} is blank", fix=fix)
    if why := unusable(text):
        raise BadInput(f"{option}: {why}", fix=fix)
    return masking.mask(text.strip())


def same_words(text: str) -> str:
    """Return what two texts have in common that differ only in case and blanks."""
    return " ".join(text.split()).casefold()
