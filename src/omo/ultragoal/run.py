"""One session's plan on disk: the ledger that is the truth, the views of it, and the only way to change it."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omo.errors import Refused, Unreadable
from omo.evidence import changes
from omo.state import ledger, paths, runtime, store
from omo.state.journal import Journal
from omo.ultragoal import plan as plans
from omo.ultragoal.plan import Plan

Row = dict[str, Any]
Decision = Callable[[Plan], tuple[Any, list[Row]]]

CREATE = 'omo ultragoal create-goals --brief "…" (goals begin with @goal: TITLE at the start of a line)'
CLEAR = "omo state clear --mode ultragoal --force"
REPAIR = f"omo ultragoal repair; or start over: {CLEAR} (both keep the bytes)"
# What mends each kind of damage. A ledger that was changed is the user's to judge.
MENDING = {
    "views": "omo ultragoal repair",
    "ledger": "the user runs omo ultragoal repair --session {session} in a terminal of their own; or begin anew: "
    f"{CLEAR}",
    "gone": CLEAR,
}
MOST_BYTES_IN_A_ROW = ledger.LONGEST_ROW - 16 * 1024


@dataclass(frozen=True)
class Look:
    """`damage` says where the problems are: views, ledger, or gone. A plan nobody can read is None, and a problem."""

    plan: Plan | None
    problems: list[str] = field(default_factory=list)
    damage: str = ""


@dataclass(frozen=True)
class Run:
    """Whose plan, where and when, and by whom: handed in once."""

    state: str
    root: str
    session: str
    by: str
    now: float
    wait: float
    limits: Row = field(default_factory=dict)
    control_globs: tuple[str, ...] = ()

    @property
    def directory(self) -> str:
        return paths.ultragoal_dir(self.state, self.session)

    @property
    def journal(self) -> Journal:
        return Journal(self.directory, self.state)

    @property
    def snapshot(self) -> str:
        return os.path.join(self.directory, "goals.json")

    def plan(self) -> Plan | None:
        """The plan as it stands; writes nothing."""
        return plans.fold(self.journal.rows())

    def require_plan(self) -> Plan:
        plan = self.plan()
        if plan is None:
            raise Refused(f"session {self.session} has no ultragoal plan", fix=CREATE)
        return plan

    def problems(self) -> list[str]:
        """What was changed by hand: rows of the ledger, its end, or the views of it."""
        return self.look().problems

    def look(self) -> Look:
        """The plan and what is wrong with it, in one pass."""
        rows, problems = self.journal.read()
        try:
            plan = plans.fold(rows)
        except Unreadable as error:
            return Look(None, problems or [error.message], "ledger")
        if problems:
            return Look(plan, problems, "ledger")
        if found := edited_views(self, plan, rows):
            return Look(plan, found, "views" if plan else "gone")
        if gone := self._replaced(plan):
            return Look(plan, [f"the plan {gone} of this session is gone: {self.directory} was removed"], "gone")
        return Look(plan)

    def _replaced(self, plan: Plan | None) -> str:
        """The open run of this session whose place is empty, or taken by another session's plan."""
        is_its_own = plan is not None and plan.session == self.session
        known = "" if is_its_own else self._run_on_record()
        return "" if plan is not None and plan.run == known else known

    def _run_on_record(self) -> str:
        """The run that this session's row still names as open."""
        try:
            row = runtime.session(self.state, self.session) or {}
        except Unreadable:
            return ""
        told = dict(runtime.work_in(row, *runtime.OPEN_STATES, "exhausted")).get("ultragoal", {})
        return str(told.get("run") or "") if not told.get("cleared") else ""

    def mending(self, damage: str) -> str:
        """The user's terminal knows no session, so what is theirs to run names it."""
        if not damage:
            return ""
        return MENDING[damage].format(session=shlex.quote(self.session))

    def require_whole(self) -> None:
        seen = self.look()
        if seen.problems:
            raise Refused(
                f"the plan of session {self.session} was changed by hand, so nothing can be completed on it",
                fix=self.mending(seen.damage),
                defects=seen.problems,
            )

    def require_whole_ledger(self) -> None:
        """Nothing is added to a damaged ledger: it is sealed and begun anew."""
        if problems := self.journal.problems():
            what = f"the ledger of the plan of session {self.session} was changed by hand"
            raise Refused(what, fix=self.mending("ledger"), defects=problems)

    def create(self, decide: Callable[[Plan | None], tuple[Any, list[Row]]]) -> Any:
        """Decide on the plan there may be, under its lock; append what that returns."""

        def under_lock(rows: list[Row]) -> tuple[Any, list[Row]]:
            self.require_whole_ledger()
            answer, events = decide(plans.fold(rows))
            check_sizes(events)
            return answer, events

        return self.journal.change(
            under_lock, actor=self.by, now=self.now, wait=self.wait, publish=lambda: publish(self)
        )

    def change(self, decide: Decision) -> Any:
        """Decide on the plan under its lock. Refused where there is none, or where it belongs to another directory."""

        def on_plan(plan: Plan | None) -> tuple[Any, list[Row]]:
            if plan is None:
                raise Refused(f"session {self.session} has no ultragoal plan", fix=CREATE)
            require_here(self, plan)
            adopted = self._adoption(plan)
            plan.seq += len(adopted)  # what is decided now comes after it
            answer, events = decide(plan)
            return answer, [*adopted, *events]

        return self.create(on_plan)

    def _adoption(self, plan: Plan) -> list[Row]:
        """A plan that came from another session says so, once, before anything else is done with it."""
        if plan.session == self.session:
            return []
        if gone := self._replaced(plan):
            raise Refused(f"this is the plan of session {plan.session}; this session's own, {gone}, is gone", fix=CLEAR)
        return [{"kind": "adopted", "from": plan.session, "session": self.session}]


def new_run_id(now: float) -> str:
    return f"g{int(now * 1000)}"


def repository(root: str) -> Row:
    """Where a plan belongs, and the commit its work starts from."""
    return {"root": os.path.realpath(root), "git": paths.repository(root), "base": changes.head(Path(root))}


def moved(run: Run, plan: Plan) -> str:
    """From where to where, when the plan was made in another directory; empty where it belongs here."""
    here, planned = os.path.realpath(run.root), plan.repository.get("root")
    return "" if planned in (None, here) else f"this plan was made for {planned}, and this is {here}"


def require_here(run: Run, plan: Plan) -> None:
    if why := moved(run, plan):
        raise Refused(why, fix="work there; if the project was moved: omo ultragoal repair")


def check_sizes(events: list[Row]) -> None:
    for event in events:
        size = len(json.dumps(event, ensure_ascii=False).encode("utf-8", "replace"))
        if size > MOST_BYTES_IN_A_ROW:
            raise Refused(
                f"this {event['kind']} has {size} bytes, a row of the ledger takes {MOST_BYTES_IN_A_ROW}",
                fix="keep long texts in files of the project and name them",
            )


def publish(run: Run) -> None:
    """Bring goals.json and brief.md up to the ledger. What was edited by hand is kept aside, never believed."""
    rows = run.journal.rows()
    plan = plans.fold(rows)
    if plan is None:
        return
    if edited_views(run, plan, rows):
        store.set_aside(run.snapshot, run.now)
    for path, text in _views(run, plan).items():
        if _text(path) != text:
            store.replace(path, text)


def edited_views(run: Run, plan: Plan | None, rows: list[Row]) -> list[str]:
    """Whether goals.json is what the ledger said at the row it names. Behind is fine: a crash leaves it so."""
    try:
        shown = store.read(run.snapshot)
        if shown is None:
            return []
        seq = shown["ledger"]["seq"]
        if plan is None or plan.seq != seq:
            plan = plans.fold(row for row in rows if row.get("seq", 0) <= seq)
    except (Unreadable, KeyError, TypeError) as error:
        return [f"{run.snapshot} is not as omo wrote it ({error})"]
    if plan is None or plan.seq != seq or json.loads(_views(run, plan)[run.snapshot]) != shown:
        return [f"{run.snapshot} was edited: wording is changed by omo ultragoal steer, status by checkpoint"]
    return []


def _views(run: Run, plan: Plan) -> dict[str, str]:
    shown = {**plans.render(plan), "ledger": {"seq": plan.seq, "prev": plan.last.get("prev")}}
    return {
        run.snapshot: json.dumps(shown, ensure_ascii=False, indent=2) + "\n",
        os.path.join(run.directory, "brief.md"): plan.brief + "\n",
    }


def _text(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
