"""A project of its own for every test, in which laps are run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine import laps
from tests.engine.project import Project, make_project


@pytest.fixture(autouse=True)
def _laps(monkeypatch: pytest.MonkeyPatch) -> None:
    laps.put_in_table(monkeypatch)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path)
