"""How a plan ended whose every goal is closed: who found it clean, what is in doubt, what was let through."""

from __future__ import annotations

from omo.text import clip, listed
from omo.work import outcome
from omo.work.outcome import exception
from omo.work.status import NextStep
from omo.workflows.ultragoal import receipts, reviewers
from omo.workflows.ultragoal.plan import Goal, Plan
from omo.workflows.ultragoal.reviewers import ARCHITECT, CLEAN, INDEPENDENT, NOT_REVIEWED, REQUEST
from omo.workflows.ultragoal.run import PlanRun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.rows import LetThrough, Outcome
    from omo.workflows.ultragoal.plan import Receipt, Wording

LONGEST = 120
MOST_NAMED = 10
MOST_TITLES = 4
LONGEST_TITLE = 40


def outcome_of(run: PlanRun, plan: Plan) -> Outcome:
    """Of a plan whose every goal is closed: judged where both reviewers were seen to find each goal clean, and no file
    was changed after the last receipt."""
    titles = listed([f"{goal.id} {clip(goal.title, LONGEST_TITLE)!r}" for goal in plan.required], MOST_TITLES)
    facts = [f"{plan.tally} ({titles})"]
    doubts = [*_request_doubts(run, plan), *doubts_of(plan)]
    if drift := receipts.drift(plan, run.caller.root):
        doubts.append(drift)
    if not doubts:
        facts.append("omo:architect and omo:qa were seen to find each clean")
        facts.append(f"{ARCHITECT} found all of it there that the user asked for with /omo:ultragoal, as they typed it")
    allowed: list[str] = []
    for goal in plan.required:
        allowed += goal.receipt.get("allowed") or []
    return outcome.finished(outcome.JUDGED, facts, doubts, exceptions(plan), dict.fromkeys(allowed))


def unfinished(plan: Plan, step: NextStep) -> Outcome:
    """No goal is open, and the plan is not at its end: a receipt is missing, or the session's goal is not complete."""
    return outcome.not_proven(f"{plan.tally}; open is: {step.text}", exceptions(plan))


def _request_doubts(run: PlanRun, plan: Plan) -> list[str]:
    """A goal may be smaller than what was asked, and nobody has to lie: a note, where a payment API was wanted."""
    if not reviewers.requests_of(run, plan):
        return ["no hook heard the user say what they want, so the goals are the agent's word for it"]
    asked_at = max([plan.created_at, *(str(row["ts"]) for row in reviewers.asked_later(run, plan))])
    no_receipt: Receipt = {}
    issued = [goal.receipt for goal in plan.required if goal.receipt]
    newest = max(issued, key=lambda receipt: str(receipt.get("verifiedAt")), default=no_receipt)
    for review in newest.get("agents") or []:
        if review.get("role") == INDEPENDENT[ARCHITECT] and str(review["at"]) >= asked_at:
            if str(review.get("request")).upper() == CLEAN[REQUEST]:
                return []
    return [f"{ARCHITECT} was not seen to say that all is there that the user asked for"]


def doubts_of(plan: Plan) -> list[str]:
    """Why the clean words of both kinds of reviewer do not cover all that the plan was made for."""
    silent: dict[str, list[str]] = {}  # goals that one of them was not seen to find clean
    doubts = []
    if plan.left_out:
        titles = listed([repr(clip(title, 40)) for title in plan.left_out])
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


def exceptions(plan: Plan) -> list[LetThrough]:
    """What the agent let go of the plan as it was made, what of the evidence it did not run again, and which pins of
    theirs the user let through."""
    let_through = list(plan.exceptions)
    uncleaned = [goal.id for goal in plan.required if goal.receipt.get("cleaned") is False]
    if uncleaned:
        what = f"no cleaner looked at {listed(uncleaned, MOST_NAMED)}"
        let_through.append(exception(what, "agent", "its report belongs to the gate of every goal, and was left out"))
    for goal in plan.goals:
        let_through += exceptions_of(goal)
    return let_through


def exceptions_of(goal: Goal) -> list[LetThrough]:
    let_through = []
    receipt, steering = goal.receipt, goal.steering
    if steering.get("by") == "agent":
        first = steering.get("firstWording")
        rationale = clip(str(steering.get("rationale") or "no reason given"), LONGEST)
        if goal.status == "superseded" and steering.get("noReplacementRequired"):
            let_through.append(exception(f"{goal.id} was dropped: {clip(goal.title, 80)}", "agent", rationale))
        elif goal.is_required and first and first != goal.wording:
            what = f"{goal.id} was reworded: {_wording(first)} became {_wording(goal.wording)}"
            let_through.append(exception(what, "agent", rationale))
    for exempted in receipt.get("exemptions") or []:
        what = f"{goal.id}: {exempted.get('artifact')} was not run again ({exempted.get('reasonCode')})"
        why = f"{str(exempted.get('reason')).rstrip('. ')}, approved by {exempted.get('approvedBy')}"
        let_through.append(exception(what, str(receipt.get("by")), clip(why, LONGEST)))
    return let_through + (receipt.get("letThrough") or [])


def _wording(wording: Wording) -> str:
    return f"{clip(str(wording['title']), 60)!r} ({clip(str(wording['objective']), 80)})"
