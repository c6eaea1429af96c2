"""A workshop of its own for every test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.verify.workshop import Workshop, project


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return project(tmp_path / "p")
