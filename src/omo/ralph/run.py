"""One ralph run on disk: its ledger is the truth, and appending to it is the only change."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from omo.errors import BadInput, Refused, Unreadable
from omo.ralph.standing import START as START
from omo.ralph.standing import THEIRS as THEIRS
from omo.ralph.standing import Standing as Standing
from omo.ralph.standing import fold as fold
from omo.shown import clip
from omo.state import ledger, paths, runtime
from omo.state.journal import Journal
from omo.state.runtime import part

Row = dict[str, Any]

KIND = "ralph"
ABANDON = 'omo ralph abandon "why it is given up"'
SHORTEST_REASON = 10
MOST_LISTED = 10
MOST_BYTES_IN_A_ROW = ledger.LONGEST_ROW - 16 * 1024


@dataclass(frozen=True)
class RalphRun:
    """Whose run, where and when, and by whom: handed in once. `named` is another run than the session's current one."""

    state: str
    root: str
    session: str
    by: str
    now: float
    wait: float
    limits: Row = field(default_factory=dict)
    named: str = ""

    @property
    def here(self) -> str:
        return os.path.realpath(self.root)

    @property
    def directory(self) -> str:
        return paths.ralph_run_dir(self.state, self.current())

    @property
    def journal(self) -> Journal:
        return Journal(self.directory, self.state)

    def told(self) -> Row:
        """What hooks read of this session's run."""
        try:
            return _told(runtime.session(self.state, self.session) or {})
        except Unreadable:
            return {}

    def current(self) -> str:
        """`--run`, else the run the session's row names, else an open one of this session that a crash left unnamed."""
        if self.named:
            return self.named
        told = str(self.told().get("run") or "")
        mine = [one for one in standings(self.state) if one.is_open and self._is_mine(one)]
        if told and (not mine or told in [one.run for one in mine]):
            return told
        return mine[-1].run if mine else ""

    def _is_mine(self, at: Standing) -> bool:
        return at.session == self.session and at.root == self.here

    def holder(self, run: str) -> str:
        """The session whose row names a run; this one where none does."""
        try:
            rows = runtime.read(self.state)["sessions"]
        except Unreadable:
            return self.session
        named = [name for name, row in rows.items() if isinstance(row, dict) and _told(row).get("run") == run]
        return self.session if self.session in named or not named else str(named[0])

    def require_known(self) -> None:
        """`--run` names a run of this project, be it one whose directory is gone."""
        if not self.named or os.path.isdir(paths.ralph_run_dir(self.state, self.named)) or self._is_told_anywhere():
            return
        known = ", ".join(one.run for one in standings(self.state)[-MOST_LISTED:])
        raise BadInput(
            f"--run {clip(self.named, 80)}: there is no ralph run {clip(self.named, 80)}",
            fix=f"name one of these: {known}" if known else START,
        )

    def _is_told_anywhere(self) -> bool:
        try:
            rows = runtime.read(self.state)["sessions"].values()
        except Unreadable:
            return False
        return any(isinstance(row, dict) and _told(row).get("run") == self.named for row in rows)

    def look(self) -> tuple[Standing | None, list[str]]:
        """How the run stands and what is wrong with its ledger; None where the session has none."""
        name = self.current()
        if not name:
            return None, []
        rows, problems = Journal(paths.ralph_run_dir(self.state, name), self.state).read()
        try:
            at = fold(rows, name)
        except Unreadable as error:
            return Standing(run=name), [*problems, error.message]
        if not at.started and not problems:
            problems = [f"{paths.ralph_run_dir(self.state, name)} is gone"]
        return at, problems

    def standing(self) -> Standing:
        """How the run stands, whole or not; an empty one where there is none."""
        return self.look()[0] or Standing()

    def require(self) -> Standing:
        """Refused where there is none, or where its ledger was changed by hand."""
        at, problems = self.look()
        if at is None:
            raise Refused(f"session {self.session} has no ralph run", fix=START)
        if problems:
            what = f"the ledger of ralph run {at.run} was changed by hand, so nothing can be judged on it"
            raise Refused(what, fix=ABANDON, defects=problems)
        if at.root != self.here:
            raise Refused(f"ralph run {at.run} belongs to {at.root}, and this is {self.here}", fix="work there")
        return at

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
        name = self.current()

        def under_lock(rows: list[Row]) -> tuple[Any, list[Row]]:
            answer, found = decide(fold(rows, name)) if decide else (None, list(events))
            check_sizes(found)
            return answer, found

        journal = Journal(paths.ralph_run_dir(self.state, name), self.state)
        return journal.change(under_lock, actor=self.by, now=self.now, wait=self.wait)


def check_sizes(events: Sequence[Row]) -> None:
    for event in events:
        size = len(json.dumps(event, ensure_ascii=False).encode("utf-8", "replace"))
        if size > MOST_BYTES_IN_A_ROW:
            raise Refused(
                f"this {event['kind']} has {size} bytes, a row of the ledger takes {MOST_BYTES_IN_A_ROW}",
                fix="keep long texts in files of the project and name them; or make several runs",
            )


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
