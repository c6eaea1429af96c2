"""The session's goal: what it is after. One state machine over a journal of its own, which knows of no plan."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from omo.clock import stamp
from omo.errors import BadInput, Refused
from omo.json_text import Json
from omo.state import paths
from omo.state.journal import Journal
from omo.state.ledger_rows import LedgerRow
from omo.text import clip
from omo.work.bound import GOAL_REOPENED
from omo.workflows.ultragoal.plan import POINTER

if TYPE_CHECKING:
    from omo.work.run import Caller


NONE = "none"
RECOVERY = "the user runs, in a terminal of their own: omo ledger repair --session {session} (all bytes are kept)"

# operation → the row it writes, the statuses it starts from, and the one it leads to. Any other start is refused; one
# that is there already writes nothing.
MOVES: dict[str, tuple[str, tuple[str, ...], str]] = {
    "create": ("goal_created", (NONE, "dropped", "complete"), "active"),
    "pause": ("goal_paused", ("active", "paused"), "paused"),
    "resume": ("goal_resumed", ("paused", "active"), "active"),
    "complete": ("goal_completed", ("active",), "complete"),
    "drop": ("goal_dropped", ("active", "paused"), "dropped"),
}
LEADS_TO = {kind: after for kind, _, after in MOVES.values()}
# status → what stands in the way, and what to run instead
REFUSALS = {
    NONE: ("there is no goal in this session", "omo goal create --objective TEXT"),
    "active": ("a goal is active", "go on with it (omo goal get shows it), or end it with omo goal drop"),
    "paused": ("the goal is paused", "omo goal resume makes it active again, omo goal drop ends it"),
    "complete": ("the goal is already complete", "omo goal create --objective TEXT starts another one"),
    "dropped": ("the goal was dropped", "omo goal create --objective TEXT starts another one"),
}


class ToolRow(LedgerRow, total=False):
    """Of the goal's journal."""

    goal: str
    objective: str
    run: str
    why: str
    receipts: list[str | None]
    kept: str


@dataclass(frozen=True)
class ToolGoal:
    """`run` is the plan the goal was made for (empty: none), `why` what was said when it was last paused."""

    id: str
    objective: str
    status: str
    created_at: str
    updated_at: str
    run: str = ""
    why: str = ""

    def render(self) -> Json:
        return {
            "id": self.id,
            "objective": self.objective,
            "status": self.status,
            "createdAt": self.created_at,
            "updatedAt": self.updated_at,
        }

    @property
    def belongs_to_a_plan(self) -> bool:
        return bool(self.run) or self.objective == POINTER


@dataclass(frozen=True)
class SessionGoalOutcome:
    """What an operation left; `before` is the status it found, `kept` where a damaged journal lies now."""

    goal: ToolGoal | None
    before: str
    kept: str = ""

    @property
    def changed(self) -> bool:
        return self.goal is None or self.goal.status != self.before


class GoalTool:
    """A session's goal as its journal has it, loaded once. `newest` is the last one, whatever became of it."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self.directory = paths.goal_dir(caller.state, caller.session)
        self.journal = Journal(self.directory, caller.state)
        self.load()

    def load(self) -> None:
        rows, self.problems = self.journal.read()
        self.newest = fold(rows)

    @property
    def current(self) -> ToolGoal | None:
        """None where there never was one, or it was dropped."""
        return None if self.newest is None or self.newest.status == "dropped" else self.newest

    @property
    def status(self) -> str:
        return self.current.status if self.current else ""

    @property
    def objective(self) -> str:
        return self.current.objective if self.current else ""

    @property
    def recovery(self) -> str:
        """What mends the goal's journal: it costs the plan nothing."""
        return RECOVERY.format(session=shlex.quote(self.caller.session))

    def require_whole(self) -> None:
        if self.problems:
            what = f"the goal's journal of session {self.caller.session} is damaged"
            raise Refused(what, fix=self.recovery, defects=self.problems)

    def require_same(self, passed: object) -> None:
        """A goal that was passed in has to say the same as the live one, which it never replaces; None: none was."""
        if passed is None:
            return
        given = passed
        if isinstance(passed, dict) and isinstance(passed.get("goal"), dict):  # as omo goal get --json prints it
            given = passed["goal"]
        if not isinstance(given, dict) or "objective" not in given:
            fix = "omo goal get --json > FILE, then --goal-json FILE; or leave it out"
            raise BadInput("--goal-json holds no goal", fix=fix)
        live = self.current.render() if self.current else {}
        differing = []
        for key in ("id", "objective", "status"):
            if key in given and given[key] != live.get(key):
                differing.append(f"{key}: {given[key]!r} was passed, the goal says {live.get(key)!r}")
        if differing:
            raise Refused(
                "--goal-json does not show the session's goal as it is",
                fix="take a fresh one: omo goal get --json; or leave --goal-json out",
                defects=differing,
            )

    def change(self, operation: str, fields: Callable[[ToolGoal | None], ToolRow]) -> SessionGoalOutcome:
        """The table first, then `fields`, by which the plan has its say; both under the journal's lock."""
        self.require_whole()

        def decide(rows: list[ToolRow]) -> tuple[SessionGoalOutcome, list[ToolRow]]:
            goal = fold(rows)
            before = goal.status if goal else NONE
            kind, starts, after = MOVES[operation]
            if before not in starts:
                stands, instead = REFUSALS[before]
                if goal is not None:
                    stands += f": {clip(goal.objective, 160)}"
                raise Refused(f"omo goal {operation} is not possible: {stands}", fix=instead, status=before)
            if after == before:
                return SessionGoalOutcome(goal, before), []
            row: ToolRow = {"kind": kind}
            if goal is not None:
                row["goal"] = goal.id
            row |= fields(goal)
            return SessionGoalOutcome(_after(goal, {**row, "ts": stamp(self.caller.now)}), before), [row]

        outcome: SessionGoalOutcome = self.append(decide)
        return outcome

    def append(self, decide: Callable[[list[ToolRow]], tuple[Any, list[ToolRow]]]) -> Any:
        caller = self.caller
        answer = self.journal.change(decide, actor=caller.by, now=caller.now, wait=caller.wait)
        self.load()
        return answer


def fold(rows: list[ToolRow]) -> ToolGoal | None:
    goal: ToolGoal | None = None
    for row in rows:
        goal = _after(goal, row)
    return goal


def _after(goal: ToolGoal | None, row: ToolRow) -> ToolGoal | None:
    kind, when = str(row.get("kind")), str(row.get("ts", ""))
    if kind == "goal_created":
        return ToolGoal(str(row.get("goal")), str(row.get("objective")), "active", when, when, str(row.get("run", "")))
    if kind == GOAL_REOPENED and goal is not None and goal.status == "complete" and goal.run == row.get("run"):
        return replace(goal, status="active", updated_at=when)
    if goal is None or kind not in LEADS_TO:
        return goal
    why = str(row.get("why", "")) if kind == "goal_paused" else goal.why
    return replace(goal, status=LEADS_TO[kind], updated_at=when, why=why)
