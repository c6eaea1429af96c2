"""A project with a plan that is really worked on: goals handed out, gates passed, receipts issued."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from omo.clock import stamp
from omo.errors import OmoError, Refused
from omo.state import paths
from omo.work.status import NextStep
from omo.workflows.ultragoal import create, goal_tool, receipts, steering
from omo.workflows.ultragoal.brief import parse
from omo.workflows.ultragoal.checkpoint import Done, complete
from omo.workflows.ultragoal.goals import Recorded, classify, hand_out, record_review_blockers, set_back
from omo.workflows.ultragoal.next_step import next_step
from omo.workflows.ultragoal.plan import Goal, Plan
from omo.workflows.ultragoal.rows import PlanRow
from omo.workflows.ultragoal.run import PlanRun, load_plan
from omo.workflows.ultragoal.session_goal import ToolGoal
from tests.kept import copied
from tests.project import LIMITS as LIMITS
from tests.project import NOW as NOW
from tests.project import SESSION as SESSION
from tests.project import Answer, believe
from tests.project import Project as AnyProject
from tests.project import git as git
from tests.ultragoal.gates import Gate, valid_gate

Row = dict[str, Any]

ONE = "@goal: Parse\nRead the file."
TWO = f"Keep the API.\n{ONE}\n@goal: Check\nCheck each row."
THREE = f"{TWO}\n@goal: Write\nWrite the report."
SEEN = "it was seen to work"
WHY = {"evidence": "what was seen on the way", "rationale": "why this follows"}
CLEAN = {
    "omo:architect": {
        "requestStatus": "MET",
        "architectureStatus": "CLEAR",
        "productStatus": "CLEAR",
        "codeStatus": "CLEAR",
    },
    "omo:qa": {"e2eStatus": "passed", "redTeamStatus": "passed"},
}


def commit(root: Path, name: str, text: str = "new\n") -> str:
    """Also a file that git ignores."""
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).write_text(text, encoding="utf-8")
    git(root, "add", "-A")
    git(root, "add", "-f", name)
    git(root, "commit", "-q", "-m", f"add {name}")
    return git(root, "rev-parse", "HEAD")


@dataclass
class Project(AnyProject):
    gates: dict[tuple[str, str], Gate] = field(default_factory=dict)

    # Where it is

    @property
    def directory(self) -> Path:
        run = self.run()
        return Path(run.directory) if run.id else self.home / "no plan"

    @property
    def home(self) -> Path:
        """Of everything the session has: plan, goal, events."""
        return Path(paths.session_dir(self.state, self.session))

    @property
    def ledger(self) -> Path:
        return self.directory / "ledger.jsonl"

    @property
    def goals_json(self) -> Path:
        return self.directory / "goals.json"

    def other(self, session: str = "other") -> Project:
        """Another session of the same project."""
        return Project(self.root, session=session, now=self.now)

    # Getting there

    def begin(self, text: str = TWO, mode: str = "aggregate") -> Project:
        """A plan whose first goal is under way."""
        return self.reach(("begun", text, mode), lambda: (self.create(text, mode), self.hand_out()))

    def finished(self, text: str = TWO) -> Project:

        def work() -> None:
            self.create(text)
            self.finish()

        return self.reach(("finished", text), work)

    def at_work(self, text: str = TWO) -> Project:
        """The first goal is complete, the next one under way, and hooks know."""
        return self.reach(("at work", text), lambda: (self.begin(text), self.complete("G001"), self.tell()))

    def reach(self, name: Hashable, make: Callable[[], object]) -> Project:
        """What `make` makes of an empty project, made once in a process and put back after that."""
        assert os.listdir(self.root) == [".git"], "what was done before would be lost"
        if name not in _reached:
            make()
            kept = _shelf() / f"kept{len(_reached)}"
            shutil.copytree(self.root, kept, symlinks=True)
            _reached[name] = (kept, self.now, dict(self.gates))
        else:
            kept, self.now, gates = _reached[name]
            self.gates = dict(gates)
            _put(kept, self.root)
            believe(self.state)
        return self

    # What commands load

    def run(self, by: str = "agent", **changes: Any) -> PlanRun:
        return load_plan(self.caller(by, **changes))

    def plan(self) -> Plan:
        plan = self.run().plan
        assert plan is not None
        return plan

    def tool(self) -> ToolGoal | None:
        plan = self.run().plan
        return plan.tool if plan is not None and plan.tool.id else None

    def goal(self, name: str) -> Goal:
        return self.plan().goal(name)

    def statuses(self) -> dict[str, str]:
        return {goal.id: goal.status for goal in self.plan().goals}

    def rows(self) -> list[Row]:
        return self.run().rows

    def kinds(self) -> list[str]:
        return [row["kind"] for row in self.rows()]

    def step(self) -> NextStep:
        return next_step(self.run())

    def told(self) -> Row:
        """What hooks read of the plan."""
        return self.summary("ultragoal")

    def files(self) -> dict[str, bytes]:
        """Every byte of the plan; the lock holds none."""
        return _bytes(self.directory)

    def state_files(self) -> dict[str, bytes]:
        return _bytes(Path(self.state))

    # What commands do

    def create(self, text: str = TWO, mode: str = "aggregate", **more: Any) -> Plan:
        return create.create_goals(self.run(), parse(text), mode=mode, **{"force": False, **more}).require_plan()

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
        return complete(self.run(by), name, evidence, rerun=lambda *_: "", gate=given)

    def set_back(self, name: str, status: str, evidence: str = "it does not work yet") -> bool:
        return set_back(self.run(), name, status, evidence)

    def finish(self) -> None:
        """Every goal that can be handed out is done."""
        while (goal := self.hand_out()) is not None:
            self.complete(goal.id)

    def steer(self, kind: str, **options: str) -> PlanRow:
        return steering.steer(self.run(), kind, {**WHY, **options})

    def supersede(self, name: str) -> None:
        self.steer("mark_blocked_superseded", goal_id=name)

    def add(self, title: str = "More") -> str:
        row = self.steer("add_subgoal", title=title, objective=f"Do this too: {title}.")
        return str(row["goals"][0]["id"])

    def classify(self, classification: str = "human_blocked", goal: str | None = None) -> None:
        classify(self.run(), classification, evidence="the key is with the user", goal_id=goal)

    def review(self, name: str, objective: str = "The parser must refuse bad rows.") -> Recorded:
        evidence = "the review found bad rows"
        return record_review_blockers(self.run(), name, objective=objective, evidence=evidence, title=None)

    def tell(self) -> Row:
        self.run().publish()
        return self.told()

    # Shorter ways to the same rows, for what depends on a plan and is not about its goals

    def append(self, *events: Any) -> None:
        self.run().change_plan(lambda plan: (None, [event.copy() for event in events]))

    def start(self, name: str = "G001") -> None:
        self.append({"kind": "goal_started", "goalId": name})

    def close(self, *names: str) -> None:
        """As a checkpoint whose gate passed: the receipt is minted by the code that mints all of them."""
        for name in names:

            def decide(plan: Plan, name: str = name) -> tuple[None, list[PlanRow]]:
                goal, gate = plan.goal(name), {"of": name}
                receipt = receipts.mint(plan, goal, gate=gate, now=stamp(self.now), facts={})
                row: PlanRow = {"kind": "goal_checkpointed", "goalId": name, "status": "complete"}
                row |= {"evidence": "it works", "qualityGateJson": gate, "completionVerification": receipt}
                return None, [row]

            self.run().change_plan(decide)

    # What hooks do

    def reviewed(self, **answers: str) -> None:
        """Both reviewers finish, and the hook sees it; clean unless `architect` or `qa` says otherwise."""
        for agent, clean in CLEAN.items():
            self.agent_ends(agent, answers.get(agent.removeprefix("omo:"), json.dumps(clean)))

    def agent_ends(self, agent: str, message: str = "done", **fields: Any) -> Answer:
        self.tell()  # as the command before it did: a hook notes nothing in a session without work
        return super().agent_ends(agent, message, **fields)

    def judged(self, text: str = ONE, **answers: str) -> None:
        """A plan from what the user typed to its end, with reviewers that hooks saw."""
        self.prompt(f"/omo:ultragoal {text}")
        self.create(text)
        while (goal := self.hand_out()) is not None:
            self.reviewed(**answers)
            self.complete(goal.id)
        goal_tool.operate("complete", self.run())
        self.tell()

    def note(self, **event: Any) -> None:
        """A row of the session's ledger, as a hook writes it."""
        self.change_row(dict, event)

    # What came of it

    def stale(self, name: str) -> str:
        goal = self.goal(name)
        return "" if goal.receipt else f"{name} is {goal.status}"

    def final(self) -> str | None:
        goal = receipts.final(self.plan())
        return goal.id if goal else None

    def receipt(self, name: str) -> Any:
        return self.goal(name).receipt

    @contextlib.contextmanager
    def refused(self, *words: str, kind: type[OmoError] = Refused) -> Iterator[None]:
        """The block is refused in these words with a remedy, and every byte of the plan stays as it was."""
        before = self.files()
        with pytest.raises(kind) as caught:
            yield
        whole = words_of(caught.value)
        for wanted in words:
            assert wanted in whole, whole
        assert caught.value.fix
        assert self.files() == before


def words_of(error: OmoError) -> str:
    defects = error.details.get("defects", [])
    return " ".join([error.message, error.fix, *(defects if isinstance(defects, list) else [])])


_reached: dict[Hashable, tuple[Path, float, dict[tuple[str, str], Gate]]] = {}


@cache
def _shelf() -> Path:
    shelf = Path(tempfile.mkdtemp(prefix="omo-project-")).resolve()
    atexit.register(shutil.rmtree, shelf, ignore_errors=True)
    return shelf


def _put(kept: Path, root: Path) -> None:
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(kept, root, symlinks=True)


def _bytes(top: Path) -> dict[str, bytes]:
    files = {}
    for path in sorted(top.rglob("*")):
        if path.is_file() and path.suffix != ".lock":
            files[str(path.relative_to(top))] = path.read_bytes()
    return files


def make(root: Path | None = None) -> Project:
    """An empty repository; without a root, in the same place each time, since state names its own place."""
    if root is None:
        root = _shelf() / "place" / "a b"
        shutil.rmtree(root.parent, ignore_errors=True)
    copied(root, _init)
    return Project(root)


def _init(root: Path) -> None:
    git(root, "init", "-q", "--template=")
