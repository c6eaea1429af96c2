"""The lines of a view as a terminal shows them: columns, colours, folded at its width; once, or again and again.

Whatever comes from state is put into Text, which interprets nothing, after it lost its control characters.
"""

from __future__ import annotations

import io
import os
import select
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby
from typing import TextIO

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from omo.context import Context
from omo.state import paths
from omo.views import project
from omo.views.lines import Cell, Line, project_lines

NARROWEST = 40
LABEL = 11
APART_BY = 2  # columns
LONGEST_WORD = 24  # what is longer is no word, and may be broken
LONGEST = 4000
APART = ("work", "next", "other", "remark")  # with an empty line before
LABEL_STYLES = {"problem": "bold red", "override": "yellow", "next": "bold cyan"}
POLL_SECONDS = 1.0
LOOK_ANYWAY = 10.0  # files of the project, and ages, are not polled: what became of them is seen this late


def render(lines: Iterable[Line], width: int, *, color: bool = True) -> str:
    """As one text with escape sequences for colours; bold and dim only where `color` is off."""
    file = io.StringIO()
    _console(file, max(width, NARROWEST), color=color).print(drawn(lines), crop=False)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def _console(file: TextIO | None = None, width: int | None = None, *, color: bool) -> Console:
    return Console(
        file=file,
        width=width,
        force_terminal=True,
        color_system="standard",
        no_color=not color,
        markup=False,
        emoji=False,
        highlight=False,
    )


def drawn(lines: Iterable[Line]) -> Group:
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
    elif shape in ("aside", "remark"):
        for line in lines:
            yield Padding(_text(*line.cells), (0, 0, 0, 4 if shape == "aside" else 0))
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


def watch(context: Context, session: str, *, everything: bool, color: bool) -> None:
    """The same view again whenever it may have changed, until somebody types q or interrupts it. It has a screen of its
    own, whose last view stays when it is left."""
    console = _console(color=color)
    shown = Group()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # whoever ends us gets their own screen back
    try:
        with _keys_at_once(), Live(console=console, screen=True, auto_refresh=False) as live:
            for now in _moments(context.state):
                then = Context(context.environ, context.cwd, now, context.has_terminal)
                view = project.project_view(then, closely=session, everything=everything)
                shown = drawn(project_lines(view, everything=everything))
                live.update(shown, refresh=True)
    except KeyboardInterrupt:
        pass
    finally:
        console.print(shown, crop=False)


def _moments(state: str) -> Iterator[float]:
    """At once, then whenever a command or a hook has written, the window is another one, or so much time went by."""
    before: object = None
    looked = 0.0
    while True:
        try:
            status = os.stat(paths.runtime_file(state))
            written = (status.st_ino, status.st_mtime_ns, status.st_size)
        except OSError:
            written = (0, 0, 0)
        current = (written, os.get_terminal_size())
        now = time.time()
        if current != before or not 0 <= now - looked < LOOK_ANYWAY:  # a clock that was set back is a change too
            before, looked = current, now
            yield now
        _a_second_or_q()


def _a_second_or_q() -> None:
    """A q leaves as an interrupt does."""
    if not sys.stdin.isatty():
        time.sleep(POLL_SECONDS)
        return
    typed, _, _ = select.select([sys.stdin], [], [], POLL_SECONDS)
    if typed and os.read(sys.stdin.fileno(), 1) in (b"q", b"Q", b""):
        raise KeyboardInterrupt


@contextmanager
def _keys_at_once() -> Iterator[None]:
    """A terminal hands on what is typed without waiting for Enter, and shows none of it."""
    if not sys.stdin.isatty():
        yield
        return
    import termios
    import tty

    before = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
