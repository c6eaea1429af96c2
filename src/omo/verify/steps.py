"""What a goal in progress owes, and which of its answers still count on the tree as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from omo.evidence import artifacts, tree
from omo.shown import clip
from omo.state import paths, store
from omo.verify.goal_checks import FOR_JUDGEMENT, checks_of, escalates, is_for_judgement
from omo.verify.goals import Answer, Goal, Place
from omo.verify.replies import ESCALATION, answer_command

_OWN = ".sisyphus/cc-omo"
ASKED = "asked, never gates"  # q3


class Trees:
    """The project's fingerprint now. Files that held answers are left out: they speak of the tree, they are not it.

    To show where things stand the cache is good enough; no proof rests on it, since an agent could write it.
    """

    def __init__(self, place: Place, *, reading: str | None = None, for_show: bool = False) -> None:
        self._place = place
        self._for_show = for_show
        self._reading = {reading} if reading else set()
        self._known: dict[tuple[str, ...], str] = {}

    def holds(self, answer: Answer, goal: Goal) -> bool:
        """Is the tree the one the answer was given on, with or without the answers that came later?"""
        later = self.answer_files(goal)
        either = tuple(sorted({*answer.without, *later}))
        return answer.tree in (self.now(answer.without), self.now(later), self.now(either))

    def answer_files(self, goal: Goal) -> tuple[str, ...]:
        """The answer files of the goal, and the one being read now."""
        return tuple(sorted({*goal.answer_files, *self._reading}))

    def now(self, without: Sequence[str] = ()) -> str:
        key = tuple(without)
        if key not in self._known:
            cache = Path(paths.tree_cache(self._place.state)) if self._for_show else None
            if cache:
                store.make_state_dir(self._place.state)
            self._known[key] = tree.fingerprint(Path(self._place.root), cache=cache, exclude=(_OWN, *key))
        return self._known[key]


def why_stale(goal: Goal, answer: Answer, place: Place, trees: Trees) -> str:
    """Why an answer no longer counts; empty while it does."""
    if answer.contract != goal.spec.contract:
        return "what the goal has to show was changed since"
    if not trees.holds(answer, goal):
        return "the tree was changed since"
    root = Path(place.root)
    moved = [name for name, digest in answer.artifacts.items() if not artifacts.is_unchanged(root, name, digest)]
    return f"{moved[0]} was changed since" if moved else ""


@dataclass(frozen=True)
class Step:
    """One thing a goal owes: `done`, `owed`, `stale` or `failed`; q3 is only asked."""

    name: str
    state: str
    why: str
    command: str

    @property
    def is_open(self) -> bool:
        return self.state != "done"


def steps(goal: Goal, place: Place, trees: Trees) -> list[Step]:
    """Everything a goal in progress has to show, in order. `finish` is the last."""
    finish = Step("finish", "owed", "", f"omo verify finish {goal.id} --summary TEXT")
    if goal.state != "in-progress":
        return []
    checks = checks_of(goal)
    listed = [_checks_step(goal)] if any(not is_for_judgement(check) for check in checks) else []
    return [*listed, *_question_steps(goal, place, trees, is_asked=escalates(checks)), finish]


def _checks_step(goal: Goal) -> Step:
    seen = goal.checked or {}
    bad = [one for one in seen.get("checks", []) if one["result"] != "pass" and one["type"] not in FOR_JUDGEMENT]
    if not seen:
        return Step("checks", "owed", "not evaluated yet", f"omo verify begin {goal.id}")
    said = "; ".join(f"{one['id']}: {one['reason']}" for one in bad[:3])
    command = f"mend the work; omo verify begin {goal.id} evaluates again"
    return Step("checks", "owed" if bad else "done", clip(said, 200), command)


def _question_steps(goal: Goal, place: Place, trees: Trees, *, is_asked: bool) -> list[Step]:
    """What was found broken is listed whether or not it was asked for."""
    every = [step_of(goal, name, place, trees) for name in ESCALATION]
    broken = [step for step in every if step.state == "failed"]
    if goal.spec.has_agent_leg:
        leg = step_of(goal, "agent-leg", place, trees)
        if not leg.is_open or not any(name in goal.answers for name in ESCALATION):
            return [leg, *broken]
        return every
    return every if is_asked else broken


def step_of(goal: Goal, question: str, place: Place, trees: Trees) -> Step:
    command = answer_command(goal.id, question)
    answer = goal.answers.get(question)
    for broken in goal.found_broken:  # in this attempt or an earlier one
        if broken.question == question and trees.holds(broken, goal):
            return _failed(broken, command)
    if answer is None:
        return Step(question, ASKED if question == "q3" else "owed", "", command)
    if why := why_stale(goal, answer, place, trees):
        return Step(question, "stale", why, command)
    if answer.result == "failed":
        return _failed(answer, command)
    return Step(question, "done", "", command)


def _failed(answer: Answer, command: str) -> Step:
    return Step(answer.question, "failed", str(answer.said.get("why", "")), f"mend it, then {command}")
