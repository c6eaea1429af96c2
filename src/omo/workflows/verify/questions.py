"""What code makes of an answer: refused with what is wrong, or recorded as ok, as a gap, or as a failure."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from omo.clock import seconds
from omo.engine.answers import COMMIT_ARTIFACT
from omo.engine.case import Case
from omo.engine.checking import commands_of
from omo.engine.filed import FiledRuns
from omo.engine.flow import Answered
from omo.engine.runs import CaseRun
from omo.errors import BadInput, Refused
from omo.proof import artifacts, changes, git, pins
from omo.proof.checks import CommandCheck, digest_of_check
from omo.text import clip, counted
from omo.work import gates
from omo.work.citations import COMMIT, PinnedCommand, require_cited
from omo.workflows.verify import claims
from omo.workflows.verify.forms import DIMENSIONS, MOST_ITEMS, ChecklistItem
from omo.workflows.verify.statements import SHORTEST_REASON, check_statement, hedges

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


@dataclass
class GivenAnswer:
    """One answer, and what was seen of what it says: its artifacts, and what it cites and nobody looked at."""

    run: CaseRun
    question: str
    artifacts: dict[str, str] = field(default_factory=dict)
    unseen: list[str] = field(default_factory=list)

    @property
    def case(self) -> Case:
        return self.run.require_state()

    @property
    def goal(self) -> str:
        return self.case.item.id

    @property
    def what(self) -> str:
        return f"{self.question} of goal {self.goal}"

    @property
    def again(self) -> str:
        return f"{self.run.flow.answer} {self.goal} --question {self.question} --file -"

    @cached_property
    def commands(self) -> list[PinnedCommand]:
        return pinned_commands(self.run)

    def accepted(self, why: str) -> Answered:
        return Answered(why=why, artifacts=self.artifacts, unseen=tuple(self.unseen))

    def require_statement(self, name: str, text: str) -> None:
        """Require "X is Y because Z": Z can be looked at, and is so; what its words claim was filed as a claim."""
        if defects := check_statement(text, self.run.caller.root):
            raise Refused(
                f"{self.what} is sent back: {name} {clip(text, 80)!r}",
                fix=f"{self.again} with it restated",
                defects=[f"{name}: {defect}" for defect in defects],
            )
        self.require_cited(text)
        self.require_claims(text)

    def require_cited(self, *texts: str) -> None:
        self.unseen += require_cited(self.run.caller, self.what, texts, self.commands)

    def require_claims(self, text: str) -> None:
        since = str(self.case.opened.get("ts"))
        still_open = claims.unsettled(self.run.caller, text, goal=self.goal, since=since)
        if still_open:
            self.run.append(*({"kind": "gap", "question": self.question, "why": why} for why in still_open.values()))
            raise claims.refused(self.what, self.goal, text, still_open)

    def register(self, names: list[str]) -> None:
        """Read each artifact now, and record it as this goal's. Refusals pass through."""
        caller, ready_at = self.run.caller, seconds(self.case.ready_at)
        for name in dict.fromkeys(names):
            if COMMIT.fullmatch(name) and not os.path.lexists(os.path.join(caller.root, name)):
                self.artifacts[self._commit(name, ready_at)] = COMMIT_ARTIFACT
                continue
            artifact = artifacts.register(caller, name, goal=self.goal, started_at=ready_at)
            self.artifacts[artifact.path] = artifact.digest

    def _commit(self, name: str, ready_at: float) -> str:
        """Return the commit that shows what was deleted or moved, which leaves no file to show."""
        caller = self.run.caller
        commit = changes.commit_of(Path(caller.root), name)
        if commit is None:
            raise Refused(f"artifact {name}: no such commit is there", fix="name a commit or a file that is")
        written = git.run(caller.root, "show", "-s", "--format=%ct", commit).text.strip()
        if not written.isdigit() or float(written) < int(ready_at):
            raise Refused(f"artifact {name}: the commit is older than the goal", fix="name what the work has changed")
        for other, case in FiledRuns(self.run.flow, caller).cases.items():
            if other != self.goal and any(commit in row.get("artifacts", ()) for row in case.answers.values()):
                raise Refused(f"artifact {name}: the commit already proves goal {other}", fix="name another")
        return commit


def pinned_commands(run: CaseRun) -> list[PinnedCommand]:
    """Return the commands that an answer may cite to have them run: the goal's own, and the gates of the session."""
    caller = run.caller
    commands = gates.pinned_commands(caller.state, caller.session)
    pinned = pins.pinned(caller.state)
    for check in commands_of(run.require_state().items):
        if isinstance(check, CommandCheck) and digest_of_check(check) in pinned.digests:
            commands.append(PinnedCommand(check.argv, check.cwd, check.exit, check.timeout))
    return commands


def q1(run: CaseRun, reply: Any) -> Answered:
    answer = GivenAnswer(run, "q1")
    answer.require_statement("statement", reply.statement)
    answer.register([reply.artifact])
    return answer.accepted(f"{reply.artifact}: {reply.statement}")


def outcomes(run: CaseRun, reply: Any) -> Answered:
    return _outcomes(GivenAnswer(run, "outcomes"), reply, run.require_state().item.outcomes)


def agent_leg(run: CaseRun, reply: Any) -> Answered:
    """Judge the agent's part of a goal that the user has a part in. Each outcome of it needs an artifact."""
    answer, form = GivenAnswer(run, "agent-leg"), run.require_state().item.form
    wanted = form["verification"]["outcomes_agent_leg"] if "user" in form["participants"] else []
    if wanted and not all(shown.artifact for shown in reply.outcomes):
        raise _not_shown(answer, wanted, ["outcomes: each needs its artifact"])
    return _outcomes(answer, reply, wanted)


def _outcomes(answer: GivenAnswer, reply: Any, wanted: list[str]) -> Answered:
    """Judge each outcome by itself."""
    if not wanted:
        what = f"goal {answer.goal} does not ask for {answer.question}"
        raise Refused(what, fix=f"omo verify status {answer.goal}")
    given = [shown.outcome for shown in reply.outcomes]
    defects = [f"outcomes: nothing for {outcome!r}" for outcome in wanted if outcome not in given]
    defects += [f"outcomes: {outcome!r} is no outcome that is asked for" for outcome in given if outcome not in wanted]
    if defects:
        raise _not_shown(answer, wanted, defects)
    for number, shown in enumerate(reply.outcomes):
        answer.require_statement(f"outcomes[{number}].statement", shown.statement)
    answer.register([shown.artifact for shown in reply.outcomes if shown.artifact])
    return answer.accepted("")


def _not_shown(answer: GivenAnswer, wanted: list[str], defects: list[str]) -> BadInput:
    return BadInput(
        f"goal {answer.goal} has {counted(len(wanted), 'outcome')} to show here; each needs its own answer",
        fix=f"omo verify status {answer.goal} lists them, word for word",
        defects=defects,
    )


def q15(run: CaseRun, reply: Any) -> Answered:
    answer, item = GivenAnswer(run, "q1.5"), run.require_state().item
    if defects := _checklist_defects(item.description, reply.items, is_routine=item.form["routine"]):
        raise Refused(
            f"the checklist for goal {item.id} does not look at it from every side",
            fix=f"mend it and answer again: {answer.again}",
            defects=defects,
        )
    answer.require_cited(*(each.evidence for each in reply.items if each.result == "pass"))
    covered, missing = [], []
    for each in reply.items:
        if each.result == "fail" and (each.covered or _is_declared(item.outcomes, each.question)):
            covered.append(each.question)
        elif each.result == "fail":
            missing.append(each.question)
    if covered:
        why = f"the goal's own criteria fail: {'; '.join(covered)}"
        return Answered("failed", why, tuple(covered), unseen=tuple(answer.unseen), missing=tuple(missing))
    passed = sum(each.result == "pass" for each in reply.items)
    return replace(answer.accepted(f"{passed} of {len(reply.items)} pass"), missing=tuple(missing))


def _checklist_defects(goal_title: str, items: list[ChecklistItem], *, is_routine: bool) -> list[str]:
    """Return what a checklist lacks that looks at the goal from every side, and says what was seen."""
    fewest = FEWEST_ROUTINE_ITEMS if is_routine else FEWEST_ITEMS
    defects = []
    if not fewest <= len(items) <= MOST_ITEMS:
        defects.append(f"items: {len(items)}, not {fewest} to {MOST_ITEMS}")
    if not is_routine:
        asked = {item.dimension for item in items}
        for dimension in DIMENSIONS:
            if dimension not in asked:
                defects.append(f"items: none about {dimension}")
    if items and all(item.result == "na" for item in items):
        defects.append("items: every result is na, so nothing was looked at")
    title = _stems(goal_title)
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


def _is_declared(declared: list[str], question: str) -> bool:
    """Return whether every word of an outcome is in the question, which covers it whatever the answer says."""
    asked = _words(question)
    return any(len(_words(outcome)) > 1 and _words(outcome) <= asked for outcome in declared)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower())) - FILLER


def _stems(text: str) -> set[str]:
    return {word[:5] for word in _words(text)}  # handle, handles, handled


def q2(run: CaseRun, reply: Any) -> Answered:
    answer = GivenAnswer(run, "q2")
    problem, failure_mode = (reply.problem or "").strip(), reply.failure_mode.strip()
    if NO_PROBLEM.fullmatch(problem):
        problem = ""
    elif problem.lower().startswith("no problem"):
        raise Refused(
            f"problem {clip(problem, 120)!r} may say that there is one, or that there is none",
            fix=f'give the problem alone, or "none": {answer.again}',
        )
    if problem:
        return Answered("failed", f"{failure_mode}: {problem}" if failure_mode else problem, (problem,))
    if len(_words(failure_mode) - VAGUE) < 2:
        gap = f"no way named in which it could look done and not be: {reply.failure_mode!r}"
        return Answered("gap", "it named no way in which the work could look done", (gap,))
    if not reply.checked or len(reply.how.strip()) < SHORTEST_REASON or hedges(reply.how):
        what = f"failure_mode is named, and not that it was checked, and how: {clip(failure_mode, 120)}"
        fix = f"check it now, say in how what was run or read: {answer.again}"
        raise Refused(what, fix=fix, defects=hedges(reply.how))
    answer.require_statement("statement", reply.statement)
    answer.require_cited(reply.how)
    answer.require_claims(reply.how)
    answer.require_claims(failure_mode)  # what it names need not be there: that may be the failure
    return answer.accepted("")


def q3(run: CaseRun, reply: Any) -> Answered:
    return Answered(gaps=tuple(f"q3: {hedge}" for hedge in hedges(reply.statement)))
