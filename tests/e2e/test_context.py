"""What omo costs in context, by `bench/context.py`."""

from __future__ import annotations

import pytest

from bench import context
from tests.e2e.conftest import Stage

pytestmark = pytest.mark.client


def test_what_it_costs_in_context_keeps_its_bounds(stage: Stage) -> None:
    costs = context.measure(stage)
    assert [cost for cost in costs if not 0 < cost.tokens <= cost.bound] == []
