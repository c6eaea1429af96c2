"""A ralph run as its ledger tells it: a fold of rows, nothing else. Commands load it once and pass it on."""

from __future__ import annotations

from dataclasses import dataclass, field

from omo import table
from omo.errors import Refused, Unreadable
from omo.state import ledger, paths
from omo.state.runtime import part
from omo.text import clip
from omo.work.bound import REOPENED
from omo.work.files import Files
from omo.work.run import Caller, Kind, Run, require_objects
from omo.work.status import Command, NextStep, command, units
from omo.workflows.ralph.rules import (
    OPEN,
    REQUEST,
    AskedBefore,
    Criterion,
    CriterionResult,
    CriterionState,
    RalphRow,
    RunBefore,
)

KIND = "ralph"
NO_ROW: RalphRow = {}
START = "omo ralph start"
ABANDON = 'omo ralph abandon "why it is given up"'
# It ended in a way that the user has to hear of first.
THE_USERS_TURN = (
    Command(lead="end your turn: Stop shows the user how it ended, and they decide"),
    command(START, after="comes after that"),
)


@dataclass
class RalphState:
    """`exec_row` is what opened the iteration. `judged` has every judgement, `all_briefs` what the judge was asked in
    every iteration: what one found on the same files stands.

    `circumventions` counts over the whole run, so that a new round gives none back.
    """

    run: str = ""
    session: str = ""
    root: str = ""
    criteria: list[Criterion] = field(default_factory=list)
    states: dict[str, CriterionState] = field(default_factory=dict)
    max_iterations: int = 0
    iteration: int = 0
    exec_row: RalphRow = field(default_factory=NO_ROW.copy)
    circumventions: int = 0
    judged: list[RalphRow] = field(default_factory=list)
    all_briefs: list[RalphRow] = field(default_factory=list)
    reduced_scope: str = ""
    source: str = ""
    base: str | None = None
    started: RalphRow = field(default_factory=NO_ROW.copy)
    ended: RalphRow | None = None
    rows: list[RalphRow] = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        return self.ended is None

    @property
    def is_the_users_turn(self) -> bool:
        """It ended in a way that the user has to hear of before the agent begins again."""
        if self.ended is None or self.how == "pass":
            return False
        return self.how != "abandoned" or self.ended.get("actor") != "user"

    @property
    def how(self) -> str:
        """It ended so; empty while it is open."""
        return str(self.ended.get("how")) if self.ended is not None else ""

    @property
    def headline(self) -> str:
        phase = f"ended ({self.how}), " if self.ended is not None else ""
        judged = f"verdict {self.verdict}" if self.judged else "not judged yet"
        return f"{phase}iteration {self.iteration} of {self.max_iterations}, {judged}"

    # The open iteration, or the last one

    def of_iteration(self, kind: str) -> list[RalphRow]:
        return [row for row in self.rows if row.get("kind") == kind and row.get("iteration") == self.iteration]

    @property
    def why_no_refine(self) -> str:
        """Why the agent leaves REFINE out; empty where it does not."""
        notes = [row for row in self.of_iteration("phase") if row.get("name") == "REFINE"]
        return str(notes[-1].get("skipped") or "") if notes else ""

    @property
    def briefs(self) -> list[RalphRow]:
        return self.of_iteration("brief")

    @property
    def is_asked(self) -> bool:
        """The judge was asked, and nothing has come of it yet."""
        return self.rows[-1].get("kind") == "brief"

    def brief_about(self, tree: str) -> RalphRow | None:
        """The newest that asked about exactly these files."""
        return next((brief for brief in reversed(self.briefs) if brief["tree"] == tree), None)

    # The newest judgement

    @property
    def last_judged(self) -> RalphRow:
        """Empty before the first."""
        return self.judged[-1] if self.judged else {}

    def last_result(self, name: str) -> CriterionResult:
        """What it says of a criterion."""
        return self.last_judged.get("results", {}).get(name, {})

    @property
    def verdict(self) -> str:
        """What could not be told is no pass, and neither is what was not judged yet."""
        verdict = self.last_judged.get("verdict")
        return str(verdict) if verdict in ("pass", "partial") else "fail"

    @property
    def decision(self) -> str:
        """A run that was stopped before it was settled is a safeguard's, whatever stopped it."""
        if self.how not in ("", "pass", "partial"):
            return "safeguard"
        return str(self.last_judged.get("decision") or "replan")

    @property
    def independence(self) -> str:
        """Each judgement looks at every criterion anew."""
        return str(self.last_judged.get("independence") or "reduced") if self.judged else "full"

    @property
    def reduced_iterations(self) -> list[int]:
        """Those that were judged without the judge agent's own message."""
        return [int(row["iteration"]) for row in self.judged if row.get("independence") != "full"]

    # Its criteria

    def with_status(self, *statuses: str) -> list[Criterion]:
        return [criterion for criterion in self.criteria if self.states[criterion.id].status in statuses]

    @property
    def unproven(self) -> list[Criterion]:
        """Passed once, and the newest judgement could not tell: nothing to mend, and nothing to lean on."""
        return [each for each in self.with_status("PASS") if self.last_result(each.id).get("result") != "pass"]

    @property
    def remaining(self) -> list[str]:
        """What keeps the run from its end, in the order of the criteria."""
        left = [*self.with_status(*OPEN), *self.unproven]
        return [criterion.id for criterion in self.criteria if criterion in left]

    @property
    def questions(self) -> list[tuple[str, str]]:
        """Criterion and check of what code cannot decide."""
        asked = []
        for criterion in self.criteria:
            for check in criterion.questions:
                asked.append((criterion.id, check["id"]))
        return asked

    # What the user said

    @property
    def request(self) -> str:
        """What the user asked for; empty where omo does not know."""
        return str(part(self.started, "request").get("text") or "")

    @property
    def is_request_heard(self) -> bool:
        return part(self.started, "request").get("by") == "user"

    @property
    def whose_request(self) -> str:
        return "as they typed it" if self.is_request_heard else "as the agent handed it on"

    @property
    def is_confirmed(self) -> bool:
        """The user began the run, or named this very file after /omo:ralph."""
        return self.started.get("confirmed") is True

    @property
    def whose_criteria(self) -> str:
        if self.is_confirmed:
            return "the user confirmed the criteria"
        if not self.source and all(criterion.id == REQUEST for criterion in self.criteria):
            return "no check of the project as a whole was found, and what the user asked for is the only criterion"
        if not self.source:
            return "the criteria are the project's own checks, as its files named them at the start"
        return "the criteria are the agent's own, the user did not confirm them"

    # The run before it

    @property
    def lessons(self) -> list[AskedBefore]:
        """What the run before could not do; `again` are the criteria of this one that ask the same."""
        return self.started.get("lessons") or []

    @property
    def after(self) -> RunBefore:
        """The run of this session that this one carries on from, where that did not pass."""
        return self.started.get("after") or {}

    @property
    def after_text(self) -> str:
        """`after r…: circumvented; 1 criterion was dropped (C2)`, of a run that carries one on."""
        text = f"after {clip(str(self.after.get('run')), 60)}: {clip(str(self.after.get('how')), 20)}"
        dropped = self.after.get("dropped") or []
        if dropped:
            ids = clip(", ".join(str(entry["id"]) for entry in dropped), 60)
            text += f"; {units(len(dropped), 'criterion')} {'was' if len(dropped) == 1 else 'were'} dropped ({ids})"
        return text


def fold(rows: list[RalphRow], run: str) -> RalphState | None:
    """None where nothing began. Raises Unreadable for rows that omo did not write so; kinds it does not know pass."""
    state = RalphState(run=run, rows=rows)
    try:
        for row in rows:
            if state.started:
                _apply(state, row)
            elif row.get("kind") == "started":
                _begin(state, row)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Unreadable(f"the ledger of ralph run {run} has a row nobody can read: {error}", fix=START) from None
    return state if state.started and state.exec_row else None  # its first iteration is opened with it


def _begin(state: RalphState, row: RalphRow) -> None:
    require_objects(row.get("after"), row.get("request"))
    state.started = row
    state.session, state.root, state.source = str(row["session"]), str(row["root"]), str(row["source"])
    state.base, state.max_iterations = row["base"], int(row["max_iterations"])
    state.reduced_scope = str(row["reduced_scope"])
    for given in row["criteria"]:
        criterion = Criterion(**given)
        state.criteria.append(criterion)
        state.states[criterion.id] = CriterionState()


def _apply(state: RalphState, row: RalphRow) -> None:
    kind = row.get("kind")
    if kind == "exec-delegated":
        state.iteration, state.exec_row = int(row["iteration"]), row
    elif kind == "exec-circumvention":
        state.circumventions += 1
    elif kind == "brief":
        state.all_briefs.append(row)
    elif kind == "judged":
        require_objects(*row.get("results", {}).values())
        state.states = {criterion.id: CriterionState(**row["states"][criterion.id]) for criterion in state.criteria}
        state.judged.append(row)
    elif kind == "ended":
        state.ended = row
    elif kind == REOPENED:  # in the iteration that it ended in
        state.ended = None
    elif kind == "adopted":
        state.session = str(row["session"])
    elif kind == "moved":
        state.root = str(row["root"])


def opening(caller: Caller, files: Files, iteration: int) -> RalphRow:
    """The row that opens an iteration: on which files, and where the session's ledger ends.

    Only what comes after it counts for the iteration.
    """
    head = ledger.head_of(paths.events_file(caller.state, caller.session))
    return {
        "kind": "exec-delegated",
        "iteration": iteration,
        "tree": files.tree,
        "files": files.now,
        "session": caller.session,
        "session_seq": head.seq,
        "session_digest": head.digest,
    }


RALPH: Kind[RalphState] = Kind(KIND, "ralph run", "r", START, table.BY_KIND[KIND].directory, fold)
RUNS = RALPH
RalphRun = Run[RalphState]


def require_open(run: RalphRun) -> RalphState:
    state = run.require_whole()
    if state.ended is not None:
        commands = THE_USERS_TURN if state.is_the_users_turn else (command(START),)
        raise Refused(f"ralph run {run.id} ended ({state.how})", fix=fix(run, *commands))
    return state


def fix(run: RalphRun, *commands: Command) -> str:
    """The commands that mend a refusal; they name the run where the caller did."""
    return NextStep(commands=commands).with_run(KIND, run.named).command
