"""Which reviewers the host saw finish, the last word of each, and what that makes of the plan's end."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from omo.errors import Unreadable
from omo.evidence import base
from omo.shown import clip, counted
from omo.state import ledger, paths
from omo.state.runtime import part
from omo.ultragoal.plan import Goal, Plan
from omo.work import outcome
from omo.work.outcome import exception
from omo.work.run import Caller
from omo.work.status import NextStep

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
FENCE = re.compile(r"^[ \t]*```[^\n`]*$", re.M)
MOST_TRIED = 50
MOST_CHANGED = 50  # files in a receipt
LONGEST = 120
MOST_NAMED = 10
MOST_FILES = 3


def finished(caller: Caller, goal: Goal) -> list[Row]:
    """Reviewers that finished since the goal began; a damaged session ledger vouches for nobody.

    With the last of each kind goes which files are others now than when it finished; None where nobody can tell.
    """
    row = caller.session_rows.get(caller.session, {})
    path = paths.events_file(caller.state, caller.session)
    try:
        events, problems = ledger.read_marked(path, part(row, "ledger"), f"the row of session {caller.session}")
    except Unreadable:
        return []
    if problems:
        return []
    since = goal.started_at or ""
    agents: list[Row] = []
    last: dict[str, tuple[Row, Row]] = {}
    for event in events:
        role = INDEPENDENT.get(str(event.get("agentType")))
        if role is None or event.get("kind") != "agent-finished" or event["ts"] < since:
            continue
        agent = {"role": role, "at": event["ts"], "row": event["seq"], "digest": event["digest"], **_verdict(event)}
        agents.append(agent)
        last[role] = agent, event
    for agent, event in last.values():
        changed = base.look(caller.root, event.get("base")).changed
        agent["changed"] = None if changed is None else sorted(changed)
    return agents


def leave_out(agents: Sequence[Row], papers: Sequence[str]) -> None:
    """The gate and what it cites are written after the review that they tell of."""
    for agent in agents:
        if agent.get("changed"):
            changed = [path for path in agent["changed"] if path not in papers]
            agent["changed"] = changed[:MOST_CHANGED]


def independence(agents: Sequence[Row]) -> str:
    """Full where each kind was seen, and none of them said last that it is not clean."""
    roles = {agent["role"] for agent in agents}
    return "full" if roles >= set(INDEPENDENT.values()) and not notes(agents) else "reduced"


def notes(agents: Sequence[Row]) -> list[str]:
    notes = []
    last = {agent["role"]: agent for agent in agents}
    for role, agent in last.items():
        if agent.get("clean") is False:
            notes.append(f"the last word of {role} was {agent['verdict']}, so it does not count as a clean review")
    return notes


def _verdict(event: Row) -> Row:
    """The verdict at the end of its message; nothing where there is none to be read."""
    report = _report(event.get("message"))
    verdicts = {key: report[key] for key in CLEAN if isinstance(report.get(key), str)}
    if not verdicts:
        return {}
    unclean = [verdict for key, verdict in verdicts.items() if verdict.strip().lower() != CLEAN[key].lower()]
    if not unclean and report.get("blockers"):
        unclean = [OPEN]
    shown = unclean[0] if unclean else list(verdicts.values())[-1]
    return {"verdict": clip(shown, 40), "clean": not unclean}


def _report(message: object) -> Row:
    """The last object of a message, in a fenced block or bare at its end; also inside its section of a gate."""
    text = message if isinstance(message, str) else ""
    for piece in _pieces(text):
        try:
            report = json.loads(piece)
        except (ValueError, RecursionError):
            continue
        if isinstance(report, dict):
            for section in SECTIONS:
                if isinstance(report.get(section), dict):
                    return dict(report[section])
            return report
    return {}


def _pieces(text: str) -> list[str]:
    fences = list(FENCE.finditer(text))
    pairs = list(zip(fences[::2], fences[1::2], strict=False))
    fenced = [text[start.end() : end.start()] for start, end in reversed(pairs)]
    openings = [match.start() for match in re.finditer(r"^\{", text, re.M)]
    return [*fenced[:MOST_TRIED], *(text[start:] for start in openings[-MOST_TRIED:])]


def outcome_of(plan: Plan) -> Row:
    """Of a plan whose every goal is closed: judged where both reviewers were seen to find each goal clean."""
    doubts = [*_contradictions(plan), *_silent(plan), *_outdated(plan), *_shared(plan)]
    if doubts:
        return outcome.outcome(outcome.ATTESTED, "; ".join([plan.tally, *doubts]), exceptions(plan))
    why = f"{plan.tally}; omo:architect and omo:qa were seen to find each clean"
    return outcome.outcome(outcome.JUDGED, why, exceptions(plan))


def unfinished(plan: Plan, step: NextStep) -> Row:
    """No goal is open, and the plan is not at its end: a receipt is missing, or the session's goal is not complete."""
    return outcome.outcome(outcome.ENDED, f"{plan.tally}; open is: {step.text}", exceptions(plan))


def _last_words(plan: Plan) -> list[tuple[Goal, str, Row]]:
    """For each goal that counts and each kind of reviewer, what a hook saw it say last of that goal; {} for nothing."""
    words = []
    for goal in plan.required:
        last = {str(agent["role"]): agent for agent in (goal.receipt or {}).get("agents") or []}
        for agent, role in INDEPENDENT.items():
            words.append((goal, agent, last.get(role, {})))
    return words


def _contradictions(plan: Plan) -> list[str]:
    """What a reviewer was seen to say against a goal that was closed all the same."""
    doubts = []
    for goal, agent, word in _last_words(plan):
        if word.get("clean") is False:
            doubts.append(f"{agent} was seen to say {word.get('verdict')} of {goal.id}")
    return doubts


def _silent(plan: Plan) -> list[str]:
    """Who was not seen to say anything of which goals that could be read as a verdict."""
    goals_of: dict[str, list[str]] = {}
    for goal, agent, word in _last_words(plan):
        if "clean" not in word:
            goals_of.setdefault(agent, []).append(goal.id)
    agents_of: dict[str, list[str]] = {}
    for agent, goals in goals_of.items():
        agents_of.setdefault(", ".join(goals[:MOST_NAMED]), []).append(agent)
    doubts = []
    for named, agents in agents_of.items():
        doubts.append(f"reduced independence, no verdict of {' or '.join(agents)} was seen for {named}")
    return doubts


def _outdated(plan: Plan) -> list[str]:
    """A clean word about other files than those the goal was closed on."""
    doubts = []
    for goal, agent, word in _last_words(plan):
        changed = word.get("changed")
        if word.get("clean") and changed is None:
            doubts.append(f"on which files {agent} found {goal.id} clean is not known")
        elif word.get("clean") and changed:
            named = ", ".join(clip(path, 60) for path in changed[:MOST_FILES])
            doubts.append(f"{agent} found {goal.id} clean before a change of {named}")
    return doubts


def _shared(plan: Plan) -> list[str]:
    """One word for several goals was said of one of them at most."""
    goals_of: dict[tuple[str, object], list[str]] = {}
    for goal, agent, word in _last_words(plan):
        if word.get("clean"):
            goals_of.setdefault((agent, word.get("row")), []).append(goal.id)
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
