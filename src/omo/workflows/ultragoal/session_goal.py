"""The session's goal: what it is after. One state machine over rows of the plan's own ledger."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omo.errors import BadInput, Refused
from omo.json_text import Json

if TYPE_CHECKING:
    from omo.workflows.ultragoal.rows import PlanRow


NONE = "none"

# operation → the row it writes, the statuses it starts from, and the one it leads to. Any other start is refused; one
# that is there already writes nothing.
MOVES: dict[str, tuple[str, tuple[str, ...], str]] = {
    "create": ("goal_created", (NONE, "complete"), "active"),
    "pause": ("goal_paused", ("active", "paused"), "paused"),
    "resume": ("goal_resumed", ("paused", "active"), "active"),
    "complete": ("goal_completed", ("active",), "complete"),
    "drop": ("goal_dropped", ("active", "paused"), "dropped"),
}
LEADS_TO = {kind: after for kind, _, after in MOVES.values()}
# status → what stands in the way, and what to run instead
REFUSALS = {
    NONE: ("there is no goal in this session", "omo goal create"),
    "active": ("a goal is active", "go on with it (omo goal get shows it), or end it with omo goal drop"),
    "paused": ("the goal is paused", "omo goal resume makes it active again, omo goal drop ends it"),
    "complete": ("the goal is already complete", "omo goal create starts another one"),
}


@dataclass(frozen=True)
class ToolGoal:
    """`why` is what was said when it was last paused."""

    id: str = ""
    objective: str = ""
    status: str = NONE
    created_at: str = ""
    updated_at: str = ""
    why: str = ""

    def render(self) -> Json | None:
        if not self.id:
            return None
        return {
            "id": self.id,
            "objective": self.objective,
            "status": self.status,
            "createdAt": self.created_at,
            "updatedAt": self.updated_at,
        }

    def require_same(self, passed: object) -> None:
        """Refuse a goal that was passed in and does not say the same as the live one, which it never replaces; None:
        none was."""
        if passed is None:
            return
        given = passed
        if isinstance(passed, dict) and isinstance(passed.get("goal"), dict):  # as omo goal get --json prints it
            given = passed["goal"]
        if not isinstance(given, dict) or "objective" not in given:
            fix = "omo goal get --json > FILE, then --goal-json FILE; or leave it out"
            raise BadInput("--goal-json holds no goal", fix=fix)
        live = self.render() or {}
        differing = []
        for key in ("id", "objective", "status", "updatedAt"):
            if key in given and given[key] != live.get(key):
                differing.append(f"{key}: {given[key]!r} was passed, the goal says {live.get(key)!r}")
        if differing:
            raise Refused(
                "--goal-json does not show the session's goal as it is",
                fix="take a fresh one: omo goal get --json; or leave --goal-json out",
                defects=differing,
            )


NO_GOAL = ToolGoal()  # there never was one, or it was dropped


def after(goal: ToolGoal, row: PlanRow) -> ToolGoal:
    """Return the goal as a row of LEADS_TO leaves it."""
    kind, when = row["kind"], row["ts"]
    if kind == "goal_created":
        return ToolGoal(str(row["goal"]), str(row["objective"]), LEADS_TO[kind], when, when)
    if not goal.id:
        return goal
    why = str(row.get("why", "")) if kind == "goal_paused" else goal.why
    return replace(goal, status=LEADS_TO[kind], updated_at=when, why=why)
