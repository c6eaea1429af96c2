"""A plan session as its ledger tells it: a case of the engine, whose items are the steps of the session."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from omo.engine import ends
from omo.engine.case import Case, CaseItem, CaseRow
from omo.work.outcome import exception
from omo.workflows.ultraplan import verify
from omo.workflows.ultraplan.verify import Verify

if TYPE_CHECKING:
    from omo.engine.runs import CaseRun
    from omo.state.rows import LetThrough
    from omo.work.status import NextStep, Status
    from omo.work.viewer import Viewer
    from omo.workflows.ultraplan.run_audit import RunStatus


class PlanSessionRow(CaseRow, total=False):
    """What the rows of a plan session have besides."""

    # preflight: what the machine was asked, or what let that be left out
    needs: list[dict[str, Any]]
    bypassed: str
    # verified: what the Verify commands said when they last ran
    commands: list[dict[str, Any]]
    # handed-over: what the next session should know
    handoff: str
    # ended
    head: str | None
    audit: str
    failed: dict[str, Any]


@dataclass(frozen=True)
class Terms:
    """What a session was begun with, and is held to."""

    path: str = ""  # the plan's
    plan: str = ""  # the digest of its text
    number: int = 1  # which session of the plan it is
    order: list[int] = field(default_factory=list)  # its sessions, in the order they can be carried out
    base: str = ""
    began: str = ""  # the base of the first run of the session, where that was another
    runner: dict[str, str] = field(default_factory=dict)  # what changes what a test runner does, as it was then
    done: dict[str, str] = field(default_factory=dict)  # steps that were done before, with their commits
    verify: list[dict[str, Any]] = field(default_factory=list)  # the commands that were pinned
    unreviewed: str = ""
    is_named: bool = False  # the user named this very text after /omo:ultraexecute
    is_legacy: bool = False  # a plan before 1.7: no critic looked, and manifests may have been made up
    left_behind: list[str] = field(default_factory=list)  # what earlier runs of the session changed outside its fence
    handoffs: list[str] = field(default_factory=list)  # what earlier sessions of the plan left for this one


@dataclass
class PlanState(Case):
    """A run as its rows tell it. A recovery is a round more: the same session, with all its steps and its base.

    `look` is what git and the files show of it, once somebody has asked.
    """

    look: RunStatus | None = None

    def now(self, run: CaseRun) -> PlanState:
        from omo.workflows.ultraplan import run_audit  # which git and the reader of plans come with

        return run_audit.look_at(run).seen

    def next_step(self, run: CaseRun) -> NextStep | None:
        from omo.workflows.ultraplan import next_step, run_audit

        return None if run.is_lost else next_step.next_step(self.look or run_audit.look_at(run))

    def shown(self, status: Status, viewer: Viewer) -> Status:
        from omo.workflows.ultraplan import status as views

        return views.shown(self, status)

    def text_of(self, item: CaseItem) -> str:
        return item.text

    @cached_property
    def terms(self) -> Terms:
        given = self.started.get("terms") or {}
        return Terms(**{name: given[name] for name in Terms.__dataclass_fields__ if name in given})

    @property
    def path(self) -> str:
        return self.terms.path

    @property
    def number(self) -> int:
        return self.terms.number

    @property
    def sessions(self) -> int:
        return len(self.terms.order)

    @property
    def base(self) -> str:
        """The commit it began at; empty if something was missing, so that nothing began."""
        return self.terms.base if self.opened else ""

    @property
    def word(self) -> str:
        return "blocked" if self.waiting else self.how or "active"

    @property
    def headline(self) -> str:
        return f"{self.word}, audit {self.look.audit.words}" if self.look is not None and self.is_open else self.word

    # Its steps

    @property
    def steps(self) -> list[int]:
        return [int(item.id) for item in self.items]

    @property
    def before(self) -> dict[int, str]:
        """The steps that were done when it began, with their commits."""
        return {int(number): commit for number, commit in self.terms.done.items()}

    @property
    def skipped(self) -> dict[int, str]:
        """The steps that were left out, with the reasons."""
        reasons: dict[int, str] = {}
        for row in self.rows:
            if row["kind"] == "marked" and row.get("why"):
                reasons |= dict.fromkeys(map(int, row["marks"]), row["why"])
        return reasons

    # Its recoveries

    @property
    def depth(self) -> int:
        """How often the session was recovered, in all its runs."""
        return max(0, self.round - 1)

    @property
    def recovering(self) -> list[int]:
        """The steps that the last recovery is for."""
        return [int(item) for item in self.opened.get("items") or ()]

    @property
    def spec(self) -> str:
        """The name of what its executor reads."""
        return f"recovery-{self.depth}.md" if self.recovering else "spec.md"

    # What was seen

    def last(self, kind: str) -> PlanSessionRow:
        return cast("PlanSessionRow", self.last_row(kind))

    @property
    def finished(self) -> PlanSessionRow:
        return cast("PlanSessionRow", self.ending)

    @property
    def lacks(self) -> list[str]:
        """What the last preflight missed; nothing began since, nor ended."""
        return (self.waiting or {}).get("missing") or []

    @property
    def handoff(self) -> str:
        """What it leaves for the next session."""
        return self.last("handed-over").get("handoff", "")

    @property
    def pinned(self) -> tuple[Verify, ...]:
        """The Verify commands as they were at the start."""
        return verify.read_rows(self.terms.verify)

    @property
    def results(self) -> tuple[Verify, ...]:
        """What became of the Verify commands when they last ran."""
        return verify.read_rows(self.last("verified").get("commands") or [])

    def verified_as(self, result: str) -> list[Verify]:
        return [command for command in self.results if command.result == result]

    @property
    def exceptions(self) -> list[LetThrough]:
        terms, by = self.terms, self.started_by
        exceptions = []
        if terms.unreviewed:
            exceptions.append(exception("no clean critique of the plan", by, terms.unreviewed))
        if terms.is_legacy:
            what = "a plan before 1.7: no critic was asked"
            exceptions.append(exception(what, by, "what it does not say was taken from its prose"))
        for path in terms.left_behind:
            exceptions.append(exception("changed by an earlier session outside its fence", "agent", path))
        preflight = self.last("preflight")
        if preflight.get("bypassed"):
            exceptions.append(exception("preflight bypassed", str(preflight["actor"]), preflight["bypassed"]))
        return exceptions

    @property
    def overrides(self) -> list[str]:
        """What was let through without its proof, in words."""
        return [f"{each['what']}: {each['why']}" for each in ends.exceptions(self)]
