"""While work is open or an agent is awaited: note which agent finished and what it said. Never prints."""

from __future__ import annotations

from omo.digest import sha256
from omo.hosts import Answer
from omo.state import runtime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.hooks.main import World
    from omo.hosts import Event

LONGEST_MESSAGE = 64 * 1024
# Their word is about the files, so it holds for those that were there when they said it.
REVIEWERS = ("omo:architect", "omo:qa")


def handle(event: Event, world: World) -> Answer:
    row = runtime.session(world.state, event.session)
    is_wanted = row is not None and (runtime.is_live(row) or row.get("awaits") == event.agent_type)
    if not is_wanted or not event.agent_type:  # no type: the host's own, such as compaction
        return Answer()
    message = event.last_message.encode("utf-8", "replace")
    finished: dict[str, object] = {
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
