"""The report as GitHub Markdown for a pull request. Whatever an agent wrote stays text: no link, mention or markup."""

from __future__ import annotations

import re
from collections.abc import Sequence

from omo.text import clip, counted
from omo.views.report.gather import Changed, Part, Report
from omo.views.works import MARKS, TITLES, VERDICTS
from omo.work import times
from omo.work.sections import Section
from omo.work.status import Item, units

MARKER = "<!-- made by omo report -->\n"
MOST_ITEMS, MOST_NOTICES, MOST_EVENTS, MOST_PROOFS, MOST_FILES = 40, 30, 40, 60, 30
LONGEST_TASK = 600
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
    took = times.between(report.timeline.began, report.timeline.ended)
    when = f"began {text(times.moment(report.timeline.began))}" + (f", took {took}" if took else "")
    sent_back = f"sent back {counted(report.blocks, 'time')}"
    lines = [
        MARKER.rstrip("\n"),
        f"## {VERDICTS[report.verdict.level].emoji} {text(report.verdict.text, 600)}",
        "",
    ]
    if report.task:
        lines += [f"> {text(report.task, LONGEST_TASK)}", ""]
    lines += [f"{text(report.project)}: {when}, {sent_back}. Made by `omo report --md`.", ""]
    if report.notices:
        lines += ["### In plain sight", ""]
    else:
        lines.append(report.let_through)
    for notice in report.notices[:MOST_NOTICES]:
        where = f" ({text(notice.where, 80)})" if notice.where else ""
        lines.append(f"- **{text(notice.what)}**{where}: {text(notice.text, 300)}")
    lines += _and_more(len(report.notices), MOST_NOTICES)
    lines += _changed(report.changed)
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


def _changed(changed: Changed) -> list[str]:
    if changed.unknown:
        return ["", f"Files changed: not known, {text(changed.unknown)}."]
    names = []
    for path, how in changed.files[:MOST_FILES]:
        names.append(f"{text(path, 120)} ({how})" if how else text(path, 120))
    if len(changed.files) > MOST_FILES:
        names.append(f"and {len(changed.files) - MOST_FILES} more")
    return ["", f"Files changed, {len(changed.files)}: {', '.join(names) or 'none'}"]


def _part(part: Part) -> list[str]:
    view = part.view
    title = TITLES.get(view.kind, text(view.kind))
    lines = ["", f"### {title}: {view.done} of {units(view.total, view.unit)}"]
    has_times = any(part.evidence(item.id).duration for item in view.items)
    if view.items:
        columns = ["", text(view.unit), "status", *(["took"] if has_times else [])]
        lines += ["", f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    proofs = []
    for item in view.items[:MOST_ITEMS]:
        section = part.evidence(item.id)
        lines.append(_row(item, section) + (f" {section.duration or '–'} |" if has_times else ""))
        proofs += _proofs(item, section)
    if len(view.items) > MOST_ITEMS:
        lines.append(f"\nand {len(view.items) - MOST_ITEMS} more")
    return lines + _details(f"Evidence, {counted(len(proofs), 'piece')}", proofs[:MOST_PROOFS], len(proofs))


def _row(item: Item, section: Section) -> str:
    title = item.title
    if section.command:
        title = f"{section.command}, pinned by the {section.pinned_by}"
    status = text(item.status, 40)
    for override in item.overrides:
        status += f", **{text(override, 120)}**"
    if item.receipt == "stale":
        status += f", stale: {text(item.receipt_why or 'what it covers has changed', 120)}"
    sign = MARKS.get(item.mark, MARKS["open"]).emoji
    return f"| {sign} | {f'{text(item.id, 40)} {text(title, 260)}'.strip()} | {status} |"


def _proofs(item: Item, section: Section) -> list[str]:
    lines = []
    for shown in section.attachments:
        words = [text(word, 120) for word in (shown.name, shown.kind, shown.path) if word]
        state = f" ({text(shown.problem, 80)})" if shown.problem else ""
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
