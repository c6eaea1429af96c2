"""How a session's goals stand: what hooks read of them in its row, what comes next, and what every view shows."""

from __future__ import annotations

from omo.errors import NotEvaluable, OmoError
from omo.shown import clip, counted
from omo.state import runtime
from omo.state.runtime import part
from omo.ultrawork.session import is_untold
from omo.verify import claims
from omo.verify.goals import VERIFY, Goal, Goals, GoalStore, Row
from omo.verify.steps import Step, Trees, steps, why_stale
from omo.work import outcome
from omo.work.publish import change_row, changed
from omo.work.run import Caller
from omo.work.status import UNKNOWN_TREE, Item, NextStep, Status, command

KIND = VERIFY.name
MARKS = {
    "completed": "done",
    "agent-leg-complete": "done",
    "in-progress": "active",
    "exhausted": "failed",
    "expired": "cut",
    "blocked": "waiting",
}
READ_OFF = ("path", "content")  # checks that a look may evaluate: they start no program
UNRECORDED = "no tree was recorded, so freshness is not known"


def publish_goals(store: GoalStore, *, began: str = "", passed: str = "") -> None:
    """Bring the rows up to the journal: this session's, and that of every one that holds a goal.

    `began` is the goal that this session is held to from now on; `passed` the one that passed, which is progress.
    """
    caller = store.caller
    sessions = [name for name in caller.session_rows if caller.summary(KIND, name).get("goals")]
    if began and caller.session and caller.session not in sessions:
        sessions.insert(0, caller.session)
    trees = Trees(caller, for_show=True)

    def decide(row: Row | None, begins: str) -> runtime.Change:
        old = part(part(row or {}, "work"), KIND)
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
        change_row(caller, session, lambda row, begins=begins: decide(row, begins))  # type: ignore[misc]


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
    owed: list[tuple[Goal, Step]] = []
    working, again, spent, waiting = [], [], [], []
    ended = dict(before)
    for goal in held:
        ended.pop(goal.id, None)
        if goal.state == "in-progress":
            working.append(goal)
            owed += [(goal, step) for step in steps(goal, trees)]
        elif goal.state == "pending" and goal.failures:
            again.append(goal)
        elif goal.state == "exhausted":
            spent.append(goal)
        elif goal.state == "pending" and goal.spec.hypothesis:
            waiting.append(goal)
        else:
            ended[goal.id] = _outcome(goal)
    kept = [*working, *again, *spent, *waiting]
    left = [(goal, step) for goal, step in owed if step.is_open]
    summary: Row = {
        "run": kept[0].id if kept else held[-1].id,
        "goals": [goal.id for goal in kept],
        "ended": ended,
        "open": len(left) + len(again),
        "total": len(owed) + len(again),
        "next": None,
    }
    if left:
        goal, step = left[0]
        summary["next"] = f"{goal.id} {step.name}: {step.command}"
    elif again:
        summary["next"] = f"{again[0].id} failed ({clip(again[0].reason, 60)}): omo verify begin {again[0].id}"
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


def status(caller: Caller, summary: Row, *, for_show: bool = True) -> Status | None:
    """The goals that a session holds or held, by its summary; None where it has none."""
    if not summary:
        return None
    store, trees = GoalStore(caller), Trees(caller, for_show=for_show)
    names = [*summary.get("goals", []), *part(summary, "ended"), str(summary.get("run"))]
    held = [store.goals[name] for name in dict.fromkeys(names) if name in store.goals]
    owed = {goal.id: steps(goal, trees) for goal in held}
    ended = [goal.outcome for goal in held if goal.outcome is not None]
    is_over = bool(held) and len(ended) == len(held)
    overrides = []
    for row in claims.recorded(caller.state, overridden=True):
        if row.get("goal") in owed:
            claim, reason = clip(str(row["claim"]), 160), clip(str(row["override"]), 160)
            overrides.append(f"{claim}: let stand by the {row['actor']}, {reason}")
    return Status(
        KIND,
        "goal",
        run=clip(str(summary.get("run") or ""), 60),
        headline=counted(len(held), "goal"),
        items=tuple(_item(goal, owed[goal.id], stale_because(goal, store, trees)) for goal in held),
        next=_next_step(held, owed),
        overrides=tuple(overrides),
        problems=tuple(store.problems),
        outcome=outcome.worst(ended) if is_over else None,
    )


def _item(goal: Goal, owed: list[Step], stale: str) -> Item:
    notes = []
    for step in owed:
        notes.append(f"{step.name}: {step.state}, {clip(step.why, 120)}" if step.why else f"{step.name}: {step.state}")
    if goal.reason:
        notes.append(clip(goal.reason, 200))
    notes += goal.refilings
    mark = MARKS.get(goal.status, "open")
    if stale or any(step.state == "stale" for step in owed):
        mark = "stale"
    receipt = ""
    if goal.receipt is not None:
        receipt = "stale" if stale else "fresh"
    users = tuple(f"left for the user: {clip(outcome_, 120)}" for outcome_ in goal.users_leg)
    return Item(goal.id, clip(goal.spec.title, 200), goal.status, mark, tuple(notes), receipt, stale, users)


def _next_step(held: list[Goal], owed: dict[str, list[Step]]) -> NextStep:
    for goal in held:
        for step in owed[goal.id]:
            if step.is_open:
                return NextStep(step.name, f"{goal.id} {step.name} {step.state}", (step.way,), item=goal.id)
    for goal in held:
        if goal.state == "pending" and goal.failures:
            why = f"{goal.id} failed: {clip(goal.reason, 120)}"
            return NextStep("begin", why, (command("omo verify begin", goal.id),), item=goal.id)
        if goal.state == "exhausted":
            again = command("omo verify begin", goal.id, "--again", "WHY")
            return NextStep("again", f"{goal.id} failed {goal.failures} times", (again,), who="user", item=goal.id)
    return NextStep()


def stale_because(goal: Goal, store: GoalStore, trees: Trees) -> str:
    """Of a goal that was completed: what its answers or its checks spoke of is no longer so."""
    if goal.receipt is None:
        return ""
    try:
        for answer in goal.answers.values():
            if why := why_stale(goal, answer, trees):
                return why
        return _on_another_tree(goal, store, trees)
    except NotEvaluable:
        return UNKNOWN_TREE
    except OmoError as error:
        return clip(error.message, 160)


def _on_another_tree(goal: Goal, store: GoalStore, trees: Trees) -> str:
    """On other files than it was finished on, it holds where all that it rests on can be read off them again."""
    receipt: Row = {}
    for row in store.rows:
        if row.get("seq") == goal.receipt:
            receipt = row
    if receipt.get("tree") and receipt["tree"] == trees.now(receipt.get("without") or ()):
        return ""
    checks = goal.spec.checks
    if not checks or any(isinstance(check, str) or check["type"] not in READ_OFF for check in checks):
        return "the tree has changed since" if receipt.get("tree") else UNRECORDED
    from omo.verify.goal_checks import look

    for check in look(store, goal).checks:
        if check.result != "pass":
            return f"{check.id}: {clip(check.reason, 120)}"
    return ""


def brief(goal: Goal) -> Row:
    """One goal in the data of every command that shows it."""
    return {
        "goal": goal.id,
        "title": goal.spec.title,
        "category": goal.spec.category,
        "status": goal.status,
        "failures": goal.failures,
        "max_retries": goal.spec.max_retries,
        "refiled": len(goal.refilings),
        "blocked_by": goal.blocked_by,
        "count": goal.count,
        "receipt": goal.receipt,
        "completed_at": goal.completed_at if goal.state == "completed" else None,
        "summary": goal.summary,
        "reason": goal.reason,
        "learned": goal.learned,
        "users_leg": {"state": "pending", "outcomes": goal.users_leg} if goal.users_leg else None,
    }


def details(store: GoalStore, goal: Goal) -> Row:
    """All that is known of one goal."""
    caller = store.caller
    trees = Trees(caller, for_show=True)
    answers = {}
    for name, answer in goal.answers.items():
        stale = why_stale(goal, answer, trees)
        shown = {"result": answer.result, "stale": stale, "artifacts": answer.artifacts, "said": answer.content}
        answers[name] = shown
    overridden = claims.recorded(caller.state, goal=goal.id, overridden=True)
    data = {
        **brief(goal),
        "contract": goal.spec.contract,
        "filed_by": goal.by,
        "refilings": goal.refilings,
        "owed": [step.data for step in steps(goal, trees)],
        "answers": answers,
        "checks": (goal.checked or {}).get("checks", []),
        "gaps": [row["why"] for row in store.rows if row.get("kind") == "gap" and row.get("goal") == goal.id],
        "overrides": [claims.override_line(row) for row in overridden],
        "inputs": list(goal.inputs.values()),
    }
    if goal.spec.recurring:
        data["streak"] = goal.streak.data(goal.spec.interval, caller.now)
    return data


def unfiled(goals: Goals, goal: Goal) -> list[str]:
    """Predecessors that nobody has filed yet."""
    return [name for name in goal.spec.predecessors if name not in goals]
