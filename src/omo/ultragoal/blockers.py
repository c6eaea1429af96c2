"""What stands in a goal's way: who can remove it, and the goals that resolve what a review found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from omo.errors import BadInput, Refused
from omo.ultragoal import snapshots
from omo.ultragoal.brief import MOST_GOALS, title_of
from omo.ultragoal.given import same_words, text_defects
from omo.ultragoal.plan import Goal, Plan
from omo.ultragoal.run import Run
from omo.ultragoal.steering import wording_defects
from omo.ultragoal.transitions import move

Row = dict[str, Any]

CLASSIFICATIONS = ("human_blocked", "resolvable")
SHORTEST_EVIDENCE = 10
MOST_OPEN = 3


@dataclass(frozen=True)
class Recorded:
    """`goal` resolves the review of `parent`. It was there before where `deduplicated`."""

    parent: Goal
    goal: Goal
    deduplicated: bool


def classify(run: Run, classification: str, *, evidence: str | None, goal_id: str | None = None) -> Row:
    """The row. Nothing of the plan changes by it; a pause is allowed while it is the latest and says human_blocked."""
    found = text_defects("--evidence", evidence, shortest=SHORTEST_EVIDENCE)
    if classification not in CLASSIFICATIONS:
        found.insert(0, f"--classification {classification!r} is none of {', '.join(CLASSIFICATIONS)}")
    if found:
        raise BadInput(
            found[0],
            fix="omo ultragoal classify-blocker --classification human_blocked|resolvable --evidence "
            '"what is missing, and who can do it"',
            defects=found,
        )
    row: Row = {"kind": "blocker_classified", "classification": classification, "evidence": str(evidence).strip()}
    if goal_id is not None:
        row["goalId"] = goal_id

    def decide(plan: Plan) -> tuple[None, list[Row]]:
        if goal_id is not None:
            plan.goal(goal_id)
        if classification == "human_blocked":
            _require_open(plan, goal_id)
        return None, [] if _is_last(plan, row) else [row]

    run.change(decide)
    return row


def _is_last(plan: Plan, row: Row) -> bool:
    keys = ("kind", "classification", "evidence", "goalId")
    return all(plan.last.get(key) == row.get(key) for key in keys)


def _require_open(plan: Plan, goal_id: str | None) -> None:
    """A goal that is closed waits for nobody, so it is no reason to pause."""
    waiting = plan.open_goals if goal_id is None else [goal for goal in plan.open_goals if goal.id == goal_id]
    if not waiting:
        raise Refused(
            f"{goal_id or 'every goal'} is closed: nobody has to do anything for it",
            fix="name the goal that waits with --goal-id (omo ultragoal status)",
        )


def record_review_blockers(
    run: Run, goal_id: str, *, objective: str | None, evidence: str | None, title: str | None, goal_json: object = None
) -> Recorded:
    """A goal that resolves what a review found; its parent waits for it. Every refusal comes before the first write."""
    found = text_defects("--evidence", evidence)
    found += ["--objective is missing"] if objective is None else []
    found += wording_defects(title, objective)
    if found:
        raise BadInput(
            found[0],
            fix=f"omo ultragoal record-review-blockers --goal-id {goal_id} "
            '--objective "what has to hold" --evidence "what the review found"',
            defects=found,
        )

    def decide(plan: Plan) -> tuple[tuple[str, bool], list[Row]]:
        parent = plan.goal(goal_id)
        if goal_json is not None:
            snapshots.check(run, plan, parent, goal_json, status="review_blocked")
        move(parent, "review", active=plan.active)
        if known := _open_twin(plan, parent, str(objective)):
            return (known.id, True), []
        _require_room(plan, parent)
        name = plan.new_ids(1)[0]
        return (name, False), [_row(parent, name, title, str(objective).strip(), str(evidence).strip())]

    name, deduplicated = run.change(decide)
    plan = run.require_plan()
    return Recorded(plan.goal(goal_id), plan.goal(name), deduplicated)


def _open_twin(plan: Plan, parent: Goal, objective: str) -> Goal | None:
    wanted = same_words(objective)
    return next((one for one in plan.open_blockers_of(parent.id) if same_words(one.objective) == wanted), None)


def _require_room(plan: Plan, parent: Goal) -> None:
    there = plan.open_blockers_of(parent.id)
    if len(there) >= MOST_OPEN:
        names = ", ".join(one.id for one in there)
        raise Refused(
            f"{parent.id} has {len(there)} open blockers already ({names}), at most {MOST_OPEN}",
            fix="close one of them first (omo ultragoal complete-goals), or put the finding into a pending one: "
            "omo ultragoal steer --kind revise_pending_wording",
        )
    if len(plan.goals) >= MOST_GOALS:
        raise Refused(
            f"the plan has {len(plan.goals)} goals, which is as many as it can hold",
            fix=f"omo ultragoal checkpoint --goal-id {parent.id} --status failed --evidence TEXT, and mend it there",
        )


def _row(parent: Goal, name: str, title: str | None, objective: str, evidence: str) -> Row:
    steering = {"kind": "review_blocker", "blockedGoalId": parent.id, "evidence": evidence}
    shown = " ".join(title.split()) if title else title_of(f"Resolve for {parent.id}: {objective}")
    return {
        "kind": "review_blockers_recorded",
        "goalId": parent.id,
        "blockerGoalIds": [name],
        "goals": [{"id": name, "title": shown, "objective": objective, "steering": steering}],
        "evidence": evidence,
        "findings": [objective],
    }
