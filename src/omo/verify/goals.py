"""Goals to be verified: what a goal file may say, and where each goal stands. State is a fold of one journal."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from omo.clock import seconds, stamp
from omo.digest import sha256
from omo.errors import BadInput, Refused, Unreadable
from omo.evidence.checks import parse_checks
from omo.evidence.pins import seal
from omo.state import paths
from omo.state.journal import Journal
from omo.verify import streaks

Row = dict[str, Any]

SHORTEST_REASON = 10
OVER = ("completed", "agent-leg-complete", "expired")


def _listed(value: object) -> object:
    """Hand-written goals say null for none, and leave out the brackets around one."""
    if value is None:
        return []
    return [value] if isinstance(value, (str, dict)) else value


def _needs(value: object) -> object:
    listed = _listed(value)
    if not isinstance(listed, list):
        return listed
    return [{"goal_id": one} if isinstance(one, str) else one for one in listed]


def _named(value: object) -> object:
    return {"id": value} if isinstance(value, str) else value


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
Line = Annotated[str, Field(min_length=1, max_length=2000)]
Lines = Annotated[list[Line], BeforeValidator(_listed)]
Ids = Annotated[list[Id], BeforeValidator(_listed)]


class Need(Strict):
    """A predecessor whose output this goal wants to see, and what for."""

    goal_id: Id
    expects: str = ""


class Hypothesis(Strict):
    id: Line
    text: str = ""


class Verification(Strict):
    outcomes: Lines = []
    checks: Annotated[list[Any], BeforeValidator(_listed)] = []
    outcomes_agent_leg: Lines = []


class GoalFile(Strict):
    """What a goal file may say."""

    id: Id
    title: Annotated[str, Field(min_length=3, max_length=200)]
    description: Annotated[str, Field(max_length=20_000)] = ""
    category: Line = "general"
    verification: Verification = Verification()
    participants: Lines = ["agent"]
    blocked_by: Ids = []
    depends_on: Annotated[list[Need], BeforeValidator(_needs)] = []
    recurring: bool = False
    interval_hours: Annotated[float, Field(gt=0)] | None = None
    remind_days: Annotated[float, Field(gt=0)] | None = None
    hypothesis: Annotated[Hypothesis | None, BeforeValidator(_named)] = None
    parent: Id | None = None
    guard: bool = False
    routine: bool = False
    max_retries: Annotated[int, Field(ge=1, le=100)] = 3

    @model_validator(mode="after")
    def _waits_for_others_only(self) -> GoalFile:
        if self.id in self.blocked_by or self.id in self.needed:
            raise ValueError(f"{self.id} cannot wait for itself")
        return self

    @property
    def needed(self) -> list[str]:
        return [need.goal_id for need in self.depends_on]

    @property
    def every(self) -> float:
        """The interval of a recurring goal, in seconds."""
        return streaks.interval(self.interval_hours, self.remind_days)

    @property
    def has_agent_leg(self) -> bool:
        return "user" in self.participants and bool(self.verification.outcomes_agent_leg)

    @property
    def contract(self) -> str:
        """What an answer was given for. It changes with anything that changes what has to be shown."""
        block = self.model_dump(include={"verification", "participants", "guard", "routine"})
        return sha256(json.dumps(block, sort_keys=True).encode())[:32]


def parse_goal(data: object, where: str) -> GoalFile:
    """The goal, or every defect of it in one answer."""
    if not isinstance(data, dict):
        raise BadInput(f"{where} holds {type(data).__name__}, not a goal", fix="give an object with id and title")
    spec, defects = None, []
    try:
        spec = GoalFile.model_validate(data)
    except ValidationError as error:
        defects += defects_of(error, GoalFile)
    defects += _defects_of_checks(data.get("verification"))
    if spec is None or defects:
        count = f"{len(defects)} defect{'s' if len(defects) > 1 else ''}"
        fix = "mend the fields named, then omo verify add --file again; docs/verify.md shows a whole goal"
        raise BadInput(f"{where} is not a goal: {count}", fix=fix, defects=defects)
    return spec


def _defects_of_checks(verification: object) -> list[str]:
    if not isinstance(verification, dict):
        return []
    try:
        parse_checks(_listed(verification.get("checks")), "verification.checks")
    except BadInput as error:
        listed = error.details.get("defects")
        return [str(one) for one in listed] if isinstance(listed, list) and listed else [error.message]
    return []


def defects_of(error: ValidationError, model: type[BaseModel]) -> list[str]:
    """Field, what is wrong with it, and its value; for a field nobody knows, the one that was probably meant."""
    lines = []
    for one in error.errors():
        place = ".".join(str(part) for part in one["loc"]) or "the file"
        if one["type"] == "extra_forbidden":
            lines.append(f"{place}: no such field{_nearest(one['loc'], model)}")
        else:
            shown = "" if one["type"] in ("missing", "value_error") else f", not {_clip(repr(one['input']), 60)}"
            lines.append(f"{place}: {one['msg'].removeprefix('Value error, ')}{shown}")
    return lines


def _nearest(place: tuple[int | str, ...], model: type[BaseModel]) -> str:
    known = list(_fields_at(place[:-1], model))
    near = difflib.get_close_matches(str(place[-1]), known, n=1, cutoff=0.5)
    return f"; did you mean {near[0]}?" if near else f"; there are {', '.join(known)}" if known else ""


def _fields_at(place: tuple[int | str, ...], model: type[BaseModel]) -> list[str]:
    for part in place:
        if isinstance(part, int):
            continue
        inner = model.model_fields.get(part)
        found = _model_in(inner.annotation) if inner else None
        if found is None:
            return []
        model = found
    return list(model.model_fields)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for one in get_args(annotation) if (found := _model_in(one))), None)


def _clip(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


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
    checked: Row | None = None
    failures: int = 0
    attempt: int = 0
    ready_at: float = 0.0
    streak: streaks.Streak = field(default_factory=streaks.Streak)
    count: int = 0
    receipt: int | None = None
    completed_at: str | None = None
    summary: str = ""
    reason: str = ""
    learned: str = ""
    refiled: int = 0

    @property
    def id(self) -> str:
        return self.spec.id

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


def fold(rows: list[Row]) -> Goals:
    goals: Goals = {}
    for row in rows:
        apply = _APPLY.get(str(row.get("kind")))
        if apply is not None:
            try:
                apply(goals, row)
            except (KeyError, TypeError, ValueError):
                raise Unreadable(
                    f"row {row.get('seq')} of the goals' journal does not have the shape of {row.get('kind')}",
                    fix="omo verify repair keeps it aside and carries the goals over",
                ) from None
    return goals


def _added(goals: Goals, row: Row) -> None:
    spec = GoalFile.model_validate(row["spec"])
    old = goals.get(spec.id)
    goal = goals[spec.id] = Goal(spec, by=row["actor"], source=row["source"], ready_at=seconds(row["ts"]))
    if old is not None:
        _carry_over(old, goal, by=row["actor"])
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
    goal.streak, goal.count, goal.refiled = old.streak, old.count, old.refiled + 1
    goal.inputs = {name: one for name, one in old.inputs.items() if name in goal.spec.needed}
    goal.failures = 0 if by == "user" or old.state in OVER else old.failures
    goal.ready_at = goal.ready_at if old.state in OVER else old.ready_at
    if old.state == "in-progress":
        goal.state, goal.attempt, goal.answers = old.state, old.attempt, old.answers


def _begun(goals: Goals, row: Row) -> None:
    goal = goals[row["goal"]]
    if row.get("again"):
        goal.failures, goal.receipt, goal.ready_at = 0, None, seconds(row["ts"])
    goal.state, goal.attempt, goal.answers, goal.checked = "in-progress", row["seq"], {}, None


def _checked(goals: Goals, row: Row) -> None:
    goals[row["goal"]].checked = row


def _answered(goals: Goals, row: Row) -> None:
    goal = goals[row["goal"]]
    if row["attempt"] == goal.attempt:
        goal.answers[row["question"]] = Answer(
            question=row["question"],
            result=row["result"],
            contract=row["contract"],
            tree=row["tree"],
            without=tuple(row["without"]),
            digest=row["digest"],
            said=row["said"],
            artifacts=row["artifacts"],
        )


def _finished(goals: Goals, row: Row) -> None:
    goal = goals[row["goal"]]
    goal.summary, goal.reason, goal.learned = row["summary"], row["reason"], row.get("learned", "")
    goal.state = row["to"]
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
        return fold(self.journal.rows())

    def goal(self, name: str) -> Goal:
        return known(self.goals(), name)

    def change(self, decide: Callable[[Goals], tuple[Any, list[Row]]]) -> Any:
        """Decide on the goals under the journal's lock; what it returns is appended as one."""
        return self.journal.change(lambda rows: decide(fold(rows)), actor=self.by, now=self.now, wait=self.wait)

    def require_whole_journal(self) -> None:
        if problems := self.journal.problems():
            raise Refused(
                f"the goals' journal {self.journal.path} is damaged",
                fix="omo verify repair keeps it aside; goals are carried over and verified anew",
                defects=problems,
            )


def known(goals: Goals, name: str) -> Goal:
    if name not in goals:
        near = difflib.get_close_matches(name, goals, n=1)
        there = f"did you mean {near[0]}?" if near else f"there are: {', '.join(goals) or 'none yet'}"
        raise BadInput(f"there is no goal {name!r}", fix=f"{there} (omo verify add --file GOAL)")
    return goals[name]


def check_filing(old: Goal | None, spec: GoalFile, by: str) -> None:
    """The agent may not lower a bar that the user set, nor file itself more tries."""
    if old is None or by == "user":
        return
    if old.by == "user" and old.spec != spec:
        raise Refused(
            f"goal {spec.id} was filed by the user; only they can change it",
            fix=f"ask the user to run omo verify add --file for {spec.id} in a terminal of their own",
        )
    if old.state == "exhausted":
        raise _spent(old)
    if old.failures and spec.max_retries > old.spec.max_retries:
        raise Refused(
            f"max_retries {spec.max_retries}: goal {spec.id} has failed {old.failures} of {old.spec.max_retries} times",
            fix="leave max_retries as it is; the user can raise it",
        )


def file_goal(place: Place, spec: GoalFile, *, source: str) -> Goal:
    def decide(goals: Goals) -> tuple[None, list[Row]]:
        check_filing(goals.get(spec.id), spec, place.by)
        return None, [{"kind": "goal-added", "goal": spec.id, "source": source, "spec": spec.model_dump()}]

    place.change(decide)
    return place.goal(spec.id)


def begin(place: Place, name: str, *, session: str, again: str = "") -> bool:
    """Mark a goal in progress. False if it already was: what is answered and still holds stays."""

    def decide(goals: Goals) -> tuple[bool, list[Row]]:
        goal = known(goals, name)
        if goal.state == "in-progress":
            return False, []
        check_beginning(goal, by=place.by, now=place.now, again=again)
        event = {"kind": "begun", "goal": name, "session": session, "attempt": goal.failures + 1}
        return True, [{**event, "again": again} if again else event]

    fresh: bool = place.change(decide)
    return fresh


def check_beginning(goal: Goal, *, by: str, now: float, again: str) -> None:
    if again and by != "user":
        raise Refused("--again is the user's to say", fix=f"ask the user to run omo verify begin {goal.id} --again WHY")
    if again and len(again.strip()) < SHORTEST_REASON:
        raise BadInput(f"--again {again!r} explains nothing", fix="give a reason of 10 characters or more")
    if goal.blocked_by:
        raise Refused(
            f"goal {goal.id} is blocked by {', '.join(goal.blocked_by)}",
            fix=f"finish {goal.blocked_by[0]} first: omo verify status {goal.blocked_by[0]}",
        )
    if goal.state in OVER and not again:
        raise Refused(
            f"goal {goal.id} is {goal.state} since {goal.completed_at}",
            fix=f"nothing is left to do; the user can reopen it: omo verify begin {goal.id} --again WHY",
        )
    if goal.state == "exhausted" and not again:
        raise _spent(goal)
    if goal.spec.recurring and not again:
        check_due(goal, now)


def check_due(goal: Goal, now: float) -> None:
    if not streaks.is_due(goal.streak, every=goal.spec.every, now=now):
        due = streaks.due_at(goal.streak, every=goal.spec.every)
        raise Refused(
            f"goal {goal.id} is not due before {stamp(due or 0)}",
            fix=f"come back then; omo verify streak {goal.id} shows where it stands",
        )


def _spent(goal: Goal) -> Refused:
    return Refused(
        f"goal {goal.id} failed verification {goal.failures} of {goal.spec.max_retries} times, last: {goal.reason}",
        fix=f"only the user can open it again: omo verify begin {goal.id} --again WHY",
    )


def repair(place: Place) -> str:
    """Keep a damaged journal aside. The goals are carried over; nothing that was passed or answered is."""
    if place.by != "user":
        raise Refused(
            "what a damaged journal says of the goals cannot be trusted; only the user can carry it over",
            fix="ask the user to run omo verify repair in a terminal of their own",
        )

    def decide(rows: list[Row]) -> tuple[str, list[Row]]:
        if not place.journal.problems():
            raise Refused("the goals' journal needs no repair", fix="omo verify status")
        sealed = seal(place.journal, place.now)
        filed = {str(row.get("goal")): row for row in rows if row.get("kind") == "goal-added" and _is_readable(row)}
        kept = ("kind", "goal", "source", "spec")
        return str(sealed[0]["kept"]), sealed + [{key: row[key] for key in kept} for row in filed.values()]

    kept: str = place.journal.change(decide, actor=place.by, now=place.now, wait=place.wait)
    return kept


def _is_readable(row: Row) -> bool:
    try:
        return GoalFile.model_validate(row["spec"]).id == row["goal"] and "source" in row
    except (KeyError, ValidationError):
        return False


def family_complete(goals: Goals, parent: str | None) -> bool:
    """Every goal under the same parent is completed. Recurring ones never are, so they do not count."""
    family = [goal for goal in goals.values() if parent and goal.spec.parent == parent and not goal.spec.recurring]
    return bool(family) and all(goal.state == "completed" for goal in family)
