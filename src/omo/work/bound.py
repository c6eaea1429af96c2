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
    from omo.state.journal import Journal
    from omo.state.ledger_rows import Reopened, SessionEvent
    from omo.state.rows import FilesAtEnd, Outcome, Summary


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

    row = table.BY_KIND.get(kind)
    if row is None or not row.home:
        return
    names = [str(summary.get("run") or "")]
    if "ended" in summary:
        names = [run for run, ended in part(summary, "ended").items() if not _is_unfinished(ended)]
    reopened: Reopened = {"kind": REOPENED, "changed": summary.get("changed")}
    for name in names:
        directory = os.path.join(state, row.home, paths.file_name_of(name))
        if os.path.isdir(directory):
            _append(Journal(directory, state), reopened, actor=actor, now=now, wait=wait)


def _is_unfinished(ended: Outcome) -> bool:
    return outcome.of({"outcome": ended})["verdict"] == outcome.ENDED


def _append(journal: Journal, row: Reopened, *, actor: str, now: float, wait: float) -> None:
    def add(_: object) -> tuple[None, list[Reopened]]:
        if journal.problems():  # the workflow's next command finds the damage
            return None, []
        return None, [row]

    journal.change(add, actor=actor, now=now, wait=wait)
