"""A case on disk, and what hooks are told of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, partial

from omo import table
from omo.engine import ends
from omo.engine.case import Case, CaseRow, fold
from omo.engine.flow import Flow
from omo.errors import Refused
from omo.state import ledger, paths
from omo.state.rows import read_files
from omo.work import lifecycle, outcome
from omo.work import publish as rows
from omo.work.files import Files
from omo.work.run import Caller, Kind, Run, load, require_own
from omo.work.status import Command, NextStep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.rows import Summary


@dataclass(frozen=True)
class FlowKind(Kind[Case]):
    """Where the runs of a flow lie, and how their rows are read."""

    flow: Flow


@cache
def kind_of(flow: Flow) -> FlowKind:
    home = table.BY_KIND[flow.name].directory
    what = f"{flow.name} run"
    return FlowKind(flow.name, what, flow.prefix, flow.start, home, partial(fold, flow), flow)


class CaseRun(Run[Case]):
    """One run of a workflow that the engine carries out."""

    kind: FlowKind

    @property
    def flow(self) -> Flow:
        return self.kind.flow

    def require_open(self) -> Case:
        """Return the case. Refused if its ledger is damaged, or if the run has ended."""
        case = self.require_whole()
        if case.ended is not None:
            commands = ends.ways_on(case)
            raise Refused(f"{self.kind.what} {self.id} ended ({case.how})", fix=self.fix(*commands))
        return case

    def fix(self, *commands: Command) -> str:
        """Return the commands that mend a refusal. They name the run if the caller did."""
        return NextStep(commands=commands).with_run(self.flow.name, self.named).command

    def pinned_for(self, item: str) -> str:
        """Return what the checks of an item are pinned for."""
        return f"{self.flow.name}/{self.id}/{item}"

    def round_row(self, files: Files, number: int) -> CaseRow:
        """Return the row that opens a round: on which files, and where the session's ledger ends.

        Only what comes after that counts for the round.
        """
        head = ledger.head_of(paths.events_file(self.caller.state, self.caller.session))
        return {
            "kind": self.flow.round_row,
            "iteration": number,
            "tree": files.tree,
            "files": files.now,
            "session": self.caller.session,
            "session_seq": head.seq,
            "session_digest": head.digest,
        }

    def publish(self, *, begins: bool = False) -> NextStep:
        """Bring the session's summary up to the run, and return what comes next.

        A run that `begins` takes the place of an earlier one.
        """
        step = ends.next_step(self)
        if self.state is None or self.problems:
            if not ends.is_over(self):
                rows.publish_damage(self)
            return step
        summary = summarize(self.state, step)
        rows.publish_progress(self, summary, session=self.caller.session if begins else "")
        return step.with_run(self.flow.name, self.named)


def summarize(case: Case, step: NextStep) -> Summary:
    """Return the session's row of a case: how much is open, what is next, and whether Stop holds the agent."""
    passed = [name for name, mark in case.marks.items() if mark.last_pass_iteration is not None]
    summary: Summary = {
        "run": case.run,
        # Items that nobody works on any more count as open, and so do those of a run that ended without a pass.
        "open": 0 if case.how == "pass" else len(case.items) - len(case.passing) + len(case.unproven),
        "total": len(case.items),
        "next": step.short if case.is_open else None,
        "iteration": case.round,
        "max_iterations": case.most_rounds,
        "passed": sorted(passed),
        "state": "active",
    }
    if case.ended is None:
        return summary
    ended = outcome.of(case.ended)
    if not case.waits_for_user:
        summary |= {"state": "done", "outcome": ended}
        if case.how == "pass":
            summary |= {"at": str(case.ended.get("ts")), "files": read_files(case.ended.get("files"))}
        return summary
    # `cleared`: the run is over, so no word of the user's wakes it; they begin another.
    question = ends.question(case)
    waits: Summary = {"state": "blocked", "why": ended["why"], "question": question, "told": False, "own": True}
    return {**summary, **waits, "cleared": True, "outcome": ended}


def load_run(flow: Flow, caller: Caller, named: str = "") -> CaseRun | None:
    """Load the run that is named, else the session's own."""
    run = load(kind_of(flow), caller, named, CaseRun)
    assert run is None or isinstance(run, CaseRun)
    return run


def require_run(flow: Flow, caller: Caller, named: str = "", *, looks: bool = False) -> CaseRun:
    """Return the run that is meant. Refused if there is none, or if it is damaged.

    A command that does more than look acts on the agent's own run alone, whatever --run says. Of another session's run
    counts what was seen in that session.
    """
    run = lifecycle.require(kind_of(flow), caller, named, CaseRun)
    assert isinstance(run, CaseRun)
    if not looks:
        require_own(run)
    if caller.summary(flow.name).get("run") != run.id:
        run.caller = replace(caller, session=run.require_whole().session)
    return run
