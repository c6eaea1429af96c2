"""How a goal ended: its outcome, decided from what was recorded of it."""

from __future__ import annotations

import os

from omo.proof import base, pins, seals
from omo.proof.checks import CommandCheck, MetricCheck, digest_of_check, ids_of
from omo.proof.evaluate import Verdict
from omo.text import clip, counted
from omo.work import outcome
from omo.workflows.ultrawork.gates import is_newer
from omo.workflows.verify import claims
from omo.workflows.verify.goal_checks import checks_of, programs_of
from omo.workflows.verify.goals import FOR_JUDGEMENT, Goal, GoalStore, Row, Spec

LONGEST = 160
LEG = "agent-leg-complete"


def outcome_of(store: GoalStore, goal: Goal, verdict: Verdict, *, passed: bool, to: str, reason: str) -> Row | None:
    """None while the goal goes on: it failed, or something is still owed."""
    exceptions = _exceptions(store, goal)
    if to in ("expired", LEG):
        return outcome.outcome(outcome.ENDED, f"goal {goal.id}: {reason}", exceptions)
    if not passed:
        return None
    facts = []
    by_code = [check for check in verdict.checks if check.type not in FOR_JUDGEMENT]
    if by_code:
        verb = "passes" if len(verdict.checks) == 1 else "pass"
        facts.append(f"{len(by_code)} of {counted(len(verdict.checks), 'check')} {verb}")
    if goal.state == LEG:
        facts.append("the user closed their leg")
    on_word = _on_the_agents_word(goal.spec)
    facts += on_word
    red = ""
    doubts: list[str] = []
    if not on_word and goal.state != LEG:
        red = _users_red(store, goal, verdict)
    if red:
        facts.append(f"{red} is the user's, and failed when the goal was begun")
        doubts, allowed = _doubts_of_commands(store, goal)
        facts += allowed
    elif not on_word:
        facts.append("no check of the user's was seen to fail before")
    is_proven = bool(red) and not doubts
    reached = outcome.PROVEN if is_proven else outcome.ATTESTED
    return outcome.outcome(reached, f"goal {goal.id}: {'; '.join([*facts, *doubts])}", exceptions)


def _on_the_agents_word(spec: Spec) -> list[str]:
    """What no check by code has shown of the goal."""
    facts = []
    if spec.asks_questions:
        facts.append("closed on the agent's own answers")
    elif spec.outcomes:
        facts.append(f"{counted(len(spec.outcomes), 'outcome')} in words not looked at")
    if spec.hypothesis:
        facts.append("how the hypothesis came out is the agent's word")
    if spec.guard:
        facts.append("a guard, which may have held before as well")
    return facts


def _users_red(store: GoalStore, goal: Goal, verdict: Verdict) -> str:
    """A check of the user's that failed when the goal was begun, and passes now; empty where none did."""
    if goal.by != "user":
        return ""
    pinned = pins.pinned(store.caller.state)
    passing = {check.id for check in verdict.checks if check.result == "pass"}
    failed = _failed_at_begin(store, goal)
    checks = checks_of(goal.spec)
    for name, check in zip(ids_of(checks), checks, strict=True):
        is_users = pinned.by(digest_of_check(check), goal.id) == "user"
        if is_users and name in passing and name in failed:
            return name
    return ""


def _failed_at_begin(store: GoalStore, goal: Goal) -> set[str]:
    """The checks that failed the first time code looked at them after the goal was begun with this contract."""
    is_begun = False
    for row in store.rows:
        if row.get("goal") != goal.id:
            continue
        if row.get("kind") == "begun":
            is_begun = True
        if is_begun and row.get("kind") == "checks-evaluated" and row.get("contract") == goal.spec.contract:
            return {str(check["id"]) for check in row["checks"] if check["result"] == "fail"}
    return set()


def _doubts_of_commands(store: GoalStore, goal: Goal) -> tuple[list[str], list[str]]:
    """Why a command that failed and passes need not mean that the work was done, and what the user allowed."""
    root = store.caller.root
    commands = [check for check in checks_of(goal.spec) if isinstance(check, (CommandCheck, MetricCheck))]
    examined = seals.examine(root, goal.base, commands, terms=seals.terms_of(store.caller.state, store.caller.session))
    doubts = examined.doubts
    if commands and goal.base and goal.base["home"] != base.home_of(os.environ):
        doubts.append("the commands ran with another HOME than when it was filed")
    for name, program in programs_of(root, goal.spec).items():
        if program and program != goal.programs.get(name) and is_newer(program, goal.filed_at):
            doubts.append(f"{name} ran {clip(program, 120)}, which is newer than the goal")
    return doubts, examined.notes


def _exceptions(store: GoalStore, goal: Goal) -> list[Row]:
    """Claims that stand against what code saw, and a question that was let pass without its answer."""
    filed = claims.recorded(store.caller.state, goal=goal.id)
    let_through = []
    for row in filed:
        if row.get("override"):
            against = "what code saw" if row["verdict"] == "fail" else "a look that showed nothing"
            what = f"goal {goal.id}: a claim stands against {against}: {clip(row['claim'], LONGEST)}"
            let_through.append(outcome.exception(what, str(row["actor"]), clip(row["override"], LONGEST)))
    last = filed[-1] if filed else {}
    if last.get("verdict") == "fail" and not last.get("override"):
        what = f"goal {goal.id}: the last claim about it does not hold: {clip(last['claim'], LONGEST)}"
        let_through.append(outcome.exception(what, str(last["actor"]), "it was finished all the same"))
    for answer in goal.answers.values():
        if answer.result == "gap":
            what = f"goal {goal.id}: {answer.question} was let pass without an answer"
            let_through.append(outcome.exception(what, "agent", "it named no way in which the work could look done"))
    return let_through
