"""A git project with a run of a workflow on the engine, its hooks and its judge, with a clock that ticks."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import pytest

from omo.engine import asking, ends, judging, show, steps
from omo.engine.begin import StartOptions, begin
from omo.engine.case import Case
from omo.engine.flow import Flow
from omo.engine.judging import Judgement
from omo.engine.runs import CaseRun, kind_of, load_run, require_run
from omo.errors import OmoError, Refused
from omo.hooks import prompt as prompt_hook
from omo.hooks.main import World
from omo.hosts.claude import event_of
from omo.proof.base import fingerprint
from omo.state import ledger, paths
from omo.work import bound, session
from omo.work.files import Files
from tests.engine.laps import FLOW
from tests.kept import copied, put_back
from tests.project import Project as AnyProject
from tests.project import damage

JUDGE = "omo:judge"
EVIDENCE = "README.md lists all 3 commands of `tool --help`"


def criterion(number: int, *checks: Any, **changes: Any) -> dict[str, Any]:
    """Without checks: the file done-N.txt is there."""
    listed = list(checks) or [{"id": "there", "type": "path", "path": f"done-{number}.txt"}]
    return {"id": f"C{number}", "description": f"part {number} is in place", "checks": listed, **changes}


def question(name: str = "clear", text: str = "Does README.md name every command of the tool?") -> dict[str, Any]:
    return {"id": name, "type": "judge", "question": text}


def judged_criterion(number: int = 1, *checks: Any) -> dict[str, Any]:
    return criterion(number, question(), *checks)


def answer(name: str, check: str = "clear", result: str = "pass", evidence: str = EVIDENCE) -> dict[str, str]:
    return {"criterion": name, "check": check, "result": result, "evidence": evidence}


def reply(nonce: str, *answers: Any, **more: Any) -> str:
    """A judge's message: some prose, then the object. An answer is (criterion, check, result) or a whole one."""
    listed = [answer(*each) if isinstance(each, tuple) else each for each in answers]
    return "I looked.\n\n```json\n" + json.dumps({"nonce": nonce, "answers": listed, **more}, indent=1) + "\n```\n"


class Judged:
    """A judgement, with the run as it stands after it."""

    def __init__(self, found: Judgement, case: Case) -> None:
        self.row, self.notes, self.verdict, self.is_closed = found.row, found.notes, found.verdict, found.is_closed
        self.decision = found.row.get("decision", "")
        self.independence = found.row["independence"]
        self.criteria = show.data_of(case, found.next, found.row["results"])["criteria"]
        self.remaining = [entry for entry in self.criteria if entry["id"] in case.remaining]


@dataclass
class Project(AnyProject):
    session: str = "s1"
    flow: ClassVar[Flow] = FLOW

    def run(self, *, by: str = "agent", session: str = "", named: str = "") -> CaseRun:
        """As a command that looks loads it."""
        return require_run(self.flow, self.caller(by=by, session=session), named, looks=True)

    # Files

    @property
    def files(self) -> Files:
        return Files(str(self.root))

    def criteria_file(self, *criteria: Any, name: str = "criteria.json") -> Path:
        """Without any: two criteria, done-1.txt and done-2.txt."""
        return self.write(name, json.dumps({"criteria": list(criteria) or [criterion(1), criterion(2)]}))

    # Rounds

    def start(
        self,
        *criteria: Any,
        by: str = "agent",
        session: str = "",
        same_turn: bool = False,
        max_iterations: int | None = None,
        **options: Any,
    ) -> Case:
        """In a new turn: Stop has shown the user how an earlier run ended."""
        if not same_turn and self.told(session or self.session).get("told") is False:
            self.turn_ends(session or self.session)
        given = StartOptions(file=self.criteria_file(*criteria), rounds=max_iterations, **options)
        run, _ = begin(self.flow, self.caller(by=by, session=session), given)
        return run.require_whole()

    def leave_out_refine(self, reason: str, **whose: str) -> None:
        (refine,) = self.flow.skippable
        steps.skip(self.run(**whose), refine, reason)

    def finishes(self, agent: str, message: str = "done", session: str = "") -> None:
        self.agent_ends(agent, message, session=session)

    def types(self, prompt: str, session: str = "s1") -> None:
        """The user types, and the host's event goes through the hook itself."""
        self.now += 1
        event = event_of({"session_id": session, "prompt": prompt, "cwd": str(self.root)})
        prompt_hook.handle(event, World(event, {}, str(self.root), self.now))

    def gate_ran(self, name: str = "tests", result: str = "pass") -> None:
        """As `omo gate add` and `omo gate run` write them, on the files as they are."""
        pinned = {"kind": "gate-added", "name": name, "by": "user", "argv": ["true"], "cwd": ".", "timeout": 60.0}
        self.change_row(dict, pinned)
        ran = {"kind": "gate-ran", "name": name, "result": result, "tree": fingerprint(str(self.root))}
        self.change_row(dict, ran)

    def work(self, *paths: str) -> None:
        """One iteration as it should be: agents in their order, files, gates on those files; nothing is noted."""
        for step in self.flow.steps:
            if step.or_work:
                for path in paths:
                    self.write(path)
            if step.agent:
                self.finishes(step.agent)
            else:
                self.gate_ran()

    def judged(self, **results: str) -> Case:
        """A judgement with these results and nothing behind them: rows as the judging command writes them."""
        run = self.run()
        case = run.require_whole()
        known = {item.id: results.get(item.id, "fail") for item in case.items}
        applied = judging.apply(case, known)
        row: Any = {
            "kind": "judged",
            "iteration": case.round,
            "results": {
                name: {"result": result, "evidence": f"saw {result}", "source": "code", "suggested_action": "try"}
                for name, result in known.items()
            },
            "marks": {name: asdict(mark) for name, mark in applied.marks.items()},
            "verdict": applied.verdict,
            "decision": applied.decision,
            "tree": "tree1:0",
            "independence": "full",
        }
        opens = run.round_row(self.files, case.round + 1)
        ended = ends.ended_by_judgement(case, row)
        if ended is not None:
            ended["files"] = bound.files_of_end(run.caller.root, [])
        run.append(row, ended or opens)
        run.publish()
        return run.require_whole()

    def abandon(self, reason: str, **whose: str) -> Case:
        run = self.run(**whose)
        ends.abandon(run, reason)
        return run.require_whole()

    # The judge

    def ask(self) -> str:
        """As a judgement asks that lacks nothing else: the brief that the judge then reads."""
        run = self.run()
        case = run.require_whole()
        newest = case.brief_about(self.files.tree)
        if newest is None or any(row["kind"] == "judge-unknown" for row in case.rows[case.rows.index(newest) :]):
            asking.ask(run, self.files)
        return asking.judge_brief(run)[0]

    @property
    def nonce(self) -> str:
        return self.status().briefs_of_round[-1]["nonce"]

    def says(self, *answers: Any, nonce: str = "", agent: str = JUDGE, **more: Any) -> str:
        message = reply(nonce or self.nonce, *answers, **more)
        self.finishes(agent, message)
        return message

    def judge(self, result_text: str | None = None, **how: Any) -> Judged:
        run = self.run()
        return Judged(judging.judge(run, self.files, result_text=result_text, **how), run.require_whole())

    # What is kept

    def status(self, **whose: str) -> Case:
        run = load_run(self.flow, self.caller(**whose))
        return (run and run.state) or Case(self.flow)

    def told(self, session: str = "") -> dict[str, Any]:
        """What hooks read."""
        return self.summary(self.flow.name, session)

    @property
    def runs(self) -> list[str]:
        return kind_of(self.flow).names(self.state)

    def ledger(self) -> Path:
        return self.ledger_of(self.runs[-1])

    def ledger_of(self, run: str) -> Path:
        return Path(kind_of(self.flow).directory(self.state, run), "ledger.jsonl")

    @property
    def session_ledger(self) -> Path:
        return Path(paths.events_file(self.state, "s1"))

    def rows(self, kind: str) -> list[dict[str, Any]]:
        return [row for row in ledger.rows(str(self.ledger())) if row["kind"] == kind]

    def kinds(self) -> list[str]:
        return [row["kind"] for row in ledger.rows(str(self.ledger()))]

    def damage(self) -> None:
        damage(self.ledger())

    def turn_ends(self, whose: str = "") -> None:
        self.change_row(session.told, session=whose)


P = TypeVar("P", bound=Project)


def make_project(tmp_path: Path) -> Project:
    return made_as(Project, tmp_path)


def made_as(kind: type[P], tmp_path: Path) -> P:
    """A repository with one commit."""
    root = tmp_path / "project"
    copied(root, _begin)
    return kind(root)


def _begin(root: Path) -> None:
    made = Project(root)
    made.git("init", "-q")
    made.write("README.md", "# a project\n")
    made.commit("begin")


def asked(tmp_path: Path, *criteria: Any, **options: Any) -> Project:
    return asked_as(Project, tmp_path, *criteria, **options)


def asked_as(
    kind: type[P], tmp_path: Path, *criteria: Any, files: tuple[str, ...] = ("done-1.txt",), **options: Any
) -> P:
    """One iteration is worked through and the judge was asked. Without criteria: one question."""

    def make(directory: Path) -> P:
        made = made_as(kind, directory)
        made.start(*(criteria or (judged_criterion(),)), **options)
        made.work(*files)
        made.ask()
        return made

    return put_back(tmp_path, make, json.dumps([kind.flow.name, criteria, files, options]))


def refused(action: Callable[[], object], *said: str, kind: type[OmoError] = Refused) -> None:
    """In these words, and with a way on."""
    with pytest.raises(kind) as caught:
        action()
    defects = caught.value.details.get("defects", [])
    whole = " ".join([caught.value.message, caught.value.fix, *(defects if isinstance(defects, list) else [])])
    for words in said:
        assert words in whole, whole
    assert caught.value.fix
