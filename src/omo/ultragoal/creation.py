"""A brief becomes a plan. What was there before is archived, never overwritten."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from omo.errors import BadInput, Refused, Unreadable
from omo.shown import counted
from omo.state import runtime, store
from omo.state.runtime import part
from omo.ultragoal import plan as plans
from omo.ultragoal.brief import Brief
from omo.ultragoal.plan import Plan
from omo.ultragoal.run import Run, check_sizes, new_run_id, repository

Row = dict[str, Any]

MOST_EARLIER = 5


@dataclass(frozen=True)
class Before:
    """The plan that stands in the way. `trouble` is what is wrong with it; then nobody can say what is open."""

    run: str
    open: int
    trouble: str = ""
    mending: str = ""
    earlier: Sequence[Row] = ()  # what it had been made in place of itself, unfinished as well


def create_goals(run: Run, brief: Brief, *, mode: str, force: bool) -> tuple[Plan, str | None]:
    """The new plan, and where an earlier one was kept."""
    if mode not in plans.MODES:
        raise BadInput(f"--goal-mode {mode!r} is not known", fix=f"one of {', '.join(plans.MODES)}")
    before = _before(run)
    if before is not None and (before.open or before.trouble) and not force:
        raise _unfinished(before)
    created = plan_row(run, brief, mode, before or _cleared(run))
    check_sizes([created])
    kept = _archive(run, before) if before is not None else None

    def decide(plan: Plan | None) -> tuple[None, list[Row]]:
        if plan is not None:
            raise Refused("another plan was made in this session just now", fix="omo ultragoal status")
        return None, [created]

    run.create(decide)
    return run.require_plan(), kept


def _before(run: Run) -> Before | None:
    seen = run.look()
    trouble, mending = next(iter(seen.problems), ""), run.mending(seen.damage)
    try:
        plan = run.plan()
    except (Unreadable, BadInput) as error:
        return Before("", 0, trouble or error.message, mending)
    if plan is None:
        return Before("", 0, trouble, mending) if trouble else None
    return Before(plan.run, len(plan.open_goals), trouble, mending, plan.replaced)


def _cleared(run: Run) -> Before | None:
    """A plan that the agent cleared away and the user was not shown yet."""
    told = part(part(runtime.session(run.state, run.session) or {}, "work"), "ultragoal")
    if not told.get("cleared") or told.get("told") is not False:
        return None
    return Before(str(told.get("run") or ""), int(told.get("open") or 0), str(told.get("why") or ""))


def _unfinished(before: Before) -> Refused:
    if before.trouble:
        return Refused(
            f"this session has a plan that was changed by hand ({before.trouble})",
            fix=f"{before.mending}; or the same again with --force, which keeps what is left of it and begins anew",
        )
    return Refused(
        f"this session has a plan with {counted(before.open, 'open goal')}",
        fix="go on with it (omo ultragoal complete-goals), add to it (omo ultragoal steer --kind add_subgoal), or "
        "--force, which archives it unfinished and says so",
    )


def plan_row(run: Run, brief: Brief, mode: str, before: Before | None) -> Row:
    goals = [
        {"id": f"G{number:03}", "title": story.title, "objective": story.objective}
        for number, story in enumerate(brief.stories, start=1)
    ]
    row: Row = {
        "kind": "plan_created",
        "run": new_run_id(run.now),
        "session": run.session,
        "brief": brief.text,
        "constraints": brief.preamble,
        "goalMode": mode,
        "objective": plans.POINTER,
        "repository": repository(run.root),
        "goalIds": [goal["id"] for goal in goals],
        "goals": goals,
    }
    if before is not None:
        row["replaces"] = {"run": before.run, "open": before.open, "trouble": before.trouble, "by": run.by}
        if before.earlier:
            row["replaces"]["earlier"] = list(before.earlier)[-MOST_EARLIER:]
    return row


def _archive(run: Run, before: Before) -> str | None:
    kept = store.keep_as(run.directory, "archived", run.now) if os.path.lexists(run.directory) else None
    event = {"kind": "plan-archived", "run": before.run, "open": before.open, "kept": kept}
    runtime.change_session(
        run.state,
        run.session,
        lambda row: runtime.Change(None, row or {}, [event]),
        actor=run.by,
        now=run.now,
        wait=run.wait,
    )
    return kept
