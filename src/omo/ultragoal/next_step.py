"""What now? The one answer that every output, every refusal and Stop give for a plan as it stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from omo.shown import clip
from omo.ultragoal import receipts
from omo.ultragoal.plan import Goal, Plan

CHECKPOINT = "omo ultragoal checkpoint --goal-id {id} --status complete --evidence TEXT --quality-gate-json FILE"
STEER = "omo ultragoal steer --kind mark_blocked_superseded --goal-id {id} --evidence TEXT --rationale TEXT"
CLASSIFY = "omo ultragoal classify-blocker --classification human_blocked --goal-id {id} --evidence TEXT"


@dataclass(frozen=True)
class Standing:
    """Everything the answer depends on."""

    plan: Plan | None
    directory: str
    tool_status: str = ""  # of the goal tool's goal: active, paused, complete; empty where there is none
    tool_objective: str = ""
    tool_why: str = ""  # what a paused goal waits for
    tool_mending: str = ""  # what mends the goal tool's journal; empty while it is whole
    moved: str = ""  # from where to where, when the plan was made in another directory
    problems: list[str] = field(default_factory=list)
    mending: str = ""  # what mends the problems
    handed_off: str = ""  # how and by whom; empty while the plan is worked on here


@dataclass(frozen=True)
class Step:
    """`action` is stable, for programs; `command` is the first command that leads on."""

    action: str
    why: str
    command: str = ""
    goal: str | None = None

    @property
    def text(self) -> str:
        return f"{self.why}: {self.command}" if self.command else self.why

    @property
    def data(self) -> dict[str, str | None]:
        return {"action": self.action, "why": self.why, "command": self.command, "goal_id": self.goal}


@dataclass(frozen=True)
class Rule:
    """`what` it looks for and which fields of the standing it `reads` are for `omo explain goal`."""

    name: str
    what: str
    reads: tuple[str, ...]
    asks: Callable[[Standing], Step | None]


def next_step(at: Standing) -> Step:
    return decide(at)[1]


def decide(at: Standing) -> tuple[Rule | None, Step]:
    """The rule that answers and its answer; None where nothing is left to do."""
    for rule in RULES:
        if step := rule.asks(at):
            return rule, step
    return None, Step("done", "All ultragoal goals are complete")


def _damaged(at: Standing) -> Step | None:
    if not at.problems:
        return None
    return Step("repair", f"the plan was changed by hand ({clip(at.problems[0], 160)})", at.mending)


def _tool_damaged(at: Standing) -> Step | None:
    if not at.tool_mending:
        return None
    return Step("repair-goal", "the journal of the session's goal was changed by hand", at.tool_mending)


def _missing(at: Standing) -> Step | None:
    if at.plan is not None:
        return None
    return Step("create-goals", "there is no plan yet", 'omo ultragoal create-goals --brief "@goal: TITLE …"')


def _moved(at: Standing) -> Step | None:
    if not at.moved:
        return None
    return Step("repair", at.moved, "if the project was moved: omo ultragoal repair; if not, work there")


def _handed_off(at: Standing) -> Step | None:
    if not at.handed_off or not _plan(at).open_goals:
        return None
    return Step(
        "handoff",
        f"the plan is {at.handed_off}",
        'omo state ultragoal write --input \'{"current_phase":"active"}\' goes on with it here; '
        "omo state ultragoal handoff --to ultraplan plans it anew",
    )


def _goal_tool(at: Standing) -> Step | None:
    """A checkpoint needs the goal tool's goal: active, and this plan's."""
    plan = _plan(at)
    if not plan.open_goals or plan.active is None:
        return None
    return tool_step(at, plan.active)


def tool_step(at: Standing, goal: Goal | None) -> Step | None:
    """What the goal tool lacks for a checkpoint of this goal; None where it lacks nothing."""
    name = goal.id if goal else None
    if at.tool_status == "paused":
        return Step("resume-goal", "the session's goal is paused", "omo goal resume", name)
    if at.tool_status != "active":
        return Step("create-goal", "the session has no active goal", "omo goal create", name)
    if at.tool_objective not in _plan(at).objectives_of(goal):
        why = f"another goal is active ({clip(at.tool_objective, 80)})"
        if _is_proven_story(at):
            return Step("complete-goal", why, "omo goal complete, then omo goal create", name)
        return Step("drop-goal", why, "omo goal drop, then omo goal create", name)
    return None


def _is_proven_story(at: Standing) -> bool:
    """Story by story the goal tool moves on, and what was done is completed, not dropped."""
    plan = _plan(at)
    stories = [one for one in plan.goals if plan.goal_mode == "per-story" and one.objective == at.tool_objective]
    return any(not receipts.problem(plan, one, at.directory) for one in stories)


def _active(at: Standing) -> Step | None:
    if (goal := _plan(at).active) is None:
        return None
    return Step(
        "execute-goal", f"{goal.id} {clip(goal.title, 80)} is under way", CHECKPOINT.format(id=goal.id), goal.id
    )


def _paused(at: Standing) -> Step | None:
    """A pause is the whole plan's: Stop lets go while it lasts, so nothing else is next but its end."""
    plan = _plan(at)
    can_go_on = plan.first("pending", "failed") or any(not goal.human_blocked for goal in plan.stuck)
    return tool_step(at, None) if at.tool_status == "paused" and can_go_on else None


def _pending(at: Standing) -> Step | None:
    if (goal := _plan(at).first("pending")) is None:
        return None
    return Step("start-goal", f"{goal.id} {clip(goal.title, 80)} is next", "omo ultragoal complete-goals", goal.id)


def _failed(at: Standing) -> Step | None:
    if (goal := _plan(at).first("failed")) is None:
        return None
    why = f"{goal.id} failed ({clip(goal.evidence, 80)})"
    return Step("retry-failed", why, "omo ultragoal complete-goals --retry-failed", goal.id)


def _human(at: Standing) -> Step | None:
    """Every goal that is left is stuck, and the agent says that only a person can go on."""
    left = _plan(at).stuck
    if not left or not all(goal.human_blocked for goal in left):
        return None
    goal = left[0]
    why = f"{goal.id} waits for a person: {clip(goal.human_blocked, 160)}"
    return Step("wait", why, "when that is done: omo ultragoal complete-goals --retry-blocked", goal.id)


def _stuck(at: Standing) -> Step | None:
    left = [goal for goal in _plan(at).stuck if not goal.human_blocked]
    if not left:
        return None
    goal = left[0]
    ways = ["omo ultragoal complete-goals --retry-blocked"]
    if len(_plan(at).required) > 1:
        ways.append(f"if it is not needed: {STEER.format(id=goal.id)}")
    ways.append(f"if only a person can go on: {CLASSIFY.format(id=goal.id)}")
    return Step("resolve-blockers", f"{goal.id} is {goal.status} ({clip(goal.evidence, 80)})", "; ".join(ways), goal.id)


def _unproven(at: Standing) -> Step | None:
    """Complete by word alone, or by a receipt that no longer covers it: verify it again."""
    plan = _plan(at)
    for goal in plan.required:
        why = receipts.problem(plan, goal, at.directory)
        if goal.status == "complete" and why:
            return tool_step(at, goal) or Step("verify-again", why, CHECKPOINT.format(id=goal.id), goal.id)
    return None


def _final(at: Standing) -> Step | None:
    plan = _plan(at)
    if plan.goal_mode == "per-story" or receipts.final(plan, at.directory) or not plan.required:
        return None
    goal = plan.required[-1]
    why = "every goal is complete, and no fresh final receipt covers them"
    return tool_step(at, goal) or Step("verify-again", why, CHECKPOINT.format(id=goal.id), goal.id)


def _complete(at: Standing) -> Step | None:
    plan = _plan(at)
    related = [*plan.objectives_of(None), *(goal.objective for goal in plan.goals if plan.goal_mode == "per-story")]
    if at.tool_objective not in related or at.tool_status not in ("active", "paused"):
        return None
    command = "omo goal complete" if at.tool_status == "active" else "omo goal resume, then omo goal complete"
    return Step("complete-goal", "All ultragoal goals are complete", command)


def _plan(at: Standing) -> Plan:
    assert at.plan is not None
    return at.plan


TOOL = ("tool_status", "tool_objective")
RULES = (
    Rule("damaged", "the plan's ledger or a view of it was changed by hand", ("problems",), _damaged),
    Rule("tool-damaged", "the journal of the session's goal was changed by hand", ("tool_mending",), _tool_damaged),
    Rule("missing", "there is no plan", ("plan",), _missing),
    Rule("moved", "the plan was made in another directory", ("moved",), _moved),
    Rule("handed-off", "the plan is handed off to another workflow", ("handed_off", "goals"), _handed_off),
    Rule("goal-tool", "a goal is under way, and the session's goal does not fit it", (*TOOL, "goals"), _goal_tool),
    Rule("active", "a goal is under way", ("goals",), _active),
    Rule("paused", "the session's goal is paused", (*TOOL, "goals"), _paused),
    Rule("pending", "a goal was not begun", ("goals",), _pending),
    Rule("failed", "a goal failed", ("goals",), _failed),
    Rule("stuck", "a goal is stuck, and not for a person's sake", ("goals",), _stuck),
    Rule("human", "every goal that is left waits for a person", ("goals",), _human),
    Rule("unproven", "a complete goal has no fresh receipt", ("receipts", *TOOL), _unproven),
    Rule("final", "no fresh final receipt covers the goals", ("final", "receipts", *TOOL), _final),
    Rule("complete", "everything is proven, and the session's goal is still open", TOOL, _complete),
)
