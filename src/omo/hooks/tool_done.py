"""After a command of omo's that the agent ran: the user is told of work that it began or set going again."""

from __future__ import annotations

from omo.hooks import messages
from omo.hosts import Answer
from omo.state import runtime
from omo.work import session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.hooks.main import World
    from omo.hosts import Event
    from omo.state.rows import SessionRow


def handle(event: Event, world: World) -> Answer:
    def decide(row: SessionRow) -> runtime.Change:
        begun = session.not_shown_on(row)
        if not begun:
            return runtime.Change(None)
        return runtime.Change(messages.begun(begun), session.shown_on(row))

    row = world.live_row()
    if row is None or event.is_subagent or not event.shows_messages or not session.not_shown_on(row):
        return Answer()
    answer: Answer | None = world.change_live(decide)
    return answer or Answer()
