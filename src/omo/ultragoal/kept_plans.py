"""Plans of goals that were archived or cleared: kept beside the session's own, and never changed again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from omo.errors import OmoError
from omo.state import paths
from omo.state.journal import Journal
from omo.ultragoal import plan as plans
from omo.ultragoal.run import Run


@dataclass(frozen=True)
class KeptRun(Run):
    """The same readers, on the directory the plan was moved to."""

    kept: str = ""

    @property
    def directory(self) -> str:
        return self.kept


@dataclass(frozen=True)
class KeptPlan:
    run: str
    session: str
    directory: str


def kept_plans(state: str, session: str = "") -> Iterator[KeptPlan]:
    """Of one session, or of the whole project."""
    top = os.path.join(state, "sessions")
    wanted = [paths.file_name_of(session)] if session else _names(top)
    for name in wanted:
        for entry in _names(os.path.join(top, name)):
            directory = os.path.join(top, name, entry)
            if entry.startswith("ultragoal") and os.path.isfile(os.path.join(directory, "ledger.jsonl")):
                yield from _plan_at(directory, state, is_own=entry == "ultragoal")


def _plan_at(directory: str, state: str, *, is_own: bool) -> Iterator[KeptPlan]:
    try:
        plan = plans.fold(Journal(directory, state).rows())
    except OmoError:
        return
    if plan is not None:
        yield KeptPlan(plan.run, plan.session, "" if is_own else directory)


def _names(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except (FileNotFoundError, NotADirectoryError):
        return []
