"""A project of its own for every test, in which laps are run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.project import Project, make_project


@pytest.fixture(autouse=True)
def _laps(laps: None) -> None:
    """Every test here runs them."""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path)
