"""SubagentStop: while work is open or an agent is awaited, note which finished and what it said. Never prints."""

from __future__ import annotations

from omo.digest import sha256
from omo.state import runtime, store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.host import Event
    from omo.ultrawork.hook import World

LONGEST_MESSAGE = 64 * 1024
# Their word is about the files, so it holds for those that were there when they said it.
REVIEWERS = ("omo:architect", "omo:qa")


def handle(event: Event, world: World) -> bytes:
    row = runtime.session(world.state, event.session)
    is_wanted = row is not None and (runtime.is_live(row) or row.get("awaits") == event.agent_type)
    if not is_wanted or not event.agent_type:  # no type: the host's own, such as compaction
        return b""
    finished = _finished(event)
    if event.agent_type in REVIEWERS:
        from omo.evidence import base

        finished["base"] = base.take(world.root, world.environ)
    runtime.change_session(
        world.state,
        event.session,
        lambda row: runtime.Change(None, row, [finished]),
        actor="hook",
        now=world.now,
        wait=store.HOOK_WAIT,
    )
    return b""


def _finished(event: Event) -> dict[str, object]:
    said = event.last_message.encode("utf-8", "replace")
    return {
        "kind": "agent-finished",
        "agentType": event.agent_type,
        "agentId": event.agent_id,
        "message": said[:LONGEST_MESSAGE].decode("utf-8", "ignore"),
        "digest": sha256(said),
        "cut": len(said) > LONGEST_MESSAGE,
    }
