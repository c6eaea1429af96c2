"""What became of a plan, in one line: also what was cut from it."""

from __future__ import annotations

from omo.ultragoal.plan import Goal, Plan


def tally(plan: Plan) -> str:
    """Complete of all there ever were; superseded, with how many nothing replaced; reworded."""
    complete = sum(goal.status == "complete" for goal in plan.goals)
    superseded = [goal for goal in plan.goals if goal.status == "superseded"]
    dropped = sum(bool((goal.steering or {}).get("noReplacementRequired")) for goal in superseded)
    reworded = sum(_is_reworded(goal) for goal in plan.goals)
    parts = [f"{complete} of {len(plan.goals)} goal{'' if len(plan.goals) == 1 else 's'} complete"]
    if superseded:
        without = f" ({dropped} without a replacement)" if dropped else ""
        parts.append(f"{len(superseded)} superseded{without}")
    return ", ".join([*parts, *([f"{reworded} reworded"] if reworded else [])])


def _is_reworded(goal: Goal) -> bool:
    return "firstWording" in (goal.steering or {})
