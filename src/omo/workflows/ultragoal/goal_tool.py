"""The goal tool: what a session is after. One state machine over a journal of its own, and what the plan says to it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from omo.clock import stamp
from omo.errors import BadInput, Refused
from omo.state import paths, store
from omo.state.journal import Journal
from omo.text import clip, counted
from omo.work.bound import GOAL_REOPENED, files_of_end
from omo.work.run import Caller
from omo.workflows.ultragoal import receipts
from omo.workflows.ultragoal.create import text_defects
from omo.workflows.ultragoal.next_step import next_step, tool_step
from omo.workflows.ultragoal.plan import POINTER, Goal, Plan
from omo.workflows.ultragoal.reviewers import outcome_of

if TYPE_CHECKING:
    from omo.workflows.ultragoal.run import PlanRun

Row = dict[str, Any]

LONGEST_OBJECTIVE = 4000
SAY_IT = 'omo goal create --objective "what is to be reached"'
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
CLASSIFY = "omo ultragoal classify-blocker --classification human_blocked --evidence TEXT"
ALTERNATIVES = (
    "change the plan: omo ultragoal steer --kind KIND --evidence TEXT --rationale TEXT",
    "hand a part to an executor agent",
    "review found something: omo ultragoal record-review-blockers --goal-id ID --title T --objective O --evidence E",
    "one goal is stuck: omo ultragoal checkpoint --status blocked --evidence TEXT",
    f"only a person can go on: {CLASSIFY}",
)


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

    @property
    def belongs_to_a_plan(self) -> bool:
        return bool(self.run) or self.objective == POINTER


@dataclass(frozen=True)
class Outcome:
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

    def append(self, decide: Callable[[list[Row]], tuple[Any, list[Row]]]) -> Any:
        caller = self.caller
        answer = self.journal.change(decide, actor=caller.by, now=caller.now, wait=caller.wait)
        self.load()
        return answer


def fold(rows: list[Row]) -> ToolGoal | None:
    goal: ToolGoal | None = None
    for row in rows:
        goal = _after(goal, row)
    return goal


def _after(goal: ToolGoal | None, row: Row) -> ToolGoal | None:
    kind, when = str(row.get("kind")), str(row.get("ts", ""))
    if kind == "goal_created":
        return ToolGoal(str(row.get("goal")), str(row.get("objective")), "active", when, when, str(row.get("run", "")))
    if kind == GOAL_REOPENED and goal is not None and goal.status == "complete" and goal.run == row.get("run"):
        return replace(goal, status="active", updated_at=when)
    if goal is None or kind not in LEADS_TO:
        return goal
    why = str(row.get("why", "")) if kind == "goal_paused" else goal.why
    return replace(goal, status=LEADS_TO[kind], updated_at=when, why=why)


def create(run: PlanRun, objective: str | None = None) -> Outcome:
    """A new goal; without an objective, the one the session's plan needs now."""
    given = None
    if objective is not None:
        given = objective.strip()
        if defects := text_defects("--objective", objective, longest=LONGEST_OBJECTIVE):
            raise BadInput(defects[0], fix=f"{SAY_IT}; a long brief goes into a plan", defects=defects)

    def fields(goal: ToolGoal | None) -> Row:
        wanted, plan_run = _objective_for(run, given)
        return {"goal": f"t{int(run.caller.now * 1000)}", "objective": wanted, "run": plan_run}

    return _change(run.tool, "create", fields)


def create_for_plan(run: PlanRun) -> list[str]:
    """The goal for a plan, where none is under way; an unrelated one is the caller's to drop."""
    live = run.tool.current
    if live is None or live.status not in ("active", "paused"):
        create(run)
        return []
    if live.objective in run.require_plan().objectives_of(None):
        return []
    return [f"another goal is {live.status}: omo goal drop, then omo goal create"]


def take_over(caller: Caller, source: str) -> None:
    """The goal of another session moves here with its directory; what was here is kept under another name."""
    theirs, own = GoalTool(replace(caller, session=source)), GoalTool(caller)
    if not os.path.lexists(theirs.directory):
        return
    goal = own.current
    if goal is not None and goal.status in ("active", "paused") and not goal.belongs_to_a_plan:
        what = f"this session has a goal of its own, which is {goal.status}"
        raise Refused(what, fix="omo goal drop ends it")
    if os.path.lexists(own.directory):
        store.keep_as(own.directory, "archived", caller.now)
    store.move(theirs.directory, own.directory)


def pause(run: PlanRun) -> Outcome:
    return _change(run.tool, "pause", lambda goal: {"why": why_it_may_rest(run, "omo goal pause")})


def resume(run: PlanRun) -> Outcome:
    """The plan's row comes first: after a crash in between, the old classification allows no second pause."""
    run.tool.require_whole()
    goal = run.tool.newest
    if goal is not None and goal.status == "paused" and run.plan is not None:
        run.change_plan(lambda plan: (None, [{"kind": "goal_resumed", "goal": goal.id}]))
    return _change(run.tool, "resume", lambda goal: {})


def complete(run: PlanRun) -> Outcome:
    """Where this brings the plan to its end, how it ended is written down then: later changes are other work."""
    completed = _change(run.tool, "complete", lambda goal: _proof(run, goal) if goal else {})
    plan = run.plan
    if completed.changed and plan is not None and not plan.is_open and next_step(run).action == "done":
        event = {"kind": "plan_ended", "outcome": outcome_of(run, plan)}
        event["files"] = files_of_end(run.caller.root, run.caller.events)
        run.change_plan(lambda plan: (None, [event]))
    return completed


def drop(run: PlanRun) -> Outcome:
    """For a goal that is active or paused, by anyone. The user's word also does away with a damaged journal."""
    tool = run.tool
    if not tool.problems or tool.caller.by != "user":
        return _change(tool, "drop", lambda goal: {})
    kept = store.keep_as(tool.directory, "damaged", tool.caller.now)
    tool.append(lambda rows: (None, [{"kind": "goal_dropped", "kept": kept}]))
    return Outcome(None, "damaged", kept)


def _change(tool: GoalTool, operation: str, fields: Callable[[ToolGoal | None], Row]) -> Outcome:
    """The table first, then what the plan says to it, both under the journal's lock."""
    tool.require_whole()

    def decide(rows: list[Row]) -> tuple[Outcome, list[Row]]:
        goal = fold(rows)
        before = goal.status if goal else NONE
        kind, starts, after = MOVES[operation]
        if before not in starts:
            stands, instead = REFUSALS[before]
            if goal is not None:
                stands += f": {clip(goal.objective, 160)}"
            raise Refused(f"omo goal {operation} is not possible: {stands}", fix=instead, status=before)
        if after == before:
            return Outcome(goal, before), []
        row: Row = {"kind": kind}
        if goal is not None:
            row["goal"] = goal.id
        row |= fields(goal)
        return Outcome(_after(goal, {**row, "ts": stamp(tool.caller.now)}), before), [row]

    outcome: Outcome = tool.append(decide)
    return outcome


def _readable_plan(run: PlanRun) -> Plan | None:
    if run.problems:
        raise run.damage()
    return run.plan


def _objective_for(run: PlanRun, given: str | None) -> tuple[str, str]:
    """The objective of a new goal, and the plan it belongs to (empty: none)."""
    plan = _readable_plan(run)
    if plan is None:
        if given is None:
            raise BadInput("--objective is missing, and this session has no plan that says it", fix=SAY_IT)
        return given, ""
    goal = plan.active or plan.first("pending", "failed")
    wanted = plan.objectives_of(goal)
    if given is None:
        return wanted[0], plan.run
    for objective in wanted:
        if objective.strip() == given:
            return objective, plan.run
    if plan.is_open:
        raise Refused(
            f"the plan has {counted(len(plan.open_goals), 'goal')} open, and --objective {clip(given, 80)!r} is "
            "not its objective: no checkpoint would be accepted under it",
            fix="omo goal create (without --objective: it takes the plan's own)",
        )
    return given, ""


def why_it_may_rest(run: PlanRun, then: str) -> str:
    """Why the plan may rest, in the words of the classification; Refused while it can go on by itself. `then` is the
    command that lets it."""
    plan = _readable_plan(run)
    if plan is None or not plan.is_open:
        return ""
    if plan.is_human_blocked:
        return str(plan.last.get("evidence", ""))
    raise Refused(
        f"the plan has {counted(len(plan.open_goals), 'goal')} open, and the latest row of the plan's ledger is "
        f"{plan.last.get('kind')}, not a blocker classified as human_blocked",
        fix=f"{CLASSIFY}, then {then}",
        defects=list(ALTERNATIVES),
    )


def _proof(run: PlanRun, goal: ToolGoal) -> Row:
    """The receipts that prove the goal, as fields of its row; Refused with what is missing. Other goals pass."""
    plan = run.plan
    if run.problems and goal.belongs_to_a_plan:
        raise run.damage()
    if plan is None and goal.belongs_to_a_plan:
        raise Refused(
            f"this goal stands for the plan of session {run.caller.session}, and there is none",
            fix="omo goal drop gives the goal up; omo ultragoal create-goals makes a plan",
        )
    if plan is None or run.problems:
        return {}
    if goal.objective in plan.objectives_of(None):
        return {"receipts": _receipts_of_all(run, plan)}
    if story := plan.story_with(goal.objective):
        if why := receipts.problem(plan, story, run.directory):
            fix = next_step(run).text if story.is_required else "omo goal drop: other goals took its place"
            raise Refused(f"goal {story.id} has no fresh receipt", fix=fix, defects=[why])
        return {"receipts": [story.receipt_id]}
    if goal.run == plan.run:
        raise Refused(
            f"this goal was made for the plan, whose wording changed since: {clip(goal.objective, 160)}",
            fix="omo goal drop, then omo goal create takes the objective as it is now",
        )
    return {}


def _receipts_of_all(run: PlanRun, plan: Plan) -> list[str | None]:
    missing = [why for _, why in receipts.unproven(plan, run.directory)]
    if missing:
        raise Refused("no fresh receipt covers the whole plan", fix=next_step(run).text, defects=missing)
    carrier = receipts.final(plan, run.directory)
    return [carrier.receipt_id] if carrier is not None else [goal.receipt_id for goal in plan.required]


def check_passed(run: PlanRun, goal: Goal, passed: object, *, status: str) -> None:
    """A checkpoint needs the live goal active and this plan's. One that was passed in has to say the same; it never
    replaces the live one."""
    if status == "complete":
        run.tool.require_whole()
        if step := tool_step(run, run.require_plan(), goal):
            raise Refused(f"{goal.id} cannot be completed: {step.why}", fix=step.command)
    live = run.tool.current.render() if run.tool.current else {}
    if passed is None:
        return
    given = passed
    if isinstance(passed, dict) and isinstance(passed.get("goal"), dict):  # as omo goal get --json prints it
        given = passed["goal"]
    if not isinstance(given, dict) or "objective" not in given:
        fix = "omo goal get --json > FILE, then --goal-json FILE; or leave it out"
        raise BadInput("--goal-json holds no goal", fix=fix)
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
