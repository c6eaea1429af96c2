"""How work is named to people and agents, and the command by which an agent says that it cannot go on with it."""

from __future__ import annotations

from omo import table
from omo.text import clip
from omo.work import session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.rows import Summary
    from omo.state.runtime import Works

ULTRAWORK = "ultrawork"


def listed(work: Works) -> str:
    """ultrawork, ultragoal (2 of 3 open)"""
    names = []
    for kind, summary in work:
        left, total = summary.get("open"), summary.get("total")
        is_known = isinstance(left, int) and left > 0 and isinstance(total, int)
        names.append(work_name(kind, summary) + (f" ({left} of {total} open)" if is_known else ""))
    return clip(", ".join(names), 240)


def work_name(kind: str, summary: Summary, said: str = "") -> str:
    """Return the workflow, and which goal of it if the rest of the sentence does not say so.

    An id that omo made of the clock tells nobody anything: a session has one run of a kind.
    """
    run = clip(str(summary.get("run") or ""), 40)
    if kind == session.KIND:
        return ULTRAWORK
    is_made = len(run) > 13 and run[1:14].isdecimal()
    return clip(kind, 40) if not run or is_made or run in said else f"{clip(kind, 40)} {run}"


def way_out(active: Works) -> str:
    """Return how an agent says that the work cannot go on; empty if nothing is left of it that could stand still."""
    for kind, summary in active:
        if "wayOut" in summary:
            return clip(str(summary["wayOut"]), 160)
        if own := own_way_out(kind):
            return own
    return "omo ulw blocked --evidence TEXT"


def done_was_refused(why: object, longest: int) -> str:
    return f"omo ulw done was refused when it was called last: {clip(str(why), longest)}"


def gives_up(kind: str) -> str:
    return f"omo state clear --mode {kind} --force gives it up"


def own_way_out(kind: str) -> str | None:
    """Return the workflow's own command for that, if it has one."""
    return (table.BY_KIND[kind].cannot_go_on or None) if kind in table.BY_KIND else None
