"""Commands in the process, against a real project and real state."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.project import NOW, SESSION, Project, Ran, make_project

__all__ = ["NOW", "SESSION", "Ran", "Shell"]


@dataclass
class Shell(Project):
    """The project by the name of the terminal in it."""

    @property
    def project(self) -> Path:
        return self.root

    def run(self, environ: dict[str, str], *argv: str) -> Ran:
        return self.omo(*argv, by="user", env=environ)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(make_project(tmp_path).root)
