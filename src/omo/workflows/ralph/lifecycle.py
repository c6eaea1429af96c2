"""A run of ralph, cleared away."""

from __future__ import annotations

from omo.work import lifecycle
from omo.work.lifecycle import Cleared
from omo.work.run import Caller
from omo.workflows.ralph.run import RALPH


def clear(caller: Caller, *, force: bool) -> Cleared | None:
    return lifecycle.clear(RALPH, caller, force=force)
