"""How a plan stands: each goal with its receipt and whether that still covers it, and what hooks are told of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from omo.errors import OmoError
from omo.proof import artifacts
from omo.state.runtime import part
from omo.text import clip, counted
from omo.work import outcome
from omo.work.agents import FULL
from omo.work.files import Files
from omo.work.publish import publish, publish_damage
from omo.work.status import LONGEST_SHORT, Command, Item, NextStep, Status, command
from omo.work.viewer import Viewer
from omo.workflows.ultragoal import receipts
from omo.workflows.ultragoal.next_step import next_step
from omo.workflows.ultragoal.plan import CLASSIFY, Goal, Plan
from omo.workflows.ultragoal.reviewers import NOT_REVIEWED
from omo.workflows.ultragoal.run import PlanRun, load_plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.rows import Summary
    from omo.workflows.ultragoal.plan import Receipt

# What begins it, by what the user typed, and the ends of a file that it is begun with as it is.
NAMED_FILES = {"ultragoal": ("",)}
BEGINNINGS = {
    "ultragoal": (command("omo ultragoal create-goals --start --brief-file FILE", lead="write the goals down, then"),)
}
MARKS = {
    "complete": "done",
    "active": "active",
    "failed": "failed",
    "blocked": "waiting",
    "review_blocked": "waiting",
    "superseded": "cut",
}
# Every goal is closed, and the agent can bring the plan to its end.
ONE_COMMAND_LEFT = ("verify-again", "complete-goal", "create-goal", "resume-goal", "drop-goal")
TELL = "Tell the agent when that is done."


def status(viewer: Viewer) -> Status | None:
    """None where the session never had a plan."""
    run = load_plan(viewer.caller, viewer.run)
    if run.plan is None and not run.problems and not run.caller.summary("ultragoal"):
        return None
    step = next_step(run)
    if run.plan is None:
        return Status("ultragoal", "goal", headline="no plan", next=step, problems=tuple(run.problems))
    if viewer.for_next and step.action in ("execute-goal", "verify-again"):
        step = step._replace(commands=(*_missing(run, run.plan, step.item), *step.commands))
    return plan_status(run, run.plan, step, viewer.files)


def _missing(run: PlanRun, plan: Plan, name: str) -> list[Command]:
    """What else the gate of the goal asks for. It brings pydantic along, so only whoever asks for the step pays."""
    from omo.workflows.ultragoal.checkpoint import missing_parts

    try:
        return [Command(lead=part) for part in missing_parts(run, plan, plan.goal(name))]
    except OmoError:
        return []  # the checkpoint says what is wrong


def plan_status(run: PlanRun, plan: Plan, step: NextStep, files: Files) -> Status:
    items = tuple(_item(run, plan, goal) for goal in plan.goals)
    drift = receipts.drift(plan, files)
    final = receipts.final(plan, run.directory)
    facts = [clip(plan.objective, 300)]
    if final is not None:
        facts.append(f"final receipt: fresh, issued with {final.id}")
    if drift:
        facts.append(drift)
    headline = plan.steered
    stale = sum(item.mark == "stale" for item in items)
    if run.problems:
        headline.append("by the word of a damaged ledger")
    elif stale:
        headline.append(f"{counted(stale, 'receipt')} stale")
    return Status(
        "ultragoal",
        "goal",
        run=plan.run,
        headline=", ".join(headline),
        items=items,
        next=step,
        facts=tuple(facts),
        changed=(drift,) if drift else (),
        problems=tuple(run.problems),
        outcome=plan.outcome if step.action == "done" else None,
    )


def _item(run: PlanRun, plan: Plan, goal: Goal) -> Item:
    receipt, is_complete = goal.receipt, goal.status == "complete"
    blockers = [blocker.id for blocker in plan.open_blockers_of(goal.id)]
    overrides = []
    if receipt and receipt.get("independence") != FULL:
        overrides.append(NOT_REVIEWED)
    if receipt.get("exemptions"):
        overrides.append(f"{counted(len(receipt['exemptions']), 'replay')} exempted")
    item = Item(
        goal.id,
        clip(goal.title, 200),
        goal.status,
        MARKS.get(goal.status, "open"),
        notes=tuple(_notes(goal, blockers)),
        receipt="fresh" if is_complete else "",
        overrides=tuple(overrides),
        text=plan.text_of(goal),
    )
    if not is_complete:
        return item
    stale = receipts.problem(plan, goal, run.directory) or _changed_evidence(run, receipt)
    return item.no_longer(clip(stale, 200)) if stale else item


def _notes(goal: Goal, blockers: list[str]) -> list[str]:
    notes = [clip(str(note), 200) for note in goal.receipt.get("notes", [])]
    if goal.human_blocked:
        notes.append(f"waits for a person: {clip(goal.human_blocked, 160)}")
    elif goal.status in ("failed", "blocked", "review_blocked") and goal.evidence:
        notes.append(clip(goal.evidence, 160))
    if goal.status == "superseded":
        replacements = goal.steering.get("replacementGoalIds")
        notes.append(f"replaced by {', '.join(replacements)}" if replacements else "nothing took its place")
    if blockers:
        notes.append(f"blocked by {', '.join(blockers)}")
    return notes


def _changed_evidence(run: PlanRun, receipt: Receipt) -> str:
    """The evidence that a receipt cites and that is not there any more as it was recorded."""
    for name, digest in part(receipt, "artifacts").items():
        if not artifacts.is_unchanged(run.caller.root, str(name), str(digest)):
            return f"its evidence {clip(str(name), 120)} was changed or is gone"
    return ""


@contextmanager
def changing(run: PlanRun) -> Iterator[None]:
    """Hooks are told also after a refusal: a crash may have left the row behind, and damage makes the work wait."""
    try:
        yield
    except OmoError:
        publish_status(run)
        raise


def publish_status(run: PlanRun, *, progressed: bool = False) -> NextStep:
    """Bring the session's row up to the ledger; a receipt gives the budget of blocks back."""
    step = next_step(run)
    if run.problems:
        publish_damage(run)
    elif run.plan is not None and (run.plan.is_open or step.action != "work-there"):
        # In a copy of the project how the plan ended stays as it was told:
        # tests/ultragoal/test_judged.py, test_in_a_copy_of_the_project_an_end_stays_as_it_was_told.
        fresh = summarize(run, run.plan, step)
        publish(run, fresh, session=run.caller.session, progressed=lambda old: progressed)
    return step


def summarize(run: PlanRun, plan: Plan, step: NextStep) -> Summary:
    following = step.short
    if step.action == "execute-goal":  # for Stop, which is short: the goal under way by its name
        following = clip(f"{step.item} {plan.goal(step.item).title}", LONGEST_SHORT)
    summary: Summary = {
        "run": plan.run,
        "open": len(plan.open_goals),
        "total": len(plan.required),
        "next": following,
        "deny": denials(run, plan, step),
    }
    if step.action == "resolve-blockers":  # it is said already that it is blocked
        summary["wayOut"] = f"{CLASSIFY} --goal-id {step.item} --evidence TEXT"
    elif not plan.is_open:
        summary["wayOut"] = ""
    if run.base_settings.attended:
        summary["attended"] = True
    return {**summary, **_state(plan, step)}


def _state(plan: Plan, step: NextStep) -> Summary:
    if plan.outcome is not None and step.action == "done":
        files = plan.files_at_end or {}
        return {"state": "done", "outcome": plan.outcome, "at": plan.ended_at, "files": files}
    if not plan.is_open and step.action in ONE_COMMAND_LEFT:
        return {"state": "active"}
    if not plan.is_open:  # a receipt is missing, or the session's goal is not complete
        return {"state": "done", "outcome": outcome.not_proven(f"{plan.tally}; open is: {step.text}", plan.exceptions)}
    waits: Summary = {"state": "paused", "told": False, "own": True}
    if plan.handoff is not None:
        return {**waits, "why": plan.handoff_in_words, "question": "Go on with planning?"}
    if step.who == "user":  # damage that only they can mend
        question = f"Run in a terminal of your own: {step.commands[0].line}."
        return {**waits, "state": "blocked", "why": step.why, "question": question, "damaged": True}
    if plan.tool.status == "paused":
        return {**waits, "why": plan.tool.why or "the session's goal is paused", "question": TELL}
    if step.action == "wait":
        return {"state": "blocked", "why": step.why, "question": TELL, "told": False}
    return {"state": "active"}


def denials(run: PlanRun, plan: Plan, step: NextStep) -> dict[str, str]:
    """What the gates in the client say, in whole sentences; a gate that is not named here is open."""
    denied = {}
    goal = plan.active or next(iter(plan.open_goals), None)
    if goal is not None:
        classify = f"{CLASSIFY} --goal-id {goal.id} --evidence 'what only they can do'"
        if plan.handoff is None and step.who != "user":
            denied["ask"] = (
                f"Ultragoal {goal.id} is open, so no question is put to the user now. Decide what you can and note it: "
                'omo ultragoal steer --kind annotate_ledger --evidence "what you found" --rationale "what you decided"'
                ". What a review found becomes a goal: omo ultragoal record-review-blockers. What only a person can "
                f"decide is recorded, and the next goal goes on: {classify}."
            )
        if not plan.is_human_blocked:
            denied["pause"] = (
                f"Ultragoal {goal.id} is open, and a pause needs a blocker that only a person can remove, recorded "
                f"just before: {classify}. What you can resolve yourself is resolved: investigate, omo ultragoal steer "
                "--kind add_subgoal, or omo ultragoal checkpoint --status blocked and go on with the next."
            )
    if plan.knows(plan.tool.objective):
        _, missing = receipts.of_session_goal(plan, run.directory)
        if missing:
            denied["complete"] = f"The goal is not proven complete ({'; '.join(missing[:5])}). {step.text}"
    return denied
