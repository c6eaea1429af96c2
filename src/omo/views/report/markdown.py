"""The report as GitHub Markdown for a pull request. Whatever an agent wrote stays text: no link, mention or markup."""

from __future__ import annotations

from omo.views.markdown_text import Ours, text
from omo.views.report.gather import Report
from omo.views.report.parts import Part
from omo.views.report.template import template
from omo.work.sections import Attachment

MARKER = "<!-- made by omo report -->\n"
LONGEST = 60_000  # GitHub takes 65,536 characters
MOST_ITEMS = 40


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
