"""What hooks read of a session's goals in its row: how much is open, what is next, and whether Stop holds."""

from __future__ import annotations

from functools import partial

from omo.state import runtime
from omo.state.runtime import part
from omo.text import clip
from omo.work import outcome
from omo.work.publish import change_row, changed
from omo.work.run import Caller
from omo.work.session import is_untold
from omo.workflows.verify.goals import SEAL, VERIFY, Goal, GoalStore, Row
from omo.workflows.verify.steps import Trees, next_step, steps

KIND = VERIFY.name


def publish_goals(store: GoalStore, *, began: str = "", passed: str = "") -> None:
    """Bring the rows up to the journal: this session's, and that of every one that holds a goal.

    `began` is the goal that this session is held to from now on; `passed` the one that passed, which is progress.
    Of a damaged journal nothing is believed: the goals wait for the user, who alone can seal it.
    """
    caller = store.caller
    sessions = [name for name in caller.session_rows if caller.summary(KIND, name).get("goals")]
    if began and caller.session and caller.session not in sessions:
        sessions.insert(0, caller.session)
    trees = Trees(caller, for_show=True)

    def decide(begins: str, row: Row | None) -> runtime.Change:
        old = part(part(row or {}, "work"), KIND)
        if store.problems:
            why = f"the journal of goals is not as omo wrote it ({clip(store.problems[0], 100)})"
            waits = {"state": "blocked", "why": why, "question": SEAL, "told": False, "own": True}
            is_open = old.get("state") in runtime.OPEN_STATES
            return changed(caller, row, KIND, {**old, "next": None, **waits}) if is_open else runtime.Change(None)
        ended = _ended_before(old)
        names = [*(str(name) for name in old.get("goals", [])), *ended]
        if begins:
            names.append(begins)
        held = [store.goals[name] for name in dict.fromkeys(names) if name in store.goals]
        if not held:
            return runtime.Change(None)
        return changed(caller, row, KIND, summarize(held, ended, trees), progressed=passed in old.get("goals", []))

    for session in sessions:
        begins = began if session == caller.session else ""
        change_row(caller, session, partial(decide, begins))


def release_sessions(caller: Caller) -> None:
    """The journal was sealed: whatever sessions were held to is over, and nothing shows that it is met."""

    def decide(row: Row | None) -> runtime.Change:
        old = part(part(row or {}, "work"), KIND)
        names = [str(name) for name in old.get("goals", [])]
        if not names:
            return runtime.Change(None)
        ended = dict(_ended_before(old))
        for name in names:
            ended[name] = outcome.outcome(outcome.ENDED, f"the damaged journal of goal {name} was set aside")
        summary = {"run": names[0], "goals": [], "ended": ended, "open": 0, "total": 0, "next": None, "state": "done"}
        summary["outcome"] = outcome.worst(ended.values())
        return changed(caller, row, KIND, summary)

    for session in list(caller.session_rows):
        change_row(caller, session, decide)


def _ended_before(old: Row) -> Row:
    """How the goals ended that this session was held to. Told to the user, they belong to a run that is over."""
    was_told = old.get("state") == "done" and not is_untold(old)
    return {} if was_told else part(old, "ended")


def summarize(held: list[Goal], before: Row, trees: Trees) -> Row:
    """What hooks read: how much is open, the next command, and how each goal ended that is over.

    The worst of several ends counts: no goal hides behind one that passed later.
    """
    owed = {goal.id: steps(goal, trees) for goal in held}
    working, again, spent, waiting = [], [], [], []
    ended = dict(before)
    for goal in held:
        ended.pop(goal.id, None)
        if goal.state == "in-progress":
            working.append(goal)
        elif goal.state == "pending" and goal.failures:
            again.append(goal)
        elif goal.state == "exhausted":
            spent.append(goal)
        elif goal.state == "pending" and goal.spec.hypothesis:
            waiting.append(goal)
        else:
            unmet = f"goal {goal.id} is {goal.status}, and nothing shows that it is met"
            ended[goal.id] = goal.outcome or outcome.outcome(outcome.ENDED, unmet)
    kept = [*working, *again, *spent, *waiting]
    all_steps = [step for listed in owed.values() for step in listed]
    summary: Row = {
        "run": kept[0].id if kept else held[-1].id,
        "goals": [goal.id for goal in kept],
        "ended": ended,
        "open": sum(step.is_open for step in all_steps) + len(again),
        "total": len(all_steps) + len(again),
        "next": None,
    }
    if working or again:
        return {**summary, "next": next_step([*working, *again], owed).short, "state": "active"}
    if spent:
        why = f"goal {spent[0].id} failed verification {spent[0].failures} times: {clip(spent[0].reason, 120)}"
        question = f"Open it again? omo verify begin {spent[0].id} --again WHY"
        return {**summary, "state": "blocked", "why": why, "question": question, "told": False, "own": True}
    if waiting:
        why = f"the hypothesis of goal {waiting[0].id} has not resolved yet"
        return {**summary, "state": "waiting", "why": why, "question": "", "told": False, "own": True}
    return {**summary, "state": "done", "outcome": outcome.worst(ended.values())}
