"""Ends that no Stop has told, since the client was killed or the user interrupted the turn: told where they look next,
as a Stop tells them."""

from __future__ import annotations

from omo import settings
from omo.errors import OmoError
from omo.hooks import messages
from omo.hosts import Event
from omo.state import runtime
from omo.stop.rules import tell_ends
from omo.stop.situation import Looks, Situation
from omo.work import left_open

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.hooks.main import World
    from omo.state.rows import SessionRow


def of_those_that_are_over(event: Event, world: World) -> list[str]:
    """For a conversation that begins: of the others of the project that nobody is in any more."""
    told = []
    for name, row in runtime.sessions(world.state).items():
        is_other = name != event.session and left_open.is_gone(row, event.client, world.now)
        if is_other and runtime.is_live(row) and runtime.has_untold_end(row):
            told.append(_tell(world, name, messages.elsewhere(name, left_open.idle_for(row, world.now))))
    return told


def of_this_one(world: World) -> str:
    """For who comes back to a conversation, or writes in it after an Esc."""
    row = world.row()
    return _tell(world, world.session, "") if row is not None and runtime.has_untold_end(row) else ""


def _tell(world: World, name: str, elsewhere: str) -> str:
    """Empty where that cannot be written down: it is told later then, and once."""

    def decide(row: SessionRow | None) -> runtime.Change:
        if row is None or not runtime.has_untold_end(row):
            return runtime.Change("")
        limits = settings.load(world.environ, world.root).limits
        situation = Situation(Event(name), row, limits, world.now, looks=Looks(Event(name), world.root))
        decision = tell_ends(situation, elsewhere)
        return runtime.Change(decision.text, decision.row, decision.events)

    try:
        return str(runtime.change_session(world.state, name, decide, actor="hook", now=world.now, wait=world.wait))
    except (OmoError, OSError):
        return ""
