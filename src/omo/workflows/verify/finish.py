"""Where a verification ends: checks evaluated again, a verdict computed, and all that follows appended as one."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from omo.errors import BadInput, NotEvaluable, Refused
from omo.proof import pins
from omo.proof.evaluate import ChecksVerdict, evaluate
from omo.result import EXIT_CODES
from omo.state.runtime import part
from omo.text import clip
from omo.work.bound import REOPENED, files_of_end
from omo.work.citations import require_cited
from omo.work.files import Files
from omo.work.outcome import JUDGED
from omo.work.user_pins import hold
from omo.workflows.verify import claims
from omo.workflows.verify.begin import checks_of
from omo.workflows.verify.end import Conclusion, GoalDecision, outcome_of
from omo.workflows.verify.goals import (
    FOR_JUDGEMENT,
    OVER,
    QUESTIONS,
    VERIFY,
    CheckSeen,
    Goal,
    Goals,
    GoalStore,
    Row,
    closed,
    known,
    require_in_progress,
)
from omo.workflows.verify.questions import pinned_commands
from omo.workflows.verify.statements import hedges
from omo.workflows.verify.steps import GoalJudgement, GoalStep, judgement_of, steps

SHORTEST_SUMMARY, LONGEST_SUMMARY = 10, 200


def evaluate_goal(store: GoalStore, goal: Goal, judgement: GoalJudgement | None = None) -> ChecksVerdict:
    """The goal's checks on the tree as it is now. The goal file, which asks, is not the work."""
    caller = store.caller
    tree = pins.pinned(caller.state).tree(Path(caller.root), goal=goal.id, source=goal.source)
    verdict = evaluate(checks_of(goal.spec), tree)
    if judgement is None or judgement.state != "done":
        return verdict
    checks = []
    for check in verdict.checks:
        answer = judgement.answers.get(check.id)
        if check.type in FOR_JUDGEMENT and answer is not None and answer.result == "pass":
            check = replace(check, result="pass", reason=f"the judge: {answer.evidence}")
        checks.append(check)
    return replace(verdict, checks=checks)


def evaluate_now(store: GoalStore, name: str, seen: ChecksVerdict | None = None) -> ChecksVerdict:
    """Evaluate and record, so that `status` and the session know what is open. `seen` is what the checks said when they
    were filed just now, which is not asked again."""
    goal = store.goal(name)
    verdict = seen or evaluate_goal(store, goal)
    row = _evaluated(goal, verdict)
    with contextlib.suppress(NotEvaluable):
        row["tree"] = Files(store.caller.root).tree
    store.change_whole(lambda _: (None, [row]))
    return verdict


def _evaluated(goal: Goal, verdict: ChecksVerdict) -> Row:
    return {
        "kind": "checks-evaluated",
        "goal": goal.id,
        "contract": goal.spec.contract,
        "verdict": verdict.verdict,
        "flags": verdict.flags,
        "checks": [{name: getattr(check, name) for name in CheckSeen._fields} for check in verdict.checks],
    }


@dataclass
class FinishedGoal:
    decision: GoalDecision
    goal: Goal
    unblocked: list[str] = field(default_factory=list)
    parent_complete: bool = False
    overrides: list[str] = field(default_factory=list)
    undone: list[str] = field(default_factory=list)  # goals that ended before, and what of them it broke

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
            "undone": self.undone,
            "outcome": self.goal.outcome,
            "attempts_left": self.goal.attempts_left,
            "users_leg": self.goal.users_leg,
        }


def finish(
    store: GoalStore, name: str, *, summary: str, learned: str = "", hypothesis: str | None = None
) -> FinishedGoal:
    store.require_whole()
    line = _one_line(summary)
    goal = store.goal(name)
    if goal.state == "agent-leg-complete":
        return _close_users_leg(store, goal, line, learned.strip(), hypothesis)
    if goal.state in OVER:
        raise closed(goal)
    require_in_progress(goal)
    if goal.blocked_by:  # filed anew while it was worked on
        waits = ", ".join(goal.blocked_by)
        raise Refused(f"goal {goal.id} is blocked by {waits}", fix=f"omo verify status {goal.blocked_by[0]}")
    files = Files(store.caller.root)
    owed = steps(goal, store.caller, files)  # before the checks run: what their commands write stales no answer
    judgement = judgement_of(goal, store.caller, files)
    verdict = evaluate_goal(store, goal, judgement)
    decision = _with_hypothesis(goal, decide(goal, verdict, owed, by=store.caller.by), hypothesis)
    end = Conclusion(goal, verdict, decision, line, judgement, learned.strip())
    if decision.is_pass:
        held = hold(store.caller, is_last=not _others_open(store, goal))
        unseen = _require_summary(store, goal, line)
        end = replace(end, held=held, unseen=unseen, earlier=_looked_at_again(store, goal, files))
    return _conclude(store, end)


def _looked_at_again(store: GoalStore, goal: Goal, files: Files) -> dict[str, ChecksVerdict]:
    """At the last goal of a session: of those whose ends are told with it, on the files as they are ("the second goal
    undoes the first, and a third waits for it")."""
    summary, verdicts = store.caller.summary(VERIFY.name), {}
    if set(summary.get("goals") or []) - {goal.id}:
        return {}
    for name in part(summary, "ended"):
        other = store.goals.get(name)
        if other is not None and other.id != goal.id and other.state == "completed" and files.why_lapsed(other.tree):
            verdicts[name] = evaluate_goal(store, other)
    return verdicts


def _require_summary(store: GoalStore, goal: Goal, line: str) -> list[str]:
    """What the agent hands on was looked at: what it cites is so, and what it claims was filed and holds."""
    caller, what = store.caller, f"--summary of goal {goal.id}"
    if caller.by == "user":
        return []
    unseen = require_cited(caller, what, [line], pinned_commands(store, goal))
    if still_open := claims.unsettled(caller, line, goal=goal.id, since=goal.begun_at):
        raise claims.refused(what, goal.id, line, still_open)
    return unseen


def _others_open(store: GoalStore, goal: Goal) -> bool:
    """Is there more to come: a goal that this session holds, or one that waits for this one?"""
    mine = store.caller.summary(VERIFY.name).get("goals") or []
    for other in store.goals.values():
        is_open = other.id != goal.id and other.state not in OVER and not other.spec.recurring
        if is_open and (other.id in mine or goal.id in other.blocked_by):
            return True
    return False


def _one_line(text: str) -> str:
    """It is what the dependents get to see."""
    line = text.strip()
    defects = hedges(line)
    if len(line.splitlines()) > 1:
        defects.append("it has more than one line")
    if not SHORTEST_SUMMARY <= len(line) <= LONGEST_SUMMARY:
        defects.append(f"it has {len(line)} characters, not {SHORTEST_SUMMARY} to {LONGEST_SUMMARY}")
    if defects:
        raise BadInput(
            f"--summary {clip(line, 60)!r} is not one factual line",
            fix="say in one line what was produced, found or changed, as you saw it",
            defects=[f"--summary: {defect}" for defect in defects],
        )
    return line


def _close_users_leg(store: GoalStore, goal: Goal, line: str, learned: str, hypothesis: str | None) -> FinishedGoal:
    if store.caller.by != "user":
        raise Refused(
            f"the agent's leg of goal {goal.id} is done; the rest is the user's: {'; '.join(goal.users_leg)}",
            fix=f"the user closes it: omo verify finish {goal.id} --summary TEXT in a terminal of their own",
        )
    verdict = evaluate_goal(store, goal)
    if broken := _broken_checks(verdict):
        raise Refused(f"goal {goal.id} cannot be closed: {'; '.join(broken)}", fix="mend it, then finish again")
    decision = GoalDecision("pass", "the user closed their leg", "completed")
    if hypothesis is not None:  # else it is as it was when the agent's leg was done
        decision = _with_hypothesis(goal, decision, hypothesis)
    return _conclude(store, Conclusion(goal, verdict, decision, line, learned=learned))


def decide(goal: Goal, verdict: ChecksVerdict, owed: Sequence[GoalStep], *, by: str) -> GoalDecision:
    """A real failure outranks everything unknown; nothing unknown ever passes."""
    broken = _broken_checks(verdict)
    broken += [f"{step.name}: {step.why}" for step in owed if step.state == "failed"]
    if broken:
        return GoalDecision("fail", "; ".join(broken), "pending")
    unclear, own = [], []
    for check in verdict.checks:
        if check.result != "pass" and check.type in FOR_JUDGEMENT:
            own.append(check.id)
        elif check.result == "unknown":
            unclear.append(f"check {check.id} could not be evaluated: {check.reason}")
    still_open = {step.name: step.text for step in owed if step.is_open}
    unclear += [text for name, text in still_open.items() if name not in ("finish", "checks", "judge", "q3")]
    if unclear:
        return GoalDecision("unknown", "; ".join(unclear))
    notes = []
    if own:
        notes.append(f"settled by the agent's own answers, not by an independent one: {', '.join(own)}")
    if "q3" in still_open:
        notes.append("q3, unit or integration: nobody said")
    is_leg_alone = any(step.name == "agent-leg" for step in owed) or (bool(goal.users_leg) and by == "agent")
    if is_leg_alone and not goal.spec.recurring:
        left = "; ".join(goal.users_leg) or "their confirmation"
        reason = f"the agent's leg is done; the user's is pending: {left}"
        return GoalDecision("pass", reason, "agent-leg-complete", notes)
    facts = [verdict.passes] if verdict.passes else []
    answered = [step.name for step in owed if step.name in (*QUESTIONS, "outcomes") and not step.is_open]
    if answered:
        facts.append(f"answered: {', '.join(answered)}")
    return GoalDecision("pass", "; ".join(facts), "pending" if goal.spec.recurring else "completed", notes)


def _broken_checks(verdict: ChecksVerdict) -> list[str]:
    return [f"check {check.id}: {check.reason}" for check in verdict.checks if check.result == "fail"]


def _with_hypothesis(goal: Goal, decided: GoalDecision, result: str | None) -> GoalDecision:
    """A hypothesis that is settled is verified like any other goal; one that is not cannot be."""
    if not goal.spec.hypothesis:
        if result is not None:
            raise BadInput(f"goal {goal.id} has no hypothesis", fix="leave --hypothesis-result out")
        return decided
    about = f"hypothesis {goal.spec.hypothesis['id']}"
    if result == "expired":
        return GoalDecision("unknown", f"{about} expired", "expired")
    if result == "pending" or (result is None and decided.verdict != "fail"):
        return GoalDecision("unknown", f"{about} has not resolved yet", "pending")
    return replace(decided, reason=f"{about} {result or 'is open'}; {decided.reason}")


def _conclude(store: GoalStore, end: Conclusion) -> FinishedGoal:
    """One append: the evaluation, the summary, the streak, the unblocking. All of it happened, or none of it."""
    caller, goal, decision = store.caller, end.goal, end.decision
    rows, tree = [_evaluated(goal, end.verdict)], ""
    if decision.verdict != "unknown" or decision.to != "in-progress":  # else what is owed is still owed
        rows.append(_finished(store, end))
        tree = rows[-1].get("tree", "")
    if decision.is_pass and goal.spec.recurring:
        # The whole step as one row: count, streak and time change together or not at all.
        streak = goal.streak.achieved(goal.spec.interval, caller.now)
        achieved = {"streak": streak.current, "longest": streak.longest, "count": streak.count, "at": streak.last}
        rows.append({"kind": "achieved", "goal": goal.id, **achieved})
    undone = []
    for name, verdict in end.earlier.items():
        other = store.goal(name)
        rows.append({**_evaluated(other, verdict), "tree": tree})
        if broken := _broken_since(other, verdict):
            rows.append({"kind": REOPENED, "goal": name, "changed": None})
            undone.append(f"goal {name} is open again: {'; '.join(broken)}")

    def record(goals: Goals) -> tuple[list[str], list[Row]]:
        now = known(goals, goal.id)
        if (now.attempt, now.state, now.spec) != (goal.attempt, goal.state, goal.spec):
            raise Refused(f"goal {goal.id} was changed meanwhile", fix=f"omo verify finish {goal.id} again")
        freed: list[str] = []
        following: list[Row] = []
        if decision.is_pass and decision.to != "agent-leg-complete":
            for other in goals.values():  # those that waited for this goal alone
                if other.blocked_by == [goal.id] and other.state == "pending":
                    freed.append(other.id)
            following.append({"kind": "unblocked", "goal": goal.id, "summary": end.summary, "freed": freed})
        return freed, [*rows, *following]

    unblocked = store.change_whole(record)
    after = store.goal(goal.id)
    let_stand = [claim.let_stand for claim in claims.recorded(caller.state, goal=goal.id, overridden=True)]
    return FinishedGoal(decision, after, unblocked, _is_parent_complete(store.goals, after), let_stand, undone)


def _broken_since(goal: Goal, verdict: ChecksVerdict) -> list[str]:
    """Why a goal that ended before does not hold on the files as they are now."""
    by_code = [check for check in verdict.checks if check.type not in FOR_JUDGEMENT]
    broken = [f"check {check.id}: {check.reason}" for check in by_code if check.result != "pass"]
    if not broken and goal.outcome and goal.outcome["verdict"] == JUDGED:
        return ["it was judged on other files"]
    return broken


def _finished(store: GoalStore, end: Conclusion) -> Row:
    goal, decision = end.goal, end.decision
    row: Row = {
        "kind": "finished",
        "goal": goal.id,
        "category": goal.spec.category,
        "verdict": decision.verdict,
        "to": decision.to,
        "summary": "" if decision.verdict == "fail" else end.summary,  # which says what is not so
        "reason": decision.reason,
        "learned": end.learned,
        "notes": list(decision.notes),
        "outcome": outcome_of(store, end),
    }
    with contextlib.suppress(NotEvaluable):  # then whoever looks later cannot tell either
        # What the checks were evaluated on, after their commands have written what they write.
        row["tree"] = Files(store.caller.root).tree
    if decision.is_pass:
        row["files"] = files_of_end(store.caller.root, store.caller.events)
    return row


def _is_parent_complete(goals: Goals, goal: Goal) -> bool:
    """With this goal its parent's last one was completed. Recurring goals never are, so they do not count."""
    of_parent = [other for other in goals.values() if other.spec.parent == goal.spec.parent]
    states = {other.state for other in of_parent if not other.spec.recurring}
    return bool(goal.spec.parent) and goal.state == "completed" and states == {"completed"}
