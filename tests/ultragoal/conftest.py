"""A project of its own for every test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ultragoal.workshop import Workshop, make


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return make(tmp_path / "a b")
