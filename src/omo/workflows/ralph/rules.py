"""The rules of a run that need nothing but its own values: its phases, and what a judgement does to a criterion."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from omo.digest import sha256
from omo.json_text import Json
from omo.state.ledger_rows import LedgerRow
from omo.text import clip, counted

if TYPE_CHECKING:
    from omo.state.rows import Base, Outcome


# In the order in which they have to happen. IMPL may also be the agent's own work, SHIP is what the gates say.
PROVEN_BY: dict[str, str | None] = {
    "PLAN": "omo:planner",
    "IMPL": "omo:executor",
    "VERIFY": "omo:qa",
    "REFINE": "omo:critic",
    "SHIP": None,
}
PHASES = tuple(PROVEN_BY)
REDUCIBLE = ("PLAN", "VERIFY", "REFINE", "SHIP")  # what the user may do without; nothing can do without work
SMALL_CHANGE = 50  # lines; REFINE may be left out below it

MOST_FAILURES = 3  # in a row
MOST_REGRESSIONS = 3  # in the whole run: what comes and goes is not mended by another round
MOST_CIRCUMVENTIONS = 3
MOST_CRITERIA = 50
MOST_ITERATIONS = 50
DEFAULT_ITERATIONS = 5
STATUSES = ("PENDING", "PASS", "FAIL", "REGRESSED", "BLOCKED")
OPEN = ("PENDING", "FAIL", "REGRESSED")
LONGEST_FIELD, LONGEST_METHOD = 200, 400
LONGEST_REQUEST = 8000
# What the user asked for, as a criterion of its own: no file can take its id, and the judge answers it in every round.
REQUEST = "C0"
REQUEST_DESCRIPTION = "all that the user asked for is there"
REQUEST_CHECK: CheckRow = {
    "id": "request",
    "type": "judge",
    "question": "Is all of it there that the user asked for, in the words above, and does it hold when it is tried?",
}

# Of the judge its whole prompt: what it is asked it reads there itself, and nobody tells it anything else.
PROMPT = "omo ralph brief"
ASK = f"start a new omo:judge with this as its whole prompt: {PROMPT}"


class CheckRow(TypedDict, total=False):
    """A check as it was pinned; what else it has is up to its type."""

    id: str  # unique in its criterion
    type: str
    question: str
    argv: list[str]
    cwd: str


class CriterionResult(TypedDict, total=False):
    """What a judgement says of a criterion."""

    result: str
    evidence: str
    source: str
    cached_from: int | None  # the iteration that ran it, where another did
    suggested_action: str
    kept: dict[str, int]  # by what a later iteration may take it over, and which one ran it


class AskedBefore(TypedDict, total=False):
    """A criterion of an earlier run: what tells whether another one asks the same, and what became of it."""

    id: str
    description: str
    checks: list[str]
    from_run: str
    evidence: str
    again: list[str]  # the criteria of this run that ask the same


class RunBefore(TypedDict, total=False):
    """The run that one carries on from."""

    run: str
    how: str
    statuses: dict[str, str]
    dropped: list[AskedBefore]


class Request(TypedDict):
    text: str
    by: str


class JudgedGate(TypedDict, total=False):
    name: str
    by: str
    failed: str


class RalphRow(LedgerRow, total=False):
    """A row of a run's ledger, of whichever kind."""

    run: str
    session: str
    root: str
    request: Request | None
    criteria: Any  # as `Criterion` has them; of a brief their ids
    confirmed: bool
    source: str
    base: str | None
    files: Base
    programs: dict[str, str]  # what commands of criteria stood for
    max_iterations: int
    reduced_scope: str
    lessons: list[AskedBefore]
    after: RunBefore
    before: dict[str, str]
    iteration: int
    tree: str
    session_seq: int
    session_digest: str
    results: dict[str, CriterionResult]
    independence: str
    call: int
    nonce: str
    states: dict[str, Any]  # as `CriterionState` has them
    verdict: str
    decision: str
    gates: list[JudgedGate]
    challenges: Any
    proof: str
    doubts: list[str]
    allowed: list[str]
    missing: list[str]
    how: str
    receipt: object
    outcome: Outcome
    name: str
    skipped: str
    digest: str


@dataclass(frozen=True)
class Criterion:
    """As the ledger keeps it. `guard`: true before the work already and meant to stay so."""

    id: str
    description: str
    checks: list[CheckRow]
    affected_paths: list[str]
    guard: bool

    @property
    def data(self) -> Json:
        return asdict(self)

    @cached_property
    def questions(self) -> list[CheckRow]:
        """What code cannot decide."""
        return [check for check in self.checks if check["type"] == "judge"]

    @cached_property
    def mechanical(self) -> list[CheckRow]:
        return [check for check in self.checks if check["type"] != "judge"]

    @cached_property
    def digests(self) -> frozenset[str]:
        return frozenset(digest_of(check) for check in self.checks)

    def goal(self, run: str) -> str:
        """What its checks are pinned for."""
        return f"ralph/{run}/{self.id}"


def digest_of(check: CheckRow) -> str:
    """As its pin has it: the same for the same meaning, whatever its id."""
    meaning = {name: value for name, value in check.items() if name != "id"}
    return sha256(json.dumps(meaning, sort_keys=True).encode("ascii"))


def method(check: CheckRow) -> str:
    """How a check is decided, in a line: its fields, without those that say nothing."""
    fields = []
    for name, value in check.items():
        says_nothing = value is None or value is False or value in ("", ".", [])
        if name not in ("id", "type", "guard", "timeout") and not says_nothing:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            fields.append(f"{name} {clip(text, LONGEST_FIELD)}")
    return clip(f"{check['type']} {', '.join(fields)}", LONGEST_METHOD)


@dataclass(frozen=True)
class CriterionState:
    """`fail_count` counts failures in a row. `regressed_at_iteration` stays until the next pass."""

    status: str = "PENDING"
    fail_count: int = 0
    previous_status: str | None = None
    regressed_at_iteration: int | None = None
    last_pass_iteration: int | None = None
    regressions: int = 0

    @property
    def data(self) -> Json:
        return asdict(self)

    @property
    def counts(self) -> list[str]:
        """How often it did not hold, in words."""
        counts = []
        if self.fail_count:
            counts.append(f"failed {self.fail_count} in a row")
        if self.regressions:
            counts.append(f"regressed {counted(self.regressions, 'time')}")
        return counts


def after(state: CriterionState, result: str, iteration: int) -> CriterionState:
    """One judgement. What nobody could tell changes nothing; a pass wipes everything but the count of regressions."""
    if result == "unknown":
        return state
    known = replace(state, previous_status=state.status)
    if result == "pass":
        return replace(known, status="PASS", fail_count=0, regressed_at_iteration=None, last_pass_iteration=iteration)
    if state.status == "BLOCKED":
        return known
    if state.status == "PASS":
        regressions = state.regressions + 1
        status = "BLOCKED" if regressions >= MOST_REGRESSIONS else "REGRESSED"
        return replace(known, status=status, regressed_at_iteration=iteration, regressions=regressions)
    failures = state.fail_count + 1
    return replace(known, status="BLOCKED" if failures >= MOST_FAILURES else "FAIL", fail_count=failures)


class Applied(NamedTuple):
    """What an iteration comes to if it is closed on its results."""

    states: dict[str, CriterionState]
    verdict: str
    decision: str


def apply(
    before: Mapping[str, CriterionState], results: Mapping[str, str], iteration: int, max_iterations: int
) -> Applied:
    """`pass`: every criterion was seen to pass this time. `partial`: settled, and something is blocked. `unknown`:
    nobody could tell, and nothing failed. A criterion that passed before and could not be told now settles nothing.

    `done` before `safeguard` before `replan`: all that passes in the last iteration is done, not cut short.
    """
    states = {name: after(known, results[name], iteration) for name, known in before.items()}
    unblocked = [name for name, known in states.items() if known.status != "BLOCKED"]
    if states and all(results[name] == "pass" for name in unblocked):
        return Applied(states, "pass" if len(unblocked) == len(states) else "partial", "done")
    verdict = "fail" if any(results[name] == "fail" for name in unblocked) else "unknown"
    return Applied(states, verdict, "safeguard" if iteration >= max_iterations else "replan")
