"""How a goal ended: its outcome, decided from what was recorded of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from omo.clock import seconds, stamp
from omo.proof import pins
from omo.proof.checks import Check, digest_of_check, ids_of
from omo.proof.evaluate import ChecksVerdict
from omo.text import clip, counted
from omo.work import outcome, proving, requests, task_documents, task_items
from omo.work.gates import fold
from omo.work.judge import JUDGE
from omo.work.user_pins import Held
from omo.workflows.verify import claims
from omo.workflows.verify.begin import checks_of, commands_of
from omo.workflows.verify.goals import FOR_JUDGEMENT, Goal, GoalStore
from omo.workflows.verify.steps import GoalJudgement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.rows import Base, LetThrough, Outcome

LONGEST = 160
LEG = "agent-leg-complete"
NO_BASE: Base = {"head": None, "files": {}, "unknown": "no base was recorded for this goal"}


@dataclass(frozen=True)
class GoalDecision:
    """What follows from what was seen. `to` is the goal's next state; an unknown verdict leaves it where it is."""

    verdict: str
    reason: str
    to: str = "in-progress"
    notes: Sequence[str] = ()

    @property
    def is_pass(self) -> bool:
        return self.verdict == "pass"


@dataclass(frozen=True)
class Conclusion:
    """All that the end of a goal is decided from. `unseen` are commands that its summary cites and nobody ran;
    `earlier` what the checks of goals say that ended before, by their ids."""

    goal: Goal
    verdict: ChecksVerdict
    decision: GoalDecision
    summary: str
    judgement: GoalJudgement | None = None
    learned: str = ""
    unseen: Sequence[str] = ()
    held: Held = field(default_factory=Held)
    earlier: Mapping[str, ChecksVerdict] = field(default_factory=dict)

    @property
    def is_judged(self) -> bool:
        return self.judgement is not None and self.judgement.state == "done"


def outcome_of(store: GoalStore, end: Conclusion) -> Outcome | None:
    """None while the goal goes on: it failed, or something is still owed.

    Proven is what commands show, judged what the judge has answered; whatever speaks against either makes it no more
    than the agent's word.
    """
    goal = end.goal
    exceptions = [*_exceptions(store, end), *end.held.exceptions]
    if end.decision.to in ("expired", LEG):
        return outcome.not_proven(f"goal {goal.id}: {end.decision.reason}", exceptions)
    if not end.decision.is_pass:
        return None
    by_code = [check for check in end.verdict.checks if check.type not in FOR_JUDGEMENT]
    facts = []
    if end.verdict.passes:
        facts.append(end.verdict.passes)
    if end.is_judged:
        facts.append(f"{JUDGE} was seen to answer {counted(len(goal.spec.in_words), 'question')} with pass")
    if goal.is_changed:  # they may not know who has edited the file that they named again
        facts.append("what it asks for was changed while it was under way")
    doubts = _on_the_agents_word(end)
    failing: Sequence[str] = ()
    if by_code and not doubts:
        by_commands = _by_code(store, end)
        facts += by_commands.facts
        doubts += by_commands.doubts
        failing = by_commands.failing
    else:
        doubts += end.held.not_yet
    cited = list(end.unseen)
    for answer in goal.answers.values():
        cited += answer.unseen
    if cited:
        doubts.append(f"cited and not looked at: {clip(', '.join(dict.fromkeys(cited)), LONGEST)}")
    asked = requests.rows_since(store.caller.events, "verify", stamp(goal.filed_at))
    allowed = fold(store.caller.events, None).allowed_changes
    doubts = [*task_documents.doubts(store.caller.root, asked, allowed, goal.base), *doubts]
    best = outcome.JUDGED if end.is_judged else outcome.PROVEN
    ended = task_items.told_with(outcome.finished(best, facts, doubts, exceptions), asked, failing)
    return {**ended, "why": f"goal {goal.id}: {ended['why']}"}


def _on_the_agents_word(end: Conclusion) -> list[str]:
    """What neither a check by code nor a judge has shown of the goal."""
    spec = end.goal.spec
    doubts, outcomes = [], spec.outcomes
    if end.goal.state == LEG:
        doubts.append("the user closed their leg")
        outcomes = spec.outcomes_agent_leg
    if end.is_judged and end.goal.by != "user":
        doubts.append("the agent wrote them itself")
    if not end.is_judged:
        if spec.asks_questions:
            doubts.append("closed on the agent's own answers")
        elif outcomes:
            doubts.append(f"{counted(len(outcomes), 'outcome')} closed on the agent's own answers")
        if end.judgement is not None:
            doubts.append(f"{JUDGE} was asked, and did not settle it ({end.judgement.state})")
    if spec.hypothesis:
        doubts.append("how the hypothesis came out is the agent's word")
    return doubts


class ByCode(NamedTuple):
    """What the commands of a goal show, what speaks against it, and the tests that failed without the work."""

    facts: Sequence[str]
    doubts: Sequence[str]
    failing: Sequence[str] = ()


def _by_code(store: GoalStore, end: Conclusion) -> ByCode:
    goal, caller = end.goal, store.caller
    known = fold(caller.events, None)
    began, left = goal.base or NO_BASE, known.left
    if left and goal.source in began["files"]:  # which is no work
        left = {**left, "files": {**left["files"], goal.source: began["files"][goal.source]}}
    subject = proving.subject_of(caller, began, known, left=left)
    commands = commands_of(goal.spec)
    doubts = [*end.held.not_yet, *proving.other_programs(subject, commands, goal.programs, goal.filed_at)]
    if end.is_judged:
        return ByCode(proving.allowed_notes(subject), [*doubts, *proving.doubts(subject, commands)])
    if doubts:
        return ByCode([], doubts)
    shown = proving.shown_by_checks(subject, named_checks(caller.state, goal), end.held.passing)
    return ByCode([shown.proof] if shown.proof else [], shown.doubts, shown.failing)


def named_checks(state: str, goal: Goal) -> list[tuple[str, Check | str, bool]]:
    """Each with its id, and whether it is the user's."""
    pinned = pins.pinned(state)
    checks = checks_of(goal.spec)
    named = []
    for name, check in zip(ids_of(checks), checks, strict=True):
        is_users = goal.by == "user" and pinned.of(digest_of_check(check), goal.id).by == "user"
        named.append((name, check, is_users))
    return named


def _exceptions(store: GoalStore, end: Conclusion) -> list[LetThrough]:
    """Claims that stand against what code saw, what a judge found broken, a question let pass without its answer."""
    goal, judgement = end.goal, end.judgement
    exceptions = []
    for row in store.rows:
        if row.get("kind") == "repaired" and seconds(row["ts"]) >= goal.filed_at:
            exceptions.append(outcome.repaired(row))
    filed = claims.recorded(store.caller.state, goal=goal.id)
    handed_on = [end.summary]  # and every text of the answers that count
    for answer in goal.answers.values():
        for said in [answer.said, *answer.said.get("outcomes", [])]:
            handed_on += [value for value in said.values() if isinstance(value, str)]
    for claim in filed:
        # What was restated since is said by nobody any more.
        if claim.override and any(claim.is_about(text) for text in handed_on):
            what = f"goal {goal.id}: a claim stands against a look by code: {clip(claim.statement, LONGEST)}"
            exceptions.append(outcome.exception(what, claim.by, clip(claim.override, LONGEST)))
    if filed and filed[-1].seen.verdict == "fail" and not filed[-1].override:
        last = filed[-1]
        if not any(answer.ts >= last.ts for answer in goal.answers.values()):
            what = f"goal {goal.id}: the last claim about it does not hold: {clip(last.statement, LONGEST)}"
            exceptions.append(outcome.exception(what, last.by, "it was finished all the same"))
    if judgement is not None and judgement.found_broken:
        what = f"goal {goal.id}: {JUDGE} found that it does not hold: {clip(judgement.found_broken[0], LONGEST)}"
        exceptions.append(outcome.exception(what, "agent", "the files were changed, and no judge saw them since"))
    for answer in goal.answers.values():
        if answer.result == "gap":
            what = f"goal {goal.id}: {answer.question} was let pass without an answer"
            exceptions.append(outcome.exception(what, "agent", "it named no way in which the work could look done"))
    return exceptions
