"""What now? The first rule that fits gives the answer that status, Stop and the commands show for a plan.

Below it, what hooks read of the plan: how much is open, what is next, and what is denied while it is.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from omo.proof import artifacts
from omo.text import clip
from omo.work.bound import files_of_end
from omo.work.publish import publish, publish_damage
from omo.work.status import LONGEST_SHORT, USER_RUNS, Command, NextStep, command
from omo.workflows.ultragoal import receipts
from omo.workflows.ultragoal.plan import Goal, Plan
from omo.workflows.ultragoal.reviewers import outcome_of, unfinished
from omo.workflows.ultragoal.run import PlanRun

Row = dict[str, Any]

# Every goal is closed, and the agent can bring the plan to its end.
ONE_COMMAND_LEFT = ("verify-again", "complete-goal", "create-goal", "resume-goal", "drop-goal")
TELL = "Tell the agent when that is done."
CREATE_GOAL = command("omo goal create", lead="then")
CREATE_PLAN = command("omo ultragoal create-goals --brief", "@goal: TITLE …")


def checkpoint_command(goal: Goal) -> Command:
    """All that closes a goal: omo runs COMMAND and the gates, fills the quality gate in, and names what is missing."""
    return command(f"omo ultragoal checkpoint --goal-id {goal.id} --evidence TEXT -- COMMAND")


def next_step(run: PlanRun) -> NextStep:
    if step := _damaged(run):
        return step
    plan = run.plan
    if plan is None:
        return NextStep("create-goals", "there is no plan yet", (CREATE_PLAN,))
    for rule in RULES:
        if step := rule(run, plan):
            return step
    return NextStep("done", "All ultragoal goals are complete")


def _damaged(run: PlanRun) -> NextStep | None:
    """Nothing can be done on a ledger that is not as omo wrote it, and only the user can mend one."""
    repair = command("omo ledger repair --session", run.caller.session, lead=USER_RUNS, after="(all bytes are kept)")
    if run.problems:
        why = f"the plan is not as omo wrote it ({clip(run.problems[0], 160)})"
        repair = run.repair
    elif run.tool.problems:
        why = "the journal of the session's goal is not as omo wrote it"
    elif run.plan is not None and run.plan.is_open and (problems := artifacts.ledger_problems(run.caller.state)):
        # Without the ledger of evidence no goal can begin and no gate pass.
        why = f"the ledger of evidence is not as omo wrote it ({clip(problems[0], 160)})"
    else:
        return None
    return NextStep("tell-user", why, (repair,), "user")


def _away(run: PlanRun, plan: Plan) -> NextStep | None:
    """The plan is worked on in another directory, or was given to another workflow."""
    here = run.caller.here
    if plan.root not in ("", here) and os.path.isdir(plan.root):  # one whose directory was moved goes along
        why = f"this plan was made for {plan.root}, and this is {here}"
        return NextStep("work-there", why, (Command(lead="work there"),))
    if plan.handoff is None or not plan.is_open:
        return None
    go_on = command("omo state ultragoal write --input", '{"current_phase":"active"}', after="goes on with it here")
    plan_anew = command("omo state ultragoal handoff --to ultraplan", lead="or", after="plans it anew")
    return NextStep("handoff", f"the plan is {plan.handoff_in_words}", (go_on, plan_anew))


def tool_step(run: PlanRun, plan: Plan, goal: Goal | None) -> NextStep | None:
    """What the goal tool lacks for a checkpoint of this goal; None where it lacks nothing."""
    name = goal.id if goal else ""
    tool = run.tool
    if tool.status == "paused":
        return NextStep("resume-goal", "the session's goal is paused", (command("omo goal resume"),), item=name)
    if tool.status != "active":
        return NextStep("create-goal", "the session has no active goal", (command("omo goal create"),), item=name)
    if tool.objective in plan.objectives_of(goal):
        return None
    why = f"another goal is active ({clip(tool.objective, 80)})"
    story = plan.story_with(tool.objective)
    if story is not None and not receipts.problem(plan, story, run.directory):
        # Story by story the goal tool moves on, and what was done is completed, not dropped.
        return NextStep("complete-goal", why, (command("omo goal complete"), CREATE_GOAL), item=name)
    return NextStep("drop-goal", why, (command("omo goal drop"), CREATE_GOAL), item=name)


def _active(run: PlanRun, plan: Plan) -> NextStep | None:
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


def _paused(run: PlanRun, plan: Plan) -> NextStep | None:
    """A pause is the whole plan's: Stop lets go while it lasts, so nothing else is next but its end."""
    can_go_on = plan.first("pending", "failed") or any(not goal.human_blocked for goal in plan.stuck)
    return tool_step(run, plan, None) if run.tool.status == "paused" and can_go_on else None


def _waiting(run: PlanRun, plan: Plan) -> NextStep | None:
    """Goals to begin, then those that failed."""
    if goal := plan.resolved:
        why = f"what the review of {goal.id} found is resolved, and {goal.id} is shown anew"
        return NextStep("start-goal", why, (command("omo ultragoal complete-goals"),), item=goal.id)
    if goal := plan.first("pending"):
        why = f"{goal.id} {clip(goal.title, 80)} is next"
        return NextStep("start-goal", why, (command("omo ultragoal complete-goals"),), item=goal.id)
    if goal := plan.first("failed"):
        retry = command("omo ultragoal complete-goals --retry-failed")
        return NextStep("retry-failed", f"{goal.id} failed ({clip(goal.evidence, 80)})", (retry,), item=goal.id)
    return None


def _stuck(run: PlanRun, plan: Plan) -> NextStep | None:
    """Blocked goals; those last of which the agent says that only a person can go on."""
    if not plan.stuck:
        return None
    goal = plan.stuck[0]
    retry = command("omo ultragoal complete-goals --retry-blocked")
    if goal.human_blocked:
        why = f"{goal.id} waits for a person: {clip(goal.human_blocked, 160)}"
        return NextStep("wait", why, (retry._replace(lead="when that is done"),), item=goal.id)
    commands = [retry]
    if len(plan.required) > 1:
        steer = f"omo ultragoal steer --kind mark_blocked_superseded --goal-id {goal.id}"
        commands.append(command(f"{steer} --evidence TEXT --rationale TEXT", lead="if it is not needed"))
    classify = f"omo ultragoal classify-blocker --classification human_blocked --goal-id {goal.id} --evidence TEXT"
    commands.append(command(classify, lead="if only a person can go on"))
    why = f"{goal.id} is {goal.status} ({clip(goal.evidence, 80)})"
    return NextStep("resolve-blockers", why, tuple(commands), item=goal.id)


def _unproven(run: PlanRun, plan: Plan) -> NextStep | None:
    """Complete by word alone, or by receipts that no longer cover it: verify it again."""
    for goal, why in receipts.unproven(plan, run.directory):
        return tool_step(run, plan, goal) or NextStep("verify-again", why, (checkpoint_command(goal),), item=goal.id)
    return None


def _complete(run: PlanRun, plan: Plan) -> NextStep | None:
    tool = run.tool
    is_the_plans = tool.objective in plan.objectives_of(None) or plan.story_with(tool.objective) is not None
    if not is_the_plans or tool.status not in ("active", "paused"):
        return None
    commands = [command("omo goal complete")]
    if tool.status == "paused":
        commands = [command("omo goal resume"), command("omo goal complete", lead="then")]
    return NextStep("complete-goal", "All ultragoal goals are complete", tuple(commands))


# The first that fits answers: what stands in the way, what is under way, what is left, and what lacks proof.
RULES: tuple[Callable[[PlanRun, Plan], NextStep | None], ...] = (
    _away,
    _active,
    _paused,
    _waiting,
    _stuck,
    _unproven,
    _complete,
)


def publish_status(run: PlanRun, *, progressed: bool = False) -> NextStep:
    """Bring the session's row up to the ledger; a receipt gives the budget of blocks back."""
    step = next_step(run)
    if run.problems:
        publish_damage(run)
    elif run.plan is not None:
        fresh = summarize(run, run.plan, step)
        publish(run, fresh, session=run.caller.session, progressed=lambda old: progressed)
    return step


def summarize(run: PlanRun, plan: Plan, step: NextStep) -> Row:
    following = step.short
    if step.action == "execute-goal":  # for Stop, which is short: the goal under way by its name
        following = clip(f"{step.item} {plan.goal(step.item).title}", LONGEST_SHORT)
    summary: Row = {
        "run": plan.run,
        "open": len(plan.open_goals),
        "total": len(plan.required),
        "next": following,
        "deny": denials(run, plan, step),
    }
    if step.action == "resolve-blockers":  # it is said already that it is blocked
        classify = "omo ultragoal classify-blocker --classification human_blocked"
        summary["wayOut"] = f"{classify} --goal-id {step.item} --evidence TEXT"
    elif not plan.is_open:
        summary["wayOut"] = ""
    if run.base_settings.attended:
        summary["attended"] = True
    return {**summary, **_state(run, plan, step)}


def _state(run: PlanRun, plan: Plan, step: NextStep) -> Row:
    if not plan.is_open and step.action == "done":
        if plan.outcome is not None:
            return {"state": "done", "outcome": plan.outcome, "at": plan.ended_at, "files": plan.files_at_end}
        return _ended_without_goal(run, outcome_of(run, plan))
    if not plan.is_open and step.action in ONE_COMMAND_LEFT:
        return {"state": "active"}
    if not plan.is_open:
        return {"state": "done", "outcome": unfinished(plan, step)}
    if plan.handoff is not None:
        why, question = plan.handoff_in_words, "Go on with planning?"
        return {"state": "paused", "why": why, "question": question, "told": False, "own": True}
    if step.who == "user":  # damage that only they can mend
        question = f"Run in a terminal of your own: {step.commands[0].line}."
        waits = {"state": "blocked", "why": step.why, "question": question, "told": False, "own": True}
        return {**waits, "damaged": True}
    if run.tool.status == "paused":
        why = (run.tool.current.why if run.tool.current else "") or "the session's goal is paused"
        return {"state": "paused", "why": why, "question": TELL, "told": False, "own": True}
    if step.action == "wait":
        return {"state": "blocked", "why": step.why, "question": TELL, "told": False}
    return {"state": "active"}


def _ended_without_goal(run: PlanRun, ended: Row) -> Row:
    """No goal of the session's was completed with the plan, so its ledger has no end: the session's row alone notes
    the files, when it says so for the first time."""
    told = run.caller.summary(run.kind.name)
    is_noted = told.get("state") == "done" and told.get("run") == run.id and told.get("outcome") == ended
    files = told.get("files")
    if not is_noted:
        files = files_of_end(run.caller.root, run.caller.events)
    return {"state": "done", "outcome": ended, "files": files}


def denials(run: PlanRun, plan: Plan, step: NextStep) -> Row:
    """What the gates in the client say, in whole sentences; a gate that is not named here is open."""
    denied: Row = {}
    goal = plan.active or next(iter(plan.open_goals), None)
    if goal is not None:
        classify = "omo ultragoal classify-blocker --classification human_blocked "
        classify += f"--goal-id {goal.id} --evidence 'what only they can do'"
        keep = ""
        if goal.status in ("active", "failed", "review_blocked"):
            keep = f'omo ultragoal record-review-blockers --goal-id {goal.id} --objective "…" --evidence "…", or '
        if plan.handoff is None and step.who != "user":
            denied["ask"] = (
                f"Ultragoal {goal.id} is open, so no question is put to the user now. Decide what you can and note it: "
                'omo ultragoal steer --kind annotate_ledger --evidence "what you found" --rationale "what you decided"'
                f". What only a person can decide is recorded, and the next goal goes on: {keep}{classify}."
            )
        if not plan.is_human_blocked:
            denied["pause"] = (
                f"Ultragoal {goal.id} is open, and a pause needs a blocker that only a person can remove, recorded "
                f"just before: {classify}. What you can resolve yourself is resolved: investigate, omo ultragoal steer "
                "--kind add_subgoal, or omo ultragoal checkpoint --status blocked and go on with the next."
            )
    if reason := complete_denial(run, plan, step):
        denied["complete"] = reason
    return denied


def complete_denial(run: PlanRun, plan: Plan, step: NextStep) -> str:
    """Why the session's goal cannot be called complete; empty where it can, or where it is not this plan's."""
    if story := plan.story_with(run.tool.objective):
        problems = [receipts.problem(plan, story, run.directory)]
    elif plan.goal_mode == "per-story" or run.tool.objective not in plan.objectives_of(None):
        return ""
    else:
        problems = [f"{goal.id} is {goal.status}" for goal in plan.open_goals]
        problems = problems or [why for _, why in receipts.unproven(plan, run.directory)]
    why = "; ".join(filter(None, problems[:5]))
    return f"The goal is not proven complete ({why}). {step.text}" if why else ""
