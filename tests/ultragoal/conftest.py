"""A project of its own for every test."""

from __future__ import annotations

import pytest

from tests.ultragoal.project import Project, make


@pytest.fixture
def project() -> Project:
    return make()
