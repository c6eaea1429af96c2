"""A project's sessions as a terminal shows them: a pure function of what was found and the width.

Whatever comes from state is put into Text, which interprets nothing, after it lost its control characters.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from omo.text import clip
from omo.views import phrases
from omo.views.project import ProjectView, SessionView
from omo.views.vocabulary import MARKS
from omo.work.status import Item, Status

NARROWEST = 40
LABEL = 11
DOT = " · "
LONGEST, LONGEST_COMMAND = 1000, 4000
MOST_LISTED = {"Problem": 3, "Override": 8, "Let stand": 8}  # what is beyond is counted

STYLES = {"good": "green", "info": "cyan", "plain": "dim", "bad": "red", "warn": "yellow"}
MODES = {"active": "cyan", "exhausted": "red", "unreadable": "red", "cancelled": "dim", "off": "dim"}
LET_GO = {"cap": "red", "ceiling": "red", "budget": "red", "invalid-state": "red"}


def render(project: ProjectView, width: int, *, everything: bool = False, color: bool = True) -> str:
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
    for line in lines(project, width, everything=everything):
        console.print(line, no_wrap=True, overflow="ignore", crop=False)
    return file.getvalue().rstrip("\n")


def lines(project: ProjectView, width: int, *, everything: bool = False) -> list[Text]:
    """Each of them fits the width, but for a command."""
    width = max(width, NARROWEST)
    blocks = [
        _problems(project, width),
        _focus(project, width, everything=everything),
        _others(project, width, everything=everything),
        _overrides(project, width),
    ]
    drawn: list[Text] = []
    for block in blocks:
        lines_of_block = list(block)
        if drawn and lines_of_block:
            drawn.append(Text(""))
        drawn += lines_of_block
    return drawn


def fitted(drawn: Sequence[Text], height: int) -> list[Text]:
    """What fits a screen of this height, and how much does not."""
    if len(drawn) <= height:
        return list(drawn)
    return [*drawn[: height - 1], _safe(f"{len(drawn) - height + 1} more lines: omo status", "dim")]


def joined(drawn: Iterable[Text]) -> Text:
    return Text("\n").join(drawn)


def _problems(project: ProjectView, width: int) -> Iterator[Text]:
    for problem in project.problems:
        yield from _labelled("Problem", _safe(problem.what, "red"), width, "bold red")
        if problem.fix:
            yield from _labelled("", _safe(f"fix: {problem.fix}"), width)


def _focus(project: ProjectView, width: int, *, everything: bool) -> Iterator[Text]:
    if project.focus is not None:
        yield from _session(project.focus, width, everything=everything)
    elif any(view.is_on for view in project.sessions):
        name = clip(project.meant, phrases.LONGEST_NAME)
        yield from _wrapped(_safe(f"Nothing is on in this session ({name}).", "bold"), width)
    else:
        yield _safe(phrases.NOTHING, "bold")
        yield from _wrapped(_safe(phrases.HOW_TO_START, "dim"), width)


def _session(view: SessionView, width: int, *, everything: bool) -> Iterator[Text]:
    yield _headline(view, width)
    yield from _wrapped(_safe(DOT.join(_about(view)), "dim"), width)
    yield Text("")
    if ending := phrases.ending(view):
        yield from _labelled("Ended", _safe(ending, _mode_style(view)), width)
    yield from _labelled("Next stop", _next_stop(view), width)
    for question in phrases.questions(view):
        yield from _labelled("Question", _safe(question, "bold"), width)
    if view.is_live:
        yield from _labelled("Breakers", _breakers(view), width)
        if spent := view.brief.budget:
            yield from _labelled("Budget", _safe(spent), width)
    yield from _listed("Problem", phrases.problems(view), "red", width)
    yield from _listed("Override", view.overrides, "yellow", width)
    for work in phrases.works(view):
        yield Text("")
        yield from _work(view, work, width, everything=everything)
    yield from _next(view, width)


def _headline(view: SessionView, width: int) -> Text:
    text = _safe(phrases.headline(view), "bold", _mode_style(view))
    who = "this session" if view.is_here else "session"
    name = _safe(f"{who} {clip(view.name, phrases.LONGEST_NAME)}", "dim")
    if width - text.cell_len - name.cell_len < 2:
        name.truncate(max(8, width - text.cell_len - 2), overflow="ellipsis")
    text.append(" " * max(2, width - text.cell_len - name.cell_len))
    text.append_text(name)
    text.truncate(width, overflow="ellipsis")
    return text


def _mode_style(view: SessionView) -> str:
    """Green is what was proven and holds; what was proven and nobody looked at since has no colour of its own."""
    if view.brief.mode != "done":
        return MODES.get(view.brief.mode, "yellow")
    if not view.is_proven or view.lapsed:
        return "yellow"
    return "dim" if view.works is None else "green"


def _about(view: SessionView) -> list[str]:
    parts = []
    if view.leading and view.leading.run:
        parts.append(f"run {view.leading.run}")
    if used := phrases.ago(view.unused_for):
        parts.append(f"last used {used}")
    return [*parts, *phrases.oddities(view)] or ["never used"]


def _next_stop(view: SessionView) -> Text:
    style = LET_GO.get(view.brief.rule.name, "")
    if view.brief.rule.name == "done":
        style = _mode_style(view)
    if view.brief.decision == "block":
        style = "yellow"
    decision, why = phrases.next_stop(view)
    return Text.assemble(_safe(decision, "bold", style), _safe(why))


def _breakers(view: SessionView) -> Text:
    """Yellow where half of it is used, red where a quarter is left."""
    line = Text()
    for breaker, phrase in zip(view.brief.breakers, phrases.breakers(view), strict=True):
        share = breaker.used / breaker.most if breaker.most else 0
        style = ""
        if share >= 0.5:
            style = "red" if share >= 0.75 else "yellow"
        line.append(DOT if line else "", "dim")
        line.append_text(_safe(phrase, style))
    return line


def _listed(label: str, sentences: Sequence[str], style: str, width: int) -> Iterator[Text]:
    most = MOST_LISTED[label]
    for number, sentence in enumerate(sentences[:most]):
        yield from _labelled("" if number else label, _safe(sentence, style), width, style)
    if len(sentences) > most:
        yield from _labelled("", _safe(f"and {len(sentences) - most} more: omo status --json", style), width)


def _work(view: SessionView, work: Status, width: int, *, everything: bool) -> Iterator[Text]:
    in_full = phrases.is_shown_in_full(view, work, everything=everything)
    yield from _labelled(phrases.name_of(work.kind), _progress(view, work, width), width, "bold" if in_full else "")
    if not in_full:
        return
    items, left_out = phrases.selection(work, everything=everything)
    yield from _items(work, items, width, everything=everything)
    if left_out:
        yield from _wrapped(_safe(f"and {left_out}: omo status --all", "dim"), width, indent=4)
    for fact in work.facts:
        if everything:
            yield from _wrapped(_safe(fact, "dim"), width, indent=4)
        else:
            line = _safe(f"    {fact}", "dim")
            line.truncate(width, overflow="ellipsis")
            yield line


def _progress(view: SessionView, work: Status, width: int) -> Text:
    about = phrases.about(view, work)
    if not work.total:
        return _safe(about)
    text = _bar(work.done, work.total, width)
    text.append_text(_safe(f" {phrases.progress(work)}", "bold"))
    if about:
        text.append_text(_safe(f"{DOT}{about}", "dim"))
    return text


def _bar(done: int, total: int, width: int) -> Text:
    """Full only when everything is done, empty only when nothing is."""
    cells = 20 if width >= 100 else 14
    full = cells * done // total
    if done:
        full = max(full, 1)
    if done < total:
        full = min(full, cells - 1)
    return Text.assemble(("█" * full, "green"), ("░" * (cells - full), "dim"))


def _items(work: Status, items: Sequence[Item], width: int, *, everything: bool) -> Iterator[Text]:
    """Three columns as wide as they need to be; where the line is too short for them, the titles give way."""
    ids = min(max((cell_len(clip(item.id, 24)) for item in items), default=0), 24)
    states = max((cell_len(work.state_of(item)) for item in items), default=0)
    titles = max((cell_len(phrases.title(item)) for item in items), default=0)
    indent = 4 + ids + 2
    room = max(8, min(titles, width - indent - states - 2))
    for item in items:
        yield _item(item, work.state_of(item), width, ids, room)
        if item.receipt_why:
            yield from _wrapped(_safe(item.receipt_why, "yellow"), width, indent=indent)
        for note in phrases.notes(item, everything=everything):
            yield from _wrapped(_safe(note, "dim"), width, indent=indent)


def _item(item: Item, state: str, width: int, ids: int, room: int) -> Text:
    sign = MARKS.get(item.mark, MARKS["open"])
    style = STYLES[sign.tone]
    name = clip(item.id, 24)
    name += " " * max(0, ids - cell_len(name))
    line = Text.assemble("  ", (sign.letter, style), " ", _safe(name, "bold"), "  ")
    title = _safe(phrases.title(item), "" if item.is_open else "dim")
    title.truncate(room, overflow="ellipsis", pad=True)
    line.append_text(title).append("  ").append_text(_safe(state, style))
    line.truncate(width, overflow="ellipsis")
    return line


def _next(view: SessionView, width: int) -> Iterator[Text]:
    """What moves things on. A command is one line, however long: the terminal folds it, and it can be copied."""
    step = view.next
    if not step.commands and step.action in ("", "done"):
        return
    yield Text("")
    yield from _labelled("Next", _safe(step.why), width, "bold cyan")
    for number, command in enumerate(step.commands):
        if command.when:
            when = f"{command.when}:" if command.line else command.when
            yield from _wrapped(_safe(when, "dim"), width, indent=2)
        if command.line:
            style = "cyan" if number else "bold cyan"
            yield Text.assemble("  ", ("$ ", "dim"), _safe(command.line, style, longest=LONGEST_COMMAND))


def _others(project: ProjectView, width: int, *, everything: bool) -> Iterator[Text]:
    others, off = phrases.others(project, everything=everything)
    if others:
        yield _safe("Other sessions" if project.focus else "Sessions", "bold")
        yield from _table([_brief(view) for view in others], width)
    if off:
        yield _safe(f"  {off}", "dim")


def _brief(view: SessionView) -> list[Text]:
    sent_back = view.brief.decision == "block"
    return [
        _safe(view.name[: phrases.SHORT_ID]),
        _safe(phrases.short_headline(view), _mode_style(view)),
        _safe(phrases.session_progress(view)),
        _safe("sent back", "yellow") if sent_back else _safe("let go", "dim"),
        _safe(phrases.ago(view.unused_for), "dim"),
        _safe(DOT.join(phrases.notices(view)), "yellow"),
    ]


def _table(rows: Sequence[Sequence[Text]], width: int) -> Iterator[Text]:
    """Columns as wide as they need to be; what does not fit is cut at the end of the line."""
    widths = [min(max(cell.cell_len for cell in column), 36) for column in zip(*rows, strict=True)]
    for row in rows:
        line = Text("  ")
        for cell, room in zip(row, widths, strict=True):
            if room:
                shown = cell.copy()
                shown.truncate(room, overflow="ellipsis", pad=True)
                line.append_text(shown).append("  ")
        line.rstrip()
        line.truncate(width, overflow="ellipsis")
        yield line


def _overrides(project: ProjectView, width: int) -> Iterator[Text]:
    sentences = []
    for override in project.overrides:
        sentences.append(f"{override['claim']}: let stand by the {override['by']}, {override['reason']}")
    yield from _listed("Let stand", sentences, "yellow", width)


def _labelled(label: str, text: Text, width: int, style: str = "dim") -> Iterator[Text]:
    for number, line in enumerate(_wrapped(text, width - LABEL)):
        yield Text.assemble((f"{'' if number else label:<{LABEL}}", style), line)


def _wrapped(text: Text, width: int, *, indent: int = 0) -> Iterator[Text]:
    """Broken at blanks; a word that is longer than a line is broken where the line ends."""
    for line in text.wrap(_MEASURE, max(10, width - indent), overflow="fold"):
        line.rstrip()
        yield Text.assemble(" " * indent, line)


def _safe(text: str, *styles: str, longest: int = LONGEST) -> Text:
    """Bounded, and nothing that moves a cursor; blanks at its ends are ours."""
    visible = "".join(letter if letter.isprintable() else " " for letter in text[:longest])
    safe = Text(visible, no_wrap=False)
    for style in filter(None, styles):
        safe.stylize(style)
    return safe


_MEASURE = Console(file=io.StringIO(), width=NARROWEST, force_terminal=False, legacy_windows=False)
