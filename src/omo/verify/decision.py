"""The verdict on a goal: what follows from its checks, its answers and its hypothesis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from omo.errors import BadInput
from omo.evidence.evaluate import Verdict
from omo.verify.goal_checks import FOR_JUDGEMENT, checks_of, escalates
from omo.verify.goals import Goal
from omo.verify.replies import ESCALATION
from omo.verify.steps import Step

RESULTS = ("confirmed", "corrected", "expired", "pending")


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
    by_code = [one for one in verdict.checks if one.type not in FOR_JUDGEMENT]
    broken = broken_checks(verdict)
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
    judged = [one.id for one in verdict.checks if one.type in FOR_JUDGEMENT]
    notes = [f"settled by the agent's own answers, not by an independent one: {', '.join(judged)}"] if judged else []
    gaps = ["unit or integration: nobody said"] if "q3" in listed and listed["q3"].is_open else []
    notes += [f"gap, q3: {one}" for one in gaps]
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


def weigh(goal: Goal, decided: Decision, hypothesis: str | None) -> Decision:
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


def broken_checks(verdict: Verdict) -> list[str]:
    return [f"check {one.id}: {one.reason}" for one in verdict.checks if one.result == "fail"]
