"""How a plan ended whose every goal is closed: who found it clean, what is in doubt, what was let through."""

from __future__ import annotations

from omo.state.rows import read_base
from omo.text import clip, listed
from omo.work import damage, outcome, requests, task_documents
from omo.work.bound import files_of_end
from omo.work.files import Files
from omo.work.gates import fold
from omo.workflows.ultragoal import receipts, reviewers
from omo.workflows.ultragoal.plan import MOST_NAMED, NOT_REVIEWED, Plan
from omo.workflows.ultragoal.reviewers import ARCHITECT, CLEAN, INDEPENDENT, REQUEST
from omo.workflows.ultragoal.rows import ENDED
from omo.workflows.ultragoal.run import PlanRun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.rows import Outcome
    from omo.workflows.ultragoal.rows import PlanRow, Receipt

MOST_TITLES = 4
LONGEST_TITLE = 40


def end_of(run: PlanRun, plan: Plan) -> list[PlanRow]:
    """Return the row that says how the plan ended. It is written with what brings the plan to its end: later changes
    are other work."""
    if receipts.missing(plan):
        return []
    files = files_of_end(run.caller.root, run.caller.events)
    return [{"kind": ENDED, "how": "pass", "outcome": outcome_of(run, plan), "files": files}]


def outcome_of(run: PlanRun, plan: Plan) -> Outcome:
    """Return how a plan ended whose every goal is closed: judged if both reviewers were seen to find each goal clean,
    and no file was changed after the last receipt."""
    titles = listed([f"{goal.id} {clip(goal.title, LONGEST_TITLE)!r}" for goal in plan.required], MOST_TITLES)
    facts = [f"{plan.tally} ({titles})"]
    asked = requests.rows_since(run.caller.events, "ultragoal", plan.started_at)
    allowed_changes = fold(run.caller.events, None).allowed_changes
    began = read_base(plan.started.get("files"))
    lost = task_documents.doubts(run.caller.root, asked, allowed_changes, began)
    doubts = [*lost, *_request_doubts(run, plan), *doubts_of(plan)]
    if drift := receipts.drift(plan, Files(run.caller.root)):
        doubts.append(drift)
    if not doubts:
        facts.append("omo:architect and omo:qa were seen to find each clean")
        facts.append(f"{ARCHITECT} found all of it there that the user asked for with /omo:ultragoal, as they typed it")
    lost_rows = damage.exceptions(run.caller, plan.started_at)
    allowed: list[str] = []
    for goal in plan.required:
        allowed += goal.receipt.get("allowed") or []
    return outcome.finished(outcome.JUDGED, facts, doubts, [*plan.exceptions, *lost_rows], dict.fromkeys(allowed))


def _request_doubts(run: PlanRun, plan: Plan) -> list[str]:
    """Say why the user's request may not be met: a goal may be smaller than what was asked, and nobody has to lie, as
    with a note where a payment API was wanted."""
    if not reviewers.requests_of(run, plan):
        return ["no hook heard the user say what they want, so the goals are the agent's word for it"]
    asked_at = max([plan.started_at, *(str(row["ts"]) for row in reviewers.asked_later(run, plan))])
    no_receipt: Receipt = {}
    issued = [goal.receipt for goal in plan.required if goal.receipt]
    newest = max(issued, key=lambda receipt: str(receipt.get("verifiedAt")), default=no_receipt)
    for review in newest.get("agents") or []:
        if review.get("role") == INDEPENDENT[ARCHITECT] and str(review["at"]) >= asked_at:
            if str(review.get("request")).upper() == CLEAN[REQUEST]:
                return []
    return [f"{ARCHITECT} was not seen to say that all is there that the user asked for"]


def doubts_of(plan: Plan) -> list[str]:
    """Say why the clean words of both kinds of reviewer do not cover all that the plan was made for."""
    silent: dict[str, list[str]] = {}  # goals that one of them was not seen to find clean
    doubts = []
    if left_out := plan.created.get("leftOut"):
        titles = listed([repr(clip(title, 40)) for title in left_out])
        doubts.append(f"the user typed {titles}, and no goal of the plan was made with that title")
    for goal in plan.goals:
        steering = goal.steering
        if steering.get("replacementGoalIds") and steering.get("by") == "agent":
            parts = ", ".join(f"{name} {clip(plan.goal(name).title, 40)!r}" for name in steering["replacementGoalIds"])
            doubts.append(f"that {goal.id} {clip(goal.title, 40)!r} is the same as {parts} is the agent's word")
    for goal in plan.required:
        unseen = [agent for agent, role in INDEPENDENT.items() if role not in reviewers.found_clean_by(goal.receipt)]
        if unseen:
            silent.setdefault(" or ".join(unseen), []).append(goal.id)
        doubts += [f"{goal.id}: {reason}" for reason in goal.receipt.get("weakened") or ()]
    for agents_named, goals in silent.items():
        named = listed(goals, MOST_NAMED)
        doubts.insert(0, f"{NOT_REVIEWED}, no clean verdict of {agents_named} on its files was seen for {named}")
    return doubts
