"""A goal with checks and questions: what it still owes, and which of its answers count on the tree as it is."""

from __future__ import annotations

from collections.abc import Sequence

from omo.explain.answer import Explanation, Fact
from omo.report.work import Place
from omo.report.works.verify import caller_of
from omo.shown import clip
from omo.verify.goals import Goal, GoalStore
from omo.verify.status import stale_because
from omo.verify.steps import Step, Trees, steps, why_stale

JOURNAL = "verify/goals/ledger.jsonl"
TREE = "the tree as it is"


def known(place: Place) -> list[str]:
    return list(GoalStore(caller_of(place)).goals)


def explain(place: Place, name: str) -> Explanation | None:
    store = GoalStore(caller_of(place))
    goal = store.goals.get(name)
    if goal is None:
        return None
    trees = Trees(store.caller)
    owed = [step for step in steps(goal, trees) if step.is_open]
    stale = {one: why for one, answer in goal.answers.items() if (why := why_stale(goal, answer, trees))}
    problems = store.problems
    lapsed = stale_because(goal, store, trees)
    receipt = _receipt(goal, is_stale=bool(lapsed or problems))
    return Explanation(
        f"goal {goal.id} {clip(goal.spec.title, 80)}: {goal.status}{f', receipt {receipt}' if receipt else ''}",
        "open" if receipt == "stale" else goal.status,
        owed[0].name if owed else "receipt-stale" if receipt == "stale" else f"state-{goal.status}",
        _why(goal, owed, stale, problems) if problems or stale or not lapsed else f"it was completed, but {lapsed}",
        _facts(goal, owed, stale, problems),
        _changes(goal, owed),
        [],
        {
            "session": place.session,
            "kind": "verify",
            "id": goal.id,
            "status": goal.status,
            "receipt": receipt or None,
            "owed": [
                {"step": step.name, "state": step.state, "why": step.why, "command": step.command} for step in owed
            ],
        },
    )


def _receipt(goal: Goal, *, is_stale: bool) -> str:
    return "" if goal.receipt is None else "stale" if is_stale else "fresh"


def _why(goal: Goal, owed: Sequence[Step], stale: dict[str, str], problems: Sequence[str]) -> str:
    if problems:
        return f"the goals' journal was changed by hand: {problems[0]}"
    if goal.status == "blocked":
        return f"it waits for {', '.join(goal.blocked_by)}"
    if owed:
        return f"{owed[0].name} is {owed[0].state}" + (f": {owed[0].why}" if owed[0].why else "")
    if stale:
        return f"its answer to {next(iter(stale))} no longer counts: {next(iter(stale.values()))}"
    return goal.reason or f"it is {goal.status}"


def _facts(goal: Goal, owed: Sequence[Step], stale: dict[str, str], problems: Sequence[str]) -> list[Fact]:
    found = [
        Fact("state", JOURNAL, goal.status),
        Fact("failures", JOURNAL, f"{goal.failures} of {goal.spec.max_retries} allowed"),
    ]
    found += [Fact("blocked by", JOURNAL, goal.blocked_by)] if goal.blocked_by else []
    for one in (goal.checked or {}).get("checks", []):
        found.append(Fact(f"check {one['id']}", JOURNAL, clip(f"{one['result']}: {one['reason']}", 200)))
    for name, answer in goal.answers.items():
        why = f", stale: {stale[name]}" if name in stale else ", still counts"
        found.append(Fact(f"answer {name}", f"{JOURNAL}, {TREE}", answer.result + why))
    found += [Fact(step.name, TREE, f"{step.state} {step.why}".strip()) for step in owed if step.name != "finish"]
    return [
        *found,
        Fact("receipt", JOURNAL, goal.receipt),
        Fact("journal", JOURNAL, problems[0] if problems else "whole"),
    ]


def _changes(goal: Goal, owed: Sequence[Step]) -> list[str]:
    if owed:
        return [step.command for step in owed]
    if goal.status == "blocked":
        return [f"omo verify status {one}" for one in goal.blocked_by]
    if goal.state == "pending":
        return [f"omo verify begin {goal.id}"]
    if goal.state == "exhausted":
        return [f"omo verify begin {goal.id} --again WHY"]
    if goal.state == "agent-leg-complete":
        return [f"the user closes their leg: omo verify finish {goal.id} --summary TEXT in a terminal of their own"]
    return []
