"""A project of its own for every test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import Project as AnyProject
from tests.project import make_project
from tests.ultragoal.project import Project, make


@pytest.fixture
def project() -> Project:
    return make()


@pytest.fixture
def shell(tmp_path: Path) -> AnyProject:
    """A project in which nothing but commands is used."""
    return make_project(tmp_path)
