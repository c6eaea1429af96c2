"""After a command of omo's that the agent ran: the user is told of work that it began or set going again."""

from __future__ import annotations

from omo.hooks import messages
from omo.hosts import Answer
from omo.state import runtime
from omo.work import session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from omo.hooks.main import World
    from omo.hosts import Event

    Json = dict[str, Any]


def handle(event: Event, world: World) -> Answer:
    row = world.live_row()
    if row is None or event.is_subagent or not event.shows_messages or not session.not_shown_on(row):
        return Answer()

    def decide(row: Json | None) -> runtime.Change:
        begun = session.not_shown_on(row or {})
        if row is None or not begun or session.is_cancelled(row):
            return runtime.Change(Answer())
        return runtime.Change(messages.begun(begun), session.shown_on(row))

    answer: Answer = world.change(decide)
    return answer
