"""Commands in the process, against a real project and real state."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from omo.cli.main import main
from omo.state import ledger, paths, runtime
from tests.kept import copied, git_init

NOW = 1_771_780_801.0
SESSION = "abc123"


@dataclass
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(self.out)
        return value


@dataclass
class Shell:
    """A terminal in the project: the agent's, unless `user` is asked for."""

    project: Path
    capsys: pytest.CaptureFixture[str]
    environ: dict[str, str] = field(default_factory=dict)
    now: float = NOW

    def agent(self, *argv: str) -> Ran:
        return self.run({"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": SESSION}, *argv)

    def user(self, *argv: str) -> Ran:
        return self.run({}, *argv)

    def run(self, environ: dict[str, str], *argv: str) -> Ran:
        self.now += 1
        self.capsys.readouterr()
        code = main(list(argv), {**self.environ, **environ}, str(self.project), self.now, has_terminal=True)
        captured = self.capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    @property
    def state(self) -> str:
        return str(self.project / ".sisyphus" / "cc-omo")

    def row(self, session: str = SESSION) -> dict[str, Any]:
        row = runtime.session(self.state, session)
        assert row is not None
        return row

    def events(self) -> list[dict[str, Any]]:
        return ledger.rows(paths.events_file(self.state, SESSION))

    def write(self, name: str, text: str) -> None:
        (self.project / name).write_text(text, encoding="utf-8")


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Shell:
    project = tmp_path / "a b"
    copied(project, git_init)
    (project / "value").write_text("old\n")
    return Shell(project, capsys)
