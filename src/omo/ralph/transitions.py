"""What a judgement does to a criterion, and what the criteria together mean. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

MOST_FAILURES = 3  # in a row
MOST_REGRESSIONS = 3  # in the whole run: what comes and goes is not mended by another round
MOST_ITERATIONS = 50
DEFAULT_ITERATIONS = 5
STATUSES = ("PENDING", "PASS", "FAIL", "REGRESSED", "BLOCKED")
OPEN = ("PENDING", "FAIL", "REGRESSED")


@dataclass(frozen=True)
class State:
    """`fail_count` counts failures in a row. `regressed_at_iteration` stays until the next pass."""

    status: str = "PENDING"
    fail_count: int = 0
    previous_status: str | None = None
    regressed_at_iteration: int | None = None
    last_pass_iteration: int | None = None
    regressions: int = 0

    @property
    def data(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def is_flapping(self) -> bool:
        """Blocked because it passed and broke too often, not because it never passed."""
        return self.status == "BLOCKED" and self.fail_count < MOST_FAILURES


def after(state: State, result: str, iteration: int) -> State:
    """One judgement. What nobody could tell changes nothing; a pass wipes everything but the count of regressions."""
    if result == "unknown":
        return state
    known = replace(state, previous_status=state.status)
    if result == "pass":
        return replace(known, status="PASS", fail_count=0, regressed_at_iteration=None, last_pass_iteration=iteration)
    return _failed(known, iteration)


def _failed(state: State, iteration: int) -> State:
    if state.status == "BLOCKED":
        return state
    if state.status == "PASS":
        times = state.regressions + 1
        status = "BLOCKED" if times >= MOST_REGRESSIONS else "REGRESSED"
        return replace(state, status=status, regressed_at_iteration=iteration, regressions=times)
    count = state.fail_count + 1
    return replace(state, status="BLOCKED" if count >= MOST_FAILURES else "FAIL", fail_count=count)


def verdict(states: Mapping[str, State], results: Mapping[str, str]) -> str:
    """`pass`: every criterion was seen to pass this time. `partial`: settled, and something is blocked.

    A criterion that passed before and could not be told now keeps its status, and settles nothing.
    """
    if not states or not all(_is_settled(state, results.get(name)) for name, state in states.items()):
        return "fail"
    return "pass" if all(state.status == "PASS" for state in states.values()) else "partial"


def _is_settled(state: State, result: str | None) -> bool:
    return state.status == "BLOCKED" or (state.status == "PASS" and result == "pass")


def decision(states: Mapping[str, State], iteration: int, max_iterations: int, results: Mapping[str, str]) -> str:
    """`done` before `safeguard` before `replan`: all that passes in the last iteration is done, not cut short."""
    if verdict(states, results) != "fail":
        return "done"
    return "safeguard" if iteration >= max_iterations else "replan"
