"""An end is bound to the files it speaks of. Whoever calls work done notes them; the Stop that would tell it looks
again, and work whose files have changed meanwhile is open again: its own ledger says so, then the session's row.

A hook looks, so nothing is imported here but what hooks have loaded anyway.
"""

from __future__ import annotations

import os

from omo import table
from omo.state import paths
from omo.state.rows import read_files
from omo.state.runtime import part
from omo.work import outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from omo.proof.base import Look, Since
    from omo.state.ledger_rows import Reopened, SessionEvent
    from omo.state.rows import FilesAtEnd, Summary


REOPENED = "reopened"


def files_of_end(root: str, events: Iterable[SessionEvent], seen: Look | None = None) -> FilesAtEnd:
    """Which files an end speaks of that is written now, as `seen` where somebody has just looked. What gates' runs have
    left, by the session's own `events`, is no part of the work."""
    from omo.proof import base

    left_out: list[str] = []
    for event in events:
        if event.get("kind") == "gate-ran":
            left_out += event.get("left_out") or []
    return base.mark(root, left_out, seen)


def look_again(root: str, summary: Summary) -> Since:
    from omo.proof import base

    return base.changed_since(root, read_files(summary.get("files")))


def reopen(state: str, kind: str, summary: Summary, *, actor: str, now: float, wait: float) -> None:
    """The ledger of a workflow says that its end does not stand. Plain ultrawork has none but the session's own."""
    from omo.state.journal import Journal

    changed = summary.get("changed")
    row = table.BY_KIND.get(kind)
    rows: list[Reopened] = []
    if row is not None and row.journal:
        directory = os.path.join(state, row.journal)
        for goal, ended in part(summary, "ended").items():
            if outcome.of({"outcome": ended})["verdict"] != outcome.ENDED:
                rows.append({"kind": REOPENED, "goal": goal, "changed": changed})
    elif row is not None and row.home:
        directory = os.path.join(state, row.home, paths.file_name_of(str(summary.get("run") or "")))
        rows.append({"kind": REOPENED, "changed": changed})
    else:
        return
    if not os.path.isdir(directory):
        return
    journal = Journal(directory, state)

    def add(_: object) -> tuple[None, list[Reopened]]:
        if journal.problems():  # the workflow's next command finds the damage
            return None, []
        return None, rows

    journal.change(add, actor=actor, now=now, wait=wait)
