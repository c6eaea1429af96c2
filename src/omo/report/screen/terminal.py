"""A project's sessions as a terminal shows them: a pure function of what was found and the width.

Whatever comes from state is put into Text, which interprets nothing, after it lost its control characters.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from omo.report.project import ProjectView, SessionView
from omo.report.screen import words
from omo.report.screen.shell_lines import continued
from omo.shown import clip
from omo.work.status import Item, Status

NARROWEST = 40
LABEL = 11
LONGEST = 1000
MOST_SAID = {"Problem": 3, "Override": 8, "Let stand": 8}  # what is beyond is counted

MARKS = {
    "done": ("✓", "+", "green"),
    "active": ("▸", ">", "cyan"),
    "open": ("○", "o", "dim"),
    "failed": ("✗", "x", "red"),
    "stale": ("!", "!", "yellow"),
    "waiting": ("…", "~", "yellow"),
    "cut": ("–", "-", "dim"),
}
MODES = {"active": "cyan", "exhausted": "red", "unreadable": "red", "cancelled": "dim", "off": "dim"}
LET_GO = {"cap": "red", "ceiling": "red", "invalid-state": "red"}
STANDINGS = {"done": "green", "failed": "red", "stale": "yellow", "waiting": "yellow", "active": "cyan"}


@dataclass(frozen=True)
class Paper:
    """How much room there is, and whether it takes more than ASCII."""

    width: int
    ascii_only: bool = False

    def mark(self, name: str) -> tuple[str, str]:
        drawn, plain, style = MARKS.get(name, MARKS["open"])
        return plain if self.ascii_only else drawn, style

    @property
    def dot(self) -> str:
        return " - " if self.ascii_only else " · "

    def bar(self, done: int, total: int) -> Text:
        """Full only when everything is done, empty only when nothing is."""
        cells = 20 if self.width >= 100 else 14
        full = cells * done // total
        full = min(max(full, 1 if done else 0), cells if done >= total else cells - 1)
        filled, empty = ("#", "-") if self.ascii_only else ("█", "░")
        return Text.assemble((filled * full, "green"), (empty * (cells - full), "dim"))


def render(
    view: ProjectView, width: int, *, everything: bool = False, color: bool = True, ascii_only: bool = False
) -> str:
    """As one text with escape sequences for colours; bold and dim only where `color` is off."""
    file = io.StringIO()
    console = Console(
        file=file,
        width=max(width, NARROWEST),
        force_terminal=True,
        color_system="standard",
        no_color=not color,
        legacy_windows=False,
        markup=False,
        emoji=False,
        highlight=False,
    )
    for line in lines(view, width, everything=everything, ascii_only=ascii_only):
        console.print(line, no_wrap=True, overflow="ignore", crop=False)
    return file.getvalue().rstrip("\n")


def lines(view: ProjectView, width: int, *, everything: bool = False, ascii_only: bool = False) -> list[Text]:
    """Each of them fits the width."""
    paper = Paper(max(width, NARROWEST), ascii_only)
    blocks = [
        _problems(view, paper),
        _focus(view, paper, everything=everything),
        _others(view, paper, everything=everything),
        _overrides(view, paper),
    ]
    found: list[Text] = []
    for block in (list(one) for one in blocks):
        found += [Text(""), *block] if found and block else block
    return [_in_ascii(line) for line in found] if ascii_only else found


def fitted(drawn: Sequence[Text], height: int) -> list[Text]:
    """What fits a screen of this height, and how much does not."""
    if len(drawn) <= height:
        return list(drawn)
    return [*drawn[: height - 1], _safe(f"{len(drawn) - height + 1} more lines: omo status", "dim")]


def _problems(view: ProjectView, paper: Paper) -> Iterator[Text]:
    for problem in view.problems:
        yield from _labelled("Problem", _safe(problem.what, "red"), paper, "bold red")
        if problem.fix:
            yield from _labelled("", _safe(f"fix: {problem.fix}"), paper)


def _focus(view: ProjectView, paper: Paper, *, everything: bool) -> Iterator[Text]:
    if view.focus is not None:
        yield from _session(view.focus, paper, everything=everything)
    elif any(one.is_on for one in view.sessions):
        name = clip(view.meant, words.LONGEST_NAME)
        yield from _wrapped(_safe(f"Nothing is on in this session ({name}).", "bold"), paper.width)
    else:
        yield _safe(words.NOTHING, "bold")
        yield from _wrapped(_safe(words.HOW_TO_START, "dim"), paper.width)


def _session(one: SessionView, paper: Paper, *, everything: bool) -> Iterator[Text]:
    yield _headline(one, paper)
    yield from _wrapped(_safe(paper.dot.join(_about(one)), "dim"), paper.width)
    yield Text("")
    if ended := words.has_ended(one):
        yield from _labelled("Ended", _safe(ended, _mode(one)), paper)
    yield from _labelled("Next stop", _next_stop(one), paper)
    for question in words.questions(one):
        yield from _labelled("Question", _safe(question, "bold"), paper)
    if one.is_live:
        yield from _labelled("Breakers", _breakers(one, paper), paper)
    yield from _worse("Problem", words.problems(one), "red", paper)
    yield from _worse("Override", one.overrides, "yellow", paper)
    for view in words.works(one):
        yield Text("")
        yield from _work(one, view, paper, everything=everything)
    yield from _next(one, paper)


def _headline(one: SessionView, paper: Paper) -> Text:
    text = _safe(words.headline(one), "bold", _mode(one))
    told = _safe(f"{'this session' if one.is_here else 'session'} {clip(one.name, words.LONGEST_NAME)}", "dim")
    gap = paper.width - text.cell_len - told.cell_len
    if gap < 2:
        told.truncate(max(8, paper.width - text.cell_len - 2), overflow="ellipsis")
    text.append(" " * max(2, paper.width - text.cell_len - told.cell_len))
    text.append_text(told)
    text.truncate(paper.width, overflow="ellipsis")
    return text


def _mode(one: SessionView) -> str:
    """Green is what was proven and holds; what was proven and nobody looked at since has no colour of its own."""
    if one.brief.mode == "done":
        return "yellow" if not one.is_proven or one.lapsed else "dim" if one.works is None else "green"
    return MODES.get(one.brief.mode, "yellow")


def _about(one: SessionView) -> list[str]:
    run = one.leading.run if one.leading else ""
    used = words.ago(one.unused_for)
    return [*filter(None, [run and f"run {run}", used and f"last used {used}"]), *words.marks(one)] or ["never used"]


def _next_stop(one: SessionView) -> Text:
    is_done = one.brief.rule.name == "done"
    style = (
        "yellow" if one.brief.decision == "block" else LET_GO.get(one.brief.rule.name, _mode(one) if is_done else "")
    )
    decided, because = words.next_stop(one).split(")", 1)
    return Text.assemble(_safe(f"{decided})", "bold", style), _safe(because))


def _breakers(one: SessionView, paper: Paper) -> Text:
    """Yellow where half of it is used, red where a quarter is left."""
    line = Text()
    for breaker, said in zip(one.brief.breakers, words.breakers(one), strict=True):
        share = breaker.used / breaker.most if breaker.most else 0
        line.append(paper.dot if line else "", "dim")
        line.append_text(_safe(said, "red" if share >= 0.75 else "yellow" if share >= 0.5 else ""))
    return line


def _worse(label: str, said: Sequence[str], style: str, paper: Paper) -> Iterator[Text]:
    most = MOST_SAID[label]
    for number, one in enumerate(said[:most]):
        yield from _labelled("" if number else label, _safe(one, style), paper, style)
    if len(said) > most:
        yield from _labelled("", _safe(f"and {len(said) - most} more: omo status --json", style), paper)


def _work(one: SessionView, view: Status, paper: Paper, *, everything: bool) -> Iterator[Text]:
    in_full = words.is_shown_in_full(one, view, everything=everything)
    yield from _labelled(words.name_of(view.kind), _progress(view, paper), paper, "bold" if in_full else "")
    if not in_full:
        return
    chosen = words.selection(view, everything=everything)
    yield from _items(view, chosen.items, paper, everything=everything)
    if chosen.left_out:
        yield from _wrapped(_safe(f"and {chosen.left_out}: omo status --all", "dim"), paper.width, indent=4)
    for fact in view.facts:
        yield from _fact(fact, paper, everything=everything)


def _fact(fact: str, paper: Paper, *, everything: bool) -> Iterator[Text]:
    if everything:
        yield from _wrapped(_safe(fact, "dim"), paper.width, indent=4)
        return
    line = _safe(f"    {fact}", "dim")
    line.truncate(paper.width, overflow="ellipsis")
    yield line


def _progress(view: Status, paper: Paper) -> Text:
    if not view.total:
        return _safe(view.headline)
    text = paper.bar(view.done, view.total)
    text.append_text(_safe(f" {words.progress(view)}", "bold"))
    return text.append_text(_safe(f"{paper.dot}{view.headline}", "dim")) if view.headline else text


def _items(view: Status, items: Sequence[Item], paper: Paper, *, everything: bool) -> Iterator[Text]:
    """Three columns as wide as they need to be; where the line is too short for them, the titles give way."""
    ids = min(max((cell_len(clip(item.id, 24)) for item in items), default=0), 24)
    right = max((cell_len(view.state_of(item)) for item in items), default=0)
    titles = max((cell_len(words.title(item)) for item in items), default=0)
    indent = 4 + ids + 2
    room = max(8, min(titles, paper.width - indent - right - 2))
    for item in items:
        yield _item(item, view.state_of(item), paper, ids, room)
        if item.receipt_why:
            yield from _wrapped(_safe(item.receipt_why, "yellow"), paper.width, indent=indent)
        for note in words.notes(item, everything=everything):
            yield from _wrapped(_safe(note, "dim"), paper.width, indent=indent)


def _item(item: Item, stands: str, paper: Paper, ids: int, room: int) -> Text:
    mark, style = paper.mark(item.mark)
    line = Text.assemble("  ", (mark, style), " ", _safe(_padded(clip(item.id, 24), ids), "bold"), "  ")
    title = _safe(words.title(item), "dim" if item.mark in ("done", "cut") else "")
    title.truncate(room, overflow="ellipsis", pad=True)
    line.append_text(title).append("  ").append_text(_safe(stands, STANDINGS.get(item.mark, "dim")))
    line.truncate(paper.width, overflow="ellipsis")
    return line


def _next(one: SessionView, paper: Paper) -> Iterator[Text]:
    """What moves things on; a command stands on lines of its own, whole, so that it can be copied."""
    if not one.next.commands and one.next.action in ("", "done"):
        return
    yield Text("")
    yield from _labelled("Next", _safe(one.next.why), paper, "bold cyan")
    for number, way in enumerate(one.next.commands):
        if way.when:
            yield from _wrapped(_safe(f"{way.when}:" if way.line else way.when, "dim"), paper.width, indent=2)
        if way.line:
            yield from _command(way.line, paper, "bold" if number == 0 else "")


def _command(command: str, paper: Paper, style: str) -> Iterator[Text]:
    for number, part in enumerate(continued(clip(command, 4 * LONGEST), paper.width - 6, cell_len)):
        yield Text.assemble("  ", ("  " if number else "$ ", "dim"), (part, f"{style} cyan".strip()))


def _others(view: ProjectView, paper: Paper, *, everything: bool) -> Iterator[Text]:
    rest = words.others(view, everything=everything)
    if rest.listed:
        yield _safe("Other sessions" if view.focus else "Sessions", "bold")
        names = words.short_names(view)
        yield from _table([_brief(one, names[one.name], paper) for one in rest.listed], paper)
    if rest.off:
        yield _safe(f"  {rest.told_off}", "dim")


def _brief(one: SessionView, name: str, paper: Paper) -> list[Text]:
    return [
        _safe(name),
        _safe(words.short_headline(one), _mode(one)),
        _safe(words.how_far(one)),
        _safe("sent back", "yellow") if one.brief.decision == "block" else _safe("let go", "dim"),
        _safe(words.ago(one.unused_for), "dim"),
        _safe(paper.dot.join(words.notices(one)), "yellow"),
    ]


def _table(rows: Sequence[Sequence[Text]], paper: Paper) -> Iterator[Text]:
    """Columns as wide as they need to be; what does not fit is cut at the end of the line."""
    widths = [min(max(cell.cell_len for cell in column), 36) for column in zip(*rows, strict=True)]
    for row in rows:
        line = Text("  ")
        for cell, width in zip(row, widths, strict=True):
            if width:
                shown = cell.copy()
                shown.truncate(width, overflow="ellipsis", pad=True)
                line.append_text(shown).append("  ")
        line.rstrip()
        line.truncate(paper.width, overflow="ellipsis")
        yield line


def _overrides(view: ProjectView, paper: Paper) -> Iterator[Text]:
    said = [f"{one['claim']}: let stand by the {one['by']}, {one['reason']}" for one in view.overrides]
    yield from _worse("Let stand", said, "yellow", paper)


def _labelled(label: str, said: Text, paper: Paper, style: str = "dim") -> Iterator[Text]:
    for number, line in enumerate(_wrapped(said, paper.width - LABEL)):
        yield Text.assemble((f"{'' if number else label:<{LABEL}}", style), line)


def _wrapped(said: Text, width: int, *, indent: int = 0, hanging: int | None = None) -> Iterator[Text]:
    """Broken at blanks; a word that is longer than a line is broken where the line ends."""
    rest = indent if hanging is None else hanging
    room = max(10, width - max(indent, rest))
    for number, line in enumerate(said.wrap(_MEASURE, room, overflow="fold")):
        line.rstrip()
        yield Text.assemble(" " * (rest if number else indent), line)


def _padded(text: str, width: int) -> str:
    return text + " " * max(0, width - cell_len(text))


def _safe(text: str, *styles: str) -> Text:
    found = Text(_visible(text), no_wrap=False)
    for style in filter(None, styles):
        found.stylize(style)
    return found


def _visible(text: str) -> str:
    """Bounded, and nothing that moves a cursor; blanks at its ends are ours."""
    return "".join(letter if letter.isprintable() else " " for letter in text[:LONGEST])


def _in_ascii(line: Text) -> Text:
    """The same cells for a terminal that shows no more than ASCII."""
    found = line.copy()
    found.plain = "".join(_letter(letter) for letter in line.plain)
    return found


def _letter(letter: str) -> str:
    return letter if letter.isascii() else "~" if letter == "…" else "?" * max(1, cell_len(letter))


def joined(drawn: Iterable[Text]) -> Text:
    return Text("\n").join(drawn)


_MEASURE = Console(file=io.StringIO(), width=NARROWEST, force_terminal=False, legacy_windows=False)
