"""What now? The first rule that fits gives the answer that status, Stop and the commands show for a plan."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from omo import table
from omo.text import clip
from omo.work.status import Command, NextStep, command
from omo.workflows.ultragoal import receipts
from omo.workflows.ultragoal.plan import CLASSIFY, Goal, Plan

if TYPE_CHECKING:
    from omo.engine.runs import CaseRun

ALL_COMPLETE = "All ultragoal goals are complete"
CREATE_GOAL = command("omo goal create", lead="then")
CREATE_PLAN = command("omo ultragoal create-goals --brief", "@goal: TITLE …")
PLANNING = [row.kind for row in table.ROWS if row.without_run]  # the workflows that make a plan


def checkpoint_command(goal: Goal) -> Command:
    """Return all that closes a goal: omo runs COMMAND and the gates, fills the quality gate in, and names what is
    missing."""
    return command(f"omo ultragoal checkpoint --goal-id {goal.id} --evidence TEXT -- COMMAND")


def next_step(run: CaseRun) -> NextStep:
    plan = cast("Plan | None", run.state)
    if run.is_lost:
        return NextStep("create-goals", f"the plan cannot go on: {clip(run.why_lost, 160)}", (CREATE_PLAN,))
    if plan is None:
        return NextStep("create-goals", "there is no plan yet", (CREATE_PLAN,))
    for rule in RULES:
        if step := rule(run, plan):
            return step
    return NextStep("done", ALL_COMPLETE)


def _away(run: CaseRun, plan: Plan) -> NextStep | None:
    """Return where the plan is worked on: in another directory, or in another workflow."""
    here = run.caller.here
    if plan.root not in ("", here) and os.path.isdir(plan.root):  # one whose directory was moved goes along
        why = f"this plan was made for {plan.root}, and this is {here}"
        return NextStep("work-there", why, (Command(lead="work there"),))
    if plan.handoff is None or not plan.is_open:
        return None
    go_on = command("omo state ultragoal write --input", '{"current_phase":"active"}', after="goes on with it here")
    commands = [go_on]
    for planning in PLANNING:
        commands.append(command("omo state ultragoal handoff --to", planning, lead="or, to plan it anew"))
    return NextStep("handoff", f"the plan is {plan.handoff_in_words}", tuple(commands))


def tool_step(run: CaseRun, plan: Plan, goal: Goal | None) -> NextStep | None:
    """Return what the session's goal lacks for a checkpoint of this goal, if it lacks anything."""
    name = goal.id if goal else ""
    tool = plan.tool
    if tool.status != "active":
        action = "resume" if tool.status == "paused" else "create"
        why = f"the session's goal is {tool.status}" if tool.id else "the session has no goal"
        return NextStep(f"{action}-goal", why, (command(f"omo goal {action}"),), item=name)
    if tool.objective in plan.objectives_of(goal):
        return None
    why = f"another goal is active ({clip(tool.objective, 80)})"
    story = plan.story_with(tool.objective)
    if story is not None and story.receipt:
        # Story by story the goal tool moves on, and what was done is completed, not dropped.
        return NextStep("complete-goal", why, (command("omo goal complete"), CREATE_GOAL), item=name)
    return NextStep("drop-goal", why, (command("omo goal drop"), CREATE_GOAL), item=name)


def _active(run: CaseRun, plan: Plan) -> NextStep | None:
    goal = plan.active
    if goal is None:
        return None
    if step := tool_step(run, plan, goal):  # a checkpoint needs the goal tool's goal: active, and this plan's
        return step
    if goal.human_blocked:
        why = f"{goal.id} waits for a person ({clip(goal.human_blocked, 80)})"
        set_aside = command(f"omo ultragoal checkpoint --goal-id {goal.id} --status blocked --evidence TEXT")
        return NextStep("set-aside", why, (set_aside,), item=goal.id)
    why = f"{goal.id} {clip(goal.title, 80)} is under way"
    return NextStep("execute-goal", why, (checkpoint_command(goal),), item=goal.id)


def _waiting(run: CaseRun, plan: Plan) -> NextStep | None:
    """Return the goal to begin, else one that failed."""
    start = command("omo ultragoal complete-goals")
    if goal := plan.resolved:
        why = f"what the review of {goal.id} found is resolved, and {goal.id} is shown anew"
        return NextStep("start-goal", why, (start,), item=goal.id)
    if goal := plan.first("pending"):
        return NextStep("start-goal", f"{goal.id} {clip(goal.title, 80)} is next", (start,), item=goal.id)
    if goal := plan.first("failed"):
        retry = command("omo ultragoal complete-goals --retry-failed")
        return NextStep("retry-failed", f"{goal.id} failed ({clip(goal.evidence, 80)})", (retry,), item=goal.id)
    return None


def _stuck(run: CaseRun, plan: Plan) -> NextStep | None:
    """Return a blocked goal; last those of which the agent says that only a person can go on."""
    if not plan.to_retry:
        return None
    goal = plan.to_retry[0]
    retry = command("omo ultragoal complete-goals --retry-blocked")
    if goal is plan.waits_for_person:
        return NextStep(
            "wait", f"{goal.id} {goal.waits_in_words}", (retry._replace(lead="when that is done"),), item=goal.id
        )
    commands = [retry]
    if len(plan.required) > 1:
        steer = f"omo ultragoal steer --kind mark_blocked_superseded --goal-id {goal.id}"
        commands.append(command(f"{steer} --evidence TEXT --rationale TEXT", lead="if it is not needed"))
    commands.append(command(f"{CLASSIFY} --goal-id {goal.id} --evidence TEXT", lead="if only a person can go on"))
    why = f"{goal.id} is {goal.status} ({clip(goal.evidence, 80)})"
    return NextStep("resolve-blockers", why, tuple(commands), item=goal.id)


def _unproven(run: CaseRun, plan: Plan) -> NextStep | None:
    """Return the last goal, if each is complete and no final receipt covers them: verify it again."""
    missing = receipts.missing(plan)
    if not missing:
        return None
    goal = plan.required[-1]
    return tool_step(run, plan, goal) or NextStep("verify-again", missing[0], (checkpoint_command(goal),), item=goal.id)


def _complete(run: CaseRun, plan: Plan) -> NextStep | None:
    """Return what brings the plan to its end. It is written down with the session's goal, so one that was dropped is
    made again."""
    tool = plan.tool
    if tool.status == "active" and plan.knows(tool.objective):
        return NextStep("complete-goal", ALL_COMPLETE, (command("omo goal complete"),))
    if plan.outcome is not None and tool.status != "paused":
        return None
    return tool_step(run, plan, None)


# The first that fits answers: what stands in the way, what is under way, what is left, and what lacks proof.
RULES: tuple[Callable[[CaseRun, Plan], NextStep | None], ...] = (
    _away,
    _active,
    _waiting,
    _stuck,
    _unproven,
    _complete,
)
