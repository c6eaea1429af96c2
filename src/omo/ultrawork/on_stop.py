"""Stop: the decision table, carried out."""

from __future__ import annotations

import time

from omo import host, settings
from omo.errors import Newer, Unreadable
from omo.state import runtime, store
from omo.ultrawork import stop, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from omo.settings import Settings
    from omo.ultrawork.hook import World
    from omo.ultrawork.stop import Json


def handle(event: host.Event, world: World, wait: Callable[[float], None] = time.sleep) -> bytes:
    """Within the cooldown of the last block the rest of it is waited for, and the table begun anew on the new state:
    a stop that the user types meanwhile is heard."""
    in_force = settings.load(world.environ, world.root)
    waited = 0.0
    while True:
        rule, text, left = _decide(event, world, in_force, waited)
        if not left:
            break
        wait(left)
        waited += left
    return host.keep_going(text) if rule and rule.blocks else _tell(text, event, world, in_force)


def _decide(event: host.Event, world: World, in_force: Settings, waited: float) -> tuple[stop.Rule | None, str, float]:
    """The rule, what is said, and how many seconds have to pass before the table is begun anew."""
    now = world.now + waited
    disabled = settings.is_disabled(world.environ)
    patience = stop.LONGEST_WAIT - waited

    def decide(row: Json | None) -> runtime.Change:
        situation = stop.Situation(event, row, in_force.limits, now, disabled=disabled, patience=patience)
        change = stop.carry_out(situation)
        rule, text = change.answer
        left = situation.cooldown_left() if rule.blocks and not text else 0.0
        return runtime.Change((rule, text, left), change.row, change.events)

    try:
        row = runtime.session(world.state, event.session)
    except Newer:
        return None, "", 0.0
    except Unreadable as error:
        return None, _unreadable(error, world), 0.0
    change = decide(row)
    if row is None or change.row is None:
        return None, "", change.answer[2]
    rule, text, left = runtime.change_session(
        world.state, event.session, decide, actor="hook", now=now, wait=store.HOOK_WAIT
    )
    return rule, text, left


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
