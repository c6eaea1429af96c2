"""What now? The first rule that fits gives the answer that status, Stop and the commands show for a plan."""

from __future__ import annotations

import shlex
from collections.abc import Callable

from omo.shown import clip
from omo.ultragoal import receipts
from omo.ultragoal.plan import Goal, Plan
from omo.ultragoal.run import PlanRun
from omo.work.status import Command, NextStep, command

CREATE_GOAL = command("omo goal create", lead="then")


def checkpoint_command(goal: Goal) -> Command:
    line = f"omo ultragoal checkpoint --goal-id {goal.id} --status complete --evidence TEXT --quality-gate-json FILE"
    return command(line)


def next_step(run: PlanRun) -> NextStep:
    for rule in RULES:
        if step := rule(run):
            return step
    return NextStep("done", "All ultragoal goals are complete")


def _damaged(run: PlanRun) -> NextStep | None:
    if not run.problems:
        return None
    session = shlex.quote(run.caller.session)
    seal = command(
        f"omo state clear --mode ultragoal --force --session {session}",
        lead="the user runs, in a terminal of their own",
        after="(all bytes are kept)",
    )
    anew = command("omo ultragoal create-goals --brief", "@goal: TITLE …", lead="then")
    return NextStep("tell-user", f"the plan was changed by hand ({clip(run.problems[0], 160)})", (seal, anew), "user")


def _tool_damaged(run: PlanRun) -> NextStep | None:
    if not run.tool.problems:
        return None
    session = shlex.quote(run.caller.session)
    drop = command(f"omo goal drop --session {session}", lead="the user runs, in a terminal of their own")
    why = "the journal of the session's goal was changed by hand"
    return NextStep("tell-user", why, (drop, CREATE_GOAL), "user")


def _evidence_damaged(run: PlanRun) -> NextStep | None:
    if run.plan is None or not run.plan.is_open or not run.evidence_problems:
        return None
    why = f"the ledger of evidence was changed by hand ({clip(run.evidence_problems[0], 160)})"
    mend = command(
        "omo evidence add PATH --goal ID --repair",
        lead="the user looks at it, then runs, in a terminal of their own",
        after="(the old ledger is kept)",
    )
    return NextStep("tell-user", why, (mend,), "user")


def _missing(run: PlanRun) -> NextStep | None:
    if run.plan is not None:
        return None
    create = command("omo ultragoal create-goals --brief", "@goal: TITLE …")
    return NextStep("create-goals", "there is no plan yet", (create,))


def _elsewhere(run: PlanRun) -> NextStep | None:
    if not run.elsewhere:
        return None
    return NextStep("work-there", run.elsewhere, (Command(lead="work there"),))


def _handed_off(run: PlanRun) -> NextStep | None:
    if not run.handed_off or not _plan(run).is_open:
        return None
    go_on = command("omo state ultragoal write --input", '{"current_phase":"active"}', after="goes on with it here")
    plan_anew = command("omo state ultragoal handoff --to ultraplan", lead="or", after="plans it anew")
    return NextStep("handoff", f"the plan is {run.handed_off}", (go_on, plan_anew))


def _goal_tool(run: PlanRun) -> NextStep | None:
    """A checkpoint needs the goal tool's goal: active, and this plan's."""
    plan = _plan(run)
    if not plan.is_open or plan.active is None:
        return None
    return tool_step(run, plan.active)


def tool_step(run: PlanRun, goal: Goal | None) -> NextStep | None:
    """What the goal tool lacks for a checkpoint of this goal; None where it lacks nothing."""
    name = goal.id if goal else ""
    plan, tool = _plan(run), run.tool
    if tool.status == "paused":
        return NextStep("resume-goal", "the session's goal is paused", (command("omo goal resume"),), item=name)
    if tool.status != "active":
        return NextStep("create-goal", "the session has no active goal", (command("omo goal create"),), item=name)
    if tool.objective in plan.objectives_of(goal):
        return None
    why = f"another goal is active ({clip(tool.objective, 80)})"
    for story in plan.stories_with(tool.objective):
        # Story by story the goal tool moves on, and what was done is completed, not dropped.
        if not receipts.problem(plan, story, run.directory):
            return NextStep("complete-goal", why, (command("omo goal complete"), CREATE_GOAL), item=name)
    return NextStep("drop-goal", why, (command("omo goal drop"), CREATE_GOAL), item=name)


def _active(run: PlanRun) -> NextStep | None:
    goal = _plan(run).active
    if goal is None:
        return None
    why = f"{goal.id} {clip(goal.title, 80)} is under way"
    return NextStep("execute-goal", why, (checkpoint_command(goal),), item=goal.id)


def _paused(run: PlanRun) -> NextStep | None:
    """A pause is the whole plan's: Stop lets go while it lasts, so nothing else is next but its end."""
    plan = _plan(run)
    can_go_on = plan.first("pending", "failed") or any(not goal.human_blocked for goal in plan.stuck)
    return tool_step(run, None) if run.tool.status == "paused" and can_go_on else None


def _pending(run: PlanRun) -> NextStep | None:
    goal = _plan(run).first("pending")
    if goal is None:
        return None
    start = command("omo ultragoal complete-goals")
    return NextStep("start-goal", f"{goal.id} {clip(goal.title, 80)} is next", (start,), item=goal.id)


def _failed(run: PlanRun) -> NextStep | None:
    goal = _plan(run).first("failed")
    if goal is None:
        return None
    retry = command("omo ultragoal complete-goals --retry-failed")
    return NextStep("retry-failed", f"{goal.id} failed ({clip(goal.evidence, 80)})", (retry,), item=goal.id)


def _stuck(run: PlanRun) -> NextStep | None:
    stuck = [goal for goal in _plan(run).stuck if not goal.human_blocked]
    if not stuck:
        return None
    goal = stuck[0]
    commands = [command("omo ultragoal complete-goals --retry-blocked")]
    if len(_plan(run).required) > 1:
        steer = f"omo ultragoal steer --kind mark_blocked_superseded --goal-id {goal.id}"
        commands.append(command(f"{steer} --evidence TEXT --rationale TEXT", lead="if it is not needed"))
    classify = f"omo ultragoal classify-blocker --classification human_blocked --goal-id {goal.id} --evidence TEXT"
    commands.append(command(classify, lead="if only a person can go on"))
    why = f"{goal.id} is {goal.status} ({clip(goal.evidence, 80)})"
    return NextStep("resolve-blockers", why, tuple(commands), item=goal.id)


def _human(run: PlanRun) -> NextStep | None:
    """Every goal that is left is stuck, and the agent says that only a person can go on."""
    stuck = _plan(run).stuck
    if not stuck or not all(goal.human_blocked for goal in stuck):
        return None
    goal = stuck[0]
    why = f"{goal.id} waits for a person: {clip(goal.human_blocked, 160)}"
    retry = command("omo ultragoal complete-goals --retry-blocked", lead="when that is done")
    return NextStep("wait", why, (retry,), item=goal.id)


def _unproven(run: PlanRun) -> NextStep | None:
    """Complete by word alone, or by a receipt that no longer covers it: verify it again."""
    plan = _plan(run)
    for goal in plan.required:
        why = receipts.problem(plan, goal, run.directory)
        if goal.status == "complete" and why:
            return verify_again(run, goal, why)
    return None


def _final(run: PlanRun) -> NextStep | None:
    plan = _plan(run)
    if plan.goal_mode == "per-story" or receipts.final(plan, run.directory) or not plan.required:
        return None
    return verify_again(run, plan.required[-1], "every goal is complete, and no fresh final receipt covers them")


def verify_again(run: PlanRun, goal: Goal, why: str) -> NextStep:
    return tool_step(run, goal) or NextStep("verify-again", why, (checkpoint_command(goal),), item=goal.id)


def _complete(run: PlanRun) -> NextStep | None:
    plan, tool = _plan(run), run.tool
    is_the_plans = tool.objective in plan.objectives_of(None) or bool(plan.stories_with(tool.objective))
    if not is_the_plans or tool.status not in ("active", "paused"):
        return None
    commands = [command("omo goal complete")]
    if tool.status == "paused":
        commands = [command("omo goal resume"), command("omo goal complete", lead="then")]
    return NextStep("complete-goal", "All ultragoal goals are complete", tuple(commands))


def _plan(run: PlanRun) -> Plan:
    assert run.plan is not None  # the rule `missing` comes before every rule that asks
    return run.plan


# The first that fits answers: damage before everything, then what is under way, what is left, and what lacks proof.
RULES: tuple[Callable[[PlanRun], NextStep | None], ...] = (
    _damaged,
    _tool_damaged,
    _missing,
    _evidence_damaged,
    _elsewhere,
    _handed_off,
    _goal_tool,
    _active,
    _paused,
    _pending,
    _failed,
    _stuck,
    _human,
    _unproven,
    _final,
    _complete,
)
