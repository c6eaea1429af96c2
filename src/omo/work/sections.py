"""What stands behind each item of a run, for the report: what its receipt covers, tables, files, answers, notices."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from omo.json_text import Json
from omo.text import clip
from omo.work import times

if TYPE_CHECKING:
    from omo.state.rows import Base
    from omo.work.proving import NamedCommand


MOST_ROWS = 60
SCREENSHOT = "screenshot"  # the kind of an attachment that is shown as a picture


@dataclass(frozen=True)
class Notice:
    """Something a reader has to know before believing the rest. `what` is its kind, `where` the run or goal.

    `until_end`: once the work has ended its outcome names it, as an exception.
    """

    what: str
    text: str
    where: str = ""
    until_end: bool = False

    @property
    def data(self) -> Json:
        return {"what": self.what, "where": self.where, "text": self.text}


@dataclass(frozen=True)
class Cell:
    text: str
    mark: str = ""


@dataclass(frozen=True)
class Table:
    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    left_out: int = 0


@dataclass(frozen=True)
class Picture:
    uri: str
    width: int
    height: int


def decoded(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


@dataclass(frozen=True)
class Attachment:
    """A text of a ledger, or a file of the project with the digest that was recorded of it.

    The report shows a file only while it has that digest, and `problem` says why not. It fills in the picture of a
    screenshot, of another file the text that `in_words` makes of it, and in `cut` what it leaves out.
    """

    name: str
    kind: str = ""
    about: str = ""
    text: str = ""
    path: str = ""
    digest: object = None
    problem: str = ""
    cut: str = ""
    picture: Picture | None = None
    in_words: Callable[[bytes], str] = decoded


@dataclass(frozen=True)
class Section:
    """One item's evidence. `covers` is what its receipt speaks of, `said` what was said when it was closed."""

    began: str = ""
    ended: str = ""
    said: str = ""
    covers: tuple[tuple[str, str], ...] = ()
    tables: tuple[Table, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    notices: tuple[Notice, ...] = ()
    took: str = ""  # where no two moments say it
    command: str = ""  # of a gate, as it would be typed
    whose: str = ""  # the command is, in words

    @property
    def duration(self) -> str:
        return self.took or times.between(self.began, self.ended)


@dataclass(frozen=True)
class Sections:
    """All of it for one kind of work; `whole` is what belongs to no single item."""

    of: Mapping[str, Section] = field(default_factory=dict)
    whole: Section = Section()
    base: Base | str | None = None  # what the files are held against: a commit, or as the row of an arming has it
    left_out: Sequence[str] = ()  # files that are no part of the work
    changed: Sequence[str] | None = None  # the files it had changed when it ended, where that is known
    commands: Sequence[NamedCommand] = ()  # of its checks, those that anybody can run again


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[object]]) -> Table:
    """Bounded; a plain value becomes a cell."""
    made = []
    for row in rows[:MOST_ROWS]:
        made.append(tuple(_cell(value) for value in row))
    return Table(title, tuple(head), tuple(made), max(0, len(rows) - MOST_ROWS))


def _cell(value: object) -> Cell:
    if isinstance(value, Cell):
        return Cell(clip(value.text, 400), value.mark)
    return Cell("" if value is None else clip(str(value), 400))


def listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def joined(value: object) -> str:
    return ", ".join(str(each) for each in listed(value))


def facts(*pairs: tuple[str, object]) -> tuple[tuple[str, str], ...]:
    return tuple((name, clip(str(value), 400)) for name, value in pairs if value not in (None, "", []))


def name_in(root: str, path: str) -> str:
    """A file of the project by the name it is recorded under, whichever way it was cited."""
    if "\0" in path:
        return ""
    top = os.path.realpath(root)
    return os.path.relpath(os.path.realpath(os.path.join(top, path)), top)
