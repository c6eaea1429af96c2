"""One ralph run on disk: its ledger is the truth, and appending to it is the only change."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from omo.errors import Refused, Unreadable
from omo.ralph.standing import START as START
from omo.ralph.standing import THEIRS as THEIRS
from omo.ralph.standing import Standing as Standing
from omo.ralph.standing import fold as fold
from omo.state import paths, runtime
from omo.state.journal import Journal
from omo.state.runtime import part
from omo.work.lifecycle import require
from omo.work.run import Caller, Kind, Run, load, require_known
from omo.work.run import check_sizes as check_sizes

Row = dict[str, Any]

KIND = "ralph"
ABANDON = 'omo ralph abandon "why it is given up"'
SHORTEST_REASON = 10


@dataclass(frozen=True)
class RalphRun(Caller):
    """The session's run, or the one that `named` says, for commands that are about it."""

    named: str = ""

    @property
    def loaded(self) -> Run[Standing] | None:
        return load(RALPH, self, self.named)

    @property
    def directory(self) -> str:
        return paths.ralph_run_dir(self.state, self.current())

    @property
    def journal(self) -> Journal:
        return Journal(self.directory, self.state)

    def told(self) -> Row:
        """What hooks read of this session's run."""
        self.forget()
        return self.summary(KIND)

    def current(self) -> str:
        if self.named:
            return self.named
        run = self.loaded
        return run.id if run else ""

    def require_known(self) -> None:
        if self.named:
            require_known(RALPH, self, self.named)

    def look(self) -> tuple[Standing | None, list[str]]:
        """How the run stands and what is wrong with its ledger; None where the session has none."""
        self.forget()
        run = self.loaded
        if run is None:
            return None, []
        return run.state or Standing(run=run.id), run.problems

    def standing(self) -> Standing:
        """How the run stands, whole or not; an empty one where there is none."""
        return self.look()[0] or Standing()

    def require(self) -> Standing:
        """Refused where there is none, or where its ledger was changed by hand."""
        self.forget()
        return require(RALPH, self, self.named).require_whole()

    def require_open(self) -> Standing:
        at = self.require()
        if at.ended is not None:
            what = THEIRS if at.is_the_users_turn else START
            raise Refused(f"ralph run {at.run} ended ({at.ended.get('how')})", fix=f"omo ralph status; or {what}")
        return at

    def require_whole(self) -> None:
        self.require()

    def append(
        self, events: Sequence[Row] = (), decide: Callable[[Standing], tuple[Any, list[Row]]] | None = None
    ) -> Any:
        """Append the events; or decide under the lock, on the run as it stands then, which events and what answer."""
        run = Run(RALPH, self, self.current())
        if decide is None:
            return run.append(*events)
        return run.change(lambda state: decide(state or Standing(run=run.id)))


def _fold(rows: list[Row], run: str) -> Standing | None:
    at = fold(rows, run)
    return at if at.started else None


RALPH: Kind[Standing] = Kind(KIND, "ralph run", "r", START, paths.ralph_dir, _fold)


def standings(state: str) -> list[Standing]:
    """Every run of the project whose rows can be read, oldest first."""
    try:
        names = sorted(entry.name for entry in os.scandir(paths.ralph_dir(state)) if entry.is_dir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    found = []
    for name in names:
        try:
            found.append(fold(Journal(paths.ralph_run_dir(state, name), state).read()[0], name))
        except Unreadable:
            continue
    return sorted((one for one in found if one.started), key=lambda one: (str(one.started.get("ts")), one.run))


def problems_of(state: str, session: str) -> list[str]:
    """What was changed by hand in the ralph runs of one session, or is gone."""
    told = str(_told(runtime.session(state, session) or {}).get("run") or "")
    mine = {one.run for one in standings(state) if one.session == session} | ({told} if told else set())
    found = []
    for name in sorted(mine):
        _, problems = RalphRun(state, "", session, "", 0.0, 0.0, named=name).look()
        found += [f"{name}: {line}" for line in problems]
    return found


def _told(row: Row) -> Row:
    return part(part(row, "work"), KIND)
