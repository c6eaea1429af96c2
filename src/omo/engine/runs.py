"""A case on disk, and what hooks are told of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from omo import table
from omo.engine import ends
from omo.engine.case import Case, CaseRow, fold
from omo.engine.flow import Flow, ItemMark
from omo.errors import Refused
from omo.state import ledger, paths
from omo.state.rows import read_files, without
from omo.work import damage, lifecycle, outcome
from omo.work import publish as rows
from omo.work.files import Files
from omo.work.run import Caller, Kind, Run, load, require_own
from omo.work.status import Command, NextStep

if TYPE_CHECKING:
    from omo.state.rows import Summary


@dataclass(frozen=True)
class FlowKind(Kind[Case]):
    """Where the runs of a flow lie, and how their rows are read."""

    flow: Flow

    def names(self, state: str) -> list[str]:
        """Return the names of its runs. Those that were filed are named after their items."""
        if not self.flow.is_filed:
            return super().names(state)
        try:
            entries = os.listdir(self.home(state))
        except (FileNotFoundError, NotADirectoryError):
            return []
        return sorted(name for name in entries if "." not in name)


@cache
def kind_of(flow: Flow) -> FlowKind:
    home = table.BY_KIND[flow.name].directory
    return FlowKind(flow.name, flow.what, flow.prefix, flow.start, home, partial(fold, flow), flow)


class CaseRun(Run[Case]):
    """One run of a workflow that the engine carries out."""

    kind: FlowKind

    @property
    def flow(self) -> Flow:
        return self.kind.flow

    def require_state(self) -> Case:
        """Return the case, wherever it belongs."""
        if self.state is None:
            raise self.lost()
        return self.state

    def require_open(self) -> Case:
        """Return the case. Refused if the run has ended or never began."""
        case = self.require_whole()
        if not case.is_open:
            how = f"ended ({case.how})" if case.ended else f"never began: {(case.waiting or {}).get('why')}"
            raise Refused(f"{self.kind.what} {self.id} {how}", fix=self.fix(*ends.ways_on(case)))
        return case

    def fix(self, *commands: Command) -> str:
        """Return the commands that mend a refusal. They name the run if the caller did."""
        return NextStep(commands=commands).with_run(self.flow.verb, self.named).command

    def pinned_for(self, item: str) -> str:
        """Return what the checks of an item are pinned for."""
        if self.flow.is_filed:
            return item
        return f"{self.flow.name}/{self.id}/{item}"

    def round_row(self, files: Files | None, number: int) -> CaseRow:
        """Return the row that opens a round: on which files, if they are compared, and where the session's ledger ends.

        Only what comes after that counts for the round.
        """
        head = ledger.head_of(paths.events_file(self.caller.state, self.caller.session))
        row: CaseRow = {"kind": self.flow.round_row, "iteration": number}
        if files is not None:
            row |= {"tree": files.tree, "files": files.now}
        return {**row, "session": self.caller.session, "session_seq": head.seq, "session_digest": head.digest}

    def marked(self, results: Mapping[str, str], **more: Any) -> list[CaseRow]:
        """Return the row that moves items by what was seen of them outside of a judgement; none if that is no news.

        The row has `more` beside the marks, and is news if that differs from what the last one had.
        """
        case = self.require_whole()
        after = moved(self.flow, case.marks, results, case.round)
        marks = {name: asdict(mark) for name, mark in after.items() if mark != case.marks[name]}
        row: Any = {"kind": "marked", "marks": marks, **more}
        is_news = bool(marks) or any(value != getattr(case, name, None) for name, value in more.items())
        return [row] if is_news else []

    def publish(self, step: NextStep | None = None, *, begins: bool = False, more: Summary | None = None) -> NextStep:
        """Bring the session's summary up to the run, and return what comes next: `step`, if the workflow knows it.

        A run that `begins` takes the place of an earlier one. `more` is what hooks are told besides.
        """
        step, case = step or ends.next_step(self), self.state
        if case is None or self.is_lost:
            return step
        summary = summarize(case, step)
        summary |= more or {}
        rows.publish_progress(self, summary, session=self.caller.session if begins else "")
        return step.with_run(self.flow.verb, self.named)


def moved(flow: Flow, marks: Mapping[str, ItemMark], results: Mapping[str, str], number: int) -> dict[str, ItemMark]:
    """Return how items stand after what was seen of them in a round."""
    return {name: flow.turn(marks[name], result, number) for name, result in results.items()}


def summarize(case: Case, step: NextStep) -> Summary:
    """Return the session's row of a case: how much is open, what is next, and whether Stop holds the agent."""
    flow, total = case.flow, len(case.items) - len(case.cut)
    # Items that nobody works on any more count as open, and so do those of a run that ended without a pass.
    left = total - len(case.passing) + len(case.unproven) or int(bool(case.against))
    has_next = case.ended is None or (flow.goes_on and step.action != "done")
    summary: Summary = {
        "run": case.run,
        "open": 0 if case.how == "pass" else left,
        "total": total,
        "next": step.short if has_next else None,
        "passed": sorted(case.passed),
        "state": "active",
    }
    if case.most_rounds:
        summary |= {"iteration": case.round, "max_iterations": case.most_rounds}
    if case.is_open and case.fence:
        summary["fence"] = case.fence
    if case.waits is not None:
        return {**summary, **_waits(case, step, case.waits)}
    if case.ended is None:
        return summary
    ended = outcome.of(case.ended)
    if not case.waits_for_user:
        summary |= {"state": "ended", "outcome": ended}
        if case.how == "pass":
            summary |= {"at": str(case.ended.get("ts")), "files": read_files(case.ended.get("files"))}
        return summary
    summary |= _waits(case, step, {"why": ended["why"]})
    if not flow.goes_on:
        summary = {**without(summary, "waitsFor"), "state": "ended", "outcome": ended}
    return summary


def _waits(case: Case, step: NextStep, row: CaseRow) -> Summary:
    waits: Summary = {"state": "waiting", "waitsFor": "outside", "why": str(row["why"]), "told": False}
    waits["question"] = ends.question(case, step)
    return {**without(waits, "waitsFor"), "state": "paused", "own": True} if row.get("pauses") else waits


def give_way(flow: Flow, caller: Caller) -> None:
    """End the session's run by the user's word, if it was let go and they asked for something else in its place."""
    user = lifecycle.replaces(caller, flow.name)
    if user is None:
        return
    own = load_run(flow, user)
    if own is not None and own.state is not None and own.state.is_open:
        ends.abandon(own, lifecycle.ASKED_ANEW)
    lifecycle.give_up_for_another(user, flow.name)
    caller.forget()


def load_run(flow: Flow, caller: Caller, named: str = "") -> CaseRun | None:
    """Load the run that is named, else the session's own."""
    run = load(kind_of(flow), caller, named, CaseRun)
    assert run is None or isinstance(run, CaseRun)
    return run


def require_run(flow: Flow, caller: Caller, named: str = "", *, looks: bool = False) -> CaseRun:
    """Return the run that is meant. Refused if there is none, or if damage keeps it from going on.

    A command that does more than look acts on the agent's own run alone, whatever --run says. Of another session's run
    counts what was seen in that session.
    """
    run = load_run(flow, caller, named)
    if run is None:
        raise lifecycle.nothing_begun(kind_of(flow), caller)
    if not looks:
        require_own(run)
        damage.require_going_on(run)
    run.require_whole()
    if caller.summary(flow.name).get("run") != run.id:
        run.caller = replace(caller, session=run.require_whole().session)
    return run
