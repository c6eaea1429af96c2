"""The goal tool: what a session is after. One state machine over a journal of its own."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from omo.clock import stamp
from omo.errors import BadInput, Refused, Unreadable
from omo.shown import clip
from omo.state import paths, store
from omo.state.journal import Journal
from omo.ultragoal import goal_guards
from omo.ultragoal.run import Run

Row = dict[str, Any]

LONGEST_OBJECTIVE = 4000
NONE = "none"
RECOVERY = (
    "the user runs omo goal drop --session {session} in a terminal of their own, or anyone omo state clear --mode "
    "ultragoal --force; both keep the bytes aside"
)

# What each operation makes of a goal. A pair that is not here is refused; one that stays where it is writes nothing.
MOVES: dict[str, dict[str, str]] = {
    "create": {NONE: "active", "dropped": "active", "complete": "active"},
    "pause": {"active": "paused", "paused": "paused"},
    "resume": {"paused": "active", "active": "active"},
    "complete": {"active": "complete"},
    "drop": {"active": "dropped", "paused": "dropped"},
}
STATUSES = (NONE, "active", "paused", "complete", "dropped")
STANDS = {
    NONE: "there is no goal in this session",
    "active": "a goal is active: {objective}",
    "paused": "the goal is paused: {objective}",
    "complete": "the goal is already complete: {objective}",
    "dropped": "the goal was dropped: {objective}",
}
INSTEAD = {
    NONE: "omo goal create --objective TEXT",
    "active": "go on with it (omo goal get shows it), or end it with omo goal drop",
    "paused": "omo goal resume makes it active again, omo goal drop ends it",
    "complete": "omo goal create --objective TEXT starts another one",
    "dropped": "omo goal create --objective TEXT starts another one",
}
KINDS = {
    "create": "goal_created",
    "pause": "goal_paused",
    "resume": "goal_resumed",
    "complete": "goal_completed",
    "drop": "goal_dropped",
}
LEADS_TO = {"goal_paused": "paused", "goal_resumed": "active", "goal_completed": "complete", "goal_dropped": "dropped"}


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

    def render(self) -> Row:
        return {
            "id": self.id,
            "objective": self.objective,
            "status": self.status,
            "createdAt": self.created_at,
            "updatedAt": self.updated_at,
        }


@dataclass(frozen=True)
class Outcome:
    """What an operation left; `before` is the status it found, `kept` where a damaged journal lies now."""

    goal: ToolGoal | None
    before: str
    kept: str = ""

    @property
    def changed(self) -> bool:
        return self.goal is None or self.goal.status != self.before


def next_status(status: str, op: str, objective: str = "") -> str:
    """Where `op` leads from `status`, or a refusal that says what stands in the way and what to run instead."""
    if status in MOVES[op]:
        return MOVES[op][status]
    stands = STANDS[status].format(objective=clip(objective, 160))
    raise Refused(f"omo goal {op} is not possible: {stands}", fix=INSTEAD[status], status=status)


def fold(rows: list[Row]) -> ToolGoal | None:
    """The newest goal, whatever became of it."""
    goal: ToolGoal | None = None
    for row in rows:
        goal = _after(goal, row)
    return goal


def _after(goal: ToolGoal | None, row: Row) -> ToolGoal | None:
    kind, at = str(row.get("kind")), str(row.get("ts", ""))
    if kind == "goal_created":
        return ToolGoal(str(row.get("goal")), str(row.get("objective")), "active", at, at, str(row.get("run", "")))
    if goal is None or kind not in LEADS_TO:
        return goal
    why = str(row.get("why", "")) if kind == "goal_paused" else goal.why
    return replace(goal, status=LEADS_TO[kind], updated_at=at, why=why)


def journal(state: str, session: str) -> Journal:
    return Journal(paths.goal_dir(state, session), state)


def rows(state: str, session: str) -> list[Row]:
    """Never writes. Unreadable where something that is no ledger lies in its place."""
    kept = journal(state, session)
    try:
        return kept.rows()
    except Unreadable as error:
        raise Unreadable(error.message, fix=recovery(session), path=kept.path) from None


def problems(state: str, session: str) -> list[str]:
    """What is wrong with the goal's journal; empty when nothing is."""
    return journal(state, session).problems()


def current(state: str, session: str) -> ToolGoal | None:
    """The session's goal; None where there never was one, or it was dropped."""
    goal = fold(rows(state, session))
    return None if goal is None or goal.status == "dropped" else goal


def recovery(session: str) -> str:
    return RECOVERY.format(session=shlex.quote(session))


def mending(state: str, session: str) -> str:
    """What mends the goal's journal; empty while it is whole."""
    return recovery(session) if problems(state, session) else ""


def require_whole(run: Run) -> None:
    if found := problems(run.state, run.session):
        raise Refused(
            f"the goal's journal of session {run.session} is damaged", fix=recovery(run.session), defects=found
        )


def check_objective(text: str) -> str:
    """The objective without the blanks around it."""
    objective = text.strip()
    if not objective:
        raise BadInput("--objective is blank", fix='omo goal create --objective "what is to be reached"')
    if len(objective) > LONGEST_OBJECTIVE:
        raise BadInput(
            f"--objective has {len(objective)} characters, more than {LONGEST_OBJECTIVE}",
            fix="say it shorter; a long brief goes into a plan: omo ultragoal create-goals --brief-file PATH",
        )
    if objective == "/goal":
        raise BadInput("--objective '/goal' is a command, not an objective", fix="say what is to be reached")
    return objective


def create(run: Run, objective: str | None = None) -> Outcome:
    """A new goal; without an objective, the one the session's plan needs now."""
    given = None if objective is None else check_objective(objective)
    require_whole(run)

    def fields(goal: ToolGoal | None) -> Row:
        wanted, plan_run = goal_guards.objective_for(run, given)
        return {"goal": f"t{int(run.now * 1000)}", "objective": wanted, "run": plan_run}

    return _change(run, "create", fields)


def pause(run: Run) -> Outcome:
    require_whole(run)
    return _change(run, "pause", lambda goal: {"why": goal_guards.check_pause(run)})


def resume(run: Run) -> Outcome:
    """The plan's row comes first: after a crash in between, the old classification allows no second pause."""
    require_whole(run)
    goal = fold(rows(run.state, run.session))
    if goal is not None and goal.status == "paused" and goal_guards.readable_plan(run) is not None:
        run.change(lambda plan: (None, [{"kind": "goal_resumed", "goal": goal.id}]))
    return _change(run, "resume", lambda goal: {})


def complete(run: Run) -> Outcome:
    require_whole(run)
    return _change(run, "complete", lambda goal: goal_guards.check_complete(run, goal) if goal else {})


def drop(run: Run) -> Outcome:
    """For a goal that is active or paused, by anyone. The user's word also does away with a damaged journal."""
    if not problems(run.state, run.session):
        return _change(run, "drop", lambda goal: {})
    if run.by != "user":
        require_whole(run)
    kept = store.keep_as(paths.goal_dir(run.state, run.session), "damaged", run.now)
    row = {"kind": KINDS["drop"], "kept": kept}
    _append(run, lambda _: (None, [row]))
    return Outcome(None, "damaged", kept)


def _change(run: Run, op: str, fields: Callable[[ToolGoal | None], Row]) -> Outcome:
    """The table first, then what the plan says to it, both under the journal's lock."""

    def decide(kept: list[Row]) -> tuple[Outcome, list[Row]]:
        goal = fold(kept)
        before = goal.status if goal else NONE
        after = next_status(before, op, goal.objective if goal else "")
        if after == before:
            return Outcome(goal, before), []
        row = {"kind": KINDS[op], **({"goal": goal.id} if goal else {}), **fields(goal)}
        return Outcome(_after(goal, {**row, "ts": stamp(run.now)}), before), [row]

    outcome: Outcome = _append(run, decide)
    return outcome


def _append(run: Run, decide: Callable[[list[Row]], tuple[Any, list[Row]]]) -> Any:
    return journal(run.state, run.session).change(decide, actor=run.by, now=run.now, wait=run.wait)
