"""A git project, a ralph run and what the hooks would note of it: what the commands call, with a clock that ticks."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omo.digest import sha256
from omo.ralph import ending, execution, starting, summary
from omo.ralph.execution import Executed
from omo.ralph.run import RalphRun, Standing, standings
from omo.ralph.starting import Started
from omo.ralph.transitions import after, decision, verdict
from omo.state import ledger, paths, runtime
from omo.ultrawork import session
from tests.kept import copied

NOW = 1_771_780_801.0
PHASE_AGENTS = {"PLAN": "omo:planner", "IMPL": "omo:executor", "VERIFY": "omo:qa", "REFINE": "omo:critic"}
WHO = {
    "GIT_AUTHOR_NAME": "Test", "GIT_AUTHOR_EMAIL": "test@example.org",
    "GIT_COMMITTER_NAME": "Test", "GIT_COMMITTER_EMAIL": "test@example.org",
}  # fmt: skip


def criterion(number: int, *checks: Any, **changes: Any) -> dict[str, Any]:
    """Without checks: the file done-N.txt is there."""
    found = list(checks) or [{"id": "there", "type": "path", "path": f"done-{number}.txt"}]
    return {"id": f"C{number}", "description": f"part {number} is in place", "checks": found, **changes}


def question(name: str = "clear", text: str = "Does README.md name every command of the tool?") -> dict[str, Any]:
    return {"id": name, "type": "judge", "question": text}


@dataclass
class Desk:
    root: Path
    now: float = NOW
    state: str = ""
    limits: dict[str, Any] = field(default_factory=lambda: {"max_stop_blocks": 8})
    session: str = "s1"

    def __post_init__(self) -> None:
        self.state = self.state or str(self.root / ".sisyphus" / "cc-omo")

    def run(self, *, by: str = "agent", session: str = "", named: str = "") -> RalphRun:
        self.now += 1
        return RalphRun(
            self.state, str(self.root), session or self.session, by, self.now, 5.0, self.limits, named=named
        )

    def git(self, *arguments: str) -> str:
        argv = ["git", "-c", "init.defaultBranch=main", *arguments]
        done = subprocess.run(
            argv, cwd=self.root, check=True, capture_output=True, text=True, env={**os.environ, **WHO}
        )
        return done.stdout.strip()

    def write(self, path: str, text: str = "here\n") -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        return target

    def commit(self, message: str = "work") -> str:
        self.git("add", "-A", "--", ".", ":!.sisyphus")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def criteria_file(self, *criteria: Any, name: str = "criteria.json") -> Path:
        """Without any: two criteria, done-1.txt and done-2.txt."""
        found = list(criteria) or [criterion(1), criterion(2)]
        return self.write(name, json.dumps({"criteria": found}))

    def start(
        self, *criteria: Any, by: str = "agent", session: str = "", same_turn: bool = False, **options: Any
    ) -> Started:
        """In a new turn: Stop has shown the user how an earlier run ended."""
        if not same_turn and self.told(session or self.session).get("told") is False:
            self.turn_ends(session or self.session)
        return starting.start(self.run(by=by, session=session), self.criteria_file(*criteria), **options)

    def execute(self, **whose: str) -> Executed:
        run = self.run(**whose)
        done = execution.execute(run)
        summary.tell(run)
        return done

    def phase(self, name: str, skip: str = "", **whose: str) -> tuple[Standing, bool]:
        run = self.run(**whose)
        done = execution.phase(run, name, skip)
        summary.tell(run)
        return done

    def agent_finished(self, agent: str, message: str = "done", session: str = "s1") -> None:
        """As the SubagentStop hook writes it."""
        said = message.encode("utf-8", "replace")
        event = {
            "kind": "agent-finished",
            "agentType": agent,
            "agentId": f"a{int(self.now)}",
            "message": message,
            "digest": sha256(said),
            "cut": False,
        }
        self.change_row(lambda row: row, event, session=session)

    def gate_ran(self, tree: str, name: str = "tests", result: str = "pass") -> None:
        """As `omo gate add` and `omo gate run` write them."""
        self.change_row(lambda row: row, {"kind": "gate-added", "name": name, "by": "user", "argv": ["true"]})
        self.change_row(lambda row: row, {"kind": "gate-ran", "name": name, "result": result, "tree": tree})

    def work(self, *paths: str, phases: tuple[str, ...] = ("PLAN", "IMPL", "VERIFY", "REFINE", "SHIP")) -> None:
        """One iteration as it should be: agents in their order, files, gates on those files, each phase noted."""
        from omo.evidence.tree import fingerprint

        for name in phases:
            if name == "IMPL":
                for path in paths:
                    self.write(path)
            if name in PHASE_AGENTS:
                self.agent_finished(PHASE_AGENTS[name])
            else:
                self.gate_ran(fingerprint(self.root))
            self.phase(name)

    def judged(self, **results: str) -> Standing:
        """A judgement with these results and nothing behind them: rows as `omo ralph judge` writes them."""
        run = self.run()
        at = run.require()
        known = {one.id: results.get(one.id, "fail") for one in at.criteria}
        states = {name: after(at.states[name], known[name], at.iteration) for name in known}
        row = {
            "kind": "judged",
            "iteration": at.iteration,
            "results": {
                name: {"result": result, "evidence": f"saw {result}", "source": "code", "suggested_action": "try"}
                for name, result in known.items()
            },
            "states": {name: state.data for name, state in states.items()},
            "verdict": verdict(states, known),
            "decision": decision(states, at.iteration, at.max_iterations, known),
            "tree": "tree1:0",
            "independence": "full",
        }
        end = ending.end_of(at, row)
        run.append([row, end] if end else [row])
        summary.tell(run)
        return self.standing()

    def round(self, **results: str) -> Standing:
        """Open an iteration and judge it."""
        self.execute()
        return self.judged(**results)

    def standing(self, **whose: str) -> Standing:
        return self.run(**whose).standing()

    def row(self, session: str = "s1") -> dict[str, Any]:
        return runtime.session(self.state, session) or {}

    def told(self, session: str = "s1") -> dict[str, Any]:
        """What hooks read."""
        return dict(self.row(session).get("work", {}).get("ralph", {}))

    def last(self) -> Standing:
        return standings(self.state)[-1]

    def ledger(self) -> Path:
        return Path(paths.ralph_run_dir(self.state, self.last().run), "ledger.jsonl")

    def kinds(self) -> list[str]:
        return [row["kind"] for row in ledger.rows(str(self.ledger()))]

    def damage(self) -> None:
        """Somebody changes a row of the current run by hand."""
        lines = self.ledger().read_text().splitlines()
        row = json.loads(lines[0])
        self.ledger().write_text("\n".join([json.dumps({**row, "extra": 1}), *lines[1:]]) + "\n")

    def change_row(self, change: Any, event: dict[str, Any] | None = None, session: str = "s1") -> None:
        self.now += 1
        runtime.change_session(
            self.state,
            session,
            lambda row: runtime.Change(None, change(row or {}), [event or {"kind": "test"}]),
            actor="hook",
            now=self.now,
            wait=5.0,
        )

    def turn_ends(self, whose: str = "s1") -> None:
        self.change_row(session.told, session=whose)

    def cancel(self) -> None:
        self.change_row(lambda row: session.cancel(row, reason="user", now=self.now))


def desk(tmp_path: Path) -> Desk:
    """A repository with one commit."""
    root = tmp_path / "project"
    copied(root, _begin)
    return Desk(root)


def _begin(root: Path) -> None:
    made = Desk(root)
    made.git("init", "-q")
    made.write("README.md", "# a project\n")
    made.commit("begin")
