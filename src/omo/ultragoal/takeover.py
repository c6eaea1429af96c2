"""A plan of another tool as rows of ours: the goals as they stood, without its receipts."""

from __future__ import annotations

from typing import Any

from omo.ultragoal.foreign import ForeignPlan

Row = dict[str, Any]


def rows_of(found: ForeignPlan, *, run: str, session: str, repository: Row) -> list[Row]:
    """What would have been written here. Its receipts prove nothing: we did not run its gates."""
    goals = [
        {
            "id": goal.id,
            "title": goal.title,
            "objective": goal.objective,
            "status": goal.status,
            "evidence": goal.evidence,
            "steering": goal.steering,
        }
        for goal in found.goals
    ]
    created: Row = {
        "kind": "plan_created",
        "run": run,
        "session": session,
        "brief": found.brief,
        "constraints": found.preamble,
        "goalMode": found.goal_mode,
        "objective": found.migrated_from or found.objective,
        "objectiveAliases": [alias for alias in found.aliases if alias != found.migrated_from],
        "repository": repository,
        "goals": goals,
        "takenOver": {"notes": found.notes, "skippedRows": found.skipped_rows},
    }
    if found.migrated_from is None:
        return [created]
    return [created, {"kind": "aggregate_objective_migrated", "from": found.migrated_from, "to": found.objective}]
