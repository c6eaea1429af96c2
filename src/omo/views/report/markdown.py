"""The report as GitHub Markdown for a pull request. Whatever an agent wrote stays text: no link, mention or markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from omo.shown import clip, counted
from omo.views.report.gather import Evidence, Part, Report
from omo.views.report.verdict import plural
from omo.work import times
from omo.work.status import Item

MARKER = "<!-- made by omo report -->\n"
MOST_ITEMS, MOST_NOTICES, MOST_EVENTS, MOST_PROOFS = 40, 30, 40, 60
LONGEST = 60_000  # GitHub takes 65,536 characters
SIGNS = {"done": "✅", "active": "▶️", "open": "⬜", "failed": "❌", "stale": "⚠️", "waiting": "⏳", "cut": "➖"}
LEVELS = {
    "proven": "✅",
    "judged": "✅",
    "attested": "✍️",
    "waived": "⚠️",
    "ended": "⏹️",
    "gone": "⚠️",
    "unproven": "❌",
}
TITLES = {"ulw": "Gates", "ultragoal": "Goals", "ultraplan": "Steps", "ralph": "Criteria", "verify": "Verified goals"}
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
    lines = [
        MARKER.rstrip("\n"),
        f"## {LEVELS[report.verdict.level]} {text(report.verdict.text, 600)}",
        "",
        f"Session {text(report.session, 80)}{_run(report)}, {_when(report)}. Made by `omo report --md`.",
        *_sight(report),
        *(line for part in report.parts for line in _part(part)),
        *_timeline(report),
    ]
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
    # What looks like a commit is code, which is never linked and can be copied as it is.
    pieces = COMMIT.split(LINKED.sub(lambda found: found[0] + BREAK, clip(str(value), longest)))
    line = "".join(
        f"`{piece}`" if at % 2 else SYNTAX.sub(r"\\\1", piece.translate(ENTITIES)) for at, piece in enumerate(pieces)
    )
    return STARTS.sub(_harmless, line, count=1) if STARTS.match(line) else line


def _harmless(start: re.Match[str]) -> str:
    return f"{start[0]}\\" if start[0].isdigit() else f"\\{start[0]}"


def _run(report: Report) -> str:
    return f", run {text(report.run, 80)}" if report.run else ""


def _when(report: Report) -> str:
    took = times.between(report.timeline.began, report.timeline.ended)
    began = times.moment(report.timeline.began)
    return f"began {text(began)}" + (f", took {took}" if took else "")


def _sight(report: Report) -> list[str]:
    if not report.notices:
        return ["", report.let_through]
    listed = [
        f"- **{text(one.what)}**{f' ({text(one.where, 80)})' if one.where else ''}: {text(one.text, 300)}"
        for one in report.notices[:MOST_NOTICES]
    ]
    return ["", "### In plain sight", "", *_few(listed, len(report.notices), "- ")]


def _part(part: Part) -> list[str]:
    view = part.view
    rows = [_row(item, part.evidence(item.id)) for item in view.items[:MOST_ITEMS]]
    head = f"### {TITLES.get(view.kind, text(view.kind))}: {view.done} of {plural(view, view.total)}"
    table = ["", f"| | {text(view.unit)} | status | receipt | took |", "|---|---|---|---|---|", *rows] if rows else []
    more = len(view.items) - MOST_ITEMS
    proofs = [line for item in view.items[:MOST_ITEMS] for line in _proofs(item, part.evidence(item.id))]
    return [
        "",
        head,
        *table,
        *([f"\nand {more} more"] if more > 0 else []),
        *_details(f"Evidence, {counted(len(proofs), 'piece')}", proofs[:MOST_PROOFS], len(proofs)),
    ]


def _row(item: Item, evidence: Evidence) -> str:
    name = f"{text(item.id, 40)} {text(item.title, 120) or text(evidence.pin(), 260)}".strip()
    proof = f"{item.receipt}: {item.receipt_why}" if item.receipt_why else item.receipt or "–"
    flags = "".join(f", **{text(one, 120)}**" for one in item.overrides)
    took = evidence.took or "–"
    cells = (SIGNS.get(item.mark, "⬜"), name, text(item.status, 40) + flags, text(proof, 120), took)
    return f"| {' | '.join(cells)} |"


def _proofs(item: Item, evidence: Evidence) -> list[str]:
    return [
        f"- {text(item.id, 40)}: {', '.join(text(word, 120) for word in (one.name, one.kind, one.path) if word)}"
        f"{f' ({text(one.state, 80)})' if one.state else ''}"
        for one in evidence.attachments
    ]


def _timeline(report: Report) -> list[str]:
    shown = report.timeline.events[-MOST_EVENTS:]
    lines = [
        f"- {text(times.moment(one.at), 40)} {text(one.what, 200)}" + (f" – {text(one.detail, 160)}" * bool(one.detail))
        for one in shown
    ]
    return _details(f"Timeline, {report.timeline.total} rows", lines, report.timeline.total)


def _details(title: str, lines: Sequence[str], total: int) -> list[str]:
    """`title` is ours: inside the tag nothing is read as Markdown."""
    if not lines:
        return []
    return ["", "<details>", f"<summary>{title}</summary>", "", *_few(lines, total, "- "), "", "</details>"]


def _few(lines: Sequence[str], total: int, lead: str) -> Iterable[str]:
    yield from lines
    if total > len(lines):
        yield f"{lead}and {total - len(lines)} more"
