"""What the session's plan says to an operation on the goal: which objective it needs, and when it may rest or end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omo.errors import BadInput, Refused, Unreadable
from omo.shown import clip, counted
from omo.ultragoal import receipts
from omo.ultragoal.next_step import Standing, next_step
from omo.ultragoal.plan import POINTER, Goal, Plan
from omo.ultragoal.run import REPAIR, Run

if TYPE_CHECKING:
    from omo.ultragoal.goal_tool import ToolGoal

Row = dict[str, Any]

CLASSIFY = "omo ultragoal classify-blocker --classification human_blocked --evidence TEXT"
ALTERNATIVES = (
    "change the plan: omo ultragoal steer --kind KIND --evidence TEXT --rationale TEXT",
    "hand a part to an executor agent",
    "review found something: omo ultragoal record-review-blockers --goal-id ID --title T --objective O --evidence E",
    "one goal is stuck: omo ultragoal checkpoint --goal-id ID --status blocked --evidence TEXT",
    f"only a person can go on: {CLASSIFY}",
)


def readable_plan(run: Run) -> Plan | None:
    """None where there is no plan; Refused where there is one that cannot be read."""
    try:
        return run.plan()
    except Unreadable as error:
        raise Refused(f"the plan of session {run.session} cannot be read: {error}", fix=REPAIR) from None


def current_goal(plan: Plan) -> Goal | None:
    """The goal that is worked on, else the one that will be next."""
    return plan.active or plan.first("pending", "failed")


def objective_for(run: Run, given: str | None) -> tuple[str, str]:
    """The objective of a new goal, and the plan it belongs to (empty: none)."""
    plan = readable_plan(run)
    wanted = {one.strip(): one for one in plan.objectives_of(current_goal(plan))} if plan else {}
    if given is None and plan is None:
        raise BadInput(
            "--objective is missing, and this session has no plan that says it",
            fix='omo goal create --objective "what is to be reached"',
        )
    if plan is not None and (given is None or given in wanted):
        return wanted[given] if given else next(iter(wanted.values())), plan.run
    if plan is not None and plan.open_goals:
        raise Refused(
            f"the plan has {counted(len(plan.open_goals), 'goal')} open, and --objective {clip(given or '', 80)!r} is "
            "not its objective: no checkpoint would be accepted under it",
            fix="omo goal create (without --objective: it takes the plan's own)",
        )
    return given or "", ""


def check_pause(run: Run) -> str:
    """Why the goal may rest, in the words of the classification; Refused while the plan can go on by itself."""
    plan = readable_plan(run)
    if plan is None or not plan.open_goals:
        return ""
    run.require_whole()
    if plan.is_human_blocked:
        return str(plan.last.get("evidence", ""))
    raise Refused(
        f"the plan has {counted(len(plan.open_goals), 'goal')} open, and the latest row of the plan's ledger is "
        f"{plan.last.get('kind')}, not a blocker classified as human_blocked",
        fix=f"{CLASSIFY}, then omo goal pause",
        defects=list(ALTERNATIVES),
    )


def check_complete(run: Run, goal: ToolGoal) -> Row:
    """The receipt that proves the goal, as fields of its row; Refused with what is missing. Other goals pass."""
    try:
        plan = run.plan()
    except Unreadable as error:
        if not belongs_to_a_plan(goal):
            return {}
        raise Refused(f"the plan behind this goal cannot be read: {error}", fix=REPAIR) from None
    if plan is None and belongs_to_a_plan(goal):
        raise Refused(
            f"this goal stands for the plan of session {run.session}, and there is none",
            fix="omo goal drop gives the goal up; omo ultragoal create-goals makes a plan",
        )
    return _proof(run, plan, goal) if plan else {}


def belongs_to_a_plan(goal: ToolGoal) -> bool:
    return bool(goal.run) or goal.objective == POINTER


def _proof(run: Run, plan: Plan, goal: ToolGoal) -> Row:
    stories = [one for one in plan.goals if plan.goal_mode == "per-story" and one.objective == goal.objective]
    if goal.objective in plan.objectives_of(None):
        run.require_whole()
        return {"receipts": _proof_of_all(run, plan, goal)}
    if stories:
        run.require_whole()
        return {"receipts": _proof_of_one(run, plan, goal, stories)}
    if goal.run == plan.run:
        raise Refused(
            f"this goal was made for the plan, whose wording changed since: {clip(goal.objective, 160)}",
            fix="omo goal drop, then omo goal create takes the objective as it is now",
        )
    return {}


def _proof_of_all(run: Run, plan: Plan, tool: ToolGoal) -> list[str]:
    stale = [why for why in (receipts.problem(plan, one, run.directory) for one in plan.required) if why]
    if stale:
        raise Refused(
            f"{len(stale)} of {counted(len(plan.required), 'goal')} of the plan: no fresh receipt",
            fix=_command(run, plan, tool),
            defects=stale,
        )
    if plan.goal_mode == "per-story":
        return [_receipt(one) for one in plan.required]
    carrier = receipts.final(plan, run.directory)
    if carrier is None:
        raise Refused("the plan has no final receipt that covers it as it is now", fix=_command(run, plan, tool))
    return [_receipt(carrier)]


def _proof_of_one(run: Run, plan: Plan, tool: ToolGoal, stories: list[Goal]) -> list[str]:
    """Two stories may carry the same objective: the receipt of either proves it."""
    found = {one.id: receipts.problem(plan, one, run.directory) for one in stories}
    proven = [one for one in stories if not found[one.id]]
    if not proven:
        is_gone = all(not one.is_required for one in stories)
        fix = "omo goal drop: other goals took its place" if is_gone else _command(run, plan, tool)
        raise Refused(f"goal {stories[0].id} has no fresh receipt", fix=fix, defects=list(found.values()))
    return [_receipt(proven[0])]


def _receipt(goal: Goal) -> str:
    return str((goal.receipt or {}).get("receiptId"))


def _command(run: Run, plan: Plan, tool: ToolGoal) -> str:
    return next_step(Standing(plan, run.directory, tool.status, tool.objective)).text
