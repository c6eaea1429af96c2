"""What omo keeps of the sessions that a client had in a project."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

from omo.state import ledger, paths, runtime
from tests.e2e.client import PATIENCE, Terminal, search_path
from tests.terminal import terminal


class Records:
    """For whoever has a project."""

    project: Path

    @property
    def state(self) -> Path:
        return self.project / ".sisyphus" / "cc-omo"

    @property
    def sessions(self) -> list[str]:
        return list(runtime.read(str(self.state))["sessions"])

    def row(self, session: str) -> Any:
        row = runtime.session(str(self.state), session)
        assert row is not None
        return row

    def events(self, session: str) -> list[dict[str, Any]]:
        return ledger.rows(paths.events_file(str(self.state), session))

    def kinds(self, session: str) -> list[str]:
        return [f"{row['kind']}:{row['rule']}" if "rule" in row else row["kind"] for row in self.events(session)]


class Installed(Records):
    """For a client that has our plugin from its own marketplace: the user's terminals, and `omo` in one of them."""

    binary: Path
    terminals: list[Terminal]

    @property
    def environment(self) -> dict[str, str]:
        raise NotImplementedError

    def omo_of(self, plugin: Path, *arguments: str) -> str:
        """What it prints in a terminal of the user's own."""
        with terminal() as screen:
            done = subprocess.run(
                [str(plugin / "bin" / "omo"), *arguments],
                cwd=self.project,
                env={**self.environment, "PATH": f"{self.binary.parent}{os.pathsep}{search_path()}"},
                stdin=screen,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                timeout=PATIENCE,
                start_new_session=True,
            )
        return done.stdout

    def close_terminals(self) -> None:
        while self.terminals:
            self.terminals.pop().close()
