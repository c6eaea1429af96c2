"""A workflow as data: what its items are called, which steps a round needs, and how a result moves an item."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from omo.work.status import plural

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import BaseModel

    from omo import options
    from omo.engine.case import Case, CaseItem
    from omo.engine.runs import CaseRun
    from omo.work.status import Command

Drawn = Literal["done", "active", "open", "failed", "waiting", "cut"]  # how views draw an item
PASSED: Drawn = "done"
STUCK: Drawn = "waiting"  # another round does not mend it
CUT: Drawn = "cut"  # it was left out, and counts no more


@dataclass(frozen=True)
class ItemMark:
    """How one item stands after the judgements so far.

    `fail_count` counts failures in a row. `regressions` counts how often it broke after a pass, in the whole run.
    `regressed_at_iteration` stays until the next pass.
    """

    status: str
    fail_count: int = 0
    previous_status: str | None = None
    regressed_at_iteration: int | None = None
    last_pass_iteration: int | None = None
    regressions: int = 0


@dataclass(frozen=True)
class ItemStatus:
    """One status that an item can have, and the heading under which a judgement lists such items.

    `drawn` says how views draw it: `done` has passed, `waiting` is left alone, `failed` and `open` are work. For a
    regression omo names the files that changed since the item passed. Of items that are closed one by one, `may` says
    what may be done to one with this status, and `way` how it goes on from there.
    """

    name: str
    drawn: Drawn
    heading: str
    is_regression: bool = False
    may: tuple[str, ...] = ()
    way: str = ""


@dataclass(frozen=True)
class RoundStep:
    """Something that has to happen in every round before the round is judged.

    The step is done when a hook saw `agent` finish. One that names no `after` begins the chain: what other agents
    finished before it does not count. One that names `after` counts from that step on. With `or_work` changed files do
    as well, and every finish counts: the step right after it has to look again. With `gates` the session's gates have
    to pass; none need be pinned if the judgement runs a command that somebody else wants.
    `may_be_skipped`: a reason does, if few lines were changed. `is_required`: not even the user leaves it out.

    Its agent ends with a report in this `form`, if there is one. Of several words that a field may have, the first is
    the clean one. A report that leaves out one of `lanes` has no verdict.
    """

    name: str
    agent: str = ""
    after: str = ""
    or_work: bool = False
    gates: bool = False
    may_be_skipped: bool = False
    is_required: bool = False
    to_do: str = ""  # what the working agent is told to do about it
    task: str = ""  # what the agent itself is told, above the items; without it omo writes no brief for the agent
    asked_by: str = ""  # the command that prints its brief, if `brief` does not: it is asked before a run begins
    form: Mapping[str, Any] = field(default_factory=dict)
    lanes: tuple[str, ...] = ()

    @property
    def role(self) -> str:
        """The name by which `omo WORKFLOW brief` knows the agent."""
        return self.agent.rpartition(":")[2]

    @property
    def option(self) -> str:
        """The option that skips it."""
        return f"--no-{self.name.lower()}"


@dataclass(frozen=True)
class Answered:
    """What a workflow makes of an answer: `ok`, `gap` (let pass without an answer) or `failed`.

    The answer is stale once a file of `artifacts` has another digest. `unseen` is what it cites and nobody looked at,
    `gaps` is what it leaves open, and `missing` is what the item never asked for. None of these holds anything up.
    """

    result: Literal["ok", "gap", "failed"] = "ok"
    why: str = ""
    gaps: tuple[str, ...] = ()
    artifacts: Mapping[str, str] = field(default_factory=dict)
    unseen: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Question:
    """One question that the working agent itself answers: `read` reads an answer strictly, and `judge` judges it.

    `form` shows what an answer looks like. The question is answered `after` another. `decides`: a round that needs the
    answer does not pass without it. `is_repeatable`: the answer of one item may be that of another, word for word.
    """

    read: Callable[[Any], BaseModel]
    judge: Callable[[CaseRun, Any], Answered]
    form: str = ""
    after: str = ""
    decides: bool = True
    is_repeatable: bool = False


@dataclass(frozen=True, eq=False)
class Flow:
    """One workflow. Data, and at most four functions: `read`, `turn`, `needs`, and those in `answers`.

    `turn` moves an item: its mark, a result (pass, fail, unknown) and the round go in, its new mark comes out.
    `statuses` stand in the order in which a judgement lists them. With a `letter` C, what the user typed is the item
    C0, and a run without a file takes the project's own checks as C1, C2 and C3.

    `is_filed`: each item is a run of its own. It is filed once for the project, under its own name, and a session
    begins each of its rounds. All runs that a session began are its one piece of work.
    """

    name: str  # of its row in omo.table
    unit: str  # what an item is called
    prefix: str  # what the ids of its runs begin with
    read: Callable[[Path], list[CaseItem]]  # the items of a file, in the workflow's own form
    turn: Callable[[ItemMark, str, int], ItemMark]
    statuses: tuple[ItemStatus, ...]
    begins_as: str
    steps: tuple[RoundStep, ...] = ()
    letter: str = ""
    rounds: int = 5
    most_rounds: int = 50
    most_early: int = 3  # so many verdicts asked for over steps that did not happen end the run
    small_change: int = 50  # lines; below that a step may be skipped
    needs: Callable[[Case], tuple[str, ...]] = lambda case: ()  # questions that the working agent itself has to answer
    answers: Mapping[str, Question] = field(default_factory=dict)  # these, by name
    is_filed: bool = False
    most_briefs: int = 3  # how often in a round the judge is asked, if the agent may answer in its place
    checks_may_write: bool = False  # the results of checks stand, though their commands have changed files
    start_verb: str = "start"
    judge_verb: str = "judge"
    abandon_verb: str = "abandon"
    started_row: str = "started"  # the kind of the row that begins a run, if a source names it
    round_row: str = "round"  # the kind of the row that opens a round
    early_row: str = "early"  # of the row that notes a verdict asked for too early
    ended_row: str = "ended"
    title: str = ""  # the heading over its items, if that is not what they are called
    command: str = ""  # the first word of its commands, if that is not its name
    given: str = ""  # what the command is given that begins a run
    run_name: str = ""  # what a run is called, if that is not its name
    goes_on: bool = False  # whether a run that ended without a pass can be taken up again
    file_ends: tuple[str, ...] = ()  # of a file that is taken as the user has named it
    begun_by: Mapping[str, tuple[Command, ...]] = field(default_factory=dict)  # by what the user typed, if that differs
    case: type[Case] | None = None  # a Case that reads more of the rows
    has_rounds: bool = True  # else each item is judged by itself, and the run is open until it has ended

    def register(self, commands: options.Commands) -> None:
        """Add the workflow's command, with the verbs that every workflow has."""
        from omo.engine import verbs

        verbs.register(self, commands)

    @property
    def what(self) -> str:
        """What a run is called."""
        return self.run_name or f"{self.name} run"

    @property
    def units(self) -> str:
        """What several items are called."""
        return plural(self.unit)

    @property
    def request_id(self) -> str:
        """The id of the item that holds what the user asked for."""
        return f"{self.letter}0" if self.letter else ""

    def status(self, name: str) -> ItemStatus:
        for status in self.statuses:
            if status.name == name:
                return status
        raise KeyError(name)

    def has_passed(self, mark: ItemMark) -> bool:
        return self.status(mark.status).drawn == PASSED

    def is_stuck(self, mark: ItemMark) -> bool:
        return self.status(mark.status).drawn == STUCK

    def is_cut(self, mark: ItemMark) -> bool:
        return self.status(mark.status).drawn == CUT

    @property
    def skippable(self) -> list[RoundStep]:
        return [step for step in self.steps if step.may_be_skipped]

    @property
    def briefed(self) -> dict[str, RoundStep]:
        """Return the steps whose agent gets a brief, by role."""
        return {step.role: step for step in self.steps if step.task}

    # Its commands

    @property
    def verb(self) -> str:
        """The first word of its commands."""
        return self.command or self.name

    @property
    def start(self) -> str:
        return f"omo {self.verb} {self.start_verb} {self.given}".rstrip()

    @property
    def judge(self) -> str:
        return f"omo {self.verb} {self.judge_verb}"

    @property
    def answer(self) -> str:
        return f"omo {self.verb} answer"

    @property
    def brief(self) -> str:
        return f"omo {self.verb} brief"

    @property
    def status_command(self) -> str:
        return f"omo {self.verb} status"

    @property
    def abandon(self) -> str:
        return f'omo {self.verb} {self.abandon_verb} "why it is given up"'

    @property
    def ask(self) -> str:
        """What to do when the judge was asked: its whole prompt is the command that prints its brief."""
        return f"start a new omo:judge with this as its whole prompt: {self.brief}"
