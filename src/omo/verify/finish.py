"""Where a verification ends: checks evaluated again, a verdict computed, and all that follows appended as one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from omo.errors import NotEvaluable, Refused
from omo.evidence.evaluate import EXIT_CODES, Verdict
from omo.verify import claims, streaks
from omo.verify.decision import Decision, broken_checks, decide, weigh
from omo.verify.ending import outcome_of
from omo.verify.goal_checks import checks_of, escalates, look, seen
from omo.verify.goals import OVER, Goal, Goals, Place, Row, known, require_in_progress
from omo.verify.lessons import gap
from omo.verify.opening import check_beginning, check_due
from omo.verify.steps import Trees, steps
from omo.verify.unblock import check_claims, check_summary, freed_by


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
            "outcome": self.goal.outcome,
            "attempts_left": self.attempts_left,
            "users_leg": self.goal.users_leg,
        }


def finish(place: Place, name: str, *, summary: str, learned: str = "", hypothesis: str | None = None) -> Finished:
    place.require_whole_journal()
    line = check_summary(summary)
    goal = place.goal(name)
    if goal.state == "agent-leg-complete":
        return _close_users_leg(place, goal, line)
    _check_in_progress(goal)
    listed = steps(goal, place, Trees(place))  # before the checks run: what their commands write stales no answer
    verdict = look(place, goal)
    decision = weigh(goal, decide(goal, verdict, listed, by=place.by), hypothesis)
    if decision.verdict == "pass":
        check_claims(place, goal, line)
    return _conclude(place, goal, verdict, decision, summary=line, learned=learned.strip())


def _check_in_progress(goal: Goal) -> None:
    if goal.state in OVER:
        raise Refused(f"goal {goal.id} is {goal.state} already", fix=f"omo verify status {goal.id}")
    require_in_progress(goal)
    if goal.blocked_by:  # filed anew while it was worked on
        waits = ", ".join(goal.blocked_by)
        raise Refused(f"goal {goal.id} is blocked by {waits}", fix=f"omo verify status {goal.blocked_by[0]}")


def _close_users_leg(place: Place, goal: Goal, line: str) -> Finished:
    if place.by != "user":
        raise Refused(
            f"the agent's leg of goal {goal.id} is done; the rest is the user's: {'; '.join(goal.users_leg)}",
            fix=f"the user closes it: omo verify finish {goal.id} --summary TEXT in a terminal of their own",
        )
    verdict = look(place, goal)
    if broken := broken_checks(verdict):
        raise Refused(f"goal {goal.id} cannot be closed: {'; '.join(broken)}", fix="mend it, then finish again")
    return _conclude(place, goal, verdict, Decision("pass", "the user closed their leg", "completed"), summary=line)


def _conclude(
    place: Place, goal: Goal, verdict: Verdict, decision: Decision, *, summary: str, learned: str = ""
) -> Finished:
    """One append: the evaluation, the summary, the streak, the unblocking. All of it happened, or none of it."""
    decision = replace(decision, notes=[*decision.notes, *goal.refilings])
    tree = _tree(place, goal)
    ended_as = outcome_of(place, goal, verdict, decision)

    def record(goals: Goals) -> tuple[list[str], list[Row]]:
        now = known(goals, goal.id)
        if (now.attempt, now.state, now.spec) != (goal.attempt, goal.state, goal.spec):
            raise Refused(f"goal {goal.id} was changed meanwhile", fix=f"omo verify finish {goal.id} again")
        freed = freed_by(goals, goal.id) if decision.verdict == "pass" and decision.to != "agent-leg-complete" else None
        ended = _end_rows(goal, decision, summary, learned, place.now, freed, {**tree, "outcome": ended_as})
        return freed or [], [seen(goal, verdict), *ended]

    unblocked = place.change(record)
    goals = place.goals()
    after = goals[goal.id]
    complete = after.state == "completed" and _family_complete(goals, after.spec.parent)
    left = max(0, after.spec.max_retries - after.failures)
    return Finished(decision, after, unblocked, complete, left, overrides(place, goal.id))


def _tree(place: Place, goal: Goal) -> Row:
    """What the checks were evaluated on, after their commands have written what they write."""
    trees = Trees(place)
    without = trees.answer_files(goal)
    try:
        return {"tree": trees.now(without), "without": list(without)}
    except NotEvaluable:
        return {}  # whoever looks later cannot tell either


def _family_complete(goals: Goals, parent: str | None) -> bool:
    """Every goal under the same parent is completed. Recurring ones never are, so they do not count."""
    family = [goal for goal in goals.values() if parent and goal.spec.parent == parent and not goal.spec.recurring]
    return bool(family) and all(goal.state == "completed" for goal in family)


def overrides(place: Place, name: str) -> list[str]:
    """Claims that were let stand against what code saw: in every report of the goal."""
    return [override_line(row) for row in claims.recorded(place.state, goal=name, overridden=True)]


def override_line(row: Row) -> str:
    return f"{row['override']} (by the {row['actor']}, against {row['verdict']}: {row['claim']})"


def _end_rows(
    goal: Goal, decision: Decision, summary: str, learned: str, now: float, freed: list[str] | None, facts: Row
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
            **facts,
        }
    ]
    if decision.verdict == "pass" and goal.spec.recurring:
        rows.append(streaks.row(goal.id, streaks.achieved(goal.streak, every=goal.spec.every, now=now)))
    if freed is not None:
        rows.append({"kind": "unblocked", "goal": goal.id, "summary": summary, "freed": freed})
    return rows + [gap(goal, "q3", why) for why in decision.gaps]


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
    facts = {**_tree(place, goal), "outcome": outcome_of(place, goal, verdict, decision)}

    def record(goals: Goals) -> tuple[None, list[Row]]:
        now = known(goals, name)
        check_due(now, place.now)
        return None, [seen(now, verdict), *_end_rows(now, decision, decision.reason, "", place.now, None, facts)]

    place.change(record)
    return place.goal(name)
