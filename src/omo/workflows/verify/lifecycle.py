"""What a session is held to of the project's goals, given up. The goals themselves are the project's, and stay."""

from __future__ import annotations

from omo.work import lifecycle
from omo.work.lifecycle import Cleared
from omo.work.run import Caller


def clear(caller: Caller, *, force: bool) -> Cleared | None:
    left = len(caller.summary("verify").get("goals") or ())
    return lifecycle.release(caller, "verify", "goals", left=left, force=force)
