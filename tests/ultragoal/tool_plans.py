"""A session with a plan whose goals can be moved by hand: for what depends on a plan and is not about making one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omo.clock import stamp
from omo.state import paths, runtime
from omo.ultragoal import create, receipts
from omo.ultragoal.goal_tool import ToolGoal
from omo.ultragoal.plan import Plan
from omo.ultragoal.run import PlanRun
from omo.ultragoal.summary import publish_status
from omo.work.run import Caller

NOW = 1_771_780_801.0
SESSION = "abc123"
LIMITS = {"max_stop_blocks": 8, "cooldown_seconds": 3.0, "max_total_blocks": 64, "max_hours": 8.0}
THREE = "Keep the API.\n@goal: Parse\nRead the file.\n@goal: Check\nCheck each row.\n@goal: Write\nWrite the report."
TWO = "@goal: Parse\nRead the file.\n@goal: Check\nCheck each row."


@dataclass
class Desk:
    root: Path
    now: float = NOW
    session: str = SESSION

    @property
    def state(self) -> str:
        return str(self.root / ".sisyphus" / "cc-omo")

    def caller(self, by: str = "agent") -> Caller:
        self.now += 1
        return Caller(self.state, str(self.root), self.session, by, self.now, 5.0, limits=dict(LIMITS))

    def run(self, by: str = "agent") -> PlanRun:
        return PlanRun(self.caller(by))

    def plan(self, text: str = THREE, mode: str = "aggregate", *, force: bool = False) -> Plan:
        run = self.run()
        create.create_goals(run, create.parse(text), mode=mode, force=force)
        return run.require_plan()

    def append(self, *events: dict[str, Any]) -> None:
        self.run().change_plan(lambda plan: (None, [dict(event) for event in events]))

    def start(self, name: str = "G001") -> None:
        self.append({"kind": "goal_started", "goalId": name})

    def checkpoint(self, name: str, status: str) -> None:
        self.append({"kind": "goal_checkpointed", "goalId": name, "status": status, "evidence": f"{name} is {status}"})

    def complete(self, name: str) -> None:
        """As a checkpoint does whose gate passed: the receipt is minted by the code that mints all of them."""
        run = self.run()
        gate = {"of": name}
        digest = receipts.keep_gate(run.directory, self.state, gate)

        def decide(plan: Plan) -> tuple[None, list[dict[str, Any]]]:
            goal = plan.goal(name)
            kind = receipts.kind_for(plan, goal, superseding=[])
            receipt = receipts.mint(
                plan, goal, kind=kind, gate=digest, snapshot={}, superseding=[], now=stamp(self.now), facts={}
            )
            row = {"kind": "goal_checkpointed", "goalId": name, "status": "complete", "evidence": "it works"}
            return None, [{**row, "completionVerification": receipt}]

        run.change_plan(decide)

    def complete_all(self) -> None:
        for goal in self.run().require_plan().open_goals:
            self.start(goal.id)
            self.complete(goal.id)

    def classify(self, classification: str = "human_blocked") -> None:
        self.append(
            {"kind": "blocker_classified", "classification": classification, "evidence": "the key is with the user"}
        )

    def tell(self) -> None:
        publish_status(self.run())

    def tool(self) -> ToolGoal | None:
        return self.run().tool.current

    def tool_rows(self) -> list[dict[str, Any]]:
        return self.run().tool.journal.rows()

    def row(self) -> dict[str, Any]:
        return runtime.session(self.state, self.session) or {}

    def work(self) -> dict[str, Any]:
        return runtime.part(runtime.part(self.row(), "work"), "ultragoal")

    def directory(self, name: str) -> Path:
        return Path(paths.session_dir(self.state, self.session)) / name

    def files(self) -> dict[str, bytes]:
        """Every byte of the state, to show that a reading left it alone."""
        found = sorted(path for path in Path(self.state).rglob("*") if path.is_file())
        return {str(path.relative_to(self.state)): path.read_bytes() for path in found}
