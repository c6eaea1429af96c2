"""Stop: the decision table, carried out."""

from __future__ import annotations

from omo import host, settings
from omo.errors import Newer, Unreadable
from omo.state import runtime, store
from omo.ultrawork import stop, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.settings import Settings
    from omo.ultrawork.hook import World
    from omo.ultrawork.stop import Json


def handle(event: host.Event, world: World) -> bytes:
    in_force = settings.load(world.environ, world.root)

    def decide(row: Json | None) -> runtime.Change:
        disabled = settings.is_disabled(world.environ)
        return stop.carry_out(stop.Situation(event, row, in_force.limits, world.now, disabled=disabled))

    try:
        row = runtime.session(world.state, event.session)
    except Newer:
        return b""
    except Unreadable as error:
        return _tell(_unreadable(error, world), event, world, in_force)
    if row is None or decide(row).row is None:
        return b""
    rule, text = runtime.change_session(
        world.state, event.session, decide, actor="hook", now=world.now, wait=store.HOOK_WAIT
    )
    return host.keep_going(text) if rule is stop.BLOCK else _tell(text, event, world, in_force)


def _tell(text: str, event: host.Event, world: World, in_force: Settings) -> bytes:
    if not text:
        return b""
    if not in_force.notify or not host.is_claude_code(event, world.environ):
        return host.tell_user(text)
    from omo.ultrawork import notify

    return host.tell_user(text, notify.sequence(text, world.environ))


def _unreadable(error: Unreadable, world: World) -> str:
    """Allow, keep the bytes under another name, and say so once: the next Stop finds no file."""
    kept = runtime.set_corrupt_aside(world.state, now=world.now, wait=store.HOOK_WAIT)
    return texts.unreadable(error.message, kept) if kept else ""
