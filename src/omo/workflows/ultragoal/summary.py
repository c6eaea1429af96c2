"""What hooks are told of a plan beside what they are told of every run: above all what they deny."""

from __future__ import annotations

from omo.work.status import NextStep
from omo.workflows.ultragoal import receipts
from omo.workflows.ultragoal.plan import CLASSIFY, Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.rows import Summary


def told_next(plan: Plan, step: NextStep) -> NextStep:
    """Return the step as Stop says it, which is short: the goal under way by its name."""
    if step.action == "execute-goal":
        return step._replace(why=f"{step.item} {plan.goal(step.item).title}", commands=())
    return step


def told_besides(plan: Plan, step: NextStep, *, is_attended: bool) -> Summary:
    """Return what hooks are told besides: what they deny, and how the agent says that it cannot go on."""
    more: Summary = {"deny": denials(plan, step)}
    if step.action == "resolve-blockers":  # it is said already that it is blocked
        more["wayOut"] = f"{CLASSIFY} --goal-id {step.item} --evidence TEXT"
    elif not plan.is_open:
        more["wayOut"] = ""
    if is_attended:
        more["attended"] = True
    if plan.is_open and plan.handoff is not None:
        more["madeWayFor"] = plan.handoff["to"] or ""
    if step.who == "user":  # damage that only they can mend
        question = f"Run in a terminal of your own: {step.commands[0].line}."
        more |= {"state": "waiting", "waitsFor": "damage", "why": step.why, "question": question}
        more |= {"told": False, "own": True}
    return more


def denials(plan: Plan, step: NextStep) -> dict[str, str]:
    """Return what the gates in the client say, in whole sentences; a gate that is not named here is open."""
    denied = {}
    goal = plan.active or next(iter(plan.open_goals), None)
    if goal is not None:
        classify = f"{CLASSIFY} --goal-id {goal.id} --evidence 'what only they can do'"
        if plan.handoff is None and step.who != "user":
            denied["ask"] = (
                f"Ultragoal {goal.id} is open, so no question is put to the user now. Decide what you can and note it: "
                'omo ultragoal steer --kind annotate_ledger --evidence "what you found" --rationale "what you decided"'
                ". What a review found becomes a goal: omo ultragoal record-review-blockers. What only a person can "
                f"decide is recorded, and the next goal goes on: {classify}."
            )
        if not plan.is_human_blocked:
            denied["pause"] = (
                f"Ultragoal {goal.id} is open, and a pause needs a blocker that only a person can remove, recorded "
                f"just before: {classify}. What you can resolve yourself is resolved: investigate, omo ultragoal steer "
                "--kind add_subgoal, or omo ultragoal checkpoint --status blocked and go on with the next."
            )
    if plan.knows(plan.tool.objective):
        _, missing = receipts.of_session_goal(plan)
        if missing:
            denied["complete"] = f"The goal is not proven complete ({'; '.join(missing[:5])}). {step.text}"
    return denied
