"""How a goal ended: its outcome, decided from what was recorded of it."""

from __future__ import annotations

import os

from omo.evidence import base, pins, seals
from omo.evidence.checks import CommandCheck, MetricCheck, digest_of_check, ids_of
from omo.evidence.evaluate import Verdict
from omo.shown import clip, counted
from omo.ultrawork.gates import is_newer
from omo.verify import claims
from omo.verify.decision import Decision
from omo.verify.goal_checks import FOR_JUDGEMENT, checks_of, escalates, programs_of
from omo.verify.goals import Goal, Place, Row
from omo.work import outcome

LONGEST = 160
LEG = "agent-leg-complete"


def outcome_of(place: Place, goal: Goal, verdict: Verdict, decision: Decision) -> Row | None:
    """None while the goal goes on: it failed, or something is still owed."""
    if decision.to in ("expired", LEG):
        return outcome.outcome(outcome.ENDED, f"goal {goal.id}: {decision.reason}", _exceptions(place, goal))
    if decision.verdict != "pass":
        return None
    by_code = [one for one in verdict.checks if one.type not in FOR_JUDGEMENT]
    on_word = _on_the_agents_word(goal)
    parts = []
    if by_code:
        verb = "passes" if len(verdict.checks) == 1 else "pass"
        parts.append(f"{len(by_code)} of {counted(len(verdict.checks), 'check')} {verb}")
    if goal.state == LEG:
        parts.append("the user closed their leg")
    parts += on_word
    red = "" if on_word or goal.state == LEG else _users_red(place, goal, verdict)
    doubts = _doubts_of_commands(place, goal) if red else []
    if red:
        parts.append(f"{red} is the user's, and failed when the goal was begun")
    elif not on_word:
        parts.append("no check of the user's was seen to fail before")
    parts += doubts
    reached = outcome.PROVEN if red and not doubts else outcome.ATTESTED
    return outcome.outcome(reached, f"goal {goal.id}: {'; '.join(parts)}", _exceptions(place, goal))


def _on_the_agents_word(goal: Goal) -> list[str]:
    """What no check by code has shown of the goal."""
    words = []
    if escalates(checks_of(goal)):
        words.append("closed on the agent's own answers")
    elif goal.spec.verification.outcomes:
        words.append(f"{counted(len(goal.spec.verification.outcomes), 'outcome')} in words not looked at")
    if goal.spec.hypothesis is not None:
        words.append("how the hypothesis came out is the agent's word")
    if goal.spec.guard:
        words.append("a guard, which may have held before as well")
    return words


def _users_red(place: Place, goal: Goal, verdict: Verdict) -> str:
    """A check of the user's that failed when the goal was begun, and passes now; empty where none did."""
    if goal.by != "user":
        return ""
    pinned = pins.pinned(place.state)
    passing = {one.id for one in verdict.checks if one.result == "pass"}
    checks = checks_of(goal)
    failed = _failed_at_begin(place, goal)
    for name, check in zip(ids_of(checks), checks, strict=True):
        is_users = pinned.by(digest_of_check(check), goal.id) == "user"
        if is_users and name in passing and name in failed:
            return name
    return ""


def _failed_at_begin(place: Place, goal: Goal) -> set[str]:
    """The checks that failed the first time code looked at them after the goal was begun with this contract."""
    is_begun = False
    for row in place.journal.rows():
        if row.get("goal") != goal.id:
            continue
        if row.get("kind") == "begun":
            is_begun = True
        if is_begun and row.get("kind") == "checks-evaluated" and row.get("contract") == goal.spec.contract:
            return {str(check["id"]) for check in row["checks"] if check["result"] == "fail"}
    return set()


def _doubts_of_commands(place: Place, goal: Goal) -> list[str]:
    """Why a command that failed and passes need not mean that the work was done."""
    commands = [check for check in checks_of(goal) if isinstance(check, (CommandCheck, MetricCheck))]
    doubts = seals.doubts_of(place.root, goal.base, commands)
    if commands and goal.base and goal.base["home"] != base.home_of(os.environ):
        doubts.append("the commands ran with another HOME than when it was filed")
    for name, program in programs_of(place, checks_of(goal)).items():
        if program and program != goal.programs.get(name) and is_newer(program, goal.filed_at):
            doubts.append(f"{name} ran {clip(program, 120)}, which is newer than the goal")
    return doubts


def _exceptions(place: Place, goal: Goal) -> list[Row]:
    """Claims that stand against what code saw, and a question that was let pass without its answer."""
    looked = claims.recorded(place.state, goal=goal.id)
    let_through = []
    for row in looked:
        if row.get("override"):
            against = "what code saw" if row["verdict"] == "fail" else "a look that showed nothing"
            what = f"goal {goal.id}: a claim stands against {against}: {clip(row['claim'], LONGEST)}"
            let_through.append(outcome.exception(what, str(row["actor"]), clip(row["override"], LONGEST)))
    last = looked[-1] if looked else {}
    if last.get("verdict") == "fail" and not last.get("override"):
        what = f"goal {goal.id}: the last claim about it does not hold: {clip(last['claim'], LONGEST)}"
        let_through.append(outcome.exception(what, str(last["actor"]), "it was finished all the same"))
    for answer in goal.answers.values():
        if answer.result == "gap":
            what = f"goal {goal.id}: {answer.question} was let pass without an answer"
            let_through.append(outcome.exception(what, "agent", "it named no way in which the work could look done"))
    return let_through
