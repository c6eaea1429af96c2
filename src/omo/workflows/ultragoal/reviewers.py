"""Which reviewers the host saw finish, the last word of each, and what that makes of the plan's end."""

from __future__ import annotations

from typing import Any

from omo.errors import Unreadable
from omo.state import ledger, paths
from omo.state.runtime import part
from omo.text import clip, counted
from omo.work import agents, outcome
from omo.work.agents import NoAnswer, Review
from omo.work.outcome import exception
from omo.work.run import Caller
from omo.work.status import NextStep
from omo.workflows.ultragoal.plan import Goal, Plan

Row = dict[str, Any]

INDEPENDENT = {"omo:architect": "architect", "omo:qa": "qa"}
# What a clean report says at its end; the last key that is there is its verdict.
CLEAN = {
    "architectureStatus": "CLEAR",
    "productStatus": "CLEAR",
    "codeStatus": "CLEAR",
    "recommendation": "APPROVE",
    "e2eStatus": "passed",
    "redTeamStatus": "passed",
    "status": "passed",
}
SECTIONS = ("architectReview", "executorQa")
OPEN = "open blockers"
MOST_CHANGED = 50  # files in a receipt
LONGEST = 120
MOST_NAMED = 10
MOST_FILES = 3


def reviews_of(caller: Caller, goal: Goal) -> dict[str, Review]:
    """The newest word of each reviewer since the goal began; a damaged session ledger vouches for nobody."""
    row = caller.session_rows.get(caller.session, {})
    path = paths.events_file(caller.state, caller.session)
    try:
        events, problems = ledger.read_marked(path, part(row, "ledger"), f"the row of session {caller.session}")
    except Unreadable:
        return {}
    if problems:
        return {}
    since = goal.started_at or ""
    reported = agents.messages_in([event for event in events if event["ts"] >= since], INDEPENDENT)
    return agents.newest_reviews(caller.root, reported, read_verdict)


def read_verdict(text: str) -> tuple[str, bool]:
    """The verdict in the last report of a message, also where that is inside its section of a gate."""
    reports = agents.objects(text)
    if not reports:
        raise NoAnswer("no report")
    report = reports[-1]
    for section in SECTIONS:
        if isinstance(report.get(section), dict):
            report = report[section]
    verdicts = {key: report[key] for key in CLEAN if isinstance(report.get(key), str)}
    if not verdicts:
        raise NoAnswer("no verdict")
    for key, verdict in verdicts.items():
        if verdict.strip().lower() != CLEAN[key].lower():
            return clip(verdict, 40), False
    if report.get("blockers"):
        return OPEN, False
    return clip(list(verdicts.values())[-1], 40), True


def render(reviews: dict[str, Review]) -> list[Row]:
    """What a receipt keeps of them: who, when, which row of the session's ledger, and what changed since."""
    rendered = []
    for agent, review in reviews.items():
        message = review.message
        row: Row = {"role": INDEPENDENT[agent], "at": message.ts, "row": message.seq, "digest": message.digest}
        if review.verdict:
            row |= {"verdict": review.verdict, "clean": review.is_clean}
        row["changed"] = None if review.changed is None else review.changed[:MOST_CHANGED]
        rendered.append(row)
    return rendered


def outcome_of(plan: Plan) -> Row:
    """Of a plan whose every goal is closed: judged where both reviewers were seen to find each goal clean."""
    if doubts := _doubts(plan):
        return outcome.outcome(outcome.ATTESTED, "; ".join([plan.tally, *doubts]), exceptions(plan))
    why = f"{plan.tally}; omo:architect and omo:qa were seen to find each clean"
    return outcome.outcome(outcome.JUDGED, why, exceptions(plan))


def unfinished(plan: Plan, step: NextStep) -> Row:
    """No goal is open, and the plan is not at its end: a receipt is missing, or the session's goal is not complete."""
    return outcome.outcome(outcome.ENDED, f"{plan.tally}; open is: {step.text}", exceptions(plan))


def _doubts(plan: Plan) -> list[str]:
    """Why the clean words of both kinds of reviewer do not cover every goal that counts."""
    silent: dict[str, list[str]] = {}  # who was not seen to give a verdict of which goals
    named: dict[tuple[str, object], list[str]] = {}  # goals that one message would have to be about
    doubts = []
    for goal in plan.required:
        last = {str(review["role"]): review for review in (goal.receipt or {}).get("agents") or []}
        for agent, role in INDEPENDENT.items():
            word = last.get(role, {})
            if "clean" not in word:
                silent.setdefault(agent, []).append(goal.id)
            if not word.get("clean"):
                continue
            named.setdefault((agent, word.get("row")), []).append(goal.id)
            changed = word.get("changed")
            if changed is None:
                doubts.append(f"on which files {agent} found {goal.id} clean is not known")
            elif changed:
                files = ", ".join(clip(path, 60) for path in changed[:MOST_FILES])
                doubts.append(f"{agent} found {goal.id} clean before a change of {files}")
    silent_of: dict[str, list[str]] = {}
    for agent, goals in silent.items():
        silent_of.setdefault(", ".join(goals[:MOST_NAMED]), []).append(agent)
    for goal_names, unseen in reversed(silent_of.items()):
        who = " or ".join(unseen)
        doubts.insert(0, f"reduced independence, no verdict of {who} was seen for {goal_names}")
    for (agent, _), goals in named.items():
        if len(goals) > 1:  # one message was said of one of them at most
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
    for handed in plan.handoffs:
        if handed["by"] == "agent":
            what = f"the plan was handed off with {counted(handed['open'], 'open goal')}"
            let_through.append(exception(what, "agent", "and then taken up again"))
    for goal in plan.goals:
        if plan.steered_by.get(goal.id) == "agent":
            let_through += _steered(goal)
        receipt = goal.receipt or {}
        for exempted in receipt.get("exemptions") or []:
            what = f"{goal.id}: {exempted.get('artifact')} was not run again"
            why = f"{exempted.get('reason')}, approved by {exempted.get('approvedBy')}"
            let_through.append(exception(what, str(receipt.get("by")), clip(why, LONGEST)))
    return let_through


def _steered(goal: Goal) -> list[Row]:
    steering = goal.steering or {}
    first = part(steering, "firstWording")
    rationale = clip(str(steering.get("rationale") or "no reason given"), LONGEST)
    if goal.status == "superseded" and steering.get("noReplacementRequired"):
        return [exception(f"{goal.id} was dropped: {clip(goal.title, 80)}", "agent", rationale)]
    if goal.status == "superseded" and steering.get("supersededBy"):
        what = f"{goal.id} was closed with nothing shown for it: {clip(goal.title, 80)}"
        return [exception(what, "agent", f"{steering['supersededBy']} resolved what its review had found")]
    if goal.is_required and first:
        what = f"{goal.id} was reworded: {_wording(first)} became {_wording(vars(goal))}"
        return [exception(what, "agent", rationale)]
    return []


def _wording(goal: Row) -> str:
    return f"{clip(str(goal.get('title')), 60)!r} ({clip(str(goal.get('objective')), 80)})"
