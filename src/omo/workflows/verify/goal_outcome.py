"""How a goal ended: its outcome, decided from what was recorded of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from omo.clock import seconds
from omo.proof import base, pins
from omo.proof.checks import CommandCheck, MetricCheck, digest_of_check, ids_of
from omo.proof.evaluate import Verdict
from omo.proof.gate_runs import Subject
from omo.text import clip, counted
from omo.work import claims, outcome, proving
from omo.work.judge import JUDGE
from omo.workflows.ultrawork.gates import fold, is_newer
from omo.workflows.ultrawork.pins import Held
from omo.workflows.verify.begin import checks_of, programs_of
from omo.workflows.verify.goals import FOR_JUDGEMENT, Goal, GoalStore, Row
from omo.workflows.verify.steps import Judgement

LONGEST = 160
LEG = "agent-leg-complete"
NO_BASE: Row = {"head": None, "files": {}, "unknown": "no base was recorded for this goal"}


@dataclass(frozen=True)
class Decision:
    """What follows from what was seen. `to` is the goal's next state; an unknown verdict leaves it where it is."""

    verdict: str
    reason: str
    to: str = "in-progress"
    gaps: Sequence[str] = ()
    notes: Sequence[str] = ()

    @property
    def is_pass(self) -> bool:
        return self.verdict == "pass"


def outcome_of(
    store: GoalStore,
    goal: Goal,
    verdict: Verdict,
    decision: Decision,
    judgement: Judgement | None,
    summary: str,
    unseen: Sequence[str],
    held: Held,
) -> Row | None:
    """None while the goal goes on: it failed, or something is still owed. `unseen` are commands its summary cites."""
    exceptions = [*_exceptions(store, goal, judgement, summary), *held.exceptions]
    if decision.to in ("expired", LEG):
        return outcome.outcome(outcome.ENDED, f"goal {goal.id}: {decision.reason}", exceptions)
    if not decision.is_pass:
        return None
    facts = []
    by_code = [check for check in verdict.checks if check.type not in FOR_JUDGEMENT]
    if by_code:
        verb = "passes" if len(verdict.checks) == 1 else "pass"
        facts.append(f"{len(by_code)} of {counted(len(verdict.checks), 'check')} {verb}")
    reached = outcome.PROVEN
    if judgement is not None and judgement.state == "done":
        facts.append(f"{JUDGE} was seen to answer {counted(len(goal.spec.in_words), 'question')} with pass")
        reached = outcome.JUDGED
        if goal.by != "user":
            facts.append("the agent wrote them itself")
            reached = outcome.ATTESTED
    on_word = _on_the_agents_word(goal, judgement)
    doubts = list(held.not_yet)
    if goal.state == LEG:
        on_word = ["the user closed their leg", *on_word]
    elif not on_word and by_code:
        subject = proving.subject_of(
            store.caller, goal.base or NO_BASE, fold(store.caller.events, None).allowed_changes
        )
        doubts += _other_programs(store, goal)
        if reached == outcome.JUDGED:
            doubts += proving.doubts(subject, _commands(goal))
            facts += proving.allowed_notes(subject)
        elif reached == outcome.PROVEN and not doubts:
            shown = _shown(store, goal, subject, held)
            facts += [shown.proof] if shown.proof else []
            on_word += shown.reasons
    cited = list(unseen)
    for answer in goal.answers.values():
        cited += answer.unseen
    if cited:
        doubts.append(f"cited and not looked at: {clip(', '.join(dict.fromkeys(cited)), LONGEST)}")
    if on_word or doubts:
        reached = outcome.ATTESTED
    return outcome.outcome(reached, f"goal {goal.id}: {'; '.join([*facts, *on_word, *doubts])}", exceptions)


def _on_the_agents_word(goal: Goal, judgement: Judgement | None) -> list[str]:
    """What neither a check by code nor a judge has shown of the goal."""
    facts = []
    if judgement is None or judgement.state != "done":
        if goal.spec.asks_questions:
            facts.append("closed on the agent's own answers")
        elif goal.spec.outcomes:
            facts.append(f"{counted(len(goal.spec.outcomes), 'outcome')} closed on the agent's own answers")
        if judgement is not None:
            facts.append(f"{JUDGE} was asked, and did not settle it ({judgement.state})")
    if goal.spec.hypothesis:
        facts.append("how the hypothesis came out is the agent's word")
    if goal.spec.guard:
        facts.append("a guard, which may have held before as well")
    return facts


def _commands(goal: Goal) -> list[CommandCheck | MetricCheck]:
    return [check for check in checks_of(goal.spec) if isinstance(check, (CommandCheck, MetricCheck))]


def _shown(store: GoalStore, goal: Goal, subject: Subject, held: Held) -> proving.Shown:
    pinned = pins.pinned(store.caller.state)
    checks = checks_of(goal.spec)
    named = []
    for name, check in zip(ids_of(checks), checks, strict=True):
        is_users = goal.by == "user" and pinned.of(digest_of_check(check), goal.id).by == "user"
        named.append((name, check, is_users))
    return proving.shown_by_checks(subject, named, held.passing)


def _other_programs(store: GoalStore, goal: Goal) -> list[str]:
    """What the commands ran with, where that was not there when the goal was filed."""
    root = store.caller.root
    doubts = []
    if _commands(goal) and goal.base and goal.base["home"] != base.home_of(os.environ):
        doubts.append("the commands ran with another HOME than when it was filed")
    for name, program in programs_of(root, goal.spec).items():
        if program and program != goal.programs.get(name) and is_newer(program, goal.filed_at):
            doubts.append(f"{name} ran {clip(program, 120)}, which is newer than the goal")
    return doubts


def _exceptions(store: GoalStore, goal: Goal, judgement: Judgement | None, summary: str) -> list[Row]:
    """Claims that stand against what code saw, what a judge found broken, a question let pass without its answer."""
    filed = claims.recorded(store.caller.state, goal=goal.id)
    handed_on = [*_said(goal), summary]
    let_through = []
    for row in store.rows:
        if row.get("kind") == "repaired" and seconds(row["ts"]) >= goal.filed_at:
            let_through.append(outcome.repaired(row))
    for row in filed:
        # What was restated since is said by nobody any more.
        if row.get("override") and any(claims.is_about(row, text) for text in handed_on):
            against = "what code saw" if row["verdict"] == "fail" else "a look that showed nothing"
            what = f"goal {goal.id}: a claim stands against {against}: {clip(row['claim'], LONGEST)}"
            let_through.append(outcome.exception(what, str(row["actor"]), clip(row["override"], LONGEST)))
    last = filed[-1] if filed else {}
    is_restated = any(answer.ts >= last.get("ts", "") for answer in goal.answers.values())
    if last.get("verdict") == "fail" and not last.get("override") and not is_restated:
        what = f"goal {goal.id}: the last claim about it does not hold: {clip(last['claim'], LONGEST)}"
        let_through.append(outcome.exception(what, str(last["actor"]), "it was finished all the same"))
    if judgement is not None and judgement.found_broken:
        what = f"goal {goal.id}: {JUDGE} found that it does not hold: {clip(judgement.found_broken[0], LONGEST)}"
        let_through.append(outcome.exception(what, "agent", "the files were changed, and no judge saw them since"))
    for answer in goal.answers.values():
        if answer.result == "gap":
            what = f"goal {goal.id}: {answer.question} was let pass without an answer"
            let_through.append(outcome.exception(what, "agent", "it named no way in which the work could look done"))
    return let_through


def _said(goal: Goal) -> list[str]:
    """Every text of the answers that count."""
    texts = []
    for answer in goal.answers.values():
        shown = answer.said.get("outcomes", [])
        for said in [answer.said, *shown]:
            texts += [value for value in said.values() if isinstance(value, str)]
    return texts
