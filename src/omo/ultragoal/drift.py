"""Whether the tree moved on since the last receipt. Shown, never held against the receipt."""

from __future__ import annotations

from pathlib import Path

from omo.errors import NotEvaluable
from omo.shown import clip
from omo.state import paths
from omo.ultragoal.plan import Plan
from omo.ultragoal.run import Run


def drift(run: Run, plan: Plan, *, is_cached: bool = True) -> str:
    """Empty where there is no receipt, or the tree is still the one that the newest was issued on."""
    closed = [goal for goal in plan.goals if goal.status == "complete" and goal.receipt]
    if not closed:
        return ""
    from omo.evidence import tree  # not needed by a status without receipts

    newest = max(closed, key=lambda goal: str((goal.receipt or {}).get("verifiedAt")))
    try:
        cache = Path(paths.tree_cache(run.state)) if is_cached else None
        now = tree.fingerprint(Path(run.root), cache=cache)
    except NotEvaluable as error:
        return clip(f"the tree cannot be read: {error.message}", 200)
    return "" if now == (newest.receipt or {}).get("tree") else f"the tree has changed since the receipt of {newest.id}"
