"""Where each workflow of a session stands, and the handing of work from one to another.

Ultragoal's phase follows from its plan, the other workflows' from their summaries. What a command can write is kept in
the session's row: that a workflow is ready to hand off, and that another one was handed the work.
"""

from __future__ import annotations

from typing import Any

from omo.errors import BadInput, Refused
from omo.state.runtime import part
from omo.ultragoal.plan import Plan
from omo.ultragoal.run import CREATE

Row = dict[str, Any]

ULTRAGOAL = "ultragoal"
PIPELINE = ("ultraplan", ULTRAGOAL, "ralph", "verify")
HANDOFF, MISSING, PLANNING = "handoff", "missing", "planning"
PHASES = (MISSING, PLANNING, "pending", "active", "blocked", "failed", "complete", HANDOFF)
# What may be written from each phase. The others cannot be written: they follow from the work itself.
EDGES: dict[str, tuple[str, ...]] = {
    MISSING: (),
    PLANNING: (HANDOFF,),
    "pending": (HANDOFF,),
    "active": (HANDOFF,),
    "blocked": (HANDOFF,),
    "failed": (HANDOFF,),
    "complete": (HANDOFF,),
    HANDOFF: ("active",),
}
MAY_GO_BACK = (HANDOFF, "complete")
START = {
    "ultraplan": "hand it some work: omo state ultragoal handoff --to ultraplan",
    ULTRAGOAL: CREATE,
    "ralph": "hand it some work: omo state ultragoal handoff --to ralph",
    "verify": "omo verify begin GOAL",
}
OF_SUMMARY = {
    "active": "active",
    "waiting": "blocked",
    "paused": "blocked",
    "blocked": "blocked",
    "done": "complete",
    "exhausted": "failed",
}


def derived(plan: Plan | None) -> str:
    """What the plan alone says; the first that fits."""
    if plan is None:
        return MISSING
    if not plan.open_goals:
        return "complete"
    statuses = {goal.status for goal in plan.open_goals}
    found = [("active", {"active"}), ("failed", {"failed"}), ("blocked", {"blocked", "review_blocked"})]
    return next((phase for phase, which in found if which & statuses), "pending")


def handoff_mark(row: Row | None, plan: Plan | None) -> Row | None:
    """The mark that this very plan is handed off, or ready to be. One that an earlier plan left says nothing."""
    mark = part(part(row or {}, "phases"), ULTRAGOAL)
    is_its_own = plan is not None and mark.get("run") == plan.run
    return mark if is_its_own and mark.get("phase") == HANDOFF else None


def phase_of(mode: str, row: Row | None, plan: Plan | None) -> str:
    mark = part(part(row or {}, "phases"), mode)
    if mode == ULTRAGOAL:
        if plan is None:
            return PLANNING if mark.get("phase") == PLANNING else MISSING
        return HANDOFF if handoff_mark(row, plan) else derived(plan)
    if mark.get("phase") == HANDOFF:
        return HANDOFF
    summary = part(part(row or {}, "work"), mode)
    return OF_SUMMARY.get(str(summary.get("state")), PLANNING if mark.get("phase") == PLANNING else MISSING)


def why(mark: Row) -> str:
    """What the user is told while a plan with open goals is handed off."""
    by = mark.get("by", "agent")
    return f"handed off to {mark['to']} by the {by}" if mark.get("to") else f"marked ready for handoff by the {by}"


def writable(mode: str, before: str) -> tuple[str, ...]:
    """Where a command can lead from here. Without a plan ultragoal has nothing to hand off, handed to it or not."""
    return () if mode == ULTRAGOAL and before == PLANNING else EDGES[before]


def check_write(mode: str, before: str, wanted: str) -> None:
    ways = writable(mode, before)
    can = f"from {before} can be written: {', '.join(ways) or 'none'}"
    if wanted not in PHASES:
        raise BadInput(
            f"current_phase {wanted!r} is no phase; {can}", fix=f"the phases are {', '.join(PHASES)}; omo state show"
        )
    if wanted in ways or wanted == before == HANDOFF:
        return
    if not ways:
        raise Refused(f"{mode} is {before}: it has no work whose phase could be written ({can})", fix=START[mode])
    follows = "" if wanted in (HANDOFF, "active") else ", because that follows from the work"
    raise Refused(
        f"current_phase {wanted!r} cannot be written{follows}: {mode} is {before}, and {can}",
        fix=_write_command(mode, ways[0]),
    )


def check_handoff(mode: str, before: str, to: str, *, has_work: bool) -> None:
    """Forward from any phase there is work in; back only when the work is complete or was marked ready."""
    if to not in PIPELINE or to == mode:
        others = ", ".join(one for one in PIPELINE if one != mode)
        raise BadInput(f"--to {to!r} is no workflow that {mode} can hand off to", fix=f"one of {others}")
    if not has_work:
        raise Refused(f"{mode} has nothing under way in this session to hand off", fix=START[mode])
    if PIPELINE.index(to) < PIPELINE.index(mode) and before not in MAY_GO_BACK:
        raise Refused(
            f"{mode} is {before}: back to {to} it goes only when it is {' or '.join(MAY_GO_BACK)}",
            fix=_write_command(mode, HANDOFF),
        )


def _write_command(mode: str, phase: str) -> str:
    return f'omo state {mode} write --input \'{{"current_phase":"{phase}"}}\''


def marked(row: Row | None, mode: str, mark: Row | None) -> Row:
    """The session's row with one workflow's mark put or taken away."""
    old = row or {}
    others = {name: one for name, one in part(old, "phases").items() if name != mode}
    return {**old, "phases": {**others, mode: mark} if mark else others}
