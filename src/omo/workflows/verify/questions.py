"""Answering a question: each answer is judged by code on what can be read now, and recorded as a checkpoint."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from omo.digest import sha256
from omo.errors import BadInput, Refused
from omo.proof import artifacts, changes, git, pins
from omo.proof.checks import CommandCheck, digest_of_check
from omo.text import clip, counted
from omo.work import gates
from omo.work.citations import COMMIT, PinnedCommand, require_cited
from omo.work.files import Files
from omo.workflows.verify import claims
from omo.workflows.verify.begin import checks_of
from omo.workflows.verify.documents import DIMENSIONS, MOST_ITEMS, ChecklistItem, parse_reply
from omo.workflows.verify.goals import (
    COMMIT_ARTIFACT,
    Goal,
    Goals,
    GoalStore,
    Row,
    known,
    require_in_progress,
)
from omo.workflows.verify.lessons import gap
from omo.workflows.verify.statements import SHORTEST_REASON, check_statement, hedges
from omo.workflows.verify.steps import answering, step_of

FEWEST_ITEMS, FEWEST_ROUTINE_ITEMS = 5, 3
# fmt: off
FILLER = {
    "a", "an", "the", "is", "are", "was", "were", "be", "been", "has", "have", "had", "do", "does", "did", "it", "its",
    "this", "that", "of", "to", "in", "on", "for", "and", "or", "with", "by", "as", "at", "goal", "done", "complete",
    "completed", "finished", "succeed", "succeeds", "succeeded", "really", "now", "all",
}
VAGUE = {
    "none", "nothing", "unknown", "n", "na", "no", "unclear", "bug", "bugs", "error", "errors", "issue", "issues",
    "fail", "fails", "failure", "could", "might", "may", "something", "anything", "wrong", "go", "goes", "break",
    "breaks", "broken", "not", "sure", "idea", "tests", "test", "work", "works", "edge", "case", "cases", "there",
    "some", "any", "if", "i", "can", "think",
}
# fmt: on
NO_PROBLEM = re.compile(r"(?:none|no problems?(?: found| seen)?)?[\s.!]*", re.I)


def answer(store: GoalStore, name: str, question: str, data: object) -> Judging:
    """Judge an answer by code and record it as a checkpoint. What is refused is not recorded."""
    goal = store.goal(name)
    reply = parse_reply(question, data)
    content = reply.model_dump()
    _check_turn(goal, question, Files(store.caller.root))
    digest = sha256(json.dumps(content, sort_keys=True).encode())[:32]
    _check_replay(store.rows, goal, question, digest)
    judged = Judging(store, goal, question)
    JUDGES[question](judged, reply)
    event = {
        "kind": "answered",
        "goal": name,
        "question": question,
        "attempt": goal.attempt,
        "contract": goal.spec.contract,
        "tree": Files(store.caller.root).tree,  # the commands that it cites have written what they write
        "digest": digest,
        "result": judged.result,
        "said": {**content, "why": judged.why},
        "artifacts": judged.artifacts,
        "unseen": judged.unseen,
    }

    def decide(goals: Goals) -> tuple[None, list[Row]]:
        now = known(goals, name)
        if (now.attempt, now.state) != (goal.attempt, "in-progress"):
            raise Refused(f"goal {name} moved on while this was answered", fix=f"omo verify status {name}")
        return None, [event, *(gap(goal, question, why) for why in judged.gaps)]

    store.change_whole(decide)
    return judged


def _check_replay(rows: list[Row], goal: Goal, question: str, digest: str) -> None:
    if question == "q3":
        return
    for row in rows:
        is_same = row.get("kind") == "answered" and row.get("digest") == digest and row.get("result") != "gap"
        if is_same and row.get("goal") != goal.id:
            raise Refused(
                f"this is, word for word, the answer to {row.get('question')} of goal {row.get('goal')}",
                fix=f"look at what {goal.id} produced, and say what you see there",
            )


def _check_turn(goal: Goal, question: str, files: Files) -> None:
    """May this question be answered now?"""
    require_in_progress(goal)
    asked = {"agent-leg": goal.spec.has_agent_leg, "outcomes": bool(goal.spec.outcomes)}
    if not asked.get(question, True):
        raise Refused(f"goal {goal.id} does not ask for {question}", fix=f"omo verify status {goal.id}")
    if question in ("q1.5", "q2"):
        first = step_of(goal, "q1", files)
        if first.is_open:
            why = f": {first.why}" if first.why else ""
            raise Refused(f"{question} comes after q1, which is {first.state}{why}", fix=first.way.text)
    step = step_of(goal, question, files)
    if step.state == "failed":
        # What was found broken stays found until something changes; saying it differently is no repair.
        raise Refused(
            f"{question} failed on exactly this tree: {step.why}",
            fix=f"mend the work and answer again, or record the failure: omo verify finish {goal.id} --summary TEXT",
        )


@dataclass
class Judging:
    """One answer, and what code makes of it: ok, gap or failed.

    `unseen` is what it cites and nobody looked at, `missing` is what the goal never asked for.
    """

    store: GoalStore
    goal: Goal
    question: str
    result: str = "ok"
    why: str = ""
    artifacts: dict[str, str] = field(default_factory=dict)
    unseen: list[str] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    @property
    def again(self) -> str:
        return answering(self.goal.id, self.question).line

    @cached_property
    def commands(self) -> list[PinnedCommand]:
        return pinned_commands(self.store, self.goal)

    def require_statement(self, name: str, text: str) -> None:
        """ "X is Y because Z": Z can be looked at, and is so; what its words claim was filed as a claim that holds."""
        if defects := check_statement(text, self.store.caller.root):
            raise Refused(
                f"{self.question} of goal {self.goal.id} is sent back: {name} {clip(text, 80)!r}",
                fix=f"{self.again} with it restated",
                defects=[f"{name}: {defect}" for defect in defects],
            )
        self.require_cited(text)
        self.require_claims(text)

    def require_cited(self, *texts: str) -> None:
        what = f"{self.question} of goal {self.goal.id}"
        self.unseen += require_cited(self.store.caller, what, texts, self.commands)

    def require_claims(self, text: str) -> None:
        goal = self.goal
        still_open = claims.unsettled(self.store.caller, text, goal=goal.id, since=goal.begun_at)
        if still_open:
            gaps = [gap(goal, self.question, why) for why in still_open.values()]
            self.store.change_whole(lambda _: (None, gaps))
            raise claims.refused(f"{self.question} of goal {goal.id}", goal.id, text, still_open)

    def register(self, names: list[str]) -> None:
        """Each artifact is read now and recorded as this goal's; refusals pass through."""
        caller = self.store.caller
        for name in dict.fromkeys(names):
            if COMMIT.fullmatch(name) and not os.path.lexists(os.path.join(caller.root, name)):
                self.artifacts[self._commit(name)] = COMMIT_ARTIFACT
                continue
            artifact = artifacts.register(caller, name, goal=self.goal.id, started_at=self.goal.ready_at)
            self.artifacts[artifact.path] = artifact.digest

    def _commit(self, name: str) -> str:
        """What was deleted or moved leaves no file to show, so a commit of this goal's time may stand for it."""
        root = self.store.caller.root
        commit = changes.commit_of(Path(root), name)
        if commit is None:
            raise Refused(f"artifact {name}: no such commit is there", fix="name a commit or a file that is")
        written = git.run(root, "show", "-s", "--format=%ct", commit).text.strip()
        if not written.isdigit() or float(written) < int(self.goal.ready_at):
            raise Refused(f"artifact {name}: the commit is older than the goal", fix="name what the work has changed")
        for other in self.store.goals.values():
            if other.id != self.goal.id and any(commit in answer.artifacts for answer in other.answers.values()):
                raise Refused(f"artifact {name}: the commit already proves goal {other.id}", fix="name another")
        return commit


def pinned_commands(store: GoalStore, goal: Goal) -> list[PinnedCommand]:
    """The commands that an answer may cite to have them run: the goal's own, and the gates of the session."""
    commands = gates.pinned_commands(store.caller.state, store.caller.session)
    pinned = pins.pinned(store.caller.state)
    for check in checks_of(goal.spec):
        if isinstance(check, CommandCheck) and digest_of_check(check) in pinned.digests:
            commands.append(PinnedCommand(check.argv, check.cwd, check.exit, check.timeout))
    return commands


def _judge_q1(judging: Judging, reply: Any) -> None:
    judging.require_statement("statement", reply.statement)
    judging.register([reply.artifact])
    judging.why = f"{reply.artifact}: {reply.statement}"


def _judge_outcomes(judging: Judging, reply: Any) -> None:
    """Each outcome by itself; the agent's leg wants an artifact for each as well."""
    goal, is_leg = judging.goal, judging.question == "agent-leg"
    wanted = goal.spec.outcomes_agent_leg if is_leg else goal.spec.outcomes
    given = [shown.outcome for shown in reply.outcomes]
    defects = [f"outcomes: nothing for {outcome!r}" for outcome in wanted if outcome not in given]
    defects += [f"outcomes: {outcome!r} is no outcome that is asked for" for outcome in given if outcome not in wanted]
    if is_leg and not all(shown.artifact for shown in reply.outcomes):
        defects.append("outcomes: each needs its artifact")
    if defects:
        raise BadInput(
            f"goal {goal.id} has {counted(len(wanted), 'outcome')} to show here; each needs its own answer",
            fix=f"omo verify status {goal.id} lists them, word for word",
            defects=defects,
        )
    for number, shown in enumerate(reply.outcomes):
        judging.require_statement(f"outcomes[{number}].statement", shown.statement)
    judging.register([shown.artifact for shown in reply.outcomes if shown.artifact])


def _judge_q15(judging: Judging, reply: Any) -> None:
    goal = judging.goal
    if defects := _checklist_defects(goal, reply.items):
        raise Refused(
            f"the checklist for goal {goal.id} does not look at it from every side",
            fix=f"mend it and answer again: {judging.again}",
            defects=defects,
        )
    judging.require_cited(*(item.evidence for item in reply.items if item.result == "pass"))
    covered = []
    for item in reply.items:
        if item.result == "fail" and (item.covered or _is_declared(goal, item.question)):
            covered.append(item.question)
        elif item.result == "fail":
            judging.missing.append(item.question)
    judging.why = f"{sum(item.result == 'pass' for item in reply.items)} of {len(reply.items)} pass"
    if covered:
        judging.result, judging.why = "failed", f"the goal's own criteria fail: {'; '.join(covered)}"
        judging.gaps = covered


def _checklist_defects(goal: Goal, items: list[ChecklistItem]) -> list[str]:
    """Does it look at the goal from every side, and say what was seen?"""
    fewest = FEWEST_ROUTINE_ITEMS if goal.spec.routine else FEWEST_ITEMS
    defects = []
    if not fewest <= len(items) <= MOST_ITEMS:
        defects.append(f"items: {len(items)}, not {fewest} to {MOST_ITEMS}")
    if not goal.spec.routine:
        asked = {item.dimension for item in items}
        for dimension in DIMENSIONS:
            if dimension not in asked:
                defects.append(f"items: none about {dimension}")
    if items and all(item.result == "na" for item in items):
        defects.append("items: every result is na, so nothing was looked at")
    title = _stems(goal.spec.title)
    earlier: list[set[str]] = []
    for number, item in enumerate(items):
        question = clip(item.question, 60)
        defects += [f"items[{number}]: evidence: {hedge}" for hedge in hedges(item.evidence)]
        if item.result != "na" and len(item.evidence.strip()) < SHORTEST_REASON:
            defects.append(f"items[{number}]: evidence: {item.evidence!r} says nothing of what was seen")
        stems = _stems(item.question)
        if stems and len(stems & title) >= 0.8 * len(stems | title):
            defects.append(f"items[{number}]: question: {question!r} only restates the title; ask for one property")
        if _words(item.question) in earlier:
            defects.append(f"items[{number}].question: {question!r} is asked twice")
        earlier.append(_words(item.question))
    return defects


def _is_declared(goal: Goal, question: str) -> bool:
    """An outcome whose every word is in the question covers it, whatever the answer says."""
    asked = _words(question)
    return any(len(_words(outcome)) > 1 and _words(outcome) <= asked for outcome in goal.spec.outcomes)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower())) - FILLER


def _stems(text: str) -> set[str]:
    return {word[:5] for word in _words(text)}  # handle, handles, handled


def _judge_q2(judging: Judging, reply: Any) -> None:
    problem = (reply.problem or "").strip()
    if NO_PROBLEM.fullmatch(problem):
        problem = ""
    elif problem.lower().startswith("no problem"):
        raise Refused(
            f"problem {clip(problem, 120)!r} may say that there is one, or that there is none",
            fix=f'give the problem alone, or "none": {judging.again}',
        )
    failure_mode = reply.failure_mode.strip()
    if problem:
        judging.result, judging.gaps = "failed", [problem]
        judging.why = f"{failure_mode}: {problem}" if failure_mode else problem
        return
    if len(_words(failure_mode) - VAGUE) < 2:
        judging.result = "gap"
        judging.gaps = [f"no way named in which it could look done and not be: {reply.failure_mode!r}"]
        return
    if not reply.checked or len(reply.how.strip()) < SHORTEST_REASON or hedges(reply.how):
        what = f"failure_mode is named, and not that it was checked, and how: {clip(failure_mode, 120)}"
        raise Refused(
            what, fix=f"check it now, say in how what was run or read: {judging.again}", defects=hedges(reply.how)
        )
    judging.require_statement("statement", reply.statement)
    judging.require_cited(reply.how)
    judging.require_claims(reply.how)
    judging.require_claims(failure_mode)  # what it names need not be there: that may be the failure


def _judge_q3(judging: Judging, reply: Any) -> None:
    judging.gaps = [f"q3: {hedge}" for hedge in hedges(reply.statement)]


JUDGES: dict[str, Callable[[Judging, Any], None]] = {
    "q1": _judge_q1,
    "q1.5": _judge_q15,
    "q2": _judge_q2,
    "q3": _judge_q3,
    "outcomes": _judge_outcomes,
    "agent-leg": _judge_outcomes,
}
