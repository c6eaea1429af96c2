"""Text that somebody else wrote, for GitHub Markdown: it stays text, and becomes no link, mention or markup."""

from __future__ import annotations

import re

from omo import masking
from omo.text import clip

LONGEST_VALUE = 1000
# After the sign that makes GitHub link what follows: invisible, and no link goes on over it.
BREAK = "\N{WORD JOINER}"
SYNTAX = re.compile(r"([\\`*_\[\]|~$])")
ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
# Mentions, issues, advisories, addresses and :emoji: are found in the finished text, whatever was escaped, and what
# comes before does not have to be the end of a word.
LINKED = re.compile(r"@|#|(?<=gh)-(?=\d)|(?<=cve)-(?=\d)|(?<=ghsa)-|:(?=//|[\w+-]+(?::|$))|(?<=www)(?=\.)", re.I)
COMMIT = re.compile(r"((?<![0-9a-z])(?:[0-9a-f]+-)*[0-9a-f]{7,}(?:-[0-9a-f]+)*(?![0-9a-z]))", re.I)
STARTS = re.compile(r"([-+=]|\d+(?=[.)]))")  # what would begin a list or a line where nothing stands before it


class Ours(str):
    """What nobody else wrote, as it is."""

    __slots__ = ()


def text(value: object, longest: int = LONGEST_VALUE) -> str:
    """Return the value as it can stand anywhere in a line of Markdown, also in a table, and mean nothing but itself."""
    if isinstance(value, Ours):
        return value
    pieces = COMMIT.split(LINKED.sub(lambda match: match[0] + BREAK, clip(masking.mask(str(value)), longest)))
    line = ""
    for number, piece in enumerate(pieces):
        if number % 2:  # it looks like a commit: code is never linked, and can be copied as it is
            line += f"`{piece}`"
        else:
            line += SYNTAX.sub(r"\\\1", piece.translate(ENTITIES))
    if start := STARTS.match(line):
        harmless = f"{start[0]}\\" if start[0].isdigit() else f"\\{start[0]}"
        line = harmless + line[start.end() :]
    return line
