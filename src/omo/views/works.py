"""All the work of a session, each kind read by its own workflow into the one shape that every view draws."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from omo import table
from omo.errors import OmoError
from omo.state import paths
from omo.state.rows import EMPTY
from omo.state.runtime import part
from omo.text import clip
from omo.work.status import Command, NextStep, Status, command

if TYPE_CHECKING:
    from omo.work.viewer import Viewer


class Sign(NamedTuple):
    """One mark as each view draws it; `tone` is what it means where there are colours."""

    letter: str
    emoji: str
    tone: str


# How a gate, goal, step or criterion stands.
MARKS = {
    "done": Sign("✓", "✅", "good"),
    "active": Sign("▸", "▶️", "info"),
    "open": Sign("○", "⬜", "plain"),
    "failed": Sign("✗", "❌", "bad"),
    "stale": Sign("!", "⚠️", "warn"),
    "waiting": Sign("…", "⏳", "warn"),
    "cut": Sign("–", "➖", "plain"),
}
# How all of it ended: the five verdicts of an outcome; proven and not so any more; open, or nothing to be believed.
VERDICTS = {
    "proven": Sign("✓", "✅", "good"),
    "judged": Sign("✓", "✅", "good"),
    "attested": Sign("✎", "✍️", "info"),
    "waived": Sign("!", "⚠️", "warn"),
    "ended": Sign("■", "⏹️", "bad"),
    "gone": Sign("!", "⚠️", "warn"),
    "unproven": Sign("✗", "❌", "bad"),
}


def works_of(viewer: Viewer) -> list[Status]:
    """All the work of a session that its row or its ledgers know, what leads first."""
    statuses = []
    for kind in table.BY_KIND:
        if may_have(kind, viewer) and (status := look_at(kind, viewer)) is not None:
            statuses.append(status)
    return statuses


def may_have(kind: str, viewer: Viewer) -> bool:
    """Whether a session may have work of a kind. Without any, its ledgers are not opened, nor its modules loaded."""
    state, home = viewer.context.state, table.BY_KIND[kind].home
    if kind in part(viewer.row, "work"):
        return True
    if not home:  # its ledger is the session's
        return viewer.row is not EMPTY or os.path.exists(paths.events_file(state, viewer.session))
    try:
        names = os.listdir(os.path.join(state, home))
    except (FileNotFoundError, NotADirectoryError):
        return False
    if viewer.run or viewer.reads_all:
        return True
    # A run of the session that no row names: a crash left it so. Its name tells whose it is.
    from omo.work.run import tag

    own = tag(viewer.session)
    return any(own in name.split("-") for name in names)


def look_at(kind: str, viewer: Viewer) -> Status | None:
    """A ledger nobody can read is shown as that, and in a damaged one nothing counts; other work is not touched."""
    try:
        status: Status | None = table.BY_KIND[kind].status(viewer)
    except OmoError as error:
        return _unreadable(kind, viewer, error.message, Command(lead=error.fix))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        # Anybody can write a row that follows the chain and has another shape than ours.
        what = f"the ledger of {kind} holds what omo did not write ({type(error).__name__}: {clip(str(error), 80)})"
        return _unreadable(kind, viewer, what, command("omo ledger verify"))
    return status.believed if status else None


def _unreadable(kind: str, viewer: Viewer, what: str, fix: Command) -> Status | None:
    if kind not in part(viewer.row, "work"):
        return None
    step = NextStep("repair", what, (fix,))
    return Status(kind, table.BY_KIND[kind].counts, headline="cannot be read", next=step, problems=(what,))
