"""Where a verification ends: checks evaluated again, a verdict computed, dependents freed, the session told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from omo.errors import BadInput, Refused
from omo.evidence import artifacts, pins
from omo.evidence.evaluate import EXIT_CODES, Observation, Verdict, evaluate
from omo.shown import clip
from omo.state import runtime
from omo.state.runtime import part
from omo.ultrawork import session
from omo.verify import claims, streaks
from omo.verify.goals import (
    OVER,
    Goal,
    GoalFile,
    Goals,
    Place,
    Row,
    check_beginning,
    check_due,
    check_filing,
    dependents,
    family_complete,
    file_goal,
    known,
)
from omo.verify.questions import (
    ESCALATION,
    Step,
    Trees,
    checks_of,
    escalates,
    gap,
    hedges,
    steps,
)

LONGEST_SUMMARY = 200
SHORTEST_SUMMARY = 10
RESULTS = ("confirmed", "corrected", "expired", "pending")
KIND = "verify"


def add(place: Place, spec: GoalFile, *, source: str) -> tuple[Goal, pins.PinReport]:
    """Pin the checks, then file the goal. One whose every check passes already could not show any work."""
    check_filing(place.goals().get(spec.id), spec, place.by)
    report = pins.pin(
        place.state,
        Path(place.root),
        checks_of(Goal(spec, place.by)),
        source=source,
        goal=spec.id,
        by=place.by,
        now=place.now,
        wait=place.wait,
        refuse_vacuous=not spec.guard,
    )
    artifacts.remember(place.state, Path(place.root), by=place.by, now=place.now, wait=place.wait)
    return file_goal(place, spec, source=source), report


def look(place: Place, goal: Goal) -> Verdict:
    """The goal's checks on the tree as it is now. What asks, the goal file and the answers, is not the work."""
    pinned = pins.pinned(place.state)
    tree = pinned.tree(Path(place.root), goal=goal.id, source=goal.source)
    return evaluate(checks_of(goal), replace(tree, inputs=tree.inputs | set(goal.answer_files)))


def seen(goal: Goal, verdict: Verdict) -> Row:
    """The row that records an evaluation."""
    return {
        "kind": "checks-evaluated",
        "goal": goal.id,
        "contract": goal.spec.contract,
        "verdict": verdict.verdict,
        "flags": verdict.flags,
        "checks": [observed(one) for one in verdict.checks],
    }


def observed(one: Observation) -> Row:
    return {key: getattr(one, key) for key in ("id", "type", "result", "reason", "observed")}


@dataclass(frozen=True)
class Decision:
    """What follows from what was seen. `to` is the goal's next state; an unknown verdict leaves it where it is."""

    verdict: str
    reason: str
    to: str = "in-progress"
    gaps: Sequence[str] = ()
    notes: Sequence[str] = ()


def decide(goal: Goal, verdict: Verdict, listed: Sequence[Step], *, by: str) -> Decision:
    """A real failure outranks everything unknown; nothing unknown ever passes."""
    open_steps = {step.name: step for step in listed}
    by_code = [one for one in verdict.checks if one.type not in ("string", "judge")]
    broken = [f"check {one.id}: {one.reason}" for one in verdict.checks if one.result == "fail"]
    broken += [f"{step.name}: {step.why}" for step in open_steps.values() if step.state == "failed"]
    if broken:
        return Decision("fail", "; ".join(broken), "pending")
    unclear = [f"check {one.id} could not be evaluated: {one.reason}" for one in by_code if one.result == "unknown"]
    owed = [step for step in open_steps.values() if step.is_open and step.name not in ("finish", "checks", "q3")]
    unclear += [f"{step.name} is {step.state}{_because(step)}: {step.command}" for step in owed]
    if unclear:
        return Decision("unknown", "; ".join(unclear))
    return _passed(goal, verdict, open_steps, by)


def _because(step: Step) -> str:
    return f" ({step.why})" if step.why else ""


def _passed(goal: Goal, verdict: Verdict, listed: dict[str, Step], by: str) -> Decision:
    judged = [one.id for one in verdict.checks if one.type in ("string", "judge")]
    notes = [f"settled by the agent's own answers, not by an independent one: {', '.join(judged)}"] if judged else []
    gaps = ["unit or integration: nobody said"] if "q3" in listed and listed["q3"].is_open else []
    if goal.spec.recurring:
        return Decision("pass", _how(goal, verdict), "pending", gaps, notes)
    if "agent-leg" in listed or (goal.users_leg and by == "agent"):
        reason = f"the agent's leg is done; the user's is pending: {'; '.join(goal.users_leg) or 'their confirmation'}"
        return Decision("pass", reason, "agent-leg-complete", gaps, notes)
    return Decision("pass", _how(goal, verdict), "completed", gaps, notes)


def _how(goal: Goal, verdict: Verdict) -> str:
    passed = sum(one.result == "pass" for one in verdict.checks)
    parts = [f"{passed} of {len(verdict.checks)} checks pass"] if passed else []
    if escalates(checks_of(goal)):
        parts.append(f"answered: {', '.join(name for name in ESCALATION if name in goal.answers)}")
    return "; ".join(parts)


@dataclass
class Finished:
    decision: Decision
    goal: Goal
    unblocked: list[str] = field(default_factory=list)
    parent_complete: bool = False
    attempts_left: int = 0
    overrides: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.decision.verdict]

    @property
    def data(self) -> Row:
        return {
            "goal": self.goal.id,
            "goal_completed": self.goal.state == "completed",
            "parent_complete": self.parent_complete,
            "verdict": self.decision.verdict,
            "state": self.goal.status,
            "unblocked": self.unblocked,
            "reason": self.decision.reason,
            "notes": list(self.decision.notes),
            "overrides": self.overrides,
            "attempts_left": self.attempts_left,
            "users_leg": self.goal.users_leg,
        }


def check_summary(text: str) -> str:
    """One factual line: it is what the dependents get to see."""
    line = text.strip()
    defects = [] if "\n" not in line and "\r" not in line else ["it has more than one line"]
    if not SHORTEST_SUMMARY <= len(line) <= LONGEST_SUMMARY:
        defects.append(f"it has {len(line)} characters, not {SHORTEST_SUMMARY} to {LONGEST_SUMMARY}")
    defects += hedges(line)
    if defects:
        raise BadInput(
            f"--summary {clip(line, 60)!r} is not one factual line",
            fix="say in one line what was produced, found or changed, as you saw it",
            defects=[f"--summary: {one}" for one in defects],
        )
    return line


def finish(place: Place, name: str, *, summary: str, learned: str = "", hypothesis: str | None = None) -> Finished:
    place.require_whole_journal()
    line = check_summary(summary)
    goal = place.goal(name)
    if goal.state == "agent-leg-complete":
        return _close_users_leg(place, goal, line)
    _check_in_progress(goal)
    listed = steps(goal, place, Trees(place))  # before the checks run: what their commands write stales no answer
    verdict = look(place, goal)
    decision = _weigh(goal, decide(goal, verdict, listed, by=place.by), hypothesis)
    return _conclude(place, goal, verdict, decision, summary=line, learned=learned.strip())


def _check_in_progress(goal: Goal) -> None:
    if goal.state in OVER:
        raise Refused(f"goal {goal.id} is {goal.state} already", fix=f"omo verify status {goal.id}")
    if goal.state != "in-progress":
        raise Refused(f"goal {goal.id} is {goal.status}, not in progress", fix=f"omo verify begin {goal.id}")
    if goal.blocked_by:  # filed anew while it was worked on
        waits = ", ".join(goal.blocked_by)
        raise Refused(f"goal {goal.id} is blocked by {waits}", fix=f"omo verify status {goal.blocked_by[0]}")


def _weigh(goal: Goal, decided: Decision, hypothesis: str | None) -> Decision:
    """A hypothesis that is settled is verified like any other goal; one that is not cannot be."""
    if goal.spec.hypothesis is None:
        if hypothesis is not None:
            raise BadInput(f"goal {goal.id} has no hypothesis", fix="leave --hypothesis-result out")
        return decided
    about = f"hypothesis {goal.spec.hypothesis.id}"
    if hypothesis == "expired":
        return Decision("unknown", f"{about} expired", "expired")
    if hypothesis in (None, "pending"):
        return Decision("unknown", f"{about} has not resolved yet", "pending")
    return replace(decided, reason=f"{about} {hypothesis}; {decided.reason}")


def _close_users_leg(place: Place, goal: Goal, line: str) -> Finished:
    if place.by != "user":
        raise Refused(
            f"the agent's leg of goal {goal.id} is done; the rest is the user's: {'; '.join(goal.users_leg)}",
            fix=f"the user closes it: omo verify finish {goal.id} --summary TEXT in a terminal of their own",
        )
    verdict = look(place, goal)
    broken = [f"check {one.id}: {one.reason}" for one in verdict.checks if one.result == "fail"]
    if broken:
        raise Refused(f"goal {goal.id} cannot be closed: {'; '.join(broken)}", fix="mend it, then finish again")
    return _conclude(place, goal, verdict, Decision("pass", "the user closed their leg", "completed"), summary=line)


def _conclude(
    place: Place, goal: Goal, verdict: Verdict, decision: Decision, *, summary: str, learned: str = ""
) -> Finished:
    """One append: the evaluation, the summary, the streak, the unblocking. All of it happened, or none of it."""

    def record(goals: Goals) -> tuple[list[str], list[Row]]:
        now = known(goals, goal.id)
        if (now.attempt, now.state, now.spec) != (goal.attempt, goal.state, goal.spec):
            raise Refused(f"goal {goal.id} was changed meanwhile", fix=f"omo verify finish {goal.id} again")
        freed = _freed(goals, goal.id) if decision.verdict == "pass" and decision.to != "agent-leg-complete" else None
        return freed or [], [seen(goal, verdict), *_end_rows(goal, decision, summary, learned, place.now, freed)]

    unblocked = place.change(record)
    goals = place.goals()
    after = goals[goal.id]
    complete = after.state == "completed" and family_complete(goals, after.spec.parent)
    left = max(0, after.spec.max_retries - after.failures)
    return Finished(decision, after, unblocked, complete, left, overrides(place, goal.id))


def overrides(place: Place, name: str) -> list[str]:
    """Claims that were let stand against what code saw: in every report of the goal."""
    rows = claims.recorded(place.state, goal=name, overridden=True)
    return [f"{row['override']} (by the {row['actor']}, against {row['verdict']}: {row['claim']})" for row in rows]


def _end_rows(
    goal: Goal, decision: Decision, summary: str, learned: str, now: float, freed: list[str] | None
) -> list[Row]:
    if decision.verdict == "unknown" and decision.to == "in-progress":
        return []  # nothing has ended: what is owed is still owed
    rows: list[Row] = [
        {
            "kind": "finished",
            "goal": goal.id,
            "category": goal.spec.category,
            "verdict": decision.verdict,
            "to": decision.to,
            "summary": summary,
            "reason": decision.reason,
            "learned": learned or (summary if decision.verdict == "fail" else ""),
            "notes": list(decision.notes),
        }
    ]
    if decision.verdict == "pass" and goal.spec.recurring:
        rows.append(streaks.row(goal.id, streaks.achieved(goal.streak, every=goal.spec.every, now=now)))
    if freed is not None:
        rows.append({"kind": "unblocked", "goal": goal.id, "summary": summary, "freed": freed})
    return rows + [gap(goal, "q3", why) for why in decision.gaps]


def _freed(goals: Goals, name: str) -> list[str]:
    """Those that waited for this goal alone."""
    waiting = [one for one in dependents(goals, name) if one.blocked_by == [name] and one.state == "pending"]
    return [one.id for one in waiting]


def unblock(place: Place, name: str, *, summary: str) -> list[str]:
    """Hand a goal's output to its dependents. It must have passed: a recurring one at least once."""
    place.require_whole_journal()
    line = check_summary(summary)

    def record(goals: Goals) -> tuple[list[str], list[Row]]:
        goal = known(goals, name)
        if goal.receipt is None and goal.streak.last is None:
            raise Refused(
                f"goal {name} has not passed verification, so it frees nobody", fix=f"omo verify begin {name}"
            )
        freed = _freed(goals, name)
        return freed, [{"kind": "unblocked", "goal": name, "summary": line, "freed": freed}]

    freed: list[str] = place.change(record)
    return freed


def achieve(place: Place, name: str) -> Goal:
    """Count a recurring goal as achieved now: its checks say so now, or nothing is counted."""
    place.require_whole_journal()
    goal = place.goal(name)
    if not goal.spec.recurring:
        raise Refused(f"goal {name} is not recurring, so it has no streak", fix=f"omo verify status {name}")
    if goal.state != "in-progress":
        check_beginning(goal, by=place.by, now=place.now, again="")
    listed = steps(goal, place, Trees(place))
    verdict = look(place, goal)
    decision = decide(goal, verdict, listed, by=place.by)
    if escalates(checks_of(goal)) and goal.state != "in-progress":
        decision = Decision("unknown", f"its questions are open: omo verify begin {name}")
    if decision.verdict != "pass":
        raise Refused(f"goal {name} is not achieved: {decision.reason}", fix=f"omo verify begin {name}")

    def record(goals: Goals) -> tuple[None, list[Row]]:
        now = known(goals, name)
        check_due(now, place.now)
        return None, [seen(now, verdict), *_end_rows(now, decision, decision.reason, "", place.now, None)]

    place.change(record)
    return place.goal(name)


def evaluate_now(place: Place, name: str) -> Verdict:
    """Evaluate and record, so that `status` and the session know what is open."""
    goal = place.goal(name)
    verdict = look(place, goal)
    place.change(lambda goals: (None, [seen(goal, verdict)]))
    return verdict


def tell_sessions(place: Place, here: str, *, began: str = "", passed: bool = False, limits: Row) -> None:
    """Bring the summaries up to the journal: this session's, and that of every one that holds a goal."""
    goals, trees = place.goals(), Trees(place, for_show=True)
    holding = [name for name, row in _rows(place.state).items() if part(part(row, "work"), KIND).get("goals")]
    for name in dict.fromkeys([here, *holding] if here and began else holding):
        runtime.change_session(
            place.state,
            name,
            _telling(place, goals, trees, began if name == here else "", passed, limits),
            actor=place.by,
            now=place.now,
            wait=place.wait,
        )


def _rows(state: str) -> dict[str, Row]:
    return {name: row for name, row in runtime.read(state)["sessions"].items() if isinstance(row, dict)}


def _telling(
    place: Place, goals: Goals, trees: Trees, began: str, passed: bool, limits: Row
) -> Callable[[Row | None], runtime.Change]:
    def tell(row: Row | None) -> runtime.Change:
        old = part(part(row or {}, "work"), KIND)
        names = dict.fromkeys([*(str(name) for name in old.get("goals", [])), *([began] if began else [])])
        held = [goals[name] for name in names if name in goals]
        if not held:
            return runtime.Change(None)
        summary = _kept_state(row or {}, old, summarize(held, place, trees))
        if summary == old:
            return runtime.Change(None)
        after = session.put_work(row, KIND, summary, limits=limits, now=place.now)
        if passed:
            after = session.progress(after)
        return runtime.Change(None, after, [{"kind": KIND, "state": summary["state"], "goals": summary["goals"]}])

    return tell


def summarize(held: list[Goal], place: Place, trees: Trees) -> Row:
    """What hooks read: how much is open, and the next command."""
    working = [goal for goal in held if goal.state == "in-progress"]
    listed = [(goal, step) for goal in working for step in steps(goal, place, trees)]
    left = [(goal, step) for goal, step in listed if step.is_open]
    again = [goal for goal in held if goal.state == "pending" and goal.failures]
    spent = [goal for goal in held if goal.state == "exhausted"]
    waiting = [goal for goal in held if goal.state == "pending" and goal.spec.hypothesis and not goal.failures]
    kept = [*working, *again, *spent, *waiting]
    summary: Row = {
        "run": kept[0].id if kept else held[-1].id,
        "goals": [goal.id for goal in kept],
        "open": len(left) + len(again),
        "total": len(listed) + len(again),
        "next": _next(left, again),
    }
    if working or again:
        return {**summary, "state": "active"}
    if spent:
        why = f"goal {spent[0].id} failed verification {spent[0].failures} times: {clip(spent[0].reason, 120)}"
        question = f"Open it again? omo verify begin {spent[0].id} --again WHY"
        return {**summary, "state": "blocked", "why": why, "question": question, "told": False}
    if waiting:
        why = f"the hypothesis of goal {waiting[0].id} has not resolved yet"
        return {**summary, "state": "waiting", "why": why, "question": "", "told": False}
    return {**summary, "state": "done", "how": f"goal {held[-1].id} {held[-1].state}: {clip(held[-1].reason, 120)}"}


def _next(left: list[tuple[Goal, Step]], again: list[Goal]) -> str | None:
    if left:
        goal, step = left[0]
        return f"{goal.id} {step.name}: {step.command}"
    return f"{again[0].id} failed ({clip(again[0].reason, 60)}): omo verify begin {again[0].id}" if again else None


def _kept_state(row: Row, old: Row, summary: Row) -> Row:
    """What the user paused stays paused, and what a breaker let go stays so until they arm the session again."""
    if summary["state"] != "active":
        return {**summary, "told": old.get("told", False)} if _same_wait(old, summary) else summary
    is_on = part(row, "ulw").get("enabled")
    if old.get("state") == "paused" or (old.get("state") == "exhausted" and not is_on):
        kept: Row = {key: old[key] for key in ("state", "why", "question", "told", "endedBy") if key in old}
        return {**summary, **kept}
    return summary


def _same_wait(old: Row, summary: Row) -> bool:
    return "told" in summary and old.get("state") == summary["state"] and old.get("why") == summary["why"]
