"""A project with a plan, and a session that carries it out: what the commands call, with a clock that ticks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omo.engine.runs import CaseRun, require_run
from omo.state import ledger
from omo.work.status import NextStep
from omo.workflows.ultraplan import finish, recover, start
from omo.workflows.ultraplan.finish import Failure, FinishedSession
from omo.workflows.ultraplan.flow import FLOW
from omo.workflows.ultraplan.run import PLAN, state_of
from omo.workflows.ultraplan.run_audit import RunStatus, load_status
from omo.workflows.ultraplan.session import PlanState
from omo.workflows.ultraplan.start import Started
from omo.workflows.ultraplan.status import publish_status
from tests.kept import put_back
from tests.project import Project as AnyProject
from tests.project import damage
from tests.ultraplan.plans import carry_out, plan_text, project

WHY = "no critic in this test"


@dataclass
class Project(AnyProject):
    session: str = "s1"

    def start(
        self,
        plan: str | Path = "plan.md",
        number: int = 0,
        *,
        unreviewed: str = WHY,
        session: str = "",
        by: str = "agent",
        **env: str,
    ) -> Started:
        self.show()
        if unreviewed:
            by = "user"  # who alone starts what no critic has found sound
        caller = self.caller(by, session)
        return start.start(caller, self.root / plan, number, unreviewed=unreviewed, environ=env)

    def show(self) -> None:
        """What a Stop does: the user has seen how it ended."""
        if self.told().get("told") is False:
            told = {**self.told(), "told": True}
            self.change_row(lambda row: {**row, "work": {**row.get("work", {}), "ultraplan": told}})

    def status(self, **whose: str) -> tuple[RunStatus, NextStep]:
        status = load_status(self.caller(**whose))
        assert status is not None
        return status, publish_status(status)

    def finish(self, *failed: Any) -> FinishedSession:
        return finish.finish(require_run(FLOW, self.caller()), Failure(*failed) if failed else None)

    def abandon(self, reason: str = "given up in this test", **whose: str) -> FinishedSession:
        return finish.abandon(require_run(FLOW, self.caller(**whose)), reason)

    def recover(self, *, named: str = "", by: str = "agent", **env: str) -> Started:
        self.show()
        return recover.recover(recover.named(self.caller(by), named), environ=env)

    def skip(self, step: int, reason: str = "the plan lets it be left out") -> None:
        finish.skip(require_run(FLOW, self.caller()), step, reason)

    def told(self, session: str = "") -> dict[str, Any]:
        """What hooks read."""
        return self.summary("ultraplan", session)

    def counts(self) -> tuple[str, int, int]:
        """How many steps hooks believe to be open, and of how many."""
        told = self.told()
        return told["state"], told["open"], told["total"]

    def carry_out(self, *steps: int) -> None:
        for number in steps:
            carry_out(self.root, number)

    def commit_file(self, path: str, subject: str = "chore: slip", text: str = "x\n") -> str:
        """One file more, in a commit of its own with all else there is."""
        self.write(path, text)
        return self.commit(subject)

    def rewrite_history(self) -> None:
        """The base is no longer in it."""
        self.git("checkout", "-q", "--orphan", "anew")
        self.git("commit", "-q", "-m", "chore: begin again")

    def record(self) -> PlanState:
        return self.records()[-1]

    def records(self) -> list[PlanState]:
        """Every run of the project, oldest first."""
        runs = [CaseRun(PLAN, self.caller(), name) for name in PLAN.names(self.state)]
        return [state_of(run) for run in runs if run.state is not None]

    def ledger(self) -> Path:
        return Path(PLAN.directory(self.state, self.record().run), "ledger.jsonl")

    def kinds(self) -> list[str]:
        return [row["kind"] for row in ledger.rows(str(self.ledger()))]

    def damage(self) -> None:
        damage(self.ledger())


def make_project(tmp_path: Path, steps: int = 3, **changes: Any) -> Project:
    return Project(project(tmp_path, plan_text(steps, **changes)))


def started(tmp_path: Path, steps: int = 3, done: tuple[int, ...] = (), **changes: Any) -> Project:
    """A session under way, with some of its steps carried out."""

    def make(place: Path) -> Project:
        made = make_project(place, steps, **changes)
        made.start()
        made.carry_out(*done)
        return made

    return put_back(tmp_path, make, steps, done, repr(changes))
