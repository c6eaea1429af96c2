"""Where each goal stands: a fold of one journal, and the only way to append to it."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from omo import table
from omo.clock import seconds, stamp
from omo.digest import sha256
from omo.errors import BadInput, Refused, Unreadable
from omo.work.bound import REOPENED
from omo.work.run import Caller, Kind, Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.rows import Base, FilesAtEnd, Outcome

Row = dict[str, Any]

QUESTIONS = ("q1", "q1.5", "q2", "q3")
ANSWERS = (*QUESTIONS, "outcomes", "agent-leg")
# What an answer looks like, for whoever is to give it.
FORMS = {
    "q1": '{"artifact": "PATH", "statement": "X is Y because `PATH` says Z."}, a file that the work made',
    "q1.5": '{"items": [{"question": "Is it so?", "dimension": "correctness", "result": "pass", "covered": true, '
    '"evidence": "PATH line 12"}]}, 5 to 10: presence, correctness, integration, breakage; pass, fail or na',
    "q2": '{"failure_mode": "how it could look done and not be", "checked": true, "how": "what was run to see", '
    '"statement": "X is Y because `PATH` says Z.", "problem": "none"}',
    "q3": '{"scope": "unit", "statement": "X is Y because `PATH` says Z."}, or integration',
    "outcomes": '{"outcomes": [{"outcome": "in the words of the goal", "statement": "X is Y because `PATH` says Z."}]}',
    "agent-leg": '{"outcomes": [{"outcome": "in the words of the goal", "artifact": "PATH", '
    '"statement": "X is Y because `PATH` says Z."}]}',
}
HYPOTHESIS_RESULTS = ("confirmed", "corrected", "expired", "pending")
OVER = ("completed", "agent-leg-complete", "expired")
KINDS = ("begun", "checks-evaluated", "brief", "answered", "finished", "achieved", "unblocked", REOPENED)
FOR_JUDGEMENT = ("string", "judge")  # types of checks that code leaves to the questions
COMMIT_ARTIFACT = "commit"  # in place of a digest: a commit does not change
REPAIR = "the user runs, in a terminal of their own: omo ledger repair (all bytes are kept, and whole rows stand)"
HOUR = 3600.0


@dataclass(frozen=True)
class Spec:
    """What a goal asks for: its file as `documents.parse_goal` read it, and as its row keeps it."""

    id: str
    title: str
    description: str
    category: str
    verification: Row
    participants: list[str]
    blocked_by: list[str]
    depends_on: list[Row]
    recurring: bool
    interval_hours: float | None
    remind_days: float | None
    hypothesis: Row | None
    parent: str | None
    guard: bool
    routine: bool
    max_retries: int

    @property
    def outcomes(self) -> list[str]:
        return list(self.verification["outcomes"])

    @property
    def outcomes_agent_leg(self) -> list[str]:
        return list(self.verification["outcomes_agent_leg"])

    @property
    def checks(self) -> list[Any]:
        return list(self.verification["checks"])

    @property
    def expects(self) -> dict[str, str]:
        """Of each goal whose output it wants to see."""
        return {need["goal_id"]: need["expects"] for need in self.depends_on}

    @property
    def interval(self) -> float:
        """In seconds."""
        if self.interval_hours is not None:
            return self.interval_hours * HOUR
        return (self.remind_days or 1) * 24 * HOUR

    @cached_property
    def contract(self) -> str:
        """What an answer was given for: the digest of all that says what has to be shown."""
        fields = ("title", "description", "verification", "participants", "guard", "routine")
        shown = {name: getattr(self, name) for name in fields}
        return sha256(json.dumps(shown, sort_keys=True).encode())[:32]

    @property
    def has_agent_leg(self) -> bool:
        return "user" in self.participants and bool(self.outcomes_agent_leg)

    @property
    def predecessors(self) -> list[str]:
        return list(dict.fromkeys([*self.blocked_by, *self.expects]))

    @property
    def asks_questions(self) -> bool:
        """Do the checks leave something that only questions can settle?"""
        return not self.checks or any(is_for_judgement(check) for check in self.checks)

    @property
    def in_words(self) -> dict[str, str]:
        """What no code can evaluate, by the id that a judge answers it under: checks in words, and every outcome."""
        questions = {}
        for number, check in enumerate(self.checks, start=1):
            if is_for_judgement(check):
                name, question = f"check-{number}", check
                if not isinstance(check, str):
                    name, question = check.get("id") or name, check["question"]
                questions[name] = question
        for number, outcome in enumerate(self.outcomes, start=1):
            questions[f"outcome {number}"] = f"Is this so: {outcome}"  # no id of a check has a blank
        return questions


def is_for_judgement(check: Any) -> bool:
    return isinstance(check, str) or check.get("type") == "judge"


@dataclass(frozen=True)
class Streak:
    """How often in a row a recurring goal was achieved, and when last."""

    current: int = 0
    longest: int = 0
    count: int = 0
    last: float | None = None

    @property
    def text(self) -> str:
        return f"streak {self.current}, longest {self.longest}"

    def achieved(self, interval: float, now: float) -> Streak:
        """Exactly twice the interval still continues a streak; one moment more starts it anew."""
        # Milliseconds: a clock read twice does not subtract to the last bit.
        is_missed = self.last is not None and round(now - self.last, 3) > round(2 * interval, 3)
        current = 1 if is_missed else self.current + 1
        return Streak(current, max(current, self.longest), self.count + 1, now)

    def due_at(self, interval: float) -> float | None:
        """When it may be achieved again; None for a goal that never was."""
        return None if self.last is None else self.last + interval

    def is_due(self, interval: float, now: float) -> bool:
        due = self.due_at(interval)
        return due is None or round(now - due, 3) >= 0

    def data(self, interval: float, now: float) -> Row:
        due = self.due_at(interval)
        return {
            "current": self.current,
            "longest": self.longest,
            "count": self.count,
            "lastAchievedAt": None if self.last is None else stamp(self.last),
            "intervalHours": interval / HOUR,
            "dueAt": None if due is None else stamp(due),
            "due": self.is_due(interval, now),
        }


class QuestionAnswer(NamedTuple):
    """A checkpoint: what was answered, for which contract, on which tree; `unseen` is what it cites unlooked at."""

    question: str
    result: str
    contract: str
    tree: str
    said: Row
    artifacts: dict[str, str]
    unseen: list[str]
    ts: str


class CheckSeen(NamedTuple):
    """What a check said when it was evaluated last."""

    id: str
    type: str
    result: str
    reason: str
    observed: str


class GoalBrief(NamedTuple):
    """What a judge was asked: by which session, in which attempt, about which contract and tree."""

    nonce: str
    ts: str
    session: str
    attempt: int
    contract: str
    tree: str


class GoalOutput(NamedTuple):
    """What a goal leaves to its dependents."""

    goal: str
    summary: str
    receipt: int | None
    at: str | None

    @property
    def data(self) -> Row:
        return {"from": self.goal, "summary": self.summary, "receipt": self.receipt, "at": self.at}


@dataclass
class Goal:
    """One goal as the journal has it."""

    spec: Spec
    by: str
    source: str = ""
    state: str = "pending"
    blocked_by: list[str] = field(default_factory=list)
    inputs: dict[str, GoalOutput] = field(default_factory=dict)
    answers: dict[str, QuestionAnswer] = field(default_factory=dict)
    found_broken: list[QuestionAnswer] = field(default_factory=list)
    briefs: list[GoalBrief] = field(default_factory=list)  # of every attempt
    checks_seen: list[CheckSeen] = field(default_factory=list)
    checks_seen_on: str = ""  # the tree, where it is known
    failures: int = 0
    attempt: int = 0
    begun: bool = False
    begun_at: str = ""  # this attempt
    ready_at: float = 0.0
    streak: Streak = field(default_factory=Streak)
    streak_before: Streak = field(default_factory=Streak)  # the last achievement
    count: int = 0
    receipt: int | None = None
    tree: str = ""  # what the verdict of its receipt was about
    files: FilesAtEnd | None = None  # the same as Stop compares it
    completed_at: str | None = None
    summary: str = ""
    reason: str = ""
    learned: str = ""
    outcome: Outcome | None = None  # how it ended; None while it has not
    filed_at: float = 0.0
    is_changed: bool = False  # what it asks for, while it was under way
    base: Base | None = None  # the files when it was asked for, and what its commands started; only the user renews it
    programs: Row = field(default_factory=dict)

    @property
    def id(self) -> str:
        return self.spec.id

    @property
    def failing(self) -> list[CheckSeen]:
        """The checks of code that did not pass when they were looked at last."""
        return [check for check in self.checks_seen if check.result != "pass" and check.type not in FOR_JUDGEMENT]

    @property
    def status(self) -> str:
        return "blocked" if self.state == "pending" and self.blocked_by else self.state

    @property
    def attempts_left(self) -> int:
        return max(0, self.spec.max_retries - self.failures)

    @property
    def users_leg(self) -> list[str]:
        """What is left for the user once the agent's leg is done."""
        if not self.spec.has_agent_leg or self.state == "completed":
            return []
        return [outcome for outcome in self.spec.outcomes if outcome not in self.spec.outcomes_agent_leg]

    @property
    def failed(self) -> str:
        return f"failed {self.failures} of {self.spec.max_retries} times" if self.failures else ""

    @property
    def is_released(self) -> bool:
        """Nobody waits for it any more. A recurring goal never completes; once it has passed, that is enough."""
        return self.state == "completed" or self.streak.last is not None

    @property
    def output(self) -> GoalOutput:
        return GoalOutput(self.id, self.summary, self.receipt, self.completed_at)


class Goals(dict[str, Goal]):
    """Every goal of the project by its id. Sessions share them: none of them is the one that holds the journal."""

    is_open = False
    session = ""
    root = ""


def fold(rows: Sequence[Row], _: str = "") -> Goals:
    """Raises Unreadable for rows that omo did not write so; kinds it does not know pass."""
    goals = Goals()
    for row in rows:
        try:
            if row.get("kind") == "goal-added":
                _added(goals, row)
            elif row.get("kind") in KINDS:
                _apply(goals, goals[row["goal"]], row)
        except (KeyError, TypeError, ValueError, AttributeError):
            shape = f"row {row.get('seq')} of the goals' journal does not have the shape of {row.get('kind')}"
            raise Unreadable(shape, fix=REPAIR) from None
    return goals


def _added(goals: Goals, row: Row) -> None:
    """A goal is filed, or filed again: that changes what has to be shown, not what has happened."""
    spec = Spec(**row["spec"])
    filed_at = seconds(row["ts"])
    by = "user" if row.get("confirmed") else row["actor"]
    goal = Goal(spec, by=by, source=row["source"], ready_at=filed_at, filed_at=filed_at)
    goal.base, goal.programs = row.get("base"), row.get("programs") or {}
    freed: set[str] = set()
    if old := goals.get(spec.id):
        freed = set(old.spec.blocked_by) - set(old.blocked_by)
        goal.streak, goal.streak_before, goal.count = old.streak, old.streak_before, old.count
        if spec.contract == old.spec.contract:
            goal.found_broken, goal.briefs = old.found_broken, old.briefs
        if old.state not in OVER:
            goal.begun, goal.ready_at = old.begun, old.ready_at
            goal.is_changed = old.is_changed or (old.begun and old.spec != spec)
        if old.state == "in-progress":
            goal.state, goal.attempt, goal.begun_at, goal.answers = old.state, old.attempt, old.begun_at, old.answers
    for name in spec.blocked_by:
        if name not in freed and (name not in goals or not goals[name].is_released):
            goal.blocked_by.append(name)
    for name in spec.expects:
        if name in goals and goals[name].receipt is not None:
            goal.inputs[name] = goals[name].output
    goals[spec.id] = goal


def _apply(goals: Goals, goal: Goal, row: Row) -> None:
    kind = row["kind"]
    if kind == "begun":
        if row.get("again"):
            goal.failures, goal.receipt, goal.ready_at = 0, None, seconds(row["ts"])
        goal.state, goal.attempt, goal.answers, goal.checks_seen = "in-progress", row["seq"], {}, []
        goal.begun, goal.begun_at, goal.outcome = True, row["ts"], None
    elif kind == "checks-evaluated":
        goal.checks_seen = [CheckSeen(*(check[name] for name in CheckSeen._fields)) for check in row["checks"]]
        goal.checks_seen_on = row.get("tree", "")
        if goal.outcome is not None and row["verdict"] == "pass" and goal.checks_seen_on:
            goal.tree = goal.checks_seen_on  # looked at again when a later goal was finished
    elif kind == "brief":
        goal.briefs.append(GoalBrief(*(row[name] for name in GoalBrief._fields)))
    elif kind == "answered" and row["attempt"] == goal.attempt:
        fields = {"unseen": [], **row}
        answer = QuestionAnswer(*(fields[name] for name in QuestionAnswer._fields))
        goal.answers[answer.question] = answer
        if answer.result == "failed":
            goal.found_broken = [*goal.found_broken, answer]
    elif kind == "finished":
        _finished(goal, row)
    elif kind == REOPENED and goal.outcome is not None:
        # The attempt goes on where it was, and what was counted with its end is taken back.
        if goal.state != "agent-leg-complete":
            goal.count -= 1
        goal.state, goal.outcome, goal.streak = "in-progress", None, goal.streak_before
        goal.reason = ""
    elif kind == "achieved":
        goal.streak_before, goal.streak = goal.streak, Streak(row["streak"], row["longest"], row["count"], row["at"])
        goal.ready_at = seconds(row["ts"])
    elif kind == "unblocked":
        goal.summary = row["summary"]
        for other in goals.values():
            if goal.id in other.blocked_by:
                other.blocked_by.remove(goal.id)
            if goal.id in other.spec.expects:
                other.inputs[goal.id] = goal.output


def _finished(goal: Goal, row: Row) -> None:
    goal.summary, goal.reason, goal.learned = row["summary"], row["reason"], row.get("learned", "")
    goal.state, goal.outcome = row["to"], row.get("outcome")
    if row["verdict"] == "pass":
        goal.receipt, goal.failures, goal.completed_at = row["seq"], 0, row["ts"]
        goal.tree, goal.files = row.get("tree", ""), row.get("files")
        if goal.state != "agent-leg-complete":  # that is half a goal; the user's leg makes it whole
            goal.count += 1
    elif row["verdict"] == "fail":
        goal.failures += 1
        goal.state = "exhausted" if goal.failures >= goal.spec.max_retries else "pending"


def home(state: str) -> str:
    return os.path.join(state, "verify")


VERIFY: Kind[Goals] = Kind("verify", "journal of goals", "", "omo verify add --file GOAL", home, fold)


class GoalStore(Run[Goals]):
    """The goals of a project, read once. One journal has them all, whichever sessions work on them."""

    def __init__(self, caller: Caller) -> None:
        journal = table.BY_KIND[VERIFY.name].journal
        super().__init__(VERIFY, caller, "goals", directory=os.path.join(caller.state, journal))

    @property
    def goals(self) -> Goals:
        if self.state is None:
            raise self.damage()
        return self.state

    def goal(self, name: str) -> Goal:
        if self.problems and name not in self.goals:
            raise self.damage()  # it may be among the rows that are lost
        return known(self.goals, name)

    def damage(self) -> Refused:
        return Refused(f"the goals' journal {self.journal.path} is damaged", fix=REPAIR, defects=self.problems)


def known(goals: Goals, name: str) -> Goal:
    if name not in goals:
        near = difflib.get_close_matches(name, goals, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(goals) or 'none yet'}"
        raise BadInput(f"there is no goal {name!r}", fix=f"{hint} (omo verify add --file GOAL)")
    return goals[name]


def require_in_progress(goal: Goal) -> None:
    if goal.state == "exhausted":
        raise closed(goal)
    if goal.state != "in-progress":
        verb = "begin" if goal.status == "pending" else "status"
        raise Refused(f"goal {goal.id} is {goal.status}, not in progress", fix=f"omo verify {verb} {goal.id}")


def closed(goal: Goal) -> Refused:
    """It is over, or no attempt is left."""
    return Refused(
        f"goal {goal.id} is {goal.state}: {goal.reason}",
        fix=f"only the user can open it again: omo verify begin {goal.id} --again WHY",
    )
