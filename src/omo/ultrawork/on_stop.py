"""Stop: the decision table, carried out."""

from __future__ import annotations

from omo import host, settings
from omo.errors import Newer, Unreadable
from omo.state import runtime, store
from omo.ultrawork import stop

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.ultrawork.hook import World
    from omo.ultrawork.stop import Json


def handle(event: host.Event, world: World) -> bytes:
    try:
        row = runtime.session(world.state, event.session)
    except Newer:
        return b""
    except Unreadable as error:
        return _unreadable(error, world)
    if row is None or stop.decide(_situation(event, row, world)).then is None:
        return b""
    rule, text = runtime.change_session(
        world.state,
        event.session,
        lambda row: stop.carry_out(_situation(event, row, world)),
        actor="hook",
        now=world.now,
        wait=store.HOOK_WAIT,
    )
    if rule is stop.BLOCK:
        return host.keep_going(text)
    return host.tell_user(text) if text else b""


def _situation(event: host.Event, row: Json | None, world: World) -> stop.Situation:
    limits = settings.load(world.environ, world.root).limits
    return stop.Situation(event, row, limits, world.now, disabled=settings.is_disabled(world.environ))


def _unreadable(error: Unreadable, world: World) -> bytes:
    """Allow, keep the bytes under another name, and say so once: the next Stop finds no file."""
    kept = runtime.set_corrupt_aside(world.state, now=world.now, wait=store.HOOK_WAIT)
    return host.tell_user(f"omo: {error.message}; it is kept as {kept}, and nothing is active now.") if kept else b""
