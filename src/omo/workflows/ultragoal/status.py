"""What views show of a plan, and hooks are told of it, beside what there is of every run: above all what they deny."""

from __future__ import annotations

from omo.errors import OmoError
from omo.text import clip, counted
from omo.work.status import Command, NextStep, Status
from omo.workflows.ultragoal import receipts
from omo.workflows.ultragoal.plan import CLASSIFY, Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.rows import Summary
    from omo.work.viewer import Viewer


def shown(plan: Plan, status: Status, viewer: Viewer) -> Status:
    step, headline = status.next, status.headline
    if not status.problems:
        stale = [f"{counted(status.stale, 'receipt')} stale"] if status.stale else []
        headline = ", ".join([*plan.steered, *stale])
    if viewer.for_next and step.action in ("execute-goal", "verify-again"):
        step = step._replace(commands=(*_missing(viewer, step.item), *step.commands))
    facts = [clip(plan.objective, 300)]
    if (final := receipts.final(plan)) is not None:
        facts.append(f"final receipt: fresh, issued with {final.id}")
    changed = [drift] if (drift := receipts.drift(plan, viewer.files)) else []
    outcome = plan.outcome if step.action == "done" else None
    return status._replace(
        headline=headline, next=step, facts=(*facts, *changed), changed=tuple(changed), outcome=outcome
    )


def _missing(viewer: Viewer, name: str) -> list[Command]:
    """Return what else the gate of the goal asks for. That loads pydantic, so only whoever asks for the step pays."""
    from omo.workflows.ultragoal.checkpoint import missing_parts
    from omo.workflows.ultragoal.run import load_plan

    try:
        run = load_plan(viewer.caller, viewer.run)
        return [Command(lead=part) for part in missing_parts(run, run.named_goal(name))]
    except OmoError:
        return []  # the checkpoint says what is wrong


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
    if plan.is_open and plan.handoff is not None:
        more["madeWayFor"] = plan.handoff["to"] or ""
    return more


def denials(plan: Plan, step: NextStep) -> dict[str, str]:
    """Return what the gates in the client say, in whole sentences; a gate that is not named here is open."""
    denied = {}
    goal = plan.active or next(iter(plan.open_goals), None)
    if goal is not None:
        classify = f"{CLASSIFY} --goal-id {goal.id} --evidence 'what only they can do'"
        if plan.handoff is None:
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
