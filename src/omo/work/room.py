"""One piece of work at a time: ultrawork or none, and beside it one run. Whatever else there is of runs stands still.

The runs of a session's row are in the order in which they were on: the last is the newest.
"""

from __future__ import annotations

from omo import table
from omo.state.rows import without
from omo.state.runtime import is_open, was_cancelled, was_let_go, work_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.rows import SessionRow, Summary
    from omo.state.runtime import Works

    Work = dict[str, Summary]

KIND = "ulw"
GOING = ("active", "waiting")


def runs(row: SessionRow, *states: str) -> Works:
    """Return the runs beside ultrawork that are in one of these states."""
    return [(kind, summary) for kind, summary in work_in(row, *states) if kind != KIND]


def make_room(work: Work, kind: str, *, by_user: bool = True) -> Work:
    """Pause every run but the one of this kind, which is the newest now. With ultrawork those stay paused that are.

    What a breaker let go is paused by the user's word alone: an agent that begins another run gets no new budget.
    """
    made: Work = {}
    for name, summary in work.items():
        made[name] = summary
        is_let_go = was_let_go(summary) and not was_cancelled(summary)
        if name not in (kind, KIND) and (is_open(summary) or (is_let_go and by_user)):
            made[name] = paused_for(summary, kind)
    if kind in made:
        made[kind] = made.pop(kind)
    return made


def paused_for(summary: Summary, kind: str) -> Summary:
    """Return a run that gave way to another; it goes on when the user names it."""
    if summary.get("state") == "paused":
        return {**summary, "madeWayFor": kind}
    known = without(summary, "endedBy", "outcome", "own", "waitsFor", "answered")
    why = f"you began {table.name_of(kind)}"
    return {**known, "state": "paused", "why": why, "question": "", "told": True, "madeWayFor": kind}


def made_way(before: SessionRow, after: SessionRow) -> Works:
    """Return the runs that were on, or had been let go, and are paused now for another."""
    works = []
    for kind, summary in runs(after, "paused"):
        if summary.get("madeWayFor") and before["work"].get(kind, {}).get("state") != "paused":
            works.append((kind, summary))
    return works


def is_another_on(row: SessionRow, kind: str) -> bool:
    """Return whether a run of another kind is on or waits."""
    return any(name != kind for name, _ in runs(row, *GOING))
