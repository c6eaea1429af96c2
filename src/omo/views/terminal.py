"""The lines of a view as a terminal shows them: columns, colours, folded at its width.

Whatever comes from state is put into Text, which interprets nothing, after it lost its control characters.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from itertools import groupby

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from omo.views.lines import INDENTED, Cell, Line

NARROWEST = 40
LABEL = 11
APART_BY = 2  # columns
LONGEST_WORD = 24  # what is longer is no word, and may be broken
LONGEST = 4000
MARGINS = {"aside": 4, "remark": 0, **INDENTED}
APART = ("work", "next", "other", "remark")  # with an empty line before
LABEL_STYLES = {"problem": "bold red", "override": "yellow", "next": "bold cyan"}


def render(lines: Iterable[Line], width: int, *, color: bool = True) -> str:
    """As one text with escape sequences for colours; bold and dim only where `color` is off."""
    file = io.StringIO()
    console = Console(
        file=file,
        width=max(width, NARROWEST),
        force_terminal=True,
        color_system="standard",
        no_color=not color,
        markup=False,
        emoji=False,
        highlight=False,
    )
    console.print(_drawn(lines), crop=False)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def _drawn(lines: Iterable[Line]) -> Group:
    """Neighbours of one shape share their columns."""
    parts: list[RenderableType] = []
    before = ""
    for shape, same in groupby(lines, key=lambda line: line.shape):
        if before and (shape in APART or before == "session"):
            parts.append(Text(""))
        parts += _draw(shape, list(same))
        before = shape
    return Group(*parts)


def _draw(shape: str, lines: list[Line]) -> Iterator[RenderableType]:
    if shape == "session":
        for line in lines:
            for cell in line.cells:
                yield _text(cell)
    elif shape == "item":
        yield Padding(Columns(lines), (0, 0, 0, 2))
    elif shape == "other":
        yield Text("Other sessions", "bold")
        yield Padding(Columns(lines), (0, 0, 0, 2))
    elif shape == "command":
        # One line, however long: the terminal folds it, and it can be copied.
        for line in lines:
            yield Text("", no_wrap=True, overflow="ignore").append("  $ ", "dim").append_text(_text(*line.cells))
    elif shape in MARGINS:
        for line in lines:
            yield Padding(_text(*line.cells), (0, 0, 0, MARGINS[shape]))
    else:
        table = Table.grid(padding=(0, 1, 0, 0))
        table.add_column(width=LABEL - 1, no_wrap=True)
        table.add_column(overflow="fold")
        for line in lines:
            style = LABEL_STYLES.get(line.label, "bold" if shape == "work" else "dim")
            table.add_row(Text(line.label.capitalize() if shape != "work" else line.label, style), _text(*line.cells))
        yield table


class Columns:
    """Of which the one with the most to say is folded. Where that would break words, each is a line of its own."""

    def __init__(self, lines: list[Line]) -> None:
        self.lines = lines

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        texts = [[_text(cell) for cell in line.cells] for line in self.lines]
        widths = [max(text.cell_len for text in column) for column in zip(*texts, strict=True)]
        widest = widths.index(max(widths))
        words = [word for text in texts for word in text[widest].plain.split()]
        needed = min(LONGEST_WORD, max(map(len, words), default=0)) + APART_BY * (len(widths) - 1)
        if sum(widths) - widths[widest] + needed > options.max_width:
            for cells in texts:
                yield Padding(Text(" ").join(cell for cell in cells if cell), (0, 0, 0, 0 if cells[0] else 2))
            return
        table = Table.grid(padding=(0, APART_BY, 0, 0))
        for number in range(len(widths)):
            table.add_column(overflow="fold", no_wrap=number != widest)
        for cells in texts:
            table.add_row(*cells)
        yield table


def _text(*cells: Cell) -> Text:
    """Bounded, and nothing that moves a cursor."""
    text = Text()
    for words, style in cells:
        text.append("".join(letter if letter.isprintable() else " " for letter in words[:LONGEST]), style)
    return text
