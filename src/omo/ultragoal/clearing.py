"""Clearing a session's plan and goal. It works on anything that lies there, and deletes none of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from omo.errors import Refused
from omo.shown import clip, counted
from omo.state import paths, runtime, store
from omo.state.runtime import part
from omo.ultragoal import goal_tool, phases
from omo.ultragoal.goal_tool import ToolGoal
from omo.ultragoal.phases import ULTRAGOAL
from omo.ultragoal.plan import Plan
from omo.ultragoal.run import Run
from omo.work import outcome

Row = dict[str, Any]
T = TypeVar("T")

FORCE = "omo state clear --mode ultragoal --force"
INSTEAD = {
    "verify": "omo verify repair keeps a damaged journal aside; goals are filed again with omo verify add",
    "ulw": "omo ulw done finishes the run; the user ends it with omo stop-continuation",
}


@dataclass(frozen=True)
class Found:
    """What there is to clear. `damage` says why it cannot be trusted, in words."""

    plan: Plan | None = None
    goal: ToolGoal | None = None
    summary: Row = field(default_factory=dict)
    damage: list[str] = field(default_factory=list)
    mark: Row = field(default_factory=dict)
    mending: str = ""  # what mends the plan

    @property
    def is_nothing(self) -> bool:
        return not (self.plan or self.goal or self.summary or self.damage or self.mark)

    @property
    def open(self) -> int:
        """Goals that would be given up; where the plan cannot be read, as many as hooks were last told of."""
        known = self.summary.get("open")
        return len(self.plan.open_goals) if self.plan else known if isinstance(known, int) else 0

    @property
    def unfinished(self) -> list[str]:
        left = (
            [f"{goal.id} {goal.status}: {clip(goal.title, 80)}" for goal in self.plan.open_goals] if self.plan else []
        )
        if self.goal and self.goal.status in ("active", "paused"):
            left.append(f"the session's goal is {self.goal.status}: {clip(self.goal.objective, 80)}")
        is_left_over = self.summary.get("state") in runtime.OPEN_STATES and not self.summary.get("cleared")
        if not self.plan and is_left_over:
            left.append(f"hooks were told of {counted(self.open, 'goal')} open, and the plan is gone")
        return left

    @property
    def is_unseen(self) -> bool:
        """An earlier clear left this summary for the user, and no Stop has shown it to them yet."""
        return bool(self.summary.get("cleared")) and self.summary.get("told") is False


@dataclass(frozen=True)
class Cleared:
    kept: list[str]
    open: int
    is_shown: bool


def look(run: Run) -> Found:
    """Reads only, and never fails: whatever a reader trips over is damage, which is what clearing is for."""
    damage: list[str] = []
    plan = _read(damage, run.plan)
    damage += _read(damage, run.problems) or []
    goal = _read(damage, lambda: goal_tool.fold(goal_tool.rows(run.state, run.session)))
    damage += goal_tool.problems(run.state, run.session)
    row = _read(damage, lambda: runtime.session(run.state, run.session)) or {}
    return Found(
        plan=plan,
        goal=goal,
        summary=part(part(row, "work"), ULTRAGOAL),
        damage=list(dict.fromkeys(damage)),
        mark=part(part(row, "phases"), ULTRAGOAL),
        mending=_read(damage, lambda: run.mending(run.look().damage)) or "",
    )


def _read(damage: list[str], reader: Callable[[], T]) -> T | None:
    try:
        return reader()
    except Exception as error:
        damage.append(clip(str(error), 200) or type(error).__name__)
        return None


def clear(run: Run, *, force: bool) -> Cleared | None:
    """None where there is nothing to clear. What was open is shown to the user when it was the agent who cleared."""
    found = look(run)
    if found.is_nothing or (run.by == "agent" and found.is_unseen and not found.unfinished):
        return None
    if not force:
        _check(run, found)
    store.make_state_dir(run.state)
    store.make_dir(paths.session_dir(run.state, run.session), run.state)
    directories = (paths.ultragoal_dir(run.state, run.session), paths.goal_dir(run.state, run.session))
    kept = [store.keep_as(one, "cleared", run.now) for one in directories if os.path.lexists(one)]
    # The directories first: were the row first, a crash would leave a plan that no hook knows of.
    return _tell(run, found, kept, force)


def _check(run: Run, found: Found) -> None:
    if found.damage:
        raise Refused(
            f"the ultragoal state of session {run.session} is damaged, so whether it is finished is not known",
            fix=f"{_ways_on(found.mending)} keeps what bytes there are and starts from nothing",
            defects=[*found.damage, *found.unfinished],
        )
    if found.unfinished:
        raise Refused(
            f"the ultragoal run of session {run.session} is not finished",
            fix=f"omo ultragoal status says what is next; {FORCE} gives it up and keeps its files aside",
            defects=found.unfinished,
        )


def _ways_on(mending: str) -> str:
    """What mends it, where something does, and last what clears it."""
    return mending if mending.endswith(FORCE) else "; ".join(filter(None, [mending, FORCE]))


def _tell(run: Run, found: Found, kept: list[str], force: bool) -> Cleared:
    is_shown = run.by == "agent" and bool(found.unfinished or found.damage)

    def decide(row: Row | None) -> runtime.Change:
        after = phases.marked(row, ULTRAGOAL, None)
        work = {kind: one for kind, one in part(after, "work").items() if kind != ULTRAGOAL}
        after["work"] = {**work, ULTRAGOAL: _left(found)} if is_shown else work
        event = {"kind": "cleared", "mode": ULTRAGOAL, "forced": force, "open": found.open, "kept": kept}
        return runtime.Change(None, after if is_shown else disarmed(after), [event])

    runtime.change_session(run.state, run.session, decide, actor=run.by, now=run.now, wait=run.wait)
    return Cleared(kept, found.open, is_shown)


def _left(found: Found) -> Row:
    """No silent way out: Stop lets go, and shows the user what was given up."""
    why = _what(found)
    return {
        "run": found.plan.run if found.plan else str(found.summary.get("run", "")),
        "state": "blocked",
        "why": why,
        "question": "Shall it be planned again? (omo ultragoal create-goals)",
        "told": False,
        "open": found.open,
        "total": len(found.plan.required) if found.plan else found.open,
        "next": "omo ultragoal create-goals, or omo state clear --mode ultragoal",
        "cleared": True,
        "outcome": outcome.outcome(outcome.ENDED, why),
    }


def _what(found: Found) -> str:
    if found.open:
        return f"the agent cleared the plan with {counted(found.open, 'goal')} open"
    if found.damage:
        return f"the agent cleared the plan, which was damaged: {clip(found.damage[0], 120)}"
    return "the agent cleared the session's goal, which was not complete"


def disarmed(row: Row) -> Row:
    """The counter that the plan armed goes with it, unless something else is still open."""
    ulw = part(row, "ulw")
    is_its_own = ulw.get("by") == ULTRAGOAL and not runtime.work_in(row, *runtime.OPEN_STATES)
    return {**row, "ulw": {**ulw, "enabled": False}} if is_its_own else row
