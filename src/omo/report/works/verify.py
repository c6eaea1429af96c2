"""Goals with checks and questions: those that the session holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omo.report.work import Item, NextStep, Place, WorkView
from omo.shown import clip, counted
from omo.state import runtime

if TYPE_CHECKING:
    from omo.verify.goals import Goal
    from omo.verify.goals import Place as GoalsPlace
    from omo.verify.steps import Step, Trees

MARKS = {
    "completed": "done",
    "agent-leg-complete": "done",
    "in-progress": "active",
    "exhausted": "failed",
    "expired": "cut",
    "blocked": "waiting",
}


def look(place: Place) -> WorkView | None:
    summary = runtime.part(runtime.part(place.row, "work"), "verify")
    if not summary:
        return None
    from omo.verify import goals, steps

    given = place.given
    at = goals.Place(given["state"], given["root"], given["by"], given["now"], given["wait"])
    known, trees = at.goals(), steps.Trees(at, for_show=True)
    names = [*summary.get("goals", []), str(summary.get("run"))]
    held = [known[name] for name in dict.fromkeys(names) if name in known]
    owed = {goal.id: steps.steps(goal, at, trees) for goal in held}
    return WorkView(
        "verify",
        "goal",
        run=clip(str(summary.get("run") or ""), 60),
        headline=counted(len(held), "goal"),
        items=tuple(_item(goal, owed[goal.id], _why_stale(goal, at, trees)) for goal in held),
        next=_next(held, owed),
        overrides=tuple(_overrides(given["state"], {goal.id for goal in held})),
        problems=tuple(at.journal.problems()),
    )


def _why_stale(goal: Goal, at: GoalsPlace, trees: Trees) -> str:
    """Of a goal that was completed: what its answers spoke of is no longer so."""
    from omo.verify.steps import why_stale

    if goal.receipt is None:
        return ""
    return next(filter(None, (why_stale(goal, answer, at, trees) for answer in goal.answers.values())), "")


def _item(goal: Goal, owed: list[Step], why: str) -> Item:
    left = [f"{step.name}: {step.state}" + (f", {clip(step.why, 120)}" if step.why else "") for step in owed]
    notes = [*left, *([clip(goal.reason, 200)] if goal.reason else []), *goal.refilings]
    mark = "stale" if any(step.state == "stale" for step in owed) else MARKS.get(goal.status, "open")
    users = tuple(f"left for the user: {clip(one, 120)}" for one in goal.users_leg)
    receipt = "" if goal.receipt is None else "stale" if why else "fresh"
    return Item(goal.id, clip(goal.spec.title, 200), goal.status, mark, tuple(notes), receipt, why, users)


def _next(held: list[Goal], owed: dict[str, list[Step]]) -> NextStep:
    for goal in held:
        for step in owed[goal.id]:
            if step.is_open:
                return NextStep(step.name, f"{goal.id} {step.name} {step.state}", step.command)
    for goal in held:
        if goal.state == "pending" and goal.failures:
            return NextStep("begin", f"{goal.id} failed: {clip(goal.reason, 120)}", f"omo verify begin {goal.id}")
        if goal.state == "exhausted":
            return NextStep(
                "again", f"{goal.id} failed {goal.failures} times", f"omo verify begin {goal.id} --again WHY"
            )
    return NextStep()


def _overrides(state: str, names: set[str]) -> list[str]:
    """Claims that code did not confirm and somebody let stand."""
    from omo.verify import claims

    rows = [row for row in claims.recorded(state, overridden=True) if row.get("goal") in names]
    return [
        f"{clip(str(row['claim']), 160)}: let stand by the {row['actor']}, {clip(str(row['override']), 160)}"
        for row in rows
    ]
