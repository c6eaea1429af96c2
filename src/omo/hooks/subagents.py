"""Agents that start and finish while work is open, held or not, or while one is awaited: noted, and nothing printed."""

from __future__ import annotations

from omo.digest import sha256
from omo.hosts import Answer
from omo.state import runtime
from omo.work import budget

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.hooks.main import World
    from omo.hosts import Event
    from omo.state.ledger_rows import SessionEvent

LONGEST_MESSAGE = 64 * 1024
# Their word is about the files, so it holds for those that were there when they said it.
REVIEWERS = ("omo:architect", "omo:qa")


def handle_start(event: Event, world: World) -> Answer:
    """Counted for the budget, with where the host writes down what the agent does."""
    if event.agent_type:  # no type: the host's own, such as compaction
        world.change_live(lambda row: runtime.Change(None, budget.agent_started(row, event.agent_record)))
    return Answer()


def handle_stop(event: Event, world: World) -> Answer:
    """Which agent finished, and what it said."""
    row = runtime.session(world.state, event.session)
    if row is None or not event.agent_type:
        return Answer()
    # Also where a breaker or a cancel let go: who goes on all the same is not told that nobody reviewed it.
    is_open = runtime.is_live(row) or runtime.standing(row) or row.get("asked")
    if not is_open and row.get("awaits") != event.agent_type:
        return Answer()
    message = event.last_message.encode("utf-8", "replace")
    finished: SessionEvent = {
        "kind": "agent-finished",
        "agentType": event.agent_type,
        "agentId": event.agent_id,
        "message": message[:LONGEST_MESSAGE].decode("utf-8", "ignore"),
        "digest": sha256(message),
        "cut": len(message) > LONGEST_MESSAGE,
    }
    if event.agent_type in REVIEWERS:
        from omo.proof import base

        finished["base"] = base.take(world.root, world.environ)
    world.change(lambda row: runtime.Change(None, row, [finished]))
    return Answer()
