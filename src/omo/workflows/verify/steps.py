"""What a goal in progress owes, and which of its answers still count on the tree as it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from omo.proof import artifacts, tree
from omo.state import paths, store
from omo.text import clip
from omo.work.judge import JUDGE
from omo.work.run import Caller
from omo.work.status import Command, NextStep, command
from omo.workflows.verify.goals import COMMIT_ARTIFACT, FOR_JUDGEMENT, QUESTIONS, Answer, Goal
from omo.workflows.verify.judge import Judgement, judgement_of

OWN = ".sisyphus/cc-omo"
ASKED = "asked, never gates"  # q3


def answering(goal: str, question: str, lead: str = "") -> Command:
    return command("omo verify answer", goal, "--question", question, "--file", "-", lead=lead)


class Trees:
    """The project's fingerprint now. Files that held answers are left out: they speak of the tree, they are not it.

    To show where things stand the cache is good enough; no proof rests on it, since an agent could write it.
    """

    def __init__(self, caller: Caller, *, reading: str | None = None, for_show: bool = False) -> None:
        self.caller = caller
        self._for_show = for_show
        self._reading = {reading} if reading else set()
        self._known: dict[tuple[str, ...], str] = {}

    def holds(self, seen: str, without: Iterable[str], goal: Goal) -> bool:
        """Is the tree the one that was seen then, with or without the answers that came later?"""
        then, later = set(without), set(self.answer_files(goal))
        return seen in (self.now(then), self.now(later), self.now(then | later))

    def answer_files(self, goal: Goal) -> list[str]:
        """The answer files of the goal, and the one being read now."""
        return sorted(goal.answer_files | self._reading)

    def now(self, without: Iterable[str] = ()) -> str:
        key = tuple(sorted(without))
        if key not in self._known:
            cache = None
            if self._for_show:
                store.make_state_dir(self.caller.state)
                cache = Path(paths.tree_cache(self.caller.state))
            self._known[key] = tree.fingerprint(Path(self.caller.root), cache=cache, exclude=(OWN, *key))
        return self._known[key]


def why_stale(goal: Goal, answer: Answer, trees: Trees) -> str:
    """Why an answer no longer counts; empty while it does."""
    if answer.contract != goal.spec.contract:
        return "what the goal has to show was changed since"
    if not trees.holds(answer.tree, answer.without, goal):
        return "the tree was changed since"
    for name, digest in answer.artifacts.items():
        if digest != COMMIT_ARTIFACT and not artifacts.is_unchanged(Path(trees.caller.root), name, digest):
            return f"{name} was changed since"
    return ""


@dataclass(frozen=True)
class Step:
    """One thing a goal owes: `done`, `owed`, `stale` or `failed`; q3 is only asked."""

    name: str
    state: str
    why: str
    way: Command

    @property
    def is_open(self) -> bool:
        return self.state != "done"

    @property
    def data(self) -> dict[str, str]:
        return {"name": self.name, "state": self.state, "why": self.why, "command": self.way.text}


def steps(goal: Goal, trees: Trees) -> list[Step]:
    """Everything a goal in progress has to show, in order. `finish` is the last."""
    if goal.state != "in-progress":
        return []
    owed = []
    if goal.spec.has_checks_by_code:
        owed.append(_checks_step(goal))
    judgement = judgement_of(goal, trees)
    if judgement is not None:
        owed.append(_judge_step(goal, judgement))
    questions = [step_of(goal, question, trees) for question in QUESTIONS]
    if judgement is not None and judgement.state == "done":
        questions = [step for step in questions if step.state == "failed"]
    elif goal.spec.has_agent_leg:
        leg = step_of(goal, "agent-leg", trees)
        if not leg.is_open or not any(question in goal.answers for question in QUESTIONS):
            owed.append(leg)
            questions = [step for step in questions if step.state == "failed"]
    elif not goal.spec.asks_questions:
        # What was found broken is listed whether or not it was asked for.
        questions = [step for step in questions if step.state == "failed"]
        if goal.spec.outcomes:
            owed.append(step_of(goal, "outcomes", trees))
    owed += questions
    return [*owed, Step("finish", "owed", "", command("omo verify finish", goal.id, "--summary", "TEXT"))]


def next_step(held: Iterable[Goal], owed: Mapping[str, list[Step]], lost: Iterable[str] = ()) -> NextStep:
    """What moves a session on that is held to these goals; `lost` are those that the journal does not have."""
    for goal in held:
        for step in owed[goal.id]:
            if step.is_open:
                return NextStep(step.name, f"{goal.id} {step.name}", (step.way,), item=goal.id)
    for goal in held:
        if goal.state == "pending" and goal.failures:
            why = f"{goal.id} failed ({clip(goal.reason, 60)})"
            return NextStep("begin", why, (command("omo verify begin", goal.id),), item=goal.id)
        if goal.state == "exhausted":
            again = command("omo verify begin", goal.id, "--again", "WHY")
            return NextStep("again", f"{goal.id} failed {goal.failures} times", (again,), who="user", item=goal.id)
    for name in lost:
        anew = (command("omo verify add --file GOAL"), command("omo verify begin", name, lead="then"))
        return NextStep("add", f"the session is held to {name}, which is not in the journal", anew, item=name)
    return NextStep()


def _checks_step(goal: Goal) -> Step:
    if not goal.checked:
        return Step("checks", "owed", "not evaluated yet", command("omo verify begin", goal.id))
    bad = []
    for check in goal.checked["checks"]:
        if check["result"] != "pass" and check["type"] not in FOR_JUDGEMENT:
            bad.append(f"{check['id']}: {check['reason']}")
    again = command("omo verify begin", goal.id, lead="mend the work", after="evaluates again")
    return Step("checks", "owed" if bad else "done", clip("; ".join(bad[:3]), 200), again)


def _judge_step(goal: Goal, judgement: Judgement) -> Step:
    lead = ""
    if judgement.state == "failed":
        lead = "mend it, then"
    elif judgement.state == "owed":
        lead = f"start a new {JUDGE} with this as its whole prompt"
    return Step("judge", judgement.state, clip(judgement.why, 200), command("omo verify brief", goal.id, lead=lead))


def step_of(goal: Goal, question: str, trees: Trees) -> Step:
    way = answering(goal.id, question)
    for broken in goal.found_broken:  # in this attempt or an earlier one
        if broken.question == question and trees.holds(broken.tree, broken.without, goal):
            return _failed(goal, broken)
    answer = goal.answers.get(question)
    if answer is None:
        return Step(question, ASKED if question == "q3" else "owed", "", way)
    if why := why_stale(goal, answer, trees):
        return Step(question, "stale", why, way)
    if answer.result == "failed":
        return _failed(goal, answer)
    return Step(question, "done", str(answer.content.get("why", "")), way)


def _failed(goal: Goal, answer: Answer) -> Step:
    why = str(answer.content.get("why", ""))
    return Step(answer.question, "failed", why, answering(goal.id, answer.question, lead="mend it"))
