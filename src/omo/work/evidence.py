"""Files as evidence for a goal, and what lay in the tree before it began: recorded for whoever calls."""

from __future__ import annotations

from omo.proof import artifacts
from omo.proof.artifacts import Artifact
from omo.work.run import Caller

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.rows import Base


def register(caller: Caller, path: str, *, goal: str, started_at: float | None, files: Base | None = None) -> Artifact:
    return artifacts.register(
        caller.state,
        caller.root,
        path,
        goal=goal,
        started_at=started_at,
        files=files,
        by=caller.by,
        now=caller.now,
        wait=caller.wait,
    )


def remember(caller: Caller) -> None:
    """What lies in the tree when a goal begins cannot become evidence for it by a touch."""
    artifacts.remember(caller.state, caller.root, by=caller.by, now=caller.now, wait=caller.wait)
