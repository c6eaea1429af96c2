"""Goals with checks and questions: those that the session holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omo.errors import NotEvaluable, OmoError
from omo.shown import clip, counted
from omo.state import runtime
from omo.work import outcome, ways
from omo.work.status import UNKNOWN_TREE, Fact, Item, NextStep, Status, command
from omo.work.viewer import Viewer

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
READ_OFF = ("path", "content")  # checks that a look may evaluate: they start no program
JOURNAL = "verify/goals/ledger.jsonl"
UNRECORDED = "no tree was recorded, so freshness is not known"


def status(viewer: Viewer) -> Status | None:
    summary = runtime.part(runtime.part(viewer.row, "work"), "verify")
    if not summary:
        return None
    from omo.verify import goals, steps

    given = viewer.given
    at = goals.Place(given["state"], given["root"], given["by"], given["now"], given["wait"])
    known, trees = at.goals(), steps.Trees(at, for_show=not viewer.reads_all)
    names = [*summary.get("goals", []), *runtime.part(summary, "ended"), str(summary.get("run"))]
    held = [known[name] for name in dict.fromkeys(names) if name in known]
    owed = {goal.id: steps.steps(goal, at, trees) for goal in held}
    return Status(
        "verify",
        "goal",
        run=clip(str(summary.get("run") or ""), 60),
        headline=counted(len(held), "goal"),
        items=tuple(_item(goal, owed[goal.id], stale_because(goal, at, trees)) for goal in held),
        next=_next(held, owed),
        overrides=tuple(_overrides(given["state"], {goal.id for goal in held})),
        problems=tuple(at.journal.problems()),
        outcome=_outcome(held),
    )


def _outcome(held: list[Goal]) -> runtime.Json | None:
    """The worst of what the goals ended as; None while one of them goes on."""
    ended = [goal.outcome for goal in held if goal.outcome is not None]
    return outcome.worst(ended) if held and len(ended) == len(held) else None


def stale_because(goal: Goal, at: GoalsPlace, trees: Trees) -> str:
    """Of a goal that was completed: what its answers or its checks spoke of is no longer so."""
    from omo.verify.steps import why_stale

    if goal.receipt is None:
        return ""
    try:
        told = (why_stale(goal, answer, at, trees) for answer in goal.answers.values())
        return next(filter(None, told), "") or _other_tree(goal, at, trees)
    except NotEvaluable:
        return UNKNOWN_TREE
    except OmoError as error:
        return clip(error.message, 160)


def _other_tree(goal: Goal, at: GoalsPlace, trees: Trees) -> str:
    """On other files than it was finished on, it holds where all that it rests on can be read off them again."""
    from omo.verify import goal_checks

    row = next((row for row in at.journal.rows() if row.get("seq") == goal.receipt), {})
    if row.get("tree") and row["tree"] == trees.now(tuple(row.get("without") or ())):
        return ""
    checks = goal_checks.checks_of(goal)
    if not checks or any(isinstance(one, str) or one.type not in READ_OFF for one in checks):
        return "the tree has changed since" if row.get("tree") else UNRECORDED
    seen = goal_checks.look(at, goal).checks
    return next((f"{one.id}: {clip(one.reason, 120)}" for one in seen if one.result != "pass"), "")


def _item(goal: Goal, owed: list[Step], why: str) -> Item:
    left = [f"{step.name}: {step.state}" + (f", {clip(step.why, 120)}" if step.why else "") for step in owed]
    notes = [*left, *([clip(goal.reason, 200)] if goal.reason else []), *goal.refilings]
    is_stale = why or any(step.state == "stale" for step in owed)
    mark = "stale" if is_stale else MARKS.get(goal.status, "open")
    users = tuple(f"left for the user: {clip(one, 120)}" for one in goal.users_leg)
    receipt = "" if goal.receipt is None else "stale" if why else "fresh"
    facts = [
        Fact("status", JOURNAL, goal.status),
        Fact("contract", JOURNAL, goal.spec.contract[:12]),
        Fact("failures", JOURNAL, f"{goal.failures} of {goal.spec.max_retries}"),
        Fact("waits for", JOURNAL, list(goal.blocked_by)),
    ]
    for step in owed:
        facts.append(Fact(step.name, JOURNAL, f"{step.state}{f': {step.why}' if step.why else ''}"))
    because = clip(goal.reason or (left[0] if left else f"it is {goal.status}"), 200)
    title = clip(goal.spec.title, 200)
    return Item(goal.id, title, goal.status, mark, tuple(notes), receipt, why, users, because, tuple(facts))


def _next(held: list[Goal], owed: dict[str, list[Step]]) -> NextStep:
    for goal in held:
        for step in owed[goal.id]:
            if step.is_open:
                return ways.step(step.name, f"{goal.id} {step.name} {step.state}", step.command)
    for goal in held:
        if goal.state == "pending" and goal.failures:
            return NextStep(
                "begin", f"{goal.id} failed: {clip(goal.reason, 120)}", (command("omo verify begin", goal.id),)
            )
        if goal.state == "exhausted":
            return NextStep(
                "again",
                f"{goal.id} failed {goal.failures} times",
                (command("omo verify begin", goal.id, "--again", "WHY"),),
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
