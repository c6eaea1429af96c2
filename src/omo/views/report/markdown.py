"""The report as GitHub Markdown for a pull request. Whatever an agent wrote stays text: no link, mention or markup."""

from __future__ import annotations

import re

from omo import masking
from omo.text import clip
from omo.views.report.gather import Report
from omo.views.report.parts import Part
from omo.views.report.template import template
from omo.work.sections import Attachment

MARKER = "<!-- made by omo report -->\n"
LONGEST = 60_000  # GitHub takes 65,536 characters
LONGEST_VALUE = 1000
MOST_ITEMS = 40
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


def render(report: Report) -> str:
    """Every value in the template goes through `text`; what does not fit is left out, and that is said."""
    kept: list[str] = [MARKER.rstrip("\n")]
    room = LONGEST
    written = template("markdown.md.j2", text, is_html=False)
    for line in written.render(report=report, evidence=_evidence, ours=Ours).split("\n"):
        room -= len(line) + 1
        if room < 0:
            kept.append("</details>" * (kept.count("<details>") - kept.count("</details>")))
            kept.append("\n… and more: `omo report` writes the whole page.")
            break
        kept.append(line)
    return "\n".join(kept).rstrip("\n") + "\n"


def _evidence(part: Part) -> list[tuple[str, Attachment]]:
    """What stands behind the items that are shown, each with the item's id."""
    pieces = []
    for item in part.view.items[:MOST_ITEMS]:
        for attachment in part.evidence(item.id).attachments:
            pieces.append((item.id, attachment))
    return pieces


def text(value: object) -> str:
    """As it can stand anywhere in a line of Markdown, also in a table, and mean nothing but itself."""
    if isinstance(value, Ours):
        return value
    pieces = COMMIT.split(LINKED.sub(lambda match: match[0] + BREAK, clip(masking.mask(str(value)), LONGEST_VALUE)))
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
