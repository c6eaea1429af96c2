"""What views show of a plan beside its goals: what it is for, and what its receipts cover now."""

from __future__ import annotations

from omo.errors import OmoError
from omo.text import clip, counted
from omo.work.status import Command, Status
from omo.work.viewer import Viewer
from omo.workflows.ultragoal import receipts
from omo.workflows.ultragoal.plan import Plan


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
