"""A ralph run as its ledger tells it: a fold of rows, nothing else."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from omo.errors import BadInput, Unreadable
from omo.ralph import criteria
from omo.ralph.criteria import Criterion
from omo.ralph.rules import OPEN, State
from omo.shown import clip
from omo.state.runtime import part

Row = dict[str, Any]

START = "omo ralph start --criteria FILE"
THEIRS = f"end your turn: Stop shows the user how it ended, and they decide; {START} comes after that"
_COMMAND = re.compile(r"omo ralph (?:exec|phase [A-Z]+|artifacts|brief|judge|replan|status|abandon)\b(?! --run)")


def with_run(text: str, run: str) -> str:
    """The same commands about a run that was named; unchanged where none was."""
    return _COMMAND.sub(lambda found: f"{found[0]} --run {shlex.quote(run)}", text) if run else text


def criteria_of(count: int) -> str:
    return f"{count} {'criterion' if count == 1 else 'criteria'}"


@dataclass
class Standing:
    """A run as its ledger tells it.

    `iteration` is 0 before the first exec. `exec_row`, `phases` and `briefs` are those of that iteration;
    `circumventions` counts over the whole run, so that a round which is begun again gives none back.
    """

    run: str = ""
    session: str = ""
    root: str = ""
    criteria: list[Criterion] = field(default_factory=list)
    states: dict[str, State] = field(default_factory=dict)
    max_iterations: int = 0
    iteration: int = 0
    open_iteration: bool = False
    exec_row: Row = field(default_factory=dict)
    phases: list[Row] = field(default_factory=list)
    circumventions: int = 0
    briefs: list[Row] = field(default_factory=list)
    judge_calls: int = 0
    last_judged: Row | None = None
    judged: list[Row] = field(default_factory=list)
    reduced_scope: str = ""
    source: str = ""
    base: str | None = None
    lessons: Row = field(default_factory=dict)
    started: Row = field(default_factory=dict)
    ended: Row | None = None
    rows: list[Row] = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        return bool(self.started) and self.ended is None

    @property
    def after(self) -> Row:
        """The run of this session that this one carries on from, where that did not pass."""
        return part(self.started, "after")

    @property
    def after_text(self) -> str:
        """`after r…: circumvented; 1 criterion was dropped (C2)`; empty where it carries nothing on."""
        if not self.after:
            return ""
        said = [f"after {clip(str(self.after.get('run')), 60)}: {clip(str(self.after.get('how')), 20)}"]
        for name, what in (("dropped", "dropped"), ("changed", "given other checks")):
            if listed := self.after.get(name):
                ids = clip(", ".join(str(one["id"]) for one in listed), 60)
                said.append(f"{criteria_of(len(listed))} {'was' if len(listed) == 1 else 'were'} {what} ({ids})")
        return "; ".join(said)

    @property
    def is_the_users_turn(self) -> bool:
        """It ended in a way that the user has to hear of before the agent begins again."""
        ended = self.ended or {}
        by_user = ended.get("how") == "abandoned" and ended.get("actor") == "user"
        return bool(ended) and ended.get("how") != "pass" and not by_user

    @property
    def to_work_on(self) -> list[Criterion]:
        """Never judged, failing, or broken again."""
        return self.with_status(*OPEN)

    @property
    def unproven(self) -> list[Criterion]:
        """Passed once, and the newest judgement could not tell: nothing to mend, and nothing to lean on."""
        return [one for one in self.with_status("PASS") if self.last_result(one.id).get("result") != "pass"]

    @property
    def remaining(self) -> list[str]:
        """What keeps the run from its end, in the order of the criteria."""
        left = {one.id for one in (*self.to_work_on, *self.unproven)}
        return [one.id for one in self.criteria if one.id in left]

    @property
    def verdict(self) -> str:
        """Of the newest judgement. What could not be told is no pass, and neither is what was not judged yet."""
        told = str((self.last_judged or {}).get("verdict"))
        return told if told in ("pass", "partial") else "fail"

    @property
    def unknown_calls(self) -> int:
        """How often this iteration was judged without anybody being able to tell."""
        return sum(row.get("kind") == "judge-unknown" and row.get("iteration") == self.iteration for row in self.rows)

    @property
    def decision(self) -> str:
        """A run that was stopped before it was settled is a safeguard's, whatever stopped it."""
        if self.ended is not None and self.ended.get("how") not in ("pass", "partial"):
            return "safeguard"
        return str((self.last_judged or {}).get("decision") or "replan")

    @property
    def independence(self) -> str:
        """Of the newest judgement: each looks at every criterion anew."""
        return "full" if self.last_judged is None else str(self.last_judged.get("independence") or "reduced")

    @property
    def reduced_iterations(self) -> list[int]:
        """Those that were judged without the judge agent's own message."""
        return [int(row["iteration"]) for row in self.judged if row.get("independence") != "full"]

    def with_status(self, *statuses: str) -> list[Criterion]:
        return [one for one in self.criteria if self.states[one.id].status in statuses]

    def criterion(self, name: str) -> Criterion | None:
        return next((one for one in self.criteria if one.id == name), None)

    def last_result(self, name: str) -> Row:
        """What the newest judgement says of a criterion; empty before the first."""
        return part(part(self.last_judged or {}, "results"), name)

    def phase(self, name: str) -> Row | None:
        return next((row for row in self.phases if row.get("name") == name), None)


def fold(rows: Sequence[Row], run: str = "") -> Standing:
    """Raises Unreadable for rows that omo did not write so."""
    at = Standing(run=run, rows=list(rows))
    try:
        for row in rows:
            step = _STEPS.get(str(row.get("kind")))
            if step and (at.started or row["kind"] == "started"):
                step(at, row)
    except (KeyError, TypeError, ValueError, AttributeError, BadInput) as error:
        raise Unreadable(f"the ledger of ralph run {run} has a row nobody can read: {error}", fix=START) from None
    return at


def _started(at: Standing, row: Row) -> None:
    if at.started:
        return
    at.started = row
    at.run = str(row.get("run") or at.run)
    at.session, at.root, at.source, at.base = str(row["session"]), str(row["root"]), str(row["source"]), row["base"]
    at.criteria = criteria.from_rows(row["criteria"])
    at.states = {one.id: State() for one in at.criteria}
    at.max_iterations, at.reduced_scope = int(row["max_iterations"]), str(row["reduced_scope"])
    at.lessons = part(row, "lessons")


def _exec(at: Standing, row: Row) -> None:
    at.iteration, at.open_iteration, at.exec_row = int(row["iteration"]), True, row
    at.phases, at.briefs, at.judge_calls = [], [], 0


def _phase(at: Standing, row: Row) -> None:
    if row["iteration"] == at.iteration:
        at.phases.append(row)


def _circumvented(at: Standing, row: Row) -> None:
    at.circumventions += 1


def _brief(at: Standing, row: Row) -> None:
    if row["iteration"] == at.iteration:
        at.briefs.append(row)
        at.judge_calls += 1


def _judged(at: Standing, row: Row) -> None:
    at.states = {one.id: State(**row["states"][one.id]) for one in at.criteria}
    at.last_judged, at.open_iteration = row, False
    at.judged.append(row)


def _ended(at: Standing, row: Row) -> None:
    at.ended, at.open_iteration = row, False


def _adopted(at: Standing, row: Row) -> None:
    at.session = str(row["session"])


def _moved(at: Standing, row: Row) -> None:
    at.root = str(row["root"])


_STEPS: dict[str, Callable[[Standing, Row], None]] = {
    "started": _started,
    "adopted": _adopted,
    "moved": _moved,
    "exec-delegated": _exec,
    "phase": _phase,
    "exec-circumvention": _circumvented,
    "brief": _brief,
    "judged": _judged,
    "ended": _ended,
}
