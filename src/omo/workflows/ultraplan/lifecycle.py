"""A session of a plan, cleared away."""

from __future__ import annotations

from omo.work import lifecycle
from omo.work.lifecycle import Cleared
from omo.work.run import Caller
from omo.workflows.ultraplan.run import PLAN


def clear(caller: Caller, *, force: bool) -> Cleared | None:
    return lifecycle.clear(PLAN, caller, force=force)
