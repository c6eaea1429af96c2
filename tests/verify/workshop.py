"""A project with goals in it, and answers that hold."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from omo.engine import answers, filing
from omo.engine.filed import FiledRuns
from omo.engine.flow import Answered
from omo.work.files import Files
from omo.work.run import Caller
from omo.workflows.verify import claims, finish, forms, goals
from omo.workflows.verify.flow import FLOW
from tests.kept import copied, git_init
from tests.project import LIMITS as LIMITS
from tests.project import NOW as NOW
from tests.project import Project

SUMMARY = "quoted text comes back as one token"


@dataclass
class Workshop(Project):
    session: str = "s1"
    by: str = "agent"

    def caller(self, by: str = "", session: str = "", **more: Any) -> Caller:
        """At this moment, by whoever is at work: files get their time from the same clock."""
        self.now -= 1
        return super().caller(by or self.by, session, **more)

    @property
    def goals(self) -> FiledRuns:
        return FiledRuns(FLOW, self.caller())

    def write(self, name: str, text: str = "here\n") -> Path:
        path = super().write(name, text)
        os.utime(path, (self.now + 0.5, self.now + 0.5))
        return path

    def tick(self, seconds: float = 1.0) -> None:
        self.now += seconds

    def as_user(self) -> Workshop:
        return replace(self, by="user")

    def add(self, **fields: Any) -> SimpleNamespace:
        self.tick()
        item = forms.parse_goal({"id": "G1", "title": "Parser handles quotes", **fields}, "goal.json")
        filing.file_item(self.goals, item, rounds=item.form["max_retries"], source="")
        return self.goal(item.id)

    def begin(self, name: str = "G1", again: str = "") -> bool:
        self.tick()
        runs = self.goals
        is_new = filing.open_round(runs, name, again=again)
        filing.look_now(runs.run(name))
        return is_new

    def answer(self, question: str, data: Any, name: str = "G1") -> Answered:
        self.tick()
        runs = self.goals
        return answers.answer(runs.run(name), question, data, list(runs.cases.values()))

    def finish(self, name: str = "G1", summary: str = SUMMARY, **options: Any) -> finish.FinishedGoal:
        self.tick()
        return finish.finish(self.goals, name, summary=summary, **options)

    def goal(self, name: str = "G1") -> SimpleNamespace:
        """What `omo verify status GOAL --json` says of it."""
        runs = self.goals
        return SimpleNamespace(**goals.goal_data(runs, runs.case(name), [], Files(str(self.root))))

    def steps(self, name: str = "G1") -> dict[str, str]:
        runs = self.goals
        return {step.name: step.state for step in runs.owed(runs.case(name), Files(str(self.root)))}

    def work(self, name: str = "parser.py", text: str = "def parse(text): return [text]\n") -> None:
        self.write(name, text)

    def answer_all(self, name: str = "G1", artifact: str = "parser.py") -> None:
        for question, data in (("q1", q1(artifact)), ("q1.5", checklist(about=name)), ("q2", q2(artifact)), ("q3", Q3)):
            self.answer(question, data, name)

    def publish(self, began: str = "", passed: str = "") -> Any:
        """The session's row, once the goals are told to it."""
        self.goals.publish(began=began, passed=passed)
        return self.row()

    def claim(self, statement: str, kind: str, subject: str, text: str = "", **options: Any) -> dict[str, Any]:
        self.tick()
        claim = claims.Claim(kind, subject, text=text)
        return claims.file_claim(self.caller(), claim, statement, goal="G1", **options)

    def kinds(self, name: str = "G1") -> list[str]:
        return [row["kind"] for row in self.goals.run(name).rows]


def project(root: Path) -> Workshop:
    copied(root, _begin)
    return Workshop(root)


def _begin(root: Path) -> None:
    git_init(root)
    Workshop(root).write("README.md", "A parser.\n")
    os.utime(root / "README.md", (NOW - 90_000, NOW - 90_000))


def path_check(path: str = "parser.py", name: str = "there") -> dict[str, Any]:
    return {"id": name, "type": "path", "path": path}


def checks(*listed: Any) -> dict[str, Any]:
    return {"verification": {"checks": list(listed)}}


def q1(artifact: str = "parser.py") -> dict[str, Any]:
    return {"artifact": artifact, "statement": f"The parser is in place because `{artifact}` was read just now."}


def item(question: str, dimension: str, result: str = "pass", *, covered: bool = False) -> dict[str, Any]:
    evidence = "" if result == "na" else f"read the file for it: {question}"
    return {"question": question, "dimension": dimension, "result": result, "covered": covered, "evidence": evidence}


def checklist(*more: dict[str, Any], about: str = "G1") -> dict[str, Any]:
    items = [
        item(f"Does the module of {about} define parse?", "presence"),
        item("Is a quoted string returned whole?", "correctness"),
        item("Does the command import the module?", "integration"),
        item("Does importing the module exit 0?", "breakage"),
        item("Is an empty text accepted?", "correctness", "na"),
    ]
    return {"items": [*items, *more]}


def q2(artifact: str = "parser.py", **changes: Any) -> dict[str, Any]:
    return {
        "failure_mode": f"{artifact} returns unquoted text unsplit as well",
        "checked": True,
        "how": "ran parse('a b') in a shell and read what it printed",
        "statement": f"The split is right because `{artifact}` was run and exit code 0 came back.",
        **changes,
    }


Q3 = {"scope": "integration", "statement": "The command is covered because `omo parse` was run."}
