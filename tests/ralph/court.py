"""A desk with a judge: an iteration that is worked through, the brief, and what the judge says to it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omo.evidence.tree import fingerprint
from omo.hooks import subagent_stop
from omo.hooks.main import World
from omo.hosts.claude import event_of
from omo.ralph import brief, judging
from omo.ralph.brief import Brief
from omo.ralph.judging import Judged
from omo.state import ledger, paths
from tests.kept import put_back
from tests.ralph.desk import Desk, criterion, desk, question

EVIDENCE = "README.md lists all 3 commands of `tool --help`"
JUDGE = "omo:judge"


def reply(nonce: str, *answers: Any, **more: Any) -> str:
    """A judge's message: some prose, then the object. An answer is (criterion, check, result) or a whole one."""
    listed = [answer(*one) if isinstance(one, tuple) else one for one in answers]
    return "I looked.\n\n```json\n" + json.dumps({"nonce": nonce, "answers": listed, **more}, indent=1) + "\n```\n"


def answer(name: str, check: str = "clear", result: str = "pass", evidence: str = EVIDENCE) -> dict[str, str]:
    return {"criterion": name, "check": check, "result": result, "evidence": evidence}


@dataclass
class Court:
    desk: Desk

    def begin(self, *criteria: Any, **options: Any) -> None:
        self.desk.start(*(criteria or (judged_criterion(),)), **options)

    def iterate(self, *files: str) -> None:
        """A new iteration, worked through with these files."""
        self.desk.execute()
        self.desk.work(*files)

    def ask(self) -> Brief:
        return brief.ask(self.desk.run())

    def says(self, *answers: Any, nonce: str = "", agent: str = JUDGE, **more: Any) -> str:
        message = reply(nonce or self.nonce, *answers, **more)
        self.finishes(message, agent)
        return message

    def finishes(self, message: str, agent: str = JUDGE) -> None:
        """An agent says its last word, and the host's event goes through the hook itself."""
        self.desk.now += 1
        fields = {"session_id": "s1", "agent_type": agent, "agent_id": "a1", "last_assistant_message": message}
        event = event_of({**fields, "cwd": str(self.desk.root)})
        subagent_stop.handle(event, World(event, {}, str(self.desk.root), self.desk.now))

    def judge(self, result_text: str | None = None, **how: Any) -> Judged:
        return judging.judge(self.desk.run(), result_text=result_text, **how)

    def ship_again(self) -> None:
        """The gates on the files as they are now, so that only the judge's own rules are left to object."""
        self.desk.gate_ran(fingerprint(self.desk.root))

    @property
    def nonce(self) -> str:
        return str(self.desk.standing().briefs[-1]["nonce"])

    def rows(self, kind: str) -> list[dict[str, Any]]:
        return [row for row in ledger.rows(str(self.desk.ledger())) if row["kind"] == kind]

    @property
    def session_ledger(self) -> Path:
        return Path(paths.events_file(self.desk.state, "s1"))


def judged_criterion(number: int = 1, *checks: Any) -> dict[str, Any]:
    return criterion(number, question(), *checks)


def court(tmp_path: Path) -> Court:
    return Court(desk(tmp_path))


def asked(tmp_path: Path, *criteria: Any, files: tuple[str, ...] = ("done-1.txt",), **options: Any) -> Court:
    """One iteration is worked through and the judge was asked."""

    def make(place: Path) -> Court:
        made = court(place)
        made.begin(*criteria, **options)
        made.iterate(*files)
        made.ask()
        return made

    return put_back(tmp_path, make, json.dumps([criteria, files, options]))
