"""What sessions are told of their goals: the summary that hooks read."""

from __future__ import annotations

from collections.abc import Callable

from omo.hooks import session
from omo.shown import clip
from omo.state import runtime
from omo.state.runtime import part
from omo.verify.goals import Goal, Goals, Place, Row
from omo.verify.steps import Step, Trees, steps
from omo.work import outcome

_KIND = "verify"


def tell_sessions(place: Place, here: str, *, began: str = "", passed: bool = False, limits: Row) -> None:
    """Bring the summaries up to the journal: this session's, and that of every one that holds a goal."""
    goals, trees = place.goals(), Trees(place, for_show=True)
    holding = [name for name, row in _rows(place.state).items() if part(part(row, "work"), _KIND).get("goals")]
    for name in dict.fromkeys([here, *holding] if here and began else holding):
        runtime.change_session(
            place.state,
            name,
            _telling(place, goals, trees, began if name == here else "", passed, limits),
            actor=place.by,
            now=place.now,
            wait=place.wait,
        )


def release_sessions(place: Place, *, limits: Row) -> None:
    """The journal was sealed: whatever sessions were held to is over, and nothing shows that it is met."""

    def release(row: Row | None) -> runtime.Change:
        old = part(part(row or {}, "work"), _KIND)
        names = [str(name) for name in old.get("goals", [])]
        if not names:
            return runtime.Change(None)
        ended = dict(_ended_before(old))
        for name in names:
            ended[name] = outcome.outcome(outcome.ENDED, f"the damaged journal of goal {name} was set aside")
        summary = {"run": names[0], "goals": [], "ended": ended, "open": 0, "total": 0, "next": None, "state": "done"}
        summary["outcome"] = outcome.worst(ended.values())
        after = session.put_work(row, _KIND, summary, limits=limits, now=place.now)
        return runtime.Change(None, after, [{"kind": _KIND, "state": "done", "goals": []}])

    for name in _rows(place.state):
        runtime.change_session(place.state, name, release, actor=place.by, now=place.now, wait=place.wait)


def _rows(state: str) -> dict[str, Row]:
    return {name: row for name, row in runtime.read(state)["sessions"].items() if isinstance(row, dict)}


def _telling(
    place: Place, goals: Goals, trees: Trees, began: str, passed: bool, limits: Row
) -> Callable[[Row | None], runtime.Change]:
    def tell(row: Row | None) -> runtime.Change:
        old = part(part(row or {}, "work"), _KIND)
        ended = _ended_before(old)
        names = dict.fromkeys([*(str(name) for name in old.get("goals", [])), *ended, *([began] if began else [])])
        held = [goals[name] for name in names if name in goals]
        if not held:
            return runtime.Change(None)
        summary = session.kept_state(row or {}, old, _summarize(held, ended, place, trees))
        if summary == old:
            return runtime.Change(None)
        after = session.put_work(row, _KIND, summary, limits=limits, now=place.now)
        if passed:
            after = session.progress(after)
        return runtime.Change(None, after, [{"kind": _KIND, "state": summary["state"], "goals": summary["goals"]}])

    return tell


def _ended_before(old: Row) -> Row:
    """How the goals ended that this session was held to. Told to the user, they belong to a run that is over."""
    is_told = old.get("state") == "done" and not session.is_untold(old)
    return {} if is_told else part(old, "ended")


def _summarize(held: list[Goal], before: Row, place: Place, trees: Trees) -> Row:
    """What hooks read: how much is open, the next command, and how each goal ended that is over."""
    working = [goal for goal in held if goal.state == "in-progress"]
    listed = [(goal, step) for goal in working for step in steps(goal, place, trees)]
    left = [(goal, step) for goal, step in listed if step.is_open]
    again = [goal for goal in held if goal.state == "pending" and goal.failures]
    spent = [goal for goal in held if goal.state == "exhausted"]
    waiting = [goal for goal in held if goal.state == "pending" and goal.spec.hypothesis and not goal.failures]
    kept = [*working, *again, *spent, *waiting]
    ended = {name: told for name, told in before.items() if name not in [goal.id for goal in held]}
    ended |= {goal.id: _outcome(goal) for goal in held if goal not in kept}
    summary: Row = {
        "run": kept[0].id if kept else held[-1].id,
        "goals": [goal.id for goal in kept],
        "ended": ended,
        "open": len(left) + len(again),
        "total": len(listed) + len(again),
        "next": _next(left, again),
    }
    if working or again:
        return {**summary, "state": "active"}
    if spent:
        why = f"goal {spent[0].id} failed verification {spent[0].failures} times: {clip(spent[0].reason, 120)}"
        question = f"Open it again? omo verify begin {spent[0].id} --again WHY"
        return {**summary, "state": "blocked", "why": why, "question": question, "told": False, "own": True}
    if waiting:
        why = f"the hypothesis of goal {waiting[0].id} has not resolved yet"
        return {**summary, "state": "waiting", "why": why, "question": "", "told": False, "own": True}
    return {**summary, "state": "done", "outcome": outcome.worst(ended.values())}


def _outcome(goal: Goal) -> Row:
    if goal.outcome is None:
        return outcome.outcome(outcome.ENDED, f"goal {goal.id} is {goal.status}, and nothing shows that it is met")
    return goal.outcome


def _next(left: list[tuple[Goal, Step]], again: list[Goal]) -> str | None:
    if left:
        goal, step = left[0]
        return f"{goal.id} {step.name}: {step.command}"
    return f"{again[0].id} failed ({clip(again[0].reason, 60)}): omo verify begin {again[0].id}" if again else None
