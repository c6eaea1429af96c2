"""Which states the work of a session has, and what moves it from one to another; docs/state-files.md shows it."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

State = Literal["active", "waiting", "paused", "ended"]
WaitsFor = Literal["user", "host", "outside"]
Mover = Literal["user", "agent", "host", "omo"]
STATES: tuple[State, ...] = get_args(State)


class Transition(NamedTuple):
    """A move of one run. Without a state `before`, the run begins. A limit is omo's."""

    before: State | None
    after: State
    by: Mover
    what: str


TRANSITIONS = (
    Transition(None, "active", "user", "types `ulw`, or begins a run in a terminal"),
    Transition(None, "active", "agent", "begins a run while no other is open, or the one that the user asked for"),
    Transition(None, "waiting", "agent", "begins a run, and something that it needs is missing"),
    Transition("active", "waiting", "agent", "asks the user, or says what is missing"),
    Transition("active", "waiting", "host", "ends the turn by a limit, or refuses what the agent needs"),
    Transition("active", "paused", "user", "says stop, or begins another run"),
    Transition("active", "paused", "agent", "pauses the session's goal, or hands the goals on"),
    Transition("active", "ended", "agent", "calls it done by its command, or gives it up"),
    Transition(
        "active",
        "ended",
        "omo",
        "lets it go: a breaker, the budget, a ledger damaged twice, another conversation",
    ),
    Transition("active", "ended", "user", "cancels"),
    Transition("waiting", "active", "user", "writes anything"),
    Transition("waiting", "active", "host", "goes on"),
    Transition("waiting", "active", "agent", "has what was missing, or is answered, while no other run is open"),
    Transition("waiting", "paused", "user", "says stop, or begins another run"),
    Transition("waiting", "ended", "agent", "gives it up"),
    Transition("waiting", "ended", "user", "cancels"),
    Transition("waiting", "ended", "omo", "lets it go: a ledger damaged twice, another conversation"),
    Transition("paused", "active", "user", 'says "continue", its name or its command, or types `omo resume`'),
    Transition("paused", "active", "agent", "ends a pause of its own, while no other run is open"),
    Transition("paused", "ended", "agent", "calls it done by its command, or gives it up"),
    Transition("paused", "ended", "user", "cancels"),
    Transition("paused", "ended", "omo", "lets it go: a ledger damaged twice, another conversation"),
    Transition("ended", "active", "user", "goes on with what was let go; pins a gate before an end is told"),
    Transition("ended", "active", "omo", "sees that files changed before the end was told"),
    Transition("ended", "paused", "user", "stops by its name what was let go, or begins another run"),
    Transition("ended", "waiting", "agent", "opens a goal again, and something that it needs is missing"),
    Transition("ended", "active", "agent", "opens a goal again"),
)


def table() -> str:
    """Draw the transitions in Markdown."""
    lines = ["| from | to | by | what happens |", "|---|---|---|---|"]
    lines += [f"| {each.before or ''} | {each.after} | {each.by} | {each.what} |" for each in TRANSITIONS]
    return "\n".join(lines) + "\n"
