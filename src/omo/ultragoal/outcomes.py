"""How a plan of goals ended: its outcome, decided from what its ledger has of it."""

from __future__ import annotations

from typing import Any

from omo.shown import clip, counted
from omo.state.runtime import part
from omo.ultragoal.next_step import Step
from omo.ultragoal.plan import Goal, Plan
from omo.ultragoal.reviewers import INDEPENDENT
from omo.ultragoal.tally import tally
from omo.work import outcome
from omo.work.outcome import exception

Row = dict[str, Any]

LONGEST = 120
MOST_NAMED = 10
MOST_FILES = 3


def outcome_of(plan: Plan) -> Row:
    """Of a plan whose every goal is closed."""
    doubts = [*_contradictions(plan), *_unseen(plan), *_outdated(plan), *_shared(plan)]
    if doubts:
        why = "; ".join([tally(plan), *doubts])
        return outcome.outcome(outcome.ATTESTED, why, exceptions(plan))
    why = f"{tally(plan)}; omo:architect and omo:qa were seen to find each clean"
    return outcome.outcome(outcome.JUDGED, why, exceptions(plan))


def unfinished(plan: Plan, step: Step) -> Row:
    """No goal is open, and the plan is not at its end: a receipt is missing, or the session's goal is not complete."""
    return outcome.outcome(outcome.ENDED, f"{tally(plan)}; open is: {step.text}", exceptions(plan))


def _last_words(goal: Goal) -> dict[str, Row]:
    """Of each kind of reviewer that a hook saw, what it said last."""
    agents = (goal.receipt or {}).get("agents") or []
    return {str(agent["role"]): agent for agent in agents}


def _contradictions(plan: Plan) -> list[str]:
    """What a reviewer was seen to say against a goal that was closed all the same."""
    found = []
    for goal in plan.required:
        last = _last_words(goal)
        for agent, role in INDEPENDENT.items():
            said = last.get(role, {})
            if said.get("clean") is False:
                found.append(f"{agent} was seen to say {said.get('verdict')} of {goal.id}")
    return found


def _unseen(plan: Plan) -> list[str]:
    """Who was not seen to say anything of which goals that could be read as a verdict."""
    silent: dict[str, list[str]] = {}
    for agent, role in INDEPENDENT.items():
        missing = [goal.id for goal in plan.required if "clean" not in _last_words(goal).get(role, {})]
        if missing:
            silent.setdefault(", ".join(missing[:MOST_NAMED]), []).append(agent)
    return [
        f"reduced independence, no verdict of {' or '.join(agents)} was seen for {goals}"
        for goals, agents in silent.items()
    ]


def _outdated(plan: Plan) -> list[str]:
    """A clean word about other files than those the goal was closed on."""
    doubts = []
    for goal in plan.required:
        last = _last_words(goal)
        for agent, role in INDEPENDENT.items():
            word = last.get(role, {})
            if not word.get("clean"):
                continue
            changed = word.get("changed")
            if changed is None:
                doubts.append(f"on which files {agent} found {goal.id} clean is not known")
            elif changed:
                named = ", ".join(clip(path, 60) for path in changed[:MOST_FILES])
                doubts.append(f"{agent} found {goal.id} clean before a change of {named}")
    return doubts


def _shared(plan: Plan) -> list[str]:
    """One word for several goals was said of one of them at most."""
    goals_of: dict[tuple[str, object], list[str]] = {}
    for goal in plan.required:
        last = _last_words(goal)
        for agent, role in INDEPENDENT.items():
            if last.get(role, {}).get("clean"):
                goals_of.setdefault((agent, last[role].get("row")), []).append(goal.id)
    doubts = []
    for (agent, _), goals in goals_of.items():
        if len(goals) > 1:
            doubts.append(f"{agent} was seen once for {', '.join(goals[:MOST_NAMED])}")
    return doubts


def exceptions(plan: Plan) -> list[Row]:
    """What the agent let go of the plan as it was made, and what of the evidence it did not run again."""
    let_through = []
    for replaced in plan.replaced:
        if replaced.get("by") == "agent":
            left = counted(int(replaced.get("open") or 0), "open goal")
            what = f"plan {replaced.get('run') or 'before'} was given up with {left}"
            let_through.append(exception(what, "agent", replaced.get("trouble") or "another was made in its place"))
    for goal in plan.goals:
        if plan.steered_by.get(goal.id) == "agent":
            let_through += _steered(goal)
        for exempted in (goal.receipt or {}).get("exemptions") or []:
            what = f"{goal.id}: {exempted.get('artifact')} was not run again"
            why = f"{exempted.get('reason')}, approved by {exempted.get('approvedBy')}"
            let_through.append(exception(what, str((goal.receipt or {}).get("by")), clip(why, LONGEST)))
    return let_through


def _steered(goal: Goal) -> list[Row]:
    steering = goal.steering or {}
    first = part(steering, "firstWording")
    if goal.status == "superseded" and steering.get("noReplacementRequired"):
        return [exception(f"{goal.id} was dropped: {clip(goal.title, 80)}", "agent", _rationale(steering))]
    if goal.status == "superseded" and steering.get("supersededBy"):
        what = f"{goal.id} was closed with nothing shown for it: {clip(goal.title, 80)}"
        return [exception(what, "agent", f"{steering['supersededBy']} resolved what its review had found")]
    if goal.is_required and first:
        what = f"{goal.id} was reworded: {_wording(first)} became {_wording(vars(goal))}"
        return [exception(what, "agent", _rationale(steering))]
    return []


def _wording(goal: Row) -> str:
    return f"{clip(str(goal.get('title')), 60)!r} ({clip(str(goal.get('objective')), 80)})"


def _rationale(steering: Row) -> str:
    return clip(str(steering.get("rationale") or "no reason given"), LONGEST)
