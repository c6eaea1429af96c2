"""One session's plan on disk: loaded once by a command, changed by appending, shown in goals.json and brief.md."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from omo import settings as all_settings
from omo.context import Context
from omo.digest import sha256
from omo.engine.runs import CaseRun, kind_of
from omo.errors import BadInput, NotEvaluable, OmoError, Refused, Unreadable
from omo.proof import git
from omo.safe_open import regular_file
from omo.settings import Settings
from omo.state import ownership, paths, store
from omo.text import counted
from omo.work import damage
from omo.work.run import A, Caller, caller_of, load
from omo.work.status import NextStep
from omo.workflows.ultragoal import plan as plans
from omo.workflows.ultragoal.flow import FLOW
from omo.workflows.ultragoal.next_step import next_step
from omo.workflows.ultragoal.plan import CLASSIFY, Goal, Plan
from omo.workflows.ultragoal.rows import PlanRow
from omo.workflows.ultragoal.status import told_besides, told_next

if TYPE_CHECKING:
    from omo import options
    from omo.result import Result
    from omo.state.rows import Summary

ALTERNATIVES = [
    "change the plan: omo ultragoal steer --kind KIND --evidence TEXT --rationale TEXT",
    "hand a part to an executor agent",
    "review found something: omo ultragoal record-review-blockers --goal-id ID --title T --objective O --evidence E",
    "one goal is stuck: omo ultragoal checkpoint --status blocked --evidence TEXT",
    f"only a person can go on: {CLASSIFY} --evidence TEXT",
]
ULTRAGOAL = kind_of(FLOW)


class PlanRun(CaseRun):
    """A plan of a session, shown in goals.json and brief.md; without an id one that nobody has begun."""

    archived = ""  # where a plan lies that this one was made in place of, unfinished

    @cached_property
    def notes(self) -> list[str]:
        """What a command did besides, for its reader."""
        return []

    def _load(self) -> None:
        if self.id:
            super()._load()

    @property
    def plan(self) -> Plan | None:
        return cast("Plan | None", self.state)

    def require_plan(self) -> Plan:
        """Return the plan, whole and at home here."""
        if not self.id:
            raise Refused(f"session {self.caller.session} has no ultragoal plan", fix=FLOW.start)
        return cast("Plan", self.require_whole())

    def named_goal(self, name: str | None) -> Goal:
        """Return the goal of that name; without a name, the one under way."""
        plan = self.require_plan()
        if name:
            return plan.goal(name)
        if plan.active is None:
            raise BadInput("no goal is under way", fix="name the one that is meant (omo ultragoal status)")
        return plan.active

    def change(self, decide: Callable[[Any], tuple[A, Sequence[Mapping[str, Any]]]]) -> A:
        answer = super().change(decide)
        self.write_views()
        return answer

    def change_plan(self, decide: Callable[[Plan], tuple[A, list[PlanRow]]]) -> A:
        """Decide on the plan under its lock."""
        self.require_plan()
        return self.change_whole(cast("Callable[[Any], tuple[A, list[PlanRow]]]", decide))

    def publish(self, step: NextStep | None = None, *, begins: bool = True, more: Summary | None = None) -> NextStep:
        """Bring the session's row up to the ledger, and return what comes next."""
        step = step or next_step(self)
        if self.plan is not None:
            more = told_besides(self.plan, step, is_attended=self.base_settings.attended)
            super().publish(told_next(self.plan, step), begins=begins, more=more)
        elif self.id:
            super().publish(step)
        return step

    def why_it_may_rest(self, then: str) -> str:
        """Return why the plan may rest, in the words of the classification. Refused while it can go on by itself.
        `then` is the command that lets it."""
        plan = self.plan
        if plan is None or not plan.is_open:
            return ""
        if plan.is_human_blocked:
            return str(plan.last.get("evidence", ""))
        raise Refused(
            f"the plan has {counted(len(plan.open_goals), 'goal')} open, and the latest row of the plan's ledger is "
            f"{plan.last.get('kind')}, not a blocker classified as human_blocked",
            fix=f"{CLASSIFY} --evidence TEXT, then {then}",
            defects=ALTERNATIVES,
        )

    @property
    def snapshot(self) -> str:
        return os.path.join(self.directory, "goals.json")

    @property
    def brief(self) -> str:
        return os.path.join(self.directory, "brief.md")

    def edited_view(self) -> str:
        """Say that a goals.json is not as omo wrote it, if so. Behind is fine: a crash leaves it so."""
        text = _text(self.snapshot)
        if text is None or _is_ours(text):
            return ""
        return (
            f"{self.snapshot} was edited, which changes nothing: wording is changed by omo ultragoal steer, status by "
            "checkpoint; the next command keeps it aside and writes it anew"
        )

    def write_views(self) -> None:
        """Bring goals.json and brief.md up to the ledger. What was edited by hand is kept aside, never believed."""
        plan = self.plan
        if plan is None:
            return
        last = self.rows[-1]
        shown = {**plans.render(plan), "ledger": {"seq": last["seq"], "prev": last.get("prev")}}
        wanted = json.dumps({**shown, "digest": _digest(shown)}, ensure_ascii=False, indent=2) + "\n"
        brief = plan.created["brief"] + "\n"
        self._write_view(self.snapshot, wanted, _is_ours)
        self._write_view(self.brief, brief, brief.__eq__)

    def _write_view(self, path: str, wanted: str, is_ours: Callable[[str], bool]) -> None:
        text = _text(path)
        if text is not None and not is_ours(text):
            kept = store.keep_as(path, "edited", self.caller.now)
            self.notes.append(f"{path} had been edited by hand: kept as {kept}, and written anew")
        if text != wanted:
            store.replace(path, wanted)

    @cached_property
    def base_settings(self) -> Settings:
        """The project's settings as committed where the plan began: what is edited since takes nothing back."""
        return settings_at(self.caller.root, self.state.base if self.state is not None else None)


def load_plan(caller: Caller, named: str = "") -> PlanRun:
    """Load the plan that was named, else the session's own."""
    run = load(ULTRAGOAL, caller, named, PlanRun)
    return run if isinstance(run, PlanRun) else PlanRun(ULTRAGOAL, caller, "")


def run_of(arguments: argparse.Namespace, context: Context, *, looks: bool = False) -> PlanRun:
    """Load the session's plan, once for the command."""
    return load_plan(caller_of(context, context.session(arguments.session, looks=looks)))


def writes(verb: Callable[[PlanRun, argparse.Namespace, Context], Result]) -> options.Run:
    """Make the handler of a verb that changes the plan. Hooks are told also after a refusal: a crash may have left the
    session behind the ledger."""

    def handle(arguments: argparse.Namespace, context: Context) -> Result:
        run = run_of(arguments, context)
        if run.id:
            damage.require_going_on(run)
        try:
            return verb(run, arguments, context)
        except OmoError:
            run.caller.forget()
            load_plan(run.caller).publish()
            raise

    return handle


def begin(caller: Caller) -> PlanRun:
    """Make a plan that has an id and no row yet."""
    ownership.make_state_dir(caller.state)
    store.make_dir(ULTRAGOAL.home(caller.state), caller.state)
    return PlanRun(ULTRAGOAL, caller, ULTRAGOAL.new_id(caller))


def settings_at(root: str, commit: str | None) -> Settings:
    """Return the settings as committed; the defaults if git has no such file at that commit, or one that cannot be
    used."""
    if not commit or not commit.isalnum():
        return Settings()
    name = Path(paths.settings_file(root)).relative_to(root).as_posix()
    try:
        text = git.ask(Path(root), "cat-file", "blob", f"{commit}:./{name}")
        return all_settings.merged({}, store.parse(store.encode(text), name))
    except (NotEvaluable, Unreadable):
        return Settings()


def _digest(shown: dict[str, Any]) -> str:
    return sha256(json.dumps(shown, sort_keys=True).encode())


def _is_ours(text: str) -> bool:
    try:
        shown = json.loads(text)
        return bool(shown.pop("digest") == _digest(shown))
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return False


def _text(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace", opener=regular_file) as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return ""  # something else lies there, which is no view of ours
