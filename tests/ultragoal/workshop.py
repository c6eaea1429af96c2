"""A project with a plan that is really worked on: goals handed out, gates passed, receipts issued."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from omo.errors import OmoError, Refused
from omo.hooks import subagent_stop
from omo.hooks.main import World
from omo.hosts.claude import event_of
from omo.state import paths, runtime
from omo.ultragoal import create, goal_tool, receipts, steering
from omo.ultragoal.checkpoint import Done, Recorded, checkpoint, classify, hand_out, record_review_blockers
from omo.ultragoal.goal_tool import ToolGoal
from omo.ultragoal.next_step import next_step
from omo.ultragoal.plan import Goal, Plan
from omo.ultragoal.run import PlanRun
from omo.ultragoal.summary import publish_status
from omo.work.run import Caller
from omo.work.status import NextStep
from tests.kept import copied, git_init
from tests.ultragoal.gates import Gate, valid_gate

NOW = 1_771_780_801.0  # long before any file of a test was written
SESSION = "abc123"
LIMITS = {"max_stop_blocks": 8, "cooldown_seconds": 3.0, "max_total_blocks": 64, "max_hours": 8.0}
ONE = "@goal: Parse\nRead the file."
TWO = f"Keep the API.\n{ONE}\n@goal: Check\nCheck each row."
THREE = f"{TWO}\n@goal: Write\nWrite the report."
SEEN = "it was seen to work"
WHY = {"evidence": "what was seen on the way", "rationale": "why this follows"}
CLEAN = {
    "omo:architect": {"architectureStatus": "CLEAR", "productStatus": "CLEAR", "codeStatus": "CLEAR"},
    "omo:qa": {"e2eStatus": "passed", "redTeamStatus": "passed"},
}


@dataclass
class Workshop:
    root: Path
    session: str = SESSION
    now: float = NOW
    gates: dict[tuple[str, str], Gate] = field(default_factory=dict)

    @property
    def state(self) -> str:
        return str(self.root / ".sisyphus" / "cc-omo")

    @property
    def directory(self) -> Path:
        return Path(paths.ultragoal_dir(self.state, self.session))

    @property
    def ledger(self) -> Path:
        return self.directory / "ledger.jsonl"

    @property
    def goals_json(self) -> Path:
        return self.directory / "goals.json"

    def caller(self, by: str = "agent", **changes: Any) -> Caller:
        self.now += 1
        given = {"session": self.session, "by": by, "now": self.now, **changes}
        return Caller(self.state, str(self.root), wait=5.0, limits=dict(LIMITS), **given)

    def run(self, by: str = "agent", **changes: Any) -> PlanRun:
        """As a command loads it."""
        return PlanRun(self.caller(by, **changes))

    def plan(self) -> Plan:
        plan = self.run().plan
        assert plan is not None
        return plan

    def tool(self) -> ToolGoal | None:
        return self.run().tool.current

    def goal(self, name: str) -> Goal:
        return self.plan().goal(name)

    def statuses(self) -> dict[str, str]:
        return {goal.id: goal.status for goal in self.plan().goals}

    def rows(self) -> list[dict[str, Any]]:
        return self.run().rows

    def kinds(self) -> list[str]:
        return [row["kind"] for row in self.rows()]

    def create(self, text: str = TWO, mode: str = "aggregate", **more: Any) -> Plan:
        run = self.run()
        create.create_goals(run, create.parse(text), mode=mode, **{"force": False, **more})
        if self.tool() is None:
            goal_tool.create(self.run())
        return run.require_plan()

    def hand_out(self, **how: bool) -> Goal | None:
        run = self.run()
        hand_out(run, **how)
        return run.require_plan().active

    def gate(self, name: str) -> Gate:
        """Valid, and the same each time in one run: a replay hands in the same one."""
        run = self.run().id
        if (run, name) not in self.gates:
            self.gates[run, name] = valid_gate(self.root, name, salt=run)
        return self.gates[run, name]

    def complete(self, name: str, evidence: str = SEEN, *, gate: object = None, by: str = "agent") -> Done:
        given = self.gate(name) if gate is None else gate
        return checkpoint(self.run(by), name, status="complete", evidence=evidence, goal_json=None, gate=given)

    def set_back(self, name: str, status: str, evidence: str = "it does not work yet") -> Done:
        return checkpoint(self.run(), name, status=status, evidence=evidence, goal_json=None, gate=None)

    def finish(self) -> None:
        """Every goal that can be handed out is done."""
        while (goal := self.hand_out()) is not None:
            self.complete(goal.id)

    def reviewed(self, **said: str) -> None:
        """Both reviewers finish, and the hook sees it; clean unless `architect` or `qa` says otherwise."""
        for agent, clean in CLEAN.items():
            self.agent_ends(agent, said.get(agent.removeprefix("omo:"), json.dumps(clean)))

    def agent_ends(self, agent: str, message: str) -> None:
        publish_status(self.run())  # as the command before it did: a hook notes nothing in a session without work
        self.now += 1
        who = {"session_id": self.session, "cwd": str(self.root), "agent_type": agent, "agent_id": "a1"}
        event = event_of({**who, "last_assistant_message": message})
        subagent_stop.handle(event, World(event, {}, str(self.root), self.now))

    def judged(self, text: str = ONE, **said: str) -> None:
        """A plan from its brief to its end, with reviewers that hooks saw."""
        self.create(text)
        while (goal := self.hand_out()) is not None:
            self.reviewed(**said)
            self.complete(goal.id)
        goal_tool.complete(self.run())
        publish_status(self.run())

    def steer(self, kind: str, **options: str) -> dict[str, Any]:
        return steering.steer(self.run(), steering.Attempt(kind=kind, **{**WHY, **options}))

    def supersede(self, name: str) -> None:
        self.steer("mark_blocked_superseded", goal_id=name)

    def add(self, title: str = "More") -> str:
        row = self.steer("add_subgoal", title=title, objective=f"Do this too: {title}.")
        return str(row["goalIds"][0])

    def classify(self, classification: str = "human_blocked", goal: str | None = None) -> None:
        classify(self.run(), classification, evidence="the key is with the user", goal_id=goal)

    def review(self, name: str, objective: str = "The parser must refuse bad rows.") -> Recorded:
        found = "the review found bad rows"
        return record_review_blockers(self.run(), name, objective=objective, evidence=found, title=None)

    def step(self) -> NextStep:
        return next_step(self.run())

    def tell(self) -> None:
        publish_status(self.run())

    def stale(self, name: str) -> str:
        plan = self.plan()
        return receipts.problem(plan, plan.goal(name), str(self.directory))

    def final(self) -> str | None:
        found = receipts.final(self.plan(), str(self.directory))
        return found.id if found else None

    def receipt(self, name: str) -> dict[str, Any]:
        found = self.goal(name).receipt
        assert found is not None
        return found

    def told(self) -> dict[str, Any]:
        """What hooks read of the plan."""
        return runtime.part(runtime.part(runtime.session(self.state, self.session) or {}, "work"), "ultragoal")

    def note(self, **event: Any) -> None:
        """A row of the session's ledger, as a hook writes it."""
        self.now += 1
        runtime.change_session(
            self.state,
            self.session,
            lambda row: runtime.Change(None, row or {}, [event]),
            actor="hook",
            now=self.now,
            wait=5,
        )

    def files(self) -> dict[str, bytes]:
        """Every byte of the plan; the lock holds none."""
        found = sorted(path for path in self.directory.rglob("*") if path.is_file() and path.suffix != ".lock")
        return {str(path.relative_to(self.directory)): path.read_bytes() for path in found}

    @contextlib.contextmanager
    def refused(self, *said: str, kind: type[OmoError] = Refused) -> Iterator[None]:
        """The block is refused in these words with a remedy, and every byte of the plan stays as it was."""
        before = self.files()
        with pytest.raises(kind) as caught:
            yield
        defects = caught.value.details.get("defects", [])
        whole = " ".join([caught.value.message, caught.value.fix, *(defects if isinstance(defects, list) else [])])
        for words in said:
            assert words in whole, whole
        assert caught.value.fix
        assert self.files() == before


def make(root: Path) -> Workshop:
    copied(root, git_init)
    return Workshop(root)
