"""Where each goal stands: a fold of one journal, and the only way to append to it."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from omo.clock import seconds
from omo.errors import BadInput, Refused, Unreadable
from omo.state import paths
from omo.state.journal import Journal
from omo.verify import streaks
from omo.verify.goal_file import GoalFile

Row = dict[str, Any]

OVER = ("completed", "agent-leg-complete", "expired")
SEAL = "the user runs omo verify repair, which keeps it aside; the goals are filed anew with omo verify add --file GOAL"


@dataclass(frozen=True)
class Answer:
    """A checkpoint: what was answered, for which contract, on which tree."""

    question: str
    result: str
    contract: str
    tree: str
    without: tuple[str, ...]
    digest: str
    said: Row
    artifacts: dict[str, str]


@dataclass
class Goal:
    """One goal as the journal has it."""

    spec: GoalFile
    by: str
    source: str = ""
    state: str = "pending"
    blocked_by: list[str] = field(default_factory=list)
    inputs: dict[str, Row] = field(default_factory=dict)
    answers: dict[str, Answer] = field(default_factory=dict)
    found_broken: list[Answer] = field(default_factory=list)
    checked: Row | None = None
    failures: int = 0
    attempt: int = 0
    begun: bool = False
    begun_at: str = ""  # this attempt
    ready_at: float = 0.0
    streak: streaks.Streak = field(default_factory=streaks.Streak)
    count: int = 0
    receipt: int | None = None
    completed_at: str | None = None
    summary: str = ""
    reason: str = ""
    learned: str = ""
    outcome: Row | None = None  # how it ended; None while it has not
    refilings: list[str] = field(default_factory=list)
    filed_at: float = 0.0
    base: Row | None = None  # the files when it was filed, and what its commands started; only the user renews them
    programs: Row = field(default_factory=dict)

    @property
    def id(self) -> str:
        return self.spec.id

    @property
    def refiled(self) -> int:
        return len(self.refilings)

    @property
    def status(self) -> str:
        return "blocked" if self.state == "pending" and self.blocked_by else self.state

    @property
    def users_leg(self) -> list[str]:
        """What is left for the user once the agent's leg is done."""
        if not self.spec.has_agent_leg or self.state == "completed":
            return []
        block = self.spec.verification
        return [one for one in block.outcomes if one not in block.outcomes_agent_leg]

    @property
    def answer_files(self) -> tuple[str, ...]:
        return tuple(sorted({name for answer in self.answers.values() for name in answer.without}))


Goals = dict[str, Goal]


def _fold(rows: list[Row]) -> Goals:
    goals: Goals = {}
    for row in rows:
        apply = _APPLY.get(str(row.get("kind")))
        if apply is not None:
            try:
                apply(goals, row)
            except (KeyError, TypeError, ValueError):
                raise Unreadable(
                    f"row {row.get('seq')} of the goals' journal does not have the shape of {row.get('kind')}",
                    fix=SEAL,
                ) from None
    return goals


def _added(goals: Goals, row: Row) -> None:
    spec = GoalFile.model_validate(row["spec"])
    old = goals.get(spec.id)
    goal = goals[spec.id] = Goal(spec, by=row["actor"], source=row["source"], ready_at=seconds(row["ts"]))
    goal.filed_at, goal.base, goal.programs = goal.ready_at, row.get("base"), row.get("programs") or {}
    if old is not None:
        _carry_over(old, goal, by=row["actor"])
        goal.refilings = [*old.refilings, _refiling(row)]
    released = {name for name in spec.blocked_by if name in goals and goals[name].state == "completed"}
    if old is not None:
        released |= set(old.spec.blocked_by) - set(old.blocked_by)
    goal.blocked_by = [name for name in spec.blocked_by if name not in released]
    for name in spec.needed:
        if name in goals and goals[name].receipt is not None and name not in goal.inputs:
            goal.inputs[name] = _output_of(goals[name])


def _carry_over(old: Goal, goal: Goal, *, by: str) -> None:
    """Filing again changes what has to be shown, not what has happened. Only the user wipes the failures off."""
    goal.by = "user" if old.by == "user" else by
    if by != "user":
        goal.filed_at, goal.base, goal.programs = old.filed_at, old.base, old.programs
    goal.streak, goal.count = old.streak, old.count
    goal.begun = old.begun and old.state not in OVER
    is_other = by == "user" and goal.spec.contract != old.spec.contract
    goal.found_broken = [] if is_other else old.found_broken
    goal.inputs = {name: one for name, one in old.inputs.items() if name in goal.spec.needed}
    goal.failures = 0 if by == "user" or old.state in OVER else old.failures
    goal.ready_at = goal.ready_at if old.state in OVER else old.ready_at
    if old.state == "in-progress":
        goal.state, goal.attempt, goal.answers = old.state, old.attempt, old.answers
        goal.begun_at = old.begun_at


def _refiling(row: Row) -> str:
    """One line for every report of the goal."""
    was, now = (str(row.get(key, "?"))[:12] for key in ("was", "contract"))
    contract = "same contract" if was == now else f"contract {was} → {now}"
    why = f": {row['reason']}" if row.get("reason") else ""
    return f"filed again by the {row['actor']}{why} ({row['ts']}, {contract})"


def _begun(goals: Goals, row: Row) -> None:
    goal = goals[row["goal"]]
    if row.get("again"):
        goal.failures, goal.receipt, goal.ready_at = 0, None, seconds(row["ts"])
    goal.state, goal.attempt, goal.answers, goal.checked = "in-progress", row["seq"], {}, None
    goal.begun, goal.begun_at, goal.outcome = True, row["ts"], None


def _checked(goals: Goals, row: Row) -> None:
    goals[row["goal"]].checked = row


def _answered(goals: Goals, row: Row) -> None:
    goal = goals[row["goal"]]
    if row["attempt"] != goal.attempt:
        return
    answer = goal.answers[row["question"]] = Answer(
        question=row["question"],
        result=row["result"],
        contract=row["contract"],
        tree=row["tree"],
        without=tuple(row["without"]),
        digest=row["digest"],
        said=row["said"],
        artifacts=row["artifacts"],
    )
    if answer.result == "failed":
        goal.found_broken = [*goal.found_broken, answer]


def _finished(goals: Goals, row: Row) -> None:
    goal = goals[row["goal"]]
    goal.summary, goal.reason, goal.learned = row["summary"], row["reason"], row.get("learned", "")
    goal.state, goal.outcome = row["to"], row.get("outcome")
    if row["verdict"] == "pass":
        goal.receipt, goal.failures, goal.completed_at = row["seq"], 0, row["ts"]
        goal.count += goal.state != "agent-leg-complete"  # that is half a goal; the user's leg makes it whole
    elif row["verdict"] == "fail":
        goal.failures += 1
        goal.state = "exhausted" if goal.failures >= goal.spec.max_retries else "pending"


def _achieved(goals: Goals, row: Row) -> None:
    goal = goals[row["goal"]]
    goal.streak, goal.ready_at = streaks.of_row(row), seconds(row["ts"])


def _unblocked(goals: Goals, row: Row) -> None:
    name = row["goal"]
    predecessor = goals[name]
    predecessor.summary = row["summary"]
    for goal in dependents(goals, name):
        if goal.blocked_by == [name]:
            goal.ready_at = seconds(row["ts"])
        goal.blocked_by = [one for one in goal.blocked_by if one != name]
        if name in goal.spec.needed:
            goal.inputs[name] = _output_of(predecessor)


def _output_of(goal: Goal) -> Row:
    return {"from": goal.id, "summary": goal.summary, "receipt": goal.receipt, "at": goal.completed_at}


def dependents(goals: Goals, name: str) -> list[Goal]:
    return [goal for goal in goals.values() if name in goal.blocked_by or name in goal.spec.needed]


_APPLY: dict[str, Callable[[Goals, Row], None]] = {
    "goal-added": _added,
    "begun": _begun,
    "checks-evaluated": _checked,
    "answered": _answered,
    "finished": _finished,
    "achieved": _achieved,
    "unblocked": _unblocked,
}


@dataclass(frozen=True)
class Place:
    """Where and when, and by whom: handed in once."""

    state: str
    root: str
    by: str
    now: float
    wait: float

    @property
    def journal(self) -> Journal:
        return Journal(os.path.join(paths.verify_dir(self.state), "goals"), self.state)

    def goals(self) -> Goals:
        return _fold(self.journal.rows())

    def goal(self, name: str) -> Goal:
        return known(self.goals(), name)

    def change(self, decide: Callable[[Goals], tuple[Any, list[Row]]]) -> Any:
        """Decide on the goals under the lock of their journal, which is whole; what it returns is appended as one."""

        def under_lock(rows: list[Row]) -> tuple[Any, list[Row]]:
            self.require_whole_journal()
            return decide(_fold(rows))

        return self.journal.change(under_lock, actor=self.by, now=self.now, wait=self.wait)

    def require_whole_journal(self) -> None:
        if problems := self.journal.problems():
            raise Refused(
                f"the goals' journal {self.journal.path} is damaged",
                fix=SEAL,
                defects=problems,
            )


def known(goals: Goals, name: str) -> Goal:
    if name not in goals:
        near = difflib.get_close_matches(name, goals, n=1)
        there = f"did you mean {near[0]}?" if near else f"there are: {', '.join(goals) or 'none yet'}"
        raise BadInput(f"there is no goal {name!r}", fix=f"{there} (omo verify add --file GOAL)")
    return goals[name]


def require_in_progress(goal: Goal) -> None:
    if goal.state != "in-progress":
        raise Refused(f"goal {goal.id} is {goal.status}, not in progress", fix=f"omo verify begin {goal.id}")
