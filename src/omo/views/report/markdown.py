"""The report as GitHub Markdown for a pull request. Whatever an agent wrote stays text: no link, mention or markup."""

from __future__ import annotations

import re
from collections.abc import Sequence

from omo.text import clip, counted
from omo.views.report.gather import Evidence, Part, Report
from omo.views.vocabulary import MARKS, TITLES, VERDICTS
from omo.work import times
from omo.work.status import Item, units

MARKER = "<!-- made by omo report -->\n"
MOST_ITEMS, MOST_NOTICES, MOST_EVENTS, MOST_PROOFS = 40, 30, 40, 60
LONGEST = 60_000  # GitHub takes 65,536 characters
# After the sign that makes GitHub link what follows: invisible, and no link goes on over it.
BREAK = "\N{WORD JOINER}"
SYNTAX = re.compile(r"([\\`*_\[\]|~$])")
ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
# Mentions, issues, advisories, addresses and :emoji: are found in the finished text, whatever was escaped, and what
# comes before does not have to be the end of a word.
LINKED = re.compile(r"@|#|(?<=gh)-(?=\d)|(?<=cve)-(?=\d)|(?<=ghsa)-|:(?=//|[\w+-]+(?::|$))|(?<=www)(?=\.)", re.I)
COMMIT = re.compile(r"((?<![0-9a-z])(?:[0-9a-f]+-)*[0-9a-f]{7,}(?:-[0-9a-f]+)*(?![0-9a-z]))", re.I)
STARTS = re.compile(r"([-+=]|\d+(?=[.)]))")  # what would begin a list or a line where nothing stands before it


def render(report: Report) -> str:
    run = f", run {text(report.run, 80)}" if report.run else ""
    took = times.between(report.timeline.began, report.timeline.ended)
    when = f"began {text(times.moment(report.timeline.began))}" + (f", took {took}" if took else "")
    lines = [
        MARKER.rstrip("\n"),
        f"## {VERDICTS[report.verdict.level].emoji} {text(report.verdict.text, 600)}",
        "",
        f"Session {text(report.session, 80)}{run}, {when}. Made by `omo report --md`.",
        "",
    ]
    if report.notices:
        lines += ["### In plain sight", ""]
    else:
        lines.append(report.let_through)
    for notice in report.notices[:MOST_NOTICES]:
        where = f" ({text(notice.where, 80)})" if notice.where else ""
        lines.append(f"- **{text(notice.what)}**{where}: {text(notice.text, 300)}")
    lines += _and_more(len(report.notices), MOST_NOTICES)
    for part in report.parts:
        lines += _part(part)
    lines += _timeline(report)
    return _bounded(lines)


def _bounded(lines: Sequence[str]) -> str:
    kept: list[str] = []
    room = LONGEST
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            kept.append("</details>" * (kept.count("<details>") - kept.count("</details>")))
            kept.append("\n… and more: `omo report` writes the whole page.")
            break
        kept.append(line)
    return "\n".join(kept).rstrip("\n") + "\n"


def text(value: object, longest: int = 200) -> str:
    """As it can stand anywhere in a line of Markdown, also in a table, and mean nothing but itself."""
    pieces = COMMIT.split(LINKED.sub(lambda match: match[0] + BREAK, clip(str(value), longest)))
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


def _part(part: Part) -> list[str]:
    view = part.view
    title = TITLES.get(view.kind, text(view.kind))
    lines = ["", f"### {title}: {view.done} of {units(view.total, view.unit)}"]
    if view.items:
        lines += ["", f"| | {text(view.unit)} | status | receipt | took |", "|---|---|---|---|---|"]
    proofs = []
    for item in view.items[:MOST_ITEMS]:
        evidence = part.evidence(item.id)
        lines.append(_row(item, evidence))
        proofs += _proofs(item, evidence)
    if len(view.items) > MOST_ITEMS:
        lines.append(f"\nand {len(view.items) - MOST_ITEMS} more")
    return lines + _details(f"Evidence, {counted(len(proofs), 'piece')}", proofs[:MOST_PROOFS], len(proofs))


def _row(item: Item, evidence: Evidence) -> str:
    name = f"{text(item.id, 40)} {text(item.title, 120) or text(evidence.pin(), 260)}".strip()
    status = text(item.status, 40)
    for override in item.overrides:
        status += f", **{text(override, 120)}**"
    receipt = item.receipt or "–"
    if item.receipt_why:
        receipt = f"{item.receipt}: {item.receipt_why}"
    sign = MARKS.get(item.mark, MARKS["open"]).emoji
    return f"| {sign} | {name} | {status} | {text(receipt, 120)} | {evidence.took or '–'} |"


def _proofs(item: Item, evidence: Evidence) -> list[str]:
    lines = []
    for shown in evidence.attachments:
        words = [text(word, 120) for word in (shown.name, shown.kind, shown.path) if word]
        state = f" ({text(shown.state, 80)})" if shown.state else ""
        lines.append(f"- {text(item.id, 40)}: {', '.join(words)}{state}")
    return lines


def _timeline(report: Report) -> list[str]:
    lines = []
    for event in report.timeline.events[-MOST_EVENTS:]:
        detail = f" – {text(event.detail, 160)}" if event.detail else ""
        lines.append(f"- {text(times.moment(event.ts), 40)} {text(event.what, 200)}{detail}")
    return _details(f"Timeline, {report.timeline.total} rows", lines, report.timeline.total)


def _details(title: str, lines: Sequence[str], total: int) -> list[str]:
    """`title` is ours: inside the tag nothing is read as Markdown."""
    if not lines:
        return []
    more = _and_more(total, len(lines))
    return ["", "<details>", f"<summary>{title}</summary>", "", *lines, *more, "", "</details>"]


def _and_more(total: int, shown: int) -> list[str]:
    return [f"- and {total - shown} more"] if total > shown else []
