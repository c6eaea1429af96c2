"""A project of its own for every test, in which ralph's data runs on the engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ralph.project import Project, make_project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path)
