"""Which conversations of a project have left work open, and whether they are over, as far as their traces tell."""

from __future__ import annotations

import os

from omo.clock import seconds
from omo.errors import BadInput
from omo.state import runtime
from omo.text import clip, listed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from omo.state.rows import SessionRow


IDLE_FOR = 15 * 60.0
# After so long a process of that number may well be another program; and who comes back is told who has the work now.
LONGEST_SILENCE = 12 * 3600.0
LARGEST_PROCESS = 2**31


def of_others(
    rows: Mapping[str, SessionRow], session: str, counts: Callable[[SessionRow], object] = runtime.can_be_resumed
) -> dict[str, SessionRow]:
    """The rows of other sessions that can be resumed, or what else `counts`, the one that was used last first."""
    others = []
    for name, row in rows.items():
        if name != session and counts(row):
            others.append((str(row.get("lastUsedAt") or ""), name))
    return {name: rows[name] for _, name in sorted(others, reverse=True)}


def offered(rows: Mapping[str, SessionRow], session: str, client: str, now: float) -> dict[str, SessionRow]:
    """Those whose conversation is over, and not so long ago that nobody asks for it any more."""
    others = {}
    for name, row in of_others(rows, session).items():
        if is_gone(row, client, now) and idle_for(row, now) < runtime.KEPT_FOR:
            others[name] = row
    return others


def idle_for(row: SessionRow, now: float) -> float:
    """Seconds since anything was written of it; for ever where nobody knows."""
    try:
        return max(0.0, now - seconds(str(row.get("lastUsedAt") or "")))
    except ValueError:
        return float("inf")


def may_be_taken(row: SessionRow, client: str, now: float) -> bool:
    """Nobody is at it. What waits, or was let go, is nobody's work just now."""
    return idle_for(row, now) >= IDLE_FOR or not runtime.work_in(row, "active") or is_gone(row, client, now)


def is_gone(row: SessionRow, client: str, now: float) -> bool:
    """`client` is the program of the conversation that asks: what was in the same one before was cleared away."""
    idle = idle_for(row, now)
    theirs = row.get("client")
    if not isinstance(theirs, str) or not theirs.isdecimal():
        return idle >= IDLE_FOR
    # After so long the number may be another program's: test_only_a_conversation_that_is_over_is_offered in
    # tests/hooks/test_resume.py.
    return theirs == client or idle >= LONGEST_SILENCE or not _is_running(int(theirs))


def _is_running(process: int) -> bool:
    """Whether the user has a process of that number. One that has ended and that nobody asked after runs no more."""
    # 0 is all of our own group, and a larger one no number of a process:
    # test_only_a_conversation_that_is_over_is_offered in tests/hooks/test_resume.py.
    if not 0 < process < LARGEST_PROCESS:
        return False
    try:
        os.kill(process, 0)
    except OSError:  # there is none, or it is somebody else's
        return False
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            # A zombie: test_a_client_that_has_ended_and_that_nobody_asked_after_is_gone in tests/hooks/test_resume.py.
            return not file.read().rpartition(b") ")[2].startswith(b"Z")
    except OSError:
        return True  # not Linux


def named(rows: Mapping[str, SessionRow], session: str, wanted: str) -> str:
    """The other session that has work which goes on if asked for, and that `wanted` means: the beginning of its id, or
    of that of a run."""
    matches = []
    known = []
    for name, row in rows.items():
        work = runtime.standing(row) if name != session else []
        if not work:
            continue
        if runtime.can_be_resumed(row):
            known.append(name)
        runs = [str(summary.get("run") or "") for _, summary in work]
        if any(each.startswith(wanted) for each in (name, *runs)):
            matches.append(name)
    if len(matches) == 1:
        return matches[0]
    what = "is the beginning of several" if matches else "has nothing open that could be taken up"
    names = listed(matches or known, 10) or "none"
    raise BadInput(f"{clip(wanted, 64)!r} {what}", fix=f"sessions that have: {names}")
