"""Goals on their way: handed out, set back, waiting for somebody, and what a review found as goals of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from omo.errors import Refused
from omo.json_text import Json
from omo.proof import artifacts
from omo.work.lifecycle import require_reason
from omo.workflows.ultragoal.brief import require_text, same_words, title_of
from omo.workflows.ultragoal.plan import Goal, Plan, new_ids
from omo.workflows.ultragoal.rows import PlanRow
from omo.workflows.ultragoal.run import PlanRun

MOST_OPEN_BLOCKERS = 3
SAY_WHAT_WAS_SEEN = "say in a few sentences what was seen; keep long output in files and name them"


def hand_out(run: PlanRun, *, retry_failed: bool = False, retry_blocked: bool = False) -> bool:
    """Start the next pending goal, else what the caller asks to be tried again; False where one is under way already,
    or nothing can be started."""

    def decide(plan: Plan) -> tuple[bool, list[PlanRow]]:
        if plan.active is not None:
            return False, []
        events = start_next(plan, retry_failed=retry_failed, retry_blocked=retry_blocked)
        return bool(events), events

    started = run.change_plan(decide)
    if started:
        artifacts.remember(run.caller)
    return started


def start_next(plan: Plan, *, retry_failed: bool = False, retry_blocked: bool = False) -> list[PlanRow]:
    """Return the row that starts the next goal, if one can be started."""
    goal = plan.resolved or plan.first("pending")
    if goal is None and retry_failed:
        goal = plan.first("failed")
    if goal is None and retry_blocked:
        goal = next(iter(plan.to_retry), None)
    if goal is None:
        return []
    return [{"kind": "goal_started", "goalId": goal.id}]


def set_back(run: PlanRun, name: str, status: str, evidence: str, goal_json: object = None) -> bool:
    """Record that a goal failed or is blocked. Return whether that is news to the plan."""
    text = require_text("--evidence", evidence, SAY_WHAT_WAS_SEEN)

    def decide(plan: Plan) -> tuple[bool, list[PlanRow]]:
        goal = plan.goal(name)
        plan.tool.require_same(goal_json)
        if (goal.status, goal.evidence) == (status, text):
            return False, []
        plan.require(name, status)
        return True, [{"kind": "goal_checkpointed", "goalId": name, "status": status, "evidence": text}]

    return run.change_plan(decide)


def classify(run: PlanRun, classification: str, *, evidence: str, goal_id: str | None = None) -> PlanRow:
    """Record who can remove a blocker, and return the row. A pause is allowed while it is the latest and says
    human_blocked; a goal that waits for a person is not begun before they have acted."""
    fix = (
        "omo ultragoal classify-blocker --classification human_blocked|resolvable --evidence "
        '"what is missing, and who can do it"'
    )
    text = require_reason(require_text("--evidence", evidence, fix), "--evidence", fix)
    row: PlanRow = {"kind": "blocker_classified", "classification": classification, "evidence": text}
    if goal_id is not None:
        row["goalId"] = goal_id

    def decide(plan: Plan) -> tuple[None, list[PlanRow]]:
        waiting = plan.open_goals
        set_aside: list[PlanRow] = []
        if goal_id is not None:
            goal = plan.goal(goal_id)
            waiting = [] if goal.is_closed else [goal]
            if classification == "human_blocked" and goal.status in ("pending", "failed"):  # else it is begun next
                set_aside = [{"kind": "goal_checkpointed", "goalId": goal.id, "status": "blocked", "evidence": text}]
        if classification == "human_blocked" and not waiting:
            raise Refused(
                f"{goal_id or 'every goal'} is closed: nobody has to do anything for it",
                fix="name the goal that waits with --goal-id (omo ultragoal status)",
            )
        is_last = all(plan.last.get(key) == row.get(key) for key in ("kind", "classification", "evidence", "goalId"))
        return None, [] if is_last else [*set_aside, row]

    run.change_plan(decide)
    return row


def goals_for(
    goals: Sequence[Goal], known: Sequence[Goal], findings: Sequence[tuple[str, str]], steering: Json
) -> tuple[list[str], list[Json]]:
    """Return the ids of the goals that resolve these findings (title and text), and those of them that are new. One of
    the `known` goals that asks for the same resolves it already."""
    by_words = {same_words(goal.objective): goal.id for goal in known}
    ids: list[str] = []
    new: list[Json] = []
    for title, text in findings:
        name = by_words.get(same_words(text))
        if name is None:
            name = by_words[same_words(text)] = new_ids(goals, len(new) + 1)[-1]
            new.append({"id": name, "title": title, "objective": text, "steering": steering})
        if name not in ids:
            ids.append(name)
    return ids, new


@dataclass(frozen=True)
class Recorded:
    """`goal` resolves the review of `parent`. It was there before if `deduplicated`."""

    parent: Goal
    goal: Goal
    deduplicated: bool


def record_review_blockers(
    run: PlanRun, goal_id: str, *, objective: str, evidence: str, title: str | None, goal_json: object = None
) -> Recorded:
    """Make a goal that resolves what a review found; its parent waits for it. Every refusal comes before the first
    write."""
    fix = (
        f"omo ultragoal record-review-blockers --goal-id {goal_id} "
        '--objective "what has to hold" --evidence "what the review found"'
    )
    review_evidence = require_text("--evidence", evidence, fix)
    finding = require_text("--objective", objective, fix)
    title = title_of(f"Resolve for {goal_id}: {finding}" if title is None else require_text("--title", title, fix))

    def decide(plan: Plan) -> tuple[tuple[str, bool], list[PlanRow]]:
        parent = plan.goal(goal_id)
        plan.tool.require_same(goal_json)
        plan.require(parent.id, "review")
        blockers = plan.open_blockers_of(parent.id)
        steering: Json = {"kind": "review_blocker", "blockedGoalId": parent.id, "evidence": review_evidence}
        (name,), new = goals_for(plan.goals, blockers, [(title, finding)], steering)
        if not new:
            return (name, True), []
        if len(blockers) >= MOST_OPEN_BLOCKERS:
            names = ", ".join(blocker.id for blocker in blockers)
            raise Refused(
                f"{parent.id} has {len(blockers)} open blockers already ({names}), at most {MOST_OPEN_BLOCKERS}",
                fix="close one of them first (omo ultragoal complete-goals), or put the finding into a pending one: "
                "omo ultragoal steer --kind revise_pending_wording",
            )
        row: PlanRow = {"kind": "review_blockers_recorded", "goalId": parent.id, "goals": new}
        return (name, False), [{**row, "evidence": review_evidence, "findings": [finding]}]

    name, deduplicated = run.change_plan(decide)
    plan = run.require_plan()
    return Recorded(plan.goal(goal_id), plan.goal(name), deduplicated)
